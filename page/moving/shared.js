// What the moving figures share: how recorded pictures are unpacked and drawn,
// and the player.
const WIDTH = 160, HEIGHT = 210, SIZE = 84;
const ACTIONS = ["NOOP", "FIRE", "RIGHT", "LEFT"];

// Pictures from a text: what changes from each to the next, compressed.
async function unpack(text, size) {
  const data = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  const stream = new DecompressionStream("deflate");
  const inflated = new Response(new Blob([data]).stream().pipeThrough(stream));
  const pixels = new Uint8Array(await inflated.arrayBuffer());
  for (let i = size; i < pixels.length; i++) pixels[i] ^= pixels[i - size];
  return Array.from({ length: pixels.length / size },
    (_, i) => pixels.subarray(i * size, (i + 1) * size));
}

// Which pixels of a row one of its 84 new ones covers, and how much of each,
// as shares of the new one.
function covered(to, width) {
  const size = width / SIZE, start = to * size, stop = start + size;
  const pixels = [];
  for (let from = Math.floor(start); from < Math.min(stop, width); from++) {
    const part = Math.min(from + 1, stop) - Math.max(from, start);
    if (part > 1e-3) pixels.push([from, part / size]);
  }
  return pixels;
}

// OpenCV's INTER_AREA, bit for bit: each row is shrunk to 84 pixels, in single
// precision. The rows become columns, so that doing it twice shrinks both ways.
function narrow(pixels, width) {
  const height = pixels.length / width;
  const shrunk = new Float32Array(SIZE * height);
  for (let to = 0; to < SIZE; to++) {
    for (const [from, share] of covered(to, width)) {
      for (let row = 0; row < height; row++) {
        shrunk[to * height + row] +=
          Math.fround(pixels[row * width + from] * Math.fround(share));
      }
    }
  }
  return shrunk;
}

// A clamped array rounds as OpenCV does: a half to the even number.
const shrink = (gray) => new Uint8Array(
  new Uint8ClampedArray(narrow(narrow(gray, WIDTH), HEIGHT)));

const brighter = (one, other) => one.map((v, i) => Math.max(v, other[i]));

// Colours as a canvas has them.
const packed = (rgb) => rgb.map(([r, g, b]) =>
  (255 << 24) | (b << 16) | (g << 8) | r);
const GRAYS = packed(Array.from({ length: 256 }, (_, v) => [v, v, v]));

// The recorded game, for all figures that show a part of it: `steps`, the
// `screens` of their frames and their `colours`; `grays(at)`, the frames of a
// step, `kept(at)`, those of them that are looked at, and `picture(at)`, what
// becomes of those.
let recorded = null;
const recording = () => (recorded ??= (async () => {
  const { steps, frames, rgb, gray, up, down } = await read("recording");
  const screens = await unpack(frames, WIDTH * HEIGHT), pictures = [];
  const grays = (at) => screens.slice(4 * at, 4 * at + steps[at][1])
    .map((screen) => screen.map((colour) => gray[colour]));
  const kept = (at) => {
    const frames = grays(at);
    return frames.slice(Math.min(2, frames.length - 1));
  };
  const picture = (at) => (pictures[at] ??= shrink(kept(at).reduce(brighter)));
  return { steps, screens, up, down, colours: packed(rgb), grays, kept,
    picture };
})());

// Places for pictures, each a canvas and a label below it.
function cells(box, count) {
  box.innerHTML = "<div><canvas></canvas><small></small></div>".repeat(count);
  box.addEventListener("click", ({ target }) => {
    target.closest("canvas")?.parentElement.classList.toggle("large");
  });
  return [...box.children];
}

const KINDS = ["plain", "absent", "thrown", "third", "fourth", "picture"];

// A canvas has the size of its picture, or of the part of it that is shown:
// left, top, width and height in pixels. The style says how large it is shown. Without
// a picture it is blank.
function put(cell, label, pixels, kind = "plain", colours = GRAYS, part = null) {
  const [canvas, name] = cell.children, context = canvas.getContext("2d");
  name.textContent = label;
  cell.classList.remove(...KINDS);
  cell.classList.add(pixels ? kind : "absent");
  context.clearRect(0, 0, canvas.width, canvas.height);
  if (!pixels) return;
  const width = pixels.length === WIDTH * HEIGHT ? WIDTH : SIZE;
  const whole = [0, 0, width, pixels.length / width];
  const [left, top, ...size] = part ?? whole;
  [canvas.width, canvas.height] = size;
  const rgba = Uint32Array.from(pixels, (v) => colours[v]);
  const image = new ImageData(new Uint8ClampedArray(rgba.buffer), width);
  context.putImageData(image, -left, -top);
}

// The share of a film that is in view while it plays, and how many milliseconds
// its end is shown, unless it says otherwise.
const MOSTLY = 0.8, HELD = 2000;

// Whoever wants less motion starts the films by hand.
const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;

// A figure's player: Play, a slider with a tick where something happens, the
// number of the step, and a sentence.
//
// `prepare()` promises what the film is: `count` steps and the `start` to begin
// with; `pace` says how many are played in a second, and `wait` how many
// milliseconds pass before it first plays by itself. `ticks` are the steps in
// which something happens, `lost` those of them in which a life is lost, and
// `name(i)` is what step i is called. `show(i)` draws it and returns the
// sentence.
// The film plays by itself while most of it is in view, unless the reader wants
// less motion or has taken hold of it; its end is shown for a while, and then it
// begins anew, unless it plays `once`. The sentence is read out only if the
// reader has moved it. `film` returns what a figure with buttons of its own
// needs: `mark`, which sets the ticks, `forward`, to the next step, `go`, which
// plays or stops, `rest`, which stays where it is for some milliseconds, and
// `end`, after which it plays once.
function film(figure, prepare, show) {
  const box = figure.querySelector(".controls");
  box.innerHTML = `<button type="button" class="play">Play</button>
    <span class="slide"><input type="range" aria-label="Step" value="1" min="1">
    <span class="ticks"></span></span><span class="number"></span>`;
  const [play, slide, number] = box.children, [slider, marks] = slide.children;
  const says = figure.querySelector(".says");
  let timer = null, theirs = calm, ready = null, pause = null, called = null,
    held = 0, stops = false, ahead = 0, soon = null, resting = 0;

  function draw(byReader) {
    number.textContent = called(Number(slider.value));
    says.ariaLive = byReader ? "polite" : "off";
    says.textContent = show(Number(slider.value));
  }
  function next() {
    if (resting > 0) {
      resting -= pause;
      return;
    }
    held = slider.value === slider.max ? held + 1 : 0;
    if (held === 1 && stops) {
      run(false);
      return;
    }
    if (held * pause > HELD) slider.value = slider.min;
    else slider.stepUp();
    draw(false);
  }
  function run(on) {
    clearInterval(timer);
    held = Infinity;  // who starts it at its end needn't wait
    play.textContent = on ? "Pause" : "Play";
    timer = on ? setInterval(next, pause) : null;
  }
  // By itself it plays while it is in view.
  function follow(inView) {
    clearTimeout(soon);
    if (!inView) run(false);
    else if (!theirs) {
      soon = setTimeout(() => {
        ahead = 0;
        run(true);
      }, ahead);
    }
  }
  function go(on) {
    clearTimeout(soon);
    theirs = true;
    run(on);
    draw(true);
  }
  play.addEventListener("click", () => pause && go(!timer));
  slider.addEventListener("input", () => pause && go(false));

  function load({ count, start = 1, wait = 0, once = false, pace = 7.5, ticks = [],
    lost = [], name = (i) => `step ${i}` }) {
    pause = 1000 / pace;
    ahead = wait;
    stops = once;
    called = name;
    slider.max = count;
    slider.value = start;
    mark(ticks, lost);
    draw(false);
  }
  function mark(ticks, lost = []) {
    marks.innerHTML = ticks.map((at) => `<i class="${lost.includes(at) ? "lost" : ""}"
      style="left:${100 * (at - 1) / (slider.max - 1)}%"></i>`).join("");
  }
  function forward() {
    slider.stepUp();
    draw(true);
  }
  const rest = (time) => { resting = time; };
  const begin = () => (ready ??= prepare().then(load));
  new IntersectionObserver((seen) => {
    if (seen.at(-1).isIntersecting) begin();
  }, { rootMargin: "900px" }).observe(figure);
  new IntersectionObserver(async (seen) => {
    const inView = seen.at(-1).intersectionRatio >= MOSTLY;
    if (inView) await begin();
    follow(inView);
  }, { rootMargin: "100px", threshold: MOSTLY }).observe(figure);
  const end = () => { stops = true; };
  return { mark, forward, go, rest, end };
}
