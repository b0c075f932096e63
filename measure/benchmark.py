"""Measure `Games` beside other engines, beside itself, and an older one.

    python measure/benchmark.py restart                   # 1 minute
    git worktree add OLD origin/main
    python measure/benchmark.py old old_worker --old OLD  # 2 minutes

The parts, all of random actions:

- lockstep: everybody waits for a batch of 8 games before the next one begins
- lockstep64, lockstep256: so with more games, beside the engines in C++
- restart: so, where each lost life restarts the game, as in labml's tutorial
- waits: several batches are in flight, beside a network that waits 1.5 ms
- fast_game: one `FastGame` and one `Game`, by CPU time, by `TRAINING`
- itself: `Games` beside `Games`: whatever this finds is the instrument's own
- old, old_worker: `Games` and `Worker`s beside those of another folder

Only steps that played frames count, not those that a peer spends on a reset.
The engines in C++ play with the number of threads with which they are fastest.
What is published was measured with the default rounds and seconds.
"""

import argparse
import contextlib
import pathlib
from functools import partial
from typing import Any, NamedTuple

import common
from common import CORES, ROOT
from contenders import WHOLE_GAMES, Contender
from game import TRAINING
from ratios import beside, spread

EIGHT = {"num_envs": 8}
TITLES = ["Breakout", "Pong", "MsPacman", "Seaquest", "ALE/Breakout-v5"]
FEW = EIGHT | {"count": 3}  # batches in flight
# One is played on each core, the others are ready.
ENOUGH = EIGHT | {"count": CORES + 3}
TUNING = 0.5  # seconds of each number of threads

GAMES: Any = ("games", EIGHT | WHOLE_GAMES)
WORKER: Any = ("workers", EIGHT | WHOLE_GAMES)
# A kind of contender, with its options, by the name in results.
PLAYERS: dict[str, tuple[str, dict[str, Any]]] = {
    "games": GAMES,
    "again": GAMES,
    "old": GAMES,
    "games_ready": ("ready_first", ENOUGH | WHOLE_GAMES),
    "worker": WORKER,
    "old_worker": WORKER,
    "ale": ("ale", EIGHT),
    "ale_few": ("ale", FEW),
    "ale_many": ("ale", ENOUGH),
    "envpool": ("envpool", EIGHT),
    "envpool_many": ("envpool", ENOUGH),
    "gymnasium": ("gymnasium", EIGHT),
    "sb3": ("sb3", EIGHT),
    "fast_game": ("one_game", {"make": "FastGame"}),
    "game": ("one_game", {"make": "Game"}),
}
RESTART = {"on_life_loss": "restart"}
IN_TURN = ["games", "games_ready", "ale_few", "ale_many", "envpool_many"]
ENGINES = ["games", "ale", "envpool"]
ONE_GAME = ["fast_game", "game"]


class Part(NamedTuple):
    """Who plays what; a result has a part for each title."""

    names: list[str]
    titles: list[str]
    options: dict[str, Any] = {}
    wait: float = 0  # seconds, for a network after each batch


PARTS = {
    "lockstep": Part(["games", "ale", "envpool", "gymnasium", "sb3"], TITLES),
    "lockstep64": Part(ENGINES, ["Breakout"], {"num_envs": 64}),
    "lockstep256": Part(ENGINES, ["Breakout"], {"num_envs": 256}),
    "restart": Part(["games", "ale", "worker"], ["Breakout"], RESTART),
    "waits": Part(IN_TURN, ["Breakout", "Pong"], wait=0.0015),
    "fast_game": Part(ONE_GAME, ["Breakout", "Pong", "Seaquest"], TRAINING),
    "itself": Part(["games", "again"], ["Breakout", "MsPacman"]),
    "old": Part(["games", "old"], ["Breakout", "MsPacman"]),
    "old_worker": Part(["worker", "old_worker"], ["Breakout"]),
}


def contender(
    name: str,
    part: Part,
    title: str,
    threads: int | None = None,
    old: pathlib.Path = ROOT,
) -> Contender:
    """A contender's process."""
    kind, options = PLAYERS[name]
    options = options | part.options | {"title": title}
    if threads:
        options["threads"] = threads
    folder = old if name.startswith("old") else ROOT
    return Contender(kind, options, part.wait, folder)


def best_threads(name: str, part: Part, title: str) -> int | None:
    """With how many threads an engine is fastest, if it has threads."""
    kind, options = PLAYERS[name]
    if kind not in ("ale", "envpool"):
        return None
    options = options | part.options
    games = options["num_envs"] * options.get("count", 1)
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
            player = contender(name, part, title, threads, run.old)
            players[name] = stack.enter_context(player)
            rows[name] = {"threads": threads}
        turns = common.take_turns(
            {n: partial(one.play, run.seconds) for n, one in players.items()},
            run.rounds,
        )
    for name, speed in turns.items():
        rows[name]["speed"] = speed
    ours, *others = part.names
    for other in others:
        words = spread(beside(rows, ours, other))
        print(f"{title}: {ours} beside {other}: {words}", flush=True)
    return {"rounds": run.rounds, "seconds": run.seconds, "rows": rows}


def main() -> None:
    parser = common.options(__doc__)
    add = parser.add_argument
    add("parts", nargs="+", choices=PARTS)
    add("--rounds", type=int, default=15)
    add("--seconds", type=float, default=0.6)
    add("--old", type=pathlib.Path, default=ROOT, help="folder of a game.py")
    run = parser.parse_args()
    for name in run.parts:
        part = PARTS[name]
        titles = {
            title: partial(compare, part, run, title) for title in part.titles
        }
        common.measure(run, name, titles)


if __name__ == "__main__":
    main()
