// How a reward reaches the values of the steps before it, update by update.
figure("backwards", (box) => {
  const GAMMA = 0.99;
  const cells = [...box.querySelectorAll("output")], last = cells.length - 1;
  film(box, (at) => {
    const updates = at - 1;
    // The value of a step after so many updates: all before is 0.
    const value = (i, after) =>
      last - i < after ? Number((GAMMA ** (last - i)).toPrecision(2)) : 0;
    cells.forEach((cell, i) => {
      cell.value = value(i, updates);
      cell.className =
        value(i, updates) === value(i, updates - 1) ? "" : "new";
    });
    if (updates === 0) return "Before the first update all values are 0.";
    if (updates === 1) return "The brick: reward 1 + 0.99 × 0 = 1.";
    if (updates > cells.length) return "Nothing changes any more.";
    const i = last - updates + 1;
    return `Step ${i + 1}: reward 0 + 0.99 × ${value(i + 1, updates)} = ` +
      `${value(i, updates)}.`;
  }, { count: cells.length + 2, pace: 1, name: (at) => `update ${at - 1}` });
});
