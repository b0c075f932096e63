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
