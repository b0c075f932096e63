"""
Tests of what the pages promise, however they are used: by keys, by a finger,
in large letters, on paper.
"""

import re

import pytest
from playwright.sync_api import expect

from paths import SITE
from weave.pages import PAGES

# In an old browser


def test_what_a_browser_lacks_is_told_where_a_figure_would_move(new_context):
    """And its contents are a list of links."""
    context = new_context(reduced_motion="reduce")
    context.add_init_script("""
        delete window.DecompressionStream;
        delete HTMLElement.prototype.hidePopover;""")
    page = context.new_page()
    errors = []
    page.on("pageerror", lambda error: errors.append(error.name))
    page.goto((SITE / "game.html").as_uri())
    figure = page.locator("#workbench")
    figure.scroll_into_view_if_needed()
    expect(figure.locator(".missing")).to_be_visible()
    expect(figure.get_by_role("button", name="Play")).to_be_hidden()
    expect(figure.locator(".screen > img")).to_have_css("opacity", "1")
    page.locator("#here").click()
    page.locator("#contents a").first.click()
    assert all(name.endswith("ReferenceError") for name in errors)


# How it is used


@pytest.mark.parametrize("name", PAGES)
def test_a_figure_is_for_everybody(visit, name):
    """Tab finds each control before its figure begins: those that are there
    when the page has come are all that there are. A finger finds it, too, and
    there are words for who can't see.
    """
    page = visit(name, width=390)
    controls = """() => [...document.querySelectorAll(
        "figure :is(button, input, summary, [tabindex='0'])")]
        .filter((one) => one.checkVisibility({ visibilityProperty: true }))"""
    before = page.evaluate(f"({controls})().length")
    for figure in page.locator("figure:has(.stage)").all():
        figure.scroll_into_view_if_needed()
        page.wait_for_timeout(100)
        assert figure.get_by_role("img", name=re.compile(".")).count()
    assert page.evaluate(f"({controls})().length") == before
    small = page.evaluate(f"""() => ({controls})()
        .map((one) => one.closest("label") ?? one)
        .filter((one) => one.getBoundingClientRect().height < 24)
        .map((one) => one.outerHTML.slice(0, 80))""")
    assert not small


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
    # No guess can be made on paper, so no picture waits for one.
    expect(page.locator("#training .screen > img")).to_have_css(
        "filter", "none"
    )
