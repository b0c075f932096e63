// What the trained agent looks at: what a black patch changes of its answers,
// for each place of the patch. The patch is moved by the reader, or has been
// everywhere already, which gives a map.
figure("looks", async (box, $in) => {
  const GRID = 21, PLACES = GRID ** 2, ROWS = 4; // value and three chances
  const MIDDLE = [10, 10], HEAT = [255, 96, 64];
  const FINGER = 48; // pixels that a finger hides
  const FAINT = { value: 0.5, choice: 0.05 }; // no map's most counts as less
  const pane = $in(".pane"), [seen, map, patch] = pane.children;
  const maps = $in(".maps"), answer = $in("details");
  const recorded = await read("looks"), { decisions, pictures } = await played();
  const [flat] = await unpack(recorded.changes, recorded.count * ROWS * PLACES);
  const changes = new Int8Array(flat.buffer);
  let place = null; // of the patch: column and row

  // What the patch in a place changes of the value and of the four chances.
  function change(at, number) {
    const [value, ...chances] = Array.from({ length: ROWS }, (_, row) =>
      changes[(ROWS * (at - 1) + row) * PLACES + number]);
    const shares = chances.map((percent) => percent / 100);
    shares.push(-shares.reduce((sum, share) => sum + share));
    return { value: value / 16, chances: shares };
  }

  const far = {
    value: ({ value }) => Math.abs(value),
    choice: ({ chances }) =>
      chances.reduce((sum, share) => sum + share ** 2, 0) / 2,
  };

  // Draw the map; return what the patch changes where it changes most.
  function heat(at, kind) {
    const all = Array.from({ length: PLACES }, (_, i) => change(at, i));
    const sizes = all.map(far[kind]), most = Math.max(...sizes);
    const image = new ImageData(GRID, GRID);
    sizes.forEach((size, i) => image.data.set(
      [...HEAT, 255 * size / Math.max(most, FAINT[kind])], 4 * i));
    map.getContext("2d").putImageData(image, 0, 0);
    return all[sizes.indexOf(most)];
  }

  function show(at) {
    const { action, value, chances } = decisions[recorded.first + at - 1];
    const stack = pictures.slice(recorded.first + at - 1).slice(0, 4);
    put(seen, stack.map((pixels, i) =>
      pixels.map((v) => v * (0.4 + 0.2 * i))).reduce(brighter));
    const kind = answer.open && maps.querySelector(":checked").value;
    box.classList.toggle("mapped", Boolean(kind));
    const most = kind ? heat(at, kind) : null;
    const changed = place ? change(at, GRID * place[1] + place[0]) : most;
    const now = value + (changed?.value ?? 0);
    $in("output").textContent = changed
      ? `${value.toFixed(1)} → ${now.toFixed(1)}` : value.toFixed(1);
    const covered = chances.map((chance, a) => Math.min(1, Math.max(0,
      chance + (changed?.chances[a] ?? 0))));
    showChances($in(".choices").children, covered,
      { were: changed && chances });
    patch.hidden = !place;
    if (place) patch.style = `--x:${place[0] - 0.5};--y:${place[1] - 0.5}`;
    const where = place ? "this patch" : "a patch where the map is brightest";
    return changed ? `After each arrow stands the answer with ${where}.` :
      `It samples ${ACTIONS[action]}.`;
  }

  const player = film(box, show, { count: recorded.count,
    start: recorded.asked - recorded.first + 1,
    name: (at) => `step ${recorded.first + at - 1}` });

  // All of it waits for the guess, and then begins with the map of the value.
  function cover(...next) {
    if (!answer.open) return;
    place = next.length ? next : null;
    player.draw();
  }
  answer.addEventListener("toggle", () => {
    maps.querySelector("[value=value]").checked = true;
    cover();
  });
  if (answer.open) player.draw();
  maps.addEventListener("change", () => cover());
  pointing(pane, GRID, MIDDLE, cover, FINGER);
  pane.addEventListener("pointerleave", ({ pointerType }) =>
    pointerType === "mouse" && cover());
  pane.addEventListener("keydown", ({ key }) => key === "Escape" && cover());
});
