"""Tests of what all figures do; what one shows is tested beside it."""

import pytest

from asking import look_at, page_of
from paths import FIGURES

FILMS = [
    path.parent.name
    for path in sorted(FIGURES.glob("*/figure.js"))
    if "film(box" in path.read_text()
]


@pytest.mark.parametrize("name", FILMS)
def test_a_figure_plays_and_stops(visit, name):
    figure = look_at(visit(page_of(name)), name)
    if name == "training":
        figure.locator("summary").click()
    screen = figure.locator(".screen")
    shown = """(screen) => [...screen.querySelectorAll("canvas")].map(
        (canvas) => canvas.toDataURL()).join()"""
    play = figure.locator(".play")
    before = screen.evaluate(shown)
    play.click()
    assert play.inner_text() == "Pause"
    figure.page.wait_for_function(
        f"([screen, before]) => ({shown})(screen) !== before",
        arg=[screen.element_handle(), before],
    )
    play.click()
    assert play.inner_text() == "Play"
    stopped = screen.evaluate(shown)
    figure.page.wait_for_timeout(400)
    assert screen.evaluate(shown) == stopped
    for slider in figure.locator(".slide input").all():
        slider.press("Home")
        first = screen.evaluate(shown)
        slider.press("End")
        assert screen.evaluate(shown) != first
