// Bugs to find: the reader picks a line, by pointing or by the arrow keys and
// Enter or Space. A section says which of its lines are wrong, counted from 1.
for (const box of document.querySelectorAll("[data-wrong]")) {
  const wrong = box.dataset.wrong.split(" ").map(Number);
  const lines = [...box.querySelectorAll("pre span[style]")];
  const answer = box.querySelector("details");
  function pick(line) {
    const isWrong = wrong.includes(lines.indexOf(line) + 1);
    line.classList.add(isWrong ? "found" : "right");
    line.ariaDescription = isWrong ?
      "Found: this line is wrong" : "No: this line is right";
    if (isWrong) answer.open = true;
  }
  lines.forEach((line, i) => {
    line.role = "button";
    line.tabIndex = i ? -1 : 0;
    line.addEventListener("click", () => pick(line));
    line.addEventListener("keydown", (event) => {
      const isPick = event.key === "Enter" || event.key === " ";
      const next = lines[i + arrowOf(event)?.[1]];
      if (!isPick && !next) return;
      event.preventDefault();
      if (isPick) {
        pick(line);
        return;
      }
      for (const other of lines) other.tabIndex = other === next ? 0 : -1;
      next.focus();
    });
  });
}
