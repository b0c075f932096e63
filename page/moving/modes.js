// The same steps under the three modes, around a lost life.
(() => {
const figure = $("modes-figure");
if (!figure) return;
const { ACTIONS, GRAYS, HEIGHT, SIZE, WIDTH, cells, packed, paint, put,
  shrink, unpack, WHOLE } = shared;
const NAMES = ["restart", "continue", "ignore"];
const FACTS = ["lives", "reward", "done", "episode_info"];
const BEHIND = 3; // steps before the first one shown, for its stack

let colours = null, played = null;
const { first, modes: recorded } = read("modes");
const count = recorded.restart.steps.length - BEHIND;
const start = first + BEHIND;

const boxes = NAMES.map((name) => {
  const box = figure.querySelector(".three")
    .appendChild(document.createElement("div"));
  box.className = "mode";
  box.innerHTML = `<p><code>"${name}"</code></p>
    <div class="seen"><div class="screen"></div><div class="four"></div></div>
    <div class="final"><div class="four"></div><dl></dl></div><dl></dl>`;
  const [beside, below] = box.querySelectorAll("dl"), facts = {};
  for (const fact of FACTS) {
    const place = fact === "episode_info" ? below : beside;
    const row = place.appendChild(document.createElement("div"));
    row.innerHTML = `<dt>${fact}</dt><dd></dd>`;
    facts[fact] = row;
  }
  const [seen, final] = box.querySelectorAll(".four");
  return {
    facts, screen: cells(box.querySelector(".screen"), 1, WIDTH, HEIGHT)[0],
    stack: cells(seen, 4, SIZE, SIZE), final: cells(final, 1, SIZE, SIZE)[0],
  };
});

// What `Game` returns at each step of a mode, worked out from its frames.
function follow(mode, { steps, frames }, gray) {
  const screens = unpack(frames), begin = screens.next().value;
  const brightness = (screen) => screen.map((colour) => gray[colour]);
  let stack = [];
  return steps.map(([action, kept, shown, reward, lives, done, info]) => {
    const last = Array.from({ length: kept }, () => screens.next().value);
    const picture = shrink(last.map(brightness).reduce(
      (a, b) => a.map((v, i) => Math.max(v, b[i]))));
    stack = [...stack, picture].slice(-4);
    const restarts = done && mode === "restart";
    const screen = restarts ? begin : last[kept - 1];
    const final = done ? stack : null;
    if (done) stack = Array(4).fill(shrink(brightness(screen)));
    return { action, shown, reward, lives, done, info, screen, final, stack };
  });
}

function prepare() {
  const { rgb, gray } = read("modes");
  colours = rgb.map(packed);
  played = NAMES.map((mode) => follow(mode, recorded[mode], gray));
  window.modes = { first, played };
}

const python = (value) => value === null ? "None"
  : value === true ? "True" : value === false ? "False" : String(value);
function pythonInfo(info) {
  if (!info) return "None";
  const items = Object.entries(info).map(([k, v]) => `"${k}": ${python(v)}`);
  return `{${items.join(", ")}}`;
}

// Which of the three isn't like the other two; all, if no two are alike.
function odd(values, alike = Object.is) {
  return values.map((value) =>
    values.filter((other) => alike(other, value)).length === 1);
}

function alikePictures(one, other) {
  if (one === other) return true;
  for (let i = 0; i < one.length; i++) {
    if (one[i] !== other[i]) return false;
  }
  return true;
}
const alikeStacks = (one, other) =>
  one.every((picture, slot) => alikePictures(picture, other[slot]));

const AS_TEXT = {
  lives: (step) => python(step.lives),
  reward: (step) => python(step.reward),
  done: (step) => python(Boolean(step.done)),
  episode_info: (step) => pythonInfo(step.info),
};

function show(at) {
  const now = played.map((steps) => steps[at - first]);
  for (const fact of FACTS) {
    const values = now.map(AS_TEXT[fact]), marked = odd(values);
    boxes.forEach(({ facts }, m) => {
      facts[fact].lastChild.textContent = values[m];
      facts[fact].classList.toggle("differs", marked[m]);
    });
  }
  const screens = odd(now.map(({ screen }) => screen), alikePictures);
  const stacks = odd(now.map(({ stack }) => stack), alikeStacks);
  now.forEach((step, m) => {
    const { screen, stack, final } = boxes[m];
    put(screen, "the screen", screens[m] ? "kept" : "", step.screen, WIDTH,
      colours, WHOLE);
    step.stack.forEach((picture, slot) =>
      put(stack[slot], `obs_4[${slot}]`, stacks[m] ? "kept" : "", picture,
        SIZE));
    const label = step.final ? "final_obs[3]" : "no final_obs";
    put(final, label, "", step.final?.[3], SIZE);
  });
  return tell(at, now);
}

function tell(at, now) {
  const [restart, goOn] = now, lost = played[0].findIndex(({ done }) => done);
  const since = at - first - lost;
  const action = `Step ${at}: ${ACTIONS[restart.action]}. `;
  if (since < 0) {
    return `${action}${-since} before the lost life: all three are the ` +
      "same, to the last bit.";
  }
  if (!since) {
    return `${action}The ball is lost. Under "restart" and "continue" the ` +
      `step stops at frame ${restart.shown} and is done: the one starts ` +
      "over, the other goes on with its screen as it is, four times. " +
      `"ignore" plays all four frames as if nothing had happened.`;
  }
  if (since < BEHIND + 1) {
    const left = 4 - since;
    return `${action}${since} after the lost life: ${left} of the four ` +
      `pictures are still the first one under "restart" and "continue"; ` +
      `"ignore" remembers the ball before it was lost.`;
  }
  return `${action}"restart" plays a new game with ${restart.lives} lives ` +
    "and no points, the other two the same game with " +
    `${goOn.lives} lives.`;
}

const lost = recorded.restart.steps.findIndex((step) => step[5]) + first;
shared.film(figure, {
  count, first: start, start: lost - 2, pace: 3, show, prepare,
  hold: (at) => at === lost ? 9 : 1,
  marks: [{ at: lost - 1, text: "before", kind: "brick" },
    { at: lost, text: "lost life", kind: "end" },
    { at: lost + 1, text: "the next step", kind: "brick" }],
});
})();
