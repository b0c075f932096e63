// The agent plays, game after game, and the reader may let it see nothing move.
// What it gains and loses is counted for both.
figure("away", (box, $in) => {
  const still = $in(".switch input");
  const colours = packed(COLORS);
  const screen = $in(".game > div");
  const given = $in(".given").children;
  const rows = $in("tbody").rows;
  const tallies = [{ points: 0, balls: 0 }, { points: 0, balls: 0 }];
  let isStill = false;
  let last = null; // the game, its score and its lives when they were counted

  function tally(game) {
    const { score, lives } = game.breakout;
    const now = tallies[Number(isStill)];
    if (last?.game === game) {
      now.points += score - last.score;
      now.balls += last.lives - lives;
    }
    last = { game, score, lives };
    tallies.forEach(({ points, balls }, i) => {
      rows[i].cells[1].textContent = points;
      rows[i].cells[2].textContent = balls;
      rows[i].classList.toggle("now", isStill === Boolean(i));
    });
  }

  function show(game) {
    tally(game);
    put(screen, screenOf(game.shown[1]), { colours });
    showPictures(given, game);
  }

  const player = agentPlays(box, show, {
    begin: () => new AgentGame(newSeed(), { hole: true }),
    still: () => still.checked, endless: true });
  still.addEventListener("change", () => {
    tally(box.playing());
    isStill = still.checked;
    player.draw();
  });
});
