"""Tests of rllib.py: `Games` under RLlib."""

import os
import sys
import tempfile

import numpy as np
import pytest

# `ray` alone doesn't bring what RLlib imports.
pytest.importorskip("ray.rllib", exc_type=ImportError)

import ray
from ray.rllib.env.single_agent_env_runner import SingleAgentEnvRunner

from game import BREAKOUT, TRAINING
from rllib import FloatGame, make_config


@pytest.fixture
def cluster(monkeypatch, tmp_path):
    """Ray on this machine, with two cores."""
    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "0")
    monkeypatch.setenv("HOME", str(tmp_path))  # where both write
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))
    # short, since sockets lie in it
    with tempfile.TemporaryDirectory(prefix="ray") as folder:
        ray.init(num_cpus=2, include_dashboard=False, _temp_dir=folder)
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


def test_it_trains_and_logs_whole_games(cluster):
    limit = {"max_num_frames_per_episode": 200}
    config = make_config(BREAKOUT, processes=0, clip_reward=False, **limit)
    config.env_runners(num_env_runners=2, num_envs_per_env_runner=2)
    config.training(train_batch_size_per_learner=256, num_epochs=1)
    algorithm = config.build_algo()
    board = algorithm.train()["env_runners"]
    assert np.isfinite(board["game_score"])
    algorithm.stop()
