// A figure that asks first: its picture is covered in part, and its caption
// hidden, until the reader has guessed, or has had the time to.
(() => {
const WAIT = 15_000;  // milliseconds to guess in
document.querySelectorAll(".asks").forEach((figure) => {
  const [says, choice] = figure.querySelector(".asked").children;
  let soon = null;

  function tell(verdict) {
    seen.disconnect();
    clearTimeout(soon);
    figure.classList.add("told");
    choice.hidden = true;
    says.textContent = verdict + figure.dataset.answer;
  }
  const seen = new IntersectionObserver(([{ isIntersecting }]) => {
    clearTimeout(soon);
    if (isIntersecting) soon = setTimeout(tell, WAIT, "");
  }, { threshold: 0.8 });
  seen.observe(figure);
  choice.addEventListener("click", ({ target }) => {
    if (target.type === "button") tell(target.value ? "Yes. " : "No. ");
  });
  // Who would rather know touches what is covered.
  const after = figure.closest(".row").querySelector(".after");
  for (const one of [...figure.querySelectorAll(".answer, figcaption"), after]) {
    one?.addEventListener("click", () => tell(""));
  }
});
})();
