"""Make the pages, and `game.md`; build.py says of what.

The words of the module are Markdown, and a picture in them is a figure. Those
that begin with a heading, and docstrings of more than a sentence, stand above
their code, all others in the margin, at their line.

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

from module import END, Module, Piece, Words
from paths import DOCS, FIGURES, HERE

TUTORIAL = "The tutorial:"
FOLD = "<details>\n<summary>What the module is built on</summary>"
# At the top a picture has a size on a code host, too, and a caption.
PICTURE = r'!\[([^]]*)\]\((\S+)\s+"([^"]*)"\)'
SIZED = r'<img src="\2" width="300" alt="\1">\n\n\3'
# What has a colour of its own in the story, in words and in code.
COLOURED = "third|fourth|picture"
# Tokens but for those that have a style, by their short names in Pygments
PLAIN = r'<span class="(?!k|c|s|ow|nf|nc)\w+">(.*?)</span>'
# The share of bricks that are left in the wall above a new part
LEFT = "--left:{{left}}"

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
    tutorial, _ = map(contents, module.parts())
    title = re.sub(PICTURE, SIZED, module.title)
    blocks = [title, TUTORIAL, tutorial, FOLD, *above(module.imports)]
    blocks += ["</details>", *above(module.pieces)]
    return "\n\n".join(blocks) + "\n"


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
        coloured = r'<strong class="\1">\1'
        return re.sub(f"<strong>({COLOURED})", coloured, html)

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
    """Return a program as a listing that the keyboard can scroll."""
    html = listing(text.splitlines(), language or "text")
    html = re.sub(rf"\b({COLOURED})\b", r'<span class="\1">\1</span>', html)
    return html.replace("<pre", "<pre tabindex=0")


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


# The module's page


def module_page(module: Module, values: Mapping[str, str]) -> str:
    """Return `docs/game.html`."""
    page = Page(values)
    tutorial, engine = map(contents, module.parts())
    title = page.of_text(from_docs(module.title))
    main = [
        f'<div class="level1" style="--left:1">{title}</div>\n',
        f'<div class="contents index"><p>{TUTORIAL}</p>\n',
        f"{page.of_text(tutorial)}</div>\n",
        FOLD,
        *(html_piece(page, piece, module.notes) for piece in module.imports),
        "</details>\n",
        *(html_piece(page, piece, module.notes) for piece in module.pieces),
    ]
    return html_page(
        "".join(main),
        kind="module",
        title="the module",
        about="Atari for DQN and PPO, one annotated Python module.",
        other='<a href="index.html">What an agent sees</a>',
        contents=page.of_text(f"{tutorial}\n\n---\n\n{engine}"),
    )


def html_piece(
    page: Page, piece: Piece, notes: Mapping[int, list[Words]]
) -> str:
    """Return words, and below them a card with their code, each note before
    its line.
    """
    chunks: list[dict[int, str]] = []
    for row, line in piece.code.items():
        if row in notes or not chunks:
            chunks.append({})
        chunks[-1][row] = line
    card = ""
    for chunk in chunks:
        if said := notes.get(min(chunk)):
            inside = "".join(html_words(page, note) for note in said)
            card += f'<div class="note">{inside}</div>\n'
        card += listing(chunk.values())
    html = "".join(html_words(page, words) for words in piece.words)
    return f'{html}<div class="card">{card}</div>\n' if card else html


def html_words(page: Page, words: Words) -> str:
    """Return words of the module as HTML; a part's heading stands alone."""
    html = page.of_text(from_docs(words.text))
    part = rf'<div class="level2" style="{LEFT}">\g<0></div>'
    html = re.sub("<h2.*?</h2>", part, html)
    if words.is_docstring:
        return f'<div class="docstring">{html}</div>\n'
    if words.text.startswith(END):
        return f'<div class="end">{html}</div>\n'
    return html


def from_docs(text: str) -> str:
    """Return Markdown whose paths begin at the root as it stands in docs/."""
    path = r"(?<=\]\()(?!#|\w+:)[^\s)]+"
    return re.sub(path, lambda it: posixpath.relpath(it[0], "docs"), text)


# The story


def story_page(text: str, values: Mapping[str, str]) -> str:
    """Return `docs/index.html`."""
    page = Page(values)
    return html_page(
        "".join(rows(page, text.replace(" %", "\N{NO-BREAK SPACE}%"))),
        kind="story",
        title="what an agent sees",
        about="How Atari becomes what an agent sees, and what it learns.",
        other='<a href="game.html">The module</a>',
        contents=page.of_text(contents([text])),
    )


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
        left = LEFT if heading[1] == "2" else "--left:1"
        kind = f'row level{heading[1]}" style="{left}'
    words = words and f'<div class="words">{words}</div>\n'
    things = things and f'<div class="things">{things}</div>\n'
    return f'<div class="{kind}">\n{words}{things}</div>\n'


def html_page(main: str, **parts: str) -> str:
    """Return a page; above each of its parts fewer bricks are left."""
    html, *rest = main.split(LEFT)
    for i, text in enumerate(rest, 1):
        html += f"--left:{1 - i / (len(rest) + 1):.2f}{text}"
    return template("looks/page.html").render(parts, main=html)
