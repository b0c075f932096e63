"use strict";
const $ = (id) => document.getElementById(id);

// The data of the figures, each in a file of its own that is loaded when it is
// first asked for.
const given = {}, asked = {};
const read = (name) => (asked[name] ??= new Promise((done) => {
  const script = document.createElement("script");
  script.src = `data/${name}.js`;
  script.onload = () => done(given[name]);
  document.head.append(script);
}));

// The section that is read now, in the bar.
const headings = [...document.querySelectorAll("main :is(h2, h3)[id]")];
function locate() {
  const now = headings.filter((one) =>
    one.getBoundingClientRect().top < innerHeight / 3).pop();
  document.documentElement.classList.toggle("reading", Boolean(now));
  $("here").hidden = !now;
  if (!now) return;
  $("here").href = `#${now.id}`;
  $("here").textContent = now.textContent;
}
addEventListener("scroll", locate);
locate();
