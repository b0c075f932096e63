"""Tests of single_env.py: a game as a plain Gymnasium environment."""

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from game import TRAINING
from games import FastGame
from single_env import GameEnv

gym.register("Game-v0", entry_point="single_env:GameEnv")


@pytest.mark.parametrize("options", [TRAINING, {"grayscale": False}])
def test_it_passes_gymnasiums_check(options):
    """In each mode of rendering."""
    check_env(gym.make("Game-v0", **options).unwrapped)


def test_it_plays_what_a_game_plays():
    """Through lives and games; a reset starts no second one."""
    env, game = GameEnv(**TRAINING), FastGame(0, **TRAINING)
    obs, expected = env.reset(seed=3)[0], game.reset(3)
    scores = []
    for action in np.random.default_rng(0).integers(4, size=600):
        assert (obs == expected).all()
        obs, reward, terminated, truncated, info = env.step(action)
        expected, points, done, whole_game = game.step(action)
        assert (reward, terminated, truncated) == (points, done, False)
        assert info == ({"whole_game": whole_game} if whole_game else {})
        if done:
            assert (obs == game.final_obs).all()
            obs, _ = env.reset()
        scores += [info] if info else []
    assert len(scores) > 1


def test_without_a_seed_each_plays_other_games():
    """They begin with numbers of frames of their own."""
    frames = set()
    for _ in range(10):
        env = GameEnv(noop_max=30)
        env.reset()
        frames.add(env.game.env.unwrapped.ale.getEpisodeFrameNumber())
    assert len(frames) > 1


def test_after_an_episode_its_last_screen_is_rendered():
    options = dict(render_mode="rgb_array", action_repeat=6)
    env = GameEnv("MsPacmanNoFrameskip-v4", **options)
    assert env.metadata["render_fps"] == 10
    env.reset()
    while not env.step(0)[2]:
        pass
    last = env.render()

    # the emulator alone
    emulator = gym.make("MsPacmanNoFrameskip-v4", frameskip=1).unwrapped
    emulator.reset()
    lives = emulator.ale.lives()
    while emulator.ale.lives() == lives:
        emulator.step(0)
    assert (last == emulator.ale.getScreenRGB()).all()
    env.reset()
    assert (env.render() != last).any()
