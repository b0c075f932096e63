"""Measure updates of PPO on `Games` and on what others play.

    pip install -r requirements.txt --group measure
    python measure/updates.py trained --publish   # 4 minutes
    python measure/updates.py actors              # needs --group ray, too

All play eight games of Breakout with the same settings: no-op starts, FIRE, an
episode for each life, clipped rewards. In each round every side plays and
learns one update, so that a busy machine is as busy for all.

- games, envpool, wrappers, single: the agent and the updates of
  examples/ppo.py. The wrappers are those of CleanRL's `ppo_atari.py`, with a
  process for each game under Gymnasium's `AsyncVectorEnv`, or in a `single`
  one under its `SyncVectorEnv`, which CleanRL takes
- sb3_games, sb3: Stable-Baselines3's own PPO, with the settings of its zoo, on
  `Games` by examples/sb3.py, and on `make_atari_env` under `SubprocVecEnv`
- ray1, ray2, ray4: examples/ray_ppo.py with so many actors of eight games,
  which share this machine's cores with the learner

In `trained` the agent is that of examples/breakout.pt, which learns no more.
In `actors`, beside those of Ray, it begins to learn.
"""

import contextlib
import time
from collections.abc import Generator
from functools import partial
from typing import Any

import envpool
import gymnasium as gym
import numpy as np
import torch
from gymnasium import wrappers
from gymnasium.vector import AsyncVectorEnv, AutoresetMode, SyncVectorEnv
from stable_baselines3 import PPO
from stable_baselines3.common import atari_wrappers, env_util, vec_env

import common
import play
import ppo
import sb3
from game import BREAKOUT, Games
from ppo import Settings

GAMES = 8
# Who takes turns
PARTS = {
    "trained": ["games", "envpool", "wrappers", "single", "sb3_games", "sb3"],
    "actors": ["games", "ray1", "ray2", "ray4"],
}
Weights = dict[str, Any]
Updates = Generator[int]  # the steps of each update


# What our PPO plays


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
    """EnvPool, made as in `ppo_atari_envpool.py`."""

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


def our_updates(
    side: str, settings: Settings, weights: Weights | None
) -> Updates:
    """Train; an agent that has its weights already keeps them."""
    threads = torch.get_num_threads()
    with contextlib.closing(make(side)) as games:
        agent, optimizer = ppo.make_agent(settings, games)
        optimizer.param_groups[0]["lr"] = settings.learning_rate
        if weights:
            agent.load_state_dict(weights)
            optimizer.param_groups[0]["lr"] = 0.0
        player = ppo.Player(agent, games, settings, seed=0)
        while True:
            # Nobody else plays while the network of `single` computes.
            torch.set_num_threads(threads if side == "single" else 1)
            batch, _ = player.play()
            torch.set_num_threads(threads)
            ppo.learn(agent, optimizer, batch, settings, player.random)
            yield len(batch.obs)


# What SB3's PPO plays


def sb3_model(side: str, settings: Settings, weights: Weights | None) -> PPO:
    """SB3's PPO on either side, with the agent of ours if it has weights."""
    if side == "sb3_games":
        games = Games(GAMES, BREAKOUT)
        env = sb3.GamesVecEnv(games)
    else:
        env = env_util.make_atari_env(
            BREAKOUT, GAMES, seed=0, vec_env_cls=vec_env.SubprocVecEnv
        )
        env = vec_env.VecFrameStack(env, 4)
    options = sb3.ATARI | ({"learning_rate": 0} if weights else {})
    model = PPO("CnnPolicy", env, **options, seed=0, device=settings.device)
    if weights:
        ours = ppo.Agent(env.action_space.n)
        ours.load_state_dict(weights)
        theirs = model.policy
        for part, its in (
            (theirs.features_extractor.cnn, ours.body[:7]),
            (theirs.features_extractor.linear[0], ours.body[7]),
            (theirs.action_net, ours.policy),
            (theirs.value_net, ours.value),
        ):
            part.load_state_dict(its.state_dict())
    return model


def sb3_updates(
    side: str, settings: Settings, weights: Weights | None
) -> Updates:
    model = sb3_model(side, settings, weights)
    steps = model.n_steps * GAMES
    with contextlib.closing(model.env):
        while True:
            model.learn(steps, reset_num_timesteps=False)
            yield steps


# What Ray's actors play


def ray_updates(count: int, ours: Settings) -> Updates:
    """Train on so many actors."""
    import ray_ppo

    settings = ray_ppo.Settings(**vars(ours), actors=count)
    with settings.make_games(1, processes=0) as games:
        agent, optimizer = ppo.make_agent(settings, games)
    optimizer.param_groups[0]["lr"] = settings.learning_rate
    random = torch.Generator().manual_seed(0)
    actors = ray_ppo.Actors(settings, random)
    while len(actors.playing) < count:
        actors.welcome(count, seconds=60)
    while True:
        played, _ = actors.play(agent.state_dict())
        batch = ray_ppo.join(played, settings.device)
        ppo.learn(agent, optimizer, batch, settings, random)
        yield len(batch.obs)


# The parts


def updates_of(
    side: str, settings: Settings, weights: Weights | None
) -> Updates:
    if side.startswith("ray"):
        return ray_updates(int(side.removeprefix("ray")), settings)
    if side.startswith("sb3"):
        return sb3_updates(side, settings, weights)
    return our_updates(side, settings, weights)


def play_update(name: str, side: Updates) -> float:
    """Play an update, and learn; return the steps a second."""
    start = time.perf_counter()
    speed = next(side) / (time.perf_counter() - start)
    print(f"{name}: {speed:,.0f} steps/s", flush=True)
    return speed


def take_turns(part: str, rounds: int) -> dict[str, Any]:
    """Let the sides play and learn in turn; return their steps a second."""
    settings = Settings(
        games=GAMES, device="cpu", bfloat16=ppo.has_fast_bfloat16()
    )
    weights = torch.load(play.PUBLISHED) if part == "trained" else None
    if part == "actors":
        import ray_ppo

        # So many cores that they find room, whatever this machine has.
        ray_ppo.start_ray(num_cpus=8)
    with contextlib.ExitStack() as stack:
        players = {}
        for name in PARTS[part]:
            side = updates_of(name, settings, weights)
            stack.enter_context(contextlib.closing(side))
            next(side)  # to warm up
            players[name] = partial(play_update, name, side)
        speeds = common.take_turns(players, rounds)
    return {
        "bfloat16": settings.bfloat16,
        "threads": torch.get_num_threads(),
        "rows": {name: {"speed": speed} for name, speed in speeds.items()},
    }


def main() -> None:
    parser = common.options(__doc__)
    parser.add_argument("part", choices=PARTS)
    parser.add_argument("--rounds", type=int, default=15)
    run = parser.parse_args()
    parts = {run.part: lambda: take_turns(run.part, run.rounds)}
    common.measure(run, "updates", parts)


if __name__ == "__main__":
    main()
