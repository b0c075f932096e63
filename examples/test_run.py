"""Tests of run.py, by the smallest learner, which is also a program."""

import csv
import dataclasses
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
import torch
import tyro
from tensorboard.backend.event_processing import event_accumulator

import dqn
import play
import ppo
import run
import sb3
from run import Ended, Run

FOLDER = pathlib.Path("a [run], b")
CHECKPOINT = FOLDER / "checkpoint.pt"


@dataclasses.dataclass
class Settings(run.RunSettings):
    program = "test_run"

    env_id: tyro.conf.Positional[str] = "A/Title-v0"
    width: int = 2
    rate: float = 0.5
    sleep: float = 0.0


def learn(training, network):
    """Learn from 10 steps, in which a game has ended."""
    if training.settings.sleep:
        run.say("learning")
        time.sleep(training.settings.sleep)
    with torch.no_grad():
        network.weight += torch.rand(1, generator=training.random)
    return [Ended(training.steps, 7)], {"loss": network.weight.sum().item()}


def train(settings, learn=learn):
    with run.one_line("can't begin"):
        torch.manual_seed(settings.seed)
        network = torch.nn.Linear(1, settings.width)
        training = Run(settings, weights=network)
    with training:
        while not training.over:
            training.add(10, *learn(training, network))


def main(learn=learn):
    train(run.read_settings(Settings), learn)


@pytest.fixture
def start(start):
    """Run the program in an empty folder; return the lines that it prints."""

    def start_here(command, learn=learn, folder=FOLDER, program=main):
        words = ["--folder", folder, *command.split()]
        return start(lambda: program(learn), *words)

    return start_here


def popen(command, folder=FOLDER, **options):
    """Start the program beside this one."""
    program = [sys.executable, __file__, "--folder", str(folder)]
    return subprocess.Popen([*program, *command.split()], **options)


def refused(words):
    return pytest.raises(run.RunError, match=re.escape(str(words)))


def read_curve():
    with (FOLDER / "curve.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def wait_a_second():
    """TensorBoard puts programs in order by the second of their start."""
    time.sleep(1.1)


def on_the_board():
    """What TensorBoard shows: steps and values, by their names."""
    board = event_accumulator.EventAccumulator(str(FOLDER))
    board.Reload()
    shown = {
        name: [(each.step, each.value) for each in board.Scalars(name)]
        for name in board.Tags()["scalars"]
    }
    texts = board.Tensors("settings/text_summary")
    shown["settings"] = [
        each.tensor_proto.string_val[0].decode() for each in texts
    ]
    return shown


def saved():
    return torch.load(CHECKPOINT)


def saved_steps():
    return saved()["progress"]["steps"] if CHECKPOINT.exists() else 0


def steps(rows):
    return [int(row["steps"]) for row in rows]


@pytest.mark.parametrize(
    "kind",
    [ppo.Settings, dqn.Settings, play.Options, sb3.Settings],
    ids=lambda kind: kind.__module__,
)
def test_each_flag_has_a_sentence_of_its_own(kind, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "300")
    with pytest.raises(SystemExit):
        tyro.cli(kind, args=["--help"])
    # The positional argument, -h and the flags
    split = re.split(r"(?m)^\W (?=-|\[)", capsys.readouterr().out)
    flags = [split[1], *split[3:]]
    # What is between the name and the default
    sentence = r"(?<!{)\b[A-Z][a-z][^(]+(?= \(default: )"
    sentences = [re.search(sentence, flag)[0] for flag in flags]
    assert len(set(sentences)) == len(dataclasses.fields(kind))


def test_one_command_begins_a_run_and_continues_it(start):
    """Nothing tells the two parts from one, but the time."""
    command = "--save-every 2 --rate 0.25 --keep-every 30"
    start(f"{command} --steps 70")
    rows = read_curve()
    assert steps(rows) == [20, 40, 60, 70]
    assert [row["score"] for row in rows] == ["5.0", "15.0", "25.0", "30.0"]
    kept = sorted(path.name for path in FOLDER.glob("checkpoint-*.pt"))
    assert kept == ["checkpoint-40.pt", "checkpoint-60.pt"]
    whole = saved()

    shutil.rmtree(FOLDER)
    start(f"{command} --steps 30")
    wait_a_second()
    lines = start("--steps 70 --width 2")
    # It tells what has changed, and has kept the rest.
    changes = [line for line in lines if "was" in line]
    assert changes == ["steps is 70 now, and was 30"]
    assert json.loads((FOLDER / "settings.json").read_text())["rate"] == 0.25
    assert saved()["weights"]["weight"].equal(whole["weights"]["weight"])
    assert saved()["random"].equal(whole["random"])
    parts = read_curve()
    assert steps(parts) == [20, 30, 40, 60, 70]
    board = on_the_board()
    assert [step for step, _ in board["loss"]] == steps(parts)
    assert board["game/score"] == [(n + 10, n) for n in range(0, 70, 10)]
    first, second = board["settings"]
    assert '"steps": 30' in first and '"steps": 70' in second


def test_runs_without_a_folder_never_meet(start):
    """Whatever library their numbers are from."""
    for seed in (0, 0, 1):
        train(Settings(steps=10, seed=np.int64(seed)))
    names = sorted(path.name for path in pathlib.Path("runs").iterdir())
    assert [name[:13] for name in names] == [
        f"A-Title-v0-{seed}-" for seed in (0, 0, 1)
    ]
    start("--steps 20", folder=f"runs/{names[0]}")


def other_program(learn):
    class Other(Settings):
        program = "other"

    train(run.read_settings(Other), learn)


@pytest.mark.parametrize(
    ("command", "program", "words"),
    [
        ("B/Title-v0", main, "is of A/Title-v0"),
        ("--width 3", main, "size mismatch"),
        ("", other_program, "is of test_run.py"),
    ],
)
def test_a_run_that_does_not_fit_is_left_alone(start, command, program, words):
    start("--steps 10")
    before = {path: path.read_bytes() for path in FOLDER.iterdir()}
    with refused(words):
        start(f"{command} --steps 20", program=program)
    assert {path: path.read_bytes() for path in FOLDER.iterdir()} == before


class Evil:
    def __reduce__(self):
        return os.mkdir, ("evil",)


@pytest.mark.parametrize("damage", ["other", "evil", "cut off"])
def test_a_damaged_checkpoint_is_named(start, damage):
    start("--steps 10 --keep-every 10")
    if damage == "other":
        torch.save(saved()["weights"], CHECKPOINT)
    elif damage == "evil":
        torch.save(saved() | {"weights": Evil()}, CHECKPOINT)
    else:
        CHECKPOINT.write_bytes(CHECKPOINT.read_bytes()[:500])
    with refused(CHECKPOINT):
        start("--steps 20")
    assert not pathlib.Path("evil").exists()
    shutil.copy(FOLDER / "checkpoint-10.pt", CHECKPOINT)
    start("--steps 20")


@pytest.mark.parametrize("name", ["curve.csv", "checkpoint.pt"])
def test_a_full_disk_leaves_the_last_checkpoint(start, monkeypatch, name):
    """In the end no row is lost, and none is there twice."""
    fsync = os.fsync

    def fail(number):
        if saved_steps() == 20 and name in os.readlink(f"/dev/fd/{number}"):
            raise OSError(28, "No space left on device")
        fsync(number)

    with monkeypatch.context() as patch, refused("No space left"):
        patch.setattr(os, "fsync", fail)
        start("--save-every 1 --steps 40")
    assert saved_steps() == 20
    assert len([path for path in FOLDER.iterdir() if name in path.name]) == 1
    wait_a_second()
    start("")
    assert steps(read_curve()) == [10, 20, 30, 40]
    assert [step for step, _ in on_the_board()["loss"]] == [10, 20, 30, 40]


@pytest.mark.parametrize(("loss", "weight"), [(np.inf, 1), (1, np.nan)])
def test_numbers_that_are_not_finite_replace_no_checkpoint(
    start, loss, weight
):
    """A save is never far from a check, however often it saves."""

    def learn_badly(training, network):
        bad = training.steps == 30
        torch.nn.init.constant_(network.bias, weight if bad else 1)
        return [], {"value_loss": loss if bad else 1}

    with refused(f"step 40; {FOLDER} has those of 30"):
        start("--save-every 3 --steps 60", learn_badly)
    assert saved_steps() == 30
    # As no game has ended, the score is no number.
    assert [row["score"] for row in read_curve()] == [""]
    start("")
    assert saved_steps() == 60


@pytest.mark.parametrize("folder", ["file", "file/run", "/proc/run"])
def test_a_place_that_cannot_be_written_is_a_line(start, capsys, folder):
    pathlib.Path("file").touch()
    with pytest.raises(SystemExit) as end:
        run.run_program(lambda: start("", folder=folder))
    assert end.value.code == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert f"error: {folder}/settings.json can't be written" in line


def test_trainings_leave_no_threads(start):
    def fail(training, network):
        raise KeyError("a mistake")

    before = threading.active_count()
    for number in range(3):
        start("--steps 10", folder=number)
        with pytest.raises(KeyError):
            start("", fail, folder=f"{number} fails")
    assert threading.active_count() == before


# Signals


def ask_at_20(number):
    """Learn, and get a signal at step 20."""

    def learn_and_ask(training, network):
        if training.steps == 20:
            signal.raise_signal(number)
        return learn(training, network)

    return learn_and_ask


def test_a_signal_saves_and_ends(start, number):
    start("--steps 90", ask_at_20(number))
    assert saved_steps() == 30
    assert signal.getsignal(number) != signal.SIG_IGN
    start("")
    assert saved_steps() == 90


def test_what_a_shell_ignores_stays_ignored(start, number):
    signal.signal(number, signal.SIG_IGN)
    start("--steps 90", ask_at_20(number))
    assert saved_steps() == 90
    assert signal.getsignal(number) == signal.SIG_IGN


def test_a_second_signal_ends_it_at_once(start, number):
    """The same, or another."""
    second = signal.SIGTERM if number == signal.SIGHUP else signal.SIGINT
    pipe = subprocess.PIPE
    with popen("--sleep 1000", stdout=pipe, stderr=pipe) as program:
        assert b"learning\n" in (program.stdout.readline() for _ in range(2))
        program.send_signal(number)
        # "ends after this update"
        assert b"ends after" in program.stderr.readline()
        program.send_signal(second)
        assert program.wait(60) == -second


# What is printed


@pytest.mark.parametrize("output", ["ascii", "/dev/full", "| head -1"])
def test_lines_that_cannot_be_printed_end_nothing(start, output):
    folder = "ü"
    environment = os.environ | {"PYTHONIOENCODING": "ascii"}
    with open("/dev/full", "w") as full:
        target = full if output == "/dev/full" else subprocess.PIPE
        program = popen("--steps 500", folder, env=environment, stdout=target)
    if output == "| head -1":
        program.stdout.close()
    program.communicate(timeout=300)
    assert program.returncode == 0
    assert torch.load("ü/checkpoint.pt")["progress"]["steps"] == 500


# Two programs


def test_two_programs_in_one_folder_end_whole(start):
    command = "--steps 300 --save-every 1"
    programs = [popen(command, stdout=subprocess.DEVNULL) for _ in range(2)]
    assert [program.wait(300) for program in programs] == [0, 0]
    assert saved_steps() == 300
    assert len(list(FOLDER.glob("checkpoint.pt*"))) == 1


if __name__ == "__main__":
    run.run_program(main)
