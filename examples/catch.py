"""Catch: a game of your own, which the unchanged ppo.py learns in a minute.

    pip install -r requirements.txt torch tensorboard tyro
    python examples/catch.py --folder runs/catch
    python examples/play.py runs/catch

A ball falls, and a paddle catches it or misses it. A game is one ball, worth
1 or -1. At random the mean is about -0.7. Copy this file beside ppo.py, and
change the game: let the ball drift sideways, and count how many pictures an
agent needs then.
"""

import dataclasses
import functools
from types import SimpleNamespace
from typing import Any

import numpy as np
import tyro
from gymnasium.spaces import Discrete
from numpy.typing import NDArray

import ppo
from run import read_settings, run_program

SIDE = 7  # rows, and columns
CELL = 6  # pixels


class Catch:
    """A game for `make`: it has what `Games` needs of a game, and no more."""

    meanings = ["NOOP", "LEFT", "RIGHT"]  # what each action does
    # `spec` is what `gym.make` would know of the game.
    env = SimpleNamespace(action_space=Discrete(len(meanings)), spec=None)

    def __init__(self, seed: int, env_id: str, **options: Any) -> None:
        self.random = np.random.default_rng(seed)

    def reset(self, seed: int | None = None) -> NDArray:
        """Begin a game; return its first observation."""
        if seed is not None:
            self.random = np.random.default_rng(seed)
        self.row = 0
        self.ball = self.random.integers(SIDE)
        self.paddle = SIDE // 2
        return self.observe()

    def step(
        self, action: int
    ) -> tuple[NDArray, float, bool, dict[str, Any] | None]:
        """Play a step; return observation, reward, `done`, `episode_info`."""
        self.row += 1
        moved = self.paddle + (0, -1, 1)[action]
        self.paddle = min(max(moved, 0), SIDE - 1)
        if self.row < SIDE - 1:
            return self.observe(), 0.0, False, None

        # The ball is down, so the game is over, and the next one begins.
        reward = 1.0 if self.ball == self.paddle else -1.0
        self.final_obs = self.observe()
        self.terminated = True  # False: cut off by a limit
        info = {"reward": reward, "length": self.row, "truncated": False}
        return self.reset(), reward, True, info

    def observe(self) -> NDArray:
        """Draw the game: `uint8 (1, 42, 42)`, one picture."""
        board = np.zeros((1, SIDE, SIDE), np.uint8)
        board[0, -1, self.paddle] = 128
        board[0, self.row, self.ball] = 255
        return board.repeat(CELL, 1).repeat(CELL, 2)

    def render(self) -> NDArray:
        """Draw a screen as wide as the console's, `uint8 (42, 160, 3)`."""
        margin = (160 - SIDE * CELL) // 2
        padding = [(0, 0), (margin, margin)]
        screen = np.pad(self.observe()[0], padding, constant_values=64)
        return screen[..., None].repeat(3, 2)


@dataclasses.dataclass
class Settings(ppo.Settings):
    """The settings of ppo.py; those of the console change nothing here."""

    program = "catch"

    env_id: tyro.conf.Positional[str] = "Catch"
    """Name of the game."""
    steps: int = 40_960
    """Steps of the whole training, in all games together."""
    # A game has six steps, so it learns more often than from longer ones.
    rollout: int = 32
    """Steps of each game between two updates."""
    minibatch: int = 64
    """Samples in a minibatch, a quarter of an update of 8 games."""

    def make_games(self, count: int, **options: Any) -> ppo.Games:
        return super().make_games(count, **{"make": Catch} | options)


load = functools.partial(ppo.load, kind=Settings)


if __name__ == "__main__":
    run_program(lambda: ppo.train(read_settings(Settings, __doc__)))
