// Inside the network. The reader moves the ball or the paddle, and the
// pictures, the filters and the probabilities answer.

// What is shown first. The network's answer to it is recorded.
const firstGame = () => new AgentGame(12).warmUp(60);

figure("network", async (box, $in) => {
  const SIDE = 20; // of a filter's picture
  const COLUMNS = 4; // that they stand in
  const [REACH, STRIDE] = [8, 4]; // of a filter, in pixels of the pictures
  const HEAT = [255, 96, 64];
  const BRIGHTER = 1.6; // as small pictures are shown
  const NUDGE = 4; // pixels, by an arrow key
  const colours = packed(COLORS);
  const screen = $in(".held > div");
  const given = $in(".given").children;
  const filters = [...$in(".filters").children];
  const handles = { ball: $in(".handle.ball"), paddle: $in(".handle.paddle") };
  let chosen = 2; // which follows the ball
  let drag = null; // what is dragged, from where, and what was there
  let recorded = await read("filters");

  function show(game) {
    const [, state] = game.shown;
    put(screen, screenOf(state), { colours });
    place(handles.paddle, state.paddle + PADDLE.wide / 2, COURT.floor + 2);
    place(handles.ball, ...middle(state.ball));
    handles.ball.classList.toggle("gone", !state.ball);
    if (game.count % FRAMES) return;
    showPictures(given, game);
    showAnswer($in, game.answer);
    box.classList.toggle("answered", Boolean(game.answer));
    if (game.answer) showFilters(game);
  }

  const middle = (ball) => ball
    ? [ball.x + BALL.wide / 2, ball.y + BALL.high / 2] : [0, 0];

  // Put something to a place of the screen.
  function place(element, x, y) {
    element.style = `--x:${100 * x / WIDTH};--y:${100 * y / HEIGHT}`;
  }

  // How bright a filter is in each of its places, from 0 to 1.
  function shares(game, filter) {
    const start = (filters[filter].value - 1) * SIDE ** 2;
    const made = game.answer.shown?.[filter] ??
      game.answer.filters.subarray(start, start + SIDE ** 2);
    return Array.from(made, (value) => Math.min(1, Math.sqrt(2 * value)));
  }

  function showFilters(game) {
    const { ball } = game.shown[1];
    const [x, y] = middle(ball);
    filters.forEach((button, i) => {
      const ring = button.children[1];
      const bright = shares(game, i).map((share) => Math.round(255 * share));
      put(button, bright, { width: SIDE });
      ring.className = ball ? "" : "gone";
      ring.style = `--x:${inFilter(x * SIZE / WIDTH)};
        --y:${inFilter(y * SIZE / HEIGHT)}`;
      button.ariaPressed = String(i === chosen);
    });
    put($in(".over > div"), heated(game), { colours: null });
    const ring = $in(".over > i");
    ring.className = ball ? "" : "gone";
    place(ring, x, y);
  }

  // A pixel of the pictures as percent of a filter's picture, whose places are
  // the middles of its windows.
  const inFilter = (pixel) =>
    100 * ((pixel - REACH / 2) / STRIDE + 0.5) / SIDE;

  // The newest picture, and over it what the chosen filter makes of it.
  function heated(game) {
    const made = shares(game, chosen);
    const [newest] = game.given.slice(-1);
    return Uint32Array.from(newest, (shade, i) => {
      const gray = Math.min(255, Math.round(BRIGHTER * shade));
      const [x, y] = [i % SIZE, Math.floor(i / SIZE)].map((pixel) =>
        Math.floor((pixel - REACH / 2 + STRIDE / 2) / STRIDE));
      const there = x >= 0 && y >= 0 && x < SIDE && y < SIDE;
      const share = there ? made[SIDE * y + x] : 0;
      if (!share) return GRAYS[gray];
      const mixed = HEAT.map((heat) => share * heat + (1 - share) * gray);
      return packed([mixed])[0];
    });
  }

  function begin() {
    if (!recorded) return new AgentGame(newSeed()).warmUp(60);
    const game = firstGame();
    game.answer = recorded;
    game.given = game.pictures;
    recorded = null;
    return game;
  }

  const player = agentPlays(box, show, { begin });

  // One of them is a stop of Tab; the arrow keys go on from there.
  function choose(i) {
    chosen = i;
    filters.forEach((button, at) => (button.tabIndex = at === i ? 0 : -1));
    if (box.playing().answer) showFilters(box.playing());
  }
  filters.forEach((button, i) => {
    for (const event of ["pointerenter", "focus", "click"]) {
      button.addEventListener(event, () => choose(i));
    }
    button.addEventListener("keydown", (event) => {
      const arrow = ARROWS[event.key];
      if (!arrow) return;
      event.preventDefault();
      const next = i + arrow[0] + arrow[1] * COLUMNS;
      filters[next]?.focus();
    });
  });
  choose(chosen);

  // Move it so far from where it was.
  function move(what, across, down, before) {
    const game = box.playing();
    game.move(what, across, down, before);
    if (Agent.network) {
      player.draw();
      return;
    }
    game.answer = null;
    show(game);
  }

  for (const [what, handle] of Object.entries(handles)) {
    handle.addEventListener("pointerdown", ({ pointerId, clientX, clientY }) => {
      player.go(false);
      handle.setPointerCapture(pointerId);
      drag = { x: clientX, y: clientY, before: box.playing().pairs };
      player.ask();
    });
    handle.addEventListener("pointermove", ({ clientX, clientY }) => {
      if (!drag) return;
      const pixels = WIDTH / screen.clientWidth;
      move(what, (clientX - drag.x) * pixels, (clientY - drag.y) * pixels,
        drag.before);
    });
    for (const event of ["pointerup", "pointercancel"]) {
      handle.addEventListener(event, () => (drag = null));
    }
    handle.addEventListener("keydown", (event) => {
      const arrow = ARROWS[event.key];
      if (!arrow) return;
      event.preventDefault();
      player.go(false);
      move(what, ...arrow.map((way) => NUDGE * way));
      player.ask();
    });
  }
});
