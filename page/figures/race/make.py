"""A step of eight games: a process for each, and one for each core."""

from typing import NamedTuple

from msgspec import Struct

from drawing import Drawing
from values import read

LEFT = 84
SCALE = 130  # of a millisecond
HIGH = 18  # of a lane
MACHINE = "intel-xeon-2-cores"


class Span(NamedTuple):
    """From when to when, in milliseconds since a step began."""

    start: float
    end: float


class Lanes(Struct):
    """When the program and each game were at work in a step."""

    program: list[Span]
    games: list[Span]


class Race(Struct):
    workers: Lanes  # one for each game
    games: Lanes


def draw_race() -> str:
    race = read(MACHINE, "race", Race)["step"]
    d = Drawing(298, screen=False)
    for top, title, side, count in (
        (4, "8 workers, a game each", race.workers, 8),
        (196, "2 workers, 4 games each", race.games, 2),
    ):
        each = len(side.games) // count
        lanes = {"program": side.program}
        for k in range(count):
            lanes[f"worker {k}"] = side.games[k * each : (k + 1) * each]
        d.text(4, top + 14, title, "strong")
        d.text(474, top + 14, f"{side.program[-1].end:.2f} ms", "strong end")
        for row, (label, spans) in enumerate(lanes.items()):
            y = top + 22 + HIGH * row
            d.text(4, y + 13, label, "quiet")
            d.line((LEFT, y + 15), (LEFT + 390, y + 15))
            for start, end in spans:
                width = max(1, (end - start) * SCALE - 1)
                kind = "ours" if row else "ink"
                d.box(LEFT + start * SCALE, y + 1, width, 13, kind)
    for ms in range(4):
        x, y = LEFT + ms * SCALE, 272
        d.line((x, y), (x, y + 6))
        d.text(x, y + 22, f"{ms} ms", "quiet end" if ms == 3 else "quiet mid")
    return d.svg()
