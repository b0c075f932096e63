"""How the agent's answers change when a patch of its pictures is black.

This is occlusion (Zeiler and Fergus 2014; for Atari Greydanus et al. 2018,
who blur the patch).
"""

from typing import Any

import numpy as np

from draw.recordings import MOMENT, observation

PATCH = 8  # pixels, black in all four pictures
STEP = 4  # pixels from a place of the patch to the next
GRID = 84 // STEP  # places in a row
FIRST, COUNT = MOMENT + 1, 2  # the moments of the film
ASKED = MOMENT + 2  # the one that is asked for


def covered(obs: np.ndarray) -> np.ndarray:
    """The pictures with the patch in each place, `uint8 (441, 4, 84, 84)`."""
    copies = obs[None].repeat(GRID**2, axis=0)
    for place, copy in enumerate(copies):
        row, column = divmod(place, GRID)
        bottom, right = STEP * row + 6, STEP * column + 6
        top, left = max(0, bottom - PATCH), max(0, right - PATCH)
        copy[:, top:bottom, left:right] = 0
    return copies


def changes(obs: np.ndarray) -> np.ndarray:
    """What each place of the patch changes: of the value, and of the chances.

    Returns:
        `(441, 5)`, with two decimals.
    """
    from draw.published import ask

    usual, with_patch = ask(obs[None]), ask(covered(obs))
    value = with_patch.values - usual.values
    chances = with_patch.chances - usual.chances
    return np.column_stack([value, chances]).astype(float).round(2)


def record() -> dict[str, Any]:
    steps = range(FIRST, FIRST + COUNT)
    found = [changes(observation(step)).tolist() for step in steps]
    return {"looks": {"first": FIRST, "asked": ASKED, "changes": found}}
