"""Train RLlib's PPO on `Games`.

    pip install -r requirements.txt "ray[rllib]" torch tensorboard tyro
    python examples/rllib.py PongNoFrameskip-v4 --folder runs/mine

RLlib needs observations as floats, with the channels last. It takes the step
after an end as a reset, so `Games` is in NEXT_STEP mode. Its own score,
`episode_return_mean`, is of lives and clipped rewards; that of the run is of
whole games. With `--runners` more processes play, each games of its own. Most
settings are those of ppo.py; no score is published.

The run is kept by run.py, as those of ppo.py are. A checkpoint, of 100 MB, has
RLlib's own in it, which are pickles: continue only runs that you trust.
"""

import contextlib
import dataclasses
import pathlib
import random
import sys
import tempfile
from typing import Any

import numpy as np
import torch
import tyro
from numpy.typing import NDArray
from ray.rllib.algorithms import Algorithm
from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.core.rl_module.default_model_config import DefaultModelConfig
from ray.tune import register_env

# Copied, game.py lies beside this file; in this repository it lies one folder
# up. Both come before a `game` that is installed.
sys.path.insert(1, str(pathlib.Path(__file__).resolve().parents[1]))
from game import BREAKOUT, FastGame, Games
from run import (
    Ended,
    Run,
    RunSettings,
    Seed,
    Whole,
    one_line,
    read_settings,
    run_program,
)

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


def log_game(episode: Any, metrics_logger: Any, **_: Any) -> None:
    """Log a whole game, in the episode that ends it."""
    info = episode.get_infos(-1)
    if "episode" in info:
        game = [info["episode"][name] for name in "rl"]
        metrics_logger.log_value("games", game, reduce="item_series")


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
        .callbacks(on_episode_end=log_game)
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


@dataclasses.dataclass
class Settings(RunSettings):
    program = "rllib"

    env_id: tyro.conf.Positional[str] = BREAKOUT
    """Gymnasium's id of an Atari title."""
    seed: Seed = 0
    """Seed of the weights; RLlib plays other games each time."""
    device: str = "cpu"
    """Device that learns."""
    runners: Whole = 0
    """Processes that play, eight games each; 0: the program itself plays."""


class Learner:
    """RLlib's algorithm as a part of a run: the files of its checkpoint."""

    def __init__(self, algorithm: Algorithm) -> None:
        self.algorithm = algorithm

    def state_dict(self) -> dict[str, torch.Tensor]:
        with tempfile.TemporaryDirectory() as folder:
            self.algorithm.save_to_path(folder)
            return {
                str(path.relative_to(folder)): torch.tensor(
                    np.fromfile(path, np.uint8)
                )
                for path in pathlib.Path(folder).rglob("*")
                if path.is_file()
            }

    def load_state_dict(self, files: dict[str, torch.Tensor]) -> None:
        with tempfile.TemporaryDirectory() as folder:
            for name, data in files.items():
                path = pathlib.Path(folder, name)
                path.parent.mkdir(parents=True, exist_ok=True)
                data.numpy().tofile(path)
            self.algorithm.restore_from_path(folder)


def train(settings: Settings, config: PPOConfig) -> None:
    """Train until all steps are played, or a signal comes."""
    torch.manual_seed(settings.seed)
    with contextlib.ExitStack() as stack:
        with one_line("can't begin"):
            algorithm = config.build_algo()
            stack.callback(algorithm.stop)
            run = Run(settings, weights=Learner(algorithm))
        # Ray notes signals, too, but the training does so last.
        stack.enter_context(run)
        while not run.over:
            board = algorithm.train()["env_runners"]
            steps = board["num_env_steps_sampled_lifetime"] - run.steps
            ended = [Ended(*game) for game in board.get("games", [])]
            run.add(steps, ended, {})


def main() -> None:
    """Train, as the command line says."""
    settings = read_settings(Settings, __doc__)
    config = make_config(settings.env_id)
    config.env_runners(num_env_runners=settings.runners)
    config.learners(num_gpus_per_learner=int(settings.device != "cpu"))
    train(settings, config)


if __name__ == "__main__":
    run_program(main)
