"""How a reward reaches the values of the steps before it."""

import numpy as np

from drawing import Drawing


def draw() -> str:
    d = Drawing(158, screen=False)
    for i, name in enumerate(["step 1", "step 2", "step 3: a brick"]):
        d.text(120 + 120 * i, 16, name, "quiet")
    values, rewards = np.zeros(3), np.array([0, 0, 1])
    for row, name in enumerate(
        ["at first", "after 1 update", "after 2", "after 3"]
    ):
        y, before = 24 + 34 * row, values
        if row:
            values = rewards + 0.99 * np.append(values[1:], 0)
        d.text(4, y + 19, name, "strong")
        for i, value in enumerate(values):
            new = value != before[i]
            d.box(120 + 120 * i, y, 112, 28, "ink" if new else "box")
            d.text(130 + 120 * i, y + 19, f"{value:.2g}", "on" if new else "")
    return d.svg()
