"""Measure `Games` beside those that play all games in one process.

    pip install -r requirements.txt --group measure
    python measure/single.py --publish      # a minute

These are SB3's `DummyVecEnv`, its default, and Gymnasium's `SyncVectorEnv`,
as CleanRL takes it. Beside them play those that have a process for each game.
Rounds and turns are benchmark.py's. Results go to single.json.
"""

import common
from benchmark import ROUNDS, SECONDS, TITLES, setup, take_turns

CONTENDERS = "limit", "games", "sb3", "sb3_single"
CONTENDERS += "gymnasium", "gymnasium_single"


def measure(part, data):
    """Whole games of each title in lockstep."""
    columns = {}
    for title in TITLES:
        players = {name: setup(name, 0, game=title) for name in CONTENDERS}
        columns[title] = take_turns(players, ROUNDS)
    return {"rounds": ROUNDS, "seconds": SECONDS, "columns": columns}


def main():
    common.measure(__doc__, "single.json", ["lockstep"], measure)


if __name__ == "__main__":
    main()
