"""
Make the links of `docs/index.html` to files lead to where the repository is
hosted. Only `docs/` is published as a site, and that shows no Markdown.

    python page/publish.py https://github.com/OWNER/NAME COMMIT
"""

import posixpath
import re
import sys
from pathlib import Path

PAGE = Path(__file__).resolve().parent.parent / "docs/index.html"


def hosted(html, repository, commit):
    """The page with links to a commit of the repository at that address."""

    def link(found):
        path, download = found.groups("")
        path = posixpath.normpath(f"docs/{path}")
        kind = "raw" if download else "blob"
        return f'href="{repository}/{kind}/{commit}/{path}"{download}'

    return re.sub(r'href="(?!#|\w+:)([^"]+)"( download)?', link, html)


if __name__ == "__main__":
    PAGE.write_text(hosted(PAGE.read_text(), *sys.argv[1:]))
