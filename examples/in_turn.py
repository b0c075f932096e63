"""Several `Games` in turn: some play while a network looks at another's.

    pip install -r requirements.txt
    python examples/in_turn.py

It pays if the network runs on a device, or leaves cores free; an update of PPO
gains nothing by it. Here the "network" only waits, as a program does for a
GPU. Prints the steps a second of one `Games` in lockstep, of two in turn, and
of several of one process each, whichever is ready first.
"""

import contextlib
import itertools
import multiprocessing
import os
import pathlib
import sys
import time
from collections.abc import Callable, Iterator
from multiprocessing import connection

import numpy as np

# In this repository game.py is one folder up; in a copy it is beside.
if not pathlib.Path(__file__).with_name("game.py").exists():
    sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))
from games import Games, count_cores

Order = Callable[[list[Games]], Iterator[Games]]  # whose turn it is

NUM_ENVS = 8  # of each `Games`
NETWORK = 0.0015  # seconds for a batch
SECONDS = 3  # to play each way


def ready_first(fleet: list[Games]) -> Iterator[Games]:
    """Yield `Games` of one process each as their steps are done, for ever."""
    while True:
        # Looked up each time: a worker that was replaced has a new pipe. The
        # pipe of one that died is ready, too, and `step_wait` replaces it.
        owners = {games.pipes[0]: games for games in fleet}
        # All that are ready have their turn before anybody has a second one.
        for pipe in connection.wait(owners):
            yield owners[pipe]


def give_way() -> None:
    """Let all processes begun so far, the workers, give way to everybody else.

    This program would otherwise wait for a core when the network is done. But
    beside others that compute on all cores the workers then hardly play.
    """
    # Other systems don't have this, and some don't allow it.
    with contextlib.suppress(AttributeError, OSError):
        for worker in multiprocessing.active_children():
            assert worker.pid
            param = os.sched_param(0)
            os.sched_setscheduler(worker.pid, os.SCHED_IDLE, param)


def choose(games: Games, obs: np.ndarray) -> np.ndarray:
    """Stand for a network: wait, and choose an action for each game."""
    time.sleep(NETWORK)
    return games.action_space.sample()


def play(order: Order, count: int, processes: int | None) -> float:
    """Play so many `Games` in this order, and return the steps a second."""
    with contextlib.ExitStack() as stack:
        fleet = []
        for i in range(count):
            games = Games(NUM_ENVS, seed=i * NUM_ENVS, processes=processes)
            fleet.append(stack.enter_context(games))
        first = [games.reset()[0] for games in fleet]
        give_way()
        for games, obs in zip(fleet, first, strict=True):
            games.step_async(choose(games, obs))
        steps = 0
        start = time.perf_counter()
        for games in order(fleet):
            # `step_wait` waits for these games alone, and `step_async` doesn't
            # wait: the others are played all the while. With one `Games` there
            # are no others: lockstep.
            obs, rewards, terminated, truncated, infos = games.step_wait()
            games.step_async(choose(games, obs))
            steps += NUM_ENVS
            spent = time.perf_counter() - start
            if spent > SECONDS:
                break
        return steps / spent


def main() -> None:
    # One plays on each core, the others wait ready.
    many = count_cores() + 3
    ways: list[tuple[str, Order, int, int | None]] = [
        ("one in lockstep", itertools.cycle, 1, None),
        ("two in turn", itertools.cycle, 2, None),
        (f"{many}, ready first", ready_first, many, 1),
    ]
    for name, order, count, processes in ways:
        speed = play(order, count, processes)
        print(f"{name}: {speed:,.0f} steps/s", flush=True)


if __name__ == "__main__":
    main()
