// The tutorial runs: recorded lines, one after the other. A panel on the first
// screen shows the code of each line, what held after it, and the pictures.
// `steps` has all values and pictures once, and in a line the numbers of those
// that it shows.
if ($("run")) (() => {
  const PACE = 1000, SAME = 250; // ms for a line, and for one that changes nothing
  const box = $("run"), place = box.parentElement;
  const [where, pane, held, controls] = box.children;
  const [shots, texts] = held.children;
  const [select, back, play, next, slider, number] = controls.children;
  const code = [...document.querySelectorAll(".card [data-row]")];
  place.parentElement.querySelector("figure")?.remove();
  let recorded = null, scene = null, at = 0, timer = null;
  let isTouched = false; // the reader has used its controls

  const Runner = {
    scenes: [],

    async load() {
      if (recorded) return;
      recorded = await read("steps");
      Runner.scenes = recorded.scenes;
      select.replaceChildren(
        ...Runner.scenes.map(({ name }) => new Option(name)));
    },

    // Show the n-th line, from 0 on, of a scene or of the scene of that number.
    // Return what is shown, or null past the last line.
    show(which, n) {
      const asked = Runner.scenes[which] ?? which;
      if (!asked.lines[n]) return null;
      [scene, at] = [asked, n];
      draw();
      const [row, , inside, shown] = scene.lines[n];
      const values = shown.map((i) => {
        const [name, text, images] = recorded.values[i];
        return [name, { text, pictures: images.map(url) }];
      });
      return { row, inside, values: Object.fromEntries(values) };
    },
  };
  window.Runner = Runner;

  const url = (i) => `data:image/png;base64,${recorded.pictures[i][2]}`;

  function draw() {
    const count = scene.lines.length;
    select.selectedIndex = Runner.scenes.indexOf(scene);
    slider.max = count - 1;
    slider.value = at;
    number.textContent = `${at + 1} of ${count}`;
    back.ariaDisabled = at === 0;
    next.ariaDisabled = at === count - 1;
    drawValues(scene.lines[at][3]);

    // The lines that run: of each function, and of the one that it calls.
    const running = [];
    for (const line of scene.lines.slice(0, at + 1)) {
      running.length = line[2].length - 1;
      running.push(line);
    }
    pane.firstChild.replaceChildren(listing(running));
    const [row, last, inside] = running.at(-1);
    const text = linesOf(code, row, last).map((line) => line.textContent.trim());
    where.ariaLive = timer ? "off" : "polite";
    where.textContent = `${scene.call}: ${inside.join(" › ")}: ${text.join(" ")}`;
    markLines(running.at(-1));
  }

  function drawValues(shown) {
    // What was shown last of each name tells what has changed.
    const known = {};
    for (const [, , , numbers] of scene.lines.slice(0, at)) {
      for (const i of numbers) known[recorded.values[i][0]] = i;
    }
    // A picture that is part of a stack is seen there.
    const seen = new Set(), visible = new Set();
    const size = (i) => recorded.values[i][2].length;
    for (const i of [...shown].sort((a, b) => size(b) - size(a))) {
      const images = recorded.values[i][2];
      if (!images.every((image) => seen.has(image))) visible.add(i);
      images.forEach(seen.add, seen);
    }

    texts.replaceChildren();
    shots.replaceChildren();
    for (const i of shown) {
      const [name, text, images] = recorded.values[i];
      const was = recorded.values[known[name]];
      const item = document.createElement("div");
      item.innerHTML = "<dt></dt><dd></dd>";
      // An attribute has its value before a function that names it begins.
      const isOld = name.startsWith("self.") && !was;
      item.classList.toggle("new", at > 0 && known[name] !== i && !isOld);
      item.firstChild.textContent = name.replace("()", "() returns");
      item.lastChild.textContent = text;
      if (visible.has(i)) {
        const pictures = document.createElement("dd");
        pictures.append(...images.map((number) => {
          const image = new Image();
          [image.width, image.height] = recorded.pictures[number];
          Object.assign(image, { src: url(number), alt: "", decoding: "sync" });
          image.classList.toggle("new", !was?.[2].includes(number));
          return image;
        }));
        item.append(pictures);
      }
      (visible.has(i) ? shots : texts).append(item);
    }
    for (const list of [texts, shots]) {
      const item = list.querySelector("div.new");
      list.scrollTo(item?.offsetLeft ?? 0, item?.offsetTop ?? 0);
    }
  }

  const linesOf = (all, row, last) => [...all].filter(({ dataset }) =>
    row <= dataset.row && dataset.row <= last);
  const functionOf = (row) => linesOf(code, row, row)[0].closest(".card");

  // A copy of a function's lines, in which those of a function that it calls
  // stand below the call.
  function listing([[row, last], ...called]) {
    const block = document.createElement("div");
    for (const line of functionOf(row).querySelectorAll("[data-row]")) {
      const copy = line.cloneNode(true);
      copy.removeAttribute("id");
      block.append(copy);
      if (called.length && Number(copy.dataset.row) === last) {
        block.append(listing(called));
      }
    }
    return block;
  }

  // Mark the line that runs, and bring it into the pane.
  function markLines([row, last]) {
    const marked = linesOf(pane.querySelectorAll("[data-row]"), row, last);
    for (const line of marked) line.ariaCurrent = "step";
    const { offsetTop, offsetHeight } = marked[0];
    const least = offsetTop + 4 * offsetHeight - pane.clientHeight;
    const most = offsetTop - 2 * offsetHeight;
    pane.scrollTo(0, Math.max(least, Math.min(pane.scrollTop, most)));
  }

  function pause() {
    clearTimeout(timer);
    timer = null;
    play.textContent = "Play";
  }

  // Play on after what is shown.
  function run() {
    clearTimeout(timer);
    play.textContent = "Pause";
    timer = setTimeout(() => {
      if (document.hidden) return run();
      if (!Runner.show(scene, at + 1)) return pause();
      return run();
    }, box.querySelector("div.new") ? PACE : SAME);
  }

  function go(n, which = scene) {
    pause();
    Runner.show(which, n);
  }

  // It loads when it comes near, and plays by itself while it is seen.
  async function begin() {
    await Runner.load();
    const first = Runner.scenes.findIndex(({ action }) => action !== null);
    Runner.show(first, 0);
    new IntersectionObserver((seen) => {
      if (isTouched || calm.matches) return;
      if (seen.at(-1).intersectionRatio < 0.5) pause();
      else if (!timer && at < scene.lines.length - 1) run();
    }, { threshold: [0, 0.5] }).observe(place);
  }
  begin();

  for (const event of ["click", "input"])
    controls.addEventListener(event, () => (isTouched = true));
  select.addEventListener("change", () =>
    go(0, Runner.scenes[select.selectedIndex]));
  back.addEventListener("click", () => go(at - 1));
  next.addEventListener("click", () => go(at + 1));
  play.addEventListener("click", () => {
    if (timer) return pause();
    if (!Runner.show(scene, at + 1)) Runner.show(scene, 0);
    return run();
  });
  slider.addEventListener("input", () => go(slider.valueAsNumber));
  box.addEventListener("keydown", (event) => {
    const way = arrowOf(event)?.[0];
    if (!way || event.target.closest("input, select, dl, pre")) return;
    event.preventDefault();
    isTouched = true;
    go(at + way);
  });
})();
