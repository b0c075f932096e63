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

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent
RESULTS = ROOT / "measure/results"
RUNS = ROOT / "runs/measure"
# Modules of the other rooms are imported by name.
sys.path[:0] = [str(ROOT / room) for room in ("", "examples", "page")]

CORES = len(os.sched_getaffinity(0))
PACKAGES = "ale-py envpool gymnasium numpy opencv-python stable_baselines3"

# A machine counts as quiet if other programs take less than a quarter of it.
# Who comes a moment too early is waited for.
QUIET = CORES / 4  # cores
LOOK = 2  # seconds to look at the machine
LOOKS = 60

# Even then others come and go. What was measured while they took more than
# this is measured again, a few times at most.
DISTURBED = 0.15  # cores
TRIES = 3


def options(description, parts=()):
    """A parser of an instrument's options: `--publish`, and its parts."""
    parser = argparse.ArgumentParser(
        description=description,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    to = "write to measure/results, not to runs/measure"
    parser.add_argument("--publish", action="store_true", help=to)
    if parts:
        none = "none: all of them"
        add = parser.add_argument
        add(
            "parts", nargs="*", choices=[*parts, []], metavar="PART", help=none
        )
    return parser


# The machine


class Others:
    """What other programs take of the processor from now on.

    Others are all processes but this one and those that it has started.
    """

    def __init__(self):
        me = psutil.Process()
        self.family = {me.pid, *(p.pid for p in me.children(recursive=True))}
        self.start = time.monotonic()
        self.before = self.seconds()

    def seconds(self):
        times = [
            process.info["cpu_times"]
            for process in psutil.process_iter(["cpu_times"])
            if process.pid not in self.family
        ]
        # user and system time, of a process and of its ended children
        return sum(sum(each[:4]) for each in times if each)

    def cores(self):
        """How many cores the others have kept busy."""
        seconds = self.seconds() - self.before
        return max(0, seconds / (time.monotonic() - self.start))


def busy_cores():
    others = Others()
    time.sleep(LOOK)
    return others.cores()


def must_be_quiet():
    """End with a line if others go on working on this machine."""
    for _ in range(LOOKS):
        busy = busy_cores()
        if busy <= QUIET:
            return
    sys.exit(
        f"{busy:.2f} of {CORES} cores are busy with other work, at most "
        f"{QUIET:.2f} were expected: nothing is published"
    )


def undisturbed(measure):
    """Measure, and again while others are at work.

    Returns what was measured when they took the least, and how many cores
    they took.
    """
    tries = []
    while len(tries) < TRIES:
        others = Others()
        tries.append((measure(), others.cores()))
        if tries[-1][1] < DISTURBED:
            break
    return min(tries, key=lambda one: one[1])


def machine(packages=PACKAGES):
    """The machine and the versions."""
    cpu = pathlib.Path("/proc/cpuinfo").read_text()
    found = re.search(r"model name\s*: (.*)", cpu)
    return {
        "processor": found[1] if found else platform.machine(),
        "cores": CORES,
        "python": platform.python_version(),
        "versions": {
            name: metadata.version(name) for name in packages.split()
        },
    }


def today():
    return datetime.date.today().isoformat()


def when():
    """The date, the commit that changed game.py last, and whether it was
    changed since."""
    last, changed = (
        subprocess.run(
            ["git", *command, "--", "game.py"],
            cwd=ROOT,
            capture_output=True,
            text=True,
        ).stdout.strip()
        for command in (["log", "-1", "--format=%h"], ["diff", "HEAD"])
    )
    commit = f"{last} and changes" if changed else last
    return {"date": today(), "commit": commit}


# Files


def target(name, publish):
    """The file for results: published, or of a run of one's own."""
    path = (RESULTS if publish else RUNS) / name
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


def read(path):
    return json.loads(path.read_text("utf-8")) if path.exists() else {}


def kept(path, parts):
    """What a file has of the other parts, if it is of this machine."""
    data = read(path)
    if data.get("machine") == machine():
        return data
    if parts and path.parent == RESULTS:
        sys.exit(f"{path.name} is of another machine: measure all parts")
    return {"machine": machine()}


def write(path, data):
    """Write JSON that can be read: a list of numbers stays on a line."""
    text = json.dumps(data, indent=1)
    text = re.sub(r"\[[^][{}]+\]", lambda m: " ".join(m[0].split()), text)
    path.write_text(text + "\n", "utf-8")
