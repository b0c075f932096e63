"""Where results go, and when they may be published.

Every script of this folder writes into `runs/`, which git ignores. Only with
`--publish` does it write to `measure/results/`, and that is refused while the
machine has other work to do.
"""

import argparse
import contextlib
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
RESULTS = HERE / "results"
RUNS = ROOT / "runs"
DOCS = ROOT / "docs"
README = ROOT / "README.md"
CORES = len(os.sched_getaffinity(0))
PACKAGES = "ale-py envpool gymnasium numpy opencv-python stable_baselines3"

# A machine counts as quiet if others take less than a quarter of it when a
# script wants all of it. Who comes a moment too early is waited for.
QUIET = CORES / 4  # cores
LOOK = 2  # seconds to look at the machine

# Even then others come and go. What was measured while they took more than
# this is measured again, a few times at most.
DISTURBED = 0.15  # cores
PATIENCE = 120  # seconds to wait for a quiet one


class Parser(argparse.ArgumentParser):
    """A parser with defaults in its help, and errors of a single line."""

    def __init__(self, description):
        super().__init__(description=description, formatter_class=Formatter)

    def error(self, message):
        self.exit(2, f"{self.prog}: {message}\n")

    def need(self, *packages):
        """End with a line if one of the packages is not installed."""
        missing = [p for p in packages if not importlib.util.find_spec(p)]
        if missing:
            self.error(
                f"{', '.join(missing)} is missing: pip install "
                "-r requirements.txt -r measure/peers.txt"
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


class Formatter(
    argparse.ArgumentDefaultsHelpFormatter,
    argparse.RawDescriptionHelpFormatter,
):
    """The description as it is written, and defaults beside the options."""


def positive(kind):
    """A type of arguments: numbers of that kind, above 0."""

    def check(text):
        value = kind(text)
        if value <= 0:
            raise ValueError
        return value

    check.__name__ = f"{kind.__name__} above 0"
    return check


def busy_cores():
    """How many cores other programs take while this one wants them all."""
    command = [sys.executable, "-c", "while True: pass"]
    spinning = [subprocess.Popen(command) for _ in range(CORES)]
    try:
        others = Others({os.getpid()} | {each.pid for each in spinning})
        time.sleep(LOOK)
        return others.cores()
    finally:
        for each in spinning:
            each.kill()
            each.wait()


class Others:
    """What other programs take of the processor from now on."""

    def __init__(self, family):
        self.family = family
        self.start, self.before = time.monotonic(), self.seconds()

    def cores(self):
        """How many cores the others have kept busy."""
        seconds = self.seconds() - self.before
        return max(0, seconds / (time.monotonic() - self.start))

    def seconds(self):
        """The time of all processes that are not of the family, and of their
        children that have ended."""
        ticks = 0
        for path in pathlib.Path("/proc").glob("[0-9]*/stat"):
            if int(path.parent.name) not in self.family:
                # Processes end while one looks at them.
                with contextlib.suppress(OSError):
                    fields = path.read_text("utf-8").rpartition(")")[2].split()
                    ticks += sum(map(int, fields[11:15]))
        return ticks / os.sysconf("SC_CLK_TCK")


def family():
    """This process, and those that it has started, and so on."""
    import psutil

    me = psutil.Process()
    return {me.pid} | {each.pid for each in me.children(recursive=True)}


# ## What was measured, and on what


def machine():
    """The machine and the versions."""
    cpu = re.findall(
        r"model name\s*: (.*)", pathlib.Path("/proc/cpuinfo").read_text()
    )
    return {
        "processor": cpu[0] if cpu else platform.machine(),
        "cores": CORES,
        "python": platform.python_version(),
        "versions": {
            name: metadata.version(name) for name in PACKAGES.split()
        },
    }


def today():
    return datetime.date.today().isoformat()


def commit(path="game.py"):
    """The commit that changed a file last, and whether it was changed since.

    "unknown" where there is no git, or the folder isn't a repository.
    """

    def git(*command):
        return subprocess.run(
            ["git", *command, "--", path],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=True,
        ).stdout.strip()

    try:
        last = git("log", "-1", "--format=%h")
        changed = git("status", "--porcelain")
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return f"{last} and changes" if changed else last


# ## Files


def target(kind, name, publish):
    """The file for results: published, or of a run of one's own."""
    path = RESULTS / name if publish else RUNS / kind / name
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


def read(path):
    return json.loads(path.read_text("utf-8")) if path.exists() else {}


def write(path, data):
    """Write JSON that can be read: a list of numbers stays on a line."""
    text = json.dumps(data, indent=1)
    text = re.sub(r"\[[^][{}]+\]", lambda m: " ".join(m[0].split()), text)
    path.write_text(text + "\n", "utf-8")


def table(head, *body):
    """The lines of a Markdown table."""
    lines = [f"| {' | '.join(row)} |" for row in (head, *body)]
    return "\n".join([lines[0], "| --- " * len(head) + "|", *lines[1:]])


def put(readme, name, text):
    """Write `text` between README's marks of that name."""
    start, end = f"<!-- {name} -->", f"<!-- /{name} -->"
    old = readme.read_text("utf-8")
    if start not in old or end not in old:
        raise SystemExit(f"{readme.name} has no {start} … {end}")
    before, after = old.split(start)[0], old.split(end)[1]
    new = f"{before}{start}\n\n{text}\n\n{end}{after}"
    readme.write_text(new, "utf-8")
