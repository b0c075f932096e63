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
