"""Record a step of eight games, for the figure on the page that races.

    pip install -r requirements.txt --group measure
    python measure/race.py             # half a minute
    python measure/race.py --publish

A `Games` with a process for each game plays against one with a process for
each core. Both take turns. Of each the step of median length is kept, as
`page/data/race.json`: when each game began and ended its own step, and when
the program was at work itself, in milliseconds since the step began.
"""

import multiprocessing
import time
from contextlib import ExitStack

import numpy as np

import common
from contenders import rows
from game import Game, Games

GAMES = 8
PROCESSES = {"workers": GAMES, "games": None}  # None: one for each core
ROUNDS = 20
STEPS = 100  # of a round, after as many that aren't timed
OPTIONS = dict(on_life_loss="ignore")


class Clocked(Game):
    """Says when each of its steps began and ended."""

    def __init__(self, seed, env_id, times, **options):
        super().__init__(seed, env_id, **options)
        self._times = np.frombuffer(times).reshape(GAMES, 2)[seed]

    def step(self, action):
        start = time.perf_counter()
        result = super().step(action)
        self._times[:] = start, time.perf_counter()
        return result


def timed(games, actions):
    """Make a step; return when the program was at work."""
    start = time.perf_counter()
    games.step_async(actions)
    sent = time.perf_counter()
    for pipe in games.pipes:
        multiprocessing.connection.wait([pipe])
    back = time.perf_counter()
    games.step_wait()
    return [(start, sent), (back, time.perf_counter())]


def play(games, times, actions):
    """Play a round; return each step's times, those of the games first."""
    for _ in range(STEPS):
        timed(games, next(actions))
    found = []
    for _ in range(STEPS):
        busy = timed(games, next(actions))
        found.append((np.array(times).reshape(GAMES, 2), np.array(busy)))
    return found


def median(steps):
    """The step of median length, in milliseconds since it began."""
    ordered = sorted(steps, key=lambda it: it[1][-1, 1] - it[1][0, 0])
    games, program = ordered[len(ordered) // 2]
    start = program[0, 0]
    return {
        name: (1000 * (part - start)).round(3).tolist()
        for name, part in (("program", program), ("games", games))
    }


def record():
    """Let both take turns; return the step of each."""
    found = {name: [] for name in PROCESSES}
    with ExitStack() as stack:
        sides = {}
        for name, processes in PROCESSES.items():
            times = multiprocessing.RawArray("d", 2 * GAMES)
            games = Games(
                GAMES,
                make=Clocked,
                times=times,
                processes=processes,
                **OPTIONS,
            )
            sides[name] = stack.enter_context(games), times
            games.reset()
        actions = rows("Breakout", GAMES)
        for _ in range(ROUNDS):
            for name, (games, times) in sides.items():
                found[name] += play(games, times, actions)
    return {name: median(steps) for name, steps in found.items()}


def main():
    run = common.options(__doc__).parse_args()
    if run.publish:
        common.must_be_quiet()
    told = {"machine": common.machine(), "steps": ROUNDS * STEPS}
    folder = common.ROOT / "page/data" if run.publish else common.RUNS
    folder.mkdir(parents=True, exist_ok=True)
    common.write(folder / "race.json", common.when() | told | record())


if __name__ == "__main__":
    main()
