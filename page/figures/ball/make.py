"""What the agent scores when its pictures are changed, each in its own way.

Sums of floats may be rounded otherwise on another machine, which then samples
other actions.
"""

from typing import Any

BALLS = 60  # of each change; each is taken away after a minute
KEPT = ["nothing", "still", "faint", "wall"]  # which last, so fewer are played
BALLS_KEPT = 20
PLAY = """([change, balls]) => Agent.play(1, { change, balls })"""


def record() -> dict[str, Any]:
    from record.stills import open_page

    with open_page(reduced_motion="reduce") as page:
        played = {}
        for name in [None, *page.evaluate("Agent.changes")]:
            key = name or "nothing"
            balls = BALLS_KEPT if key in KEPT else BALLS
            played[key] = page.evaluate(PLAY, [name, balls])
    return {"ball": played}
