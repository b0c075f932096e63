// A Breakout of our own. It has the measures, colors and grays of the console's
// screen, and its physics as far as they were measured, but is no emulator.
const COURT = { left: 8, right: 152, top: 32, floor: 189 }; // inner edges
const WALL = {
  top: 57, rows: 6, columns: 18, wide: 8, high: 6,
  points: [7, 7, 4, 4, 1, 1],
  colors: [5, 4, 3, 2, 8, 6],
};
const BALL = { wide: 2, high: 4 };
const PADDLE = { wide: 16, high: 4, color: 5 };
const BUTTON = 5.6; // pixels that a held button moves the paddle's target by
const BEYOND = 40; // pixels that the target goes on behind a side wall
const WAIT = 20; // frames without a ball

// The colors of a screen by their index, and the gray of each.
const COLORS = [[0, 0, 0], [142, 142, 142], [162, 162, 42], [180, 122, 48],
  [198, 108, 58], [200, 72, 72], [66, 72, 200], [66, 158, 130], [72, 160, 72]];
const SHADES = [0, 142, 148, 131, 129, 110, 85, 127, 124];

// Digits of three columns and five rows, a bit each
const DIGITS = [0x7b6f, 0x2492, 0x73e7, 0x73cf, 0x5bc9, 0x79cf, 0x49ef, 0x7249,
  0x7bef, 0x7bc9];

// Where the ball appears, and which way it flies. An easy one falls slowly
// onto the paddle.
const SERVES = [{ x: 78, vx: -1 }, { x: 80, vx: 1 }, { x: 16, vx: 1 },
  { x: 142, vx: -1 }];
const SERVED = { y: 122, vy: 1 };
const EASY = 0.8; // pixels a frame

// How fast the ball is after so many hits of the paddle since the serve, and
// after a brick of the upper three rows.
const SPEEDS = [
  { hits: 3, vx: 1, vy: 1.5 },
  { hits: 7, vx: 1.5, vy: 2 },
  { hits: 11, vx: 2, vy: 1 },
  { hits: Infinity, vx: 2, vy: 2 },
];
const FAST = { vx: 2, vy: 3.38 };

const between = (least, value, most) => Math.max(least, Math.min(most, value));

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

class Breakout {
  // The first ball of an `easy` game is one that a newcomer can hit.
  constructor(random, { easy = false } = {}) {
    this.random = random;
    this.easy = easy;
    this.score = 0;
    this.lives = 5;
    this.paddle = 99; // its left edge
    this.target = 99; // where it is going
    this.ball = null; // its left and upper edge, and its speed
    this.bricks = new Uint8Array(WALL.rows * WALL.columns).fill(1);
    this.wait = WAIT;
  }

  // What a screen shows.
  state() {
    const { score, lives, paddle, bricks } = this;
    const ball = this.ball && { ...this.ball };
    return { score, lives, paddle, bricks: bricks.slice(), ball };
  }

  // Play a frame, in which the target of the paddle moves by so many pixels.
  frame(move) {
    const { left, right } = COURT;
    const most = right - PADDLE.wide;
    this.target = between(left - BEYOND, this.target + move, most + BEYOND);
    this.paddle += (between(left, this.target, most) - this.paddle) / 2;
    if (this.ball) {
      this.fly();
      return;
    }
    this.wait -= 1;
    if (this.wait < 0 && this.lives) this.serve();
  }

  serve() {
    const serve = SERVES[Math.floor(SERVES.length * this.random())];
    this.ball = { ...SERVED, ...serve };
    if (this.easy) {
      this.ball = { x: this.paddle + PADDLE.wide / 2, y: SERVED.y, vx: 0,
        vy: EASY };
    }
    this.easy = false;
    this.hits = 0;
    this.fast = false;
    this.mayBreak = true; // a brick: none after another, until it has turned
  }

  fly() {
    const { ball } = this;
    const { left, right, top } = COURT;
    ball.x += ball.vx;
    ball.y += ball.vy;
    if (ball.x < left || ball.x > right - BALL.wide) ball.vx *= -1;
    ball.x = between(left, ball.x, right - BALL.wide);
    if (ball.y < top) ball.vy = Math.abs(ball.vy);
    this.hitBrick();
    this.hitPaddle();
    if (ball.y > 205) {
      this.lives -= 1;
      this.ball = null;
      this.wait = WAIT;
    }
  }

  hitBrick() {
    const { ball } = this;
    const ahead = ball.y + (ball.vy > 0 ? BALL.high : 0);
    const below = WALL.top + WALL.high * WALL.rows;
    if (ahead < COURT.top || ahead > below) this.mayBreak = true;
    const row = Math.floor((ahead - WALL.top) / WALL.high);
    const middle = ball.x + BALL.wide / 2 - COURT.left;
    const brick = WALL.columns * row + Math.floor(middle / WALL.wide);
    if (!this.mayBreak || !this.bricks[brick]) return;
    this.bricks[brick] = 0;
    this.score += WALL.points[row];
    this.mayBreak = false;
    if (row < 3) this.fast = true;
    const speed = this.fast ? FAST.vy : Math.abs(ball.vy);
    ball.vy = -Math.sign(ball.vy) * speed;
    if (!this.bricks.includes(1)) this.bricks.fill(1);
  }

  hitPaddle() {
    const { ball } = this;
    const low = ball.y + BALL.high - COURT.floor;
    const off = ball.x + BALL.wide / 2 - this.paddle;
    if (ball.vy < 0 || low < 0 || low > 8) return;
    if (off < -1 || off > PADDLE.wide + 1) return;
    this.hits += 1;
    const speed = this.fast ? FAST :
      SPEEDS.find(({ hits }) => this.hits <= hits);
    ball.vx = off < PADDLE.wide / 2 ? -speed.vx : speed.vx;
    ball.vy = -speed.vy;
  }
}

// A screen, as indices of colors.
function screenOf({ score, lives, paddle, ball, bricks }) {
  const pixels = new Uint8Array(WIDTH * HEIGHT);
  const { left, right, top, floor } = COURT;

  function fill(x, y, wide, high, color) {
    for (let row = y; row < Math.min(y + high, HEIGHT); row++) {
      pixels.fill(color, row * WIDTH + x, row * WIDTH + x + wide);
    }
  }
  function digit(value, x) {
    for (let bit = 0; bit < 15; bit++) {
      if (!((DIGITS[value] >> (14 - bit)) & 1)) continue;
      fill(x + 4 * (bit % 3), 5 + 2 * Math.floor(bit / 3), 4, 2, 1);
    }
  }

  digit(Math.floor(score / 100) % 10, 36);
  digit(Math.floor(score / 10) % 10, 52);
  digit(score % 10, 68);
  digit(lives, 100);
  digit(1, 132);
  fill(0, 17, WIDTH, 15, 1);
  fill(0, top, left, floor - top, 1);
  fill(right, top, WIDTH - right, floor - top, 1);
  fill(0, floor, left, 7, 7);
  fill(right, floor, WIDTH - right, 6, 5);
  bricks.forEach((there, brick) => {
    if (!there) return;
    const row = Math.floor(brick / WALL.columns);
    const x = left + WALL.wide * (brick % WALL.columns);
    fill(x, WALL.top + WALL.high * row, WALL.wide, WALL.high,
      WALL.colors[row]);
  });
  fill(Math.round(paddle), floor, PADDLE.wide, PADDLE.high, PADDLE.color);
  if (ball) {
    fill(Math.round(ball.x), Math.round(ball.y), BALL.wide, BALL.high, 5);
  }
  return pixels;
}
