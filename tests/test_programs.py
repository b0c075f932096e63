"""Programs: how they end, and the module as one."""

import itertools
import multiprocessing
import os
import re
import runpy
import signal
import sys
import time

import numpy as np
import pytest

import game
from game import Game, Games, Worker
from stand_ins import (
    MODULE,
    PATIENCE,
    START_METHODS,
    all_gone,
    each,
    end_of,
    text_of,
)
from test_game import ALL

SOURCE = MODULE.read_text(encoding="utf-8")

TUTORIAL_ENDS = (
    "# The tutorial ends here. What follows plays many games at once."
)


def labmls_loop():
    workers = [Worker(47 + i) for i in range(2)]
    obs = np.zeros((2, 4, 84, 84), np.uint8)
    for worker in workers:
        worker.child.send(("reset", None))
    for i, worker in enumerate(workers):
        obs[i] = worker.child.recv()
    rewards, done = np.zeros((2, 200)), np.zeros((2, 200), bool)
    actions = np.random.default_rng(0).integers(4, size=(2, 200))
    for t in range(200):
        for i, worker in enumerate(workers):
            worker.child.send(("step", actions[i, t]))
        for i, worker in enumerate(workers):
            result = worker.child.recv()
            obs[i], rewards[i, t], done[i, t], info = result
            if info:
                print(info["reward"], info["length"])
    for worker in workers:
        worker.child.send(("close", None))
    print(rewards.sum(), done.sum(), obs.sum())


def test_the_tutorial_is_complete(program, tmp_path, capsys):
    """Its part of the module, alone in a folder, plays labml's loop."""
    first, end, _ = SOURCE.partition(TUTORIAL_ENDS)
    assert end
    (tmp_path / "game.py").write_text(first, encoding="utf-8")
    (tmp_path / "labml.py").write_text("raise ImportError")
    text = text_of(labmls_loop).replace(", Games", "")
    lines, errors = end_of(program(text))
    assert errors == []
    labmls_loop()  # with the whole module
    assert lines == capsys.readouterr().out.splitlines()
    assert len(lines) > 3


def ending(how, context):
    def save(*_):
        os.write(1, b"saved\n")
        sys.exit()

    signal.signal(signal.SIGTERM, save)
    global worker, many  # until the interpreter ends
    worker = Worker(1, context=context)
    worker.child.send(("reset", None))
    worker.child.recv()
    many = Games(2, processes=2, context=context)
    many.reset()
    many.step_async([0, 0])
    print(*[p.pid for p in multiprocessing.active_children()], flush=True)
    if how == "error":
        raise LookupError("an error of the program's own")
    if how == "stopped":
        for child in multiprocessing.active_children():
            os.kill(child.pid, signal.SIGSTOP)
    if how in ("SIGKILL", "SIGTERM"):
        time.sleep(1000)
    while how == "SIGINT":
        many.step_wait()
        worker.child.send(("step", 0))
        many.step_async([0, 0])
        worker.child.recv()


def unguarded():
    Games(2, processes=1).reset()


def printing(how, processes):
    class Diary(Game):
        def step(self, action):
            print("step")
            return super().step(action)

        def close(self):
            print("end")

    global kept  # until the interpreter ends
    game.GRACE = 100.0  # on a busy machine an end may take its time
    kept = Games(2, processes=processes, make=Diary)
    kept.reset()
    kept.step([0, 0])
    if how == "closed":
        kept.close()
    elif how == "dropped":
        del kept


@each("hows", ["end error stopped", "SIGINT", "SIGKILL", "SIGTERM"])
def test_nothing_is_left(program, hows):
    """No process, and no more is said than the program's own traceback.

    Batch systems send signals to all processes; one has a handler.
    """
    codes = dict(error=1, SIGINT=-signal.SIGINT, SIGKILL=-signal.SIGKILL)
    methods = START_METHODS if hows == "SIGKILL" or ALL else [None]
    ways = list(itertools.product(hows.split(), methods))
    programs = [program(text_of(ending, args=way)) for way in ways]
    for process, (how, _) in zip(programs, ways, strict=True):
        workers = list(map(int, process.stdout.readline().split()))
        assert len(workers) == 3
        if how == "SIGKILL":
            process.kill()
        elif how in ("SIGINT", "SIGTERM"):
            os.killpg(process.pid, getattr(signal, how))
        lines, errors = end_of(process, codes.get(how, 0))
        assert lines == ["saved"] * (how == "SIGTERM")
        tracebacks = [it for it in errors if it.startswith("Traceback")]
        assert len(tracebacks) == (how in ("error", "SIGINT"))
        assert bool(errors) == bool(tracebacks)
        assert all_gone(workers)


def test_without_a_guard(program):
    """Python's own message says what is missing; nothing runs on."""
    process = program(text_of(unguarded, guard="if True:"))
    _, errors = end_of(process, 1)
    assert "__name__ == '__main__'" in "".join(errors)


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


def steps_in(lines):
    """Check the three lines that the program ends with; return the steps."""
    summary = (
        r"([\d,]+) steps .* \d+ episodes\n"
        r"score: (mean [\d.-]+, best -?\d+|no game has ended)\n"
        r"[\d,]+ steps/s, [\d,]+ frames/s"
    )
    found = re.fullmatch(summary, "\n".join(lines[-3:]))
    return int(found[1].replace(",", ""))


def test_the_program_without_labml(program, tmp_path):
    (tmp_path / "labml.py").write_text("raise ImportError")
    _, errors = end_of(program(SOURCE, "--games", "1"), 2)
    assert "pip install labml" in errors[-1] and len(errors) == 1


def test_a_picture_that_cannot_be_written(program, tmp_path):
    """The summary comes all the same, and a line about the picture."""
    (tmp_path / "game.png").mkdir()
    process = program(SOURCE, "--games", "1", "--steps", "50")
    stdout, stderr = process.communicate(timeout=PATIENCE)
    lines = stdout.splitlines()
    (about,) = (i for i, line in enumerate(lines) if "game.png" in line)
    assert steps_in(lines[:about]) == 50
    assert lines[about - 2] == "score: no game has ended"
    assert "Traceback" not in stderr


def test_ctrl_c_stops_the_program(program, tmp_path):
    """With the summary so far, the picture alone, and no traceback."""
    process = program(SOURCE, "--steps", "10000000")
    progress = ""
    while "steps per second" not in progress:  # then it plays
        progress += process.stdout.read(1)
    os.killpg(process.pid, signal.SIGINT)
    lines, errors = end_of(process)
    assert errors == [] and steps_in(lines) > 0
    assert not any("warn" in line.lower() for line in lines)
    files = {path.name for path in tmp_path.iterdir()}
    assert files - {"__pycache__"} == {"program0.py", "game.png"}


@each(
    "args, words",
    [
        ("Breakot-v4", "Did you mean: `Breakout`?"),
        ("no_such_module:Pong-v5", "no_such_module"),
        ("CartPole-v1", "Atari"),
        ("--games 0", "games"),
    ],
)
def test_arguments(monkeypatch, tmp_path, capsys, args, words):
    """One clear line and exit code 2, and no file."""
    monkeypatch.setattr(sys, "argv", ["game.py", *args.split()])
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as ending:
        runpy.run_path(str(MODULE), run_name="__main__")
    assert ending.value.code == 2
    assert list(tmp_path.iterdir()) == []
    stdout, stderr = capsys.readouterr()
    (line,) = stderr.splitlines()
    assert words in line and stdout == ""
