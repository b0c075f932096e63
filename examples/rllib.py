"""Train RLlib's PPO on `Games`.

    pip install -r requirements.txt "ray[rllib]" torch tensorboard tyro
    python examples/rllib.py PongNoFrameskip-v4 --folder runs/mine

RLlib needs observations as floats, with the channels last. It takes the step
after an end as a reset, so `Games` is in NEXT_STEP mode. Its own score,
`episode_return_mean`, is of lives and clipped rewards; `game_score` beside it
is of whole games. With `--runners` more processes play, each games of its own.
Most settings are those of ppo.py; no score is published.

A run is its folder: curve.csv has the score after each iteration, and the
newest checkpoint-STEPS is what the same command goes on from. A signal ends it
after an iteration, with a checkpoint and exit code 75; a second one at once.
"""

import csv
import dataclasses
import io
import json
import pathlib
import random
import shutil
import sys
from typing import Any

import numpy as np
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
    STOPPED,
    RunError,
    new_name,
    noting_signals,
    one_line,
    run_program,
    say,
    write,
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


@dataclasses.dataclass
class Settings:
    env_id: tyro.conf.Positional[str] = BREAKOUT
    """Gymnasium's id of an Atari title."""
    folder: pathlib.Path | None = None
    """Folder of the run, to begin or to continue; None: a new one in runs/."""
    steps: int = 10_000_000
    """Steps of the whole training, in all games together."""
    save_every: int = 100_000
    """Steps between two checkpoints."""
    runners: int = 0
    """Processes that play, eight games each; 0: the program itself plays."""


# ## The folder


def checkpoints(folder: pathlib.Path) -> dict[int, pathlib.Path]:
    """Return the checkpoints of a run by their steps."""
    paths = folder.glob("checkpoint-*")
    return {int(path.name.split("-")[1]): path for path in paths}


def save(algorithm: Algorithm, folder: pathlib.Path, steps: int) -> None:
    """Save a checkpoint, and remove the one before it."""
    before = checkpoints(folder).values()
    # It has its name when it is whole.
    new = folder / "unfinished"
    with one_line(f"{folder} can't be written"):
        shutil.rmtree(new, ignore_errors=True)
        algorithm.save_to_path(new.absolute())
        new.rename(folder / f"checkpoint-{steps}")
        for path in before:
            shutil.rmtree(path)


def read_curve(folder: pathlib.Path, steps: int) -> list[dict[str, Any]]:
    """Return the rows of curve.csv up to a checkpoint."""
    path = folder / "curve.csv"
    if not path.exists():
        return []
    rows = csv.DictReader(path.read_text("utf-8").splitlines())
    return [row for row in rows if int(row["steps"]) <= steps]


def write_curve(folder: pathlib.Path, rows: list[dict[str, Any]]) -> None:
    text = io.StringIO()
    writer = csv.DictWriter(text, ["steps", "score"])
    writer.writeheader()
    writer.writerows(rows)
    write(folder / "curve.csv", text.getvalue().encode())


def train(settings: Settings, config: PPOConfig) -> None:
    """Begin a run, or go on from its newest checkpoint."""
    name = new_name(settings.env_id, 0)
    folder = settings.folder or pathlib.Path("runs", name)
    about = folder / "settings.json"
    if about.exists():
        env_id = json.loads(about.read_text("utf-8"))["env_id"]
        if env_id != settings.env_id:
            raise RunError(f"{folder} is a run of {env_id}")
    with one_line("can't begin"):
        algorithm = config.build_algo()
    write(about, json.dumps({"env_id": settings.env_id}).encode())
    found = checkpoints(folder)
    steps = saved = max(found, default=0)
    # Ray notes signals, too, but the training does so last.
    with noting_signals() as asked:
        if found:
            with one_line(f"{found[steps]} doesn't fit"):
                algorithm.restore_from_path(found[steps].absolute())
        say(f"{folder}: {steps:,} steps of {settings.steps:,}")
        rows = read_curve(folder, steps)
        while steps < settings.steps and not asked.is_set():
            board = algorithm.train()["env_runners"]
            steps = int(board["num_env_steps_sampled_lifetime"])
            score = board.get("game_score")  # if a whole game has ended
            rows.append({"steps": steps, "score": score})
            write_curve(folder, rows)
            say(f"{steps:,} steps, score {score}")
            every = settings.save_every
            if steps // every > saved // every:
                save(algorithm, folder, steps)
                saved = steps
        if steps > saved:
            save(algorithm, folder, steps)
    algorithm.stop()
    if steps < settings.steps:
        sys.exit(STOPPED)


def main() -> None:
    settings = tyro.cli(Settings, description=__doc__)
    config = make_config(settings.env_id)
    config.env_runners(num_env_runners=settings.runners)
    train(settings, config)


if __name__ == "__main__":
    run_program(main)
