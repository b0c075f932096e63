"""
Make what plays on the page's first screen, from the recording: the film, and
the picture that stands still in its place.

    python page/first.py    # first.webp and first.png in docs/figures
"""

import json
from pathlib import Path

import cv2
import numpy as np

from recordings import FIRE, LEFT, RIGHT, find_ball, small, unpack

HERE = Path(__file__).resolve().parent
FIGURES = HERE.parent / "docs/figures"
STEPS = range(40, 120)  # of the recording
STILL = 88  # frames into the film, with the ball on its way up
FRAME = 33  # milliseconds: half the console's speed
TOP, HEIGHT, WIDTH = 55, 140, 105  # of the part of the screen that is shown
TOP_84, HEIGHT_84, WIDTH_84 = 22, 56, 55  # the same, in 84 by 84
GAP = 3  # between two pictures
ZOOM = 3  # of the still picture


def pad(ways):
    """The joystick and its button, as they are held."""
    image = np.full((15, 45), 70, np.uint8)
    for x, name, corners in [
        (7, LEFT, [(-5, 7), (3, 1), (3, 13)]),
        (22, FIRE, [(-4, 3), (4, 3), (4, 11), (-4, 11)]),
        (37, RIGHT, [(5, 7), (-3, 1), (-3, 13)]),
    ]:
        points = np.array(corners) + [x, 0]
        cv2.fillPoly(image, [points], 255 if name == ways else 130)
    return image[..., None]


def shown():
    """Yield each frame: in colour on the left, and what the agent sees."""
    recording = json.loads((HERE / "data/recording.json").read_text())
    rgb = np.array(recording["rgb"], np.uint8)
    gray = np.array(recording["gray"], np.uint8)
    screens, stack, left = unpack(recording["frames"]), [], 28
    next(screens)
    for action, count, *_ in recording["steps"][: STEPS.stop]:
        played = [next(screens) for _ in range(count)]
        stack.append(small(gray[np.array(played[2:])].max(axis=0)))
        for screen in played if len(stack) > STEPS.start else []:
            # The view moves when the ball comes near its edge.
            if ball := find_ball(screen):
                x, near = ball[0], WIDTH // 5
                left = np.clip(left, x + near - WIDTH, x - near)
                left = int(np.clip(left, 0, 160 - WIDTH))
            yield frame(rgb[screen], stack[-4:], left, action)


def frame(screen, stack, left, action):
    """Both sides of a frame, close to the ball, on a clear ground."""
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
    put(pad(action), image.shape[1] - 45, HEIGHT - 19)
    return image


def main():
    film = cv2.Animation()
    film.frames = list(shown())
    film.durations = [FRAME] * len(film.frames)
    lossless = [cv2.IMWRITE_WEBP_QUALITY, 101]
    cv2.imwriteanimation(str(FIGURES / "first.webp"), film, lossless)
    still = film.frames[STILL].repeat(ZOOM, axis=0).repeat(ZOOM, axis=1)
    smallest = [cv2.IMWRITE_PNG_COMPRESSION, 9]
    cv2.imwrite(str(FIGURES / "first.png"), still, smallest)


if __name__ == "__main__":
    main()
