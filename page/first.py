"""
Make what plays on the page's first screen, from the recording: the film, and
the picture that stands still in its place.

    python page/first.py    # first.webp and first.png in docs/figures
"""

import cv2
import numpy as np

from drawing import PICTURES
from figures import in_colour
from recordings import FIRE, LEFT, RIGHT, find_ball, play

STEPS = slice(41, 121)  # of the recording
STILL = 88  # frames into the film, with the ball on its way up
FRAME = 33  # milliseconds: half the console's speed
TOP, HEIGHT, WIDTH = 55, 140, 105  # of the part of the screen that is shown
TOP_84, HEIGHT_84, WIDTH_84 = 22, 56, 55  # the same, in 84 by 84
NEAR = 21  # pixels from the edge of that part to the ball, at least
GAP = 3  # between two pictures
ZOOM = 3  # of the still picture


def pad(ways):
    """The joystick and its button, as they are held."""
    image = np.full((15, 45), 70, np.uint8)
    for name, corners in [
        (LEFT, [(2, 7), (10, 1), (10, 13)]),
        (FIRE, [(18, 3), (26, 3), (26, 11), (18, 11)]),
        (RIGHT, [(42, 7), (34, 1), (34, 13)]),
    ]:
        light = 255 if name == ways else 130
        cv2.fillPoly(image, [np.array(corners)], light)
    return image[..., None]


def shown():
    """Yield each frame: in colour on the left, and what the agent sees."""
    left = 28
    for step in list(play())[STEPS]:
        for screen, _ in step["frames"]:
            # The view moves when the ball comes near its edge.
            if ball := find_ball(screen):
                x, _ = ball
                left = np.clip(left, x + NEAR - WIDTH, x - NEAR)
                left = int(np.clip(left, 0, 160 - WIDTH))
            screen = in_colour(screen)
            yield frame(screen, step["stack"], left, step["action"])


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
    cv2.imwriteanimation(str(PICTURES / "first.webp"), film, lossless)
    still = film.frames[STILL].repeat(ZOOM, axis=0).repeat(ZOOM, axis=1)
    smallest = [cv2.IMWRITE_PNG_COMPRESSION, 9]
    cv2.imwrite(str(PICTURES / "first.png"), still, smallest)


if __name__ == "__main__":
    main()
