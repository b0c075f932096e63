"use strict";
document.documentElement.classList.add("js");
const $ = (id) => document.getElementById(id);
const read = (id) => JSON.parse($(id).textContent);

// Boxes that scroll sideways can be reached by keyboard.
function reachable() {
  for (const box of document.querySelectorAll("pre, .wide, .benchmark, .train")) {
    if (box.scrollWidth > box.clientWidth) box.tabIndex = 0;
    else box.removeAttribute("tabindex");
  }
}
addEventListener("resize", reachable);
reachable();

// Copy the module.
$("copy").hidden = false;
$("copy").addEventListener("click", async () => {
  const text = read("source");
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = document.body.appendChild(document.createElement("textarea"));
    area.value = text;
    area.select();
    document.execCommand("copy");
    area.remove();
  }
  const label = '<span> game.py</span>';
  $("copy").innerHTML = "Copied" + label;
  setTimeout(() => { $("copy").innerHTML = "Copy" + label; }, 1500);
});

// A click on one of the module's names shows its other places.
// The prose has a name of its own for an observation.
const places = new Map([["obs_4", []]]);
const nameOf = ({ textContent }) =>
  textContent.replace(/[([].*/, "").split(".").pop();
for (const part of document.querySelectorAll(".code .own")) {
  const name = part.textContent;
  if (!places.has(name)) places.set(name, []);
}
for (const part of document.querySelectorAll(".own, :not(pre) > code")) {
  const name = nameOf(part);
  if (!places.has(name) || part.closest("a")) continue;
  part.classList.add("own");
  places.get(name).push(part);
}
function show(name) {
  for (const old of document.querySelectorAll(".hit")) {
    old.classList.remove("hit");
  }
  $("found").hidden = !name;
  if (!name) return;
  const all = places.get(name);
  for (const part of all) part.classList.add("hit");
  const times = all.length === 1 ? "1 place" : `${all.length} places`;
  $("found").innerHTML = `<span><code></code> ${times}</span>
    <button type="button" aria-label="previous place">↑</button>
    <button type="button" aria-label="next place">↓</button>
    <button type="button" aria-label="stop showing">×</button>`;
  $("found").querySelector("code").textContent = name;
  const [up, down, stop] = $("found").querySelectorAll("button");
  const middle = (part) => part.getBoundingClientRect().top - innerHeight / 2;
  const go = (part) => part && part.scrollIntoView({ block: "center" });
  up.onclick = () => go(all.filter((part) => middle(part) < -20).pop());
  down.onclick = () => go(all.find((part) => middle(part) > 20));
  stop.onclick = () => show(null);
}
document.addEventListener("click", (event) => {
  const part = event.target.closest(".own");
  if (!part || String(getSelection())) return;
  const name = nameOf(part);
  show(part.classList.contains("hit") ? null : name);
});
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") show(null);
});

// A film can be stopped, and stands still for who wants less motion.
for (const film of document.querySelectorAll("figure.agent img")) {
  const still = document.createElement("canvas");
  const button = document.createElement("button");
  still.setAttribute("role", "img");
  still.setAttribute("aria-label", film.alt);
  const stop = (stopped) => {
    still.hidden = !stopped;
    film.hidden = stopped;
    button.textContent = stopped ? "Play" : "Pause";
  };
  button.type = "button";
  button.addEventListener("click", () => stop(still.hidden));
  film.after(still, button);
  film.decode().then(() => {
    still.width = film.naturalWidth;
    still.height = film.naturalHeight;
    still.getContext("2d").drawImage(film, 0, 0);
    stop(matchMedia("(prefers-reduced-motion: reduce)").matches);
  });
}

// The figure to move. The recording holds, for each screen, the rectangles
// that changed; the rest is worked out here as `game.py` does it.
const WIDTH = 160, HEIGHT = 210, SIZE = 84;
const ACTIONS = ["NOOP", "FIRE", "RIGHT", "LEFT"];

function* unpack(text) {
  const data = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  let screen = new Uint8Array(WIDTH * HEIGHT);
  for (let at = 0; at < data.length;) {
    screen = screen.slice();
    for (let n = data[at++]; n > 0; n--, at += 5) {
      const [x, y, w, h, colour] = data.subarray(at, at + 5);
      for (let row = y; row < y + h; row++) {
        screen.fill(colour, row * WIDTH + x, row * WIDTH + x + w);
      }
    }
    yield screen;
  }
}

// OpenCV's INTER_AREA, bit for bit: how much of each old pixel a new one
// covers, in single precision.
function shares(from, to) {
  const size = from / to, list = [];
  for (let i = 0; i < to; i++) {
    const start = i * size, stop = start + size;
    const first = Math.ceil(start);
    const last = Math.min(Math.floor(stop), from - 1);
    const add = (j, part) => list.push([i, j, Math.fround(part / size)]);
    if (first - start > 1e-3) add(first - 1, first - start);
    for (let j = first; j < last; j++) add(j, 1);
    if (stop - last > 1e-3) add(last, Math.min(stop - last, 1, size));
  }
  return list;
}
const ACROSS = shares(WIDTH, SIZE), DOWN = shares(HEIGHT, SIZE);

function shrink(gray) {
  const narrow = new Float32Array(SIZE * HEIGHT);
  const sum = new Float32Array(SIZE * SIZE);
  for (let y = 0; y < HEIGHT; y++) {
    for (const [i, j, part] of ACROSS) {
      narrow[y * SIZE + i] += Math.fround(gray[y * WIDTH + j] * part);
    }
  }
  for (const [i, j, part] of DOWN) {
    for (let x = 0; x < SIZE; x++) {
      sum[i * SIZE + x] += Math.fround(narrow[j * SIZE + x] * part);
    }
  }
  return Uint8Array.from(sum, (v) => {
    const low = Math.floor(v);
    return v - low === 0.5 ? low + (low & 1) : Math.round(v);
  });
}

function load({ rgb, gray, steps, frames }) {
  const screens = unpack(frames), start = screens.next().value;
  const brightness = (screen) => screen.map((colour) => gray[colour]);
  const first = shrink(brightness(start));
  let before = -1; // the step that ended the episode before
  return steps.map(([action, shown, reward, lives, done], i) => {
    const step = { action, reward, lives, done, before, first };
    step.colours = rgb.map(packed);
    step.frames = Array.from({ length: shown }, () => screens.next().value);
    if (done) {
      screens.next();
      before = i;
    }
    const kept = shown > 2 ? step.frames.slice(2) : step.frames.slice(-1);
    step.kept = kept.map(brightness);
    step.brighter = () => step.kept.reduce(
      (a, b) => a.map((v, i) => Math.max(v, b[i])));
    step.picture = () => (step.small ??= shrink(step.brighter()));
    return step;
  });
}

function stackOf(steps, i) {
  if (steps[i].done) return Array(4).fill(steps[i].first);
  return [i - 3, i - 2, i - 1, i].map((j) =>
    j > steps[i].before ? steps[j].picture() : steps[i].first);
}

const packed = ([r, g, b]) => (255 << 24) | (b << 16) | (g << 8) | r;
const GRAYS = Array.from({ length: 256 }, (_, v) => packed([v, v, v]));

function paint(canvas, pixels, width, colours, view) {
  const whole = document.createElement("canvas");
  whole.width = width;
  whole.height = pixels.length / width;
  const pen = whole.getContext("2d");
  const image = pen.createImageData(whole.width, whole.height);
  const rgba = new Uint32Array(image.data.buffer);
  pixels.forEach((v, i) => { rgba[i] = colours[v]; });
  pen.putImageData(image, 0, 0);
  const out = canvas.getContext("2d");
  out.imageSmoothingEnabled = false;
  const [x, y, w, h] = view;
  out.drawImage(whole, x * whole.width, y * whole.height, w * whole.width,
    h * whole.height, 0, 0, canvas.width, canvas.height);
}

// The part of the screen to show: all of it, or a third by a third around the
// ball.
const NEAR = 1 / 3;
function look(step, near, last) {
  if (!near) return [0, 0, 1, 1];
  const screen = step.frames[step.frames.length - 1];
  for (let y = 93; y < 189; y++) {
    for (let x = 8; x < 152; x++) {
      if (screen[y * WIDTH + x]) {
        const fit = (v) => Math.min(Math.max(v - NEAR / 2, 0), 1 - NEAR);
        return [fit(x / WIDTH), fit(y / HEIGHT), NEAR, NEAR];
      }
    }
  }
  return last[2] < 1 ? last : [0.3, 0.5, NEAR, NEAR];
}

function moving() {
  const steps = load(read("recording"));
  let view = [0, 0, 1, 1], timer = null;

  const cells = (id, width, height) => Array.from({ length: 4 }, () => {
    const cell = $(id).appendChild(document.createElement("div"));
    const canvas = cell.appendChild(document.createElement("canvas"));
    canvas.width = width;
    canvas.height = height;
    canvas.setAttribute("role", "img");
    cell.append(document.createElement("small"));
    return cell;
  });
  const raw = cells("raw", WIDTH, HEIGHT);
  const middle = cells("gray", WIDTH, HEIGHT);
  middle[3].firstChild.width = middle[3].firstChild.height = SIZE;
  const stack = cells("stack", SIZE, SIZE);

  function put(cell, label, kind, pixels, width, colours = GRAYS) {
    const canvas = cell.firstChild;
    cell.className = pixels ? kind : "absent";
    cell.lastChild.textContent = label;
    canvas.setAttribute("aria-label", label);
    if (pixels) paint(canvas, pixels, width, colours, view);
    else canvas.getContext("2d").clearRect(0, 0, canvas.width, canvas.height);
  }

  function draw() {
    const i = $("step").value - 1, step = steps[i];
    const shown = step.frames.length, early = shown < 3;
    view = look(step, $("near").checked, view);
    $("number").textContent = `${i + 1} of ${steps.length}`;
    $("action").textContent = ACTIONS[step.action];
    $("reward").textContent = step.reward;
    $("lives").textContent = step.lives;
    $("done").textContent = step.done ? "True" : "False";
    $("step").setAttribute("aria-valuetext", `step ${i + 1}: ` +
      `${ACTIONS[step.action]}, reward ${step.reward}, ${step.lives} lives` +
      (step.done ? ", done" : ""));
    const counts = (f) => f >= 2 ? shown > f : early && f === shown - 1;
    raw.forEach((cell, f) => {
      const label = `frame ${f + 1}` + (f < shown ? "" : ": not played");
      put(cell, label, counts(f) ? "kept" : "thrown",
        step.frames[f], WIDTH, step.colours);
    });
    const names = early ? [`frame ${shown}`, "–"] : ["frame 3", "frame 4"];
    names.forEach((name, n) => put(middle[n], name, "", step.kept[n], WIDTH));
    const brighter = early ? "alone" : "the brighter";
    put(middle[2], brighter, "", step.brighter(), WIDTH);
    put(middle[3], "84 × 84", "kept", step.picture(), SIZE);
    stackOf(steps, i).forEach((picture, slot) => {
      const newest = slot === 3 && !step.done;
      put(stack[slot], `obs_4[${slot}]` + (newest ? ", the newest" : ""),
        newest ? "kept" : "", picture, SIZE);
    });
    $("says").textContent = tell(step, i);
  }

  function tell(step, i) {
    const shown = step.frames.length;
    if (step.done) {
      return `The ball is lost on frame ${shown}, and the step stops there: ` +
        "done. Its picture goes to game.final_obs. The game has started " +
        "over already: the stack is its first screen, four times.";
    }
    if (i - step.before < 4) {
      return "A new episode: the stack is filled with its first screen and " +
        "takes in one new picture a step." +
        (step.action === 1 ? " FIRE serves the ball." : "");
    }
    if (step.reward) {
      return "A brick. The reward is the sum over the four frames, " +
        "whichever of them it came on.";
    }
    return "Frames 1 and 2 are played and never looked at. The brighter of " +
      "3 and 4 becomes the newest picture; the oldest leaves the stack.";
  }

  function stop() {
    clearInterval(timer);
    timer = null;
    $("play").textContent = "Play";
  }
  $("play").addEventListener("click", () => {
    if (timer) return stop();
    if (+$("step").value === steps.length) $("step").value = 1;
    $("play").textContent = "Pause";
    timer = setInterval(() => {
      $("step").value = +$("step").value + 1;
      if (+$("step").value === steps.length) stop();
      draw();
    }, 1000 / 7.5);
  });
  $("step").max = steps.length;
  $("step").addEventListener("input", draw);
  $("near").addEventListener("change", draw);
  steps.forEach((step, i) => {
    if (!step.reward && !step.done) return;
    const mark = $("marks").appendChild(document.createElement("i"));
    mark.style.left = `${(100 * i) / (steps.length - 1)}%`;
    mark.className = step.done ? "end" : "";
  });
  document.querySelector("#moving .still").hidden = true;
  for (const part of document.querySelectorAll("#moving .stage")) {
    part.hidden = false;
  }
  draw();
  window.moving = { steps, stack: (i) => stackOf(steps, i) };
}
if ($("moving")) moving();
