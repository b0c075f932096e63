// What the figures share: how recorded pictures are unpacked and drawn, and
// the player.

// Readers who want less motion start the films by hand.
const calm = matchMedia("(prefers-reduced-motion: reduce)");

// Pictures from a text: what changes from each to the next, compressed. Four
// pixels at a time are put together.
async function unpack(text, size) {
  const data = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  const stream = new DecompressionStream("deflate");
  const inflated = new Response(new Blob([data]).stream().pipeThrough(stream));
  const buffer = await inflated.arrayBuffer(), pixels = new Uint8Array(buffer);
  const fours = new Uint32Array(buffer), before = size / 4;
  for (let i = before; i < fours.length; i++) fours[i] ^= fours[i - before];
  return Array.from({ length: pixels.length / size },
    (_, i) => pixels.subarray(i * size, (i + 1) * size));
}

// Colors as a canvas has them.
const packed = (rgb) => rgb.map(([r, g, b]) =>
  (255 << 24) | (b << 16) | (g << 8) | r);
const GRAYS = packed(Array.from({ length: 256 }, (_, v) => [v, v, v]));

// Draw pixels in a canvas, which may have a label below it, or the part of them
// that is shown: left, top, width, height. They are numbers of `colors`. Without
// pixels the place is blank. The style says how large it is.
function put(cell, pixels, { label = "", kind = "", colors = GRAYS,
  width = pixels?.length === SIZE ** 2 ? SIZE : WIDTH, part = null } = {}) {
  const [canvas, name] = cell.children, context = canvas.getContext("2d");
  if (name) name.textContent = label;
  cell.className = pixels ? kind : "absent";
  context.clearRect(0, 0, canvas.width, canvas.height);
  if (!pixels) return;
  const [left, top, ...size] = part ?? [0, 0, width, pixels.length / width];
  [canvas.width, canvas.height] = size;
  const rgba = new Uint32Array(pixels).map((v) => colors[v]);
  const image = new ImageData(new Uint8ClampedArray(rgba.buffer), width);
  context.putImageData(image, -left, -top);
}

// What several figures show is unpacked once.
const once = (make) => {
  let made = null;
  return () => (made ??= make());
};

// The titles of the workbench, whose frames are packed by fours.
const titles = once(async () => {
  const recorded = await read("workbench");
  for (const title of Object.values(recorded)) {
    const size = WIDTH * title.height;
    title.frames = (await unpack(title.frames, 4 * size)).flatMap((four) =>
      [0, 1, 2, 3].map((i) => four.subarray(i * size, (i + 1) * size)));
  }
  return recorded;
});

// The way of an arrow key, across and down. With Alt, Ctrl or Cmd it is the
// browser's.
const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1],
  ArrowDown: [0, 1] };
const arrowOf = ({ key, altKey, ctrlKey, metaKey }) =>
  altKey || ctrlKey || metaKey ? null : ARROWS[key];

// The button of what plays. It plays by itself while it is in the middle of the
// window, until the reader pauses it; readers who want less motion start it, and
// what isn't `auto` is started by all. `go` is told to play or to stop. The
// returned function says what is wanted from now on.
function plays(box, go, auto = true) {
  const button = box.querySelector(".play");
  let isWanted = auto && !calm.matches, isSeen = false;
  function turn() {
    button.textContent = isWanted ? "Pause" : "Play";
    go(isWanted && isSeen);
  }
  function want(on) {
    isWanted = on;
    turn();
  }
  button.addEventListener("click", () => {
    isSeen = true;
    want(!isWanted);
  });
  calm.addEventListener("change", () => calm.matches && want(false));
  new IntersectionObserver((seen) => {
    isSeen = seen.at(-1).isIntersecting;
    turn();
  }, { rootMargin: "-30% 0px" }).observe(box);
  return want;
}

// A film of `count` pictures, `pace` in a second, over and over. `show(at)` draws
// one, the first is number 1, and may return a sentence, which is read out only if
// the reader has moved it. It has a slider, unless its controls are its own. The
// controls are there before the figure begins, so that Tab finds them.
for (const controls of document.querySelectorAll(".controls:empty")) {
  controls.innerHTML = `<button type="button" class="play">Play</button>
    <span class="slide"><input type="range" aria-label="Time" min="1" step="1" value="1"
    autocomplete="off"></span>`;
}
function film(box, show, { count, start = 1, pace = 7.5, auto = true }) {
  const says = box.querySelector(".stage > .says");
  const slider = box.querySelector(".slide input");
  let at = start, every = 1, first = 1, timer = null;

  function draw(byReader = true) {
    if (slider) slider.value = at;
    const words = show(at);
    if (!says) return;
    says.ariaLive = byReader ? "polite" : "off";
    says.textContent = words;
  }
  function go(on) {
    clearTimeout(timer);
    timer = on ? setTimeout(next, 1000 * every / pace) : null;
  }
  function next() {
    go(true);
    if (document.hidden) return;
    at = at + every > count ? first : at + every;
    draw(false);
  }
  // Each picture is `each` after the one before, from that of number `from` on.
  function stride(each, from) {
    every = each;
    first = each * from;
    at = Math.max(first, at - at % each);
    if (slider) {
      slider.min = first;
      slider.step = each;
      slider.max = count - count % each;
    }
    draw();
  }
  if (slider) {
    slider.max = count;
    slider.addEventListener("input", () => {
      want(false);
      at = Number(slider.value);
      draw();
    });
  }
  draw(false);
  const want = plays(box, go, auto);
  return { want, draw, stride };
}
