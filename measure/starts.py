"""Measure how long the workers of `Games(8)` take to start, and their memory.

    pip install -r requirements.txt --group measure
    python measure/starts.py --publish   # 2 minutes

The programs take turns. Each makes two games on two workers, one after the
other: the first also starts the forkserver, which stays.

- forkserver: a program that imports nothing else
- torch: one that imports PyTorch at its top, as each of its workers then does
- preload: the same, where the forkserver imports it once for all workers
- fork: a program that imports nothing else, and is forked
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
{imports}
from games import Games

if __name__ == "__main__":
    {begin}
    seconds = []
    for _ in range(2):
        start = time.perf_counter()
        games = Games(8, processes=2, context="{context}")
        games.reset()
        seconds.append(time.perf_counter() - start)
        worker = multiprocessing.active_children()[0]
        memory = psutil.Process(worker.pid).memory_full_info().uss
        games.close()
    print(json.dumps([*seconds, memory / 2**20]))
"""
PLAIN = {"imports": "", "begin": "", "context": "forkserver"}
TORCH = PLAIN | {"imports": "import torch"}
MODULES = ["torch", "ale_py", "cv2", "gymnasium.vector"]
PRELOAD = f"multiprocessing.set_forkserver_preload({MODULES})"
PROGRAMS = {
    "forkserver": PLAIN,
    "torch": TORCH,
    "preload": TORCH | {"begin": PRELOAD},
    "fork": PLAIN | {"context": "fork"},
}


def start(parts: dict[str, str]) -> list[float]:
    """Run a program; return two times in seconds, and a worker's MB."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "program.py")
        path.write_text(PROGRAM.format_map(parts), "utf-8")
        modules = {"PYTHONPATH": str(common.ROOT)}
        command = [sys.executable, path]
        printed = subprocess.check_output(command, env=os.environ | modules)
    return json.loads(printed)


def measure(rounds: int) -> dict[str, Any]:
    """Let the programs take turns; return what each found, round by round."""
    rows: dict[str, dict[str, list]] = {
        name: {"first": [], "later": [], "memory": []} for name in PROGRAMS
    }
    for _ in range(rounds):
        for name, parts in PROGRAMS.items():
            found = start(parts)
            for values, value in zip(rows[name].values(), found, strict=True):
                values.append(round(value, 2))
    return {"rows": rows}


def main() -> None:
    parser = common.options(__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    run = parser.parse_args()
    common.measure(run, "starts", {"Breakout": lambda: measure(run.rounds)})


if __name__ == "__main__":
    main()
