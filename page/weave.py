"""Weave the pages; build.py says of what.

`docs/game.html` comes from `game.py` alone: docstrings and comments that fill
a line are Markdown, a picture in them is a figure. A comment that begins with
a heading and a docstring of more than a sentence stand above their code, all
others in the margin, at their line.

`docs/index.html` comes from `text/story.md`: rows of words and, below them,
what they are about. `{{ code("Game.step") }}` quotes a definition.
`figures/NAME/figure.html` takes the place of the picture `figures/NAME.*`
where scripts run.
"""

import itertools
import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.token import Token
from pygments.lexers import get_lexer_by_name
from pygments.token import STANDARD_TYPES, Name

from module import FOLD, Module, Part
from paths import DOCS, FIGURES
from templates import QUOTED, template

# What has a colour of its own in the story, in words and in code.
COLOURED = "third|fourth|picture"
# To cite a heading by.
SIGN = r' <a class="sign" href="#\2" aria-label="Link to this place">#</a>'
# Kinds of tokens that have a style, by their short names in Pygments.
STYLED = "k.*|c.*|s.*|ow|nf|nc"
# The share of bricks that are left in the wall above a new part
LEFT = "--left:{{left}}"


# Rows of a page


@dataclass
class Row:
    """Words, and below them what they are about."""

    words: list[str] = field(default_factory=list)
    things: list[str] = field(default_factory=list)

    def html(self) -> str:
        kind = "row"
        if heading := re.search("<h([12])", "".join(self.words)):
            left = LEFT if heading[1] == "2" else "--left:1"
            kind = f'row level{heading[1]}" style="{left}'
        html = f'<div class="{kind}">\n'
        for name in "words", "things":
            if column := "\n".join(getattr(self, name)):
                html += f'<div class="{name}">{column}</div>\n'
        return f"{html}</div>\n"


def blocks(tokens: Iterable[Token]) -> Iterator[list[Token]]:
    """Yield the blocks of Markdown, each as a list of tokens.

    All that is inside of `<details>` is one block.
    """
    block: list[Token] = []
    depth = 0
    for token in tokens:
        block.append(token)
        depth += token.nesting
        if token.type == "html_block":
            depth += token.content.count("<details")
            depth -= token.content.count("</details")
        if depth == 0:
            yield block
            block = []


def is_figure(block: Sequence[Token]) -> bool:
    """Whether a block is a picture alone."""
    inside = block[1].children if len(block) == 3 else []
    return [child.type for child in inside or []] == ["image"]


class Page:
    """What makes HTML of Markdown and of code, for one of the pages.

    The definitions of the module are in the page `listing`, or here if that
    is empty.
    """

    def __init__(
        self, module: Module, values: Mapping[str, str], listing: str = ""
    ) -> None:
        self.module, self.values, self.listing = module, values, listing
        self.contents = ""
        self.level = 0  # of the last heading
        self.markdown = MarkdownIt("commonmark", {"highlight": self.program})
        self.markdown.enable("table")
        rules = self.markdown.renderer.rules
        rules |= {"image": self._image, "code_inline": self._code_inline}

    def whole_story(self, text: str) -> Iterator[str]:
        """Yield the rows of a text, and of the code that it quotes."""
        text, *quotes = QUOTED.split(text)
        rows = list(self.rows_of_text(text))
        for name, text in zip(quotes[::2], quotes[1::2], strict=True):
            rows[-1].things.append(self.quotation(name))
            rows += self.rows_of_text(text)
        for row in rows:
            if row.words or row.things:
                yield row.html()

    def rows_of_text(self, text: str) -> Iterator[Row]:
        row = Row()
        for block in blocks(self.markdown.parse(text)):
            if block[0].type in ("fence", "table_open") or is_figure(block):
                row.things.append(self.render(block))
                continue
            if row.things or block[0].tag[:1] == "h":
                yield row
                row = Row()
            row.words.append(self.render(block))
        yield row

    def quotation(self, name: str) -> str:
        """Return the code of a definition."""
        lines = self.module.quoted(name)
        first, *_ = lines.values()
        indent = len(first) - len(first.lstrip())
        return listing(self.code(lines.values(), indent=indent))

    def whole_module(self) -> Iterator[str]:
        """Yield the module as HTML, from top to bottom, its imports folded."""
        title = self.blocks_of_module([self.module.title])
        figures = [html for html in title if html.startswith("<figure")]
        words = [html for html in title if html not in figures]
        yield Row(words, figures).html()
        imports = self.module.imports
        inside = self.words(imports.words) + self.card(imports)
        yield f"{FOLD}\n{inside}</details>\n"
        for part in self.module.parts:
            yield self.words(part.words)
            if part.docstring:
                html = self.words([part.docstring])
                yield f'<div class="docstring">{html}</div>\n'
            yield self.card(part)

    def words(self, texts: Iterable[str]) -> str:
        """Return words of the module; a part's heading stands on its own."""
        html = ""
        for block in self.blocks_of_module(texts):
            if block.startswith("<h2"):
                block = f'<div class="level2" style="{LEFT}">{block}</div>'
            html += block
        return html

    def card(self, part: Part) -> str:
        """Return a part of the module as HTML, each note before its line."""
        html = ""
        for notes, lines in part.pieces():
            if notes:
                blocks = "".join(self.blocks_of_module(notes))
                html += f'<div class="note">{blocks}</div>\n'
            html += listing(self.code(lines.values(), lines))
        code = [line for line in part.lines.values() if line]
        indent = min(
            (len(line) - len(line.lstrip()) for line in code), default=0
        )
        style = f' style="--all:{indent}"' if indent else ""
        return f'<div class="card"{style}>{html}</div>\n' if html else ""

    def blocks_of_module(self, texts: Iterable[str]) -> list[str]:
        """Return words of the module as HTML, block by block."""
        tokens = self.markdown.parse("\n\n".join(texts))
        return [self.render(block, of_module=True) for block in blocks(tokens)]

    def render(self, tokens: list[Token], of_module: bool = False) -> str:
        """Return Markdown as HTML; remember its headings.

        Its links start from `docs/`, or from the root if it is `of_module`.
        """
        for token, inline in itertools.pairwise(tokens):
            if token.type == "heading_open":
                anchor = slug(inline.content)
                token.attrSet("id", anchor)
                # Levels that were skipped are skipped for the eye alone.
                self.level = min(int(token.tag[1]), self.level + 1)
                token.attrSet("aria-level", str(self.level))
                words = self.markdown.renderInline(inline.content)
                link = f'<a href="#{anchor}">{words}</a>'
                if token.tag in ("h2", "h3"):
                    self.contents += f'<li class="{token.tag}">{link}</li>\n'
            for child in inline.children or [] if of_module else []:
                for key in child.attrs.keys() & {"href", "src"}:
                    path = str(child.attrs[key])
                    if path.startswith("#"):
                        child.attrs[key] = self.listing + path
                    elif not re.match(r"\w+:", path):
                        child.attrs[key] = posixpath.relpath(path, "docs")
        html = self.markdown.renderer.render(tokens, self.markdown.options, {})
        for old, new in [
            (r'(<h\d id="([^"]+)".*?)(?=</h)', rf"\1{SIGN}"),
            (rf"<strong>({COLOURED})", r'<strong class="\1">\1'),
            ("<code>(?=--)", '<code class="option">'),
            ("<p>(<figure.*?</figure>)</p>", r"\1"),
            ("<table>.*?</table>", r'<div class="scrolls">\g<0></div>'),
        ]:
            html = re.sub(old, new, html, flags=re.DOTALL)
        return html

    def _image(self, tokens: Sequence[Token], at: int, *_: Any) -> str:
        """A picture is a figure, and its title the caption."""
        title = str(tokens[at].attrs.get("title", ""))
        path = str(tokens[at].attrs["src"])
        name = Path(path).stem
        alt = " ".join(tokens[at].content.split())
        html = picture(path, escape(alt))
        if (FIGURES / name / "figure.html").exists():
            markup = template(f"figures/{name}/figure.html")
            html = markup.render(self.values, picture=html)
        if title:
            caption = self.markdown.renderInline(title)
            html += f"<figcaption>{caption}</figcaption>"
        return f'<figure id="{name}">{html}</figure>'

    def _code_inline(self, tokens: Sequence[Token], at: int, *_: Any) -> str:
        text = tokens[at].content
        html = f"<code>{escape(text)}</code>"
        name = self.module.meant(text)
        linked = at > 0 and tokens[at - 1].type == "link_open"
        if name is None or linked:
            return html
        return f'<a href="{self.listing}#{name}">{html}</a>'

    def program(self, text: str, language: str, _: str) -> str:
        """A program in Markdown."""
        lines = text.rstrip("\n").split("\n")
        return listing(self.code(lines, language=language or "text"))

    def code(
        self,
        lines: Iterable[str],
        rows: Iterable[int] = (),
        indent: int = 0,
        language: str = "python",
    ) -> str:
        """Return lines of code as HTML, a span each, in which names are links.

        Those of the module tell their `rows`, so that definitions can be
        anchors, and those of a quotation lose its `indent`.
        """
        lexer = get_lexer_by_name(language, stripnl=False)
        text = "".join(f"{line}\n" for line in lines)
        html = "".join(self._token(*token) for token in lexer.get_tokens(text))
        anchors = {it.lineno: name for name, it in self.module.names.items()}
        here = {} if self.listing else anchors
        spans = ""
        for row, line in itertools.zip_longest(rows, html.split("\n")[:-1]):
            line = line.removeprefix(" " * indent)
            inside = len(line) - len(line.lstrip())
            anchor = f' id="{here[row]}"' if row in here else ""
            spans += f'<span{anchor} style="--i:{inside}">{line}\n</span>'
        return spans

    def _token(self, kind: Any, text: str) -> str:
        """Return a token as HTML, each of its lines for itself."""
        html = escape(text, quote=False)
        style = STANDARD_TYPES.get(kind, "")
        if self.listing and kind in Name and re.fullmatch(COLOURED, text):
            style = text
        if kind is Name and (name := self.module.meant(text)):
            html = f'<a href="{self.listing}#{name}">{html}</a>'
        if re.fullmatch(f"{STYLED}|{COLOURED}", style):
            html = re.sub(".+", rf'<span class="{style}">\g<0></span>', html)
        return html


def listing(html: str) -> str:
    """Return code as what stands in a listing."""
    return f'<pre class="code"><code>{html}</code></pre>'


def slug(title: str) -> str:
    """Return the anchor of a heading, as code hosts make it."""
    return re.sub(r"[^\w -]", "", title.lower()).strip().replace(" ", "-")


def picture(path: str, alt: str) -> str:
    """Return a picture as HTML; a drawing has the letters of the page."""
    if not path.endswith(".svg"):
        return f'<img src="{path}" alt="{alt}">'
    svg = (DOCS / path).read_text("utf-8")
    svg = re.sub("(?s)<!--.*?-->\n|<style>.*?</style>", "", svg)
    return svg.replace("<svg", f'<svg role="img" aria-label="{alt}"')


# The pages


def html_page(page: Page, main: Iterable[str], **parts: str) -> str:
    """Return a page; above each of its parts fewer bricks are left."""
    html, *rest = "".join(main).split(LEFT)
    for i, text in enumerate(rest, 1):
        html += f"--left:{1 - i / (len(rest) + 1):.2f}{text}"
    markup = template("looks/page.html")
    return markup.render(parts, main=html, contents=page.contents)


def module_page(source: str, values: Mapping[str, str]) -> str:
    """Return `docs/game.html`."""
    page = Page(Module(source), values)
    return html_page(
        page,
        page.whole_module(),
        kind="module",
        title="Breakout, annotated",
        about="Atari for DQN and PPO, one annotated Python module.",
        other='<a href="index.html">What an agent sees</a>',
    )


def story_page(source: str, text: str, values: Mapping[str, str]) -> str:
    """Return `docs/index.html`."""
    page = Page(Module(source), values, "game.html")
    return html_page(
        page,
        page.whole_story(text.replace(" %", "\N{NO-BREAK SPACE}%")),
        kind="story",
        title="What an agent sees",
        about="How Atari becomes what an agent sees, and what it learns.",
        other='<a href="game.html">The module, annotated</a>',
    )
