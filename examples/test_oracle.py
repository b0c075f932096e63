"""`Games` beside Stable-Baselines3's wrappers, which are those of Baselines.

What everybody trains with: no-op starts, FIRE, an episode for each life, and
clipped rewards. The emulators play the same frames, and everything that is
returned is the same, but for what `theirs` says.
"""

import collections

import gymnasium as gym
import numpy as np
import pytest
from stable_baselines3.common import atari_wrappers
from stable_baselines3.common.monitor import Monitor

from games import Games


def gray(env):
    """The screen as it is now, in gray, but with three colors."""
    screen = env.unwrapped.ale.getScreenGrayscale()
    return np.repeat(screen[..., None], 3, axis=-1)


class Gray(gym.ObservationWrapper):
    def observation(self, screen):
        return gray(self)


class Without(gym.Wrapper):
    """Leaves out an action: its frames aren't played."""

    def __init__(self, env, action):
        super().__init__(env)
        self._action = action

    def step(self, action):
        if action != self._action:
            return super().step(action)
        return gray(self), 0.0, False, False, {}


def begins_without(wrapper, action):
    """A wrapper of SB3's that leaves out an action in its `reset`."""

    class Changed(wrapper):
        def reset(self, **options):
            env = self.env
            self.env = Without(env, action)
            try:
                return super().reset(**options)
            finally:
                self.env = env

    return Changed


def theirs(env_id):
    """The wrappers of `AtariWrapper`, with what differs in `Games`.

    - SB3 reads the lives after all four frames. Here a life that is lost ends
      the step: `EpisodicLifeEnv` comes before `MaxAndSkipEnv`, not after it.
    - After a lost life SB3 plays a step of NOOP, before FIRE. Left out.
    - After FIRE it plays a step of action 2. Left out.
    - It takes the maximum of each color, and of that the brightness. Here it
      is that of two gray screens.
    """
    env = Gray(gym.make(env_id))
    env = Monitor(env)
    env = atari_wrappers.NoopResetEnv(env, 30)
    env = begins_without(atari_wrappers.EpisodicLifeEnv, 0)(env)
    env = atari_wrappers.MaxAndSkipEnv(env, 4)
    if "FIRE" in env.unwrapped.get_action_meanings():
        env = begins_without(atari_wrappers.FireResetEnv, 2)(env)
    env = atari_wrappers.WarpFrame(env)
    return atari_wrappers.ClipRewardEnv(env)


@pytest.mark.parametrize("title", ["Breakout", "MsPacman", "Seaquest"])
def test_what_everybody_trains_with_is_what_sb3_makes(title):
    env_id = f"{title}NoFrameskip-v4"
    env = theirs(env_id)
    ale = env.unwrapped.ale
    games = Games(1, env_id, seed=7, processes=0)
    (obs,), _ = games.reset()
    picture, _ = env.reset(seed=7)
    ends = collections.Counter()
    n = games.single_action_space.n
    for action in np.random.default_rng(0).integers(n, size=900):
        # An episode begins with its first picture four times.
        before = obs if picture is None else np.stack([picture[..., 0]] * 4)
        assert (obs == before).all()
        frame = ale.getEpisodeFrameNumber()
        (obs,), *ours, infos = games.step([action])
        newest, *expected, info = env.step(action)
        assert [column[0] for column in ours] == expected
        picture = None
        last = obs
        if over := any(expected[1:]):
            last = infos["final_obs"][0]
            # SB3's picture lacks the frame that has ended the episode, unless
            # that is the fourth. Here it shows that frame alone.
            if ale.getEpisodeFrameNumber() - frame < 4:
                newest = env.get_wrapper_attr("observation")(gray(env))
        assert (last[-1] == newest[..., 0]).all()
        assert (last[:-1] == before[1:]).all()
        # The score has the points of no-op and FIRE frames, too.
        assert ("episode" in infos) == ("episode" in info)
        if "episode" in info:
            assert infos["episode"]["r"][0] == info["episode"]["r"]
        if over:
            ends["game" if "episode" in info else "life"] += 1
            picture, _ = env.reset()
    games.close()
    assert ends["game"] > 0 and ends["life"] > 2
