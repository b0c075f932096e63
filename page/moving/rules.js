// Rules to break: what an agent would see and be told without each of them.
(() => {
const figure = $("rules-figure");
const { GRAYS, HEIGHT, SIZE, WHOLE, WIDTH, ballOf, brighter, cells, follow,
  percent, plural, put, shrink, stackOf, unpack } = shared;
const CUT = 42; // of a picture's 84 pixels, around the ball
const DEMONS = [28 / SIZE, 14 / SIZE, 56 / SIZE, 56 / SIZE]; // where they fly

const $in = (selector) => figure.querySelector(selector);
const sides = [...figure.querySelectorAll(".side")].map((side) => ({
  side, title: side.querySelector("b"), what: side.querySelector("span"),
  big: cells(side.querySelector(".big"), 1, 2 * SIZE, 2 * SIZE),
  four: cells(side.querySelector(".four"), 4, SIZE, SIZE),
}));
const answers = $in(".answers"), [rise, fall, next] = answers.children;

let steps = null, asteroids = null, demons = null, noFire = null;
let modes = null, lost = null, starts = null; // what was recorded
let ways = null, rule = null; // and the quiz
let asked = null, answered = "", right = 0, rounds = 0;

// Screens two by two, as the last two frames of each step.
function* inPairs(screens) {
  for (let one; !(one = screens.next()).done;) {
    yield [one.value, screens.next().value];
  }
}
const picture = (pair) => shrink(pair.reduce(brighter));
const same = (one, other) => one.every((v, i) => v === other[i]);
const count = (pixels, fits) => pixels.reduce((n, v, i) => n + fits(v, i), 0);
const lastOf = (step) => step.frames.at(-1);

// The part of a picture around the ball; among the bricks, as it was before.
function around(i) {
  const ball = ballOf(lastOf(steps[i]));
  if (!ball) return around(i - 1);
  const start = (v, size) => Math.min(Math.max(
    Math.round(v / size * SIZE - CUT / 2), 0), SIZE - CUT) / SIZE;
  const { x, y } = ball;
  return [start(x, WIDTH), start(y, HEIGHT), CUT / SIZE, CUT / SIZE];
}

// How far the ball flies from one screen to another, in pixels.
function way(one, other) {
  const [from, to] = [one, other].map(ballOf);
  return from && to && Math.round(Math.hypot(to.x - from.x, to.y - from.y));
}

// For each rule: what stands above the pictures, the film, what is seen at a
// step of it with the rule kept and broken, and the sentence on that.
const RULES = {
  maximum: {
    heads: ["the brighter of two frames", "one frame alone"],
    reel: () => ({ name: "Frame", count: asteroids.length - 1, start: 2,
      pace: 2.5 }),
    see: (at) => [[picture([asteroids[at - 1], asteroids[at]])],
      [shrink(asteroids[at])]],
    tell(at, [[kept], [broken]]) {
      const lit = count(kept, (v) => v > 0);
      const dark = count(kept, (v, i) => v > 0 && !broken[i]);
      const gone = dark > lit / 2 ? "rocks are" : "ship is";
      return `Frame ${at} of Asteroids: the ${gone} gone, and with that ` +
        `${percent(dark / lit)} of the lit pixels. A step has four frames: ` +
        "its last always falls on the same half, and an agent that looks at " +
        "that alone never sees the other.";
    },
  },
  order: {
    heads: ["the maximum, then shrunk", "shrunk, then the maximum"],
    view: () => DEMONS,
    reel: () => ({ count: demons.length, pace: 4 }),
    see: (at) => [[picture(demons[at - 1])],
      [demons[at - 1].map(shrink).reduce(brighter)]],
    tell(at, [[kept], [broken]]) {
      const by = [...kept].map((v, i) => v - broken[i]);
      const most = Math.max(...by), worst = by.indexOf(most);
      return `Step ${at} of Demon Attack: what is small and moves fades. ` +
        `${count(by, (v) => v !== 0)} of 7,056 pixels are darker, by up to ` +
        `${most}: ${broken[worst]} in place of ${kept[worst]}.`;
    },
  },
  frames: {
    heads: ["of the last four steps", "the last four frames"],
    view: (at) => around(at - 1),
    reel: () => ({ first: 40, count: 60, start: 53 }),
    see: (at) => [stackOf(steps, at - 1), steps[at - 1].grays().map(shrink)],
    tell(at) {
      const { frames } = steps[at - 1];
      const far = way(lastOf(steps[at - 4]), frames[3]);
      const near = way(frames[0], frames[3]);
      if (!far || !near) return `Step ${at}: the ball is among the bricks.`;
      return `Step ${at}: the ball stands all but still. From the oldest ` +
        `picture to the newest it flies ${plural(near, "pixel")} of the ` +
        `screen in place of ${far}.`;
    },
  },
  one: {
    heads: ["four pictures", "the newest alone"],
    view: () => around(asked.at - 1),
    reel: () => ({ count: 1 }),
    see: () => [answered ? stackOf(steps, asked.at - 1) : Array(4).fill(null),
      [steps[asked.at - 1].picture()]],
    tell() {
      const known = rounds ? ` You were right in ${right} of ` +
        `${plural(rounds, "round")}; by chance it is half of them.` : "";
      if (!answered) return `Does the ball rise or fall?${known}`;
      const way = asked.up ? "rises" : "falls";
      return `${answered}: in step ${asked.at} it ${way}. One picture can't ` +
        `tell, four do.${known}`;
    },
  },
  fire: {
    heads: ["FIRE first", "NOOP in place of FIRE"],
    reel: () => ({ count: noFire.length, start: 12, pace: 5 }),
    see: (at) => [[steps[at - 1].picture()], [picture(noFire[at - 1])]],
    tell(at) {
      const points = steps.slice(0, at).reduce((n, s) => n + s.reward, 0);
      return `Step ${at}: with FIRE in step 1 there are ` +
        `${plural(points, "point")}. Without it the paddle moves, no ball ` +
        "comes, there are 0 points and no lost life, and so it stays until " +
        "the frame limit of half an hour.";
    },
  },
  life: {
    heads: ["a lost life is an end", "it is none"],
    reel: () => ({ first: modes.first + 3, count: modes.ignore.length - 3,
      start: lost - 2, pace: 3 }),
    see: (at) => [modes.restart[at - modes.first].stack,
      modes.ignore[at - modes.first].stack],
    tell(at) {
      const since = at - lost, left = 4 - since;
      const { reward } = modes.ignore[at - modes.first];
      if (since < 0) {
        return `Step ${at}: ${-since} before the ball is lost. Both are the ` +
          "same.";
      }
      if (!since) {
        return `Step ${at}: the ball is lost. As an end: done is True, and ` +
          "nothing of what comes later counts for what was done before. As " +
          `none: done is False and the reward ${reward}, as if nothing had ` +
          "happened.";
      }
      const old = left > 0 ? `${left} of the four pictures are those of ` +
        "before" : "all that tells of the loss is the count of lives";
      return `Step ${at}: ${since} after the lost ball. As an end, a new ` +
        `episode; as none, ${old}.`;
    },
  },
  noops: {
    heads: ["1 to 30 no-ops first", "none"],
    reel: () => ({ name: "No-ops", count: starts.length - 1, pace: 2 }),
    see: () => [games().map(([first]) => starts[first]), [starts[0]]],
    labels: () => games().map((list) =>
      `${list[0]}, ${list[1]}, … ${list[list.length - 1]}`),
    mark: (at) => games().findIndex((list) => list.includes(at)),
    tell(at) {
      const all = games(), list = all.find((one) => one.includes(at));
      return `After ${plural(at, "no-op")}, and then step by step the same ` +
        `actions, the game is that after ${list.filter((n) => n !== at)
          .join(", ")}. Thirty starts make ${all.length} different games; ` +
        "without no-ops all are the same one.";
    },
  },
};

// Which numbers of no-ops, from 1 on, lead to the same picture.
function games() {
  const groups = [];
  for (let n = 1; n < starts.length; n++) {
    const group = groups.find(([first]) => same(starts[first], starts[n]));
    if (group) group.push(n);
    else groups.push([n]);
  }
  return groups;
}

async function prepare() {
  const [recorded, lives] = [await read("rules"), await read("modes")];
  ways = (await read("recording")).ways;
  steps = await shared.recording();
  const screens = [...unpack(recorded.asteroids)];
  const half = Math.ceil(screens.length / 2); // of them are the even ones
  asteroids = screens.map((_, t) => screens[t % 2 * half + (t >> 1)]);
  demons = [...inPairs(unpack(recorded.demons))];
  noFire = [...inPairs(unpack(recorded.no_fire))];
  starts = [...inPairs(unpack(recorded.no_ops))].map(picture);
  modes = { first: lives.first, restart: follow("restart", lives),
    ignore: follow("ignore", lives) };
  lost = modes.restart.findIndex(({ done }) => done) + modes.first;
  window.rules = { see: (name, at) => RULES[name].see(at), games,
    asked: () => asked };
  return rule.reel();
}

function show(at) {
  const seen = rule.see(at), view = rule.view?.(at) ?? WHOLE;
  $in(".sides").classList.toggle("near", view !== WHOLE);
  const kept = rule === RULES.fire ? "The rule kept" : "As DQN saw it";
  sides.forEach(({ side, title, what, big, four }, s) => {
    const pictures = seen[s], stack = pictures.length > 1;
    title.textContent = s ? "With the rule broken" : kept;
    what.textContent = rule.heads[s];
    side.classList.toggle("stack", stack);
    pictures.forEach((pixels, i) => {
      const age = ["the oldest", "", "", "the newest"][i];
      const label = stack ? rule.labels?.()[i] ?? age : "";
      const kind = stack && rule.mark?.(at) === i ? "kept" : "";
      const cell = (stack ? four : big)[i];
      put(cell, label, kind, pixels, SIZE, GRAYS, view);
      cell.firstChild.setAttribute("aria-label",
        `${title.textContent}: ${what.textContent} ${label}`);
    });
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

function answer(button) {
  const good = Number(button.value) === asked.up;
  answered = good ? "Right" : "Wrong";
  rounds += 1;
  right += Number(good);
  rise.disabled = fall.disabled = true;
  next.disabled = false;
  film.draw();
  next.focus({ preventScroll: true });
}

rise.addEventListener("click", () => answer(rise));
fall.addEventListener("click", () => answer(fall));
next.addEventListener("click", () => {
  ask();
  film.draw();
  rise.focus({ preventScroll: true });
});

rule = RULES.maximum;
const film = shared.film(figure, {
  prepare, show, hold: (at) => rule === RULES.life && at === lost ? 9 : 1,
});
figure.querySelector("fieldset").addEventListener("change", (event) => {
  if (!steps) return;
  rule = RULES[event.target.value];
  const quiz = rule === RULES.one;
  $in(".steering").classList.toggle("asks", quiz);
  answers.hidden = !quiz;
  if (quiz) ask();
  film.load(rule.reel());
  film.run(!quiz && !shared.calm);
  film.draw();
});
})();
