"""The moment that the story follows, in one of its stages."""

from figures.way.make import stage


def draw() -> str:
    return stage("small")
