"""Measure `Games` and `Worker` of game.py beside their peers.

    pip install -r requirements.txt --group measure
    python measure/benchmark.py                         # all of it, 20 minutes
    python measure/benchmark.py whole count --rounds 3  # two parts, quicker
    python measure/benchmark.py --publish

A part that is measured again replaces itself in benchmark.json; report.py
makes docs/speed.md, its charts and README's table of it. The parts:

- tune: how many threads the two C++ engines take
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
several batches in flight with whoever has as many. Rounds in which other
programs were at work are played again.
"""

import contextlib
import time
from statistics import median

import common
from contenders import Contender

# Who waits for each batch before it asks for the next; and who has two or
# three batches in flight, as the name ends, so that one is played while the
# network looks at another.
LOCKSTEP = ["ale", "envpool", "gymnasium", "sb3", "labml"]
IN_TURN = ["ale_2", "ale_3", "envpool_2", "envpool_3"]
OURS = ["games", "worker"]
OURS_IN_TURN = ["games_2", "games_3"]
RESTARTING = ["games_true", "ale", "gymnasium", "labml", "ale_2", "ale_3"]
CONTINUING = ["envpool", "sb3", "sb3_games", "envpool_2", "envpool_3"]
ENGINES = ["ale", "envpool", *IN_TURN]
TITLES = ["Breakout", "Pong", "MsPacman", "Seaquest"]
WITH_LIVES = ["Breakout", "MsPacman", "Seaquest"]  # Pong has none to lose
GAMES = 8  # in a batch
COUNTS = [1, 2, 4, 8, 16, 32, 64]
NO_NETWORK = ("computes", 0)
NETWORKS = {"no network": NO_NETWORK} | {  # after each batch
    f"{kind} {milliseconds} ms": (kind, milliseconds)
    for kind in ("waits", "computes")
    for milliseconds in (0.5, 1.5, 5)
}
SECONDS = 0.3  # of a round, of each contender
TUNE_ROUNDS = 3  # at most

# A part is a table of columns. A column holds contenders, each as `(its
# generator in contenders.py, what that takes, the network)`.


def batches(name):
    """How many batches a contender has in flight."""
    suffix = name.rpartition("_")[2]
    return int(suffix) if suffix in ("2", "3") else 1


def setup(name, data, title="Breakout", rule="ignore", games=GAMES):
    """One contender; the engines as they were best when they were tuned."""
    kind = name if name == "sb3_games" else name.split("_")[0]
    flying = batches(name)
    options = {"game": title, "games": games, "rule": rule}
    if name in ENGINES:
        options["num_envs"] = games * flying
        threads = best(data["tune"]["columns"][name])["options"]["threads"]
        options["threads"] = min(threads, options["num_envs"])
    elif flying > 1:
        options["count"] = flying
    if name == "games_true":
        options["snapshots"] = False
    return kind, options, NO_NETWORK


def best(column):
    """The fastest way to set an engine."""
    return max(column.values(), key=lambda row: median(row["speed"]))


def tune(_, data):
    """The engines' threads."""
    columns = {}
    cores = common.CORES
    for name in ENGINES:
        columns[name] = {}
        num_envs = GAMES * batches(name)
        for threads in sorted({cores, cores * 3 // 2, cores * 2, num_envs}):
            options = {"num_envs": num_envs, "threads": threads}
            options |= {"game": "Breakout", "games": GAMES, "rule": "ignore"}
            what = name.split("_")[0], options, NO_NETWORK
            columns[name][f"{threads} threads"] = what
    return columns


def by_title(part, data):
    """Whole games, or a lost life that ends the episode, by either rule."""
    titles, rule, names = {
        "whole": (TITLES, "ignore", [*LOCKSTEP, "sb3_games", *IN_TURN]),
        "restart": (WITH_LIVES, "restart", RESTARTING),
        "continue": (WITH_LIVES, "continue", CONTINUING),
    }[part]
    names = ["limit", *OURS, *names, *OURS_IN_TURN]
    return {
        title: {name: setup(name, data, title, rule) for name in names}
        for title in titles
    }


def network(_, data):
    """A network's pass for each batch, elsewhere or on one of the cores."""
    names = [*OURS, *LOCKSTEP, *OURS_IN_TURN, *IN_TURN]
    return {
        column: {name: (*setup(name, data)[:2], network) for name in names}
        for column, network in NETWORKS.items()
    }


def count(_, data):
    """Whole games of Breakout, more and more of them."""
    names = ["games", "worker", "ale", "envpool", "gymnasium", "labml"]
    return {
        str(games): {name: setup(name, data, games=games) for name in names}
        for games in COUNTS
    }


PARTS = {
    "tune": tune,
    "whole": by_title,
    "restart": by_title,
    "continue": by_title,
    "network": network,
    "count": count,
}


def measure(part, rounds, data):
    """All columns of a part, and how they came about."""
    if part == "tune":
        rounds = min(TUNE_ROUNDS, rounds)
    columns = {}
    for column, contenders in PARTS[part](part, data).items():
        start = time.monotonic()
        columns[column] = measure_column(part, contenders, rounds)
        spent = time.monotonic() - start
        print(f"{part} {column}, {spent:.0f} s", flush=True)
    how = {"rounds": rounds, "seconds": SECONDS}
    return common.when() | how | {"columns": columns}


def measure_column(part, contenders, rounds):
    """Let the contenders of a column take turns; return what they reached."""
    rows = {}
    for name, what in contenders.items():
        rows[name] = {"options": what[1]}
        if part == "count":  # memory is measured with nobody else there
            with Contender(*what) as alone:
                rows[name]["memory"] = alone.ready()["memory"]
    with contextlib.ExitStack() as stack:
        turns = []
        for name, what in contenders.items():
            player = stack.enter_context(Contender(*what))
            turns.append((rows[name], player))
        for row, player in turns:
            arrays = player.ready()["arrays"]
            row |= {"arrays": arrays, "speed": [], "others": []}
        for _ in range(rounds):
            for row, player in turns:
                speed, others = common.undisturbed(
                    lambda player=player: player.play(SECONDS)
                )
                row["speed"].append(round(speed, 2))
                row["others"].append(round(others, 2))
            turns.append(turns.pop(0))
    return rows


def main():
    parser = common.options(__doc__, PARTS)
    parser.add_argument("--rounds", type=int, default=7, help="of each part")
    run = parser.parse_args()
    path = common.target("benchmark.json", run.publish)
    data = common.kept(path, run.parts)
    parts = run.parts or list(PARTS)
    if "tune" not in data and "tune" not in parts:
        parts.insert(0, "tune")
    for part in parts:
        if run.publish:
            common.must_be_quiet()
        data[part] = measure(part, run.rounds, data)
        common.write(path, data)


if __name__ == "__main__":
    main()
