"""Tests of the figure of the ghosts."""

from playwright.sync_api import expect

from asking import look_at


def test_an_agent_sees_two_ghosts_or_four(visit):
    """By the frames to a step: each ghost is drawn on every fourth."""
    figure = look_at(visit(), "ghosts")
    rings = figure.locator(".gets .rings i")
    dashed = figure.locator(".gets .unseen")
    expect(dashed).to_have_count(2)
    expect(rings).to_have_count(4)
    figure.get_by_label("Frames to a step").fill("3")
    expect(dashed).to_have_count(0)
