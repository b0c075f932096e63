"""Make HTML of Markdown and of code.

`figures/NAME/figure.html` takes the place of the picture `figures/NAME.*`
where scripts run.
"""

import ast
import contextlib
import itertools
import re
from collections.abc import Iterable, Mapping
from html import escape
from operator import itemgetter
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template
from latex2mathml.converter import convert
from markdown_it import MarkdownIt
from markdown_it.token import Token
from mdit_py_plugins.dollarmath import dollarmath_plugin
from pygments.lexers import get_lexer_by_name
from pygments.token import STANDARD_TYPES

from paths import FIGURES, HERE, SITE
from weave.host import slug
from weave.names import Uses

Tags = Mapping[tuple[int, int], str]  # by the index of a line and a column

# Tokens that have a style, by their short names in Pygments
STYLED = re.compile("k|c|s|ow|nf|nc")

environment = Environment(
    loader=FileSystemLoader(HERE),
    undefined=StrictUndefined,
    keep_trailing_newline=True,
    autoescape=False,  # what is put in is HTML
)


def template(path: str) -> Template:
    """A template by its path from `page/`; Jinja2 fills it."""
    return environment.get_template(path)


class Page:
    """What makes HTML of Markdown, for one of the pages.

    `links` has, for each name that a source defines, where it leads and what
    that says. In code, and in words of code, such names are links, but not
    stops of the Tab key, which would be a hundred.
    """

    def __init__(
        self,
        name: str,
        values: Mapping[str, str],
        links: Mapping[str, tuple[str, str]],
    ) -> None:
        self.name = name
        self.values = values
        self.links = links
        self.level = 0  # of the last heading
        self.is_heading = False
        self.markdown = MarkdownIt("commonmark", {"highlight": self._program})
        self.markdown.enable("table")
        self.markdown.use(
            dollarmath_plugin,
            allow_space=False,
            allow_digits=False,
            renderer=formula,
        )
        self.markdown.renderer.rules |= {
            "heading_open": self._heading_open,
            "heading_close": self._heading_close,
            "code_inline": self._code,
            "code_block": self._indented,
            "image": self._image,
            "table_open": lambda *_: (
                '<div class="scrolls" tabindex="0"><table>\n'
            ),
            "table_close": lambda *_: "</table></div>\n",
        }

    def of_text(self, text: str) -> str:
        return self.of_tokens(self.markdown.parse(text))

    def of_tokens(self, tokens: list[Token]) -> str:
        html = self.markdown.renderer.render(tokens, self.markdown.options, {})
        return re.sub("(?s)<p>(<figure.*?</figure>)</p>", r"\1", html)

    def meaning(self, code: str) -> str:
        """Return the full name of what is meant by words of code."""
        names = (f"{module}.{code}" for module in ("game", "games"))
        return next(filter(self.links.get, names), "")

    def link(self, name: str) -> str:
        """Return the tag that links a name, or nothing."""
        if name not in self.links:
            return ""
        target, says = self.links[name]
        target = target.removeprefix(self.name)
        return f'<a href="{target}" title="{escape(says)}" tabindex="-1">'

    def _heading_open(self, tokens: list[Token], at: int, *_: Any) -> str:
        """A level that was skipped is skipped for the eye alone."""
        self.is_heading = True
        tag = tokens[at].tag
        self.level = min(int(tag[1]), self.level + 1)
        anchor = slug(tokens[at + 1].content)
        return f'<{tag} id="{anchor}" aria-level="{self.level}">'

    def _heading_close(self, tokens: list[Token], at: int, *_: Any) -> str:
        self.is_heading = False
        return f"</{tokens[at].tag}>\n"

    def _code(self, tokens: list[Token], at: int, *_: Any) -> str:
        """A name is a link, unless that is in a heading or another link."""
        html = f"<code>{escape(tokens[at].content)}</code>"
        inside = sum(token.nesting for token in tokens[:at])
        tag = self.link(self.meaning(tokens[at].content))
        if tag and not inside and not self.is_heading:
            html = f"{tag}{html}</a>"
        return html

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

    def _indented(self, tokens: list[Token], at: int, *_: Any) -> str:
        return self._program(tokens[at].content, "bash", "")

    def _program(self, text: str, language: str, _: str) -> str:
        """Return a program as a listing."""
        lines = text.splitlines()
        tags: Tags = {}
        with contextlib.suppress(SyntaxError):  # a part of a program
            if language == "python":
                found = Uses("", ast.parse(text), lines).found
                tags = {
                    (row - 1, column): self.link(name)
                    for (row, column), name in found.items()
                }
        html = colored(text, language or "text", tags)
        return listing([("", line) for line in html])


def colored(code: str, language: str, tags: Tags) -> list[str]:
    """Return the lines of code as HTML; `tags` open links."""
    lines = [""]
    column = 0
    lexer = get_lexer_by_name(language, stripnl=False)
    tokens = itertools.groupby(lexer.get_tokens(code), itemgetter(0))
    for kind, values in tokens:
        short = STANDARD_TYPES[kind]
        value = "".join(text for _, text in values)
        for part in re.split(r"(?<=\n)", value):
            text = escape(part.rstrip("\n"), quote=False)
            # A narrow window breaks a line there, and not within a word.
            text = re.sub(r"^(?=\.)|(?<=[(\[])$", "<wbr>", text)
            if text and STYLED.match(short):
                text = f'<span class="{short}">{text}</span>'
            if tag := tags.get((len(lines) - 1, column)):
                text = f"{tag}{text}</a>"
            lines[-1] += text
            column += len(part)
            if part.endswith("\n"):
                lines.append("")
                column = 0
    return lines[:-1]


def listing(lines: Iterable[tuple[str, str]]) -> str:
    """Return a listing of lines of HTML, each with its attributes."""
    spans = ""
    for attributes, line in lines:
        text = re.sub("<.*?>", "", line)
        inside = len(text) - len(text.lstrip())
        spans += f'<span{attributes} style="--i:{inside}">{line}\n</span>'
    return f'<pre class="code"><code>{spans}</code></pre>'


def formula(text: str, options: Mapping[str, bool]) -> str:
    """Return a formula of LaTeX as MathML.

    A browser spaces all operators widely: functions, such as min, and those in
    an index, too.
    """
    is_alone = options["display_mode"]
    mathml = convert(text, display="block" if is_alone else "inline")
    if "\\" in mathml:
        raise ValueError(f"a formula has an unknown command: {text}")
    functions = "<mo>(?=[a-z])"
    in_index = "<mo>(?=(?:(?!<mrow>).)*</mrow></msub>)"
    tight = '<mo lspace="0" rspace="0">'
    return re.sub(f"{functions}|{in_index}", tight, mathml)


def picture(path: str, alt: str) -> str:
    """Return a picture as HTML; a drawing has the letters of the page."""
    alt = escape(alt)
    if not (SITE / path).exists():
        print(f"site/{path} is missing: --stills {Path(path).stem} takes it")
    if not path.endswith(".svg"):
        return f'<img src="{path}" alt="{alt}" loading="lazy">'
    svg = (SITE / path).read_text("utf-8")
    svg = re.sub("(?s)<!--.*?-->\n|<style>.*?</style>", "", svg)
    return svg.replace("<svg", f'<svg role="img" aria-label="{alt}"')
