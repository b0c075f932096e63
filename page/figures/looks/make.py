"""How the agent's answers change when a patch of its pictures is black.

This is occlusion (Zeiler and Fergus 2014; for Atari Greydanus et al. 2018,
who blur the patch).
"""

from typing import Any

import numpy as np

from record.recordings import (
    MOMENT,
    Ball,
    find_ball,
    observation,
    read_film,
    unpack,
)

PATCH = 8  # pixels, black in all four pictures
STEP = 4  # pixels from a place of the patch to the next
GRID = 84 // STEP  # places in a row
ASKED = MOMENT + 2  # the step of the film that is asked for
WALL, PADDLE = range(57, 93), range(187, 195)  # rows of the screen
COURT = range(8, 152)  # columns
COUNT = 30  # steps that are looked at for each way of the ball


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
    from record.published import ask

    usual, with_patch = ask(obs[None]), ask(covered(obs))
    value = with_patch.values - usual.values
    chances = with_patch.chances - usual.chances
    return np.column_stack([value, chances]).astype(float).round(2)


def touches(columns: range, rows: range) -> np.ndarray:
    """Which places of the patch cover pixels of a part of the screen."""
    middles = STEP * np.arange(GRID) + STEP // 2
    shares = (rows, 210), (columns, 160)
    down, across = (
        (middles + PATCH // 2 > 84 * part.start / of)
        & (middles - PATCH // 2 < 84 * part.stop / of)
        for part, of in shares
    )
    return (down[:, None] & across).reshape(-1)


def matters_more(step: int, balls: list[Ball]) -> bool:
    """Whether a patch on the ball changes the value more than any on the
    wall. One that covers the wall or the paddle, too, isn't on the ball.
    """
    size = np.abs(changes(observation(step))[:, 0])
    on_ball = [
        touches(
            range(int(ball.x) - 1, int(ball.x) + 2),
            range(int(ball.y) - 2, int(ball.y) + 3),
        )
        for ball in balls
    ]
    on_wall, on_paddle = touches(COURT, WALL), touches(COURT, PADDLE)
    alone = np.any(on_ball, axis=0) & ~on_wall & ~on_paddle
    return bool(size[alone].max() > size[on_wall].max())


def flights() -> dict[str, list[tuple[int, list[Ball]]]]:
    """Steps of the film in which the ball rises, or falls, in all four
    pictures, and where it is in each.
    """
    screens = unpack(read_film("agent/agent").screens)
    balls = [find_ball(screen) for screen in screens]
    found: dict[str, list[tuple[int, list[Ball]]]] = {"up": [], "down": []}
    for step in range(3, len(screens)):
        seen = [ball for ball in balls[step - 3 : step + 1] if ball]
        heights = [ball.y for ball in seen]
        moves = np.diff(heights)
        if len(seen) == 4 and (moves < 0).all():
            found["up"].append((step, seen))
        elif len(seen) == 4 and (moves > 0).all():
            found["down"].append((step, seen))
    return found


def record() -> dict[str, Any]:
    counts = {}
    for way, steps in flights().items():
        every = max(1, len(steps) // COUNT)
        looked_at = steps[::every][:COUNT]
        more = sum(matters_more(*step) for step in looked_at)
        counts[way] = [more, len(looked_at)]
    found = changes(observation(ASKED)).tolist()
    return {"looks": {"asked": ASKED, "changes": found, "ball": counts}}
