// What a reader has scored, in words, and in an address that can be sent.
const rounded = (points, balls) => Number((points / balls).toFixed(1));
const sum = (numbers) => numbers.reduce((all, one) => all + one, 0);
const meanOf = (scores) => rounded(sum(scores), scores.length);

// What somebody has sent: a number of points, and the serves' seed.
function sentIn(hash) {
  const sent = new URLSearchParams(hash.slice(1));
  const [got, serves] = [Number(sent.get("got")), Number(sent.get("serves"))];
  const isOurs = sent.has("got") && got >= 0 && got < 1e4 &&
    Number.isInteger(serves) && serves > 0;
  return isOurs ? { got: meanOf([got]), serves } : null;
}

// The line and the address.
function lineOf({ you, it }) {
  const yours = meanOf(you.scores);
  const address = new URL(location.href);
  address.hash = `got=${yours}&serves=${Board.seed}`;
  const beside = it.isWhole ? ` It got ${meanOf(it.scores)}.` : "";
  return `I got ${yours} a ball in Breakout, seeing what a network ` +
    `sees.${beside} Your turn: ${address}`;
}

// Share it, or copy it; it is shown in the field of a box, too, in case neither
// can be.
async function send(box) {
  const line = lineOf(Board.lines);
  const field = box.querySelector("input");
  const status = box.querySelector("[role=status]");
  field.value = line;
  field.hidden = false;
  field.select();
  try {
    if (navigator.share) {
      await navigator.share({ text: line });
    } else {
      await navigator.clipboard.writeText(line);
      status.textContent = "Copied.";
    }
  } catch {
    status.textContent = "Copy this line:";
  }
}
