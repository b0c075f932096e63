// Up or down? Six guesses from one picture, then six from four.
figure("guess", async (_, $in) => {
  const GUESSES = 6, LATER = [1, 2, 3, 4];
  const BLINK = 80, PROOF = 380; // milliseconds
  const FADE = 0.8; // of the ball, for each step that it has flown on
  const board = $in(".board"), stack = $in(".four").children;
  const [up, down, again] = $in(".controls").children;
  const sleep = (ms) => new Promise((done) => setTimeout(done, calm.matches ? 0 : ms));
  const game = await read("guess");
  const pictures = await unpack(game.pictures, SIZE ** 2);
  const right = [];
  let round, marks, deck = null, flies = false;

  // The whole picture, in which the ball flies on for some `later` steps, and
  // the four close to the ball: neither bricks nor paddle are in these.
  function draw(at, later = [], seen = round) {
    const middle = 7 * game.left[at] + 17;
    const left = between(0, middle - 14, SIZE - 28);
    const part = [left, 38, 28, 36];
    const four = pictures.slice(at - 3, at + 1);
    four.forEach((pixels, i) => put(stack[i], seen || i === 3 ? pixels : null,
      { part, label: ["oldest", "", "", "newest"][i] }));
    $in(".four").classList.toggle("one", !seen);
    $in(".which").textContent = round ? "in its last four pictures" :
      seen ? "and the three pictures before" : "enlarged";
    put(board.firstElementChild, later.reduce((pixels, i) => brighter(
      pixels.map((v) => FADE * v), pictures[at + i]), four[3]),
    { label: later.length ? "The trail: the next steps" : "The newest picture" });
    board.style.setProperty("--left", left / SIZE);
  }

  function ask(verdict) {
    const over = marks.length === GUESSES;
    again.hidden = !over;
    up.hidden = down.hidden = over;
    if (!over) {
      draw(deck[0]);
      $in(".says").textContent =
        `${verdict} And this one, ${marks.length + 1} of ${GUESSES}?`;
      return;
    }
    right[round] = marks.filter(Boolean).length;
    const [one, four] = right.map((count) => `${count} of ${GUESSES}`);
    $in(".says").textContent = round === 0 ?
      `One picture: ${one}. A coin would be right in ${GUESSES / 2}.` :
      `From one picture ${one}, from four ${four}. ` + (right[1] > right[0] ?
        "One picture doesn't say where a ball is going. Four do." :
        "From one it was luck. In four, compare where the ball is.");
    again.textContent = round === 0 ? "Now with four pictures" : "Once more";
    again.focus({ preventScroll: true });
  }

  // What was right, and what wasn't
  function showMarks() {
    $in(".marks").innerHTML = Array.from({ length: GUESSES }, (_, i) =>
      `<i class="${["wrong", "right"][Number(marks[i])] ?? ""}"></i>`).join("");
  }

  // The order is a matter of chance, but for the step that is asked for first.
  function begin(next) {
    round = next;
    marks = [];
    if (round === 0) {
      const first = deck ? null : game.first;
      deck = [...game.up, ...game.down]
        .map((at) => [at === first ? -1 : Math.random(), at])
        .sort(([a], [b]) => a - b).map(([, at]) => at);
    }
    again.hidden = true;
    up.hidden = down.hidden = false;
    showMarks();
    draw(deck[0]);
  }

  async function answer(guess) {
    if (flies) return;
    flies = true;
    const at = deck.shift(), way = game.up.includes(at) ? "up" : "down";
    marks.push(guess === way);
    showMarks();
    const verdict = `${guess === way ? "Right" : "No"}: it flew on ${way}.`;
    $in(".says").textContent = verdict;
    for (const i of LATER) {
      draw(at, LATER.slice(0, i), 1);
      await sleep(BLINK);
    }
    await sleep(PROOF);
    flies = false;
    ask(verdict);
  }

  for (const button of [up, down]) {
    button.addEventListener("click", () => answer(button.value));
  }
  again.addEventListener("click", () => {
    begin(1 - round);
    $in(".says").textContent =
      round ? "Now from four pictures." : "From one picture.";
    up.focus({ preventScroll: true });
  });
  begin(0);
});
