// Asteroids, which draws its rocks on every second frame: the third and the
// fourth frame of a step, and the picture, of both or of the fourth alone.
figure("maximum", async (box, $in) => {
  const REPEAT = 4;
  const WITH_SHIP = [[232, 272], [324, 372]]; // frames
  const game = (await titles()).Asteroids, colours = packed(game.rgb);
  const all = WITH_SHIP.flatMap((part) => game.frames.slice(...part));
  const [, third, fourth] = $in(".screen").children;
  const small = $in(".small").firstElementChild, both = $in("[type=checkbox]");

  const player = film(box, (end) => {
    const frames = [end - 2, end - 1].map((i) => all[i]);
    put(third, frames[0], { colours, label: "Asteroids, frame 3",
      kind: both.checked ? "third" : "thrown" });
    put(fourth, frames[1], { colours, label: "frame 4", kind: "fourth" });
    const grays = frames.map((frame) => frame.map((v) => game.gray[v]));
    put(small, shrunk(both.checked ? brighter(...grays) : grays[1], SIZE, true),
      { label: "the picture, brightened", kind: "picture" });
    return both.checked ? "The rocks are on one frame, the ship on the other, and both in the picture." :
      "The rocks are always on the other frame: an agent would never see one.";
  }, { count: all.length, start: REPEAT, pace: 15 });
  player.stride(REPEAT, 1);
  both.addEventListener("change", () => player.draw());
});
