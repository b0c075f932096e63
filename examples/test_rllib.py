"""Tests of rllib.py: `Games` under RLlib."""

import csv
import itertools
import os
import pathlib
import signal
import sys

import numpy as np
import pytest

# `ray` alone doesn't bring what RLlib imports.
pytest.importorskip("ray.rllib", exc_type=ImportError)

import ray
from ray.rllib.env.single_agent_env_runner import SingleAgentEnvRunner

import rllib
from game import BREAKOUT, TRAINING
from rllib import FloatGame, make_config
from run import Run, read_checkpoint


@pytest.fixture(scope="module")
def cluster(for_ray, tmp_path_factory):
    """Ray on this machine, with two cores."""
    home = tmp_path_factory.mktemp("home")  # where Ray and RLlib write
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(home))
        patch.setenv("PYTHONPATH", os.pathsep.join(sys.path))
        ray.init(num_cpus=2, include_dashboard=False, _temp_dir=for_ray)
        yield
        ray.shutdown()


def test_its_episodes_are_those_of_a_game():
    """No step is lost or mixed with another episode, at an end either."""
    config = make_config(BREAKOUT, processes=0)
    config.env_runners(num_envs_per_env_runner=1).debugging(seed=5)
    runner = SingleAgentEnvRunner(config=config)
    episodes = runner.sample(num_timesteps=300, random_actions=True)
    game = FloatGame(5, **TRAINING)
    expected = game.reset()
    scores = []
    for episode in episodes:
        actions = episode.get_actions()
        seen = episode.get_observations()
        for i, action in enumerate(actions):
            assert (seen[i] == expected).all()
            expected, reward, done, whole_game = game.step(action)
            assert episode.get_rewards(i) == reward
            assert done == (episode.is_done and i == len(actions) - 1)
        if episode.is_done:
            assert (seen[-1] == game.final_obs).all()
            assert episode.is_terminated == game.terminated
            info = episode.get_infos(-1)
            assert ("episode" in info) == (whole_game is not None)
            scores += [info["episode"]["r"]] if whole_game else []
    assert len(scores) >= 1
    runner.stop()


@pytest.fixture
def train(cluster, monkeypatch, tmp_path):
    """Train so many steps in a folder, by short games and updates."""
    monkeypatch.chdir(tmp_path)
    limit = {"max_num_frames_per_episode": 200}

    def train(steps, runners=0):
        config = make_config(BREAKOUT, processes=0, clip_reward=False, **limit)
        config.env_runners(num_env_runners=runners, num_envs_per_env_runner=2)
        updates = dict(minibatch_size=64, num_epochs=1)
        config.training(train_batch_size_per_learner=128, **updates)
        folder = pathlib.Path("run")
        settings = rllib.Settings(steps=steps, folder=folder, save_every=1)
        rllib.train(settings, config)

    return train


def curve():
    """The score by steps, of a run whose last checkpoint is as far."""
    run = pathlib.Path("run")
    rows = csv.DictReader((run / "curve.csv").read_text().splitlines())
    scores = {int(row["steps"]): row["score"] for row in rows}
    saved = read_checkpoint(run / "checkpoint.pt")
    assert saved["progress"]["steps"] == max(scores)
    return scores


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_saves_and_the_same_command_goes_on(
    train, monkeypatch, number
):
    count = itertools.count(1)
    add = Run.add

    def interrupted(*args):
        if next(count) == 2:
            signal.raise_signal(number)
        add(*args)

    monkeypatch.setattr(Run, "add", interrupted)
    with pytest.raises(SystemExit, match="75"):
        train(steps=1000)
    before = curve()
    assert len(before) == 2
    train(steps=max(before) + 1)
    after = curve()
    assert len(after) == 3 and before.items() < after.items()


def test_two_runners_log_whole_games(train):
    train(steps=256, runners=2)
    scores = curve()
    assert np.isfinite(float(scores[max(scores)]))
