// A game of the trained agent: what it sees, expects and does.
(() => {
const figure = $("agent-figure");
const { ACTIONS, GRAYS, HEIGHT, SIZE, WIDTH, WHOLE, cells, packed, percent,
  plural, put, tapeOf, unpack } = shared;
const TALL = 100; // units of the trace, of which a step is one across
const PACE = 15; // steps a second: real time

let decisions = null, screenAt = null, frames = null, colours = null;
const $in = (selector) => figure.querySelector(selector);
const screen = cells($in(".screen"), 1, WIDTH, HEIGHT)[0];
const stack = cells($in(".four"), 4, SIZE, SIZE);

const choices = ACTIONS.map((name) => {
  const row = $in(".choices").appendChild(document.createElement("div"));
  row.innerHTML = `<span>${name}</span><span></span>
    <div class="track"><i></i><b class="chance"></b></div>`;
  row.querySelector(".chance").style.left = `${100 / ACTIONS.length}%`;
  return row;
});
$in(".choices").insertAdjacentHTML("beforeend", `<small>dashed: chance,
  ${percent(1 / ACTIONS.length)} each; marked: the action drawn</small>`);

// The value over all steps, with a line where we are.
function trace(values) {
  const most = Math.max(...values, 0), least = Math.min(...values, 0);
  const height = (value) => TALL * (most - value) / (most - least);
  const line = (name, x, y, x2, y2) =>
    `<line class="${name}" x1="${x}" y1="${y}" x2="${x2}" y2="${y2}"/>`;
  $in(".trace").innerHTML = `<svg viewBox="0 0 ${values.length - 1} ${TALL}"
    preserveAspectRatio="none" role="img" aria-label="The value that the agent
    expects, at each step">
    ${line("zero", 0, height(0), values.length, height(0))}
    <polyline points="${values.map((v, i) => `${i},${height(v)}`).join(" ")}"/>
    ${line("now", 0, 0, 0, TALL)}</svg><output></output>`;
}

// The four newest frames; those before the first of a life are that first one.
function stackAt(i) {
  const chosen = [i];
  while (chosen.length < 4) {
    const [oldest] = chosen, first = decisions[oldest][3];
    chosen.unshift(first ? oldest : oldest - 1);
  }
  return chosen.map((j) => frames[j]);
}

const scoreAt = (i) => decisions.slice(0, i)
  .reduce((sum, [, reward]) => sum + reward, 0);

function show(at) {
  const i = at - 1, [action, , , , value, chances] = decisions[i];
  put(screen, "the screen", "", screenAt(i), WIDTH, colours, WHOLE);
  stackAt(i).forEach((frame, slot) =>
    put(stack[slot], `obs_4[${slot}]`, "", frame, SIZE, GRAYS));
  choices.forEach((row, a) => {
    row.className = a === action ? "done" : "";
    row.children[1].textContent = percent(chances[a]);
    row.querySelector("i").style.width = `${100 * chances[a]}%`;
  });
  $in(".now").setAttribute("x1", i);
  $in(".now").setAttribute("x2", i);
  $in("output").textContent = value.toFixed(2);
  return tell(at);
}

function tell(at) {
  const i = at - 1, [action, reward, lives, , value, chances] = decisions[i];
  const next = decisions[at], lost = next && next[2] < lives;
  const follows = reward ? ` It scores ${plural(reward, "point")}.`
    : lost ? " The ball is lost, and a life." : "";
  const left = lives === 1 ? "1 life" : `${lives} lives`;
  return `Step ${at}: with ${left} and ` +
    `${plural(scoreAt(i), "point")}, it expects ${value.toFixed(2)} in ` +
    `rewards to come and draws ${ACTIONS[action]}, which it gave ` +
    `${percent(chances[action])}.${follows}`;
}

async function prepare() {
  const recorded = await read("agent");
  decisions = recorded.decisions;
  colours = recorded.rgb.map(packed);
  screenAt = tapeOf(recorded.screens);
  frames = [...unpack(recorded.frames, SIZE, SIZE)];
  window.agent = { screenAt, frames };
  trace(decisions.map(([, , , , value]) => value));
  const count = decisions.length, { length, score } = recorded;
  const whole = count < length ? `These are its first ${count} of ${length}`
    : `These are all its ${length}`;
  $("agent-score").textContent =
    `${whole} steps; it ended with ${plural(score, "point")}.`;
  const marks = [];
  decisions.forEach(([, reward, , first], i) => {
    if (reward && !marks.some(({ kind }) => kind === "brick")) {
      marks.push({ at: i + 1, text: "first point", kind: "brick" });
    }
    if (first && i) marks.push({ at: i, text: "lost life", kind: "end" });
  });
  return { count, marks, pace: PACE };
}

shared.film(figure, { prepare, show, playing: "In real time. Pause, or move " +
  "the slider, to read what it expects and draws." });
})();
