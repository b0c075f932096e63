// A pixel of a picture, and the pixels of two frames that it is made of.
(() => {
const figure = $("pixel-figure"), $in = (s) => figure.querySelector(s);
const field = $in(".field"), says = $in(".says"), output = $in("output");
const patches = [...figure.querySelectorAll(".patch")];
const STEP = 62, LEFT = 0, TOP = 24, SHOWN = 42; // what is shown of a picture
const MOVES = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1],
  ArrowDown: [0, 1] };
let frames = null, picture = null, at = [17, 51]; // column and row

// A gray, and on it black or white, at 4.5:1 or more.
const shade = (v) =>
  `--on:rgb(${v},${v},${v});color:${v > 117 ? "#000" : "#fff"}`;

// The first of three pixels of a row, and the part of them that is covered.
function span(to, width) {
  const size = width / SIZE, first = Math.min(Math.floor(to * size), width - 3);
  return [first, to * size - first, size];
}

// Three by three pixels of a frame, and a border around what is covered.
function patch(frame, [column, row], border) {
  const values = Array.from({ length: 9 }, (_, i) =>
    frame[(row + Math.floor(i / 3)) * WIDTH + column + i % 3]);
  return values.map((v) => `<span style="${shade(v)}"><em>${v}</em></span>`).join("") +
    `<i style="${border}"></i>`;
}

function show(column, row) {
  const inside = (v, first) => Math.min(Math.max(v, first), first + SHOWN - 1);
  at = [inside(column, LEFT), inside(row, TOP)];
  const [x, left, width] = span(at[0], WIDTH);
  const [y, top, height] = span(at[1], HEIGHT);
  const border = Object.entries({ left, top, width, height })
    .map(([name, size]) => `${name}:calc(${size}*var(--cell))`).join(";");
  patches.forEach((box, i) => {
    box.innerHTML = patch(frames[i], [x, y], border);
  });
  let mean = 0;
  for (const [r, high] of covered(at[1], HEIGHT)) {
    for (const [c, wide] of covered(at[0], WIDTH)) {
      mean += high * wide * frames[2][r * WIDTH + c];
    }
  }
  const stored = picture[at[1] * SIZE + at[0]];
  output.textContent = stored;
  output.style = shade(stored);
  says.textContent = `Row ${at[1]}, column ${at[0]}: the mean ` +
    `is ${mean.toFixed(1)}, stored as ${stored}.`;
  field.style = `--column:${at[0] - LEFT};--row:${at[1] - TOP}`;
}

async function begin() {
  const game = await recording();
  frames = game.kept(STEP);
  frames.push(frames.reduce(brighter));
  picture = game.picture(STEP);
  put(cells(field, 1)[0], "", picture, "plain", GRAYS, [LEFT, TOP, SHOWN, SHOWN]);
  field.append(document.createElement("i"));
  show(...at);
}
new IntersectionObserver((seen, observer) => {
  if (!seen.at(-1).isIntersecting) return;
  observer.disconnect();
  begin();
}, { rootMargin: "100px" }).observe(figure);

function pick(event) {
  if (!picture) return;
  const box = field.getBoundingClientRect(), zoom = box.width / SHOWN;
  show(LEFT + Math.floor((event.clientX - box.left) / zoom),
    TOP + Math.floor((event.clientY - box.top) / zoom));
}
field.addEventListener("pointermove", pick);
field.addEventListener("pointerdown", pick);
field.addEventListener("keydown", (event) => {
  const move = MOVES[event.key];
  if (!move || !picture) return;
  event.preventDefault();
  show(at[0] + move[0], at[1] + move[1]);
});
})();
