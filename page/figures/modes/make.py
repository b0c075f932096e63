"""The step that loses a life, in each mode."""

import numpy as np

from drawing import Drawing, bright
from recordings import LEFT, LOST_AT, NOOP, play

SEEN_AT = LOST_AT - 9  # when the ball is still drawn

MODES = {
    "continue": "the game goes on",
    "restart": "a new game begins",
    "ignore": "the episode goes on",
}


def draw() -> str:
    actions = [step.action for step in play()[1:]]
    # The ball is out of reach. The paddle moves and then stands still, so
    # that the newest picture differs from those before, and is one frame.
    actions[LOST_AT - 4 : LOST_AT] = [LEFT, LEFT, LEFT, NOOP]

    d = Drawing(392, large=True)
    d.image(156, 6, 120, 110, bright(play()[SEEN_AT].picture[7:]))
    d.text(290, 48, "Nine steps before:")
    d.text(290, 68, "the ball falls, and")
    d.text(290, 88, "5 lives are left.")
    d.text(156, 140, "oldest", "quiet")
    d.text(474, 140, "newest", "quiet end")
    for i, (mode, words) in enumerate(MODES.items()):
        step = play(mode, tuple(actions))[LOST_AT]
        y = 150 + 81 * i
        d.text(6, y + 14, f'"{mode}"', "strong")
        d.text(6, y + 32, words, "quiet")
        # Without the row of numbers, which isn't up to date.
        pictures = [picture[7:] for picture in step.stack]
        for k, picture in enumerate(pictures):
            kind = "picture" if np.array_equal(picture, pictures[3]) else ""
            d.image(156 + 81 * k, y, 76, 70, bright(picture), kind)
        d.text(6, y + 52, f"done = {step.done}, {step.lives} lives")
        info = step.info and f"reward {step.info['reward']}"
        d.text(6, y + 69, f"info: {info}")
    return d.svg()
