// One step, frame by frame: which of its frames the agent sees, and as what.
figure("step", async (box, $in) => {
  const BUTTONS = ["no button", "FIRE", "RIGHT", "LEFT"];
  const KINDS = ["thrown", "thrown", "third", "fourth"];
  const SHOWN = 4; // pictures, so that the first steps are seen in them alone
  const frames = $in(".frames").children, stack = $in(".stack").children;
  const data = await read("moment"), colours = packed(data.rgb);
  const screens = await unpack(data.frames, WIDTH * HEIGHT);
  const gray = (at) => screens[at].map((v) => data.gray[v]);
  const pictures = data.actions.map((_, i) =>
    shrunk(brighter(gray(4 * i + 2), gray(4 * i + 3)), SIZE, true));

  film(box, (at) => {
    const now = 4 * SHOWN + at - 1, step = Math.floor(now / 4), last = now % 4;
    $in(".action").textContent = BUTTONS[data.actions[step]];
    KINDS.forEach((kind, f) => put(frames[f],
      f > last ? null : screens[4 * step + f],
      { label: `frame ${f + 1}`, kind, colours }));
    const isOver = last === 3;
    const seen = pictures.slice(0, isOver ? step + 1 : step).slice(-4);
    seen.forEach((picture, i) => put(stack[i], picture,
      { label: ["oldest", "", "", "newest"][i],
        kind: isOver && i === 3 ? "picture" : "" }));
  }, { count: screens.length - 4 * SHOWN, pace: 6,
    start: 4 * (data.asked - data.first - SHOWN + 1) });
});
