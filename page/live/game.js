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
