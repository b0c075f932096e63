// What the moving figures share: the recordings, how their pictures are drawn,
// and the player. What the agent sees is worked out here as `game.py` does it.
window.shared = (() => {
const WIDTH = 160, HEIGHT = 210, SIZE = 84;
const ACTIONS = ["NOOP", "FIRE", "RIGHT", "LEFT"];
const STAY = 1500; // milliseconds for which a film stays at a mark

// Pictures from a text: what changes from each to the next, compressed.
async function unpack(text, size = WIDTH * HEIGHT) {
  const data = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  const stream = new DecompressionStream("deflate");
  const inflated = new Response(new Blob([data]).stream().pipeThrough(stream));
  const pixels = new Uint8Array(await inflated.arrayBuffer());
  for (let i = size; i < pixels.length; i++) pixels[i] ^= pixels[i - size];
  return Array.from({ length: pixels.length / size },
    (_, i) => pixels.subarray(i * size, (i + 1) * size));
}

// OpenCV's INTER_AREA, bit for bit: each row is shrunk to 84 pixels, by how
// much of each old one a new one covers, in single precision. The rows become
// columns, so that doing it twice shrinks both ways.
function narrow(pixels, width) {
  const height = pixels.length / width, size = width / SIZE;
  const shrunk = new Float32Array(SIZE * height);
  for (let to = 0; to < SIZE; to++) {
    const start = to * size, stop = start + size;
    for (let from = Math.floor(start); from < Math.min(stop, width); from++) {
      const covered = Math.min(from + 1, stop) - Math.max(from, start);
      const share = Math.fround(covered / size);
      for (let row = 0; covered > 1e-3 && row < height; row++) {
        shrunk[to * height + row] +=
          Math.fround(pixels[row * width + from] * share);
      }
    }
  }
  return shrunk;
}

// A clamped array rounds as OpenCV does: a half to the even number.
const shrink = (gray) => new Uint8Array(
  new Uint8ClampedArray(narrow(narrow(gray, WIDTH), HEIGHT)));

const brighter = (one, other) => one.map((v, i) => Math.max(v, other[i]));

// What `Game` makes of recorded frames at each step. A picture is made when it
// is first asked for.
function follow(steps, start, { rgb, gray }, restarts = true) {
  const colours = packed(rgb);
  const grays = (screens) =>
    screens.map((screen) => screen.map((colour) => gray[colour]));
  const later = (screens) => {
    let made = null;
    return () => (made ??= shrink(grays(screens).reduce(brighter)));
  };
  let before = Array(4).fill(later([start]));
  return steps.map((step) => {
    const { frames, kept, done } = step;
    const played = [...before.slice(1), later(kept)];
    const screen = done && restarts ? start : kept.at(-1);
    const stack = done ? Array(4).fill(later([screen])) : played;
    before = stack;
    return {
      ...step, screen, colours,
      get grays() { return grays(frames); },
      get picture() { return played[3](); },
      get stack() { return stack.map((picture) => picture()); },
      get final() { return done ? played.map((picture) => picture()) : null; },
    };
  });
}

// All steps of the recording, unpacked when they are first asked for.
let unpacked = null;
const recording = () => (unpacked ??= unpackAll());
async function unpackAll() {
  const recorded = await read("recording");
  const screens = await unpack(recorded.frames), start = screens.shift();
  const rows = recorded.steps.map(([action, shown, reward, lives, done]) => {
    const frames = screens.splice(0, shown);
    const kept = frames.slice(shown > 2 ? 2 : -1);
    if (done) screens.shift(); // the first of the next episode
    return { action, reward, lives, done: Boolean(done), frames, kept };
  });
  return follow(rows, start, recorded);
}

// The steps around a lost life in the three modes, and which loses it.
async function modes() {
  const recorded = await read("modes"), { first } = recorded;
  const played = [];
  for (const [mode, told] of Object.entries(recorded.modes)) {
    const screens = await unpack(told.frames), start = screens.shift();
    const rows = told.steps.map(([, count, shown, reward, lives, done, info]) =>
      ({ shown, reward, lives, done: Boolean(done), info,
        kept: screens.splice(0, count) }));
    played.push(follow(rows, start, recorded, mode === "restart"));
  }
  return { first, played, lost: first + played[0].findIndex((s) => s.done) };
}

// Colours as a canvas has them.
const packed = (rgb) => rgb.map(([r, g, b]) =>
  (255 << 24) | (b << 16) | (g << 8) | r);
const GRAYS = packed(Array.from({ length: 256 }, (_, v) => [v, v, v]));

// Places for pictures, each a canvas and a label below it.
function cells(box, count) {
  box.innerHTML = `<div><canvas role="img" aria-label="not drawn yet">
    </canvas><small></small></div>`.repeat(count);
  return [...box.children];
}

// The middle pixel of the ball, if it is between the bricks and the paddle.
function ballOf(screen) {
  const found = [];
  for (let y = 93; y < 189; y++) {
    for (let x = 8; x < 152; x++) {
      if (screen[y * WIDTH + x]) found.push([x, y]);
    }
  }
  return found[found.length >> 1];
}

// A canvas has the size of its picture, or of the part of it that is shown:
// left, top and size as shares. The style says how large it is shown.
const WHOLE = [0, 0, 1];
function put(cell, label, pixels, kind = "", colours = GRAYS, part = WHOLE) {
  const canvas = cell.firstChild, screen = pixels?.length === WIDTH * HEIGHT;
  const width = screen ? WIDTH : Math.sqrt(pixels?.length ?? 1);
  const height = screen ? HEIGHT : width, [left, top, size] = part;
  canvas.width = width * size;
  canvas.height = height * size;
  canvas.setAttribute("aria-label", label);
  cell.lastChild.textContent = label;
  cell.className = pixels ? kind : "absent";
  if (!pixels) return;
  const rgba = Uint32Array.from(pixels, (v) => colours[v]);
  const image = new ImageData(new Uint8ClampedArray(rgba.buffer), width);
  canvas.getContext("2d").putImageData(image, -left * width, -top * height);
}

// Names with their values, as Python writes them.
function list(box, facts, marked = {}) {
  const words = { null: "None", true: "True", false: "False" };
  box.innerHTML = Object.entries(facts).map(([name, value]) => {
    const text = JSON.stringify(value).replaceAll(/[:,]/g, "$& ")
      .replace(/null|true|false/, (word) => words[word]);
    const kind = marked[name] ? "differs" : "";
    return `<div class="${kind}"><dt>${name}</dt><dd>${text}</dd></div>`;
  }).join("");
}

const percent = (share) => `${Math.round(100 * share)}\u00a0%`;
const plural = (n, word) => `${n} ${word}${n === 1 ? "" : "s"}`;

// Whoever wants less motion starts the films by hand.
const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;

// A figure's slider with its Play button, its sentence and its marks.
//
// `prepare()` promises what the film is: `count` steps, of which the `first`
// has that number, and the `start` to begin with; `pace` says how many are
// played in a second, and `marks` are places to jump to, at which the film
// stays for a moment. `show(i)` draws step i and returns the sentence. A film
// too fast to read along says `playing` while it plays. The film plays by
// itself while it is in view, unless the reader wants less motion or has taken
// hold of it, and begins anew after its end. The sentence is read out only if
// the reader has moved it.
function film(figure, prepare, show, playing) {
  const box = figure.querySelector(".controls"), id = figure.id;
  box.innerHTML = `<button type="button" class="play">Play</button>
    <label for="${id}-at">At <span class="number"></span></label>
    <input type="range" id="${id}-at" value="1" min="1">
    <p class="says"></p><div class="marks"></div>`;
  const [play, label, slider, says, marks] = box.children;
  let timer = null, theirs = calm, ready = null, reel = null;

  function draw(byReader) {
    label.lastChild.textContent = `${slider.value} of ${slider.max}`;
    says.setAttribute("aria-live", byReader ? "polite" : "off");
    const sentence = show(Number(slider.value));
    says.textContent = timer && playing ? playing : sentence;
  }
  function next() {
    if (slider.value === slider.max) slider.value = slider.min;
    else slider.stepUp();
    draw(false);
    run(true);
  }
  function run(on) {
    clearTimeout(timer);
    play.textContent = on ? "Pause" : "Play";
    const marked = on && reel.marks.some(({ at }) => at === +slider.value);
    const wait = 1000 / reel?.pace + (marked ? STAY : 0);
    timer = on ? setTimeout(next, wait) : null;
  }
  function go(on) {
    theirs = true;
    run(on);
    draw(true);
  }
  play.addEventListener("click", () => reel && go(!timer));
  slider.addEventListener("input", () => reel && go(false));
  marks.addEventListener("click", ({ target }) => {
    if (!target.value) return;
    slider.value = target.value;
    go(false);
  });

  // Put in another film.
  function load(next) {
    reel = { first: 1, pace: 7.5, marks: [], ...next };
    slider.min = reel.first;
    slider.max = reel.first + reel.count - 1;
    slider.value = reel.start ?? reel.first;
    marks.innerHTML = reel.marks.map(({ at, text }) =>
      `<button type="button" value="${at}">${text} ${at}</button>`).join("");
    draw(false);
  }
  new IntersectionObserver(async (seen) => {
    const inView = seen.at(-1).isIntersecting;
    if (inView) await (ready ??= prepare().then(load));
    if (!theirs || !inView) run(inView);
  }, { rootMargin: "100px" }).observe(figure);
  return { go, load };
}

return { ACTIONS, HEIGHT, SIZE, WHOLE, WIDTH, ballOf, brighter, calm, cells,
  film, list, modes, packed, percent, plural, put, recording, shrink, unpack };
})();
