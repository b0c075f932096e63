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
