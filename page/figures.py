"""
Make the figures.

    python page/figures.py             # ten seconds
    python page/figures.py stills      # pictures of those that move

What they show comes from real games: `data/recording.json`, which is recorded
here, and recordings of our agents (`README.md` says where those come from).
A figure that moves has a picture of itself for readers without scripts.
"""

import itertools
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import cv2
import numpy as np
from playwright.sync_api import sync_playwright

import recordings
from drawing import FIGURES, Drawing
from recordings import LEFT, LOST_AT, NOOP, small, unpack

HERE = Path(__file__).resolve().parent
CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")
GUESS = 102  # the step whose ball is asked for
BALL = slice(53, 67), slice(39, 67)  # what is near it
DARKEST = 0.4  # the oldest picture of those that are drawn over each other
NEAR = slice(170, 198), slice(71, 111)  # what is near the paddle
PART = slice(105, 200), slice(76, 156)  # where Asteroids has the ship
STORY = (HERE / "story.md").read_text()
PROGRAM = re.compile(r"(?s)```python\n(.*?)```")
# What the first program prints of a step: its number, the reward, done.
OUTPUT = re.compile(r"(?m)^(\d+) (\d\.0) (True|False)")
# The games of three environments, as an example: lengths and points.
LANES = [(9, 9)], [(3, 2), (3, 2), (3, 2)], [(4, 3), (5, 4)]
MODES = {
    "continue": "the game goes on",
    "restart": "a new game begins",
    "ignore": "the episode goes on",
}


def read(name):
    return json.loads((HERE / f"data/{name}.json").read_text())


def bright(picture):
    return np.minimum(1.6 * picture, 255).astype(np.uint8)


def faded(pictures):
    """Pictures drawn over each other, the oldest darkest."""
    shares = np.linspace(DARKEST, 1, len(pictures))
    shaded = [it * share for it, share in zip(pictures, shares, strict=True)]
    return np.max(shaded, axis=0).astype(np.uint8)


def draw_maximum():
    """Two frames of Asteroids, and the brighter of both."""
    third, fourth = (frame[PART] for frame in recordings.flicker())
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


def draw_stack(step):
    """The ball in the four pictures, and in four frames in a row."""
    frames = [small(gray) for _, gray in step["frames"]]
    d = Drawing(150, large=True)
    for i, (pictures, words) in enumerate(
        [
            (step["stack"], "a stack: 1/5 s"),
            (frames, "four frames in a row: 1/20 s"),
        ]
    ):
        d.image(4 + 240 * i, 24, 232, 116, bright(faded(pictures)[BALL]))
        d.text(4 + 240 * i, 16, words, "strong")
    d.save("stack.svg")


def draw_modes(actions):
    """The step that loses a life, in each mode."""
    d = Drawing(268, large=True)
    d.text(156, 16, "oldest", "quiet")
    d.text(474, 16, "newest", "quiet end")
    for i, (mode, words) in enumerate(MODES.items()):
        step = list(recordings.play(mode, actions))[LOST_AT]
        y = 26 + 81 * i
        d.text(6, y + 14, f'"{mode}"', "strong")
        d.text(6, y + 32, words, "quiet")
        # Without the row of numbers, which isn't up to date.
        pictures = [picture[7:] for picture in step["stack"]]
        for k, picture in enumerate(pictures):
            kind = "picture" if np.array_equal(picture, pictures[3]) else ""
            d.image(156 + 81 * k, y, 76, 70, bright(picture), kind)
        d.text(6, y + 52, f"done = {step['done']}")
        info = step["info"] and f"reward {step['info']['reward']}"
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
    played = OUTPUT.findall(STORY)
    ends = [int(step) for step, _, done in played if done == "True"]
    bricks = [int(step) for step, reward, _ in played if reward == "1.0"]
    scale = 464 / ends[-1]
    d = Drawing(126, screen=False)
    d.box(4, 26, 464, 32, "ink")
    d.text(14, 47, "one game", "on")
    for step in bricks:
        d.box(round(scale * step), 26, 4, 10, "on")
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
    program, *_ = PROGRAM.findall(STORY)
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


def objects(screen):
    """Where things are on a black screen: left, top, width and height."""
    shown = screen.any(-1).astype(np.uint8)
    return cv2.connectedComponentsWithStats(shown)[2][1:, :4]


def draw_move(film, missed):
    """What the step to learn from has brought, and what NOOP would have.

    The outlines are those of the paddle a step before, and an arrow is the way
    of the ball since then. Where the ball is missed the game doesn't draw it:
    it has flown on as in the step before.
    """
    at = missed["start"] - 1 - film["start"]
    hit, lost = (
        np.array(one["rgb"], np.uint8)[unpack(one["screens"])]
        for one in (film, missed)
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
        (165, "LEFT: hit", paddles[1], hit[at + 1], hits),
        (324, "NOOP: missed", paddles[1], lost[0], misses),
    ):
        d.text(x, 18, told, "strong")
        d.image(x, 26, 150, 105, screen[NEAR])
        left, top, width, height = scale * paddle
        d.box(x + left, 26 + top, width, height, "line past")
        d.arrow(*((x, 26) + scale * point for point in way))
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
            d.text(130 + 120 * i, y + 19, f"{value:.2g}", "on" if new else "")
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


def draw_pipe():
    """What goes where in a step of eight games, on two cores."""
    d = Drawing(330, screen=False)
    d.box(4, 4, 472, 56)
    d.text(16, 26, "the program", "strong")
    d.text(16, 48, "obs, rewards, … = games.step(actions)", "code")
    for worker in range(2):
        x = 4 + 158 * worker
        d.arrow((x + 14, 60), (x + 14, 122))
        d.arrow((x + 96, 122), (x + 96, 60))
        d.text(x + 22, 96, "actions", "quiet")
        d.text(x + 104, 96, "done", "quiet")
        d.box(x, 122, 148, 128)
        d.text(x + 12, 144, f"worker {worker}", "strong")
        for i in range(4):
            d.box(x + 12 + 32 * i, 156, 28, 28)
            d.text(x + 26 + 32 * i, 176, str(4 * worker + i), "quiet mid")
        d.text(x + 12, 210, "its share, one", "quiet")
        d.text(x + 12, 232, "after the other", "quiet")
        y = 300 - 20 * worker
        d.arrow((x + 74, 250), (x + 74, y), (328, y))
    d.box(328, 122, 148, 190)
    for i, line in enumerate(
        ["shared memory", "observations", "rewards", "ends, scores"]
    ):
        d.text(340, 144 + 26 * i, line, "" if i else "strong")
    d.text(90, 320, "results, written in place", "quiet")
    d.arrow((440, 122), (440, 60))
    d.text(432, 96, "a copy", "quiet end")
    d.save("pipe.svg")


def draw_race(sides):
    """A step of eight games: a process for each, and one for each core."""
    left, scale, high = 84, 130, 18  # of a millisecond, of a lane
    d = Drawing(298, screen=False)
    for top, title, name, count in (
        (4, "8 workers, a game each", "workers", 8),
        (196, "2 workers, 4 games each", "games", 2),
    ):
        program, games = sides[name]["program"], sides[name]["games"]
        each = len(games) // count
        lanes = {"program": program}
        for k in range(count):
            lanes[f"worker {k}"] = games[k * each : (k + 1) * each]
        d.text(4, top + 14, title, "strong")
        d.text(474, top + 14, f"{program[-1][1]:.2f} ms", "strong end")
        for row, (label, spans) in enumerate(lanes.items()):
            y = top + 22 + high * row
            d.text(4, y + 13, label, "quiet")
            d.line((left, y + 15), (left + 390, y + 15))
            for start, end in spans:
                width = max(1, (end - start) * scale - 1)
                kind = "ours" if row else "ink"
                d.box(left + start * scale, y + 1, width, 13, kind)
    for ms in range(4):
        x, y = left + ms * scale, 272
        d.line((x, y), (x, y + 6))
        d.text(x, y + 22, f"{ms} ms", "quiet end" if ms == 3 else "quiet mid")
    d.save("race.svg")


def draw():
    played = list(recordings.play())
    recordings.record(played)
    draw_maximum()
    draw_stack(played[GUESS])
    actions = [step["action"] for step in played[1:]]
    # The ball is out of reach. The paddle moves and then stands still, so
    # that the newest picture differs from those before, and is one frame.
    actions[LOST_AT - 4 : LOST_AT] = [LEFT, LEFT, LEFT, NOOP]
    draw_modes(actions)
    draw_serves()
    draw_lives()
    draw_seen()
    draw_lanes()
    draw_move(read("agent"), read("missed"))
    draw_backwards()
    draw_still(read("still"))
    draw_pipe()
    draw_race(read("race"))


def take_stills():
    """Take a picture of each figure that moves, from the woven pages."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM)
        page = browser.new_page(
            viewport={"width": 520, "height": 900},
            device_scale_factor=2,
            reduced_motion="reduce",
        )
        for name in "index", "game":
            page.goto((FIGURES.parent / f"{name}.html").as_uri())
            for figure in page.locator("figure:has(.stage .screen)").all():
                figure.scroll_into_view_if_needed()
                page.wait_for_timeout(500)
                path = FIGURES / f"{figure.get_attribute('id')}.png"
                figure.locator(".screen").screenshot(path=path)
        browser.close()


if __name__ == "__main__":
    cv2.setNumThreads(0)
    take_stills() if "stills" in sys.argv else draw()
