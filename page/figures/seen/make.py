"""What the first program saves."""

import numpy as np

import programs
from drawing import Drawing


def draw() -> str:
    d = Drawing(139, large=True)
    seen = programs.first().seen[::4, ::4]
    for i, picture in enumerate(np.hsplit(seen, 4)):
        d.image(121 * i, 0, 117, 117, picture)
        d.text(121 * i + 2, 134, f"obs_4[{i}]", "quiet")
    return d.svg()
