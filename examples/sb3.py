r"""Train Stable-Baselines3's PPO on `Games`.

    pip install -r requirements.txt stable_baselines3 tensorboard tyro
    python examples/sb3.py PongNoFrameskip-v4 --folder runs/pong
    python examples/sb3.py --folder runs/pong --evaluate  # 30 whole games

`GamesVecEnv` is all it takes, to be copied together with game.py. A run is its
folder, and the same command begins it or goes on from its last model. The
folder has SB3's logs, a model for every 100,000 steps, and one for the end,
which may come by Ctrl-C or a batch system's SIGTERM. Models are pickles: load
only those that you trust.
"""

import dataclasses
import datetime
import os
import pathlib
import re
import signal
import sys
import threading
from typing import Any, NoReturn

import numpy as np
import tyro
from stable_baselines3 import PPO
from stable_baselines3.common import callbacks, logger
from stable_baselines3.common.evaluation import evaluate_policy
from stable_baselines3.common.monitor import Monitor
from stable_baselines3.common.utils import LinearSchedule
from stable_baselines3.common.vec_env import VecEnv

# Copied, game.py lies beside this file; in this repository it lies one folder
# up. Both come before a `game` that is installed.
sys.path.insert(1, str(pathlib.Path(__file__).resolve().parents[1]))
from game import BREAKOUT, Games

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
class Settings:
    env_id: tyro.conf.Positional[str] = BREAKOUT
    """Gymnasium's id of an Atari game."""
    folder: pathlib.Path | None = None
    """Folder of the run, to begin or to continue; None: a new one."""
    evaluate: bool = False
    """Whether whole games are played, and nothing is trained."""
    whole_games: int = 30
    """Games that are played to evaluate."""
    seed: int = 0
    """Seed of the weights, the games and the sampled actions."""
    steps: int = 10_000_000
    """Steps of the whole training, in all games together."""
    games: int = 8
    """Games that are played at once."""
    keep_every: int = 100_000
    """Steps between two models that are kept."""
    device: str = "auto"
    """Device that computes the network."""
    processes: int | None = None
    """Processes that play; None: one for each core."""


def fail(words: str) -> NoReturn:
    print(f"sb3.py: {words}", file=sys.stderr)
    sys.exit(2)


# ## Models


def save(model: PPO, folder: pathlib.Path) -> pathlib.Path:
    """Write a model whole, or leave what was there."""
    path = folder / f"model_{model.num_timesteps}_steps.zip"
    new = path.with_name(f"{path.name}.{os.getpid()}")
    try:
        model.save(new)
        new.replace(path)
    except OSError as error:
        new.unlink(missing_ok=True)
        fail(f"{path} can't be written: {error}")
    return path


def saved_models(folder: pathlib.Path) -> list[pathlib.Path]:
    """Return the models of a run, the one with most steps first."""
    steps = {}
    for path in folder.glob("*.zip"):
        if match := re.fullmatch(r"model_(\d+)_steps.zip", path.name):
            steps[path] = int(match[1])
    return sorted(steps, key=steps.__getitem__, reverse=True)


def load_last(
    folder: pathlib.Path, device: str
) -> tuple[pathlib.Path, PPO, str]:
    """Return the last model that can be read, its file and its title."""
    for path in saved_models(folder):
        try:
            model = PPO.load(path, device=device)
            return path, model, model.env_id
        except Exception as error:  # zip, pickle and PyTorch raise all kinds
            words = " ".join(str(error).split())
            print(f"sb3.py: {path} can't be read: {words:.200}", flush=True)
    fail(f"there is no model that can be read in {folder}")


class KeepModels(callbacks.BaseCallback):
    """Saves a model every so many calls."""

    def __init__(self, folder: pathlib.Path, every: int) -> None:
        super().__init__()
        self._folder = folder
        self._every = max(1, every)

    def _on_step(self) -> bool:
        if self.n_calls % self._every == 0:
            save(self.model, self._folder)
        return True


class EndWhenAsked(callbacks.BaseCallback):
    """Ends the training at a signal; a second one ends it at once."""

    def _on_training_start(self) -> None:
        self._asked = False
        self._before = {}
        # Python allows handlers in the main thread alone.
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, signal.SIGTERM):
                self._before[number] = signal.signal(number, self._note)

    def _note(self, number: int, frame: Any) -> None:
        self._asked = True
        signal.signal(number, signal.SIG_DFL)

    def _on_step(self) -> bool:
        return not self._asked

    def _on_training_end(self) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)


def train(settings: Settings) -> None:
    """Begin a run, or go on from its last model."""
    title = settings.env_id.replace("/", "-")
    now = datetime.datetime.now(datetime.timezone.utc)
    name = f"{title}-{settings.seed}-{now:%Y%m%d-%H%M%S-%f}"
    folder = settings.folder or RUNS / name
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        fail(f"{folder} can't be made: {error}")
    with Games(
        settings.games,
        settings.env_id,
        seed=settings.seed,
        processes=settings.processes,
    ) as games:
        env = GamesVecEnv(games)
        if saved_models(folder):
            path, model, env_id = load_last(folder, settings.device)
            if env_id != settings.env_id:
                fail(f"{folder} is a run of {env_id}")
            # once more: these games may be more or fewer than before
            model = PPO.load(path, env, settings.device)
            # so that it plays other games than before
            model.set_random_seed(settings.seed + model.num_timesteps)
            print(f"goes on from {path}", flush=True)
        else:
            model = PPO(
                "CnnPolicy",
                env,
                **ATARI,
                seed=settings.seed,
                device=settings.device,
            )
            # SB3 saves the attributes of a model with it.
            model.env_id = settings.env_id
            print(f"begins in {folder}", flush=True)
        log = folder / f"from-{model.num_timesteps}"
        formats = ["stdout", "csv", "tensorboard"]
        model.set_logger(logger.configure(str(log), formats))
        keep = KeepModels(folder, settings.keep_every // settings.games)
        model.learn(
            settings.steps - model.num_timesteps,
            [keep, EndWhenAsked()],
            reset_num_timesteps=False,
        )
        path = save(model, folder)
    print(f"saved as {path}", flush=True)


def evaluate(settings: Settings) -> None:
    """Play whole games with the last model, and print their raw points."""
    if settings.folder is None:
        fail("--evaluate needs the --folder of a run")
    path, model, env_id = load_last(settings.folder, settings.device)
    print(f"model: {path}", flush=True)
    model.set_random_seed(settings.seed)
    with Games(
        settings.whole_games,
        env_id,
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
    print(
        f"mean {np.mean(scores):.1f} ({min(scores):.0f} to {max(scores):.0f})"
    )


def main() -> None:
    settings = tyro.cli(Settings, description=__doc__)
    evaluate(settings) if settings.evaluate else train(settings)


if __name__ == "__main__":
    main()
