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

// The bar and the contents say which section is read.
const headings = [...document.querySelectorAll("main :is(h2, h3)")];
const entries = [...document.querySelectorAll("nav a")];
function mark() {
  const begun = headings.filter((heading) => heading.checkVisibility() &&
    (heading.closest("details")?.open ?? true) &&
    heading.getBoundingClientRect().top < innerHeight / 3);
  const title = begun.at(-1)?.textContent.replace(/ #$/, "");
  $("here").textContent = title ?? "Contents";
  // The address of a fold stands behind its summary.
  const ids = begun.map((heading) => "#" + (heading.closest(".row") ??
    heading.closest("details").querySelector("[id]")).id);
  const entry = entries.findLast(({ hash }) => ids.includes(hash));
  for (const each of entries) each.ariaCurrent = each === entry ? "true" : null;
}
addEventListener("scroll", mark, { passive: true });
for (const each of entries) {
  each.addEventListener("click", () => $("contents").hidePopover());
}

for (const sign of document.querySelectorAll(".sign")) {
  sign.ariaLabel = "Link to this place";
}

// Who follows a link inside the page finds the way back.
$("top").addEventListener("click", ({ target }) => {
  const link = target.closest("a[href^='#']:not(.sign)");
  if (link) $("back").hidden = false;
});
$("back").addEventListener("click", () => {
  history.back();
  $("back").hidden = true;
});
