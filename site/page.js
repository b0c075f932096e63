// Made by page/build.py of the scripts in page/: edit that.
"use strict";
const stamps = {
 "data/clip.js": "0ac8c047",
 "data/guess.js": "63030609",
 "data/network.js": "6a0ada26",
 "data/steps.js": "4a143bd5",
 "data/tease.js": "a3ed457f",
 "data/training.js": "2928aec0",
 "data/workbench.js": "d7737aaf"
};
const $ = (id) => document.getElementById(id);
const between = (least, value, most) => Math.max(least, Math.min(most, value));
const sum = (numbers) => numbers.reduce((all, one) => all + one, 0);

// Random numbers from 0 to 1, the same for the same seed (mulberry32).
function randomFrom(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
const newSeed = () => Math.floor(Math.random() * 2 ** 32);

// The data of the figures, each in a file of its own that is loaded when it is
// first asked for. Its address carries a stamp of its contents.
const given = {}, asked = {};
const read = (name) => (asked[name] ??= new Promise((done, fail) => {
  const script = document.createElement("script");
  const file = `data/${name}.js`;
  script.src = `${file}?v=${stamps[file]}`;
  script.onload = () => done(given[name]);
  script.onerror = () => fail(new Error(`${script.src} didn't arrive`));
  document.head.append(script);
}));

// A figure begins when it comes near, if it is on this page. Its still picture
// is shown until it has begun, and a button that was pressed meanwhile is pressed
// then. If it can't begin, a line says so.
function figure(name, begin) {
  const box = document.querySelector(`figure#${name}`);
  if (!box) return;
  let pressed = null;
  const press = ({ target }) => {
    pressed = target.closest(".controls button") ?? pressed;
  };
  box.addEventListener("click", press);
  new IntersectionObserver(async (seen, observer) => {
    if (!seen.at(-1).isIntersecting) return;
    observer.disconnect();
    try {
      await begin(box, (selector) => box.querySelector(selector));
    } catch (error) {
      const line = document.createElement("p");
      line.className = "missing";
      line.textContent = "This figure doesn't move here: a file of it didn't " +
        "arrive, or the browser is older than May 2023.";
      box.append(line);
      throw error;
    }
    box.removeEventListener("click", press);
    box.classList.add("begun");
    pressed?.click();
  }, { rootMargin: "900px" }).observe(box);
}

// What scrolls in a box of its own is a stop of the Tab key, so that the arrow
// keys move it.
for (const box of document.querySelectorAll(".scrolls, .math"))
  new ResizeObserver(() => {
    if (box.scrollWidth > box.clientWidth) box.tabIndex = 0;
    else box.removeAttribute("tabindex");
  }).observe(box);

// The bar and the contents say which section is read.
const entries = [...document.querySelectorAll("nav a[href^='#']")];
function mark() {
  const entry = entries.findLast(({ hash }) =>
    $(decodeURIComponent(hash.slice(1))).getBoundingClientRect().top <
      innerHeight / 3);
  $("here").textContent = entry?.textContent ?? "Contents";
  for (const each of entries) each.ariaCurrent = each === entry ? "true" : null;
}
addEventListener("scroll", mark, { passive: true });
$("contents").addEventListener("click", ({ target }) =>
  target.closest("a") && $("contents").hidePopover?.());

// How screens become the pictures that an agent sees.
const WIDTH = 160;
const HEIGHT = 210;
const SIZE = 84;

const brighter = (one, other) =>
  one.map((value, i) => Math.max(value, other[i]));

// Which pixels of a row each of its new ones covers, and how much of each, as
// shares of the new one; or only the one where it begins.
function covered(from, to, mean = true) {
  const size = 1 / (to / from);
  return Array.from({ length: to }, (_, i) => {
    const start = i * size;
    const end = start + size;
    if (!mean) return [[Math.min(Math.floor(start), from - 1), 1]];
    const all = Math.min(size, from - start);
    const last = Math.min(Math.floor(end), from - 1);
    const first = Math.min(Math.ceil(start), last);
    const parts = [];
    if (first - start > 1e-3) parts.push([first - 1, (first - start) / all]);
    for (let at = first; at < last; at++) parts.push([at, 1 / all]);
    if (end - last > 1e-3) parts.push([last, Math.min(end - last, 1) / all]);
    return parts.map(([at, share]) => [at, Math.fround(share)]);
  });
}

// The same, computed once for each size.
const coverings = {};
function covering(from, to, mean) {
  const key = [from, to, mean];
  coverings[key] ??= covered(from, to, mean);
  return coverings[key];
}

// Resize a screen, to the last bit as OpenCV does by INTER_AREA: it adds up
// numbers of 32 bits in this order, and rounds halves to even ones, as an
// array of clamped bytes does.
function shrunk(screen, size, mean) {
  const picture = new Uint8ClampedArray(size ** 2);
  const row = new Float32Array(size);
  const sum = new Float32Array(size);
  const columns = covering(WIDTH, size, mean);
  covering(screen.length / WIDTH, size, mean).forEach((lines, y) => {
    sum.fill(0);
    for (const [line, high] of lines) {
      row.fill(0);
      for (let x = 0; x < size; x++) {
        for (const part of columns[x]) {
          row[x] += Math.fround(part[1] * screen[line * WIDTH + part[0]]);
        }
        sum[x] += Math.fround(high * row[x]);
      }
    }
    picture.set(sum, y * size);
  });
  return picture;
}

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

{
// A Breakout of our own. It has the measures, colors and grays of the console's
// screen, and its physics as far as they were measured, but is no emulator.
const COURT = { left: 8, right: 152, top: 32, floor: 189 }; // inner edges
const WALL = {
  top: 57, rows: 6, columns: 18, wide: 8, high: 6,
  points: [7, 7, 4, 4, 1, 1],
  colors: [5, 4, 3, 2, 8, 6],
};
const WALLS = 2; // there is no third
const BALL = { wide: 2, high: 4, color: 5 };
const PADDLE = { wide: 16, high: 4, color: 5, most: 144 }; // most to the right
const BUTTON = 5.73; // pixels that a held button moves the paddle's target by
const BEYOND = { left: 4, right: 46 }; // that the target goes on behind a wall
const WAIT = 20; // frames without a ball
const LOST = 217; // where it is lost, below the screen

// The colors of a screen by their index, and the gray of each. The last gray is
// that of a faint dot, which no screen shows.
const COLORS = [[0, 0, 0], [142, 142, 142], [162, 162, 42], [180, 122, 48],
  [198, 108, 58], [200, 72, 72], [66, 72, 200], [66, 158, 130], [72, 160, 72]];
const SHADES = [0, 142, 148, 131, 129, 110, 85, 127, 124, 55];

// Digits of three columns and five rows, a bit each
const DIGITS = [0x7b6f, 0x2492, 0x73e7, 0x73cf, 0x5bc9, 0x79cf, 0x49ef, 0x7249,
  0x7bef, 0x7bc9];

// Where the ball appears, and which way it flies
const SERVES = [{ x: 78, vx: -1 }, { x: 80, vx: 1 }, { x: 16, vx: 1 },
  { x: 142, vx: -1 }];
const SERVED = { y: 122, vy: 1 };
const EASY = 0.3; // of its way across, for an easy one

// How fast the ball is after so many hits of the paddle since the serve: hit
// near the middle of the paddle, and at its ends.
const SPEEDS = [
  { hits: 3, middle: [1, 1.5], ends: [1.5, 1] },
  { hits: 7, middle: [0.5, 2], ends: [1.5, 2] },
  { hits: 11, middle: [2, 1], ends: [2, 1] },
  { hits: Infinity, middle: [2, 2], ends: [2, 2] },
];
// After a brick of the upper three rows
const FAST = [2, 3.375];

class Breakout {
  // The first ball of an `easy` game falls steeply, so that a newcomer can hit
  // it; a ball is taken away when it has flown for the `longest` time, in frames.
  constructor(random, { easy = false, lives = 5, longest = Infinity } = {}) {
    this.random = random;
    this.easy = easy;
    this.longest = longest;
    this.score = 0;
    this.lives = lives;
    this.paddle = 99; // its left edge
    this.target = 99; // where it is going
    this.ball = null; // its left and upper edge, and its speed
    this.bricks = new Uint8Array(WALL.rows * WALL.columns).fill(1);
    this.walls = 1; // so far
    this.flown = 0; // frames, by this ball
    this.wait = WAIT;
  }

  // What a screen shows.
  state() {
    const { score, lives, paddle, bricks } = this;
    const ball = this.ball && { ...this.ball };
    return { score, lives, paddle, bricks: bricks.slice(), ball };
  }

  // Play a frame, in which the target of the paddle moves by so many pixels.
  // What is hit is where it is drawn, and the ball turns with the next frame.
  frame(move) {
    const { left } = COURT;
    const { most } = PADDLE;
    if (this.ball) this.hit();
    this.paddle += (between(left, this.target, most) - this.paddle) / 2;
    this.target = between(left - BEYOND.left, this.target + move,
      most + BEYOND.right);
    if (this.ball) {
      this.ball.x += this.ball.vx;
      this.ball.y += this.ball.vy;
      this.flown += 1;
      if (this.flown > this.longest) this.lose();
    } else if (this.lives) {
      this.wait -= 1;
      if (this.wait < 0) this.serve();
    }
  }

  serve() {
    const serve = SERVES[Math.floor(SERVES.length * this.random())];
    this.ball = { ...SERVED, ...serve };
    if (this.easy) this.ball.vx *= EASY;
    this.easy = false;
    this.flown = 0;
    this.hits = 0;
    this.fast = false;
    this.mayBreak = true; // a brick: none after another, until it has turned
  }

  hit() {
    const { ball } = this;
    const x = Math.floor(ball.x);
    const y = Math.floor(ball.y);
    if (x < COURT.left) ball.vx = Math.abs(ball.vx);
    if (x + BALL.wide > COURT.right) ball.vx = -Math.abs(ball.vx);
    if (y < COURT.top + 2) ball.vy = Math.abs(ball.vy);
    this.hitBrick(x, y);
    this.hitPaddle(x, y);
    if (y >= LOST) this.lose();
  }

  lose() {
    this.lives -= 1;
    this.ball = null;
    this.wait = WAIT;
  }

  // Of the ball its left and upper edge counts. It meets a row a pixel late on
  // its way up, and two on its way down, but the upper row early.
  hitBrick(x, y) {
    const { ball } = this;
    const inWall = y >= WALL.top - 2 && y <= WALL.top + 36;
    if (!inWall) {
      this.mayBreak = true;
      return;
    }
    const late = ball.vy > 0 ? 2 : 1;
    const row = Math.max(0, Math.floor((y - WALL.top - late) / WALL.high));
    const column = Math.floor((x - COURT.left) / WALL.wide);
    const brick = WALL.columns * row +
      between(0, column, WALL.columns - 1);
    if (!this.mayBreak || !this.bricks[brick]) return;
    this.bricks[brick] = 0;
    this.score += WALL.points[row];
    this.mayBreak = false;
    ball.vy = -ball.vy;
    if (row < 3) this.fast = true;
    if (this.fast) this.fly(FAST);
  }

  hitPaddle(x, y) {
    const { ball } = this;
    const { floor } = COURT;
    const off = x - Math.round(this.paddle);
    if (ball.vy < 0 || y + BALL.high <= floor) return;
    if (y >= floor + PADDLE.high) return;
    if (off <= -BALL.wide || off >= PADDLE.wide) return;
    this.hits += 1;
    const speeds = SPEEDS.find(({ hits }) => this.hits <= hits);
    if (off === 6) ball.x -= 4 * Math.sign(ball.vx); // as on the console
    const atEnd = off < 2 || off > 10;
    ball.vx = off < 7 ? -1 : 1;
    ball.vy = -1;
    this.fly(this.fast ? FAST : atEnd ? speeds.ends : speeds.middle);
    if (this.bricks.includes(1) || this.walls === WALLS) return;
    this.walls += 1;
    this.bricks.fill(1);
  }

  // Go on the same way at another speed.
  fly([across, down]) {
    this.ball.vx = Math.sign(this.ball.vx) * across;
    this.ball.vy = Math.sign(this.ball.vy) * down;
  }
}

// Fill a part of a screen with a color.
function fill(pixels, x, y, wide, high, color) {
  for (let row = y; row < Math.min(y + high, HEIGHT); row++) {
    pixels.fill(color, row * WIDTH + x, row * WIDTH + x + wide);
  }
}

// A screen, as indices of colors. The paddle is drawn higher by the `lift`.
function screenOf({ score, lives, paddle, ball, bricks, lift = 0 }) {
  const pixels = new Uint8Array(WIDTH * HEIGHT);
  const { left, right, top, floor } = COURT;

  function digit(value, x) {
    for (let bit = 0; bit < 15; bit++) {
      if (!((DIGITS[value] >> (14 - bit)) & 1)) continue;
      fill(pixels, x + 4 * (bit % 3), 5 + 2 * Math.floor(bit / 3), 4, 2, 1);
    }
  }

  digit(Math.floor(score / 100) % 10, 36);
  digit(Math.floor(score / 10) % 10, 52);
  digit(score % 10, 68);
  digit(lives, 100);
  digit(1, 132);
  fill(pixels, 0, 17, WIDTH, 15, 1);
  fill(pixels, 0, top, left, floor - top, 1);
  fill(pixels, right, top, WIDTH - right, floor - top, 1);
  fill(pixels, 0, floor, left, 7, 7);
  fill(pixels, right, floor, WIDTH - right, 6, 5);
  bricks.forEach((there, brick) => {
    if (!there) return;
    const row = Math.floor(brick / WALL.columns);
    const x = left + WALL.wide * (brick % WALL.columns);
    fill(pixels, x, WALL.top + WALL.high * row, WALL.wide, WALL.high,
      WALL.colors[row]);
  });
  fill(pixels, Math.round(paddle), floor - lift, PADDLE.wide, PADDLE.high,
    PADDLE.color);
  if (ball) {
    fill(pixels, Math.floor(ball.x), Math.floor(ball.y), BALL.wide, BALL.high,
      BALL.color);
  }
  return pixels;
}

// The agent's network: three layers of filters, one of 512 numbers, and of
// these the probabilities of the actions and the value.
const FILTERS = [
  { name: "body.0", side: 84, channels: 4, reach: 8, stride: 4 },
  { name: "body.2", side: 20, channels: 32, reach: 4, stride: 2 },
  { name: "body.4", side: 9, channels: 64, reach: 3, stride: 1 },
];

// The weights of a layer, from whole numbers and a scale for each channel.
function weightsOf({ bits, weight, scale, bias }) {
  const { buffer } = Uint8Array.from(atob(weight), (c) => c.charCodeAt(0));
  const whole = bits === 8 ? new Int8Array(buffer) : new Int16Array(buffer);
  const size = whole.length / scale.length;
  const weights = Float32Array.from(whole,
    (value, i) => value * scale[Math.floor(i / size)]);
  return { weights, bias, size };
}

// What a layer makes of `places` rows of `size` numbers: of each channel a
// number for each place. Zeros are left out, which are most, and four channels
// are added up at a time, of which each layer has a multiple.
function respond(rows, places, { weights, bias, size }) {
  const made = new Float32Array(bias.length * places);
  const where = new Int32Array(size);
  const values = new Float32Array(size);
  for (let place = 0; place < places; place++) {
    let count = 0;
    for (let i = 0; i < size; i++) {
      const value = rows[place * size + i];
      if (value === 0) continue;
      where[count] = i;
      values[count] = value;
      count += 1;
    }
    for (let channel = 0; channel < bias.length; channel += 4) {
      let one = bias[channel];
      let two = bias[channel + 1];
      let three = bias[channel + 2];
      let four = bias[channel + 3];
      const start = channel * size;
      for (let k = 0; k < count; k++) {
        const value = values[k];
        const at = start + where[k];
        one += value * weights[at];
        two += value * weights[at + size];
        three += value * weights[at + 2 * size];
        four += value * weights[at + 3 * size];
      }
      made[channel * places + place] = one;
      made[(channel + 1) * places + place] = two;
      made[(channel + 2) * places + place] = three;
      made[(channel + 3) * places + place] = four;
    }
  }
  return made;
}

// What the window of a filter covers in each of its places, a row for each.
function windows(pictures, { side, channels, reach, stride }) {
  const places = Math.floor((side - reach) / stride) + 1;
  const rows = new Float32Array(places ** 2 * channels * reach ** 2);
  let at = 0;
  for (let y = 0; y < places; y++) {
    for (let x = 0; x < places; x++) {
      for (let channel = 0; channel < channels; channel++) {
        for (let line = 0; line < reach; line++) {
          const start = (channel * side + y * stride + line) * side + x * stride;
          for (let i = 0; i < reach; i++) rows[at++] = pictures[start + i];
        }
      }
    }
  }
  return { rows, places: places ** 2 };
}

const positive = (numbers) => numbers.map((value) => Math.max(0, value));

// What the network makes of four pictures: the probabilities of the actions,
// and the value.
function look(network, pictures) {
  let seen = new Float32Array(pictures).map((shade) => shade / 255);
  for (const layer of FILTERS) {
    const { rows, places } = windows(seen, layer);
    seen = positive(respond(rows, places, network[layer.name]));
  }
  const last = positive(respond(seen, 1, network["body.7"]));
  const { weights, bias: [bias] } = network.value;
  const value = bias + sum(last.map((number, i) => number * weights[i]));
  const scores = Array.from(respond(last, 1, network.policy));
  const most = Math.max(...scores);
  const shares = scores.map((score) => Math.exp(score - most));
  return { odds: shares.map((share) => share / sum(shares)), value };
}

// What is in the agent's pictures alone: balls that fall from a hand, or one of
// the changes that are compared.
const DROPS = { speed: 3, apart: 16, least: 60, most: 110, last: 187 };
const FAINT = 9; // a color of its pictures alone
const CHANGES = {
  still: { dot: { speed: 0 } },
  rising: { dot: { speed: -3 } },
  falling: { dot: { speed: 3 } },
  large: { dot: { speed: 3, size: 2 } },
  faint: { dot: { speed: 3, color: FAINT } },
  wall: { wall: true },
  paddle: { lift: 2 }, // pixels
  copies: { copies: true },
};

// A column of balls that falls from a hand, and follows it.
class Column {
  constructor() {
    this.hand = null; // where it is, in pixels of the screen
    this.dots = [];
    this.fallen = 0; // so far
  }

  frame() {
    const { speed, apart, least, most, last } = DROPS;
    const { left, right } = COURT;
    const x = this.hand && between(left, this.hand.x - 1, right - BALL.wide);
    const moved = this.dots.map((dot) => ({ x: x ?? dot.x, y: dot.y + speed }));
    this.dots = moved.filter(({ y }) => y <= last);
    this.fallen += moved.length - this.dots.length;
    if (!this.hand) return;
    const y = between(least, this.hand.y, most);
    const upper = this.dots.at(-1)?.y ?? Infinity;
    if (upper - y >= apart) this.dots.push({ x, y });
  }
}

// One of the changes. Its dot comes again at another place when it has passed.
class Change {
  constructor(change, random) {
    this.change = change;
    this.random = random;
    this.dots = [];
    if (change.dot) this.begin();
  }

  begin() {
    const { left, right } = COURT;
    const { speed, size = 1 } = this.change.dot;
    const x = left + (right - left - size * BALL.wide) * this.random();
    const y = speed > 0 ? DROPS.most - 10 : speed < 0 ? DROPS.last : 145;
    this.dots = [{ ...this.change.dot, x, y }];
  }

  frame() {
    const [dot] = this.dots;
    if (!dot) return;
    dot.y += dot.speed;
    if (dot.y > DROPS.last || dot.y < DROPS.most - 10) this.begin();
  }
}

// The published agent, which plays in the page. Its network is loaded once.
const FRAMES = 4; // that an action is held for
const LONGEST = 60 * 60; // frames of a ball: a minute
const PIXELS = SIZE ** 2;
const MOVES = [0, 0, BUTTON, -BUTTON]; // NOOP, FIRE, RIGHT, LEFT

const Agent = {
  network: null,

  load: once(async () => {
    const layers = Object.entries(await read("network"));
    Agent.network = Object.fromEntries(
      layers.map(([name, layer]) => [name, weightsOf(layer)]));
  }),

  // What it makes of four pictures, 4·84·84 bytes, the oldest first.
  see(pictures) {
    if (!Agent.network) throw new Error("The network comes by Agent.load().");
    if (pictures.length !== 4 * PIXELS) {
      throw new RangeError(`4·84·84 bytes are needed, not ${pictures.length}.`);
    }
    return look(Agent.network, pictures);
  },

  // The names of what can be changed in its pictures
  changes: Object.keys(CHANGES),

  // Play some balls, each with a serve and a wall of its own, with a change of
  // its pictures; return the points, and how many balls it hit at all. A ball is
  // taken away after the `longest` time, in frames.
  async play(seed, options) {
    await Agent.load();
    const serves = new Serves(seed, options);
    for (let frame = 0; !serves.isOver; frame++) {
      serves.frame();
      if (frame % 64 === 0) await new Promise((done) => setTimeout(done));
    }
    const { points, balls, hit } = serves;
    return { points, balls, hit };
  },
};

// The grays of a state, as they are changed, with the dots that aren't there
function grayOf({ dots, change, ...state }) {
  const bricks = change.wall ? [] : state.bricks;
  const pixels = screenOf({ ...state, bricks, lift: change.lift });
  for (const { x, y, size = 1, color = BALL.color } of dots) {
    fill(pixels, Math.floor(x), Math.floor(y), size * BALL.wide, size * BALL.high,
      color);
  }
  return pixels.map((color) => SHADES[color]);
}

// The picture of a step, of the states that its last two frames show.
const pictureOf = ([third, fourth]) =>
  shrunk(brighter(grayOf(third), grayOf(fourth)), SIZE, true);

// Four pictures in one array, as the network takes them.
function stackOf(pictures) {
  const stack = new Uint8Array(4 * PIXELS);
  pictures.forEach((picture, i) => stack.set(picture, i * PIXELS));
  return stack;
}

// A game that the agent plays, and the pictures that it gets. `unreal` is what
// is in these alone. FIRE is pressed for it, as in its training: for the first
// step of each life, whose last screen then fills the stack.
class AgentGame {
  constructor(seed, { unreal = null, ...options } = {}) {
    this.breakout = new Breakout(randomFrom(seed), options);
    this.random = randomFrom(~seed);
    this.unreal = unreal;
    this.fill();
    this.fire();
  }

  state() {
    const { dots = [], change = {} } = this.unreal ?? {};
    return { ...this.breakout.state(), change, dots: dots.map((dot) => ({ ...dot })) };
  }

  // The first picture fills the stack.
  fill() {
    const state = this.state();
    this.shown = [state, state]; // by the last two frames
    this.pictures = Array(4).fill(pictureOf(this.shown));
  }

  fire() {
    this.breakout.wait = 0;
    this.count = 0; // frames
    this.action = 0;
    this.serving = true;
  }

  // Put the paddle in the middle.
  center() {
    const { breakout } = this;
    breakout.paddle = breakout.target = (COURT.left + PADDLE.most) / 2;
    this.fill();
  }

  // Go on from what was recorded of another game.
  goOn({ bricks, ball, ...others }) {
    Object.assign(this.breakout, others, { ball: { ...ball },
      bricks: Uint8Array.from(bricks, Number) });
    this.serving = false;
    this.fill();
  }

  // Ask the network for the action of the next four frames, and sample it.
  decide() {
    const isCopied = this.unreal?.change?.copies;
    const given = isCopied ? Array(4).fill(this.pictures.at(-1)) : this.pictures;
    const { odds } = look(Agent.network, stackOf(given));
    let left = this.random();
    this.action = 0;
    for (const share of odds) {
      left -= share;
      if (left < 0) return;
      this.action += 1;
    }
    this.action = 0; // where rounding has left something
  }

  // Play a frame, and before it ask the network if an action is due; or move the
  // paddle by so many pixels.
  frame(move) {
    const { lives } = this.breakout;
    if (move === undefined && this.count % FRAMES === 0 && !this.serving) {
      this.decide();
    }
    this.breakout.frame(move ?? MOVES[this.action]);
    this.unreal?.frame();
    this.count += 1;
    this.shown = [this.shown[1], this.state()];
    if (this.count % FRAMES === 0) {
      this.pictures = [...this.pictures.slice(1), pictureOf(this.shown)];
    }
    if (this.breakout.lives < lives) {
      this.fire();
    } else if (this.serving && this.count === FRAMES) {
      this.serving = false;
      this.fill();
    }
  }
}

// Balls, each with a serve and a wall of its own.
class Serves {
  constructor(seed, { change = null, balls = 5, longest = LONGEST } = {}) {
    if (change !== null && !(change in CHANGES)) {
      throw new RangeError(`${change} is none of ${Agent.changes}.`);
    }
    Object.assign(this, { change, longest, wanted: balls });
    this.random = randomFrom(seed);
    this.points = 0;
    this.balls = 0; // that are over
    this.hit = 0; // of them, at least once
    this.serve();
  }

  serve() {
    const seed = Math.floor(2 ** 32 * this.random());
    const change = CHANGES[this.change];
    const unreal = change && new Change(change, randomFrom(seed + 1));
    this.game = new AgentGame(seed, { unreal, longest: this.longest });
  }

  get isOver() {
    return this.balls === this.wanted;
  }

  frame() {
    const { breakout } = this.game;
    const { lives } = breakout;
    this.game.frame();
    if (breakout.lives === lives) return;
    this.points += breakout.score;
    this.balls += 1;
    if (breakout.hits) this.hit += 1;
    if (!this.isOver) this.serve();
  }
}

// Call `frame` 60 times a second as long as it runs, and `draw` once for each
// screen. Where that can't be done `frame` is called less often.
function clock(frame, draw) {
  const LENGTH = 1000 / 60; // ms
  const MOST = 4; // screens whose frames are made up for at once
  let running = null;
  let due = 0; // when the next frame is

  function tick(now) {
    running = requestAnimationFrame(tick);
    if (now - due > MOST * LENGTH) due = now;
    while (running && due <= now + LENGTH / 2) {
      due += LENGTH;
      frame();
    }
    draw();
  }

  // Let it run, or stop it.
  return (on) => {
    cancelAnimationFrame(running);
    running = null;
    if (!on) return;
    due = performance.now();
    running = requestAnimationFrame(tick);
  };
}

// What a reader sends: his seconds, in words and in an address.

// Seconds that a run can take: five balls fall, each within a minute.
const QUICKEST = 1;
const SLOWEST = 600;

// The seconds of who has sent this address, or null
function sentIn(hash) {
  const took = new URLSearchParams(hash.slice(1)).get("took");
  const seconds = /^\d+(\.\d+)?$/.test(took) ? Number(took) : 0;
  return between(QUICKEST, seconds, SLOWEST) === seconds ? seconds : null;
}

// The address is where the page is published, wherever it is read.
function lineOf(seconds) {
  const address = document.querySelector("[property='og:url']").content;
  return `${seconds} s to beat an AI that practiced 185 hours, with balls that ` +
    `don’t exist. Beat that: ${address}#took=${seconds}`;
}

// Share it, or copy it, or show it.
async function send(box, seconds) {
  const text = lineOf(seconds);
  const status = box.querySelector("[role=status]");
  status.textContent = "";
  if (navigator.share) {
    try {
      await navigator.share({ text });
      return;
    } catch (error) {
      if (error.name === "AbortError") return; // the reader has closed it
    }
  }
  try {
    await navigator.clipboard.writeText(text);
    status.textContent = "Copied. Paste it to somebody.";
  } catch {
    status.textContent = text;
  }
}

// What figures and tests use of this room. All other names are its own.
window.Agent = Agent;
window.Live = {
  Agent, AgentGame, Breakout, Column, Serves, clock, screenOf, send,
  sentIn,
  BALL, BUTTON, COLORS, COURT, DROPS, LONGEST, MOVES, PADDLE, SERVES, WALL,
};
}

{
// The tutorial runs: recorded lines, one after the other, with the pictures and
// the variables that each has made. `steps` has all values and pictures once, and
// in a line the numbers of those that it shows.
if ($("run")) (() => {
  const PACE = 1000, SAME = 250; // ms for a line, and for one that changes nothing
  const box = $("run");
  const [pane, screen, says, older, newer, controls, stack, texts] = box.children;
  const [back, play, next, slider, number] = controls.children;
  const select = controls.querySelector("select");
  const code = new Map(); // the lines of the page, by their rows in the module
  let recorded = null, scene = null, at = 0, timer = null;
  let isTouched = false; // the reader has used its controls

  const Runner = {
    scenes: [],

    async load() {
      if (recorded) return;
      recorded = await read("steps");
      Runner.scenes = recorded.scenes;
      select.replaceChildren(
        ...Runner.scenes.map(({ name }) => new Option(name)));
      for (const [name, rows] of Object.entries(recorded.functions)) {
        const lines = $(name).closest(".card").querySelectorAll("pre > code > *");
        rows.forEach((row, i) => code.set(row, { line: lines[i], rows }));
      }
    },

    // Show the n-th line, from 0 on, of a scene or of the scene of that number.
    // Return what is shown, or null past the last line.
    show(which, n) {
      const asked = Runner.scenes[which] ?? which;
      if (!asked.lines[n]) return null;
      [scene, at] = [asked, n];
      draw();
      const [row, , inside, shown] = scene.lines[n];
      const values = shown.map((i) => {
        const [name, text, images] = recorded.values[i];
        return [name, { text, pictures: images.map(url) }];
      });
      return { row, inside, values: Object.fromEntries(values) };
    },
  };
  window.Runner = Runner;

  const url = (i) => `data:image/png;base64,${recorded.pictures[i][2]}`;

  function draw() {
    const count = scene.lines.length;
    select.selectedIndex = Runner.scenes.indexOf(scene);
    slider.max = count - 1;
    slider.value = at;
    number.textContent = `${at + 1} of ${count}`;
    back.ariaDisabled = at === 0;
    next.ariaDisabled = at === count - 1;
    drawCode();
    const values = held();
    drawPictures(values.filter(({ images }) => images.length));
    drawTexts(values);
    says.ariaLive = timer ? "off" : "polite";
    says.innerHTML = told(values);
  }

  // The functions that run, each below the line that calls it.
  function drawCode() {
    const running = [];
    for (const line of scene.lines.slice(0, at + 1)) {
      running.length = line[2].length - 1;
      running.push(line);
    }
    pane.firstChild.replaceChildren(listing(running));
    const [row, last] = running.at(-1);
    const marked = [...pane.querySelectorAll("[data-row]")]
      .filter(({ dataset }) => row <= dataset.row && dataset.row <= last);
    for (const line of marked) line.ariaCurrent = "step";
    const { offsetTop, offsetHeight } = marked[0];
    const room = pane.clientHeight - offsetHeight;
    const least = offsetTop - 0.75 * room, most = offsetTop - 0.25 * room;
    pane.scrollTo(0, Math.max(least, Math.min(pane.scrollTop, most)));
  }

  function listing([[row, last], ...called]) {
    const block = document.createElement("div");
    for (const each of code.get(row).rows) {
      const copy = code.get(each).line.cloneNode(true);
      copy.removeAttribute("id");
      copy.dataset.row = each;
      block.append(copy);
      if (called.length && each === last) block.append(listing(called));
    }
    return block;
  }

  // What holds after the line, and which line has made it. An attribute has its
  // value before a function that names it begins.
  function held() {
    const made = {};
    for (const [n, [, , , numbers]] of scene.lines.slice(0, at + 1).entries()) {
      for (const i of numbers) {
        const [name, text, images] = recorded.values[i], was = made[name];
        if (was?.i === i) continue;
        const since = was || !name.startsWith("self.") ? n : 0;
        made[name] = { i, name, text, images, since, was: was?.images ?? [] };
      }
    }
    return scene.lines[at][3].map((i) => made[recorded.values[i][0]]);
  }

  const isNew = ({ since }) => at > 0 && since === at;
  const isCall = ({ name }) => name.endsWith("()");

  // The console's screen, two gray ones, and a stack: of each what was made last.
  function drawPictures(values) {
    const isConsole = ({ name }) => name === "console";
    const isSmall = ({ images }) => recorded.pictures[images[0]][1] < 160;
    const latest = (some) => some.reverse().sort((a, b) => b.since - a.since ||
      b.images.length - a.images.length || isCall(a) - isCall(b));
    const grays = latest(values.filter((one) => !isConsole(one) && !isSmall(one)));
    const two = grays.filter(({ images: [image] }, i) =>
      grays.findIndex(({ images }) => images[0] === image) === i).slice(0, 2);
    two.sort((a, b) => values.indexOf(a) - values.indexOf(b));
    showIn(screen, values.find(isConsole));
    showIn(older, two[0]);
    showIn(newer, two[1]);
    showIn(stack, latest(values.filter(isSmall))[0]);
  }

  function showIn(place, value) {
    place.classList.toggle("new", !!value && isNew(value));
    place.innerHTML = `<code>${value?.name ?? ""}</code>`;
    for (const number of value?.images ?? []) {
      const image = new Image();
      [image.width, image.height] = recorded.pictures[number];
      Object.assign(image, { src: url(number), alt: "", decoding: "sync" });
      image.classList.toggle("new", !value.was.includes(number));
      place.append(image);
    }
  }

  // The variables, and the attributes that have changed.
  function drawTexts(values) {
    texts.replaceChildren();
    for (const value of values) {
      const { name, text, images, since } = value;
      if (images.length || (name.startsWith("self.") && !since)) continue;
      const item = document.createElement("div");
      item.innerHTML = "<dt></dt><dd></dd>";
      item.classList.toggle("new", isNew(value));
      item.firstChild.textContent = name;
      item.lastChild.textContent = text;
      texts.append(item);
    }
    texts.scrollTo(0, texts.querySelector(".new")?.offsetTop ?? 0);
  }

  // What the line does, in words.
  function told(values) {
    const { lines, action } = scene, [row, , inside] = lines[at];
    const call = action === null ? "reset()" : `step(${action})`;
    if (at === 0) return `<code>${call}</code> begins.`;
    const called = lines[at + 1]?.[2];
    // Of what was returned the last, unless a variable has it now.
    const fresh = values.filter(isNew);
    const kept = fresh.filter((one) => !isCall(one));
    const returned = fresh.filter(isCall).slice(-1)
      .filter(({ text: its }) => kept.every(({ text }) => text !== its));
    const words = [...kept, ...returned].map((one) => {
      const { name, text, images } = one;
      if (name === "console") return "The console draws a frame.";
      const is = isCall(one) ? "returns" : text.endsWith("pictures") ? "has" : "is";
      const what = images.length === 1 ? "a picture, " : "";
      return `<code>${name}</code> ${is} ${what}${text}.`;
    });
    if (called?.length > inside.length)
      words.push(`It calls <code>${called.at(-1)}()</code>.`);
    if (words.length) return words.join(" ");
    const [, set] = code.get(row).line.textContent.match(/^ *([\w.]+) \+?= /) ?? [];
    const same = values.find(({ name }) => name === set);
    if (same) return `<code>${set}</code> is still ${same.text}.`;
    const indent = (of) => code.get(of)?.line.textContent.search(/\S/);
    const enters = indent(lines[at + 1]?.[0]) > indent(row);
    const [word] = code.get(row).line.textContent.match(/\w+/);
    if (word === "if") return `The condition is ${enters}.`;
    if (word === "for" && !enters) return "The loop is over.";
    if (word === "break") return "The loop is left.";
    return "Nothing that is shown here changes.";
  }

  function pause() {
    clearTimeout(timer);
    timer = null;
    play.textContent = "Play";
  }

  // Play on after what is shown.
  function run() {
    clearTimeout(timer);
    play.textContent = "Pause";
    timer = setTimeout(() => {
      if (document.hidden) return run();
      if (!Runner.show(scene, at + 1)) return pause();
      return run();
    }, box.querySelector(".new") ? PACE : SAME);
  }

  function go(n, which = scene) {
    pause();
    Runner.show(which, n);
  }

  // It plays by itself while it is seen, until the reader uses a control.
  async function begin() {
    await Runner.load();
    const first = Runner.scenes.findIndex(({ action }) => action !== null);
    Runner.show(first, 0);
    new IntersectionObserver((seen) => {
      if (isTouched || calm.matches) return;
      if (seen.at(-1).intersectionRatio < 0.5) pause();
      else if (!timer && at < scene.lines.length - 1) run();
    }, { threshold: [0, 0.5] }).observe(box);
  }
  begin();

  calm.addEventListener("change", pause);
  for (const event of ["click", "input"])
    controls.addEventListener(event, () => (isTouched = true));
  select.addEventListener("change", () =>
    go(0, Runner.scenes[select.selectedIndex]));
  back.addEventListener("click", () => go(at - 1));
  next.addEventListener("click", () => go(at + 1));
  play.addEventListener("click", () => {
    if (timer) return pause();
    if (!Runner.show(scene, at + 1)) Runner.show(scene, 0);
    return run();
  });
  slider.addEventListener("input", () => go(slider.valueAsNumber));
  box.addEventListener("keydown", (event) => {
    const way = arrowOf(event)?.[0];
    if (!way || event.target.closest("input, select, dl, pre")) return;
    event.preventDefault();
    isTouched = true;
    go(at + way);
  });
})();
}

{
// What is a ball? Dots of several kinds, and three changes of everything else:
// the reader guesses which the agent falls for, and sees ten serves of each.
const { Agent, Serves, screenOf, BALL, COLORS, PADDLE, COURT } = window.Live;

figure("ball", (box, $in) => {
  const SERVED = 10;
  const LONGEST = 240; // frames of a ball
  const FALLS = 3; // lost balls, of those served, by which it falls for a change
  const MOVES = 280; // frames
  const BUSY = 200; // ms for the games, before they are drawn again
  const TOP = 53; // what is shown begins there
  const BOTTOM = 199;
  const colors = packed(COLORS);
  const says = $in(".says");
  const serve = $in(".serve");
  const kinds = [...$in(".kinds").children].map((button, i) =>
    ({ button, name: Agent.changes[i] }));
  let isPlaying = false;
  let isSeen = false;
  let running = null;
  let moves = 0; // frames that the dots still move for, until the reader begins

  // The board as the agent gets it, in color; what isn't there has an outline.
  function draw({ button, game, name }) {
    const { change } = game.unreal;
    const state = game.breakout.state();
    const bricks = change.wall ? [] : state.bricks;
    const screen = screenOf({ ...state, bricks, lift: change.lift });
    const cell = button.querySelector(".whole > span");
    put(cell, screen, { colors, part: [0, TOP, WIDTH, BOTTOM - TOP] });
    const context = cell.firstElementChild.getContext("2d");
    context.strokeStyle = "#ffa65c";
    const outline = (x, y, wide, high) => context.strokeRect(Math.floor(x) - 0.5,
      Math.floor(y) - TOP - 0.5, wide + 1, high + 1);
    for (const { x, y, size = 1 } of game.unreal.dots) {
      outline(x, y, size * BALL.wide, size * BALL.high);
    }
    if (name === "paddle") {
      outline(state.paddle, COURT.floor, PADDLE.wide, PADDLE.high);
    }
  }

  function count({ button, serves, lost }) {
    grow(button, serves.balls, lost);
    button.querySelector("output").textContent =
      `lost ${lost} of ${serves.balls}`;
  }

  function grow(button, balls, lost) {
    const bar = button.querySelector(".bar");
    bar.style.setProperty("--played", `${100 * balls / SERVED}%`);
    bar.firstChild.style.width = `${100 * lost / SERVED}%`;
  }

  // Play a part of what is left, of each a bit.
  function play() {
    const until = performance.now() + BUSY;
    let left = kinds.filter(({ serves }) => !serves.isOver);
    while (left.length && performance.now() < until) {
      for (const kind of left) {
        const { balls } = kind.serves;
        const { breakout } = kind.serves.game;
        for (let frame = 0; frame < 4 && kind.serves.balls === balls; frame++) {
          kind.serves.frame();
        }
        if (kind.serves.balls > balls) {
          if (breakout.flown <= LONGEST) kind.lost += 1;
          count(kind);
        }
        if (!kind.serves.isOver) kind.game = kind.serves.game;
      }
      left = left.filter(({ serves }) => !serves.isOver);
    }
    if (!left.length) tell();
  }

  // Its answer stands beside the reader's guess.
  function tell() {
    isPlaying = false;
    let right = 0;
    for (const { button, isGuessed, lost } of kinds) {
      const isRight = isGuessed === lost >= FALLS;
      right += isRight;
      button.classList.toggle("right", isRight);
      button.querySelector(".guess").textContent =
        `You: ${isGuessed ? "it falls" : "it plays on"}. ${isRight ? "✓" : "✗"}`;
    }
    says.textContent = `You were right about ${right} of ${kinds.length}. It ` +
      "falls for what costs it three balls or more.";
    serve.hidden = false;
    serve.textContent = "Guess again";
  }

  // What moves is drawn.
  function tick() {
    const moving = kinds.filter(({ serves }) => !serves?.isOver);
    if (isPlaying) play();
    else for (const { game } of moving) game.unreal.frame();
    for (const kind of moving) draw(kind);
    moves = Math.max(0, moves - 1);
    const goesOn = isSeen && (isPlaying || moves);
    running = goesOn ? requestAnimationFrame(tick) : null;
  }

  function go() {
    if (isSeen && !running) tick();
  }

  function reset() {
    for (const [i, kind] of kinds.entries()) {
      const { button } = kind;
      Object.assign(kind, { isGuessed: false, serves: null, lost: 0 });
      kind.game = new Serves(i + 1, { change: kind.name }).game;
      kind.game.breakout.serve();
      button.className = "";
      button.ariaPressed = "false";
      button.querySelector(".guess").textContent = "\u00a0";
      button.querySelector("output").textContent = "\u00a0";
      grow(button, 0, 0);
    }
    go();
  }

  async function begin() {
    await Agent.load();
    for (const kind of kinds) {
      kind.serves = new Serves(newSeed(), { change: kind.name, balls: SERVED,
        longest: LONGEST });
      kind.game = kind.serves.game;
    }
    isPlaying = true;
    serve.hidden = true;
    says.textContent = "Ten serves of each, as fast as they can be played here.";
    go();
  }

  for (const kind of kinds) {
    kind.button.addEventListener("click", () => {
      if (kind.serves) return;
      kind.isGuessed = !kind.isGuessed;
      kind.button.ariaPressed = String(kind.isGuessed);
      kind.button.querySelector(".guess").textContent =
        kind.isGuessed ? "It falls for this" : "\u00a0";
    });
  }
  serve.addEventListener("click", () => {
    if (kinds[0].serves) {
      reset();
      says.textContent = "Which ones will it fall for? Tap them.";
      serve.textContent = "Ten serves of each";
    } else {
      begin();
    }
  });
  calm.addEventListener("change", () => (moves = 0));
  reset();
  new IntersectionObserver((seen) => {
    isSeen = seen.at(-1).isIntersecting;
    if (!kinds[0].serves && !calm.matches) moves = MOVES;
    go();
  }).observe(box);
});
}

{
// The clipped objective: the reader drags the ratio and the edges 1 ± ε, and
// turns the sign of the advantage.
figure("clip", async (box, $in) => {
  // The axes of clip.svg
  const LEFT = 56, RIGHT = 468, TOP = 30, BOTTOM = 250, LEAST = 0.5, MOST = 1.5;
  const BIN = 0.02; // of the histogram
  const REACH = 12; // units from an edge that is dragged
  const { ratios, signs } = await read("clip");
  const svg = $in("svg"), { advantage, ratio, clip } = $in("form").elements;
  const x = (at) => LEFT + (RIGHT - LEFT) * (at - LEAST) / (MOST - LEAST);
  const set = (part, attributes) => {
    for (const name in attributes) part.setAttribute(name, attributes[name]);
  };
  const shown = (number) => number.toFixed(2).replace("-", "\u2212");

  function show() {
    const A = Number(advantage.value), rho = Number(ratio.value);
    const epsilon = Number(clip.value);
    const objective = (at) =>
      Math.min(at * A, between(1 - epsilon, at, 1 + epsilon) * A);
    // The middle of the axis is the advantage, where the ratio is 1.
    const y = (value) => (TOP + BOTTOM) / 2 - (BOTTOM - TOP) * (value - A);
    const line = (value, ...places) =>
      places.map((at) => `${x(at)},${y(value(at))}`).join(" ");
    const edges = [1 - epsilon, 1 + epsilon];
    set($in(".near"), { x: x(edges[0]), width: x(edges[1]) - x(edges[0]) });
    box.querySelectorAll("polyline.edge").forEach((edge, i) =>
      set(edge, { points: `${x(edges[i])},${TOP} ${x(edges[i])},${BOTTOM}` }));
    box.querySelectorAll("text.edge").forEach((name, i) =>
      // Side by side, however small ε is
      set(name, { x: x(i ? Math.max(edges[1], 1.05) : Math.min(edges[0], 0.95)) }));
    box.querySelectorAll(".level").forEach((level, i) => {
      level.textContent = `${A + (i - 1) / 2}`.replace("-", "\u2212");
    });
    set($in(".past"), { points: line((at) => at * A, LEAST, MOST) });
    set($in(".objective"), { points: line(objective, LEAST, ...edges, MOST) });
    const isFlat = objective(rho) !== rho * A;
    set($in(".point"), { cx: x(rho), cy: y(objective(rho)) });
    set($in(".pull"), { visibility: isFlat ? "hidden" : "visible",
      transform: `translate(${x(rho)} ${y(objective(rho))}) scale(${A} 1)` });

    const clipped = between(edges[0], rho, edges[1]);
    $in(".terms").textContent = `min(${shown(rho * A)}, ${shown(clipped * A)})`;
    $in("output").textContent = shown(objective(rho));
    const numbers = box.querySelectorAll("label > span");
    numbers[0].textContent = shown(rho);
    numbers[1].textContent = shown(epsilon);
    const isWrong = A > 0 ? rho < edges[0] : rho > edges[1];
    const way = A > 0 ? "likelier" : "less likely";
    $in(".says").textContent = isFlat ?
      "Clipped: the objective is flat here, so a gradient step gains nothing." :
      `A gradient step makes the action ${way}${
        isWrong ? " again: the wrong way is never clipped" : ""}.`;
    count(A, (at) => objective(at) !== at * A);
  }

  // The minibatch: those steps whose advantage has this sign.
  function count(A, isClipped) {
    const mine = ratios.filter((_, i) => signs[i] === A);
    const bins = Array.from({ length: Math.round((MOST - LEAST) / BIN) }, (_, i) => {
      const from = LEAST + i * BIN;
      const here = mine.filter((at) => at >= from && at < from + BIN);
      const kind = here.length && here.every(isClipped) ? "clipped" : "";
      const high = 3 * here.length;
      return `<rect class="${kind}" x="${x(from) + 1}" y="${BOTTOM - high}" ` +
        `width="${x(LEAST + BIN) - LEFT - 2}" height="${high}"></rect>`;
    });
    $in(".bars").innerHTML = bins.join("");
    $in(".batch").textContent = `Bars: ${mine.length} such actions. ${
      mine.filter(isClipped).length} are clipped (hollow).`;
  }

  // What is dragged: an edge that is near, or else the ratio.
  let dragged = ratio;
  function at({ clientX }) {
    const { left, width } = svg.getBoundingClientRect();
    const unit = svg.viewBox.baseVal.width / width;
    return (clientX - left) * unit;
  }
  function move(event) {
    const place = LEAST + (MOST - LEAST) * (at(event) - LEFT) / (RIGHT - LEFT);
    dragged.value = dragged === ratio ? place : Math.abs(place - 1);
    show();
  }
  svg.addEventListener("pointerdown", (event) => {
    svg.setPointerCapture(event.pointerId);
    const far = (to) => Math.abs(at(event) - x(to));
    const epsilon = Number(clip.value);
    const edge = Math.min(far(1 - epsilon), far(1 + epsilon));
    const isEdge = edge < REACH && edge < far(Number(ratio.value));
    dragged = isEdge ? clip : ratio;
    move(event);
  });
  svg.addEventListener("pointermove", (event) => {
    if (svg.hasPointerCapture(event.pointerId)) move(event);
  });
  $in("form").addEventListener("input", show);
  $in("form").addEventListener("submit", (event) => event.preventDefault());
  show();
});
}

{
// At the end of the story, how fast the reader was, if he has played.
const { send } = window.Live;
const ending = $("yours");
if (ending) {
  new IntersectionObserver(() => {
    const { best } = window.Tease ?? {};
    ending.hidden = !best;
    ending.querySelector("b").textContent = best ?? "";
  }, { rootMargin: "900px" }).observe($("it-was-told-what-pays"));
  ending.querySelector("button").addEventListener("click", () =>
    send(ending, window.Tease.best));
}
}

{
// Pac-Man's four ghosts, of which a frame has one, and those that an agent
// sees. The ghost of a frame is what is pink in it.
figure("ghosts", async (box, $in) => {
  const GHOSTS = 4, STACK = 4, START = 188;
  const game = (await titles())["Pac-Man"], { frames } = game;
  const pink = game.rgb.findIndex((rgb) => `${rgb}` === "252,144,200");
  const colors = packed(game.rgb), repeat = $in("label input");
  const [whole, ringed] = [...$in(".eye").children].slice(1);
  const [newest, dashed] = [...$in(".gets").children].slice(1);
  const cells = [...box.querySelectorAll(".stack > div"), newest];

  // The middle of the ghost in a frame, as shares of the screen. What is pink in
  // the frame before or after it, too, is a pill.
  const found = frames.map((frame, i) => {
    const others = [frames[i - 1] ?? frame, frames[i + 1] ?? frame]
      .filter((other) => other !== frame);
    const xs = [], ys = [];
    frame.forEach((v, at) => {
      if (v !== pink || others.some((other) => other[at] === pink)) return;
      xs.push(at % WIDTH);
      ys.push(Math.floor(at / WIDTH));
    });
    const middle = (all) => (Math.min(...all) + Math.max(...all) + 1) / 2;
    return [middle(xs) / WIDTH, middle(ys) / game.height];
  });
  const gray = (i) => frames[i].map((v) => game.gray[v]);

  // Rings over a picture of the screen
  function rings(place, shown, absent = []) {
    place.innerHTML = [...shown, ...absent].map((i) => {
      const [x, y] = found[i];
      const kind = absent.includes(i) ? "unseen" : "";
      return `<i class="${kind}" style="left:${
        100 * x}%;top:${100 * y}%"><b>${i % GHOSTS + 1}</b></i>`;
    }).join("");
  }

  // What an eye makes of frames that follow within a fifteenth of a second:
  // of each pixel the brightest.
  function blended(last) {
    const four = Array.from({ length: GHOSTS }, (_, i) => frames[last - i]);
    return four.reduce((one, other) =>
      one.map((v, i) => game.gray[other[i]] > game.gray[v] ? other[i] : v));
  }

  function show(end) {
    const every = Number(repeat.value);
    const now = Array.from({ length: GHOSTS }, (_, i) => end - 1 - i);
    put(whole, blended(end - 1), { colors });
    rings(ringed, now);
    // Of each picture the frames that are merged in it.
    const merged = cells.map((_, i) => {
      const last = end - 1 - (STACK - 1 - i) * every;
      return every > 1 ? [last - 1, last] : [last];
    });
    cells.forEach((cell, i) =>
      put(cell, shrunk(merged[i].map(gray).reduce(brighter), SIZE, true)));
    const seen = merged.flat().map((at) => at % GHOSTS);
    const unseen = now.filter((at) => !seen.includes(at % GHOSTS));
    rings(dashed, merged.at(-1), unseen);
    $in(".every").textContent = every;
    const names = unseen.map((at) => at % GHOSTS + 1).sort();
    return names.length ?
      `Ghosts ${names.join(" and ")} are in none of its four pictures.` :
      "Its four pictures together have all four ghosts.";
  }

  const player = film(box, show,
    { count: frames.length, start: START, pace: 12 });
  const turn = () => player.stride(Number(repeat.value), STACK);
  turn();
  repeat.addEventListener("input", turn);
});
}

{
// Up or down? Six guesses from one picture, then six from four.
figure("guess", async (_, $in) => {
  const GUESSES = 6, LATER = [1, 2, 3, 4];
  const BLINK = 80, PROOF = 380; // milliseconds
  const FADE = 0.8; // of the ball, for each step that it has flown on
  const board = $in(".board"), stack = $in(".four").children;
  const [up, down, again] = $in(".controls").children;
  const sleep = (ms) => new Promise((done) => setTimeout(done, calm.matches ? 0 : ms));
  const game = await read("guess");
  const pictures = await unpack(game.pictures, SIZE ** 2);
  const right = [];
  let round, marks, deck = null, flies = false;

  // The whole picture, in which the ball flies on for some `later` steps, and
  // the four close to the ball: neither bricks nor paddle are in these.
  function draw(at, later = [], seen = round) {
    const middle = 7 * game.left[at] + 17;
    const left = between(0, middle - 14, SIZE - 28);
    const part = [left, 38, 28, 36];
    const four = pictures.slice(at - 3, at + 1);
    four.forEach((pixels, i) => put(stack[i], seen || i === 3 ? pixels : null,
      { part, label: ["oldest", "", "", "newest"][i] }));
    $in(".four").classList.toggle("one", !seen);
    $in(".which").textContent = round ? "in its last four pictures" :
      seen ? "and the three pictures before" : "enlarged";
    put(board.firstElementChild, later.reduce((pixels, i) => brighter(
      pixels.map((v) => FADE * v), pictures[at + i]), four[3]),
    { label: later.length ? "The trail: the next steps" : "The newest picture" });
    board.style.setProperty("--left", left / SIZE);
  }

  function ask(verdict) {
    const over = marks.length === GUESSES;
    again.hidden = !over;
    up.hidden = down.hidden = over;
    if (!over) {
      draw(deck[0]);
      $in(".says").textContent =
        `${verdict} And this one, ${marks.length + 1} of ${GUESSES}?`;
      return;
    }
    right[round] = marks.filter(Boolean).length;
    const [one, four] = right.map((count) => `${count} of ${GUESSES}`);
    $in(".says").textContent = round === 0 ?
      `One picture: ${one}. A coin would be right in ${GUESSES / 2}.` :
      `From one picture ${one}, from four ${four}. ` + (right[1] > right[0] ?
        "One picture doesn't say where a ball is going. Four do." :
        "From one it was luck. In four, compare where the ball is.");
    again.textContent = round === 0 ? "Now with four pictures" : "Once more";
    again.focus({ preventScroll: true });
  }

  // What was right, and what wasn't
  function showMarks() {
    $in(".marks").innerHTML = Array.from({ length: GUESSES }, (_, i) =>
      `<i class="${["wrong", "right"][Number(marks[i])] ?? ""}"></i>`).join("");
  }

  // The order is a matter of chance, but for the step that is asked for first.
  function begin(next) {
    round = next;
    marks = [];
    if (round === 0) {
      const first = deck ? null : game.first;
      deck = [...game.up, ...game.down]
        .map((at) => [at === first ? -1 : Math.random(), at])
        .sort(([a], [b]) => a - b).map(([, at]) => at);
    }
    again.hidden = true;
    up.hidden = down.hidden = false;
    showMarks();
    draw(deck[0]);
  }

  async function answer(guess) {
    if (flies) return;
    flies = true;
    const at = deck.shift(), way = game.up.includes(at) ? "up" : "down";
    marks.push(guess === way);
    showMarks();
    const verdict = `${guess === way ? "Right" : "No"}: it flew on ${way}.`;
    $in(".says").textContent = verdict;
    for (const i of LATER) {
      draw(at, LATER.slice(0, i), 1);
      await sleep(BLINK);
    }
    await sleep(PROOF);
    flies = false;
    ask(verdict);
  }

  for (const button of [up, down]) {
    button.addEventListener("click", () => answer(button.value));
  }
  again.addEventListener("click", () => {
    begin(1 - round);
    $in(".says").textContent =
      round ? "Now from four pictures." : "From one picture.";
    up.focus({ preventScroll: true });
  });
  begin(0);
});
}

{
// Two players that learn a Breakout of 10 by 12 pixels, each by a table. One has
// the picture before, too.
const { clock } = window.Live;
const TINY = { wide: 10, high: 12, top: 1, rows: 3, paddle: 2 };

// The ball flies by one pixel a step, diagonally; the paddle sends it to either
// side, by lot. A game is one ball.
class TinyBreakout {
  constructor(random) {
    this.random = random;
    this.begin();
  }

  begin() {
    this.bricks = new Uint8Array(TINY.wide * TINY.rows).fill(1);
    this.paddle = 4; // its left pixel
    this.x = Math.floor(this.random() * TINY.wide);
    this.y = TINY.top + TINY.rows;
    this.dx = this.random() < 0.5 ? -1 : 1;
    this.dy = 1;
    this.points = 0; // bricks
    this.returns = 0;
    this.isLost = false;
  }

  // Move the paddle by -1, 0 or 1; return the bricks that were hit.
  step(move) {
    this.paddle = between(0, this.paddle + move, TINY.wide - TINY.paddle);
    if (this.x + this.dx < 0 || this.x + this.dx >= TINY.wide) this.dx = -this.dx;
    if (this.y + this.dy < 0) this.dy = 1;
    const x = this.x + this.dx, y = this.y + this.dy;
    const brick = (y - TINY.top) * TINY.wide + x;
    if (this.bricks[brick]) {
      this.hit(brick);
      return 1;
    }
    if (y === TINY.high - 1) {
      this.land(x);
      return 0;
    }
    this.x = x;
    this.y = y;
    return 0;
  }

  // The ball turns. After the last brick comes a new wall.
  hit(brick) {
    this.bricks[brick] = 0;
    this.dy = -this.dy;
    this.points += 1;
    if (!this.bricks.includes(1)) this.bricks.fill(1);
  }

  // The ball comes down on the paddle, or beside it.
  land(x) {
    this.x = x;
    this.isLost = x < this.paddle || x >= this.paddle + TINY.paddle;
    if (this.isLost) return;
    this.dy = -1;
    this.dx = this.random() < 0.5 ? -1 : 1;
    this.returns += 1;
  }

  // Numbers of `TINY_COLORS`
  screen() {
    const pixels = new Uint8Array(TINY.wide * TINY.high);
    this.bricks.forEach((there, i) => {
      const row = Math.floor(i / TINY.wide);
      if (there) pixels[TINY.top * TINY.wide + i] = 1 + row;
    });
    const floor = (TINY.high - 1) * TINY.wide;
    pixels.fill(4, floor + this.paddle, floor + this.paddle + TINY.paddle);
    pixels[this.y * TINY.wide + this.x] = 5;
    return pixels;
  }
}

// The ground, three rows of bricks, the paddle, the ball
const TINY_COLORS = packed([[0, 0, 0], [200, 72, 72], [180, 122, 48],
  [72, 160, 72], [200, 72, 72], [255, 255, 255]]);

// Q-learning (Watkins 1989). The table has a row for each picture that was seen,
// or for each pair of one and the one before it; in a row is what each of the
// three buttons was worth there.
class TablePlayer {
  constructor(pictures, seed) {
    this.pictures = pictures;
    this.random = randomFrom(seed);
    this.game = new TinyBreakout(this.random);
    this.table = new Map();
    this.steps = 0;
    this.ended = []; // bricks of the last balls
    this.most = 0; // balls returned in a row
    this.curve = [];
    this.before = 0; // no picture
    this.seen = this.see();
  }

  // A picture by its number: where the ball and the paddle are. The wall isn't in
  // it.
  picture() {
    const { x, y, paddle } = this.game;
    return 1 + (y * TINY.wide + x) * TINY.wide + paddle;
  }

  see() {
    return this.picture() + (this.pictures === 2 ? 4096 * this.before : 0);
  }

  row(seen) {
    let row = this.table.get(seen);
    if (!row) {
      row = [0.5, 0.5, 0.5];
      this.table.set(seen, row);
    }
    return row;
  }

  step() {
    const RATE = 0.3, LATER = 0.98, AT_RANDOM = 0.003;
    const row = this.row(this.seen), top = Math.max(...row);
    const best = [0, 1, 2].filter((button) => row[button] === top);
    const among = this.random() < AT_RANDOM ? [0, 1, 2] : best;
    const button = among[Math.floor(this.random() * among.length)];
    this.before = this.picture();
    let worth = this.game.step(button - 1);
    this.steps += 1;
    this.most = Math.max(this.most, this.game.returns);
    if (this.game.isLost) this.begin();
    else {
      this.seen = this.see();
      worth += LATER * Math.max(...this.row(this.seen));
    }
    row[button] += RATE * (worth - row[button]);
    if (this.steps % 2000 === 0) this.curve.push(this.mean);
  }

  begin() {
    this.ended = [...this.ended.slice(-49), this.game.points];
    this.game.begin();
    this.before = 0;
    this.seen = this.see();
  }

  // Bricks a ball, of the last 50
  get mean() {
    const { ended } = this;
    return sum(ended) / (ended.length || 1);
  }
}

const Learn = {
  players: [],
  begin(seed) {
    this.players = [2, 1].map((pictures) => new TablePlayer(pictures, seed));
  },
  step(count) {
    for (const player of this.players) {
      for (let i = 0; i < count; i++) player.step();
    }
  },
  means() {
    return this.players.map(({ mean }) => mean);
  },
};
window.Learn = Learn;

figure("learn", async (box, $in) => {
  const SLOW = 12; // steps a second
  const HOUR = 3600 * SLOW; // steps, which is the speed at most, in a second
  const ALONE = 2 * HOUR; // after which the second player begins
  const END = 8 * HOUR;
  const ROW = 5; // balls returned, of which it says so
  const slider = $in(".controls input"), players = $in(".players");
  const cells = [...players.children].slice(0, 2);
  const lines = box.querySelectorAll("polyline");
  const tell = (words) => ($in(".tells").textContent = words);
  let act, seconds, hold, chosen, due, told;

  // From slow to an hour a second, in so many seconds
  const ramp = (from, length) => SLOW *
    (HOUR / SLOW) ** between(0, (seconds - from) / length, 1);

  // The acts. Each has its pace, in steps a second, who plays at it, and says when
  // it is over.
  const ACTS = [
    { says: () => "It begins by pressing at random.",
      pace: () => SLOW, speeds: (pace) => [pace, 0], over: () => seconds > 1 },
    { says: () => "It goes on, faster and faster.",
      pace: () => ramp(0, 1.5), speeds: (pace) => [pace, 0],
      over: ([one]) => one.steps >= ALONE },
    { says: () => "A second player begins. It gets no picture before.",
      pace: () => ramp(2, 2), speeds: (pace) => [SLOW, pace],
      over: ([one, two]) => two.steps >= one.steps },
    { says: () => "Now both, an hour of play in a second.",
      pace: () => HOUR, speeds: (pace) => [pace, pace],
      over: ([one]) => one.steps >= END },
    { says: (all) => "After 8 hours: %1 bricks a ball with the picture before, %2 without. They go on."
        .replace(/%(.)/g, (_, i) => all[i - 1].mean.toFixed(1)),
      pace: () => SLOW, speeds: (pace) => [pace, pace], over: () => false },
  ];
  const pace = () => chosen ?? (hold ? SLOW : ACTS[act].pace());

  function to(next) {
    act = next;
    seconds = 0;
    tell(ACTS[act].says(Learn.players));
  }

  function begin() {
    Learn.begin(newSeed());
    restart();
  }

  function restart() {
    hold = 0; // seconds in which it stays slow
    chosen = null; // the speed that the reader wants
    told = 0; // balls in a row
    due = [0, 0]; // steps
    to(Learn.players[0].steps < END ? 0 : ACTS.length - 1);
    draw();
  }

  // It is told, and slow for a while, when the first player has returned its
  // first ball, and five in a row.
  function watch({ game: { returns }, steps }) {
    if (returns <= told || act > 1) return false;
    if (returns !== 1 && returns !== ROW) return false;
    told = returns;
    tell(returns === 1 ? "It returns its first ball, by luck." :
      `Five in a row, after ${steps.toLocaleString("en")} steps.`);
    hold = 1;
    return true;
  }

  function frame() {
    const passed = 1 / 60; // seconds
    hold = Math.max(0, hold - passed);
    if (!hold) seconds += passed;
    const speeds = ACTS[act].speeds(pace());
    Learn.players.forEach((player, i) => {
      due[i] += passed * speeds[i];
      while (due[i] >= 1) {
        due[i] -= 1;
        player.step();
        if (i === 0 && watch(player)) due[i] = 0;
      }
    });
    if (ACTS[act].over(Learn.players)) to(act + 1);
  }

  function draw() {
    const [one, two] = Learn.players;
    players.classList.toggle("alone", !two.steps);
    const top = Math.max(1, ...one.curve, ...two.curve);
    const wide = Math.max(END, one.steps);
    [one, two].forEach((player, i) => {
      put(cells[i].children[1], player.game.screen(), { width: TINY.wide,
        colors: TINY_COLORS });
      cells[i].querySelector(".row").textContent = player.game.returns;
      cells[i].querySelector(".mean").textContent = player.mean.toFixed(1);
      lines[i].setAttribute("points", player.curve.map((mean, at) =>
        `${200_000 * (at + 1) / wide},${100 - 100 * mean / top}`).join(" "));
    });
    $in(".top").textContent = top.toFixed(0);
    $in(".played").textContent = `${one.steps.toLocaleString("en")} steps, ` +
      `${played(one.steps)} of play`;
    $in(".pace").textContent =
      `${Math.round(pace()).toLocaleString("en")} steps a second`;
    slider.value = Math.log(pace());
  }

  function played(steps) {
    if (steps < HOUR / 60) return `${Math.floor(steps / SLOW)} s`;
    if (steps < HOUR) return `${Math.floor(60 * steps / HOUR)} minutes`;
    return `${(steps / HOUR).toFixed(1)} hours`;
  }

  slider.min = Math.log(SLOW);
  slider.max = Math.log(HOUR);
  slider.addEventListener("input", () => {
    chosen = Math.exp(slider.value);
    draw();
  });
  $in(".again").addEventListener("click", begin);
  if (Learn.players.length) restart();
  else begin();
  plays(box, clock(frame, draw));
});
}

{
// The first screen: the agent plays, and the reader drops balls that are in its
// pictures alone, to take its five. Then he plays himself, and the page drops
// them.
const { Agent, AgentGame, Column, clock, screenOf, send, sentIn, BALL, BUTTON,
  COLORS, COURT, DROPS, LONGEST, PADDLE, WALL } = window.Live;

figure("tease", async (box, $in) => {
  const OPENS = 55; // frames before the page's hand comes
  const TURNS = 155; // frames before it goes to the other side
  const LEFT = 14;
  const RIGHT = 146;
  const STANDS = 36; // frames that a miss is shown for
  const RESTS = 100; // frames before a new game
  const CROSSES = 30; // frames of a pointer that may only be passing by
  const COLUMN = 27; // frames in which five balls fall
  const TRAIL = 12; // places where the ball has been
  const ACROSS = 4; // pixels a frame, by an arrow key
  const KNOB = 16; // pixels a frame that a pointer moves the paddle's target
  const READY = 3; // that is counted down from, before the reader's ball comes
  const COUNTS = 40; // frames of each
  const SERVED = 120; // the height at which it comes
  const LEAST = 600; // frames that the reader has to keep it for
  const MOST = 1800;
  const BALLS = 5;
  const POPOVER = CSS.supports("selector(:popover-open)");
  const ABOVE = 70; // pixels of the window, from a finger to the hand
  const IT_RUNS = "These balls aren’t there. It runs anyway.";
  const isTouched = matchMedia("(hover: none)").matches;
  const INVITES = isTouched ? "Your turn: slide a finger over the game." :
    "Your turn: point at the game.";
  const colors = packed(COLORS);
  const board = $("board");
  const [whole, over] = board.children;
  const gets = [...$in(".gets").children].map((cell) => cell.firstElementChild);
  const says = $in(".says");
  const score = $in(".score");
  const pause = $in(".pause");
  const card = $in(".told");
  const opening = await read("tease");
  const column = new Column();
  const held = []; // arrow keys, the last one first
  const turnOn = clock(frame, draw);
  let game = newGame();
  game.goOn({ ...opening.moment, lives: BALLS });
  let act = opens(); // what goes on, a frame after the other
  let isPaused = calm.matches;
  let isAsked = isPaused; // whether a press on the board may begin
  let isSeen = true;
  let isKeeping = false; // whether the reader plays
  let pointer = null; // the reader's, and for how many frames
  let round = null; // what the reader has taken
  let best = Infinity; // frames of a round
  let theirs = sentIn(location.hash); // seconds of who has sent the address
  let aim = null; // where the reader's paddle should go
  let trail = [];

  // Whether a ball has passed the paddle
  const passed = (ball) =>
    ball?.vy > 0 && ball.y >= COURT.floor + PADDLE.high;

  // The pixels between the paddle and a ball that has passed it
  function gapOf({ ball, paddle }) {
    const [from, to] = ball.x < paddle ? [ball.x + BALL.wide, paddle] :
      [paddle + PADDLE.wide, ball.x];
    return { from, wide: Math.max(0, Math.round(to - from)) };
  }

  const secondsOf = (frames) => (frames / 60).toFixed(1);
  const say = (words) => {
    if (says.textContent !== words) says.textContent = words;
  };

  function newGame() {
    return new AgentGame(newSeed(), { unreal: column, lives: BALLS,
      longest: LONGEST });
  }

  // What is seen

  function draw() {
    put(whole.firstElementChild, screenOf(game.shown[1]), { colors });
    const context = whole.querySelector("canvas").getContext("2d");
    trail.forEach(({ x, y }, i) => {
      context.fillStyle = `rgb(255 180 160 / ${0.5 * i / TRAIL})`;
      context.fillRect(Math.floor(x), Math.floor(y), BALL.wide, BALL.high);
    });
    game.pictures.forEach((picture, i) => {
      const cell = gets[3 - i];
      const label = i < 3 ? `${3 - i} before` : "now";
      if (cell.shown !== picture) put(cell, picture, { label });
      cell.shown = picture;
    });
    const marks = column.dots.map(({ x, y }) =>
      ["dot", x + BALL.wide / 2, y + BALL.high / 2]);
    if (column.hand) {
      marks.push([pointer ? "hand" : "hand its", column.hand.x, column.hand.y]);
    }
    place(marks);
  }

  // Put marks over the board, at places in its pixels.
  function place(marks) {
    const shown = over.getElementsByTagName("i");
    while (shown.length > marks.length) shown[0].remove();
    while (shown.length < marks.length) over.append(document.createElement("i"));
    marks.forEach(([kind, x, y], i) => {
      shown[i].className = kind;
      shown[i].style.left = `${100 * x / WIDTH}%`;
      shown[i].style.top = `${100 * y / HEIGHT}%`;
    });
  }

  function putOver(words, kind, x, y, wide = 0) {
    const element = document.createElement("b");
    element.className = kind;
    element.innerHTML = words;
    element.style.cssText = `left:${100 * x / WIDTH}%;
      top:${100 * y / HEIGHT}%;min-width:${100 * wide / WIDTH}%`;
    over.append(element);
    return element;
  }

  // The points of a brick that was hit rise from it, in its color.
  function floatUp(brick) {
    if (calm.matches) return;
    const row = Math.floor(brick / WALL.columns);
    const x = COURT.left + WALL.wide * (brick % WALL.columns + 0.5);
    const y = WALL.top + WALL.high * row;
    const points = putOver(`+${WALL.points[row]}`, "up", x, y);
    points.style.color = `rgb(${COLORS[WALL.colors[row]]})`;
    points.addEventListener("animationend", () => points.remove());
  }

  function count() {
    score.hidden = !round?.isMeant;
    [...$in(".balls").children].forEach((ball, i) => {
      ball.className = round && i < round.taken ? "lost" : "";
    });
    $in("output").textContent = `${secondsOf(round?.frames ?? 0)} s`;
  }

  // What goes on: each of these goes a frame on when it is asked to, and may
  // return what comes next

  function* rest(frames) {
    for (let frame = 0; frame < frames; frame++) yield;
  }

  // Play a frame, and show what it has brought. A miss stands still, measured.
  function* turn(move) {
    const { breakout } = game;
    const { bricks, ball } = breakout.state();
    game.frame(move);
    bricks.forEach((there, i) => there > breakout.bricks[i] && floatUp(i));
    trail = breakout.ball ? [...trail, { ...breakout.ball }].slice(-TRAIL) : [];
    yield;
    if (!passed(breakout.ball) || passed(ball)) return;
    if (isKeeping) return;
    const gap = gapOf(breakout);
    if (round?.counts) take(gap);
    const pixels = `${gap.wide} pixel${gap.wide === 1 ? "" : "s"}`;
    const words = says.textContent;
    say(`Missed by ${pixels}.`);
    putOver(`<b>${gap.wide}</b> pixels`, "gap", gap.from, COURT.floor, gap.wide);
    over.classList.add("shakes");
    yield* rest(STANDS);
    over.classList.remove("shakes");
    over.querySelector(".gap")?.remove();
    say(words);
  }

  function take(gap) {
    round.taken += 1;
    round.isMeant = true;
    if (pointer?.isTouch) navigator.vibrate?.(30);
    if (gap.wide >= round.worst) {
      round.worst = gap.wide;
      picture(gap);
    }
    count();
  }

  // Keep what is seen of a miss, for the card.
  function picture({ from, wide }) {
    const top = 96; // from there to below the paddle
    const pixels = screenOf(game.shown[1]);
    put($in(".worst > div"), pixels, { colors, label: `Its worst miss: ${wide} ` +
      "pixels.", part: [0, top, WIDTH, HEIGHT - top] });
    const context = $in(".worst canvas").getContext("2d");
    context.fillStyle = "#ffa65c";
    context.fillRect(from, COURT.floor - 5 - top, wide, 3);
    context.strokeStyle = "#ffa65c";
    context.setLineDash([1, 1]);
    for (const { x, y } of column.dots) {
      context.strokeRect(Math.floor(x) - 0.5, Math.floor(y) - top - 0.5, 3, 5);
    }
  }

  // Move the page's hand, by so many pixels at most.
  function guide(to, most) {
    const x = column.hand?.x ?? WIDTH / 2;
    column.hand = { x: x + between(-most, to - x, most), y: 104 };
  }

  // Lead away from where the ball will land, or to and fro.
  function lure(frame) {
    const { ball } = game.breakout;
    const isNear = ball.vy > 0 && ball.y > 50;
    const swing = WIDTH / 2 + 56 * Math.cos(frame * 2 * Math.PI / 130);
    let lands = ball.x + ball.vx * (COURT.floor - ball.y) / ball.vy;
    if (lands > COURT.right) lands = 2 * COURT.right - lands;
    if (lands < COURT.left) lands = 2 * COURT.left - lands;
    guide(!isNear ? swing : lands < WIDTH / 2 ? RIGHT : LEFT, 6);
  }

  // It plays from behind the wall; the page's hand comes, and leads it to the
  // right, and to the left while the ball falls on the right: it misses by more
  // than 100 pixels.
  function* opens() {
    for (let frame = 0; game.breakout.lives === BALLS; frame++) {
      if (frame === OPENS) say(IT_RUNS);
      if (frame >= OPENS && frame < TURNS) guide(RIGHT, 2.5);
      if (frame >= TURNS) guide(LEFT, 1.6);
      yield* turn();
    }
    column.hand = null;
    return alone();
  }

  // It plays, game after game.
  function* alone() {
    says.ariaLive = "off"; // for what plays by itself
    say(INVITES);
    board.classList.add("invites");
    for (;;) {
      if (!game.breakout.lives) {
        yield* rest(RESTS);
        game = newGame();
      }
      yield* turn();
    }
  }

  // The reader takes its five balls, in the game that is running. After what
  // only crosses the board, what went on before goes on.
  function* takes(before) {
    const words = says.textContent;
    const invited = board.classList.contains("invites");
    board.classList.remove("invites");
    says.ariaLive = "polite";
    if (!game.breakout.lives) game = newGame();
    const { breakout } = game;
    breakout.lives = BALLS;
    round = { frames: 0, taken: 0, worst: -1, isMeant: false, counts: false };
    say("Lure it away. It has five balls.");
    while (breakout.lives) {
      // One that falls already isn't the reader's until it is hit back.
      round.counts ||= !(breakout.ball?.vy > 0);
      if (pointer) {
        round.frames += 1;
        round.isMeant ||= pointer.isMeant || pointer.frames > CROSSES;
      } else if (!round.isMeant) {
        round = null;
        says.ariaLive = "off";
        say(words);
        board.classList.toggle("invites", invited);
        return before;
      }
      count();
      yield* turn();
      if (!round.counts) breakout.lives = BALLS;
      const gone = BALLS - breakout.lives; // or taken away, after a minute
      round.taken = Math.max(round.taken, gone);
    }
    tell();
    return null;
  }

  // The reader plays a ball, and the page's hand drops the same balls.
  function* keeps() {
    board.classList.remove("invites");
    says.ariaLive = "polite";
    const frames = between(LEAST, best, MOST);
    say(`Now you: keep the ball for ${secondsOf(frames)} seconds.`);
    const { breakout } = game;
    Object.assign(breakout, { easy: true, wait: READY * COUNTS });
    game.center();
    for (let left = READY; left; left--) {
      const number = putOver(left, "ready", WIDTH / 2, SERVED);
      for (let frame = 0; frame < COUNTS; frame++) yield* turn(wanted());
      number.remove();
    }
    const { lives } = breakout;
    let kept = 0;
    column.fallen = 0;
    while (kept < frames && breakout.lives === lives) {
      if (breakout.ball) {
        kept += 1;
        lure(kept);
        say("The dashed balls aren’t there.");
      }
      yield* turn(wanted());
    }
    isKeeping = false;
    judge(kept, kept === frames);
    return null;
  }

  // The card

  function show(took, dared, fair, ...first) {
    $in(".do").prepend(...first.map($in));
    $in(".took").innerHTML = took;
    $in(".dared").textContent = dared;
    $in(".fair").textContent = fair;
    $in(".told [role=status]").textContent = "";
    card.hidden = false;
    column.hand = null;
    pointer = null;
    held.length = 0;
    if (board.matches(":focus")) card.focus({ preventScroll: true });
  }

  function tell() {
    const seconds = secondsOf(round.frames);
    best = Math.min(best, round.frames);
    const isLess = Number(seconds) < theirs;
    card.classList.remove("own");
    show(`<b>${seconds}</b> seconds`,
      theirs && `Theirs ${theirs.toFixed(1)}, yours ${seconds}: ` +
        (isLess ? "you win." : "not yet."),
      "It has practiced for 185 hours. You beat it with balls that aren’t there.",
      ".dare", ".control");
    $in(".dare").textContent = `Dare somebody: beat ${secondsOf(best)} s`;
    $in(".control").textContent = "Would you fall for it?";
    $in(".again").textContent = `Again (best ${secondsOf(best)} s)`;
    say(`Its five balls, in ${seconds} seconds.`);
  }

  // What the reader has done, beside what the agent did
  function judge(kept, isKept) {
    card.classList.add("own");
    const his = `${isKept ? "For" : "After"} ${secondsOf(kept)} s`;
    show(isKept ? "You kept your ball." : "You lost your ball.", "",
      `${his}, under ${column.fallen} dashed balls. The agent lost five in ` +
      `${secondsOf(best)} s.`, ".control", ".again");
    $in(".control").textContent = "Keep a ball again";
    $in(".again").textContent = `Take its five again (best ${secondsOf(best)} s)`;
    say(isKept ? "You know what a ball is." : "Did you run for a dashed one?");
  }

  // What the reader does

  function frame() {
    if (pointer) move();
    const { done, value } = act.next();
    if (done) act = value;
    if (!act) go();
  }

  // The hand of the keys moves; a finger that has left still drops its column.
  function move() {
    pointer.frames += 1;
    if (held.length) {
      const x = column.hand.x + ACROSS * held[0];
      column.hand.x = between(COURT.left, x, COURT.right);
    }
    if (pointer.frames > pointer.stays) release();
  }

  function go() {
    const isOn = Agent.network && act && isSeen && !isPaused && !document.hidden;
    turnOn(isOn);
    board.style.touchAction = isOn ? "pinch-zoom" : ""; // a finger points
    pause.textContent = isPaused ? "Play" : "Pause";
    pause.hidden = !act;
    board.classList.toggle("rests", !isOn);
    draw();
  }

  function want(on) {
    isPaused = !on;
    isAsked = false;
    if (isPaused && pointer) release();
    go();
  }

  // Begin a game by a button: it is in sight whole. The dare is about its five
  // balls, not about the reader's.
  function begin(what) {
    card.hidden = true;
    isKeeping = what === keeps;
    $in(".theirs").hidden = !theirs || isKeeping;
    round = null;
    game = newGame();
    aim = null;
    trail = [];
    clear();
    act = what();
    count();
    want(true);
    board.focus({ preventScroll: true });
    seeWhole();
  }

  function seeWhole() {
    const { top, bottom } = board.getBoundingClientRect();
    const { offsetHeight } = document.querySelector("header");
    if (top < offsetHeight || bottom > innerHeight) board.scrollIntoView();
  }

  // Balls fall from there. It is the running game that they come into.
  function drop(x, y, options) {
    column.hand = { x, y };
    if (pointer) return;
    pointer = { frames: 0, ...options };
    if (round) return;
    clear();
    act = takes(act);
  }

  function clear() {
    over.replaceChildren();
    over.classList.remove("shakes");
  }

  function release() {
    pointer = null;
    column.hand = null;
  }

  // Which way the reader's paddle should go: by a key, or to the pointer.
  function wanted() {
    if (held.length) return BUTTON * held[0];
    if (aim === null) return 0;
    const place = between(COURT.left, aim - PADDLE.wide / 2, PADDLE.most);
    return between(-KNOB, place - game.breakout.target, KNOB);
  }

  function points(event) {
    const { clientX, clientY, isPrimary, type } = event;
    const isPress = type === "pointerdown";
    if (!isPrimary || !act) return;
    if (isPress && isAsked) want(true);
    if (isPaused) return;
    const { left, top, width, height } = board.getBoundingClientRect();
    const isTouch = event.pointerType === "touch";
    const above = isTouch ? ABOVE : 0;
    aim = (clientX - left) * WIDTH / width;
    const y = (clientY - top - above) * HEIGHT / height;
    if (isKeeping) return;
    drop(aim, Math.max(y, COURT.top), { isTouch });
    pointer.stays = Infinity;
    if (isPress && !isTouch) pointer.isMeant = true;
  }

  board.addEventListener("pointerdown", points);
  board.addEventListener("pointermove", points);
  board.addEventListener("pointerleave", ({ pointerType }) => {
    if (pointerType !== "touch" && pointer) release();
  });
  board.addEventListener("pointerup", () => {
    if (!pointer?.isTouch) return;
    pointer.isMeant = true;
    pointer.stays = COLUMN;
  });
  board.addEventListener("pointercancel", () => pointer && release());

  // An arrow key is the page's unless it is meant for the game.
  function isMeant(event) {
    const { top, bottom, height } = board.getBoundingClientRect();
    const { offsetHeight } = document.querySelector("header");
    const seen = Math.min(bottom, innerHeight) - Math.max(top, offsetHeight);
    const { activeElement, body } = document;
    return act && !event.shiftKey && seen >= height / 2 &&
      (activeElement === body || box.contains(activeElement)) &&
      !(POPOVER && document.querySelector(":popover-open"));
  }
  addEventListener("keydown", (event) => {
    if (event.key === "Escape" && pointer) release();
    const [across] = arrowOf(event) ?? [0];
    if (!across || !isMeant(event)) return;
    if (isAsked) want(true);
    if (isPaused) return;
    event.preventDefault();
    aim = null;
    if (!held.includes(across)) held.unshift(across);
    if (isKeeping) return;
    const { x } = column.hand ?? { x: WIDTH / 2 };
    if (!pointer) seeWhole();
    drop(x, DROPS.most - 10, { isMeant: true, stays: Infinity });
  });
  addEventListener("keyup", ({ key }) => {
    const across = ARROWS[key]?.[0];
    if (held.includes(across)) held.splice(held.indexOf(across), 1);
  });
  addEventListener("blur", () => held.splice(0));

  pause.addEventListener("click", () => want(isPaused));
  calm.addEventListener("change", () => calm.matches && want(false));
  $in(".again").addEventListener("click", () => begin(alone));
  $in(".control").addEventListener("click", () => begin(keeps));
  $in(".close").addEventListener("click", () => begin(alone));
  card.addEventListener("keydown", ({ key }) => key === "Escape" && begin(alone));
  $in(".dare").addEventListener("click", () => send(card, secondsOf(best)));

  // It rests when it isn't seen.
  new IntersectionObserver((seen) => {
    isSeen = seen.at(-1).isIntersecting;
    go();
  }).observe(box);
  document.addEventListener("visibilitychange", go);

  function greet() {
    theirs = sentIn(location.hash);
    const words = theirs && `Somebody took its five balls in ${theirs.toFixed(1)} s. Beat it.`;
    $in(".theirs").textContent = words;
    $in(".theirs").hidden = !theirs;
  }
  addEventListener("hashchange", greet);

  window.Tease = {
    get hand() {
      return column.hand?.x ?? null;
    },
    get paddle() {
      return game.breakout.paddle + PADDLE.wide / 2;
    },
    get ball() {
      const { ball } = game.breakout;
      return ball && { x: ball.x, y: ball.y };
    },
    get taken() {
      return round?.taken ?? 0;
    },
    // The seconds of the best round, or null
    get best() {
      return best < Infinity ? secondsOf(best) : null;
    },
    get seconds() {
      return (round?.frames ?? 0) / 60;
    },
  };
  greet();
  go();
  Agent.load().then(go, () => {
    say("Its network didn’t arrive. Please load the page again.");
  });
});
}

{
// A game by each of the weights that were kept in the course of one training.
// They play when the reader has guessed, or opened the answer.
figure("training", async (box, $in) => {
  const PACE = 15;
  const games = await read("training");
  const cells = $in(".games").children, answer = $in("details");
  for (const game of games) {
    game.shown = await unpack(game.screens, WIDTH * HEIGHT);
    game.colors = packed(game.rgb);
  }
  const labels = [...cells].map((cell) => cell.lastElementChild.textContent);
  // Where the ball gets behind the wall, it does so in the middle of the film,
  // which begins two seconds before.
  const count = games[0].shown.length, there = count / 2 + 1;
  const player = film(box, (at) => {
    games.forEach(({ shown, colors, behind }, i) => put(cells[i], shown[at - 1],
      { colors, label: labels[i],
        kind: answer.open && behind !== null && at >= there ? "picture" : "" }));
  }, { count, pace: PACE, auto: false,
    start: there + PACE * (calm.matches ? 1 : -2) });

  function turn() {
    player.draw();
    player.want(answer.open && !calm.matches);
  }
  answer.addEventListener("toggle", turn);
  turn();
});

// A guess opens the answer, and the focus goes on to it, even before the games
// are there.
const guessed = document.querySelector("figure#training");
if (guessed) {
  const answer = guessed.querySelector("details");
  guessed.querySelector(".choice").addEventListener("click", ({ target }) => {
    const guess = target.closest("button");
    if (!guess) return;
    guessed.querySelector(".verdict").textContent = `${guess.value}. `;
    answer.open = true;
  });
  answer.addEventListener("toggle", () => {
    if (!answer.open) return;
    guessed.querySelector(".says").focus({ preventScroll: true });
  });
}
}

{
// The workbench: real frames, and what an agent would see of them if it were
// made with other settings.
figure("workbench", async (box, $in) => {
  const MOST = 4; // pictures in a stack
  // Where Breakout's ball is alone: between the bricks, the walls and the
  // paddle.
  const COURT = { top: 93, bottom: 189, left: 8, right: 152 };
  const games = await titles();
  const strip = cells($in(".strip"), 8), stack = cells($in(".shrunk"), MOST);
  const knobs = $in(".knobs");
  let game = games.Breakout, gone = "";

  function cells(place, count) {
    place.innerHTML = "<div><canvas></canvas><small></small></div>".repeat(count);
    return [...place.children];
  }

  // The settings, as the knobs have them.
  function settings() {
    const { repeat, stack, maximum, shrink, size } = knobs.elements;
    return { repeat: Number(repeat.value), stack: Number(stack.value),
      maximum: maximum.checked && repeat.value > 1,
      mean: shrink.value === "mean", size: Number(size.value) };
  }

  // The picture of a step that ends before a frame.
  function picture(end, { maximum, mean, size }) {
    const [older, last] = [end - 2, end - 1].map((i) =>
      game.frames[i]?.map((v) => game.gray[v]));
    return shrunk(maximum ? brighter(older, last) : last, size, mean);
  }

  function show(end) {
    const now = settings(), colors = packed(game.rgb);
    // The last eight frames, of which those before the step are dim.
    strip.forEach((cell, i) => {
      const at = end - strip.length + i, number = i - strip.length + now.repeat;
      const kept = number === now.repeat - 1 ? "fourth" :
        number === now.repeat - 2 && now.maximum ? "third" : "thrown";
      put(cell, game.frames[at] ?? game.frames[0], { colors,
        label: number < 0 ? "" : `${number + 1}`,
        kind: number < 0 ? "before" : kept });
    });
    stack.forEach((cell, i) => {
      const later = now.stack - 1 - i; // pictures in the stack
      cell.hidden = later < 0;
      if (cell.hidden) return;
      put(cell, picture(end - later * now.repeat, now), { width: now.size,
        label: `obs[${i}]`, kind: later ? "" : "picture" });
    });
    const { repeat, size, maximum } = now;
    const frames = maximum ? `the brighter of ${repeat - 1} and ${repeat}` :
      `frame ${repeat}`;
    $in(".how").textContent =
      `${frames} → gray → ${size}×${size} → the newest of the stack`;
    return tell(now);
  }

  // The observation in numbers, and the program that returns it.
  function tell({ repeat, stack, maximum, mean, size }) {
    const count = stack * size ** 2;
    const options = Object.entries({ action_repeat: repeat !== 4 && repeat,
      stack: stack !== 4 && stack, size: size !== 84 && `(${size}, ${size})` });
    const chosen = options.filter(([, value]) => value)
      .map((pair) => pair.join("="));
    const possible = mean && (maximum || repeat === 1);
    const call = ["seed", ...game.arguments, ...chosen].join(", ");
    $in(".call").textContent = possible ? `Game(${call})` :
      "# No call: the module always takes the maximum and the mean.";
    return `(${stack}, ${size}, ${size}): ${count.toLocaleString("en")} numbers, ` +
      `${+(60 / repeat).toFixed(1)} times a second.${gone}`;
  }

  // Whether a picture shows the ball: a pixel of the court that isn't black.
  function hasBall(end, { maximum, mean, size }) {
    const last = game.frames[end - 1];
    const older = maximum ? game.frames[end - 2] : last, { gray } = game;
    const light = (y, x) => {
      const at = y * WIDTH + x;
      return Math.max(gray[older[at]], gray[last[at]]);
    };
    const inside = (from, low, high) => covering(from, size, mean)
      .filter((parts) => parts[0][0] >= low && parts.at(-1)[0] < high);
    const columns = inside(WIDTH, COURT.left, COURT.right);
    return inside(HEIGHT, COURT.top, COURT.bottom).some((rows) =>
      columns.some((parts) => {
        let sum = 0;
        for (const [y, high] of rows) {
          for (const [x, wide] of parts) sum += high * wide * light(y, x);
        }
        return sum >= 0.5;
      }));
  }

  // In how many of the observations the ball is in no picture.
  function count(now) {
    const balls = [];
    for (let end = now.repeat; end <= game.frames.length; end += now.repeat) {
      balls.push(hasBall(end, now));
    }
    const shown = balls.slice(MOST - 1).map((_, i) =>
      balls.slice(i + MOST - now.stack, i + MOST).includes(true));
    const none = shown.filter((each) => !each).length;
    return ` In ${none} of ${shown.length} observations no picture has the ball.`;
  }

  const player = film(box, show, { count: game.frames.length, start: 100,
    pace: 15, auto: false });

  function turn() {
    const now = settings(), { repeat, stack } = now;
    gone = game === games.Breakout ? count(now) : "";
    const values = knobs.querySelectorAll("label > span");
    values[0].textContent = repeat;
    values[1].textContent = stack;
    knobs.elements.maximum.disabled = repeat === 1;
    player.stride(repeat, MOST);
  }
  turn();
  knobs.addEventListener("input", turn);
  knobs.addEventListener("reset", () => setTimeout(turn));
  for (const form of box.querySelectorAll("form")) {
    form.addEventListener("submit", (event) => event.preventDefault());
  }
  $in(".titles").addEventListener("input", ({ target }) => {
    game = games[target.value];
    turn();
  });
});
}
