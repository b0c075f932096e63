"""Take a picture of each figure that moves, from the woven pages."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from playwright.sync_api import Page, sync_playwright

from paths import CHROMIUM, SITE


@contextmanager
def open_page(**options: Any) -> Iterator[Page]:
    """The story, in a browser."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM)
        page = browser.new_page(**options)
        page.goto((SITE / "index.html").as_uri())
        yield page
        browser.close()


def take(names: list[str]) -> None:
    size = {"width": 520, "height": 900}
    with open_page(
        viewport=size, device_scale_factor=2, reduced_motion="reduce"
    ) as page:
        page.add_init_script("Math.random = () => 0.5")  # the same games
        for path in SITE.glob("*.html"):
            page.goto(path.as_uri())
            page.evaluate("() => Agent.load()")  # which some show
            page.add_style_tag(content="header { display: none }")
            page.evaluate("() => Learn.begin(1)")
            page.evaluate("() => Learn.step(8 * 3600 * 12)")
            # Its style covers the still, too, until the reader has guessed.
            for answer in page.locator("#training details").all():
                answer.evaluate("(details) => { details.open = true; }")
            for figure in page.locator("figure:has(.stage .screen)").all():
                name = figure.get_attribute("id")
                if name not in names:
                    continue
                # The first screen is the picture of a page that is sent.
                wide = 1280 if name == "tease" else size["width"]
                page.set_viewport_size(size | {"width": wide})
                figure.scroll_into_view_if_needed()
                page.wait_for_timeout(500)
                still = SITE / f"figures/{name}.png"
                figure.locator(".screen").screenshot(path=still)
        if "runner" in names:  # which is for README
            page.set_viewport_size({"width": 1100, "height": 700})
            page.goto((SITE / "game.html").as_uri())
            page.evaluate("() => Runner.load()")
            page.add_style_tag(content="#run { padding: 12px }")
            page.evaluate("() => Runner.show(1, 52)")  # the maximum of two
            page.wait_for_timeout(500)
            still = SITE / "figures/runner.png"
            page.locator("#run").screenshot(path=still)
