// A frame of our moment as it gets gray and small. The part around the ball is
// enlarged: 40 of 160 columns, and as many rows.
figure("small", async (box, $in) => {
  const PART = 40;
  const { screens, colours, rgb, first, asked } = await moment();
  const shades = rgb.map((color) =>
    SHADES[COLORS.findIndex((one) => `${one}` === `${color}`)]);
  const [whole] = $in(".board").children;
  const near = $in(".near").lastElementChild;
  const pick = $in("[type=checkbox]");

  // Where the ball is: what is red between the wall and the paddle.
  const red = rgb.findIndex((color) => `${color}` === `${COLORS[5]}`);
  function ballOf(screen) {
    const at = screen.findIndex((color, i) => color === red &&
      i > 100 * WIDTH && i < 189 * WIDTH && i % WIDTH >= COURT.left &&
      i % WIDTH < COURT.right);
    return at < 0 ? null : [at % WIDTH, Math.floor(at / WIDTH)];
  }
  let center = [80, 150];

  const player = film(box, (at) => {
    const screen = screens[at - 1];
    center = ballOf(screen) ?? center;
    const [left, top] = center.map((place, i) =>
      between(0, place - PART / 2, [WIDTH, HEIGHT][i] - PART));
    const size = $in("[name=size]:checked").value;
    const gray = screen.map((color) => shades[color]);
    const isSmall = Number(size) > 0;
    const shown = isSmall ? shrunk(gray, Number(size), !pick.checked) :
      size === "gray" ? gray : screen;
    const width = isSmall ? Number(size) : WIDTH;
    const [x, y] = isSmall ? [width / WIDTH, width / HEIGHT] : [1, 1];
    const drawn = { width, colours: size === "color" ? colours : GRAYS };
    put(whole, shown, drawn);
    put(near, shown, { ...drawn, part: [left * x, top * y, PART * x, PART * y]
      .map(Math.round) });
    $in(".board i").style = `--left:${left / WIDTH};--top:${top / HEIGHT}`;
    pick.disabled = !isSmall;
    return isSmall && pick.checked ?
      "Where no picked pixel hits the ball, the ball is gone." :
      isSmall ? "The ball gets fainter, but leaves a trace." : "";
  }, { count: screens.length, start: 4 * (asked - first) + 4, pace: 15,
    name: (at) => `frame ${(at - 1) % FRAMES + 1}` });
  $in(".sizes").addEventListener("change", () => player.draw());
  pick.addEventListener("change", () => player.draw());
});
