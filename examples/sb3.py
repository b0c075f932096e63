r"""Train Stable-Baselines3's PPO on `Games`.

    pip install -r requirements.txt stable_baselines3 tensorboard tyro
    python examples/sb3.py PongNoFrameskip-v4
    python examples/sb3.py PongNoFrameskip-v4 --resume    # the newest run
    python examples/sb3.py PongNoFrameskip-v4 --evaluate  # 30 whole games

`GamesVecEnv` is all it takes, to be copied together with game.py. Each run has
a folder, runs/sb3/ENV_ID-SEED-TIME, with SB3's log and a model for every
100,000 steps and for the end, also for one by Ctrl-C or a batch system's
SIGTERM.
"""

import dataclasses
import datetime
import glob
import os
import pathlib
import signal
import sys
import threading
from typing import Any

import numpy as np
import tyro
from stable_baselines3 import PPO
from stable_baselines3.common import callbacks, logger
from stable_baselines3.common.evaluation import evaluate_policy
from stable_baselines3.common.monitor import Monitor
from stable_baselines3.common.utils import LinearSchedule
from stable_baselines3.common.vec_env import VecEnv

# In this repository game.py lies one folder up; copied, it lies beside.
sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))
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
    # any Atari title
    env_id: tyro.conf.Positional[str] = BREAKOUT
    seed: int = 0  # of the weights, and of what is drawn
    steps: int = 10_000_000  # of all games together
    games: int = 8  # that are played at once
    keep_every: int = 100_000  # steps between two models that are kept
    resume: bool = False  # continue a run
    evaluate: bool = False  # play whole games
    # of the run; None: a new one, or the newest to resume or evaluate
    folder: pathlib.Path | None = None
    whole_games: int = 30  # to evaluate
    device: str = "auto"  # on which the network computes
    processes: int | None = None  # that play; None: one for each core


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


def last_model(settings: Settings) -> pathlib.Path:
    """Return the last model of a run, the newest if none is named."""
    folder = settings.folder or RUNS / f"{name_of(settings)}-*"
    models = glob.glob(f"{folder}/model_*_steps.zip")
    if not models:
        raise SystemExit(f"sb3.py: there is no model in {folder}")
    return pathlib.Path(max(models, key=os.path.getmtime))


def name_of(settings: Settings) -> str:
    title = settings.env_id.replace("/", "-")
    return f"{title}-{settings.seed}"


def train(settings: Settings) -> None:
    """Train SB3's PPO, from the last model on with --resume."""
    with Games(
        settings.games,
        settings.env_id,
        seed=settings.seed,
        processes=settings.processes,
    ) as games:
        env = GamesVecEnv(games)
        if settings.resume:
            saved = last_model(settings)
            folder = saved.parent
            model = PPO.load(saved, env, settings.device)
            # so that it plays other games than before
            model.set_random_seed(settings.seed + model.num_timesteps)
        else:
            now = f"{datetime.datetime.now():%Y%m%d-%H%M%S-%f}"
            folder = settings.folder or RUNS / f"{name_of(settings)}-{now}"
            if any(folder.glob("model_*_steps.zip")):
                raise SystemExit(f"sb3.py: {folder} has a run: see --resume")
            model = PPO(
                "CnnPolicy",
                env,
                **ATARI,
                seed=settings.seed,
                device=settings.device,
            )
        log = folder / f"from-{model.num_timesteps}"
        formats = ["stdout", "csv", "tensorboard"]
        model.set_logger(logger.configure(str(log), formats))
        keep = callbacks.CheckpointCallback(
            max(1, settings.keep_every // settings.games), folder, "model"
        )
        model.learn(
            settings.steps - model.num_timesteps,
            [keep, EndWhenAsked()],
            reset_num_timesteps=False,
        )
        path = folder / f"model_{model.num_timesteps}_steps.zip"
        model.save(path)
    print(f"saved as {path}", flush=True)


def evaluate(settings: Settings) -> None:
    """Play whole games with the last model, and print their raw points."""
    path = last_model(settings)
    print(f"model: {path}", flush=True)
    model = PPO.load(path, device=settings.device)
    model.set_random_seed(settings.seed)
    with Games(
        settings.whole_games,
        settings.env_id,
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
