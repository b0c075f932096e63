r"""Publish what a run of examples/ppo.py has learned.

    pip install -r requirements.txt --group measure
    python examples/ppo.py PongNoFrameskip-v4 --steps 4_000_000
    python measure/agents.py runs/PongNoFrameskip-v4-0-* --publish

Copies the curve, plays 30 whole games in both ways that ppo.py has, and 30 in
which nothing moves in what the agent sees: its newest picture in place of all
of them. The part of agents.json is called after the title and the seed, or
`--name`. `film` is the game that `ppo.py --film` shows. A few minutes.

What motion is worth, two agents of the same seed:

    for n in 1 4; do
      python examples/ppo.py --stack $n --steps 2_000_000 --folder runs/$n
      python measure/agents.py runs/$n --name Breakout-stack-$n \
        --ways served --publish
    done
"""

import pathlib
import shutil
from statistics import mean
from typing import Any

import numpy as np
import torch

import common
import ppo
from game import FastGame


class Still(FastGame):
    """Shows its newest picture four times."""

    def observe(self) -> np.ndarray:
        pictures = super().observe()
        pictures[:] = pictures[-1]
        return pictures


WAYS = [*ppo.WAYS, "still", "film"]


def judge(folder: pathlib.Path, ways: list[str]) -> dict[str, Any]:
    """Play whole games; return their scores, and how they were learned."""
    path = folder / "checkpoint.pt"
    settings = ppo.read_settings(ppo.Settings, folder)
    settings.folder = folder
    state = torch.load(path, "cpu")["state"]
    agent = ppo.load(settings)
    count = settings.whole_games
    served = ppo.WAYS["served"]
    how = {name: (count, each) for name, each in ppo.WAYS.items()}
    how["still"] = count, served | {"make": Still}
    how["film"] = 1, served
    scores = {}
    for way in ways:
        games, options = how[way]
        with settings.make_games(games, **options) as played:
            scores[way] = ppo.whole_games(agent, played, settings.seed)
    return {
        "title": settings.env_id.removesuffix("NoFrameskip-v4"),
        "run": str(settings.seed),
        "steps": state["steps"],
        "until": settings.steps,
        "seconds": {"training": state["seconds"]},
        # The mean of the last hundred games of the training
        "last_score": mean(score for score, _ in state["ended"]),
        "scores": scores,
    }


def main() -> None:
    parser = common.options(__doc__)
    parser.add_argument("folder", type=pathlib.Path, help="folder of the run")
    parser.add_argument("--name", help="of the part; or title and seed")
    parser.add_argument("--ways", nargs="+", default=WAYS, choices=WAYS)
    run = parser.parse_args()
    data = judge(run.folder, run.ways)
    name = run.name or f"{data['title']}-{data['run']}"
    common.measure(run, "agents", {name: lambda: data}, timed=False)
    curve = common.folder(run.publish) / f"{name}.csv"
    shutil.copy(run.folder / "curve.csv", curve)


if __name__ == "__main__":
    main()
