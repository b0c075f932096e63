// What the moving figures share: the recording and how it is drawn. For each
// screen it holds the rectangles that changed; the rest is worked out here as
// `game.py` does it.
window.shared = (() => {
const WIDTH = 160, HEIGHT = 210, SIZE = 84;
const ACTIONS = ["NOOP", "FIRE", "RIGHT", "LEFT"];

// Pictures from a text: of each, how many rectangles have changed since the
// one before, in two bytes, and then the rectangles.
function* unpack(text, width = WIDTH, height = HEIGHT) {
  const data = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  let picture = new Uint8Array(width * height);
  for (let at = 0; at < data.length;) {
    picture = picture.slice();
    const end = at + 2 + 5 * (data[at] + 256 * data[at + 1]);
    for (at += 2; at < end; at += 5) {
      const [x, y, w, h, value] = data.subarray(at, at + 5);
      for (let row = y * width + x, n = h; n > 0; n--, row += width) {
        picture.fill(value, row, row + w);
      }
    }
    yield picture;
  }
}

// A tape of screens, to be wound to any of them: only one is kept at a time.
function tapeOf(text) {
  let screens = null, at = Infinity, screen = null;
  return (wanted) => {
    if (wanted < at) [screens, at] = [unpack(text), -1];
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

const brighter = (one, other) => one.map((v, i) => Math.max(v, other[i]));

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
    step.grays = () => step.frames.map(brightness);
    step.brighter = () => step.kept().reduce(brighter);
    step.picture = () => (step.small ??= shrink(step.brighter()));
    yield step;
  }
}

function stackOf(steps, i) {
  if (steps[i].done) return Array(4).fill(steps[i].first);
  return [i - 3, i - 2, i - 1, i].map((j) =>
    j > steps[i].before ? steps[j].picture() : steps[i].first);
}

// What `Game` returns at each step of a mode, worked out from its frames.
function follow(mode, { modes, gray }) {
  const { steps, frames } = modes[mode];
  const screens = unpack(frames), begin = screens.next().value;
  const brightness = (screen) => screen.map((colour) => gray[colour]);
  let stack = [];
  return steps.map(([action, kept, shown, reward, lives, done, info]) => {
    const last = Array.from({ length: kept }, () => screens.next().value);
    const picture = shrink(last.map(brightness).reduce(brighter));
    stack = [...stack, picture].slice(-4);
    const restarts = done && mode === "restart";
    const screen = restarts ? begin : last[kept - 1];
    const final = done ? stack : null;
    if (done) stack = Array(4).fill(shrink(brightness(screen)));
    return { action, shown, reward, lives, done, info, screen, final, stack };
  });
}

const packed = ([r, g, b]) => (255 << 24) | (b << 16) | (g << 8) | r;
const GRAYS = Array.from({ length: 256 }, (_, v) => packed([v, v, v]));
const WHOLE = [0, 0, 1, 1]; // the part of a screen to show: all of it

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

// The middle of the ball, between the bricks and the paddle.
function ballOf(screen) {
  let n = 0, x = 0, y = 0;
  for (let row = 93; row < 189; row++) {
    for (let column = 8; column < 152; column++) {
      if (screen[row * WIDTH + column]) {
        n += 1;
        x += column;
        y += row;
      }
    }
  }
  return n ? { x: x / n, y: y / n } : null;
}

// All steps of the recording, unpacked when they are first asked for.
let unpacked = null;
const unpackAll = async () => [...stepsOf(await read("recording"))];
const recording = () => (unpacked ??= unpackAll());

// Whoever wants less motion starts the films by hand.
const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;

const percent = (share) => `${Math.round(100 * share)}\u00a0%`;
const plural = (n, word) => `${n} ${word}${n === 1 ? "" : "s"}`;

// Cells for pictures, each a canvas and a label below it.
function cells(box, count, width, height) {
  return Array.from({ length: count }, () => {
    const cell = box.appendChild(document.createElement("div"));
    cell.innerHTML = `<canvas width="${width}" height="${height}" role="img"
      style="width: ${width}px" aria-label="not drawn yet"></canvas>
      <small></small>`; // no pixel is drawn in part
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
// `prepare()` promises what the film is: `count` steps, of which the `first`
// has that number, and the `start` to begin with; `name` says what a step is
// called, `pace` how many are played in a second, and `marks` are places to
// jump to. `show(i)` draws step i and returns the sentence, `hold(i)` says for
// how many steps' time the film stays at it. A film too fast to read along
// says `playing` while it plays. The film plays by itself while it is in view,
// unless the reader wants less motion or has taken hold of it, and begins anew
// after its end. The sentence is read out only if the reader has moved it.
function film(figure, { prepare, show, hold = () => 1, playing }) {
  const box = figure.querySelector(".controls"), id = figure.id;
  box.innerHTML = `<button type="button" class="play">Play</button>
    <label for="${id}-at"><span class="name">Step</span>
      <span class="number"></span></label>
    <input type="range" id="${id}-at" value="1" min="1">
    <p class="says"></p><div class="marks"></div>`;
  const $in = (selector) => box.querySelector(selector);
  const slider = $in("input"), play = $in(".play"), says = $in(".says");
  let timer = null, theirs = calm, ready = null, reel = null;

  function draw(byReader) {
    $in(".number").textContent = `${slider.value} of ${slider.max}`;
    says.setAttribute("aria-live", byReader ? "polite" : "off");
    const sentence = show(Number(slider.value));
    says.textContent = timer && playing ? playing : sentence;
  }
  function wait() {
    timer = setTimeout(() => {
      const { value, min, max } = slider;
      slider.value = Number(value) < max ? Number(value) + 1 : min;
      draw(false);
      wait();
    }, hold(Number(slider.value)) * 1000 / reel.pace);
  }
  function run(on) {
    clearTimeout(timer);
    timer = null;
    play.textContent = on ? "Pause" : "Play";
    if (on) wait();
  }
  function go(on) {
    theirs = true;
    run(on);
    draw(true);
  }
  play.addEventListener("click", () => reel && go(!timer));
  slider.addEventListener("input", () => reel && go(false));

  // Put in another film.
  function load(next) {
    reel = { name: "Step", first: 1, pace: 7.5, marks: [], ...next };
    $in(".name").textContent = reel.name;
    slider.min = reel.first;
    slider.max = reel.first + reel.count - 1;
    slider.value = reel.start ?? reel.first;
    for (const { at, text, kind } of reel.marks) {
      const jump = $in(".marks").appendChild(document.createElement("button"));
      jump.className = kind;
      jump.type = "button";
      jump.textContent = `${text} ${at}`;
      jump.addEventListener("click", () => {
        slider.value = at;
        go(false);
      });
    }
    draw(false);
  }
  new IntersectionObserver(async (seen) => {
    const inView = seen.at(-1).isIntersecting;
    if (inView) await (ready ??= prepare().then(load));
    if (!theirs) run(inView);
    else if (!inView) run(false);
  }, { rootMargin: "100px" }).observe(figure);
  return { draw: () => draw(true), load, run };
}

return { ACTIONS, GRAYS, HEIGHT, SIZE, WHOLE, WIDTH, ballOf, brighter, calm,
  cells, film, follow, packed, paint, percent, plural, put, recording, shrink,
  stackOf, tapeOf, unpack };
})();
