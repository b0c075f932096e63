"""Compare game.py with an older one, in one run and in turn.

    python measure/compare.py OLD.py    # 6 minutes

Eight games of Breakout and of Pong are played by a `Games` and by `Worker`s.
In each round old and new play for some seconds, one after the other; in the
next round the other one begins. The ratio new / old is taken within a round.
Of the ratios the script prints the median, and between which values the true
median lies (with 95 %, by the order of the rounds alone). All speeds go to
runs/measure/compare.json.

What a worker gains by waiting awake is in measure/results/awake.json: such a
run of 60 rounds, with an OLD.py in which `AWAKE` is 0.
"""

import argparse
import itertools
import math
import pathlib
import shutil
import tempfile
from statistics import median

import benchmark
import common

ROUNDS = 100
DEVIATIONS = 1.96  # of a normal distribution, for 95 %


def sure(values):
    """Between which of the sorted values the true median lies, with 95 %."""
    values, n = sorted(values), len(values)
    aside = math.ceil(DEVIATIONS * math.sqrt(n) / 2)
    first = max(0, n // 2 - aside)
    last = min(n - 1, n // 2 + aside)
    return values[first], values[last]


def main():
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("old", type=pathlib.Path, metavar="OLD.py")
    run = parser.parse_args()
    columns = {}
    with tempfile.TemporaryDirectory() as folder:
        shutil.copy(run.old, f"{folder}/game.py")
        kinds = ["games", "worker"]
        for title, kind in itertools.product(["Breakout", "Pong"], kinds):
            new = benchmark.setup(kind, None, game=title)
            both = {"old": (*new, folder), "new": new}
            rows = benchmark.take_turns(both, ROUNDS)
            speeds = {name: row["speed"] for name, row in rows.items()}
            columns[f"{title}, {kind}"] = speeds
            rounds = zip(speeds["new"], speeds["old"], strict=True)
            ratios = [new / old for new, old in rounds]
            low, high = sure(ratios)
            print(
                f"{title}, {kind}: new / old {median(ratios):.3f}, "
                f"95 % {low:.3f} to {high:.3f}",
                flush=True,
            )
    path = common.target("compare.json", publish=False)
    common.write(path, common.machine() | common.when() | {"columns": columns})


if __name__ == "__main__":
    main()
