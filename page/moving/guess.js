// Up or down? Ten guesses with one picture, ten with four, and ten with four
// pictures 1/60 s apart, which are frames in a row.
(() => {
const figure = $("guess"), $in = (selector) => figure.querySelector(selector);
const [newest] = cells($in(".one"), 1), stack = cells($in(".four"), 4);
const group = $in(".controls");
const [next, ...arrows] = group.children;
const enough = $in(".enough"), walls = figure.querySelectorAll(".tally p");
const ROUNDS = ["one picture", "four pictures", "four frames in a row, 1/60\u00a0s apart"];
const RESULTS = ["One picture", "Four pictures", "Frames in a row"];
const WHY = [" One shows where the ball is, but not where it flies.",
  " Four show both.",
  " In these the ball moves by one to three pixels, in a stack by four times as many."];
const FIRST = 102; // the step of the still picture, guessed first
const GUESSES = 10, SOME = 3, LATER = [1, 2, 3, 4];
const BLINK = 70, PROOF = 600, NEARER = 700; // milliseconds
const FADE = 0.8; // of the ball, for each step that it has flown on
const KEYS = { ArrowUp: "up", u: "up", ArrowDown: "down", d: "down" };
let game = null, deck = null, round = null, marks = null;

function shuffled(all) {
  return all.map((one) => [Math.random(), one]).sort(([a], [b]) => a - b)
    .map(([, one]) => one);
}

// The steps of each round, as many up as down, and none twice; the very first
// is the still picture's.
function dealt(first) {
  const begun = (steps) => first
    ? steps.sort((a, b) => (b === FIRST) - (a === FIRST)) : steps;
  const sides = [game.up, game.down].map((side) => begun(shuffled(side)));
  const rounds = ROUNDS.map((_, i) => shuffled(sides.flatMap((side) =>
    side.slice(GUESSES / 2 * i, GUESSES / 2 * (i + 1)))));
  const [one] = rounds;
  if (first) {
    begun(one);
    // The second flies down, so that one answer isn't right for long.
    const down = one.findIndex((at) => game.down.includes(at));
    one.splice(1, 0, ...one.splice(down, 1));
  }
  return rounds;
}

// Draw what a round shows of a step, close to the ball: neither the bricks nor
// the paddle, which would give it away. In the large picture, the newest, the
// ball flies on for some `later` steps.
function draw(at, later = []) {
  const middle = 7 * game.steps[at][5][0] + 17;
  const part = (width) =>
    [Math.max(0, Math.min(SIZE - width, middle - width / 2)), 38, width, 36];
  const four = round < 2 ? game.steps[at][6].map(game.picture)
    : game.grays(at).map(shrink);
  const names = ["oldest", "", "", "newest"];
  four.forEach((pixels, i) =>
    put(stack[i], names[i], pixels, "plain", GRAYS, part(28)));
  const flown = later.reduce((pixels, i) =>
    brighter(pixels.map((v) => FADE * v), game.picture(at + i)), four[3]);
  put(newest, "", flown, "plain", GRAYS, part(36));
}

function show(asking) {
  next.hidden = asking;
  arrows.forEach((arrow) => { arrow.hidden = !asking; });
  (asking ? group : next).focus({ preventScroll: true });
}

// A brick for each guess of a round: right, wrong, or still to come.
const right = (marks) => marks.filter(Boolean).length;
function build(wall, marks) {
  wall.children[0].innerHTML = Array.from({ length: GUESSES }, (_, i) =>
    `<i class="${["miss", "hit"][Number(marks[i])] ?? ""}"></i>`).join("");
  wall.children[1].textContent = marks.length ? right(marks) : "";
}
walls.forEach((wall) => build(wall, []));

function count() {
  enough.hidden = marks.length < SOME;
  enough.textContent = round < 2 ? "Next round" : "End";
  build(walls[round], marks);
}

const result = () => `${RESULTS[round]}: ${right(marks)} of ` +
  `${marks.length} (chance: ${marks.length / 2}).`;

function ask(told) {
  if (marks.length < GUESSES) {
    if (marks.length) $in(".says").textContent = `${told} And this one?`;
    draw(deck[round][0]);
    $in(".shown").classList.toggle("alone", round === 0);
  } else {
    end();
  }
}

function end() {
  $in(".says").textContent = result() + WHY[round];
  enough.hidden = true;
  next.textContent = round < 2 ? `Now with ${ROUNDS[round + 1]}` : "Once more";
  show(false);
}

function begin(told = "") {
  const first = round === null;
  round = first ? 0 : (round + 1) % ROUNDS.length;
  if (round === 0) {
    deck = dealt(first);
    walls.forEach((wall) => build(wall, []));
  }
  marks = [];
  figure.classList.add("begun");
  $in(".says").textContent = `${told}${round ? "Now with" : "With"} ${ROUNDS[round]}.`;
  count();
  show(true);
  figure.scrollIntoView({ block: "nearest" });
  ask();
}

// The ball flies on, and the next question comes. The very first guess is of
// the still picture, in which the part that is shown then comes nearer.
let flies = false;
function wait(forIt) {
  flies = forIt;
  arrows.forEach((arrow) => { arrow.ariaDisabled = forIt; });
  enough.disabled = forIt;
}
const sleep = (ms) => new Promise((done) => setTimeout(done, calm ? 0 : ms));
async function answer(guess) {
  if (flies || next.hidden === false) return;
  wait(true);
  const first = round === null;
  if (first) begin();
  const at = deck[round].shift(), way = game.up.includes(at) ? "up" : "down";
  marks.push(guess === way);
  count();
  const told = `${guess === way ? "Yes" : "No"}: it flew on ${way}.`;
  $in(".says").textContent = told;
  if (first) {
    $in(".shown").classList.add("first");
    await sleep(NEARER);
    $in(".shown").classList.remove("first");
  }
  $in(".shown").classList.remove("alone");
  for (const i of LATER) {
    draw(at, LATER.slice(0, calm ? LATER.length : i));
    await sleep(BLINK);
  }
  await sleep(PROOF);
  wait(false);
  ask(told);
}

next.addEventListener("click", () => begin());
enough.addEventListener("click", () => {
  if (round < 2) begin(`${result()} `);
  else end();
});
async function chosen(way) {
  game ??= await recording();
  answer(way);
}
arrows.forEach((arrow) =>
  arrow.addEventListener("click", () => chosen(arrow.value)));
figure.addEventListener("keydown", (event) => {
  const way = KEYS[event.key];
  if (!way || !next.hidden) return;
  event.preventDefault();
  group.focus({ preventScroll: true });
  chosen(way);
});
})();
