"""Tests of the workbench: it shows what `Game` returns."""

import base64
import functools

import cv2
import numpy as np
import pytest

import game
from asking import look_at, page_of
from figures.workbench.make import SHOWN, TITLES


def turn_knobs(figure, settings):
    """Turn the knobs of the workbench as `Game` has its options."""
    for name, label in (
        ("action_repeat", "Frames to a step"),
        ("stack", "Pictures in the stack"),
    ):
        figure.get_by_label(label).fill(str(settings.get(name, 4)))
    height, _ = settings.get("size", (84, 84))
    figure.get_by_role("radio", name=str(height), exact=True).check()


def seen_after(figure, ends):
    """What the workbench shows after so many of its frames, for each."""
    films = figure.evaluate(
        """(figure, ends) => ends.map((end) => {
            const slider = figure.querySelector(".slide input");
            slider.value = end;
            slider.dispatchEvent(new Event("input"));
            const shown = figure.querySelectorAll(
              ".shrunk div:not([hidden]) canvas");
            return [...shown].map((canvas) => canvas.toDataURL()); })""",
        list(ends),
    )
    for urls in films:
        yield [decoded(url) for url in urls]


def decoded(url):
    """The picture of a canvas."""
    data = np.frombuffer(base64.b64decode(url.split(",")[1]), np.uint8)
    return cv2.imdecode(data, cv2.IMREAD_COLOR)


@pytest.mark.parametrize("name", TITLES)
def test_the_workbench_shows_what_game_returns(visit, name):
    """Bit for bit: with the module's settings at every step, and with others
    at some.
    """
    title = TITLES[name]
    figure = look_at(visit(page_of("workbench")), "workbench")
    figure.get_by_label(name).check()
    for settings, every in (
        ({}, 1),
        ({"action_repeat": 3, "stack": 2}, 9),
        ({"action_repeat": 8, "size": (160, 160), "stack": 1}, 9),
        ({"action_repeat": 1, "size": (42, 42), "stack": 3}, 25),
    ):
        if settings:
            turn_knobs(figure, settings)
        call = figure.locator(".call").text_content()
        make = functools.partial(game.Game, on_life_loss="ignore")
        one = eval(call, {"Game": make, "seed": 0})
        assert {name: getattr(one, name) for name in settings} == settings
        one.reset()
        repeat = one.action_repeat
        played = [one.step(action)[0] for action in title.actions[::repeat]]
        before = len(title.actions) - SHOWN
        ends = range(4 * repeat, SHOWN + 1, every * repeat)
        for end, seen in zip(ends, seen_after(figure, ends), strict=True):
            made = played[(before + end) // repeat - 1]
            for picture, gray in zip(seen, made, strict=True):
                assert (picture == gray[..., None]).all()
