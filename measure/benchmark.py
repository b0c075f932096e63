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
from contenders import contender

# Who waits for each batch before it asks for the next; and who has two or
# three batches in flight, as the name ends, so that one is played while the
# network looks at another.
LOCKSTEP = ["ale", "envpool", "gymnasium", "sb3", "labml"]
IN_TURN = ["ale_2", "ale_3", "envpool_2", "envpool_3"]
OURS = ["games", "worker"]
OURS_IN_TURN = ["games_2", "games_3"]
ENGINES = ["ale", "envpool", *IN_TURN]
TITLES = ["Breakout", "Pong", "MsPacman", "Seaquest"]
WITH_LIVES = ["Breakout", "MsPacman", "Seaquest"]  # Pong has none to lose
COUNTS = [1, 2, 4, 8, 16, 32, 64]
NETWORKS = {  # after each batch, for so many milliseconds
    "no network": None,
    "waits 0.5 ms": ("waiting", 0.5),
    "waits 1.5 ms": ("waiting", 1.5),
    "waits 5 ms": ("waiting", 5),
    "computes 0.5 ms": ("computing", 0.5),
    "computes 1.5 ms": ("computing", 1.5),
    "computes 5 ms": ("computing", 5),
}
TUNE_ROUNDS = 3  # at most

# A part is a table of columns. A column holds contenders, each as `(its
# generator in contenders.py, what that takes, the network)`.


def batches(name):
    """How many batches a contender has in flight."""
    suffix = name.rpartition("_")[2]
    return int(suffix) if suffix in ("2", "3") else 1


def setup(name, data, games, title="Breakout", rule="ignore", network=None):
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
    if name == "limit":
        seeds = range(min(common.CORES, games))
        options = [options | {"seed": seed} for seed in seeds]
    return kind, options, network


def best(column):
    """The fastest way to set an engine."""
    return max(column.values(), key=lambda row: median(row["speed"]))


def tune(run, data):
    """The engines' threads."""
    columns = {}
    cores = common.CORES
    for name in ENGINES:
        columns[name] = {}
        num_envs = run.games * batches(name)
        for threads in sorted({cores, cores * 3 // 2, cores * 2, num_envs}):
            options = {"num_envs": num_envs, "threads": threads}
            options |= {"game": "Breakout", "games": run.games}
            options |= {"rule": "ignore"}
            what = name.split("_")[0], options, None
            columns[name][f"{threads} threads"] = what
    return columns


def by_title(run, data, titles, names, rule):
    return {
        title: {
            name: setup(name, data, run.games, title, rule) for name in names
        }
        for title in titles
    }


def whole(run, data):
    """Whole games: a lost life ends nothing."""
    names = ["limit", *OURS, *LOCKSTEP, "sb3_games", *OURS_IN_TURN, *IN_TURN]
    return by_title(run, data, TITLES, names, "ignore")


def restart(run, data):
    """A lost life ends the episode, and the game starts over."""
    names = ["limit", *OURS, "games_true", "ale", "gymnasium", "labml"]
    names += [*OURS_IN_TURN, "ale_2", "ale_3"]
    return by_title(run, data, WITH_LIVES, names, "restart")


def goes_on(run, data):
    """A lost life ends the episode, and the game continues."""
    names = ["limit", *OURS, "envpool", "sb3", "sb3_games"]
    names += [*OURS_IN_TURN, "envpool_2", "envpool_3"]
    return by_title(run, data, WITH_LIVES, names, "continue")


def network(run, data):
    """A network's pass for each batch, elsewhere or on one of the cores."""
    names = [*OURS, *LOCKSTEP, *OURS_IN_TURN, *IN_TURN]
    return {
        column: {
            name: setup(name, data, run.games, network=network)
            for name in names
        }
        for column, network in NETWORKS.items()
    }


def count(run, data):
    """Whole games of Breakout, more and more of them."""
    names = ["games", "worker", "ale", "envpool", "gymnasium", "labml"]
    return {
        str(games): {name: setup(name, data, games) for name in names}
        for games in COUNTS
    }


PARTS = {
    "tune": tune,
    "whole": whole,
    "restart": restart,
    "continue": goes_on,
    "network": network,
    "count": count,
}


def measure(part, run, data):
    """All columns of a part, and how they came about."""
    rounds = min(TUNE_ROUNDS, run.rounds) if part == "tune" else run.rounds
    columns = {}
    for column, contenders in PARTS[part](run, data).items():
        start = time.monotonic()
        columns[column] = measure_column(part, contenders, run, rounds)
        spent = time.monotonic() - start
        print(f"{part} {column}, {spent:.0f} s", flush=True)
    how = {"date": common.today(), "commit": common.commit()}
    how |= {"rounds": rounds, "seconds": run.seconds}
    return how | {"columns": columns}


def measure_column(part, contenders, run, rounds):
    """Let the contenders of a column take turns; return what they reached."""
    rows = {}
    for name, what in contenders.items():
        rows[name] = {"options": what[1]}
        if part == "count":  # memory is measured with nobody else there
            with contender(*what) as alone:
                rows[name]["memory"] = round(alone.answer()["memory"], 1)
    with contextlib.ExitStack() as stack:
        turns = []
        for name, what in contenders.items():
            turns.append((name, stack.enter_context(contender(*what))))
        for name, player in turns:
            rows[name] |= {"arrays": player.answer()["arrays"]}
            rows[name] |= {"speed": [], "others": []}
        # A disturbed column may take twice as long, and no longer.
        spare = len(turns) * rounds if run.publish else 0
        for _ in range(rounds):
            for name, player in turns:
                speed, others = play(player, run.seconds)
                while others > common.DISTURBED and spare:
                    spare -= 1
                    again = play(player, run.seconds)
                    if again[1] < others:
                        speed, others = again
                rows[name]["speed"].append(round(speed, 2))
                rows[name]["others"].append(round(others, 2))
            turns.append(turns.pop(0))
    return rows


def play(player, seconds):
    """A contender's steps a second, and the cores that others took."""
    others = common.Others()
    return player.play(seconds), others.cores()


def main():
    parser = common.Parser(__doc__)
    positive = common.positive
    add = parser.add_argument
    add("parts", nargs="*", metavar="PART", help="what to measure; none: all")
    add("--rounds", type=positive(int), default=9, help="of each part")
    seconds = "a round's, of each contender"
    add("--seconds", type=positive(float), default=0.4, help=seconds)
    add("--games", type=positive(int), default=8, help="in a batch")
    parser.add_publish()
    run = parser.parse_args()
    unknown = set(run.parts) - set(PARTS)
    if unknown:
        parser.error(
            f"no such part: {', '.join(sorted(unknown))}; "
            f"there are {', '.join(PARTS)}"
        )
    parser.need("psutil", "cv2", "envpool", "stable_baselines3")
    path = common.target("benchmark.json", run.publish)
    data = common.read(path)
    machine = common.machine()
    parts = run.parts or list(PARTS)
    if data.get("machine", machine) != machine:
        if run.publish and set(parts) < set(PARTS):
            parser.error(
                f"{path.name} is of another machine or other versions: "
                "measure all parts"
            )
        data = {}
    data["machine"] = machine
    if "tune" not in data and "tune" not in parts:
        parts.insert(0, "tune")
    for part in parts:
        if run.publish:
            parser.must_be_quiet()
        data[part] = measure(part, run, data)
        common.write(path, data)


if __name__ == "__main__":
    main()
