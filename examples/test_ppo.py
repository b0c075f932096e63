"""Tests of ppo.py and training_run.py."""

import copy
import csv
import json
import multiprocessing
import os
import pathlib
import signal
import sys

import gymnasium as gym
import numpy as np
import pytest
import torch
from PIL import Image

import ppo
import training_run
from game import Game, Games

BREAKOUT = "BreakoutNoFrameskip-v4"
PONG = "PongNoFrameskip-v4"
RUN = pathlib.Path("runs/BreakoutNoFrameskip-v4-0")
UPDATE = 32  # steps: 16 of each of 2 games
FILES = ["checkpoint.pt", "curve.csv", "weights.pt"]


@pytest.fixture
def run(monkeypatch, tmp_path):
    """Run the program in an empty folder, with few steps to an update."""
    monkeypatch.setattr(ppo, "STEPS", 16)
    monkeypatch.setattr(training_run, "UPDATES_TO_A_SAVE", 2)
    monkeypatch.setattr(training_run, "GAMES", 2)
    monkeypatch.setattr(training_run, "HERE", tmp_path / "nothing published")
    monkeypatch.chdir(tmp_path)
    handler = signal.getsignal(signal.SIGINT)

    def run(*args):
        options = "--games", "2", "--device", "cpu", "--threads", "1"
        monkeypatch.setattr(sys, "argv", ["ppo.py", *options, *args])
        training_run.main(ppo.__doc__, ppo.Agent, ppo.train)
        # Nothing is written elsewhere.
        assert [path.name for path in tmp_path.iterdir()] == ["runs"]

    yield run
    signal.signal(signal.SIGINT, handler)


@pytest.fixture
def refused(run, capsys):
    """Run the program with what it refuses; return its one line."""

    def refused(*args):
        capsys.readouterr()
        with pytest.raises(SystemExit) as end:
            run(*args)
        assert end.value.code == 2
        err = capsys.readouterr().err
        assert err.startswith("ppo.py: ")
        assert err.count("\n") == 1
        return err

    return refused


def curve():
    """Return the rows of the curve, as numbers."""
    with open(RUN / "curve.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    return [{name: float(x) for name, x in row.items()} for row in rows]


def files():
    """Return all files of the run."""
    return {path.name: path.read_bytes() for path in RUN.iterdir()}


def checkpoint(folder=RUN):
    """Return what a run goes on from."""
    return torch.load(folder / "checkpoint.pt", weights_only=True)


def same_weights(one, other):
    one, other = one["weights"], other["weights"]
    return all(torch.equal(one[name], other[name]) for name in one)


# Training


def test_a_run_leaves_its_curve_its_weights_and_a_checkpoint(run, capsys):
    run("--steps", "150")
    assert sorted(files()) == FILES
    rows = curve()
    # after every other update, and after the last
    assert [row["steps"] for row in rows] == [64, 128, 160]
    for row in rows:
        assert min(row["games"], row["network"], row["learning"]) > 0
        assert 0 < row["entropy"] <= 1.387  # log(4)
    weights = torch.load(RUN / "weights.pt", weights_only=True)
    assert same_weights({"weights": weights}, checkpoint())
    lines = capsys.readouterr().out.splitlines()
    counts = [line.split(" steps")[0] for line in lines]
    assert counts == ["64", "128", "160", f"{RUN}: 160"]


def test_the_same_seed_trains_the_same(run):
    for name, seed in ("one", "0"), ("same", "0"), ("other", "1"):
        run("--steps", "64", "--run", f"runs/{name}", "--seed", seed)
    one, same, other = (
        checkpoint(pathlib.Path("runs", name))
        for name in ("one", "same", "other")
    )
    assert same_weights(one, same)
    assert not same_weights(one, other)


def test_resuming_restores_all_but_the_games(run, monkeypatch):
    run("--steps", "128")
    saved = checkpoint()
    seen = []

    def play(agent, games, obs, seconds):
        seen.append({"weights": copy.deepcopy(agent.state_dict())})
        seen.append(torch.get_rng_state())
        raise ZeroDivisionError

    with monkeypatch.context() as patch:
        patch.setattr(ppo, "play", play)
        with pytest.raises(ZeroDivisionError):
            run("--steps", "256", "--resume")
    weights, random = seen
    assert same_weights(weights, saved)
    # The seeds of the new games were drawn, and nothing else.
    torch.set_rng_state(saved["random"])
    torch.randint(2**31, (2,))
    assert torch.equal(torch.get_rng_state(), random)

    run("--steps", "256", "--resume")
    assert [row["steps"] for row in curve()] == [64, 128, 192, 256]
    # The optimiser went on: four minibatches, each epoch of each update.
    optimizer = checkpoint()["optimizer"]
    count = optimizer["state"][0]["step"].item()
    assert count == 256 / UPDATE * ppo.EPOCHS * ppo.MINIBATCHES
    # The rate that the last update had: the eighth of eight.
    rate = optimizer["param_groups"][0]["lr"]
    assert rate == pytest.approx(ppo.LEARNING_RATE / 8)


def test_where_a_run_ends_is_part_of_it(run, monkeypatch, capsys):
    """It doesn't move without a word, nor does the learning rate's end."""
    interrupt_after(monkeypatch, training_run.Run, "add")
    run("--steps", "128")
    assert checkpoint()["state"]["steps"] == 2 * UPDATE
    run("--resume")
    assert checkpoint()["state"]["steps"] == 128
    assert "in place of" not in capsys.readouterr().out
    before = files()
    run("--resume")  # nothing is left to do
    assert files() == before
    run("--resume", "--steps", "160")
    assert "at 160 steps in place of 128" in capsys.readouterr().out
    assert checkpoint()["state"]["until"] == 160


def interrupt_after(monkeypatch, owner, name):
    """Let Ctrl-C come when a method has been called for the first time."""
    method = getattr(owner, name)
    calls = []

    def interrupting(*args, **kwargs):
        result = method(*args, **kwargs)
        if not calls:
            os.kill(os.getpid(), signal.SIGINT)
        calls.append(1)
        return result

    monkeypatch.setattr(owner, name, interrupting)


@pytest.mark.parametrize(
    ("owner", "name", "updates"),
    [
        (training_run.Games, "reset", 1),
        (ppo, "learn", 1),
        (training_run.Run, "add", 2),
    ],
)
def test_ctrl_c_finishes_the_update_and_saves(
    run, monkeypatch, capsys, owner, name, updates
):
    interrupt_after(monkeypatch, owner, name)
    run("--steps", "1000")
    steps = updates * UPDATE
    assert checkpoint()["state"]["steps"] == steps
    assert f"{RUN}: {steps} steps of 1,000" in capsys.readouterr().out


def test_a_crash_while_saving_leaves_the_checkpoint_before(run, monkeypatch):
    run("--steps", "64")
    before = files()["checkpoint.pt"]

    def half(data, path):
        pathlib.Path(path).write_bytes(b"half")
        raise OSError("no space left")

    monkeypatch.setattr(torch, "save", half)
    with pytest.raises(OSError, match="no space"):
        run("--steps", "128", "--resume")
    assert files()["checkpoint.pt"] == before


# Evaluation and film


def test_evaluation_plays_whole_games_in_both_ways(run, monkeypatch, capsys):
    run(PONG, "--steps", "32")
    # A short limit for a game: whole games of Pong are long.
    kwargs = gym.spec(PONG).kwargs
    monkeypatch.setitem(kwargs, "max_num_frames_per_episode", 2000)
    run(PONG, "--evaluate")
    folder = pathlib.Path("runs/PongNoFrameskip-v4-0")
    scores = json.loads((folder / "evaluation.json").read_text())
    assert list(scores) == ["served", "alone"]
    assert np.shape(list(scores.values())) == (2, 2)
    out = capsys.readouterr().out
    for way, points in scores.items():
        assert f"\n{way}: 2 games, {np.mean(points):.1f} points" in out


class Finals:
    """Three games: the second ends twice before the others end once."""

    num_envs = 3
    ends = [[1], [1], [0, 1], [2]]

    def __init__(self):
        self.step_number = -1

    def reset(self, seed):
        return np.zeros((3, 4, 84, 84), np.uint8), {}

    def step(self, actions):
        self.step_number += 1
        mask = np.isin(range(3), self.ends[self.step_number])
        scores = np.array([10.0, 20.0, 30.0]) + self.step_number
        infos = {"final_info": {"reward": scores}, "_final_info": mask}
        return self.reset(0)[0], None, None, None, infos


def test_only_the_first_game_of_each_counts():
    agent = ppo.Agent(4)
    assert training_run.whole_games(agent, Finals(), seed=0) == [12, 20, 33]


def test_the_film_is_one_whole_game(run, capsys):
    run("--steps", "32")
    # The weights alone are enough, wherever they come from.
    (RUN / "checkpoint.pt").unlink()
    run("--film")
    with Image.open(RUN / "film.webp") as film:
        assert film.size == (2 * 160, 2 * 210)
        length = film.n_frames
        first = np.asarray(film.convert("RGB"))
    game = Game(0, BREAKOUT, **training_run.SERVED)
    game.reset()
    # Each pixel became four, and nothing was lost.
    larger = game.render().repeat(2, axis=0).repeat(2, axis=1)
    assert (first == larger).all()
    # Two steps that look the same may share a frame of the film.
    line = capsys.readouterr().out.splitlines()[-1]
    steps = int(line.split("'length': ")[1].split(",")[0])
    assert steps / 2 < length <= steps


def test_published_weights_in_half_precision_serve_where_no_run_is(
    run, refused, monkeypatch, tmp_path, capsys
):
    weights = ppo.Agent(4).state_dict()
    published = tmp_path / "runs"
    published.mkdir()
    halves = {name: weight.half() for name, weight in weights.items()}
    torch.save(halves, published / "breakout.pt")
    monkeypatch.setattr(training_run, "HERE", published)
    run("--evaluate")
    assert "breakout.pt" in capsys.readouterr().out
    assert not RUN.exists()
    # Not for another title, nor in place of a run that was named.
    for args in [PONG], ["--run", "runs/mine"]:
        assert "nothing trained" in refused(*args, "--evaluate")


# Wrong input ends in a line


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["--evaluate"], "nothing trained"),
        (["--resume"], "nothing to resume"),
        (["BreakoutNoFrameskip-v3"], "BreakoutNoFrameskip-v4"),
        (["CartPole-v1"], "CartPole"),
        (["--games", "0"], "num_envs"),
        (["--seed", "-1"], "seed"),
        (["--steps", "0"], "--steps"),
        (["--threads", "0"], "--threads"),
        (["--run", __file__], "not a folder"),
        (["--run", f"{os.devnull}/run"], "--run"),
        (["--device", "abacus"], "--device"),
    ],
)
def test_wrong_input_is_one_line(refused, tmp_path, args, words):
    assert words in refused(*args)
    assert not list(tmp_path.iterdir())


def test_a_run_is_not_overwritten(run, refused):
    run("--steps", "32")
    before = files()
    assert "--resume" in refused("--steps", "32")
    for option in "--resume", "--evaluate", "--film":
        err = refused(PONG, "--run", str(RUN), option)
        assert f"is a run of {BREAKOUT}" in err
    assert files() == before
    # Without a checkpoint another title is known by the weights' shape.
    (RUN / "checkpoint.pt").unlink()
    err = refused(PONG, "--run", str(RUN), "--film")
    assert "other weights than an agent for Pong" in err


@pytest.mark.parametrize("name", ["weights.pt", "checkpoint.pt"])
@pytest.mark.parametrize("data", [b"", b"half of it"])
def test_files_that_cant_be_read(run, refused, name, data):
    run("--steps", "32")
    (RUN / name).write_bytes(data)
    assert f"{RUN / name} can't be read: " in refused("--film")


# What is learned


def test_advantages_worked_out_by_hand(monkeypatch):
    """Three games: one that goes on, one that terminates, one truncated."""
    monkeypatch.setattr(ppo, "GAMMA", 0.5)
    monkeypatch.setattr(ppo, "LAMBDA", 0.5)
    on, over = [0, 0, 0], [0, 1, 0]
    # a row for each game here, a column in the function
    rewards = [[1, 0, 2]] * 3
    terminated, truncated = [on, over, on], [on, on, over]
    values, final_values = [[4, 8, 2]] * 3, [on, on, [0, 6, 0]]
    table = rewards, terminated, truncated, values, final_values
    *outcomes, final = [torch.tensor(each).T.float() for each in table]
    result = ppo.advantages(*outcomes, torch.tensor([4.0, 4.0, 4.0]), final)
    # Step 2: 2 + 4/2 - 2 = 2 for all.
    # Step 1: errors 0 + 2/2 - 8 = -7, 0 - 8 = -8 and 0 + 6/2 - 8 = -5; to the
    # first alone comes 1/4 of step 2, so -6.5.
    # Step 0: error 1 + 8/2 - 4 = 1 for all, and 1/4 of step 1.
    expected = [[-0.625, -6.5, 2], [-1, -8, 2], [-0.25, -5, 2]]
    assert result.T.tolist() == expected


def seconds():
    return dict.fromkeys(["games", "network", "learning"], 0.0)


def test_a_replaced_worker_is_bootstrapped_from_final_obs(monkeypatch):
    """The value of the last observation before it died counts."""
    calls, advantages = [], ppo.advantages
    monkeypatch.setattr(
        ppo, "advantages", lambda *a: calls.append(a) or advantages(*a)
    )
    monkeypatch.setattr(ppo, "STEPS", 30)
    agent = ppo.Agent(4)
    with Games(2, BREAKOUT, processes=2, **ppo.TRAINING) as games:
        first, _ = games.reset()
        _, obs, _ = ppo.play(agent, games, first, seconds())
        monkeypatch.setattr(ppo, "STEPS", 1)
        multiprocessing.active_children()[0].kill()
        _, after, _ = ppo.play(agent, games, obs, seconds())
    _, terminated, truncated, values, _, final_values = calls[-1]
    (lost,) = np.flatnonzero(truncated[0])
    assert not terminated[0, lost]
    assert (after[lost] == first[lost]).all()
    assert (obs[lost] != first[lost]).any()
    assert final_values[0, lost].item() == pytest.approx(
        values[0, lost].item(), rel=1e-4
    )
    assert final_values[0, 1 - lost] == 0


class Pictures:
    """A vector of games: the action that pays is where the picture is lit."""

    num_envs = 8

    def reset(self):
        self.bright = np.random.randint(4, size=self.num_envs)
        obs = np.zeros((self.num_envs, 4, 84, 84), np.uint8)
        for game, place in enumerate(self.bright):
            edge = 20 * place
            obs[game, :, edge : edge + 20] = 200
        return obs

    def step(self, actions):
        rewards = (actions == self.bright).astype(float)
        over = np.ones(self.num_envs, bool)
        return self.reset(), rewards, over, ~over, {}


@pytest.mark.parametrize("bfloat16", [False, True])
def test_it_learns_which_action_pays(monkeypatch, bfloat16):
    monkeypatch.setattr(ppo, "STEPS", 16)
    torch.manual_seed(0)
    np.random.seed(0)
    agent, games = ppo.Agent(4, bfloat16), Pictures()
    optimizer = torch.optim.Adam(agent.parameters(), ppo.LEARNING_RATE)
    obs, wins = games.reset(), []
    for _ in range(8):
        batch, obs, _ = ppo.play(agent, games, obs, seconds())
        ppo.learn(agent, optimizer, batch)
        policy, _ = agent(torch.as_tensor(obs))
        wins.append(policy.probs[range(8), games.bright].mean().item())
    assert wins[0] < 0.5
    assert wins[-1] > 0.8
