"""Tests of sb3.py: `Games` under Stable-Baselines3."""

import csv
import multiprocessing
import re
import sys

import gymnasium as gym
import numpy as np
import pytest
import torch
from gymnasium.vector import AutoresetMode
from stable_baselines3 import PPO
from stable_baselines3.common.evaluation import evaluate_policy
from stable_baselines3.common.logger import configure
from stable_baselines3.common.monitor import Monitor
from stable_baselines3.common.vec_env import (
    VecTransposeImage,
    is_vecenv_wrapped,
)

import sb3
from game import Games
from sb3 import TRAINING, GamesVecEnv

BREAKOUT = "BreakoutNoFrameskip-v4"
SEAQUEST = "SeaquestNoFrameskip-v4"  # where each no-op changes the screen
torch.set_num_threads(1)  # the games need the other cores


@pytest.fixture
def short(monkeypatch):
    """Games of Breakout are cut off after 140 steps."""
    limit = "max_num_frames_per_episode"
    monkeypatch.setitem(gym.spec(BREAKOUT).kwargs, limit, 4 * 140)


def test_what_sb3_is_told_is_what_games_say(short):
    """Whole games and cut off ones, lives and last observations."""
    options = dict(TRAINING, clip_reward=False, processes=0)
    random = np.random.default_rng(0)
    ends = set()
    games, same = Games(4, **options), Games(4, **options)
    env = GamesVecEnv(games)
    assert (env.reset() == same.reset()[0]).all()
    for _ in range(300):
        actions = random.integers(4, size=4)
        obs, rewards, dones, infos = env.step(actions)
        right, points, terminated, truncated, more = same.step(actions)
        assert (obs == right).all() and obs.dtype == np.uint8
        assert (rewards == points).all() and rewards.dtype == np.float32
        assert (dones == terminated | truncated).all()
        for i, info in enumerate(infos):
            if not dones[i]:
                assert info == {}
                continue
            last = info.pop("terminal_observation")
            assert (last == more["final_obs"][i]).all()
            cut_off = info.pop("TimeLimit.truncated")
            assert cut_off is bool(truncated[i] and not terminated[i])
            over = "final_info" in more and bool(more["_final_info"][i])
            if over:
                final = more["final_info"]
                score, length = final["reward"][i], final["length"][i]
                assert info.pop("episode") == {"r": score, "l": length}
            assert info == {}
            ends.add((cut_off, over))
    # A game was cut off, a game was over, and a life was lost.
    assert ends == {(True, True), (False, True), (False, False)}


def test_sb3_logs_whole_games(tmp_path, short):
    """`ep_rew_mean` is the mean of the scores that `Games` told."""
    scores = []

    def on_step(told, _):
        over = [info for info in told["infos"] if "episode" in info]
        scores.extend(info["episode"]["r"] for info in over)
        return True  # go on

    with Games(4, processes=0, **TRAINING) as games:
        env = GamesVecEnv(games)
        model = PPO("CnnPolicy", env, n_steps=64, n_epochs=1, device="cpu")
        # Channels are first already, and nothing is put around the games.
        assert model.env is env
        assert not is_vecenv_wrapped(env, VecTransposeImage)
        model.set_logger(configure(str(tmp_path), ["csv"]))
        model.learn(3 * 64 * 4, log_interval=1, callback=on_step)
    with open(tmp_path / "progress.csv") as file:
        last = list(csv.DictReader(file))[-1]
    assert len(scores) >= 4 and sum(scores) > 0
    assert float(last["rollout/ep_rew_mean"]) == pytest.approx(np.mean(scores))


def test_a_killed_worker_is_a_truncation():
    with Games(4, processes=2, context=sb3.CONTEXT, **TRAINING) as games:
        env = GamesVecEnv(games)
        env.reset()
        before = env.step([2] * 4)[0]
        multiprocessing.active_children()[0].kill()
        after, _, dones, infos = env.step([2] * 4)
    assert dones.sum() == 2  # the games of one worker of two
    for i in np.flatnonzero(dones):
        last = infos[i].pop("terminal_observation")
        assert (last == before[i]).all()
        assert (after[i] != before[i]).any()
        # Nobody knows the score.
        assert infos[i] == {"TimeLimit.truncated": True}


def test_seeds_options_and_questions():
    games = Games(2, SEAQUEST, processes=0, **TRAINING)
    other = Games(2, SEAQUEST, processes=0, seed=50, **TRAINING)
    env, right = GamesVecEnv(games), other.reset()[0]
    assert (env.reset() != right).any()
    env.seed(50)
    assert (env.reset() == right).all()
    # A seed is for one reset; then the random numbers go on.
    assert (env.reset() == other.reset()[0]).all()
    env.set_options({"mode": 1})
    with pytest.raises(ValueError, match="options"):
        env.reset()
    assert env.reset().shape == (2, 4, 84, 84)

    assert env.get_attr("spec", indices=1)[0].id == SEAQUEST
    assert not env.has_attr("lives")
    assert env.env_is_wrapped(Monitor, [0]) == [True]
    assert env.env_is_wrapped(gym.wrappers.TimeLimit) == [False] * 2
    with pytest.raises(NotImplementedError):
        env.set_attr("difficulty", 1)
    with pytest.raises(NotImplementedError):
        env.env_method("lives")
    assert env.render().shape == (420, 160, 3)  # one over the other
    env.close()
    with pytest.raises(gym.error.ClosedEnvironmentError):
        env.reset()


def test_other_autoreset_modes_are_refused():
    games = Games(1, processes=0, autoreset_mode=AutoresetMode.NEXT_STEP)
    with pytest.raises(ValueError, match="SAME_STEP"):
        GamesVecEnv(games)


def test_the_program_trains_and_counts_whole_games(monkeypatch, capsys):
    """Even where lives are episodes."""
    scores = []

    def note(told, _):
        if "episode" in told["info"]:
            scores.append(told["info"]["episode"]["r"])

    def evaluate(*args, **options):
        return evaluate_policy(*args, callback=note, **options)

    monkeypatch.setattr(sb3, "evaluate_policy", evaluate)
    command = "sb3.py --games 2 --steps 256"
    monkeypatch.setattr(sys, "argv", command.split())
    sb3.main()
    output = re.sub(" +", " ", capsys.readouterr().out)
    assert "total_timesteps | 256 " in output
    assert len(scores) == 2
    assert f"scores of 2 games: {scores}" in output
