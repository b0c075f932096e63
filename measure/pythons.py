"""Run README's two commands on other Pythons, as a newcomer would.

    python measure/pythons.py python3.10 python3.12 python3.13
    python measure/pythons.py --chroot /srv/sid

Each Python gets a fresh clone of the commit that is checked out and a virtual
environment of its own, and runs the two commands as they stand in README. What
it played and how many tests passed is written to runs/pythons/pythons.json, or
with --publish to measure/results/pythons.json, from which --report writes
README's line. A Python on which a command fails, or a test is skipped, isn't
written down. About four minutes each on two cores.

A Python that this system doesn't have may come with a newer Debian, in a
folder (as root, which --chroot needs, too):

    debootstrap --variant=minbase --include=python3-venv,git,libgl1,\\
    libglib2.0-0t64,ca-certificates sid /srv/sid
"""

import contextlib
import json
import os
import pathlib
import re
import shlex
import shutil
import signal
import subprocess
import tempfile
import time

import publish

NAME = "pythons.json"
PACKAGES = ["gymnasium", "ale-py", "numpy", "opencv-python", "labml", "pytest"]
LIMIT = 1800  # seconds for a command

# What is asked of the new environment, after the two commands.
ABOUT = f"""
import json, platform
from importlib import metadata

print(json.dumps({{
    "python": platform.python_version(),
    "system": platform.freedesktop_os_release()["PRETTY_NAME"],
    "packages": {{name: metadata.version(name) for name in {PACKAGES}}},
}}))
"""

# What pip needs to know inside a chroot: names of hosts, where packages are,
# and whom to trust.
SETTINGS = ["resolv.conf", "pip.conf", "ssl/certs/ca-certificates.crt"]

# The mounts are those of this command alone, and are gone when it ends.
CHROOT = [
    "unshare",
    "--mount",
    "sh",
    "-ec",
    """
    mount --rbind /proc "$0/proc"
    mount --rbind /dev "$0/dev"
    exec chroot "$0" sh -ec "$1"
    """,
]


def readme_commands():
    """The two commands, as they stand in README."""
    text = publish.README.read_text()
    commands = re.findall(r"^ +(pip install .* && python .*)$", text, re.M)
    if len(commands) != 2:
        raise SystemExit(f"README: expected two commands, found {commands}")
    return commands


class Place:
    """A new clone and a new environment, here or in a chroot."""

    def __init__(self, python, chroot):
        self.python = python
        self.chroot = chroot
        self.root = chroot or pathlib.Path("/")
        temporary = self.root / "tmp"
        self.folder = pathlib.Path(tempfile.mkdtemp(dir=temporary))
        # The path as it is seen from inside.
        self.inside = f"/{self.folder.relative_to(self.root)}"

    def prepare(self):
        if self.chroot:
            for name in SETTINGS:
                with contextlib.suppress(FileNotFoundError):
                    shutil.copy(f"/etc/{name}", self.chroot / "etc" / name)
        clone = [
            "git",
            "clone",
            "--quiet",
            publish.ROOT,
            self.folder / "clone",
        ]
        subprocess.run(clone, check=True)
        self.run(f"{self.python} -m venv {self.inside}/venv")

    def run(self, command):
        """Run a line of shell; return what it printed."""
        line = ["sh", "-ec", command]
        if self.chroot:
            line = [*CHROOT, self.chroot, command]
        process = subprocess.Popen(
            line,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        try:
            output, _ = process.communicate(timeout=LIMIT)
        except BaseException as reason:
            # Ctrl-C, or too late: the command and all that it started.
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            if isinstance(reason, subprocess.TimeoutExpired):
                raise SystemExit(
                    f"{self.python}: no end after {LIMIT} s: {command}"
                ) from None
            raise
        if process.returncode != 0:
            print(output[-5000:])
            raise SystemExit(
                f"{self.python}: exit code {process.returncode}: {command}"
            )
        return output

    def newcomer(self, command):
        """Run a command in the clone, with the environment activated."""
        activate = f". {self.inside}/venv/bin/activate"
        return self.run(f"cd {self.inside}/clone; {activate}; {command}")

    def remove(self):
        shutil.rmtree(self.folder)


def try_python(python, chroot):
    """Run both commands; return what is written down of them."""
    place = Place(python, chroot)
    try:
        place.prepare()
        play, test = readme_commands()
        played = place.newcomer(play).splitlines()[-3:]
        start = time.monotonic()
        tested = place.newcomer(test).splitlines()[-1]
        seconds = time.monotonic() - start
        about = json.loads(place.newcomer(f"python -c {shlex.quote(ABOUT)}"))
        commit = place.newcomer("git rev-parse --short HEAD").strip()
    finally:
        place.remove()
    counts = {
        word: int(n) for n, word in re.findall(r"(\d+) ([a-z]+)", tested)
    }
    if counts.get("skipped") or not counts.get("passed"):
        raise SystemExit(f"{python}: every test was expected to run: {tested}")
    return about | {
        "date": publish.today(),
        "commit": commit,
        "passed": counts["passed"],
        "seconds": round(seconds),
        "played": played,
    }


def report(data):
    """README's line, oldest Python first."""
    rows = [data[series] for series in sorted(data, key=parts)]
    runs = [
        f"{row['python']} ({row['passed']} tests passed, {row['date']})"
        for row in rows
    ]
    return f"Python {', '.join(runs)}."


def parts(version):
    """A version as numbers, to sort by."""
    return [int(number) for number in re.findall(r"\d+", version)]


def main():
    parser = publish.Parser(__doc__)
    add = parser.add_argument
    add("python", nargs="*", help="an interpreter, by name or path")
    add(
        "--chroot", type=pathlib.Path, help="a folder with a system of its own"
    )
    add("--publish", action="store_true", help="write to measure/results")
    add("--report", action="store_true", help="write README's line")
    args = parser.parse_args()

    places = [(shutil.which(name), None) for name in args.python]
    for name, (path, _) in zip(args.python, places, strict=True):
        if path is None:
            parser.error(f"expected a Python, but there is no {name!r}")
    if args.chroot:
        if not (args.chroot / "usr/bin/python3").exists():
            parser.error(f"expected usr/bin/python3 in {args.chroot}")
        places.append(("python3", args.chroot.resolve()))
    if not places and not args.report:
        parser.error("expected a Python, --chroot or --report")

    file = publish.target("pythons", NAME, args.publish)
    for python, chroot in places:
        row = try_python(python, chroot)
        series = ".".join(row["python"].split(".")[:2])
        # Read only now: another run may have written while this one tested.
        data = publish.read(file)
        # One row for 3.12, whichever repair of it was run last.
        data[series] = row
        publish.write(file, data)
        print(f"{row['python']}: {row['passed']} tests passed")
    if args.report:
        published = publish.read(publish.RESULTS / NAME)
        publish.put(publish.README, "pythons", report(published))


if __name__ == "__main__":
    main()
