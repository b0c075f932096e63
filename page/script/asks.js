// What the reader has guessed and scored, and what is right. It comes back at
// the end of the story, and when the page is loaded again, unless the browser
// keeps nothing. Another tab may have written since, so it is read anew.
const STORE = "breakout-annotated";
let remembered = {};
function results() {
  let stored = null;
  try {
    stored = JSON.parse(localStorage.getItem(STORE));
  } catch { /* nothing is kept, or something else */ }
  const isOurs = stored?.constructor === Object;
  remembered = { ...remembered, ...(isOurs ? stored : {}) };
  return remembered;
}
function remember(name, yours, right) {
  remembered = { ...results(), [name]: [yours, right] };
  try {
    localStorage.setItem(STORE, JSON.stringify(remembered));
  } catch { /* it is lost with the page */ }
  dispatchEvent(new Event("remembered"));
}

// A figure that asks first: a guess opens the answer, and says if it was right.
// What was pressed is then hidden, so the focus goes on to the answer.
for (const box of document.querySelectorAll(".asked")) {
  const choice = box.querySelector(".choice");
  const answer = box.querySelector("details");
  choice.addEventListener("click", ({ target }) => {
    const guess = target.closest("button");
    if (!guess) return;
    const right = choice.querySelector("[value='Right.']");
    box.querySelector(".verdict").textContent = guess.value;
    answer.open = true;
    remember(box.closest("figure").id, guess.textContent, right.textContent);
  });
  answer.addEventListener("toggle", () => answer.open &&
    box.querySelector(".says").focus({ preventScroll: true }));
}
