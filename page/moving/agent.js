// A game of the trained agent: what it sees, expects and does.
(() => {
const figure = $("agent-figure");

const $in = (selector) => figure.querySelector(selector);
const [screen] = cells($in(".screens"), 1), stack = cells($in(".four"), 4);
$in(".choices").innerHTML = ACTIONS.map((name) => `<label>${name} <span></span>
  <progress value="0"></progress></label>`).join("");
let decisions = null, screens = null, frames = null, colours = null;

const percent = (share) => `${Math.round(100 * share)}\u00a0%`;

// The value over all steps, with a line where we are.
function trace(values) {
  const most = Math.max(...values), high = most - Math.min(...values);
  const points = values.map((value, i) => `${i},${most - value}`).join(" ");
  $in(".trace").innerHTML = `<svg viewBox="0 0 ${values.length - 1} ${high}"
    preserveAspectRatio="none" role="img" aria-label="The value that the agent
    expects, at each step"><polyline points="${points}"/>
    <line y2="${high}"/></svg>`;
}

// The four newest frames; those before the first of a life are that first one.
function stackAt(i) {
  const first = decisions.findLastIndex((step, j) => step[3] && j <= i);
  return [i - 3, i - 2, i - 1, i].map((j) => frames[Math.max(j, first)]);
}

function show(at) {
  const i = at - 1, [action, reward, lives, , value, chances] = decisions[i];
  put(screen, "the screen", screens[i], "", colours);
  stackAt(i).forEach((frame, slot) =>
    put(stack[slot], `obs_4[${slot}]`, frame));
  chances.forEach((chance, a) => {
    const row = $in(".choices").children[a], [told, bar] = row.children;
    row.className = a === action ? "drawn" : "";
    told.textContent = percent(chance);
    bar.value = chance;
  });
  $in("line").setAttribute("transform", `translate(${i})`);
  const score = decisions.slice(0, i).reduce((sum, step) => sum + step[1], 0);
  return `Step ${at}: lives ${lives}, score ${score}. It expects ` +
    `${value.toFixed(2)} in rewards to come and draws ${ACTIONS[action]}, ` +
    `which it gave ${percent(chances[action])}. Its reward: ${reward}.`;
}

film(figure, async () => {
  const recorded = await read("agent");
  decisions = recorded.decisions;
  colours = packed(recorded.rgb);
  screens = await unpack(recorded.screens, WIDTH * HEIGHT);
  frames = await unpack(recorded.frames, SIZE ** 2);
  trace(decisions.map((step) => step[4]));
  const point = decisions.findIndex((step) => step[1]) + 1;
  const lost = decisions.flatMap((step, i) => step[3] && i ? [i] : []);
  const places = [{ at: point, text: "first point" },
    ...lost.map((at) => ({ at, text: "lost life" }))];
  return { count: decisions.length, places };
}, show);
})();
