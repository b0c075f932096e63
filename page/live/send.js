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
function lineOf(yours, its, serves) {
  const address = new URL(location.href);
  address.hash = `got=${meanOf(yours)}&serves=${serves}`;
  const beside = its.length ? ` It got ${meanOf(its)}.` : "";
  return `I got ${meanOf(yours)} a ball in Breakout, seeing what a network ` +
    `sees.${beside} ${address}`;
}

// Share it, or copy it; it is shown in a field, too, in case neither can be.
async function send(line, field, tell) {
  field.value = line;
  field.hidden = false;
  field.select();
  try {
    if (navigator.share) {
      await navigator.share({ text: line });
    } else {
      await navigator.clipboard.writeText(line);
      tell("Copied.");
    }
  } catch {
    tell("Copy this line:");
  }
}
