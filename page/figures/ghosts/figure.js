// Pac-Man's four ghosts, of which a frame has one, and those that an agent
// sees. The ghost of a frame is what is pink in it.
figure("ghosts", async (box, $in) => {
  const GHOSTS = 4, STACK = 4, START = 188;
  const CORNER = [55, 149, 105, 51], SMALL_CORNER = [29, 50, 55, 17];
  const game = (await titles())["Pac-Man"], { frames } = game;
  const pink = game.rgb.findIndex((rgb) => `${rgb}` === "252,144,200");
  const colours = packed(game.rgb), whole = $in(".eye").children[1];
  const cells = [...$in(".grid").children], answer = $in("details");
  const [near, nearSmall] = box.querySelectorAll(".near");
  const repeat = $in("label input");

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

  // Rings over a picture that shows a part of the screen.
  function rings(place, shown, absent = [], part = [0, 0, WIDTH, game.height]) {
    const [left, top, wide, high] = part;
    place.innerHTML = [...shown, ...absent].map((i) => {
      const x = (found[i][0] * WIDTH - left) / wide;
      const y = (found[i][1] * game.height - top) / high;
      if (x < 0 || x > 1 || y < 0 || y > 1) return "";
      return `<i class="${absent.includes(i) ? "unseen" : ""}" style="left:${
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
    const eye = blended(end - 1);
    put(whole, eye, { colours });
    put(near.firstElementChild, eye, { colours, part: CORNER });
    rings(whole.nextElementSibling, now);
    rings(near.lastElementChild, now, [], CORNER);
    // Of each picture the frames that are merged in it.
    const merged = cells.map((_, i) => {
      const last = end - 1 - (STACK - 1 - i) * every;
      return every > 1 ? [last - 1, last] : [last];
    });
    const seen = merged.flat().map((at) => at % GHOSTS);
    const unseen = now.filter((at) => !seen.includes(at % GHOSTS));
    for (const [i, cell] of cells.entries()) {
      const picture = shrunk(merged[i].map(gray).reduce(brighter), SIZE, true);
      put(cell.firstElementChild, picture,
        { label: ["oldest", "", "", "newest"][i] });
      put(nearSmall.firstElementChild, picture, { part: SMALL_CORNER });
      const shown = answer.open ? [merged[i], unseen] : [[], []];
      rings(cell.lastElementChild, ...shown);
      rings(nearSmall.lastElementChild, ...shown, CORNER);
    }
    $in(".every").textContent = every;
    const names = unseen.map((at) => at % GHOSTS + 1).sort();
    return names.length ?
      `Ghosts ${names.join(" and ")} are in none of the four pictures.` :
      "At this setting it sees all four ghosts.";
  }

  const player = film(box, show, { count: frames.length, start: START, pace: 12,
    name: (end) => `${(end / 60).toFixed(1)} s` });
  const turn = () => player.stride(Number(repeat.value), STACK);
  turn();
  repeat.addEventListener("input", turn);
  answer.addEventListener("toggle", turn);
});
