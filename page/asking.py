"""What tests ask of a page that is open in a browser."""

import base64
import re

import cv2
import numpy as np
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from paths import SITE
from weave.pages import PAGES


def html(page):
    return (SITE / page).read_text()


def page_of(name):
    """The page that has a figure."""
    return next(page for page in PAGES if f'id="{name}"' in html(page))


def look_at(page, name):
    """Bring a figure into view, where it begins; return it."""
    figure = page.locator(f"#{name}")
    figure.scroll_into_view_if_needed()
    expect(figure).to_have_class(re.compile("begun"))
    return figure


def check_for_everybody(page, rules=None):
    """Axe finds nothing that keeps somebody from using the page.

    By some of its rules alone, or by all of them.
    """
    options = {"preload": False, "resultTypes": ["violations"]}
    if rules:
        options["runOnly"] = rules
    found = Axe().run(page, options=options)
    assert found.violations_count == 0, found.generate_report()


def decoded(url):
    """The picture of a canvas, in RGB and how much it covers."""
    data = np.frombuffer(base64.b64decode(url.split(",")[1]), np.uint8)
    return cv2.imdecode(data, cv2.IMREAD_UNCHANGED)[..., [2, 1, 0, 3]]


def check(seen, made):
    """The pictures that are seen are those that were made."""
    for one, other in zip(seen, made, strict=True):
        other = np.asarray(other)
        if other.ndim == 2:
            other = other[..., None].repeat(3, axis=2)
        assert np.array_equal(one[..., :3], other)
