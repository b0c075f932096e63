"""Tests of the running tutorial: it shows what Python runs."""

import json
import re
import sys

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

import game
from asking import html
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


@pytest.mark.parametrize("scene", DATA["scenes"][:5])
def test_a_scene_has_the_rows_that_python_runs(scene):
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
    """In both processes; only the sizes of messages may differ, by Python."""

    def told(data):
        return re.sub("[0-9,]+ bytes", "bytes", json.dumps(data))

    assert told(trace.packed([*trace.scenes()])) == told(DATA)


def test_a_change_is_noticed(tmp_path, monkeypatch):
    """Of what was made, and of part one."""
    assert trace.recorded() in TEXT
    monkeypatch.setattr(trace, "scenes", list)
    edited = tmp_path / "steps.js"
    edited.write_text(TEXT.replace("28,379", "28,380"))
    for name, other in ("STEPS", edited), ("END", "# ### One step"):
        with monkeypatch.context() as patch:
            patch.setattr(trace, name, other)
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


def test_the_pipe_is_seen_with_its_sizes():
    scenes = map(values_of, [*SCENES][5:])
    crossed = [
        values["pipe"]
        for lines in scenes
        for values in lines
        if "pipe" in values
    ]
    there, back = "program → worker", "worker → program"
    ways = [text.partition(":")[0] for text in crossed]
    assert ways == [there, back] * 3 + [there]
    observation, size = crossed[1].split(" in ")
    assert "uint8 (4, 84, 84)" in observation
    assert int(re.sub(r"\D", "", size)) > 4 * 84 * 84
    assert "ValueError" in crossed[5]


# In a browser


@pytest.fixture
def tutorial(visit):
    """The page with its bar, opened by the button."""

    def open_bar(width=1280, **options):
        page = visit("game.html", width, **options)
        page.locator("#run").click()
        expect(page.locator(".runner")).to_be_visible()
        return page

    return open_bar


# What is marked, whether it can be seen, and whether all pictures can.
SEEN = """() => {
    const here = document.querySelector("main [aria-current=step]");
    const { top, bottom } = here.getBoundingClientRect();
    const bar = document.querySelector(".runner").getBoundingClientRect().top;
    const head = document.querySelector("header").offsetHeight;
    const shots = document.querySelector(".shots");
    return [here.textContent.trimEnd(), top >= head && bottom <= bar,
      shots.scrollWidth <= shots.clientWidth]; }"""


@pytest.mark.parametrize("width", [1280, 390])
def test_each_line_and_its_pictures_are_seen(tutorial, width):
    page = tutorial(width)
    at_first = page.evaluate(SEEN)
    assert at_first[1:] == [True, True]
    for number, scene in enumerate(DATA["scenes"]):
        seen = page.evaluate(
            """([number, seen]) => {
            const found = [];
            for (let n = 0, line; (line = Runner.show(number, n)); n++) {
              found.push([line.row, line.inside, ...eval(seen)()]);
            }
            return found; }""",
            [number, SEEN],
        )
        assert seen == [
            [row, inside, SOURCE[row - 1], True, True]
            for row, _, inside, _ in scene["lines"]
        ]


def test_what_has_changed_is_marked(tutorial):
    page = tutorial()
    rewards = [values.get("reward") for values in values_of("A brick is hit")]
    show = "(n) => Runner.show(1, n)"
    shown = page.evaluate(show, rewards.index("1.0"))
    assert shown["values"]["reward"]["text"] == "1.0"
    assert len(shown["values"]["console"]["pictures"]) == 1
    expect(page.locator(".runner .texts .new")).to_have_text("reward1.0")
    last = page.evaluate(show, len(rewards) - 1)
    assert len(last["values"]["step()"]["pictures"]) == 4
    assert page.evaluate(show, len(rewards)) is None


def test_keys_and_controls_go_through_the_lines(tutorial):
    page = tutorial()
    bar = page.locator(".runner")
    slider = bar.get_by_label("Line", exact=True)
    following = bar.get_by_role("button", name="Next line")
    expect(following).to_be_focused()
    bar.get_by_label("Scene").select_option("A close")
    expect(slider).to_have_value("0")
    following.focus()
    for key, at in [
        ("ArrowRight", "1"),
        ("ArrowRight", "2"),
        ("ArrowLeft", "1"),
        ("Alt+ArrowRight", "1"),
        ("Control+ArrowRight", "1"),
        ("Enter", "2"),
    ]:
        page.keyboard.press(key)
        expect(slider).to_have_value(at)
    bar.get_by_role("button", name="Back").click()
    expect(slider).to_have_value("1")
    slider.press("ArrowRight")  # by itself, once
    expect(slider).to_have_value("2")
    play = bar.get_by_role("button", name="Play")
    play.click()
    expect(slider).to_have_value(slider.get_attribute("max"))
    expect(play).to_be_visible()
    expect(following).to_be_disabled()
    page.keyboard.press("Escape")
    expect(bar).to_be_hidden()
    expect(page.locator("#run")).to_be_focused()
    expect(page.locator("#run")).to_be_in_viewport()
    page.keyboard.press("ArrowRight")
    expect(page.locator("main [aria-current=step]")).to_have_count(0)


@pytest.mark.parametrize(
    "width, scheme, font", [(1280, "light", 16), (320, "dark", 32)]
)
def test_the_bar_fits(tutorial, width, scheme, font):
    """In a font of twice the size, too; axe finds nothing."""
    page = tutorial(width, color_scheme=scheme)
    page.add_style_tag(content=f":root {{ font-size: {font}px }}")
    page.evaluate("Runner.show(2, Runner.scenes[2].lines.length - 1)")
    assert page.evaluate("document.documentElement.scrollWidth") == width
    for part in page.locator(".runner :is(button, select, input)").all():
        part.scroll_into_view_if_needed()
        box = part.bounding_box()
        assert box["height"] >= 24
        assert box["x"] >= 0 and box["x"] + box["width"] <= width
    found = Axe().run(page, options={"preload": False})
    assert found.violations_count == 0, found.generate_report()


def test_a_recording_that_does_not_come_is_asked_for_again(visit):
    page = visit("game.html")
    page.evaluate("""() => {
        window.append = document.head.append;
        document.head.append = ({ onerror }) => setTimeout(onerror); }""")
    page.locator("#run").click()
    expect(page.locator(".run [role=status]")).not_to_be_empty()
    page.evaluate("() => { document.head.append = append; }")
    page.locator("#run").click()
    expect(page.locator(".runner")).to_be_visible()
    expect(page.locator(".run [role=status]")).to_be_empty()


def test_who_does_not_press_has_the_page_alone(visit, tutorial):
    """Nor has a reader without scripts, or on paper."""
    expect(visit("game.html").locator(".runner")).to_be_hidden()
    page = visit("game.html", java_script_enabled=False)
    expect(page.locator("#run")).to_be_hidden()
    page = tutorial()
    page.emulate_media(media="print")
    for part in "#run", ".runner":
        expect(page.locator(part)).to_be_hidden()
    assert 'id="run"' not in html("engine.html")
