"""One training, by the weights that were kept in the course of it.

    python page/build.py --record training

plays a game with each checkpoint of `runs/Breakout-RUN/`, and with random
weights, those it began with. `Breakout-RUN.csv` in `measure/results/` is its
curve.
Games of the run whose weights aren't there any more stay as they are recorded.
"""

from collections.abc import Iterable
from typing import Any

import numpy as np

from fill.values import read_curves
from game import TRAINING, Game
from paths import ROOT
from record.recordings import BREAKOUT, pack, read

RUN = "3"
SEED = 0  # of the games
SHOWN = 150  # steps of a game
BEHIND = slice(32, 57), slice(8, 152)  # of the screen: behind the wall
LEFT, RIGHT, TOP, BOTTOM = 44, 466, 34, 260
HIGHEST = 500  # points of the axis


def play(network: Any) -> list[np.ndarray]:
    """Play a game; return the screen before each step."""
    import torch

    torch.manual_seed(SEED)
    game = Game(SEED, BREAKOUT, **TRAINING)
    screens: list[np.ndarray] = []
    obs, info = game.reset(), None
    while info is None:
        with torch.no_grad():
            policy, _ = network(torch.as_tensor(obs[None]))
        screens.append(game.render())
        obs, _, _, info = game.step(policy.sample().item())
    return screens


def played(steps: int, network: Any) -> dict[str, Any]:
    """A part of a game: its beginning, or the moment in which the ball first
    gets behind the wall, `behind` steps from the game's start. Its screens are
    indices into `rgb`, packed.
    """
    screens = play(network)
    there = [bool(screen[BEHIND].any()) for screen in screens]
    behind = there.index(True) if any(there) else None
    start = max(0, (behind or 0) - SHOWN // 2)
    shown = np.array(screens[start : start + SHOWN])
    rgb, indices = np.unique(shown.reshape(-1, 3), axis=0, return_inverse=True)
    return {
        "run": RUN,
        "trained": steps,
        "behind": behind,
        "rgb": rgb.tolist(),
        "screens": pack(indices.reshape(shown.shape[:3])),
    }


def record() -> dict[str, Any]:
    import torch

    import ppo

    games = {
        game["trained"]: game
        for game in read("training/training")
        if game["run"] == RUN
    }
    folder = ROOT / f"runs/Breakout-{RUN}"
    for path in folder.glob("checkpoint*.pt"):
        saved = torch.load(path, "cpu")
        torch.manual_seed(saved["settings"]["seed"])
        network = ppo.Agent(4)
        games[0] = played(0, network)
        network.load_state_dict(saved["weights"])
        steps = saved["progress"]["steps"]
        games[steps] = played(steps, network)
    return {"training": [games[steps] for steps in sorted(games)]}


def x(steps: float) -> float:
    return LEFT + (RIGHT - LEFT) * steps / 10e6


def y(score: float) -> float:
    return BOTTOM - (BOTTOM - TOP) * score / HIGHEST


def text(x: float, y: float, words: str, kind: str) -> str:
    return f'<text class="{kind}" x="{x:.4g}" y="{y:.4g}">{words}</text>\n'


def line(points: Iterable[tuple[float, float]], kind: str) -> str:
    path = " ".join(f"{x:g},{y:g}" for x, y in points)
    return f'<polyline class="{kind}" points="{path}"></polyline>\n'


def draw_learned() -> str:
    """The curves of all trainings, and the marks of one."""
    drawn = text(4, 18, "points, mean of the last 100 games", "quiet")
    for level in range(0, HIGHEST + 1, 100):
        drawn += line([(LEFT, y(level)), (RIGHT, y(level))], "grid")
        drawn += text(LEFT - 8, y(level) + 5, str(level), "quiet end")
    for million in range(0, 11, 2):
        drawn += text(x(million * 1e6), BOTTOM + 20, str(million), "quiet mid")
    drawn += text(RIGHT, BOTTOM + 40, "million steps of training", "quiet end")
    curves = read_curves("Breakout")
    for run, rows in curves.items():
        points = [(round(x(r.steps), 1), round(y(r.score), 1)) for r in rows]
        drawn += line(points, "curve seed1" if run == RUN else "curve other")
    for game in read("training/training"):
        steps = game["trained"]
        near = min(curves[RUN], key=lambda row: abs(row.steps - steps))
        place = f'cx="{x(steps):.4g}" cy="{y(near.score):.4g}"'
        drawn += f'<circle class="stop seed1" {place} r="5"></circle>\n'
    drawn += text(RIGHT - 8, BOTTOM - 10, f"seed {RUN}", "end name seed1")
    return (
        '<svg class="drawing large" xmlns="http://www.w3.org/2000/svg"'
        f' viewBox="0 0 480 306">\n{drawn}</svg>\n'
    )
