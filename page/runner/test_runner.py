"""Tests of the running tutorial: it shows what Python runs."""

import json
import re
import sys

import pytest
from playwright.sync_api import expect

import game
from paths import ROOT
from runner import trace

TEXT = trace.STEPS.read_text()
DATA = json.loads(re.search("(?m)^given.steps = (.*);$", TEXT)[1])
SCENES = {scene["name"]: scene for scene in DATA["scenes"]}
SOURCE = (ROOT / "game.py").read_text().splitlines()


def values_of(name):
    """What the lines of a scene show: texts by names."""
    for *_, numbers in SCENES[name]["lines"]:
        shown = (DATA["values"][number] for number in numbers)
        yield {name: text for name, text, _ in shown}


# What is recorded


def rows_run(call):
    """The rows of `Game` that Python runs; of a statement the first one."""
    found = []

    def follow(frame, event, _):
        name = frame.f_code.co_qualname
        if not name.startswith("Game.") or "<" in name:
            return None
        row = trace.statements()[frame.f_lineno].start
        if event == "line" and found[-1:] != [row]:
            found.append(row)
        return follow

    sys.settrace(follow)
    try:
        call()
    finally:
        sys.settrace(None)
    return found


@pytest.mark.parametrize("name", SCENES)
def test_a_scene_has_the_rows_that_python_runs(name):
    scene = SCENES[name]
    one = game.Game(scene["seed"], **scene["options"])
    if scene["action"] is None:
        ran = rows_run(one.reset)
    else:
        one.reset()
        for action in scene["actions"]:
            one.step(action)
        ran = rows_run(lambda: one.step(scene["action"]))
    assert [row for row, *_ in scene["lines"]] == ran


def test_what_is_recorded_again_is_the_same():
    again = trace.packed([*trace.scenes()])
    assert json.loads(json.dumps(again)) == DATA


def test_a_change_of_what_was_made_is_noticed(tmp_path, monkeypatch):
    assert trace.recorded() in TEXT
    monkeypatch.setattr(trace, "scenes", list)
    edited = tmp_path / "steps.js"
    edited.write_text(TEXT.replace("A brick", "The brick"))
    monkeypatch.setattr(trace, "STEPS", edited)
    assert trace.recorded() not in TEXT


@pytest.mark.parametrize(
    "mode, ends", [("restart", True), ("continue", True), ("ignore", False)]
)
def test_a_lost_life_ends_an_episode_as_the_mode_says(mode, ends):
    lines = [*values_of(f'A life is lost: "{mode}"')]
    answers = [values.get("_life_ends_episode()") for values in lines]
    assert set(answers) == {None, str(ends)}
    returned = lines[-1]["step()"]
    assert f"0.0, {ends}, " in returned
    assert ("'reward': 1.0" in returned) == (mode == "restart")


# In a browser


@pytest.fixture
def tutorial(visit):
    """The page, when its panel shows the first line."""

    def open_panel(width=1280, height=800, **options):
        page = visit("game.html", width, height, **options)
        expect(page.locator("#run .number")).to_have_text(re.compile(" of "))
        return page

    return open_panel


# Whether a part can be seen in the window, or in another part
IN_SIGHT = """([selector, around]) => {
    const part = document.querySelector(`#run ${selector}`);
    const { top, bottom } = part.getBoundingClientRect();
    const [least, most] = around ? (({ top, bottom }) => [top, bottom])(
      part.closest(around).getBoundingClientRect()) : [0, innerHeight];
    return top >= least - 1 && bottom <= most + 1; }"""


@pytest.mark.parametrize("width", [1280, 390])
def test_each_line_is_seen(tutorial, width):
    page = tutorial(width)
    for number, scene in enumerate(DATA["scenes"]):
        seen = page.evaluate(
            """([number, inSight]) => {
            const found = [];
            for (let n = 0, line; (line = Runner.show(number, n)); n++) {
              const here = document.querySelector("#run [aria-current=step]");
              found.push([line.row, line.inside, here.textContent.trimEnd(),
                eval(inSight)(["[aria-current=step]", "pre"])]);
            }
            return found; }""",
            [number, IN_SIGHT],
        )
        assert seen == [
            [row, inside, SOURCE[row - 1], True]
            for row, _, inside, _ in scene["lines"]
        ]


@pytest.mark.parametrize(
    "width, height, least",
    [
        (1280, 640, 240),
        (1280, 800, 240),
        (1024, 768, 240),
        (390, 664, 150),
        (320, 568, 120),
    ],
)
def test_the_picture_and_the_line_are_in_sight(tutorial, width, height, least):
    page = tutorial(width, height)
    page.evaluate("Runner.show(1, 30)")
    for part in ".console img", "[aria-current=step]":
        assert page.evaluate(IN_SIGHT, [part, None])
    assert page.locator("#run .console img").bounding_box()["width"] >= least


def test_a_line_shows_what_it_has_made(tutorial):
    page = tutorial()
    rewards = [values.get("reward") for values in values_of("A brick is hit")]
    show = "(n) => Runner.show(1, n)"
    shown = page.evaluate(show, rewards.index("1.0"))
    assert shown["values"]["reward"]["text"] == "1.0"
    assert len(shown["values"]["console"]["pictures"]) == 1
    expect(page.locator("#run .says")).to_contain_text("reward is 1.0")
    last = page.evaluate(show, len(rewards) - 1)
    assert len(last["values"]["step()"]["pictures"]) == 4
    expect(page.locator("#run .stack img")).to_have_count(4)
    assert page.evaluate(show, len(rewards)) is None


def test_it_plays_by_itself_while_it_is_seen(tutorial):
    """From the first line of a step, in silence."""
    page = tutorial(reduced_motion="no-preference")
    panel = page.locator("#run")
    play = panel.locator(".play")
    expect(play).to_have_text("Pause")
    expect(panel.get_by_label("Line", exact=True)).to_have_value("3")
    expect(panel.get_by_label("Scene")).to_have_value("A brick is hit")
    assert panel.locator(".says").evaluate("(says) => says.ariaLive") == "off"
    page.evaluate("scrollTo(0, 3000)")
    expect(play).to_have_text("Play")
    page.evaluate("scrollTo(0, 0)")
    expect(play).to_have_text("Pause")
    page.emulate_media(reduced_motion="reduce")
    expect(play).to_have_text("Play")


def test_keys_and_controls_go_through_the_lines(tutorial):
    fast = "const t = setTimeout; setTimeout = (call, ms) => t(call, ms / 10);"
    page = tutorial(script=f"{{ {fast} }}")
    panel = page.locator("#run")
    slider = panel.get_by_label("Line", exact=True)
    following = panel.get_by_role("button", name="Next line")
    panel.get_by_label("Scene").select_option("A game begins")
    expect(slider).to_have_value("0")
    following.focus()
    for key, at in [
        ("ArrowRight", "1"),
        ("ArrowRight", "2"),
        ("ArrowLeft", "1"),
        ("Alt+ArrowRight", "1"),
        ("Enter", "2"),
    ]:
        page.keyboard.press(key)
        expect(slider).to_have_value(at)
    panel.get_by_role("button", name="Back").click()
    expect(slider).to_have_value("1")
    slider.press("ArrowRight")  # by itself, once
    expect(slider).to_have_value("2")
    play = panel.get_by_role("button", name="Play")
    play.click()
    expect(slider).to_have_value(slider.get_attribute("max"))
    expect(play).to_be_visible()
    expect(following).to_be_disabled()
