// The tutorial runs: recorded lines, one after the other, with the pictures and
// the variables that each has made. `steps` has all values and pictures once, and
// in a line the numbers of those that it shows.
if ($("run")) (() => {
  const PACE = 1000, SAME = 250; // ms for a line, and for one that changes nothing
  const box = $("run");
  const [pane, screen, says, older, newer, controls, stack, texts] = box.children;
  const [back, play, next, slider, number] = controls.children;
  const select = controls.querySelector("select");
  const code = new Map(); // the lines of the page, by their rows in the module
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
      for (const [name, rows] of Object.entries(recorded.functions)) {
        const lines = $(name).closest(".card").querySelectorAll("pre > code > *");
        rows.forEach((row, i) => code.set(row, { line: lines[i], rows }));
      }
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
    drawCode();
    const values = held();
    drawPictures(values.filter(({ images }) => images.length));
    drawTexts(values);
    says.ariaLive = timer ? "off" : "polite";
    says.innerHTML = told(values);
  }

  // The functions that run, each below the line that calls it.
  function drawCode() {
    const running = [];
    for (const line of scene.lines.slice(0, at + 1)) {
      running.length = line[2].length - 1;
      running.push(line);
    }
    pane.firstChild.replaceChildren(listing(running));
    const [row, last] = running.at(-1);
    const marked = [...pane.querySelectorAll("[data-row]")]
      .filter(({ dataset }) => row <= dataset.row && dataset.row <= last);
    for (const line of marked) line.ariaCurrent = "step";
    const { offsetTop, offsetHeight } = marked[0];
    const room = pane.clientHeight - offsetHeight;
    const least = offsetTop - 0.75 * room, most = offsetTop - 0.25 * room;
    pane.scrollTo(0, Math.max(least, Math.min(pane.scrollTop, most)));
  }

  function listing([[row, last], ...called]) {
    const block = document.createElement("div");
    for (const each of code.get(row).rows) {
      const copy = code.get(each).line.cloneNode(true);
      copy.removeAttribute("id");
      copy.dataset.row = each;
      block.append(copy);
      if (called.length && each === last) block.append(listing(called));
    }
    return block;
  }

  // What holds after the line, and which line has made it. An attribute has its
  // value before a function that names it begins.
  function held() {
    const made = {};
    for (const [n, [, , , numbers]] of scene.lines.slice(0, at + 1).entries()) {
      for (const i of numbers) {
        const [name, text, images] = recorded.values[i], was = made[name];
        if (was?.i === i) continue;
        const since = was || !name.startsWith("self.") ? n : 0;
        made[name] = { i, name, text, images, since, was: was?.images ?? [] };
      }
    }
    return scene.lines[at][3].map((i) => made[recorded.values[i][0]]);
  }

  const isNew = ({ since }) => at > 0 && since === at;
  const isCall = ({ name }) => name.endsWith("()");

  // The console's screen, two gray ones, and a stack: of each what was made last.
  function drawPictures(values) {
    const isConsole = ({ name }) => name === "console";
    const isSmall = ({ images }) => recorded.pictures[images[0]][1] < 160;
    const latest = (some) => some.reverse().sort((a, b) => b.since - a.since ||
      b.images.length - a.images.length || isCall(a) - isCall(b));
    const grays = latest(values.filter((one) => !isConsole(one) && !isSmall(one)));
    const two = grays.filter(({ images: [image] }, i) =>
      grays.findIndex(({ images }) => images[0] === image) === i).slice(0, 2);
    two.sort((a, b) => values.indexOf(a) - values.indexOf(b));
    showIn(screen, values.find(isConsole));
    showIn(older, two[0]);
    showIn(newer, two[1]);
    showIn(stack, latest(values.filter(isSmall))[0]);
  }

  function showIn(place, value) {
    place.classList.toggle("new", !!value && isNew(value));
    place.innerHTML = `<code>${value?.name ?? ""}</code>`;
    for (const number of value?.images ?? []) {
      const image = new Image();
      [image.width, image.height] = recorded.pictures[number];
      Object.assign(image, { src: url(number), alt: "", decoding: "sync" });
      image.classList.toggle("new", !value.was.includes(number));
      place.append(image);
    }
  }

  // The variables, and the attributes that have changed.
  function drawTexts(values) {
    texts.replaceChildren();
    for (const value of values) {
      const { name, text, images, since } = value;
      if (images.length || (name.startsWith("self.") && !since)) continue;
      const item = document.createElement("div");
      item.innerHTML = "<dt></dt><dd></dd>";
      item.classList.toggle("new", isNew(value));
      item.firstChild.textContent = name;
      item.lastChild.textContent = text;
      texts.append(item);
    }
    texts.scrollTo(0, texts.querySelector(".new")?.offsetTop ?? 0);
  }

  // What the line does, in words.
  function told(values) {
    const { lines, action } = scene, [row, , inside] = lines[at];
    const call = action === null ? "reset()" : `step(${action})`;
    if (at === 0) return `<code>${call}</code> begins.`;
    const called = lines[at + 1]?.[2];
    // Of what was returned the last, unless a variable has it now.
    const fresh = values.filter(isNew);
    const kept = fresh.filter((one) => !isCall(one));
    const returned = fresh.filter(isCall).slice(-1)
      .filter(({ text: its }) => kept.every(({ text }) => text !== its));
    const words = [...kept, ...returned].map((one) => {
      const { name, text, images } = one;
      if (name === "console") return "The console draws a frame.";
      const is = isCall(one) ? "returns" : text.endsWith("pictures") ? "has" : "is";
      const what = images.length === 1 ? "a picture, " : "";
      return `<code>${name}</code> ${is} ${what}${text}.`;
    });
    if (called?.length > inside.length)
      words.push(`It calls <code>${called.at(-1)}()</code>.`);
    if (words.length) return words.join(" ");
    const [, set] = code.get(row).line.textContent.match(/^ *([\w.]+) \+?= /) ?? [];
    const same = values.find(({ name }) => name === set);
    if (same) return `<code>${set}</code> is still ${same.text}.`;
    const indent = (of) => code.get(of)?.line.textContent.search(/\S/);
    const enters = indent(lines[at + 1]?.[0]) > indent(row);
    const [word] = code.get(row).line.textContent.match(/\w+/);
    if (word === "if") return `The condition is ${enters}.`;
    if (word === "for" && !enters) return "The loop is over.";
    if (word === "break") return "The loop is left.";
    return "Nothing that is shown here changes.";
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
    }, box.querySelector(".new") ? PACE : SAME);
  }

  function go(n, which = scene) {
    pause();
    Runner.show(which, n);
  }

  // It plays by itself while it is seen, until the reader uses a control.
  async function begin() {
    await Runner.load();
    const first = Runner.scenes.findIndex(({ action }) => action !== null);
    Runner.show(first, 0);
    new IntersectionObserver((seen) => {
      if (isTouched || calm.matches) return;
      if (seen.at(-1).intersectionRatio < 0.5) pause();
      else if (!timer && at < scene.lines.length - 1) run();
    }, { threshold: [0, 0.5] }).observe(box);
  }
  begin();

  calm.addEventListener("change", pause);
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
