"""Run a program, and watch how busy it keeps the cores.

    pip install -r requirements.txt --group measure
    python measure/watch.py cores.csv python examples/ppo.py --steps 20000

A row for each minute: the seconds since the start, and how many cores were
busy meanwhile with the program itself, with the processes that it has started
(the workers of `Games`), and with all others on this machine. A file that is
there already is continued, for a run that is resumed.
"""

import csv
import pathlib
import signal
import subprocess
import sys
import time

import psutil

ROW = 60  # seconds
COLUMNS = ["seconds", "program", "workers", "others"]


def spent():
    """Return the seconds of processor time of each process, by its id."""
    result = {}
    for process in psutil.process_iter(["cpu_times"]):
        times = process.info["cpu_times"]
        if times:
            result[process.pid] = times.user + times.system
    return result


def main():
    if len(sys.argv) < 3:
        sys.exit("watch.py: expected a file to write and a command")
    path = pathlib.Path(sys.argv[1])
    path.parent.mkdir(parents=True, exist_ok=True)
    start = then = time.monotonic()
    rows = path.read_text().splitlines() if path.exists() else []
    if len(rows) > 1:
        start -= float(rows[-1].split(",")[0])
    program = subprocess.Popen(sys.argv[2:])
    watched = psutil.Process(program.pid)
    # The program hears Ctrl-C, too, and ends in time.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    before = spent()
    with path.open("a", newline="", buffering=1) as file:
        writer = csv.writer(file)
        if not rows:
            writer.writerow(COLUMNS)
        while True:
            try:
                sys.exit(program.wait(ROW))
            except subprocess.TimeoutExpired:
                now = time.monotonic()
            workers = {each.pid for each in watched.children(recursive=True)}
            cores = dict.fromkeys(COLUMNS[1:], 0.0)
            after = spent()
            for pid, seconds in after.items():
                kind = "workers" if pid in workers else "others"
                kind = "program" if pid == program.pid else kind
                cores[kind] += (seconds - before.get(pid, 0)) / (now - then)
            row = [now - start, *cores.values()]
            writer.writerow([round(value, 3) for value in row])
            before, then = after, now


if __name__ == "__main__":
    main()
