"""What the agent scores in the Breakout of the page.

Sums of floats may be rounded otherwise on another machine, which then samples
other actions.
"""

from typing import Any

GAMES = 20


def record() -> dict[str, Any]:
    from draw.stills import open_page

    with open_page() as page:
        play = "(seed) => Agent.play(seed)"
        scores = [page.evaluate(play, seed) for seed in range(GAMES)]
    return {"scores": scores}
