"""What the instruments share: options, a quiet machine, files of results.

Every instrument writes to `runs/measure`, which git ignores. Only with
`--publish` does it write to `measure/results`, and what is timed is refused
while the machine has other work to do.
"""

import argparse
import datetime
import json
import os
import pathlib
import platform
import re
import subprocess
import sys
import time
from importlib import metadata

import psutil
import torch

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent
RESULTS = ROOT / "measure/results"
RUNS = ROOT / "runs/measure"
# Modules of the other rooms are imported by name.
sys.path[:0] = [str(ROOT / room) for room in ("", "examples", "page")]

CORES = len(os.sched_getaffinity(0))
# OpenCV has a name for each of its builds.
OPENCV = metadata.packages_distributions()["cv2"][0]
PACKAGES = f"ale-py envpool gymnasium numpy {OPENCV} stable_baselines3"

# A machine counts as quiet if other programs take less than a quarter of it.
QUIET = CORES / 4  # cores
LOOK = 5  # seconds to look at the machine


def options(description):
    """A parser of an instrument's options."""
    result = argparse.ArgumentParser(
        description=description,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    to = "write to measure/results, not to runs/measure"
    result.add_argument("--publish", action="store_true", help=to)
    return result


def measure(description, name, parts, call):
    """Measure some parts, or all, by `call(part, data)`.

    Each replaces what the file has of it. What the file has of another machine
    is dropped.
    """
    mine = options(description)
    mine.add_argument("parts", nargs="*", help="none: all of them")
    run = mine.parse_args()
    path = target(name, run.publish)
    data = read(path)
    if data.get("machine") != machine():
        data = {"machine": machine()}
    for part in run.parts or parts:
        if run.publish:
            must_be_quiet()
        data[part] = when() | call(part, data)
        write(path, data)


# The machine


def others():
    """Seconds of processor time that other programs have taken so far.

    Others are all processes but this one and those that it has started.
    """
    me = psutil.Process()
    family = [me, *me.children(recursive=True)]
    times = [
        process.info["cpu_times"]
        for process in psutil.process_iter(["cpu_times"])
        if process not in family
    ]
    # user and system time, of a process and of its ended children
    return sum(sum(each[:4]) for each in times if each)


def watched(call, *args):
    """Call; return the result, and how many cores others took meanwhile."""
    before, start = others(), time.monotonic()
    result = call(*args)
    spent = others() - before
    return result, max(0, spent / (time.monotonic() - start))


def must_be_quiet():
    """End with a line if others are at work on this machine."""
    _, busy = watched(time.sleep, LOOK)
    if busy > QUIET:
        sys.exit(
            f"{busy:.2f} of {CORES} cores are busy with other work, at most "
            f"{QUIET:.2f} were expected: nothing is published"
        )


def machine(packages=PACKAGES):
    """The machine and the versions."""
    cpu = pathlib.Path("/proc/cpuinfo").read_text()
    found = re.search(r"model name\s*: (.*)", cpu)
    versions = {name: metadata.version(name) for name in packages.split()}
    return {
        "processor": found[1] if found else platform.machine(),
        "cores": CORES,
        "python": platform.python_version(),
        "versions": versions,
    }


def today():
    return datetime.date.today().isoformat()


def when():
    """The date, the commit that changed game.py last, and whether it was
    changed since."""
    last = git("log", "-1", "--format=%h", "--", "game.py")
    changed = git("diff", "HEAD", "--", "game.py")
    commit = f"{last} and changes" if changed else last
    return {"date": today(), "commit": commit}


def git(*command):
    answer = subprocess.check_output(["git", *command], cwd=ROOT, text=True)
    return answer.strip()


# Files


def weights():
    """Those of the published agent."""
    return torch.load(ROOT / "examples/breakout.pt", "cpu")


def target(name, publish):
    """The file for results: published, or of a run of one's own."""
    path = (RESULTS if publish else RUNS) / name
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


def read(path):
    return json.loads(path.read_text("utf-8")) if path.exists() else {}


def write(path, data):
    """Write JSON that can be read: a list of numbers stays on a line."""
    text = json.dumps(data, indent=1)
    text = re.sub(r"\[[^][{}]+\]", lambda m: " ".join(m[0].split()), text)
    path.write_text(text + "\n", "utf-8")
