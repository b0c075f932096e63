"""The moment that the first screen begins with, and how long the agent lasts.

Sums of floats may be rounded otherwise on another machine, which then samples
other actions.
"""

from typing import Any

SEED = 6
FRAME = 7577  # of its game: the ball is behind the wall
ROUNDS = 24  # of five balls each
MOMENT = """async ([seed, frames]) => {
  await Agent.load();
  const game = new Live.AgentGame(seed);
  for (let frame = 0; frame < frames; frame++) game.frame();
  const { score, lives, paddle, target, ball, hits, fast, mayBreak } =
    game.breakout;
  const bricks = game.breakout.bricks.join("");
  return { score, lives, paddle, target, ball, hits, fast, mayBreak, bricks };
}"""
# How many seconds five balls last it, each taken away after a minute
ALONE = """async (seed) => {
  await Agent.load();
  const game = new Live.AgentGame(seed, { longest: Live.LONGEST });
  let frames = 0;
  for (; game.breakout.lives; frames++) game.frame();
  return frames / 60;
}"""


def record() -> dict[str, Any]:
    from record.stills import open_page

    with open_page(reduced_motion="reduce") as page:
        moment = page.evaluate(MOMENT, [SEED, FRAME])
        alone = [page.evaluate(ALONE, seed) for seed in range(ROUNDS)]
    return {"tease": {"moment": moment, "alone": alone}}
