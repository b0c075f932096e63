// One step, taken apart.
(() => {
const { ACTIONS, brighter, cells, film, list, put, recording } = shared;
const raw = cells($("raw"), 4), gray = cells($("gray"), 4);
const stack = cells($("stack"), 4);
let steps = null;

function show(at) {
  const step = steps[at - 1], { action, reward, lives, done } = step;
  const shown = step.frames.length, first = shown > 2 ? 2 : shown - 1;
  list($("told"), { action, reward, lives, done });
  raw.forEach((cell, f) => {
    const label = `frame ${f + 1}` + (f < shown ? "" : ": not played");
    const kind = f < first ? "thrown" : "kept";
    put(cell, label, step.frames[f], kind, step.colours);
  });
  const seen = step.grays.slice(first), [older, newer] = seen;
  put(gray[0], `frame ${first + 1}`, older);
  put(gray[1], newer ? "frame 4" : "none", newer);
  put(gray[2], newer ? "the brighter" : "alone", seen.reduce(brighter));
  put(gray[3], "84 × 84", step.picture, "kept");
  step.stack.forEach((picture, slot) => put(stack[slot], `obs_4[${slot}]`,
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
