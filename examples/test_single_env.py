"""Tests of single_env.py: a game as a plain Gymnasium environment."""

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from gymnasium.wrappers import RecordEpisodeStatistics, RecordVideo
from stable_baselines3 import PPO
from stable_baselines3.common.evaluation import evaluate_policy
from stable_baselines3.common.monitor import Monitor

from game import TRAINING, FastGame
from single_env import GameEnv

gym.register("Game-v0", entry_point="single_env:GameEnv")


@pytest.mark.parametrize("options", [{}, TRAINING, {"grayscale": False}])
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

    def frames(seed):
        env = GameEnv(noop_max=30)
        env.reset(seed=seed)
        return env.game.env.unwrapped.ale.getEpisodeFrameNumber()

    assert len({frames(None) for _ in range(10)}) > 1
    assert len({frames(5) for _ in range(3)}) == 1


@pytest.mark.parametrize("on_life_loss", ["restart", "continue", "ignore"])
def test_after_an_episode_its_last_screen_is_rendered(on_life_loss):
    title, limit = (
        "MsPacmanNoFrameskip-v4",
        {"max_num_frames_per_episode": 900},
    )
    options = dict(on_life_loss=on_life_loss, **limit)
    env = GameEnv(title, render_mode="rgb_array", **options)
    env.reset()
    done = False
    while not done:
        *_, terminated, truncated, _ = env.step(0)
        done = terminated or truncated
    last = env.render()

    # the emulator alone
    emulator = gym.make(title, frameskip=1, **limit).unwrapped
    emulator.reset()
    ale = emulator.ale
    lives = ale.lives()
    life_ends = on_life_loss != "ignore"
    while not (ale.game_over() or (life_ends and ale.lives() < lives)):
        emulator.step(0)
    assert (last == ale.getScreenRGB()).all()
    env.reset()
    goes_on = (env.render() == last).all()
    assert goes_on == (on_life_loss == "continue")


def test_a_video_ends_with_the_episode(monkeypatch, tmp_path):
    """It plays as fast as the console, whatever a step has of frames."""
    monkeypatch.chdir(tmp_path)
    options = dict(action_repeat=6, max_num_frames_per_episode=120)
    env = RecordVideo(GameEnv(render_mode="rgb_array", **options), "videos")
    assert env.frames_per_sec == 10
    env.reset()
    truncated = False
    while not truncated:
        *_, truncated, _ = env.step(0)
    env.close()
    assert len(list(tmp_path.glob("videos/*.mp4"))) == 1


def test_others_wrappers_and_sb3_take_it():
    limit = {"max_num_frames_per_episode": 120}
    env = RecordEpisodeStatistics(GameEnv(on_life_loss="ignore", **limit))
    model = PPO("CnnPolicy", Monitor(env))
    _, lengths = evaluate_policy(
        model, Monitor(env), 2, return_episode_rewards=True
    )
    assert lengths == [30, 30]
    assert list(env.length_queue) == [30, 30]


def test_gymnasium_makes_it_by_its_id():
    options = dict(env_id="PongNoFrameskip-v4", noop_max=30)
    env = gym.make("Game-v0", render_mode="rgb_array", **options)
    obs, _ = env.reset()
    assert obs.shape == (4, 84, 84)
    assert env.render().shape == (210, 160, 3)
    envs = gym.make_vec("Game-v0", num_envs=2, **options)
    assert envs.reset()[0].shape == (2, 4, 84, 84)
    envs.close()


def test_a_step_needs_an_episode():
    env = GameEnv(max_num_frames_per_episode=4)
    for _ in range(2):
        with pytest.raises(gym.error.ResetNeeded):
            env.step(0)
        env.reset()
        env.step(0)
    with pytest.raises(ValueError, match="rgb_array"):
        GameEnv(render_mode="human")
