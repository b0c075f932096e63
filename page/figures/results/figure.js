// What the reader has guessed and scored, each beside the answer. What is still
// open leads to its figure.
if ($("results")) {
  const ROWS = [
    ["guess1", "guess", "Up or down, from one picture"],
    ["guess4", "guess", "Up or down, from four"],
    ["ghosts", "ghosts", "Ghosts that the agent sees, of four"],
    ["looks", "looks", "What its value depends on most"],
    ["move", "move", "With NOOP, too, the ball is hit"],
    ["serves", "serves", "Different games, of thirty"],
    ["still", "still", "Points that are left if nothing moves"],
  ];
  function show() {
    $("results").innerHTML = `<table><thead><tr><th>Asked</th><th>You</th><th>In truth</th></tr>
      </thead><tbody>${ROWS.map(([name, place, words]) => {
        const [yours, beside] = results[name] ?? [`<a href="#${place}">?</a>`, "?"];
        return `<tr><td>${words}</td><td>${yours}</td><td>${beside}</td></tr>`;
      }).join("")}</tbody></table>`;
  }
  show();
  addEventListener("remembered", show);
}
