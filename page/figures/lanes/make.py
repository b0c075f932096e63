"""The first games to end, and those that count, the first of each."""

from typing import NamedTuple

import numpy as np

from drawing import Drawing


class Played(NamedTuple):
    length: int
    points: int


# The games of three environments, as an example.
LANES = [
    [Played(9, 9)],
    [Played(3, 2), Played(3, 2), Played(3, 2)],
    [Played(4, 3), Played(5, 4)],
]


class Box(NamedTuple):
    """A game in its row, from its start to its end."""

    row: int
    start: int
    end: int
    points: int


def boxes() -> list[Box]:
    found = []
    for row, lane in enumerate(LANES):
        start = 0
        for game in lane:
            end = start + game.length
            found.append(Box(row, start, end, game.points))
            start = end
    return found


def draw() -> str:
    d = Drawing(168, screen=False, large=True)
    games = boxes()
    first = sorted(games, key=lambda game: game.end)[: len(LANES)]
    for game in games:
        x, y = 4 + 52 * game.start, 4 + 32 * game.row
        d.box(x, y, 52 * (game.end - game.start) - 4, 26)
        d.text(x + 10, y + 18, f"{game.points} points")
        if game in first:
            place = ("1st", "2nd", "3rd")[first.index(game)]
            d.text(52 * game.end - 10, y + 18, place, "strong end")
    for y, words, scores in (
        (128, "first to end", [game.points for game in first]),
        (152, "first of each row", [lane[0].points for lane in LANES]),
    ):
        sums = " + ".join(map(str, scores))
        d.text(4, y, words, "strong")
        d.text(468, y, f"({sums}) / 3 = {np.mean(scores):.1f} points", "end")
    return d.svg()
