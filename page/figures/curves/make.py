"""The scores in the course of the trainings."""

from draw.drawing import Drawing
from fill.values import read_curves

LEFT, RIGHT, TOP, BOTTOM = 52, 468, 36, 300
MOST = 500  # points


def draw_breakout() -> str:
    """A line for each seed."""
    found = read_curves("Breakout")
    millions = max(curve[-1].steps for curve in found.values()) / 1e6

    def x(steps: float) -> float:
        return LEFT + (RIGHT - LEFT) * steps / 1e6 / millions

    def y(score: float) -> float:
        return BOTTOM - (BOTTOM - TOP) * score / MOST

    d = Drawing(330, screen=False)
    d.text(4, 18, "Breakout: points, by million steps", "strong")
    for level in range(0, MOST + 1, 100):
        d.line((LEFT, y(level)), (RIGHT, y(level)), kind="grid")
        d.text(LEFT - 8, y(level) + 5, str(level), "quiet end")
    for million in range(round(millions) + 1):
        d.text(x(million * 1e6), BOTTOM + 22, str(million), "quiet mid")
    for number, (seed, curve) in enumerate(found.items(), 1):
        points = [
            (round(x(row.steps), 1), round(y(row.score), 1)) for row in curve
        ]
        d.line(*points, kind=f"curve seed{number}")
        d.text(
            RIGHT - 12,
            BOTTOM - 10 - 22 * (len(found) - number),
            f"seed {seed}",
            f"end name seed{number}",
        )
    return d.svg()
