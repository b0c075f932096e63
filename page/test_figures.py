"""
Tests of the figures: they play, and show what `Game` returns.

    pip install -r requirements.txt --group page-tests  # and a Chromium
    python -m pytest page/test_figures.py
"""

import base64
import itertools
import re

import cv2
import numpy as np
import pytest
from playwright.sync_api import expect

import figures.backwards.make as backwards
import game
from conftest import PAGES, go_to, look_at
from figures.serves.make import serve
from figures.workbench.make import SHOWN, TITLES
from paths import DOCS, FIGURES
from recordings import (
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

PLAYED = play()
RGB, GRAY = colours().rgb, colours().gray
FILM = read_film("agent/agent")
PICTURES = unpack(FILM.frames, 84, 84)


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
    told = (DOCS / "index.html").read_text().replace("\N{MINUS SIGN}", "-")
    for after in hit, missed:
        target = f"{0.99 * after:.2f}"
        assert f"0.99 × {after:.2f} = {target}" in told
        advantage = float(target) - before
        assert f"{target} - {before:.2f} = {advantage:.2f}" in told


def test_the_second_bug_has_the_numbers_of_the_frames():
    """At the brightest pixel of the ball, two steps before the moment."""
    third, fourth = GRAY[frames_before(MOMENT - 2)[2:]]
    one, other = small(third)[62, 59], small(fourth)[62, 59]
    told = (DOCS / "index.html").read_text()
    assert f"max({one}, {other}) = {max(one, other)}" in told
    assert f"in place of {small(np.maximum(third, fourth))[62, 59]}" in told


def test_the_ball_flies_as_the_guesses_have_it():
    """In all that is shown of a step, and as long as it is seen to fly on."""
    for way, steps in (-1, RISES), (1, FALLS):
        for at in steps:
            balls = [find_ball(step.gray) for step in PLAYED[at - 3 : at + 5]]
            heights = [ball.y for ball in balls]
            assert (np.diff(heights) * way > 0).all()
    assert GUESS in RISES


def test_one_picture_does_not_tell_which_way_the_ball_flies():
    """To each there is one that looks the same and goes the other way."""
    for rise, fall in zip(RISES, FALLS, strict=True):
        one, other = (PLAYED[at].picture[38:74] for at in (rise, fall))
        rows, columns = np.nonzero((one != other)[:, 6:78])
        assert 0 < len(rows) <= 24
        assert np.ptp(rows) <= 6 and np.ptp(columns) <= 6


def test_breakout_has_four_serves():
    """After as many no-op frames modulo 4 the ball flies the same way."""
    ways = [np.array(serve(no_ops)) for no_ops in range(1, 13)]
    for (i, one), (j, other) in itertools.combinations(enumerate(ways), 2):
        assert (one == other).all() == (i % 4 == j % 4)


def test_all_that_is_there_is_shown():
    """Each figure, moving or drawn."""
    names = *PAGES, "learning.md"
    pages = "".join((DOCS / name).read_text() for name in names)
    for path in (DOCS / "figures").iterdir():
        assert f'id="{path.stem}"' in pages or path.name in pages, path
    for path in FIGURES.glob("*/figure.html"):
        assert f'id="{path.parent.name}"' in pages, path


# In a browser


def pictures(figure, selector):
    """The pictures in canvases, in RGB, as they are seen."""
    urls = figure.locator(f"{selector} canvas").evaluate_all(
        "all => all.map((canvas) => canvas.toDataURL())"
    )
    yield from map(decoded, urls)


def decoded(url):
    data = np.frombuffer(base64.b64decode(url.split(",")[1]), np.uint8)
    return cv2.imdecode(data, cv2.IMREAD_COLOR)[..., ::-1]


def check(seen, made):
    """The pictures that are seen are those that were made."""
    for one, other in zip(seen, made, strict=True):
        other = np.asarray(other)
        if other.ndim == 2:
            other = other[..., None].repeat(3, axis=2)
        assert np.array_equal(one, other)


def test_a_step_is_what_was_played(visit):
    figure = look_at(visit(), "step")
    for step in NEAR[0], MOMENT, NEAR[-1]:
        go_to(figure, step - NEAR[0] + 1)
        check(pictures(figure, ".frames"), RGB[frames_before(step)])
        check(pictures(figure, ".stack"), PICTURES[step : step + 4])


def test_a_figure_waits_for_its_reader(visit):
    """It plays when asked, stops, and goes step by step."""
    page = visit(reduced_motion="no-preference")
    figure = look_at(page, "agent")  # which is far from its end
    number = figure.locator(".number")
    page.wait_for_timeout(400)
    expect(number).to_have_text(f"step {MOMENT}")
    figure.get_by_role("button", name="Step").click()
    expect(number).to_have_text(f"step {MOMENT + 1}")
    figure.get_by_role("button", name="Play").click()
    expect(number).not_to_have_text(f"step {MOMENT + 1}")
    figure.get_by_role("button", name="Pause").click()
    stopped = number.text_content()
    page.wait_for_timeout(400)
    expect(number).to_have_text(stopped)
    figure.get_by_role("slider").press("ArrowRight")
    expect(number).not_to_have_text(stopped)


@pytest.mark.parametrize("motion", ["no-preference", "reduce"])
def test_the_film_begins_by_itself(visit, motion):
    """Unless the reader wants less motion; it stops when it isn't seen."""
    page = visit(reduced_motion=motion)
    figure = look_at(page, "film")
    play, slider = figure.locator(".play"), figure.locator("input")
    moves = motion != "reduce"
    if moves:
        expect(slider).not_to_have_value("1")
    else:
        page.wait_for_timeout(500)
        expect(slider).to_have_value("1")
    expect(play).to_have_text("Pause" if moves else "Play")
    page.evaluate("scrollTo(0, document.documentElement.scrollHeight)")
    expect(play).to_have_text("Play")
    page.evaluate("scrollTo(0, 0)")
    expect(play).to_have_text("Pause" if moves else "Play")
    play.click()
    expect(play).to_have_text("Play" if moves else "Pause")


def test_a_reward_reaches_one_more_step_with_each_update(visit):
    figure = visit().locator("#backwards")
    figure.scroll_into_view_if_needed()
    left = len(backwards.way())
    expect(figure.locator(".unheard")).to_have_count(left)
    value = 1.0
    while left:
        figure.get_by_role("button", name="Step").click()
        left -= 1
        expect(figure.locator(".unheard")).to_have_count(left)
        expect(figure.locator(".says")).to_contain_text(
            f"= {value:.2f}" if value < 1 else "= 1."
        )
        value *= 0.99


def test_guesses_count(visit):
    """Six from one picture, six from four; by button and by key."""
    figure = look_at(visit(), "guess")
    says, seen = figure.locator(".says"), []
    asked = {PLAYED[at].picture.tobytes(): at for at in [*RISES, *FALLS]}
    for number, again in (1, "Now with four pictures"), (2, "Once more"):
        hidden = 0 if number == 2 else 3
        for i in range(6):
            expect(figure.locator(".four .absent")).to_have_count(hidden)
            [newest] = pictures(figure, ".board")
            at = asked[newest[..., 0].tobytes()]
            seen.append(at)
            way = "up" if at in RISES else "down"
            if i % 2:  # a wrong one, by a key
                other = {"up": "ArrowDown", "down": "ArrowUp"}[way]
                figure.locator(".controls").press(other)
            else:
                figure.get_by_role("button", name=way.title()).click()
            wall = figure.locator(f".tally p:nth-child({number})")
            expect(wall.locator(".hit")).to_have_count(i // 2 + 1)
            expect(wall.locator(".miss")).to_have_count((i + 1) // 2)
            if i < 5:  # the ball has flown on, and the next one is asked for
                verdict = "No" if i % 2 else "Yes"
                expect(says).to_have_text(re.compile(rf"{verdict}.*\?"))
        expect(says).to_contain_text(
            "3 of 6, which a coin reaches in 42 of 64 tries."
        )
        figure.get_by_role("button", name=again).click()
    assert seen[0] == GUESS
    assert len(set(seen)) == 12
    expect(figure.locator(".hit")).to_have_count(0)


@pytest.mark.parametrize(
    "name, right", [("serves", "4"), ("move", "No, missed"), ("still", "8")]
)
def test_an_answer_is_covered_until_one_guesses(visit, name, right):
    """And then the guess stays to be seen."""
    figure = visit().locator(f"#{name}")
    answer, says = figure.locator("g.answer"), figure.locator(".says")
    expect(answer).to_have_css("opacity", "0")
    expect(says).to_be_hidden()
    figure.get_by_role("button", name=right, exact=True).click()
    expect(answer).to_have_css("opacity", "1")
    expect(says).to_contain_text(f"Your guess: {right}. Yes.")


@pytest.mark.parametrize("scripts", [True, False])
def test_an_answer_can_be_opened_without_a_guess(visit, scripts):
    figure = visit(java_script_enabled=scripts).locator("#still")
    answer = figure.locator("g.answer")
    expect(answer).to_have_css("opacity", "0")
    figure.locator("summary").click()
    expect(answer).to_have_css("opacity", "1")
    expect(figure.locator(".asked .says")).to_be_visible()


def check_decision(figure, decision):
    """Bars, value and action are those of a decision."""
    value = f"{decision['value']:.2f}".replace("-", "\N{MINUS SIGN}")
    expect(figure.locator(".value")).to_have_text(value)
    shares = figure.locator(".choices span").all_text_contents()
    assert shares == [
        f"{100 * chance:.0f}\xa0%" for chance in decision["chances"]
    ]
    name = ["NOOP", "FIRE", "RIGHT", "LEFT"][decision["action"]]
    expect(figure.locator(".chosen")).to_contain_text(name)
    expect(figure.locator(".says")).to_contain_text(f"samples {name}")


def test_the_agent_is_shown_as_it_was_recorded(visit):
    figure = look_at(visit(), "agent")
    expect(figure.locator(".number")).to_have_text(f"step {MOMENT}")
    for step in MOMENT, 0, len(FILM.decisions) - 1:
        go_to(figure, step + 1)
        check_decision(figure, FILM.decisions[step])
        check(pictures(figure, ".whole"), [FILM.colours()[step]])
        check(pictures(figure, ".four"), PICTURES[step : step + 4])


def test_a_reader_moves_through_a_training(visit):
    """Curve, film, bars and score follow."""
    figure = look_at(visit(), "training")
    games = read("training/training")
    slider = figure.get_by_label("Trained for")
    for key, at in ("End", len(games) - 1), ("Home", 0), ("ArrowRight", 1):
        slider.press(key)
        expect(figure.locator(".stop").nth(at)).to_have_class(
            re.compile("now")
        )
        words = f"{games[at]['score']} points in the end"
        expect(figure.locator(".score")).to_have_text(words)
        figure.locator(".slide input").fill("100")
        check_decision(figure, games[at]["decisions"][99])
        screen = unpack(games[at]["screens"])[99]
        rgb = np.array(games[at]["rgb"], np.uint8)
        check(pictures(figure, ".whole"), [rgb[screen]])


def test_ghosts_are_seen_after_a_guess(visit):
    """Two of four with four frames to a step; with five each is seen."""
    figure = look_at(visit(), "ghosts")
    answer = figure.locator(".asked .says")
    expect(answer).to_be_hidden()
    expect(figure.locator(".gets .rings i")).to_have_count(0)
    figure.locator("summary").click()
    expect(answer).to_be_visible()
    says = figure.locator(".stage > .says")
    for frames, unseen in (4, 2), (5, 0), (8, 2), (1, 0):
        figure.get_by_label("Frames to a step").fill(str(frames))
        expect(figure.locator(".gets .unseen")).to_have_count(4 * unseen)
        words = "in none" if unseen else "Each ghost is in one"
        expect(says).to_contain_text(words)


def test_a_killed_worker_starts_over(visit):
    """Its pictures stand still and dim; the others play on."""
    page = visit("engine.html")
    page.clock.install(time=0)
    page.clock.pause_at(1)  # so that it is replaced when the test has looked
    figure = look_at(page, "kill")
    recorded = read("kill/eight")
    films = unpack(recorded["pictures"], 84, 84).reshape(8, -1, 84, 84)
    at = recorded["killed"] - 1
    check(pictures(figure, ".four"), films[:, at])
    figure.get_by_role("button", name="Kill it").last.click()
    expect(figure.locator(".dead")).to_have_count(1)
    check(pictures(figure, ".four"), films[:, at])
    page.clock.run_for(2000)
    expect(figure.locator(".dead")).to_have_count(0)
    expect(figure.locator(".says")).to_contain_text("Worker 1 was replaced.")
    check(pictures(figure, ".four"), [*films[:4, at], *films[4:, 0]])
    figure.get_by_role("button", name="Step").click()
    check(pictures(figure, ".four"), [*films[:4, at + 1], *films[4:, 1]])


def turn_knobs(figure, settings):
    """Turn the knobs of the workbench as `Game` has its options."""
    for name, label in (
        ("action_repeat", "Frames to a step"),
        ("stack", "Pictures in the stack"),
    ):
        figure.get_by_label(label).fill(str(settings.get(name, 4)))
    height, _ = settings.get("size", (84, 84))
    colour = "gray" if settings.get("grayscale", True) else "RGB"
    for label in str(height), colour:
        figure.get_by_role("radio", name=label, exact=True).check()


def seen_after(figure, ends):
    """What the workbench shows after so many of its frames, for each."""
    films = figure.evaluate(
        """(figure, ends) => ends.map((end) => {
            const slider = figure.querySelector(".slide input");
            slider.value = end;
            slider.dispatchEvent(new Event("input"));
            const shown = figure.querySelectorAll(
              ".shrunk div:not([hidden]) canvas");
            return [Number(slider.value),
              [...shown].map((canvas) => canvas.toDataURL())]; })""",
        list(ends),
    )
    assert [end for end, _ in films] == list(ends)
    for _, urls in films:
        yield [decoded(url) for url in urls]


@pytest.mark.parametrize("name", TITLES)
def test_the_workbench_shows_what_game_returns(visit, name):
    """Bit for bit: with the module's settings at every step, and with others
    at some.
    """
    title = TITLES[name]
    figure = look_at(visit(), "workbench")
    figure.get_by_label(name).check()
    for settings, every in (
        ({}, 1),
        ({"action_repeat": 3, "stack": 2}, 9),
        ({"size": (42, 42), "grayscale": False}, 9),
        ({"action_repeat": 8, "size": (160, 160), "stack": 1}, 9),
        ({"action_repeat": 1, "size": (42, 42), "stack": 3}, 25),
    ):
        options = {"on_life_loss": "ignore", "repeat_action_probability": 0.0}
        one = game.Game(0, title.env_id, **options, **settings)
        one.reset()
        repeat = one.action_repeat
        played = [one.step(action)[0] for action in title.actions[::repeat]]
        if settings:
            turn_knobs(figure, settings)
        before = len(title.actions) - SHOWN
        ends = range(4 * repeat, SHOWN + 1, every * repeat)
        for end, seen in zip(ends, seen_after(figure, ends), strict=True):
            check(seen, played[(before + end) // repeat - 1])
        call = figure.locator(".call").text_content()
        called = eval(call, {"Game": dict, "seed": {}})
        assert called == settings


def test_each_ghost_is_drawn_in_one_frame_of_four():
    """So the last two of four frames show the same two each time."""
    title = read("workbench/workbench")["Pac-Man"]
    pink = title["rgb"].index([252, 144, 200])
    screens = unpack(title["frames"], 4 * title["height"])
    screens = screens.reshape(SHOWN, -1, 160)[:, 19:200, 10:150]
    pixels = [np.argwhere(screen) for screen in screens == pink]
    assert max(np.ptp(ghost, axis=0).max() for ghost in pixels) < 20
    ghosts = np.array([ghost.mean(axis=0) for ghost in pixels])
    assert np.linalg.norm(ghosts[4:] - ghosts[:-4], axis=1).max() < 5
    for other in 1, 2, 3:
        ways = np.linalg.norm(ghosts[other:] - ghosts[:-other], axis=1)
        assert np.median(ways) > 20


def test_the_workbench_can_do_worse(visit):
    """The last frame of a step alone, and a pixel in place of a mean."""
    title = TITLES["Breakout"]
    options = {"action_repeat": 1, "stack": 1, "size": (210, 160)}
    one = game.Game(0, on_life_loss="ignore", **options)
    one.reset()
    frames = [one.step(action)[0][0] for action in title.actions][-SHOWN:]
    figure = look_at(visit(), "workbench")
    figure.get_by_label("Breakout").check()
    turn_knobs(figure, {"size": (42, 42), "stack": 1})
    figure.get_by_label("the maximum").uncheck()
    for label, way in (
        ("the mean", cv2.INTER_AREA),
        ("picking", cv2.INTER_NEAREST),
    ):
        figure.get_by_label(label).check()
        ends = range(16, SHOWN + 1, 16)
        for end, seen in zip(ends, seen_after(figure, ends), strict=True):
            picture = cv2.resize(frames[end - 1], (42, 42), interpolation=way)
            check(seen, [picture])
    figure.get_by_role("button", name="The module").click()
    expect(figure.get_by_label("the maximum")).to_be_checked()
