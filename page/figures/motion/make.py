"""What agents scored that saw one picture, and four."""

from charts import draw_curves


def draw() -> str:
    return draw_curves("Breakout", name="stack", top=60, step=10)
