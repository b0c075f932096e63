// Call `frame` 60 times a second as long as it runs, and `draw` once for each
// screen. Where that can't be done `frame` is called less often.
function clock(frame, draw) {
  const LENGTH = 1000 / 60; // ms
  const MOST = 4; // screens whose frames are made up for at once
  let running = null;
  let due = 0; // when the next frame is

  function tick(now) {
    running = requestAnimationFrame(tick);
    if (now - due > MOST * LENGTH) due = now;
    while (running && due <= now + LENGTH / 2) {
      due += LENGTH;
      frame();
    }
    draw();
  }

  // Let it run, or stop it.
  return (on) => {
    cancelAnimationFrame(running);
    running = null;
    if (!on) return;
    due = performance.now();
    running = requestAnimationFrame(tick);
  };
}
