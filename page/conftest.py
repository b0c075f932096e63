"""What the tests here share: a browser, and pages that nobody complains of."""

import pytest
from playwright.sync_api import expect

from paths import CHROMIUM, SITE

PATIENCE = 120_000  # ms, for a busy machine

expect.set_options(timeout=PATIENCE)


@pytest.fixture(scope="session")
def browser_type_launch_args(browser_type_launch_args):
    return browser_type_launch_args | {"executable_path": CHROMIUM}


@pytest.fixture
def visit(new_context):
    """Open a page, on which nothing moves unless it is asked to.

    In the end it has complained of nothing, and asked nobody else for a file.
    """
    complaints = []

    def visit(
        name="index.html",
        width=1280,
        height=900,
        anchor="",
        script="",
        **options,
    ):
        options = {"reduced_motion": "reduce"} | options
        size = {"width": width, "height": height}
        context = new_context(viewport=size, **options)
        context.add_init_script(script)
        page = context.new_page()
        page.set_default_timeout(PATIENCE)
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.goto((SITE / name).as_uri() + anchor)
        return page

    yield visit
    assert not complaints
