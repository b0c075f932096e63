"""Curves of scores in the course of a training."""

from draw.drawing import Drawing
from fill.values import TITLES, read_curves

LEFT, RIGHT, TOP, BOTTOM = 52, 468, 36, 300


def curves(
    title: str, *, top: int, step: int, bottom: int = 0, name: str = "seed"
) -> str:
    """A line for each agent of a title, with a level at each `step`."""
    found = read_curves(title if name == "seed" else f"{title}-{name}")
    millions = max(curve[-1].steps for curve in found.values()) / 1e6

    def x(steps: float) -> float:
        return LEFT + (RIGHT - LEFT) * steps / 1e6 / millions

    def y(score: float) -> float:
        return BOTTOM - (BOTTOM - TOP) * (score - bottom) / (top - bottom)

    d = Drawing(330, screen=False)
    name_of_title = TITLES.get(title, title)
    d.text(4, 18, f"{name_of_title}: points, by million steps", "strong")
    for level in range(bottom, top + 1, step):
        d.line((LEFT, y(level)), (RIGHT, y(level)), kind="grid")
        words = str(level).replace("-", "\N{MINUS SIGN}")
        d.text(LEFT - 8, y(level) + 5, words, "quiet end")
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
            f"{name} {seed}",
            f"end name seed{number}",
        )
    return d.svg()


def draw_breakout() -> str:
    return curves("Breakout", top=500, step=100)


def draw_pong() -> str:
    return curves("Pong", bottom=-20, top=20, step=10)


def draw_mspacman() -> str:
    return curves("MsPacman", top=1500, step=500)


def draw_seaquest() -> str:
    return curves("Seaquest", top=1000, step=250)


if read_curves("Breakout-dqn"):  # once it is trained

    def draw_dqn() -> str:
        return curves("Breakout-dqn", top=100, step=20)


def draw_motion() -> str:
    """Those that saw one picture, and four."""
    return curves("Breakout", name="stack", top=60, step=10)
