"""Measure `Games` beside other engines.

    pip install -r requirements.txt --group measure
    python measure/benchmark.py lockstep                     # 30 minutes
    python measure/benchmark.py lockstep --titles Breakout   # 6 minutes
    python measure/benchmark.py lockstep64 lockstep256       # 8 minutes
    python measure/benchmark.py fast_game restart --publish  # 11 minutes

The parts, all of random actions:

- lockstep: everybody waits for a batch of 8 games before the next one begins
- lockstep64, lockstep256: so with more games, beside the engines in C++
- waits: several batches are in flight, beside a network that waits for a
  device for 1.5 ms
- number64: 64 games of Breakout and 64 `Worker`s, and their memory
- fast_game, restart: one `FastGame`, one `Game`, and a `FastGame` that resizes
  whole screens, by the settings of `TRAINING`, and where each lost life resets

Every contender lives in a process of its own. They take turns, in an order
that rotates from round to round, and are compared within a round, so that a
machine that slows down slows down for all. Only steps that played frames
count, not those that a peer spends on a reset. The engines in C++ play with
the number of threads with which they are fastest.
"""

import argparse
import contextlib
from functools import partial
from statistics import median
from typing import Any, NamedTuple

import common
from common import CORES
from contenders import WHOLE_GAMES, Contender
from game import TRAINING

GAMES = 8
TITLES = ["Breakout", "Pong", "MsPacman", "Seaquest", "ALE/Breakout-v5"]
BATCHES = CORES + 3  # in flight; one is played on each core
TUNING = 1  # seconds of each number of threads


def in_flight(batches: int) -> dict[str, int]:
    return {"num_envs": batches * GAMES, "batch": GAMES}


# A kind of contender, with its options, by the name in results.
PLAYERS: dict[str, tuple[str, dict[str, Any]]] = {
    "games": ("games", WHOLE_GAMES),
    "games_ready": ("ready_first", WHOLE_GAMES | {"count": BATCHES}),
    "worker": ("workers", WHOLE_GAMES),
    "ale": ("ale", {}),
    "ale_few": ("ale", in_flight(3)),
    "ale_many": ("ale", in_flight(BATCHES)),
    "envpool": ("envpool", {}),
    "envpool_many": ("envpool", in_flight(BATCHES)),
    "gymnasium": ("gymnasium", {}),
    "sb3": ("sb3", {}),
    "fast_game": ("one_game", {"make": "fast_game"}),
    "game": ("one_game", {"make": "game"}),
    "whole_screens": ("one_game", {"make": "whole_screens"}),
}
IN_TURN = ["games", "games_ready", "ale_few", "ale_many", "envpool_many"]
ENGINES = ["games", "ale", "envpool"]
ONE_GAME = ["fast_game", "game", "whole_screens"]


class Part(NamedTuple):
    """Who plays what; a result has a part for each title."""

    names: list[str]
    titles: list[str]
    options: dict[str, Any] = {"num_envs": GAMES}
    wait: float = 0  # seconds, for a network after each batch


PARTS = {
    "lockstep": Part(["games", "ale", "envpool", "gymnasium", "sb3"], TITLES),
    "lockstep64": Part(ENGINES, ["Breakout"], {"num_envs": 64}),
    "lockstep256": Part(ENGINES, ["Breakout"], {"num_envs": 256}),
    "waits": Part(IN_TURN, TITLES[:4], wait=0.0015),
    "number64": Part(["games", "worker"], ["Breakout"], {"num_envs": 64}),
    "fast_game": Part(ONE_GAME, ["Breakout", "Seaquest"], TRAINING),
    "restart": Part(ONE_GAME, ["Breakout"], {"on_life_loss": "restart"}),
}


def contender(
    name: str, part: Part, title: str, threads: int | None = None
) -> Contender:
    """A contender's process."""
    kind, options = PLAYERS[name]
    options = part.options | options | {"title": title}
    if threads:
        options["threads"] = threads
    return Contender(kind, options, part.wait)


def best_threads(name: str, part: Part, title: str) -> int | None:
    """With how many threads an engine is fastest, if it has threads."""
    kind, options = PLAYERS[name]
    if kind not in ("ale", "envpool"):
        return None
    games = (part.options | options)["num_envs"]
    speeds = {}
    for threads in sorted({min(n, games) for n in (CORES, 2 * CORES, games)}):
        with contender(name, part, title, threads) as player:
            speeds[threads] = player.play(TUNING)
    return max(speeds, key=lambda threads: speeds[threads])


def compare(part: Part, run: argparse.Namespace, title: str) -> dict[str, Any]:
    """Let contenders take turns; return what each reached, round by round."""
    rows: dict[str, dict[str, Any]] = {}
    with contextlib.ExitStack() as stack:
        players = {}
        for name in part.names:
            threads = best_threads(name, part, title)
            player = contender(name, part, title, threads)
            players[name] = stack.enter_context(player)
            rows[name] = {"threads": threads, "memory": memory(player)}
        turns = common.take_turns(
            {n: partial(one.play, run.seconds) for n, one in players.items()},
            run.rounds,
        )
    for name, speed in turns.items():
        rows[name]["speed"] = speed
        print(f"{title} {name}: {median(speed):,.0f} steps/s", flush=True)
    return {
        "rounds": run.rounds,
        "seconds": run.seconds,
        "rows": rows,
    }


def memory(player: Contender) -> float:
    """The memory of all processes in MB, what they share counted once."""
    total = sum(one.memory_full_info().pss for one in player.processes())
    return round(total / 2**20, 1)


def main() -> None:
    parser = common.options(__doc__)
    parser.add_argument("parts", nargs="+", choices=PARTS)
    parser.add_argument("--titles", nargs="+")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=10)
    run = parser.parse_args()
    for name in run.parts:
        part = PARTS[name]
        titles = {
            title: partial(compare, part, run, title)
            for title in run.titles or part.titles
        }
        common.measure(run, name, titles)


if __name__ == "__main__":
    main()
