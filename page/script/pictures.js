// How screens become the pictures that an agent sees.
const WIDTH = 160;
const HEIGHT = 210;
const SIZE = 84;

const brighter = (one, other) =>
  one.map((value, i) => Math.max(value, other[i]));

// Which pixels of a row each of its new ones covers, and how much of each, as
// shares of the new one; or only the one where it begins.
function covered(from, to, mean = true) {
  const size = 1 / (to / from);
  return Array.from({ length: to }, (_, i) => {
    const start = i * size;
    const end = start + size;
    if (!mean) return [[Math.min(Math.floor(start), from - 1), 1]];
    const all = Math.min(size, from - start);
    const last = Math.min(Math.floor(end), from - 1);
    const first = Math.min(Math.ceil(start), last);
    const parts = [];
    if (first - start > 1e-3) parts.push([first - 1, (first - start) / all]);
    for (let at = first; at < last; at++) parts.push([at, 1 / all]);
    if (end - last > 1e-3) parts.push([last, Math.min(end - last, 1) / all]);
    return parts.map(([at, share]) => [at, Math.fround(share)]);
  });
}

// The same, computed once for each size.
const coverings = {};
function covering(from, to, mean) {
  const key = [from, to, mean];
  coverings[key] ??= covered(from, to, mean);
  return coverings[key];
}

// Resize a screen, to the last bit as OpenCV does by INTER_AREA: it adds up
// numbers of 32 bits in this order, and rounds halves to even ones, as an
// array of clamped bytes does.
function shrunk(screen, size, mean) {
  const picture = new Uint8ClampedArray(size ** 2);
  const row = new Float32Array(size);
  const sum = new Float32Array(size);
  const columns = covering(WIDTH, size, mean);
  covering(screen.length / WIDTH, size, mean).forEach((lines, y) => {
    sum.fill(0);
    for (const [line, high] of lines) {
      row.fill(0);
      for (let x = 0; x < size; x++) {
        for (const part of columns[x]) {
          row[x] += Math.fround(part[1] * screen[line * WIDTH + part[0]]);
        }
        sum[x] += Math.fround(high * row[x]);
      }
    }
    picture.set(sum, y * size);
  });
  return picture;
}
