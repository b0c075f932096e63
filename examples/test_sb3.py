"""Tests of sb3.py: `Games` under Stable-Baselines3."""

import functools
import multiprocessing
import os
import re
import signal
import sys

import gymnasium as gym
import numpy as np
import pytest
import torch
from stable_baselines3.common.evaluation import evaluate_policy

import sb3
from game import Games
from sb3 import GamesVecEnv

BREAKOUT = "BreakoutNoFrameskip-v4"
HERE = dict(noop_max=0, processes=0)
torch.set_num_threads(1)  # the games need the other cores


def cut_off_after(steps, monkeypatch):
    """Make games of Breakout as short as that."""
    limit = "max_num_frames_per_episode"
    monkeypatch.setitem(gym.spec(BREAKOUT).kwargs, limit, 4 * steps)


def test_what_sb3_is_told_is_what_games_say(monkeypatch):
    """Whole games and cut off ones, lives and last observations."""
    cut_off_after(140, monkeypatch)
    options = dict(clip_reward=False, processes=0)
    env = GamesVecEnv(Games(4, **options))
    same = Games(4, seed=50, **options)
    env.seed(50)
    assert (env.reset() == same.reset()[0]).all()
    ends = set()
    for actions in np.random.default_rng(0).integers(4, size=(300, 4)):
        obs, rewards, dones, infos = env.step(actions)
        right, points, terminated, truncated, more = same.step(actions)
        assert (obs == right).all() and obs.dtype == np.uint8
        assert (rewards == points).all() and rewards.dtype == np.float32
        assert (dones == terminated | truncated).all()
        for i in np.flatnonzero(dones):
            last = infos[i].pop("terminal_observation")
            assert (last == more["final_obs"][i]).all()
            cut_off = infos[i].pop("TimeLimit.truncated")
            assert cut_off is bool(truncated[i] and not terminated[i])
            over = more.get("_episode", np.zeros(4, bool))[i]
            if over:
                whole = {key: more["episode"][key][i] for key in "rl"}
                assert infos[i].pop("episode") == whole
            ends.add((cut_off, bool(over)))
        assert infos == [{}] * 4
    # A game was cut off, a game was over, and a life was lost.
    assert ends == {(True, True), (False, True), (False, False)}


def test_a_killed_worker_is_told_and_is_a_truncation():
    with Games(4, processes=2) as games:
        env = GamesVecEnv(games)
        env.reset()
        before = env.step([2] * 4)[0]
        multiprocessing.active_children()[0].kill()
        with pytest.warns(RuntimeWarning, match="SIGKILL") as warnings:
            _, _, dones, infos = env.step([2] * 4)
    assert warnings[0].filename == sb3.__file__
    assert dones.sum() == 2  # the games of one worker of two
    for i in np.flatnonzero(dones):
        last = infos[i].pop("terminal_observation")
        assert (last == before[i]).all()
        # Nobody knows the score.
        assert infos[i] == {"TimeLimit.truncated": True}


@pytest.fixture
def run(monkeypatch, tmp_path, capsys):
    """Run the program in an empty folder; return what it prints."""
    cut_off_after(100, monkeypatch)
    # The limit is known in this process alone.
    monkeypatch.setattr(sb3, "Games", functools.partial(Games, **HERE))
    monkeypatch.chdir(tmp_path)
    handler = signal.getsignal(signal.SIGTERM)

    def run(steps):
        command = f"sb3.py --games 2 --steps {steps}"
        monkeypatch.setattr(sys, "argv", command.split())
        sb3.main()
        return re.sub(" +", " ", capsys.readouterr().out)

    yield run
    signal.signal(signal.SIGTERM, handler)


def test_the_program_and_an_evaluation_count_whole_games(run):
    output = run(256)
    assert "total_timesteps | 256 " in output
    # The limit counts each FIRE, too, so that a game has a few steps less than
    # 100; a life has about 25.
    assert float(re.search(r"ep_len_mean \| (\S+)", output)[1]) > 90
    model = sb3.PPO.load("runs/sb3")
    with Games(2, **HERE) as games:
        _, lengths = evaluate_policy(
            model, GamesVecEnv(games), 2, return_episode_rewards=True
        )
    assert len(lengths) == 2
    assert min(lengths) > 90


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_training_is_saved(run, monkeypatch, number):
    step = GamesVecEnv.step_wait

    def interrupted(env):
        os.kill(os.getpid(), number)
        return step(env)

    monkeypatch.setattr(GamesVecEnv, "step_wait", interrupted)
    assert "saved in runs/sb3.zip after 0 steps" in run(256)
    assert sb3.PPO.load("runs/sb3").n_steps == 128
