// At the end of the story, how fast the reader was, if he has played.
const { send } = window.Live;
const ending = $("yours");
if (ending) {
  new IntersectionObserver(() => {
    const { best } = window.Tease ?? {};
    ending.hidden = !best;
    ending.querySelector("b").textContent = best ?? "";
  }, { rootMargin: "900px" }).observe($("it-was-told-what-pays"));
  ending.querySelector("button").addEventListener("click", () =>
    send(ending, window.Tease.best));
}
