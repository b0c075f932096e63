// The published agent, which plays in the page. Its network is loaded once.
const PARTS = 8; // scripts of the network
const FRAMES = 4; // that an action is held for
const MOST = 108_000; // frames of a game, as on the emulator
const PIXELS = SIZE ** 2;
const MOVES = [0, 0, BUTTON, -BUTTON]; // NOOP, FIRE, RIGHT, LEFT

const Agent = {
  network: null,

  load: once(async () => {
    let text = "";
    for (let part = 0; part < PARTS; part++) text += await read(`network${part}`);
    const network = {};
    for (const [name, layer] of Object.entries(JSON.parse(text))) {
      network[name] = weightsOf(layer);
    }
    Agent.network = network;
  }),

  // What it makes of four pictures, 4·84·84 bytes, the oldest first.
  see(pictures) {
    if (!Agent.network) throw new Error("The network comes by Agent.load().");
    if (pictures.length !== 4 * PIXELS) {
      throw new RangeError(`4·84·84 bytes are needed, not ${pictures.length}.`);
    }
    return look(Agent.network, pictures);
  },

  // Play a whole game; return its points. With `still` it is shown the newest
  // picture four times.
  async play(seed, { still = false } = {}) {
    await Agent.load();
    const game = new AgentGame(seed);
    for (let frame = 0; game.breakout.lives && frame < MOST; frame++) {
      game.play({ still });
      if (frame % 64 === 0) await new Promise((done) => setTimeout(done));
    }
    return game.breakout.score;
  },
};
window.Agent = Agent;

const grayOf = (state) => screenOf(state).map((color) => SHADES[color]);

// The picture of a step, of the states that its last two frames show.
const pictureOf = ([third, fourth]) =>
  shrunk(brighter(grayOf(third), grayOf(fourth)), SIZE, true);

// Four pictures in one array, as the network takes them.
function stackOf(pictures) {
  const stack = new Uint8Array(4 * PIXELS);
  pictures.forEach((picture, i) => stack.set(picture, i * PIXELS));
  return stack;
}

// A game, with what an agent sees of it.
class SeenGame {
  constructor(seed, options) {
    this.breakout = new Breakout(randomFrom(seed), options);
    this.count = 0; // frames
    this.fill();
  }

  // The first picture fills the stack.
  fill() {
    const state = this.breakout.state();
    this.shown = [state, state]; // by the last two frames
    this.pairs = Array(4).fill(this.shown); // and of each picture
    this.pictures = Array(4).fill(pictureOf(this.shown));
  }

  // Put the paddle in the middle.
  center() {
    this.breakout.paddle = (COURT.left + PADDLE.most) / 2;
    this.breakout.target = this.breakout.paddle;
    this.fill();
  }

  frame(move) {
    this.breakout.frame(move);
    this.count += 1;
    this.shown = [this.shown[1], this.breakout.state()];
    if (this.count % FRAMES) return;
    this.pairs = [...this.pairs.slice(1), this.shown];
    this.pictures = [...this.pictures.slice(1), pictureOf(this.shown)];
  }
}

// A game that the agent plays. FIRE is pressed for it, as in its training: for
// the first step of each life, whose last screen then fills the stack.
class AgentGame extends SeenGame {
  constructor(seed, options) {
    super(seed, options);
    this.random = randomFrom(~seed);
    this.fire();
  }

  fire() {
    this.breakout.wait = 0;
    this.count = 0;
    this.action = 0;
    this.serving = true;
  }

  // Ask the network for the action of the next four frames, and sample it. With
  // `still` it is given the newest picture four times.
  decide({ still = false } = {}) {
    const given = still ? Array(4).fill(this.pictures.at(-1)) : this.pictures;
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

  frame() {
    const { lives } = this.breakout;
    super.frame(MOVES[this.action]);
    if (this.breakout.lives < lives) {
      this.fire();
    } else if (this.serving && this.count === FRAMES) {
      this.serving = false;
      this.fill();
    }
  }

  // Play a frame, and before it ask the network if an action is due.
  play(options) {
    if (this.count % FRAMES === 0 && !this.serving) this.decide(options);
    this.frame();
  }
}
