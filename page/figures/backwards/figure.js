// How a reward reaches the values of the steps before it, update by update.
figure("backwards", (box) => {
  const GAMMA = 0.99;
  const points = [...box.querySelectorAll(".point")], last = points.length - 1;
  const worths = box.querySelectorAll(".worth");
  film(box, (at) => {
    const updates = at - 1, reached = last - updates + 1;
    points.forEach((point, i) => {
      point.classList.toggle("unheard", i < reached);
      point.classList.toggle("newest", i === reached);
      worths[i].textContent = i < reached ? "0" : (GAMMA ** (last - i)).toFixed(2);
    });
    const value = (GAMMA ** (updates - 1)).toFixed(2);
    if (updates === 0) return "Before the first update all values are 0.";
    if (updates === 1) return "The step of the brick: reward 1 + 0.99 × 0 = 1.";
    const later = (GAMMA ** (updates - 2)).toFixed(2);
    return `The step before: reward 0 + 0.99 × ${later} = ${value}.` +
      (reached === 0 ? " That much of the value after our move comes from this brick." : "");
  }, { count: points.length + 1, pace: 1, loops: false, name: (at) => `update ${at - 1}` });
});
