// The agent plays, and the reader may let it see nothing move.
figure("still", (box, $in) => {
  const still = $in(".stage input");
  const colours = packed(COLORS);
  const screen = $in(".game > div");
  const given = $in(".given").children;

  function show(game) {
    put(screen, screenOf(game.shown[1]), { colours });
    showPictures(given, game);
    showAnswer($in, game.answer);
  }

  const player = agentPlays(box, show, { still: () => still.checked });
  still.addEventListener("change", player.draw);
});
