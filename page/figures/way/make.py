"""One moment on its way from the screen to a button, stage by stage.

`way` has all stages. A figure `ball_NAME` is the stage of that name alone.
"""

from collections.abc import Callable

import numpy as np

from drawing import Drawing, bright, faded
from figures.looks.make import stack
from figures.network.make import mosaic
from recordings import (
    MOMENT,
    colours,
    frames_before,
    read,
    read_film,
    unpack,
)

ACTIONS = ["NOOP", "FIRE", "RIGHT", "LEFT"]
# What is near the ball, on the screen and in the small pictures
NEAR_BALL = slice(130, 200), slice(53, 133)
SMALL_NEAR_BALL = slice(52, 80), slice(28, 70)
WIDE, HIGH = 112, 98  # as both are drawn
STAGE = 130  # the height of a stage


def frames(d: Drawing, y: int) -> None:
    rgb = np.array(colours().rgb, np.uint8)
    for i, frame in enumerate(frames_before(MOMENT)):
        kind = ["", "", "third", "fourth"][i]
        d.image(4 + 120 * i, y + 24, WIDE, HIGH, rgb[frame][NEAR_BALL], kind)
        d.text(4 + 120 * i, y + 16, f"frame {i + 1}", kind)


def small(d: Drawing, y: int) -> None:
    gray = np.array(colours().gray, np.uint8)
    third, fourth = gray[frames_before(MOMENT)[2:]]
    merged = np.maximum(third, fourth)[NEAR_BALL]
    picture = stack(MOMENT)[-1]
    d.text(4, y + 16, "the brighter of two")
    d.image(4, y + 24, WIDE, HIGH, bright(merged))
    d.arrow((124, y + 73), (154, y + 73))
    d.text(164, y + 16, "small and gray", "picture")
    near = bright(picture[SMALL_NEAR_BALL])
    d.image(164, y + 24, WIDE, HIGH, near, "picture")
    d.text(364, y + 16, "all of it", "picture")
    d.image(364, y + 24, HIGH, HIGH, bright(picture))
    rows, columns = SMALL_NEAR_BALL
    scale = HIGH / 84
    d.box(
        364 + scale * columns.start,
        y + 24 + scale * rows.start,
        scale * (columns.stop - columns.start),
        scale * (rows.stop - rows.start),
        "picture",
    )
    d.line((276, y + 73), (364 + scale * columns.start, y + 95), kind="grid")


def pictures(d: Drawing, y: int) -> None:
    d.text(4, y + 16, "the last four pictures")
    d.text(364, y + 16, "as one", "quiet")
    for i, picture in enumerate(stack(MOMENT)):
        kind = "picture" if i == 3 else "line"
        near = bright(picture[SMALL_NEAR_BALL])
        d.image(4 + 86 * i, y + 24, 82, 72, near, kind)
    near = bright(faded(stack(MOMENT))[SMALL_NEAR_BALL])
    d.image(364, y + 24, WIDE, HIGH, near)


def odds(d: Drawing, y: int) -> None:
    decision = read_film("agent/agent").decisions[MOMENT]
    d.text(4, y + 16, "what it sees")
    d.image(4, y + 24, HIGH, HIGH, bright(faded(stack(MOMENT))))
    d.text(124, y + 16, "its odds")
    for i, (name, chance) in enumerate(
        zip(ACTIONS, decision["chances"], strict=True)
    ):
        kind = "strong" if i == decision["action"] else ""
        d.text(124, y + 42 + 25 * i, name, kind)
        d.box(180, y + 29 + 25 * i, 100 * chance + 1, 14, "ink")
        d.text(288, y + 42 + 25 * i, f"{100 * chance:.0f} %", kind)
    d.text(364, y + 16, "the value")
    d.text(364, y + 42, f"{decision['value']:.2f}", "strong")


STAGES: dict[str, Callable[[Drawing, int], None]] = {
    "frames": frames,
    "small": small,
    "stack": pictures,
    "odds": odds,
}


def stage(name: str) -> str:
    d = Drawing(STAGE)
    STAGES[name](d, 0)
    return d.svg()


def draw() -> str:
    """All stages from left to right."""
    rgb = np.array(colours().rgb, np.uint8)
    gray = np.array(colours().gray, np.uint8)
    film = read_film("agent/agent")
    before, later = film.decisions[MOMENT : MOMENT + 2]
    four = frames_before(MOMENT)
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
    for i, frame in enumerate(four):
        kind = ["", "", "third", "fourth"][i]
        x, y = 8 + 118 * (i % 2), 56 + 120 * (i // 2)
        d.text(x, y - 5, f"frame {i + 1}", kind)
        d.image(x, y, WIDE, HIGH, rgb[frame][NEAR_BALL], kind)
    merged = np.maximum(*gray[four[2:]])[NEAR_BALL]
    d.image(268, 56, WIDE, HIGH, bright(merged))
    d.text(268, 171, "small, gray", "picture")
    near = bright(stack(MOMENT)[-1][SMALL_NEAR_BALL])
    d.image(268, 176, WIDE, HIGH, near, "picture")
    for i, picture in enumerate(stack(MOMENT)):
        kind = "picture" if i == 3 else "line"
        d.image(420 + 10 * i, 95 + 20 * i, 98, 98, bright(picture), kind)
    for x, scale, columns, layer in zip(
        (576, 728, 850, 966),
        (1.5, 1.2, 1.2, 2.5),
        (4, 8, 8, 1),
        read("network/network"),
        strict=True,
    ):
        shades = mosaic(unpack(layer["pictures"], *layer["size"]), columns)
        shades = (255 * np.sqrt(shades / 255)).astype(np.uint8)
        high, wide = (scale * side for side in shades.shape)
        d.image(x, 165 - high / 2, wide, high, shades)
        d.arrow((x - 22, 165), (x - 4, 165))
    for i, (name, chance) in enumerate(
        zip(ACTIONS, before["chances"], strict=True)
    ):
        kind = "strong" if i == before["action"] else ""
        d.text(1062, 110 + 25 * i, name, kind)
        d.box(1118, 97 + 25 * i, 60 * chance + 1, 14, "ink")
    d.text(1062, 225, f"value {before['value']:.2f}")
    d.image(1240, 116, WIDE, HIGH, film.colours()[MOMENT + 1][NEAR_BALL])
    d.text(1240, 236, f"value {later['value']:.2f}")
    for x in 242, 390, 1214:
        d.arrow((x, 165), (x + 22, 165))
    return d.svg()
