// What the reader and the agent have made, in sentences, as far as the reader
// has played and guessed.
if ($("results")) {
  function show() {
    const { you, view2, agent, guess1, guess4, ...guesses } = results();
    const asked = Object.values(guesses).filter(([, right]) => right);
    const right = asked.filter(([yours, truth]) => yours === truth).length;
    const yours = [
      you && `${you[0]} points`,
      view2 && `${view2[0]} from its four pictures`,
      guess1 && `up or down from one picture: ${guess1[0]}`,
      guess4 && `from four: ${guess4[0]}`,
      asked.length && `other answers right: ${right} of ${asked.length}`,
    ].filter(Boolean);
    const words = yours.join("; ") || "not a point yet";
    const its = agent ? `${agent[0]} points in your browser, ` : "";
    $("yours").textContent = `${words}.`;
    $("its").textContent = its;
  }
  show();
  addEventListener("remembered", show);
}
