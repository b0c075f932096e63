"""How the ball flies after 1, 2, 3 and 4 no-op frames."""

import numpy as np

from draw.drawing import Drawing, bright, faded
from record.recordings import BREAKOUT, FIRE, NOOP, make

FRAMES = 40  # of the way of the ball


def serve(no_ops: int) -> list[np.ndarray]:
    """The gray frames in which a ball flies that FIRE has served."""
    env, ale = make(BREAKOUT)
    screens = []
    for action in [NOOP] * no_ops + [FIRE] * 4 + [NOOP] * FRAMES:
        env.step(action)
        screens.append(ale.getScreenGrayscale())
    return screens[-FRAMES:]


def draw_serves() -> str:
    d = Drawing(180, large=True)
    for i in range(4):
        x = 4 + 120 * i
        d.image(x, 6, 112, 147, bright(faded(serve(no_ops=i + 1))))
        if i == 0:
            d.begin_answer()
        d.text(x, 171, f"{i + 1}, {i + 5}, {i + 9} \N{HORIZONTAL ELLIPSIS}")
    d.end_answer()
    return d.svg()
