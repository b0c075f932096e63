// Flicker: what the third and the fourth frame of each step lack.
(() => {
const figure = $("maximum-figure");
const three = cells(figure.querySelector(".four"), 3);
let third = null, fourth = null;

function show(at) {
  const two = [third[at - 1], fourth[at - 1]], both = brighter(...two);
  put(three[0], "third frame", shrink(two[0]), "third");
  put(three[1], "fourth frame", shrink(two[1]), "fourth");
  put(three[2], "the brighter", shrink(both), "picture");
  return "The third frame lacks the ship, the fourth the rocks. The score is in both.";
}

film(figure, async () => {
  const flicker = await read("flicker");
  third = await unpack(flicker.third, WIDTH * HEIGHT);
  fourth = await unpack(flicker.fourth, WIDTH * HEIGHT);
  return { count: third.length, start: 10, pace: 3 };
}, show);
})();
