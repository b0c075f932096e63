// Rules to break: what an agent would see and be told without each of them.
(() => {
const figure = $("rules-figure");
const sides = [...figure.querySelectorAll(".side")].map((side) =>
  ({ side, head: side.children[1], four: cells(side.lastElementChild, 4) }));
let rules = null, rule = null;

// The rule that is chosen, as a film.
function reel() {
  const { value, dataset } = figure.querySelector(":checked");
  rule = { ...rules[value], ...dataset, early: value === "order" };
  return { count: rule.says.length, pace: 3 };
}

async function prepare() {
  rules = await read("rules");
  for (const one of Object.values(rules)) {
    one.frames = await unpack(one.frames, WIDTH * HEIGHT);
  }
  return reel();
}

// Two frames make a picture: the brighter of them, shrunk; or, if that rule is
// broken, the brighter of what was shrunk before.
function picture(two, early) {
  return early ? two.map(shrink).reduce(brighter) : shrink(brighter(...two));
}

function show(at) {
  const i = at - 1, [left, right] = rule.counts;
  let from = 2 * i * (left + right);
  sides.forEach(({ side, head, four }, s) => {
    const count = rule.counts[s];
    head.textContent = [rule.kept, rule.broken][s];
    side.classList.toggle("alone", count === 1);
    for (let k = 0; k < count; k++, from += 2) {
      const two = rule.made_of.slice(from, from + 2);
      const pixels = picture(two.map((f) => rule.frames[f]),
        s === 1 && rule.early);
      put(four[k], `obs_4[${k + 4 - count}]`, pixels, "", GRAYS,
        rule.parts[i].map((v) => v / SIZE));
    }
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
