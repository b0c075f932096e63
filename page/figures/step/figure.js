// One step: which of its frames the agent sees, and as what.
figure("step", async (box, $in) => {
  const SLIDE = 120; // milliseconds
  const frames = [...$in(".frames").children], stack = $in(".stack").children;
  const [gone] = $in(".gone").children;
  const kinds = ["thrown", "thrown", "third", "fourth"];
  const { steps, screens, colours, pictures } = await recording();

  function tell(played, reward, done) {
    if (done) {
      return `The ball is lost on frame ${played}. That frame, four times, ` +
        "begins the next episode.";
    }
    if (reward) return "A brick: the reward is the sum over the four frames.";
    return "Frames 3 and 4 become the newest picture; the oldest one leaves.";
  }

  // All pictures come from where they stood in the step before.
  function slide() {
    const from = stack[1].offsetLeft - stack[0].offsetLeft;
    for (const cell of [gone, ...stack]) {
      cell.animate([{ translate: `${from}px` }, { translate: 0 }], SLIDE);
    }
  }

  let shown = null; // the step that was drawn last
  const ticks = steps.flatMap(({ reward, done }, i) =>
    i && (reward || done) ? [i] : []);
  film(box, (at) => {
    const { action, played, reward, done, stack: newest } = steps[at];
    $in(".action").textContent = ACTIONS[action];
    frames.forEach((cell, f) => put(cell, f < played ? screens[4 * at + f] : null,
      { label: `frame ${f + 1}`, kind: done ? "" : kinds[f], colours }));
    $in(".into").classList.toggle("none", done);
    newest.forEach((i, slot) => put(stack[slot], pictures[i],
      { label: `obs_4[${slot}]`, kind: i === at ? "picture" : "" }));
    put(gone, done ? null : pictures[steps[at - 1].stack[0]], { label: "gone" });
    if (at === shown + 1 && !done && !calm) slide();
    shown = at;
    return `${tell(played, reward, done)} Reward ${reward}, ` +
      `done ${done ? "True" : "False"}.`;
  }, { count: steps.length - 1, start: 62, ticks,
    lost: ticks.filter((i) => steps[i].done) });
});
