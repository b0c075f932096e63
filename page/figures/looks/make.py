"""How the agent's answers change when a patch of its pictures is black.

This is occlusion (Zeiler and Fergus 2014; for Atari Greydanus et al. 2018,
who blur the patch).
"""

from typing import Any

import numpy as np

from drawing import Drawing, bright, faded
from recordings import MOMENT, pack, read, read_film, unpack

PATCH = 8  # pixels, black in all four pictures
STEP = 4  # pixels from a place of the patch to the next
GRID = 84 // STEP  # places in a row
FIRST, COUNT = 310, 60  # the moments of the film
ASKED = MOMENT + 2  # the moment that is asked for
HEAT = np.array([255, 96, 64])
SIXTEENTHS, PERCENT = 16, 100  # how finely values and chances are recorded


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
    """What each place of the patch changes, `int8 (4, 441)`.

    The value in sixteenths, and the chances of NOOP, FIRE and RIGHT in
    percent. LEFT has the rest.
    """
    from published import ask

    usual, with_patch = ask(obs[None]), ask(covered(obs))
    value = SIXTEENTHS * (with_patch.values - usual.values)
    chances = PERCENT * (with_patch.chances - usual.chances)[:, :3]
    return np.vstack([value, chances.T]).round().astype(np.int8)


def stack(at: int) -> np.ndarray:
    """The four pictures of a moment of the film, in which no life begins."""
    return unpack(read_film("agent/agent").frames, 84, 84)[at : at + 4]


def record() -> dict[str, Any]:
    found = [changes(stack(at)) for at in range(FIRST, FIRST + COUNT)]
    # one "picture", since no moment is like the one before
    packed = pack(np.array(found).view(np.uint8).reshape(1, -1))
    moment = {"first": FIRST, "count": COUNT, "asked": ASKED}
    return {"looks": moment | {"changes": packed}}


def recorded() -> np.ndarray:
    """All changes, `int8 (moments, 4, 441)`."""
    shape = COUNT, 4, GRID**2
    flat = unpack(read("looks/looks")["changes"], 1, COUNT * 4 * GRID**2)
    return flat.view(np.int8).reshape(shape)


def draw_looks() -> str:
    """The moment that is asked for, and both of its maps."""
    import cv2

    seen = bright(faded(stack(ASKED)))[..., None].repeat(3, axis=2)
    value, *chances = recorded()[ASKED - FIRST].astype(float)
    chances.append(-np.sum(chances, axis=0))
    d = Drawing(182)
    for i, (words, map_) in enumerate(
        [
            ("its pictures", np.zeros(GRID**2)),
            ("its value", np.abs(value)),
            ("its choice", np.square(chances).sum(axis=0)),
        ]
    ):
        if i == 1:
            d.begin_answer()
        share = (map_ / max(1, map_.max())).reshape(GRID, GRID)
        share = cv2.resize(share, (84, 84))[..., None]
        shade = (1 - share) * seen + share * HEAT
        d.image(6 + 158 * i, 6, 152, 152, shade.astype(np.uint8))
        d.text(6 + 158 * i, 176, words)
    d.end_answer()
    return d.svg()
