"""How a reward reaches the values of the steps before it."""

import cv2
import numpy as np

from draw.drawing import WIDTH, Drawing
from record.recordings import MOMENT, colours, frames_before, read_film

AREA = slice(28, 196), slice(0, 160)  # of the screen
SCALE = 2.2
SMALL = 12  # pixels: the ball has at most eight


def way() -> list[tuple[float, float]]:
    """Where the ball is after each step, after the move, up to the brick."""
    rewards = [one["reward"] for one in read_film("agent/agent").decisions]
    steps = [MOMENT + 1]
    while not rewards[steps[-1]]:
        steps.append(steps[-1] + 1)
    screens = np.array([frames_before(step)[3] for step in steps])
    still = np.median(screens, axis=0)
    found = []
    for screen in screens:
        moved = np.array(screen != still, np.uint8)
        moved[:32] = moved[189:] = 0  # the score, the paddle
        count, _, sizes, centres = cv2.connectedComponentsWithStats(moved)
        (ball,) = (i for i in range(1, count) if sizes[i][4] <= SMALL)
        found.append(tuple(centres[ball].tolist()))
    return found


def draw_backwards() -> str:
    """Each point is a step, beside which its value is written; the last one is
    followed by the brick.
    """
    screen = colours().rgb[frames_before(MOMENT + 1)[3]][AREA]
    rows, columns = AREA
    high = SCALE * (rows.stop - rows.start)
    wide = SCALE * (columns.stop - columns.start)
    d = Drawing(round(high) + 8, large=True)
    left = (WIDTH - wide) / 2
    d.image(left, 4, wide, high, (0.6 * screen).astype(np.uint8))
    for x, y in way():
        x = round(left + SCALE * (x - columns.start + 0.5), 1)
        y = round(4 + SCALE * (y - rows.start + 0.5), 1)
        d.put("circle", "point", cx=x, cy=y, r=5)
        d.text(x + 12, y + 4, "", "worth")
    return d.svg()
