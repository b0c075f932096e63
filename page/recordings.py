"""Real games of Breakout, recorded for the figures.

The emulator is asked directly here, frame by frame, so that the figures check
`game.py` and do not repeat it. A screen is recorded as what has changed
since the screen before, compressed.
"""

import base64
import functools
import json
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
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
LOST_AT = 156  # the step of the recording that loses a life
# Steps to guess the ball's way in, up or down, of which any two pictures look
# alike: the ball is as high, and as far from the wall.
RISES = [*range(21, 28), *range(99, 107)]
FALLS = [*range(122, 115, -1), *range(43, 35, -1)]
GUESS = 102  # the step whose ball is asked for first

gym.register_envs(ale_py)


class Frame(NamedTuple):
    """A frame as the emulator numbers its colours, and in gray."""

    screen: np.ndarray
    gray: np.ndarray


class Ball(NamedTuple):
    """Where the ball is, in pixels of the screen."""

    x: float
    y: float


@dataclass
class Step:
    """A step as `Game` has it, and the frames that were played."""

    action: int
    frames: list[Frame]
    reward: int
    done: bool
    info: dict | None
    lives: int
    ball: Ball  # where it was seen last
    stack: list[np.ndarray]
    final: list[np.ndarray]  # the stack before a new episode

    @property
    def gray(self) -> np.ndarray:
        """The screen of which the step's picture is made."""
        kept = self.frames[2:] or self.frames[-1:]
        return np.maximum.reduce([frame.gray for frame in kept])

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
def play(
    on_life_loss: str = "continue", actions: tuple[int, ...] = ()
) -> list[Step]:
    """Play Breakout by the rule, or the actions given.

    The first step of the list is the start, with the first screen alone.
    """
    env, ale = make(BREAKOUT)
    start = Frame(ale.getScreen(), ale.getScreenGrayscale())
    first = [small(start.gray)] * 4
    ball = Ball(80, 105)
    lives = ale.lives()
    played = [Step(NOOP, [start], 0, True, None, lives, ball, first, first)]
    screen, stack = start.screen, first
    score = length = 0
    for i in range(STEPS):
        action = actions[i] if actions else rule(screen)
        frames: list[Frame] = []
        reward, lives, done = 0, ale.lives(), False
        while len(frames) < 4 and not done:
            reward += int(float(env.step(action)[1]))
            frames.append(Frame(ale.getScreen(), ale.getScreenGrayscale()))
            done = ale.lives() < lives and on_life_loss != "ignore"
        score += reward
        length += 1
        screen, gray = frames[-1]
        ball = find_ball(screen) or ball
        step = Step(action, frames, reward, done, None, 0, ball, [], [])
        step.final = stack = [*stack[1:], step.picture]
        if done:
            stack = [small(gray)] * 4
        if done and on_life_loss == "restart":
            step.info = dict(reward=score, length=length, truncated=False)
            score = length = 0
            env.reset()
            screen, stack = start.screen, first
        step.stack, step.lives = stack, ale.lives()
        played.append(step)
    return played


def frames_of(name: str, actions: Sequence[int]) -> list[np.ndarray]:
    """The gray screen after each frame of a title, an action a frame."""
    env, ale = make(f"{name}NoFrameskip-v4")
    screens = []
    for action in actions:
        env.step(action)
        screens.append(ale.getScreenGrayscale())
    return screens


# Recording


class Colours(NamedTuple):
    """Breakout's colours, as the emulator numbers them, in RGB and in gray."""

    numbers: np.ndarray
    rgb: list[list[int]]
    gray: list[int]


@functools.cache
def colours() -> Colours:
    _, ale = make(BREAKOUT)
    numbers, where = np.unique(ale.getScreen(), return_index=True)
    rgb = ale.getScreenRGB().reshape(-1, 3)[where].tolist()
    gray = ale.getScreenGrayscale().reshape(-1)[where].tolist()
    return Colours(numbers, rgb, gray)


def by_colour(screens: Any) -> np.ndarray:
    """Screens with indices into Breakout's colours."""
    return np.searchsorted(colours().numbers, screens).astype(np.uint8)


def pack(pictures: Any) -> str:
    """Pictures as text: what changes from each to the next, compressed."""
    changes = np.array(pictures, np.uint8)
    changes[1:] ^= changes[:-1].copy()
    return base64.b64encode(zlib.compress(changes.tobytes(), 9)).decode()


def unpack(text: str, height: int = 210, width: int = 160) -> np.ndarray:
    """The pictures of a text."""
    changes = np.frombuffer(zlib.decompress(base64.b64decode(text)), np.uint8)
    return np.bitwise_xor.accumulate(changes.reshape(-1, height, width))


# What was recorded


@dataclass
class Film:
    """A part of a game of one of our agents.

    `decisions` has a record for each step: its `action` and `reward`, the
    `lives` before it, whether it is the `first` of an episode, and the
    agent's `value` and `chances` of the actions. `screens` are the colour
    screens before each, as indices into `rgb`, and `frames` the newest picture
    of each observation, after the three older ones of the first, both packed.
    """

    trained: int  # steps
    score: int
    length: int
    start: int  # the step of the game that is the first here
    rgb: list[list[int]]
    decisions: list[dict[str, Any]]
    screens: str
    frames: str

    def colours(self) -> np.ndarray:
        """The screens in RGB."""
        return np.array(self.rgb, np.uint8)[unpack(self.screens)]


def read(name: str) -> Any:
    """A recording, by the names of its figure and its file."""
    return json.loads((FIGURES / f"{name}.json").read_text("utf-8"))


def read_film(name: str) -> Film:
    return Film(**read(name))
