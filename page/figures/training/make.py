"""A training, by the weights that were kept in the course of it.

`examples/ppo.py --keep-every 100_000` keeps them, and its curve is
`Breakout-kept-0.csv`. The first are random, the last those of the published
agent, of another run.
"""

import math
from typing import Any

from drawing import Drawing
from paths import ROOT
from recordings import read
from values import read_curves

RUN = ROOT / "runs/BreakoutNoFrameskip-v4-0"
SHOWN = 150  # steps, the first of a game
FIRST, LAST = 50_000, 10_000_384  # where the axis begins, and ends
LEFT, RIGHT, TOP, BOTTOM = 44, 466, 34, 150


def record() -> dict[str, Any]:
    import torch

    from published import TRAINED, agent, agent_of, film, play, untrained

    networks = {0: untrained(), TRAINED: agent()}
    for path in RUN.glob("checkpoint-*.pt"):
        steps = int(path.stem.split("-")[1])
        networks[steps] = agent_of(torch.load(path, "cpu")["weights"])
    games = []
    for steps, network in sorted(networks.items()):
        moments, info = play(network)
        shown = film(moments, 0, SHOWN)
        games.append(
            {
                "trained": steps,
                "score": int(info["reward"]),
                "rgb": shown.rgb,
                "screens": shown.screens,
                "decisions": shown.decisions,
            }
        )
    return {"training": games}


def x(steps: int) -> float:
    """A place on the axis, whose steps are powers of ten."""
    share = math.log(max(steps, FIRST) / FIRST) / math.log(LAST / FIRST)
    return LEFT + (RIGHT - LEFT) * share


def y(score: float) -> float:
    """A place on the axis, whose levels are squares."""
    return BOTTOM - (BOTTOM - TOP) * math.sqrt(score / 400)


def draw_training() -> str:
    d = Drawing(196, screen=False, large=True)
    d.text(4, 18, "points, mean of 100 games", "quiet")
    for level in 0, 25, 100, 400:
        d.line((LEFT, y(level)), (RIGHT, y(level)), kind="grid")
        d.text(LEFT - 8, y(level) + 5, str(level), "quiet end")
    for steps, words in (
        (FIRST, "0"),
        (100_000, "0.1"),
        (1_000_000, "1"),
        (LAST, "10"),
    ):
        d.text(x(steps), BOTTOM + 20, words, "quiet mid")
    d.text(RIGHT, BOTTOM + 40, "million steps", "quiet end")
    curves = [read_curves("Breakout-kept")["0"], read_curves("Breakout")["0"]]
    for number, curve in enumerate(curves, 1):
        points = [
            (round(x(row.steps), 1), round(y(row.score), 1))
            for row in curve
            if row.steps >= FIRST
        ]
        d.line(*points, kind=f"curve seed{number}")
    d.text(x(1_100_000), y(4), "weights kept on the way", "name seed1")
    d.text(x(3_200_000), y(250), "our agent", "name seed2 end")
    for game in read("training/training"):
        steps = game["trained"]
        number = 2 if steps == LAST else 1
        near = min(curves[number - 1], key=lambda row: abs(row.steps - steps))
        d.put(
            "circle",
            f"stop seed{number}",
            cx=x(steps),
            cy=y(near.score),
            r=5,
        )
    return d.svg()
