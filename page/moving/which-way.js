// Which way does the ball go? Ten rounds with one picture, ten with four.
(() => {
const figure = $("which-way");
if (!figure) return;
const { GRAYS, SIZE, WIDTH, HEIGHT, ballOf, cells, put, stackOf } = shared;
const ROUNDS = 10, APART = 4; // steps, so that no two rounds look alike
const CUT = 42; // of a picture's 84 pixels, around the ball
const canvases = cells($("guess"), 4, CUT, CUT);
const [rise, fall, next] = figure.querySelectorAll("button");
const says = figure.querySelector(".says");
const asks = figure.querySelector(".asks");
const rows = figure.querySelectorAll("tbody tr");

let steps = null, rounds = [], now = 0, right = [0, 0], asked = [0, 0];

// Rounds in any order, as many that rise as fall, none of them twice.
function draw() {
  const left = read("recording").ways.map(([at, up]) => ({ at, up }));
  const drawn = [];
  while (drawn.length < 2 * ROUNDS) {
    const up = Number(Math.random() < 0.5);
    const fits = (one) => one.up === up
      && drawn.every(({ at }) => Math.abs(at - one.at) >= APART);
    const some = left.filter(fits);
    const from = some.length ? some : left.filter((one) =>
      !drawn.includes(one));
    drawn.push(from[Math.floor(Math.random() * from.length)]);
  }
  return drawn;
}

const four = () => Number(now >= ROUNDS);

// The part of a picture around the ball, as it is in the newest frame.
function around(step) {
  const { x, y } = ballOf(step.frames[step.frames.length - 1]);
  const start = (v, size) => Math.min(Math.max(
    Math.round(v / size * SIZE - CUT / 2), 0), SIZE - CUT) / SIZE;
  return [start(x, WIDTH), start(y, HEIGHT), CUT / SIZE, CUT / SIZE];
}

function show(all) {
  const i = rounds[now].at - 1, view = around(steps[i]);
  stackOf(steps, i).forEach((picture, slot) => {
    const seen = all || slot === 3;
    const label = slot === 3 ? "the newest picture"
      : seen ? `${3 - slot} before it` : "hidden";
    put(canvases[slot], label, "", seen ? picture : null, SIZE, GRAYS, view);
  });
}

function ask(byReader) {
  asks.setAttribute("aria-live", byReader ? "polite" : "off");
  const pictures = four() ? "four pictures" : "one picture";
  asks.textContent = `Round ${now % ROUNDS + 1} of ${ROUNDS} with ` +
    `${pictures}: does the ball rise or fall?`;
  show(four());
  for (const button of [rise, fall]) {
    button.disabled = false;
    button.classList.remove("right", "wrong");
  }
  next.disabled = true;
  says.textContent = "";
}

function answer(button) {
  const { at, up } = rounds[now], good = Number(button.value) === up;
  asked[four()] += 1;
  right[four()] += Number(good);
  rows.forEach((row, r) => {
    row.children[1].textContent = right[r];
    row.children[2].textContent = asked[r];
  });
  button.classList.add(good ? "right" : "wrong");
  rise.disabled = fall.disabled = true;
  next.disabled = false;
  show(true);
  const over = now === 2 * ROUNDS - 1;
  says.textContent = `${good ? "Right" : "Wrong"}: in step ${at} it ` +
    `${up ? "rises" : "falls"}.` + (over ? ` You had ${right[0]} of ` +
    `${ROUNDS} with one picture and ${right[1]} with four.` : "");
  next.textContent = over ? "Play again" : "Next round";
  next.focus({ preventScroll: true });
}

function begin(byReader) {
  steps ??= shared.recording();
  [rounds, now, right, asked] = [draw(), 0, [0, 0], [0, 0]];
  for (const row of rows) {
    row.children[1].textContent = row.children[2].textContent = 0;
  }
  ask(byReader);
}

rise.addEventListener("click", () => answer(rise));
fall.addEventListener("click", () => answer(fall));
next.addEventListener("click", () => {
  now += 1;
  if (now === 2 * ROUNDS) begin(true);
  else ask(true);
  rise.focus({ preventScroll: true });
});
figure.addEventListener("keydown", (event) => {
  const button = { ArrowUp: rise, ArrowDown: fall }[event.key];
  if (!button || button.disabled) return;
  event.preventDefault();
  answer(button);
});
shared.unveil(figure);
shared.whenNear(figure, () => begin(false));
window.whichWay = () => ({ ...rounds[now], round: now });
})();
