"""Make the pages.

A source is a page, from its first line to its last. Its words are Markdown,
and a picture in them is a figure. Words that begin with a heading, and
docstrings of more than a sentence, stand above their code. All others stand in
the margin, at their line. The lists of a docstring are folded behind their
code, as is all that has a heading of the fourth level.

The story is rows of words and, below them, what they are about. The texts of
`docs/` are pages, too.
"""

import json
import posixpath
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from markdown_it.tree import SyntaxTreeNode

from paths import HERE
from weave.host import IMPORTS, contents, texts
from weave.html import Page, colored, listing, template
from weave.module import Module, Piece, groups

# Where the pages are published, which a preview has to know; the workflow puts
# the true address in its place.
ADDRESS = "https://breakout-annotated.example"


class About(NamedTuple):
    """What is said of a page: its title, and what a search shows below."""

    title: str
    says: str
    is_in_header: bool


PAGES = {
    name: About(**about)
    for name, about in json.loads(
        (HERE / "text/pages.json").read_text("utf-8")
    ).items()
}
# Where a link or a picture leads
TARGET = r"(?<=\]\()(?!\w+:)[^\s)]+"
Links = Mapping[str, tuple[str, str]]
Sources = Mapping[str, Module]  # by the names of their pages


def address(path: str) -> str:
    """Return how a page links to a path that begins at the root.

    What has a page is read there.
    """
    if path == "game.md":
        return "game.html"
    if path.startswith("docs/"):
        return Path(path).with_suffix(".html").name
    return posixpath.relpath(path, "site")


# A source's pages


class SourcePage(Page):
    """A page of a source."""

    def __init__(
        self,
        name: str,
        values: Mapping[str, str],
        links: Links,
        module: Module,
    ) -> None:
        super().__init__(name, values, links)
        self.module = module
        self.piece: Piece | None = None  # that is being made

    def of_text(self, text: str) -> str:
        return super().of_text(re.sub(TARGET, self._target, text))

    def _target(self, found: re.Match[str]) -> str:
        """Paths begin at the root."""
        path, mark, anchor = found[0].partition("#")
        return (address(path) if path else "") + mark + anchor

    def meaning(self, code: str) -> str:
        """A method is known by its name in its class; an argument is none."""
        name = re.sub(r"\(.*", "", code)
        names = self.module.uses.names
        if self.piece is None:
            return names.get(name, "")
        if name in self.module.arguments_in(self.piece):
            return ""
        owner = self.module.class_of(self.piece)
        method = self.module.uses.method([owner], name)
        return self.elsewhere(method or names.get(name, ""))

    def elsewhere(self, name: str) -> str:
        """Return the name, unless this piece defines it."""
        _, _, local = name.partition(".")
        here = self.module.definitions.get(local)
        is_here = here and self.piece and here.row in self.piece.rows
        return "" if is_here and name.startswith(self.module.name) else name

    def of_piece(self, piece: Piece, in_fold: bool = False) -> str:
        """Return words, a card with the code below them, each note at its
        line, and lists, which are folded unless the piece is.
        """
        self.piece = piece
        words = lists = ""
        card = self.of_code(piece)
        for said in piece.words:
            make = self.of_docstring if said.is_docstring else self.of_text
            words += make(said.text)
            if said.lists:
                html = self.of_docstring(said.lists)
                lists += html if in_fold else self.folded(said.fold, html)
        self.piece = None
        return f'<div class="piece">\n{words}{card}{lists}</div>\n'

    def of_code(self, piece: Piece) -> str:
        """Return a card."""
        chunks: list[list[int]] = []
        for row in piece.code:
            if row in piece.notes or not chunks:
                chunks.append([])
            chunks[-1].append(row)
        card = ""
        for rows in chunks:
            notes = piece.notes.get(rows[0], [])
            note = "".join(self.of_text(words.text) for words in notes)
            note = note and f'<div class="note">{note}</div>\n'
            card += f"<div>{note}{self.of_rows(piece, rows)}</div>\n"
        return card and f'<div class="card">{card}</div>\n'

    def of_rows(self, piece: Piece, rows: list[int]) -> str:
        """Return a listing, in which what is defined has an anchor."""
        tags = {
            (rows.index(row), column): self.link(self.elsewhere(name))
            for (row, column), name in self.module.uses.found.items()
            if row in rows
        }
        code = "".join(f"{piece.code[row]}\n" for row in rows)
        lines = colored(code, "python", tags)
        anchors = {
            row: f' id="Settings.{setting.name}"'
            for row, setting in self.module.settings.items()
        } | {
            definition.row: f' id="{name}"'
            for name, definition in self.module.definitions.items()
        }
        return listing(
            (anchors.get(row, ""), line)
            for row, line in zip(rows, lines, strict=True)
        )

    def of_docstring(self, text: str) -> str:
        return f'<div class="docstring">{self.of_text(text)}</div>\n'

    def folded(self, title: str, html: str) -> str:
        title = self.markdown.renderInline(title)
        return f"<details>\n<summary>{title}</summary>\n{html}</details>\n"

    def of_source(self, text: str) -> str:
        """Return the page; the text is that of `page/text/` around it."""
        pieces = self.module.pieces
        text = text.replace("{{ title }}", self.module.title)
        text = text.replace("{{ settings }}", settings_table(self.module))
        title, after = text.split("{{ code }}")
        main = f'<div class="level1">{self.of_text(title)}</div>\n'
        imports = "".join(map(self.of_piece, self.module.imports))
        main += self.folded(IMPORTS, imports)
        for fold, together in groups(pieces):
            html = "".join(self.of_piece(it, bool(fold)) for it in together)
            main += self.folded(fold, html) if fold else html
        main += f'<div class="end">{self.of_text(after)}</div>\n'
        index = contents([*texts(pieces), after])
        if self.name == "game.html":
            run = template("runner/runner.html").render()
            main = main.replace("<ul>\n", f"{run}<ul>\n", 1)
            index += f"\n- [{PAGES['games.html'].title}](site/games.html)"
        links = self.of_text(index)
        return html_page(self.name, main, kind="module", contents=links)


def links_to(sources: Sources) -> Links:
    """Return where names lead, and what they say there."""
    return {
        f"{module.name}.{name}": (f"{page}#{name}", definition.says)
        for page, module in sources.items()
        for name, definition in module.definitions.items()
    }


def settings_table(module: Module) -> str:
    table = "|setting|default|what it is|\n|---|---|---|\n"
    for name, default, words in module.settings.values():
        link = f'<a href="#Settings.{name}" tabindex="-1">'
        table += f"|{link}`{name}`</a>|{default}|{words}|\n"
    return table


# A text of docs/


def text_page(path: str, text: str, links: Links) -> str:
    """Return the page of a text, whose path begins at the root."""
    name = address(path)

    def target(found: re.Match[str]) -> str:
        there, mark, anchor = found[0].partition("#")
        if there:
            there = posixpath.join(posixpath.dirname(path), there)
            there = address(posixpath.normpath(there))
        return there + mark + anchor

    page = Page(name, {}, links)
    text = re.sub(TARGET, target, text)
    title, _, rest = text.partition("\n\n")
    main = f'<div class="level1">{page.of_text(title)}</div>\n'
    # A place in a text is a heading.
    main += re.sub(r'<figure id="\w+"', "<figure", page.of_text(rest))
    index = page.of_text(contents([text]))
    return html_page(name, main, kind="text", contents=index)


# The story


def story_page(text: str, values: Mapping[str, str], links: Links) -> str:
    """Return `site/index.html`."""
    page = Page("index.html", values, links)
    index = page.of_text(contents([text]))
    main = "".join(rows(page, text.replace(" %", "\N{NO-BREAK SPACE}%")))
    return html_page("index.html", main, kind="story", contents=index)


def rows(page: Page, text: str) -> Iterator[str]:
    """Yield rows of words and, below them, what they are about."""
    words = things = ""
    for block in SyntaxTreeNode(page.markdown.parse(text)).children:
        html = page.of_tokens(block.to_tokens())
        if html.startswith("<figure"):
            things += html
            continue
        if things or block.type == "heading":
            yield row(words, things)
            words = things = ""
        words += html
    yield row(words, things)


def row(words: str, things: str) -> str:
    if not words + things:
        return ""
    kind = "row"
    if heading := re.search("<h([12])", words):
        kind += f" level{heading[1]}"
    words = words and f'<div class="words">{words}</div>\n'
    things = things and f'<div class="things">{things}</div>\n'
    return f'<div class="{kind}">\n{words}{things}</div>\n'


def html_page(name: str, main: str, **parts: str) -> str:
    frame = template("style/frame.html")
    about = PAGES[name]
    return frame.render(
        parts, main=main, page=name, about=about, pages=PAGES, address=ADDRESS
    )
