// Rules to break: what an agent would see and be told without each of them.
(() => {
const figure = $("rules-figure");
const sides = [...figure.querySelectorAll(".side")].map((side) =>
  ({ side, head: side.children[1], four: cells(side.lastElementChild, 4) }));
let rules = null, rule = null;

// The rule that is chosen, as a film.
function reel() {
  const { value, dataset } = figure.querySelector(":checked");
  rule = { ...rules[value], ...dataset };
  return { count: rule.says.length, pace: 3 };
}

async function prepare() {
  rules = await read("rules");
  for (const one of Object.values(rules)) {
    one.pictures = await Promise.all(
      one.pictures.map((text) => unpack(text, one.size ** 2)));
  }
  return reel();
}

function show(at) {
  const i = at - 1, heads = [rule.kept, rule.broken];
  sides.forEach(({ side, head, four }, s) => {
    const count = rule.pictures[s].length / rule.says.length;
    head.textContent = heads[s];
    side.classList.toggle("alone", count === 1);
    rule.pictures[s].slice(i * count, (i + 1) * count).forEach((picture, k) =>
      put(four[k], `obs_4[${k + 4 - count}]`, picture));
  });
  return `At ${at}: ${rule.says[i]}. ${rule.why}`;
}

const player = film(figure, prepare, show);
figure.querySelector("fieldset").addEventListener("change", () => {
  if (!rules) return;
  player.load(reel());
  player.go(!calm);
});
})();
