// A Breakout of our own, which the reader plays as the agent sees it. It has
// the measures, colors and grays of the console's screen, but is no emulator.
const PLAY = {
  // The colors of a screen by their index, as the recording has them.
  rgb: [[0, 0, 0], [142, 142, 142], [162, 162, 42], [180, 122, 48],
    [198, 108, 58], [200, 72, 72], [66, 72, 200], [66, 158, 130],
    [72, 160, 72]],
  gray: [0, 142, 148, 131, 129, 110, 85, 127, 124],
  left: 8, right: 152, top: 32, // the inner edges of the walls
  wall: 57, rows: [5, 4, 3, 2, 8, 6], points: [7, 7, 4, 4, 1, 1],
  brick: [8, 6], ball: [2, 4], paddle: [16, 4], floor: 189,
  // Digits of three columns and five rows, a bit each
  digits: [0x7b6f, 0x2492, 0x73e7, 0x73cf, 0x5bc9, 0x79cf, 0x49ef, 0x7249,
    0x7bef, 0x7bc9],
};

// A game; `frame(move)` plays one, with the paddle moved by so many pixels.
function newGame() {
  const { left, right, top, wall, rows, points, floor } = PLAY;
  const [brickWide, brickHigh] = PLAY.brick, [paddleWide] = PLAY.paddle;
  const [ballWide, ballHigh] = PLAY.ball;
  const columns = (right - left) / brickWide;
  const fresh = () => rows.map(() => Array(columns).fill(true));
  const game = { score: 0, lives: 5, paddle: 99, ball: null };
  let bricks = fresh(), wait = 30;

  function serve() {
    const side = Math.random() < 0.5 ? -1 : 1;
    game.ball = { x: 80 + side * 30 * Math.random(), y: 110, vx: side, vy: 1.5 };
  }

  function hitBrick(ball) {
    const row = Math.floor((ball.y + (ball.vy > 0 ? ballHigh : 0) - wall) / brickHigh);
    const column = Math.floor((ball.x + ballWide / 2 - left) / brickWide);
    if (!bricks[row]?.[column]) return;
    bricks[row][column] = false;
    game.score += points[row];
    ball.vy = -Math.sign(ball.vy) * (row < 3 ? 3 : Math.abs(ball.vy));
    if (!bricks.flat().includes(true)) bricks = fresh();
  }

  function hitPaddle(ball) {
    const off = ball.x + ballWide / 2 - game.paddle - paddleWide / 2;
    const low = ball.y + ballHigh;
    if (ball.vy < 0 || low < floor || low > floor + 8) return;
    if (Math.abs(off) > (paddleWide + ballWide) / 2) return;
    ball.vy = -ball.vy;
    ball.vx = Math.max(-2.5, Math.min(2.5, off / 4 || 0.5));
  }

  game.frame = (move) => {
    game.paddle = Math.max(left, Math.min(right - paddleWide, game.paddle + move));
    const { ball } = game;
    if (!ball) {
      wait -= 1;
      if (wait < 0 && game.lives) serve();
      return;
    }
    ball.x += ball.vx;
    ball.y += ball.vy;
    if (ball.x < left || ball.x > right - ballWide) ball.vx *= -1;
    ball.x = Math.max(left, Math.min(right - ballWide, ball.x));
    if (ball.y < top) ball.vy = Math.abs(ball.vy);
    hitBrick(ball);
    hitPaddle(ball);
    if (ball.y > 205) {
      game.lives -= 1;
      game.ball = null;
      wait = 45;
    }
  };

  // The screen, as indices of colors.
  game.screen = () => {
    const pixels = new Uint8Array(WIDTH * HEIGHT);
    function fill(x, y, wide, high, color) {
      for (let row = y; row < Math.min(y + high, HEIGHT); row++) {
        pixels.fill(color, row * WIDTH + x, row * WIDTH + x + wide);
      }
    }
    function number(value, count, x) {
      [...String(value).padStart(count, "0").slice(-count)].forEach((digit, i) => {
        for (let bit = 0; bit < 15; bit++) {
          if (PLAY.digits[digit] >> (14 - bit) & 1) {
            fill(x + 16 * i + 4 * (bit % 3), 5 + 2 * Math.floor(bit / 3), 4, 2, 1);
          }
        }
      });
    }
    number(game.score, 3, 36);
    number(game.lives, 1, 100);
    number(1, 1, 128);
    fill(0, 17, WIDTH, 15, 1);
    fill(0, top, left, floor - top, 1);
    fill(right, top, WIDTH - right, floor - top, 1);
    fill(0, floor, left, 7, 7);
    fill(right, floor, WIDTH - right, 6, 5);
    bricks.forEach((line, row) => line.forEach((there, column) => there &&
      fill(left + brickWide * column, wall + brickHigh * row, brickWide,
        brickHigh, rows[row])));
    fill(Math.round(game.paddle), floor, ...PLAY.paddle, 5);
    if (game.ball) {
      fill(Math.round(game.ball.x), Math.round(game.ball.y), ...PLAY.ball, 5);
    }
    return pixels;
  };
  return game;
}

figure("play", (box, $in) => {
  const COLORS = 0, GRAY = 1, SLOW = 3, STILL = 4; // views
  const FRAMES = 4, KEYS = { ArrowLeft: -1, ArrowRight: 1, ArrowDown: 0 };
  const SPEED = 3, SPIN = 8; // pixels a frame: of a button, of the knob
  const cell = $in(".field").firstElementChild, field = $in(".field");
  const start = $in(".start"), buttons = $in(".buttons");
  const colours = packed(PLAY.rgb);
  const best = Array(5).fill(null), outputs = box.querySelectorAll(".views output");
  let game = newGame(), stage = COLORS, running = null;
  let aim = null, held = 0; // where the pointer is, which key is down
  let count = 0, move = 0, older = game.screen(), last = older;

  const gray = (screen) => screen.map((v) => PLAY.gray[v]);

  function show() {
    const seen = { third: gray(older), fourth: gray(last) };
    if (stage === COLORS) put(cell, last, { colours });
    else if (stage === GRAY) put(cell, seen.fourth);
    else put(cell, shrunk(brighter(seen.third, seen.fourth), SIZE, true));
    Object.assign(box, seen);
  }

  // Which way the paddle should go: by its key or to the pointer.
  function wanted(fastest) {
    if (held || aim === null) return held * SPEED;
    const off = aim - game.paddle;
    return Math.abs(off) < 2 ? 0 : Math.max(-fastest, Math.min(fastest, off));
  }

  function frame() {
    const decides = stage < SLOW || count % FRAMES === 0;
    if (decides && stage !== STILL) move = wanted(stage < SLOW ? SPIN : SPEED);
    game.frame(move);
    count += 1;
    older = last;
    last = game.screen();
    if (stage < SLOW || count % FRAMES === 0) show();
    best[stage] = Math.max(best[stage], game.score);
    outputs[stage].value = best[stage];
    if (!game.lives) stop(`${game.score} points.`);
  }

  function step(way) {
    if (stage !== STILL) return;
    if (!game.lives) again();
    move = way * SPEED;
    do frame(); while (count % FRAMES && game.lives);
    show();
  }

  function again() {
    game = newGame();
    count = 0;
    older = last = game.screen();
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
      aim = (clientX - left) * WIDTH / width - PLAY.paddle[0] / 2;
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
