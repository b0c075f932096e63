"""Tests of the figures: they play, and show what `Game` returns."""

import functools

import numpy as np
import pytest
from playwright.sync_api import expect

import game
from asking import decoded, html, look_at
from figures.workbench.make import SHOWN, TITLES
from paths import FIGURES
from record.recordings import (
    FALLS,
    GUESS,
    RISES,
    colours,
    find_ball,
    play,
    read,
    small,
    unpack,
)
from weave.pages import PAGES

PLAYED = play()
RGB, GRAY = colours().rgb, colours().gray
BUTTONS = ["no button", "FIRE", "RIGHT", "LEFT"]


def page_of(name):
    """The page that has a figure."""
    return next(page for page in PAGES if f'id="{name}"' in html(page))


# What they are made from


def test_what_is_guessed_is_what_game_returns():
    one = game.Game(0, on_life_loss="continue")
    assert (one.reset()[-1] == PLAYED[0].picture).all()
    for step in PLAYED[1:]:
        assert (one.step(step.action)[0][-1] == step.picture).all()


def test_the_ball_flies_as_the_guesses_have_it():
    """In all that is shown of a step, and as long as it is seen to fly on."""
    for way, steps in (-1, RISES), (1, FALLS):
        for at in steps:
            balls = [find_ball(step.gray) for step in PLAYED[at - 3 : at + 5]]
            heights = [ball.y for ball in balls]
            assert (np.diff(heights) * way > 0).all()
    assert GUESS in RISES


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


def test_a_figure_plays_by_itself_while_it_is_seen(visit):
    page = visit(reduced_motion="no-preference")
    figure = look_at(page, "step")
    slider = figure.locator(".slide input")
    before = slider.input_value()
    expect(slider).not_to_have_value(before)
    page.evaluate("scrollTo(0, 0)")
    expect(figure).not_to_be_in_viewport()
    page.wait_for_timeout(400)
    stopped = slider.input_value()
    page.wait_for_timeout(400)
    expect(slider).to_have_value(stopped)


def test_a_step_is_what_was_played(visit):
    """Its four frames, and the four pictures: each the brighter of two."""
    figure = look_at(visit(), "step")
    moment = read("step/moment")
    frames = unpack(moment["frames"]).reshape(-1, 4, 210, 160)
    made = [
        small(np.maximum(*GRAY[step_frames[2:]])) for step_frames in frames
    ]
    for step in 4, moment["asked"] - moment["first"], len(frames) - 1:
        figure.locator(".slide input").fill(str(4 * (step - 3)))
        check(pictures(figure, ".frames"), RGB[frames[step]])
        check(pictures(figure, ".stack"), made[step - 3 : step + 1])
        action = BUTTONS[moment["actions"][step]]
        expect(figure.locator(".action")).to_have_text(action)


def test_an_agent_sees_two_ghosts_or_four(visit):
    """By the frames to a step: each ghost is drawn on every fourth."""
    figure = look_at(visit(), "ghosts")
    rings = figure.locator(".gets .rings i")
    dashed = figure.locator(".gets .unseen")
    expect(dashed).to_have_count(2)
    expect(rings).to_have_count(4)
    figure.get_by_label("Frames to a step").fill("3")
    expect(dashed).to_have_count(0)


def test_rocks_are_there_with_the_maximum_alone(visit):
    figure = look_at(visit(), "maximum")
    [both] = pictures(figure, ".small")
    figure.get_by_label("The maximum").uncheck()
    [one] = pictures(figure, ".small")
    assert (one > both).sum() == 0
    assert np.count_nonzero(one[..., 0]) < np.count_nonzero(both[..., 0]) / 2


def test_guesses_are_marked(visit):
    """Six from one picture, then six from four."""
    guess = look_at(visit(), "guess")
    for _ in range(2):
        for done in range(1, 7):
            guess.get_by_role("button", name="Up").click()
            expect(
                guess.locator(".marks [class]:not([class=''])")
            ).to_have_count(done)
        guess.locator(".again").click()


@pytest.mark.parametrize("scripts", [True, False])
def test_the_games_of_the_training_wait_for_a_guess(visit, scripts):
    """Or until the answer is opened; with scripts or without."""
    page = visit(java_script_enabled=scripts)
    figure = page.locator("#training")
    figure.scroll_into_view_if_needed()
    shown = figure.locator("canvas:visible, .screen > img")
    for part in shown.all():
        expect(part).to_have_css("filter", "brightness(0)")
    answer = figure.locator("details p")
    expect(answer).to_be_hidden()
    figure.locator(".choice button" if scripts else "summary").first.click()
    expect(answer).to_be_visible()
    for part in shown.all():
        expect(part).to_have_css("filter", "none")


def test_the_games_of_the_training_play_after_the_guess(visit):
    figure = look_at(visit(reduced_motion="no-preference"), "training")
    figure.get_by_role("button", name="2", exact=True).click()
    expect(figure.locator(".verdict")).to_have_text("No. ")
    slider = figure.locator(".slide input")
    expect(slider).not_to_have_value(slider.input_value())
    slider.press("End")
    behind = figure.locator(".picture")
    expect(behind).to_have_text(["4 million", "6 million", "8 million"])


# Two players that learn


LEARNED = """(seed) => {
    Learn.begin(seed);
    Learn.step(400_000);
    return Learn.means(); }"""


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_picture_before_is_worth_a_lot(visit, seed):
    two, one = visit().evaluate(LEARNED, seed)
    assert two > 3 * one


def test_the_same_seed_learns_the_same(visit):
    page = visit()
    assert page.evaluate(LEARNED, 4) == page.evaluate(LEARNED, 4)


def test_a_reader_watches_it_learn(visit):
    """At the speed that he wants, until it has played for eight hours."""
    page = visit()
    figure = look_at(page, "learn")
    expect(figure.locator(".fourth canvas")).to_be_hidden()
    assert page.evaluate("Learn.players[0].steps") == 0
    figure.locator(".play").click()
    speed = figure.get_by_label("Speed")
    for key in "End", "Home", "End":
        speed.press(key)
    expect(figure.locator(".tells")).to_contain_text("After 8 hours")
    expect(figure.locator(".fourth canvas")).to_be_visible()
    two, one = page.evaluate("Learn.players.map(({ steps }) => steps)")
    assert two >= 8 * 3600 * 12
    assert one > 7 * 3600 * 12
    figure.get_by_role("button", name="Start over").click()
    expect(figure.locator(".fourth canvas")).to_be_hidden()


def test_it_learns_by_itself_while_it_is_seen(visit):
    page = visit(reduced_motion="no-preference")
    look_at(page, "learn")
    page.wait_for_function("() => Learn.players[0].steps > 20")


# The workbench


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
