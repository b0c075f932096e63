"""Measure how long `Games(8)` takes to start, and the memory of a worker.

The programs take turns:

- forkserver: imports nothing else
- torch: imports PyTorch at its top, as each of its workers then does
- preload: the same, where the forkserver imports it once for all workers
- fork: imports nothing else, and is forked
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
from typing import Any

import common

PROGRAM = """
import json, multiprocessing, time
import psutil
{}
from games import Games

if __name__ == "__main__":
    {}
    start = time.perf_counter()
    with Games(8, processes=2, context="{}") as games:
        games.reset()
        seconds = time.perf_counter() - start
        worker = multiprocessing.active_children()[0]
        memory = psutil.Process(worker.pid).memory_full_info().uss
    print(json.dumps([round(seconds, 2), round(memory / 2**20)]))
"""
TORCH = "import torch"
MODULES = ["torch", "ale_py", "cv2", "gymnasium.vector"]
PRELOAD = f"multiprocessing.set_forkserver_preload({MODULES})"
# What each imports, what it does first, and its start method.
PROGRAMS = {
    "forkserver": ("", "", "forkserver"),
    "torch": (TORCH, "", "forkserver"),
    "preload": (TORCH, PRELOAD, "forkserver"),
    "fork": ("", "", "fork"),
}
ROUNDS = 5


def start(parts: tuple[str, ...]) -> list[float]:
    """Run a program; return its seconds, and a worker's memory in MB."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "program.py")
        path.write_text(PROGRAM.format(*parts), "utf-8")
        modules = {"PYTHONPATH": str(common.ROOT)}
        command = [sys.executable, str(path)]
        printed = subprocess.check_output(command, env=os.environ | modules)
    return json.loads(printed)


def measure() -> dict[str, Any]:
    """Let the programs take turns; return what each found, round by round."""
    rows: dict[str, Any] = {
        name: {"seconds": [], "memory": []} for name in PROGRAMS
    }
    for _ in range(ROUNDS):
        for name, parts in PROGRAMS.items():
            seconds, memory = start(parts)
            rows[name]["seconds"].append(seconds)
            rows[name]["memory"].append(memory)
    return {"rows": rows}


if __name__ == "__main__":
    run = common.options(__doc__).parse_args()
    common.measure(run, "starts", {"Breakout": measure})
