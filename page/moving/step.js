// One step, taken apart.
(() => {
if (!$("moving")) return;
const { ACTIONS, GRAYS, HEIGHT, SIZE, WIDTH, look, paint, stackOf } = shared;

function moving() {
  const steps = shared.recording();
  let view = [0, 0, 1, 1], timer = null;

  const cells = (id, width, height) => Array.from({ length: 4 }, () => {
    const cell = $(id).appendChild(document.createElement("div"));
    const canvas = cell.appendChild(document.createElement("canvas"));
    canvas.width = width;
    canvas.height = height;
    canvas.setAttribute("role", "img");
    cell.append(document.createElement("small"));
    return cell;
  });
  const raw = cells("raw", WIDTH, HEIGHT);
  const middle = cells("gray", WIDTH, HEIGHT);
  middle[3].firstChild.width = middle[3].firstChild.height = SIZE;
  const stack = cells("stack", SIZE, SIZE);

  function put(cell, label, kind, pixels, width, colours = GRAYS) {
    const canvas = cell.firstChild;
    cell.className = pixels ? kind : "absent";
    cell.lastChild.textContent = label;
    canvas.setAttribute("aria-label", label);
    if (pixels) paint(canvas, pixels, width, colours, view);
    else canvas.getContext("2d").clearRect(0, 0, canvas.width, canvas.height);
  }

  function draw() {
    const i = $("step").value - 1, step = steps[i];
    const shown = step.frames.length, early = shown < 3;
    view = look(step, $("near").checked, view);
    $("number").textContent = `${i + 1} of ${steps.length}`;
    $("action").textContent = ACTIONS[step.action];
    $("reward").textContent = step.reward;
    $("lives").textContent = step.lives;
    $("done").textContent = step.done ? "True" : "False";
    $("step").setAttribute("aria-valuetext", `step ${i + 1}: ` +
      `${ACTIONS[step.action]}, reward ${step.reward}, ${step.lives} lives` +
      (step.done ? ", done" : ""));
    const counts = (f) => f >= 2 ? shown > f : early && f === shown - 1;
    raw.forEach((cell, f) => {
      const label = `frame ${f + 1}` + (f < shown ? "" : ": not played");
      put(cell, label, counts(f) ? "kept" : "thrown",
        step.frames[f], WIDTH, step.colours);
    });
    const names = early ? [`frame ${shown}`, "–"] : ["frame 3", "frame 4"];
    names.forEach((name, n) => put(middle[n], name, "", step.kept[n], WIDTH));
    const brighter = early ? "alone" : "the brighter";
    put(middle[2], brighter, "", step.brighter(), WIDTH);
    put(middle[3], "84 × 84", "kept", step.picture(), SIZE);
    stackOf(steps, i).forEach((picture, slot) => {
      const newest = slot === 3 && !step.done;
      put(stack[slot], `obs_4[${slot}]` + (newest ? ", the newest" : ""),
        newest ? "kept" : "", picture, SIZE);
    });
    $("says").textContent = tell(step, i);
  }

  function tell(step, i) {
    const shown = step.frames.length;
    if (step.done) {
      return `The ball is lost on frame ${shown}, and the step stops there: ` +
        "done. Its picture goes to game.final_obs. The game has started " +
        "over already: the stack is its first screen, four times.";
    }
    if (i - step.before < 4) {
      return "A new episode: the stack is filled with its first screen and " +
        "takes in one new picture a step." +
        (step.action === 1 ? " FIRE serves the ball." : "");
    }
    if (step.reward) {
      return "A brick. The reward is the sum over the four frames, " +
        "whichever of them it came on.";
    }
    return "Frames 1 and 2 are played and never looked at. The brighter of " +
      "3 and 4 becomes the newest picture; the oldest leaves the stack.";
  }

  function stop() {
    clearInterval(timer);
    timer = null;
    $("play").textContent = "Play";
  }
  $("play").addEventListener("click", () => {
    if (timer) return stop();
    if (+$("step").value === steps.length) $("step").value = 1;
    $("play").textContent = "Pause";
    timer = setInterval(() => {
      $("step").value = +$("step").value + 1;
      if (+$("step").value === steps.length) stop();
      draw();
    }, 1000 / 7.5);
  });
  $("step").max = steps.length;
  $("step").addEventListener("input", draw);
  $("near").addEventListener("change", draw);
  steps.forEach((step, i) => {
    if (!step.reward && !step.done) return;
    const mark = $("marks").appendChild(document.createElement("i"));
    mark.style.left = `${(100 * i) / (steps.length - 1)}%`;
    mark.className = step.done ? "end" : "";
  });
  document.querySelector("#moving .still").hidden = true;
  for (const part of document.querySelectorAll("#moving .stage")) {
    part.hidden = false;
  }
  draw();
  window.moving = { steps, stack: (i) => stackOf(steps, i) };
}
shared.whenNear($("moving"), moving);
})();
