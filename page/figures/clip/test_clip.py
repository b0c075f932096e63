"""Tests of the figure of the clipped objective."""

import numpy as np
import pytest
from playwright.sync_api import expect

from asking import look_at
from record.recordings import read


@pytest.fixture
def figure(visit):
    return look_at(visit("ppo.html"), "clip")


def slider(figure, name):
    return figure.get_by_role("slider", name=name)


def turn(figure, advantage, ratio, clip):
    figure.locator(f"[name=advantage][value='{advantage}']").check()
    slider(figure, "Ratio").fill(str(ratio))
    slider(figure, "Clip").fill(str(clip))


def shown(figure):
    """The value of the objective."""
    text = figure.locator("output").text_content()
    return float(text.replace("\N{MINUS SIGN}", "-"))


@pytest.mark.parametrize("advantage", [1, -1])
def test_it_shows_the_value_of_the_objective(figure, advantage):
    for ratio in 0.6, 0.95, 1, 1.05, 1.4:
        for clip in 0, 0.1, 0.3:
            turn(figure, advantage, ratio, clip)
            clipped = np.clip(ratio, 1 - clip, 1 + clip)
            expected = min(ratio * advantage, clipped * advantage)
            assert shown(figure) == pytest.approx(expected)


def test_it_counts_the_steps_of_the_minibatch_that_are_clipped(figure):
    recorded = read("clip/clip")
    ratios, signs = (np.array(recorded[key]) for key in ("ratios", "signs"))
    for advantage, clip in (1, 0.1), (1, 0.2), (-1, 0.1), (-1, 0.05):
        turn(figure, advantage, 1, clip)
        moved = (ratios[signs == advantage] - 1) * advantage
        counts = figure.locator(".batch").text_content()
        assert f"{len(moved)} " in counts
        assert f"{(moved > clip).sum()} " in counts


def test_the_ratio_and_an_edge_can_be_dragged(figure):
    turn(figure, 1, 1, 0.1)
    for grip, field in (".point", "Ratio"), ("polyline.edge", "Clip"):
        moved = slider(figure, field)
        before = moved.input_value()
        box = figure.locator(grip).last.bounding_box()
        x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        mouse = figure.page.mouse
        mouse.move(x, y)
        mouse.down()
        mouse.move(x + 30, y)
        mouse.up()
        expect(moved).not_to_have_value(before)
        assert 0 < float(moved.input_value()) - float(before) < 0.2
