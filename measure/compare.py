"""Compare the speed of game.py with that of an older one.

    git show origin/main:game.py > OLD.py
    python measure/compare.py OLD.py    # 6 minutes
    python measure/compare.py OLD.py --parts games --games 64
    python measure/compare.py OLD.py --parts games --titles Pong Seaquest

The parts: `games` (`Games` in lockstep, by the settings of `TRAINING`),
`restart` (likewise, where each lost life resets), and `worker` (`Worker`s). In
each round old and new play one after the other, and the next round begins with
the other one. Prints the median of the rounds' ratios new / old, and between
which values the true median lies with 95 %. Below 1 the new one is slower.

Other processes lie elsewhere in memory, and may be faster: on two shared cores
an old one beside itself was 0.979 (0.956 to 0.994). So compare it with itself,
too, in a clone whose game.py is OLD.py.
"""

import argparse
import contextlib
import itertools
import math
import pathlib
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from functools import partial
from statistics import median
from typing import Any

from common import ROOT, take_turns
from contenders import Contender
from game import TRAINING

# Which kind of contender plays, with which options.
PARTS: dict[str, tuple[str, dict[str, Any]]] = {
    "games": ("games", {}),
    "restart": ("games", {"on_life_loss": "restart"}),
    "worker": ("workers", {}),
}


def confidence(values: Sequence[float]) -> tuple[float, float]:
    """Between which of the values the true median lies, with 95 %.

    That follows from their order alone.
    """
    values = sorted(values)
    n = len(values)
    aside = math.ceil(1.96 * math.sqrt(n) / 2)
    return values[max(0, n // 2 - aside)], values[min(n - 1, n // 2 + aside)]


def compare(
    part: str,
    title: str,
    folders: Mapping[str, pathlib.Path],
    run: argparse.Namespace,
) -> list[float]:
    """Let old and new take turns; return the ratios of their speeds."""
    kind, options = PARTS[part]
    options = TRAINING | options | {"title": title, "num_envs": run.games}
    with contextlib.ExitStack() as stack:
        players = {
            name: stack.enter_context(Contender(kind, options, folder=folder))
            for name, folder in folders.items()
        }
        found = take_turns(
            {n: partial(one.play, run.seconds) for n, one in players.items()},
            run.rounds,
        )
    pairs = zip(found["new"], found["old"], strict=True)
    return [new / old for new, old in pairs]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    add = parser.add_argument
    add("old", type=pathlib.Path, metavar="OLD.py")
    add("--parts", nargs="+", choices=PARTS, default=["games", "worker"])
    add("--titles", nargs="+", default=["Breakout", "MsPacman"])
    add("--games", type=int, default=8)
    add("--rounds", type=int, default=35)
    add("--seconds", type=float, default=1.0, help="of old and of new")
    run = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        shutil.copy(run.old, f"{folder}/game.py")
        folders = {"old": pathlib.Path(folder), "new": ROOT}
        for part, title in itertools.product(run.parts, run.titles):
            ratios = compare(part, title, folders, run)
            low, high = confidence(ratios)
            print(
                f"{part:8} {title:9} new / old {median(ratios):.3f} "
                f"({low:.3f} to {high:.3f})",
                flush=True,
            )


if __name__ == "__main__":
    main()
