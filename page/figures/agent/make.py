"""The part of the published agent's game in which it scores most."""

from dataclasses import asdict
from typing import Any

MOST = 600  # steps that are recorded


def record() -> dict[str, Any]:
    from published import film, play

    moments, info = play()
    points = [moment.decision["reward"] for moment in moments]
    start = max(
        range(len(points) - MOST + 1),
        key=lambda at: sum(points[at : at + MOST]),
    )
    return {"agent": asdict(film(moments, info, start, MOST))}
