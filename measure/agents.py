"""Publish what a run of examples/ppo.py or dqn.py has learned.

    python examples/ppo.py PongNoFrameskip-v4 --steps 4_000_000
    python measure/agents.py runs/PongNoFrameskip-v4-0-* --publish

Copies the curve, plays 30 whole games as play.py does, and 30 in which nothing
moves in what the agent sees: its newest picture in place of all of them. The
part of agents.json is called after the title and the seed. A few minutes.

The part says by which commit the agent was trained, as the checkpoint does.
"""

import pathlib
import shutil
from statistics import mean
from typing import Any

import numpy as np

import common
import play
from games import FastGame
from run import read_checkpoint


class Still(FastGame):
    """Shows its newest picture four times."""

    def observe(self) -> np.ndarray:
        pictures = super().observe()
        pictures[:] = pictures[-1]
        return pictures


WAYS: Any = {"served": {}, "still": {"make": Still}}


def judge(folder: pathlib.Path, count: int) -> dict[str, Any]:
    """Play whole games; return their scores, and how they were learned."""
    saved = read_checkpoint(folder / "checkpoint.pt")
    about = saved["about"]
    progress = saved["progress"]
    act, settings = play.load(folder)
    scores = {}
    for way, options in WAYS.items():
        with settings.make_games(count, **options) as games:
            played = play.whole_games(act, games, settings.seed)
        scores[way] = [game.score for game in played]
    return {
        "title": settings.env_id.removesuffix("NoFrameskip-v4"),
        "run": str(settings.seed),
        "program": saved["program"],
        "program_commit": about["commit"],
        "precision": about["precision"],
        "about": about,
        "steps": progress["steps"],
        "seconds": {"training": progress["seconds"]},
        # The mean of the last hundred games of the training
        "last_score": mean(score for score, _ in progress["ended"]),
        "scores": scores,
    }


def main() -> None:
    parser = common.options(__doc__)
    parser.add_argument("folder", type=pathlib.Path, help="of the run")
    parser.add_argument("--games", type=int, default=30)
    run = parser.parse_args()
    data = judge(run.folder, run.games)
    program = "" if data["program"] == "ppo" else f"-{data['program']}"
    name = f"{data['title']}{program}-{data['run']}"
    common.measure(run, "agents", {name: lambda: data})
    if run.publish:
        curve = common.folder() / f"{name}.csv"
        shutil.copy(run.folder / "curve.csv", curve)


if __name__ == "__main__":
    main()
