"""Real games of Breakout, recorded for the figures.

The emulator is asked directly here, frame by frame, so that the figures check
`game.py` and do not repeat it. A screen is recorded as what has changed
since the screen before, compressed.
"""

import base64
import functools
import json
import zlib
from typing import Any, NamedTuple

import ale_py
import cv2
import gymnasium as gym
import numpy as np

from paths import FIGURES

BREAKOUT = "BreakoutNoFrameskip-v4"
NOOP, FIRE, RIGHT, LEFT = range(4)
STEPS = 200
AHEAD = 5  # pixels from the ball to the paddle that the rule lets pass
# Steps to guess the ball's way in, up or down, of which any two pictures look
# alike: the ball is as high, and as far from the wall.
RISES = [*range(21, 28), *range(99, 107)]
FALLS = [*range(122, 115, -1), *range(43, 35, -1)]
GUESS = 102  # the step whose ball is asked for first

gym.register_envs(ale_py)


class Ball(NamedTuple):
    """Where the ball is, in pixels of the screen."""

    x: float
    y: float


class Step(NamedTuple):
    """A step by the rule: its action, and what `Game` shows of it."""

    action: int
    gray: np.ndarray  # the screen of which the picture is made
    ball: Ball  # where it was seen last

    @property
    def picture(self) -> np.ndarray:
        return small(self.gray)


def make(env_id: str, **options: Any) -> tuple[gym.Env, Any]:
    """An environment after its first reset, and its emulator."""
    env = gym.make(env_id, frameskip=1, obs_type="ram", **options)
    env.reset(seed=0)
    return env, env.unwrapped.ale  # type: ignore[attr-defined]


def small(gray: np.ndarray) -> np.ndarray:
    return cv2.resize(gray, (84, 84), interpolation=cv2.INTER_AREA)


# Playing


def find_ball(screen: np.ndarray) -> Ball | None:
    """Where the ball is between the bricks and the paddle, if it is there."""
    ys, xs = np.nonzero(screen[93:189, 8:152])
    return Ball(xs.mean() + 8, ys.mean() + 93) if len(xs) else None


def rule(screen: np.ndarray) -> int:
    """Follow the ball, unless it is within five pixels; no ball: FIRE."""
    ball, paddle = find_ball(screen), np.nonzero(screen[190, 8:152])[0].mean()
    if ball is None:
        return FIRE
    ahead = ball.x - 8 - paddle
    return RIGHT if ahead > AHEAD else LEFT if ahead < -AHEAD else NOOP


@functools.cache
def play() -> list[Step]:
    """Play Breakout by the rule; the first is the start, before any step.

    The step that loses a life ends with that frame, and shows it alone.
    """
    env, ale = make(BREAKOUT)
    ball = Ball(80, 105)
    played = [Step(NOOP, ale.getScreenGrayscale(), ball)]
    for _ in range(STEPS):
        action, lives = rule(ale.getScreen()), ale.lives()
        grays: list[np.ndarray] = []
        while len(grays) < 4 and ale.lives() == lives:
            env.step(action)
            grays.append(ale.getScreenGrayscale())
        shown = grays[2:] if ale.lives() == lives else grays[-1:]
        ball = find_ball(ale.getScreen()) or ball
        played.append(Step(action, np.maximum.reduce(shown), ball))
    return played


# Recording


def png(picture: np.ndarray) -> str:
    """A picture, in gray or in RGB, as a PNG in text."""
    smallest = [cv2.IMWRITE_PNG_COMPRESSION, 9]
    if picture.ndim == 3:
        picture = cv2.cvtColor(picture, cv2.COLOR_RGB2BGR)
    data = cv2.imencode(".png", picture, smallest)[1]
    return base64.b64encode(data.tobytes()).decode()


def pack(pictures: Any) -> str:
    """Pictures as text: what changes from each to the next, compressed."""
    changes = np.array(pictures, np.uint8)
    changes[1:] ^= changes[:-1].copy()
    return base64.b64encode(zlib.compress(changes.tobytes(), 9)).decode()


def read(name: str) -> Any:
    """A recording, by the names of its figure and its file."""
    return json.loads((FIGURES / f"{name}.json").read_text("utf-8"))
