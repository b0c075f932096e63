"""Train Stable-Baselines3's PPO on `Games`.

    pip install -r requirements.txt stable_baselines3
    python examples/sb3.py

`GamesVecEnv` is all it takes: copy it beside game.py, into a program of your
own. SB3's `CheckpointCallback` keeps models while it trains, and
`evaluate_policy` plays whole games. Models are pickles: load only those that
you trust.
"""

import contextlib
import pathlib
import sys
from typing import Any

import numpy as np
from stable_baselines3 import PPO
from stable_baselines3.common.monitor import Monitor
from stable_baselines3.common.utils import LinearSchedule
from stable_baselines3.common.vec_env import VecEnv

# In this repository game.py is one folder up; in a copy it is beside.
if not pathlib.Path(__file__).with_name("game.py").exists():
    sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))
from games import Games


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


def train(steps: int = 10_000_000) -> PPO:
    """Train with the settings of SB3's zoo for Atari; save the model."""
    with contextlib.closing(GamesVecEnv(Games(8))) as env:
        model = PPO(
            "CnnPolicy",
            env,
            n_steps=128,
            batch_size=256,
            n_epochs=4,
            ent_coef=0.01,
            learning_rate=LinearSchedule(2.5e-4, 0, 1),
            clip_range=LinearSchedule(0.1, 0, 1),
            verbose=1,
        )
        model.learn(steps)
        model.save("breakout")
    return model


if __name__ == "__main__":
    train()
