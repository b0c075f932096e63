// The agent plays, and the reader may let it see nothing move.
figure("still", (box, $in) => {
  const still = $in(".points input");
  const colours = packed(COLORS);
  const screen = $in(".game > div");
  const given = $in(".given").children;
  const points = { moving: 0, unmoved: 0 }; // made in each way
  let before = { game: null, score: 0 };

  function show(game) {
    put(screen, screenOf(game.shown[1]), { colours });
    showPictures(given, game);
    showAnswer($in, game.answer);
    const { score } = game.breakout;
    const made = game === before.game ? score - before.score : 0;
    points[still.checked ? "unmoved" : "moving"] += made;
    before = { game, score };
    $in(".moving").textContent = points.moving;
    $in(".unmoved").textContent = points.unmoved;
  }

  const player = agentPlays(box, show, { still: () => still.checked });
  still.addEventListener("change", player.draw);
});
