// A Breakout that the reader plays as the agent sees it, and then the agent.
figure("play", (box, $in) => {
  const [COLOR, GRAY, SMALL, SLOW, FOUR, STILL] = [0, 1, 2, 3, 4, 5]; // views
  const KEYS = { ArrowLeft: -1, ArrowRight: 1, ArrowDown: 0 };
  const KNOB = 16; // pixels a frame that a pointer moves the paddle's target
  const field = $in(".field");
  const cell = field.firstElementChild;
  const start = $in(".start");
  const letIt = $in(".let");
  const buttons = $in(".buttons");
  const says = $in(".says");
  const colours = packed(COLORS);
  let view = COLOR;
  let byAgent = false; // who plays
  let game = newGame();
  let aim = null; // where the pointer is
  let held = 0; // which key is down
  let move = 0;
  const time = clock(frame, (share) => (says.textContent = paceIn(share)));

  function newGame() {
    return byAgent ? new AgentGame(newSeed()) :
      new SeenGame(newSeed(), { easy: true });
  }

  function show() {
    const [third, fourth] = game.shown;
    const [newest] = game.pictures.slice(-1);
    const kind = view < SMALL ? "" : "small";
    if (view === COLOR) put(cell, screenOf(fourth), { colours });
    else if (view === GRAY) put(cell, grayOf(fourth));
    else if (view === SMALL) put(cell, pictureOf([third, fourth]), { kind });
    else if (view === FOUR) put(cell, mosaic(game.pictures),
      { kind, width: MOSAIC });
    else put(cell, newest, { kind });
  }

  // Which way the paddle should go: by its key or to the pointer.
  function wanted() {
    if (held || aim === null) return held * BUTTON;
    const most = view < SLOW ? KNOB : BUTTON;
    const off = aim - game.breakout.target;
    return Math.abs(off) < 2 ? 0 : between(-most, off, most);
  }

  function frame() {
    if (byAgent) {
      game.play();
      showAnswer($in, game.answer);
    } else {
      const decides = view < SLOW || game.count % FRAMES === 0;
      if (decides && view !== STILL) move = wanted();
      game.frame(move);
    }
    if (view < SLOW || game.count % FRAMES === 0) show();
    score();
    if (!game.breakout.lives) end();
  }

  function score() {
    const points = game.breakout.score;
    $in(byAgent ? ".its" : ".mine").textContent = points;
    count(byAgent ? "agent" : "you", points);
    if (!byAgent) count(`view${view}`, points);
  }

  function end() {
    const [mine, its] = [".mine", ".its"].map((name) => $in(name).textContent);
    stop();
    says.textContent = byAgent
      ? `The agent made ${its} points, you made ${mine}.`
      : `You made ${mine} points. Now let the agent play.`;
  }

  function step(way) {
    if (view !== STILL || time.running) return;
    if (byAgent || !game.breakout.lives) begin(false);
    move = way * BUTTON;
    do frame(); while (game.count % FRAMES && game.breakout.lives);
    show();
  }

  function begin(agent) {
    byAgent = agent;
    $in(".network").hidden = !agent;
    game = newGame();
    says.textContent = "";
  }

  // What the buttons do next.
  function label() {
    const { lives } = game.breakout;
    const verb = time.running ? "Pause" : "Play";
    start.textContent = byAgent || lives ? verb : "Play again";
    if (byAgent) start.textContent = "Play";
    letIt.textContent = byAgent && time.running ? "Pause the agent" :
      "Let the agent play";
    letIt.classList.toggle("next", !byAgent && !lives);
  }

  function stop() {
    time.go(false);
    says.textContent = "";
    label();
  }

  function go(agent) {
    if (agent !== byAgent || !game.breakout.lives) begin(agent);
    time.go(true);
    label();
  }

  start.addEventListener("click", () => {
    if (time.running && !byAgent) stop();
    else go(false);
  });
  letIt.addEventListener("click", async () => {
    if (time.running) {
      const itPlayed = byAgent;
      stop();
      if (itPlayed) return;
    }
    letIt.disabled = true;
    const ready = await loaded((words) => (says.textContent = words));
    letIt.disabled = false;
    if (ready) go(true);
  });
  $in(".views").addEventListener("change", ({ target }) => {
    view = Number(target.value);
    buttons.hidden = view !== STILL;
    start.hidden = view === STILL;
    if (!byAgent) {
      begin(false);
      if (view === STILL) stop();
      label();
    }
    if (view === STILL) says.textContent = "It waits for your button.";
    show();
  });
  // After a click the arrow keys move the paddle, not the choice.
  $in(".views").addEventListener("click", ({ detail }) =>
    detail && field.focus({ preventScroll: true }));
  buttons.addEventListener("click", ({ target }) =>
    target.value && step(Number(target.value)));
  for (const event of ["pointermove", "pointerdown"]) {
    field.addEventListener(event, ({ clientX }) => {
      const { left, width } = field.getBoundingClientRect();
      aim = (clientX - left) * WIDTH / width - PADDLE.wide / 2;
    });
  }
  field.addEventListener("click", () => {
    if (!time.running && view !== STILL) go(false);
  });
  box.addEventListener("keydown", (event) => {
    const way = KEYS[event.key];
    if (way === undefined || event.target.type === "radio") return;
    event.preventDefault();
    aim = null;
    held = way;
    step(way);
  });
  box.addEventListener("keyup", ({ key }) => {
    if (KEYS[key] === held) held = 0;
  });
  box.addEventListener("focusout", () => (held = 0));
  whenUnseen(field, stop);
  box.playing = () => game;
  show();
});
