"""Tests of what is shown of the agent's network: its answers.

    pip install -r requirements.txt --group page-tests  # and a Chromium
    python -m pytest page/test_looks.py

What was recorded is computed again. Sums of floats round otherwise on other
machines, so a recorded number may be off by one in its last place.
"""

import base64

import cv2
import numpy as np
import pytest
from playwright.sync_api import expect

from conftest import go_to, look_at
from figures.looks.make import (
    ASKED,
    COUNT,
    FIRST,
    GRID,
    PERCENT,
    SIXTEENTHS,
    changes,
    recorded,
)
from paths import DOCS
from published import ask
from recordings import MOMENT, read_film, unpack

FILM = read_film("agent/agent")
FRAMES = unpack(FILM.frames, 84, 84)


def test_the_published_network_has_answered_so():
    """What each decision's pictures tell the network; none begins a life."""
    assert not any(decision["first"] for decision in FILM.decisions)
    stacks = [FRAMES[at : at + 4] for at in range(len(FILM.decisions))]
    answer = ask(np.array(stacks))
    values = [decision["value"] for decision in FILM.decisions]
    chances = [decision["chances"] for decision in FILM.decisions]
    assert np.allclose(answer.values, values, rtol=0, atol=0.02)
    assert np.allclose(answer.chances, chances, rtol=0, atol=0.02)


@pytest.mark.parametrize("at", [FIRST, ASKED, FIRST + COUNT - 1])
def test_a_patch_changes_the_answers_so(at):
    again = changes(FRAMES[at : at + 4]).astype(int)
    assert np.abs(recorded()[at - FIRST] - again).max() <= 1
    assert again.any()


def test_the_answer_tells_what_was_recorded():
    told = (DOCS / "index.html").read_text()
    value = FILM.decisions[ASKED]["value"]
    least = value + recorded()[ASKED - FIRST, 0].min() / SIXTEENTHS
    assert f"from {value:.1f} to {least:.1f}" in told
    before = FILM.decisions[ASKED - 1]["value"]
    least = before + recorded()[ASKED - 1 - FIRST, 0].min() / SIXTEENTHS
    assert f"a patch leaves {least:.1f}" in told


# In a browser


def with_patch(at, column, row):
    """The value and the chances under the patch, from what was recorded."""
    value, *chances = recorded()[at - FIRST][:, GRID * row + column].tolist()
    chances.append(-sum(chances))
    usual = FILM.decisions[at]
    shares = [
        round(PERCENT * before + change)
        for before, change in zip(usual["chances"], chances, strict=True)
    ]
    return usual["value"] + value / SIXTEENTHS, shares


def heat(figure):
    """How much of each pixel the map covers."""
    url = figure.locator(".map").evaluate("(map) => map.toDataURL()")
    data = np.frombuffer(base64.b64decode(url.split(",")[1]), np.uint8)
    return cv2.imdecode(data, cv2.IMREAD_UNCHANGED)[..., 3].astype(float)


def guess(figure):
    figure.get_by_role("button", name="The wall").click()
    expect(figure.get_by_role("radio", name="value")).to_be_checked()


def test_the_map_waits_for_a_guess(visit):
    figure = look_at(visit(), "looks")
    expect(figure.locator(".asked .says")).to_be_hidden()
    expect(figure.get_by_role("radio")).to_have_count(0)
    figure.locator(".pane").hover()
    figure.locator(".pane").press("ArrowUp")
    assert not heat(figure).any()
    assert "→" not in figure.locator(".answers").inner_text()
    guess(figure)
    expect(figure.locator(".asked .says")).to_be_visible()
    size = np.abs(recorded()[ASKED - FIRST, 0].astype(float))
    size = size.reshape(GRID, GRID)
    assert np.abs(heat(figure) - 255 * size / size.max()).max() <= 1


def test_the_map_can_be_switched(visit):
    """To the choice, and off; and it is that of the step."""
    figure = look_at(visit(), "looks")
    guess(figure)
    figure.get_by_role("radio", name="choice").check()
    go_to(figure, MOMENT - FIRST + 1)
    chances = recorded()[MOMENT - FIRST, 1:].astype(float)
    parts = [*chances, chances.sum(axis=0)]
    size = np.square(parts).sum(axis=0).reshape(GRID, GRID)
    assert np.abs(heat(figure) - 255 * size / size.max()).max() <= 1
    figure.get_by_role("radio", name="off").check()
    expect(figure.locator(".map")).to_be_hidden()


@pytest.mark.parametrize("way", ["mouse", "touch", "keys"])
def test_a_reader_moves_the_patch(visit, way):
    """Value and bars answer at once, and again in another step."""
    width = 390 if way == "touch" else 1280
    page = visit(width=width, has_touch=way == "touch")
    figure = look_at(page, "looks")
    guess(figure)
    pane = figure.locator(".pane")
    pane.scroll_into_view_if_needed()
    box = pane.bounding_box()
    cell = box["width"] / GRID
    column, row = 12, 14
    x, y = box["x"] + 12.5 * cell, box["y"] + 14.5 * cell
    if way == "mouse":
        page.mouse.move(x, y)
    elif way == "touch":
        page.touchscreen.tap(x, y + 48)  # which a finger hides
    else:  # from the middle
        for key in ["ArrowRight"] * 2 + ["ArrowDown"] * 4:
            pane.press(key)
    for at in ASKED, ASKED - 1:
        go_to(figure, at - FIRST + 1)
        value, shares = with_patch(at, column, row)
        before = FILM.decisions[at]["value"]
        expect(figure.locator("output")).to_have_text(
            f"{before:.1f} → {value:.1f}"
        )
        for share, text in zip(
            shares,
            figure.locator(".choices span").all_text_contents(),
            strict=True,
        ):
            now = int(text.split("→")[1].removesuffix("\xa0%"))
            assert now == min(100, max(0, share))
    pane.press("Escape")
    figure.get_by_role("radio", name="off").check()
    expect(figure.locator("output")).to_have_text(f"{before:.1f}")
