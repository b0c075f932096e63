// Pac-Man's four ghosts, of which a frame has one, and those that an agent
// sees. The ghost of a frame is what is pink in it.
figure("ghosts", async (box, $in) => {
  const GHOSTS = 4, STACK = 4, START = 188;
  const game = (await titles())["Pac-Man"], { frames } = game;
  const pink = game.rgb.findIndex((rgb) => `${rgb}` === "252,144,200");
  const colors = packed(game.rgb), repeat = $in("label input");
  const [whole, ringed] = [...$in(".eye").children].slice(1);
  const [newest, dashed] = [...$in(".gets").children].slice(1);
  const cells = [...box.querySelectorAll(".stack > div"), newest];

  // The middle of the ghost in a frame, as shares of the screen. What is pink in
  // the frame before or after it, too, is a pill.
  const found = frames.map((frame, i) => {
    const others = [frames[i - 1] ?? frame, frames[i + 1] ?? frame]
      .filter((other) => other !== frame);
    const xs = [], ys = [];
    frame.forEach((v, at) => {
      if (v !== pink || others.some((other) => other[at] === pink)) return;
      xs.push(at % WIDTH);
      ys.push(Math.floor(at / WIDTH));
    });
    const middle = (all) => (Math.min(...all) + Math.max(...all) + 1) / 2;
    return [middle(xs) / WIDTH, middle(ys) / game.height];
  });
  const gray = (i) => frames[i].map((v) => game.gray[v]);

  // Rings over a picture of the screen
  function rings(place, shown, absent = []) {
    place.innerHTML = [...shown, ...absent].map((i) => {
      const [x, y] = found[i];
      const kind = absent.includes(i) ? "unseen" : "";
      return `<i class="${kind}" style="left:${
        100 * x}%;top:${100 * y}%"><b>${i % GHOSTS + 1}</b></i>`;
    }).join("");
  }

  // What an eye makes of frames that follow within a fifteenth of a second:
  // of each pixel the brightest.
  function blended(last) {
    const four = Array.from({ length: GHOSTS }, (_, i) => frames[last - i]);
    return four.reduce((one, other) =>
      one.map((v, i) => game.gray[other[i]] > game.gray[v] ? other[i] : v));
  }

  function show(end) {
    const every = Number(repeat.value);
    const now = Array.from({ length: GHOSTS }, (_, i) => end - 1 - i);
    put(whole, blended(end - 1), { colors });
    rings(ringed, now);
    // Of each picture the frames that are merged in it.
    const merged = cells.map((_, i) => {
      const last = end - 1 - (STACK - 1 - i) * every;
      return every > 1 ? [last - 1, last] : [last];
    });
    cells.forEach((cell, i) =>
      put(cell, shrunk(merged[i].map(gray).reduce(brighter), SIZE, true)));
    const seen = merged.flat().map((at) => at % GHOSTS);
    const unseen = now.filter((at) => !seen.includes(at % GHOSTS));
    rings(dashed, merged.at(-1), unseen);
    $in(".every").textContent = every;
    const names = unseen.map((at) => at % GHOSTS + 1).sort();
    return names.length ?
      `Ghosts ${names.join(" and ")} are in none of its four pictures.` :
      "Its four pictures together have all four ghosts.";
  }

  const player = film(box, show,
    { count: frames.length, start: START, pace: 12 });
  const turn = () => player.stride(Number(repeat.value), STACK);
  turn();
  repeat.addEventListener("input", turn);
});
