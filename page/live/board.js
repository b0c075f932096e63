// The board: three games that begin alike, with the same wall and the same
// serves. In one the agent plays, in one it is shown its newest picture four
// times, and one is the reader's. Only whole balls count, from the serve until
// the ball is lost.
const BALLS = 3; // of a game
const LONGEST = 60 * 60; // frames of a ball: a minute

class Line {
  constructor(who) {
    this.who = who;
    this.points = 0; // of all whole balls
    this.balls = 0;
    this.scores = []; // of the balls of the game that is compared
  }

  // Begin a game that is compared with those of the other lines.
  begin(seed) {
    this.scores = [];
    this.isCapped = false; // whether one was taken away
    this.again(seed);
  }

  // Begin a game.
  again(seed) {
    const rules = { easy: true, lives: BALLS, longest: LONGEST };
    const isReaders = this.who === "you";
    this.game = isReaders ? new SeenGame(seed, rules) :
      new AgentGame(seed, rules);
    if (isReaders) this.game.center();
    this.before = 0; // points, at the serve
  }

  get isOver() {
    return this.game.breakout.lives === 0;
  }

  // Whether all balls of the compared game are over
  get isWhole() {
    return this.scores.length === BALLS;
  }

  // Play a frame. The reader's paddle moves by so many pixels.
  frame(move) {
    const { breakout } = this.game;
    const { lives } = breakout;
    if (this.who === "you") this.game.frame(move);
    else this.game.play({ still: this.who === "still" });
    if (breakout.lives === lives) return;
    const points = breakout.score - this.before;
    this.before = breakout.score;
    this.points += points;
    this.balls += 1;
    if (this.isWhole) return;
    this.scores.push(points);
    this.isCapped ||= breakout.flown > LONGEST;
  }
}

const Board = {
  lines: { it: new Line("it"), still: new Line("still"), you: new Line("you") },
  playing: "it",
  // Is called when somebody has chosen who plays
  chosen(who) {
    Board.playing = who;
  },

  get who() {
    return Board.playing;
  },
  set who(who) {
    if (!(who in Board.lines)) throw new RangeError(`${who} isn't a player.`);
    Board.chosen(who);
  },

  get tallies() {
    return Object.fromEntries(Object.values(Board.lines).map(
      ({ who, points, balls }) => [who, { points, balls }]));
  },

  begin(seed) {
    Board.seed = seed;
    for (const line of Object.values(Board.lines)) line.begin(seed);
  },
};
window.Board = Board;

// Whether a ball has passed the paddle
const passed = (ball) => ball?.vy > 0 && ball.y >= COURT.floor + PADDLE.high;

// The pixels between the paddle and a ball that has passed it
function gapOf({ ball, paddle }) {
  const [from, to] = ball.x < paddle ? [ball.x + BALL.wide, paddle] :
    [paddle + PADDLE.wide, ball.x];
  return { from, wide: Math.round(to - from) };
}

// A game that goes on from a moment that was recorded.
function goesOn({ pairs, breakout }) {
  const game = new AgentGame(0);
  const bricks = Uint8Array.from(breakout.bricks, Number);
  Object.assign(game.breakout, breakout, { bricks, ball: { ...breakout.ball } });
  const state = game.breakout.state();
  game.pairs = pairs.map((pair) => pair.map(([x, y, paddle]) =>
    ({ ...state, paddle, ball: { x, y } })));
  game.shown = game.pairs.at(-1);
  game.pictures = game.pairs.map(pictureOf);
  game.serving = false;
  return game;
}
