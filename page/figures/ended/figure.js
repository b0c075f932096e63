// Thirty games that began together: which have ended, and the mean of those.
figure("ended", async (box, $in) => {
  const FIRST = 8; // games, of which some take the mean
  const games = await read("ended");
  const order = games.map((_, i) => i)
    .sort((one, other) => games[one].steps - games[other].steps);
  const most = Math.max(...games.map(({ score }) => score));
  const bars = $in(".bars").children;
  const mean = (some) =>
    Math.round(some.reduce((sum, i) => sum + games[i].score, 0) / some.length);

  $in(".all").textContent = mean(order);
  film(box, (count) => {
    const ended = order.slice(0, count);
    games.forEach(({ score }, i) => {
      bars[i].className = ended.includes(i) ? "over" : "";
      bars[i].style = `--share:${score / most}`;
    });
    $in(".so-far").textContent = mean(ended);
    return `${count} of ${games.length} games have ended.`;
  }, { count: games.length, start: FIRST, pace: 3, loops: false,
    name: (count) => `${count} games` });
});
