"""One game as a plain Gymnasium environment, for whatever takes those.

    pip install -r requirements.txt

For `check_env`, SB3's `evaluate_policy`, Gymnasium's wrappers, and videos. To
train, `Games` is faster. Copy this file beside game.py, then:

    env = GameEnv("PongNoFrameskip-v4", render_mode="rgb_array", noop_max=30)

or, to make it by its name:

    gym.register("Game-v0", entry_point="single_env:GameEnv")
    env = gym.make("Game-v0", env_id="PongNoFrameskip-v4", noop_max=30)
"""

import pathlib
import sys
from typing import Any, SupportsIndex

import gymnasium as gym
from numpy.typing import NDArray

# In this repository game.py is one folder up; in a copy it is beside.
if not pathlib.Path(__file__).with_name("game.py").exists():
    sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))
from game import BREAKOUT
from games import FastGame


class WatchedGame(FastGame):
    """A `FastGame` that keeps the screens of its last two observations.

    The step that ends an episode makes two: of its end, and of the start of
    the next one.
    """

    screens: tuple = (None, None)

    def observe(self) -> NDArray:
        self.screens = (self.screens[1], self.render())
        return super().observe()


class GameEnv(gym.Env):
    """
    A game as a Gymnasium environment.

    Args:
        env_id, options: As for `Game`, with its defaults.
        render_mode: `"rgb_array"` to render, which takes some time each step.
    """

    metadata = {"render_modes": ["rgb_array"], "render_fps": 15}

    def __init__(
        self,
        env_id: str = BREAKOUT,
        *,
        render_mode: str | None = None,
        **options: Any,
    ) -> None:
        if render_mode not in (None, "rgb_array"):
            raise ValueError(f"expected None or rgb_array, got {render_mode}")
        self.render_mode = render_mode
        make = WatchedGame if render_mode else FastGame
        # Without a seed each environment plays other games, as in Gymnasium.
        seed = self.np_random.integers(2**31)
        self.game = make(seed, env_id, **options)
        fps = 60 / self.game.action_repeat
        self.metadata = self.metadata | {"render_fps": fps}
        # the first observation of the next episode, until it is asked for
        self._next: NDArray | None = self.game.reset()
        shape, dtype = self._next.shape, self._next.dtype
        self.observation_space = gym.spaces.Box(0, 255, shape, dtype)
        self.action_space = self.game.env.action_space

    def reset(
        self, *, seed: int | None = None, options: dict | None = None
    ) -> tuple[NDArray, dict]:
        """Begin the next episode, or with a seed a new game."""
        super().reset(seed=seed)
        obs = self._next
        self._next = None
        if obs is None or seed is not None:
            obs = self.game.reset(seed)
        return obs, {}

    def step(
        self, action: SupportsIndex
    ) -> tuple[NDArray, float, bool, bool, dict]:
        """Play a step; `whole_game` in the infos is `Game`'s `episode_info`.

        Raises:
            ResetNeeded: The episode is over, or none has begun.
        """
        if self._next is not None:
            raise gym.error.ResetNeeded("call reset() before step()")
        obs, reward, done, whole_game = self.game.step(action)
        info = {"whole_game": whole_game} if whole_game else {}
        if not done:
            return obs, float(reward), False, False, info
        # `Game` has begun the next episode already.
        self._next = obs
        last: Any = self.game.final_obs
        over = self.game.terminated
        return last, float(reward), over, not over, info

    def render(self) -> NDArray | None:
        """Return the screen in color, after an episode its last one."""
        if self.render_mode is None:
            return None
        before, now = self.game.screens
        return now if self._next is None else before
