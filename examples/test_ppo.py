"""Tests of ppo.py and training_run.py."""

import argparse
import csv
import json
import os
import pathlib
import shutil
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


@pytest.fixture
def run(monkeypatch, tmp_path):
    """Run the program in an empty folder, with few steps to an update."""
    monkeypatch.setattr(ppo, "STEPS", 16)
    monkeypatch.setattr(training_run, "UPDATES_TO_A_SAVE", 2)
    monkeypatch.setattr(training_run, "GAMES", 2)
    monkeypatch.setattr(training_run, "PUBLISHED", tmp_path / "breakout.pt")
    monkeypatch.chdir(tmp_path)
    handler = signal.getsignal(signal.SIGINT)

    def run(*args):
        options = "--games", "2", "--device", "cpu", "--threads", "1"
        monkeypatch.setattr(sys, "argv", ["ppo.py", *options, *args])
        training_run.main(ppo.__doc__, ppo.Agent, ppo.train)

    yield run
    signal.signal(signal.SIGINT, handler)


@pytest.fixture
def refused(run, capsys):
    """Run the program with what it refuses; return its last line."""

    def refused(*args):
        with pytest.raises(SystemExit):
            run(*args)
        line = capsys.readouterr().err.splitlines()[-1]
        assert line.startswith("ppo.py: error: ")
        return line

    return refused


def files():
    """Return all files of the run."""
    return {path.name: path.read_bytes() for path in RUN.iterdir()}


def checkpoint():
    """Return what a run goes on from."""
    return torch.load(RUN / "checkpoint.pt")


def same(one, other):
    """Raise an `AssertionError` unless all tensors are, to the last bit."""
    torch.testing.assert_close(one, other, rtol=0, atol=0)


# Training


def test_a_run_leaves_its_curve_its_weights_and_a_checkpoint(
    run, refused, capsys
):
    run("--steps", "150")
    before = files()
    assert sorted(before) == ["checkpoint.pt", "curve.csv", "weights.pt"]
    with open(RUN / "curve.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    # after every other update, and after the last
    assert [row["steps"] for row in rows] == ["64", "128", "160"]
    for row in rows:
        for part in "games", "network", "learning":
            assert float(row[part]) > 0
        assert 0 < float(row["entropy"]) <= 1.387  # log(4)
    same(torch.load(RUN / "weights.pt"), checkpoint()["weights"])
    lines = capsys.readouterr().out.splitlines()
    counts = [line.split(" steps")[0] for line in lines]
    assert counts == [f"{RUN}: 0", "64", "128", "160"]

    # It isn't overwritten.
    assert "--resume" in refused("--steps", "32")
    assert files() == before


def test_the_same_seed_trains_the_same(run):
    weights = []
    for seed in "0", "0", "1":
        run("--steps", "64", "--seed", seed)
        (path,) = pathlib.Path("runs").glob("*/weights.pt")
        weights.append(torch.load(path))
        shutil.rmtree("runs")
    same(weights[0], weights[1])
    with pytest.raises(AssertionError):
        same(weights[0], weights[2])


def test_resuming_restores_all_but_the_games(run):
    run("--steps", "64")
    saved = checkpoint()
    torch.manual_seed(1)
    agent = ppo.Agent(4)
    optimizer = torch.optim.Adam(agent.parameters())
    args = argparse.Namespace(
        folder=RUN, env_id=BREAKOUT, steps=None, resume=True
    )
    # Nothing is added, so that what is saved is what was restored.
    training_run.Run(args, agent, optimizer).add(0, [], 0)
    again = checkpoint()
    for part in "weights", "optimizer", "random":
        same(again[part], saved[part])
    assert again["state"].pop("rows")[:-1] == saved["state"].pop("rows")
    assert again["state"] == saved["state"]


def test_where_a_run_ends_is_part_of_it(run, capsys):
    """It doesn't move without a word, nor does the learning rate's end."""
    run("--steps", "64")
    before = files()
    run("--resume")  # nothing is left to do
    assert files() == before
    run("--resume", "--steps", "128")
    assert "at 128 steps in place of 64" in capsys.readouterr().out
    saved = checkpoint()
    assert saved["state"]["until"] == 128
    # The optimiser went on: four minibatches, each epoch of each update.
    steps = saved["optimizer"]["state"][0]["step"].item()
    assert steps == 128 / UPDATE * ppo.EPOCHS * ppo.MINIBATCHES
    # The rate that the last update had: the fourth of four.
    rate = saved["optimizer"]["param_groups"][0]["lr"]
    assert rate == pytest.approx(ppo.LEARNING_RATE / 4)


@pytest.mark.parametrize(
    ("owner", "name", "updates"),
    [(Games, "reset", 1), (ppo, "learn", 1), (training_run.Run, "add", 2)],
)
def test_ctrl_c_finishes_the_update_and_leaves_the_run_to_be_resumed(
    run, monkeypatch, capsys, owner, name, updates
):
    method = getattr(owner, name)

    def interrupted(*args, **kwargs):
        result = method(*args, **kwargs)
        os.kill(os.getpid(), signal.SIGINT)
        return result

    with monkeypatch.context() as patch:
        patch.setattr(owner, name, interrupted)
        run("--steps", "128")
    assert checkpoint()["state"]["steps"] == updates * UPDATE
    run("--resume")
    assert checkpoint()["state"]["steps"] == 128
    assert "in place of" not in capsys.readouterr().out


def test_a_crash_while_saving_leaves_the_checkpoint_before(run, monkeypatch):
    run("--steps", "64")
    before = files()["checkpoint.pt"]

    def half(data, path):
        path.write_bytes(b"half")
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
    monkeypatch.setitem(kwargs, "max_num_frames_per_episode", 800)
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
    run("--film")
    with Image.open(RUN / "film.webp") as film:
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
    run, refused, capsys
):
    torch.save(ppo.Agent(4).half().state_dict(), "breakout.pt")
    run("--evaluate")
    assert "breakout.pt" in capsys.readouterr().out
    assert os.listdir("runs") == ["published"]
    # Not for another title.
    assert "train it first" in refused(PONG, "--evaluate")


@pytest.mark.parametrize(
    ("args", "words"),
    [
        ("--evaluate", "train it first"),
        ("--resume", "train it first"),
        ("BreakoutNoFrameskip-v3", "BreakoutNoFrameskip-v4"),
        ("CartPole-v1", "CartPole"),
        ("--games 0", "--games"),
        ("--steps 0", "--steps"),
        ("--threads 0", "--threads"),
        ("--seed -1", "seed"),
        ("--device abacus", "abacus"),
    ],
)
def test_wrong_input_ends_in_a_line(refused, tmp_path, args, words):
    assert words in refused(*args.split())
    assert not list(tmp_path.iterdir())


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
    table = rewards, terminated, truncated, final_values, values
    table = [torch.tensor(each).T.float() for each in table]
    result = ppo.advantages(*table, torch.tensor([4.0, 4.0, 4.0]))
    # Step 2: 2 + 4/2 - 2 = 2 for all.
    # Step 1: errors 0 + 2/2 - 8 = -7, 0 - 8 = -8 and 0 + 6/2 - 8 = -5; to the
    # first alone comes 1/4 of step 2, so -6.5.
    # Step 0: error 1 + 8/2 - 4 = 1 for all, and 1/4 of step 1.
    expected = [[-0.625, -6.5, 2], [-1, -8, 2], [-0.25, -5, 2]]
    assert result.T.tolist() == expected


def seconds():
    return dict.fromkeys(["games", "network", "learning"], 0.0)


def test_a_game_cut_off_is_worth_what_its_last_observation_is(monkeypatch):
    monkeypatch.setattr(ppo, "STEPS", 40)
    kwargs = gym.spec(BREAKOUT).kwargs
    monkeypatch.setitem(kwargs, "max_num_frames_per_episode", 4 * 40)
    given = []
    monkeypatch.setattr(ppo, "advantages", lambda *a: given.extend(a) or a[0])
    agent = ppo.Agent(4)
    results = []
    with Games(2, processes=0, on_life_loss="ignore") as games:
        wait = games.step_wait

        def step_wait():
            results.append(wait())
            return results[-1]

        monkeypatch.setattr(games, "step_wait", step_wait)
        ppo.play(agent, [games], [games.reset()[0]], seconds())
    obs, _, _, truncated, infos = results[-1]
    last = np.stack(infos["final_obs"])
    assert truncated.all()
    assert (last != obs).any((1, 2, 3)).all()
    _, _, _, final_values, _, _ = given
    expected = agent(torch.as_tensor(last))[1]
    torch.testing.assert_close(final_values[-1], expected)
    assert not final_values[:-1].any()


class Pictures:
    """A vector of games: the action that pays is where the picture is lit."""

    def __init__(self, num_envs):
        self.num_envs = num_envs

    def reset(self):
        self.bright = np.random.randint(4, size=self.num_envs)
        obs = np.zeros((self.num_envs, 4, 84, 84), np.uint8)
        for game, place in enumerate(self.bright):
            edge = 20 * place
            obs[game, :, edge : edge + 20] = 200
        return obs

    def step_async(self, actions):
        self.actions = actions

    def step_wait(self):
        rewards = (self.actions == self.bright).astype(float)
        over = np.ones(self.num_envs, bool)
        return self.reset(), rewards, over, ~over, {}


@pytest.mark.parametrize(
    ("bfloat16", "shares"), [(False, [8]), (False, [5, 3]), (True, [4, 4])]
)
def test_it_learns_which_action_pays(monkeypatch, bfloat16, shares):
    monkeypatch.setattr(ppo, "STEPS", 16)
    torch.manual_seed(0)
    np.random.seed(0)
    agent = ppo.Agent(4, bfloat16)
    optimizer = torch.optim.Adam(agent.parameters(), ppo.LEARNING_RATE)
    fleet = [Pictures(share) for share in shares]
    obs, wins = [games.reset() for games in fleet], []
    for _ in range(8):
        batch, _ = ppo.play(agent, fleet, obs, seconds())
        ppo.learn(agent, optimizer, batch)
        policy, _ = agent(torch.cat(obs))
        bright = np.concatenate([games.bright for games in fleet])
        wins.append(policy.probs[range(8), bright].mean().item())
    assert wins[0] < 0.5
    assert wins[-1] > 0.8
