"""What the instruments share: options, turns, files of results.

    python -m pip install --upgrade pip    # groups need 25.1 or newer
    pip install -r requirements.txt --group measure
    python measure/benchmark.py lockstep              # on Linux only
    python measure/benchmark.py lockstep --publish
    python page/build.py                              # texts, by what there is

A result is `results/MACHINE/NAME.json`, a dict of parts; each says on what and
when it was measured, and with which commit of game.py and games.py. An
instrument prints it, and writes it with `--publish`, unless one of the two
isn't committed. A part that is measured again replaces itself, and no other
machine's.

Contenders take turns and are compared within a round, so that a machine that
slows down slows down for all. Measure on an idle one all the same.
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
from collections.abc import Callable, Mapping
from importlib import metadata
from typing import Any

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
    """The last one that changed what is measured."""
    if git("diff", "HEAD"):
        sys.exit("game.py or games.py isn't committed: nothing is published")
    return git("log", "-1", "--format=%h")


def git(*arguments: str) -> str:
    """Ask Git about game.py and games.py."""
    command = ["git", *arguments, "--", "game.py", "games.py"]
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
) -> None:
    """Measure the parts, and print each of them when it is done, or write it.

    `parts` maps the name of a part to a function that returns its data.
    """
    for part, call in parts.items():
        if run.publish:
            commit()
        data = call()
        print(part, data, flush=True)
        if run.publish:
            write_part(folder() / f"{instrument}.json", part, data)


def take_turns(
    players: Mapping[str, Callable[[], float]], rounds: int
) -> dict[str, list[float]]:
    """Let players play in turn, in an order that rotates.

    Returns what each of them reached, round by round.
    """
    found: dict[str, list[float]] = {name: [] for name in players}
    order = list(players)
    for _ in range(rounds):
        for name in order:
            found[name].append(round(players[name](), 1))
        order.append(order.pop(0))
    return found
