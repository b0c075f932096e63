"""Two frames of Asteroids, and the brighter of both."""

import numpy as np

from drawing import Drawing
from recordings import frames_of

THRUST = 2
STEPS = 35  # whose last is drawn
PART = slice(105, 200), slice(76, 156)  # where the ship is


def draw() -> str:
    frames = frames_of("Asteroids", [THRUST] * 4 * STEPS)
    third, fourth = (frame[PART] for frame in frames[-2:])
    d = Drawing(216, large=True)
    for i, (name, frame, kind) in enumerate(
        [
            ("third frame", third, "third"),
            ("fourth frame", fourth, "fourth"),
            ("the brighter", np.maximum(third, fourth), "picture"),
        ]
    ):
        d.image(6 + 158 * i, 6, 152, 180, frame, kind)
        d.text(6 + 158 * i, 208, name, kind)
    return d.svg()
