"""
Make the figures of the page.

    python page/figures.py             # ten seconds

Everything comes from real games: the recordings for the figures that move
(`*.json`, see `recordings.py`), those that stay still (`docs/figures/*.svg`)
and the film of the first screen (`first.webp`). What they show of times and
agents is measured by the instruments in `measure/`, as are the numbers in the
text (`facts.py`).
"""

import itertools
import json
from pathlib import Path

import cv2
import numpy as np

import recordings
from drawing import PICTURES, Drawing, percent
from measured import measured
from recordings import LOST_AT, NOOP, brighter, find_ball, frames_of, unpack
from rules import break_rules, record_rules, shown

HERE = Path(__file__).resolve().parent
NETWORK_MS = 1.5  # of the network in measure/benchmark.py
TURNS_MS = 14  # of the drawing of `Games` in turn
OTHERS_MS = 4, 7  # when others have a core in it
ASTEROIDS = 130  # the first of two frames
BANDS = 42  # of five rows, which become two

# Drawing


def read(name):
    return json.loads((HERE / f"data/{name}.json").read_text())


def in_colour(screens):
    rgb = np.array(recordings.palette()[1]["rgb"], np.uint8)
    return rgb[recordings.by_colour(screens)]


def draw_step(step):
    """The figure to move, standing still at one step."""
    d = Drawing(452)
    screens, grays = zip(*step["frames"], strict=True)
    for i, screen in enumerate(in_colour(screens)):
        x = 4 + 120 * i
        d.image(x, 26, 112, 147, screen, "mark" if i >= 2 else "dark")
        d.text(x, 190, f"frame {i + 1}", "quiet")
    d.text(4, 17, "Four frames, one action held", "strong")
    d.text(4, 222, "Gray, the brighter of two, shrunk, stacked", "strong")
    d.image(4, 232, 72, 95, grays[2])
    d.text(4, 343, "3", "quiet")
    d.image(82, 232, 72, 95, grays[3])
    d.text(82, 343, "4", "quiet")
    d.image(188, 232, 72, 95, brighter(step))
    d.text(188, 343, "brighter", "quiet")
    d.image(294, 242, 72, 72, step["picture"], "mark")
    d.text(294, 343, "84×84", "quiet")
    d.line((158, 280), (182, 280), kind="line arrow")
    d.line((264, 280), (288, 280), kind="line arrow")
    d.line((370, 280), (424, 280), (424, 350), kind="line arrow")
    for i, picture in enumerate(step["stack"]):
        x = 4 + 120 * i
        d.image(x, 356, 74, 74, picture, "mark" if i == 3 else "")
        d.text(x, 446, f"obs_4[{i}]", "quiet")
    d.save("step.svg")


def draw_slots(steps):
    """Which of the frames 1 to 16 ends in which slot of the stack."""
    d = Drawing(478)
    d.text(2, 18, "step", "quiet")
    d.text(52, 18, "frames of the emulator", "quiet")
    d.text(478, 18, "the observation", "quiet end")
    for i, step in enumerate(steps):
        y = 30 + 114 * i
        d.text(8, y + 50, f"{i + 1}", "strong")
        screens = in_colour([screen for screen, _ in step["frames"]])
        for j, screen in enumerate(screens):
            x, kept = 52 + 66 * j, j >= 2
            d.image(x, y, 58, 76, screen, "mark" if kept else "dark")
            kind = "mid strong" if kept else "mid quiet"
            d.text(x + 29, y + 94, f"{4 * i + j + 1}", kind)
        d.line((320, y + 38), (374, y + 38), kind="line arrow")
        d.text(346, y + 30, "max", "quiet mid")
        d.image(400, y, 76, 76, step["picture"], "mark")
        d.text(478, y + 94, f"obs_4[{i}]", "code end")
    d.save("slots.svg")


def two_frames():
    """Two gray screens of Asteroids in a row, with and without rocks."""
    return frames_of("Asteroids", [NOOP] * (ASTEROIDS + 1))[-2:]


def draw_maximum():
    """Two frames in a row, one without rocks, and their maximum."""
    older, newer = two_frames()
    d = Drawing(236)
    d.image(2, 4, 154, 202, older)
    d.text(2, 228, f"frame {ASTEROIDS}")
    d.image(163, 4, 154, 202, newer)
    d.text(163, 228, f"frame {ASTEROIDS + 1}")
    d.image(324, 4, 154, 202, np.maximum(older, newer), "mark")
    d.text(324, 228, "the brighter", "strong")
    d.save("maximum.svg")


def draw_rules(rules):
    """Six rules, kept on the left and broken on the right."""
    d = Drawing(510)
    for i, (name, title, at) in enumerate(
        [
            ("maximum", "No maximum", 28),
            ("order", "Shrunk first", 0),
            ("frames", "Four frames in a row", 9),
            ("one", "One picture", 9),
            ("fire", "No FIRE", -1),
            ("noops", "No no-op starts", 0),
        ]
    ):
        steps = rules[name]
        kept, broken = shown(name, steps[at])
        says = steps[at][2]
        if name == "noops":
            starts = [shown(name, step)[0][0] for step in steps]
            games = {start.tobytes(): start for start in starts}
            kept = list(games.values())
            says = f"{len(steps)} starts make {len(games)} games"
        x, y = 2 + 244 * (i % 2), 172 * (i // 2)
        d.text(x, y + 16, title, "strong")
        for left, pictures in (x, kept), (x + 120, broken):
            bright = np.minimum(1.6 * np.array(pictures), 255)
            d.pictures(left, y + 26, 112, bright.astype(np.uint8))
        d.text(x, y + 156, says, "quiet")
    d.save("rules.svg")


def draw_bands(before, step):
    """What changes from one step to the next, cut out, shrunk, put back."""
    new = brighter(step)
    changed = (brighter(before) != new).reshape(BANDS, -1).any(axis=1)
    strip = new[changed.repeat(5)]
    d = Drawing(246)
    d.image(2, 4, 160, 210, new)
    d.image(200, 99 - len(strip) / 2, 160, len(strip), strip)
    d.image(394, 57, 84, 84, step["picture"])
    edges = np.flatnonzero(np.diff(changed, prepend=False, append=False))
    for start, end in edges.reshape(-1, 2):
        d.box(1, 3 + 5 * start, 162, 5 * (end - start) + 2, "mark")
        d.box(393, 56 + 2 * start, 86, 2 * (end - start) + 2, "mark")
    d.line((168, 99), (194, 99), kind="line arrow")
    d.line((364, 99), (388, 99), kind="line arrow")
    d.text(2, 236, f"{changed.sum()} of {BANDS} bands", "strong")
    d.text(200, 236, f"{len(strip)} rows, shrunk", "quiet")
    d.text(478, 236, "the picture", "quiet end")
    d.save("bands.svg")


def draw_modes(actions):
    """The step that loses a life, in the three modes."""
    d = Drawing(580)
    for i, mode in enumerate(("restart", "continue", "ignore")):
        step = list(recordings.play(mode, actions))[LOST_AT]
        x = 4 + 164 * i
        info = step["info"] or {}
        d.text(x, 16, f'"{mode}"', "code strong")
        d.image(x, 24, 146, 192, in_colour(step["screen"]))
        d.text(x, 236, "obs_4", "code")
        d.pictures(x, 242, 146, step["stack"])
        told = [f"lives  {step['lives']}", f"done   {step['done']}"]
        told += ["episode_info:" if info else "episode_info None"]
        told += [f"{name} {value}" for name, value in info.items()]
        for k, line in enumerate(told):
            d.text(x + 14 * (k > 2), 410 + 18 * k, line, "code")
        if step["done"]:
            d.pictures(x, 512, 64, step["final"])
            d.text(x + 72, 548, "final_obs", "code")
    d.save("modes.svg")


def draw_turns(step_time):
    """Three ways to play beside a network, while a core is taken away."""
    cores = step_time["machine"]["cores"]
    games = 8 * step_time["Breakout"]["total"] / 1000  # ms of one core
    left, scale = 76, 400 / TURNS_MS
    d = Drawing(412)
    for top, title, letters, parts in (
        (0, "In lockstep", "A", cores),
        (116, "Two Games in turn", "AB", cores),
        (232, "Games of one process, ready first", "ABCDE", 1),
    ):
        d.text(4, top + 16, title, "strong")
        for row in range(1 + cores):
            y = top + 26 + 26 * row
            name = f"core {row}" if row > 0 else "network"
            d.text(4, y + 15, name, "quiet")
            d.line((left, y + 22), (left + 400, y + 22))
        for row, start, end, letter in timeline(letters, parts, games, cores):
            start, end = max(start, 0), min(end, TURNS_MS)
            x, y = left + start * scale, top + 26 + 26 * row
            width = (end - start) * scale - 2
            kind = {"A": "bar", "": "box"}.get(letter, "other")
            if width > 0:
                d.box(f"{x:.1f}", y, f"{width:.1f}", 20, kind)
            if width > 12:
                d.text(f"{x + 5:.1f}", y + 15, letter, "ink")
    d.text(left, 356, f"{TURNS_MS} ms, from left to right", "quiet")
    told = (
        f"Eight games take {games:.1f} ms of a core, as measured, the network"
    )
    d.text(4, 382, told, "quiet")
    told = f"{NETWORK_MS} ms of a device. Empty box: others have the core."
    d.text(4, 400, told, "quiet")
    d.save("turns.svg")


def timeline(letters, parts, games, cores):
    """What happens in the drawing: its row, start and end, and whose it is.

    Each batch is in some parts, one to a core. A batch in one part is seen by
    the network when it is ready, others one after the other.
    """
    seen = []
    free = [-5 * TURNS_MS] * cores  # so that it has settled at 0
    done = {}
    others_from, others_to = OTHERS_MS  # on the last core

    def ask(letter, at):
        ends = []
        used = range(cores) if parts > 1 else [np.argmin(free)]
        for core in used:
            start = max(free[core], at)
            end = start + games / parts
            if core == cores - 1 and start < others_to and end > others_from:
                end += others_to - max(start, others_from)
            seen.append((1 + core, start, end, letter))
            free[core] = end
            ends.append(end)
        done[letter] = max(ends)

    network = free[0]
    for letter in letters:
        ask(letter, network)
    turns = itertools.cycle(letters)
    while network < TURNS_MS:
        letter = next(turns) if parts > 1 else min(done, key=done.get)
        start = max(network, done[letter])
        network = start + NETWORK_MS
        seen.append((0, start, network, letter))
        ask(letter, network)
    return [*seen, (cores, others_from, others_to, "")]


def draw_agent(recording):
    """What the trained agent sees, expects and does at its first point."""
    decisions = recording["decisions"]
    at = next(i for i, step in enumerate(decisions) if step[1])
    action, _, _, _, value, chances = decisions[at]
    rgb = np.array(recording["rgb"], np.uint8)
    screens = unpack(recording["screens"])
    frames = unpack(recording["frames"], 84, 84)
    d = Drawing(408)
    d.text(4, 16, "You see", "strong")
    d.text(178, 16, "It sees", "strong")
    d.text(350, 16, "It does", "strong")
    d.text(4, 290, f"It expects {value:.2f} in rewards to come", "strong")
    d.image(4, 26, 160, 210, rgb[screens[at]])
    d.pictures(178, 26, 158, frames[at - 3 : at + 1])
    for i, name in enumerate(recording["actions"]):
        y, chosen = 26 + 42 * i, i == action
        d.text(350, y + 13, name, "strong" if chosen else "quiet")
        d.text(476, y + 13, percent(chances[i]), "quiet end")
        d.box(350, y + 19, 126, 14)
        d.box(350, y + 19, 126 * chances[i], 14, "bar" if chosen else "quiet")
    d.text(4, 254, f"step {at + 1} of {recording['length']}", "quiet")

    # The values, from the highest down to the lowest.
    values = np.array([step[4] for step in decisions])
    heights = 304 + 96 * (values.max() - values) / np.ptp(values)
    xs = np.linspace(4, 476, len(values))
    d.line(*zip(xs, heights, strict=True), kind="trace")
    d.line((xs[at], 300), (xs[at], 404))
    d.save("agent.svg")


# The film of the first screen

FILM = slice(41, 121)  # steps of the recording
STILL = 88  # frames into the film, with the ball on its way up
FRAME = 33  # milliseconds: half the console's speed
TOP, HEIGHT, WIDTH = 55, 140, 105  # of the part of the screen that is shown
TOP_84, HEIGHT_84, WIDTH_84 = 22, 56, 55  # the same, in 84 by 84
NEAR = 21  # pixels from the edge of that part to the ball, at least
GAP = 3  # between two pictures
ZOOM = 3  # of the still picture
ACTIONS = "NOOP", "FIRE", "RIGHT", "LEFT"


def film(played):
    """Yield each frame of the film on the page's first screen."""
    left = 28
    for step in played[FILM]:
        for screen, _ in step["frames"]:
            # The view moves when the ball comes near its edge.
            if ball := find_ball(screen):
                x, _ = ball
                left = np.clip(left, x + NEAR - WIDTH, x - NEAR)
                left = int(np.clip(left, 0, 160 - WIDTH))
            screen = in_colour(screen)
            yield frame(screen, step["stack"], left, step["action"])


def frame(screen, stack, left, action):
    """What you see, and what the agent sees, close to the ball."""
    image = np.zeros((HEIGHT, WIDTH + 2 * (WIDTH_84 + GAP) + 2, 4), np.uint8)

    def put(part, x, y):
        at = np.s_[y : y + len(part), x : x + part.shape[1]]
        image[at][..., :3], image[at][..., 3] = part, 255

    put(screen[TOP : TOP + HEIGHT, left : left + WIDTH, ::-1], 0, 0)
    left = round(left * 84 / 160)
    right = image.shape[1] - 2 * WIDTH_84 - GAP
    for i, picture in enumerate(stack):
        part = picture[TOP_84:, left : left + WIDTH_84, None][:HEIGHT_84]
        x, y = i % 2 * (WIDTH_84 + GAP), i // 2 * (HEIGHT_84 + GAP)
        put(part, right + x, y)
    box = np.full((15, 45, 3), 70, np.uint8)
    font, white = cv2.FONT_HERSHEY_PLAIN, (255, 255, 255)
    cv2.putText(box, ACTIONS[action], (4, 12), font, 0.7, white)
    put(box, image.shape[1] - 45, HEIGHT - 19)
    return image


def draw_first(played):
    """The film, and the picture that stands still in its place."""
    moving = cv2.Animation()
    moving.frames = list(film(played))
    moving.durations = [FRAME] * len(moving.frames)
    lossless = [cv2.IMWRITE_WEBP_QUALITY, 101]
    cv2.imwriteanimation(str(PICTURES / "first.webp"), moving, lossless)
    still = moving.frames[STILL].repeat(ZOOM, axis=0).repeat(ZOOM, axis=1)
    smallest = [cv2.IMWRITE_PNG_COMPRESSION, 9]
    cv2.imwrite(str(PICTURES / "first.png"), still, smallest)


# All of them


def draw():
    """Make all but pipe.svg, which is made by hand."""
    played = list(recordings.play())
    recordings.record(played)
    rules = break_rules(played)
    record_rules(rules)
    draw_modes([step["action"] for step in played[1:]])
    draw_first(played)
    draw_step(played[62])
    draw_slots(played[12:16])
    draw_maximum()
    draw_bands(played[61], played[62])
    draw_rules(rules)
    draw_turns(measured()["step_time"])
    draw_agent(read("agent"))


if __name__ == "__main__":
    cv2.setNumThreads(0)
    draw()
