// A figure that asks first: its picture is covered, its caption blurred, until
// the reader has guessed, or has had the time to, or touches what is blurred.
(() => {
const WAIT = 15_000;  // milliseconds to guess in
document.querySelectorAll(".asks").forEach((figure) => {
  const [says, choice] = figure.querySelector(".asked").children;
  const row = figure.closest(".row");
  const blurred = [
    ...row.querySelectorAll(".answer, .asks figcaption, .after"),
    ...row.nextElementSibling.querySelectorAll("table"),
  ];
  let soon = null;

  const show = () => tell("");
  function tell(verdict) {
    seen.disconnect();
    clearTimeout(soon);
    figure.classList.add("told");
    choice.hidden = true;
    blurred.forEach((one) => one.removeEventListener("click", show));
    says.textContent = verdict + figure.dataset.answer;
  }
  const seen = new IntersectionObserver(([{ isIntersecting }]) => {
    clearTimeout(soon);
    if (isIntersecting) soon = setTimeout(show, WAIT);
  }, { threshold: 0.8 });
  seen.observe(figure);
  choice.addEventListener("click", ({ target }) => {
    if (target.type !== "button") return;
    tell(target.value ? "Yes. " : "No. ");
    says.focus({ preventScroll: true });
  });
  blurred.forEach((one) => one.addEventListener("click", show));
});
})();
