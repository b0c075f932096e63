// One step across the pipe, labml's way and ours, and what a kill does.
(() => {
const figure = $("pipe-figure");
if (!figure) return;
const { SIZE, brighter, cells, put, shrink, tapeOf } = shared;
const GAMES = 8, PROCESSES = 2, EACH = GAMES / PROCESSES;
const BYTES_A_PIXEL = 141; // so that an observation of float64 is 40 by 40
const INDEX = 0, COMMANDS = 1; // of what is counted in a step

let recorded = null, games = null, killed = null;
const [labml, ours] = ["labml", "ours"].map((way) => {
  const box = figure.querySelector(`.${way}`);
  return {
    lanes: box.querySelector(".lanes"), workers: box.querySelector(".workers"),
    count: box.querySelector(".count"),
  };
});
const number = new Intl.NumberFormat("en").format;

function square(bytes) {
  const side = Math.max(1, Math.round(Math.sqrt(bytes / BYTES_A_PIXEL)));
  return `<i class="packet" style="width:${side}px;height:${side}px"></i>`;
}

function lanes(way, box, pipes, words) {
  const [up, down] = recorded.bytes[way][0].map((bytes) =>
    Math.round(bytes / pipes));
  const says = (bytes, arrow) =>
    words ? ` ${arrow} ${number(bytes)} bytes` : "";
  box.innerHTML = (`<div class="lane"><span>${square(down)}` +
    `${says(down, "↓")}</span><span>${square(up)}${says(up, "↑")}</span>` +
    "</div>").repeat(pipes);
}

labml.workers.innerHTML = Array.from({ length: GAMES }, (_, i) =>
  `<div class="worker">${i}</div>`).join("");
const pictures = [], workers = [];
for (let p = 0; p < PROCESSES; p++) {
  const worker = ours.workers.appendChild(document.createElement("div"));
  worker.className = "worker";
  worker.innerHTML = `<p>process ${p + 1}</p><div class="four"></div>`;
  pictures.push(...cells(worker.lastChild, EACH, SIZE, SIZE));
  workers.push(worker);
}

// The newest picture of a game at each step from the first one on.
function pictureOf(text) {
  const brightness = (screen) => screen.map((v) => recorded.gray[v]);
  const screen = tapeOf(text), small = [];
  const picture = (t) => shrink(t === 0 ? brightness(screen(0)) : brighter(
    brightness(screen(2 * t - 1)), brightness(screen(2 * t))));
  return (t) => (small[t] ??= picture(t));
}

async function prepare() {
  recorded = await read("pipe");
  const [up, down] = recorded.bytes.labml[0];
  figure.querySelector(".each").textContent =
    `each: ↓ ${number(down / GAMES)} bytes, ` +
    `↑ ${number(Math.round(up / GAMES))} bytes`;
  lanes("labml", labml.lanes, GAMES, false);
  lanes("ours", ours.lanes, PROCESSES, true);
  figure.querySelector(".memory").innerHTML =
    `${square(recorded.shared)} ${number(recorded.shared)} bytes, shared`;
  games = recorded.games.map(pictureOf);
  window.pipe = { picture: (game, at) => games[game](timeOf(game, at)) };
  return { count: recorded.bytes.ours.length, start: 20 };
}

// A game of a process that was killed begins anew in that step.
function timeOf(game, at) {
  const again = killed !== null && at >= killed && game >= EACH;
  return again ? at - killed : at;
}

function total(way, at, which) {
  return recorded.bytes[way].slice(0, at)
    .reduce((sum, bytes) => sum + bytes[which], 0);
}

function show(at) {
  if (killed > at) killed = null;
  pictures.forEach((cell, game) => {
    const kind = at === killed && game >= EACH ? "kept" : "";
    put(cell, `game ${game}`, kind, games[game](timeOf(game, at)), SIZE);
  });
  workers[1].classList.toggle("killed", at === killed);
  workers[1].firstChild.textContent = killed === null ? "process 2"
    : "a new process 2";
  for (const [way, { count: told }, pipes] of [["labml", labml, GAMES],
    ["ours", ours, PROCESSES]]) {
    const bytes = recorded.bytes[way][at - 1][INDEX] +
      recorded.bytes[way][at - 1][COMMANDS];
    const sum = total(way, at, INDEX) + total(way, at, COMMANDS);
    told.textContent = `Through ${pipes} pipes in this step: ` +
      `${number(bytes)} bytes, since the first: ${number(sum)}.`;
  }
  return tell(at);
}

function tell(at) {
  if (at === killed) {
    return `Step ${at}: process 2 was killed. A new one has taken its ` +
      "place; games 4 to 7 have started over from their seeds, with reward " +
      `0, truncated, and True in infos["restarted"]. Games 0 to 3 don't blink.`;
  }
  const [up, down] = recorded.bytes.ours[at - 1];
  const after = killed !== null ? ` Games 4 to 7 are ${at - killed} after ` +
    "their new start." : "";
  return `Step ${at}. labml's way: eight observations of float64 through ` +
    `eight pipes. Here: ${number(down)} bytes of commands and ` +
    `${number(up)} of answers; the pictures are written where the program ` +
    `reads them.${after}`;
}

const { jump, slider } = shared.film(figure, {
  prepare, show, hold: (at) => at === killed ? 20 : 1,
});
$("kill").addEventListener("click", () => {
  const at = Math.min(Number(slider.value) + 1, Number(slider.max));
  killed = at;
  jump(at);
});
})();
