"""What the tests here share: a browser."""

import shutil

import pytest


@pytest.fixture(scope="session")
def browser_type_launch_args(browser_type_launch_args):
    """The system's Chromium."""
    names = "chromium", "chromium-browser", "google-chrome"
    path = next(filter(None, map(shutil.which, names)))
    return browser_type_launch_args | {"executable_path": path}


@pytest.fixture
def open_page(new_context):
    """Open a page; in the end nobody has complained or asked elsewhere."""
    complaints = []

    def open_page(address, width=1280, height=900, **options):
        size = {"width": width, "height": height}
        page = new_context(viewport=size, **options).new_page()
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.goto(address)
        return page

    yield open_page
    assert not complaints
