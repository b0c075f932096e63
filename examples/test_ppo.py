"""Tests of ppo.py and training_run.py."""

import argparse
import collections
import contextlib
import multiprocessing
import os
import pathlib
import signal
import sys
from unittest import mock

import numpy as np
import pytest
import torch
from PIL import Image

import ppo
import training_run
from game import Game

RUN = pathlib.Path("runs/BreakoutNoFrameskip-v4-0")
CHECKPOINT = RUN / "checkpoint.pt"
UPDATE = 32  # steps: 16 of each of 2 games
SIGNALS = [signal.SIGINT, signal.SIGTERM]


@pytest.fixture
def run(monkeypatch, tmp_path, capsys):
    """Run the program in an empty folder; return the lines that it prints."""
    monkeypatch.setattr(ppo, "STEPS", 16)
    monkeypatch.setattr(training_run, "UPDATES_PER_SAVE", 2)
    monkeypatch.setattr(training_run, "GAMES", 2)
    monkeypatch.setattr(training_run, "PUBLISHED", tmp_path / "breakout.pt")
    monkeypatch.chdir(tmp_path)
    handlers = {number: signal.getsignal(number) for number in SIGNALS}

    def run(command):
        options = "--games 2 --device cpu --threads 1"
        argv = f"ppo.py {options} {command}".split()
        monkeypatch.setattr(sys, "argv", argv)
        with contextlib.suppress(SystemExit):
            training_run.main(ppo.__doc__, ppo.Agent, ppo.train)
        return "".join(capsys.readouterr()).splitlines()

    yield run
    for number, handler in handlers.items():
        signal.signal(number, handler)


# Training


def test_a_run_leaves_its_curve_and_a_checkpoint(run):
    lines = run("--steps 150")
    # after every other update, and after the last
    counts = [line.split(" steps")[0] for line in lines]
    assert counts == [f"{RUN}: 0", "64", "128", "160"]
    assert sorted(os.listdir(RUN)) == ["checkpoint.pt", "curve.csv"]
    curve = np.genfromtxt(RUN / "curve.csv", delimiter=",", names=True)
    assert curve["steps"].tolist() == [64, 128, 160]
    assert 0 < curve["entropy"].min() <= curve["entropy"].max() <= 1.387

    # It isn't overwritten.
    before = CHECKPOINT.read_bytes()
    assert "--resume" in run("--steps 32")[-1]
    assert CHECKPOINT.read_bytes() == before


def a_run(resume):
    """A `Run` of an agent that has learned nothing."""
    agent = ppo.Agent(4)
    optimizer = torch.optim.Adam(agent.parameters())
    args = argparse.Namespace(
        folder=RUN, checkpoint=CHECKPOINT, env_id="", steps=None, resume=resume
    )
    return training_run.Run(args, agent, optimizer)


def test_resuming_restores_all_but_the_games(run):
    """The score, too: the mean of the last hundred whole games."""
    first = a_run(resume=False)
    first.seconds["games"] = 1.0
    first.add(UPDATE, [1.0] * 80, 0)
    first.add(UPDATE, [2.0] * 60, 0)
    saved = torch.load(CHECKPOINT)
    second = a_run(resume=True)
    second.save(0)
    again = torch.load(CHECKPOINT)
    assert again.pop("state") == saved.pop("state")
    torch.testing.assert_close(again, saved, rtol=0, atol=0)
    second.add(2 * UPDATE, [5.0] * 10, 0)
    curve = np.genfromtxt(RUN / "curve.csv", delimiter=",", names=True)
    before, after = (40 * 1 + 60 * 2) / 100, (30 + 60 * 2 + 10 * 5) / 100
    assert curve["score"].tolist() == [before, before, after]


def do_in_first_update(monkeypatch, action):
    """Have something happen while the first update is learned from."""
    learn = ppo.learn

    def act_and_learn(*args):
        action()
        monkeypatch.setattr(ppo, "learn", learn)
        return learn(*args)

    monkeypatch.setattr(ppo, "learn", act_and_learn)


def test_a_killed_worker_is_told_and_the_training_goes_on(run, monkeypatch):
    def kill():
        multiprocessing.active_children()[0].kill()

    do_in_first_update(monkeypatch, kill)
    with pytest.warns(RuntimeWarning, match="SIGKILL") as warnings:
        lines = run("--steps 128")
    assert len(warnings) == 1
    assert lines[-1].startswith("128 steps")


@pytest.mark.parametrize("number", SIGNALS)
def test_ctrl_c_and_sigterm_finish_the_update_and_leave_it_to_be_resumed(
    run, monkeypatch, number
):
    do_in_first_update(monkeypatch, lambda: os.kill(os.getpid(), number))
    run("--steps 128")
    # Where it ends is part of the run.
    first, *_, last = run("--resume")
    assert first == f"{RUN}: {UPDATE} steps of 128"
    assert last.startswith("128 steps")
    # The rate that the last update had: the fourth of four.
    rate = torch.load(CHECKPOINT)["optimizer"]["param_groups"][0]["lr"]
    assert rate == pytest.approx(ppo.LEARNING_RATE / 4)


def test_a_title_without_noop_trains(run):
    assert run("ALE/Backgammon-v5 --steps 64")[-1].startswith("64 steps")


# Evaluation and film


def test_published_weights_play_whole_games_in_both_ways(run):
    torch.save(ppo.Agent(4).half().state_dict(), "breakout.pt")
    first, *lines = run("--evaluate")
    assert first == f"weights: {pathlib.Path.cwd()}/breakout.pt"
    assert len(lines) == 6
    for one, other, mean in (lines[:3], lines[3:]):
        points = [int(line.split()[2]) for line in (one, other)]
        assert f": mean {np.mean(points):.1f} ({min(points)} to" in mean
    # Not for another title.
    assert "train it first" in run("PongNoFrameskip-v4 --evaluate")[-1]


def test_only_the_first_game_of_each_counts(monkeypatch):
    """The second ends three times before the others end once."""
    ended = [{1: 20}, {1: 21}, {0: 12, 1: 22}, {2: 33}]
    obs = np.zeros((3, 4, 84, 84), np.uint8)
    games = mock.Mock(num_envs=3)
    games.reset.return_value = obs, {}
    games.step.side_effect = [(obs, scores) for scores in ended]
    monkeypatch.setattr(training_run, "final_scores", lambda infos: infos)
    assert training_run.whole_games(ppo.Agent(4), games, 0) == [12, 20, 33]


def test_the_film_is_one_whole_game(run):
    run("--steps 32")
    assert "game 0: " in run("--film")[-2]
    with Image.open(RUN / "film.webp") as film:
        assert film.n_frames > 10
        first = np.asarray(film.convert("RGB"))
    game = Game(0, **training_run.SERVED)
    game.reset()
    # Each pixel became four, and nothing was lost.
    assert (first[::2, ::2] == game.render()).all()


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("--evaluate", "train it first"),
        ("BreakoutNoFrameskip-v3", "BreakoutNoFrameskip-v4"),
        ("CartPole-v1", "CartPole"),
        ("--games 0", "--games"),
    ],
)
def test_wrong_input_ends_in_a_line(run, tmp_path, command, words):
    line = run(command)[-1]
    assert line.startswith("ppo.py: error: ")
    assert words in line
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


def test_a_game_cut_off_is_worth_what_its_last_observation_is(monkeypatch):
    """The first of two; the other goes on."""
    monkeypatch.setattr(ppo, "STEPS", 1)
    agent = ppo.Agent(4)
    shape = 3, 2, 4, 84, 84
    pictures = np.random.default_rng(0).integers(256, size=shape)
    before, last, after = pictures.astype(np.uint8)
    zeros, cut_off = np.zeros(2), np.array([True, False])
    games = mock.Mock(num_envs=2)
    infos = {"final_obs": last}
    games.step.return_value = after, zeros, zeros, cut_off, infos
    batch, _, _ = ppo.play(agent, games, before, collections.Counter())
    *_, values, gains = batch
    following = torch.as_tensor(np.stack([last[0], after[1]]))
    expected = ppo.GAMMA * agent(following)[1] - values
    torch.testing.assert_close(gains, expected)


class Pictures:
    """A vector of games: the action that pays is the picture that is lit."""

    num_envs = 8

    def reset(self):
        self.bright = np.random.randint(4, size=self.num_envs)
        obs = np.zeros((self.num_envs, 4, 84, 84), np.uint8)
        obs[range(self.num_envs), self.bright] = 200
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
    agent = ppo.Agent(4, bfloat16)
    optimizer = torch.optim.Adam(agent.parameters(), ppo.LEARNING_RATE)
    games = Pictures()
    obs = games.reset()
    wins = []
    for _ in range(8):
        batch, obs, _ = ppo.play(agent, games, obs, collections.Counter())
        ppo.learn(agent, optimizer, batch)
        policy, _ = agent(torch.as_tensor(obs))
        wins.append(policy.probs[range(8), games.bright].mean().item())
    assert wins[0] < 0.5
    assert wins[-1] > 0.8
