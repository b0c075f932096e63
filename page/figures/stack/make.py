"""The ball in the four pictures, and in four frames in a row."""

from drawing import Drawing, bright, faded
from recordings import GUESS, play, small

BALL = slice(53, 67), slice(39, 67)  # what is near it


def draw() -> str:
    step = play()[GUESS]
    frames = [small(frame.gray) for frame in step.frames]
    d = Drawing(150, large=True)
    for i, (pictures, words) in enumerate(
        [
            (step.stack, "a stack: 1/5 s"),
            (frames, "four frames in a row: 1/20 s"),
        ]
    ):
        d.image(4 + 240 * i, 24, 232, 116, bright(faded(pictures)[BALL]))
        d.text(4 + 240 * i, 16, words, "strong")
    return d.svg()
