// A Breakout that the reader plays, as the agent sees it, beside the agent. Both
// get the same serves.
figure("play", (box, $in) => {
  const COLOR = 0; // of the three views
  const SLOW = 1;
  const KEYS = { ArrowLeft: -1, ArrowRight: 1 };
  const STARTS = ["Enter", " ", ...Object.keys(KEYS)];
  const KNOB = 16; // pixels a frame that a pointer moves the paddle's target
  const field = $in(".field");
  const cell = field.firstElementChild;
  const start = $in(".start");
  const says = $in(".yours + .says");
  const [mine, its] = box.querySelectorAll(".points");
  const colours = packed(COLORS);
  const held = []; // keys, the last one first
  let view = COLOR;
  let seed = newSeed();
  let game = null;
  let aim = null; // where the pointer is
  let move = 0;
  const time = clock(frame, show, (share) => (says.textContent = paceIn(share)));

  const options = () => ({ easy: true, hole: Boolean($in("[value=hole]:checked")) });

  function begin() {
    game = new SeenGame(seed, options());
    says.textContent = "";
    show();
  }

  function show() {
    const decides = view === COLOR || game.count % FRAMES === 0;
    mine.textContent = game.breakout.score;
    if (!decides) return;
    const [newest] = game.pictures.slice(-1);
    if (view === COLOR) put(cell, screenOf(game.shown[1]), { colours });
    else if (view === SLOW) put(cell, newest, { kind: "small" });
    else put(cell, mosaic(game.pictures), { kind: "small", width: MOSAIC });
  }

  // Which way the paddle should go: by its key or to the pointer.
  function wanted() {
    if (held.length || aim === null) return (KEYS[held[0]] ?? 0) * BUTTON;
    const most = view === COLOR ? KNOB : BUTTON;
    const off = aim - game.breakout.target;
    return Math.abs(off) < 2 ? 0 : between(-most, off, most);
  }

  function frame() {
    if (view === COLOR || game.count % FRAMES === 0) move = wanted();
    game.frame(move);
    const { score, lives } = game.breakout;
    count("you", score);
    count(`view${view}`, score);
    if (lives) return;
    go(false);
    says.textContent = `You scored ${score}.`;
    start.textContent = "Play again";
  }

  function go(on) {
    if (on && !game.breakout.lives) {
      seed = newSeed();
      begin();
    }
    time.go(on);
    says.textContent = "";
    start.textContent = on ? "Pause" : "Play";
    field.classList.toggle("waits", !on);
  }

  begin();
  const agent = agentPlays(box, (its_) => {
    put($in(".game > div"), screenOf(its_.shown[1]), { colours });
    its.textContent = its_.breakout.score;
    count("agent", its_.breakout.score);
  }, { begin: () => new AgentGame(seed, options()),
    over: ({ breakout }) => `It scored ${breakout.score}.` });

  start.addEventListener("click", () => go(!time.running));
  $in(".views").addEventListener("change", ({ target }) => {
    view = Number(target.value);
    go(false);
    begin();
  });
  $in(".starts").addEventListener("change", () => {
    go(false);
    agent.go(false);
    begin();
    agent.restart();
  });
  for (const event of ["pointermove", "pointerdown"]) {
    field.addEventListener(event, ({ clientX, isPrimary }) => {
      if (!isPrimary) return;
      const { left, width } = field.getBoundingClientRect();
      aim = (clientX - left) * WIDTH / width - PADDLE.wide / 2;
    });
  }
  field.addEventListener("click", () => !time.running && go(true));
  // Arrows move the paddle wherever the focus is, but among choices.
  box.addEventListener("keydown", (event) => {
    const { key, target, altKey, ctrlKey, metaKey } = event;
    if (altKey || ctrlKey || metaKey || target.type === "radio") return;
    const begins = target === field && !time.running && STARTS.includes(key);
    if (begins) go(true);
    if (!begins && !(time.running && key in KEYS)) return;
    event.preventDefault();
    if (!(key in KEYS)) return;
    aim = null;
    if (!held.includes(key)) held.unshift(key);
  });
  addEventListener("keyup", ({ key }) => {
    if (held.includes(key)) held.splice(held.indexOf(key), 1);
  });
  box.addEventListener("focusout", () => held.splice(0));
  whenUnseen(field, () => time.running && go(false));
  box.mine = () => game;
});
