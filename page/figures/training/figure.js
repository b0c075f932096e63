// A training: the weights that were kept in its course, and how they play.
figure("training", async (box, $in) => {
  const [screen] = $in(".whole").children, stage = $in("label input");
  const games = await read("training");
  const stops = box.querySelectorAll(".stop");
  const films = new Map();
  let game = null;

  async function load(at) {
    if (!films.has(at)) {
      films.set(at, await unpack(games[at].screens, WIDTH * HEIGHT));
    }
    game = { ...games[at], shown: films.get(at), colours: packed(games[at].rgb) };
  }

  function show(at) {
    const { action, reward, value, chances } = game.decisions[at - 1];
    put(screen, game.shown[at - 1], { colours: game.colours });
    showChances($in(".choices").children, chances, { sampled: action });
    $in(".value").textContent = value.toFixed(2);
    const lost = game.decisions[at]?.first ? " and loses a life" : "";
    return `It samples ${ACTIONS[action]}${reward ? " and hits a brick" : lost}.`;
  }

  await load(0);
  const player = film(box, show, { count: game.decisions.length, pace: 15 });
  async function turn() {
    const at = Number(stage.value);
    await load(at);
    const millions = Number((game.trained / 1e6).toFixed(1));
    $in(".trained").textContent = `${millions} million steps`;
    $in(".score").textContent = `${game.score} points in the end`;
    stops.forEach((stop, i) => stop.classList.toggle("now", i === at));
    player.draw();
  }
  stage.max = games.length - 1;
  stage.addEventListener("input", turn);
  turn();
});
