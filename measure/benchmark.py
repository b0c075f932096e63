"""Measure `Games` and `Worker` of game.py beside their peers.

    pip install -r requirements.txt --group measure
    python measure/benchmark.py             # all of it, 50 minutes
    python measure/benchmark.py tune count  # two parts
    python measure/benchmark.py --publish

A part that is measured again replaces itself in benchmark.json; report.py
makes docs/speed.md, its charts and README's table of it. The parts, of three
minutes or less but for the agent's fourteen:

- tune: how many threads the two C++ engines take, which the others ask for
- lockstep: whole games of four titles; who waits for each batch
- turns: the same with several batches in flight
- waits, computes: the same with a network between the steps, which waits for
  a device or computes on a core
- restart, continue: a lost life ends the episode, by either rule
- agent: whole games of Breakout in lockstep, in which the published agent
  chooses the actions; its own time isn't counted
- count: 1 to 64 games, and their memory
- shared-tune, -lockstep, -turns, -waits, -computes: the same beside
  neighbours, as on a host that others use. Only root may start these.

What makes it fair: every contender lives in a process of its own, where it
builds its environment once and warms up. Then they take turns, in an order
that rotates from round to round, and are compared within a round: a machine
that slows down slows down for all. All play the same random actions, unless
the agent chooses them. Only transitions that played frames count, not those
that a peer spends on a reset. Who waits for each batch is compared with
whoever does so too; who has several in flight with all engines that do,
whatever their number. Beside each speed stands how many cores other programs
took meanwhile.
"""

import contextlib
from statistics import median

import common
from contenders import AGENT, NO_NETWORK, Contender, neighbours
from in_turn import BATCHES

# Who waits for each batch before it asks for the next; and who has several in
# flight, so that some are played while the network looks at another.
LOCKSTEP = ["ale", "envpool", "gymnasium", "sb3", "labml"]
FLYING = {"ale_2": 2, "ale_3": 3, "ale_many": BATCHES}
FLYING |= {"envpool_3": 3, "envpool_many": BATCHES}
OURS = ["games", "worker"]
OURS_FLYING = {"games_2": 2, "ready": BATCHES}
ENGINES = ["ale", "envpool", *FLYING]
TITLES = ["Breakout", "Pong", "MsPacman", "Seaquest"]
WITH_LIVES = ["Breakout", "MsPacman", "Seaquest"]  # Pong has none to lose
GAMES = 8  # in a batch
# After each batch, in milliseconds.
NETWORKS = {
    "turns": NO_NETWORK,
    "waits": ("waits", 1.5),
    "computes": ("computes", 1.5),
}
ROUNDS = 5
SECONDS = 0.3  # of a round, of each contender
# From SB3's wrappers to `Games`, one difference at a time: `Worker`s that
# neither restore snapshots nor resize only what has changed; `Games` likewise,
# with a process for each game; then with both; then with one for each core.
LADDER = ["sb3", "worker_plain", "games_plain_each", "games_each", "games"]
LONG = 10  # where an agent plays, whose games are long, too

# Of each part who plays, and how the columns of its table are set up. Who can
# end an episode at a lost life does it by one of the two rules.
COLUMNS = {
    "lockstep": (
        ["limit", *OURS, *LOCKSTEP, "sb3_games"],
        {title: {"game": title} for title in TITLES},
    ),
    **{
        part: (
            ["limit", "games", *OURS_FLYING, *FLYING],
            {title: {"game": title, "network": network} for title in TITLES},
        )
        for part, network in NETWORKS.items()
    },
    "restart": (
        ["limit", *OURS, "games_true", "ale", "gymnasium", "labml"],
        {title: {"game": title, "rule": "restart"} for title in WITH_LIVES},
    ),
    "continue": (
        ["limit", *OURS, "envpool", "sb3", "sb3_games"],
        {title: {"game": title, "rule": "continue"} for title in WITH_LIVES},
    ),
    "agent": (
        [*LADDER, "ale", "envpool", "gymnasium"],
        {"Breakout": {"network": AGENT}},
    ),
    "count": (
        ["games", "worker", "ale", "envpool", "gymnasium", "labml"],
        {str(games): {"games": games} for games in (1, 8, 64)},
    ),
}
SHARED = ["tune", "lockstep", *NETWORKS]  # measured beside neighbours, too


def setup(name, threads, network=NO_NETWORK, **changes):
    """A contender: its generator, what that takes, and the network."""
    kind = name if name == "sb3_games" else name.split("_")[0]
    options = {"game": "Breakout", "games": GAMES, "rule": "ignore"} | changes
    if name in ENGINES:
        num_envs = options["games"] * FLYING.get(name, 1)
        options |= {"num_envs": num_envs, "threads": min(threads, num_envs)}
    elif name in OURS_FLYING:
        options["count"] = OURS_FLYING[name]
    elif name == "games_true":
        options["snapshots"] = False
    elif name.endswith("_single"):
        options["single"] = True
    elif name.endswith("_each"):
        options["processes"] = options["games"]
    elif name == "limit":
        network = NO_NETWORK
    if "_plain" in name:
        options["plain"] = True
    return kind, options, network


def best_threads(tuned):
    """With how many threads each engine is fastest."""
    threads = {}
    for name, column in tuned["columns"].items():
        best = max(column.values(), key=lambda row: median(row["speed"]))
        threads[name] = best["options"]["threads"]
    return threads


def table(part, threads):
    """The contenders of a part, column by column."""
    if part == "tune":
        cores = common.CORES
        columns = {}
        for name in ENGINES:
            most = GAMES * FLYING.get(name, 1)
            tried = sorted({cores, cores * 3 // 2, cores * 2, most})
            columns[name] = {f"{n} threads": setup(name, n) for n in tried}
        return columns
    names, columns = COLUMNS[part]
    return {
        column: {name: setup(name, threads.get(name), **how) for name in names}
        for column, how in columns.items()
    }


def measure(part, data):
    """All columns of a part, and how they came about."""
    host, _, what = part.rpartition("-")
    tuned = f"{host}-tune" if host else "tune"
    threads = {} if part == tuned else best_threads(data[tuned])
    seconds = LONG if what == "agent" else SECONDS
    columns = {}
    with neighbours() if host else contextlib.nullcontext():
        for column, contenders in table(what, threads).items():
            columns[column] = take_turns(contenders, ROUNDS, seconds)
            if what == "count":  # memory is measured with nobody else there
                for name, setting in contenders.items():
                    with Contender(*setting) as alone:
                        memory = alone.ready()["memory"]
                        columns[column][name]["memory"] = memory
            print(part, column, flush=True)
    return {"rounds": ROUNDS, "seconds": seconds, "columns": columns}


def take_turns(contenders, rounds, seconds=SECONDS):
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
                speed, others = common.watched(player.play, seconds)
                row["speed"].append(round(speed, 2))
                row["others"].append(round(others, 2))
            turns.append(turns.pop(0))
    return rows


def main():
    parts = ["tune", *COLUMNS, *(f"shared-{part}" for part in SHARED)]
    common.measure(__doc__, "benchmark.json", parts, measure)


if __name__ == "__main__":
    main()
