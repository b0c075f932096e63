"""Train Stable-Baselines3's PPO on `Games`.

    pip install -r requirements.txt stable_baselines3
    python examples/sb3.py PongNoFrameskip-v4 --steps 10000000

`GamesVecEnv` is all it takes, to be copied together with game.py. SB3 prints a
table every few seconds. At the end, or after Ctrl-C or the SIGTERM of a batch
system, what it has learned goes to runs/sb3.zip, for `PPO.load`.
"""

import argparse
import contextlib
import pathlib
import signal
import sys

import numpy as np
from stable_baselines3 import PPO
from stable_baselines3.common.monitor import Monitor
from stable_baselines3.common.utils import LinearSchedule
from stable_baselines3.common.vec_env import VecEnv

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

    def __init__(self, games):
        if games.metadata["autoreset_mode"].name != "SAME_STEP":
            raise ValueError("expected Games in SAME_STEP mode")
        self.games = games
        spaces = games.single_observation_space, games.single_action_space
        super().__init__(games.num_envs, *spaces)

    # SB3 hands seeds in before the reset that they are for.
    def reset(self):
        seed = None if None in self._seeds else self._seeds
        self._reset_seeds()
        return self.games.reset(seed=seed)[0]

    def step_async(self, actions):
        self.games.step_async(actions)

    # SB3 wants a dict of infos for each game; only those whose episode has
    # ended have something to tell. An episode that was cut off, by the frame
    # limit or because its worker died, is no loss: SB3 then adds the value of
    # `terminal_observation` to the last reward. Under `"continue"` a lost life
    # is the end of an episode, but `episode`, which the logger shows, is there
    # at the end of the game only: its score, unclipped, and its steps.
    def step_wait(self):
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

    def close(self):
        self.games.close()

    def get_images(self):
        return self.games.render()

    # Because `episode` is there as from a `Monitor`, `evaluate_policy` counts
    # whole games and not lives.
    def env_is_wrapped(self, wrapper_class, indices=None):
        return [wrapper_class is Monitor for _ in self._get_indices(indices)]

    # The games live in processes of their own. What all of them share can be
    # told; anything else is for the construction of `Games`.
    def get_attr(self, attr_name, indices=None):
        value = getattr(self.games, attr_name)
        return [value for _ in self._get_indices(indices)]

    def set_attr(self, *_, **__):
        raise NotImplementedError("the games can't be reached from outside")

    env_method = set_options = set_attr


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("env_id", nargs="?", default="BreakoutNoFrameskip-v4")
    parser.add_argument("--games", type=int, default=8)
    parser.add_argument("--steps", type=int, default=10_000_000)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    print(f"{args.steps:,} steps of {args.env_id}; Ctrl-C ends it sooner")
    # Both signals raise a `KeyboardInterrupt`.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with Games(args.games, args.env_id, seed=args.seed) as games:
        env = GamesVecEnv(games)
        model = PPO("CnnPolicy", env, **ATARI, seed=args.seed, verbose=1)
        with contextlib.suppress(KeyboardInterrupt):
            model.learn(args.steps)
        model.save("runs/sb3")
    print(f"saved in runs/sb3.zip after {model.num_timesteps:,} steps")


if __name__ == "__main__":
    main()
