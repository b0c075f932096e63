"""Fill values into Markdown, in place.

A value stands between `<!--=name-->` and `<!--/-->`, which Markdown doesn't
show, so a text is edited where it is read. A table stands on lines of its own.
"""

import re
from collections.abc import Mapping
from pathlib import Path

from markdown_it import MarkdownIt

MARK = re.compile(r"<!--(=\w+|/)-->")
VALUE = re.compile(r"(<!--=(\w+)-->)(?:(?!<!--).)*(<!--/-->)", re.DOTALL)


class MarkError(ValueError):
    """A mark that can't be filled, or that a reader would see."""


def filled(path: Path, values: Mapping[str, str]) -> str:
    """Return the text of a file, with the values as they are now.

    Raises:
        MarkError: A name is unknown, a mark lacks its other half, or it stands
            where Markdown would show it.
    """

    def value(found: re.Match[str]) -> str:
        opening, name, closing = found.groups()
        if name not in values:
            raise MarkError(f"{path}: no value is named {name}")
        text = values[name]
        if "\n" in text:
            text = f"\n\n{text}\n\n"
        return opening + text + closing

    text = path.read_text("utf-8")
    if mark := MARK.search(VALUE.sub("", text)):
        raise MarkError(f"{path}: {mark[0]} lacks its other half")
    for block in MarkdownIt().parse(text):
        # From a line that begins with a mark Markdown makes no words.
        shown = block.type in ("fence", "code_block")
        shown |= block.type == "html_block" and bool(bare(block.content))
        if shown and (mark := MARK.search(block.content)):
            raise MarkError(f"{path}: {mark[0]} begins a line, or is in code")
    return VALUE.sub(value, text)


def bare(text: str) -> str:
    """Return a text without its marks."""
    return MARK.sub("", text).strip()
