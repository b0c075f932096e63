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
import time
from unittest import mock

import numpy as np
import pytest
import torch
import tyro
from tensorboard.backend.event_processing import event_accumulator

import dqn
import play
import ppo
import run
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
    compiled: bool = False


def learn(training, network):
    """Learn from 10 steps, in which a game has ended."""
    time.sleep(training.settings.sleep)
    with torch.no_grad():
        network.weight += torch.rand(1, generator=training.random)
    return [Ended(training.steps, 7)], {"loss": network.weight.sum().item()}


def train(settings, learn=learn):
    with run.one_line("can't begin"):
        torch.manual_seed(settings.seed)
        network = torch.nn.Linear(1, settings.width)
        if settings.compiled:
            network = torch.compile(network, backend="eager")
        training = Run(settings, weights=network)
    with training:
        while not training.over:
            training.add(10, *learn(training, network))


def main(learn=learn):
    train(run.read_settings(Settings), learn)


def code_of(program):
    """Run a program here; return its exit code."""
    try:
        run.run_program(program)
    except SystemExit as end:
        return end.code
    return 0


@pytest.fixture
def start(start):
    """Run the program in an empty folder; return the lines that it prints."""

    def start_here(command, learn=learn, folder=FOLDER):
        words = [f"--folder={folder}", *command.split()]
        return start(lambda: main(learn), *words)

    return start_here


def popen(command):
    """Start the program beside this one, and wait until it trains."""
    program = subprocess.Popen(
        [sys.executable, __file__, "--folder", FOLDER, *command.split()],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert " steps of " in program.stdout.readline()
    return program


def refused(words):
    return pytest.raises(run.RunError, match=re.escape(str(words)))


def read_curve():
    with (FOLDER / "curve.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def read_board():
    """What TensorBoard shows: the events of each figure."""
    board = event_accumulator.EventAccumulator(str(FOLDER))
    board.Reload()
    return {name: board.Scalars(name) for name in board.Tags()["scalars"]}


def saved():
    return torch.load(CHECKPOINT)


def saved_steps():
    return saved()["progress"]["steps"] if CHECKPOINT.exists() else 0


def settings_file():
    return json.loads((FOLDER / "settings.json").read_text())


def steps(rows):
    return [int(row["steps"]) for row in rows]


@pytest.mark.parametrize(
    "kind",
    [ppo.Settings, dqn.Settings, play.Options],
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
    assert [row["games"] for row in rows] == ["2", "4", "6", "7"]
    kept = sorted(path.name for path in FOLDER.glob("checkpoint-*.pt"))
    assert kept == ["checkpoint-40.pt", "checkpoint-60.pt"]
    whole = saved()

    shutil.rmtree(FOLDER)
    start(f"{command} --steps 30")
    start("--steps 70 --width 2")
    assert settings_file()["rate"] == 0.25
    assert saved()["weights"]["weight"].equal(whole["weights"]["weight"])
    assert saved()["random"].equal(whole["random"])
    assert steps(read_curve()) == [20, 30, 40, 60, 70]
    rows = read_curve()
    board = read_board()
    assert board.keys() == rows[0].keys()
    for name, events in board.items():
        assert [event.step for event in events] == steps(rows)
        shown = [float(row[name]) for row in rows]
        assert [event.value for event in events] == pytest.approx(shown)


def test_the_board_tells_when_a_row_was_made(start):
    """After any number of starts, and an hour between two of them."""
    clock = [1000.0]

    def learn_slowly(training, network):
        clock[0] += 5
        return learn(training, network)

    with mock.patch.object(run.time, "time", lambda: clock[0]):
        for steps in (20, 40, 60):
            start(f"--save-every 1 --steps {steps}", learn_slowly)
            clock[0] += 3600
        for events in read_board().values():
            times = [event.wall_time for event in events]
            assert times == [1005, 1010, 4615, 4620, 8225, 8230]


def test_time_left_is_that_of_the_last_updates(start):
    """Neither of a slow beginning, nor of an hour without a processor."""
    spent = iter([0, 600, *[1] * 20, 3600, *[1] * 7])
    clock = [0.0]

    def tick():
        clock[0] += next(spent)
        return clock[0]

    with mock.patch.object(run.time, "perf_counter", tick):
        lines = start("--save-every 1 --steps 280")
    speeds = [float(row["steps_per_second"]) for row in read_curve()]
    assert speeds[2:] == [10] * 26
    assert "10 steps/s" in lines[-1]


def test_runs_without_a_folder_never_meet(start):
    for seed in (0, 0, 1):
        train(Settings(steps=10, seed=seed))
    names = sorted(path.name for path in pathlib.Path("runs").iterdir())
    assert [name[:13] for name in names] == [
        f"A-Title-v0-{seed}-" for seed in (0, 0, 1)
    ]


# What is refused


@pytest.mark.parametrize(
    ("command", "program", "words"),
    [
        ("B/Title-v0", "test_run", "env_id is B/Title-v0 now"),
        ("--seed 8", "test_run", "seed is 8 now, and was 0"),
        ("--width 3", "test_run", "size mismatch"),
        ("", "other", "is of test_run.py"),
    ],
)
def test_what_a_continued_run_does_not_use_is_refused(
    start, monkeypatch, command, program, words
):
    """And the run is left alone."""
    start("--steps 10")
    before = {path: path.read_bytes() for path in FOLDER.iterdir()}
    monkeypatch.setattr(Settings, "program", program)
    with refused(words):
        start(f"{command} --steps 20")
    assert {path: path.read_bytes() for path in FOLDER.iterdir()} == before


@pytest.mark.parametrize("left", ["curve.csv", "checkpoint-20.pt", "events"])
def test_a_run_without_its_checkpoint_is_not_begun_anew(start, left):
    """Nor overwritten; it goes on from the one before."""
    start("--steps 20 --save-every 1 --keep-every 10")
    shutil.copy(FOLDER / "checkpoint-20.pt", "elsewhere.pt")
    for path in FOLDER.iterdir():
        if not path.name.startswith((left, "lock")):
            path.unlink()
    before = sorted(FOLDER.iterdir())
    with refused(FOLDER / left):
        start("--steps 40")
    assert sorted(FOLDER.iterdir()) == before
    shutil.copy("elsewhere.pt", CHECKPOINT)
    start("--steps 40 --save-every 1")
    assert steps(read_curve()) == [10, 20, 30, 40]


def test_a_run_that_is_killed_before_its_first_row_begins_again(start):
    with popen("--sleep 1000 --width 3") as program:
        program.kill()
    start("--steps 20 --sleep 0 --save-every 1")
    assert steps(read_curve()) == [10, 20]
    assert settings_file()["width"] == 3


@pytest.mark.parametrize(
    ("kind", "is_judged"),
    [(ppo.Settings, True), (dqn.Settings, True), (Settings, False)],
    ids=lambda each: getattr(each, "__module__", None),
)
def test_what_cannot_be_judged_later_is_said_at_once(
    start, capsys, kind, is_judged
):
    with Run(kind(folder=FOLDER)):
        pass
    assert ("play.py" not in capsys.readouterr().out) == is_judged


# Files


def test_a_compiled_network_is_saved_under_its_own_names(start):
    """And goes on, compiled or not."""
    start("--steps 20 --compiled")
    assert set(saved()["weights"]) == {"weight", "bias"}
    before = saved()["weights"]["weight"]
    start("--steps 30 --no-compiled")
    start("--steps 40 --compiled")
    assert (saved()["weights"]["weight"] > before).all()


class Evil:
    def __reduce__(self):
        return os.mkdir, ("evil",)


@pytest.mark.parametrize("is_evil", [True, False])
def test_a_damaged_checkpoint_names_the_one_before(start, is_evil):
    start("--steps 10 --keep-every 10")
    if is_evil:
        torch.save(saved() | {"weights": Evil()}, CHECKPOINT)
    else:
        CHECKPOINT.write_bytes(CHECKPOINT.read_bytes()[:500])
    with refused(FOLDER / "checkpoint-10.pt"):
        start("--steps 20")
    assert not pathlib.Path("evil").exists()


def test_a_save_that_breaks_off_loses_no_row(start, monkeypatch):
    """Since the disk is full; and no row is there twice."""
    full = mock.Mock(side_effect=OSError(28, "No space left on device"))

    with monkeypatch.context() as patch, refused("No space left"):

        def learn_and_fail(training, network):
            if training.steps == 20:
                patch.setattr(pathlib.Path, "replace", full)
            return learn(training, network)

        start("--save-every 1 --steps 40", learn_and_fail)
    start("--save-every 1 --steps 40")
    assert steps(read_curve()) == [10, 20, 30, 40]
    assert [event.step for event in read_board()["loss"]] == [10, 20, 30, 40]


@pytest.mark.parametrize(("loss", "weight"), [(np.inf, 1), (1, np.nan)])
def test_numbers_that_are_not_finite_replace_no_checkpoint(
    start, loss, weight
):
    """And a run without an ended game comes to its end."""

    def learn_badly(training, network):
        bad = training.steps == 30
        torch.nn.init.constant_(network.bias, weight if bad else 1)
        return [], {"value_loss": loss if bad else 1}

    with refused(f"step 40; {FOLDER} has those of 30"):
        start("--save-every 3 --steps 60", learn_badly)
    assert saved_steps() == 30
    assert code_of(lambda: start("", lambda *_: ([], {}))) == 0
    assert [row["score"] for row in read_curve()] == ["", ""]
    assert saved_steps() == 60


def test_a_place_that_cannot_be_written_is_a_line(start, capsys):
    pathlib.Path("file").touch()
    assert code_of(lambda: start("", folder="file/run")) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "file/run" in line


def test_a_run_says_what_it_is_computed_on_and_by(start):
    start("--steps 10")
    about = settings_file()["about"]
    assert about["device"] == "cpu" and about["precision"] == "float32"
    assert about["threads"] == torch.get_num_threads()
    assert about["torch"] == torch.__version__
    start("--steps 20")
    assert settings_file()["about"]["begun"] == about["begun"]


# Signals


def ask_at_20(number):
    """Learn, and get a signal at step 20."""

    def learn_and_ask(training, network):
        if training.steps == 20:
            signal.raise_signal(number)
        return learn(training, network)

    return learn_and_ask


@pytest.mark.parametrize(
    "number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]
)
def test_a_signal_saves_and_ends(start, number):
    """The exit code asks for another try, until all steps are played."""
    command = "--steps 90"
    assert code_of(lambda: start(command, ask_at_20(number))) == 75
    assert saved_steps() == 30
    assert code_of(lambda: start(command)) == 0
    assert saved_steps() == 90
    asked_last = "--steps 30 --folder other"
    assert code_of(lambda: start(asked_last, ask_at_20(number))) == 0


def test_what_a_shell_ignores_stays_ignored(start):
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    start("--steps 90", ask_at_20(signal.SIGHUP))
    assert saved_steps() == 90


def test_a_second_signal_ends_it_at_once(start):
    with popen("--sleep 1000") as program:
        program.send_signal(signal.SIGTERM)
        program.stderr.readline()
        program.send_signal(signal.SIGINT)
        assert program.wait(60) == 128 + signal.SIGINT


def test_the_second_of_two_programs_in_a_folder_ends(start):
    """Nothing of the first one's run is changed; it is killed and goes on."""
    with popen("--sleep 0.1 --save-every 1 --rate 0.25") as program:
        while saved_steps() < 20:
            program.stdout.readline()
        with refused(f"{FOLDER} is in use"):
            start("--rate 0.75 --steps 10")
        assert settings_file()["rate"] == 0.25
        program.kill()
    start(f"--steps {saved_steps() + 10} --sleep 0")
    assert settings_file()["rate"] == 0.25


if __name__ == "__main__":
    run.run_program(main)
