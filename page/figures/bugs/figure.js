// Bugs to find: the reader picks a line, by pointing or by the arrow keys and
// Enter. A section says which of its lines are wrong, counted from 1.
for (const box of document.querySelectorAll("[data-wrong]")) {
  const wrong = box.dataset.wrong.split(" ").map(Number);
  const lines = [...box.querySelectorAll("pre span[style]")];
  const answer = box.querySelector("details");
  function pick(line) {
    const found = wrong.includes(lines.indexOf(line) + 1);
    line.classList.add(found ? "found" : "right");
    line.ariaDescription = found ? "This line is wrong" : "This line is right";
    if (found) answer.open = true;
  }
  lines.forEach((line, i) => {
    line.role = "button";
    line.tabIndex = i ? -1 : 0;
    line.addEventListener("click", () => pick(line));
    line.addEventListener("keydown", (event) => {
      const next = lines[i + ARROWS[event.key]?.[1]];
      if (event.key === "Enter") pick(line);
      if (!next) return;
      event.preventDefault();
      for (const other of lines) other.tabIndex = other === next ? 0 : -1;
      next.focus();
    });
  });
}
