// The clipped objective: the reader drags the ratio and the edges 1 ± ε, and
// turns the sign of the advantage.
figure("clip", async (box, $in) => {
  // The axes of clip.svg
  const LEFT = 56, RIGHT = 468, TOP = 30, BOTTOM = 250, LEAST = 0.5, MOST = 1.5;
  const BIN = 0.02; // of the histogram
  const REACH = 12; // units from an edge that is dragged
  const { ratios, signs } = await read("clip");
  const svg = $in("svg"), { advantage, ratio, clip } = $in("form").elements;
  const x = (at) => LEFT + (RIGHT - LEFT) * (at - LEAST) / (MOST - LEAST);
  const set = (part, attributes) => {
    for (const name in attributes) part.setAttribute(name, attributes[name]);
  };
  const shown = (number) => number.toFixed(2).replace("-", "\u2212");

  function show() {
    const A = Number(advantage.value), rho = Number(ratio.value);
    const epsilon = Number(clip.value);
    const objective = (at) =>
      Math.min(at * A, between(1 - epsilon, at, 1 + epsilon) * A);
    // The middle of the axis is the advantage, where the ratio is 1.
    const y = (value) => (TOP + BOTTOM) / 2 - (BOTTOM - TOP) * (value - A);
    const line = (value, ...places) =>
      places.map((at) => `${x(at)},${y(value(at))}`).join(" ");
    const edges = [1 - epsilon, 1 + epsilon];
    set($in(".near"), { x: x(edges[0]), width: x(edges[1]) - x(edges[0]) });
    box.querySelectorAll("polyline.edge").forEach((edge, i) =>
      set(edge, { points: `${x(edges[i])},${TOP} ${x(edges[i])},${BOTTOM}` }));
    box.querySelectorAll("text.edge").forEach((name, i) =>
      // Side by side, however small ε is
      set(name, { x: x(i ? Math.max(edges[1], 1.05) : Math.min(edges[0], 0.95)) }));
    box.querySelectorAll(".level").forEach((level, i) => {
      level.textContent = `${A + (i - 1) / 2}`.replace("-", "\u2212");
    });
    set($in(".past"), { points: line((at) => at * A, LEAST, MOST) });
    set($in(".objective"), { points: line(objective, LEAST, ...edges, MOST) });
    const isFlat = objective(rho) !== rho * A;
    set($in(".point"), { cx: x(rho), cy: y(objective(rho)) });
    set($in(".pull"), { visibility: isFlat ? "hidden" : "visible",
      transform: `translate(${x(rho)} ${y(objective(rho))}) scale(${A} 1)` });

    const clipped = between(edges[0], rho, edges[1]);
    $in(".terms").textContent = `min(${shown(rho * A)}, ${shown(clipped * A)})`;
    $in("output").textContent = shown(objective(rho));
    const numbers = box.querySelectorAll("label > span");
    numbers[0].textContent = shown(rho);
    numbers[1].textContent = shown(epsilon);
    const isWrong = A > 0 ? rho < edges[0] : rho > edges[1];
    const way = A > 0 ? "likelier" : "less likely";
    $in(".says").textContent = isFlat ?
      "Clipped: the objective is flat here, so a gradient step gains nothing." :
      `A gradient step makes the action ${way}${
        isWrong ? " again: the wrong way is never clipped" : ""}.`;
    count(A, (at) => objective(at) !== at * A);
  }

  // The minibatch: those steps whose advantage has this sign.
  function count(A, isClipped) {
    const mine = ratios.filter((_, i) => signs[i] === A);
    const bins = Array.from({ length: Math.round((MOST - LEAST) / BIN) }, (_, i) => {
      const from = LEAST + i * BIN;
      const here = mine.filter((at) => at >= from && at < from + BIN);
      const kind = here.length && here.every(isClipped) ? "clipped" : "";
      const high = 3 * here.length;
      return `<rect class="${kind}" x="${x(from) + 1}" y="${BOTTOM - high}" ` +
        `width="${x(LEAST + BIN) - LEFT - 2}" height="${high}"></rect>`;
    });
    $in(".bars").innerHTML = bins.join("");
    $in(".batch").textContent = `Bars: ${mine.length} such actions. ${
      mine.filter(isClipped).length} are clipped (hollow).`;
  }

  // What is dragged: an edge that is near, or else the ratio.
  let dragged = ratio;
  function at({ clientX }) {
    const { left, width } = svg.getBoundingClientRect();
    const unit = svg.viewBox.baseVal.width / width;
    return (clientX - left) * unit;
  }
  function move(event) {
    const place = LEAST + (MOST - LEAST) * (at(event) - LEFT) / (RIGHT - LEFT);
    dragged.value = dragged === ratio ? place : Math.abs(place - 1);
    show();
  }
  svg.addEventListener("pointerdown", (event) => {
    svg.setPointerCapture(event.pointerId);
    const far = (to) => Math.abs(at(event) - x(to));
    const epsilon = Number(clip.value);
    const edge = Math.min(far(1 - epsilon), far(1 + epsilon));
    const isEdge = edge < REACH && edge < far(Number(ratio.value));
    dragged = isEdge ? clip : ratio;
    move(event);
  });
  svg.addEventListener("pointermove", (event) => {
    if (svg.hasPointerCapture(event.pointerId)) move(event);
  });
  $in("form").addEventListener("input", show);
  $in("form").addEventListener("submit", (event) => event.preventDefault());
  show();
});
