"""What the instruments share: options, a quiet machine, files of results.

    python -m pip install --upgrade pip    # groups need 25.1 or newer
    pip install -r requirements.txt --group measure
    python measure/benchmark.py lockstep              # on Linux only
    python measure/benchmark.py lockstep --publish
    python page/build.py                              # texts, by what there is

A result is `results/MACHINE/NAME.json`, a dict of parts; each says on what and
when it was measured, and with which commit of game.py. An instrument prints
it, and writes it with `--publish`. What is timed isn't published from a busy
machine, and nothing by a game.py that isn't committed. A part that is measured
again replaces itself, and no other machine's.
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
from collections.abc import Callable, Mapping
from importlib import metadata
from typing import Any

import psutil

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent
RESULTS = HERE / "results"
# Modules of the other rooms are imported by name.
sys.path[:0] = [str(ROOT), str(ROOT / "examples")]

CORES = len(os.sched_getaffinity(0))
PACKAGES = [
    "ale-py",
    "envpool",
    "gymnasium",
    "numpy",
    "stable_baselines3",
    "torch",
]

# A machine is quiet if other programs take less than a quarter of it.
QUIET = CORES / 4  # cores
LOOK = 5  # seconds to look at the machine


def options(description: str | None) -> argparse.ArgumentParser:
    """A parser of an instrument's options."""
    result = argparse.ArgumentParser(
        description=description,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    result.add_argument(
        "--publish", action="store_true", help="write to measure/results"
    )
    return result


def processor() -> str:
    """The name of the processor, without what says nothing."""
    cpu = pathlib.Path("/proc/cpuinfo").read_text()
    found = re.search(r"model name\s*: (.*)", cpu)
    name = found[1] if found else platform.machine()
    return re.sub(r"\(R\)|\(TM\)|Processor|CPU|@.*", "", name).strip()


def folder() -> pathlib.Path:
    """The folder of this machine's results."""
    name = f"{processor()} {CORES} cores"
    return RESULTS / re.sub("[^a-z0-9]+", "-", name.lower())


def about() -> dict[str, Any]:
    """When, on what and with what something is measured."""
    versions = {name: metadata.version(name) for name in PACKAGES}
    return {
        "processor": processor(),
        "cores": CORES,
        "python": platform.python_version(),
        "versions": versions,
        "date": datetime.date.today().isoformat(),
        "commit": commit(),
    }


def commit() -> str:
    """The last one that changed game.py, which must not have changed since."""
    if git("diff", "HEAD"):
        sys.exit("game.py isn't committed: nothing is published")
    return git("log", "-1", "--format=%h")


def git(*arguments: str) -> str:
    """Ask Git about game.py."""
    command = ["git", *arguments, "--", "game.py"]
    return subprocess.check_output(command, cwd=ROOT, text=True).strip()


def write_part(path: pathlib.Path, part: str, data: Mapping[str, Any]) -> None:
    """Write a part of a result in place of what the file has of it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    result = json.loads(path.read_text("utf-8")) if path.exists() else {}
    result[part] = about() | dict(data)
    text = json.dumps(result, indent=1)
    # A list of numbers stays on a line.
    text = re.sub(r"\[[^][{}]+\]", lambda m: " ".join(m[0].split()), text)
    path.write_text(text + "\n", "utf-8")


def measure(
    run: argparse.Namespace,
    instrument: str,
    parts: Mapping[str, Callable[[], Mapping[str, Any]]],
    timed: bool = True,
) -> None:
    """Measure the parts, and print each of them when it is done, or write it.

    `parts` maps the name of a part to a function that returns its data. What
    is `timed` is published from a quiet machine alone.
    """
    for part, call in parts.items():
        if run.publish:
            commit()
            if timed:
                must_be_quiet()
        data = call()
        print(part, data, flush=True)
        if run.publish:
            write_part(folder() / f"{instrument}.json", part, data)


def busy_seconds() -> float:
    """For how long cores have been busy so far, or taken by other hosts."""
    times = psutil.cpu_times()
    return sum(times) - times.idle - times.iowait


def must_be_quiet() -> None:
    """End with a line if others are at work on this machine."""
    before = busy_seconds()
    time.sleep(LOOK)
    cores = (busy_seconds() - before) / LOOK
    if cores > QUIET:
        sys.exit(
            f"{cores:.2f} of {CORES} cores are busy with other work, at most "
            f"{QUIET:.2f} were expected: nothing is published"
        )
