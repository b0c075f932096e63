// One step: which of its frames the agent sees, and as what.
figure("step", async (box, $in) => {
  const frames = [...$in(".frames").children], stack = $in(".stack").children;
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

  const ticks = steps.flatMap(({ reward, done }, i) =>
    i && (reward || done) ? [i] : []);
  film(box, (at) => {
    const { action, played, reward, done, corner, stack: newest } = steps[at];
    const [x, y] = corner;
    $in(".action").textContent = ACTIONS[action];
    frames.forEach((cell, f) => put(cell, f < played ? screens[4 * at + f] : null,
      { label: `frame ${f + 1}`, kind: done ? "" : kinds[f], colours }));
    // A phone shows the part that is around the ball.
    $in(".frames").style = `--x:${-x * WIDTH / 12}px;--y:${-y * HEIGHT / 12}px`;
    $in(".into").classList.toggle("none", done);
    newest.forEach((i, slot) => put(stack[slot], pictures[i],
      { label: `obs_4[${slot}]`, kind: i === at ? "picture" : "" }));
    return `${tell(played, reward, done)} Reward ${reward}, ` +
      `done ${done ? "True" : "False"}.`;
  }, { count: steps.length - 1, start: 62, ticks,
    lost: ticks.filter((i) => steps[i].done) });
});
