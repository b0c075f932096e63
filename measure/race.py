"""Record a step of eight games, for the figure on the page that races.

    pip install -r requirements.txt --group measure
    python measure/race.py             # half a minute
    python measure/race.py --publish

Eight `Worker`, one process and one pipe for each game, play against a `Games`
with a process for each core. Both take turns. Of each the step of median
length is kept, as `page/data/race.json`: when each game began and ended its
own step, and when the program was at work itself, in milliseconds since the
step began.
"""

import multiprocessing
import time
from contextlib import ExitStack

import numpy as np

import common
from contenders import rows
from game import Game, Games, Worker

GAMES = 8
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


def with_workers(workers, actions):
    """Step a process for each game; return when the program was at work."""
    start = time.perf_counter()
    for worker, action in zip(workers, actions, strict=True):
        worker.child.send(("step", action))
    busy = [(start, time.perf_counter())]
    observations = []
    for worker in workers:
        multiprocessing.connection.wait([worker.child])
        start = time.perf_counter()
        observations.append(worker.child.recv()[0])
        busy.append((start, time.perf_counter()))
    start = time.perf_counter()
    np.stack(observations)
    return [*busy, (start, time.perf_counter())]


def with_games(games, actions):
    """The same with a process for each core."""
    start = time.perf_counter()
    games.step_async(actions)
    busy = [(start, time.perf_counter())]
    for pipe in games.pipes:
        multiprocessing.connection.wait([pipe])
    start = time.perf_counter()
    games.step_wait()
    return [*busy, (start, time.perf_counter())]


def play(step, players, times, actions):
    """Play a round; return each step's times, those of the games first."""
    for _ in range(STEPS):
        step(players, next(actions))
    found = []
    for _ in range(STEPS):
        busy = step(players, next(actions))
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
    sides = {"workers": [], "games": []}
    with ExitStack() as stack:
        times = {
            name: multiprocessing.RawArray("d", 2 * GAMES) for name in sides
        }
        options = dict(make=Clocked, times=times["workers"], **OPTIONS)
        workers = [
            stack.enter_context(Worker(seed, **options))
            for seed in range(GAMES)
        ]
        for worker in workers:
            worker.child.send(("reset", None))
        for worker in workers:
            worker.child.recv()
        options |= dict(times=times["games"])
        games = stack.enter_context(Games(GAMES, **options))
        games.reset()
        actions = rows("Breakout", GAMES)
        for _ in range(ROUNDS):
            for name, step, players in (
                ("workers", with_workers, workers),
                ("games", with_games, games),
            ):
                sides[name] += play(step, players, times[name], actions)
    return {name: median(steps) for name, steps in sides.items()}


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
