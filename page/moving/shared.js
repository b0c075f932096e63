// What the moving figures share: the recording and how it is drawn. For each
// screen it holds the rectangles that changed; the rest is worked out here as
// `game.py` does it.
window.shared = (() => {
const WIDTH = 160, HEIGHT = 210, SIZE = 84;
const ACTIONS = ["NOOP", "FIRE", "RIGHT", "LEFT"];

const bytesOf = (text) => Uint8Array.from(atob(text), (c) => c.charCodeAt(0));

function* unpack(text, wide = false) { // the count has two bytes, if wide
  const data = bytesOf(text);
  let screen = new Uint8Array(WIDTH * HEIGHT);
  for (let at = 0; at < data.length;) {
    screen = screen.slice();
    let n = data[at++];
    if (wide) n += 256 * data[at++];
    for (; n > 0; n--, at += 5) {
      const start = data[at + 1] * WIDTH + data[at];
      const end = start + data[at + 2];
      for (let row = 0; row < data[at + 3] * WIDTH; row += WIDTH) {
        screen.fill(data[at + 4], start + row, end + row);
      }
    }
    yield screen;
  }
}

// A tape of screens, to be wound to any of them: only one is kept at a time.
function tapeOf(text, wide = false) {
  let screens = null, at = Infinity, screen = null;
  return (wanted) => {
    if (wanted < at) [screens, at] = [unpack(text, wide), -1];
    for (; at < wanted; at++) screen = screens.next().value;
    return screen;
  };
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

// One step after the other, as it is played.
function* stepsOf({ rgb, gray, steps, frames }) {
  const screens = unpack(frames), start = screens.next().value;
  const brightness = (screen) => screen.map((colour) => gray[colour]);
  const first = shrink(brightness(start)), colours = rgb.map(packed);
  let before = -1; // the step that ended the episode before
  for (const [i, [action, shown, reward, lives, done]] of steps.entries()) {
    const step = { action, reward, lives, done, before, first, colours };
    step.frames = Array.from({ length: shown }, () => screens.next().value);
    if (done) {
      screens.next();
      before = i;
    }
    const kept = shown > 2 ? step.frames.slice(2) : step.frames.slice(-1);
    step.kept = () => kept.map(brightness);
    step.brighter = () => step.kept().reduce(
      (a, b) => a.map((v, i) => Math.max(v, b[i])));
    step.picture = () => (step.small ??= shrink(step.brighter()));
    yield step;
  }
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
  const [x, y, w, h] = view; // from a whole pixel on: no pixel is cut
  out.drawImage(whole, Math.round(x * whole.width),
    Math.round(y * whole.height), w * whole.width, h * whole.height,
    0, 0, canvas.width, canvas.height);
}

// The ball between the bricks and the paddle, and the paddle: their middles.
function middle(screen, [top, bottom, left, right]) {
  let n = 0, xs = 0, ys = 0;
  for (let y = top; y < bottom; y++) {
    for (let x = left; x < right; x++) {
      if (screen[y * WIDTH + x]) {
        n += 1;
        xs += x;
        ys += y;
      }
    }
  }
  return n ? { x: xs / n, y: ys / n } : null;
}
const ballOf = (screen) => middle(screen, [93, 189, 8, 152]);
const paddleOf = (screen) => middle(screen, [190, 191, 8, 152]);

// The part of the screen to show: all of it, or a third by a third around the
// ball, which moves on when the ball has gone a quarter of that. Without a
// ball it is all of it.
const NEAR = 1 / 3, WHOLE = [0, 0, 1, 1];
function look(step, near) {
  const ball = near && ballOf(step.frames[step.frames.length - 1]);
  if (!ball) return WHOLE;
  const { x, y } = ball;
  const stop = (v, size) => {
    const start = Math.round((v / size - NEAR / 2) * 12) / 12;
    return Math.min(Math.max(start, 0), 1 - NEAR);
  };
  return [stop(x, WIDTH), stop(y, HEIGHT), NEAR, NEAR];
}

// All steps of the recording, unpacked when they are first asked for.
let steps = null;
const recording = () => (steps ??= [...stepsOf(read("recording"))]);

// Begin once, when the reader comes near the element or moves into it.
function whenNear(element, begin) {
  const eye = new IntersectionObserver((seen) => {
    if (seen.some((one) => one.isIntersecting)) start();
  }, { rootMargin: "600px" });
  const start = () => {
    eye.disconnect();
    element.removeEventListener("focusin", start);
    begin?.();
    begin = null;
  };
  eye.observe(element);
  element.addEventListener("focusin", start);
}

// Report when the element comes into view and when it leaves.
function whileSeen(element, report) {
  new IntersectionObserver((seen) => {
    report(seen[seen.length - 1].isIntersecting);
  }, { threshold: 0.4 }).observe(element);
}

// Whoever wants less motion starts the films by hand.
const calm = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

// Show a figure in the place of its still picture.
function unveil(figure) {
  for (const part of figure.querySelectorAll(".still")) part.hidden = true;
  for (const part of figure.querySelectorAll(".stage")) part.hidden = false;
}

// Cells for pictures, each a canvas and a label below it.
function cells(box, count, width, height) {
  return Array.from({ length: count }, () => {
    const cell = box.appendChild(document.createElement("div"));
    const canvas = cell.appendChild(document.createElement("canvas"));
    canvas.width = width;
    canvas.height = height;
    canvas.style.width = `${width}px`; // no pixel is drawn in part
    canvas.setAttribute("role", "img");
    canvas.setAttribute("aria-label", "not drawn yet");
    cell.append(document.createElement("small"));
    return cell;
  });
}

function put(cell, label, kind, pixels, width, colours = GRAYS, view = WHOLE) {
  const canvas = cell.firstChild;
  cell.className = pixels ? kind : "absent";
  cell.lastChild.textContent = label;
  canvas.setAttribute("aria-label", label);
  if (pixels) paint(canvas, pixels, width, colours, view);
  else canvas.getContext("2d").clearRect(0, 0, canvas.width, canvas.height);
}

// A figure's slider with its Play button, its sentence and its marks.
//
// `show(i)` draws step i and returns the sentence. `first` is the number of
// the first step, `start` the one to begin with, `hold(i)` for how many steps'
// time the film stays at it, and `marks` are places to jump to, or only to see
// if they have no text. A film too fast to read along says `playing` while it
// plays. The film plays by itself while it is in view, unless the reader wants
// less motion or has taken hold of it, and begins anew after its end. The
// sentence is read out only if the reader has moved it.
function film(figure, options) {
  const { count, first = 1, start = first, pace = 7.5, marks = [] } = options;
  const { show, prepare = () => {}, name = "Step", hold = () => 1 } = options;
  const { playing } = options;
  const last = first + count - 1, id = figure.id;
  const box = figure.querySelector(".controls");
  box.innerHTML = `
    <button type="button" id="${id}-play" class="play">Play</button>
    <label for="${id}-at">${name} <span class="number"></span></label>
    <div class="track"><input type="range" id="${id}-at" min="${first}"
      max="${last}" value="${start}"><div class="ticks" aria-hidden="true">
      </div></div>
    <p class="says"></p><div class="marks"></div>`;
  const $in = (selector) => box.querySelector(selector);
  const slider = $in("input"), play = $in(".play"), says = $in(".says");
  let timer = null, theirs = calm(), ready = false;

  function draw(byReader) {
    if (!ready) prepare();
    ready = true;
    const at = Number(slider.value);
    $in(".number").textContent = `${at} of ${last}`;
    slider.setAttribute("aria-valuetext", `${name} ${at}`);
    says.setAttribute("aria-live", byReader ? "polite" : "off");
    const sentence = show(at);
    says.textContent = timer && playing ? playing : sentence;
  }
  function wait() {
    timer = setTimeout(() => {
      slider.value = slider.value < last ? Number(slider.value) + 1 : first;
      draw(false);
      wait();
    }, hold(Number(slider.value)) * 1000 / pace);
  }
  function run(on) {
    clearTimeout(timer);
    timer = null;
    play.textContent = on ? "Pause" : "Play";
    if (on) wait();
  }
  function go(at) {
    theirs = true;
    run(false);
    slider.value = at;
    draw(true);
  }
  function toggle() {
    theirs = true;
    run(!timer);
    draw(true);
  }
  play.addEventListener("click", toggle);
  slider.addEventListener("input", () => go(slider.value));
  figure.addEventListener("keydown", (event) => {
    const own = "button, a, label, input[type=checkbox], input[type=radio]";
    if (event.key !== " " || event.target.closest(own)) return;
    event.preventDefault();
    toggle();
  });
  for (const { at, text, kind } of marks) {
    const tick = $in(".ticks").appendChild(document.createElement("i"));
    tick.style.left = `${(100 * (at - first)) / (count - 1)}%`;
    tick.className = kind;
    if (!text) continue;
    const jump = $in(".marks").appendChild(document.createElement("button"));
    jump.className = kind;
    jump.type = "button";
    jump.textContent = `${text} ${at}`;
    jump.addEventListener("click", () => go(at));
  }
  unveil(figure);
  let inView = false;
  whenNear(figure, () => {
    draw(false);
    if (inView && !theirs) run(true);
  });
  whileSeen(box, (seen) => {
    inView = seen;
    if (!seen || (ready && !theirs)) run(seen);
  });
  function jump(at) { // and play on, if it plays
    slider.value = at;
    draw(true);
    if (timer) run(true);
  }
  return { draw: () => draw(true), jump, slider };
}

return { ACTIONS, GRAYS, HEIGHT, SIZE, WHOLE, WIDTH, ballOf, bytesOf, calm,
  cells, film, look, packed, paddleOf, paint, put, recording, shrink, stackOf,
  stepsOf, tapeOf, unpack, unveil, whenNear, whileSeen };
})();
