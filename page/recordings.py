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
STICKY = "ALE/Breakout-v5"
NOOP, FIRE, RIGHT, LEFT = range(4)
STEPS = 200
AHEAD = 5  # pixels from the ball to the paddle that the rule lets pass
MODES = "restart", "continue", "ignore"
LOST_AT = 156  # the step of the recording that loses a life
# Those of the three modes, of which the first three only fill the stack.
MODES_STEPS = slice(LOST_AT - 9, LOST_AT + 17)
ASTEROIDS = slice(99, 160)  # frames
THRUST = 2  # in Asteroids
DEMONS = slice(380, 540)  # frames of Demon Attack
WITHOUT_FIRE = 60  # steps
NO_OPS, STARTED = 30, 12  # most no-ops at a start, and steps after them
PIPE_GAMES, PIPE_STEPS = 8, 60

gym.register_envs(ale_py)


def make(env_id, seed=0, **options):
    env = gym.make(env_id, frameskip=1, obs_type="ram", **options)
    env.reset(seed=seed)
    return env, env.unwrapped.ale


def small(gray, height=84):
    return cv2.resize(gray, (84, height), interpolation=cv2.INTER_AREA)


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


def kept(step):
    """The frames of which a step's picture is made."""
    return step["frames"][2:] or step["frames"][-1:]


def brighter(step):
    """The gray screen of which a step's picture is made."""
    return np.maximum.reduce([gray for _, gray in kept(step)])


def play(on_life_loss="restart", actions=None, env_id=BREAKOUT, seed=0):
    """Play Breakout by the rule, or the actions given.

    Yields the start and then a dictionary a step: action, reward, lives, done
    and info as `Game` has them, and `lives_then`, before a reset; `frames`,
    each shown in colours and in gray; `screen`, the one to act on; the picture
    that is new, the stack that the agent gets, and `final`, the stack that
    ends with the picture.
    """
    env, ale = make(env_id, seed)
    start = screen = ale.getScreen()
    first = stack = [small(ale.getScreenGrayscale())] * 4
    score = length = 0
    yield {"screen": screen, "stack": stack}
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
        step["lives_then"] = ale.lives()
        step["picture"] = small(brighter(step))
        step["final"] = stack = [*stack[1:], step["picture"]]
        if done:
            stack = [small(gray)] * 4
        if done and on_life_loss == "restart":
            step["info"] = dict(reward=score, length=length, truncated=False)
            score = length = 0
            env.reset()
            screen, stack = start, first
        step |= {"done": done, "lives": ale.lives()}
        yield step | {"screen": screen, "stack": stack}


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


def write(name, recording):
    text = json.dumps(recording, separators=(",", ":"))
    (DATA / name).write_text(text + "\n")


def ways(played):
    """Steps of which all four pictures show a ball that rises, or falls.

    That is `[step, rises]`, for the reader to say from the picture alone.
    """
    found = []
    for i in range(4, len(played)):
        frames = sum(map(kept, played[i - 3 : i + 1]), [])
        balls = [find_ball(screen) for screen, _ in frames]
        if len(balls) == 8 and None not in balls:
            down = np.sign(np.diff([y for _, y in balls]))
            if abs(down.sum()) == 7:
                found.append([i, int(down[0] < 0)])
    return found


def record(played):
    """The whole play, for the step taken apart."""
    start = played[0]["screen"]
    screens, steps = [start], []
    for step in played[1:]:
        screens += [screen for screen, _ in step["frames"]]
        screens += [start] * step["done"]
        shown, lives = len(step["frames"]), step["lives_then"]
        done = int(step["done"])
        steps.append([step["action"], shown, step["reward"], lives, done])
    frames = pack(by_colour(screens))
    recording = palette()[1] | {"steps": steps, "frames": frames}
    write("recording.json", recording | {"ways": ways(played)})


def record_modes(played):
    """The same actions under the three modes, around a lost life.

    Returns the step of each that loses the life.
    """
    actions = [step["action"] for step in played[1:]]
    modes, lost = {}, {}
    for mode in MODES:
        steps = list(play(mode, actions))
        screens, rows = [steps[0]["screen"]], []
        for step in steps[MODES_STEPS]:
            last = [screen for screen, _ in kept(step)]
            screens += last
            row = [step["action"], len(last), len(step["frames"])]
            row += [step["reward"], step["lives"], int(step["done"])]
            rows.append([*row, step["info"]])
        frames = pack(by_colour(screens))
        modes[mode] = {"steps": rows, "frames": frames}
        lost[mode] = steps[LOST_AT]
    first = {"first": MODES_STEPS.start}
    write("modes.json", palette()[1] | first | {"modes": modes})
    return lost


def record_rules(played):
    """What it takes to break the rules, beside the recordings above.

    All of it is gray. Asteroids draws half of its objects on each frame: the
    even frames come first and then the odd ones, since those are alike.
    """
    thrust = [THRUST] * ASTEROIDS.stop
    screens = frames_of("Asteroids", thrust)[ASTEROIDS]
    asteroids = screens[::2] + screens[1::2]

    shots = [i // 16 % 4 for i in range(DEMONS.stop)]
    screens = frames_of("DemonAttack", shots)[DEMONS]
    demons = [screen for i, screen in enumerate(screens) if i % 4 >= 2]

    actions = [step["action"] for step in played[1:]]
    idle = [NOOP if action == FIRE else action for action in actions]
    idle = list(play(actions=idle))[1 : WITHOUT_FIRE + 1]
    no_fire = [gray for step in idle for _, gray in kept(step)]

    held = np.repeat(actions[:STARTED], 4)
    no_ops = []
    for count in range(NO_OPS + 1):
        no_ops += frames_of("Breakout", [NOOP] * count + [*held])[-2:]
    screens = {"asteroids": asteroids, "demons": demons}
    screens |= {"no_fire": no_fire, "no_ops": no_ops}
    write("rules.json", {name: pack(made) for name, made in screens.items()})


def record_pipe(bytes_of):
    """What eight games that `Games` plays cost, in bytes of their messages.

    Sticky actions make the games differ. `bytes_of(actions)` counts what
    crosses the pipes, labml's way and ours, while these actions are played.
    """
    actions = []
    for seed in range(PIPE_GAMES):
        _, *played = play(env_id=STICKY, seed=seed)
        actions.append([step["action"] for step in played[:PIPE_STEPS]])
    recording = {"env_id": STICKY, "actions": actions}
    write("pipe.json", recording | bytes_of(actions))
