"""Look at what others do after a lost life, for a table of docs/reference.md.

    pip install -r requirements.txt --group measure
    python measure/differences.py            # 10 seconds
    python measure/differences.py --publish

Each plays Breakout as it sets it up itself, holding FIRE, until the first life
is lost. Of the observation that begins the next episode `differences.json`
says whether it is of the same game, and how many of its four pictures are like
the newest, black, or of the episode before.
"""

import envpool
import gymnasium as gym
import numpy as np
from ale_py.vector_env import AtariVectorEnv
from gymnasium import wrappers
from stable_baselines3.common import env_util, vec_env

import common
import updates
from game import BREAKOUT

LIVES = 5
FIRE = 1
BLACK = bytes(84 * 84)


# Both yield an observation, whether it begins an episode, and lives.


def sb3():
    """It resets in the same step."""
    env = vec_env.VecFrameStack(env_util.make_atari_env(BREAKOUT), 4)
    env = vec_env.VecTransposeImage(env)
    ale = env.unwrapped.envs[0].unwrapped.ale
    obs, begins = env.reset(), [True]
    while True:
        yield obs[0], begins[0], ale.lives()
        obs, _, begins, _ = env.step([FIRE])


def vector(env, ale=None):
    """Whoever resets in the step that follows the end."""
    obs, info = env.reset()
    begins = over = True
    while True:
        lives = ale.lives() if ale else info["lives"][0]
        yield obs[0], begins, lives
        begins = over and not begins
        obs, _, terminated, truncated, info = env.step(np.array([FIRE]))
        over = terminated[0] or truncated[0]


def single(env):
    env_1 = gym.vector.SyncVectorEnv([lambda: env])
    return vector(env_1, env.unwrapped.ale)


def look(play):
    """Look at the observation that follows the first lost life."""
    before = set()
    for obs, begins, lives in play:
        pictures = [picture.tobytes() for picture in obs]
        same = bool(lives < LIVES)
        if begins and before:
            break
        before |= {*pictures} - {BLACK}
    return {
        "the same game": same,
        "as the newest": pictures.count(pictures[-1]),
        "black": pictures.count(BLACK),
        "of the episode before": sum(p in before for p in pictures),
    }


def look_at_all():
    once = {"num_envs": 1, "episodic_life": True}
    plain = gym.make(BREAKOUT)
    plain = wrappers.AtariPreprocessing(plain, terminal_on_life_loss=True)
    plain = wrappers.FrameStackObservation(plain, 4)
    pool = envpool.make_gymnasium("Breakout-v5", **once)
    return {
        "Gymnasium": look(single(plain)),
        "CleanRL": look(single(updates.make_game(BREAKOUT))),
        "SB3": look(sb3()),
        "EnvPool": look(vector(pool)),
        "ALE": look(vector(AtariVectorEnv("breakout", **once))),
    }


def main():
    run = common.options(__doc__).parse_args()
    parts = {"after a lost life": look_at_all}
    common.measure(run, "differences", parts, timed=False)


if __name__ == "__main__":
    main()
