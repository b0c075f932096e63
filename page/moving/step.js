// One step, taken apart.
(() => {
const figure = $("moving");
const { ACTIONS, GRAYS, HEIGHT, SIZE, WHOLE, WIDTH, ballOf, cells, paint, put,
  stackOf } = shared;
const NEAR = 1 / 3; // of the screen, across and down
const AMONG_BRICKS = 4; // steps at most

const raw = cells($("raw"), 4, WIDTH, HEIGHT);
const middle = [...cells($("gray"), 3, WIDTH, HEIGHT),
  ...cells($("gray"), 1, 2 * SIZE, 2 * SIZE)];
const stack = cells($("stack"), 4, 2 * SIZE, 2 * SIZE);
let steps = null;

// The part of the screen around the ball, which moves on when the ball has
// gone a quarter of it. While the ball is among the bricks it stays where it
// was, and without a ball it is the whole screen.
function viewOf(i) {
  for (let j = i; j > steps[i].before && j > i - AMONG_BRICKS; j--) {
    const ball = !steps[i].done && ballOf(steps[j].frames.at(-1));
    const start = (v, size) => Math.min(1 - NEAR,
      Math.max(0, Math.round((v / size - NEAR / 2) * 12) / 12));
    if (ball) {
      return [start(ball.x, WIDTH), start(ball.y, HEIGHT), NEAR, NEAR];
    }
  }
  return WHOLE;
}

function frameWhere(step, [x, y, w, h]) {
  paint($("where"), step.frames.at(-1), WIDTH, step.colours, WHOLE);
  const pen = $("where").getContext("2d");
  pen.strokeStyle = "#fff";
  pen.lineWidth = 2;
  pen.strokeRect(x * WIDTH, y * HEIGHT, w * WIDTH, h * HEIGHT);
}

function show(at) {
  const i = at - 1, step = steps[i], view = viewOf(i);
  const shown = step.frames.length, early = shown < 3;
  $("action").textContent = ACTIONS[step.action];
  $("reward").textContent = step.reward;
  $("lives").textContent = step.lives;
  $("done").textContent = step.done ? "True" : "False";
  frameWhere(step, view);
  const counts = (f) => f >= 2 ? shown > f : early && f === shown - 1;
  raw.forEach((cell, f) => {
    const label = `frame ${f + 1}` + (f < shown ? "" : ": not played");
    put(cell, label, counts(f) ? "kept" : "thrown", step.frames[f], WIDTH,
      step.colours, view);
  });
  const names = early ? [`frame ${shown}`, "–"] : ["frame 3", "frame 4"];
  names.forEach((name, n) =>
    put(middle[n], name, "", step.kept()[n], WIDTH, GRAYS, view));
  const brighter = early ? "alone" : "the brighter";
  put(middle[2], brighter, "", step.brighter(), WIDTH, GRAYS, view);
  put(middle[3], "84 × 84", "kept", step.picture(), SIZE, GRAYS, view);
  stackOf(steps, i).forEach((picture, slot) => {
    const fresh = slot === 3 && !step.done;
    const age = fresh ? ", the newest" : slot ? "" : ", the oldest";
    put(stack[slot], `obs_4[${slot}]${step.done ? "" : age}`,
      fresh ? "kept" : "", picture, SIZE, GRAYS, view);
  });
  return tell(step, i);
}

function tell(step, i) {
  const shown = step.frames.length, at = i + 1, age = i - step.before;
  if (step.done) {
    return `Step ${at}: the ball is lost on frame ${shown}, and the step ` +
      "stops there: done. Its picture goes to game.final_obs. The game has " +
      "started over already: the stack is its first screen, four times.";
  }
  const held = `Step ${at}: ${ACTIONS[step.action]} is held. `;
  if (age < 4) {
    return `${held}In the stack, ${4 - age} of four pictures are still the ` +
      "first screen of the new episode.";
  }
  if (step.reward) {
    return `${held}A brick: the reward, ${step.reward}, is the sum over the ` +
      "four frames, whichever of them it came on.";
  }
  return `${held}Of frames 3 and 4 the brighter pixels become obs_4[3]; the ` +
    `picture of step ${at - 4} leaves the stack.`;
}

const eventful = new Set();
async function prepare() {
  steps = await shared.recording();
  window.moving = { steps, stack: (i) => stackOf(steps, i) };
  const marks = [];
  steps.forEach(({ reward, done }, i) => {
    if (reward) marks.push({ at: i + 1, text: "brick", kind: "brick" });
    if (!done) return;
    marks.push({ at: i + 1, text: "lost ball", kind: "end" });
    marks.push({ at: i + 2, text: "new episode", kind: "end" });
  });
  for (const { at } of marks) eventful.add(at);
  return { count: steps.length, start: 26, marks }; // shortly before a brick
}

shared.film(figure, {
  prepare, show, hold: (at) => eventful.has(at) ? 12 : 1,
});
})();
