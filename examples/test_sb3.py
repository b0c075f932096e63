"""Tests of sb3.py: `Games` under Stable-Baselines3."""

import contextlib

import numpy as np
from stable_baselines3 import PPO
from stable_baselines3.common.evaluation import evaluate_policy

import sb3
from games import Games
from sb3 import GamesVecEnv


def test_what_sb3_is_told_is_what_games_say():
    """Whole games and cut off ones, lives and last observations."""
    short = {"max_num_frames_per_episode": 4 * 140}
    options = dict(clip_reward=False, processes=0) | short
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


def test_it_trains_and_whole_games_are_evaluated(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert sb3.train(steps=1).num_timesteps == 1024  # an update
    short = {"max_num_frames_per_episode": 400}
    games = Games(2, processes=0, **short)
    with contextlib.closing(GamesVecEnv(games)) as env:
        model = PPO.load("breakout", env)
        _, lengths = evaluate_policy(
            model, env, 2, return_episode_rewards=True
        )
    # The limit counts each FIRE, too; a life has about 25 steps.
    assert min(lengths) > 90
