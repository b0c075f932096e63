"""Measure `Games` beside those that play all games in one process, and longer.

    pip install -r requirements.txt --group measure
    python measure/single.py --publish      # 45 minutes
    python measure/single.py lockstep       # a minute

Those are SB3's `DummyVecEnv`, its default, and Gymnasium's `SyncVectorEnv`,
as CleanRL takes it. Rounds and turns are benchmark.py's. The parts, whose
results go to single.json:

- lockstep: they and those that have a process for each game, on four titles
- long: Breakout alone, beside all that wait for each batch, for half a minute
  at a time: a speed that lasts. On another machine it was measured again, and
  kept as single_xeon.json
- one: as long, with `Games` in a single process, too: what wrappers cost
- each: as long, with a worker for each game, with and without shared memory
"""

import common
from benchmark import (
    ROUNDS,
    SECONDS,
    TITLES,
    best_threads,
    setup,
    table,
    take_turns,
)
from ratios import ENGINES

CONTENDERS = "limit", "games", "sb3", "sb3_single"
CONTENDERS += "gymnasium", "gymnasium_single"
MORE = "worker", *ENGINES
ONE = "games_single", "sb3_single", "gymnasium_single"
EACH = "games", "games_each", "worker"
PARTS = ["lockstep", "long", "one", "each"]
LONG, TUNING = 30, 2  # seconds of a round


def measure(part, data):
    """Whole games in lockstep."""
    if part == "long":
        engines = table("tune", {})
        tuned = {
            name: take_turns(engines[name], ROUNDS, TUNING) for name in ENGINES
        }
        threads = best_threads({"columns": tuned})
        names, titles, seconds = (*CONTENDERS, *MORE), ["Breakout"], LONG
    elif part in ("one", "each"):
        names = {"one": ONE, "each": EACH}[part]
        threads, titles, seconds = {}, ["Breakout"], LONG
    else:
        threads, names, titles, seconds = {}, CONTENDERS, TITLES, SECONDS
    columns = {}
    for title in titles:
        players = {
            name: setup(name, threads.get(name, 0), game=title)
            for name in names
        }
        columns[title] = take_turns(players, ROUNDS, seconds)
    return {"rounds": ROUNDS, "seconds": seconds, "columns": columns}


def main():
    common.measure(__doc__, "single.json", PARTS, measure)


if __name__ == "__main__":
    main()
