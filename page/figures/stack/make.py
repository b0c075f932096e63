"""The ball in the four pictures of the moment that the story follows."""

from draw.drawing import Drawing, bright, faded
from draw.recordings import MOMENT, observation

NEAR_BALL = slice(52, 80), slice(28, 70)  # of the small pictures


def draw_stack() -> str:
    d = Drawing(92, large=True)
    pictures = observation(MOMENT)
    near = [*pictures, faded(pictures)]
    for i, picture in enumerate(near):
        kind = ["line", "line", "line", "picture", ""][i]
        words = ["the last four pictures", "", "", "newest", "as one"][i]
        d.text(4 + 95 * i, 16, words, "picture" if i == 3 else "")
        d.image(
            4 + 95 * i, 24, 92, 92 * 2 / 3, bright(picture[NEAR_BALL]), kind
        )
    return d.svg()
