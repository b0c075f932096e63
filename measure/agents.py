"""Publish what a run of examples/ppo.py has learned.

    pip install -r requirements.txt --group measure
    python examples/ppo.py PongNoFrameskip-v4 --steps 4_000_000
    python measure/agents.py runs/PongNoFrameskip-v4-0 --publish

Copies the curve, plays 30 whole games in both ways that ppo.py has, and 30 in
which nothing moves in what the agent sees: its newest picture four times. The
part of agents.json is called after the title and the seed. `film` is the game
that `ppo.py --film` shows. A few minutes.
"""

import functools
import pathlib
import shutil

import torch

import common
import ppo
import training_run
from game import Game, Games


class Still(Game):
    """Shows its newest picture four times."""

    def observe(self):
        pictures = super().observe()
        pictures[:] = pictures[-1]
        return pictures


WAYS = {name: (Game, how) for name, how in training_run.WAYS.items()}
WAYS["still"] = Still, training_run.SERVED
WAYS["film"] = Game, training_run.SERVED


def judge(folder):
    """Play whole games; return their scores, and how they were learned."""
    saved = torch.load(folder / "checkpoint.pt", "cpu")
    weights, state = saved["weights"], saved["state"]
    agent = ppo.Agent(len(weights["policy.bias"]))
    agent.load_state_dict(weights)
    scores = {}
    for way, (make, how) in WAYS.items():
        count = 1 if way == "film" else training_run.GAMES
        with Games(count, state["env_id"], make=make, **how) as games:
            scores[way] = training_run.whole_games(agent, games, seed=0)
    last = (folder / "curve.csv").read_text().splitlines()[-1]
    return {
        "steps": state["steps"],
        "until": state["until"],
        "seconds": state["seconds"],
        "last score": float(last.split(",")[-1]),
        "scores": scores,
    }


def main():
    parser = common.options(__doc__)
    parser.add_argument("run", type=pathlib.Path, help="folder of the run")
    run = parser.parse_args()
    title, _, seed = run.run.name.rpartition("-")
    name = f"{title.removesuffix('NoFrameskip-v4')}-{seed}"
    parts = {name: functools.partial(judge, run.run)}
    common.measure(run, "agents", parts, timed=False)
    curve = common.folder(run.publish) / f"{name}.csv"
    shutil.copy(run.run / "curve.csv", curve)


if __name__ == "__main__":
    main()
