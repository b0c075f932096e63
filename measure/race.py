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
from typing import Any

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


def play(games: Games, times: Any) -> list[np.ndarray]:
    """Play a round; return the steps of its second half.

    A step has ten spans: when the program sent the actions, when each game
    was at work, and when the program made its answer of theirs.
    """
    found = []
    for _ in range(2 * STEPS):
        actions = games.action_space.sample()
        start = time.perf_counter()
        games.step_async(actions)
        sent = time.perf_counter()
        games.step_wait()
        end = time.perf_counter()
        played = np.array(times).reshape(GAMES, 2)
        found.append(np.array([(start, sent), *played, (played.max(), end)]))
    return found[STEPS:]


def typical(steps: np.ndarray) -> dict[str, Any]:
    """The step nearest to the mean, in milliseconds since it began."""
    lengths = steps[:, -1, 1] - steps[:, 0, 0]
    step = steps[np.abs(lengths - lengths.mean()).argmin()]
    spans = (1000 * (step - step[0, 0])).round(3).tolist()
    return {"games": spans[1:-1], "program": [spans[0], spans[-1]]}


def record() -> dict[str, Any]:
    """Let both take turns; return the step of each."""
    found: dict[str, list[np.ndarray]] = {name: [] for name in PROCESSES}
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
    steps = {name: typical(np.array(each)) for name, each in found.items()}
    return {"steps": ROUNDS * STEPS} | steps


def main() -> None:
    run = common.options(__doc__).parse_args()
    common.measure(run, "race", {"step": record})


if __name__ == "__main__":
    main()
