// One step, taken apart.
(() => {
const figure = $("moving");
if (!figure) return;
const { ACTIONS, GRAYS, HEIGHT, SIZE, WIDTH, ballOf, cells, look, paddleOf,
  paint, put, stackOf } = shared;
const START = 26; // shortly before a brick
const AMONG_BRICKS = 4; // steps at most

const raw = cells($("raw"), 4, WIDTH, HEIGHT);
const middle = cells($("gray"), 4, WIDTH, HEIGHT);
const newest = middle[3].firstChild;
newest.width = newest.height = 2 * SIZE;
newest.style.width = `${2 * SIZE}px`;
const stack = cells($("stack"), 4, 2 * SIZE, 2 * SIZE);
const stages = figure.querySelector(".stages");
let steps = null;

function frameWhere(step, [x, y, w, h]) {
  const last = step.frames[step.frames.length - 1];
  paint($("where"), last, WIDTH, step.colours, shared.WHOLE);
  const pen = $("where").getContext("2d");
  pen.strokeStyle = "#fff";
  pen.lineWidth = 2;
  pen.strokeRect(x * WIDTH, y * HEIGHT, w * WIDTH, h * HEIGHT);
}

// While the ball is among the bricks, the view stays where it was.
function viewOf(i) {
  for (let j = i; j > steps[i].before && j > i - AMONG_BRICKS; j--) {
    const view = look(steps[j], $("near").checked && !steps[i].done);
    if (view !== shared.WHOLE) return view;
  }
  return shared.WHOLE;
}

function show(at) {
  const i = at - 1, step = steps[i];
  const shown = step.frames.length, early = shown < 3;
  const view = viewOf(i);
  stages.classList.toggle("whole", view === shared.WHOLE);
  $("action").textContent = ACTIONS[step.action];
  $("reward").textContent = step.reward;
  $("lives").textContent = step.lives;
  $("done").textContent = step.done ? "True" : "False";
  frameWhere(step, view);
  const counts = (f) => f >= 2 ? shown > f : early && f === shown - 1;
  raw.forEach((cell, f) => {
    const label = `frame ${f + 1}` + (f < shown ? "" : ": not played");
    put(cell, label, counts(f) ? "kept" : "thrown", step.frames[f], WIDTH,
      step.colours, view);
  });
  const names = early ? [`frame ${shown}`, "–"] : ["frame 3", "frame 4"];
  const kept = step.kept();
  names.forEach((name, n) =>
    put(middle[n], name, "", kept[n], WIDTH, GRAYS, view));
  const brighter = early ? "alone" : "the brighter";
  put(middle[2], brighter, "", step.brighter(), WIDTH, GRAYS, view);
  put(middle[3], "84 × 84", "kept", step.picture(), SIZE, GRAYS, view);
  stackOf(steps, i).forEach((picture, slot) => {
    const fresh = slot === 3 && !step.done;
    const age = fresh ? ", the newest" : slot ? "" : ", the oldest";
    put(stack[slot], `obs_4[${slot}]${step.done ? "" : age}`,
      fresh ? "kept" : "", picture, SIZE, GRAYS, view);
  });
  return tell(step, i);
}

// What one thing did from the last frame of a step to that of the next.
function moved(find, i) {
  const [before, now] = [steps[i - 1], steps[i]].map((step) =>
    step && find(step.frames[step.frames.length - 1]));
  return before && now && [now.x - before.x, now.y - before.y].map(Math.round);
}
const pixels = (n) => `${Math.abs(n)} pixel${Math.abs(n) === 1 ? "" : "s"}`;

function tellPaddle(step, i) {
  const by = moved(paddleOf, i)?.[0];
  const held = `${ACTIONS[step.action]} is held: the paddle `;
  if (!by) return `${held}stays. `;
  return `${held}goes ${pixels(by)} to the ${by > 0 ? "right" : "left"}. `;
}

function tellBall(i) {
  const by = moved(ballOf, i);
  if (!by) return "";
  const [across, down] = by;
  const way = !down ? "turns" : `${down > 0 ? "falls" : "rises"} by ` +
    pixels(down);
  if (!across) return `The ball ${way}. `;
  return `The ball ${way} and goes ${Math.abs(across)} to the ` +
    `${across > 0 ? "right" : "left"}. `;
}

function tell(step, i) {
  const shown = step.frames.length, at = i + 1, age = i - step.before;
  if (step.done) {
    return `Step ${at}: the ball is lost on frame ${shown}, and the step ` +
      "stops there: done. Its picture goes to game.final_obs. The game has " +
      "started over already: the stack is its first screen, four times.";
  }
  if (age < 5) {
    const old = 4 - age, serve = step.action === 1 ? "FIRE is held. " : "";
    return `Step ${at}: ${serve}${age} of a new episode. In the stack, ` +
      (old ? `${old} of four pictures are still its first screen.`
        : "its first screen has given way to four new pictures.");
  }
  const motion = tellPaddle(step, i) + tellBall(i);
  if (step.reward) {
    return `Step ${at}: a brick. ${motion}The reward, ${step.reward}, is ` +
      "the sum over the four frames, whichever of them it came on.";
  }
  return `Step ${at}: ${motion}Of frames 3 and 4 the brighter pixels become ` +
    `obs_4[3]; the picture of step ${at - 4} leaves the stack.`;
}

const eventful = new Set();
async function prepare() {
  steps = await shared.recording();
  window.moving = { steps, stack: (i) => stackOf(steps, i) };
  const marks = [];
  steps.forEach(({ reward, done }, i) => {
    if (reward) marks.push({ at: i + 1, text: "brick", kind: "brick" });
    if (!done) return;
    marks.push({ at: i + 1, text: "lost ball", kind: "end" });
    marks.push({ at: i + 2, text: "new episode", kind: "end" });
  });
  for (const { at } of marks) eventful.add(at);
  return { count: steps.length, start: START, marks };
}

const { draw } = shared.film(figure, {
  prepare, show, hold: (at) => eventful.has(at) ? 12 : 1,
});
const close = () => stages.classList.toggle("close", $("near").checked);
$("near").addEventListener("change", () => { close(); draw(); });
close();
figure.querySelector(".parts").addEventListener("change", (event) => {
  stages.dataset.part = event.target.value;
});
})();
