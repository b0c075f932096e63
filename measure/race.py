"""Record a step of eight games, for the figure that races.

    pip install -r requirements.txt --group measure
    python measure/race.py --publish   # two minutes

A `Games` with a process for each game plays random actions against one with a
process for each core. They take turns. Of each the step whose length is
nearest to the mean is kept: when each game began and ended its own step, and
when the program was at work itself, in milliseconds since the step began.
"""

import contextlib
import multiprocessing
import time
from typing import Any, NamedTuple

import numpy as np

import common
from game import FastGame, Games

GAMES = 8
PROCESSES = {"workers": GAMES, "games": None}  # None: one for each core
ROUNDS = 60
STEPS = 100  # of a round, after as many that aren't timed


class Clocked(FastGame):
    """Says when each of its steps began and ended."""

    def __init__(self, seed: Any, env_id: Any, *, times: Any, **options: Any):
        super().__init__(seed, env_id, **options)
        self._times = np.frombuffer(times).reshape(GAMES, 2)[seed]

    def step(self, action: Any) -> Any:
        start = time.perf_counter()
        result = super().step(action)
        self._times[:] = start, time.perf_counter()
        return result


class Step(NamedTuple):
    """From when to when each game and the program were at work."""

    games: np.ndarray  # (8, 2)
    program: np.ndarray  # (2, 2)

    @property
    def length(self) -> float:
        return self.program[-1, 1] - self.program[0, 0]


def play(games: Games, times: Any) -> list[Step]:
    """Play a round; return its second half."""
    found = []
    for _ in range(2 * STEPS):
        actions = games.action_space.sample()
        start = time.perf_counter()
        games.step_async(actions)
        sent = time.perf_counter()
        games.step_wait()
        end = time.perf_counter()
        played = np.array(times).reshape(GAMES, 2)
        program = np.array([(start, sent), (played.max(), end)])
        found.append(Step(played, program))
    return found[STEPS:]


def typical(steps: list[Step]) -> dict[str, Any]:
    """The step nearest to the mean, in milliseconds since it began."""
    mean = np.mean([step.length for step in steps])
    step = min(steps, key=lambda step: abs(step.length - mean))
    start = step.program[0, 0]
    return {
        name: (1000 * (part - start)).round(3).tolist()
        for name, part in step._asdict().items()
    }


def record() -> dict[str, Any]:
    """Let both take turns; return the step of each."""
    found: dict[str, list[Step]] = {name: [] for name in PROCESSES}
    with contextlib.ExitStack() as stack:
        sides = {}
        context = multiprocessing.get_context("fork")
        for name, processes in PROCESSES.items():
            times = context.RawArray("d", 2 * GAMES)
            games = Games(
                GAMES,
                make=Clocked,
                times=times,
                processes=processes,
                context=context,
            )
            stack.enter_context(games).reset()
            sides[name] = games, times
        for _ in range(ROUNDS):
            for name, (games, times) in sides.items():
                found[name] += play(games, times)
    steps = {name: typical(steps) for name, steps in found.items()}
    return {"steps": ROUNDS * STEPS} | steps


def main() -> None:
    run = common.options(__doc__).parse_args()
    common.measure(run, "race", {"step": record})


if __name__ == "__main__":
    main()
