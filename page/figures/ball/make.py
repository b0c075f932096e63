"""What the agent scores when its pictures are changed, each in its own way.

Sums of floats may be rounded otherwise on another machine, which then samples
other actions.
"""

from typing import Any

BALLS = 60  # of each change; each is taken away after a minute
PLAY = """([change, balls]) => Agent.play(1, { change, balls })"""


def record() -> dict[str, Any]:
    from record.stills import open_page

    with open_page(reduced_motion="reduce") as page:
        changes = page.evaluate("Agent.changes")
        played = {
            name or "nothing": page.evaluate(PLAY, [name, BALLS])
            for name in [None, *changes]
        }
    return {"ball": played}
