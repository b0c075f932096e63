// One step: which of its frames the agent sees, and as what.
figure("step", async (box, $in) => {
  const KINDS = ["thrown", "thrown", "third", "fourth"];
  const NAMES = ["oldest", "", "", "newest"];
  const frames = [...$in(".frames").children], stack = $in(".stack").children;
  const [gone] = $in(".gone").children;
  const { first, asked, screens, colours } = await moment();
  const { pictures, decisions } = await played();

  const rewards = screens.slice(0, screens.length / 4)
    .map((_, i) => decisions[first + i - 1].reward);
  film(box, (at) => {
    const now = first + at - 1, { action, reward } = decisions[now - 1];
    $in(".action").textContent = ACTIONS[action];
    frames.forEach((cell, f) => put(cell, screens[4 * (at - 1) + f],
      { label: `frame ${f + 1}`, kind: KINDS[f], colours }));
    [...stack].forEach((cell, slot) => put(cell, pictures[now + slot],
      { label: NAMES[slot], kind: slot === 3 ? "picture" : "" }));
    put(gone, pictures[now - 1], { label: "gone" });
    return reward ? "A brick: the step's reward is the sum over its frames." :
      "Frames 3 and 4 become the newest picture; the oldest one leaves.";
  }, { count: rewards.length, start: asked - first + 1, pace: 3,
    ticks: rewards.flatMap((reward, i) => reward ? [i + 1] : []),
    name: (at) => `step ${first + at - 1}` });
});
