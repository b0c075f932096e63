// What the reader and the agent have made, in sentences, as far as the reader
// has played and guessed.
if ($("results")) {
  function show() {
    const { you, agent, guess1, guess4, ...guesses } = results();
    const asked = Object.values(guesses).filter(([, right]) => right);
    const right = asked.filter(([yours, truth]) => yours === truth).length;
    const yours = [
      you && `${you[0]} points`,
      guess1 && `${guess1[0]} from one picture`,
      guess4 && `${guess4[0]} from four`,
      asked.length && `${right} of ${asked.length} other guesses`,
    ].filter(Boolean);
    const words = yours.join(", ") || "not a point yet";
    const its = agent ? `${agent[0]} points in your browser, ` : "";
    $("yours").textContent = `${words}.`;
    $("its").textContent = its;
  }
  show();
  addEventListener("remembered", show);
}
