// What the moving figures share: the recording and how it is drawn. For each
// screen it holds the rectangles that changed; the rest is worked out here as
// `game.py` does it.
window.shared = (() => {
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
    step.kept = kept.map(brightness);
    step.brighter = () => step.kept.reduce(
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

return { ACTIONS, GRAYS, HEIGHT, SIZE, WIDTH, calm, look, paint, recording,
  stackOf, stepsOf, whenNear, whileSeen };
})();
