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

// Colours as a canvas has them.
const packed = (rgb) => rgb.map(([r, g, b]) =>
  (255 << 24) | (b << 16) | (g << 8) | r);
const GRAYS = packed(Array.from({ length: 256 }, (_, v) => [v, v, v]));

// Places for pictures, each a canvas and a label below it.
function cells(box, count) {
  box.innerHTML = "<div><canvas></canvas><small></small></div>".repeat(count);
  return [...box.children];
}

// A canvas has the size of its picture, or of the part of it that is shown:
// left, top and size as shares. The style says how large it is shown.
const WHOLE = [0, 0, 1];
function put(cell, label, pixels, kind = "", colours = GRAYS, part = WHOLE) {
  const [canvas, name] = cell.children, [left, top, share] = part;
  name.textContent = label;
  cell.className = pixels ? kind : "absent";
  if (!pixels) return;
  const screen = pixels.length === WIDTH * HEIGHT;
  const width = screen ? WIDTH : Math.sqrt(pixels.length);
  const height = screen ? HEIGHT : width;
  canvas.width = width * share;
  canvas.height = height * share;
  const rgba = Uint32Array.from(pixels, (v) => colours[v]);
  const image = new ImageData(new Uint8ClampedArray(rgba.buffer), width);
  const x = Math.floor(left * width), y = Math.floor(top * height);
  canvas.getContext("2d").putImageData(image, -x, -y);
}

// Whoever wants less motion starts the films by hand.
const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;

// A figure's slider with its Play button, its sentence and its marks.
//
// `prepare()` promises what the film is: `count` steps and the `start` to begin
// with; `pace` says how many are played in a second, and `places` are those to
// jump to. `show(i)` draws step i and returns the sentence. The film plays by
// itself while it is in view, unless the reader wants less motion or has taken
// hold of it, and begins anew after its end. The sentence is read out only if
// the reader has moved it.
function film(figure, prepare, show) {
  const box = figure.querySelector(".controls"), id = figure.id;
  box.innerHTML = `<button type="button" class="play">Play</button>
    <label for="${id}-at">At <span class="number"></span></label>
    <input type="range" id="${id}-at" value="1" min="1">
    <p class="says"></p><div class="marks"></div>`;
  const [play, label, slider, says, marks] = box.children;
  let timer = null, theirs = calm, ready = null, wait = null;

  function draw(byReader) {
    label.lastChild.textContent = `${slider.value} of ${slider.max}`;
    says.ariaLive = byReader ? "polite" : "off";
    says.textContent = show(Number(slider.value));
  }
  function next() {
    if (slider.value === slider.max) slider.value = slider.min;
    else slider.stepUp();
    draw(false);
  }
  function run(on) {
    clearInterval(timer);
    play.textContent = on ? "Pause" : "Play";
    timer = on ? setInterval(next, wait) : null;
  }
  function go(on) {
    theirs = true;
    run(on);
    draw(true);
  }
  play.addEventListener("click", () => wait && go(!timer));
  slider.addEventListener("input", () => wait && go(false));
  marks.addEventListener("click", ({ target }) => {
    if (!target.value) return;
    slider.value = target.value;
    go(false);
  });

  // Put in another film.
  function load({ count, start = 1, pace = 7.5, places = [] }) {
    wait = 1000 / pace;
    slider.max = count;
    slider.value = start;
    marks.innerHTML = places.map(({ at, text }) =>
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
