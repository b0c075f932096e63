"""What the network hopes for when the figure has begun.

Sums of floats may be rounded otherwise on another machine.
"""

from typing import Any


def record() -> dict[str, Any]:
    from draw.stills import open_page

    with open_page() as page:
        figure = page.locator("#network")
        figure.scroll_into_view_if_needed()
        page.wait_for_selector("#network.begun")
        return {"hope": {"opening": figure.locator(".value").inner_text()}}
