// The agent plays, and the reader may let it see nothing move.
figure("still", (box, $in) => {
  const still = $in(".points input");
  const colours = packed(COLORS);
  const screen = $in(".game > div");
  const given = $in(".given").children;
  const hit = { moving: [], unmoved: [] }; // bricks, of each ball in each way
  let ball = null; // the one that flies

  function show(game) {
    put(screen, screenOf(game.shown[1]), { colours });
    showPictures(given, game);
    showAnswer($in, game.answer);
    countBricks(game);
    for (const [way, bricks] of Object.entries(hit)) {
      if (bricks.length) $in(`.${way}`).textContent = mean(bricks);
    }
    $in(".ball").textContent = ball.ways.size > 1 ?
      "This ball was played both ways, and doesn't count." :
      `This ball: ${ball.bricks}`;
  }

  // A ball counts when it is lost, if it was played in one way only.
  function countBricks(game) {
    const { score, lives } = game.breakout;
    if (ball?.game !== game) ball = newBall(game);
    if (score > ball.score) ball.bricks += 1;
    ball.score = score;
    if (lives < ball.lives) {
      const [way, other] = ball.ways;
      if (!other) hit[way].push(ball.bricks);
      ball = newBall(game);
    }
    if (!game.breakout.ball) ball.ways.clear();
    ball.ways.add(still.checked ? "unmoved" : "moving");
  }

  function newBall(game) {
    const { score, lives } = game.breakout;
    return { game, score, lives, bricks: 0, ways: new Set() };
  }

  const mean = (bricks) => {
    const sum = bricks.reduce((all, one) => all + one);
    const balls = bricks.length === 1 ? "1 ball" : `${bricks.length} balls`;
    return `${(sum / bricks.length).toFixed(1)} (${balls})`;
  };

  const player = agentPlays(box, show, { still: () => still.checked });
  still.addEventListener("change", player.draw);
});
