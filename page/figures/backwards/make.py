"""How a reward reaches the values of the steps before it."""

import cv2
import numpy as np

from drawing import Drawing
from recordings import MOMENT, colours, frames_before, read_film

AREA = slice(28, 196), slice(0, 120)  # of the screen
SCALE = 1.9
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
    """Each point is a step; the last one is followed by the brick."""
    screen = colours().rgb[frames_before(MOMENT + 1)[3]][AREA]
    rows, columns = AREA
    high = SCALE * (rows.stop - rows.start)
    wide = SCALE * (columns.stop - columns.start)
    d = Drawing(round(high) + 8)
    d.image(4, 4, wide, high, (0.55 * screen).astype(np.uint8))
    points = way()
    for x, y in points:
        d.put(
            "circle",
            "point",
            cx=round(4 + SCALE * (x - columns.start + 0.5), 1),
            cy=round(4 + SCALE * (y - rows.start + 0.5), 1),
            r=5,
        )
    left = 16 + wide
    d.put("circle", "point", cx=left + 5, cy=30, r=5)
    d.text(left + 18, 36, "a step whose value has")
    d.text(left + 18, 56, "heard of the brick")
    d.put("circle", "box", cx=left + 5, cy=82, r=5)
    d.text(left + 18, 88, "one whose value hasn't")
    d.text(
        left, high - 26, f"the {len(points)} steps after the move,", "quiet"
    )
    d.text(left, high - 6, "the last with the brick", "quiet")
    return d.svg()
