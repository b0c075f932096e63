"""
Make links fit for a site where `docs/` is all there is: those that leave it,
and those to Markdown, lead to where the repository is hosted.

    python page/publish.py https://github.com/OWNER/NAME COMMIT
"""

import posixpath
import re
import sys
from pathlib import Path

DOCS = Path(__file__).resolve().parent.parent / "docs"


def hosted(html: str, repository: str, commit: str) -> str:
    """Return the page with links to a commit of the repository."""

    def link(found: re.Match[str]) -> str:
        path, download = found.groups("")
        path = posixpath.normpath(f"docs/{path}")
        kind = "raw" if download else "blob"
        return f'href="{repository}/{kind}/{commit}/{path}"{download}'

    leaves = r'href="(\.\./[^"]+|[\w/.-]+\.md(?:#[^"]*)?)"( download)?'
    return re.sub(leaves, link, html)


if __name__ == "__main__":
    for page in DOCS.glob("*.html"):
        page.write_text(hosted(page.read_text(), *sys.argv[1:]))
