// A game by each of the weights that were kept in the course of one training.
// They play when the reader has guessed, or opened the answer.
figure("training", async (box, $in) => {
  const PACE = 15;
  const games = await read("training");
  const cells = $in(".games").children, answer = $in("details");
  for (const game of games) {
    game.shown = await unpack(game.screens, WIDTH * HEIGHT);
    game.colors = packed(game.rgb);
  }
  const labels = [...cells].map((cell) => cell.lastElementChild.textContent);
  // Where the ball gets behind the wall, it does so in the middle of the film,
  // which begins two seconds before.
  const count = games[0].shown.length, there = count / 2 + 1;
  const player = film(box, (at) => {
    games.forEach(({ shown, colors, behind }, i) => put(cells[i], shown[at - 1],
      { colors, label: labels[i],
        kind: answer.open && behind !== null && at >= there ? "picture" : "" }));
  }, { count, pace: PACE, auto: false,
    start: there + PACE * (calm.matches ? 1 : -2) });

  function turn() {
    player.draw();
    player.want(answer.open && !calm.matches);
  }
  answer.addEventListener("toggle", turn);
  turn();
});

// A guess opens the answer, and the focus goes on to it, even before the games
// are there.
const guessed = document.querySelector("figure#training");
if (guessed) {
  const answer = guessed.querySelector("details");
  guessed.querySelector(".choice").addEventListener("click", ({ target }) => {
    const guess = target.closest("button");
    if (!guess) return;
    guessed.querySelector(".verdict").textContent = `${guess.value}. `;
    answer.open = true;
  });
  answer.addEventListener("toggle", () => {
    if (!answer.open) return;
    guessed.querySelector(".says").focus({ preventScroll: true });
  });
}
