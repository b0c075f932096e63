// Eight games in two processes, of which the reader may kill either.
figure("kill", async (box, $in) => {
  const REPLACED = 1500; // milliseconds in which the other games wait
  const ALL = "All eight games play on.";
  const { every, pictures } = await read("eight");
  const all = await unpack(pictures, SIZE ** 2), count = all.length / 8;
  const does = box.querySelectorAll(".screen span");
  const workers = [...box.querySelectorAll(".four")].map((row) =>
    ({ row, cells: [...row.children], begun: 1 }));
  let words = ALL;

  // A worker plays its games from their start since it was replaced, which
  // hasn't happened yet if the reader goes back.
  const player = film(box, (at) => {
    workers.forEach((worker, i) => {
      if (at < worker.begun) {
        worker.begun = 1;
        words = ALL;
      }
      const since = at - worker.begun;
      does[i].textContent =
        `plays games ${4 * i} to ${4 * i + 3}, step ${every * since}`;
      worker.cells.forEach((cell, j) =>
        put(cell, all[(4 * i + j) * count + since]));
    });
    return words;
  }, { count, start: Math.round(count / 4), pace: 10 });

  box.querySelectorAll(".screen button").forEach((button, i) =>
    button.addEventListener("click", () => {
      const { row } = workers[i];
      player.want(false);
      row.classList.add("dead");
      button.disabled = true;
      does[i].textContent = "is dead";
      $in(".says").textContent =
        `Worker ${i} was killed. The other games wait until it is replaced.`;
      setTimeout(() => {
        row.classList.remove("dead");
        button.disabled = false;
        workers[i].begun = player.at();
        words = `Worker ${i} was replaced. Its games start over, ` +
          "and the others play on.";
        player.draw();
        player.want(!calm);
      }, REPLACED);
    }));
});
