"""What the agents scored in the course of their training."""

from charts import draw_curves


def draw() -> str:
    return draw_curves("Pong", bottom=-20, top=20, step=10)
