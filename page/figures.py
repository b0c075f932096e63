"""
Make the figures of the page.

    python page/figures.py             # half a minute

Everything comes from real games: the recordings for the figures that move
(`*.json`, see `recordings.py`) and those that stay still
(`docs/figures/*.svg`). What they show of times and agents is measured by the
instruments in `measure/`, as are the numbers in the text (`facts.py`).
"""

import json
import math
from pathlib import Path

import cv2
import numpy as np

import recordings
from drawing import Drawing, gray_to_rgb
from recordings import NOOP, brighter, find_ball, make, play, small

HERE = Path(__file__).resolve().parent
STEP_TIME = HERE.parent / "measure/results/step_time.json"
NETWORK_MS = 1.5  # of the network in measure/benchmark.py
TURNS_MS = 10  # of the drawing of two `Games` in turn
ASTEROIDS = 130  # the first of two frames
BANDS = 42  # of five rows, which become two

# Drawing


def percent(share):
    return f"{100 * share:.0f}\N{NO-BREAK SPACE}%"


def draw_step(step):
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
    for x, name in zip(
        [4, 82, 188, 294], ["3", "4", "brighter", "84×84"], strict=True
    ):
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


def two_frames():
    """Two gray screens of Asteroids in a row, with and without rocks."""
    env, ale = make("AsteroidsNoFrameskip-v4")
    screens = []
    for frame in range(1, ASTEROIDS + 2):
        env.step(NOOP)
        if frame >= ASTEROIDS:
            screens.append(ale.getScreenGrayscale().copy())
    return screens


def draw_maximum():
    """Two frames in a row, one without rocks, and their maximum."""
    older, newer = two_frames()
    brighter = np.maximum(older, newer)
    d = Drawing(236)
    for i, (name, screen) in enumerate(
        [
            (f"frame {ASTEROIDS}", older),
            (f"frame {ASTEROIDS + 1}", newer),
            ("the brighter", brighter),
        ]
    ):
        x = 2 + 161 * i
        d.image(x, 4, 154, 202, gray_to_rgb(screen), mark=i == 2)
        d.text(x, 228, name, "strong" if i == 2 else "")
    d.save("maximum.svg")


def brightened(pictures):
    return [np.minimum(1.6 * picture, 255) for picture in pictures]


def draw_rules(played):
    """Six rules, kept on the left and broken on the right."""
    rules = json.loads((HERE / "data/rules.json").read_text())
    screens = {name: list(recordings.unpack(rules[name])) for name in rules}
    d = Drawing(510)

    def pair(place, rule, kept, broken, told):
        x, y = 2 + 244 * (place % 2), 172 * (place // 2)
        d.text(x, y + 16, rule, "strong")
        for left, pictures in (x, kept), (x + 120, broken):
            if len(pictures) == 1:
                d.image(left, y + 26, 112, 112, gray_to_rgb(pictures[0]))
            else:
                draw_square(d, left, y + 26, 112, pictures)
        d.text(x, y + 156, told, "quiet")

    two = screens["asteroids"][15], screens["asteroids"][46]  # in a row
    kept, broken = small(np.maximum(*two)), small(two[0])
    gone = percent(((kept > 0) & (broken == 0)).sum() / (kept > 0).sum())
    pair(0, "No maximum", [kept], [broken], f"{gone} of what is lit is gone")

    two = screens["demons"][:2]
    kept, broken = small(np.maximum(*two)), np.maximum(*map(small, two))
    told = f"{(kept > broken).sum()} pixels fade, by up to "
    told += str((kept - broken).max())
    near = np.s_[14:70, 28:84]
    pair(
        1,
        "Shrunk first",
        brightened([kept[near]]),
        brightened([broken[near]]),
        told,
    )

    step = played[62]
    kept = [picture[37:67, 6:36] for picture in step["stack"]]
    grays = [gray for _, gray in step["frames"]]
    broken = [small(gray)[37:67, 6:36] for gray in grays]
    balls = [find_ball(gray) for gray in (grays[0], grays[3])]
    oldest = find_ball(played[59]["frames"][3][1])
    near, far = (math.dist(balls[1], ball) for ball in (balls[0], oldest))
    told = f"the ball flies {near:.0f} pixels, not {far:.0f}"
    kept, broken = brightened(kept), brightened(broken)
    pair(2, "Four frames in a row", kept, broken, told)
    pair(3, "One picture", kept, kept[3:], "which way does it fly?")

    at = recordings.WITHOUT_FIRE
    idle = small(np.maximum(*screens["no_fire"][-2:]))
    told = "no ball, and no points"
    pair(4, "No FIRE", [played[at]["picture"]], [idle], told)

    pairs = zip(*[iter(screens["no_ops"])] * 2, strict=True)
    starts = [small(np.maximum(*two)) for two in pairs]
    games = {start.tobytes(): start for start in starts[1:]}
    told = f"{len(starts) - 1} starts make {len(games)} games"
    pair(5, "No no-op starts", list(games.values()), starts[:1], told)
    d.save("rules.svg")


def shrink_changed(old, new, picture):
    """Shrink only the bands that have changed, as one strip."""
    changed = (old != new).reshape(BANDS, -1).any(axis=1)
    strip = new[changed.repeat(len(new) // BANDS)]
    picture = picture.copy()
    if len(strip):
        shrunk = small(strip, 84 * len(strip) // len(new))
        picture[changed.repeat(84 // BANDS)] = shrunk
    return changed, strip, picture


def draw_bands(before, step):
    """What changes from one step to the next, cut out, shrunk, put back."""
    new, picture = brighter(step), before["picture"]
    changed, strip, picture = shrink_changed(brighter(before), new, picture)
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


def draw_modes(lost):
    """The step that loses a life, in the three modes."""
    numbers, colours = recordings.palette()
    rgb = np.zeros((256, 3), np.uint8)
    rgb[numbers] = colours["rgb"]
    d = Drawing(580)
    for i, (mode, step) in enumerate(lost.items()):
        x = 4 + 164 * i
        d.text(x, 16, f'"{mode}"', "code strong")
        d.image(x, 24, 146, 192, rgb[step["screen"]])
        d.text(x, 236, "obs_4", "code")
        draw_square(d, x, 242, 146, step["stack"])
        d.text(x, 410, f"lives  {step['lives']}", "code")
        d.text(x, 428, f"done   {step['done']}", "code")
        info = step["info"] or {}
        told = "episode_info:" if info else "episode_info None"
        d.text(x, 446, told, "code")
        for k, (name, value) in enumerate(info.items()):
            d.text(x + 14, 464 + 18 * k, f"{name} {value}", "code")
        if step["done"]:
            draw_square(d, x, 512, 64, step["final"])
            d.text(x + 72, 548, "final_obs", "code")
    d.save("modes.svg")


def draw_square(d, x, y, size, stack):
    """The four pictures of a stack, two by two."""
    each = (size - 4) / 2
    for i, picture in enumerate(stack):
        left, top = x + i % 2 * (each + 4), y + i // 2 * (each + 4)
        d.image(left, top, each, each, gray_to_rgb(picture))


def draw_turns(step_time):
    """Steps in lockstep above, and of two `Games` in turn below."""
    cores = step_time["machine"]["cores"]
    games = 8 * step_time["Breakout"]["total"] / cores / 1000
    both, each = NETWORK_MS + games, max(NETWORK_MS, games)
    left, scale = 76, 400 / TURNS_MS
    d = Drawing(280)
    d.text(4, 16, "In lockstep", "strong")
    d.text(4, 116, "Two Games in turn", "strong")
    for y, name, start, period, length, letters in [
        (26, "network", 0, both, NETWORK_MS, "A"),
        (52, "games", NETWORK_MS, both, games, "A"),
        (126, "network", 0, each, NETWORK_MS, "AB"),
        (152, "games A", NETWORK_MS, 2 * each, games, "A"),
        (178, "games B", NETWORK_MS + each, 2 * each, games, "B"),
    ]:
        d.text(4, y + 15, name, "quiet")
        d.line((left, y + 22), (left + 400, y + 22))
        for i, at in enumerate(np.arange(start, TURNS_MS, period)):
            letter, x = letters[i % len(letters)], left + at * scale
            width = min(length, TURNS_MS - at) * scale - 2
            kind = "other" if letter == "B" else "bar"
            d.box(f"{x:.1f}", y, f"{width:.1f}", 20, kind)
            d.text(f"{x + 5:.1f}", y + 15, letter, "ink")
    for ms in range(0, TURNS_MS + 1, 2):
        x = left + ms * scale
        d.line((x, 200), (x, 206))
        kind = "end" if ms == TURNS_MS else "mid" if ms else ""
        d.text(x, 222, f"{ms} ms", f"quiet {kind}")
    told = (
        f"Eight games take {games:.1f} ms on {cores} cores, as measured; the"
    )
    d.text(4, 248, told, "quiet")
    told = (
        f"network {NETWORK_MS} ms on a device of its own, as in the benchmark."
    )
    d.text(4, 266, told, "quiet")
    d.save("turns.svg")


def draw_agent(recording):
    """What the trained agent sees, expects and does at its first point."""
    decisions = recording["decisions"]
    at = next((i for i, step in enumerate(decisions) if step[1]), 0)
    action, _, _, _, value, chances = decisions[at]
    rgb = np.array(recording["rgb"], np.uint8)
    screens = list(recordings.unpack(recording["screens"]))
    frames = list(recordings.unpack(recording["frames"], 84, 84))
    d = Drawing(408)
    for x, y, text in [
        (4, 16, "You see"),
        (178, 16, "It sees"),
        (350, 16, "It does"),
        (4, 290, f"It expects {value:.2f} in rewards to come"),
    ]:
        d.text(x, y, text, "strong")
    d.image(4, 26, 160, 210, rgb[screens[at]])
    draw_square(d, 178, 26, 158, frames[max(at - 3, 0) : at + 1])
    for i, (name, chance) in enumerate(
        zip(recording["actions"], chances, strict=True)
    ):
        y = 26 + 42 * i
        d.text(350, y + 13, name, "strong" if i == action else "quiet")
        d.text(476, y + 13, percent(chance), "quiet end")
        d.box(350, y + 19, 126, 14)
        d.box(350, y + 19, 126 * chance, 14, "bar" if i == action else "tip")
        equal = 350 + 126 / len(chances)
        d.line((equal, y + 16), (equal, y + 36), kind="line dash")
    d.text(350, 26 + 42 * len(chances) + 14, "dashed: chance", "quiet")
    d.text(4, 254, f"step {at + 1} of {recording['length']}", "quiet")
    values = [step[4] for step in decisions]
    most, least = max(values), min(*values, 0)

    def point(i):
        x = 4 + 472 * i / (len(values) - 1)
        return x, 304 + 96 * (most - values[i]) / (most - least)

    zero = 304 + 96 * most / (most - least)
    d.line((4, zero), (476, zero))
    d.line(*map(point, range(len(values))), kind="trace")
    d.line((point(at)[0], 300), (point(at)[0], 404), kind="red")
    d.save("agent.svg")


def draw_pipe():
    """What crosses the pipes, and what is shared."""
    pipe = json.loads((HERE / "data/pipe.json").read_text())
    up, down = pipe["bytes"]["ours"][0]
    d = Drawing(396)
    top = 10
    d.box(4, top, 472, 74)
    d.text(18, top + 22, "the program", "strong")
    d.text(18, top + 42, "observations, rewards, … = games.step(…)", "code")
    d.text(18, top + 62, "Games: checks the batch, sends it, waits, copies")
    for i, x in enumerate([4, 162]):
        y = top + 138
        d.box(x, y, 150, 136)
        d.text(x + 12, y + 22, f"process {i + 1}", "strong")
        d.text(x + 12, y + 42, "worker_process", "code")
        for j in range(4):
            d.box(x + 12 + 32 * j, y + 54, 28, 28, "page")
            d.text(x + 26 + 32 * j, y + 73, str(4 * i + j), "mid quiet")
        d.text(x + 12, y + 102, "a share, played", "quiet")
        d.text(x + 12, y + 120, "game after game", "quiet")
        d.arrow((x + 12, top + 74), (x + 12, y))
        d.arrow((x + 88, y), (x + 88, top + 74))
        for side, count, what in [
            (18, down // 2, "actions"),
            (94, up // 2, "ends"),
        ]:
            d.text(x + side, top + 100, f"{count} bytes", "quiet")
            d.text(x + side, top + 117, what, "quiet")
    y = top + 138
    d.box(328, y, 148, 232)
    d.text(340, y + 22, "shared memory", "strong")
    d.box(340, y + 34, 40, 40, "bar")
    for k, line in enumerate(["observations", "uint8", "(8, 4, 84, 84)"]):
        d.text(340, y + 94 + 18 * k, line, "code" if k else "")
    d.text(340, y + 150, f"{pipe['shared']:,} bytes", "quiet")
    for k, line in enumerate(["rewards", "final_obs", "screens"]):
        d.text(340, y + 178 + 18 * k, line)
    d.arrow((237, y + 136), (237, y + 164), (328, y + 164))
    d.arrow((79, y + 136), (79, y + 184), (328, y + 184))
    d.text(90, y + 206, "results, written in place", "quiet")
    d.arrow((440, y), (440, top + 74))
    d.text(432, top + 100, "a copy", "quiet end")
    d.text(432, top + 117, "a step", "quiet end")
    d.save("pipe.svg")


# All of them


def draw():
    """Make the recordings and all drawings."""
    played = list(play())
    recordings.record(played)
    recordings.record_rules(played)
    draw_modes(recordings.record_modes(played))
    steps = [played[i] for i in (62, 12, 13, 14, 15)]
    draw_step(steps[0])
    draw_slots(steps[1:])
    draw_maximum()
    draw_bands(played[61], played[62])
    draw_rules(played)
    draw_pipe()
    step_time = json.loads(STEP_TIME.read_text())
    draw_turns(step_time)
    draw_agent(json.loads((HERE / "data/agent.json").read_text()))


if __name__ == "__main__":
    cv2.setNumThreads(0)
    draw()
