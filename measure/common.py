"""What the instruments share: options, a quiet machine, files of results.

    python -m pip install --upgrade pip    # groups need 25.1 or newer
    pip install -r requirements.txt --group measure
    python measure/benchmark.py lockstep              # on Linux only
    python measure/benchmark.py lockstep --publish
    python page/build.py                              # texts, by what there is

A result is `results/MACHINE/NAME.json`, a dict of parts; each says on what and
when it was measured, with which commit of game.py, and, where contenders take
turns, how many cores others took in each round. An instrument prints it, and
writes it with `--publish`. What is timed isn't published from a busy machine,
and nothing by a game.py that isn't committed. A part that is measured again
replaces itself, and no other machine's.
"""

import argparse
import contextlib
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
from typing import Any, NamedTuple, TypeVar

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

T = TypeVar("T")


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
                _, cores = watched(lambda: time.sleep(LOOK))
                must_be_quiet(cores)
        data = call()
        print(part, data, flush=True)
        if run.publish:
            must_be_quiet(max(data.get("others", [0])))
            write_part(folder() / f"{instrument}.json", part, data)


# What others take


def busy_seconds() -> float:
    """For how long cores have been busy so far, or taken by other hosts."""
    times = psutil.cpu_times()
    return sum(times) - times.idle - times.iowait


def our_seconds() -> float:
    """For how long this program and its processes have worked so far."""
    process = psutil.Process()
    total = 0.0
    for one in [process, *process.children(recursive=True)]:
        with contextlib.suppress(psutil.NoSuchProcess):
            times = one.cpu_times()
            total += times.user + times.system
            # of those that have ended
            total += times.children_user + times.children_system
    return total


def watched(call: Callable[[], T]) -> tuple[T, float]:
    """Call it; return the result, and how many cores others took meanwhile."""
    start = time.perf_counter()
    before = busy_seconds() - our_seconds()
    result = call()
    taken = busy_seconds() - our_seconds() - before
    return result, taken / (time.perf_counter() - start)


def must_be_quiet(cores: float) -> None:
    """End with a line if others took too much of this machine."""
    if cores > QUIET:
        sys.exit(
            f"others took {cores:.2f} of {CORES} cores, at most {QUIET:.2f} "
            f"were expected: nothing is published"
        )


class Turns(NamedTuple):
    """What players reached, and how many cores others took, by round."""

    found: dict[str, list[float]]
    others: list[float]


def take_turns(
    players: Mapping[str, Callable[[], float]], rounds: int
) -> Turns:
    """Let players play in turn, in an order that rotates.

    A round in which the machine wasn't quiet is played again, as long as there
    aren't more of these than `rounds`.
    """
    found: dict[str, list[float]] = {name: [] for name in players}
    others: list[float] = []
    order = list(players)
    spare = rounds
    while len(others) < rounds:
        one, cores = watched(lambda: {name: players[name]() for name in order})
        order.append(order.pop(0))
        if cores > QUIET and spare > 0:
            spare -= 1
            continue
        others.append(round(cores, 2))
        for name, value in one.items():
            found[name].append(round(value, 1))
    return Turns(found, others)
