"""Programs: how they end, and the module as one."""

import itertools
import multiprocessing
import os
import signal
import sys
import time

import numpy as np
import pytest

import game
from game import Game, Games, Worker
from stand_ins import (
    SOURCE,
    START_METHODS,
    end_of,
    text_of,
    wait_for_ends,
)
from test_game import ALL, each

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
    if how.startswith("SIG"):
        time.sleep(1000)


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
        workers = process.stdout.readline().split()
        assert len(workers) == 3
        if how == "SIGKILL":
            process.kill()
        elif how in ("SIGINT", "SIGTERM"):
            os.killpg(process.pid, getattr(signal, how))
        lines, errors = end_of(process, codes.get(how, 0))
        assert lines == ["saved"] * (how == "SIGTERM")
        tracebacks = sum(line.startswith("Traceback") for line in errors)
        assert tracebacks == (how in ("error", "SIGINT"))
        assert bool(errors) == bool(tracebacks)
        wait_for_ends(map(int, workers))


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


def test_ctrl_c_stops_the_program(program, tmp_path):
    """With the summary so far, the picture alone, and no traceback."""
    process = program(SOURCE, "--steps", "10000000")
    progress = ""
    while "steps per second" not in progress:  # then it plays
        assert process.poll() is None
        progress += process.stdout.read(1)
    os.killpg(process.pid, signal.SIGINT)
    lines, errors = end_of(process)
    assert [line.split()[1] for line in lines[-3::2]] == ["steps", "steps/s,"]
    assert lines[-2].startswith("score: ")
    text = "".join(lines + errors).lower()
    assert "warn" not in text and "traceback" not in text
    files = {path.name for path in tmp_path.iterdir()}
    assert files - {"__pycache__"} == {"program0.py", "game.png"}


def test_a_picture_that_cannot_be_written(monkeypatch, tmp_path, capsys):
    """The summary comes all the same, and a line about the picture."""
    (tmp_path / "game.png").mkdir()
    monkeypatch.setattr(sys, "argv", ["game.py", "--games=1", "--steps=50"])
    monkeypatch.chdir(tmp_path)
    game.main()
    *_, score, _, about = capsys.readouterr().out.splitlines()
    assert score == "score: no game has ended" and "game.png" in about


@each(
    "args, words",
    [
        ("Breakot-v4", "Did you mean: `Breakout`?"),
        ("no_such_module:Pong-v5", "no_such_module"),
        ("CartPole-v1", "Atari"),
        ("--games=0", "games"),
        ("--games=1", "pip install labml"),
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
