"""Record a step of eight games, for the figure on the page that races.

    pip install -r requirements.txt --group measure
    python measure/race.py             # two minutes
    python measure/race.py --publish

A `Games` with a process for each game plays against one with a process for
each core. Both take turns, and in both the published agent chooses the
actions, while all workers wait. Of each the step nearest to the mean is kept,
as `page/data/race.json`: when each game began and ended its own step, and
when the program was at work itself, in milliseconds since the step began.
"""

import multiprocessing
import time
from contextlib import ExitStack

import numpy as np

import common
from contenders import choose
from game import Game, Games

GAMES = 8
PROCESSES = {"workers": GAMES, "games": None}  # None: one for each core
ROUNDS = 60
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


def play(games, times, obs):
    """Play a round; return each step's times, and the last observations.

    Of a step come the times of the games, then those of the program.
    """
    found = []
    for _ in range(2 * STEPS):
        actions = choose(obs)
        start = time.perf_counter()
        games.step_async(actions)
        sent = time.perf_counter()
        obs, *_ = games.step_wait()
        end = time.perf_counter()
        played = np.array(times).reshape(GAMES, 2)
        found.append((played, np.array([(start, sent), (played.max(), end)])))
    return found[STEPS:], obs


def typical(steps):
    """The step nearest to the mean, in milliseconds since it began."""
    long = np.array([program[-1, 1] - program[0, 0] for _, program in steps])
    games, program = steps[np.abs(long - long.mean()).argmin()]
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
        seen = {name: games.reset()[0] for name, (games, _) in sides.items()}
        for _ in range(ROUNDS):
            for name, (games, times) in sides.items():
                steps, seen[name] = play(games, times, seen[name])
                found[name] += steps
    return {name: typical(steps) for name, steps in found.items()}


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
