"""Programs: how they end, and the module as one."""

import contextlib
import inspect
import multiprocessing
import os
import pathlib
import runpy
import signal
import subprocess
import sys
import time
from multiprocessing import connection

import gymnasium as gym
import pytest

import game
import games
from game import Worker
from games import FastGame, Games
from stand_ins import PATIENCE, START_METHODS
from test_game import ALL, each

MODULE = pathlib.Path(game.__file__).resolve()
SOURCE = MODULE.read_text(encoding="utf-8")


@pytest.fixture
def program(tmp_path):
    """Return a function that starts a program."""
    started = []

    def start(text, *args, stdout=subprocess.PIPE):
        path = tmp_path / f"program{len(started)}.py"
        path.write_text(text, encoding="utf-8")
        process = subprocess.Popen(
            [sys.executable, path, *args],
            stdout=stdout,
            stderr=subprocess.PIPE,
            text=True,
            cwd=tmp_path,
            start_new_session=True,
        )
        started.append(process)
        return process

    yield start
    for process in started:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


# Ends of a program that are too much for the plain `Worker`.
DEAF = ["SIGTERM", "SIGHUP", "stopped"]

# A module beside the program comes first.
IMPORTS = f"""
import multiprocessing, os, signal, sys, time
sys.path.append({str(MODULE.parent)!r})
import games
from game import Worker
from games import FastGame, Games
DEAF = {DEAF}
"""


def text_of(function, args):
    """Return a program that calls a function."""
    source = inspect.getsource(function)
    call = f"{function.__name__}(*{args})"
    return f'{IMPORTS}\n{source}\nif __name__ == "__main__":\n    {call}\n'


def end_of(process, code=0):
    """Wait for a program; return the lines that it wrote."""
    stdout, stderr = process.communicate(timeout=PATIENCE)
    assert process.returncode == code, stderr
    return (stdout or "").splitlines(), stderr.splitlines()


def wait_for_ends(pids):
    """Wait until these processes end, however busy the machine is."""
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            process = os.pidfd_open(pid)
            assert connection.wait([process], PATIENCE)
            os.close(process)


def ending(how, context):
    global worker, many  # until the interpreter ends
    # A forked `Worker` has the handlers that the program had before.
    if how not in DEAF:
        worker = Worker(1, context=context)
        worker.child.send(("reset", None))
        worker.child.recv()

    def save(*_):
        os.write(1, b"saved\n")
        sys.exit()

    signal.signal(signal.SIGTERM, save)
    signal.signal(signal.SIGHUP, save)
    many = Games(2, processes=2, context=context)
    many.reset()
    many.step_async([0, 0])
    print(*[p.pid for p in multiprocessing.active_children()], flush=True)
    if how == "error":
        raise LookupError("an error of the program's own")
    if how == "stopped":
        for child in multiprocessing.active_children():
            os.kill(child.pid, signal.SIGSTOP)
    if how.startswith("SIG"):
        time.sleep(1000)


def printing(how, processes):
    class Diary(FastGame):
        def step(self, action):
            print("step")
            return super().step(action)

        def close(self):
            print("end")

    global kept  # until the interpreter ends
    games.GRACE = 100.0  # on a busy machine an end may take its time
    kept = Games(2, processes=processes, make=Diary)
    kept.reset()
    kept.step([0, 0])
    if how == "closed":
        kept.close()
    elif how == "dropped":
        del kept


@each(
    "how",
    ["end", "error", "stopped", "SIGINT", "SIGKILL", "SIGTERM", "SIGHUP"],
)
def test_nothing_is_left(program, how):
    """No process, and no more is said than the program's own traceback.

    Batch systems send signals to all processes; the program alone has
    handlers.
    """
    codes = dict(error=1, SIGINT=-signal.SIGINT, SIGKILL=-signal.SIGKILL)
    methods = START_METHODS if how in ("SIGKILL", "SIGHUP") or ALL else [None]
    programs = [program(text_of(ending, args=(how, m))) for m in methods]
    for process in programs:
        workers = process.stdout.readline().split()
        assert len(workers) == (2 if how in DEAF else 3)
        if how == "SIGKILL":
            process.kill()
        elif how.startswith("SIG"):
            os.killpg(process.pid, getattr(signal, how))
        lines, errors = end_of(process, codes.get(how, 0))
        assert lines == ["saved"] * (how in ("SIGTERM", "SIGHUP"))
        tracebacks = sum(line.startswith("Traceback") for line in errors)
        assert tracebacks == (how in ("error", "SIGINT"))
        assert bool(errors) == bool(tracebacks)
        wait_for_ends(map(int, workers))


@each("how", ["closed", "dropped", "exit"])
def test_what_games_print_arrives(program, how):
    """Whichever way they end, they are closed and buffers are written."""
    programs = [program(text_of(printing, args=(how, n))) for n in (0, 2)]
    for process in programs:
        lines, errors = end_of(process)
        text = "".join(lines)  # of two processes: lines may be mixed
        assert errors == [] and text.count("step") == 2
        # A game that shows the spaces is made and closed first.
        assert text.count("end") == 3


@each("where", ["pipe", "terminal"])
def test_ctrl_c_stops_the_program(program, tmp_path, where):
    """With the summary so far, the picture alone, and no traceback.

    A pipe gets lines without escapes, a terminal labml's progress.
    """
    ours, theirs = os.pipe() if where == "pipe" else os.openpty()
    process = program(SOURCE, "--steps", "10000000", stdout=theirs)
    os.close(theirs)
    text = ""
    playing = "episodes" if where == "pipe" else "steps per second"
    with open(ours, encoding="utf-8", newline="") as output:
        while playing not in text:
            assert process.poll() is None
            text += output.read(1)
        os.killpg(process.pid, signal.SIGINT)
        _, errors = end_of(process)
        with contextlib.suppress(OSError):  # how a terminal ends
            while more := output.read(1):
                text += more
    lines = text.splitlines()
    assert [line.split()[1] for line in lines[-3::2]] == ["steps", "steps/s,"]
    assert lines[-2].startswith("score: ")
    assert ("\x1b" in text) == (where == "terminal")
    text = "".join(lines + errors).lower()
    assert "warn" not in text and "traceback" not in text
    files = {path.name for path in tmp_path.iterdir()}
    assert files - {"__pycache__"} == {"program0.py", "game.png"}


def test_ctrl_c_before_the_program_plays(monkeypatch, tmp_path, capsys):
    """While workers start, for example: a summary, too."""

    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(Worker, "__init__", interrupt)
    monkeypatch.setattr(sys, "argv", ["game.py", "--games=1"])
    monkeypatch.chdir(tmp_path)
    game.main()
    assert "\n0 steps of 1 games, 0 episodes\n" in capsys.readouterr().out


@each(
    "args, words",
    [
        ("Breakot-v4", "Did you mean: `Breakout`?"),
        ("no_such_module:Pong-v5", "no_such_module"),
        ("CartPole-v1", "Atari"),
        ("--games=0", "games"),
        ("--games=1", "labml"),
    ],
)
def test_arguments(monkeypatch, tmp_path, capsys, args, words):
    """One clear line and exit code 2, and no file."""
    monkeypatch.setitem(sys.modules, "labml", None)  # it isn't there
    monkeypatch.setattr(sys, "argv", ["game.py", args])
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as ending:
        game.main()
    assert ending.value.code == 2
    assert list(tmp_path.iterdir()) == []
    stdout, stderr = capsys.readouterr()
    (line,) = stderr.splitlines()
    assert words in line and stdout == ""


def playing_on(context):
    class Diary(FastGame):
        def close(self):
            os.write(1, b"closed\n")

    games.GRACE = 100.0  # on a busy machine an end may take its time
    many = Games(2, processes=2, make=Diary, context=context)
    many.reset()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: None)
        os.killpg(0, number)
        assert "restarted" not in many.step([1, 1])[4]
    many.close()


@each("method", START_METHODS)
def test_a_signal_to_all_processes(program, method):
    """Workers and a forkserver are deaf to it, and games are closed later."""
    lines, errors = end_of(program(text_of(playing_on, args=(method,))))
    assert lines == ["closed"] * 3 and errors == []


def test_an_old_gymnasium(monkeypatch):
    monkeypatch.delattr(gym.vector, "AutoresetMode")
    with pytest.raises(ImportError, match="1.1"):
        runpy.run_path(games.__file__)


def test_licence_and_version():
    for module in (game, games):
        text = pathlib.Path(module.__file__).read_text(encoding="utf-8")
        assert text.startswith("# SPDX-License-Identifier: MIT\n")
    citation = MODULE.parent / "CITATION.cff"
    if citation.exists():
        assert f"\nversion: {game.__version__}\n" in citation.read_text()
