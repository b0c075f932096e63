"""Weave the pages; build.py says of what.

`docs/game.html` comes from `game.py` alone: docstrings and comments that fill
a line are Markdown, a picture in them is a figure.

`docs/index.html` comes from `text/story.md`: words stand on the left, and what
follows them on the right. `{{ code("Game.step") }}` quotes a definition.
`figures/NAME/figure.html` takes the place of the picture `figures/NAME.*`
where scripts run.
"""

import itertools
import math
import posixpath
import re
from dataclasses import dataclass, field
from html import escape
from pathlib import Path

from markdown_it import MarkdownIt
from pygments.lexers import get_lexer_by_name
from pygments.token import STANDARD_TYPES, Name

from module import FOLD, Module, together
from paths import DOCS, FIGURES
from templates import QUOTED, template

# What has a colour of its own, in words and in code.
COLOURED = "third|fourth|picture"
# For whoever wants to cite a heading.
SIGN = r' <a class="sign" href="#\2" aria-label="Link to this place">#</a>'
# Kinds of tokens that have a style, by their short names in Pygments.
STYLED = "k.*|c.*|s.*|ow|nf|nc"
# How high words are in the left column: characters to a line, and the height
# of a line and of the space between paragraphs, in lines of code.
LINE_LENGTH, LINE_HEIGHT, SPACE = 60, 1.2, 0.6
ROOM = 3  # lines of code by which words beside it may be higher


# Rows of a page


@dataclass
class Row:
    """Words on the left, and on the right what they are about.

    If it is "wide", the words stand above, from side to side; if it is
    "listing", it goes on from the row before. `left` is the share of bricks
    that are left in the wall above a new part.
    """

    words: list = field(default_factory=list)
    things: list = field(default_factory=list)
    kind: str = ""
    left: float = 1.0

    def html(self):
        kind = f"row {self.kind}"
        if heading := re.search("<h([12])", "".join(self.words)):
            kind = f'row level{heading[1]}" style="--left:{self.left:.2f}'
        html = f'<div class="{kind}">\n'
        for name in "words", "things":
            if column := "\n".join(getattr(self, name)):
                html += f'<div class="{name}">{column}</div>\n'
        return f"{html}</div>\n"


def blocks(tokens):
    """Yield the blocks of Markdown, each as a list of tokens.

    All that is inside of `<details>` is one block.
    """
    block, depth = [], 0
    for token in tokens:
        block.append(token)
        depth += token.nesting
        if token.type == "html_block":
            depth += token.content.count("<details")
            depth -= token.content.count("</details")
        if depth == 0:
            yield block
            block = []


def is_figure(block):
    """Whether a block is a picture alone."""
    inside = block[1].children if len(block) == 3 else []
    return [child.type for child in inside] == ["image"]


class Page:
    """What makes HTML of Markdown and of code, for one of the pages.

    The definitions of the module are in the page `listing`, or here if that
    is empty.
    """

    def __init__(self, module, values, listing=""):
        self.module, self.values, self.listing = module, values, listing
        self.contents = ""
        self.level = 0  # of the last heading
        self.markdown = MarkdownIt("commonmark", {"highlight": self.program})
        self.markdown.enable("table")
        rules = self.markdown.renderer.rules
        rules |= {"image": self._image, "code_inline": self._code_inline}

    def rows_of_story(self, text):
        """Return the rows of a text, and of the code that it quotes."""
        text, *quotes = QUOTED.split(text)
        rows = list(self.rows_of_text(text))
        for name, text in zip(quotes[::2], quotes[1::2], strict=True):
            quoted = list(self.rows_of_code(self.module.quoted(name)))
            if len(quoted) == 1:  # without notes
                rows[-1].things += quoted.pop().things
            rows += [*quoted, *self.rows_of_text(text)]
        return rows

    def rows_of_text(self, text):
        row = Row()
        for block in blocks(self.markdown.parse(text)):
            if block[0].type in ("fence", "table_open") or is_figure(block):
                row.things.append(self.render(block))
                continue
            across = '<details class="wide"' in block[0].content
            if row.things or across or block[0].tag[:1] == "h":
                yield row
                row = Row(kind="wide" if across else "")
            row.words.append(self.render(block))
        yield row

    def rows_of_module(self):
        """Yield the rows of the module, in which the imports are folded."""
        yield from self.rows_of_code(self.module.above)
        rows = self.rows_of_code(self.module.imports)
        inside = [row.html() for row in rows]
        yield Row([FOLD, *inside, "</details>"], kind="wide")
        yield from self.rows_of_code(self.module.below)

    def rows_of_code(self, pieces):
        """Yield the rows of a part of the module."""
        indent = len(pieces[0].text) - len(pieces[0].text.lstrip())
        for notes, code in together(pieces):
            text = "\n\n".join(note.text for note in notes)
            words, things = [], []
            for block in blocks(self.markdown.parse(text)):
                place = things if is_figure(block) else words
                place.append(self.render(block, of_module=True))
            lines = [self.code(it.text, it.row, indent) for it in code]
            shown = f'<pre class="code"><code>{"".join(lines)}</code></pre>'
            if things:
                yield Row(words, things)
                words = []
            room = sum(it.text.count("\n") + 1 for it in code) + ROOM
            if code:
                kind = "wide" if height(text) > room else "listing"
                yield Row(words, [shown], kind)
            elif words:
                yield Row(words)

    def render(self, tokens, of_module=False):
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
                    path = child.attrs[key]
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

    def _image(self, tokens, at, *_):
        """A picture is a figure, and its title the caption."""
        title = tokens[at].attrs.get("title")
        path = tokens[at].attrs["src"]
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

    def _code_inline(self, tokens, at, *_):
        text = tokens[at].content
        html = f"<code>{escape(text)}</code>"
        name = self.module.meant(text)
        linked = at > 0 and tokens[at - 1].type == "link_open"
        if name is None or linked:
            return html
        return f'<a href="{self.listing}#{name}">{html}</a>'

    def program(self, text, language, _):
        """A program in Markdown."""
        html = self.code(text.rstrip("\n"), language=language or "text")
        return f'<pre class="code"><code>{html}</code></pre>'

    def code(self, text, first=0, indent=0, language="python"):
        """Return code as HTML, a span a line, in which names are links.

        That of the listing tells its `first` row, so that definitions can be
        anchors, and that of a quotation loses its `indent`.
        """
        lexer = get_lexer_by_name(language, stripnl=False)
        html = "".join(self._token(*token) for token in lexer.get_tokens(text))
        anchors = {it.lineno: name for name, it in self.module.names.items()}
        lines = ""
        for row, line in enumerate(html.split("\n")[:-1], first):
            line = line.removeprefix(" " * indent)
            inside = len(line) - len(line.lstrip())
            here = row in anchors and first and not self.listing
            anchor = f' id="{anchors[row]}"' if here else ""
            lines += f'<span{anchor} style="--i:{inside}">{line}\n</span>'
        return lines

    def _token(self, kind, text):
        """Return a token as HTML, each of its lines for itself."""
        html = escape(text, quote=False)
        style = STANDARD_TYPES.get(kind, "")
        if kind in Name and re.fullmatch(COLOURED, text):
            style = text
        if kind is Name and (name := self.module.meant(text)):
            html = f'<a href="{self.listing}#{name}">{html}</a>'
        if re.fullmatch(f"{STYLED}|{COLOURED}", style):
            html = re.sub(".+", rf'<span class="{style}">\g<0></span>', html)
        return html


def height(text):
    """Return how high words are in the left column, in lines of code."""
    parts = re.split(r"\n\n|\n(?=- |\d\. )", text)
    lines = sum(math.ceil(len(part) / LINE_LENGTH) for part in parts)
    return LINE_HEIGHT * lines + SPACE * len(parts)


def slug(title):
    """Return the anchor of a heading, as code hosts make it."""
    return re.sub(r"[^\w -]", "", title.lower()).strip().replace(" ", "-")


def picture(path, alt):
    """Return a picture as HTML; a drawing has the letters of the page."""
    if not path.endswith(".svg"):
        return f'<img src="{path}" alt="{alt}">'
    svg = (DOCS / path).read_text("utf-8")
    svg = re.sub("(?s)<!--.*?-->\n|<style>.*?</style>", "", svg)
    return svg.replace("<svg", f'<svg role="img" aria-label="{alt}"')


# The pages


def html_page(page, rows, **parts):
    """Return a page of these rows."""
    rows = [row for row in rows if row.words or row.things]
    begins = [row for row in rows if "<h2" in "".join(row.words)]
    for i, row in enumerate(begins, 1):
        row.left = 1 - i / (len(begins) + 1)
    main = "".join(row.html() for row in rows)
    markup = template("looks/page.html")
    return markup.render(parts, main=main, contents=page.contents)


def module_page(source, values):
    """Return `docs/game.html`."""
    page = Page(Module(source), values)
    return html_page(
        page,
        page.rows_of_module(),
        kind="module",
        title="Breakout, annotated",
        about="Atari for DQN and PPO, one annotated Python module.",
        other='<a href="index.html">What an agent sees</a>',
    )


def story_page(source, text, values):
    """Return `docs/index.html`."""
    page = Page(Module(source), values, "game.html")
    return html_page(
        page,
        page.rows_of_story(text.replace(" %", "\N{NO-BREAK SPACE}%")),
        kind="story",
        title="What an agent sees",
        about="How Atari becomes what an agent sees, and what it learns.",
        other='<a href="game.html">The module, annotated</a>',
    )
