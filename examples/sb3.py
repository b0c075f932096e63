r"""Train Stable-Baselines3's PPO on `Games`.

    pip install -r requirements.txt stable_baselines3 Pillow tensorboard \
        tyro filelock
    python examples/sb3.py PongNoFrameskip-v4
    python examples/sb3.py PongNoFrameskip-v4 --resume
    python examples/sb3.py PongNoFrameskip-v4 --evaluate  # 30 games, two ways

`GamesVecEnv` is all it takes, to be copied together with game.py; the rest
needs training_run.py, too. A run has a folder, runs/sb3-ENV_ID-SEED. It has a
model for every 100,000 steps and for the end, also for one by Ctrl-C or a
batch system's SIGTERM; --resume and --evaluate take the last one. SB3's own
log is there for each start of the program, as a table and for TensorBoard.
"""

import dataclasses
import pathlib
import sys
from typing import Any

import numpy as np
import torch
import tyro
from stable_baselines3 import PPO
from stable_baselines3.common import callbacks, logger
from stable_baselines3.common.monitor import Monitor
from stable_baselines3.common.utils import LinearSchedule
from stable_baselines3.common.vec_env import VecEnv

import training_run

# In this repository game.py lies one folder up; copied, it lies beside.
sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))
from game import Games

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
class Settings(training_run.Settings):
    """Those of a run; SB3's own are in `ATARI`."""

    games: training_run.Count = 8
    """that are played at once"""
    keep_every: training_run.Count = 100_000
    """steps between two models that are kept"""


def last_model(folder: pathlib.Path) -> pathlib.Path | None:
    """Return the model of the most steps in a folder."""
    models = folder.glob("model_*_steps.zip")
    return max(models, key=lambda it: int(it.stem.split("_")[1]), default=None)


class EndWhenAsked(callbacks.BaseCallback):
    """Ends the training when a signal asks for it."""

    def __init__(self, signals: training_run.Signals) -> None:
        super().__init__()
        self._signals = signals

    def _on_step(self) -> bool:
        return not self._signals.asked


def train(settings: Settings, saved: pathlib.Path | None) -> None:
    """Train SB3's PPO, from a saved model on if there is one."""
    folder, here = settings.folder, settings.here
    with (
        training_run.lock(folder),
        training_run.Signals() as signals,
        settings.make_games(settings.games) as games,
    ):
        env = GamesVecEnv(games)
        if saved:
            model = PPO.load(saved, env, here.device)
            # so that it plays other games than before
            model.set_random_seed(settings.seed + model.num_timesteps)
        else:
            model = PPO(
                "CnnPolicy",
                env,
                **ATARI,
                seed=settings.seed,
                device=here.device,
            )
        log = folder / f"from-{model.num_timesteps}"
        formats = ["stdout", "csv", "tensorboard"]
        model.set_logger(logger.configure(str(log), formats))
        keep = callbacks.CheckpointCallback(
            max(1, settings.keep_every // settings.games), folder, "model"
        )
        model.learn(
            settings.steps - model.num_timesteps,
            [keep, EndWhenAsked(signals)],
            reset_num_timesteps=False,
        )
        path = folder / f"model_{model.num_timesteps}_steps.zip"
        model.save(path)
    print(f"saved as {path}", flush=True)


def play(settings: Settings, saved: pathlib.Path) -> None:
    """Play whole games with a saved model, and film one, as asked for."""
    print(f"model: {saved}", flush=True)
    model = PPO.load(saved, device=settings.here.device)

    def choose(obs: torch.Tensor) -> torch.Tensor:
        return torch.as_tensor(model.predict(obs.cpu().numpy())[0])

    if settings.here.evaluate:
        training_run.evaluate(choose, settings)
    if settings.here.film:
        training_run.film(choose, settings)


def main() -> None:
    settings = tyro.cli(Settings, description=__doc__)
    here = settings.here
    if here.folder is None:
        here.folder = settings.folder.with_name(f"sb3-{settings.folder.name}")
    training_run.check(settings)
    torch.set_num_threads(here.threads)
    saved = here.checkpoint or last_model(settings.folder)
    plays = here.evaluate or here.film
    if saved is None and (plays or here.resume):
        training_run.exit_with(f"no model in {here.folder}: train it first")
    if saved and plays:
        play(settings, saved)
    elif saved and not here.resume:
        training_run.exit_with(
            f"{here.folder} has a run: --resume continues it"
        )
    else:
        train(settings, saved)


if __name__ == "__main__":
    main()
