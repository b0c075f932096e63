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

// Best scores stay in this browser, if it lets them.
const KEPT = "breakout-annotated";
const best = keptScores();

function keptScores() {
  try {
    return JSON.parse(localStorage.getItem(KEPT)) ?? {};
  } catch {
    return {};
  }
}

// Count a score of "you" or the "agent", or of one of the views.
function count(name, score) {
  if (score <= (best[name] ?? -1)) return;
  best[name] = score;
  try {
    localStorage.setItem(KEPT, JSON.stringify(best));
  } catch {
    // It is known until the page is closed.
  }
  showBest();
}

function showBest() {
  for (const output of document.querySelectorAll("[data-best]")) {
    output.textContent = best[output.dataset.best] ?? "–";
  }
}
showBest();
