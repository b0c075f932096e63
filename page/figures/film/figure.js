// A part of an agent's game, on the first screen, and what the agent sees.
figure("film", async (box, $in) => {
  const SECONDS = 12, PACE = 15;
  const { screens, frames, rgb } = await read("agent");
  const shown = await unpack(screens, WIDTH * HEIGHT);
  const pictures = await unpack(frames, SIZE ** 2);
  const colours = packed(rgb), whole = $in(".whole").lastElementChild;
  const four = $in(".four").children;
  film(box, (at) => {
    put(whole, shown[at - 1], { colours, part: [0, 2, WIDTH, 194] });
    for (const [i, cell] of [...four].entries()) put(cell, pictures[at - 1 + i]);
    return "";
  }, { count: SECONDS * PACE, pace: PACE, auto: true });
});
