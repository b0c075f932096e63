// The tutorial runs. A bar at the bottom of the window goes through recorded
// lines: the one that has just run is marked in the code, and the bar shows what
// held then. `steps` has all values and pictures once, and in a line the numbers
// of those that it shows.
if ($("run")) (() => {
  const PACE = 700; // milliseconds for a line
  const begin = $("run"), says = begin.nextElementSibling;
  const code = [...document.querySelectorAll("[data-row]")];
  const bar = document.createElement("section");
  bar.className = "runner";
  bar.ariaLabel = "The code, line by line";
  bar.hidden = true;
  bar.innerHTML = `<p></p><button type="button">Close</button>
    <dl class="texts" tabindex="0"></dl><dl class="shots" tabindex="0"></dl>
    <div class="controls"><select aria-label="Scene"></select>
    <span class="number"></span><button type="button">Back</button>
    <button type="button" class="play"></button>
    <button type="button">Next line</button>
    <input type="range" aria-label="Line" min="0"></div>`;
  document.body.append(bar);
  const [where, end, texts, shots, controls] = bar.children;
  const [select, number, back, play, next, slider] = controls.children;
  let recorded = null, scene = null, at = 0, timer = null, marked = [];

  const Runner = {
    scenes: [],

    async load() {
      recorded ??= await read("steps");
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
      const [row, inside, shown] = scene.lines[n];
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
    const [row, inside, shown] = scene.lines[at];
    bar.hidden = false;
    select.selectedIndex = Runner.scenes.indexOf(scene);
    slider.max = scene.lines.length - 1;
    slider.value = at;
    number.textContent = `${at + 1} of ${scene.lines.length}`;
    mark(row);
    where.ariaLive = timer ? "off" : "polite";
    where.textContent = `${inside.join(" › ")}: ` +
      marked.map((line) => line.textContent.trim()).join(" ");

    // What was shown last of each name tells what has changed.
    const known = {}, seen = new Set();
    for (const [, , numbers] of scene.lines.slice(0, at)) {
      for (const i of numbers) known[recorded.values[i][0]] = i;
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
      // What a function returns is mostly seen in a variable already.
      const stack = seen.has(String(images)) ? [] : images;
      seen.add(String(stack));
      if (stack.length) {
        const pictures = document.createElement("dd");
        pictures.append(...stack.map((number) => {
          const image = new Image();
          [image.width, image.height] = recorded.pictures[number];
          Object.assign(image, { src: url(number), alt: "", decoding: "sync" });
          image.classList.toggle("new", !was?.[2].includes(number));
          return image;
        }));
        item.append(pictures);
      }
      (stack.length ? shots : texts).append(item);
    }
    for (const list of [texts, shots]) {
      const item = list.querySelector("div.new");
      if (item) list.scrollTo(item.offsetLeft, item.offsetTop - 3);
    }
  }

  function mark(row) {
    const last = recorded.until[row] ?? row;
    for (const line of marked) line.ariaCurrent = null;
    marked = code.filter(({ dataset }) =>
      row <= dataset.row && dataset.row <= last);
    for (const line of marked) line.ariaCurrent = "step";
    const fold = marked[0]?.closest("details");
    if (fold) fold.open = true;
    const behavior = timer && !calm ? "smooth" : "auto";
    marked[0]?.scrollIntoView({ block: "nearest", behavior });
  }

  function run(on) {
    clearInterval(timer);
    timer = on ? setInterval(() => {
      if (document.hidden) return;
      if (at + 2 >= scene.lines.length) run(false);
      go(1);
    }, PACE) : null;
    play.textContent = on ? "Pause" : "Play";
  }
  const go = (lines) => Runner.show(scene, at + lines);

  function step(lines) {
    run(false);
    go(lines);
  }

  function close() {
    run(false);
    const had = bar.contains(document.activeElement);
    bar.hidden = true;
    mark(Infinity);
    if (had) begin.focus({ preventScroll: true });
  }

  // What is read or has the focus doesn't lie below the bar.
  new ResizeObserver(() => {
    const height = `${bar.offsetHeight}px`;
    document.body.style.paddingBottom = height;
    document.documentElement.style.scrollPaddingBottom = height;
  }).observe(bar);

  begin.addEventListener("click", async () => {
    try {
      await Runner.load();
    } catch (error) {
      if (!(error instanceof Missing)) throw error;
      says.textContent = "The recording didn't arrive. Press again to ask again.";
      return;
    }
    says.textContent = "";
    Runner.show(scene ?? 0, at);
    next.focus();
  });
  select.addEventListener("change", () => {
    run(false);
    Runner.show(select.selectedIndex, 0);
  });
  back.addEventListener("click", () => step(-1));
  next.addEventListener("click", () => step(1));
  play.addEventListener("click", () => {
    const on = !timer;
    run(on);
    if (on) Runner.show(scene, at + 1 < scene.lines.length ? at + 1 : 0);
  });
  slider.addEventListener("input", () => {
    run(false);
    Runner.show(scene, slider.valueAsNumber);
  });
  end.addEventListener("click", close);
  addEventListener("keydown", (event) => {
    const { key, target, altKey, ctrlKey, metaKey, shiftKey } = event;
    if (bar.hidden || event.defaultPrevented) return;
    if (altKey || ctrlKey || metaKey || shiftKey) return;
    if (key === "Escape" && !$("contents").matches(":popover-open")) close();
    const lines = { ArrowLeft: -1, ArrowRight: 1 }[key];
    if (!lines || target.closest("input, select, textarea, dl")) return;
    event.preventDefault();
    step(lines);
  });
  run(false);
})();
