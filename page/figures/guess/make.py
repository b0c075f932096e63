"""A game by the rule, in which one guesses the way of the ball."""

from typing import Any

from record.recordings import FALLS, GUESS, RISES, Ball, pack, play


def left_of(ball: Ball) -> int:
    """Where the half around the ball begins, in twelfths of the width."""
    return round(12 * min(max(ball.x / 160 - 1 / 4, 0), 1 / 2))


def record() -> dict[str, Any]:
    return {
        "guess": {
            "first": GUESS,
            "up": RISES,
            "down": FALLS,
            "left": [left_of(step.ball) for step in play()],
            "pictures": pack([step.picture for step in play()]),
        }
    }
