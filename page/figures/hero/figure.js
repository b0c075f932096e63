// The first screen: a game that the agent plays, its pictures, and three lines,
// which say who plays and how well. It begins with scenes that play by
// themselves.
for (const begin of document.querySelectorAll("#hero .begin")) {
  begin.hidden = !calm; // there before the figure begins, so that Tab finds it
}
figure("hero", async (box, $in) => {
  const SCENE = 300; // frames before its motion is taken away
  const SAID = 100; // frames before the first words are followed by others
  const FROZEN = 45; // frames that a miss is shown for
  const COUNT = 40; // frames of each number that is counted down
  const TRAIL = 12; // places where the ball has been
  const KNOB = 16; // pixels a frame that a pointer moves the paddle's target
  const BUSY = 4; // ms of a screen for games that nobody sees,
  const FREE = 40; // and when the reader's is over
  const LINES = { it: "It plays. These four pictures are all it gets.",
    still: "It plays. All four are its newest picture." };
  const colours = packed(COLORS);
  const stage = $in(".stage");
  const board = $in(".court .whole").firstElementChild;
  const now = $in(".now .gray").firstElementChild;
  const older = [...$in(".older").children];
  const buttons = [...$in(".who").children];
  const says = $in(".says");
  const result = $in(".result");
  const begin = $in(".begin");
  const held = []; // arrow keys, the last one first
  const { lines } = Board;
  const { it, still, you } = lines;
  const { moment, serves } = await read("hero");
  const sent = sentIn(location.hash);
  const scene = new Line("it"); // no line of the board: its balls don't count
  scene.before = moment.breakout.score;
  scene.game = goesOn(moment);
  let shown = scene;
  let act = null; // what goes on, a frame after the other
  let next = calm ? null : scenes; // that begins when the network is there
  let isRunning = false; // unless it isn't seen
  let copies = 0; // older pictures that are copies of the newest
  let trail = [];
  let aim = null; // where the pointer is
  const time = clock(frame, draw);

  const isReaders = () => Board.playing === "you";
  const isTouched = matchMedia("(hover: none)").matches;
  const say = (words) => {
    if (says.textContent !== words) says.textContent = words;
  };
  const counted = (number, word) => `${number} ${word}${number === 1 ? "" : "s"}`;

  // What is seen

  function draw() {
    const { game } = shown;
    put(board, screenOf(game.shown[1]), { colours });
    const context = board.firstElementChild.getContext("2d");
    trail.forEach(({ x, y }, i) => {
      context.fillStyle = `rgb(255 180 160 / ${0.5 * i / TRAIL})`;
      context.fillRect(Math.floor(x), Math.floor(y), BALL.wide, BALL.high);
    });
    const newest = game.pictures.at(-1);
    drawPicture(now, newest);
    older.forEach((cell, i) => {
      const isCopy = i < copies || shown.who === "still";
      cell.classList.toggle("copy", isCopy);
      const picture = isCopy ? newest : game.pictures.at(-2 - i);
      drawPicture(cell.firstElementChild.firstElementChild, picture);
      cell.lastElementChild.textContent = isCopy ? "now, again" : `${i + 1} ago`;
    });
    if (isReaders() && time.running) playUnseen();
  }

  function drawPicture(cell, picture) {
    if (cell.shown === picture) return;
    cell.shown = picture;
    put(cell, picture);
  }

  // Put words over the screen that is looked at, at a place in its pixels.
  function putOver(words, kind, x, y, wide = 0) {
    const element = document.createElement("b");
    element.className = kind;
    element.textContent = words;
    element.style.cssText = `left:${100 * x / WIDTH}%;
      top:${100 * y / HEIGHT}%;min-width:${100 * wide / WIDTH}%`;
    $in(`${shown === you ? ".now" : ".court"} .over`).append(element);
    return element;
  }
  const clearOver = () => {
    for (const each of box.querySelectorAll(".over")) each.replaceChildren();
  };

  // The points of a brick that was hit rise from it, in its color.
  function floatUp(brick) {
    if (calm) return;
    const row = Math.floor(brick / WALL.columns);
    const x = COURT.left + WALL.wide * (brick % WALL.columns + 0.5);
    const points = putOver(`+${WALL.points[row]}`, "up", x,
      WALL.top + WALL.high * row);
    points.style.color = `rgb(${COLORS[WALL.colors[row]]})`;
    points.addEventListener("animationend", () => points.remove());
  }

  // Draw and measure the gap between the paddle and a ball that it has missed.
  function measured(state) {
    const { from, wide } = gapOf(state);
    if (wide < 1) return "Missed.";
    putOver(wide, "gap", from, COURT.floor, wide);
    return `Missed by ${wide} of ${WIDTH} pixels.`;
  }

  // The three lines say who plays, and how many points a whole ball has brought.
  function tell() {
    for (const button of buttons) {
      const { who, points, balls: count } = lines[button.value];
      const [, mean, note] = button.children;
      button.ariaPressed = String(who === Board.playing);
      if (!count) {
        if (who !== "you") note.textContent = "counts whole balls";
        continue;
      }
      mean.textContent = `${rounded(points, count)} a ball`;
      note.textContent = counted(count, "ball");
    }
  }

  function see(line) {
    shown = line;
    trail = [];
    clearOver();
  }

  // What goes on: each of these goes a frame on when it is asked to

  function* rest(frames) {
    for (let frame = 0; frame < frames; frame++) yield;
  }

  // Play a frame, and show what it has brought. A miss stops the game for a
  // moment.
  function* turn(line) {
    const { breakout } = line.game;
    const { bricks, ball } = breakout.state();
    const { balls: before } = line;
    line.frame(wanted(breakout));
    bricks.forEach((there, i) => there > breakout.bricks[i] && floatUp(i));
    trail = breakout.ball ? [...trail, { ...breakout.ball }].slice(-TRAIL) : [];
    yield;
    if (line.balls > before) tell();
    if (!passed(breakout.ball) || passed(ball)) return;
    say(measured(breakout));
    yield* rest(FROZEN);
    clearOver();
  }

  // The agent plays, game after game.
  function* plays(line) {
    say(LINES[line.who]);
    for (;;) {
      if (line.isOver) {
        yield* rest(FROZEN);
        line.again(newSeed());
      }
      const { balls: before } = line;
      yield* turn(line);
      if (line.balls > before) say(LINES[line.who]);
    }
  }

  // The agent plays; its motion is taken away and given back; the reader is
  // asked.
  function* scenes() {
    say(LINES.it);
    for (let frame = 0; frame < SCENE; frame++) {
      yield* turn(scene);
      if (frame === SAID) say("The ball is behind the wall.");
    }
    say("Now all four are the newest.");
    for (copies = 1; copies < older.length; copies++) yield* rest(12);
    yield* rest(FROZEN);

    Board.playing = "still";
    tell();
    say("A new wall, and a serve.");
    see(still);
    yield* rest(COUNT);
    while (!still.balls) yield* turn(still);
    copies = 0;

    Board.playing = "it";
    tell();
    say("The same serve, with its motion back.");
    see(it);
    yield* rest(COUNT);
    while (!it.game.breakout.hits && !it.balls) yield* turn(it);
    if (!it.balls) say("It hits.");
    for (let frame = 0; frame < SCENE / 4; frame++) yield* turn(it);
    say(sent ? `Your turn. Somebody got ${sent.got} a ball.` :
      isTouched ? "Your turn: tap the picture." :
        "Your turn: click the picture, or press ← or →.");
    buttons[2].classList.add("asks");
  }

  // The reader's game is counted down; after three balls it is compared.
  function* yours() {
    say(isTouched ? "Three balls. Slide a finger." :
      "Three balls. Move the mouse, or press ← or →.");
    for (const number of [3, 2, 1]) {
      clearOver();
      putOver(number, "count", WIDTH / 2, HEIGHT / 2);
      yield* rest(COUNT);
    }
    clearOver();
    while (!you.isOver) {
      const { length } = you.scores;
      yield* turn(you);
      if (you.scores.length === length) continue;
      const points = counted(you.scores.at(-1), "point");
      say(`Ball ${you.scores.length}: ${points}.`);
      yield* rest(COUNT);
    }
    stage.classList.remove("moved");
    result.hidden = false;
    // From the line that was pressed, the next buttons are behind.
    if (buttons[2].matches(":focus")) $in(".send").focus({ preventScroll: true });
    stage.classList.add("replays");
    const again = new Line("it");
    again.begin(Board.seed);
    see(again);
    while (unseen() || !again.isWhole) {
      compare();
      say("Three balls each, from the same serves.");
      if (again.isWhole) yield;
      else yield* turn(again);
    }
    compare();
  }

  // The agent's two games, from the same serves, go on while the reader plays.
  const unseen = () => Agent.network &&
    [still, it].find((line) => !line.isWhole);
  function playUnseen() {
    const until = performance.now() + (you.isOver ? FREE : BUSY);
    while (unseen() && performance.now() < until) unseen().frame();
  }

  function compare() {
    for (const line of [it, still, you]) {
      const scores = line.isWhole ? line.scores : [...line.scores, "still playing"];
      $in(`.result [data-who=${line.who}]`).textContent = scores.join(", ");
    }
    $in(".capped").hidden = ![it, still, you].some((line) => line.isCapped);
    tell();
  }

  // What the reader does

  function frame() {
    if (!act.next().done) return;
    act = null;
    halt();
  }

  function run(what) {
    act = what;
    isRunning = true;
    time.go(true);
  }

  function halt() {
    isRunning = false;
    time.go(false);
    draw();
  }

  function choose(who) {
    if (who === "you" && you.isOver) {
      Board.begin(serves[(serves.indexOf(Board.seed) + 1) % serves.length]);
    }
    buttons[2].classList.toggle("asks", who !== "you" && !you.balls);
    begin.hidden = true;
    result.hidden = true;
    copies = 0;
    aim = null;
    Board.playing = who;
    stage.classList.toggle("mine", isReaders());
    stage.classList.toggle("moved", isReaders());
    stage.classList.remove("replays");
    see(lines[who]);
    tell();
    stage.scrollIntoView({ block: "nearest" });
    next = isReaders() ? null : () => plays(lines[who]);
    if (isReaders()) run(yours());
    else if (Agent.network) run(next());
    else halt();
  }

  // The line that plays is paused by the same button, and goes on by it.
  function press(who) {
    const isSame = who === Board.playing && shown === lines[who] && act;
    if (!isSame || (who === "you" && you.isOver)) choose(who);
    else if (isRunning) halt();
    else if (who === "you") choose(who);
    else run(act);
  }

  // Which way the paddle should go: by a key, or to the pointer.
  function wanted({ target }) {
    if (held.length) return BUTTON * held[0];
    if (aim === null) return 0;
    const place = between(COURT.left, aim, PADDLE.most);
    return between(-KNOB, place - target, KNOB);
  }

  Board.chosen = choose;
  $in(".who").addEventListener("click", ({ target }) => {
    const button = target.closest("button");
    if (button) press(button.value);
  });
  // A press on the board ends the scenes, pauses, or accepts to play. One on the
  // picture that the reader would play in accepts, always.
  for (const pane of [board, now]) {
    pane.addEventListener("click", () => {
      const isAsked = pane === now || buttons[2].matches(".asks");
      if (!isReaders()) press(isAsked ? "you" : Board.playing);
    });
  }
  begin.addEventListener("click", () => {
    begin.hidden = true;
    next = scenes;
    if (Agent.network) run(next());
  });
  $in(".again").addEventListener("click", () => choose("you"));
  $in(".send").addEventListener("click", () => send(result));
  for (const event of ["pointermove", "pointerdown"]) {
    stage.addEventListener(event, ({ clientX, isPrimary }) => {
      if (!isPrimary) return;
      const { left, width } = now.getBoundingClientRect();
      aim = (clientX - left) * WIDTH / width - PADDLE.wide / 2;
    });
  }
  const isMoved = () => isReaders() && time.running && !you.isOver;
  addEventListener("keydown", (event) => {
    const [across] = arrowOf(event) ?? [0];
    if (!across || event.target.closest("input, .handle")) return;
    if (isSeen && buttons[2].matches(".asks")) choose("you");
    if (!isMoved()) return;
    event.preventDefault();
    aim = null;
    if (!held.includes(across)) held.unshift(across);
  });
  addEventListener("keyup", ({ key }) => {
    const across = ARROWS[key]?.[0];
    if (held.includes(across)) held.splice(held.indexOf(across), 1);
  });
  addEventListener("blur", () => held.splice(0));

  // It rests when it isn't seen. A ball of the reader's is counted down again.
  let isSeen = true;
  function look() {
    if (!isSeen || document.hidden) return time.go(false);
    if (!isRunning || time.running) return;
    if (isReaders() && !you.isOver) run(yours());
    else time.go(true);
  }
  new IntersectionObserver((seen) => {
    isSeen = seen.at(-1).isIntersecting;
    look();
  }).observe(box);
  document.addEventListener("visibilitychange", look);

  async function load() {
    try {
      await Agent.load();
      if (next && !act) run(next());
    } catch (error) {
      if (!(error instanceof Missing)) throw error;
      askAgain(box, load);
    }
  }

  if (sent) {
    $in(".sent").textContent =
      `Somebody got ${sent.got} a ball, seeing what it sees.`;
    $in(".sent").hidden = false;
  }
  Board.begin(sent?.serves ?? serves[0]);
  draw();
  if (Board.playing !== "it") choose(Board.playing);
  load();
});
