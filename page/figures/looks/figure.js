// What the agent looks at: what a black patch changes of its answers, for each
// place of the patch. The reader moves it, or a map shows all places; of a
// recorded step, or of the one that is there in a game that it plays now.
figure("looks", async (box, $in) => {
  const GRID = 21;
  const PLACES = GRID ** 2;
  const [PATCH, STRIDE] = [8, 4]; // pixels of the pictures
  const MIDDLE = [10, 10];
  const [LESS, MORE] = [[255, 96, 64], [90, 160, 255]]; // colors of the map
  const FINGER = 48; // pixels that a finger hides
  const FAINT = 0.5; // no map's most counts as less
  const SLICE = 12; // ms that a map is computed for at a time
  const pane = $in(".pane");
  const [cell, map, patch] = pane.children;
  const answer = $in("details");
  const wanted = $in("[type=checkbox]");
  const recorded = await read("looks");
  const { decisions, pictures } = await played();
  let place = null; // of the patch: column and row
  let step = recordedStep();

  // A step: its pictures, the answer to them, and what is known of how a patch
  // in each place changes it.
  function recordedStep() {
    const { asked, changes } = recorded;
    const { value, chances } = decisions[asked];
    const known = changes.map(([changed, ...odds]) => ({ value: changed, odds }));
    return { live: false, pictures: pictures.slice(asked, asked + 4), value,
      odds: chances, known };
  }

  function liveStep(game) {
    return { live: true, pictures: game.pictures, ...game.answer,
      known: Array(PLACES) };
  }

  // What the patch in a place changes.
  function change(number) {
    step.known[number] ??= computed(number);
    return step.known[number];
  }

  function computed(number) {
    const [x, y] = [number % GRID, Math.floor(number / GRID)].map((i) =>
      STRIDE * i + STRIDE / 2 - PATCH / 2);
    const covered = step.pictures.map((picture) => {
      const copy = picture.slice();
      for (let row = Math.max(0, y); row < Math.min(y + PATCH, SIZE); row++) {
        copy.fill(0, row * SIZE + Math.max(0, x),
          row * SIZE + Math.min(x + PATCH, SIZE));
      }
      return copy;
    });
    const { value, odds } = Agent.see(stackOf(covered));
    return { value: value - step.value,
      odds: odds.map((share, a) => share - step.odds[a]) };
  }

  const hasMap = () => answer.open && wanted.checked;

  // Draw the map as far as it is known; return what changes most.
  function heat() {
    const values = Array.from(step.known, (known) => known?.value ?? 0);
    const sizes = values.map(Math.abs);
    const most = Math.max(...sizes);
    const image = new ImageData(GRID, GRID);
    values.forEach((value, i) => image.data.set([...value < 0 ? LESS : MORE,
      255 * sizes[i] / Math.max(most, FAINT)], 4 * i));
    map.getContext("2d").putImageData(image, 0, 0);
    return step.known[sizes.indexOf(most)];
  }

  function show() {
    put(cell, step.pictures.map((pixels, i) =>
      pixels.map((v) => v * (0.4 + 0.2 * i))).reduce(brighter));
    showPatch();
  }

  function showPatch() {
    const { value, odds } = step;
    box.classList.toggle("mapped", hasMap());
    const most = hasMap() ? heat() : null;
    const changed = place ? change(GRID * place[1] + place[0]) : most;
    $in("output").textContent = value.toFixed(1) +
      (changed ? ` → ${(value + changed.value).toFixed(1)}` : "");
    showChances($in(".choices").children, odds.map((share, a) =>
      between(0, share + (changed?.odds[a] ?? 0), 1)),
    { were: changed && odds });
    patch.hidden = !place;
    if (place) patch.style = `--x:${place[0] - 0.5};--y:${place[1] - 0.5}`;
    if (step.live) return;
    const where = place ? "this patch" : "the patch that changes most";
    $in(".tells").textContent = changed ?
      `Right of each arrow: the answer with ${where}.` : "";
  }

  // Compute the map of a step that stands still, a little at a time.
  async function complete() {
    const begun = step;
    if (begun.computing) return;
    begun.computing = true;
    let since = performance.now();
    for (let number = 0; number < PLACES && step === begun; number++) {
      change(number);
      if (performance.now() - since < SLICE) continue;
      showPatch();
      await new Promise(requestAnimationFrame);
      since = performance.now();
    }
    begun.computing = false;
    if (step === begun) showPatch();
  }

  const isLive = () => $in("[value=live]").checked;
  const player = agentPlays(box, (game, running) => {
    if (!isLive() || !game.answer || step.pictures === game.pictures) return;
    step = liveStep(game);
    show();
    if (!running && hasMap()) complete();
  }, { begin: () => new AgentGame(newSeed(), { hole: true }).warmUp(20) });

  $in(".moments").addEventListener("change", () => {
    player.go(false);
    $in(".controls").style.visibility = isLive() ? "" : "hidden";
    if (isLive()) {
      player.ask(player.draw);
    } else {
      step = recordedStep();
      show();
    }
  });

  // All of it waits for the guess, and then begins with the map.
  function cover(...next) {
    if (!answer.open) return;
    const places = next.map((i) => between(0, Math.floor(i), GRID - 1));
    place = next.length ? places : null;
    showPatch();
  }
  answer.addEventListener("toggle", () => cover());
  wanted.addEventListener("change", () => {
    cover();
    if (step.live && hasMap()) complete();
  });

  function point({ clientX, clientY, pointerType, isPrimary }) {
    if (!isPrimary) return;
    const { left, top, width } = pane.getBoundingClientRect();
    const above = pointerType === "touch" ? FINGER : 0;
    cover((clientX - left) * GRID / width,
      (clientY - above - top) * GRID / width);
  }
  pane.addEventListener("pointermove", point);
  pane.addEventListener("pointerdown", point);
  pane.addEventListener("pointerleave", ({ pointerType }) =>
    pointerType === "mouse" && cover());
  pane.addEventListener("keydown", ({ key }) => key === "Escape" && cover());
  arrows(pane, (across, down) => {
    const [x, y] = place ?? MIDDLE;
    cover(x + across, y + down);
  });
  show();
});
