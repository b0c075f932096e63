// The workbench: real frames, and what an agent would see of them if it were
// made with other settings.
figure("workbench", async (box, $in) => {
  const MOST = 4; // pictures in a stack
  // Where Breakout's ball is alone: between the bricks, the walls and the
  // paddle.
  const COURT = { top: 93, bottom: 189, left: 8, right: 152 };
  const games = await titles();
  const strip = cells($in(".strip"), 8), stack = cells($in(".shrunk"), MOST);
  const knobs = $in(".knobs");
  let game = games.Breakout, gone = "";

  function cells(place, count) {
    place.innerHTML = "<div><canvas></canvas><small></small></div>".repeat(count);
    return [...place.children];
  }

  // The settings, as the knobs have them.
  function settings() {
    const { repeat, stack, maximum, shrink, size } = knobs.elements;
    return { repeat: Number(repeat.value), stack: Number(stack.value),
      maximum: maximum.checked && repeat.value > 1,
      mean: shrink.value === "mean", size: Number(size.value) };
  }

  // The picture of a step that ends before a frame.
  function picture(end, { maximum, mean, size }) {
    const [older, last] = [end - 2, end - 1].map((i) =>
      game.frames[i]?.map((v) => game.gray[v]));
    return shrunk(maximum ? brighter(older, last) : last, size, mean);
  }

  function show(end) {
    const now = settings(), colors = packed(game.rgb);
    // The last eight frames, of which those before the step are dim.
    strip.forEach((cell, i) => {
      const at = end - strip.length + i, number = i - strip.length + now.repeat;
      const kept = number === now.repeat - 1 ? "fourth" :
        number === now.repeat - 2 && now.maximum ? "third" : "thrown";
      put(cell, game.frames[at] ?? game.frames[0], { colors,
        label: number < 0 ? "" : `${number + 1}`,
        kind: number < 0 ? "before" : kept });
    });
    stack.forEach((cell, i) => {
      const later = now.stack - 1 - i; // pictures in the stack
      cell.hidden = later < 0;
      if (cell.hidden) return;
      put(cell, picture(end - later * now.repeat, now), { width: now.size,
        label: `obs[${i}]`, kind: later ? "" : "picture" });
    });
    const { repeat, size, maximum } = now;
    const frames = maximum ? `the brighter of ${repeat - 1} and ${repeat}` :
      `frame ${repeat}`;
    $in(".how").textContent =
      `${frames} → gray → ${size}×${size} → the newest of the stack`;
    return tell(now);
  }

  // The observation in numbers, and the program that returns it.
  function tell({ repeat, stack, maximum, mean, size }) {
    const count = stack * size ** 2;
    const options = Object.entries({ action_repeat: repeat !== 4 && repeat,
      stack: stack !== 4 && stack, size: size !== 84 && `(${size}, ${size})` });
    const chosen = options.filter(([, value]) => value)
      .map((pair) => pair.join("="));
    const possible = mean && (maximum || repeat === 1);
    const call = ["seed", ...game.arguments, ...chosen].join(", ");
    $in(".call").textContent = possible ? `Game(${call})` :
      "# No call: the module always takes the maximum and the mean.";
    return `(${stack}, ${size}, ${size}): ${count.toLocaleString("en")} numbers, ` +
      `${+(60 / repeat).toFixed(1)} times a second.${gone}`;
  }

  // Whether a picture shows the ball: a pixel of the court that isn't black.
  function hasBall(end, { maximum, mean, size }) {
    const last = game.frames[end - 1];
    const older = maximum ? game.frames[end - 2] : last, { gray } = game;
    const light = (y, x) => {
      const at = y * WIDTH + x;
      return Math.max(gray[older[at]], gray[last[at]]);
    };
    const inside = (from, low, high) => covering(from, size, mean)
      .filter((parts) => parts[0][0] >= low && parts.at(-1)[0] < high);
    const columns = inside(WIDTH, COURT.left, COURT.right);
    return inside(HEIGHT, COURT.top, COURT.bottom).some((rows) =>
      columns.some((parts) => {
        let sum = 0;
        for (const [y, high] of rows) {
          for (const [x, wide] of parts) sum += high * wide * light(y, x);
        }
        return sum >= 0.5;
      }));
  }

  // In how many of the observations the ball is in no picture.
  function count(now) {
    const balls = [];
    for (let end = now.repeat; end <= game.frames.length; end += now.repeat) {
      balls.push(hasBall(end, now));
    }
    const shown = balls.slice(MOST - 1).map((_, i) =>
      balls.slice(i + MOST - now.stack, i + MOST).includes(true));
    const none = shown.filter((each) => !each).length;
    return ` In ${none} of ${shown.length} observations no picture has the ball.`;
  }

  const player = film(box, show, { count: game.frames.length, start: 100,
    pace: 15, auto: false });

  function turn() {
    const now = settings(), { repeat, stack } = now;
    gone = game === games.Breakout ? count(now) : "";
    const values = knobs.querySelectorAll("label > span");
    values[0].textContent = repeat;
    values[1].textContent = stack;
    knobs.elements.maximum.disabled = repeat === 1;
    player.stride(repeat, MOST);
  }
  turn();
  knobs.addEventListener("input", turn);
  knobs.addEventListener("reset", () => setTimeout(turn));
  for (const form of box.querySelectorAll("form")) {
    form.addEventListener("submit", (event) => event.preventDefault());
  }
  $in(".titles").addEventListener("input", ({ target }) => {
    game = games[target.value];
    turn();
  });
});
