"""The first games to end, and those that count, the first of each."""

from typing import NamedTuple

import numpy as np

from drawing import Drawing


class Played(NamedTuple):
    """A game in its row, from its start to its end."""

    row: int
    start: int
    end: int
    points: int


# The games of three environments, as an example.
GAMES = [
    Played(row=0, start=0, end=9, points=9),
    Played(row=1, start=0, end=3, points=2),
    Played(row=1, start=3, end=6, points=2),
    Played(row=1, start=6, end=9, points=2),
    Played(row=2, start=0, end=4, points=3),
    Played(row=2, start=4, end=9, points=4),
]


def draw_lanes() -> str:
    d = Drawing(168, screen=False, large=True)
    first = sorted(GAMES, key=lambda game: game.end)[:3]
    each = [game for game in GAMES if game.start == 0]
    for game in GAMES:
        x, y = 4 + 52 * game.start, 4 + 32 * game.row
        d.box(x, y, 52 * (game.end - game.start) - 4, 26)
        d.text(x + 10, y + 18, f"{game.points} points")
        if game in first:
            place = ("1st", "2nd", "3rd")[first.index(game)]
            d.text(52 * game.end - 10, y + 18, place, "strong end")
    for y, words, counted in (
        (128, "first to end", first),
        (152, "first of each row", each),
    ):
        scores = [game.points for game in counted]
        sums = " + ".join(map(str, scores))
        d.text(4, y, words, "strong")
        d.text(468, y, f"({sums}) / 3 = {np.mean(scores):.1f} points", "end")
    return d.svg()
