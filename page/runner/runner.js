// The tutorial runs. A bar at the bottom of the window goes through recorded
// lines: the one that has just run is marked in the code, and the bar shows what
// held then. `steps` has all values and pictures once, and in a line the numbers
// of those that it shows.
if ($("run")) (() => {
  const PACE = 700, SAME = 200; // ms for a line, and for one that changes nothing
  const begin = $("run"), says = begin.nextElementSibling;
  const code = [...document.querySelectorAll("[data-row]")];
  const bar = document.createElement("section");
  bar.className = "runner";
  bar.ariaLabel = "The code, line by line";
  bar.hidden = true;
  bar.innerHTML = `<p class="where"></p><button type="button">Close</button>
    <p><code></code> Values are those after the marked line.<span>
    Points and lives are drawn a frame later.</span></p>
    <dl class="texts" tabindex="0"></dl><dl class="shots" tabindex="0"></dl>
    <div class="controls"><select aria-label="Scene"></select>
    <span class="number"></span><button type="button">Back</button>
    <button type="button" class="play"></button>
    <button type="button">Next line</button>
    <input type="range" aria-label="Line" min="0"></div>`;
  document.body.append(bar);
  const [where, end, about, texts, shots, controls] = bar.children;
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
    const [row, last, inside, shown] = scene.lines[at];
    const count = scene.lines.length;
    bar.hidden = false;
    select.selectedIndex = Runner.scenes.indexOf(scene);
    slider.max = count - 1;
    slider.value = at;
    number.textContent = `${at + 1} of ${count}`;
    back.ariaDisabled = at === 0;
    next.ariaDisabled = at === count - 1;
    about.firstChild.textContent = scene.call;

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
    about.lastElementChild.hidden = !shots.firstChild;
    for (const list of [texts, shots]) {
      const item = list.querySelector("div.new");
      list.scrollTo(0, item ? item.offsetTop : 0);
    }

    mark(row, last);
    where.ariaLive = timer ? "off" : "polite";
    where.textContent = `${inside.join(" › ")}: ` +
      marked.map((line) => line.textContent.trim()).join(" ");
  }

  // What is read or has the focus doesn't lie below the bar.
  function makeRoom() {
    const height = `${bar.offsetHeight}px`;
    document.body.style.paddingBottom = height;
    document.documentElement.style.scrollPaddingBottom = height;
  }

  // Mark a statement, from its first row to its last one, or nothing.
  function mark(row, last) {
    for (const line of marked) line.ariaCurrent = null;
    marked = code.filter(({ dataset }) =>
      row <= dataset.row && dataset.row <= last);
    for (const line of marked) line.ariaCurrent = "step";
    const fold = marked[0]?.closest("details");
    if (fold) fold.open = true;
    makeRoom();
    const behavior = timer && !calm ? "smooth" : "auto";
    marked[0]?.scrollIntoView({ block: "nearest", behavior });
  }

  function pause() {
    clearTimeout(timer);
    timer = null;
    play.textContent = "Play";
  }

  // Play on after what is shown.
  function run() {
    play.textContent = "Pause";
    timer = setTimeout(() => {
      if (document.hidden) return run();
      if (!Runner.show(scene, at + 1)) return pause();
      return run();
    }, bar.querySelector("div.new") ? PACE : SAME);
  }

  function go(n, which = scene) {
    pause();
    Runner.show(which, n);
  }

  function close() {
    pause();
    bar.hidden = true;
    mark();
    begin.focus();
  }

  addEventListener("resize", makeRoom);
  begin.addEventListener("click", async () => {
    try {
      await Runner.load();
    } catch (error) {
      if (!(error instanceof Missing)) throw error;
      says.textContent = "The recording didn't arrive. Press again to ask again.";
      return;
    }
    says.textContent = "";
    // The first time, a step.
    const first = Runner.scenes.find(({ action }) => action !== null);
    Runner.show(scene ?? first, scene ? at : first.opens);
    next.focus();
  });
  select.addEventListener("change", () => {
    const asked = Runner.scenes[select.selectedIndex];
    go(asked.opens, asked);
  });
  back.addEventListener("click", () => go(at - 1));
  next.addEventListener("click", () => go(at + 1));
  play.addEventListener("click", () => {
    if (timer) return pause();
    if (!Runner.show(scene, at + 1)) Runner.show(scene, scene.opens);
    return run();
  });
  slider.addEventListener("input", () => go(slider.valueAsNumber));
  end.addEventListener("click", close);
  addEventListener("keydown", (event) => {
    const { key, target, altKey, ctrlKey, metaKey, shiftKey } = event;
    if (bar.hidden || event.defaultPrevented) return;
    if (altKey || ctrlKey || metaKey || shiftKey) return;
    if (key === "Escape" && !$("contents").matches(":popover-open")) close();
    const lines = { ArrowLeft: -1, ArrowRight: 1 }[key];
    if (!lines || target.closest("input, select, textarea, dl")) return;
    event.preventDefault();
    go(at + lines);
  });
  pause();
})();
