// A part of an agent's game, on the first screen.
figure("film", async (box, $in) => {
  const SECONDS = 12, PACE = 15;
  const { screens, rgb } = await read("agent");
  const frames = await unpack(screens, WIDTH * HEIGHT);
  const colours = packed(rgb), [cell] = $in(".whole").children;
  film(box, (at) => {
    put(cell, frames[at - 1], { colours, part: [0, 2, WIDTH, 194] });
    return "";
  }, { count: SECONDS * PACE, pace: PACE, auto: true });
});
