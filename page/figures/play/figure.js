// A Breakout that the reader plays as the agent sees it.
figure("play", (box, $in) => {
  const COLOR = 0, GRAY = 1, SLOW = 3, STILL = 4; // views
  const FRAMES = 4, KEYS = { ArrowLeft: -1, ArrowRight: 1, ArrowDown: 0 };
  const SPIN = 16; // pixels a frame, of the knob
  const cell = $in(".field").firstElementChild, field = $in(".field");
  const start = $in(".start"), buttons = $in(".buttons");
  const colours = packed(COLORS);
  const best = Array(5).fill(null), outputs = box.querySelectorAll(".views output");
  let game = new Breakout(Math.random), stage = COLOR, running = null;
  let aim = null, held = 0; // where the pointer is, which key is down
  let count = 0, move = 0, older = screenOf(game.state()), last = older;

  const gray = (screen) => screen.map((v) => SHADES[v]);

  function show() {
    const seen = { third: gray(older), fourth: gray(last) };
    if (stage === COLOR) put(cell, last, { colours });
    else if (stage === GRAY) put(cell, seen.fourth);
    else put(cell, shrunk(brighter(seen.third, seen.fourth), SIZE, true));
    Object.assign(box, seen);
  }

  // Which way the paddle should go: by its key or to the pointer.
  function wanted(fastest) {
    if (held || aim === null) return held * BUTTON;
    const off = aim - game.target;
    return Math.abs(off) < 2 ? 0 : Math.max(-fastest, Math.min(fastest, off));
  }

  function frame() {
    const decides = stage < SLOW || count % FRAMES === 0;
    if (decides && stage !== STILL) move = wanted(stage < SLOW ? SPIN : BUTTON);
    game.frame(move);
    count += 1;
    older = last;
    last = screenOf(game.state());
    if (stage < SLOW || count % FRAMES === 0) show();
    best[stage] = Math.max(best[stage], game.score);
    outputs[stage].value = best[stage];
    if (!game.lives) stop(`${game.score} points.`);
  }

  function step(way) {
    if (stage !== STILL) return;
    if (!game.lives) again();
    move = way * BUTTON;
    do frame(); while (count % FRAMES && game.lives);
    show();
  }

  function again() {
    game = new Breakout(Math.random);
    count = 0;
    older = last = screenOf(game.state());
  }

  function stop(words = "") {
    cancelAnimationFrame(running);
    running = null;
    start.textContent = game.lives ? "Play" : "Play again";
    $in(".says").textContent = words;
  }

  function go() {
    if (!game.lives) again();
    start.textContent = "Pause";
    $in(".says").textContent = "";
    let before = null;
    function tick(now) {
      running = requestAnimationFrame(tick);
      // As many frames as are due, but never a heap of them
      const due = Math.min(4, Math.round((now - (before ?? now)) * 0.06));
      if (due || before === null) before = now;
      for (let i = 0; i < due && running; i++) frame();
    }
    running = requestAnimationFrame(tick);
  }

  start.addEventListener("click", () => running ? stop() : go());
  $in(".views").addEventListener("change", ({ target }) => {
    stage = Number(target.value);
    again();
    buttons.hidden = stage !== STILL;
    start.hidden = stage === STILL;
    if (stage === STILL) stop("It waits for your button.");
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
    if (!running && stage !== STILL) go();
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
  new IntersectionObserver((seen) => {
    if (running && !seen.at(-1).isIntersecting) stop();
  }).observe(field);
  show();
});
