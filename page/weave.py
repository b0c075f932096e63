"""
Weave the pages.

    python page/weave.py            # write what is stale
    python page/weave.py --check    # exit with 1 if anything is stale

`docs/game.html` and `game.md` come from `game.py` alone: docstrings and
comments that fill a line are Markdown. Each stands beside the code below it,
or above it if it is longer. A Markdown image in a comment is a figure.

`docs/index.html` comes from `story.md`. Words stand on the left, and what
follows them on the right: programs, tables, figures. `{{code Game.step}}` is
that definition of `game.py` with its comments, but without its docstring, and
`{{name}}` is a value of `data/measured.json`.

A picture `figures/NAME.*` moves if there is a `moving/NAME.html`, which takes
its place where scripts run.
"""

import argparse
import ast
import base64
import io
import itertools
import json
import math
import posixpath
import re
import sys
import tokenize
from dataclasses import dataclass, field
from html import escape
from pathlib import Path

import cv2
from markdown_it import MarkdownIt
from pygments.lexers import get_lexer_by_name
from pygments.token import Comment, Keyword, Name, Operator, String

import drawing

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
DOCS = ROOT / "docs"
FONTS = {  # what a file's name says after its family
    "": "400",
    "all": "200 900",
    "bold": "700",
    "italic": "400; font-style: italic",
}
# What has a colour of its own, in words and in code.
COLOURED = "third|fourth|picture"
# For whoever wants to cite a heading.
SIGN = r' <a class="sign" href="#\2" aria-label="Link to this place">#</a>'
STYLES = [
    (Comment, "c"),
    (String, "s"),
    (Keyword, "k"),
    (Operator.Word, "k"),
    (Name.Function, "n"),
    (Name.Class, "n"),
]
# How high words are in the left column: characters to a line, and the height
# of a line and of the space between paragraphs, in lines of code.
LINE_LENGTH, LINE_HEIGHT, SPACE = 60, 1.2, 0.6
ROOM = 2  # lines of code by which words beside it may be higher


# Reading game.py


@dataclass
class Piece:
    """Lines of one kind: "code", "comment" or "docstring"."""

    kind: str
    row: int  # of the first line
    text: str


class Module:
    """The source of `game.py`, its pieces, and where its names are defined."""

    def __init__(self, source):
        self.source = source
        self.tree = ast.parse(source)
        self.names = dict(definitions(self.tree))
        self.uses = dict(self._find_uses())
        kinds = ast.Import | ast.ImportFrom
        imports = [it for it in self.tree.body if isinstance(it, kinds)]
        self.imports = range(imports[0].lineno, imports[-1].end_lineno + 1)
        self.pieces = self._read()

    def _read(self):
        """Return all pieces, in order.

        A heading begins one, and so do a definition, what stands below its
        docstring, the imports, and what stands below them.
        """
        words = {}
        starts = {self.imports.start, self.imports.stop}
        for node in ast.walk(self.tree):
            if isinstance(node, ast.ClassDef | ast.FunctionDef):
                starts.add(first_row(node))
            elif not isinstance(node, ast.Module):
                continue
            if text := ast.get_docstring(node):
                first, last = node.body[0].lineno, node.body[0].end_lineno
                lines = text.splitlines() + [""] * (last - first)
                for row in range(first, last + 1):
                    words[row] = "docstring", lines[row - first]
                starts |= {first, last + 1}
        title = min(words)  # what stands above it, a licence, is code
        reader = io.StringIO(self.source).readline
        for token in tokenize.generate_tokens(reader):
            row, column = token.start
            alone = not token.line[:column].strip()
            if token.type == tokenize.COMMENT and alone and row > title:
                words[row] = "comment", token.string[2:]
                if token.string.startswith("# #"):
                    starts.add(row)

        found, last = [], 0  # the last row that isn't blank
        for row, line in enumerate(self.source.splitlines(), 1):
            kind, text = words.get(row, ("code", line))
            if not text:
                continue
            begins = any(last < start <= row for start in starts)
            if begins or not found or kind != found[-1].kind:
                found.append(Piece(kind, row, text))
            else:
                found[-1].text += "\n" * (row - last) + text
            last = row
        return found

    def _find_uses(self):
        """Yield where a name is used, and which definition it means."""
        for outer in self.tree.body:
            for node in ast.walk(outer):
                if isinstance(node, ast.Name):
                    name, column = node.id, node.col_offset
                elif isinstance(node, ast.Attribute):
                    owner = getattr(node.value, "id", "")
                    if owner == "self":
                        owner = outer.name
                    name = f"{owner}.{node.attr}"
                    column = node.end_col_offset - len(node.attr)
                else:
                    continue
                row = node.end_lineno
                if self.names.get(name, row) != row:
                    yield (row, column), name

    def meant(self, name):
        """Return the definition that a name in prose means, or None."""
        if name.startswith("_"):
            found = [one for one in self.names if one.endswith(f".{name}")]
            return found[0] if len(found) == 1 else None
        return name if name in self.names else None

    def quoted(self, name):
        """Return the pieces of a definition, without its docstring."""
        defined = [it for it in ast.walk(self.tree) if hasattr(it, "lineno")]
        row = self.names[name]
        node = next(it for it in defined if it.lineno == row)
        rows = range(first_row(node), node.end_lineno + 1)
        return [
            Piece(it.kind, it.row, "" if it.kind == "docstring" else it.text)
            for it in self.pieces
            if it.row in rows
        ]


def first_row(node):
    """Return where a definition begins, decorators included."""
    decorators = getattr(node, "decorator_list", [])
    return min(one.lineno for one in [node, *decorators])


def definitions(node, outer=""):
    """Yield classes, functions and constants, each with its row."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.ClassDef | ast.FunctionDef):
            yield outer + child.name, child.lineno
        if isinstance(child, ast.ClassDef):
            yield from definitions(child, f"{child.name}.")
        if isinstance(child, ast.Assign | ast.AnnAssign):
            target = getattr(child, "target", None) or child.targets[0]
            if isinstance(target, ast.Name):
                yield outer + target.id, child.lineno


def game_md(module):
    """Return the module for a code host."""
    out = []
    for piece in module.pieces:
        if piece.row == module.imports.start:
            out.append("<details>\n<summary>The imports</summary>")
        if piece.row == module.imports.stop or (
            "</details>" not in out and piece.row > module.imports.stop
        ):
            out.append("</details>")
        is_code = piece.kind == "code"
        out.append(f"```python\n{piece.text}\n```" if is_code else piece.text)
    return "\n\n".join(out) + "\n"


# Rows of a page


@dataclass
class Row:
    """Words on the left, and on the right what they are about.

    If it is "wide", the words stand above, from side to side; if it is
    "code", it goes on from the row before. `left` is the share of the bricks
    that are left in the wall above a new part.
    """

    words: list = field(default_factory=list)
    things: list = field(default_factory=list)
    kind: str = ""
    left: float = 1.0

    @property
    def level(self):
        """That of the heading that it begins with, if it is a high one."""
        return next((n for n in "12" if f"<h{n}" in "".join(self.words)), "")

    def html(self):
        kind = f"row {self.kind}"
        if self.level:
            kind = f'row level{self.level}" style="--left:{self.left:.2f}'
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
    children = block[1].children if len(block) == 3 else None
    return [child.type for child in children or []] == ["image"]


def is_thing(block):
    """Whether a block stands on the right."""
    return block[0].type in ("fence", "table_open") or is_figure(block)


class Page:
    """What makes HTML of Markdown and of code, for one of the pages.

    The definitions of the module are in the page `listing`, or here if that
    is empty.
    """

    def __init__(self, module, listing=""):
        self.module, self.listing = module, listing
        self.contents = []  # headings: level, anchor, text
        self.markdown = MarkdownIt("commonmark", {"highlight": self.program})
        self.markdown.enable("table")
        rules = self.markdown.renderer.rules
        rules |= {"image": self._image, "code_inline": self._code_inline}

    def rows_of_story(self, text):
        """Yield the rows of a text."""
        row = Row()
        for block in blocks(self.markdown.parse(text)):
            content = block[1].content if len(block) == 3 else ""
            quote = re.fullmatch(r"{{code (\S+)}}", content)
            across = '<details class="wide"' in block[0].content
            if is_thing(block):
                row.things.append(self.render(block))
                continue
            if row.things or quote or across or block[0].tag[:1] == "h":
                yield row
                row = Row(kind="wide" if across else "")
            if quote:
                yield from self.rows_of_code(self.module.quoted(quote[1]))
            else:
                row.words.append(self.render(block))
        yield row

    def rows_of_module(self):
        """Yield the rows of the module, in which the imports are folded."""
        imports, pieces = self.module.imports, self.module.pieces
        yield from self.rows_of_code(
            [piece for piece in pieces if piece.row < imports.start]
        )
        rows = self.rows_of_code(
            [piece for piece in pieces if piece.row in imports]
        )
        inside = "".join(row.html() for row in rows)
        fold = f"<summary>The imports</summary>\n{inside}"
        yield Row([f"<details>{fold}</details>"], kind="wide")
        yield from self.rows_of_code(
            [piece for piece in pieces if piece.row >= imports.stop]
        )

    def rows_of_code(self, pieces):
        """Yield the rows of a part of the module."""
        indent = len(pieces[0].text) - len(pieces[0].text.lstrip())
        for notes, code in together(pieces):
            text = "\n\n".join(note.text for note in notes)
            words, things = [], []
            for block in blocks(self.markdown.parse(text)):
                place = things if is_figure(block) else words
                place.append(self.render(block, of_module=True))
            lines = [self.code(it.text, "python", it.row, indent) for it in code]
            shown = f'<pre class="code"><code>{"".join(lines)}</code></pre>'
            if things:
                yield Row(words, things)
                words = []
            room = sum(it.text.count("\n") + 1 for it in code) + ROOM
            kind = "wide" if height(text) > room else "code"
            if words or code:
                yield Row(words, [shown] if code else [], kind)

    def render(self, tokens, of_module=False):
        """Return Markdown as HTML; remember its headings.

        Its links start from `docs/`, or from the root if it is `of_module`.
        """
        for token, inline in itertools.pairwise(tokens):
            if token.type == "heading_open":
                anchor = slug(inline.content)
                token.attrSet("id", anchor)
                words = self.markdown.renderInline(inline.content)
                self.contents.append((token.tag, anchor, words))
            for child in inline.children or [] if of_module else []:
                for key in child.attrs.keys() & {"href", "src"}:
                    child.attrs[key] = self._address(child.attrs[key])
        html = self.markdown.renderer.render(tokens, self.markdown.options, {})
        for old, new in [
            (r'(<h\d id="([^"]+)">.*?)(?=</h)', rf"\1{SIGN}"),
            (rf"<strong>({COLOURED})", r'<strong class="\1">\1'),
            ("<p>(<figure.*?</figure>)</p>", r"\1"),
            ("<table>.*?</table>", r'<div class="scrolls">\g<0></div>'),
        ]:
            html = re.sub(old, new, html, flags=re.DOTALL)
        return html

    def _address(self, address):
        """Return where a link of the module leads on this page."""
        if address.startswith("#"):
            return self.listing + address
        is_path = not re.match(r"\w+:", address)
        return posixpath.relpath(address, "docs") if is_path else address

    def _image(self, tokens, at, *_):
        """A picture is a figure, and its title the caption."""
        title = tokens[at].attrs.get("title")
        path = tokens[at].attrs["src"]
        name = Path(path).stem
        alt = " ".join(tokens[at].content.split())
        html = picture(path, escape(alt))
        moving = HERE / f"moving/{name}.html"
        if moving.exists():
            html = moving.read_text().replace("{{picture}}", html)
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
        html = self.code(text.rstrip("\n"), language or "text")
        return f'<pre class="code"><code>{html}</code></pre>'

    def code(self, text, language, first=0, indent=0):
        """Return code as HTML, a span a line.

        Code of the module tells its `first` row: then its names lead to their
        definitions, and these are anchors. A quotation loses its `indent`.
        """
        lexer = get_lexer_by_name(language, stripnl=False, ensurenl=False)
        lines, row, column = [""], first, 0
        for kind, value in lexer.get_tokens(text):
            for i, part in enumerate(value.split("\n")):
                if i > 0:
                    lines.append("")
                    row, column = row + 1, 0
                means = self.module.uses.get((row, column))
                if first == 0 and kind in Name and part in self.module.names:
                    means = part
                lines[-1] += self._token(kind, part, means)
                column += len(part.encode())
        names = {row: name for name, row in self.module.names.items()}
        html = ""
        for row, line in enumerate(lines, first):
            line = line.removeprefix(" " * indent)
            anchor = ""
            if first and row in names and not self.listing:
                anchor = f' id="{names[row]}"'
            inside = len(line) - len(line.lstrip())
            html += f'<span{anchor} style="--i:{inside}">{line}\n</span>'
        return html

    def _token(self, kind, text, means):
        html = escape(text, quote=False)
        if means:
            html = f'<a href="{self.listing}#{means}">{html}</a>'
        style = next((style for one, style in STYLES if kind in one), None)
        if kind in Name and re.fullmatch(COLOURED, text):
            style = text
        return f'<span class="{style}">{html}</span>' if style else html

def together(pieces):
    """Yield notes and the code that they belong to."""
    notes, code, last = [], [], ""
    for piece in pieces:
        if piece.kind == "docstring" and code:
            # It stands beside the head of its definition, and what stands
            # above that head stands alone.
            if notes:
                yield notes, []
            notes = [piece]
        elif piece.kind == "code" and (not code or last == "docstring"):
            code.append(piece)
        else:
            yield notes, code
            notes, code = [], []
            (code if piece.kind == "code" else notes).append(piece)
        last = piece.kind
    yield notes, code


def height(text):
    """Return how high words are in the left column, in lines of code."""
    parts = [it for it in re.split(r"\n\n|\n(?=- |\d\. )", text) if it]
    lines = [math.ceil(len(part) / LINE_LENGTH) for part in parts]
    return LINE_HEIGHT * sum(lines) + SPACE * len(parts)


def slug(title):
    """Return the anchor of a heading, as code hosts make it."""
    return re.sub(r"[^\w -]", "", title.lower()).strip().replace(" ", "-")


def picture(path, alt):
    """Return a picture as HTML; a drawing has the letters of the page."""
    file = DOCS / path
    if path.startswith("figures/") and file.suffix == ".svg":
        svg = re.sub("(?s)<style>.*?</style>", "", file.read_text())
        return svg.replace("<svg", f'<svg role="img" aria-label="{alt}"')
    if file.suffix == ".svg":
        box = re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', file.read_text())
        width, height = (round(float(side)) for side in box.groups())
    else:
        height, width, *_ = cv2.imread(str(file)).shape
    size = f'width="{width}" height="{height}"'
    return f'<img src="{path}" alt="{alt}" {size} loading="lazy">'


def fill(text, values):
    """Put values in the place of their names."""
    return re.sub(r"{{(\w+)}}", lambda it: values[it[1]], text)


# The pages


def html_page(page, rows, **parts):
    """Return a page of these rows."""
    rows = list(rows)
    begins = [row for row in rows if row.level == "2"]
    for i, row in enumerate(begins, 1):
        row.left = 1 - i / (len(begins) + 1)
    main = "".join(row.html() for row in rows)
    contents = "".join(
        f'<li class="{tag}"><a href="#{anchor}">{words}</a></li>\n'
        for tag, anchor, words in page.contents
        if tag in ("h2", "h3")
    )
    parts |= {"main": main, "contents": contents}
    return fill((HERE / "page.html").read_text(), parts)


def woven():
    """Return all files that are woven, as `{path: text}`."""
    module = Module((ROOT / "game.py").read_text())
    values = json.loads((HERE / "data/measured.json").read_text())
    listing = Page(module)
    story = Page(module, "game.html")
    text = fill((HERE / "story.md").read_text(), values)
    shared = [HERE / "page.js", HERE / "moving/player.js"]
    others = sorted(set(HERE.glob("moving/*.js")) - set(shared))
    script = "\n".join(path.read_text() for path in [*shared, *others])
    style = "".join(
        (HERE / f"{name}.css").read_text()
        for name in ("page", "moving/figures", "drawing")
    )
    files = {
        ROOT / "game.md": game_md(module),
        DOCS / "game.html": html_page(
            listing,
            listing.rows_of_module(),
            title="Breakout, annotated",
            about="Atari preprocessing for DQN and PPO, and many games at once,"
            " in one annotated Python module.",
            other='<a href="index.html">What an agent sees</a>',
        ),
        DOCS / "index.html": html_page(
            story,
            story.rows_of_story(text),
            title="What an agent sees",
            about="How an Atari game becomes four small gray pictures, and"
            " what an agent learns from them.",
            other='<a href="game.html">The module, annotated</a>',
        ),
        DOCS / "page.css": font_faces() + drawing.colours() + style,
        DOCS / "page.js": script,
    }
    for name in re.findall(r'read\("(\w+)"\)', script):
        data = (HERE / f"data/{name}.json").read_text().strip()
        files[DOCS / f"data/{name}.js"] = f"given.{name} = {data};\n"
    return files


def font_faces():
    """Return the fonts: a page in a folder may load none from other files."""
    rules = ""
    for path in sorted((HERE / "fonts").glob("*.woff2")):
        family, _, kind = path.stem.partition("-")
        data = base64.b64encode(path.read_bytes()).decode()
        rules += (
            f"@font-face {{ font-family: {family.title()}; "
            f"font-weight: {FONTS[kind]};\n"
            f"src: url(data:font/woff2;base64,{data}) }}\n"
        )
    return rules


def main():
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--check", action="store_true")
    check = parser.parse_args().check
    stale = False
    for path, text in woven().items():
        if path.exists() and path.read_text() == text:
            continue
        stale = True
        print(path.relative_to(ROOT), "is stale" if check else "written")
        if not check:
            path.write_text(text)
    return check and stale


if __name__ == "__main__":
    sys.exit(main())
