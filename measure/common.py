"""What the instruments share: options, a quiet machine, files of results.

Every instrument writes to `runs/measure`, which git ignores. Only with
`--publish` does it write to `measure/results`, and what is timed is refused
while the machine has other work to do.
"""

import argparse
import datetime
import importlib.util
import json
import os
import pathlib
import platform
import re
import subprocess
import sys
import time
from importlib import metadata

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
PATIENCE = 120  # seconds to wait for a quiet one

# Even then others come and go. What was measured while they took more than
# this is measured again, a few times at most.
DISTURBED = 0.15  # cores


class Formatter(
    argparse.ArgumentDefaultsHelpFormatter,
    argparse.RawDescriptionHelpFormatter,
):
    """The description as it is written, and defaults beside the options."""


class Parser(argparse.ArgumentParser):
    """A parser with defaults in its help, and errors of a single line."""

    def __init__(self, description):
        super().__init__(description=description, formatter_class=Formatter)

    def add_publish(self):
        to = "write to measure/results, not to runs/measure"
        self.add_argument("--publish", action="store_true", help=to)

    def error(self, message):
        self.exit(2, f"{self.prog}: {message}\n")

    def need(self, *packages):
        """End with a line if one of the packages is not installed."""
        missing = [p for p in packages if not importlib.util.find_spec(p)]
        if missing:
            self.error(
                f"{', '.join(missing)} is missing: pip install "
                "-r requirements.txt --group measure"
            )

    def must_be_quiet(self):
        """End with a line if others are at work on this machine."""
        end = time.monotonic() + PATIENCE
        while (busy := busy_cores()) > QUIET:
            if time.monotonic() > end:
                self.error(
                    f"{busy:.2f} of {CORES} cores are busy with other work, "
                    f"at most {QUIET:.2f} were expected: nothing is published"
                )


def positive(kind):
    """A type of arguments: numbers of that kind, above 0."""

    def check(text):
        value = kind(text)
        if value <= 0:
            raise ValueError
        return value

    check.__name__ = f"{kind.__name__} above 0"
    return check


# The machine


class Others:
    """What other programs take of the processor from now on.

    Others are all processes but this one and those that it has started.
    """

    def __init__(self):
        import psutil

        me = psutil.Process()
        self.family = {me.pid, *(p.pid for p in me.children(recursive=True))}
        self.start = time.monotonic()
        self.before = self.seconds()

    def seconds(self):
        import psutil

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


def machine(packages=PACKAGES):
    """The machine and the versions."""
    path = pathlib.Path("/proc/cpuinfo")
    cpu = re.findall(r"model name\s*: (.*)", path.read_text())
    return {
        "processor": cpu[0] if cpu else platform.machine(),
        "cores": CORES,
        "python": platform.python_version(),
        "versions": {
            name: metadata.version(name) for name in packages.split()
        },
    }


def today():
    return datetime.date.today().isoformat()


def commit():
    """The commit that changed game.py last, and whether it was changed since.

    "unknown" where there is no git, or the folder isn't a repository.
    """
    words = []
    for command in ["log", "-1", "--format=%h"], ["status", "--porcelain"]:
        try:
            result = subprocess.run(
                ["git", *command, "--", "game.py"],
                cwd=ROOT,
                capture_output=True,
                text=True,
                check=True,
            )
        except (OSError, subprocess.CalledProcessError):
            return "unknown"
        words.append(result.stdout.strip())
    last, changed = words
    return f"{last} and changes" if changed else last


# Files


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
