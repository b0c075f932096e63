"""
Make the figures of the page, and measure the numbers that it tells.

    python page/figures.py
    python page/figures.py times    # only these, in a quiet hour

Everything comes from real games and lands in `docs/figures`: the recording of
Breakout for the figure to move (`recording.json`), the figures that stay still
(`*.svg`) and the numbers (`facts.json`). About five minutes on one core. The
emulator is asked directly here, frame by frame, so that the figures check
`game.py` and do not repeat it.
"""

import base64
import json
import multiprocessing
import os
import platform
import re
import sys
import time
from html import escape
from importlib import metadata
from pathlib import Path

import ale_py
import cv2
import gymnasium as gym
import numpy as np

HERE = Path(__file__).resolve().parent
PICTURES = HERE.parent / "docs/figures"
sys.path.insert(0, str(HERE.parent))
from game import Game  # noqa: E402

NOOP, FIRE, RIGHT, LEFT = range(4)
STEPS = 200
BANDS = 42  # of five rows, which become two

gym.register_envs(ale_py)


def make(env_id, **options):
    env = gym.make(env_id, frameskip=1, obs_type="ram", **options)
    env.reset(seed=0)
    return env, env.unwrapped.ale


def small(gray, height=84):
    return cv2.resize(gray, (84, height), interpolation=cv2.INTER_AREA)


# The recording


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
    return RIGHT if ahead > 5 else LEFT if ahead < -5 else NOOP


def brighter(step):
    """The gray screen of which a step's picture is made."""
    shown = [gray for _, gray in step["frames"]]
    return np.maximum.reduce(shown[2:] or shown[-1:])


def play(steps=STEPS):
    """Play Breakout by the rule, a lost life ending the episode.

    Yields a dictionary a step: action, reward, lives and done as `Game` has
    them; `colour` and `gray`, the frames shown; `next`, the screen to act on;
    the picture that is new and the stack that the agent gets.
    """
    env, ale = make("BreakoutNoFrameskip-v4")

    def grab():
        return ale.getScreen().copy(), ale.getScreenGrayscale().copy()

    start = screen, gray = grab()
    stack = [small(gray)] * 4
    yield {"start": screen, "stack": stack}
    for _ in range(steps):
        step = {"action": rule(screen), "reward": 0, "frames": []}
        step["rgb"] = []
        lives = ale.lives()
        while len(step["frames"]) < 4 and ale.lives() == lives:
            step["reward"] += int(env.step(step["action"])[1])
            step["frames"].append(grab())
            step["rgb"].append(ale.getScreenRGB().copy())
        picture = small(brighter(step))
        step |= {"picture": picture, "lives": ale.lives()}
        step["done"] = ale.lives() < lives
        if step["done"]:
            env.reset()
            stack = [small(start[1])] * 4
            assert (grab()[1] == start[1]).all()
        else:
            stack = stack[1:] + [picture]
        screen = grab()[0]
        yield step | {"stack": stack}


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


def record(played):
    """The whole play in a few kilobytes: each screen as what has changed."""
    screens = [played[0]["start"]]
    for step in played[1:]:
        screens += [screen for screen, _ in step["frames"]]
        if step["done"]:
            screens.append(played[0]["start"])
    _, ale = make("BreakoutNoFrameskip-v4")
    colours, where = np.unique(ale.getScreen(), return_index=True)
    index = np.zeros(256, np.uint8)
    index[colours] = range(len(colours))
    data, old = bytearray(), np.zeros_like(screens[0])
    for screen in screens:
        assert np.isin(screen, colours).all()
        new = index[screen]
        changed = list(rectangles(old, new))
        data.append(len(changed))
        data += bytes(int(v) for rectangle in changed for v in rectangle)
        old = new
    recording = {
        "rgb": ale.getScreenRGB().reshape(-1, 3)[where].tolist(),
        "gray": ale.getScreenGrayscale().reshape(-1)[where].tolist(),
        "steps": [
            [
                s["action"],
                len(s["frames"]),
                s["reward"],
                s["lives"],
                int(s["done"]),
            ]
            for s in played[1:]
        ],
        "frames": base64.b64encode(data).decode(),
    }
    text = json.dumps(recording, separators=(",", ":"))
    (HERE / "recording.json").write_text(text + "\n")


# Drawing


STYLE = """
text { font: 15px system-ui, "Segoe UI", Roboto, sans-serif; fill: #201e1a }
.quiet { font-size: 13px; fill: #5e594e }
.strong { font-weight: 600 }
.code { font: 13px ui-monospace, Menlo, Consolas, monospace }
.mid { text-anchor: middle } .end { text-anchor: end }
.line { stroke: #5e594e; stroke-width: 1.5; fill: none }
.tip { fill: #5e594e } .box { fill: #f4f1e9; stroke: #5e594e }
.mark { fill: none; stroke: #b36b00; stroke-width: 3 }
.page { fill: #fdfcf9 } .dark { fill: #000 }
@media (prefers-color-scheme: dark) {
text { fill: #e7e3da } .quiet { fill: #a8a296 }
.line { stroke: #a8a296 } .tip { fill: #a8a296 }
.box { fill: #1d1f24; stroke: #a8a296 } .mark { stroke: #e5b566 }
.page { fill: #15161a }
}
"""


class Drawing:
    """An SVG of 480 units across, which a phone can show."""

    WIDTH = 480

    def __init__(self, height):
        self.height, self.parts = height, []

    def text(self, x, y, text, kind=""):
        self.parts.append(
            f'<text x="{x}" y="{y}" class="{kind}">{escape(text)}</text>'
        )

    def image(self, x, y, width, height, pixels, faint=False, mark=False):
        if faint:
            self.box(x, y, width, height, "dark")
        pixels = pixels[..., ::-1].astype(np.uint8)
        data = cv2.imencode(".png", pixels)[1].tobytes()
        self.parts.append(
            f'<image x="{x}" y="{y}" width="{width}" height="{height}" '
            f'preserveAspectRatio="none" style="image-rendering:pixelated" '
            f'opacity="{0.35 if faint else 1}" href="data:image/png;base64,'
            f'{base64.b64encode(data).decode()}"/>'
        )
        if mark:
            self.box(x, y, width, height, "mark")

    def box(self, x, y, width, height, kind="box"):
        self.parts.append(
            f'<rect x="{x}" y="{y}" width="{width}" '
            f'height="{height}" class="{kind}"/>'
        )

    def arrow(self, *points, both=False):
        path = " ".join(f"{x},{y}" for x, y in points)
        ends = 'marker-end="url(#tip)"'
        ends += ' marker-start="url(#tip)"' if both else ""
        self.parts.append(f'<polyline points="{path}" class="line" {ends}/>')

    def save(self, name):
        size = f'width="{self.WIDTH}" height="{self.height}"'
        head = (
            '<svg xmlns="http://www.w3.org/2000/svg" '
            f'viewBox="0 0 {self.WIDTH} {self.height}" {size}>\n'
            f"<style>{STYLE}</style>\n"
            '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" '
            'markerWidth="8" markerHeight="8" orient="auto-start-reverse">'
            '<path d="M0 0 8 4 0 8z" class="tip"/></marker></defs>\n'
            f'<rect {size} class="page"/>\n'
        )
        parts = "\n".join(self.parts)
        (PICTURES / name).write_text(f"{head}{parts}\n</svg>\n")


def gray_to_rgb(gray):
    return np.repeat(gray[..., None], 3, axis=2)


def draw_moving(step):
    """The figure to move, standing still at one step."""
    d = Drawing(452)
    for i in range(4):
        x, kept = 4 + 120 * i, i >= 2
        d.image(x, 26, 112, 147, step["rgb"][i], not kept, kept)
        d.text(x, 190, f"frame {i + 1}", "quiet")
    d.text(4, 17, "Four frames, one action held", "strong")
    third, fourth = (gray for _, gray in step["frames"][2:])
    d.text(4, 222, "Gray, the brighter of two, shrunk, stacked", "strong")
    d.image(4, 232, 72, 95, gray_to_rgb(third))
    d.image(82, 232, 72, 95, gray_to_rgb(fourth))
    d.arrow((158, 280), (182, 280))
    d.image(188, 232, 72, 95, gray_to_rgb(np.maximum(third, fourth)))
    d.arrow((264, 280), (288, 280))
    d.image(294, 242, 72, 72, gray_to_rgb(step["picture"]), mark=True)
    for x, name in zip([4, 82, 188, 294], ["3", "4", "brighter", "84×84"]):
        d.text(x, 343, name, "quiet")
    d.arrow((370, 280), (424, 280), (424, 350))
    for i, picture in enumerate(step["stack"]):
        d.image(4 + 120 * i, 356, 74, 74, gray_to_rgb(picture), mark=i == 3)
        d.text(4 + 120 * i, 446, f"obs_4[{i}]", "quiet")
    d.save("step.svg")


def draw_slots(steps):
    """Which of the frames 1 to 16 ends in which slot of the stack."""
    d = Drawing(478)
    d.text(2, 18, "step", "quiet")
    d.text(52, 18, "frames of the emulator", "quiet")
    d.text(478, 18, "the observation", "quiet end")
    for i, step in enumerate(steps):
        y = 30 + 114 * i
        d.text(8, y + 50, str(i + 1), "strong")
        for j in range(4):
            x, kept = 52 + 66 * j, j >= 2
            d.image(x, y, 58, 76, step["rgb"][j], not kept, kept)
            d.text(
                x + 29,
                y + 94,
                str(4 * i + j + 1),
                "mid strong" if kept else "mid quiet",
            )
        d.arrow((320, y + 38), (374, y + 38))
        d.text(346, y + 30, "max", "quiet mid")
        d.image(400, y, 76, 76, gray_to_rgb(step["picture"]), mark=True)
        d.text(478, y + 94, f"obs_4[{i}]", "code end")
    d.save("slots.svg")


def draw_maximum(game="AsteroidsNoFrameskip-v4", frames=130):
    """Two frames in a row, one without rocks, and their maximum."""
    env, ale = make(game)
    for _ in range(frames):
        env.step(NOOP)
    older = ale.getScreenGrayscale().copy()
    env.step(NOOP)
    newer = ale.getScreenGrayscale().copy()
    brighter = np.maximum(older, newer)
    d = Drawing(236)
    for i, (name, screen) in enumerate(
        [
            (f"frame {frames}", older),
            (f"frame {frames + 1}", newer),
            ("the brighter", brighter),
        ]
    ):
        x = 2 + 161 * i
        d.image(x, 4, 154, 202, gray_to_rgb(screen), mark=i == 2)
        d.text(x, 228, name, "strong" if i == 2 else "")
    d.save("maximum.svg")
    lit = brighter > 0
    return {
        "missing_older": percent((older < brighter)[lit].mean()),
        "missing_newer": percent((newer < brighter)[lit].mean()),
    }


def draw_stack(played, one, other):
    """Two steps whose newest pictures are alike and whose stacks aren't."""
    d = Drawing(166)
    shades = np.array([0.3, 0.5, 0.7, 1])[:, None, None]
    for i, number in enumerate([one, other]):
        x = 2 + 242 * i
        around = [p[37:67, 6:36] for p in played[number]["stack"]]
        around = np.minimum(2 * np.uint16(around), 255)  # easier to see
        trail = (around * shades).max(axis=0)
        d.text(x, 16, f"step {number}", "strong")
        d.image(x, 26, 112, 112, gray_to_rgb(around[3]))
        d.image(x + 120, 26, 112, 112, gray_to_rgb(trail), mark=True)
        d.text(x, 156, "newest alone", "quiet")
        d.text(x + 120, 156, "all four", "quiet")
    d.save("stack.svg")


def draw_bands(before, step):
    """What changes from one step to the next, cut out, shrunk, put back."""
    old, new = brighter(before), brighter(step)
    changed = (old != new).reshape(BANDS, -1).any(axis=1)
    strip = new[changed.repeat(len(new) // BANDS)]
    shrunk = small(strip, 84 * len(strip) // 210)
    picture = before["picture"].copy()
    picture[changed.repeat(84 // BANDS)] = shrunk
    assert (picture == step["picture"]).all()
    d = Drawing(246)
    d.image(2, 4, 160, 210, gray_to_rgb(new))
    d.image(200, 99 - len(strip) / 2, 160, len(strip), gray_to_rgb(strip))
    d.image(394, 57, 84, 84, gray_to_rgb(picture))
    edges = np.flatnonzero(np.diff(changed, prepend=False, append=False))
    for start, end in edges.reshape(-1, 2):
        d.box(1, 3 + 5 * start, 162, 5 * (end - start) + 2, "mark")
        d.box(393, 56 + 2 * start, 86, 2 * (end - start) + 2, "mark")
    d.arrow((168, 99), (194, 99))
    d.arrow((364, 99), (388, 99))
    d.text(2, 236, f"{changed.sum()} of {BANDS} bands", "strong")
    d.text(200, 236, f"{len(strip)} rows, shrunk", "quiet")
    d.text(478, 236, "the picture", "quiet end")
    d.save("bands.svg")
    return {"changed_bands": f"{changed.sum()} of {BANDS}"}


def draw_pipe():
    """What crosses the pipe, and what lies in shared memory."""
    d = Drawing(424)
    d.box(4, 8, 472, 96)
    d.text(18, 32, "the program", "strong")
    d.text(18, 54, "observations, rewards, … = games.step(actions)", "code")
    d.text(18, 82, "Games: checks the batch, sends it, waits, copies")
    for i, x in enumerate([4, 162]):
        d.box(x, 202, 150, 136)
        d.text(x + 12, 224, f"process {i + 1}", "strong")
        d.text(x + 12, 244, "worker_process", "code")
        for j in range(4):
            d.box(x + 12 + 32 * j, 256, 28, 28, "page")
            d.text(x + 26 + 32 * j, 275, str(4 * i + j), "mid quiet")
        d.text(x + 12, 304, "a row of games,", "quiet")
        d.text(x + 12, 322, "played one by one", "quiet")
        d.arrow((x + 40, 104), (x + 40, 202))
        d.arrow((x + 104, 202), (x + 104, 104))
        d.text(x + 46, 150, "actions", "quiet")
        d.text(x + 110, 144, "rewards,", "quiet")
        d.text(x + 110, 160, "ends", "quiet")
    d.box(328, 202, 148, 214)
    d.text(340, 224, "shared memory", "strong")
    for j in range(8):
        d.box(340, 236 + 15 * j, 124, 12, "page")
    d.text(340, 374, "uint8", "code")
    d.text(340, 390, "(8, 4, 84, 84)", "code")
    d.text(340, 408, "the observations", "quiet")
    d.arrow((237, 338), (237, 360), (328, 360))
    d.arrow((79, 338), (79, 378), (328, 378))
    d.text(90, 398, "pictures, written in place", "quiet")
    d.arrow((440, 202), (440, 104))
    d.text(432, 150, "a copy", "quiet end")
    d.text(432, 166, "a step", "quiet end")
    d.save("pipe.svg")


# Measuring


def percent(share):
    return f"{100 * share:.0f}\N{NO-BREAK SPACE}%"


def all_games():
    return sorted(name for name in gym.registry if name.startswith("ALE/"))


def count_same_starts(seeds=3, steps=30):
    """How many games begin the same, whatever the seed?

    Same actions, no sticky ones; every screen of 120 frames is compared.
    """
    names, same = all_games(), 0
    for name in names:
        env, ale = make(name, repeat_action_probability=0)
        begins = set()
        for seed in range(seeds):
            env.reset(seed=seed)
            random, seen = np.random.default_rng(0), 0
            for _ in range(steps):
                action = int(random.integers(env.action_space.n))
                for _ in range(4):
                    env.step(action)
                    seen = hash((seen, ale.getScreen().tobytes()))
            begins.add(seen)
        same += len(begins) == 1
        env.close()
    old = [name for name in gym.registry if name.endswith("NoFrameskip-v4")]
    return {
        "games": len(names),
        "old_games": len(old),
        "same_starts": same,
        "start_seeds": seeds,
    }


def play_breakout(env, actions):
    """Play whole steps until the game is over; return score and length."""
    score, length, over = 0, 0, False
    while not over:
        action = next(actions)
        for _ in range(4):
            _, reward, over, _, _ = env.step(action)
            score += reward
            if over:
                break
        length += 1
    return score, length


def count_noop_starts(most=30, steps=60):
    """How many different games of Breakout do 1 to 30 no-op frames make?"""
    env, ale = make("BreakoutNoFrameskip-v4")
    games = set()
    for frames in range(1, most + 1):
        env.reset(seed=0)
        for _ in range(frames):
            env.step(NOOP)
        screens = []
        for i in range(4 * steps):
            env.step(FIRE if i < 4 else NOOP)
            screens.append(ale.getScreen().tobytes())
        games.add(tuple(screens))
    return {"noop_starts": len(games)}


def measure_first_finished(lanes=32, games=400, draws=2000, seed=0):
    """The mean score of all games, and of the first ones to finish.

    Random play. For each draw the games are dealt to `lanes` that play at
    once, and the first `lanes` games to finish are looked at.
    """
    env, _ = make("BreakoutNoFrameskip-v4")
    random = np.random.default_rng(seed)
    actions = iter(lambda: int(random.integers(4)), None)
    played = []
    for _ in range(games):
        env.reset()
        played.append(play_breakout(env, actions))
    scores, lengths = np.array(played).T
    means = []
    for _ in range(draws):
        dealt = random.integers(games, size=(20, lanes))
        finish = lengths[dealt].cumsum(axis=0).ravel()
        first = finish.argsort()[:lanes]
        means.append(scores[dealt].ravel()[first].mean())
    return {
        "lanes": lanes,
        "random_games": games,
        "draws": f"{draws:,}",
        "random_score": f"{scores.mean():.2f}",
        "first_finished": f"{np.mean(means):.2f}",
    }


def measure_order(played):
    """How many pixels change if screens are shrunk before the maximum?"""
    shares = []
    for step in played[1:]:
        if len(step["frames"]) == 4:
            third, fourth = (gray for _, gray in step["frames"][2:])
            wrong = np.maximum(small(third), small(fourth))
            shares.append((wrong != step["picture"]).mean())
    return {"order_pixels": f"{100 * max(shares):.1f}\N{NO-BREAK SPACE}%"}


def play_at_random(ale, frames, seed=0):
    """Play at most so many frames at random; yield the lives at each."""
    random, legal = np.random.default_rng(seed), ale.getMinimalActionSet()
    for frame in range(frames):
        if frame % 4 == 0:
            action = legal[random.integers(len(legal))]
        ale.act(action)
        yield ale.lives()
        if ale.game_over():
            return


def count_late_ends(games=2, most=20_000):
    """How long do games go on without a life, in frames?

    Counted from the frame on which the last life is lost to the game's end,
    over a few random games of each.
    """
    late = {}
    for name in all_games():
        env, ale = make(name, repeat_action_probability=0)
        for seed in range(games if ale.lives() else 0):
            ale.reset_game()
            lives = list(play_at_random(ale, most, seed))
            if not lives[-1] and ale.game_over():
                last = max(i for i, left in enumerate(lives) if left)
                late.setdefault(name, []).append(len(lives) - last - 2)
        env.close()
    late = {name: max(frames) for name, frames in late.items() if max(frames)}
    return {
        "late_games": len(late),
        "late_least": f"{min(late.values()):,}",
        "late_most": f"{max(late.values()):,}",
        "late_which": late,
    }


def count_carried_over(frames=2000):
    """In how many games does a true reset keep something of the game before?

    After some random play the reset is compared with the first: the memory of
    the console.
    """
    carried = []
    for name in all_games():
        env, ale = make(name, repeat_action_probability=0)
        ale.reset_game()
        first = ale.getRAM().copy()
        list(play_at_random(ale, frames))
        ale.reset_game()
        if (ale.getRAM() != first).any():
            carried.append(name)
        env.close()
    return {"carried_games": len(carried), "carried_which": carried}


def fastest(call, times):
    """The shortest of so many calls, in seconds: others want the core too."""
    best = float("inf")
    for _ in range(times):
        start = time.perf_counter()
        call()
        best = min(best, time.perf_counter() - start)
    return best


def echo(pipe):
    while True:
        pipe.send(pipe.recv())


def measure_times(played):
    """How long resets take, a message between processes, and shrinking.

    The load says whether others were at work.
    """
    cpu = re.search(r"model name\s*: (.*)", Path("/proc/cpuinfo").read_text())
    machine = f"one of {os.cpu_count()} cores ({cpu[1]})"
    machine += f" at a load of {os.getloadavg()[0]:.1f}"
    env, ale = make("BreakoutNoFrameskip-v4")
    state = env.unwrapped.clone_state()
    load = fastest(env.unwrapped.load_game, 20)
    reset = fastest(ale.reset_game, 300)
    restore = fastest(lambda: env.unwrapped.restore_state(state), 300)

    context = multiprocessing.get_context("fork")
    here, there = context.Pipe()
    process = context.Process(target=echo, args=[there], daemon=True)
    process.start()

    def message():
        here.send(("step", 0))
        here.recv()

    pipe = fastest(message, 20_000)
    process.kill()

    game, screens = Game(0), [brighter(step) for step in played[1:]]
    whole = fastest(lambda: [small(screen) for screen in screens], 100)
    bands = fastest(lambda: [game._see(screen) for screen in screens], 100)
    return {
        "machine": machine,
        "load_ms": f"{1e3 * load:.0f}",
        "reset_ms": f"{1e3 * reset:.1f}",
        "restore_ms": f"{1e3 * restore:.2f}",
        "message_us": f"{1e6 * pipe:.0f}",
        "shrink_saves": percent(1 - bands / whole),
    }


def told():
    """What was measured with."""
    names = "ale-py", "gymnasium", "numpy", "opencv-python"
    versions = ", ".join(f"{name} {metadata.version(name)}" for name in names)
    return {
        "ale": f"ale-py {metadata.version('ale-py')}",
        "versions": f"Python {platform.python_version()}, {versions}",
    }


def measure():
    """Make all figures, and return the numbers."""
    played = list(play())
    record(played)
    steps = [played[i] for i in (62, 12, 13, 14, 15)]
    draw_moving(steps[0])
    draw_slots(steps[1:])
    draw_stack(played, 62, 118)
    draw_pipe()
    facts = draw_maximum() | draw_bands(played[61], played[62])
    facts |= measure_order(played)
    facts |= count_same_starts() | count_noop_starts()
    facts |= measure_first_finished() | count_late_ends()
    facts |= count_carried_over() | measure_times(played)
    return facts | told()


def main():
    cv2.setNumThreads(0)
    file = HERE / "facts.json"
    if sys.argv[1:] == ["times"]:
        facts = json.loads(file.read_text()) | measure_times(list(play()))
    else:
        facts = measure()
    text = json.dumps(facts, indent=2)
    file.write_text(text + "\n")
    print(text)


if __name__ == "__main__":
    main()
