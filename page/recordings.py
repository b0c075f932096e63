"""
Real games of Breakout, recorded for the figures that move.

The emulator is asked directly here, frame by frame, so that the figures check
`game.py` and do not repeat it. A screen is recorded as what has changed
since the screen before, compressed.
"""

import base64
import functools
import json
import zlib
from pathlib import Path

import ale_py
import cv2
import gymnasium as gym
import numpy as np

DATA = Path(__file__).resolve().parent / "data"
BREAKOUT = "BreakoutNoFrameskip-v4"
NOOP, FIRE, RIGHT, LEFT = range(4)
STEPS = 200
AHEAD = 5  # pixels from the ball to the paddle that the rule lets pass
LOST_AT = 156  # the step of the recording that loses a life
# Steps to guess the ball's way in, up or down, of which any two pictures look
# alike: the ball is as high, and as far from the wall.
RISES = [*range(21, 28), *range(99, 107)]
FALLS = [*range(122, 115, -1), *range(43, 35, -1)]
THRUST = 2  # in Asteroids
FLICKER = 35  # steps of Asteroids, whose last is drawn

gym.register_envs(ale_py)


def make(env_id, **options):
    env = gym.make(env_id, frameskip=1, obs_type="ram", **options)
    env.reset(seed=0)
    return env, env.unwrapped.ale


def small(gray):
    return cv2.resize(gray, (84, 84), interpolation=cv2.INTER_AREA)


# Playing


def find_ball(screen):
    """Where the ball is, between the bricks and the paddle, or None."""
    ys, xs = np.nonzero(screen[93:189, 8:152])
    return (xs.mean() + 8, ys.mean() + 93) if len(xs) else None


def rule(screen):
    """Follow the ball, unless it is within five pixels; no ball: FIRE."""
    ball, paddle = find_ball(screen), np.nonzero(screen[190, 8:152])[0].mean()
    if ball is None:
        return FIRE
    ahead = ball[0] - 8 - paddle
    return RIGHT if ahead > AHEAD else LEFT if ahead < -AHEAD else NOOP


def corner_of(ball):
    """Where the half around the ball begins, in twelfths of a picture."""
    corner = np.divide(ball, (160, 210)) - 1 / 4
    return (12 * np.clip(corner, 0, 1 / 2)).round().astype(int).tolist()


def brighter(step):
    """The gray screen of which a step's picture is made."""
    kept = step["frames"][2:] or step["frames"][-1:]
    return np.maximum.reduce([gray for _, gray in kept])


def play(on_life_loss="continue", actions=None):
    """Play Breakout by the rule, or the actions given.

    Yields the start and then a dictionary a step, as `Game` has it; `frames`
    are in colours and in gray, and `final` is the last stack of an episode.
    """
    env, ale = make(BREAKOUT)
    screen, gray = ale.getScreen(), ale.getScreenGrayscale()
    stack = [small(gray)] * 4
    ball = 80, 105
    first = {"stack": stack, "ball": ball, "lives": ale.lives()}
    first |= {"action": NOOP, "reward": 0, "frames": [(screen, gray)]}
    yield first | {"done": True}
    start = screen
    score = length = 0
    for i in range(STEPS):
        action = actions[i] if actions else rule(screen)
        step = {"action": action, "reward": 0, "frames": [], "info": None}
        lives = ale.lives()
        done = False
        while len(step["frames"]) < 4 and not done:
            step["reward"] += int(env.step(action)[1])
            step["frames"].append((ale.getScreen(), ale.getScreenGrayscale()))
            done = ale.lives() < lives and on_life_loss != "ignore"
        score += step["reward"]
        length += 1
        screen, gray = step["frames"][-1]
        step["ball"] = ball = find_ball(screen) or ball
        step["picture"] = small(brighter(step))
        step["final"] = stack = [*stack[1:], step["picture"]]
        if done:
            stack = [small(gray)] * 4
        if done and on_life_loss == "restart":
            step["info"] = dict(reward=score, length=length, truncated=False)
            score = length = 0
            env.reset()
            screen, stack = start, first["stack"]
        step |= {"done": done, "lives": ale.lives()}
        yield step | {"stack": stack}


def frames_of(name, actions):
    """The gray screen after each frame of another title, an action a frame."""
    env, ale = make(f"{name}NoFrameskip-v4")
    screens = []
    for action in actions:
        env.step(action)
        screens.append(ale.getScreenGrayscale())
    return screens


# Recording


@functools.cache
def palette():
    """Breakout's colours, as the emulator numbers them, in RGB and in gray."""
    _, ale = make(BREAKOUT)
    colours, where = np.unique(ale.getScreen(), return_index=True)
    rgb = ale.getScreenRGB().reshape(-1, 3)[where].tolist()
    gray = ale.getScreenGrayscale().reshape(-1)[where].tolist()
    return colours, {"rgb": rgb, "gray": gray}


def by_colour(screens):
    """Screens with indices into Breakout's colours."""
    return np.searchsorted(palette()[0], screens).astype(np.uint8)


def pack(pictures):
    """Pictures as text: what changes from each to the next, compressed."""
    changes = np.array(pictures, np.uint8)
    changes[1:] ^= changes[:-1].copy()
    return base64.b64encode(zlib.compress(changes, 9)).decode()


def unpack(text, height=210, width=160):
    """The pictures of a text."""
    changes = np.frombuffer(zlib.decompress(base64.b64decode(text)), np.uint8)
    return np.bitwise_xor.accumulate(changes.reshape(-1, height, width))


def record(played):
    """The whole play, for the step taken apart.

    Each step has four frames, whether all were played or not, and says of
    which steps the pictures in its stack are; step 0 is the start. `pictures`
    are the newest of each stack.
    """
    frames, rows, stack = [], [], []
    for at, step in enumerate(played):
        screens = [screen for screen, _ in step["frames"]]
        frames += [*screens, *screens[-1:] * (4 - len(screens))]
        stack = [at] * 4 if step["done"] else [*stack[1:], at]
        row = [step["action"], len(screens), step["reward"], step["lives"]]
        rows.append([*row, step["done"], corner_of(step["ball"]), stack])
    recording = palette()[1] | {"steps": rows}
    recording |= {"up": RISES, "down": FALLS}
    recording["frames"] = pack(by_colour(frames))
    recording["pictures"] = pack([step["stack"][-1] for step in played])
    text = json.dumps(recording, separators=(",", ":"))
    (DATA / "recording.json").write_text(text + "\n")


def serve(no_ops):
    """The gray frames in which a ball flies that FIRE has served."""
    actions = [0] * no_ops + [1] * 4 + [0] * 40
    return frames_of("Breakout", actions)[-40:]


def flicker():
    """The third and the fourth frame of a step of Asteroids."""
    return frames_of("Asteroids", [THRUST] * 4 * FLICKER)[-2:]
