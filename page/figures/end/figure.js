// At the end of the story, the reader's balls beside the agent's, if he has
// played.
const ending = $("yours");
if (ending) {
  const [again] = ending.getElementsByTagName("button");
  const its = () => Board.lines.it.isWhole ? Board.lines.it.scores : [];
  new IntersectionObserver(() => {
    for (const output of ending.querySelectorAll("[data-who]")) {
      const { scores } = Board.lines[output.dataset.who];
      output.textContent = scores?.length ? meanOf(scores) : "–";
    }
    ending.hidden = !Board.lines.you.scores?.length;
  }, { rootMargin: "900px" }).observe($("you-and-it"));
  again.addEventListener("click", () => {
    const line = lineOf(Board.lines.you.scores, its(), Board.seed);
    send(line, ending.querySelector("input"), (words) => {
      ending.querySelector("[role=status]").textContent = words;
    });
  });
}
