"""The scores of games, and of games in which nothing moves."""

import numpy as np

from drawing import Drawing
from results import read
from values import AGENTS


def draw() -> str:
    agent = read()[AGENTS].agents[0]
    tallest = max(agent.served)
    d = Drawing(160, large=True)
    for left, words, points in (
        (6, "its four pictures", agent.served),
        (246, "the newest, four times", agent.still),
    ):
        if words.startswith("the newest"):
            d.begin_answer()
        d.text(left, 18, words, "strong")
        for i, score in enumerate(points):
            height = 108 * score / tallest
            d.box(left + 7.6 * i, 136 - height, 5, height, "ours")
        d.text(left, 153, f"mean {np.mean(points):.0f} points", "quiet")
    d.end_answer()
    return d.svg()
