"""Make the pages, and `game.md`.

The module has two pages, the tutorial and the engine. Its words are Markdown,
and a picture in them is a figure. Those that begin with a heading, and
docstrings of more than a sentence, stand above their code, all others in the
margin, at their line.

The story is rows of words and, below them, what they are about.
`figures/NAME/figure.html` takes the place of the picture `figures/NAME.*`
where scripts run.
"""

import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping
from html import escape
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template
from markdown_it import MarkdownIt
from markdown_it.token import Token
from markdown_it.tree import SyntaxTreeNode
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import get_lexer_by_name

from paths import DOCS, FIGURES, HERE
from weave.module import Module, Piece, Words

PAGES = {
    "index.html": "What an agent sees",
    "game.html": "The tutorial",
    "engine.html": "The engine",
}
ENGINE = """# The engine

The second part of [`game.py`](game.py): what makes games fast and workers
safe, and how many games are played at once. The first part is [the
tutorial](docs/game.html)."""
GO_ON = "[The engine](docs/engine.html)"
FOLD = "<details>\n<summary>What the module is built on</summary>"
# At the top a picture has a size on a code host, too, and a caption.
PICTURE = r'!\[([^]]*)\]\((\S+)\s+"([^"]*)"\)'
SIZED = r'<img src="\2" width="300" alt="\1">\n\n\3'
# What has a color of its own in the story, in words and in code.
COLORED = "third|fourth|picture"
# Tokens but for those that have a style, by their short names in Pygments
PLAIN = r'<span class="(?!k|c|s|ow|nf|nc)\w+">(.*?)</span>'
# Where a link or a picture of the module leads
TARGET = r"(?<=\]\()(?!\w+:)[^\s)]+"

environment = Environment(
    loader=FileSystemLoader(HERE),
    undefined=StrictUndefined,
    keep_trailing_newline=True,
    autoescape=False,  # what is put in is HTML
)


def template(path: str) -> Template:
    """A template by its path from `page/`; Jinja2 fills it."""
    return environment.get_template(path)


# Markdown


def game_md(module: Module) -> str:
    """Return the module for a code host, which has no margin: there a note is
    the comment that it is in the source.
    """
    blocks = [
        re.sub(PICTURE, SIZED, module.title),
        "The tutorial:",
        contents(texts(module.tutorial)),
        "The engine:",
        contents(texts(module.engine)),
        FOLD,
        *above(module.imports),
        "</details>",
        *above(module.tutorial),
        module.end,
        *above(module.engine),
    ]
    return "\n\n".join(blocks) + "\n"


def texts(pieces: Iterable[Piece]) -> list[str]:
    """Return the words above code."""
    return [words.text for piece in pieces for words in piece.words]


def above(pieces: Iterable[Piece]) -> Iterator[str]:
    """Yield words, and the code below them, with its notes."""
    for piece in pieces:
        yield from (words.text for words in piece.words)
        if piece.source:
            source = "\n".join(piece.source.values())
            yield f"```python\n{source}\n```"


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


# HTML


class Page:
    """What makes HTML of Markdown, for one of the pages."""

    def __init__(self, values: Mapping[str, str]) -> None:
        self.values = values
        self.level = 0  # of the last heading
        self.markdown = MarkdownIt("commonmark", {"highlight": program})
        self.markdown.enable("table")
        self.markdown.renderer.rules |= {
            "heading_open": self._heading_open,
            "image": self._image,
            "table_open": lambda *_: '<div class="scrolls"><table>\n',
            "table_close": lambda *_: "</table></div>\n",
        }

    def of_text(self, text: str) -> str:
        return self.of_tokens(self.markdown.parse(text))

    def of_tokens(self, tokens: list[Token]) -> str:
        html = self.markdown.renderer.render(tokens, self.markdown.options, {})
        html = re.sub("(?s)<p>(<figure.*?</figure>)</p>", r"\1", html)
        colored = r'<strong class="\1">\1'
        return re.sub(f"<strong>({COLORED})", colored, html)

    def _heading_open(self, tokens: list[Token], at: int, *_: Any) -> str:
        """A level that was skipped is skipped for the eye alone."""
        tag = tokens[at].tag
        self.level = min(int(tag[1]), self.level + 1)
        anchor = slug(tokens[at + 1].content)
        return f'<{tag} id="{anchor}" aria-level="{self.level}">'

    def _image(self, tokens: list[Token], at: int, *_: Any) -> str:
        """A picture is a figure, and its title the caption."""
        path = str(tokens[at].attrs["src"])
        name = Path(path).stem
        html = picture(path, " ".join(tokens[at].content.split()))
        if (FIGURES / name / "figure.html").exists():
            markup = template(f"figures/{name}/figure.html")
            html = markup.render(self.values, picture=html)
        if title := str(tokens[at].attrs.get("title", "")):
            caption = self.markdown.renderInline(title)
            html += f"<figcaption>{caption}</figcaption>"
        return f'<figure id="{name}">{html}</figure>'


def program(text: str, language: str, _: str) -> str:
    """Return a program as a listing with the colors of the story."""
    html = listing(text.splitlines(), language or "text")
    return re.sub(rf"\b({COLORED})\b", r'<span class="\1">\1</span>', html)


def listing(lines: Iterable[str], language: str = "python") -> str:
    """Return code as HTML, a span for each line."""
    lexer = get_lexer_by_name(language, stripnl=False)
    text = "".join(f"{line}\n" for line in lines)
    html = highlight(text, lexer, HtmlFormatter(nowrap=True))
    html = re.sub(PLAIN, r"\1", html)
    spans = ""
    for line in html.splitlines():
        inside = len(line) - len(line.lstrip())
        spans += f'<span style="--i:{inside}">{line}\n</span>'
    return f'<pre class="code"><code>{spans}</code></pre>'


def picture(path: str, alt: str) -> str:
    """Return a picture as HTML; a drawing has the letters of the page."""
    alt = escape(alt)
    if not path.endswith(".svg"):
        return f'<img src="{path}" alt="{alt}">'
    svg = (DOCS / path).read_text("utf-8")
    svg = re.sub("(?s)<!--.*?-->\n|<style>.*?</style>", "", svg)
    return svg.replace("<svg", f'<svg role="img" aria-label="{alt}"')


# The module's pages


class ModulePage(Page):
    """A page of the module; `places` has those of all its headings."""

    def __init__(
        self, name: str, places: Mapping[str, str], values: Mapping[str, str]
    ) -> None:
        super().__init__(values)
        self.name = name
        self.places = places

    def of_text(self, text: str) -> str:
        return super().of_text(re.sub(TARGET, self._target, text))

    def _target(self, found: re.Match[str]) -> str:
        """Paths begin at the root. A heading may be on the other page."""
        target = found[0]
        if not target.startswith("#"):
            return posixpath.relpath(target, "docs")
        place = self.places.get(target[1:], self.name)
        return target if place == self.name else place + target

    def of_piece(self, piece: Piece) -> str:
        """Return words, and below them a card with their code, each note at
        its line.
        """
        chunks: list[dict[int, str]] = []
        for row, line in piece.code.items():
            if row in piece.notes or not chunks:
                chunks.append({})
            chunks[-1][row] = line
        card = ""
        for chunk in chunks:
            notes = piece.notes.get(min(chunk), [])
            note = "".join(self.of_text(words.text) for words in notes)
            note = note and f'<div class="note">{note}</div>\n'
            card += f"<div>{note}{listing(chunk.values())}</div>\n"
        words = "".join(map(self.of_words, piece.words))
        card = card and f'<div class="card">{card}</div>\n'
        return f'<div class="piece">\n{words}{card}</div>\n'

    def of_words(self, words: Words) -> str:
        """Return words above code."""
        html = self.of_text(words.text)
        if words.is_docstring:
            html = f'<div class="docstring">{html}</div>\n'
        return html

    def of_part(
        self,
        title: str,
        part: Iterable[Piece],
        imports: Iterable[Piece] = (),
        end: str = "",
    ) -> str:
        links = self.of_text(contents(texts(part)))
        top = f'<div class="level1">{self.of_text(title)}'
        main = f'{top}</div>\n<div class="contents index">\n{links}</div>\n'
        if fold := "".join(map(self.of_piece, imports)):
            main += f"{FOLD}{fold}</details>\n"
        main += "".join(map(self.of_piece, part))
        if end:
            main += f'<div class="end">{self.of_text(end)}</div>\n'
        return html_page(self.name, main, kind="module", contents=links)


def module_pages(module: Module, values: Mapping[str, str]) -> dict[str, str]:
    """Return the tutorial and the engine, by their names in `docs/`."""
    parts = {"game.html": module.tutorial, "engine.html": module.engine}
    places = {
        anchor: name
        for name, part in parts.items()
        for anchor in re.findall(r"\(#(.*?)\)", contents(texts(part)))
    }
    tutorial, engine = (ModulePage(name, places, values) for name in parts)
    end = f"{module.end}\n\n{GO_ON}"
    return {
        "game.html": tutorial.of_part(
            module.title, module.tutorial, module.imports, end
        ),
        "engine.html": engine.of_part(ENGINE, module.engine),
    }


# The story


def story_page(text: str, values: Mapping[str, str]) -> str:
    """Return `docs/index.html`."""
    page = Page(values)
    links = page.of_text(contents([text]))
    main = "".join(rows(page, text.replace(" %", "\N{NO-BREAK SPACE}%")))
    return html_page("index.html", main, kind="story", contents=links)


def rows(page: Page, text: str) -> Iterator[str]:
    """Yield rows of words and, below them, what they are about."""
    words = things = ""
    for block in SyntaxTreeNode(page.markdown.parse(text)).children:
        html = page.of_tokens(block.to_tokens())
        if re.match("</?section", html):  # of rows
            yield row(words, things) + html
            words = things = ""
            continue
        if block.type in ("fence", "table") or html.startswith("<figure"):
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
    frame = template("looks/page.html")
    return frame.render(parts, main=main, page=name, pages=PAGES)
