// The reader moves the ball or the paddle, or turns the ball's way, and the
// network says what it hopes for: its value, which is painted over all places
// where the ball could be.
figure("network", async (_, $in) => {
  const [COLUMNS, ROWS] = [13, 15]; // of places
  const STRIDE = 83; // from a place to that which is painted after it
  const [DARK, BRIGHT] = [1, 9]; // values
  const NUDGE = 4; // pixels, by an arrow key
  const TURN = Math.PI / 12; // by an arrow key
  const FAR = 22; // pixels from the ball to the handle that turns its way
  const SPEED = 2.83; // pixels a frame
  const { left, right, top, floor } = COURT;
  const [wide, high] = [right - BALL.wide - left, floor - BALL.high - top];
  await Agent.load();
  const colours = packed(COLORS);
  const held = $in(".held");
  const screen = held.firstElementChild.firstElementChild;
  const map = $in(".hope").getContext("2d");
  const [ball, paddle, way] =
    ["ball", "paddle", "way"].map((name) => $in(`.handle.${name}`));
  const at = { x: 66, y: 150, turn: -Math.PI / 3,
    paddle: (left + PADDLE.most) / 2 };
  let isSeen = false;
  let next = 0; // place that is painted, of those that are left

  // Where something is that has bounced off an edge
  const bounced = (least, value, most) => between(least,
    value < least ? 2 * least - value : value > most ? 2 * most - value : value,
    most);
  const middle = () => [at.x + BALL.wide / 2, at.y + BALL.high / 2];

  // What the last two frames of four steps have shown, if the ball flies to a
  // place by this way. It bounces off the edges of the court.
  function pairsTo({ x, y }) {
    const hole = $in("[name=wall]:checked").value === "hole";
    const state = new Breakout(null, { hole }).state();
    const [vx, vy] = [SPEED * Math.cos(at.turn), SPEED * Math.sin(at.turn)];
    return [12, 8, 4, 0].map((steps) => [1, 0].map((frame) => {
      const ago = steps + frame;
      const flown = { x: bounced(left, x - ago * vx, left + wide),
        y: bounced(top, y - ago * vy, top + high) };
      return { ...state, paddle: at.paddle, ball: flown };
    }));
  }

  const valueAt = (there) =>
    Agent.see(stackOf(pairsTo(there).map(pictureOf))).value;

  // Show what is there, and the value, with the next screen.
  let isDue = false;
  function show() {
    if (!isDue) requestAnimationFrame(draw);
    isDue = true;
  }
  function draw() {
    isDue = false;
    const [, state] = pairsTo(at).at(-1);
    put(screen, screenOf(state), { colours });
    const [x, y] = middle();
    place(ball, x, y);
    place(paddle, at.paddle + PADDLE.wide / 2, floor + PADDLE.high / 2);
    place(way, x + FAR * Math.cos(at.turn), y + FAR * Math.sin(at.turn));
    way.style.setProperty("--turn", at.turn);
    $in(".value").textContent = valueAt(at).toFixed(1);
  }

  function place(element, x, y) {
    element.style.setProperty("--x", 100 * x / WIDTH);
    element.style.setProperty("--y", 100 * y / HEIGHT);
  }

  // Paint the places that are left, one for each screen, as long as it is seen.
  let isPainting = false;
  function paint() {
    isPainting = isSeen && next < COLUMNS * ROWS;
    $in(".hope").classList.toggle("painting", isPainting);
    if (!isPainting) return;
    const number = next * STRIDE % (COLUMNS * ROWS);
    const [column, row] = [number % COLUMNS, Math.floor(number / COLUMNS)];
    const value = valueAt({ x: left + wide * (column + 0.5) / COLUMNS,
      y: top + high * (row + 0.5) / ROWS });
    const share = between(0, (value - DARK) / (BRIGHT - DARK), 1);
    map.clearRect(column, row, 1, 1);
    map.fillStyle = `rgb(255 255 255 / ${0.9 * share ** 1.5})`;
    map.fillRect(column, row, 1, 1);
    next += 1;
    requestAnimationFrame(paint);
  }
  function paintAnew() {
    next = 0;
    if (!isPainting) paint();
  }

  // What the reader does
  const moveBall = (x, y) => {
    at.x = between(left, x, left + wide);
    at.y = between(top, y, top + high);
    show();
  };
  const movePaddle = (x) => {
    at.paddle = between(left, x, PADDLE.most);
    show();
    paintAnew();
  };
  const turn = (angle) => {
    at.turn = angle;
    show();
    paintAnew();
  };

  const moves = {
    ball: (x, y) => moveBall(x - BALL.wide / 2, y - BALL.high / 2),
    paddle: (x) => movePaddle(x - PADDLE.wide / 2),
    way: (x, y) => turn(Math.atan2(y - middle()[1], x - middle()[0])),
  };
  let dragged = null; // what the pointer moves: the ball, if none was meant
  function drag({ clientX, clientY }) {
    const { x, y, width } = held.getBoundingClientRect();
    const pixels = WIDTH / width;
    moves[dragged]((clientX - x) * pixels, (clientY - y) * pixels);
  }
  drags(held, (event) => {
    const handle = event.target.closest(".handle") ?? ball;
    dragged = Object.keys(moves).find((name) => handle.matches(`.${name}`));
    drag(event);
  }, drag);
  arrows(ball, (across, down) =>
    moveBall(at.x + NUDGE * across, at.y + NUDGE * down));
  arrows(paddle, (across) => movePaddle(at.paddle + NUDGE * across));
  arrows(way, (across, down) => turn(at.turn + TURN * (across + down)));
  $in("fieldset").addEventListener("change", () => {
    show();
    paintAnew();
  });
  new IntersectionObserver((seen) => {
    isSeen = seen.at(-1).isIntersecting;
    if (!isPainting) paint();
  }).observe(held);
  draw();
});
