"""
Tests of the figures: what they show is what `Game` and `Games` return.

    pip install -r requirements.txt --group page    # and a system's Chromium
    python -m pytest page/test_figures.py
"""

import base64
import re
import xml.etree.ElementTree as xml
from pathlib import Path

import cv2
import numpy as np
import pytest
from playwright.sync_api import expect

import game
from drawing import PICTURES
from figures import in_colour, read
from measured import measured
from recordings import LOST_AT, brighter, kept, play, unpack
from rules import SHOWN, break_rules, shown

ADDRESS = (PICTURES.parent / "index.html").as_uri()
FILMS = ["moving", "rules-figure", "agent-figure"]
PLAYED = list(play())
ACTIONS = [step["action"] for step in PLAYED[1:]]
SAYS = "figure.querySelector('.says').textContent"  # of a script


# What the figures are made from


@pytest.mark.parametrize("mode", game.Game.MODES)
def test_what_is_played_is_what_game_returns(mode):
    """Before, at and after the lost life."""
    one = game.Game(0, on_life_loss=mode)
    first, *played = play(mode, ACTIONS)
    assert (one.reset() == first["stack"]).all()
    for step in played:
        obs_4, *told = one.step(step["action"])
        assert (obs_4 == step["stack"]).all()
        assert told == [step["reward"], step["done"], step["info"]]
        assert step["lives"] == one.env.unwrapped.ale.lives()
        assert (in_colour(step["screen"]) == one.render()).all()
        if step["done"]:
            assert (one.final_obs == step["final"]).all()
    assert played[LOST_AT - 1]["done"] == (mode != "ignore")


def test_the_four_pictures_tell_which_way_the_ball_flies():
    for at, says in zip(SHOWN, read("rules")["one"]["says"], strict=True):
        # In which row is the ball, between the bricks and the paddle?
        stack = np.array(PLAYED[at]["stack"])
        rows = stack[:, 38:75, 5:79].sum(axis=2)
        right = "the ball is among the bricks"
        if rows.any(axis=1).all():
            down = np.diff(rows @ np.arange(37) / rows.sum(axis=1))
            right = "the ball has turned"
            if (down > 0).all():
                right = "the ball falls"
            if (down < 0).all():
                right = "the ball rises"
        assert says == right, at


def test_thirty_starts_make_as_many_games_as_were_counted():
    starts = read("rules")["noops"]["says"]
    assert len(starts) == 30
    assert len(set(starts)) == measured()["noop_starts"]


def test_the_drawing_of_the_pipes_has_the_bytes_of_today():
    """In a step, those that this process reads and writes."""

    def counted():
        text = Path("/proc/self/io").read_text()
        return [*map(int, re.findall(r"char: (\d+)", text)), len(text)]

    with game.Games(8, processes=2) as games:
        obs, _ = games.reset()
        read, written, asked = counted()
        games.step([1] * 8)
        now_read, now_written, _ = counted()
    answer = (now_read - read - asked) // 2
    command = (now_written - written) // 2
    drawn = (PICTURES / "pipe.svg").read_text()
    for count in command, answer, obs.nbytes:
        assert f">{count:,} bytes<" in drawn


# The still pictures


def test_stills_are_light_and_dark():
    for path in PICTURES.glob("*.svg"):
        text = path.read_text()
        root = xml.fromstring(text)
        assert root.get("width") == "480" and "prefers-color-scheme" in text
        for element in root.iter():
            for key, size in ("x", "width"), ("y", "height"):
                at = float(element.get(key, 0))
                assert 0 <= at <= float(root.get(size)), path


# In a browser


@pytest.fixture
def visit(open_page):
    """Open the page of a width, where nothing moves unless it is asked to."""

    def visit(width=1280, motion="reduce", **options):
        return open_page(ADDRESS, width, reduced_motion=motion, **options)

    return visit


def look_at(page, name):
    """Bring a figure into view, where it begins; return it."""
    figure = page.locator(f"#{name}")
    figure.scroll_into_view_if_needed()
    expect(figure.locator(".number")).not_to_be_empty()
    return figure


def at_each_step(figure, expression):
    """What an expression in JavaScript is at each step of a figure."""
    return figure.evaluate(
        """(figure, expression) => {
        const slider = figure.querySelector("input[type=range]"), seen = [];
        for (let at = Number(slider.min); at <= slider.max; at++) {
          slider.value = at;
          slider.dispatchEvent(new Event("input"));
          seen.push(eval(expression));
        }
        return seen; }""",
        expression,
    )


def pictures(figure):
    """The pictures that a figure shows, at each step."""
    urls = """[...figure.querySelectorAll("div:not(.absent) > canvas")]
        .filter((canvas) => canvas.offsetParent)
        .map((canvas) => canvas.toDataURL())"""
    for step in at_each_step(figure, urls):
        data = [base64.b64decode(url.partition(",")[2]) for url in step]
        data = [np.frombuffer(one, np.uint8) for one in data]
        yield [cv2.imdecode(one, cv2.IMREAD_COLOR_RGB) for one in data]


def check(seen, made):
    """The pictures that are seen are those that were made."""
    for one, other in zip(seen, made, strict=True):
        if other.ndim == 2:
            other = other[..., None].repeat(3, axis=2)
        assert np.array_equal(one, other)


def test_a_step_is_what_was_played(visit):
    figure = look_at(visit(), "moving")
    corners = [step[5] for step in read("recording")["steps"]]
    seen = list(pictures(figure))
    says = at_each_step(figure, SAYS)
    for i, step in enumerate(PLAYED[1:]):
        x, y = corners[i + 1]
        told = "reward {reward}, lives {lives}, done {done}. "
        assert told.format_map(step) in says[i]
        gray = [gray for _, gray in kept(step)]
        near = []
        for whole in [*gray, brighter(step), step["picture"], *step["stack"]]:
            height, width = whole.shape
            top, left = height * y // 12, width * x // 12
            part = whole[top : top + height // 2, left : left + width // 2]
            near.append(part)
        frames = in_colour([screen for screen, _ in step["frames"]])
        check(seen[i], [*frames, *near])


def test_rules_are_what_numpy_and_opencv_make(visit):
    """All of them, one after the other by keyboard."""
    page = visit()
    figure = look_at(page, "rules-figure")
    radio = figure.locator("input[type=radio]").first
    for name, steps in break_rules(PLAYED).items():
        radio.focus()
        expect(radio).to_have_value(name)
        seen = list(pictures(figure))
        says = at_each_step(figure, SAYS)
        for i, step in enumerate(steps):
            check(seen[i], sum(shown(name, step), []))
            assert says[i].startswith(f"At {i + 1}: {step[2]}. ")
        assert len(seen) == len(steps)
        page.keyboard.press("ArrowRight")
        radio = figure.locator("input[type=radio]:checked")


def test_the_agent_sees_what_was_recorded(visit):
    figure = look_at(visit(), "agent-figure")
    agent = read("agent")
    rgb = np.array(agent["rgb"])
    screens = unpack(agent["screens"])
    frames = unpack(agent["frames"], 84, 84)
    stack = []
    for i, seen in enumerate(pictures(figure)):
        first = agent["decisions"][i][3]
        stack = [frames[i]] * 4 if first else [*stack[1:], frames[i]]
        check(seen, [rgb[screens[i]], *stack])
    assert i + 1 == len(agent["decisions"])


@pytest.mark.parametrize("name", FILMS)
def test_films_move_by_slider_and_marks(visit, name):
    """Each step has its own words, which are read out."""
    figure = look_at(visit(), name)
    expect(figure.locator(".play")).to_have_text("Play")  # and nothing moves
    told = at_each_step(figure, SAYS)
    assert len(set(told)) == len(told) and all(told)
    expect(figure.locator(".says")).to_have_attribute("aria-live", "polite")
    slider = figure.locator("input[type=range]")
    for mark in figure.locator(".marks button").all():
        mark.click()
        assert mark.inner_text().endswith(f" {slider.input_value()}")


@pytest.mark.parametrize("name", FILMS)
def test_films_play_in_view_stop_and_begin_anew(visit, name):
    page = visit(motion="no-preference")
    figure = look_at(page, name)
    play = figure.locator(".play")
    slider = figure.locator("input[type=range]")
    expect(play).to_have_text("Pause")
    expect(slider).not_to_have_value(slider.input_value())
    expect(figure.locator(".says")).to_have_attribute("aria-live", "off")
    page.evaluate("scrollTo(0, 0)")
    expect(play).to_have_text("Play")
    figure.scroll_into_view_if_needed()
    expect(play).to_have_text("Pause")
    slider.press("End")
    expect(play).to_have_text("Play")
    play.press(" ")
    expect(slider).not_to_have_value(slider.get_attribute("max"))
    play.press(" ")
    expect(play).to_have_text("Play")


@pytest.mark.parametrize("width", [360, 390, 800, 1280, 1920])
def test_a_figure_keeps_its_height_and_whole_pixels(visit, width):
    """Whether it has begun or not, and at whatever step of whatever rule."""
    page = visit(width)
    for name in FILMS:
        height = page.locator(f"#{name}").evaluate("(one) => one.offsetHeight")
        figure = look_at(page, name)
        rules = figure.locator("[name=rule]").all()
        for choose in [lambda: None, *(rule.check for rule in rules)]:
            choose()
            heights = at_each_step(figure, "figure.offsetHeight")
            assert set(heights) == {height}, name
    assert page.evaluate("document.documentElement.scrollWidth") == width
    assert page.evaluate("""
        [...document.querySelectorAll(".moves canvas:not(#where)")]
        .filter((canvas) => canvas.offsetParent)
        .every((canvas) => canvas.offsetWidth % canvas.width === 0)""")
