// A game by each of the weights that were kept in the course of one training.
figure("training", async (box, $in) => {
  const PACE = 15;
  const games = await read("training");
  const cells = $in(".games").children;
  for (const game of games) {
    game.shown = await unpack(game.screens, WIDTH * HEIGHT);
    game.colours = packed(game.rgb);
  }
  const labels = [...cells].map((cell) => cell.lastElementChild.textContent);
  film(box, (at) => {
    games.forEach(({ shown, colours }, i) =>
      put(cells[i], shown[at - 1], { colours, label: labels[i] }));
    return "";
  }, { count: games[0].shown.length, pace: PACE,
    name: (at) => `${(at / PACE).toFixed(1)} s` });
});
