"""Measure `Games` and `Worker` of game.py beside their peers.

    pip install -r requirements.txt --group measure
    python measure/benchmark.py             # all of it, 20 minutes
    python measure/benchmark.py tune count  # two parts
    python measure/benchmark.py --publish

A part that is measured again replaces itself in benchmark.json; report.py
makes docs/speed.md, its charts and README's table of it. The parts:

- tune: how many threads the two C++ engines take, which the others ask for
- whole: whole games of four titles
- restart, continue: a lost life ends the episode, by either rule
- network: a network between the steps that waits or computes
- count: 1 to 64 games, and their memory

What makes it fair: every contender lives in a process of its own, where it
builds its environment once and warms up. Then they take turns, in an order
that rotates from round to round, and are compared within a round: a machine
that slows down slows down for all. All play the same random actions. Only
transitions that played frames count, not those that a peer spends on a reset.
Who waits for each batch is compared with whoever does so too, and who has
several batches in flight with whoever has as many. Beside each speed stands
how many cores other programs took meanwhile.
"""

import contextlib
from statistics import median

import common
from contenders import NO_NETWORK, Contender

# Who waits for each batch before it asks for the next; and who has two or
# three batches in flight, as the name ends, so that one is played while the
# network looks at another.
LOCKSTEP = ["ale", "envpool", "gymnasium", "sb3", "labml"]
IN_TURN = ["ale_2", "ale_3", "envpool_2", "envpool_3"]
OURS = ["games", "worker"]
OURS_IN_TURN = ["games_2", "games_3"]
ALL = [*OURS, *LOCKSTEP, *OURS_IN_TURN, *IN_TURN]
ENGINES = ["ale", "envpool", *IN_TURN]
# Who can end an episode at a lost life by the one rule and by the other.
RESTARTING = ["games_true", "ale", "gymnasium", "labml", "ale_2", "ale_3"]
CONTINUING = ["envpool", "sb3", "sb3_games", "envpool_2", "envpool_3"]
TITLES = ["Breakout", "Pong", "MsPacman", "Seaquest"]
WITH_LIVES = ["Breakout", "MsPacman", "Seaquest"]  # Pong has none to lose
GAMES = 8  # in a batch
NETWORKS = {"no network": NO_NETWORK} | {  # after each batch
    f"{kind} {milliseconds} ms": (kind, milliseconds)
    for kind in ("waits", "computes")
    for milliseconds in (0.5, 1.5, 5)
}
ROUNDS = 7
SECONDS = 0.3  # of a round, of each contender

# Of each part who plays, and how the columns of its table are set up.
COLUMNS = {
    "whole": (
        ["limit", "sb3_games", *ALL],
        {title: {"game": title} for title in TITLES},
    ),
    "restart": (
        ["limit", *OURS, *RESTARTING, *OURS_IN_TURN],
        {title: {"game": title, "rule": "restart"} for title in WITH_LIVES},
    ),
    "continue": (
        ["limit", *OURS, *CONTINUING, *OURS_IN_TURN],
        {title: {"game": title, "rule": "continue"} for title in WITH_LIVES},
    ),
    "network": (
        ALL,
        {name: {"network": network} for name, network in NETWORKS.items()},
    ),
    "count": (
        ["games", "worker", "ale", "envpool", "gymnasium", "labml"],
        {str(games): {"games": games} for games in (1, 2, 4, 8, 16, 32, 64)},
    ),
}


def batches(name):
    """How many batches a contender has in flight."""
    return {"_2": 2, "_3": 3}.get(name[-2:], 1)


def setup(name, threads, network=NO_NETWORK, **changes):
    """A contender: its generator, what that takes, and the network."""
    kind = name if name == "sb3_games" else name.split("_")[0]
    options = {"game": "Breakout", "games": GAMES, "rule": "ignore"} | changes
    if name in ENGINES:
        num_envs = options["games"] * batches(name)
        options |= {"num_envs": num_envs, "threads": min(threads, num_envs)}
    elif name in OURS_IN_TURN:
        options["count"] = batches(name)
    elif name == "games_true":
        options["snapshots"] = False
    return kind, options, network


def best_threads(data):
    """With how many threads each engine is fastest."""
    threads = {}
    for name, column in data["tune"]["columns"].items():
        best = max(column.values(), key=lambda row: median(row["speed"]))
        threads[name] = best["options"]["threads"]
    return threads


def table(part, data):
    """The contenders of a part, column by column."""
    if part == "tune":
        cores = common.CORES
        columns = {}
        for name in ENGINES:
            most = GAMES * batches(name)
            tried = sorted({cores, cores * 3 // 2, cores * 2, most})
            columns[name] = {f"{n} threads": setup(name, n) for n in tried}
        return columns
    names, columns = COLUMNS[part]
    threads = best_threads(data)
    return {
        column: {name: setup(name, threads.get(name), **how) for name in names}
        for column, how in columns.items()
    }


def measure(part, data):
    """All columns of a part, and how they came about."""
    columns = {}
    for column, contenders in table(part, data).items():
        columns[column] = take_turns(contenders, ROUNDS)
        if part == "count":  # memory is measured with nobody else there
            for name, what in contenders.items():
                with Contender(*what) as alone:
                    memory = alone.ready()["memory"]
                    columns[column][name]["memory"] = memory
        print(part, column, flush=True)
    return {"rounds": ROUNDS, "seconds": SECONDS, "columns": columns}


def take_turns(contenders, rounds):
    """Let the contenders of a column take turns; return what they reached."""
    rows = {name: {"options": what[1]} for name, what in contenders.items()}
    with contextlib.ExitStack() as stack:
        turns = [
            (rows[name], stack.enter_context(Contender(*what)))
            for name, what in contenders.items()
        ]
        for row, player in turns:
            arrays = player.ready()["arrays"]
            row |= {"arrays": arrays, "speed": [], "others": []}
        for _ in range(rounds):
            for row, player in turns:
                speed, others = common.watched(player.play, SECONDS)
                row["speed"].append(round(speed, 2))
                row["others"].append(round(others, 2))
            turns.append(turns.pop(0))
    return rows


def main():
    parts = ["tune", *COLUMNS]
    common.measure(__doc__, "benchmark.json", parts, measure)


if __name__ == "__main__":
    main()
