"""Train RLlib's PPO on `Games`.

    pip install -r requirements.txt "ray[rllib]" torch
    python examples/rllib.py PongNoFrameskip-v4

RLlib needs observations as floats, with the channels last. It takes the step
after an end as a reset, so `Games` is in NEXT_STEP mode. Its own score,
`episode_return_mean`, is of lives and clipped rewards; `game_score` beside it
is of whole games. Both are written to ~/ray_results, for TensorBoard. With
`num_env_runners` more processes play, each games of its own. Most settings are
those of ppo.py; no score is published.
"""

import pathlib
import random
import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray
from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.core.rl_module.default_model_config import DefaultModelConfig
from ray.tune import register_env

# Copied, game.py lies beside this file; in this repository it lies one folder
# up. Both come before a `game` that is installed.
sys.path.insert(1, str(pathlib.Path(__file__).resolve().parents[1]))
from game import BREAKOUT, FastGame, Games

# DQN's network
NETWORK = DefaultModelConfig(
    conv_filters=[[32, 8, 4], [64, 4, 2], [64, 3, 1]],
    conv_activation="relu",
    head_fcnet_hiddens=[512],
    head_fcnet_activation="relu",
    vf_share_layers=True,
)


class FloatGame(FastGame):
    """Shows floats from 0 to 1, `(84, 84, 4)`."""

    def observe(self) -> NDArray:
        pictures = np.moveaxis(super().observe(), 0, -1)
        return pictures / np.float32(255)


# A runner asks for its games with the items of `env_config`, and `num_envs`.
# `gym.register("Games-v0", vector_entry_point="game:Games")` would do for a
# single runner, in the program itself. Without a seed all would play the same.
def make_games(options: dict[str, Any]) -> Games:
    return Games(**{"seed": random.getrandbits(31)} | options)


def log_score(episode: Any, metrics_logger: Any, **_: Any) -> None:
    """Log the raw score of a whole game, in the episode that ends it."""
    info = episode.get_infos(-1)
    if "episode" in info:
        score = info["episode"]["r"]
        metrics_logger.log_value("game_score", score, window=100)


def make_config(env_id: str, **options: Any) -> PPOConfig:
    """Return the settings of a training; the options are for `Games`."""
    register_env("Games", make_games)
    here = dict(env_id=env_id, make=FloatGame, autoreset_mode="NextStep")
    return (
        PPOConfig()
        .environment("Games", env_config=here | options)
        .env_runners(
            num_env_runners=0,
            num_envs_per_env_runner=8,
            gym_env_vectorize_mode="vector_entry_point",
        )
        .rl_module(model_config=NETWORK)
        .callbacks(on_episode_end=log_score)
        .training(
            lr=2.5e-4,
            lambda_=0.95,
            clip_param=0.1,
            entropy_coeff=0.01,
            train_batch_size_per_learner=1024,
            minibatch_size=256,
            num_epochs=4,
        )
    )


def main() -> None:
    env_id = sys.argv[1] if len(sys.argv) > 1 else BREAKOUT
    algorithm = make_config(env_id).build_algo()
    steps = 0
    while steps < 10_000_000:
        board = algorithm.train()["env_runners"]
        steps = board["num_env_steps_sampled_lifetime"]
        score = board.get("game_score", "of no whole game yet")
        print(f"{steps:,.0f} steps, score {score}", flush=True)


if __name__ == "__main__":
    main()
