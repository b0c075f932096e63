"""The scores of games, and of games in which nothing moves."""

import numpy as np

from draw.drawing import Drawing
from fill.values import Agent, read

BOTTOM, HEIGHT = 146, 108  # of the axis, and of 400 points


def draw_still() -> str:
    scores = read("agents", Agent)["Breakout-0"].scores
    d = Drawing(172, large=True)
    for level in 0, 200, 400:
        y = BOTTOM - HEIGHT * level / 400
        d.line((36, y), (474, y), kind="grid")
        d.text(32, y + 5, str(level), "quiet end")
    for left, words, points in (
        (40, "its four pictures", scores.served),
        (262, "four copies of the newest", scores.still),
    ):
        if words.startswith("four copies"):
            d.begin_answer()
        d.text(left, 18, words, "strong")
        for i, score in enumerate(points):
            height = HEIGHT * score / 400
            d.box(left + 7 * i, BOTTOM - height, 5, height, "ink")
        d.text(left, 165, f"mean {np.mean(points):.0f} points", "quiet")
    d.end_answer()
    return d.svg()
