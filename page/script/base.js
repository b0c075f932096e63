"use strict";
const $ = (id) => document.getElementById(id);

// The data of the figures, each in a file of its own that is loaded when it is
// first asked for. What didn't arrive can be asked for again.
class Missing extends Error {}
const given = {}, asked = {};
const read = (name) => (asked[name] ??= new Promise((done, fail) => {
  const script = document.createElement("script");
  script.src = `data/${name}.js`;
  script.onload = () => done(given[name]);
  script.onerror = () => {
    delete asked[name];
    fail(new Missing(`${script.src} didn't arrive`));
  };
  document.head.append(script);
}));

// A figure begins when it comes near, if it is on this page. Its still picture
// is shown until it has begun, and a button that was pressed meanwhile is pressed
// then. `begin` reads all its data before it does anything else, so that it can
// be called again where some didn't arrive.
function figure(name, begin) {
  const box = document.querySelector(`figure#${name}`);
  if (!box) return;
  let pressed = null;
  const press = ({ target }) => {
    pressed = target.closest(".controls button, .begin") ?? pressed;
  };
  box.addEventListener("click", press);
  async function start() {
    try {
      await begin(box, (selector) => box.querySelector(selector));
      box.removeEventListener("click", press);
      box.classList.add("begun");
      pressed?.click();
    } catch (error) {
      if (!(error instanceof Missing)) throw error;
      askAgain(box, start);
    }
  }
  new IntersectionObserver((seen, observer) => {
    if (!seen.at(-1).isIntersecting) return;
    observer.disconnect();
    start();
  }, { rootMargin: "900px" }).observe(box);
}

function askAgain(box, start) {
  const line = document.createElement("p");
  line.className = "missing";
  line.role = "status";
  line.innerHTML = `A part of this figure didn't arrive.
    <button type="button">Ask again</button>`;
  line.lastElementChild.addEventListener("click", async () => {
    line.lastElementChild.ariaDisabled = "true";
    await start();
    const wasFocused = line.contains(document.activeElement);
    line.remove();
    if (wasFocused) box.querySelector("button, input")?.focus();
  }, { once: true });
  box.querySelector(".missing")?.remove();
  box.append(line);
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
  target.closest("a") && $("contents").hidePopover());
