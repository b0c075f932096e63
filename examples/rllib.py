"""Train RLlib's PPO on `Games`.

    pip install -r requirements.txt "ray[rllib]" torch tensorboard tyro
    python examples/rllib.py PongNoFrameskip-v4 --folder runs/mine

On more than one machine, install the packages on each, and start Ray:

    ray start --head                         # on the first machine
    ray start --address FIRST_MACHINE:6379   # on each of the others
    python examples/rllib.py --runners 16    # on the first

A runner takes a core of any machine and plays eight games; game.py and
games.py go along. A runner that is killed costs its part of an update and a
line, and is started again where there is room. An update has 1,024 steps,
however many runners play them. Without a cluster, runners take this machine's
cores.

RLlib needs observations as floats, with the channels last. It takes the step
after an end as a reset, so `Games` is in NEXT_STEP mode. Its own score,
`episode_return_mean`, is of lives and clipped rewards; that of the run is of
whole games. Most settings are those of ppo.py; no score is published.

The run is kept by run.py, as those of ppo.py are. A checkpoint, of 100 MB, has
RLlib's own in it, which are pickles: continue only runs that you trust.
"""

import contextlib
import dataclasses
import inspect
import pathlib
import random
import shutil
import signal
import sys
import tempfile
from typing import Any

import numpy as np
import ray
import torch
import tyro
from gymnasium.spaces import Box
from gymnasium.vector.utils import batch_space
from gymnasium.wrappers.vector import TransformObservation
from numpy.typing import NDArray
from ray.rllib.algorithms import Algorithm
from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.core.rl_module.default_model_config import DefaultModelConfig
from ray.tune import register_env

# In this repository game.py is one folder up; in a copy it is beside.
if not pathlib.Path(__file__).with_name("game.py").exists():
    sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))
from game import BREAKOUT, Game
from games import Games
from run import (
    Ended,
    Run,
    RunError,
    RunSettings,
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


def as_floats(obs: NDArray) -> NDArray:
    """Turn `uint8 (n, 4, 84, 84)` into `float32 (n, 84, 84, 4)`, 0 to 1."""
    return np.moveaxis(obs, 1, -1) / np.float32(255)


# A runner asks for its games with the items of `env_config`, and `num_envs`.
# Without a seed all would play the same.
def make_games(options: dict[str, Any]) -> TransformObservation:
    games = Games(**{"seed": random.getrandbits(31)} | options)
    pictures, *size = games.single_observation_space.shape
    space = Box(0, 1, (*size, pictures), np.float32)
    every = batch_space(space, games.num_envs)
    return TransformObservation(games, as_floats, every, space)


def log_game(episode: Any, metrics_logger: Any, **_: Any) -> None:
    """Log a whole game, in the episode that ends it."""
    info = episode.get_infos(-1)
    if "episode" in info:
        game = [info["episode"][name] for name in "rl"]
        metrics_logger.log_value("games", game, reduce="item_series")


def make_config(env_id: str, runners: int = 0, **options: Any) -> PPOConfig:
    """Return the settings of a training; the options are for `Games`."""
    register_env("Games", make_games)
    here: dict[str, Any] = dict(env_id=env_id, autoreset_mode="NextStep")
    if runners:
        here["processes"] = 0  # A runner has a single core.
    return (
        PPOConfig()
        .environment("Games", env_config=here | options)
        .env_runners(
            num_env_runners=runners,
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
        # How long each update looks for a runner that was lost.
        .fault_tolerance(env_runner_health_probe_timeout_s=1)
    )


@dataclasses.dataclass
class Settings(RunSettings):
    program = "rllib"

    env_id: tyro.conf.Positional[str] = BREAKOUT
    """Gymnasium's id of an Atari title."""
    seed: int = 0
    """Seed of the weights; RLlib plays other games each time."""
    device: str = "cpu"
    """Device that learns."""
    runners: int = 0
    """Processes that play, eight games each; 0: the program itself plays."""


class Learner:
    """RLlib's algorithm as a part of a run: its checkpoint, as a zip file."""

    def __init__(self, algorithm: Algorithm) -> None:
        self.algorithm = algorithm

    def state_dict(self) -> dict[str, torch.Tensor]:
        with tempfile.TemporaryDirectory() as folder:
            files = f"{folder}/files"
            self.algorithm.save_to_path(files)
            archive = shutil.make_archive(files, "zip", files)
            return {"zip": torch.tensor(np.fromfile(archive, np.uint8))}

    def load_state_dict(self, saved: dict[str, torch.Tensor]) -> None:
        with tempfile.TemporaryDirectory() as folder:
            files = f"{folder}/files"
            saved["zip"].numpy().tofile(f"{files}.zip")
            shutil.unpack_archive(f"{files}.zip", files)
            self.algorithm.restore_from_path(files)


def start_ray(runners: int, **options: Any) -> None:
    """Connect to a cluster, or start one, with room for the runners."""
    # These files go along to each machine.
    files = [inspect.getfile(each) for each in (Game, Games, Run, Settings)]
    # A signal to the whole group is for the program alone, which saves first.
    held = {signal.SIGTERM, signal.SIGHUP}
    signal.pthread_sigmask(signal.SIG_BLOCK, held)
    options |= dict(runtime_env={"py_modules": files})
    ray.init(ignore_reinit_error=True, **options)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, held)
    cores = int(ray.cluster_resources().get("CPU", 0))
    if runners > cores:
        raise RunError(f"{runners} runners need a core each; Ray has {cores}")
    # Another job may hold them. RLlib would wait without a word.
    free = int(ray.available_resources().get("CPU", 0))
    if runners > free:
        print(
            f"{free} of Ray's {cores} cores are free; waiting for {runners}",
            flush=True,
        )


def train(settings: Settings, config: PPOConfig) -> None:
    """Train until all steps are played, or a signal comes."""
    torch.manual_seed(settings.seed)
    with contextlib.ExitStack() as stack:
        with one_line("can't begin"):
            start_ray(config.num_env_runners)
            algorithm = config.build_algo()
            stack.callback(algorithm.stop)
            run = Run(settings, weights=Learner(algorithm))
        # Ray notes signals, too, but the training does so last.
        stack.enter_context(run)
        group = algorithm.env_runner_group
        playing = config.num_env_runners
        while not run.over:
            board = algorithm.train().get("env_runners", {})
            healthy = group.num_healthy_remote_workers()
            if healthy != playing:
                print(
                    f"{healthy} of {config.num_env_runners} runners play",
                    flush=True,
                )
            playing = healthy
            # NaN if all runners are lost, and nobody has played
            steps = board.get("num_env_steps_sampled", 0)
            if steps > 0:
                # RLlib unpacks a list of a single game.
                games = np.reshape(board.get("games", []), (-1, 2)).tolist()
                run.add(int(steps), [Ended(*game) for game in games], {})
            elif run.asked:
                run.add(0, [], {})


def main() -> None:
    """Train, as the command line says."""
    settings = read_settings(Settings, __doc__)
    config = make_config(settings.env_id, settings.runners)
    config.learners(num_gpus_per_learner=int(settings.device != "cpu"))
    train(settings, config)


if __name__ == "__main__":
    run_program(main)
