"""Tests of the instruments: quick ones, about their manners."""

import argparse
import pathlib
import shutil
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
import torch

import agent
import benchmark
import chaos
import common
import compare
import ppo
import training
import training_run
from recordings import unpack

HERE = pathlib.Path(__file__).resolve().parent
BREAKOUT = "BreakoutNoFrameskip-v4"


def call(folder, script, *arguments):
    """Run a script of a folder as a program."""
    return subprocess.run(
        [sys.executable, folder / f"{script}.py", *arguments],
        capture_output=True,
        text=True,
        timeout=300,
    )


@pytest.fixture
def copy(tmp_path):
    """A copy of what the scripts need; nothing of git."""
    for name in "game.py", "README.md":
        shutil.copy(common.ROOT / name, tmp_path)
    for name in "measure", "docs", "examples", "page":
        ignore = shutil.ignore_patterns("__pycache__")
        shutil.copytree(common.ROOT / name, tmp_path / name, ignore=ignore)
    return tmp_path


@pytest.fixture
def trial(monkeypatch, tmp_path):
    """All that would be written goes to a folder of the test."""
    monkeypatch.setattr(common, "ROOT", tmp_path)
    monkeypatch.setattr(common, "RESULTS", tmp_path / "measure/results")
    monkeypatch.setattr(common, "RUNS", tmp_path / "runs/measure")
    return tmp_path


def contents(folder):
    """All files but caches and runs, with what is in them."""
    return {
        path.relative_to(folder): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
        and "__pycache__" not in path.parts
        and path.relative_to(folder).parts[0] != "runs"
    }


# Help, and wrong input

SCRIPTS = ["agent", "benchmark", "chaos", "compare", "differences"]
SCRIPTS += ["facts", "report", "step_time", "training"]


@pytest.mark.parametrize("script", SCRIPTS)
def test_help_says_what_it_is_and_writes_nothing(copy, script):
    before = contents(copy)
    result = call(copy / "measure", script, "--help")
    assert result.returncode == 0
    assert f"python measure/{script}.py" in result.stdout
    assert not (copy / "runs").exists()
    assert contents(copy) == before


@pytest.mark.parametrize(
    ("script", "arguments", "expected"),
    [
        ("benchmark", ["hole"], "no such part: hole; there are tune, whole"),
        ("benchmark", ["--rounds", "0"], "invalid int above 0 value: '0'"),
        ("benchmark", ["--seconds", "x"], "invalid float above 0 value: 'x'"),
        ("chaos", ["sock"], "invalid choice: 'sock'"),
        ("compare", ["nobody.py"], "nobody.py is not a file"),
        ("report", ["spede"], "invalid choice: 'spede'"),
    ],
)
def test_wrong_input_is_one_line(script, arguments, expected):
    result = call(HERE, script, *arguments)
    assert result.returncode == 2
    assert result.stdout == ""
    assert result.stderr.startswith(f"{script}.py: ")
    assert result.stderr.count("\n") == 1
    assert expected in result.stderr


def test_a_missing_package_is_one_line(capsys):
    parser = common.Parser("")
    parser.need("json")
    with pytest.raises(SystemExit) as caught:
        parser.need("json", "no_such_package", "nor_this_one")
    assert caught.value.code == 2
    line = capsys.readouterr().err
    assert line.count("\n") == 1
    assert "no_such_package, nor_this_one is missing" in line


# What a run writes


@pytest.mark.parametrize(
    ("script", "arguments", "written"),
    [
        ("differences", "", "differences.json"),
        ("step_time", "--rounds 1 --steps 9", "step_time.json"),
        ("chaos", "replace --rounds 1", "chaos.json"),
        ("facts", "frames", "facts.json"),
        (
            "compare",
            "game.py --rounds 1 --seconds 0.05 --games 2 --titles Breakout",
            "compare.json",
        ),
    ],
)
def test_a_run_writes_to_runs_alone(copy, script, arguments, written):
    before = contents(copy)
    arguments = arguments.replace("game.py", str(copy / "game.py")).split()
    result = call(copy / "measure", script, *arguments)
    assert result.returncode == 0, result.stderr
    assert contents(copy) == before
    files = [path for path in (copy / "runs").rglob("*") if path.is_file()]
    assert files == [copy / "runs/measure" / written]


def test_a_benchmark_keeps_each_round_of_each_contender(trial, monkeypatch):
    """With fewer contenders and titles than it has by itself."""
    monkeypatch.setattr(benchmark, "ENGINES", ["ale"])
    monkeypatch.setattr(benchmark, "TITLES", ["Pong"])
    monkeypatch.setattr(benchmark, "LOCKSTEP", ["ale"])
    for name in "OURS_IN_TURN", "IN_TURN":
        monkeypatch.setattr(benchmark, name, [])
    command = "benchmark.py whole --rounds=2 --seconds=0.05"
    monkeypatch.setattr(sys, "argv", command.split())
    benchmark.main()
    data = common.read(trial / "runs/measure/benchmark.json")
    assert list(data) == ["machine", "tune", "whole"]
    assert data["whole"]["rounds"] == 2
    assert data["whole"]["seconds"] == 0.05
    assert data["whole"]["commit"] == "unknown"
    (column,) = data["whole"]["columns"].values()
    names = {"limit", "games", "worker", "ale", "sb3_games"}
    assert column.keys() == names
    for row in column.values():
        assert len(row["speed"]) == len(row["others"]) == 2
        assert min(row["speed"]) > 0


@pytest.mark.parametrize(
    ("module", "arguments"), [(benchmark, ["count"]), (chaos, ["replace"])]
)
def test_a_busy_machine_publishes_nothing(
    module, arguments, trial, monkeypatch, capsys
):
    monkeypatch.setattr(common, "busy_cores", lambda: 1.234)
    monkeypatch.setattr(common, "PATIENCE", 0)
    monkeypatch.setattr(common, "CORES", 2)
    monkeypatch.setattr(common, "QUIET", 0.5)
    monkeypatch.setattr(sys, "argv", ["x.py", *arguments, "--publish"])
    with pytest.raises(SystemExit) as caught:
        module.main()
    assert caught.value.code == 2
    line = capsys.readouterr().err
    assert line.count("\n") == 1
    assert "1.23 of 2 cores are busy" in line
    assert not [path for path in trial.rglob("*") if path.is_file()]


def test_a_quiet_machine_is_waited_for(monkeypatch):
    loads = iter([1.9, 0.6, 0.4])
    monkeypatch.setattr(common, "busy_cores", lambda: next(loads))
    monkeypatch.setattr(common, "QUIET", 0.5)
    common.Parser("").must_be_quiet()
    assert list(loads) == []


def test_others_are_those_that_this_program_has_not_started():
    command = [sys.executable, "-c", "while True: pass"]
    with subprocess.Popen(command) as process:
        seconds = common.Others()
        assert process.pid in seconds.family
        process.kill()
    assert common.Others().cores() >= 0


def test_the_middle_is_surely_between():
    assert compare.sure(list(range(100))) == (40, 60)
    assert compare.sure([3, 1, 2]) == (1, 3)


# Training on both sides


def test_the_wrapped_games_report_whole_games_as_games_do():
    """A lost life ends an episode, and the game's end brings its score."""
    random = np.random.default_rng(0)
    lives = 0
    whole = []
    points = np.zeros(2)
    wrapped = training.Wrapped(2, BREAKOUT)
    try:
        obs, _ = wrapped.reset(seed=1)
        assert obs.shape == (2, 4, 84, 84)
        assert obs.dtype == np.uint8
        for _ in range(800):
            actions = random.integers(4, size=2)
            obs, rewards, terminated, _, infos = wrapped.step(actions)
            assert set(rewards) <= {0, 1}
            points += rewards
            lives += terminated.sum()
            # Rows of one point each: clipped and raw are the same.
            for i, score in training_run.final_scores(infos).items():
                assert terminated[i]
                assert score == points[i]
                points[i] = 0
                whole.append(score)
    finally:
        wrapped.close()
    assert len(whole) >= 2
    # five lives to a game; the last games have not ended
    assert 5 * len(whole) <= lives < 5 * (len(whole) + 2)


@pytest.mark.parametrize("side", training.SIDES)
def test_a_run_is_the_same_with_the_same_seed(monkeypatch, side):
    monkeypatch.setattr(ppo, "STEPS", 8)
    args = argparse.Namespace(games=2, env_id=BREAKOUT, bfloat16=False)
    batches = []
    learn = ppo.learn
    monkeypatch.setattr(
        ppo, "learn", lambda *a: batches.append(a[-1]) or learn(*a)
    )
    for seed in 0, 0, 1:
        for seconds, _ in training.training(args, side, seed, 2):
            assert min(seconds.values()) > 0
    first, same, other = batches[1], batches[3], batches[5]
    assert all(map(torch.equal, first, same))
    assert not all(map(torch.equal, first, other))


def test_a_finished_run_replaces_the_one_before_it(trial):
    args = argparse.Namespace(publish=False)
    for side, seed, score in (
        ("games", 0, 2.0),
        ("games", 1, 4.0),
        ("wrappers", 0, 6.0),
        ("games", 0, 5.0),
    ):
        training.keep(args, [["Krull", side, seed, 8, 1, score]])
    table = pd.read_csv(trial / "runs/measure/training.csv")
    assert table.columns.tolist() == training.COLUMNS
    assert table.score.tolist() == [4, 6, 5]


# The agent's recording


def test_the_recording_is_what_the_agent_saw_and_did(trial, monkeypatch):
    for path in "examples", "measure/results", "docs", "page/data":
        (trial / path).mkdir(parents=True)
    run = trial / "run"
    run.mkdir()
    torch.manual_seed(0)
    state = {"env_id": BREAKOUT, "steps": 7, "seconds": {"games": 1.0}}
    saved = {"weights": ppo.Agent(4).state_dict(), "state": state}
    torch.save(saved, run / "checkpoint.pt")
    (run / "curve.csv").write_text("steps,score\n7,1\n")
    monkeypatch.setattr(agent, "judge", lambda _: {"served": [1], "alone": []})
    command = ["agent.py", str(run), "--film-seed", "3", "--publish"]
    monkeypatch.setattr(sys, "argv", command)
    agent.main()

    curve = trial / "measure/results/agent.csv"
    assert curve.read_text() == "steps,score\n7,1\n"
    about = common.read(trial / "measure/results/agent.json")
    recording = common.read(trial / "page/data/agent.json")
    assert about["steps"] == 7
    assert about["film"]["seed"] == recording["seed"] == 3
    assert about["film"]["reward"] == recording["score"]
    assert about["film"]["length"] == recording["length"]
    assert (trial / "docs/agent.webp").stat().st_size > 1000
    weights = trial / "examples/breakout.pt"
    assert weights.stat().st_size < 4_000_000

    # The published weights play this game again, to the last bit.
    again = ppo.Agent(4)
    again.load_state_dict(torch.load(weights, weights_only=True))
    torch.manual_seed(3)
    game = agent.Game(3, BREAKOUT, **training_run.SERVED)
    obs = game.reset()
    rgb = np.array(recording["rgb"], np.uint8)
    screens = list(unpack(recording["screens"]))
    frames = list(unpack(recording["frames"], 84, 84))
    decisions = recording["decisions"]
    assert len(screens) == len(frames) == len(decisions) <= 600
    assert recording["actions"] == ["NOOP", "FIRE", "RIGHT", "LEFT"]
    score = 0
    stack = []
    for screen, frame, decision in zip(
        screens, frames, decisions, strict=True
    ):
        action, reward, lives, first, value, probabilities = decision
        stack = [frame] * 4 if first else [*stack[1:], frame]
        assert (np.array(stack) == obs).all()
        assert (rgb[screen] == game.render()).all()
        with torch.no_grad():
            policy, values = again(torch.as_tensor(obs[None]))
        assert policy.sample().item() == action
        assert value == pytest.approx(values.item(), abs=0.006)
        assert probabilities == pytest.approx(policy.probs[0], abs=0.006)
        assert lives == game.env.unwrapped.ale.lives()
        obs, points, _, info = game.step(action)
        assert points == reward
        score += reward
    assert info["reward"] == score == recording["score"]


def test_a_run_of_another_title_is_refused(tmp_path, monkeypatch, capsys):
    state = {"env_id": "PongNoFrameskip-v4"}
    torch.save({"state": state}, tmp_path / "checkpoint.pt")
    for place, words in (tmp_path, "Pong"), (HERE, "no checkpoint"):
        monkeypatch.setattr(sys, "argv", ["agent.py", str(place)])
        with pytest.raises(SystemExit) as end:
            agent.main()
        assert end.value.code == 2
        err = capsys.readouterr().err
        assert words in err
        assert err.count("\n") == 1
