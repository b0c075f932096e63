"""Compare game.py with an older one, in one run and in turn.

    python measure/compare.py OLD.py                # 6 minutes
    python measure/compare.py OLD.py --rounds 20    # 70 seconds

A column is a title and a way to play it. In each round old and new play for
some seconds, one after the other; in the next round the other one begins. The
ratio new / old is taken within a round. Of the ratios the script prints the
median, between which values the true median lies (with 95 %, by the order of
the rounds alone), and the range. All speeds go to runs/measure/compare.json.

- games: eight games of a `Games` in lockstep
- worker: eight `Worker`s in lockstep
- in-turn: two `Games` of eight in turn, the network waits for 1.5 ms
- computing: two `Games` of eight in turn, the network computes for 1.5 ms
"""

import contextlib
import math
import pathlib
from statistics import median

import common
from contenders import ACTIONS, contender

WAITING = ["waiting", 1.5]
COMPUTING = ["computing", 1.5]
WAYS = {  # the generator, how many in turn, the network
    "games": ("games", 1, None),
    "worker": ("worker", 1, None),
    "in-turn": ("games", 2, WAITING),
    "computing": ("games", 2, COMPUTING),
}
DEVIATIONS = 1.96  # of a normal distribution, for 95 %


def play(run, title, way):
    """Return the speeds of both, round by round."""
    kind, count, network = WAYS[way]
    speeds = {"old": [], "new": []}
    with contextlib.ExitStack() as stack:
        players = []
        for name, path in ("old", run.old), ("new", run.new):
            options = {"game": title, "games": run.games, "rule": run.rule}
            options["path"] = str(path.resolve())
            if count > 1:
                options["count"] = count
            player = stack.enter_context(contender(kind, options, network))
            players.append((name, player))
        for _, player in players:
            player.answer()
        for _ in range(run.rounds):
            for name, player in players:
                speed = player.play(run.seconds)
                speeds[name].append(round(speed, 1))
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
    parser = common.Parser(__doc__)
    add = parser.add_argument
    add("old", type=pathlib.Path, metavar="OLD.py", help="an older game.py")
    add(
        "--new",
        type=pathlib.Path,
        default=common.ROOT / "game.py",
        help="the newer one",
    )
    add("--rounds", type=common.positive(int), default=100, help="of each")
    add(
        "--seconds",
        type=common.positive(float),
        default=0.3,
        help="a round's, of each",
    )
    add("--games", type=common.positive(int), default=8, help="at once")
    add(
        "--titles",
        nargs="+",
        choices=ACTIONS,
        default=["Breakout", "Pong"],
        help="what to play",
    )
    add(
        "--ways",
        nargs="+",
        choices=WAYS,
        default=["games", "worker"],
        help="how to play it",
    )
    add(
        "--rule",
        choices=["restart", "continue", "ignore"],
        default="ignore",
        help="what a lost life does",
    )
    run = parser.parse_args()
    parser.need("psutil", "gymnasium", "ale_py", "numpy", "cv2")
    for path in run.old, run.new:
        if not path.is_file():
            parser.error(f"{path} is not a file")

    columns = {}
    for title in run.titles:
        for way in run.ways:
            speeds = columns[f"{title}, {way}"] = play(run, title, way)
            rounds = zip(speeds["new"], speeds["old"], strict=True)
            ratios = [new / old for new, old in rounds]
            low, high = sure(ratios)
            print(
                f"{title}, {way}: new / old {median(ratios):.3f}, "
                f"95 % {low:.3f} to {high:.3f}, "
                f"range {min(ratios):.2f} to {max(ratios):.2f}; "
                f"old {median(speeds['old']):,.0f} steps/s, "
                f"new {median(speeds['new']):,.0f}, {run.rounds} rounds",
                flush=True,
            )
    how = {"date": common.today(), "rounds": run.rounds}
    how |= {"seconds": run.seconds, "games": run.games, "rule": run.rule}
    path = common.target("compare.json", publish=False)
    common.write(path, common.machine() | how | {"columns": columns})


if __name__ == "__main__":
    main()
