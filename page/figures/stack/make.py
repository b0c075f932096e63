"""The ball in the four pictures of the moment that the story follows."""

from drawing import Drawing, bright, faded
from recordings import MOMENT, observation

NEAR_BALL = slice(52, 80), slice(28, 70)  # of the small pictures


def draw_stack() -> str:
    d = Drawing(116, large=True)
    d.text(4, 16, "the last four pictures")
    d.text(364, 16, "as one", "quiet")
    pictures = observation(MOMENT)
    for i, picture in enumerate(pictures):
        kind = "picture" if i == 3 else "line"
        d.image(
            4 + 89 * i, 24, 84, 84 * 2 / 3, bright(picture[NEAR_BALL]), kind
        )
    d.image(364, 24, 112, 112 * 2 / 3, bright(faded(pictures)[NEAR_BALL]))
    return d.svg()
