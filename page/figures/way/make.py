"""One moment on its way from the screen to a button, by stages.

`way` has all of them.
"""

import numpy as np

from drawing import Drawing, bright, faded
from figures.looks.make import stack
from figures.network.make import bars, recorded, tiles
from recordings import MOMENT, colours, frames_before, read_film

# What is near the ball, on the screen and in the small pictures
NEAR_BALL = slice(130, 200), slice(53, 133)
SMALL_NEAR_BALL = slice(52, 80), slice(28, 70)
WIDE, HIGH = 112, 98  # as both are drawn
STAGE = 130  # the height of a stage


def frame(d: Drawing, x: int, y: int, number: int) -> None:
    """The part of a frame of the moment, with its name above it."""
    kind = ["", "", "third", "fourth"][number]
    d.text(x, y - 8, f"frame {number + 1}", kind)
    part = colours().rgb[frames_before(MOMENT)[number]][NEAR_BALL]
    d.image(x, y, WIDE, HIGH, part, kind)


def merged() -> np.ndarray:
    """The brighter of the two frames."""
    third, fourth = colours().gray[frames_before(MOMENT)[2:]]
    return bright(np.maximum(third, fourth)[NEAR_BALL])


def draw_ball_frames() -> str:
    d = Drawing(STAGE)
    for i in range(4):
        frame(d, 4 + 120 * i, 24, i)
    return d.svg()


def draw_ball_small() -> str:
    d = Drawing(STAGE)
    picture = bright(stack(MOMENT)[-1])
    d.text(4, 16, "the brighter of two")
    d.image(4, 24, WIDE, HIGH, merged())
    d.arrow((124, 73), (154, 73))
    d.text(164, 16, "small and gray", "picture")
    d.image(164, 24, WIDE, HIGH, picture[SMALL_NEAR_BALL], "picture")
    d.text(364, 16, "all of it", "picture")
    d.image(364, 24, HIGH, HIGH, picture)
    rows, columns = SMALL_NEAR_BALL
    scale = HIGH / 84
    left = 364 + scale * columns.start
    wide = scale * (columns.stop - columns.start)
    high = scale * (rows.stop - rows.start)
    d.box(left, 24 + scale * rows.start, wide, high, "picture")
    d.line((276, 73), (left, 95), kind="grid")
    return d.svg()


def draw_ball_stack() -> str:
    d = Drawing(STAGE)
    d.text(4, 16, "the last four pictures")
    d.text(364, 16, "as one", "quiet")
    for i, picture in enumerate(stack(MOMENT)):
        kind = "picture" if i == 3 else "line"
        d.image(4 + 86 * i, 24, 82, 72, bright(picture[SMALL_NEAR_BALL]), kind)
    near = bright(faded(stack(MOMENT))[SMALL_NEAR_BALL])
    d.image(364, 24, WIDE, HIGH, near)
    return d.svg()


def draw_ball_odds() -> str:
    d = Drawing(STAGE)
    d.text(4, 16, "what it sees")
    d.image(4, 24, HIGH, HIGH, bright(faded(stack(MOMENT))))
    d.text(124, 16, "its odds")
    bars(d, 124, 42, scale=100)
    decision = read_film("agent/agent").decisions[MOMENT]
    for i, chance in enumerate(decision["chances"]):
        kind = "strong" if i == decision["action"] else ""
        d.text(288, 42 + 25 * i, f"{100 * chance:.0f} %", kind)
    d.text(364, 16, "the value")
    d.text(364, 42, f"{decision['value']:.2f}", "strong")
    return d.svg()


def draw_way() -> str:
    """All stages from left to right."""
    film = read_film("agent/agent")
    before, later = film.decisions[MOMENT : MOMENT + 2]
    d = Drawing(310, width=1360)
    for x, words in (
        (8, "four frames"),
        (268, "the brighter"),
        (420, "four pictures"),
        (576, "the network's layers"),
        (1062, "its odds"),
        (1240, "LEFT"),
    ):
        d.text(x, 24, words, "strong")
    for i in range(4):
        frame(d, 8 + 118 * (i % 2), 56 + 120 * (i // 2), i)
    d.image(268, 56, WIDE, HIGH, merged())
    d.text(268, 171, "small, gray", "picture")
    near = bright(stack(MOMENT)[-1][SMALL_NEAR_BALL])
    d.image(268, 176, WIDE, HIGH, near, "picture")
    for i, picture in enumerate(stack(MOMENT)):
        kind = "picture" if i == 3 else "line"
        d.image(420 + 10 * i, 95 + 20 * i, 98, 98, bright(picture), kind)
    for x, scale, columns, pictures in zip(
        (576, 728, 850, 966),
        (1.5, 1.2, 1.2, 2.5),
        (4, 8, 8, 1),
        recorded(),
        strict=True,
    ):
        tiles(d, pictures, x=x, middle=165, columns=columns, scale=scale)
        d.arrow((x - 22, 165), (x - 4, 165))
    bars(d, 1062, 110, scale=60)
    d.text(1062, 225, f"value {before['value']:.2f}")
    d.image(1240, 116, WIDE, HIGH, film.colours()[MOMENT + 1][NEAR_BALL])
    d.text(1240, 236, f"value {later['value']:.2f}")
    for x in 242, 390, 1214:
        d.arrow((x, 165), (x + 22, 165))
    return d.svg()
