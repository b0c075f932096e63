// A step of eight games, in slow motion: which way is done first?
(() => {
const figure = $("race-figure"), race = figure.querySelector(".race");
const LEFT = 84 / 480, LONG = 390 / 480; // of the drawing, by page/figures.py
const SHOWN = 3, TICK = 0.02; // ms
let sides = null;

const end = ({ program }) => program.at(-1)[1];
const ms = (time) => `${time.toFixed(2)} ms`;

function show(at) {
  const now = at * TICK, { workers, games } = sides;
  [workers, games].forEach((side, i) => race.style.setProperty(`--now-${i}`,
    `${100 * (LEFT + LONG * Math.min(now, end(side)) / SHOWN)}%`));
  if (now >= end(workers)) {
    return `Two workers are done after ${ms(end(games))}, eight after ` +
      `${ms(end(workers))}.`;
  }
  const [many, few] = [workers, games].map((side) =>
    side.games.filter(([, end]) => end <= now).length);
  return `Played: ${many} of 8 games by eight workers, ${few} by two` +
    `${now >= end(games) ? ", which are done" : ""}.`;
}

film(figure, async () => {
  sides = await read("race");
  const count = SHOWN / TICK;
  const start = calm ? Math.ceil(end(sides.workers) / TICK) : 1;
  return { count, start, pace: 15, name: (i) => ms(i * TICK) };
}, show);
})();
