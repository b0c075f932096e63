const $ = (id) => document.getElementById(id);
const between = (least, value, most) => Math.max(least, Math.min(most, value));
const sum = (numbers) => numbers.reduce((all, one) => all + one, 0);

// Random numbers from 0 to 1, the same for the same seed (mulberry32).
function randomFrom(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
const newSeed = () => Math.floor(Math.random() * 2 ** 32);

// The data of the figures, each in a file of its own that is loaded when it is
// first asked for. Its address carries a stamp of its contents.
const given = {}, asked = {};
const read = (name) => (asked[name] ??= new Promise((done, fail) => {
  const script = document.createElement("script");
  const file = `data/${name}.js`;
  script.src = `${file}?v=${stamps[file]}`;
  script.onload = () => done(given[name]);
  script.onerror = () => fail(new Error(`${script.src} didn't arrive`));
  document.head.append(script);
}));

// A figure begins when it comes near, if it is on this page. Its still picture
// is shown until it has begun, and a button that was pressed meanwhile is pressed
// then. If it can't begin, a line says so.
function figure(name, begin) {
  const box = document.querySelector(`figure#${name}`);
  if (!box) return;
  let pressed = null;
  const press = ({ target }) => {
    pressed = target.closest(".controls button") ?? pressed;
  };
  box.addEventListener("click", press);
  new IntersectionObserver(async (seen, observer) => {
    if (!seen.at(-1).isIntersecting) return;
    observer.disconnect();
    try {
      await begin(box, (selector) => box.querySelector(selector));
    } catch (error) {
      const line = document.createElement("p");
      line.className = "missing";
      line.textContent = "This figure doesn't move here: a file of it didn't " +
        "arrive, or the browser is older than May 2023.";
      box.append(line);
      throw error;
    }
    box.removeEventListener("click", press);
    box.classList.add("begun");
    pressed?.click();
  }, { rootMargin: "900px" }).observe(box);
}

// What scrolls in a box of its own is a stop of the Tab key, so that the arrow
// keys move it.
for (const box of document.querySelectorAll(".scrolls, .math"))
  new ResizeObserver(() => {
    if (box.scrollWidth > box.clientWidth) box.tabIndex = 0;
    else box.removeAttribute("tabindex");
  }).observe(box);

// The bar and the contents say which section is read.
const entries = [...document.querySelectorAll("nav a[href^='#']")];
function mark() {
  const entry = entries.findLast(({ hash }) =>
    $(decodeURIComponent(hash.slice(1))).getBoundingClientRect().top <
      innerHeight / 3);
  $("here").textContent = entry?.textContent ?? "Contents";
  for (const each of entries) each.ariaCurrent = each === entry ? "true" : null;
}
addEventListener("scroll", mark, { passive: true });
$("contents").addEventListener("click", ({ target }) =>
  target.closest("a") && $("contents").hidePopover?.());
