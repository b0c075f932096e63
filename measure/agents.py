r"""Publish what a run of examples/ppo.py or dqn.py has learned.

    pip install -r requirements.txt --group measure
    python examples/ppo.py PongNoFrameskip-v4 --steps 4_000_000
    python measure/agents.py runs/PongNoFrameskip-v4-0-* --publish

Copies the curve, plays 30 whole games in both ways that play.py has, and 30 in
which nothing moves in what the agent sees: its newest picture in place of all
of them. The part of agents.json is called after the title and the seed, or
`--name`. `film` is the game that `play.py --film` shows. A few minutes.

The part says which program has trained it, by the hashes in the checkpoint.
What play.py has judged by another protocol is a part of protocols.json:

    python examples/play.py --noop-max 0 ... --json dopamine.json
    python measure/agents.py dopamine.json --name dopamine --publish

What motion is worth, two agents of the same seed:

    for n in 1 4; do
      python examples/ppo.py --stack $n --steps 2_000_000 --folder runs/$n
      python measure/agents.py runs/$n --name Breakout-stack-$n \
        --ways served --publish
    done
"""

import json
import pathlib
import shutil
import subprocess
from statistics import mean
from typing import Any

import numpy as np

import common
import play
from game import FastGame
from run import read_checkpoint


class Still(FastGame):
    """Shows its newest picture four times."""

    def observe(self) -> np.ndarray:
        pictures = super().observe()
        pictures[:] = pictures[-1]
        return pictures


WAYS = [*play.WAYS, "still", "film"]
COUNT = 30  # games


def judge(folder: pathlib.Path, ways: list[str]) -> dict[str, Any]:
    """Play whole games; return their scores, and how they were learned."""
    saved = read_checkpoint(folder / "checkpoint.pt")
    progress = saved["progress"]
    act, settings = play.load(folder)
    served = play.WAYS["served"]
    options = play.WAYS | {"still": served | {"make": Still}, "film": served}
    scores = {}
    for way in ways:
        count = 1 if way == "film" else COUNT
        with settings.make_games(count, **options[way]) as games:
            scores[way] = play.whole_games(act, games, settings.seed)
    text = (folder / "settings.json").read_text("utf-8")
    program = saved["program"]
    half = saved["settings"].get("bfloat16", False)
    return {
        "title": settings.env_id.removesuffix("NoFrameskip-v4"),
        "run": str(settings.seed),
        "program": program,
        "program_commit": commit_of(saved["sources"][f"{program}.py"]),
        "sources": saved["sources"],
        "precision": "bfloat16" if half else "float32",
        "about": json.loads(text).get("about", {}),
        "steps": progress["steps"],
        "seconds": {"training": progress["seconds"]},
        # The mean of the last hundred games of the training
        "last_score": mean(score for score, _ in progress["ended"]),
        "scores": scores,
    }


def commit_of(blob: str) -> str:
    """Return the first commit that has a file of this hash, or nothing."""
    command = ["git", "log", "--reverse", "--format=%h", "--find-object", blob]
    found = subprocess.check_output(command, cwd=common.ROOT, text=True)
    return found.partition("\n")[0]


def main() -> None:
    parser = common.options(__doc__)
    parser.add_argument(
        "folder",
        type=pathlib.Path,
        help="folder of the run, or play.py's JSON",
    )
    parser.add_argument("--name", help="of the part; or title and seed")
    parser.add_argument("--ways", nargs="+", default=WAYS, choices=WAYS)
    run = parser.parse_args()
    if run.folder.is_file():
        data = json.loads(run.folder.read_text("utf-8"))
        data["commit"] = commit_of(data["sources"]["game.py"])
        parts = {run.name: lambda: data}
        common.measure(run, "protocols", parts)
        return
    data = judge(run.folder, run.ways)
    program = "" if data["program"] == "ppo" else f"-{data['program']}"
    name = run.name or f"{data['title']}{program}-{data['run']}"
    common.measure(run, "agents", {name: lambda: data})
    if run.publish:
        curve = common.folder() / f"{name}.csv"
        shutil.copy(run.folder / "curve.csv", curve)


if __name__ == "__main__":
    main()
