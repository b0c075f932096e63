// A training: the weights that were kept in its course, and how they play.
figure("training", async (box, $in) => {
  const [screen] = $in(".whole").children, stage = $in("label input");
  const games = await read("training");
  const stops = [...box.querySelectorAll(".stop")];
  // The slider is as long as the axis, and stops below the marks.
  const places = stops.map(({ cx }) => cx.baseVal.value);
  const { width } = $in("svg").viewBox.baseVal;
  let at = 0;
  for (const game of games) {
    game.shown = await unpack(game.screens, WIDTH * HEIGHT);
    game.colours = packed(game.rgb);
  }

  function show(step) {
    const { decisions, shown, colours } = games[at];
    const { action, reward, value, chances } = decisions[step - 1];
    put(screen, shown[step - 1], { colours });
    showChances($in(".choices").children, chances, { sampled: action });
    $in(".value").textContent = value.toFixed(2).replace("-", "\u2212");
    const lost = decisions[step]?.first ? " and loses a life" : "";
    return `It samples ${ACTIONS[action]}${reward ? " and hits a brick" : lost}.`;
  }

  const player = film(box, show, { count: games[0].decisions.length, pace: 15 });
  function turn(to) {
    at = Math.max(0, Math.min(stops.length - 1, to));
    stage.value = places[at];
    const millions = Number((games[at].trained / 1e6).toFixed(1));
    stage.ariaValueText = `${millions} million steps`;
    $in(".trained").textContent = stage.ariaValueText;
    const { start, score } = games[at];
    $in(".part").textContent = `from step ${start + 1} of a game of ${score} points`;
    stops.forEach((stop, i) => stop.classList.toggle("now", i === at));
    player.draw();
  }
  [stage.min, stage.max] = [places[0], places.at(-1)];
  stage.style.setProperty("--left", stage.min / width);
  stage.style.setProperty("--long", (stage.max - stage.min) / width);
  stage.addEventListener("input", () => {
    const off = places.map((place) => Math.abs(place - stage.value));
    turn(off.indexOf(Math.min(...off)));
  });
  stage.addEventListener("keydown", (event) => {
    const arrow = ARROWS[event.key];
    if (!arrow) return;
    event.preventDefault();
    turn(at + arrow[0] - arrow[1]);
  });
  stops.forEach((stop, i) => stop.addEventListener("click", () => turn(i)));
  turn(0);
});
