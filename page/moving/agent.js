// Two agents, one that has just begun to learn: what they see, choose, expect.
(() => {
const AHEAD = 120;  // steps shown before the second expects most
const figure = $("agent-figure");

const $in = (selector) => figure.querySelector(selector);
const [screen] = cells($in(".whole"), 1), stack = cells($in(".four"), 4);
const names = ["NOOP", "FIRE <small>no effect</small>", "RIGHT", "LEFT"];
$in(".choices").innerHTML =
  names.map((name) => `<div>${name}<span></span></div>`).join("");
let moments = null;

const percent = (share) => `${Math.round(100 * share)}\u00a0%`;

// What a recording shows at each of its decisions.
async function unroll(recorded) {
  const screens = await unpack(recorded.screens, WIDTH * HEIGHT);
  const frames = await unpack(recorded.frames, SIZE ** 2);
  const colours = packed(recorded.rgb);
  const millions = Number((recorded.trained / 1e6).toFixed(1));
  let pictures = frames.slice(0, 3);
  return recorded.decisions.map((decision, i) => {
    const [action, reward, , first, value, chances] = decision;
    const newest = frames[3 + i];
    pictures = first ? Array(4).fill(newest) : [...pictures.slice(-3), newest];
    return { age: `Trained ${millions} M steps`,
      screen: screens[i], colours, pictures, action, reward, value, chances,
      lost: Boolean(recorded.decisions[i + 1]?.[3]) };
  });
}

// The value over all steps, from 0, with a line where we are and one where the
// second agent begins.
function trace(values, begins) {
  const high = Math.ceil(Math.max(...values)), last = values.length - 1;
  const points = values.map((value, i) => `${i},${high - value}`);
  const lines = [points.slice(0, begins), points.slice(begins)].map((part) =>
    `<polyline points="${part.join(" ")}"/>`).join("");
  const most = 100 * values.indexOf(Math.max(...values)) / last;
  $in(".trace").innerHTML = `<svg viewBox="0 0 ${last} ${high}"
    preserveAspectRatio="none" role="img" aria-label="The value that the agent
    expects, at each step"><line class="axis" x2="${last}"/>
    <line class="axis" x2="${last}" y1="${high}" y2="${high}"/>
    <line class="axis" x1="${begins}" x2="${begins}" y2="${high}"/>
    ${lines}<line class="now" y2="${high}"/></svg>
    <span style="top:0">${high}</span><span style="top:100%">0</span>
    <small style="left:${most}%">↙ behind the wall</small>
    <small class="other" style="left:${100 * begins / last}%">trained 10 M steps →</small>`;
}

function show(at) {
  const now = moments[at - 1];
  $in(".age").textContent = now.age;
  put(screen, "the screen", now.screen, "plain", now.colours);
  now.pictures.forEach((picture, slot) =>
    put(stack[slot], `obs_4[${slot}]`, picture));
  now.chances.forEach((chance, a) => {
    const row = $in(".choices").children[a];
    row.className = a === now.action ? "chosen" : "";
    row.lastElementChild.textContent = percent(chance);
    row.style.setProperty("--share", `${100 * chance}%`);
  });
  $in(".now").setAttribute("transform", `translate(${at - 1})`);
  $in(".value").textContent = now.value.toFixed(2);
  let name = ACTIONS[now.action];
  if (now.reward) name += ` and scores ${now.reward}, a reward of 1`;
  if (now.lost) name += " and loses a life";
  return `It samples ${name}.`;
}

film(figure, async () => {
  const young = await unroll(await read("young"));
  const trained = await unroll(await read("agent"));
  const expected = trained.map((now) => now.value);
  const most = expected.indexOf(Math.max(...expected));
  moments = [...young, ...trained.slice(most - AHEAD)];
  trace(moments.map((now) => now.value), young.length);
  const steps = (happens) =>
    moments.flatMap((now, i) => (happens(now) ? [i + 1] : []));
  return { count: moments.length, pace: 15,
    ticks: steps((now) => now.reward || now.lost),
    lost: steps((now) => now.lost) };
}, show);
})();
