// The first screen: colour on the left, what the agent sees on the right, both
// close to the ball. It unpacks one step after the other.
(() => {
const figure = $("first");
if (!figure) return;
const { ACTIONS, GRAYS, HEIGHT, SIZE, WIDTH } = shared;
const canvas = figure.querySelector("canvas");
const button = figure.querySelector("button");
const chips = [...figure.querySelectorAll("b")];
const START = 40, FRAME = 1000 / 30; // half the console's speed
const WIDE = 105, HIGH = 140, TOP = 55; // the part of the screen to show
const WIDE_84 = 55, HIGH_84 = 56; // and of a picture of 84 by 84
const ZOOM = 3;
let recorded = null, steps = null, step = null, frame = 0, timer = null;
let wanted = null; // by the reader: to play or not
let left = 28, stack = [];

function next() {
  step = steps?.next().value;
  if (!step) {
    steps = shared.stepsOf(recorded);
    stack = [];
    for (let i = 0; i < START; i++) step = steps.next().value;
  }
  const picture = step.done ? step.first : step.picture();
  stack = [...(step.done ? [] : stack), picture].slice(-4);
  while (stack.length < 4) stack.unshift(stack[0]);
  frame = 0;
}

// The view moves only when the ball comes near its edge.
function follow(screen) {
  const at = screen.findIndex((colour, i) => colour &&
    i >= 93 * WIDTH && i < 189 * WIDTH && i % WIDTH >= 8 && i % WIDTH < 152);
  if (at < 0) return;
  const x = at % WIDTH, near = WIDE / 5;
  const least = x + near - WIDE, most = x - near;
  left = Math.min(Math.max(left, least), most);
  left = Math.min(Math.max(left, 0), WIDTH - WIDE);
}

// Draw a part of a picture, from x, y of the canvas on.
function paint(pixels, width, colours, part, x, y) {
  const whole = new ImageData(width, pixels.length / width);
  const rgba = new Uint32Array(whole.data.buffer);
  pixels.forEach((v, i) => { rgba[i] = colours[v]; });
  page.width = whole.width;
  page.height = whole.height;
  page.getContext("2d").putImageData(whole, 0, 0);
  const [, , across, down] = part;
  pen.imageSmoothingEnabled = false;
  pen.drawImage(page, ...part, x, y, across * ZOOM, down * ZOOM);
}
const page = document.createElement("canvas"), pen = canvas.getContext("2d");

function draw() {
  const screen = step.frames[frame];
  follow(screen);
  paint(screen, WIDTH, step.colours, [left, TOP, WIDE, HIGH], 0, 0);
  const small = [Math.round((left * SIZE) / WIDTH),
    Math.round((TOP * SIZE) / HEIGHT), WIDE_84, HIGH_84];
  stack.forEach((picture, i) => {
    paint(picture, SIZE, GRAYS, small, 331 + 173 * (i % 2), 176 * (i >> 1));
  });
  for (const chip of chips) {
    chip.className = chip.textContent === ACTIONS[step.action] ? "now" : "";
  }
}

function tick() {
  if (++frame >= step.frames.length) next();
  draw();
}

function play(on) {
  clearInterval(timer);
  timer = on ? setInterval(tick, FRAME) : null;
  button.textContent = on ? "Pause" : "Play";
}

button.addEventListener("click", () => {
  wanted = !timer;
  play(step && wanted);
});
shared.whileSeen(figure, async (seen) => {
  recorded ??= await read("recording");
  if (!step) {
    next();
    draw();
  }
  play(seen && (wanted ?? !shared.calm()));
});
})();
