// What the reader and the agent have made, in sentences, as far as the reader
// has played and guessed.
if ($("results")) {
  function show() {
    const { you, view2, agent, guess1, guess4, ...guesses } = results();
    const asked = Object.values(guesses).filter(([, right]) => right);
    const right = asked.filter(([yours, truth]) => yours === truth).length;
    const yours = [
      you && `a score of ${you[0]}`,
      view2 && `${view2[0]} from its four pictures`,
      guess1 && `up or down: ${guess1[0]} from one picture`,
      guess4 && `${guess4[0]} from four`,
      asked.length && `${right} of ${asked.length} other answers right`,
    ].filter(Boolean);
    const words = yours.join("; ") || "not a point yet";
    const its = agent ? `${agent[0]} points beside you, ` : "";
    $("yours").textContent = `${words}.`;
    $("its").textContent = its;
  }
  show();
  addEventListener("remembered", show);
}
