"""Measure what game.py itself costs in a batch: `Games` that do nothing.

    pip install -r requirements.txt --group measure
    python measure/overhead.py --publish     # 1 minute
    git show origin/main:game.py > OLD.py
    python measure/overhead.py --old OLD.py  # beside an older one, 2 minutes

Eight games return what they have returned before, in this process and in one
and more workers. The time of a batch is that which a hundredth of 1,000 stays
below; it is repeated within 1 µs. Old and new take turns.
"""

import contextlib
import pathlib
import shutil
import tempfile
from functools import partial
from statistics import median
from typing import Any

import common
from common import CORES, ROOT
from contenders import Contender

BATCHES = 1000
ROUNDS = 30


def compare(
    processes: int, folders: dict[str, pathlib.Path], rounds: int
) -> dict[str, Any]:
    """Let the modules in these folders take turns; return µs by round."""
    options = {"title": "Breakout", "num_envs": 8, "processes": processes}
    with contextlib.ExitStack() as stack:
        players = {}
        for name, folder in folders.items():
            one = Contender("still_games", options, folder=folder)
            stack.enter_context(one)
            players[name] = partial(one.fastest, BATCHES)
        turns = common.take_turns(players, rounds)
    for name, times in turns.found.items():
        print(f"{processes} processes, {name}: {median(times):.1f} µs")
    return {"others": turns.others, "microseconds": turns.found["new"]}


def main() -> None:
    parser = common.options(__doc__)
    parser.add_argument("--old", type=pathlib.Path, metavar="OLD.py")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    run = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        folders = {"new": ROOT}
        if run.old:
            shutil.copy(run.old, f"{folder}/game.py")
            folders["old"] = pathlib.Path(folder)
        parts = {
            str(n): partial(compare, n, folders, run.rounds)
            for n in sorted({0, 1, CORES})
        }
        common.measure(run, "overhead", parts)


if __name__ == "__main__":
    main()
