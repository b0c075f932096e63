// What the reader has guessed and scored, and what stands beside it. It comes
// back at the end of the story, and when the page is loaded again, unless the
// browser keeps nothing.
const results = (() => {
  try {
    return JSON.parse(localStorage.getItem("results")) ?? {};
  } catch {
    return {};
  }
})();
function remember(name, yours, beside) {
  results[name] = [yours, beside];
  try {
    localStorage.setItem("results", JSON.stringify(results));
  } catch { /* they are lost with the page */ }
  dispatchEvent(new Event("remembered"));
}

// A figure that asks first: a guess opens the answer, and says if it was right.
for (const box of document.querySelectorAll(".asked")) {
  const choice = box.querySelector(".choice");
  const isRight = ({ value }) => value !== "No.";
  choice.addEventListener("click", ({ target }) => {
    if (target.type !== "button") return;
    box.querySelector("details").open = true;
    box.querySelector(".verdict").textContent = target.value;
    box.querySelector(".says").focus({ preventScroll: true });
    const right = [...choice.querySelectorAll("button")].find(isRight);
    remember(box.closest("figure").id, target.textContent, right.textContent);
  });
}
