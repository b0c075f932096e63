"""Make `game.md`, the module for a code host.

That has no margin: there a note is the comment that it is in the source.
"""

import re
from collections.abc import Iterable, Iterator

from markdown_it import MarkdownIt
from markdown_it.tree import SyntaxTreeNode

from weave.module import Module, Piece, groups

IMPORTS = "What it is built on"
# At the top a picture has a size on a code host, too, and a caption.
PICTURE = r'!\[([^]]*)\]\((\S+)\s+"([^"]*)"\)'
SIZED = r'<img src="\2" width="300" alt="\1">\n\n\3'


def game_md(module: Module) -> str:
    blocks = [
        re.sub(PICTURE, SIZED, module.title),
        contents(texts(module.pieces)),
        folded(IMPORTS, "\n\n".join(above(module.imports))),
        *above(module.pieces),
    ]
    return "\n\n".join(blocks) + "\n"


def texts(pieces: Iterable[Piece]) -> list[str]:
    """Return the words above code."""
    return [words.text for piece in pieces for words in piece.words]


def above(pieces: Iterable[Piece]) -> Iterator[str]:
    """Yield words, the code below them, with its notes, and lists."""
    for title, together in groups(pieces):
        text = "\n\n".join(of_piece(it, bool(title)) for it in together)
        yield folded(title, text) if title else text


def of_piece(piece: Piece, in_fold: bool) -> str:
    blocks = [words.text for words in piece.words if words.text]
    if piece.source:
        source = "\n".join(piece.source.values())
        blocks.append(f"```python\n{source}\n```")
    for words in piece.words:
        if words.lists:
            lists = words.lists
            blocks.append(lists if in_fold else folded(words.fold, lists))
    return "\n\n".join(blocks)


def folded(title: str, text: str) -> str:
    title = re.sub("`(.*?)`", r"<code>\1</code>", title)
    return f"<details>\n<summary>{title}</summary>\n\n{text}\n\n</details>"


def contents(texts: Iterable[str]) -> str:
    """Return a list of the headings in Markdown, each a link."""
    items = ""
    for block in SyntaxTreeNode(MarkdownIt().parse("\n\n".join(texts))):
        if block.tag in ("h2", "h3"):
            indent = "  " * (block.tag == "h3")
            title = block.children[0].content
            items += f"{indent}- [{title}](#{slug(title)})\n"
    return items.rstrip()


def slug(title: str) -> str:
    """Return the anchor of a heading, as code hosts make it."""
    return re.sub(r"[^\w -]", "", title.lower()).strip().replace(" ", "-")
