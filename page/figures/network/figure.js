// The reader moves the ball or the paddle, or turns the way of the ball, and the
// network answers.
figure("network", (box, $in) => {
  const NUDGE = 4; // pixels, by an arrow key
  const TURN = Math.PI / 12; // by an arrow key
  const FAR = 24; // pixels from the ball to the handle that turns its way
  const colours = packed(COLORS);
  const screen = $in(".held > div");
  const given = $in(".given").children;
  const handles = { ball: $in(".handle.ball"), paddle: $in(".handle.paddle") };
  const way = $in(".handle.way");
  let from = null; // where a drag began, and what was there

  function show(game) {
    const [, state] = game.shown;
    put(screen, screenOf(state), { colours });
    place(handles.paddle, state.paddle + PADDLE.wide / 2, COURT.floor + 2);
    for (const handle of [handles.ball, way]) {
      handle.classList.toggle("gone", !state.ball);
    }
    if (state.ball) {
      const [x, y] = middle(state.ball);
      const turned = angle(state.ball);
      place(handles.ball, x, y);
      place(way, x + FAR * Math.cos(turned), y + FAR * Math.sin(turned));
      way.style.setProperty("--turn", turned);
    }
    showPictures(given, game);
    showAnswer($in, game.answer);
  }

  const middle = ({ x, y }) => [x + BALL.wide / 2, y + BALL.high / 2];
  const angle = ({ vx, vy }) => Math.atan2(vy, vx);

  // Put something to a place of the screen.
  function place(element, x, y) {
    element.style.setProperty("--x", 100 * x / WIDTH);
    element.style.setProperty("--y", 100 * y / HEIGHT);
  }

  const player = agentPlays(box, show, {
    begin: () => new AgentGame(newSeed(), { hole: true }).warmUp(20) });

  // Change the game that stands still, and let the network answer.
  function change(how) {
    player.go(false);
    how(box.playing());
    player.draw();
    player.ask();
  }

  for (const [what, handle] of Object.entries(handles)) {
    drags(handle, ({ clientX, clientY }) => change((game) => {
      from = { x: clientX, y: clientY, pairs: game.pairs };
    }), ({ clientX, clientY }) => change((game) => {
      const pixels = WIDTH / screen.clientWidth;
      game.move(what, (clientX - from.x) * pixels, (clientY - from.y) * pixels,
        from.pairs);
    }));
    arrows(handle, (across, down) => change((game) =>
      game.move(what, NUDGE * across, NUDGE * down)));
  }
  drags(way, () => player.go(false), ({ clientX, clientY }) => change((game) => {
    const { left, top, width } = screen.getBoundingClientRect();
    const [x, y] = middle(game.shown[1].ball).map((at) => at * width / WIDTH);
    game.turn(Math.atan2(clientY - top - y, clientX - left - x));
  }));
  arrows(way, (across, down) => change((game) =>
    game.turn(angle(game.shown[1].ball) + TURN * (across + down))));
});
