"""What the step to learn from has brought, and what NOOP would have."""

from dataclasses import asdict
from typing import Any

import cv2
import numpy as np

from draw.drawing import Drawing
from record.recordings import MOMENT, NOOP, read_film

NEAR = slice(170, 198), slice(71, 111)  # what is near the paddle
SCALE = 150 / 40
FEW = 4  # steps after it


def record() -> dict[str, Any]:
    """The agent's game with NOOP in that step, so that the ball is missed."""
    from record.published import agent, film, play

    at = read_film("agent/agent").start + MOMENT
    moments, _ = play(agent(), {at: NOOP})
    return {"missed": asdict(film(moments, at + 1, FEW))}


def objects(screen: np.ndarray) -> np.ndarray:
    """Where things are on a black screen: left, top, width and height."""
    shown = np.array(screen.any(-1), np.uint8)
    return cv2.connectedComponentsWithStats(shown)[2][1:, :4]


def draw_move() -> str:
    """The outlines are those of the paddle a step before, and an arrow is the
    way of the ball since then. Where the ball is missed the game doesn't draw
    it: it has flown on as in the step before.
    """
    film, missed = read_film("agent/agent"), read_film("move/missed")
    at = missed.start - 1 - film.start
    hit, lost = film.colours(), missed.colours()
    balls, paddles = zip(
        *(objects(screen[NEAR]) for screen in hit[at - 1 : at + 2]),
        strict=True,
    )
    old, now, new = (ball[:2] + ball[2:] / 2 for ball in balls)
    flown = now - old
    d = Drawing(139, large=True)
    for x, words, paddle, screen, way in (
        (6, "before the step", paddles[0], hit[at], [old, now]),
        (
            165,
            "LEFT: hit",
            paddles[1],
            hit[at + 1],
            [now, now + flown / 2, new],
        ),
        (324, "NOOP: missed", paddles[1], lost[0], [now, now + flown]),
    ):
        if x == 324:
            d.begin_answer()
        d.text(x, 18, words, "strong")
        d.image(x, 26, 150, 105, screen[NEAR])
        left, top, width, height = SCALE * paddle
        d.box(x + left, 26 + top, width, height, "line past")
        d.arrow(*((x, 26) + SCALE * point for point in way))
    d.end_answer()
    return d.svg()
