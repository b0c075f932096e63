// One step, taken apart.
(() => {
const raw = cells($("raw"), 4), gray = cells($("gray"), 4);
const stack = cells($("stack"), 4);
const pictures = []; // each is made when it is first asked for
let recorded = null, screens = null, colours = null;

// The frames of a step that are looked at, in gray.
function kept(at) {
  const shown = recorded.steps[at][1], first = Math.min(2, shown - 1);
  return screens.slice(4 * at + first, 4 * at + shown)
    .map((screen) => screen.map((colour) => recorded.gray[colour]));
}

const picture = (at) =>
  (pictures[at] ??= shrink(kept(at).reduce(brighter)));

function show(at) {
  const step = recorded.steps[at], seen = kept(at);
  const [action, shown, reward, lives, done, [x, y], newest] = step;
  const first = shown - seen.length;
  raw.forEach((cell, f) => put(cell, `frame ${f + 1}`,
    f < shown ? screens[4 * at + f] : null, f < first ? "thrown" : "kept",
    colours));
  const close = (cell, label, pixels, kind) =>
    put(cell, label, pixels, kind, GRAYS, [x / 12, y / 12, 1 / 2]);
  close(gray[0], `frame ${first + 1}`, seen[0]);
  close(gray[1], "frame 4", seen[1]);
  close(gray[2], "the brighter", seen.reduce(brighter));
  close(gray[3], "84 × 84", picture(at), "kept");
  newest.forEach((i, slot) => close(stack[slot], `obs_4[${slot}]`, picture(i),
    i === at ? "kept" : ""));
  return `Step ${at}: ${ACTIONS[action]}, reward ${reward}, lives ${lives}, ` +
    `done ${done ? "True" : "False"}. ${tell(shown, reward, done)}`;
}

function tell(shown, reward, done) {
  if (done) {
    return `The ball is lost on frame ${shown}, and the step stops there. ` +
      "Its picture goes to game.final_obs. A new game has started: the stack " +
      "is its first screen, four times.";
  }
  if (reward) {
    return "A brick: the reward is the sum over the four frames, whichever " +
      "of them it came on.";
  }
  return "Of frames 3 and 4 the brighter pixels become obs_4[3]; the oldest " +
    "picture leaves the stack.";
}

film($("moving"), async () => {
  recorded = await read("recording");
  colours = packed(recorded.rgb);
  screens = await unpack(recorded.frames, WIDTH * HEIGHT);
  const places = recorded.steps.flatMap(([, , reward, , done], i) => [
    ...reward ? [{ at: i, text: "brick" }] : [],
    ...i && done ? [{ at: i, text: "lost ball" }] : [],
  ]);
  return { count: recorded.steps.length - 1, start: 62, places };
}, show);
})();
