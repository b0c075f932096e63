// A part of an agent's game, on the first screen, and what the agent sees: the
// ball is about to get behind the wall.
figure("film", async (box, $in) => {
  const FIRST = 290, SECONDS = 12, PACE = 15;
  const { screens, pictures, colours } = await played();
  const whole = $in(".whole").firstElementChild, four = $in(".four").children;
  film(box, (at) => {
    const step = FIRST + at - 1;
    put(whole, screens[step], { colours, part: [0, 2, WIDTH, 194] });
    for (const [i, cell] of [...four].entries()) put(cell, pictures[step + i]);
    return "";
  }, { count: SECONDS * PACE, pace: PACE, auto: true });
});
