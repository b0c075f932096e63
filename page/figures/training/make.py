"""A training, by the weights that were kept in the course of it.

They lie in `runs/Breakout-CURVE/`, each a copy of the checkpoint that
`examples/ppo.py` writes, in a file whose name ends with its steps, such as
`kept-2000896.pt`; `Breakout-CURVE.csv` in `measure/results/` is the curve of
that run. `--record training` plays a game with each. Games of a run whose
weights aren't there stay as they were recorded. The first weights are random,
and the last those of the published agent, of another run.
"""

import math
from typing import Any

from draw.drawing import Drawing
from draw.recordings import read
from fill.values import Learned, read_curves
from paths import ROOT

OURS = "0"  # the curve of the published agent
KEPT = {"kept-0": 100_000, "3": 2_000_000}  # curves, and steps between weights
LATE = 50_000  # steps by which a checkpoint may be late, at most
SHOWN = 150  # steps of a game
BEHIND = slice(32, 57), slice(8, 152)  # of the screen: behind the wall
FIRST, LAST = 50_000, 10_000_384  # where the axis begins, and ends
LEFT, RIGHT, TOP, BOTTOM = 44, 466, 34, 260


def kept(curve: str) -> dict[int, Any]:
    """The networks of a run that are shown, by their steps."""
    import torch

    from draw.published import agent_of

    found = {}
    for path in (ROOT / f"runs/Breakout-{curve}").glob("*-*.pt"):
        steps = int(path.stem.split("-")[-1])
        if steps % KEPT[curve] < LATE < LAST - steps:
            found[steps] = agent_of(torch.load(path, "cpu")["weights"])
    return found


def played(curve: str, steps: int, network: Any) -> dict[str, Any]:
    """A part of a game, and how many points it ends with.

    Its beginning, or the moment in which the ball first gets behind the wall.
    """
    from draw.published import film, play

    moments, info = play(network)
    behind = [moment.screen[BEHIND].any() for moment in moments]
    start = max(0, behind.index(True) - SHOWN // 2) if any(behind) else 0
    shown = film(moments, start, SHOWN)
    return {
        "curve": curve,
        "trained": steps,
        "start": start,
        "score": int(info["reward"]),
        "rgb": shown.rgb,
        "screens": shown.screens,
        "decisions": shown.decisions,
    }


def record() -> dict[str, Any]:
    from draw.published import TRAINED, agent, untrained

    networks = {("kept-0", 0): untrained(), (OURS, TRAINED): agent()}
    for curve in KEPT:
        networks |= {
            (curve, at): network for at, network in kept(curve).items()
        }
    games = {key: played(*key, network) for key, network in networks.items()}
    for game in read("training/training"):
        games.setdefault((game["curve"], game["trained"]), game)
    return {
        "training": sorted(games.values(), key=lambda game: game["trained"])
    }


def curve_of(run: str) -> list[Learned]:
    """A run's curve, by what follows the title in the name of its file."""
    *kind, seed = run.split("-")
    return read_curves("-".join(["Breakout", *kind]))[seed]


def x(steps: int) -> float:
    """A place on the axis, whose steps are powers of ten."""
    share = math.log(max(steps, FIRST) / FIRST) / math.log(LAST / FIRST)
    return LEFT + (RIGHT - LEFT) * share


def y(score: float) -> float:
    """A place on the axis, whose levels are squares."""
    return BOTTOM - (BOTTOM - TOP) * math.sqrt(score / 400)


def draw_training() -> str:
    d = Drawing(306, screen=False, large=True)
    d.text(4, 18, "points, mean of 100 games (a square-root axis)", "quiet")
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
    d.text(RIGHT, BOTTOM + 40, "million steps (a log axis)", "quiet end")
    games = read("training/training")
    for curve in dict.fromkeys(game["curve"] for game in games):
        rows = [row for row in curve_of(curve) if row.steps >= FIRST]
        seed = "seed2" if curve == OURS else "seed1"
        points = [(round(x(r.steps), 1), round(y(r.score), 1)) for r in rows]
        d.line(*points, kind=f"curve {seed}")
        for game in games:
            if game["curve"] == curve:
                steps = game["trained"]
                near = min(rows, key=lambda row: abs(row.steps - steps))
                d.put(
                    "circle",
                    f"stop {seed}",
                    cx=x(steps),
                    cy=y(near.score),
                    r=5,
                )
    d.text(x(1_100_000), y(4), "weights kept on the way", "name seed1")
    d.text(x(3_200_000), y(250), "our agent", "name seed2 end")
    return d.svg()
