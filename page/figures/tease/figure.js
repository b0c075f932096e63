// The first screen: the agent plays, and the reader drops balls that are in its
// pictures alone, to take its five. Then he plays himself, and the page drops
// them.
const { Agent, AgentGame, Column, clock, screenOf, send, sentIn, BALL, BUTTON,
  COLORS, COURT, DROPS, LONGEST, PADDLE, WALL } = window.Live;

figure("tease", async (box, $in) => {
  const OPENS = 55; // frames before the page's hand comes
  const TURNS = 155; // frames before it goes to the other side
  const LEFT = 14;
  const RIGHT = 146;
  const STANDS = 36; // frames that a miss is shown for
  const RESTS = 100; // frames before a new game
  const CROSSES = 30; // frames of a pointer that may only be passing by
  const COLUMN = 27; // frames in which five balls fall
  const TRAIL = 12; // places where the ball has been
  const ACROSS = 4; // pixels a frame, by an arrow key
  const KNOB = 16; // pixels a frame that a pointer moves the paddle's target
  const READY = 3; // that is counted down from, before the reader's ball comes
  const COUNTS = 40; // frames of each
  const SERVED = 120; // the height at which it comes
  const LEAST = 600; // frames that the reader has to keep it for
  const MOST = 1800;
  const BALLS = 5;
  const POPOVER = CSS.supports("selector(:popover-open)");
  const ABOVE = 70; // pixels of the window, from a finger to the hand
  const IT_RUNS = "These balls aren’t there. It runs anyway.";
  const isTouched = matchMedia("(hover: none)").matches;
  const INVITES = isTouched ? "Your turn: slide a finger over the game." :
    "Your turn: point at the game.";
  const colors = packed(COLORS);
  const board = $("board");
  const [whole, over] = board.children;
  const gets = [...$in(".gets").children].map((cell) => cell.firstElementChild);
  const says = $in(".says");
  const score = $in(".score");
  const pause = $in(".pause");
  const card = $in(".told");
  const opening = await read("tease");
  const column = new Column();
  const held = []; // arrow keys, the last one first
  const turnOn = clock(frame, draw);
  let game = newGame();
  game.goOn({ ...opening.moment, lives: BALLS });
  let act = opens(); // what goes on, a frame after the other
  let isPaused = calm.matches;
  let isAsked = isPaused; // whether a press on the board may begin
  let isSeen = true;
  let isKeeping = false; // whether the reader plays
  let pointer = null; // the reader's, and for how many frames
  let round = null; // what the reader has taken
  let best = Infinity; // frames of a round
  let theirs = sentIn(location.hash); // seconds of who has sent the address
  let aim = null; // where the reader's paddle should go
  let trail = [];

  // Whether a ball has passed the paddle
  const passed = (ball) =>
    ball?.vy > 0 && ball.y >= COURT.floor + PADDLE.high;

  // The pixels between the paddle and a ball that has passed it
  function gapOf({ ball, paddle }) {
    const [from, to] = ball.x < paddle ? [ball.x + BALL.wide, paddle] :
      [paddle + PADDLE.wide, ball.x];
    return { from, wide: Math.max(0, Math.round(to - from)) };
  }

  const secondsOf = (frames) => (frames / 60).toFixed(1);
  const say = (words) => {
    if (says.textContent !== words) says.textContent = words;
  };

  function newGame() {
    return new AgentGame(newSeed(), { unreal: column, lives: BALLS,
      longest: LONGEST });
  }

  // What is seen

  function draw() {
    put(whole.firstElementChild, screenOf(game.shown[1]), { colors });
    const context = whole.querySelector("canvas").getContext("2d");
    trail.forEach(({ x, y }, i) => {
      context.fillStyle = `rgb(255 180 160 / ${0.5 * i / TRAIL})`;
      context.fillRect(Math.floor(x), Math.floor(y), BALL.wide, BALL.high);
    });
    game.pictures.forEach((picture, i) => {
      const cell = gets[3 - i];
      const label = i < 3 ? `${3 - i} before` : "now";
      if (cell.shown !== picture) put(cell, picture, { label });
      cell.shown = picture;
    });
    const marks = column.dots.map(({ x, y }) =>
      ["dot", x + BALL.wide / 2, y + BALL.high / 2]);
    if (column.hand) {
      marks.push([pointer ? "hand" : "hand its", column.hand.x, column.hand.y]);
    }
    place(marks);
  }

  // Put marks over the board, at places in its pixels.
  function place(marks) {
    const shown = over.getElementsByTagName("i");
    while (shown.length > marks.length) shown[0].remove();
    while (shown.length < marks.length) over.append(document.createElement("i"));
    marks.forEach(([kind, x, y], i) => {
      shown[i].className = kind;
      shown[i].style.left = `${100 * x / WIDTH}%`;
      shown[i].style.top = `${100 * y / HEIGHT}%`;
    });
  }

  function putOver(words, kind, x, y, wide = 0) {
    const element = document.createElement("b");
    element.className = kind;
    element.innerHTML = words;
    element.style.cssText = `left:${100 * x / WIDTH}%;
      top:${100 * y / HEIGHT}%;min-width:${100 * wide / WIDTH}%`;
    over.append(element);
    return element;
  }

  // The points of a brick that was hit rise from it, in its color.
  function floatUp(brick) {
    if (calm.matches) return;
    const row = Math.floor(brick / WALL.columns);
    const x = COURT.left + WALL.wide * (brick % WALL.columns + 0.5);
    const y = WALL.top + WALL.high * row;
    const points = putOver(`+${WALL.points[row]}`, "up", x, y);
    points.style.color = `rgb(${COLORS[WALL.colors[row]]})`;
    points.addEventListener("animationend", () => points.remove());
  }

  function count() {
    score.hidden = !round?.isMeant;
    [...$in(".balls").children].forEach((ball, i) => {
      ball.className = round && i < round.taken ? "lost" : "";
    });
    $in("output").textContent = `${secondsOf(round?.frames ?? 0)} s`;
  }

  // What goes on: each of these goes a frame on when it is asked to, and may
  // return what comes next

  function* rest(frames) {
    for (let frame = 0; frame < frames; frame++) yield;
  }

  // Play a frame, and show what it has brought. A miss stands still, measured.
  function* turn(move) {
    const { breakout } = game;
    const { bricks, ball } = breakout.state();
    game.frame(move);
    bricks.forEach((there, i) => there > breakout.bricks[i] && floatUp(i));
    trail = breakout.ball ? [...trail, { ...breakout.ball }].slice(-TRAIL) : [];
    yield;
    if (!passed(breakout.ball) || passed(ball)) return;
    if (isKeeping) return;
    const gap = gapOf(breakout);
    if (round?.counts) take(gap);
    const pixels = `${gap.wide} pixel${gap.wide === 1 ? "" : "s"}`;
    const words = says.textContent;
    say(`Missed by ${pixels}.`);
    putOver(`<b>${gap.wide}</b> pixels`, "gap", gap.from, COURT.floor, gap.wide);
    over.classList.add("shakes");
    yield* rest(STANDS);
    over.classList.remove("shakes");
    over.querySelector(".gap")?.remove();
    say(words);
  }

  function take(gap) {
    round.taken += 1;
    round.isMeant = true;
    if (pointer?.isTouch) navigator.vibrate?.(30);
    if (gap.wide >= round.worst) {
      round.worst = gap.wide;
      picture(gap);
    }
    count();
  }

  // Keep what is seen of a miss, for the card.
  function picture({ from, wide }) {
    const top = 96; // from there to below the paddle
    const pixels = screenOf(game.shown[1]);
    put($in(".worst > div"), pixels, { colors, label: `Its worst miss: ${wide} ` +
      "pixels.", part: [0, top, WIDTH, HEIGHT - top] });
    const context = $in(".worst canvas").getContext("2d");
    context.fillStyle = "#ffa65c";
    context.fillRect(from, COURT.floor - 5 - top, wide, 3);
    context.strokeStyle = "#ffa65c";
    context.setLineDash([1, 1]);
    for (const { x, y } of column.dots) {
      context.strokeRect(Math.floor(x) - 0.5, Math.floor(y) - top - 0.5, 3, 5);
    }
  }

  // Move the page's hand, by so many pixels at most.
  function guide(to, most) {
    const x = column.hand?.x ?? WIDTH / 2;
    column.hand = { x: x + between(-most, to - x, most), y: 104 };
  }

  // Lead away from where the ball will land, or to and fro.
  function lure(frame) {
    const { ball } = game.breakout;
    const isNear = ball.vy > 0 && ball.y > 50;
    const swing = WIDTH / 2 + 56 * Math.cos(frame * 2 * Math.PI / 130);
    let lands = ball.x + ball.vx * (COURT.floor - ball.y) / ball.vy;
    if (lands > COURT.right) lands = 2 * COURT.right - lands;
    if (lands < COURT.left) lands = 2 * COURT.left - lands;
    guide(!isNear ? swing : lands < WIDTH / 2 ? RIGHT : LEFT, 6);
  }

  // It plays from behind the wall; the page's hand comes, and leads it to the
  // right, and to the left while the ball falls on the right: it misses by more
  // than 100 pixels.
  function* opens() {
    for (let frame = 0; game.breakout.lives === BALLS; frame++) {
      if (frame === OPENS) say(IT_RUNS);
      if (frame >= OPENS && frame < TURNS) guide(RIGHT, 2.5);
      if (frame >= TURNS) guide(LEFT, 1.6);
      yield* turn();
    }
    column.hand = null;
    return alone();
  }

  // It plays, game after game.
  function* alone() {
    says.ariaLive = "off"; // for what plays by itself
    say(INVITES);
    board.classList.add("invites");
    for (;;) {
      if (!game.breakout.lives) {
        yield* rest(RESTS);
        game = newGame();
      }
      yield* turn();
    }
  }

  // The reader takes its five balls, in the game that is running. After what
  // only crosses the board, what went on before goes on.
  function* takes(before) {
    const words = says.textContent;
    const invited = board.classList.contains("invites");
    board.classList.remove("invites");
    says.ariaLive = "polite";
    if (!game.breakout.lives) game = newGame();
    const { breakout } = game;
    breakout.lives = BALLS;
    round = { frames: 0, taken: 0, worst: -1, isMeant: false, counts: false };
    say("Lure it away. It has five balls.");
    while (breakout.lives) {
      // One that falls already isn't the reader's until it is hit back.
      round.counts ||= !(breakout.ball?.vy > 0);
      if (pointer) {
        round.frames += 1;
        round.isMeant ||= pointer.isMeant || pointer.frames > CROSSES;
      } else if (!round.isMeant) {
        round = null;
        says.ariaLive = "off";
        say(words);
        board.classList.toggle("invites", invited);
        return before;
      }
      count();
      yield* turn();
      if (!round.counts) breakout.lives = BALLS;
      const gone = BALLS - breakout.lives; // or taken away, after a minute
      round.taken = Math.max(round.taken, gone);
    }
    tell();
    return null;
  }

  // The reader plays a ball, and the page's hand drops the same balls.
  function* keeps() {
    board.classList.remove("invites");
    says.ariaLive = "polite";
    const frames = between(LEAST, best, MOST);
    say(`Now you: keep the ball for ${secondsOf(frames)} seconds.`);
    const { breakout } = game;
    Object.assign(breakout, { easy: true, wait: READY * COUNTS });
    game.center();
    for (let left = READY; left; left--) {
      const number = putOver(left, "ready", WIDTH / 2, SERVED);
      for (let frame = 0; frame < COUNTS; frame++) yield* turn(wanted());
      number.remove();
    }
    const { lives } = breakout;
    let kept = 0;
    column.fallen = 0;
    while (kept < frames && breakout.lives === lives) {
      if (breakout.ball) {
        kept += 1;
        lure(kept);
        say("The dashed balls aren’t there.");
      }
      yield* turn(wanted());
    }
    isKeeping = false;
    judge(kept, kept === frames);
    return null;
  }

  // The card

  function show(took, dared, fair, ...first) {
    $in(".do").prepend(...first.map($in));
    $in(".took").innerHTML = took;
    $in(".dared").textContent = dared;
    $in(".fair").textContent = fair;
    $in(".told [role=status]").textContent = "";
    card.hidden = false;
    column.hand = null;
    pointer = null;
    held.length = 0;
    if (board.matches(":focus")) card.focus({ preventScroll: true });
  }

  function tell() {
    const seconds = secondsOf(round.frames);
    best = Math.min(best, round.frames);
    const isLess = Number(seconds) < theirs;
    card.classList.remove("own");
    show(`<b>${seconds}</b> seconds`,
      theirs && `Theirs ${theirs.toFixed(1)}, yours ${seconds}: ` +
        (isLess ? "you win." : "not yet."),
      "It has practiced for 185 hours. You beat it with balls that aren’t there.",
      ".dare", ".control");
    $in(".dare").textContent = `Dare somebody: beat ${secondsOf(best)} s`;
    $in(".control").textContent = "Would you fall for it?";
    $in(".again").textContent = `Again (best ${secondsOf(best)} s)`;
    say(`Its five balls, in ${seconds} seconds.`);
  }

  // What the reader has done, beside what the agent did
  function judge(kept, isKept) {
    card.classList.add("own");
    const his = `${isKept ? "For" : "After"} ${secondsOf(kept)} s`;
    show(isKept ? "You kept your ball." : "You lost your ball.", "",
      `${his}, under ${column.fallen} dashed balls. The agent lost five in ` +
      `${secondsOf(best)} s.`, ".control", ".again");
    $in(".control").textContent = "Keep a ball again";
    $in(".again").textContent = `Take its five again (best ${secondsOf(best)} s)`;
    say(isKept ? "You know what a ball is." : "Did you run for a dashed one?");
  }

  // What the reader does

  function frame() {
    if (pointer) move();
    const { done, value } = act.next();
    if (done) act = value;
    if (!act) go();
  }

  // The hand of the keys moves; a finger that has left still drops its column.
  function move() {
    pointer.frames += 1;
    if (held.length) {
      const x = column.hand.x + ACROSS * held[0];
      column.hand.x = between(COURT.left, x, COURT.right);
    }
    if (pointer.frames > pointer.stays) release();
  }

  function go() {
    const isOn = Agent.network && act && isSeen && !isPaused && !document.hidden;
    turnOn(isOn);
    board.style.touchAction = isOn ? "pinch-zoom" : ""; // a finger points
    pause.textContent = isPaused ? "Play" : "Pause";
    pause.hidden = !act;
    board.classList.toggle("rests", !isOn);
    draw();
  }

  function want(on) {
    isPaused = !on;
    isAsked = false;
    if (isPaused && pointer) release();
    go();
  }

  // Begin a game by a button: it is in sight whole. The dare is about its five
  // balls, not about the reader's.
  function begin(what) {
    card.hidden = true;
    isKeeping = what === keeps;
    $in(".theirs").hidden = !theirs || isKeeping;
    round = null;
    game = newGame();
    aim = null;
    trail = [];
    clear();
    act = what();
    count();
    want(true);
    board.focus({ preventScroll: true });
    seeWhole();
  }

  function seeWhole() {
    const { top, bottom } = board.getBoundingClientRect();
    const { offsetHeight } = document.querySelector("header");
    if (top < offsetHeight || bottom > innerHeight) board.scrollIntoView();
  }

  // Balls fall from there. It is the running game that they come into.
  function drop(x, y, options) {
    column.hand = { x, y };
    if (pointer) return;
    pointer = { frames: 0, ...options };
    if (round) return;
    clear();
    act = takes(act);
  }

  function clear() {
    over.replaceChildren();
    over.classList.remove("shakes");
  }

  function release() {
    pointer = null;
    column.hand = null;
  }

  // Which way the reader's paddle should go: by a key, or to the pointer.
  function wanted() {
    if (held.length) return BUTTON * held[0];
    if (aim === null) return 0;
    const place = between(COURT.left, aim - PADDLE.wide / 2, PADDLE.most);
    return between(-KNOB, place - game.breakout.target, KNOB);
  }

  function points(event) {
    const { clientX, clientY, isPrimary, type } = event;
    const isPress = type === "pointerdown";
    if (!isPrimary || !act) return;
    if (isPress && isAsked) want(true);
    if (isPaused) return;
    const { left, top, width, height } = board.getBoundingClientRect();
    const isTouch = event.pointerType === "touch";
    const above = isTouch ? ABOVE : 0;
    aim = (clientX - left) * WIDTH / width;
    const y = (clientY - top - above) * HEIGHT / height;
    if (isKeeping) return;
    drop(aim, Math.max(y, COURT.top), { isTouch });
    pointer.stays = Infinity;
    if (isPress && !isTouch) pointer.isMeant = true;
  }

  board.addEventListener("pointerdown", points);
  board.addEventListener("pointermove", points);
  board.addEventListener("pointerleave", ({ pointerType }) => {
    if (pointerType !== "touch" && pointer) release();
  });
  board.addEventListener("pointerup", () => {
    if (!pointer?.isTouch) return;
    pointer.isMeant = true;
    pointer.stays = COLUMN;
  });
  board.addEventListener("pointercancel", () => pointer && release());

  // An arrow key is the page's unless it is meant for the game.
  function isMeant(event) {
    const { top, bottom, height } = board.getBoundingClientRect();
    const { offsetHeight } = document.querySelector("header");
    const seen = Math.min(bottom, innerHeight) - Math.max(top, offsetHeight);
    const { activeElement, body } = document;
    return act && !event.shiftKey && seen >= height / 2 &&
      (activeElement === body || box.contains(activeElement)) &&
      !(POPOVER && document.querySelector(":popover-open"));
  }
  addEventListener("keydown", (event) => {
    if (event.key === "Escape" && pointer) release();
    const [across] = arrowOf(event) ?? [0];
    if (!across || !isMeant(event)) return;
    if (isAsked) want(true);
    if (isPaused) return;
    event.preventDefault();
    aim = null;
    if (!held.includes(across)) held.unshift(across);
    if (isKeeping) return;
    const { x } = column.hand ?? { x: WIDTH / 2 };
    if (!pointer) seeWhole();
    drop(x, DROPS.most - 10, { isMeant: true, stays: Infinity });
  });
  addEventListener("keyup", ({ key }) => {
    const across = ARROWS[key]?.[0];
    if (held.includes(across)) held.splice(held.indexOf(across), 1);
  });
  addEventListener("blur", () => held.splice(0));

  pause.addEventListener("click", () => want(isPaused));
  calm.addEventListener("change", () => calm.matches && want(false));
  $in(".again").addEventListener("click", () => begin(alone));
  $in(".control").addEventListener("click", () => begin(keeps));
  $in(".close").addEventListener("click", () => begin(alone));
  card.addEventListener("keydown", ({ key }) => key === "Escape" && begin(alone));
  $in(".dare").addEventListener("click", () => send(card, secondsOf(best)));

  // It rests when it isn't seen.
  new IntersectionObserver((seen) => {
    isSeen = seen.at(-1).isIntersecting;
    go();
  }).observe(box);
  document.addEventListener("visibilitychange", go);

  function greet() {
    theirs = sentIn(location.hash);
    const words = theirs && `Somebody took its five balls in ${theirs.toFixed(1)} s. Beat it.`;
    $in(".theirs").textContent = words;
    $in(".theirs").hidden = !theirs;
  }
  addEventListener("hashchange", greet);

  window.Tease = {
    get hand() {
      return column.hand?.x ?? null;
    },
    get paddle() {
      return game.breakout.paddle + PADDLE.wide / 2;
    },
    get ball() {
      const { ball } = game.breakout;
      return ball && { x: ball.x, y: ball.y };
    },
    get taken() {
      return round?.taken ?? 0;
    },
    // The seconds of the best round, or null
    get best() {
      return best < Infinity ? secondsOf(best) : null;
    },
    get seconds() {
      return (round?.frames ?? 0) / 60;
    },
  };
  greet();
  go();
  Agent.load().then(go, () => {
    say("Its network didn’t arrive. Please load the page again.");
  });
});
