"""
Tests of the figures: what they show is what `Game` and `Games` return.

    pip install -r requirements.txt --group page    # and a system's Chromium
    python -m pytest page/test_figures.py
"""

import base64
import json
import re
import xml.etree.ElementTree as xml
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import expect

import game
import recordings
from drawing import PICTURES
from figures import break_rules, read
from measured import measured
from recordings import NOOP, frames_of, unpack

ADDRESS = (PICTURES.parent / "index.html").as_uri()
FILMS = ["moving", "rules-figure", "modes-figure", "agent-figure"]
RECORDING = read("recording")
ACTIONS = [step[0] for step in RECORDING["steps"]]


# The recordings


def test_recordings_are_what_the_script_makes(monkeypatch, tmp_path):
    monkeypatch.setattr(recordings, "DATA", tmp_path)
    played = list(recordings.play())
    recordings.record(played)
    recordings.record_modes(played)
    recordings.record_rules(played)
    for path in tmp_path.iterdir():
        made = json.loads(path.read_text())
        assert made.items() <= read(path.stem).items(), path


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


def test_answers_to_which_way_are_right():
    one = game.Game(0)
    one.reset()
    seen = [None, *(one.step(action)[0] for action in ACTIONS)]
    for at, rises in RECORDING["ways"]:
        # In which row is the ball, between the bricks and the paddle?
        rows = seen[at][:, 38:75, 5:79].sum(axis=2)
        down = np.diff(rows @ np.arange(37) / rows.sum(axis=1))
        assert (down < 0).all() if rises else (down > 0).all(), at
    rising = [rises for _, rises in RECORDING["ways"]]
    assert 50 <= sum(rising) <= len(rising) - 50


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


def seen(figure, expression):
    """What an expression is in a figure's script; pictures are of `uint8`."""
    text = figure.evaluate(
        """(figure, expression) => {
        const slider = figure.querySelector("input[type=range]");
        const atEachStep = (see) => Array.from(
          { length: slider.max - slider.min + 1 }, (_, i) => {
            slider.value = Number(slider.min) + i;
            slider.dispatchEvent(new Event("input"));
            return see(Number(slider.value));
          });
        return JSON.stringify(eval(expression), (_, it) =>
          it instanceof Uint8Array
            ? { bytes: btoa(String.fromCharCode(...it)) } : it);
        }""",
        expression,
    )

    def decoded(found):
        if "bytes" not in found:
            return found
        return np.frombuffer(base64.b64decode(found["bytes"]), np.uint8)

    return json.loads(text, object_hook=decoded)


def test_a_step_is_what_game_returns(visit):
    figure = look_at(visit(), "moving")
    stacks = seen(figure, "moving.steps.map((_, i) => moving.stack(i))")
    one = game.Game(0)
    one.reset()
    for action, stack in zip(ACTIONS, stacks, strict=True):
        assert (one.step(action)[0].reshape(4, -1) == stack).all()


def test_a_broken_rule_is_what_numpy_and_opencv_make(visit):
    figure = look_at(visit(), "rules-figure")
    for rule, made in break_rules(list(recordings.play())).items():
        figure.locator(f"input[value={rule}]").check()
        told = seen(figure, f"atEachStep((at) => rules.see('{rule}', at))")
        for ours, theirs in zip(made, told, strict=True):
            for one, other in zip(ours, theirs, strict=True):
                assert np.array_equal(np.reshape(one, (len(one), -1)), other)
        differ = [not np.array_equal(*ours) for ours in made]
        assert sum(differ) >= len(made) / 2, rule


def test_thirty_starts_make_as_many_games_as_were_counted(visit):
    figure = look_at(visit(), "rules-figure")
    held = list(np.repeat(ACTIONS[:60], 4))
    games = {}
    for count in range(1, 31):
        frames = frames_of("Breakout", [NOOP] * count + held)[count:]
        games.setdefault(np.array(frames).tobytes(), []).append(count)
    assert seen(figure, "rules.games()") == list(games.values())
    assert len(games) == measured()["noop_starts"]


def test_one_picture_is_a_quiz(visit):
    page = visit(390, has_touch=True)
    figure = look_at(page, "rules-figure")
    figure.get_by_label("one picture").tap()
    absent, says = figure.locator(".sides .absent"), figure.locator(".says")
    for i, (word, right) in enumerate([("Right", 1), ("Wrong", 1)], 1):
        expect(absent).to_have_count(4)
        asked = seen(figure, "rules.asked()")
        assert [asked["at"], asked["up"]] in RECORDING["ways"]
        rises = asked["up"] == (word == "Right")
        button = figure.get_by_text("It rises" if rises else "It falls")
        if i == 1:
            button.tap()
        else:
            button.focus()
            page.keyboard.press("Enter")
        expect(absent).to_have_count(0)
        expect(says).to_contain_text(f"{word}: in step {asked['at']}")
        expect(says).to_contain_text(f"right in {right} of {i} round")
        page.keyboard.press("Enter")  # the focus is on the next round


def test_rules_by_keyboard(visit):
    page = visit()
    figure = look_at(page, "rules-figure")
    told, radios = set(), figure.locator("input[type=radio]").all()
    radios[0].focus()
    for radio in radios:
        expect(radio).to_be_checked()
        shown = figure.locator(".side:last-child span").inner_text()
        told.add((shown, figure.locator(".says").inner_text()))
        page.keyboard.press("ArrowRight")
    assert len(told) == len(radios) == 7


@pytest.mark.parametrize("mode", recordings.MODES)
def test_a_mode_is_what_game_returns(visit, mode):
    figure = look_at(visit(), "modes-figure")
    first = seen(figure, "modes.first")
    rgb = np.array(read("modes")["rgb"])
    one = game.Game(0, on_life_loss=mode)
    one.reset()
    for action in ACTIONS[: first - 1]:
        one.step(action)
    ends = 0
    which = recordings.MODES.index(mode)
    what = "reward, done, lives, info, screen, stack, final"
    steps = f"modes.played[{which}].map(({{ {what} }}) => ({{ {what} }}))"
    for i, told in enumerate(seen(figure, steps)):
        obs_4, reward, done, info = one.step(ACTIONS[first - 1 + i])
        assert (told["reward"], told["done"]) == (reward, done)
        assert told["info"] == info
        assert told["lives"] == one.env.unwrapped.ale.lives()
        screen = rgb[told["screen"]].reshape(210, 160, 3)
        assert (screen == one.render()).all()
        if i >= 3:
            assert np.array_equal(told["stack"], obs_4.reshape(4, -1))
        final = one.final_obs.reshape(4, -1) if done else None
        assert np.array_equal(told["final"], final)
        ends += done
    assert ends == (mode != "ignore")


def test_the_agent_sees_what_was_recorded(visit):
    figure = look_at(visit(), "agent-figure")
    agent = read("agent")
    frames = np.reshape([*unpack(agent["frames"], 84, 84)], (-1, 84 * 84))
    assert np.array_equal(seen(figure, "agent.frames"), frames)
    screens = np.reshape([*unpack(agent["screens"])], (-1, 210 * 160))
    order = [30, 10, 11, 49]  # back, too
    told = seen(figure, f"{order}.map((at) => agent.screenAt(at))")
    assert np.array_equal(told, screens[order])
    score = figure.locator("#agent-score")
    expect(score).to_contain_text(f" {agent['score']} points")


@pytest.mark.parametrize("name", FILMS)
def test_films_move_by_slider_and_marks(visit, name):
    """Each step has its own words, which are read out."""
    figure = look_at(visit(), name)
    expect(figure.locator(".play")).to_have_text("Play")  # and nothing moves
    says = "figure.querySelector('.says')"
    told = seen(figure, f"atEachStep(() => {says}.textContent)")
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
            heights = seen(
                figure,
                """atEachStep(() => {
                  const before = figure.offsetHeight;
                  figure.querySelector(".answers:not([hidden]) :enabled")
                    ?.click();
                  return [before, figure.offsetHeight]; })""",
            )
            assert set(sum(heights, [])) == {height}, name
    assert page.evaluate("document.documentElement.scrollWidth") == width
    assert page.evaluate("""
        [...document.querySelectorAll(".moves canvas:not(#where)")]
        .filter((canvas) => canvas.offsetParent)
        .every((canvas) => canvas.offsetWidth % canvas.width === 0)""")
