// One step, taken apart.
(() => {
const { ACTIONS, HEIGHT, WHOLE, WIDTH, ballOf, brighter, cells, film, list,
  put, recording } = shared;
const NEAR = 1 / 2; // of the screen, across and down
const raw = cells($("raw"), 4), gray = cells($("gray"), 4);
const stack = cells($("stack"), 4);
let steps = null;

// The part around the ball, which moves on by twelfths of the screen. While
// the ball is among the bricks it stays; where there is none it is the whole.
function near(i) {
  if (!i || steps[i].done) return WHOLE;
  const ball = ballOf(steps[i].screen);
  if (!ball) return near(i - 1);
  const start = (share) => Math.round(12 *
    Math.max(0, Math.min(1 - NEAR, share - NEAR / 2))) / 12;
  return [start(ball[0] / WIDTH), start(ball[1] / HEIGHT), NEAR];
}

function show(at) {
  const part = near(at - 1);
  const close = (cell, label, pixels, kind) =>
    put(cell, label, pixels, kind, undefined, part);
  const step = steps[at - 1], { action, reward, lives, done } = step;
  const shown = step.frames.length, first = shown > 2 ? 2 : shown - 1;
  list($("told"), { action, reward, lives, done });
  raw.forEach((cell, f) => {
    const label = `frame ${f + 1}` + (f < shown ? "" : ": not played");
    const kind = f < first ? "thrown" : "kept";
    put(cell, label, step.frames[f], kind, step.colours);
  });
  const seen = step.grays.slice(first), [older, newer] = seen;
  close(gray[0], `frame ${first + 1}`, older);
  close(gray[1], newer ? "frame 4" : "none", newer);
  close(gray[2], newer ? "the brighter" : "alone", seen.reduce(brighter));
  close(gray[3], "84 × 84", step.picture, "kept");
  step.stack.forEach((picture, slot) => close(stack[slot], `obs_4[${slot}]`,
    picture, slot === 3 && !done ? "kept" : ""));
  return tell(step, at);
}

function tell({ action, reward, done, frames, stack }, at) {
  const held = `Step ${at}, ${ACTIONS[action]}: `;
  if (done) {
    return `${held}the ball is lost on frame ${frames.length}, and the step ` +
      "stops there: done. Its picture goes to game.final_obs. A new game has " +
      "started: the stack is its first screen, four times.";
  }
  const old = stack.filter((picture) => picture === stack[0]).length;
  if (old > 1) {
    return `${held}${old} of the four pictures in the stack are still the ` +
      "first screen of the new episode.";
  }
  if (reward) {
    return `${held}a brick. The reward, ${reward}, is the sum over the four ` +
      "frames, whichever of them it came on.";
  }
  return `${held}of frames 3 and 4 the brighter pixels become obs_4[3]; the ` +
    `picture of step ${at - 4} leaves the stack.`;
}

film($("moving"), async () => {
  steps = await recording();
  window.moving = { steps, stack: (i) => steps[i].stack };
  const marks = steps.flatMap(({ reward, done }, i) => [
    ...reward ? [{ at: i + 1, text: "brick" }] : [],
    ...done ? [{ at: i + 1, text: "lost ball" }] : [],
  ]);
  return { count: steps.length, start: 26, marks }; // shortly before a brick
}, show);
})();
