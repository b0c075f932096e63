// Eight games in two processes, of which the reader may kill either.
figure("kill", async (box, $in) => {
  const REPLACED = 1500; // milliseconds in which the other games wait
  const { every, pictures, killed } = await read("eight");
  const all = await unpack(pictures, SIZE ** 2), count = all.length / 8;
  const does = box.querySelectorAll(".screen span");
  const workers = [...box.querySelectorAll(".four")].map((row) =>
    ({ row, cells: [...row.children], kills: [1] }));
  let words = "All eight games play on.";

  // Since it was killed last, a worker plays its games from their start again.
  const player = film(box, (at) => {
    workers.forEach(({ cells, kills }, i) => {
      const since = at - Math.max(...kills.filter((kill) => kill <= at));
      does[i].textContent =
        `plays games ${4 * i} to ${4 * i + 3}, step ${every * since}`;
      cells.forEach((cell, j) => put(cell, all[(4 * i + j) * count + since]));
    });
    return words;
  }, { count, start: killed, pace: 10, auto: true,
    name: (i) => `step ${every * (i - 1)}` });

  box.querySelectorAll(".screen button").forEach((button, i) =>
    button.addEventListener("click", () => {
      const { row, kills } = workers[i], at = player.at();
      player.go(false);
      row.classList.add("dead");
      button.disabled = true;
      does[i].textContent = "is dead";
      $in(".says").textContent =
        `Worker ${i} was killed. The other games wait until it is replaced.`;
      setTimeout(() => {
        row.classList.remove("dead");
        button.disabled = false;
        kills.push(at);
        words = `Worker ${i} was replaced. Its games start over, ` +
          "and the others play on.";
        player.draw();
        player.go(!calm);
      }, REPLACED);
    }));
});
