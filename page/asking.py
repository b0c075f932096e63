"""What tests ask of a page that is open in a browser."""

import re

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
