"""
Tests of what the pages promise, whatever arrives, and however they are used:
on a bad line, in two tabs, translated, on paper, by keys, in large letters.
"""

import json
import re

import pytest
from asking import look_at, until
from playwright.sync_api import expect

from paths import SITE
from weave.pages import PAGES

KEPT = "localStorage['breakout-annotated']"
# The first answer is lost, or is one of a hotel's login page.
LOST = [lambda route: route.abort(), lambda route: route.fulfill(body="<p>")]


def refuse_once(page, name, refuse):
    """Let a file of data arrive only when it is asked for again."""
    tries = []

    def answer(route):
        tries.append(route)
        if len(tries) == 1:
            refuse(route)
        else:
            route.fulfill(path=SITE / f"data/{name}.js")

    page.route(f"**/data/{name}.js", answer)


@pytest.fixture
def served(new_context):
    """The story from a server, from which something may not arrive."""
    size = {"width": 1280, "height": 900}
    page = new_context(viewport=size, reduced_motion="reduce").new_page()
    page.set_default_timeout(120_000)
    site = "http://pages.test/"
    page.route(
        f"{site}**",
        lambda route: route.fulfill(
            path=SITE / route.request.url.removeprefix(site)
        ),
    )
    page.goto(f"{site}index.html")
    return page


# What didn't arrive


@pytest.mark.parametrize("refuse", LOST)
@pytest.mark.parametrize(
    "name, figure", [("moment", "step"), ("ended", "ended")]
)
def test_a_figure_asks_again_for_what_did_not_arrive(
    served, name, figure, refuse
):
    page = served
    refuse_once(page, name, refuse)
    box = page.locator(f"#{figure}")
    box.scroll_into_view_if_needed()
    again = box.get_by_role("button", name="Ask again")
    expect(again).to_be_visible()
    expect(box.locator(".screen > img")).to_have_css("opacity", "1")
    again.click()
    expect(box).to_have_class(re.compile("begun"))
    expect(again).to_have_count(0)


@pytest.mark.parametrize("refuse", LOST)
@pytest.mark.parametrize("part", [0, 3, 7])
def test_nothing_that_is_half_loaded_plays(served, part, refuse):
    """The network is asked for again by the same button, which keeps the focus
    while it loads.
    """
    page = served
    figure = look_at(page, "away")
    refuse_once(page, f"network{part}", refuse)
    play = figure.locator(".play")
    play.click()
    expect(figure.locator(".tells")).to_contain_text("didn't arrive")
    assert figure.evaluate("(figure) => figure.playing().count") == 0
    expect(play).to_be_focused()
    play.click()
    until(page, "away", "count > 8")
    assert figure.evaluate("(figure) => figure.playing().answer.value > -9")


# What is kept


@pytest.mark.parametrize("stored", ['"done"', "3", "true", "[1]", "no JSON"])
def test_what_others_have_stored_harms_nothing(visit, stored):
    page = visit()
    for name in "results", "breakout-annotated":
        page.evaluate(f"localStorage.setItem('{name}', {json.dumps(stored)})")
    page.reload()
    page.evaluate("count('you', 7)")
    expect(page.locator("#yours")).to_contain_text("7")
    assert page.evaluate(f"JSON.parse({KEPT}).you[0]") == 7


def test_two_tabs_keep_what_each_has(visit):
    one = visit()
    other = one.context.new_page()
    other.goto(one.url)
    other.evaluate("remember('move', 'Yes', 'No')")
    one.evaluate("remember('looks', 'The wall', 'The ball')")
    assert one.evaluate(f"Object.keys(JSON.parse({KEPT})).sort()") == [
        "looks",
        "move",
    ]


# How it is used


def test_a_translated_page_can_be_answered(visit):
    """Browsers wrap each text in an element of their own."""
    page = visit()
    page.evaluate("""() => {
        const texts = document.createTreeWalker(document.querySelector("main"),
          NodeFilter.SHOW_TEXT);
        const found = [];
        while (texts.nextNode()) found.push(texts.currentNode);
        for (const text of found.filter((one) => one.data.trim())) {
          const font = document.createElement("font");
          text.replaceWith(font);
          font.append(text);
        } }""")
    for name in "still", "move", "serves":
        figure = page.locator(f"#{name}")
        figure.locator(".choice font").nth(1).click()
        expect(figure.locator("details p").first).to_be_visible()


@pytest.mark.parametrize("opens", ["summary", ".choice button"])
def test_the_focus_goes_on_to_the_answer(visit, opens):
    page = visit()
    figure = page.locator("#serves")
    figure.locator(opens).first.press("Enter")
    expect(figure.locator(".says")).to_be_focused()


@pytest.mark.parametrize("key", ["Enter", "Space"])
def test_a_wrong_line_is_found_by_either_key(visit, key):
    page = visit()
    page.locator("details:has([data-wrong]) > summary").click()
    for bug in page.locator("[data-wrong]").all():
        wrong = int(bug.get_attribute("data-wrong").split()[0])
        bug.locator("pre [role=button]").nth(wrong - 1).press(key)
        expect(bug.locator("details p")).to_be_visible()


@pytest.mark.parametrize(
    "name, part",
    [
        ("network", ".handle.ball"),
        ("network", ".handle.way"),
        ("looks", ".pane"),
        ("play", ".field"),
    ],
)
def test_keys_with_alt_ctrl_or_cmd_are_the_browsers(visit, name, part):
    page = visit()
    figure = look_at(page, name)
    taken = figure.locator(part).evaluate("""(part) =>
        [{ altKey: true }, { ctrlKey: true },
          { metaKey: true }].map((held) => {
          const press = new KeyboardEvent("keydown", { key: "ArrowLeft",
            bubbles: true, cancelable: true, ...held });
          part.dispatchEvent(press);
          return press.defaultPrevented; })""")
    assert taken == [False] * 3


@pytest.mark.parametrize("name", PAGES)
def test_tab_finds_each_control_before_its_figure_begins(visit, name):
    """Those that are there when the page has come are all that there are."""
    page = visit(name)
    controls = """() => [...document.querySelectorAll(
        "figure :is(button, input, summary, [tabindex='0'])")]
        .filter((one) => one.checkVisibility({ visibilityProperty: true }))
        .length"""
    before = page.evaluate(controls)
    for figure in page.locator("figure:has(.stage)").all():
        figure.scroll_into_view_if_needed()
        page.wait_for_timeout(100)
    assert page.evaluate(controls) == before


@pytest.mark.parametrize("name", PAGES)
def test_each_control_is_large_enough_for_a_finger(visit, name):
    page = visit(name, width=390)
    small = page.evaluate("""() => [...document.querySelectorAll(
        "figure :is(button, input, summary), [data-wrong] [role=button]")]
        .map((one) => one.closest("label") ?? one)
        .filter((one) => one.checkVisibility({ visibilityProperty: true }))
        .filter((one) => one.getBoundingClientRect().height < 24)
        .map((one) => one.outerHTML.slice(0, 80))""")
    assert not small


# For whom


@pytest.mark.parametrize("name", PAGES)
def test_each_figure_has_words_for_who_cannot_see_it(visit, name):
    """Before it begins, and after."""
    page = visit(name)
    for figure in page.locator("figure:has(canvas)").all():
        figure.scroll_into_view_if_needed()
        words = figure.get_by_role("img").first
        assert words.get_attribute("alt")


@pytest.mark.parametrize("name", PAGES)
@pytest.mark.parametrize("width, letters", [(320, 16), (390, 32)])
def test_all_is_there_in_a_small_window_and_in_large_letters(
    browser_type, browser_type_launch_args, name, width, letters
):
    """Letters of twice the size are twice as large, wherever they stand."""
    letters_of = [f"--blink-settings=defaultFontSize={letters}"]
    browser = browser_type.launch(**browser_type_launch_args, args=letters_of)
    page = browser.new_page(
        viewport={"width": width, "height": 900}, reduced_motion="reduce"
    )
    page.goto((SITE / name).as_uri())
    for figure in page.locator("figure").all():
        figure.scroll_into_view_if_needed()
    assert page.evaluate("document.documentElement.scrollWidth") == width
    small = page.evaluate(
        """(least) => [...document.querySelectorAll(
        "main :is(p, li, td, figcaption, button, label, summary, small)")]
        .filter((one) => parseFloat(getComputedStyle(one).fontSize) < least)
        .map((one) => one.outerHTML.slice(0, 80))""",
        0.68 * letters,
    )
    browser.close()
    assert not small


def test_nothing_is_lost_in_a_contrast_theme(visit):
    """Bars and ticks are drawn by what such a theme leaves."""
    page = visit(forced_colors="active")
    figure = look_at(page, "agent")
    bars = figure.locator(".choices div").first
    assert "gradient" in bars.evaluate(
        "(bar) => getComputedStyle(bar).backgroundImage"
    )
    ticks = figure.locator(".ticks i").first
    assert ticks.evaluate("(tick) => tick.getBoundingClientRect().width") > 0
    expect(ticks).to_have_css("border-left-style", "solid")


def test_all_figures_are_printed(visit):
    """Also those that nobody has scrolled to: their pictures are there."""
    page = visit()
    page.emulate_media(media="print")
    page.pdf()
    missing = page.evaluate("""() => [...document.querySelectorAll(
        "figure:not(.begun) .screen > img")].filter((img) =>
          !img.complete || !img.naturalWidth).map((img) => img.src)""")
    assert not missing
    expect(page.locator(".screen").first).to_have_css(
        "print-color-adjust", "exact"
    )
