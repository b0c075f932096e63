// A game of the trained agent: what it sees, chooses and expects.
(() => {
const figure = $("agent-figure");

const $in = (selector) => figure.querySelector(selector);
const [screen] = cells($in(".whole"), 1), stack = cells($in(".four"), 4);
$in(".choices").innerHTML = ACTIONS.map((name) =>
  `<div>${name} <span></span></div>`).join("");
let decisions = null, screens = null, frames = null, colours = null;
let before = 0;

const percent = (share) => `${Math.round(100 * share)}\u00a0%`;

// The value over all steps, from 0, with a line where we are.
function trace(values) {
  const high = Math.ceil(Math.max(...values)), last = values.length - 1;
  const points = values.map((value, i) => `${i},${high - value}`).join(" ");
  const most = 100 * values.indexOf(Math.max(...values)) / last;
  $in(".trace").innerHTML = `<svg viewBox="0 0 ${last} ${high}"
    preserveAspectRatio="none" role="img" aria-label="The value that the agent
    expects, at each step"><line class="axis" x2="${last}"/>
    <line class="axis" x2="${last}" y1="${high}" y2="${high}"/>
    <polyline points="${points}"/><line class="now" y2="${high}"/></svg>
    <span style="top:0">${high}</span><span style="top:100%">0</span>
    <small style="left:${most}%">↙ behind the wall</small>`;
}

// The four newest frames; those before the first of a life are that first one.
function stackAt(i) {
  const begun = decisions.findLastIndex((step, j) => step[3] && j <= i);
  const first = begun < 0 ? -3 : begun;
  return [i - 3, i - 2, i - 1, i].map((j) => frames[3 + Math.max(j, first)]);
}

function show(at) {
  const i = at - 1, [action, reward, lives, , value, chances] = decisions[i];
  put(screen, "the screen", screens[i], "plain", colours);
  stackAt(i).forEach((frame, slot) =>
    put(stack[slot], `obs_4[${slot}]`, frame));
  chances.forEach((chance, a) => {
    const row = $in(".choices").children[a];
    row.className = a === action ? "chosen" : "";
    row.firstElementChild.textContent = percent(chance);
    row.style.setProperty("--share", `${100 * chance}%`);
  });
  $in(".now").setAttribute("transform", `translate(${i})`);
  const score = decisions.slice(0, i)
    .reduce((sum, step) => sum + step[1], before);
  $in(".value").textContent = value.toFixed(2);
  const name = ACTIONS[action] + (action === 1 ? " (which does nothing now)" : "");
  const scores = reward ? ` and scores ${reward}` : "";
  return `Score ${score}, lives ${lives}. It samples ${name}${scores}.`;
}

film(figure, async () => {
  const recorded = await read("agent");
  decisions = recorded.decisions;
  colours = packed(recorded.rgb);
  screens = await unpack(recorded.screens, WIDTH * HEIGHT);
  frames = await unpack(recorded.frames, SIZE ** 2);
  before = recorded.before;
  const values = decisions.map((step) => step[4]);
  trace(values);
  const ticks = decisions.flatMap(([, reward], i) =>
    reward || decisions[i + 1]?.[3] ? [i + 1] : []);
  // Some seconds before it expects most, where it isn't quite sure.
  const soon = values.indexOf(Math.max(...values)) - 120;
  const start = 1 + decisions.findIndex(([action, , , , , chances], i) =>
    i >= soon && chances[action] > 0.5 && chances[action] < 0.8);
  return { count: decisions.length, start, ticks,
    name: (i) => `step ${recorded.start + i}` };
}, show);
})();
