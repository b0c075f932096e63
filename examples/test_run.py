"""Tests of run.py, by the smallest learner, which is also a program."""

import csv
import dataclasses
import json
import math
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
import uuid
from unittest import mock

import numpy as np
import psutil
import pytest
import torch
import tyro
from tensorboard.backend.event_processing import event_accumulator

import dqn
import game
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

    def start_here(command, learn=learn, folder=FOLDER, program=main):
        words = [f"--folder={folder}", *command.split()]
        return start(lambda: program(learn), *words)

    return start_here


def popen(command, folder=FOLDER, before=(), **options):
    """Start the program beside this one."""
    program = [*before, sys.executable, __file__, "--folder", str(folder)]
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


def settings_file():
    return json.loads((FOLDER / "settings.json").read_text())


def saved_steps():
    return saved()["progress"]["steps"] if CHECKPOINT.exists() else 0


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
    assert settings_file()["rate"] == 0.25
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
    for seed in (0, 0, 1):
        train(Settings(steps=10, seed=seed))
    names = sorted(path.name for path in pathlib.Path("runs").iterdir())
    assert [name[:13] for name in names] == [
        f"A-Title-v0-{seed}-" for seed in (0, 0, 1)
    ]
    start("--steps 20", folder=f"runs/{names[0]}")


def test_a_tilde_is_the_home_folder(start, monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    start("--steps 10", folder="~/runs/x")
    assert (tmp_path / "home/runs/x/checkpoint.pt").exists()
    assert not pathlib.Path("~").exists()


# What settings may be

LEARNERS = [ppo.Settings, dqn.Settings, Settings]


def numbers(settings):
    """Its numbers, as NumPy has them."""
    kinds = {bool: np.bool_, int: np.int64, float: np.float64}
    return {
        name: kinds[type(value)](value)
        for name, value in vars(settings).items()
        if type(value) in kinds
    } | {"seed": np.uint32(1), "steps": np.float32(64)}


@pytest.mark.parametrize("kind", LEARNERS, ids=lambda kind: kind.__module__)
def test_a_sweep_may_hand_over_numbers_of_numpy(kind, tmp_path):
    """Each setting is plain, whatever is made of it, and can be read again."""
    given = numbers(kind()) | {"folder": str(tmp_path)}
    if "size" in vars(kind()):
        given["size"] = np.array([84, 84])
        given["repeat_action_probability"] = np.float32(0.25)
    settings = kind(**given)
    settings.keep_every = np.int32(7)
    plain = {bool, int, float, str, tuple, type(None)}
    assert {type(value) for value in settings.kept().values()} <= plain
    weight = torch.nn.Linear(1, 1)
    rate = vars(settings).get("learning_rate", settings.seed)
    optimizer = torch.optim.Adam(weight.parameters(), rate)
    with Run(settings, weight=weight, optimizer=optimizer) as training:
        training.add(np.int64(64), [Ended(np.float32(1), np.int64(2))], {})
    path = tmp_path / "checkpoint.pt"
    again = run.saved_settings(kind, run.read_checkpoint(path), path)
    assert again.kept() == settings.kept()


def test_what_could_not_be_read_again_is_not_saved(start):
    """A learner's own part may have numbers of NumPy, too."""
    network = torch.nn.Linear(1, 1)
    part = mock.Mock()
    part.state_dict.return_value = {"rate": np.float64(1)}
    settings = Settings(steps=10, folder=FOLDER)
    with refused("read again"), Run(settings, a=network, b=part) as training:
        training.add(10, [], {})
    assert not CHECKPOINT.exists()


@pytest.mark.parametrize(
    ("kind", "name", "value"),
    [
        (ppo.Settings, "gamma", 1.01),
        (ppo.Settings, "gae_lambda", np.float32(-0.1)),
        (ppo.Settings, "learning_rate", math.nan),
        (ppo.Settings, "max_gradient", math.inf),
        (ppo.Settings, "rollout", 0),
        (ppo.Settings, "rollout", 1.5),
        (ppo.Settings, "seed", 2**64),
        (dqn.Settings, "explore", 1.5),
        (play.Options, "repeat_action_probability", 25),
    ],
)
def test_a_number_out_of_its_limits_is_refused_by_name(kind, name, value):
    with refused(f"--{name.replace('_', '-')} can't be"):
        kind(**{name: value})


@pytest.mark.parametrize("name", ["gamma", "entropy_weight", "noop_max"])
def test_the_limits_themselves_are_taken(name):
    assert getattr(ppo.Settings(**{name: 0}), name) == 0


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


def test_a_full_disk_leaves_the_last_checkpoint(start, monkeypatch):
    """In the end no row is lost, and none is there twice."""
    fsync = os.fsync

    def fail(number):
        if saved_steps() == 20 and ".pt" in os.readlink(f"/dev/fd/{number}"):
            raise OSError(28, "No space left on device")
        fsync(number)

    with monkeypatch.context() as patch, refused("No space left"):
        patch.setattr(os, "fsync", fail)
        start("--save-every 1 --steps 40")
    assert saved_steps() == 20
    assert len(list(FOLDER.glob("checkpoint*"))) == 1
    wait_a_second()
    start("")
    assert steps(read_curve()) == [10, 20, 30, 40]
    assert [step for step, _ in on_the_board()["loss"]] == [10, 20, 30, 40]


@pytest.mark.parametrize("log", ["curve.csv", "settings.json", "board"])
def test_a_log_that_cannot_be_written_ends_nothing(start, monkeypatch, log):
    """It is a line, and is complete when it can be written again."""
    path = FOLDER / log
    add_scalar = run.SummaryWriter.add_scalar

    def fail(*_):
        raise OSError("no log")

    def learn_and_break(training, network):
        if training.steps == 10:
            path.unlink(missing_ok=True)
            path.mkdir()
            monkeypatch.setattr(run.SummaryWriter, "add_scalar", fail)
        if training.steps == 40:
            path.rmdir()
            monkeypatch.setattr(run.SummaryWriter, "add_scalar", add_scalar)
            wait_a_second()
        return learn(training, network)

    lines = start("--save-every 1 --steps 60", learn_and_break)
    assert any("written later" in line for line in lines)
    assert saved_steps() == 60
    expected = list(range(10, 70, 10))
    assert steps(read_curve()) == expected
    assert settings_file()["steps"] == 60
    assert [step for step, _ in on_the_board()["loss"]] == expected
    assert [step for step, _ in on_the_board()["game/score"]] == expected


def test_what_is_saved_is_logged_though_the_program_is_killed(
    start, monkeypatch
):
    """TensorBoard gets it when the run goes on."""

    def die(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(run.SummaryWriter, "add_scalar", die)
        start("--save-every 3 --steps 30")
    assert saved_steps() == 30
    wait_a_second()
    start("--steps 40")
    board = on_the_board()
    assert [step for step, _ in board["loss"]] == [30, 40]
    assert [step for step, _ in board["game/score"]] == [10, 20, 30, 40]


def test_leftovers_of_killed_saves_are_removed(start, monkeypatch):
    """By whatever begins or goes on there; what is somebody's own stays."""

    def die(number):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(os, "fsync", die)
        start("--steps 30")
    left = list(FOLDER.iterdir())
    best = FOLDER / "checkpoint-best.pt"
    best.touch()
    start("--steps 30")
    left.append(FOLDER / f"checkpoint-10.pt-{uuid.uuid4()}")
    left[-1].touch()
    start("--steps 40")
    assert len(left) == 2 and best.exists()
    assert not any(path.exists() for path in left)


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
        # an error before the first update, as of games that don't start
        Run(Settings(folder=f"{number} begins"))
    assert threading.active_count() == before


# What a run says of itself


def test_a_run_says_what_it_is_computed_on_and_by(start):
    (line,) = [x for x in start("--steps 10") if " steps of " in x]
    about = settings_file()["about"]
    assert "cpu (" in line and "float32" in line
    assert about["device"] in line and about["precision"] == "float32"
    assert about["python"] == sys.version.split()[0]
    assert about["torch"] == torch.__version__
    assert about["project"] == game.__version__
    assert {"ale-py", "host"} <= about.keys()
    for path in (__file__, run.__file__, game.__file__):
        hashed = subprocess.check_output(["git", "hash-object", path])
        assert about[pathlib.Path(path).name] == hashed.decode().strip()
    assert saved()["sources"].items() <= about.items()
    start("--steps 20")
    later = settings_file()["about"]
    assert later["begun"] == about["begun"] < later["continued"]


def test_what_is_another_than_before_is_said_loudly(start):
    """Before there is a checkpoint, too."""
    start("--steps 10")
    CHECKPOINT.unlink()
    path = FOLDER / "settings.json"
    path.write_text(path.read_text().replace('"float32"', '"bfloat16"'))
    (line,) = [x for x in start("--steps 20") if "WARNING" in x]
    assert "precision is float32 now, and was bfloat16" in line


# Signals


def ask_at_20(number):
    """Learn, and get a signal at step 20."""

    def learn_and_ask(training, network):
        if training.steps == 20:
            signal.raise_signal(number)
        return learn(training, network)

    return learn_and_ask


def test_a_signal_saves_and_ends(start, number):
    """The exit code asks for another try, until all steps are played."""
    command = "--steps 90"
    assert code_of(lambda: start(command, ask_at_20(number))) == 75
    assert saved_steps() == 30
    assert signal.getsignal(number) != signal.SIG_IGN
    assert code_of(lambda: start(command)) == 0
    assert saved_steps() == 90
    asked_last = "--steps 30 --folder other"
    assert code_of(lambda: start(asked_last, ask_at_20(number))) == 0


def test_what_a_shell_ignores_stays_ignored(start, number):
    signal.signal(number, signal.SIG_IGN)
    start("--steps 90", ask_at_20(number))
    assert saved_steps() == 90
    assert signal.getsignal(number) == signal.SIG_IGN


@pytest.mark.parametrize("before", [[], ["unshare", "--pid", "--fork"]])
def test_a_second_signal_ends_it_at_once(start, number, before):
    """The same, or another; also a container's first process."""
    if (
        before
        and subprocess.run([*before, "true"], capture_output=True).stderr
    ):
        pytest.skip("no right to make a namespace of processes")
    second = signal.SIGTERM if number == signal.SIGHUP else signal.SIGINT
    pipe = subprocess.PIPE
    program = popen("--sleep 1000", before=before, stdout=pipe, stderr=pipe)
    with program:
        assert b"learning\n" in (program.stdout.readline() for _ in range(2))
        (process,) = psutil.Process(program.pid).children() or [program]
        process.send_signal(number)
        # "ends after this update"
        assert b"ends after" in program.stderr.readline()
        process.send_signal(second)
        assert program.wait(60) == 128 + second


CLOSED = """
import os, signal, sys
import run
def main():
    with open("file", "w+b", 0) as file, run.noting_signals():
        signal.raise_signal(signal.SIGTERM)
        os.write(2, b"what C++ prints")
        sys.exit(os.fstat(file.fileno()).st_size)
run.run_program(main)
"""


def test_nothing_is_written_to_a_file_that_has_the_number_of_stderr(tmp_path):
    """As a daemon may start a program: the next file would get that number."""
    (tmp_path / "program.py").write_text(CLOSED)
    shell = f'exec "{sys.executable}" program.py 2>&-'
    here = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    subprocess.run(["sh", "-c", shell], cwd=tmp_path, env=here, check=True)


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


@pytest.mark.parametrize("reached", [0, 10])
def test_two_programs_in_one_folder_do_not_mix(start, reached):
    """One begins or goes on while another trains, and finds its run whole."""

    def learn_beside(training, network):
        if training.steps == reached:
            start("--steps 30 --rate 0.75 --save-every 1")
        return learn(training, network)

    with refused("another program has written"):
        start("--steps 60 --rate 0.25 --save-every 1", learn_beside)
    assert saved_steps() == 30
    assert saved()["settings"]["rate"] == settings_file()["rate"] == 0.75


if __name__ == "__main__":
    run.run_program(main)
