// Eight games in two processes, of which the reader may kill either.
(() => {
const figure = $("kill-figure"), buttons = figure.querySelectorAll("button");
const workers = [...figure.querySelectorAll(".four")].map((box) => ({
  box, cells: cells(box, 4), kills: [] }));
const does = figure.querySelectorAll(".screen span");
const TOLD = 60;  // pictures for which a kill is told
const REPLACED = 1500;  // milliseconds in which the others are seen to wait
const BEFORE = 40;  // pictures that are seen before the film's own kill
let pictures = null, every = 0, count = 0, shown = 0, planned = 0;

// Since it was killed last, a worker plays its games from their start again.
function show(at) {
  shown = at;
  workers.forEach(({ box, cells, kills }, i) => {
    buttons[i].disabled = false;
    const since = at - Math.max(1, ...kills.filter((kill) => kill <= at));
    const replaced = kills.some((kill) => kill <= at && at < kill + TOLD);
    box.classList.toggle("dying", kills.includes(at));
    const games = `games ${4 * i} to ${4 * i + 3}, step ${every * since}`;
    const told = replaced ? "replaced:" : "plays";
    does[i].textContent = `${kills.includes(at) ? "killed:" : told} ${games}`;
    cells.forEach((cell, j) =>
      put(cell, "", pictures[(4 * i + j) * count + since]));
  });
  const all = workers.flatMap(({ kills }) => kills);
  player.rest(all.includes(at) ? REPLACED : 0);
  const last = Math.max(...all.filter((kill) => kill <= at && at < kill + TOLD));
  const killed = workers.flatMap(({ kills }, i) => kills.includes(last) ? i : []);
  if (!killed.length) return "All eight games play on.";
  if (killed.length > 1) {
    return "Both workers were killed and replaced. All games start over.";
  }
  if (last === at) {
    return `Worker ${killed} was killed. The other games wait until it is replaced.`;
  }
  return `Worker ${killed} was killed and replaced. Its games start over, ` +
    "and the others play on.";
}

const player = film(figure, async () => {
  const recorded = await read("eight");
  every = recorded.every;
  pictures = await unpack(recorded.pictures, SIZE ** 2);
  count = pictures.length / 8;
  planned = recorded.killed;
  workers[1].kills.push(planned);
  const start = calm ? planned : planned - BEFORE;
  return { count, start, pace: 10, ticks: [planned],
    name: (i) => `step ${every * (i - 1)}` };
}, show);

buttons.forEach((button, i) => button.addEventListener("click", () => {
  // Who kills before the film does is left alone with it.
  if (shown < planned) {
    workers[1].kills = workers[1].kills.filter((kill) => kill !== planned);
    planned = 0;
  }
  workers[i].kills.push(Math.min(shown + 1, count));
  player.mark(workers.flatMap(({ kills }) => kills));
  player.forward();
  player.end();
  if (!calm && shown < count) player.go(true);
}));
})();
