"""What the agents scored in the course of their training."""

from charts import draw_curves


def draw() -> str:
    return draw_curves("Breakout", top=500, step=100)
