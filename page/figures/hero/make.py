"""The moment that the first screen begins with, and the serves it takes.

Sums of floats may be rounded otherwise on another machine, which then samples
other actions.
"""

from typing import Any

SEED = 0
FRAME = 5328  # of its game: the ball is about to get behind the wall
SERVES = range(1, 31)  # seeds that are tried
MOMENT = """async ([seed, frames]) => {
  await Agent.load();
  const game = new AgentGame(seed);
  for (let frame = 0; frame < frames; frame++) game.play();
  const { score, lives, paddle, target, ball, hits, fast, mayBreak } =
    game.breakout;
  const bricks = game.breakout.bricks.join("");
  const pairs = game.pairs.map((pair) => pair.map((state) =>
    [state.ball.x, state.ball.y, state.paddle]));
  return { pairs, breakout: { score, lives, paddle, target, ball, hits, fast,
    mayBreak, bricks } }; }"""
# Whether the agent returns the first ball, and misses it without motion
TELLS = """(seed) => {
  const gap = (who) => {
    const line = new Line(who);
    line.begin(seed);
    const { breakout } = line.game;
    while (!breakout.hits && !passed(breakout.ball)) line.frame();
    return breakout.hits ? 0 : gapOf(breakout).wide; };
  return gap("it") === 0 && gap("still") > 5; }"""


def record() -> dict[str, Any]:
    from draw.stills import open_page

    with open_page() as page:
        moment = page.evaluate(MOMENT, [SEED, FRAME])
        serves = [seed for seed in SERVES if page.evaluate(TELLS, seed)]
    return {"hero": {"moment": moment, "serves": serves}}
