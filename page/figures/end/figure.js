// At the end of the story, the reader's balls beside the agent's, if he has
// played.
const ending = $("yours");
if (ending) {
  new IntersectionObserver(() => {
    for (const output of ending.querySelectorAll("[data-who]")) {
      const { scores } = Board.lines[output.dataset.who];
      output.textContent = scores.length ? meanOf(scores) : "–";
    }
    ending.hidden = !Board.lines.you.scores.length;
  }, { rootMargin: "900px" }).observe($("you-and-it"));
  ending.querySelector("button").addEventListener("click", () => send(ending));
}
