// A part of an agent's game, on the first screen, and what the agent sees.
figure("film", async (box, $in) => {
  const SECONDS = 12, PACE = 15;
  const { screens, pictures, colours } = await played();
  const whole = $in(".whole").lastElementChild, four = $in(".four").children;
  film(box, (at) => {
    put(whole, screens[at - 1], { colours, part: [0, 2, WIDTH, 194] });
    for (const [i, cell] of [...four].entries()) put(cell, pictures[at - 1 + i]);
    return "";
  }, { count: SECONDS * PACE, pace: PACE, auto: true });
});
