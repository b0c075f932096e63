// A figure that asks first: a guess opens the answer, says if it was right, and
// stays to be seen.
for (const box of document.querySelectorAll(".asked")) {
  box.querySelector(".choice").addEventListener("click", ({ target }) => {
    if (target.type !== "button") return;
    box.querySelector("details").open = true;
    box.querySelector(".verdict").textContent =
      `Your guess: ${target.textContent}. ${target.value}`;
    box.querySelector(".says").focus({ preventScroll: true });
  });
}
