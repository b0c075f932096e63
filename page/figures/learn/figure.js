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
