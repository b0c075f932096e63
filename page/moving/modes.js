// The same steps under the three modes, around a lost life.
(() => {
const { cells, film, list, modes, put } = shared;
const BEHIND = 3; // steps before the first one shown, for its stack
const three = $("modes-figure").querySelector(".three");
let played = null, first = null, lost = null;

const boxes = ["restart", "continue", "ignore"].map((name) => {
  const box = three.appendChild(document.createElement("div"));
  box.innerHTML = `<b><code>"${name}"</code></b><div class="screens"></div>
    <div class="four"></div><dl></dl><div></div>`;
  const [, screen, stack, facts, final] = box.children;
  return { screen: cells(screen, 1)[0], stack: cells(stack, 4), facts,
    final: cells(final, 1)[0] };
});

function show(at) {
  const now = played.map((steps) => steps[at - first]);
  const told = now.map(({ lives, reward, done, info, screen, stack }) =>
    ({ lives, reward, done, episode_info: info, screen, stack }));
  // Marked is what isn't as in the other two; all, if no two are alike.
  const marked = now.map(() => ({}));
  for (const what in told[0]) {
    const texts = told.map((one) => String(one[what]));
    texts.forEach((text, m) => {
      marked[m][what] = texts.indexOf(text) === texts.lastIndexOf(text);
    });
  }
  boxes.forEach((box, m) => {
    const { screen, stack, ...facts } = told[m], { final, colours } = now[m];
    const kind = (what) => marked[m][what] ? "kept" : "";
    put(box.screen, "the screen", screen, kind("screen"), colours);
    stack.forEach((picture, slot) =>
      put(box.stack[slot], `obs_4[${slot}]`, picture, kind("stack")));
    list(box.facts, facts, marked[m]);
    put(box.final, final ? "final_obs[3]" : "no final_obs", final?.[3]);
  });
  return tell(at, now);
}

function tell(at, [restart, goOn]) {
  if (at < lost) {
    return `Step ${at}: ${lost - at} before the lost life. All three are the ` +
      "same, to the last bit.";
  }
  if (at === lost) {
    return `Step ${at}: a lost life. Under "restart" and "continue" the step ` +
      `is done at frame ${restart.shown}: one starts over, the other goes on ` +
      `from its screen, four times. "ignore" plays all four frames.`;
  }
  return `Step ${at}: "restart" plays a new game with ${restart.lives} lives ` +
    `and no points, the other two the same game with ${goOn.lives} lives.`;
}

film($("modes-figure"), async () => {
  ({ played, first, lost } = await modes());
  window.modes = { first, played };
  return { count: played[0].length - BEHIND, first: first + BEHIND,
    start: lost - 2, pace: 3, marks: [{ at: lost, text: "lost life" }] };
}, show);
})();
