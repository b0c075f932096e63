"""Measure updates of PPO on `Games`, on EnvPool and on CleanRL's wrappers.

All play eight games of Breakout by the settings of `TRAINING`. All have the
updates of examples/ppo.py, and the agent of examples/breakout.pt, which learns
no more. In each round every side plays and learns one update.

- games: `Games`
- envpool: EnvPool, as CleanRL's `ppo_atari_envpool.py` makes it
- wrappers: those of CleanRL's `ppo_atari.py`, with a process for each game
  under Gymnasium's `AsyncVectorEnv`
- single: the same in one process under `SyncVectorEnv`, as CleanRL plays them
"""

import argparse
import contextlib
import time
from collections.abc import Generator, Mapping
from functools import partial
from typing import Any

import envpool
import gymnasium as gym
import numpy as np
import torch
from gymnasium import wrappers
from gymnasium.vector import AsyncVectorEnv, AutoresetMode, SyncVectorEnv
from stable_baselines3.common import atari_wrappers

import common
import play
import ppo
from game import BREAKOUT
from games import Games

SETTINGS = ppo.Settings(device="cpu")
GAMES = SETTINGS.games
SIDES = ["games", "envpool", "wrappers", "single"]


def make_game() -> gym.Env:
    """One game as `ppo_atari.py` makes it."""
    env = gym.make(BREAKOUT)
    env = wrappers.RecordEpisodeStatistics(env)
    env = atari_wrappers.NoopResetEnv(env, noop_max=30)
    env = atari_wrappers.MaxAndSkipEnv(env, skip=4)
    env = atari_wrappers.EpisodicLifeEnv(env)
    env = atari_wrappers.FireResetEnv(env)
    env = atari_wrappers.ClipRewardEnv(env)
    env = wrappers.ResizeObservation(env, (84, 84))
    env = wrappers.GrayscaleObservation(env)
    return wrappers.FrameStackObservation(env, 4)


class OnEnvPool:
    """EnvPool, with the methods of a vector environment that ppo.py calls."""

    num_envs = GAMES

    def __init__(self) -> None:
        self._pool = envpool.make_gymnasium(
            "Breakout-v5",
            num_envs=GAMES,
            episodic_life=True,
            reward_clip=True,
        )
        self.single_action_space = self._pool.action_space
        self.single_observation_space = self._pool.observation_space

    def reset(self, seed: int) -> tuple[np.ndarray, dict]:
        return self._pool.reset()

    def step(self, actions: np.ndarray) -> tuple:
        *result, _ = self._pool.step(actions.astype(np.int32))
        return *result, {}

    def close(self) -> None:
        self._pool.close()


def make(side: str) -> Any:
    """What a side plays."""
    if side == "games":
        return Games(GAMES)
    if side == "envpool":
        return OnEnvPool()
    vector = SyncVectorEnv if side == "single" else AsyncVectorEnv
    return vector([make_game] * GAMES, autoreset_mode=AutoresetMode.SAME_STEP)


def updates(side: str, trained: bool = True) -> Generator[int]:
    """Play and learn; yield the steps of each update."""
    threads = torch.get_num_threads()
    with contextlib.closing(make(side)) as games:
        agent, optimizer = ppo.make_agent(SETTINGS, games)
        optimizer.param_groups[0]["lr"] = SETTINGS.learning_rate
        if trained:
            agent.load_state_dict(torch.load(play.PUBLISHED))
            optimizer.param_groups[0]["lr"] = 0.0
        player = ppo.Player(agent, games, SETTINGS, seed=0)
        while True:
            # Nobody else plays while the network of `single` computes.
            torch.set_num_threads(threads if side == "single" else 1)
            batch, _ = player.play()
            torch.set_num_threads(threads)
            ppo.learn(agent, optimizer, batch, SETTINGS, player.random)
            yield len(batch.obs)


def play_update(name: str, side: Generator[int]) -> float:
    """Play an update, and learn; return the steps a second."""
    start = time.perf_counter()
    speed = next(side) / (time.perf_counter() - start)
    print(f"{name}: {speed:,.0f} steps/s", flush=True)
    return speed


def take_turns(
    sides: Mapping[str, Generator[int]], rounds: int
) -> dict[str, Any]:
    """Let the sides play and learn in turn; return their steps a second."""
    with contextlib.ExitStack() as stack:
        players = {}
        for name, side in sides.items():
            stack.enter_context(contextlib.closing(side))
            next(side)  # to warm up
            players[name] = partial(play_update, name, side)
        speeds = common.take_turns(players, rounds)
    return {
        "precision": "bfloat16" if SETTINGS.bfloat16 else "float32",
        "threads": torch.get_num_threads(),
        "rows": {name: {"speed": speed} for name, speed in speeds.items()},
    }


def measure(
    parser: argparse.ArgumentParser,
    instrument: str,
    sides: Mapping[str, Generator[int]],
) -> None:
    """Measure the sides, as the command line says."""
    parser.add_argument("--rounds", type=int, default=15)
    run = parser.parse_args()
    parts = {"Breakout": lambda: take_turns(sides, run.rounds)}
    common.measure(run, instrument, parts)


if __name__ == "__main__":
    sides = {side: updates(side) for side in SIDES}
    measure(common.options(__doc__), "updates", sides)
