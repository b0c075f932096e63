"""
Real games of Breakout, recorded for the figures that move.

The emulator is asked directly here, frame by frame, so that the figures check
`game.py` and do not repeat it. A screen is recorded as the rectangles that
have changed since the screen before, which makes a game a few kilobytes.
"""

import base64
import json
from pathlib import Path

import ale_py
import cv2
import gymnasium as gym
import numpy as np

DATA = Path(__file__).resolve().parent / "data"
BREAKOUT = "BreakoutNoFrameskip-v4"
STICKY = "ALE/Breakout-v5"
ACTIONS = "NOOP", "FIRE", "RIGHT", "LEFT"
NOOP, FIRE, RIGHT, LEFT = range(4)
STEPS = 200
AHEAD = 5  # pixels from the ball to the paddle that the rule lets pass
FIELD = np.s_[93:189, 8:152]  # between the bricks and the paddle
MODES = "restart", "continue", "ignore"
LOST_AT = 156  # the step of the recording that loses a life
ASTEROIDS = 100, 160  # the first frame and the last
THRUST = 2  # in Asteroids
DEMONS = 96, 135  # of Demon Attack, the first step and the last
WITHOUT_FIRE = 60  # steps
NO_OPS, STARTED = 30, 12  # most no-ops at a start, and steps after them
PIPE_GAMES, PIPE_STEPS = 8, 60
MODES_STEPS = range(LOST_AT - 6, LOST_AT + 17)  # those of the three modes

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
    ys, xs = np.nonzero(screen[FIELD])
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


def play(
    steps=STEPS, on_life_loss="restart", actions=None, env_id=BREAKOUT, seed=0
):
    """Play Breakout by the rule, or the actions given.

    Yields the start and then a dictionary a step: action, reward, lives, done
    and info as `Game` has them; `colour` and `gray`, the frames shown;
    `screen`, the one to act on; the picture that is new, the stack that the
    agent gets, and `final`, the stack that ends with the picture.
    """
    env, ale = make(env_id, seed)

    def grab():
        return ale.getScreen().copy(), ale.getScreenGrayscale().copy()

    start = screen, gray = grab()
    stack = [small(gray)] * 4
    score, length = 0, 0
    yield {"screen": screen, "stack": stack}
    for i in range(steps):
        action = actions[i] if actions else rule(screen)
        step = {"action": action, "reward": 0, "frames": [], "rgb": []}
        step |= {"done": False, "info": None}
        lives = ale.lives()
        while len(step["frames"]) < 4 and not step["done"]:
            step["reward"] += int(env.step(action)[1])
            step["frames"].append(grab())
            step["rgb"].append(ale.getScreenRGB().copy())
            lost = ale.lives() < lives
            step["done"] = lost and on_life_loss != "ignore"
        score, length = score + step["reward"], length + 1
        step["picture"] = small(brighter(step))
        step["final"] = stack = stack[1:] + [step["picture"]]
        step["lost_with"] = ale.lives()
        screen, gray = grab()
        if step["done"] and on_life_loss == "restart":
            step["info"] = {"reward": score, "length": length}
            step["info"]["truncated"] = False
            score, length = 0, 0
            env.reset()
            assert (grab()[1] == start[1]).all()
            screen, gray = start
        if step["done"]:
            stack = [small(gray)] * 4
        step |= {"lives": ale.lives(), "screen": screen, "stack": stack}
        yield step


# Recording


def rectangles(old, new):
    """What has changed from one screen to the next: `(x, y, w, h, colour)`."""
    left = old != new
    for y, x in np.argwhere(left):
        if left[y, x]:
            same = left[y, x:] & (new[y, x:] == new[y, x])
            w = len(same) if same.all() else same.argmin()
            below = left[y:, x : x + w] & (new[y:, x : x + w] == new[y, x])
            rows = below.all(axis=1)
            h = len(rows) if rows.all() else rows.argmin()
            left[y : y + h, x : x + w] = False
            yield x, y, w, h, new[y, x]


def palette():
    """Breakout's colours, as the emulator numbers them, in RGB and in gray."""
    _, ale = make(BREAKOUT)
    colours, where = np.unique(ale.getScreen(), return_index=True)
    rgb = ale.getScreenRGB().reshape(-1, 3)[where].tolist()
    gray = ale.getScreenGrayscale().reshape(-1)[where].tolist()
    return colours, {"rgb": rgb, "gray": gray}


def by_colour(screens):
    """Screens with indices into Breakout's colours."""
    colours, _ = palette()
    assert np.isin(screens, colours).all()
    return np.searchsorted(colours, screens).astype(np.uint8)


def pack(pictures):
    """Pictures as text: of each, how many rectangles and which."""
    data, old = bytearray(), np.zeros_like(pictures[0])
    for new in pictures:
        changed = list(rectangles(old, new))
        data += len(changed).to_bytes(2, "little")
        data += bytes(int(v) for rectangle in changed for v in rectangle)
        old = new
    return base64.b64encode(data).decode()


def unpack(text, height=210, width=160):
    """Yield the pictures of a text."""
    data = base64.b64decode(text)
    picture, at = np.zeros((height, width), np.uint8), 0
    while at < len(data):
        start = at + 2
        end = start + 5 * int.from_bytes(data[at:start], "little")
        for x, y, w, h, value in zip(
            *[iter(data[start:end])] * 5, strict=True
        ):
            picture[y : y + h, x : x + w] = value
        yield picture.copy()
        at = end


def write(name, recording):
    text = json.dumps(recording, separators=(",", ":"))
    (DATA / name).write_text(text + "\n")


def ways(played):
    """Steps of which all four pictures show a ball that rises, or falls.

    That is `[step, rises]`, for the reader to say from the picture alone.
    """
    found = []
    for i in range(4, len(played)):
        four = played[i - 3 : i + 1]
        frames = [screen for step in four for screen, _ in kept(step)]
        balls = [find_ball(screen) for screen in frames]
        whole = all(len(step["frames"]) == 4 for step in four)
        if whole and None not in balls:
            down = np.diff([y for _, y in balls])
            if (down > 0).all() or (down < 0).all():
                found.append([i, int(down[0] < 0)])
    return found


def record(played):
    """The whole play, for the step taken apart."""
    screens = [played[0]["screen"]]
    steps = []
    for step in played[1:]:
        screens += [screen for screen, _ in step["frames"]]
        if step["done"]:
            screens.append(played[0]["screen"])
        shown, lives = len(step["frames"]), step["lost_with"]
        done = int(step["done"])
        steps.append([step["action"], shown, step["reward"], lives, done])
    frames = pack(by_colour(screens))
    recording = palette()[1] | {"steps": steps, "frames": frames}
    write("recording.json", recording | {"ways": ways(played)})


def record_modes(played):
    """The same actions under the three modes, around a lost life.

    Before it all three are the same, and need three steps for their stacks.
    Returns the step of each that loses the life.
    """
    actions = [step["action"] for step in played[1:]]
    modes, lost = {}, {}
    for mode in MODES:
        steps = list(play(MODES_STEPS[-1], mode, actions))
        screens, rows = [steps[0]["screen"]], []
        for step in steps[MODES_STEPS[0] - 3 :]:
            last = [screen for screen, _ in kept(step)]
            screens += last
            row = [step["action"], len(last), len(step["frames"])]
            row += [step["reward"], step["lives"], int(step["done"])]
            rows.append([*row, step["info"]])
        frames = pack(by_colour(screens))
        modes[mode] = {"steps": rows, "frames": frames}
        lost[mode] = steps[LOST_AT]
    first = {"first": MODES_STEPS[0] - 3}
    write("modes.json", palette()[1] | first | {"modes": modes})
    return lost


def frames(env, actions):
    """The gray screen after each frame, an action a frame."""
    for action in actions:
        env.step(action)
        yield env.unwrapped.ale.getScreenGrayscale()


def frames_of(name, actions):
    """The same of another title, from its start on."""
    env, _ = make(f"{name}NoFrameskip-v4")
    return list(frames(env, actions))


def record_rules(played):
    """What it takes to break the rules, beside the recordings above.

    All of it is gray. Asteroids draws half of its objects on each frame: the
    even frames come first and then the odd ones, since those are alike.
    """
    first, last = ASTEROIDS
    screens = frames_of("Asteroids", [THRUST] * last)[first - 1 :]
    asteroids = screens[::2] + screens[1::2]

    first, last = DEMONS
    shots = [i // 16 % 4 for i in range(4 * last)]
    screens = frames_of("DemonAttack", shots)[4 * (first - 1) :]
    demons = [screen for i, screen in enumerate(screens) if i % 4 >= 2]

    actions = [step["action"] for step in played[1:]]
    idle = [NOOP if action == FIRE else action for action in actions]
    idle = list(play(WITHOUT_FIRE, actions=idle))[1:]
    no_fire = [gray for step in idle for _, gray in kept(step)]

    held = [action for action in actions[:STARTED] for _ in range(4)]
    env, no_ops = make(BREAKOUT)[0].unwrapped, []
    for _ in range(NO_OPS + 1):
        start = env.clone_state()
        no_ops += list(frames(env, held))[-2:]
        env.restore_state(start)
        env.step(NOOP)
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
        played = list(play(PIPE_STEPS, env_id=STICKY, seed=seed))[1:]
        assert not any(step["done"] for step in played)
        actions.append([step["action"] for step in played])
    recording = {"env_id": STICKY, "actions": actions}
    write("pipe.json", recording | bytes_of(actions))
