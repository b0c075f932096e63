"""The best part of a game of the published agent."""

from dataclasses import asdict
from typing import Any

MOST = 600  # steps that are recorded


def record() -> dict[str, Any]:
    from record.published import agent, film, play

    moments, _ = play(agent())
    points = [moment.decision["reward"] for moment in moments]
    start = max(
        range(len(points) - MOST + 1),
        key=lambda at: sum(points[at : at + MOST]),
    )
    return {"agent": asdict(film(moments, start, MOST))}
