"""Measure how long workers take to start, and their memory, beside PyTorch.

    pip install -r requirements.txt --group measure
    python measure/starts.py --publish   # 2 minutes

The program has imported PyTorch. `Games(8)` is started until each game has
answered its first reset, and then once more. Under "preload" the forkserver
has imported PyTorch and what game.py needs.
"""

import multiprocessing
import time
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from statistics import median

import psutil
import torch  # as a program that trains does

import common
from game import Games

ROUNDS = 3
METHODS = ["fork", "forkserver", "preload"]
PRELOAD = [torch.__name__, "ale_py", "cv2", "gymnasium.vector"]


def start_games(context: str) -> tuple[float, float]:
    """Start `Games(8)`; return the seconds, and the memory of a worker."""
    start = time.perf_counter()
    with Games(8, context=context) as games:
        games.reset()
        seconds = time.perf_counter() - start
        own = [
            psutil.Process(worker.pid).memory_full_info().uss / 2**20
            for worker in multiprocessing.active_children()
        ]
    return seconds, median(own)


def start(method: str) -> dict[str, float]:
    """Start games in this program; return what it took."""
    context = method
    if method == "preload":
        context = "forkserver"
        multiprocessing.set_forkserver_preload(PRELOAD)
    first, memory = start_games(context)
    later, _ = start_games(context)
    return {
        "first": round(first, 2),
        "later": round(later, 2),
        "memory": round(memory),
    }


def start_anew(method: str) -> dict[str, float]:
    """Do so in a program of its own, some times; return the medians."""
    rounds = []
    for _ in range(ROUNDS):
        spawn = multiprocessing.get_context("spawn")
        with ProcessPoolExecutor(1, spawn) as program:
            rounds.append(program.submit(start, method).result())
        print(method, rounds[-1], flush=True)
    return {key: median(one[key] for one in rounds) for key in rounds[0]}


def main() -> None:
    run = common.options(__doc__).parse_args()
    parts = {method: partial(start_anew, method) for method in METHODS}
    common.measure(run, "starts", parts)


if __name__ == "__main__":
    main()
