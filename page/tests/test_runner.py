"""Tests of the running tutorial: it shows what Python runs."""

import json
import re
import sys

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

import game
from conftest import html
from paths import ROOT
from runner import record

TEXT = record.STEPS.read_text()
DATA = json.loads(re.search("(?m)^given.steps = (.*);$", TEXT)[1])
NAMES = [scene["name"] for scene in DATA["scenes"]]
SOURCE = (ROOT / "game.py").read_text().splitlines()
PART_ONE = next(
    row for row, line in enumerate(SOURCE, 1) if record.END in line
)


def lines_of(name):
    """The lines of a scene: row, functions, and texts by names."""
    [scene] = [scene for scene in DATA["scenes"] if scene["name"] == name]
    for row, inside, numbers in scene["lines"]:
        shown = (DATA["values"][number] for number in numbers)
        yield row, inside, {name: text for name, text, _ in shown}


# What is recorded


def is_of_part_one(frame):
    code = frame.f_code
    in_line = code.co_name.startswith("<")
    is_here = code.co_filename == game.__file__
    return is_here and not in_line and code.co_firstlineno < PART_ONE


def run(call):
    """The rows of part one that Python runs, and the functions around each.

    A statement of several rows counts once, by its first one.
    """
    found = []

    def trace(frame, event, _):
        if not is_of_part_one(frame):
            return None
        if event == "line":
            outer, names = frame, []
            while outer:
                if is_of_part_one(outer):
                    names.insert(0, outer.f_code.co_name)
                outer = outer.f_back
            row = record.statements()[frame.f_lineno].start
            if found[-1:] != [(row, names)]:
                found.append((row, names))
        return trace

    sys.settrace(trace)
    try:
        call()
    finally:
        sys.settrace(None)
    return found


@pytest.mark.parametrize("scene", DATA["scenes"][:5], ids=NAMES[:5])
def test_a_scene_has_the_rows_that_python_runs(scene):
    one = game.Game(scene["seed"], **scene["options"])
    if scene["action"] is not None:
        one.reset()
    for action in scene["actions"]:
        one.step(action)
    ran = run(
        one.reset
        if scene["action"] is None
        else lambda: one.step(scene["action"])
    )
    shown = [(row, inside) for row, inside, _ in scene["lines"]]
    assert shown == ran


def test_what_is_recorded_again_is_the_same():
    """In both processes; only the sizes of messages may differ, by Python."""

    def told(data):
        return re.sub("[0-9,]+ bytes", "bytes", json.dumps(data))

    assert told(record.packed([*record.scenes()])) == told(DATA)


def test_a_change_is_noticed(tmp_path, monkeypatch):
    """Of part one, and of what was made."""
    assert record.recorded() in TEXT
    monkeypatch.setattr(record, "scenes", list)
    edited = tmp_path / "steps.js"
    edited.write_text(TEXT.replace("28,379", "28,380"))
    with monkeypatch.context() as patch:
        patch.setattr(record, "STEPS", edited)
        assert record.recorded() not in TEXT
    with monkeypatch.context() as patch:
        patch.setattr(record, "END", "# ### One step")
        assert record.recorded() not in TEXT


@pytest.mark.parametrize(
    "mode, ends", [("restart", True), ("continue", True), ("ignore", False)]
)
def test_a_lost_life_ends_an_episode_as_the_mode_says(mode, ends):
    lines = [values for *_, values in lines_of(f'A life is lost: "{mode}"')]
    answers = [values.get("_life_ends_episode()") for values in lines]
    assert set(answers) == {None, str(ends)}
    returned = lines[-1]["step()"]
    assert f"0.0, {ends}, " in returned
    assert ("'reward': 1.0" in returned) == (mode == "restart")


def test_the_pipe_is_seen_with_its_sizes():
    lines = [values for name in NAMES[5:] for *_, values in lines_of(name)]
    crossed = [values["pipe"] for values in lines if "pipe" in values]
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


def marked(page):
    return page.locator("main [aria-current=step]").all_text_contents()


def test_each_line_is_marked_where_it_stands(tutorial):
    """In the window, above the bar, in all scenes to their end."""
    page = tutorial()
    for number, scene in enumerate(DATA["scenes"]):
        seen = page.evaluate(
            """async (number) => {
            await Runner.load();
            const seen = [];
            for (let n = 0, line; (line = Runner.show(number, n)); n++) {
              const here = document.querySelector("main [aria-current=step]");
              const { top, bottom } = here.getBoundingClientRect();
              const bar = document.querySelector(".runner");
              seen.push([line.row, line.inside, here.textContent.trimEnd(),
                top > 0 && bottom < bar.getBoundingClientRect().top]);
            }
            return seen; }""",
            number,
        )
        assert seen == [
            [row, inside, SOURCE[row - 1], True]
            for row, inside, _ in scene["lines"]
        ]


def test_what_has_changed_is_marked(tutorial):
    page = tutorial()
    rewards = [values.get("reward") for *_, values in lines_of(NAMES[1])]
    show = "(n) => Runner.show(1, n)"
    shown = page.evaluate(show, rewards.index("1.0"))
    assert shown["values"]["reward"]["text"] == "1.0"
    expect(page.locator(".runner div.new")).to_contain_text("reward1.0")
    last = page.evaluate(show, len(rewards) - 1)
    assert len(last["values"]["step()"]["pictures"]) == 4
    assert page.evaluate(show, len(rewards)) is None


def test_keys_and_controls_go_through_the_lines(tutorial):
    page = tutorial()
    bar = page.locator(".runner")
    slider = bar.get_by_label("Line", exact=True)
    expect(bar.get_by_role("button", name="Next line")).to_be_focused()
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
    bar.get_by_label("Scene").select_option("A close")
    expect(slider).to_have_value("0")
    bar.get_by_label("Scene").press("ArrowRight")
    play = bar.get_by_role("button", name="Play")
    play.click()
    expect(slider).to_have_value(slider.get_attribute("max"))
    expect(play).to_be_visible()
    page.keyboard.press("Escape")
    expect(bar).to_be_hidden()
    expect(page.locator("#run")).to_be_focused()
    assert not marked(page)
    page.keyboard.press("ArrowRight")
    assert not marked(page)


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
