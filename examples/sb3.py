r"""Train Stable-Baselines3's PPO on `Games`.

    pip install -r requirements.txt stable_baselines3 tensorboard tyro
    python examples/sb3.py PongNoFrameskip-v4 --folder runs/pong
    python examples/sb3.py --folder runs/pong --evaluate  # 30 whole games

`GamesVecEnv` is all it takes, to be copied together with game.py; the program
needs run.py, too. A run is its folder, and the same command begins it or goes
on from its last model. The folder has SB3's logs, a model for every 100,000
steps, and one for the end, which may come by Ctrl-C or a batch system's
SIGTERM; the exit code is then 75. Models are pickles: load only those that you
trust.
"""

import contextlib
import dataclasses
import io
import pathlib
import sys
from typing import Any

import numpy as np
import tyro
from stable_baselines3 import PPO
from stable_baselines3.common import logger
from stable_baselines3.common.evaluation import evaluate_policy
from stable_baselines3.common.monitor import Monitor
from stable_baselines3.common.utils import LinearSchedule
from stable_baselines3.common.vec_env import VecEnv

# Copied, game.py lies beside this file; in this repository it lies one folder
# up. Both come before a `game` that is installed.
sys.path.insert(1, str(pathlib.Path(__file__).resolve().parents[1]))
from game import BREAKOUT, Games
from run import (
    STOPPED,
    Options,
    RunError,
    Whole,
    new_name,
    noting_signals,
    one_line,
    remove_leftovers,
    run_program,
    say,
    write,
)

RUNS = pathlib.Path("runs/sb3")

# the settings of SB3's own zoo for Atari
ATARI = dict(
    n_steps=128,
    batch_size=256,
    n_epochs=4,
    ent_coef=0.01,
    learning_rate=LinearSchedule(2.5e-4, 0, 1),
    clip_range=LinearSchedule(0.1, 0, 1),
)


class GamesVecEnv(VecEnv):
    """
    Makes `Games` a Stable-Baselines3 `VecEnv`.

    Nothing has to be wrapped around it: observations are stacked, with the
    channels first as `CnnPolicy` takes them, and the scores of whole games are
    there as from SB3's `Monitor`.
    """

    def __init__(self, games: Games) -> None:
        if games.metadata["autoreset_mode"].name != "SAME_STEP":
            raise ValueError("expected Games in SAME_STEP mode")
        self.games = games
        spaces = games.single_observation_space, games.single_action_space
        super().__init__(games.num_envs, *spaces)

    # SB3 hands seeds in before the reset that they are for.
    def reset(self) -> np.ndarray:
        seed = None if None in self._seeds else self._seeds
        self._reset_seeds()
        return self.games.reset(seed=seed)[0]

    def step_async(self, actions: np.ndarray) -> None:
        self.games.step_async(actions)

    # SB3 wants a dict of infos for each game; only those whose episode has
    # ended have something to tell. An episode that was cut off, by the frame
    # limit or because its worker died, is no loss: SB3 then adds the value of
    # `terminal_observation` to the last reward. Under `"continue"` a lost life
    # is the end of an episode, but `episode`, which the logger shows, is there
    # at the end of the game only: its score, unclipped, and its steps.
    def step_wait(self) -> Any:
        obs, rewards, terminated, truncated, more = self.games.step_wait()
        dones = terminated | truncated
        infos = [{} for _ in dones]
        games_over = more.get("_episode", np.zeros_like(dones))
        for i in np.flatnonzero(dones):
            infos[i]["terminal_observation"] = more["final_obs"][i]
            cut_off = truncated[i] and not terminated[i]
            infos[i]["TimeLimit.truncated"] = bool(cut_off)
            if games_over[i]:
                score = more["episode"]["r"][i].item()
                length = more["episode"]["l"][i].item()
                infos[i]["episode"] = {"r": score, "l": length}
        return obs, rewards.astype(np.float32), dones, infos

    def close(self) -> None:
        self.games.close()

    def get_images(self) -> Any:
        return self.games.render()

    # Because `episode` is there as from a `Monitor`, `evaluate_policy` counts
    # whole games and not lives.
    def env_is_wrapped(
        self, wrapper_class: type, indices: Any = None
    ) -> list[bool]:
        return [wrapper_class is Monitor for _ in self._get_indices(indices)]

    # The games live in processes of their own. What all of them share can be
    # told; anything else is for the construction of `Games`.
    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        value = getattr(self.games, attr_name)
        return [value for _ in self._get_indices(indices)]

    def set_attr(self, *_: Any, **__: Any) -> None:
        raise NotImplementedError("the games can't be reached from outside")

    env_method = set_options = set_attr


@dataclasses.dataclass
class Settings(Options):
    env_id: tyro.conf.Positional[str] = BREAKOUT
    """Gymnasium's id of an Atari game."""
    folder: pathlib.Path | None = None
    """Folder of the run, to begin or to continue; None: a new one."""
    evaluate: bool = False
    """Whether whole games are played, and nothing is trained."""
    whole_games: int = 30
    """Games that are played to evaluate."""
    seed: Whole = 0
    """Seed of the weights, the games and the sampled actions."""
    steps: int = 10_000_000
    """Steps of the whole training, in all games together."""
    games: int = 8
    """Games that are played at once."""
    keep_every: int = 100_000
    """Steps between two models that are kept."""
    device: str = "auto"
    """Device that computes the network."""
    processes: Whole | None = None
    """Processes that play; None: one for each core."""


# ## Models


def saved_models(folder: pathlib.Path) -> set[pathlib.Path]:
    """Return the models of a run."""
    return set(folder.glob("model_*_steps.zip"))


def save(model: PPO, folder: pathlib.Path) -> pathlib.Path:
    path = folder / f"model_{model.num_timesteps}_steps.zip"
    file = io.BytesIO()
    model.save(file)
    write(path, file.getvalue())
    return path


def load_last(folder: pathlib.Path, device: str) -> tuple[pathlib.Path, PPO]:
    """Return the last model that can be read, and its file."""
    paths = saved_models(folder)
    # the one with most steps first
    for path in sorted(paths, key=lambda path: -int(path.stem.split("_")[1])):
        try:
            return path, PPO.load(path, device=device)
        except Exception as error:  # zip, pickle and PyTorch raise all kinds
            say(f"{path} can't be read: {error!r:.200}")
    raise RunError(f"there is no model that can be read in {folder}")


def train(settings: Settings) -> None:
    """Begin a run, or go on from its last model."""
    name = new_name(settings.env_id, settings.seed)
    folder = settings.folder or RUNS / name
    every = max(settings.games, settings.keep_every)
    remove_leftovers(folder, "model_*.zip")
    known = saved_models(folder)

    def save_here() -> pathlib.Path:
        if not known >= saved_models(folder):
            raise RunError(f"another program trains in {folder}")
        path = save(model, folder)
        known.add(path)
        return path

    def after_step(*_: Any) -> bool:
        """Save a model if it is time; go on if no signal has come."""
        if model.num_timesteps % every < settings.games:
            save_here()
        return not asked.is_set()

    with one_line("can't begin"):
        games = Games(
            settings.games,
            settings.env_id,
            seed=settings.seed,
            processes=settings.processes,
        )
    with games:
        env = GamesVecEnv(games)
        if known:
            path, model = load_last(folder, settings.device)
            if model.env_id != settings.env_id:
                raise RunError(f"{folder} is a run of {model.env_id}")
            # once more: these games may be more or fewer than before
            model = PPO.load(path, env, settings.device)
            # so that it plays other games than before
            seed = settings.seed + model.num_timesteps
            model.set_random_seed(seed % 2**32)
            say(f"goes on from {path}")
        else:
            with one_line("can't begin"):
                model = PPO(
                    "CnnPolicy",
                    env,
                    **ATARI,
                    seed=settings.seed,
                    device=settings.device,
                )
            # SB3 saves the attributes of a model with it.
            model.env_id = settings.env_id
            say(f"begins in {folder}")
        log = folder / f"from-{model.num_timesteps}"
        formats = ["stdout", "csv", "tensorboard"]
        with one_line(f"{folder} can't be written"):
            board = logger.configure(str(log), formats)
        model.set_logger(board)
        with contextlib.closing(board), noting_signals() as asked:
            model.learn(
                settings.steps - model.num_timesteps,
                after_step,
                reset_num_timesteps=False,
            )
        say(f"saved as {save_here()}")
    if asked.is_set() and model.num_timesteps < settings.steps:
        sys.exit(STOPPED)


def evaluate(settings: Settings) -> None:
    """Play whole games with the last model, and print their raw points."""
    if settings.folder is None:
        raise RunError("--evaluate needs the --folder of a run")
    path, model = load_last(settings.folder, settings.device)
    say(f"model: {path}")
    model.set_random_seed(settings.seed)
    with Games(
        settings.whole_games,
        model.env_id,
        seed=settings.seed,
        processes=settings.processes,
        clip_reward=False,
    ) as games:
        scores, _ = evaluate_policy(
            model,
            GamesVecEnv(games),
            settings.whole_games,
            deterministic=False,
            return_episode_rewards=True,
        )
    say(f"mean {np.mean(scores):.1f} ({min(scores):.0f} to {max(scores):.0f})")


def main() -> None:
    settings = tyro.cli(Settings, description=__doc__)
    evaluate(settings) if settings.evaluate else train(settings)


if __name__ == "__main__":
    run_program(main)
