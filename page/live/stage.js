// What the figures share in which something is played live.

// Call `frame` 60 times a second as long as it runs. Where that can't be done
// it is called less often, and `tell` gets the share of the full speed, once a
// second.
function clock(frame, tell = () => {}) {
  const LENGTH = 1000 / 60; // ms
  const MOST = 4; // frames that are made up for at once
  let running = null;
  let due = 0; // when the next frame is
  let second = { began: 0, frames: 0 };

  function tick(now) {
    running = requestAnimationFrame(tick);
    if (now - due > MOST * LENGTH) due = now;
    while (running && due <= now + LENGTH / 2) {
      due += LENGTH;
      second.frames += 1;
      frame();
    }
    const passed = now - second.began;
    if (passed < 1000) return;
    tell(Math.min(1, second.frames * LENGTH / passed));
    second = { began: now, frames: 0 };
  }

  return {
    get running() {
      return running !== null;
    },
    go(on) {
      cancelAnimationFrame(running);
      running = null;
      if (!on) return;
      due = performance.now();
      second = { began: due, frames: 0 };
      running = requestAnimationFrame(tick);
    },
  };
}

const newSeed = () => Math.floor(Math.random() * 2 ** 32);

// What to say of the speed of a game.
const paceIn = (share) => share > 0.9 ? "" :
  `This device is busy: the game runs at ${Math.round(100 * share)} % of its speed.`;

// Load the network, and say how far it is; return whether it is there.
async function loaded(tell) {
  try {
    await Agent.load((share) =>
      tell(`Loading the network: ${Math.round(100 * share)} % of 2.3 MB.`));
    tell("");
    return true;
  } catch {
    tell("The network could not be loaded. Try again?");
    return false;
  }
}

// A figure in which the agent plays: Play, Step and New game, for which the
// network is loaded. `show` draws the game, after each frame, and is told if it
// is running; `begin` makes a new one; `still` says whether the agent gets the newest picture four times.
function agentPlays(box, show, { begin = () => new AgentGame(newSeed()),
  still = () => false } = {}) {
  const controls = box.querySelector(".controls");
  controls.innerHTML = `<button type="button" class="play">Play</button>
    <button type="button">Step</button>
    <button type="button">New game</button>`;
  const [play, step, again] = controls.children;
  const says = box.querySelector(".stage > .says");
  const tell = (words) => (says.textContent = words);
  const time = clock(frame, (share) => tell(paceIn(share)));
  let game = begin();

  // Show what is there, with the network's answer if it has been loaded.
  function draw() {
    if (Agent.network) game.look({ still: still() });
    else tell("Play loads the network, 2.3 MB.");
    show(game, time.running);
  }

  // A step begins with its action, and ends with the answer to its picture.
  function frame() {
    if (game.decides) game.sample();
    game.frame();
    if (game.decides) game.look({ still: still() });
    show(game, time.running);
    if (game.breakout.lives) return;
    go(false);
    tell(`The game is over: ${game.breakout.score} points.`);
  }

  function finishStep() {
    while (!game.decides && game.breakout.lives) frame();
  }

  function restart() {
    game = begin();
    tell("");
    draw();
  }

  function go(on) {
    time.go(on);
    tell("");
    play.textContent = on ? "Pause" : "Play";
    if (on) return;
    finishStep();
    show(game, false);
  }

  // Load the network, if it isn't there, and then do something.
  async function ask(then = () => {}) {
    if (!Agent.network && !await loaded(tell)) return;
    if (!game.answer) draw();
    then();
  }

  play.addEventListener("click", () => ask(() => {
    if (!time.running && !game.breakout.lives) restart();
    go(!time.running);
  }));
  step.addEventListener("click", () => ask(() => {
    go(false);
    if (!game.breakout.lives) restart();
    frame();
    finishStep();
  }));
  again.addEventListener("click", () => ask(restart));
  whenUnseen(box, () => time.running && go(false));
  box.playing = () => game;
  draw();
  return { ask, draw, go };
}

// Show the four pictures that it was given, or would be.
function showPictures(cells, game) {
  const pictures = game.given ?? game.pictures;
  pictures.forEach((picture, i) => put(cells[i], picture));
}

// Show the network's answer, if there is one.
function showAnswer($in, answer) {
  if (!answer) return;
  $in(".value").textContent = answer.value.toFixed(1);
  showChances($in(".choices").children, answer.odds, {});
}

// Call `stop` when a figure isn't seen any more.
function whenUnseen(element, stop) {
  new IntersectionObserver((seen) => {
    if (!seen.at(-1).isIntersecting) stop();
  }).observe(element);
}

// Four pictures in one, in two rows, with a gap between them.
const GAP = 2;
const MOSAIC = 2 * SIZE + GAP;
function mosaic(pictures) {
  const all = new Uint8Array(MOSAIC ** 2);
  pictures.forEach((picture, i) => {
    const top = (SIZE + GAP) * Math.floor(i / 2);
    const left = (SIZE + GAP) * (i % 2);
    for (let row = 0; row < SIZE; row++) {
      const line = picture.subarray(row * SIZE, (row + 1) * SIZE);
      all.set(line, MOSAIC * (top + row) + left);
    }
  });
  return all;
}

// Best scores come back, as guesses do: of "you" and the "agent", and of each
// view.
function count(name, score) {
  if (score > (results[name]?.[0] ?? -1)) remember(name, score);
}
function showBest() {
  for (const output of document.querySelectorAll("[data-best]")) {
    output.textContent = results[output.dataset.best]?.[0] ?? "–";
  }
}
addEventListener("remembered", showBest);
showBest();
