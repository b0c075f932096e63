// The trained agent: what it sees, chooses and expects.
figure("agent", async (box, $in) => {
  const [screen] = $in(".whole").children, stack = $in(".four").children;
  const trace = $in(".trace");
  const { decisions, screens, pictures, colours } = await played();
  const { asked } = await moment();
  const values = decisions.map(({ value }) => value);

  // The value over all steps, from 0, with a line where we are.
  const high = Math.ceil(Math.max(...values)), last = values.length - 1;
  const points = values.map((value, i) => `${i},${high - value}`);
  const peak = values.indexOf(Math.max(...values));
  trace.innerHTML = `<svg viewBox="0 0 ${last} ${high}"
    preserveAspectRatio="none" role="img" aria-label="The value that the agent
    expects, at each step"><line class="axis" x2="${last}"/>
    <line class="axis" x2="${last}" y1="${high}" y2="${high}"/>
    <polyline points="${points.join(" ")}"/>
    <line class="now" y2="${high}"/></svg>
    <small style="left:0">value ${high}</small>
    <small style="left:0">0</small>`;

  const player = film(box, (at) => {
    const { action, reward, value, chances } = decisions[at - 1];
    put(screen, screens[at - 1], { colours });
    pictures.slice(at - 1, at + 3).forEach((picture, slot) =>
      put(stack[slot], picture));
    showChances($in(".choices").children, chances, { sampled: action });
    $in(".now").setAttribute("transform", `translate(${at - 1})`);
    $in(".value").textContent = value.toFixed(2);
    if (Math.abs(at - 1 - peak) < 3) return "Its highest value: the ball is behind the wall.";
    const scores = reward ? ` and scores ${reward}, a reward of 1` : "";
    return `It samples ${ACTIONS[action]}${scores}.`;
  }, { count: decisions.length, start: asked + 1, pace: 15,
    name: (at) => `step ${at - 1}`,
    ticks: decisions.flatMap(({ reward }, i) => reward ? [i + 1] : []) });

  // Where the line is pointed at, there the film goes.
  function point({ clientX }) {
    const { left, width } = trace.getBoundingClientRect();
    player.to(1 + Math.round(last * (clientX - left) / width));
  }
  drags(trace, point, point);
});
