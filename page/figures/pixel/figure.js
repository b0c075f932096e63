// A pixel of a picture, and the pixels of two frames that it is made of.
figure("pixel", async (box, $in) => {
  const STEP = MOMENT - 2, LEFT = 44, TOP = 52, SHOWN = 28; // ball and paddle
  const field = $in(".field"), output = $in("output");
  const { first, screens, gray, pictures } = await moment();
  const picture = pictures[STEP + 3];
  const frames = [2, 3].map((f) =>
    screens[4 * (STEP - first) + f].map((v) => gray[v]));
  frames.push(frames.reduce(brighter));

  // A gray, and on it black or white, at 4.5:1 or more.
  const shade = (v) =>
    `--on:rgb(${v},${v},${v});color:${v > 117 ? "#000" : "#fff"}`;

  // Three by three pixels, and a border around what is covered.
  function patch(frame, column, row) {
    const [x, y] = [column * WIDTH / SIZE, row * HEIGHT / SIZE];
    const left = Math.min(Math.floor(x), WIDTH - 3);
    const top = Math.min(Math.floor(y), HEIGHT - 3);
    const values = Array.from({ length: 9 }, (_, i) =>
      frame[(top + Math.floor(i / 3)) * WIDTH + left + i % 3]);
    return values.map((v) =>
      `<span style="${shade(v)}"><em>${v}</em></span>`).join("") +
      `<i style="--x:${x - left};--y:${y - top}"></i>`;
  }

  function show(x, y) {
    const column = LEFT + x, row = TOP + y;
    box.querySelectorAll(".patch").forEach((place, i) => {
      place.innerHTML = patch(frames[i], column, row);
    });
    let mean = 0;
    for (const [line, high] of covered(HEIGHT, SIZE)[row]) {
      for (const [pixel, wide] of covered(WIDTH, SIZE)[column]) {
        mean += high * wide * frames[2][line * WIDTH + pixel];
      }
    }
    const stored = picture[row * SIZE + column];
    output.textContent = stored;
    output.style = shade(stored);
    $in(".says").textContent = `Row ${row}, column ${column}: the mean ` +
      `is ${mean.toFixed(1)}, stored as ${stored}.`;
    field.style = `--column:${x};--row:${y}`;
  }

  put(field.firstElementChild, picture, { part: [LEFT, TOP, SHOWN, SHOWN] });
  const ball = [15, 10];
  show(...ball);
  pointing(field, SHOWN, ball, show);
});
