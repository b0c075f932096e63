"use strict";
const $ = (id) => document.getElementById(id);

// The data of the figures, each in a file of its own that is loaded when it is
// first asked for.
const given = {}, asked = {};
const read = (name) => (asked[name] ??= new Promise((done, fail) => {
  const script = document.createElement("script");
  script.src = `data/${name}.js`;
  script.onload = () => done(given[name]);
  script.onerror = () => {
    delete asked[name]; // so that it can be asked for again
    fail(new Error(`${script.src} can't be loaded`));
  };
  document.head.append(script);
}));

// A figure begins when it comes near, if it is on this page.
function figure(name, begin) {
  const box = document.querySelector(`figure#${name}`);
  if (!box) return;
  new IntersectionObserver((seen, observer) => {
    if (!seen.at(-1).isIntersecting) return;
    observer.disconnect();
    begin(box, (selector) => box.querySelector(selector));
  }, { rootMargin: "900px" }).observe(box);
}

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
