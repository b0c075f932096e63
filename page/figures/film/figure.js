// The end of an agent's game, on the first screen.
figure("film", async (box, $in) => {
  const SECONDS = 20, PACE = 15;
  const { screens, rgb } = await read("agent");
  const frames = await unpack(screens, WIDTH * HEIGHT);
  const colours = packed(rgb), [cell] = $in(".whole").children;
  const count = SECONDS * PACE, first = frames.length - count;
  film(box, (at) => {
    put(cell, frames[first + at - 1], { colours, part: [0, 2, WIDTH, 194] });
    return "";
  }, { count, pace: PACE, auto: true });
});
