// A beginner and a trained agent: what they see, choose and expect.
figure("agent", async (box, $in) => {
  const AHEAD = 120; // steps shown before the second expects most
  const [screen] = $in(".whole").children, stack = $in(".four").children;

  // What a recording shows at each of its decisions.
  async function unroll(recorded) {
    const screens = await unpack(recorded.screens, WIDTH * HEIGHT);
    const frames = await unpack(recorded.frames, SIZE ** 2);
    const millions = Number((recorded.trained / 1e6).toFixed(1));
    let pictures = frames.slice(0, 3);
    return recorded.decisions.map((decision, i) => {
      const { action, reward, first, value, chances } = decision;
      const newest = frames[3 + i];
      pictures = first ? Array(4).fill(newest)
        : [...pictures.slice(-3), newest];
      return { age: `Trained ${millions} M steps`, screen: screens[i],
        colours: packed(recorded.rgb), pictures, action, reward, value, chances,
        lost: Boolean(recorded.decisions[i + 1]?.first) };
    });
  }

  const young = await unroll(await read("young"));
  const trained = await unroll(await read("agent"));
  const peak = (film) => film.indexOf(Math.max(...film));
  const begins = peak(trained.map(({ value }) => value)) - AHEAD;
  const moments = [...young, ...trained.slice(begins)];
  const values = moments.map(({ value }) => value);

  // The value over all steps, from 0, with a line where we are and one where
  // the second agent begins.
  const high = Math.ceil(Math.max(...values)), last = values.length - 1;
  const points = values.map((value, i) => `${i},${high - value}`);
  const split = young.length;
  $in(".trace").innerHTML = `<svg viewBox="0 0 ${last} ${high}"
    preserveAspectRatio="none" role="img" aria-label="The value that the agent
    expects, at each step"><line class="axis" x2="${last}"/>
    <line class="axis" x2="${last}" y1="${high}" y2="${high}"/>
    <line class="axis" x1="${split}" x2="${split}" y2="${high}"/>
    <polyline points="${points.slice(0, split).join(" ")}"/>
    <polyline points="${points.slice(split).join(" ")}"/>
    <line class="now" y2="${high}"/></svg>
    <span style="top:0">${high}</span><span style="top:100%">0</span>
    <small style="left:${100 * peak(values) / last}%">↙ behind the wall</small>
    <small class="other" style="left:${100 * split / last}%">trained 10 M
    steps →</small>`;

  const steps = (happens) =>
    moments.flatMap((now, i) => (happens(now) ? [i + 1] : []));
  film(box, (at) => {
    const now = moments[at - 1];
    $in(".age").textContent = now.age;
    put(screen, now.screen, { colours: now.colours });
    now.pictures.forEach((picture, slot) =>
      put(stack[slot], picture, { label: `obs_4[${slot}]` }));
    showChances($in(".choices").children, now.chances,
      { sampled: now.action });
    $in(".now").setAttribute("transform", `translate(${at - 1})`);
    $in(".value").textContent = now.value.toFixed(2);
    let does = ACTIONS[now.action];
    if (now.reward) does += ` and scores ${now.reward}, a reward of 1`;
    if (now.lost) does += " and loses a life";
    return `It samples ${does}.`;
  }, { count: moments.length, pace: 15, lost: steps((now) => now.lost),
    ticks: steps((now) => now.reward || now.lost) });
});
