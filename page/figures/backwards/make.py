"""How a reward reaches the values of the steps before it."""

import numpy as np

from drawing import Drawing

STEPS = 5
UPDATES = 3  # that are drawn


def draw() -> str:
    d = Drawing(158, screen=False, large=True)
    rewards = np.zeros(STEPS)
    rewards[-1] = 1
    values = np.zeros(STEPS)
    for i in range(STEPS):
        name = "a brick" if rewards[i] else f"step {i + 1}"
        d.text(120 + 72 * i, 16, name, "quiet")
    for update in range(UPDATES + 1):
        y, before = 24 + 34 * update, values
        if update:
            values = rewards + 0.99 * np.append(values[1:], 0)
        d.text(4, y + 19, f"update {update}", "strong")
        for i, value in enumerate(values):
            new = value != before[i]
            d.box(120 + 72 * i, y, 66, 28, "ink" if new else "box")
            d.text(130 + 72 * i, y + 19, f"{value:.2g}", "on" if new else "")
    return d.svg()
