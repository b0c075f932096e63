"""Measure `Games` beside more of its peers, for longer, and on more cores.

    pip install -r requirements.txt --group measure
    python measure/single.py --publish      # an hour
    python measure/single.py lockstep       # a minute

Rounds and turns are benchmark.py's. The parts, whose results go to
single.json:

- lockstep: those that play all games in one process, SB3's `DummyVecEnv`, its
  default, and Gymnasium's `SyncVectorEnv`, as CleanRL takes it; and those
  that have a process for each game; on four titles
- long: Breakout alone, beside all that wait for each batch, for half a minute
  at a time: a speed that lasts. On another machine it was measured again, and
  kept as single_xeon.json, and as single_slow.json at an hour when it was slow
- one: as long, with `Games` in a single process, too: what wrappers cost
- each: as long, with a worker for each game, with and without shared memory
- cores: Breakout with 8 games and with 64, for a machine of many cores, beside
  all that wait for each batch. Of such a machine, kept as cores.json
- sticky: Breakout with sticky actions, where every reset is a true one. Of the
  other machine, kept as sticky.json
- titles: the other three titles of benchmark.py, for ten seconds at a time. Of
  the other machine, kept as titles.json
"""

import common
from benchmark import (
    GAMES,
    ROUNDS,
    SECONDS,
    TITLES,
    best_threads,
    setup,
    take_turns,
)
from ratios import ENGINES

CONTENDERS = "limit", "games", "sb3", "sb3_single"
CONTENDERS += "gymnasium", "gymnasium_single"
BREAKOUT = {"Breakout": {"game": "Breakout"}}
LONG, MIDDLE, SHORT, TUNING = 30, 10, 2, 1  # seconds of a round
# Of each part who plays, how its columns are set up, and seconds of a round.
PARTS = {
    "lockstep": (
        CONTENDERS,
        {title: {"game": title} for title in TITLES},
        SECONDS,
    ),
    "long": ((*CONTENDERS, "worker", *ENGINES), BREAKOUT, LONG),
    "one": (
        ("games_single", "sb3_single", "gymnasium_single"),
        BREAKOUT,
        LONG,
    ),
    "each": (("games", "games_each", "worker"), BREAKOUT, LONG),
    "cores": (
        ("limit", "games", *ENGINES, "gymnasium", "sb3"),
        {str(games): {"games": games} for games in (GAMES, 64)},
        SHORT,
    ),
    "sticky": (
        ("games", *ENGINES, "gymnasium", "sb3"),
        {"Breakout": {"sticky": True}},
        MIDDLE,
    ),
    "titles": (
        ("games", *ENGINES, "sb3"),
        {title: {"game": title} for title in TITLES if title not in BREAKOUT},
        MIDDLE,
    ),
}


def measure(part, data):
    """Whole games in lockstep."""
    names, setups, seconds = PARTS[part]
    columns = {}
    for column, how in setups.items():
        threads = {
            name: fastest(name, how) for name in names if name in ENGINES
        }
        players = {
            name: setup(name, threads.get(name), **how) for name in names
        }
        columns[column] = take_turns(players, ROUNDS, seconds)
        print(part, column, flush=True)
    return {"rounds": ROUNDS, "seconds": seconds, "columns": columns}


def fastest(name, how):
    """With how many threads an engine is fastest."""
    games = how.get("games", GAMES)
    most = {common.CORES, common.CORES * 3 // 2, common.CORES * 2, games}
    tried = sorted({min(threads, games) for threads in most})
    tuned = {f"{n} threads": setup(name, n, **how) for n in tried}
    rows = take_turns(tuned, ROUNDS, TUNING)
    return best_threads({"columns": {name: rows}})[name]


def main():
    common.measure(__doc__, "single.json", PARTS, measure)


if __name__ == "__main__":
    main()
