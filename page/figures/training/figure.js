// A training: the weights that were kept in its course, and how they play.
figure("training", async (box, $in) => {
  const [screen] = $in(".whole").children, stage = $in("label input");
  const games = await read("training");
  const stops = [...box.querySelectorAll(".stop")];
  // The slider is as long as the axis, and stops below the marks.
  const places = stops.map(({ cx }) => cx.baseVal.value);
  const MOVES = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1 };
  const films = new Map();
  let game = null, at = 0;

  async function load() {
    if (!films.has(at)) {
      films.set(at, await unpack(games[at].screens, WIDTH * HEIGHT));
    }
    game = { ...games[at], shown: films.get(at), colours: packed(games[at].rgb) };
  }

  function show(step) {
    const { action, reward, value, chances } = game.decisions[step - 1];
    put(screen, game.shown[step - 1], { colours: game.colours });
    showChances($in(".choices").children, chances, { sampled: action });
    $in(".value").textContent = value.toFixed(2).replace("-", "\u2212");
    const lost = game.decisions[step]?.first ? " and loses a life" : "";
    return `It samples ${ACTIONS[action]}${reward ? " and hits a brick" : lost}.`;
  }

  await load();
  const player = film(box, show, { count: game.decisions.length, pace: 15 });
  async function turn(to) {
    at = Math.max(0, Math.min(stops.length - 1, to));
    await load();
    stage.value = places[at];
    const millions = Number((game.trained / 1e6).toFixed(1));
    stage.ariaValueText = `${millions} million steps`;
    $in(".trained").textContent = stage.ariaValueText;
    $in(".score").textContent = `${game.score} points in the end`;
    stops.forEach((stop, i) => stop.classList.toggle("now", i === at));
    player.draw();
  }
  [stage.min, stage.max] = [places[0], places.at(-1)];
  stage.addEventListener("input", () => {
    const off = places.map((place) => Math.abs(place - stage.value));
    turn(off.indexOf(Math.min(...off)));
  });
  stage.addEventListener("keydown", (event) => {
    if (!MOVES[event.key]) return;
    event.preventDefault();
    turn(at + MOVES[event.key]);
  });
  turn(0);
});
