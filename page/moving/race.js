// A step of eight games, in slow motion: which way is done first?
(() => {
const figure = $("race-figure"), race = figure.querySelector(".race");
const LEFT = 84 / 480, LONG = 390 / 480; // of the drawing, by page/figures.py
const SHOWN = 3, TICK = 0.03; // ms
const START = 3;  // where it waits for a guess, before any game is played
const WAIT = 15_000;  // milliseconds to guess in, before it plays by itself
const covers = race.querySelectorAll("i"), times = race.querySelectorAll("b");
const choice = figure.querySelector(".asked div");
let sides = null, asks = true, guess = "";

const end = ({ program }) => program.at(-1)[1];
const played = (side) =>
  side.games.reduce((sum, [start, stop]) => sum + stop - start, 0);
const busy = (side) => `${Math.round(100 * played(side) /
  (sides.machine.cores * end(side)))}\u00a0%`;
const ms = (time) => `${time.toFixed(2)}\u00a0ms`;

function show(at) {
  const now = at * TICK, { workers, games } = sides;
  [workers, games].forEach((side, i) => {
    race.style.setProperty(`--now-${i}`,
      `${100 * (LEFT + LONG * Math.min(now, end(side)) / SHOWN)}%`);
    for (const one of [covers[i], times[i]]) {
      one.classList.toggle("done", now >= end(side));
    }
  });
  asks &&= at === START;
  choice.hidden = !asks;
  race.classList.toggle("covered", asks);
  if (asks) return "Guess: which is done first?";
  if (now >= end(workers)) {
    return `${guess}Two workers: ${ms(end(games))}, the cores busy with games ` +
      `${busy(games)} of the time. Eight: ${ms(end(workers))}, ${busy(workers)}.`;
  }
  const [many, few] = [workers, games].map((side) =>
    side.games.filter(([, end]) => end <= now).length);
  return `Eight workers have played ${many} of 8 games, two workers ` +
    `${now >= end(games) ? "are done" : `have played ${few}`}.`;
}

const player = film(figure, async () => {
  sides = await read("race");
  const count = SHOWN / TICK;
  const start = calm ? Math.ceil(end(sides.workers) / TICK) : START;
  return { count, start, wait: WAIT, once: true, pace: 15, name: (i) => ms(i * TICK) };
}, show);

function run() {
  if (!sides || !asks) return;
  player.forward();
  player.go(true);
}
choice.querySelectorAll("button").forEach((button, i) =>
  button.addEventListener("click", () => {
    guess = i ? "Yes. " : "No. ";
    run();
    figure.querySelector(".play").focus({ preventScroll: true });
  }));
figure.closest(".row").querySelector(".after").addEventListener("click", run);
})();
