"""
Make the figures of the page.

    python page/figures.py             # ten seconds

Everything comes from real games: the recordings for the figures that move
(`*.json`, see `recordings.py`) and those that stay still
(`docs/figures/*.svg`). What they show of times and agents is measured by the
instruments in `measure/`, as are the numbers in the text (`facts.py`).
"""

import itertools
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import cv2
import numpy as np

import fonts
import recordings
from drawing import PICTURES, Drawing, percent
from measured import measured
from recordings import (
    LEFT,
    LOST_AT,
    NOOP,
    brighter,
    close_up,
    flicker,
    kept,
    small,
    unpack,
)

HERE = Path(__file__).resolve().parent
NETWORK_MS = 1.5  # of the network in measure/benchmark.py
TURNS_MS = 14  # of the drawing of `Games` in turn
OTHERS_MS = 4, 7  # when others have a core in it
GUESS = 102  # the step in which the ball's way is asked for
DARKEST = 0.4  # the oldest picture of those that are drawn over each other
STEP = 62  # the step that stands still
PIXEL = 17, 51  # column and row of the pixel that is taken apart
NEAR = slice(170, 198), slice(71, 111)  # what is near it
PART = slice(105, 200), slice(76, 156)  # where Asteroids has the ship
# How a target is made, whether the episode goes on or has ended, from the
# reward. The value of its next or last observation is 5, that of the new
# episode 7.
TARGETS = [
    ("goes on", 1, "1 + 0.99 × 5"),
    ("terminated", 1, "1"),
    ("truncated", 1, "1 + 0.99 × 5"),
]
# What the first program prints of a step: its number, the reward, done.
OUTPUT = re.compile(r"(?m)^(\d+) (\d\.0) (True|False)")
PROGRAM = re.compile(r"(?s)```python\n(.*?)```")
# The games of three environments, as an example: lengths and points.
LANES = [(9, 9)], [(3, 2), (3, 2), (3, 2)], [(4, 3), (5, 4)]
# Of the drawing that races; page/moving/race.js moves over it.
RACE_LEFT, RACE_WIDTH, RACE_MS, RACE_TOP = 84, 390, 3, (4, 196)
RACE_ROW = 18
BANDS = 42  # of five rows, which become two

# Drawing


def read(name):
    return json.loads((HERE / f"data/{name}.json").read_text())


def in_colour(screens):
    rgb = np.array(recordings.palette()[1]["rgb"], np.uint8)
    return rgb[recordings.by_colour(screens)]


def bright(picture):
    return np.minimum(1.6 * picture, 255).astype(np.uint8)


def draw_guess(step):
    """One picture, and the four that answer, close to the ball."""
    left, top, *_ = close_up(step)
    left, top = left + 5, top + 8  # closer: 28 by 24 pixels
    d = Drawing(312, 305, asks=True)
    side = 220  # 336 pixels where it is widest
    x, y, width, height = (side / 84 * n for n in (left, top, 28, 24))
    d.image(0, 0, side, side, bright(step["picture"]))
    d.box(x, y, width, height, "line")
    d.text(x - 8, y + height / 2 + 9, "↑ up", "strong big end later")
    for i, line in enumerate(["What an", "agent sees"]):
        d.text(229, 14 + 22 * i, line, "strong")
    d.text(229, 58, "brightened", "quiet")
    y = 233
    for i, picture in enumerate(step["stack"]):
        x = (305 - width) / 3 * i
        d.box(x + 1, y + 1, width - 2, height - 2, "line")
        d.text(x + width / 2, y + height / 2 + 8, "?", "big quiet mid")
        part = picture[top : top + 24, left : left + 28]
        kind = "later" if i < 3 else ""  # the newest is the large one
        d.image(x, y, width, height, bright(part), kind)
    d.text(0, 308, "oldest", "quiet")
    d.text(305 / 2, 308, "four tell", "mid later")
    d.text(305, 308, "newest", "quiet end")
    d.save("guess.svg")
    enlarged = bright(step["picture"])[21:].repeat(10, axis=0)
    smallest = [cv2.IMWRITE_PNG_COMPRESSION, 9]
    name = str(PICTURES / "guess.png")
    cv2.imwrite(name, enlarged.repeat(10, axis=1), smallest)


def draw_step(step):
    """The figure to move, standing still at one step."""
    d = Drawing(374)
    screens, _ = zip(*step["frames"], strict=True)
    d.text(6, 20, "One step: four frames, one action", "strong")
    kinds = "dark", "dark", "third", "fourth"
    for i, screen in enumerate(in_colour(screens)):
        x = 6 + 119 * i
        d.image(x, 30, 111, 146, screen, kinds[i])
        d.text(x, 194, f"frame {i + 1}", kinds[i] if i > 1 else "quiet")
    d.text(474, 216, "gray, the brighter of both, 84×84 ↓", "picture end")
    d.text(6, 240, "The agent sees obs_4", "strong")
    for i, picture in enumerate(step["stack"]):
        x, kind = 6 + 119 * i, "picture" if i == 3 else ""
        d.image(x, 250, 100, 100, picture, kind)
        d.text(x, 368, f"obs_4[{i}]", kind or "quiet")
    d.save("step.svg")


def faded(pictures):
    """Pictures drawn over each other, the oldest darkest."""
    shares = np.linspace(DARKEST, 1, len(pictures))
    shaded = [it * share for it, share in zip(pictures, shares, strict=True)]
    return np.max(shaded, axis=0).astype(np.uint8)


def draw_pixel(step):
    """The pixels that one pixel of a picture is made of."""
    column, row = PIXEL
    two = [gray for _, gray in kept(step)]
    d = Drawing(206)
    size = 160 / 84, 210 / 84
    x, y = int(column * size[0]), int(row * size[1])
    names = "third frame", "fourth frame", "the brighter"
    kinds = "third", "fourth", "picture"
    for i, gray in enumerate([*two, np.maximum(*two)]):
        left = 6 + 124 * i
        d.text(left, 20, names[i], kinds[i])
        part = gray[y : y + 3, x : x + 3]
        d.image(left, 30, 108, 108, part)
        for (k, j), value in np.ndenumerate(part):
            at = left + 36 * j + 34, 61 + 36 * k
            d.text(*at, str(value), "end" if value < 118 else "end dark")
        corner = (
            left + 36 * (column * size[0] - x),
            30 + 36 * (row * size[1] - y),
        )
        d.box(*corner, 36 * size[0], 36 * size[1], kinds[i])
    value = step["picture"][row, column]
    d.text(378, 20, "the mean", "picture")
    d.image(378, 30, 96, 96, np.full((1, 1), value), "picture")
    d.text(426, 83, str(value), "mid" if value < 118 else "mid dark")
    d.text(6, 170, f"Row {row}, column {column} of the picture covers")
    d.text(6, 192, "2.5 rows and 1.90 columns of the screen.")
    d.save("pixel.svg")


def draw_maximum():
    """Two frames of a step, one without rocks, and their maximum."""
    third, fourth = (frame[PART] for frame in flicker())
    d = Drawing(216)
    for i, (name, frame, kind) in enumerate(
        [
            ("third frame", third, "third"),
            ("fourth frame", fourth, "fourth"),
            ("the brighter", np.maximum(third, fourth), "picture"),
        ]
    ):
        d.image(6 + 158 * i, 6, 152, 180, frame, kind)
        d.text(6 + 158 * i, 208, name, kind)
    d.save("maximum.svg")


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
        d.box(1, 3 + 5 * start, 162, 5 * (end - start) + 2, "picture")
        d.box(393, 56 + 2 * start, 86, 2 * (end - start) + 2, "picture")
    d.line((168, 99), (194, 99), kind="line arrow")
    d.line((364, 99), (388, 99), kind="line arrow")
    d.text(2, 236, f"{changed.sum()} of {BANDS} bands", "strong")
    d.text(200, 236, f"{len(strip)} rows, shrunk", "quiet")
    d.text(478, 236, "the picture", "quiet end")
    d.save("bands.svg")


def draw_stack(step):
    """The ball in the four pictures, and in four frames in a row."""
    left, top, *_ = close_up(step)
    frames = [small(gray) for _, gray in step["frames"]]
    d = Drawing(150, large=True)
    for i, (pictures, words) in enumerate(
        [
            (step["stack"], "a stack: 1/5 s"),
            (frames, "four frames in a row: 1/20 s"),
        ]
    ):
        near = faded(pictures)[top + 15 : top + 29, left + 8 : left + 36]
        d.image(4 + 240 * i, 24, 232, 116, bright(near))
        d.text(4 + 240 * i, 16, words, "strong")
    d.save("stack.svg")


def draw_modes(actions):
    """The step that loses a life, in two modes, a row for each."""
    d = Drawing(187, large=True)
    d.text(156, 16, "oldest", "quiet")
    d.text(474, 16, "newest", "quiet end")
    for i, (mode, words) in enumerate(
        [("continue", "game goes on"), ("ignore", "episode goes on")]
    ):
        step = list(recordings.play(mode, actions))[LOST_AT]
        y = 26 + 81 * i
        d.text(6, y + 14, f'"{mode}"', "strong")
        d.text(6, y + 32, words, "quiet")
        # Without the row of numbers, which isn't up to date.
        pictures = [picture[7:] for picture in step["stack"]]
        for k, picture in enumerate(pictures):
            kind = "picture" if np.array_equal(picture, pictures[3]) else ""
            d.image(156 + 81 * k, y, 76, 70, bright(picture), kind)
        ended = "strong" if step["done"] else ""
        d.text(6, y + 52, f"done = {step['done']}", ended)
        info = step["info"] and f"reward {step['info']['reward']:.0f}"
        d.text(6, y + 69, f"info: {info}")
    d.save("modes.svg")


def draw_serves():
    """How the ball flies after 1, 2, 3 and 4 no-op frames."""
    d = Drawing(180, large=True)
    for i in range(4):
        ways = recordings.serve(no_ops=i + 1)
        x = 4 + 120 * i
        d.image(x, 6, 112, 147, bright(faded(ways)))
        d.text(x, 171, f"{i + 1}, {i + 5}, {i + 9} \N{HORIZONTAL ELLIPSIS}")
    d.save("serves.svg")


def draw_lives():
    """The lives and the bricks of the first program's game."""
    played = OUTPUT.findall((HERE / "notes.md").read_text())
    ends = [int(step) for step, _, done in played if done == "True"]
    bricks = [int(step) for step, reward, _ in played if reward == "1.0"]
    scale = 464 / ends[-1]
    d = Drawing(126, screen=False)
    d.box(4, 26, 464, 32, "ink")
    d.text(14, 47, "one game", "on")
    for step in bricks:
        d.box(round(scale * step), 26, 4, 10, "page")
        told = f"a brick at {step}" if step == bricks[0] else str(step)
        d.text(round(scale * step) + 2, 16, told, "quiet mid")
    for i, (start, end) in enumerate(itertools.pairwise([0, *ends])):
        x, right = 4 + round(scale * start), 1 + round(scale * end)
        d.box(x, 64, right - x, 32)
        d.text(x + 4, 85, f"life {i + 1}")
        d.text(right, 116, str(end), "quiet end")
    d.save("lives.svg")


def draw_seen():
    """What the first program saves."""
    program, *_ = PROGRAM.findall((HERE / "notes.md").read_text())
    with tempfile.TemporaryDirectory() as there:
        run = [sys.executable, "-c", program]
        environ = os.environ | {"PYTHONPATH": str(HERE.parent)}
        subprocess.run(run, cwd=there, env=environ, check=True)
        name = f"{there}/seen.png"
        seen = cv2.imread(name, cv2.IMREAD_GRAYSCALE)[::4, ::4]
    d = Drawing(139)
    for i, picture in enumerate(np.hsplit(seen, 4)):
        d.image(121 * i, 0, 117, 117, picture)
        d.text(121 * i + 2, 134, f"obs_4[{i}]", "quiet")
    d.save("seen.svg")


def draw_lanes():
    """The first games to end, and those that count, the first of each."""
    d = Drawing(168, screen=False)
    games = []
    for row, lane in enumerate(LANES):
        start = 0
        for length, points in lane:
            games.append((row, start, start + length, points))
            start += length
    first = sorted(games, key=lambda game: game[2])[: len(LANES)]
    for game in games:
        row, start, end, points = game
        x, y = 4 + 52 * start, 4 + 32 * row
        d.box(x, y, 52 * (end - start) - 4, 26)
        d.text(x + 10, y + 18, f"{points} points")
        if game in first:
            place = ("1st", "2nd", "3rd")[first.index(game)]
            d.text(52 * end - 10, y + 18, place, "strong end")
    ended = [points for *_, points in first]
    each = [lane[0][1] for lane in LANES]
    for y, told, scores in (
        (128, "first to end", ended),
        (152, "first of each environment", each),
    ):
        sums = " + ".join(map(str, scores))
        d.text(4, y, told, "strong")
        d.text(468, y, f"({sums}) / 3 = {np.mean(scores):.1f} points", "end")
    d.save("lanes.svg")


def draw_turns(step_time):
    """Three ways to play beside a network, while a core is taken away."""
    cores = step_time["machine"]["cores"]
    games = 8 * step_time["Breakout"]["total"] / 1000  # ms of one core
    left, scale = 76, 400 / TURNS_MS
    d = Drawing(412, screen=False)
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
            box, ink = {"A": ("ink", "on"), "others": ("quiet", "on")}.get(
                letter, ("box", "ink")
            )
            if width > 0:
                d.box(f"{x:.1f}", y, f"{width:.1f}", 20, box)
            if width > 12:
                d.text(f"{x + 5:.1f}", y + 15, letter, ink)
    d.text(left, 356, f"{TURNS_MS} ms, from left to right", "quiet")
    told = f"{games:.1f} ms of a core, as measured; the"
    d.text(4, 382, f"Eight games take {told}", "quiet")
    told = f"{NETWORK_MS} ms of a device. Others take a core for a while."
    d.text(4, 400, f"network {told}", "quiet")
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
    return [*seen, (cores, others_from, others_to, "others")]


def draw_targets():
    """What counts in the target of a step, in three timelines."""
    d = Drawing(232, screen=False)
    for x, name in (4, "the episode"), (112, "this step"), (200, "afterwards"):
        d.text(x, 16, name, "quiet")
    d.text(476, 16, "target", "quiet end")
    for row, (end, reward, target) in enumerate(TARGETS):
        y = 28 + 70 * row
        ended = end != "goes on"
        d.text(4, y + 26, end, "strong")
        d.box(112, y, 80, 40, "ink")
        d.text(152, y + 26, f"reward {reward}", "on mid")
        x = 200
        if "×" in target:
            d.box(x, y, 72, 40, "ink")
            d.text(x + 36, y + 26, "value 5", "on mid")
            name = "last obs" if ended else "next obs"
            d.text(x, y + 56, name, "quiet")
            x += 80
        if ended:
            d.line((x, y - 6), (x, y + 46), kind="line")
            d.box(x + 8, y, 72, 40)
            d.text(x + 44, y + 26, "value 7", "quiet mid")
            d.text(x + 8, y + 56, "new episode", "quiet")
        if "×" in target:
            found = reward + 0.99 * 5
            d.text(476, y + 17, target, "end")
            d.text(476, y + 37, f"= {found:g}", "strong end")
        else:
            d.text(476, y + 26, target, "strong end")
    d.save("targets.svg")


def draw_ends():
    """What is returned around the end of an episode, in both modes."""
    d = Drawing(206, screen=False)
    for i, when in enumerate(("ending step", "next step", "step after")):
        d.text(110 + 124 * i, 16, when, "quiet")
    for row, (mode, returned, notes) in enumerate(
        (
            (
                "SAME_STEP",
                ("first of new", "second", "third"),
                ("last of old", 'infos["final_obs"]'),
            ),
            (
                "NEXT_STEP",
                ("last of old", "first of new", "second"),
                ("", "action ignored, reward 0"),
            ),
        )
    ):
        y = 26 + 106 * row
        d.text(4, y + 26, mode, "strong")
        for i, name in enumerate(returned):
            d.box(110 + 124 * i, y, 116, 40, "box" if "old" in name else "ink")
            ink = "ink" if "old" in name else "on"
            d.text(120 + 124 * i, y + 26, name, ink)
        under, beside = notes
        if under:
            d.box(110, y + 46, 116, 40)
        d.text(120, y + 72, under)
        d.text(238, y + (72 if under else 62), beside, "quiet")
    d.save("ends.svg")


def draw_race(sides):
    """A step of eight games: a process for each, and one for each core."""
    left, scale = RACE_LEFT, RACE_WIDTH / RACE_MS
    cores = sides["machine"]["cores"]
    d = Drawing(RACE_TOP[1] + RACE_ROW * (cores + 1) + 48, screen=False)
    shared = f"{cores} workers, {8 // cores} games each"
    for top, title, name, count, ink in (
        (RACE_TOP[0], "8 workers, a game each", "workers", 8, "game"),
        (RACE_TOP[1], shared, "games", cores, "ours"),
    ):
        program, games = sides[name]["program"], sides[name]["games"]
        each = len(games) // count
        lanes = {"program": program}
        for k in range(count):
            lanes[f"worker {k}"] = games[k * each : (k + 1) * each]
        d.text(4, top + 14, title, "strong")
        d.text(474, top + 14, f"{program[-1][1]:.2f} ms", "strong end")
        for row, (label, spans) in enumerate(lanes.items()):
            y = top + 22 + RACE_ROW * row
            d.text(4, y + 13, label, "quiet")
            d.line((left, y + 15), (left + RACE_WIDTH, y + 15))
            for start, end in spans:
                place = f"{left + start * scale:.1f}", y + 1
                width = f"{max(1, (end - start) * scale - 1):.1f}"
                d.box(*place, width, 13, "ink" if row == 0 else ink)
    y = RACE_TOP[1] + RACE_ROW * (cores + 1) + 22
    for ms in range(RACE_MS + 1):
        x = left + ms * scale
        d.line((x, y), (x, y + 6))
        d.text(x, y + 22, f"{ms} ms", "quiet end" if ms == 3 else "quiet mid")
    d.save("race.svg")


def first_point(decisions):
    """The first step of a film that scores."""
    return next(i for i, step in enumerate(decisions) if step[1])


def draw_agent(recording):
    """What the trained agent sees, expects and does at its first point."""
    decisions = recording["decisions"]
    at = first_point(decisions)
    action, _, _, _, value, chances = decisions[at]
    rgb = np.array(recording["rgb"], np.uint8)
    screens = unpack(recording["screens"])
    frames = unpack(recording["frames"], 84, 84)
    d = Drawing(400)
    millions = round(recording["trained"] / 1e6, 1)
    d.text(6, 20, f"Trained {millions:g} M steps", "strong")
    d.text(178, 20, "The agent sees", "strong")
    d.text(350, 20, "Action sampled", "strong")
    d.text(6, 282, "Value", "strong")
    d.image(6, 30, 160, 210, rgb[screens[at]])
    d.pictures(178, 30, 158, frames[at : at + 4])
    for i, name in enumerate(recording["actions"]):
        y, chosen = 30 + 42 * i, i == action
        d.text(350, y + 13, name, "strong" if chosen else "quiet")
        d.text(472, y + 13, percent(chances[i]), "quiet end")
        d.box(350, y + 19, 122, 14)
        d.box(350, y + 19, 122 * chances[i], 14, "ink" if chosen else "quiet")
    step = recording["start"] + at + 1
    d.text(6, 258, f"step {step} of {recording['length']}", "quiet")

    # The values, from 0 on.
    values = np.array([step[4] for step in decisions])
    high = np.ceil(values.max())
    heights = 300 + 86 * (high - values) / high
    xs = np.linspace(30, 472, len(values))
    for y, value in (300, high), (386, 0):
        d.text(22, y + 5, f"{value:.0f}", "quiet end")
        d.line((30, y), (472, y))
    d.line(*zip(xs, heights, strict=True), kind="trace")
    d.line((xs[at], 296), (xs[at], 390))
    d.text(xs[values.argmax()] + 4, 294, "↙ behind the wall", "quiet")
    d.save("agent.svg")


def to_learn_from(recording):
    """The step of the film in which another action misses the ball."""
    return read("missed")["start"] - 1 - recording["start"]


def objects(screen):
    """Where things are on a black screen: left, top, width and height."""
    shown = screen.any(-1).astype(np.uint8)
    _, _, boxes, _ = cv2.connectedComponentsWithStats(shown)
    return boxes[1:, :4]  # the first is the black one


def draw_move(recording, missed):
    """What the step to learn from has brought, and what NOOP would have.

    The outlines are those of the paddle a step before, and an arrow is the way
    of the ball since then. Where the ball is missed the game doesn't draw it:
    it has flown on as in the step before.
    """
    at = to_learn_from(recording)
    action = recording["actions"][recording["decisions"][at][0]]
    hit, lost = (
        np.array(film["rgb"], np.uint8)[unpack(film["screens"])]
        for film in (recording, missed)
    )
    balls, paddles = zip(
        *(objects(screen[NEAR]) for screen in hit[at - 1 : at + 2]),
        strict=True,
    )
    old, now, new = (ball[:2] + ball[2:] / 2 for ball in balls)
    flown = now - old
    hits = [now, now + flown / 2, new]
    misses = [now, now + flown]
    d, scale = Drawing(139, large=True), 150 / 40
    for x, told, paddle, screen, way in (
        (6, "before the step", paddles[0], hit[at], [old, now]),
        (165, f"{action}: hit", paddles[1], hit[at + 1], hits),
        (324, "NOOP: missed", paddles[1], lost[0], misses),
    ):
        d.text(x, 18, told, "strong")
        d.image(x, 26, 150, 105, screen[NEAR])
        left, top, width, height = scale * paddle
        d.box(x + left, 26 + top, width, height, "line past")
        places = ((x, 26) + scale * point for point in way)
        d.line(*places, kind="line arrow")
    d.save("move.svg")


def draw_backwards():
    """How a reward reaches the values of the steps before it."""
    d = Drawing(158, screen=False)
    for i, name in enumerate(["step 1", "step 2", "step 3: a brick"]):
        d.text(120 + 120 * i, 16, name, "quiet")
    values, rewards = np.zeros(3), np.array([0, 0, 1])
    for row, name in enumerate(
        ["at first", "after 1 update", "after 2", "after 3"]
    ):
        y, before = 24 + 34 * row, values
        if row:
            values = rewards + 0.99 * np.append(values[1:], 0)
        d.text(4, y + 19, name, "strong")
        for i, value in enumerate(values):
            new = value != before[i]
            d.box(120 + 120 * i, y, 112, 28, "ink" if new else "box")
            kind = "on" if new else ""
            d.text(130 + 120 * i, y + 19, f"{value:.2g}", kind)
    d.save("backwards.svg")


def draw_still(found):
    """The scores of games, and of games in which nothing moves."""
    d, tallest = Drawing(160, large=True), max(found["moving"])
    for left, told, scores in (
        (6, "its four pictures", found["moving"]),
        (246, "the newest, four times", found["still"]),
    ):
        d.text(left, 18, told, "strong")
        for i, score in enumerate(scores):
            height = 108 * score / tallest
            d.box(left + 7.6 * i, 136 - height, 5, height, "ours")
        d.text(left, 153, f"mean {np.mean(scores):.0f} points", "quiet")
    d.save("still.svg")


def draw_kill(recording):
    """Eight games in the step in which one of two workers is replaced."""
    pictures = unpack(recording["pictures"], 84, 84).reshape(8, -1, 84, 84)
    played = recording["killed"] - 1
    d = Drawing(310)
    for worker, at, told in (0, played, ""), (1, 0, ", just killed"):
        top = 152 * worker
        games = f"games {4 * worker} to {4 * worker + 3}"
        d.text(6, top + 20, f"Worker {worker}{told}", "strong")
        d.text(474, top + 20, games, "quiet end")
        for i in range(4):
            x = 6 + 119 * i
            d.image(x, top + 30, 100, 100, pictures[4 * worker + i, at])
            step = f"step {recording['every'] * at}"
            d.text(x, top + 148, step, "quiet")
    d.save("kill.svg")


# All of them


def draw():
    """Make all but pipe.svg, which is made by hand."""
    played = list(recordings.play())
    recordings.record(played)
    draw_guess(played[GUESS])
    draw_step(played[STEP])
    draw_pixel(played[STEP])
    draw_maximum()
    actions = [step["action"] for step in played[1:]]
    # The ball is out of reach. The paddle moves and then stands still, so
    # that the newest picture differs from those before, and is one frame.
    actions[LOST_AT - 4 : LOST_AT] = [LEFT, LEFT, LEFT, NOOP]
    draw_modes(actions)
    draw_serves()
    draw_lives()
    draw_seen()
    draw_lanes()
    draw_bands(played[STEP - 1], played[STEP])
    draw_stack(played[GUESS])
    draw_turns(measured()["step_time"])
    draw_targets()
    draw_ends()
    draw_race(read("race"))
    draw_agent(read("agent"))
    draw_move(read("agent"), read("missed"))
    draw_backwards()
    draw_still(measured()["still"])
    draw_kill(read("eight"))
    pipe = PICTURES / "pipe.svg"  # by hand
    pipe.write_text(fonts.embed(pipe.read_text()))


if __name__ == "__main__":
    cv2.setNumThreads(0)
    draw()
