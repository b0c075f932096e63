"""Compare game.py with an older one, in one run and in turn.

    python measure/compare.py OLD.py                # 6 minutes
    python measure/compare.py OLD.py --rounds 20    # 70 seconds
    python measure/compare.py OLD.py --turns        # two `Games` in turn

A column is a title and a way to play it. In each round old and new play for
some seconds, one after the other; in the next round the other one begins. The
ratio new / old is taken within a round. Of the ratios the script prints the
median, between which values the true median lies (with 95 %, by the order of
the rounds alone), and the range. All speeds go to runs/measure/compare.json.

Eight games of Breakout and of Pong are played by a `Games` and by `Worker`s,
in lockstep; or in turn, with a network that waits or computes for 1.5 ms.

What a worker gains by waiting awake is in measure/results/awake.json: such a
run of 60 rounds, with an OLD.py in which `AWAKE` is 0.
"""

import argparse
import math
import pathlib
import shutil
import tempfile
from statistics import median

import common
from contenders import Contender

SECONDS = 0.3  # of a round, of each
LOCKSTEP = {  # the generator, how it is called, the network
    "games": ("games", {}, ("computes", 0)),
    "worker": ("worker", {}, ("computes", 0)),
}
IN_TURN = {
    "in turn, waiting": ("games", {"count": 2}, ("waits", 1.5)),
    "in turn, computing": ("games", {"count": 2}, ("computes", 1.5)),
}
DEVIATIONS = 1.96  # of a normal distribution, for 95 %


def play(folder, title, way, rounds):
    """Return the speeds of both, round by round."""
    kind, options, network = way
    options = options | {"game": title, "games": 8, "rule": "ignore"}
    speeds = {"old": [], "new": []}
    with (
        Contender(kind, options, network, folder) as old,
        Contender(kind, options, network) as new,
    ):
        old.ready()
        new.ready()
        players = [("old", old), ("new", new)]
        for _ in range(rounds):
            for name, player in players:
                speeds[name].append(round(player.play(SECONDS), 1))
            players.reverse()
    return speeds


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
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--turns", action="store_true", help="play in turn")
    run = parser.parse_args()
    columns = {}
    with tempfile.TemporaryDirectory() as folder:
        shutil.copy(run.old, f"{folder}/game.py")
        for title in "Breakout", "Pong":
            for name, way in (IN_TURN if run.turns else LOCKSTEP).items():
                speeds = play(folder, title, way, run.rounds)
                columns[f"{title}, {name}"] = speeds
                rounds = zip(speeds["new"], speeds["old"], strict=True)
                ratios = [new / old for new, old in rounds]
                low, high = sure(ratios)
                print(
                    f"{title}, {name}: new / old {median(ratios):.3f}, "
                    f"95 % {low:.3f} to {high:.3f}, "
                    f"range {min(ratios):.2f} to {max(ratios):.2f}; "
                    f"old {median(speeds['old']):,.0f} steps/s, "
                    f"new {median(speeds['new']):,.0f}, {run.rounds} rounds",
                    flush=True,
                )
    path = common.target("compare.json", publish=False)
    common.write(path, common.machine() | common.when() | {"columns": columns})


if __name__ == "__main__":
    main()
