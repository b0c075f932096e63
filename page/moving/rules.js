// Rules to break: what an agent would see and be told without each of them.
(() => {
const figure = $("rules-figure");
const { HEIGHT, SIZE, WIDTH, ballOf, brighter, calm, cells, percent, plural,
  put, shrink, unpack } = shared;
const CUT = 42; // of a picture's 84 pixels, around the ball
const STACK = ["obs_4[0]", "obs_4[1]", "obs_4[2]", "obs_4[3]"];

const $in = (selector) => figure.querySelector(selector);
const sides = [...$in(".sides").children].map((side) => ({
  side, what: side.querySelector("span"),
  four: cells(side.querySelector(".four"), 4),
}));
const answers = $in(".answers"), [rise, fall, next] = answers.children;

let steps = null, asteroids = null, demons = null, noFire = null;
let first = null, lost = null, ends = null, goesOn = null; // a lost life
let starts = null, games = null; // by numbers of no-ops
let ways = null, asked = null, answered = "", right = 0, rounds = 0; // a quiz

// Screens two by two, as the last two frames of each step.
async function pairs(text) {
  const screens = await unpack(text);
  return Array.from({ length: screens.length / 2 }, () => screens.splice(0, 2));
}
const picture = (pair) => shrink(pair.reduce(brighter));

// Where the ball is in a picture; among the bricks, where it was before.
function around(i) {
  const ball = ballOf(steps[i].screen);
  if (!ball) return around(i - 1);
  const start = (v, size) => Math.max(0,
    Math.min(SIZE - CUT, Math.round(v / size * SIZE - CUT / 2)));
  return [start(ball[0], WIDTH), start(ball[1], HEIGHT), CUT];
}

// A part of a picture, brighter.
function closeUp(pixels, [x, y, size]) {
  const part = pixels.filter((_, i) => {
    const column = i % SIZE - x, row = Math.floor(i / SIZE) - y;
    return column >= 0 && column < size && row >= 0 && row < size;
  });
  return Uint8ClampedArray.from(part, (v) => 1.6 * v);
}

// How far the ball flies from one screen to another, in pixels.
function way(one, other) {
  const from = ballOf(one), to = ballOf(other);
  return from && to && Math.round(Math.hypot(to[0] - from[0], to[1] - from[1]));
}

// For each rule: what stands above the pictures, the film, the pictures at a
// step of it with the rule kept and broken, the part of them that is shown,
// and the sentence on that.
const RULES = {
  maximum: {
    heads: ["the brighter of two frames", "one frame alone"],
    reel: () => ({ count: asteroids.length - 1, pace: 2.5 }),
    see: (at) => [[picture(asteroids.slice(at - 1, at + 1))],
      [shrink(asteroids[at])]],
    tell(at, [[kept], [broken]]) {
      const lit = kept.filter((v) => v).length;
      const dark = kept.filter((v, i) => v && !broken[i]).length / lit;
      return `Frame ${at} of Asteroids: the ` +
        `${dark > 1 / 2 ? "rocks are" : "ship is"} gone, and with that ` +
        `${percent(dark)} of the lit pixels. The last frame of each ` +
        "step falls on the same half: who looks at that alone never sees " +
        "the other.";
    },
  },
  order: {
    heads: ["the maximum, then shrunk", "shrunk, then the maximum"],
    part: () => [28, 14, 56], // where the demons fly
    reel: () => ({ count: demons.length, pace: 4 }),
    see: (at) => [[picture(demons[at - 1])],
      [demons[at - 1].map(shrink).reduce(brighter)]],
    tell(at, [[kept], [broken]]) {
      const darker = Array.from(kept, (v, i) => v - broken[i]);
      return `Step ${at} of Demon Attack: what is small and moves fades. ` +
        `${darker.filter((v) => v).length} of 7,056 pixels are darker, by ` +
        `up to ${Math.max(...darker)}.`;
    },
  },
  frames: {
    heads: ["of the last four steps", "the last four frames"],
    part: (at) => around(at - 1),
    reel: () => ({ first: 40, count: 60, start: 53 }),
    see: (at) => [steps[at - 1].stack, steps[at - 1].grays.map(shrink)],
    tell(at) {
      const { frames, screen } = steps[at - 1];
      const far = way(steps[at - 4].screen, screen);
      const near = way(frames[0], screen);
      if (!far || !near) return `Step ${at}: the ball is among the bricks.`;
      return `Step ${at}: the ball stands all but still. From the oldest ` +
        `picture to the newest it flies ${plural(near, "pixel")} of the ` +
        `screen in place of ${far}.`;
    },
  },
  one: {
    heads: ["four pictures", "the newest alone"],
    part: () => around(asked.at - 1),
    reel() {
      ask();
      return { count: 1 };
    },
    see() {
      const { stack, picture } = steps[asked.at - 1];
      return [answered ? stack : [null, null, null, null], [picture]];
    },
    tell() {
      const known = rounds ? ` You were right in ${right} of ` +
        `${plural(rounds, "round")}; by chance it is half of them.` : "";
      if (!answered) return `Does the ball rise or fall?${known}`;
      return `${answered}: in step ${asked.at} it ` +
        `${asked.up ? "rises" : "falls"}. One picture can't tell, four ` +
        `do.${known}`;
    },
  },
  fire: {
    heads: ["FIRE first", "NOOP in place of FIRE"],
    reel: () => ({ count: noFire.length, start: 12, pace: 5 }),
    see: (at) => [[steps[at - 1].picture], [picture(noFire[at - 1])]],
    tell(at) {
      const points = steps.slice(0, at).reduce((n, s) => n + s.reward, 0);
      return `Step ${at}: with FIRE in step 1 there are ` +
        `${plural(points, "point")}. Without it no ball comes: 0 points and ` +
        "no lost life, until the frame limit of half an hour.";
    },
  },
  life: {
    heads: ["a lost life is an end", "it is none"],
    reel: () => ({ first: first + 3, count: ends.length - 3, start: lost - 2,
      pace: 3, marks: [{ at: lost, text: "lost life" }] }),
    see: (at) => [ends[at - first].stack, goesOn[at - first].stack],
    tell(at) {
      if (at < lost) {
        return `Step ${at}: ${lost - at} before the lost life. Both are the ` +
          "same.";
      }
      return `Step ${at}: a life was lost in step ${lost}. As an end: done ` +
        "was True, and nothing of what comes later counts for what was done " +
        "before. As none: only the count of lives tells of it.";
    },
  },
  noops: {
    heads: ["1 to 30 no-ops first", "none"],
    reel: () => ({ count: starts.length - 1, pace: 2 }),
    see: () => [games.map(([start]) => starts[start]), [starts[0]]],
    labels: () => games.map((game) => `${game[0]}, ${game[1]}, …`),
    mark: (at) => games.findIndex((game) => game.includes(at)),
    tell(at) {
      const game = games.find((one) => one.includes(at));
      const others = game.filter((n) => n !== at).join(", ");
      return `After ${plural(at, "no-op")} the same actions make the same ` +
        `game as after ${others}. Thirty starts make ${games.length} ` +
        "different games; without no-ops all are one.";
    },
  },
};
let rule = RULES.maximum;

async function prepare() {
  const recorded = await read("rules");
  ({ ways } = await read("recording"));
  ({ first, lost, played: [ends, , goesOn] } = await shared.modes());
  steps = await shared.recording();
  const screens = await unpack(recorded.asteroids);
  const half = Math.ceil(screens.length / 2); // of them are the even ones
  asteroids = screens.map((_, t) => screens[t % 2 * half + (t >> 1)]);
  demons = await pairs(recorded.demons);
  noFire = await pairs(recorded.no_fire);
  starts = (await pairs(recorded.no_ops)).map(picture);
  const numbers = [...starts.keys()].slice(1);
  games = [...Map.groupBy(numbers, (n) => starts[n].join()).values()];
  window.rules = { see: (name, at) => RULES[name].see(at),
    games: () => games, asked: () => asked };
  return rule.reel();
}

function show(at) {
  const seen = rule.see(at), part = rule.part?.(at);
  sides.forEach(({ side, what, four }, s) => {
    const alone = seen[s].length === 1;
    const labels = alone ? ["obs_4[3]"] : rule.labels?.() ?? STACK;
    const mark = alone ? -1 : rule.mark?.(at);
    what.textContent = rule.heads[s];
    side.classList.toggle("alone", alone);
    seen[s].forEach((pixels, i) => put(four[i], labels[i],
      part && pixels ? closeUp(pixels, part) : pixels,
      i === mark ? "kept" : ""));
  });
  return rule.tell(at, seen);
}

// The quiz: one picture, and the four of them after the answer.
function ask() {
  const [at, up] = ways[Math.floor(Math.random() * ways.length)];
  asked = { at, up };
  answered = "";
  rise.disabled = fall.disabled = false;
  next.disabled = true;
}

function answer(good) {
  answered = good ? "Right" : "Wrong";
  rounds += 1;
  right += Number(good);
  rise.disabled = fall.disabled = true;
  next.disabled = false;
}

for (const button of answers.children) {
  button.addEventListener("click", () => {
    if (button === next) ask();
    else answer(Number(button.value) === asked.up);
    film.go(false);
    answers.querySelector(":enabled").focus({ preventScroll: true });
  });
}

const film = shared.film(figure, prepare, show);
$in("fieldset").addEventListener("change", ({ target }) => {
  rule = RULES[target.value];
  answers.hidden = rule !== RULES.one;
  if (!steps) return;
  film.load(rule.reel());
  film.go(answers.hidden && !calm);
});
})();
