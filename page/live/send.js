// What a reader sends: his seconds, in words and in an address.

// Seconds that a run can take: five balls fall, each within a minute.
const QUICKEST = 1;
const SLOWEST = 600;

// The seconds of who has sent this address, or null
function sentIn(hash) {
  const took = new URLSearchParams(hash.slice(1)).get("took");
  const seconds = /^\d+(\.\d+)?$/.test(took) ? Number(took) : 0;
  return between(QUICKEST, seconds, SLOWEST) === seconds ? seconds : null;
}

// The address is where the page is published, wherever it is read.
function lineOf(seconds) {
  const address = document.querySelector("[property='og:url']").content;
  return `${seconds} s to beat an AI that practiced 185 hours, with balls that ` +
    `don’t exist. Beat that: ${address}#took=${seconds}`;
}

// Share it, or copy it, or show it.
async function send(box, seconds) {
  const text = lineOf(seconds);
  const status = box.querySelector("[role=status]");
  status.textContent = "";
  if (navigator.share) {
    try {
      await navigator.share({ text });
      return;
    } catch (error) {
      if (error.name === "AbortError") return; // the reader has closed it
    }
  }
  try {
    await navigator.clipboard.writeText(text);
    status.textContent = "Copied. Paste it to somebody.";
  } catch {
    status.textContent = text;
  }
}
