"""Tests of the instruments: quick ones, about their manners."""

import contextlib
import multiprocessing
import os
import signal
import subprocess
import sys
from unittest import mock

import numpy as np
import psutil
import pytest
import torch

import agent
import benchmark
import chaos
import common
import compare
import contenders
import differences
import facts
import game
import ppo
import race
import sb3_updates
import single
import step_time
import still
import training
import training_run
import waiting
import watch
from recordings import unpack

# Of the benchmark: fewer contenders and titles than it has by itself.
CONTENDERS = ["limit", "games", "worker", "ale", "sb3_games", "ready"]
COLUMNS = {
    "lockstep": (CONTENDERS, {"Pong": {"game": "Pong"}}),
    "agent": (["games", "sb3"], {"Breakout": {"network": contenders.AGENT}}),
}
KILLS = {"RATE": 0.5, "SIGNALS": {"killed": [signal.SIGKILL]}}


@pytest.fixture
def trial(monkeypatch, tmp_path):
    """All that would be written goes to a folder of the test."""
    monkeypatch.setattr(common, "RESULTS", tmp_path / "measure/results")
    monkeypatch.setattr(common, "RUNS", tmp_path / "runs/measure")
    return tmp_path


def files(folder):
    return [path for path in folder.rglob("*") if path.is_file()]


# What a run writes


@pytest.mark.parametrize(
    ("module", "arguments", "settings", "written"),
    [
        (differences, [], {}, "differences.json"),
        (step_time, ["Pong"], {"ROUNDS": 1, "STEPS": 9}, "step_time.json"),
        (
            chaos,
            ["soak", "replace"],
            KILLS | {"SECONDS": 0.1, "STEPS": 9, "ROUNDS": 1},
            "chaos.json",
        ),
        (facts, [], {"PARTS": [facts.frames]}, "facts.json"),
        (still, [], {"MAKES": {"still": still.Still}}, "still.json"),
        (compare, [game.__file__], {"ROUNDS": 1}, "compare.json"),
        (
            benchmark,
            ["tune", "lockstep", "agent"],
            {"ENGINES": ["ale"], "COLUMNS": COLUMNS, "ROUNDS": 1}
            | {"LONG": 0.1},
            "benchmark.json",
        ),
        (race, [], {"ROUNDS": 1, "STEPS": 3}, "race.json"),
        (
            single,
            [],
            {"PARTS": {"long": (["sb3_single", "ale"], single.BREAKOUT, 0.1)}}
            | {"ROUNDS": 1, "TUNING": 0.1},
            "single.json",
        ),
        (
            sb3_updates,
            [],
            {"ROUNDS": 1, "GAMES": 2}
            | {"ATARI": dict(n_steps=8, batch_size=16, n_epochs=1)},
            "sb3_updates.json",
        ),
        (waiting, ["quiet"], {"ROUNDS": 1, "STEPS": 9}, "waiting.json"),
    ],
)
def test_a_run_writes_to_runs_alone(
    module, arguments, settings, written, trial, monkeypatch
):
    for name, value in settings.items():
        monkeypatch.setattr(module, name, value)
    monkeypatch.setattr(sys, "argv", ["x.py", *arguments])
    module.main()
    assert files(trial) == [trial / "runs/measure" / written]


@pytest.mark.parametrize("module", [benchmark, facts, race, step_time])
def test_a_busy_machine_publishes_nothing(module, trial, monkeypatch):
    monkeypatch.setattr(common, "watched", lambda *_: (None, 1.234))
    monkeypatch.setattr(common, "CORES", 2)
    monkeypatch.setattr(sys, "argv", ["x.py", "--publish"])
    with pytest.raises(SystemExit, match="1.23 of 2 cores are busy"):
        module.main()
    assert files(trial) == []


def test_others_are_those_that_this_program_has_not_started(monkeypatch):
    command = [sys.executable, "-c", "while True: pass"]
    with subprocess.Popen(command) as process:
        ours = [
            each
            for each in psutil.process_iter(["cpu_times"])
            if each.pid in (os.getpid(), process.pid)
        ]
        assert common.others() > 0
        monkeypatch.setattr(psutil, "process_iter", lambda _: ours)
        assert common.others() == 0
        process.kill()


@pytest.mark.parametrize("machine", [common.machine(), "another"])
def test_results_of_another_machine_are_not_mixed(trial, monkeypatch, machine):
    path = common.target("x.json", publish=False)
    common.write(path, {"machine": machine, "old": {}})
    monkeypatch.setattr(sys, "argv", ["x.py"])
    common.measure("", path.name, ["new"], lambda *_: {})
    data = common.read(path)
    assert data["machine"] == common.machine()
    assert data["new"].keys() == {"date", "commit"}
    assert ("old" in data) == (machine == common.machine())


def test_neighbours_come_and_go():
    """They are above all programs here, one on each core, or nobody starts."""
    try:
        with contenders.neighbours():
            started = [each.pid for each in multiprocessing.active_children()]
            cores = [[*os.sched_getaffinity(pid)] for pid in started]
            policies = {os.sched_getscheduler(pid) for pid in started}
    except PermissionError:
        pass
    else:
        ours = sorted(os.sched_getaffinity(0))
        assert sorted(cores) == [[core] for core in ours]
        assert policies == {os.SCHED_FIFO}
    assert not multiprocessing.active_children()


def test_an_agent_chooses_and_its_time_is_not_counted(monkeypatch):
    seconds = 0
    seen = np.zeros((8, 4, 84, 84), np.uint8)
    actions = np.arange(8) % 4

    def steps():
        nonlocal seconds
        for row in contenders.rows("Breakout", 8):
            seconds += 1
            yield seen, int((row == actions).all())  # not the first

    def choose(obs):
        nonlocal seconds
        assert obs is seen
        seconds += 100
        return actions

    monkeypatch.setattr(contenders, "pause", contenders.AGENT)
    monkeypatch.setattr(contenders, "steps", steps(), raising=False)
    monkeypatch.setattr(contenders, "choose", choose)
    monkeypatch.setattr(contenders.time, "perf_counter", lambda: seconds)
    assert contenders.play(10) == 9 / 10


def test_a_single_process_is_the_program_itself():
    """As in the words `processes=0`."""
    kind, options, _ = benchmark.setup("games_single", 0)
    steps = getattr(contenders, kind)(**options)
    next(steps)
    assert not multiprocessing.active_children()
    steps.close()


def test_games_are_shared_out_as_the_words_say(monkeypatch):
    monkeypatch.setattr(waiting, "GAMES", 4)
    monkeypatch.setattr(waiting, "CORES", 2)
    slow, fast = np.array([3.0, 3, 1, 1]), np.array([1.0, 1, 1, 1])
    ways = waiting.simulate([slow, slow, fast])
    assert ways == {
        "as it is": 6 + 6 + 2,
        # After the first step one game of the slower process moves.
        "one moves": 6 + 5 + 3,
        "the next": 4 + 4 + 2,
        "longest first": 4 + 4 + 2,
        "nobody waits": 4 + 4 + 2,
    }


WAITS = """
import pathlib, sys, time
path, lines = sys.argv[1:]
while len(pathlib.Path(path).read_text().splitlines()) < int(lines):
    time.sleep(0.01)
"""


def test_a_run_that_is_resumed_is_watched_on(trial, monkeypatch):
    """Its rows come after those before, and so do their seconds."""
    monkeypatch.setattr(watch, "ROW", 0.1)
    handler = signal.getsignal(signal.SIGINT)
    path = trial / "cores.csv"
    path.touch()
    for lines in 3, 6:
        command = [sys.executable, "-c", WAITS, str(path), str(lines)]
        monkeypatch.setattr(sys, "argv", ["watch.py", str(path), *command])
        with pytest.raises(SystemExit) as end:
            watch.main()
        assert end.value.code == 0
        signal.signal(signal.SIGINT, handler)
    header, *rows = path.read_text().splitlines()
    assert header.split(",") == watch.COLUMNS
    seconds = [float(row.split(",")[0]) for row in rows]
    assert len(seconds) >= 5
    assert seconds == sorted(set(seconds))


def test_the_middle_is_surely_between():
    assert compare.sure(list(range(100))) == (40, 60)
    assert compare.sure([3, 1, 2]) == (1, 3)


# Training on both sides


@pytest.mark.parametrize("make", [training.InProcesses, training.Stock])
def test_the_wrapped_games_report_whole_games_as_games_do(make):
    """A lost life ends an episode, and the game's end brings its score."""
    lives = whole = 0
    points = np.zeros(2)
    with contextlib.closing(make(2, game.BREAKOUT)) as wrapped:
        wrapped.action_space.seed(0)
        obs, _ = wrapped.reset(seed=1)
        assert (obs.shape, obs.dtype) == ((2, 4, 84, 84), np.uint8)
        for _ in range(800):
            actions = wrapped.action_space.sample()
            wrapped.step_async(actions)
            _, rewards, terminated, _, infos = wrapped.step_wait()
            points += rewards
            lives += terminated.sum()
            # Rows of one point each: clipped and raw are the same.
            for i, score in training_run.final_scores(infos).items():
                assert score == points[i]
                points[i] = 0
                whole += 1
    assert whole >= 2
    # five lives to a game; the last games have not ended
    assert 5 * whole <= lives < 5 * (whole + 2)


@pytest.mark.parametrize(
    "side", ["turns", *training.SIDES, "stock", "envpool"]
)
def test_a_run_is_the_same_with_the_same_seed(monkeypatch, side):
    monkeypatch.setattr(ppo, "STEPS", 8)
    learn = mock.Mock(wraps=ppo.learn)
    monkeypatch.setattr(ppo, "learn", learn)
    for seed in 0, 0, 1:
        run = training.training(game.BREAKOUT, side, seed, 2, False, games=2)
        for seconds, _ in run:
            assert min(seconds) > 0
    _, first, _, same, _, other = [
        call.args[-1] for call in learn.call_args_list
    ]
    assert all(map(torch.equal, first, same))
    assert not all(map(torch.equal, first, other))


def test_sb3s_agent_is_ours():
    """With the weights of the trained one."""
    env = sb3_updates.on_games()
    obs = torch.as_tensor(env.reset())
    theirs = sb3_updates.agent_on(env, trained=True).policy
    env.close()
    ours = ppo.Agent(4)
    ours.load_state_dict(common.weights())
    policy, values = ours(obs)
    same = theirs.get_distribution(obs).distribution.probs
    torch.testing.assert_close(policy.probs, same)
    torch.testing.assert_close(values, theirs.predict_values(obs)[:, 0])


def test_who_plays_still_sees_the_newest_picture_four_times():
    """From the first observation on, under whatever happens."""
    both = [make(0, on_life_loss="continue") for make in still.MAKES.values()]
    moving, same = [one.reset() for one in both]
    for step in range(300):
        assert (same == moving[-1]).all() and same.shape == moving.shape
        (moving, *told), (same, *also) = [one.step(step % 4) for one in both]
        assert told == also


# The agent's recording


@pytest.fixture
def run(trial, monkeypatch):
    """A folder as a training leaves it."""
    torch.manual_seed(0)
    state = {
        "env_id": game.BREAKOUT,
        "steps": 7,
        "until": 9,
        "seconds": {"games": 1.0},
    }
    saved = {"weights": ppo.Agent(4).state_dict(), "state": state}
    torch.save(saved, trial / "checkpoint.pt")
    (trial / "curve.csv").write_text("steps,score\n7,1\n")
    monkeypatch.setattr(agent, "judge", lambda *_: {"served": [1]})
    return trial


def test_of_a_further_run_there_are_curve_and_scores_alone(run, monkeypatch):
    monkeypatch.setattr(
        sys, "argv", ["agent.py", str(run), "--name", "agent_1"]
    )
    agent.main()
    written = {path.name: path for path in files(common.RUNS)}
    assert sorted(written) == ["agent_1.csv", "agent_1.json"]
    assert written["agent_1.csv"].read_text() == "steps,score\n7,1\n"
    about = common.read(written["agent_1.json"])
    assert about["scores"] == {"served": [1]}
    assert (about["steps"], about["until"]) == (7, 9)


def test_of_a_young_agent_there_is_a_recording_alone(run, monkeypatch):
    monkeypatch.setattr(agent, "YOUNG", 5)
    monkeypatch.setattr(sys, "argv", ["agent.py", str(run), "--young"])
    agent.main()
    (young,) = files(common.RUNS)
    assert young.relative_to(common.RUNS).as_posix() == "page/data/young.json"
    recording = common.read(young)
    assert (recording["start"], recording["before"]) == (0, 0)
    assert (recording["trained"], len(recording["decisions"])) == (7, 5)


def test_the_recording_is_what_the_agent_saw_and_did(run, monkeypatch):
    """The published weights play it again, to the last bit."""
    monkeypatch.setattr(agent, "MOST", 50)
    monkeypatch.setattr(agent, "SAVED", 5)
    monkeypatch.setattr(sys, "argv", ["agent.py", str(run)])
    agent.main()

    made = common.RUNS
    assert len(files(made)) == 7
    about = common.read(made / "measure/results/agent.json")
    recording = common.read(made / "page/data/agent.json")
    assert about["film"]["reward"] == recording["score"]
    again = ppo.Agent(4)
    again.load_state_dict(torch.load(made / "examples/breakout.pt"))
    torch.manual_seed(0)
    one = agent.Game(0, game.BREAKOUT, **training_run.SERVED)
    assert recording["actions"] == one.meanings
    rgb = np.array(recording["rgb"], np.uint8)
    obs = one.reset()
    points = [0]
    for _ in range(recording["start"]):
        with torch.no_grad():
            policy, _ = again(torch.as_tensor(obs[None]))
        obs, reward, *_ = one.step(policy.sample().item())
        points.append(points[-1] + reward)
    assert points[-1] == recording["before"]
    older, frames = np.split(unpack(recording["frames"], 84, 84), [3])
    stack = [None, *older]
    for screen, frame, decision in zip(
        unpack(recording["screens"]),
        frames,
        recording["decisions"],
        strict=True,
    ):
        action, reward, lives, first, value, probabilities = decision
        stack = [frame] * 4 if first else [*stack[1:], frame]
        assert (np.array(stack) == obs).all()
        assert (rgb[screen] == one.render()).all()
        with torch.no_grad():
            policy, values = again(torch.as_tensor(obs[None]))
        assert policy.sample().item() == action
        assert value == pytest.approx(values.item(), abs=0.006)
        assert probabilities == pytest.approx(policy.probs[0], abs=0.006)
        assert lives == one.env.unwrapped.ale.lives()
        obs, got, _, info = one.step(action)
        assert got == reward
        points.append(points[-1] + got)
    assert len(recording["decisions"]) == 50
    while info is None:
        with torch.no_grad():
            policy, _ = again(torch.as_tensor(obs[None]))
        obs, got, _, info = one.step(policy.sample().item())
        points.append(points[-1] + got)
    assert info["reward"] == recording["score"] == points[-1]
    # No other fifty decisions score more.
    scored = np.subtract(points[50:], points[:-50])
    assert scored.max() == scored[recording["start"]] > 0

    missed = common.read(made / "page/data/missed.json")
    at = recording["start"] + 5
    _, decisions, *_ = agent.play(again, game.BREAKOUT, {at: 0})
    assert decisions[at - 5 : at] == recording["decisions"][:5]
    assert decisions[at][0] == 0
    assert missed["start"] == at + 1
    assert missed["decisions"] == decisions[at + 1 : at + 5]

    eight = common.read(made / "page/data/eight.json")
    pictures = unpack(eight["pictures"], 84, 84).reshape(8, -1, 84, 84)
    with game.Games(8, **agent.EIGHT) as games:
        obs, infos = games.reset()
        for step, actions in enumerate(zip(*eight["actions"], strict=True)):
            assert "final_info" not in infos
            if step % eight["every"] == 0:
                assert (obs[:, -1] == pictures[:, step // agent.EVERY]).all()
            obs, *_, infos = games.step([*map(int, actions)])
