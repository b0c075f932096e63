"""Tests of the figures: they play, and show what `Game` returns."""

import functools
import itertools
import re

import numpy as np
import pytest
from playwright.sync_api import expect

import figures.backwards.make as backwards
import game
from asking import decoded, html, look_at
from figures.serves.make import serve
from figures.workbench.make import SHOWN, TITLES
from fill import values
from fill.values import Agent
from paths import FIGURES
from record.recordings import (
    FALLS,
    GUESS,
    MOMENT,
    NEAR,
    RISES,
    colours,
    find_ball,
    frames_before,
    play,
    read,
    read_film,
    small,
    unpack,
)
from weave.pages import PAGES

PLAYED = play()
RGB, GRAY = colours().rgb, colours().gray
FILM = read_film("agent/agent")
PICTURES = unpack(FILM.frames, 84, 84)


def page_of(name):
    """The page that has a figure."""
    return next(page for page in PAGES if f'id="{name}"' in html(page))


# What they are made from


def test_what_is_guessed_is_what_game_returns():
    one = game.Game(0, on_life_loss="continue")
    assert (one.reset()[-1] == PLAYED[0].picture).all()
    for step in PLAYED[1:]:
        assert (one.step(step.action)[0][-1] == step.picture).all()


def test_the_film_has_what_is_made_of_its_frames():
    """Around the moment that the story follows: the brighter of two, small."""
    for step in NEAR:
        third, fourth = GRAY[frames_before(step)[2:]]
        picture = small(np.maximum(third, fourth))
        assert (picture == PICTURES[step + 3]).all()


def test_the_table_of_the_move_has_what_was_recorded():
    before, hit = (FILM.decisions[at]["value"] for at in (MOMENT, MOMENT + 1))
    missed = read_film("move/missed").decisions[0]["value"]
    page = html("index.html").replace("\N{MINUS SIGN}", "-")
    for after in hit, missed:
        target = f"{0.99 * after:.2f}"
        assert f"0.99 × {after:.2f} = {target}" in page
        advantage = float(target) - before
        assert f"{target} - {before:.2f} = {advantage:.2f}" in page


def test_the_brick_of_the_move_is_worth_what_is_said():
    """Of the value after it, by the steps that the ball then flies."""
    share = 0.99 ** (len(backwards.way()) - 1)
    after = FILM.decisions[MOMENT + 1]["value"]
    assert f"{share:.2f} of the {after:.2f}" in html("index.html")


def test_the_games_that_end_are_those_that_were_scored():
    scores = [one["score"] for one in read("ended/ended")]
    assert scores == values.read("agents", Agent)["Breakout-0"].scores.served


def test_the_agent_expects_most_while_the_ball_is_behind_the_wall():
    values = [decision["value"] for decision in FILM.decisions]
    assert FILM.colours()[np.argmax(values)][32:57, 8:152].any()


def test_a_bug_has_the_numbers_of_the_frames():
    """At the brightest pixel of the ball, two steps before the moment."""
    third, fourth = GRAY[frames_before(MOMENT - 2)[2:]]
    one, other = small(third)[62, 59], small(fourth)[62, 59]
    page = html("index.html")
    assert f"max({one}, {other}) = {max(one, other)}" in page
    assert f"in place of {small(np.maximum(third, fourth))[62, 59]}" in page


def test_the_ball_flies_as_the_guesses_have_it():
    """In all that is shown of a step, and as long as it is seen to fly on."""
    for way, steps in (-1, RISES), (1, FALLS):
        for at in steps:
            balls = [find_ball(step.gray) for step in PLAYED[at - 3 : at + 5]]
            heights = [ball.y for ball in balls]
            assert (np.diff(heights) * way > 0).all()
    assert GUESS in RISES


def test_breakout_has_four_serves():
    """After as many no-op frames modulo 4 the ball flies the same way."""
    ways = [np.array(serve(no_ops)) for no_ops in range(1, 13)]
    for (i, one), (j, other) in itertools.combinations(enumerate(ways), 2):
        assert (one == other).all() == (i % 4 == j % 4)


# In a browser


def pictures(figure, selector):
    """The pictures in canvases, as they are seen."""
    urls = figure.locator(f"{selector} canvas").evaluate_all(
        "all => all.map((canvas) => canvas.toDataURL())"
    )
    yield from map(decoded, urls)


def check(seen, made):
    """The pictures that are seen are those that were made."""
    for one, other in zip(seen, made, strict=True):
        other = np.asarray(other)
        if other.ndim == 2:
            other = other[..., None].repeat(3, axis=2)
        assert np.array_equal(one[..., :3], other)


def figures_with(file, text):
    """The names of the figures whose file has a text."""
    paths = sorted(FIGURES.glob(f"*/{file}"))
    return [path.parent.name for path in paths if text in path.read_text()]


ASKING = figures_with("figure.html", 'class="asked"')
PLAYERS = figures_with("figure.js", "film(box")


@pytest.mark.parametrize("name", PLAYERS)
def test_a_figure_plays_stops_and_steps(visit, name):
    figure = look_at(visit(page_of(name)), name)
    if name in ASKING:
        figure.locator("summary").click()
    play, step = (figure.locator(".controls button").nth(i) for i in (0, 1))
    slider = figure.locator(".slide input")
    expect(slider).to_have_attribute("max", re.compile(".+"))
    before = slider.input_value()
    play.click()
    expect(slider).not_to_have_value(before)
    if play.inner_text() == "Pause":  # or it has come to its end
        play.click()
    stopped = slider.input_value()
    figure.page.wait_for_timeout(400)
    expect(slider).to_have_value(stopped)
    slider.press("Home")
    first = slider.input_value()
    slider.press("End")
    assert slider.input_value() != first
    step.click()
    expect(slider).to_have_value(first)
    assert play.inner_text() == "Play"


def test_a_step_is_what_was_played(visit):
    figure = look_at(visit(), "step")
    for step in NEAR[0], MOMENT, NEAR[-1]:
        figure.locator(".slide input").fill(str(step - NEAR[0] + 1))
        check(pictures(figure, ".frames"), RGB[frames_before(step)])
        check(pictures(figure, ".stack"), PICTURES[step : step + 4])


def test_the_agent_sees_what_was_recorded(visit):
    """Wherever its line is pointed at."""
    figure = look_at(visit(), "agent")
    line = figure.locator(".trace")
    width = line.bounding_box()["width"]
    last = len(FILM.decisions) - 1
    for step in 1, 100, last - 1:
        line.click(position={"x": width * step / last, "y": 20})
        expect(figure.locator(".number")).to_have_text(f"step {step}")
        check(pictures(figure, ".whole"), [FILM.colours()[step]])
        check(pictures(figure, ".four"), PICTURES[step : step + 4])


@pytest.mark.parametrize("scripts", [True, False])
def test_an_answer_waits(visit, scripts):
    """For a guess, or until it is opened; with scripts or without."""
    page = visit(java_script_enabled=scripts)
    for name in ASKING:
        figure = page.locator(f"#{name}")
        answer = figure.locator("details p").first
        drawn = figure.locator("g.answer").all()
        expect(answer).to_be_hidden()
        for part in drawn:
            expect(part).to_have_css("opacity", "0")
        opens = ".choice button" if scripts else "summary"
        figure.locator(opens).first.click()
        expect(answer).to_be_visible()
        for part in drawn:
            expect(part).to_have_css("opacity", "1")


def test_the_games_of_the_training_wait_for_a_guess(visit):
    figure = look_at(visit(), "training")
    shown = figure.locator("canvas, .screen > img")
    for part in shown.all():
        expect(part).to_have_css("filter", "brightness(0)")
    expect(figure.locator(".play")).to_be_hidden()
    figure.locator(".choice button").first.click()
    for part in shown.all():
        expect(part).to_have_css("filter", "none")
    expect(figure.locator(".play")).to_be_visible()


def test_the_map_has_a_color_for_less_and_one_for_more(visit):
    figure = look_at(visit(), "looks")
    figure.locator(".choice button").first.click()
    is_red = figure.locator(".map").evaluate(
        """(map) => {
            const { data } = map.getContext("2d")
              .getImageData(0, 0, map.width, map.height);
            return [...data.keys()].filter((i) => i % 4 === 0)
              .map((i) => data[i] > data[i + 2]); }"""
    )
    changes = [change for change, *_ in read("looks/looks")["changes"]]
    shown = zip(changes, is_red, strict=True)
    seen = {(change < 0, red) for change, red in shown if abs(change) > 0.3}
    assert seen == {(True, True), (False, False)}


def test_guesses_and_scores_come_back_at_the_end(visit):
    """And when the page is loaded again."""
    page = visit()
    expect(page.locator("#yours")).to_have_text(re.compile("nothing|not a"))
    page.locator("#ghosts").get_by_role("button", name="4").click()
    for _ in range(2):
        expect(page.locator("#yours")).to_contain_text("0 of 1")
        page.reload()
    guess = look_at(page, "guess")
    for _ in range(6):
        before = guess.locator(".says").inner_text()
        guess.get_by_role("button", name="Up").click()
        expect(guess.locator(".says")).not_to_have_text(before)
        page.wait_for_timeout(100)
    expect(page.locator("#yours")).to_contain_text("from one picture")


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
            check(seen, played[(before + end) // repeat - 1])
