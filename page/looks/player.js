// What the figures share: how recorded pictures are unpacked and drawn, and
// the player.
const WIDTH = 160, HEIGHT = 210, SIZE = 84;
const ACTIONS = ["NOOP", "FIRE", "RIGHT", "LEFT"];

// Whoever wants less motion starts the films by hand.
const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;

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

// Colours as a canvas has them.
const packed = (rgb) => rgb.map(([r, g, b]) =>
  (255 << 24) | (b << 16) | (g << 8) | r);
const GRAYS = packed(Array.from({ length: 256 }, (_, v) => [v, v, v]));

const brighter = (one, other) => one.map((v, i) => Math.max(v, other[i]));

// Draw pixels in a canvas with a label below it, or the part of them that is
// shown: left, top, width, height. Without pixels the place is blank. The
// style says how large it is.
function put(cell, pixels, { label = "", kind = "", colours = GRAYS,
  part = null } = {}) {
  const [canvas, name] = cell.children, context = canvas.getContext("2d");
  name.textContent = label;
  cell.className = pixels ? kind : "absent";
  context.clearRect(0, 0, canvas.width, canvas.height);
  if (!pixels) return;
  const width = pixels.length === WIDTH * HEIGHT ? WIDTH : SIZE;
  const [left, top, ...size] = part ?? [0, 0, width, pixels.length / width];
  [canvas.width, canvas.height] = size;
  const rgba = Uint32Array.from(pixels, (v) => colours[v]);
  const image = new ImageData(new Uint8ClampedArray(rgba.buffer), width);
  context.putImageData(image, -left, -top);
}

// Show the probabilities of the actions as bars: in bold which one was
// `sampled`, or what they `were` before something changed them.
function showChances(rows, chances, { sampled, were }) {
  const percent = (chance) => `${Math.round(100 * chance)}\u00a0%`;
  chances.forEach((chance, a) => {
    rows[a].className = a === sampled ? "chosen" : "";
    rows[a].lastElementChild.textContent =
      (were ? `${percent(were[a])} → ` : "") + percent(chance);
    rows[a].style.setProperty("--share", `${100 * chance}%`);
  });
}

// The recorded game, for all figures that show a part of it: `steps`, the
// `screens` of their frames and their `colours`; the `pictures` of the steps;
// and the `gray` of each colour.
let recorded = null;
const recording = () => (recorded ??= (async () => {
  const told = await read("recording");
  const screens = await unpack(told.frames, WIDTH * HEIGHT);
  const pictures = await unpack(told.pictures, SIZE ** 2);
  return { ...told, screens, pictures, colours: packed(told.rgb) };
})());

// A player: Play, Step, a slider with a tick where something happens, the name
// of the step, and a sentence, which `show(i)` returns when it has drawn step
// i. There are `count` steps, `pace` in a second; with number `start` it
// stands still until the reader plays it; or, if `auto`, it plays by itself as
// long as it is seen.
// The sentence is read out only if the reader has moved it.
function film(box, show, { count, start = 1, pace = 7.5, auto = false,
  ticks = [], lost = [], name = (i) => `step ${i}` }) {
  const controls = box.querySelector(".controls");
  controls.innerHTML = `<button type="button" class="play"></button>
    <button type="button">Step</button>
    <span class="slide"><input type="range" aria-label="Step" min="1"
    max="${count}" value="${start}"><span class="ticks"></span></span>
    <span class="number"></span>`;
  const [play, step, slide, number] = controls.children;
  const [slider, marks] = slide.children, says = box.querySelector(".stage > .says");
  let timer = null;

  function draw(byReader = true) {
    number.textContent = name(Number(slider.value));
    says.ariaLive = byReader ? "polite" : "off";
    says.textContent = show(Number(slider.value));
  }
  function go(on) {
    clearInterval(timer);
    timer = on ? setInterval(next, 1000 / pace) : null;
    play.textContent = on ? "Pause" : "Play";
  }
  function next() {
    if (document.hidden) return;
    if (slider.value === slider.max) go(false);
    slider.stepUp();
    draw(!timer);
  }
  play.addEventListener("click", () => {
    if (!timer && slider.value === slider.max) slider.value = slider.min;
    go(!timer);
    draw();
  });
  step.addEventListener("click", () => {
    go(false);
    next();
  });
  slider.addEventListener("input", () => {
    go(false);
    draw();
  });
  marks.innerHTML = ticks.map((at) =>
    `<i class="${lost.includes(at) ? "lost" : ""}"
      style="left:${100 * (at - 1) / (count - 1)}%"></i>`).join("");
  go(false);
  draw(false);
  if (auto && !calm) {
    const sight = new IntersectionObserver((seen) =>
      go(seen.at(-1).isIntersecting && slider.value !== slider.max),
    { threshold: 0.6 });
    sight.observe(box);
    for (const event of ["click", "input"]) {
      controls.addEventListener(event, () => sight.disconnect());
    }
  }
  return { go, draw, at: () => Number(slider.value) };
}
