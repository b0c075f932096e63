"""
Tests of what the pages promise, however they are used: by keys, by a finger,
in large letters, on paper.
"""

import re

import pytest
from axe_playwright_python.sync_playwright import Axe
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


CONTROLS = """[...document.querySelectorAll(
    "figure :is(button, input, summary, [tabindex='0'])")].filter((one) =>
        one.checkVisibility({ visibilityProperty: true }))"""


@pytest.mark.parametrize("name", PAGES)
@pytest.mark.parametrize("width, scheme", [(1280, "light"), (320, "dark")])
def test_a_page_is_for_everybody(visit, name, width, scheme):
    """From top to bottom it is as wide as the window, as are its figures, and
    nothing moves when one begins, however late its data come.

    Tab finds each control before its figure begins: those that are there when
    the page has come are all that there are. A finger finds it, too. There are
    words for who can't see. Axe finds nothing.
    """
    page = visit(name, width, color_scheme=scheme)
    late = []
    page.route("**/data/*.js?v=*", lambda route: late.append(route))
    page.reload(wait_until="domcontentloaded")
    page.evaluate("""async () => {
        await document.fonts.ready;
        // The letters are drawn in the next frame, or the one after it.
        window.drawn = async () => {
          await new Promise(requestAnimationFrame);
          await new Promise(requestAnimationFrame);
        };
        await drawn();
        window.shift = 0;
        const start = performance.now();  // What moved before may come late.
        new PerformanceObserver((list) => {
          for (const { startTime, value } of list.getEntries())
            if (startTime > start) shift += value;
        }).observe({ type: "layout-shift" }); }""")
    height = page.evaluate("document.documentElement.scrollHeight")
    controls = page.evaluate(f"{CONTROLS}.length")
    page.route("**/data/*.js?v=*", lambda route: route.continue_())
    for route in late:
        route.continue_()
    for top in range(0, height, 800):
        page.evaluate("(top) => scrollTo(0, top)", top)
        page.wait_for_timeout(50)
    expect(page.locator("figure:has(.stage):not(.begun)")).to_have_count(0)
    page.evaluate("drawn()")
    assert page.evaluate("shift") < 0.01
    now = page.evaluate("document.documentElement.scrollHeight")
    assert abs(now - height) < 3
    assert page.evaluate("document.documentElement.scrollWidth") == width
    beyond = page.evaluate("""() =>
        [...document.querySelectorAll("figure :not(svg *)")].filter((part) => {
          const { left, right } = part.getBoundingClientRect();
          return left < -1 || right > innerWidth + 1;
        }).map((part) => part.outerHTML.slice(0, 80))""")
    assert not beyond
    assert page.evaluate(f"{CONTROLS}.length") == controls
    small = page.evaluate(f"""() => {CONTROLS}
        .map((one) => one.closest("label") ?? one)
        .filter((one) => one.getBoundingClientRect().height < 24)
        .map((one) => one.outerHTML.slice(0, 80))""")
    assert not small
    for figure in page.locator("figure:has(.stage)").all():
        assert figure.get_by_role("img", name=re.compile(".")).count()
    options = {"preload": False, "resultTypes": ["violations"]}
    if scheme == "dark":  # on which the contrast alone depends
        options["runOnly"] = ["color-contrast"]
    found = Axe().run(page, options=options)
    assert found.violations_count == 0, found.generate_report()


@pytest.mark.parametrize("name", PAGES)
def test_all_is_there_in_large_letters(
    browser_type, browser_type_launch_args, name
):
    """Letters of twice the size are twice as large, wherever they stand."""
    letters = ["--blink-settings=defaultFontSize=32"]
    browser = browser_type.launch(**browser_type_launch_args, args=letters)
    page = browser.new_page(
        viewport={"width": 390, "height": 900}, reduced_motion="reduce"
    )
    page.goto((SITE / name).as_uri())
    for figure in page.locator("figure:visible").all():
        figure.scroll_into_view_if_needed()
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    small = page.evaluate(
        """(least) => [...document.querySelectorAll(
        "main :is(p, li, td, figcaption, button, label, summary, small)")]
        .filter((one) => parseFloat(getComputedStyle(one).fontSize) < least)
        .map((one) => one.outerHTML.slice(0, 80))""",
        0.68 * 32,
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
