// A figure that asks first covers a part of itself until the reader has
// guessed: the answer, and nothing else.
for (const { id } of document.querySelectorAll("figure:has(.choice)")) {
  figure(id, (box, $in) => {
    const choice = $in(".choice"), says = $in(".says");
    box.classList.add("asking");
    choice.addEventListener("click", ({ target }) => {
      if (target.type !== "button") return;
      box.classList.remove("asking");
      choice.hidden = true;
      says.textContent =
        `${target.value || "Here it is"}: ${choice.dataset.answer}`;
      says.focus({ preventScroll: true });
    });
  });
}
