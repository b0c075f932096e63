"""The lives and the bricks of the first program's game."""

import itertools

import programs
from drawing import Drawing


def draw() -> str:
    run = programs.first()
    scale = 464 / run.ends[-1]
    d = Drawing(126, screen=False, large=True)
    d.box(4, 26, 464, 32, "ink")
    d.text(14, 47, "one game", "on")
    for step in run.bricks:
        d.box(round(scale * step), 26, 4, 10, "on")
        words = f"a brick at {step}" if step == run.bricks[0] else str(step)
        d.text(round(scale * step) + 2, 16, words, "quiet mid")
    for i, (start, end) in enumerate(itertools.pairwise([0, *run.ends])):
        x, right = 4 + round(scale * start), 1 + round(scale * end)
        d.box(x, 64, right - x, 32)
        d.text(x + 4, 85, f"life {i + 1}")
        d.text(right, 116, str(end), "quiet end")
    return d.svg()
