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

// Open the folds around what a link or a name leads to.
function unfold(part) {
  for (let at = part; (at = at?.closest("details"));) {
    at.open = true;
    at = at.parentElement;
  }
}
const linked = () => unfold($(decodeURIComponent(location.hash.slice(1))));
addEventListener("hashchange", linked);
document.addEventListener("click", (event) => {
  const link = event.target.closest("a[href^='#']");
  if (link) unfold($(link.hash.slice(1)));
});

// Boxes that scroll sideways can be reached by keyboard.
function reachable() {
  for (const box of document.querySelectorAll("pre, .wide")) {
    if (box.scrollWidth > box.clientWidth) box.tabIndex = 0;
    else box.removeAttribute("tabindex");
  }
}
addEventListener("resize", reachable);
reachable();

// Copy the module, or a command.
async function copy(text, button) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = document.body.appendChild(document.createElement("textarea"));
    area.value = text;
    area.select();
    document.execCommand("copy");
    area.remove();
  }
  const label = button.firstChild;
  label.textContent = "Copied";
  setTimeout(() => { label.textContent = "Copy"; }, 1500);
}
$("copy").addEventListener("click", () => copy($("source").textContent, $("copy")));
for (const box of document.querySelectorAll(".top pre")) {
  const text = box.textContent.trim(), button = document.createElement("button");
  button.type = "button";
  button.textContent = "Copy";
  button.addEventListener("click", () => copy(text, button));
  box.append(button);
}

// Names: the first click leads to where a name is defined, and from there to
// its uses. The prose has a name of its own for an observation.
const places = new Map([["obs_4", []]]);
const nameOf = ({ textContent }) =>
  textContent.replace(/[([].*/, "").split(".").pop();
for (const part of document.querySelectorAll(".code .own")) {
  const name = part.textContent;
  if (!places.has(name)) places.set(name, []);
}
for (const part of document.querySelectorAll(".own, main :not(pre) > code")) {
  const name = nameOf(part), list = places.get(name);
  if (!list || part.closest("a, summary")) continue;
  // By keyboard: each class and function where it is defined, and the first
  // mention of a name in a piece of prose.
  const prose = part.matches("code") && part.closest(".prose, .note");
  const mentioned = prose && list.some((one) => prose.contains(one));
  if (part.matches(".nc.def, .nf.def, .fm.def") || prose && !mentioned) {
    part.tabIndex = 0;
    part.setAttribute("role", "button");
  }
  part.classList.add("own");
  list.push(part);
}

// The last definition above, since names in functions mean the nearest one;
// what is first used and then defined has it below.
function definitionOf(name, part) {
  const all = places.get(name).filter((one) => one.matches(".def"));
  const wide = all.filter((one) => one.matches(".nc, .nf, .fm"));
  const above = all.filter((one) => one === part ||
    one.compareDocumentPosition(part) & Node.DOCUMENT_POSITION_FOLLOWING);
  return wide[0] ?? above.pop() ?? all[0];
}

let from = null; // where the reader came from
function show(part) {
  for (const old of document.querySelectorAll(".hit, .here")) {
    old.classList.remove("hit", "here");
  }
  $("found").hidden = !part;
  if (!part) return;
  const name = nameOf(part), all = places.get(name);
  const home = definitionOf(name, part);
  const uses = all.filter((one) => !one.matches(".def")).length;
  for (const one of all) one.classList.add("hit");
  $("found").innerHTML = `<span><code></code> ${uses}
      ${uses === 1 ? "use" : "uses"}</span>
    <button type="button" aria-label="previous place">↑</button>
    <button type="button" aria-label="next place">↓</button>
    <button type="button">Back</button>
    <button type="button" aria-label="stop showing">×</button>`;
  $("found").querySelector("code").textContent = name;
  const [up, down, back, stop] = $("found").querySelectorAll("button");
  let at = part;
  const go = (one) => {
    if (!one) return;
    at.classList.remove("here");
    at = one;
    at.classList.add("here");
    unfold(at);
    at.scrollIntoView({ block: "center" });
  };
  up.onclick = () => go(all[all.indexOf(at) - 1] ?? all[all.length - 1]);
  down.onclick = () => go(all[all.indexOf(at) + 1] ?? all[0]);
  back.hidden = !home || home === part;
  back.onclick = () => {
    go(part);
    show(null);
    if (part.tabIndex === 0) part.focus({ preventScroll: true });
  };
  stop.onclick = () => show(null);
  go(home ?? part);
  from = part;
}
function leave() {
  show(null);
  if (from?.tabIndex === 0) from.focus({ preventScroll: true });
}
document.addEventListener("click", (event) => {
  const part = event.target.closest(".own");
  if (!part || String(getSelection())) return;
  show(part.matches(".here") ? null : part);
});
document.addEventListener("keydown", (event) => {
  const part = event.target.closest?.(".own");
  if (event.key === "Escape" && !$("found").hidden) leave();
  if (!part || event.key !== "Enter" && event.key !== " ") return;
  event.preventDefault();
  show(part);
  $("found").querySelector("button").focus({ preventScroll: true });
});

// The section that is read now, in the bar and in the contents.
const headings = [...document.querySelectorAll("main :is(h2, h3)[id]")];
const listed = [...$("contents")?.querySelectorAll("a") ?? []];
const passed = (one) => one.getBoundingClientRect().top < innerHeight / 3;
function locate() {
  const now = headings.filter(passed).pop();
  document.documentElement.classList.toggle("reading", Boolean(now));
  $("here").hidden = !now;
  if (!now || $("here").hash === `#${now.id}`) return;
  $("here").href = `#${now.id}`;
  $("here").textContent = now.textContent;
  const part = listed.filter((link) => passed($(link.hash.slice(1)))).pop();
  for (const link of listed) {
    link.setAttribute("aria-current", String(link === part));
  }
}
linked();
let waits = false;
addEventListener("scroll", () => {
  if (!waits) {
    requestAnimationFrame(() => {
      waits = false;
      locate();
    });
  }
  waits = true;
}, { passive: true });
locate();
