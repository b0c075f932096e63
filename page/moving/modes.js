// The same steps under the three modes, around a lost life.
(() => {
const figure = $("modes-figure");
const { ACTIONS, GRAYS, HEIGHT, SIZE, WIDTH, WHOLE, cells, packed, put } =
  shared;
const NAMES = ["restart", "continue", "ignore"];
const FACTS = ["lives", "reward", "done", "episode_info"];
const BEHIND = 3; // steps before the first one shown, for its stack

let colours = null, played = null, first = null, lost = null;

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

async function prepare() {
  const recorded = await read("modes");
  first = recorded.first;
  colours = recorded.rgb.map(packed);
  played = NAMES.map((mode) => shared.follow(mode, recorded));
  window.modes = { first, played };
  lost = played[0].findIndex(({ done }) => done) + first;
  const start = first + BEHIND;
  return {
    count: played[0].length - BEHIND, first: start, start: lost - 2, pace: 3,
    marks: [{ at: lost - 1, text: "before", kind: "brick" },
      { at: lost, text: "lost life", kind: "end" },
      { at: lost + 1, text: "the next step", kind: "brick" }],
  };
}

const python = (value) => value === null ? "None"
  : value === true ? "True" : value === false ? "False" : String(value);
function pythonInfo(info) {
  if (!info) return "None";
  const items = Object.entries(info).map(([k, v]) => `"${k}": ${python(v)}`);
  return `{${items.join(", ")}}`;
}

// Which of the three isn't like the other two; all, if no two are alike.
function odd(values) {
  const texts = values.map(String);
  return texts.map((one) => texts.indexOf(one) === texts.lastIndexOf(one));
}

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
  const screens = odd(now.map(({ screen }) => screen));
  const stacks = odd(now.map(({ stack }) => stack));
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
  const [restart, goOn] = now, since = at - lost;
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

shared.film(figure, { prepare, show, hold: (at) => at === lost ? 9 : 1 });
})();
