"use strict";
document.documentElement.classList.add("js");
const $ = (id) => document.getElementById(id);
const read = (id) => JSON.parse($(id).textContent);

// Boxes that scroll sideways can be reached by keyboard.
function reachable() {
  for (const box of document.querySelectorAll("pre, .wide, .benchmark, .train")) {
    if (box.scrollWidth > box.clientWidth) box.tabIndex = 0;
    else box.removeAttribute("tabindex");
  }
}
addEventListener("resize", reachable);
reachable();

// Copy the module.
$("copy").hidden = false;
$("copy").addEventListener("click", async () => {
  const text = read("source");
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = document.body.appendChild(document.createElement("textarea"));
    area.value = text;
    area.select();
    document.execCommand("copy");
    area.remove();
  }
  const label = '<span> game.py</span>';
  $("copy").innerHTML = "Copied" + label;
  setTimeout(() => { $("copy").innerHTML = "Copy" + label; }, 1500);
});

// A click on one of the module's names shows its other places.
// The prose has a name of its own for an observation.
const places = new Map([["obs_4", []]]);
const nameOf = ({ textContent }) =>
  textContent.replace(/[([].*/, "").split(".").pop();
for (const part of document.querySelectorAll(".code .own")) {
  const name = part.textContent;
  if (!places.has(name)) places.set(name, []);
}
for (const part of document.querySelectorAll(".own, :not(pre) > code")) {
  const name = nameOf(part);
  if (!places.has(name) || part.closest("a")) continue;
  part.classList.add("own");
  places.get(name).push(part);
}
function show(name) {
  for (const old of document.querySelectorAll(".hit")) {
    old.classList.remove("hit");
  }
  $("found").hidden = !name;
  if (!name) return;
  const all = places.get(name);
  for (const part of all) part.classList.add("hit");
  const times = all.length === 1 ? "1 place" : `${all.length} places`;
  $("found").innerHTML = `<span><code></code> ${times}</span>
    <button type="button" aria-label="previous place">↑</button>
    <button type="button" aria-label="next place">↓</button>
    <button type="button" aria-label="stop showing">×</button>`;
  $("found").querySelector("code").textContent = name;
  const [up, down, stop] = $("found").querySelectorAll("button");
  const middle = (part) => part.getBoundingClientRect().top - innerHeight / 2;
  const go = (part) => part && part.scrollIntoView({ block: "center" });
  up.onclick = () => go(all.filter((part) => middle(part) < -20).pop());
  down.onclick = () => go(all.find((part) => middle(part) > 20));
  stop.onclick = () => show(null);
}
document.addEventListener("click", (event) => {
  const part = event.target.closest(".own");
  if (!part || String(getSelection())) return;
  const name = nameOf(part);
  show(part.classList.contains("hit") ? null : name);
});
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") show(null);
});

// A film can be stopped, and stands still for who wants less motion.
for (const film of document.querySelectorAll("figure.agent img")) {
  const still = document.createElement("canvas");
  const button = document.createElement("button");
  still.setAttribute("role", "img");
  still.setAttribute("aria-label", film.alt);
  const stop = (stopped) => {
    still.hidden = !stopped;
    film.hidden = stopped;
    button.textContent = stopped ? "Play" : "Pause";
  };
  button.type = "button";
  button.addEventListener("click", () => stop(still.hidden));
  film.after(still, button);
  film.decode().then(() => {
    still.width = film.naturalWidth;
    still.height = film.naturalHeight;
    still.getContext("2d").drawImage(film, 0, 0);
    stop(matchMedia("(prefers-reduced-motion: reduce)").matches);
  });
}
