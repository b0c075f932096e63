"""What the tests here share: a browser, and pages that nobody complains of."""

import base64
import re

import cv2
import numpy as np
import pytest
from playwright.sync_api import expect

from paths import CHROMIUM, DOCS

PATIENCE = 120_000  # ms, for a busy machine

expect.set_options(timeout=PATIENCE)


def html(page):
    return (DOCS / page).read_text()


@pytest.fixture(scope="session")
def browser_type_launch_args(browser_type_launch_args):
    return browser_type_launch_args | {"executable_path": CHROMIUM}


@pytest.fixture
def visit(new_context):
    """Open a page, on which nothing moves unless it is asked to.

    In the end it has complained of nothing, and asked nobody else for a file.
    """
    complaints = []

    def visit(name="index.html", width=1280, **options):
        options = {"reduced_motion": "reduce"} | options
        size = {"width": width, "height": 900}
        page = new_context(viewport=size, **options).new_page()
        page.set_default_timeout(PATIENCE)
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.goto((DOCS / name).as_uri())
        return page

    yield visit
    assert not complaints


def look_at(page, name):
    """Bring a figure into view, where it begins; return it."""
    figure = page.locator(f"#{name}")
    figure.scroll_into_view_if_needed()
    expect(figure).to_have_class(re.compile("begun"))
    return figure


def until(page, name, condition):
    """Wait until something is so of the game in a figure."""
    page.wait_for_function(
        f"() => document.getElementById('{name}').playing().{condition}"
    )


def decoded(url):
    """The picture of a canvas, in RGB and how much it covers."""
    data = np.frombuffer(base64.b64decode(url.split(",")[1]), np.uint8)
    return cv2.imdecode(data, cv2.IMREAD_UNCHANGED)[..., [2, 1, 0, 3]]
