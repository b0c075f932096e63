// What the figures share in which something is played live.

// Call `frame` 60 times a second, or `speed` times as often, as long as it runs,
// and `draw` once for each screen. Where that can't be done `frame` is called
// less often, and `tell` gets the share of the speed that is reached, once.
function clock(frame, draw, tell = () => {}) {
  const LENGTH = 1000 / 60; // ms
  const MOST = 4; // screens whose frames are made up for at once
  const SLICE = 12; // ms of a screen for a game as fast as it goes
  let running = null;
  let speed = 1;
  let due = 0; // when the next frame is
  let second = null;
  let isTold = false;

  function tick(now) {
    running = requestAnimationFrame(tick);
    const length = LENGTH / speed;
    const until = performance.now() + SLICE;
    if (now - due > MOST * LENGTH) due = now;
    const isDue = () => length ? due <= now + length / 2 :
      performance.now() < until;
    while (running && isDue()) {
      due += length;
      second.frames += 1;
      frame();
    }
    draw();
    if (now - second.began < 1000) return;
    const share = second.frames * length / (now - second.began);
    if (length && share < 0.9 && !isTold) {
      isTold = true;
      tell(share);
    }
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
    at(times) {
      speed = times;
      isTold = false;
      second = { began: performance.now(), frames: 0 };
    },
  };
}

const newSeed = () => Math.floor(Math.random() * 2 ** 32);

// What to say of the speed of a game.
const paceIn = (share) =>
  `This device is busy: the game runs at ${Math.round(100 * share)} % of that speed.`;

// Load the network, and say so; return whether it is there. How far it is is
// for the eye: nobody wants to hear it eight times.
async function loaded(says) {
  const percent = document.createElement("span");
  percent.ariaHidden = "true";
  says.replaceChildren("Loading the network, 2.3 MB. ", percent);
  try {
    await Agent.load((share) => {
      percent.textContent = `${Math.round(100 * share)} %`;
    });
    says.textContent = "";
    return true;
  } catch (error) {
    if (!(error instanceof Missing)) throw error;
    says.textContent =
      "A part of the network didn't arrive. Press again to ask again.";
    return false;
  }
}

// The controls of a game that the agent plays, at several speeds or in steps.
// They are there before the figure begins, so that Tab finds them.
for (const controls of document.querySelectorAll(".controls.plays")) {
  controls.innerHTML = `<button type="button" class="play"></button>` +
    (controls.matches(".fast") ? `<span role="group" aria-label="Speed">
      <button type="button" value="1" aria-pressed="false">×1</button>
      <button type="button" value="4" aria-pressed="true">×4</button>
      <button type="button" value="Infinity" aria-pressed="false"
      title="As fast as it goes">max</button></span>` :
      `<button type="button">Step</button>
      <button type="button">New game</button>`);
  controls.firstElementChild.textContent = controls.dataset.play;
}

// A figure in which the agent plays, for which the network is loaded. `show`
// draws the game and is told if it is running; `begin` makes a new one, which,
// if it is `endless`, follows by itself; `still` says whether the agent gets the
// newest picture four times.
function agentPlays(box, show, { begin = () => new AgentGame(newSeed()),
  still = () => false, over = () => "", endless = false } = {}) {
  const controls = box.querySelector(".controls.plays");
  const says = box.querySelector(".tells");
  const [play, ...others] = controls.querySelectorAll("button");
  const tell = (words) => (says.textContent = words);
  const time = clock(frame, () => show(game, time.running),
    (share) => tell(paceIn(share)));
  let game = begin();
  let isAsking = false;
  let wish = null;

  // Show what is there, with the network's answer if it has been loaded.
  function draw() {
    if (Agent.network) game.look({ still: still() });
    show(game, time.running);
  }

  // A step begins with its action, and ends with the answer to its picture.
  function frame() {
    if (game.decides) game.sample();
    game.frame();
    if (game.decides) game.look({ still: still() });
    if (game.breakout.lives) return;
    if (endless) {
      show(game, true);
      restart();
    } else {
      go(false);
      tell(over(game) || `The game is over, with a score of ${game.breakout.score}.`);
    }
  }

  function finishStep() {
    while (!game.decides && game.breakout.lives) frame();
  }

  function restart() {
    game = begin();
    draw();
  }

  function go(on) {
    const hasRun = time.running;
    time.go(on);
    tell("");
    play.textContent = on ? "Pause" : controls.dataset.play;
    if (on || !hasRun) return;
    finishStep();
    show(game, false);
  }

  // Load the network, if it isn't there, and then do what was asked for last.
  // The button keeps the focus meanwhile.
  async function ask(then = () => {}) {
    wish = then;
    if (isAsking) return;
    isAsking = true;
    const isThere = Agent.network || await loaded(says);
    isAsking = false;
    if (!isThere) return;
    if (!game.answer) draw();
    wish();
  }

  play.addEventListener("click", () => ask(() => {
    if (!time.running && !game.breakout.lives) restart();
    go(!time.running);
  }));
  if (controls.matches(".fast")) {
    time.at(4);
    for (const speed of others) {
      speed.addEventListener("click", () => {
        time.at(Number(speed.value));
        for (const one of others) one.ariaPressed = String(one === speed);
        tell("");
      });
    }
  } else {
    const [step, again] = others;
    step.addEventListener("click", () => ask(() => {
      go(false);
      if (!game.breakout.lives) restart();
      frame();
      finishStep();
      show(game, false);
    }));
    again.addEventListener("click", () => ask(() => {
      tell("");
      restart();
    }));
  }
  whenUnseen(box, () => time.running && go(false));
  box.playing = () => game;
  draw();
  return { ask, draw, go, restart };
}

// Show the four pictures that it was given, or would be.
function showPictures(cells, game) {
  const pictures = game.given ?? game.pictures;
  pictures.forEach((picture, i) => {
    if (cells[i].shown === picture) return;
    cells[i].shown = picture;
    put(cells[i], picture);
  });
}

// Show the network's answer, if there is one.
function showAnswer($in, answer) {
  if (!answer) return;
  $in(".value").textContent = answer.value.toFixed(1).replace("-", "\u2212");
  showChances($in(".choices").children, answer.odds, {});
}

// Call `stop` when a figure isn't seen any more.
function whenUnseen(element, stop) {
  new IntersectionObserver((seen) => {
    if (!seen.at(-1).isIntersecting) stop();
  }).observe(element);
}
