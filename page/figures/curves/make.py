"""What agents scored in the course of their training."""

import charts


def draw_breakout() -> str:
    return charts.draw_curves("Breakout", top=500, step=100)


def draw_pong() -> str:
    return charts.draw_curves("Pong", bottom=-20, top=20, step=10)


def draw_motion() -> str:
    """Those that saw one picture, and four."""
    return charts.draw_curves("Breakout", name="stack", top=60, step=10)
