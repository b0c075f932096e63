// One step: which of its frames the agent sees, and as what.
(() => {
const figure = $("step-figure");
const box = figure.querySelector(".frames"), frames = cells(box, 4);
const stack = cells(figure.querySelector(".stack"), 4);
let game = null;

function show(at) {
  const [action, played, reward, , done, [x, y], newest] = game.steps[at];
  figure.querySelector(".action").textContent = ACTIONS[action];
  const kinds = ["thrown", "thrown", "third", "fourth"];
  frames.forEach((cell, f) => put(cell, `frame ${f + 1}`,
    f < played ? game.screens[4 * at + f] : null, done ? "plain" : kinds[f], game.colours));
  box.style = `--x:${-x * WIDTH / 12}px;--y:${-y * HEIGHT / 12}px`;
  figure.querySelector(".into").classList.toggle("none", done);
  newest.forEach((i, slot) => put(stack[slot], `obs_4[${slot}]`,
    game.picture(i), i === at ? "picture" : "plain"));
  return `${tell(played, reward, done)} Reward ${reward}, ` +
    `done ${done ? "True" : "False"}.`;
}

function tell(played, reward, done) {
  if (done) {
    return `The ball is lost on frame ${played}. That frame, four times, ` +
      "begins the next episode.";
  }
  if (reward) return "A brick: the reward is the sum over the four frames.";
  return "Frames 3 and 4 become the newest picture; the oldest picture leaves.";
}

film(figure, async () => {
  game = await recording();
  const ticks = game.steps.flatMap(([, , reward, , done], i) =>
    i && (reward || done) ? [i] : []);
  const lost = ticks.filter((i) => game.steps[i][4]);
  return { count: game.steps.length - 1, start: 62, ticks, lost };
}, show);
})();
