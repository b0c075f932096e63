"""Measure `Games` beside other engines.

    pip install -r requirements.txt --group measure
    python measure/benchmark.py lockstep                     # 22 minutes
    python measure/benchmark.py lockstep --columns Breakout  # 5 minutes
    python measure/benchmark.py waits computes none --publish

The parts, all of whole games by random actions:

- lockstep: everybody waits for a batch of 8 games before the next one begins
- wrappers: likewise, those that play all games in one process, and `Worker`
- waits, computes, none: several batches are in flight, beside a network that
  waits for a device for 1.5 ms, that computes as long, or that there isn't
- number: 8 and 64 games of Breakout, and their memory

Every contender lives in a process of its own. They take turns, in an order
that rotates from round to round, and are compared within a round, so that a
machine that slows down slows down for all. Only steps that played frames
count, not those that a peer spends on a reset. The engines in C++ play with
the number of threads with which they are fastest.
"""

import argparse
import contextlib
from collections.abc import Callable, Sequence
from functools import partial
from statistics import median
from typing import Any, NamedTuple

import psutil

import common
from contenders import CORES, NO_NETWORK, WHOLE_GAMES, Contender, Network

GAMES = 8
TITLES = ["Breakout", "Pong", "MsPacman", "Seaquest", "ALE/Breakout-v5"]
BATCHES = CORES + 3  # in flight; one is played on each core
TUNING = 1  # seconds of each number of threads
ENGINES = ["ale", "envpool"]


class InFlight(NamedTuple):
    """An asynchronous engine, and how many of its games are in flight."""

    engine: str
    games: int


IN_FLIGHT = {
    "ale_few": InFlight("ale", 3 * GAMES),
    "ale_many": InFlight("ale", BATCHES * GAMES),
    "envpool_many": InFlight("envpool", BATCHES * GAMES),
}
LOCKSTEP = ["games", *ENGINES, "gymnasium", "sb3"]
WRAPPERS = ["games", "worker", "gymnasium_single", "sb3_single"]
IN_TURN = ["games", "games_ready", *IN_FLIGHT]


def contender(
    name: str,
    title: str,
    games: int = GAMES,
    threads: int | None = None,
    network: Network = NO_NETWORK,
) -> Contender:
    """A contender's process."""
    kind = name
    options: dict[str, Any] = {"title": title, "num_envs": games}
    if name in IN_FLIGHT:
        kind = IN_FLIGHT[name].engine
        options |= {"num_envs": IN_FLIGHT[name].games, "batch": games}
    elif name.endswith("_single"):
        kind = name.removesuffix("_single")
        options["single"] = True
    elif name == "games_ready":
        kind = "ready_first"
        options["count"] = BATCHES
    elif name == "worker":
        kind = "workers"
    if kind in ("games", "ready_first", "workers"):
        options |= WHOLE_GAMES
    if threads:
        options["threads"] = threads
    return Contender(kind, options, network)


def best_threads(name: str, title: str, games: int, network: Network) -> int:
    """With how many threads an engine is fastest."""
    in_flight = IN_FLIGHT[name].games if name in IN_FLIGHT else games
    tried = {CORES, CORES * 2, in_flight}
    speeds = {}
    for threads in sorted({min(count, in_flight) for count in tried}):
        with contender(name, title, games, threads, network) as player:
            speeds[threads] = player.play(TUNING)
    return max(speeds, key=lambda threads: speeds[threads])


def take_turns(
    names: Sequence[str],
    run: argparse.Namespace,
    title: str,
    games: int = GAMES,
    network: Network = NO_NETWORK,
) -> dict[str, dict[str, Any]]:
    """Let contenders take turns; return what each reached, round by round."""
    rows: dict[str, dict[str, Any]] = {}
    with contextlib.ExitStack() as stack:
        turns = []
        for name in names:
            threads = None
            if name in ENGINES or name in IN_FLIGHT:
                threads = best_threads(name, title, games, network)
            player = contender(name, title, games, threads, network)
            stack.enter_context(player)
            rows[name] = {"speed": [], "threads": threads}
            turns.append((name, player))
        for _ in range(run.rounds):
            for name, player in turns:
                speed = player.play(run.seconds)
                rows[name]["speed"].append(round(speed, 1))
            turns.append(turns.pop(0))
    middle = {name: round(median(row["speed"])) for name, row in rows.items()}
    print(title, games, middle, flush=True)
    return rows


def memory(name: str, games: int) -> float:
    """The memory of all processes in MB, what they share counted once."""
    threads = CORES if name in ENGINES else None
    with contender(name, "Breakout", games, threads) as player:
        process = psutil.Process(player.process.pid)
        family = [process, *process.children(recursive=True)]
        total = sum(one.memory_full_info().pss for one in family)
    return round(total / 2**20, 1)


def by_number(run: argparse.Namespace, games: str) -> dict[str, Any]:
    """Measure Breakout with so many games."""
    names = ["games", "worker", *ENGINES, "gymnasium"]
    rows = take_turns(names, run, "Breakout", int(games))
    for name, row in rows.items():
        row["memory"] = memory(name, int(games))
    return rows


def by_title(
    names: Sequence[str],
    network: Network,
    run: argparse.Namespace,
    title: str,
) -> dict[str, Any]:
    """Measure a title."""
    return take_turns(names, run, title, network=network)


class Part(NamedTuple):
    """What measures a column of a table, and the columns."""

    measure: Callable[[argparse.Namespace, str], dict[str, Any]]
    columns: list[str]


PARTS = {
    "lockstep": Part(partial(by_title, LOCKSTEP, NO_NETWORK), TITLES),
    "wrappers": Part(partial(by_title, WRAPPERS, NO_NETWORK), TITLES[:1]),
    "waits": Part(
        partial(by_title, IN_TURN, Network("waits", 1.5)), TITLES[:4]
    ),
    "computes": Part(
        partial(by_title, IN_TURN, Network("computes", 1.5)), TITLES[:1]
    ),
    "none": Part(partial(by_title, IN_TURN, NO_NETWORK), TITLES[:1]),
    "number": Part(by_number, ["8", "64"]),
}


def measure(
    part: Part, run: argparse.Namespace, column: str
) -> dict[str, Any]:
    """Measure a column of a part."""
    return {
        "rounds": run.rounds,
        "seconds": run.seconds,
        "rows": part.measure(run, column),
    }


def main() -> None:
    parser = common.options(__doc__)
    parser.add_argument("parts", nargs="+", choices=PARTS)
    parser.add_argument("--columns", nargs="+", help="titles, or numbers")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=10)
    run = parser.parse_args()
    for name in run.parts:
        part = PARTS[name]
        columns = {
            column: partial(measure, part, run, column)
            for column in run.columns or part.columns
        }
        common.measure(run, name, columns)


if __name__ == "__main__":
    main()
