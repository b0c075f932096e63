"""
Make the links of the pages in `docs/` to other files lead to where the
repository is hosted, since only `docs/` is published as a site.

    python page/publish.py https://github.com/OWNER/NAME COMMIT
"""

import posixpath
import re
import sys
from pathlib import Path

PAGES = Path(__file__).resolve().parent.parent / "docs"


def hosted(html, repository, commit):
    """The page with links to a commit of the repository at that address."""

    def link(found):
        path, download = found.groups("")
        path = posixpath.normpath(f"docs/{path}")
        kind = "raw" if download else "blob"
        return f'href="{repository}/{kind}/{commit}/{path}"{download}'

    return re.sub(
        r'href="(?!#|\w+:|\w+\.(?:html|css))([^"]+)"( download)?', link, html
    )


if __name__ == "__main__":
    for page in PAGES.glob("*.html"):
        page.write_text(hosted(page.read_text(), *sys.argv[1:]))
