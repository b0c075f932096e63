"""
Weave `game.py` into the two pages that people read: `game.md` for a code host
and `docs/index.html` for a browser; and put numbers into `docs/reference.md`.

    python page/weave.py            # write them
    python page/weave.py --check    # exit with 1 if one of them is stale

Docstrings and comments that fill a line are Markdown, everything else is code.
Each source line comes out once and in order. `page/notes.md` holds the prose
that belongs to no line of code. Each part of it begins with a comment that
says where it goes: `<!-- inside: the-stack -->` under the first prose of that
section and `<!-- after: the-stack -->` behind its code. `{{name}}` in it is a
number of `measured.py`, and `{{minutes[2]}}` says how long part 2 takes to
read.

The imports and the sections of the last part are folded, and so is what stands
under a `####` heading: what a fold shows while it is closed is its title and
its first paragraph.

A picture `figures/NAME.svg` moves in the browser if there is `NAME.html` in
`page/moving`: that stands in its place, with `{{picture}}` and `{{caption}}`
in it. All `*.css` and `*.js` of that folder come along, `shared.js` first.
A script reads `page/data/NAME.json` by `await read("NAME")`; the page loads it
from `docs/data/NAME.js` when it is first asked for.
"""

import argparse
import ast
import re
import struct
import sys
from dataclasses import dataclass
from html import escape
from itertools import pairwise, zip_longest
from pathlib import Path

import pygments
from markdown_it import MarkdownIt
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer

from measured import measured

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
DOCS = ROOT / "docs"
IMAGE = r"(!\[.*\]\(\S+) (['\"])(.*)\2\)\n*"  # with its caption
IMPORTS = "**The imports**: what the module is built on, and why."
DESCRIPTION = (
    "Atari preprocessing for DQN and PPO, explained line by line: frame skip, "
    "maximum, 84×84 gray, frame stack, lost lives, and many games at once."
)
ANCHOR = r'(?s)( id=".+?")(.*</summary>)'
WORDS_A_MINUTE = 220
SECONDS_A_LINE = 4
# A name in prose and a token of code; what is in these others has no links.
NAMES = (
    r"(?s)<(a|h\d|figure|summary)\b.*?</\1>|<code>(?P<name>[\w.]+).*?</code>|"
    '<span class="(?:n|nn|o|p|w)">(?P<token>.*?)</span>'
)
# Headings, marks and addresses.
NO_WORDS = r"^#.*|<[^>]+>|\]\([^)]*\)|!\[[^]]*\]|[|*`#>_-]"


# Reading


@dataclass
class Block:
    """Text of one kind, of the source from line `row` on.

    The kind is "prose" or "code" of the source, "note", or "fold" for the two
    ends of a fold. All but code is Markdown.
    """

    kind: str
    text: str
    row: int = 0

    lines = property(lambda self: self.text.split("\n"))
    level = property(lambda self: len(re.match("#*", self.text)[0]))
    is_code = property(lambda self: self.kind == "code")


def blocks(source):
    """Return the source as a list of blocks, in order.

    A heading begins a new one, and so does what follows the title, and what
    has a docstring. Blank lines are kept inside a block and dropped between
    two.
    """
    prose, starts, found = {}, set(), [Block("", "")]
    for row, line in enumerate(source.splitlines(), 1):
        if comment := re.match(" *# ?(.*)", line):
            prose[row] = comment[1]
    for node in ast.walk(ast.parse(source)):
        documented = ast.Module, ast.ClassDef, ast.FunctionDef
        if isinstance(node, documented) and ast.get_docstring(node):
            doc = node.body[0]
            rows = range(doc.lineno, doc.end_lineno + 1)
            text = ast.get_docstring(node).splitlines()
            prose |= zip_longest(rows, text, fillvalue="")
            starts.add(doc.end_lineno + 1)
            if not isinstance(node, ast.Module):
                starts.add([*node.decorator_list, node][0].lineno)
    for row, line in enumerate(source.splitlines(), 1):
        last, kind = found[-1], "prose" if row in prose else "code"
        line = prose.get(row, line)
        if kind == "prose" and (line[:1] == "#" or last.level == 1):
            starts.add(row)
        if line and kind == last.kind and row not in starts:
            last.text += "\n" * (row - last.row - last.text.count("\n"))
            last.text += line
        elif line:
            found.append(Block(kind, line, row))
    return found[1:]


def fill(template, **parts):
    """Put what `{{name}}` or `{{name[key]}}` stands for in its place."""
    return re.sub("{({.+?})}", lambda it: it[1].format(**parts), template)


def slug(title):
    """The anchor of a heading, made as code hosts make it."""
    return re.sub(r"[^\w -]", "", title.lower()).strip().replace(" ", "-")


def story(source):
    """Return the source's blocks with the notes between them, and the folds.

    It is told twice: the first time nobody knows yet how long it takes.
    """
    text = (HERE / "notes.md").read_text()
    minutes = reading_time(markdown(fold(annotated(source, text))))
    text = fill(text, minutes=minutes, **measured())
    return fold(annotated(source, text))


def sections(blocks):
    """Return lists of blocks, a new one from each heading on."""
    found = []
    for block in blocks:
        if block.level:
            found.append([])
        found[-1].append(block)
    return found


def annotated(source, text):
    """Return the source's blocks with the notes between them."""
    notes, told = {}, []
    places = re.split(r"<!-- (\w+: \S+) -->\n", text)
    for place, text in zip(places[1::2], places[2::2], strict=True):
        parts = re.split("^(?=##+ )", text, flags=re.M)
        notes[place] = [Block("note", part.strip()) for part in parts]
    for first, *rest in sections(blocks(source)):
        here = slug(first.lines[0])
        told += [first, *notes.pop(f"inside: {here}", []), *rest]
        told += notes.pop(f"after: {here}", [])
    assert not notes, f"notes.md: no section for {list(notes)}"
    return told


def fold(told):
    """Fold the imports, each section of the last part, and each aside."""
    last = [block for block in told if block.level == 2][-1]
    found, in_last = [], False
    for section in sections(told):
        first, seen, at = section[0], "", 0
        in_last = in_last or first is last
        if first.level == 1:
            at = [block.is_code for block in section].index(True)
            seen = IMPORTS
        if first.level == 4 or in_last and first.level == 3:
            # What is seen of it is the title and the first paragraph.
            seen = re.match(r"#.*\n+(.+\n?)+", first.text)[0]
            rest = first.text.removeprefix(seen).strip()
            section[0] = Block(first.kind, rest)
        if seen:
            summary = f"<details>\n<summary>\n\n{seen.strip()}\n\n</summary>"
            row = 0 if seen == IMPORTS else first.row
            section.insert(at, Block("fold", summary, row))
            section.append(Block("fold", "</details>"))
        found += [block for block in section if block.text]
    return found


def reading_time(page):
    """Return how many minutes each part takes; of 1 and 2 what isn't folded.

    What comes before the second part belongs to the first.
    """
    minutes, part = {1: 0, 2: 0, 3: 0}, 1
    for text in re.split(r"^(?=## \d|</?details>)", page, flags=re.M):
        if heading := re.match(r"## (\d)", text):
            part = int(heading[1])
        pieces = text.split("\n```")  # prose, code, prose, and so on
        words = re.sub(NO_WORDS, " ", "\n".join(pieces[::2]), flags=re.M)
        lines = sum(len(re.findall("\n.", code)) for code in pieces[1::2])
        spent = len(words.split()) / WORDS_A_MINUTE
        spent += lines * SECONDS_A_LINE / 60
        if part == 3 or not text.startswith("<d"):
            minutes[part] += spent
    return {name: round(one) for name, one in minutes.items()}


# Markdown


def markdown(told):
    """The story as Markdown, for a code host."""
    out = []
    for block in told:
        text = block.text
        if block.is_code:
            text = f"```python\n{text}\n```"
        elif block.kind == "note":
            # Its paths start from docs/.
            text = re.sub(r"\]\((?!http|#)", "](docs/", text)
            text = text.replace("](docs/../", "](")
            text = re.sub(IMAGE, r"\1)\n\n*\3*\n\n", text).strip()
        out.append(text)
    return "\n\n".join(out) + "\n"


# HTML


def texts(kind):
    """The page's own style or script, what the figures share, and theirs."""
    files = (HERE / "moving").glob(f"*.{kind}")
    files = sorted(files, key=lambda file: (file.stem != "shared", file.name))
    return [file.read_text() for file in [HERE / f"page.{kind}", *files]]


def definitions(node, outer=""):
    """Where each class and function begins: pairs of a row and an anchor."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.ClassDef | ast.FunctionDef):
            yield child.lineno, outer + child.name
            yield from definitions(child, f"{outer}{child.name}.")


def linked(html, anchors):
    """HTML in which names lead to their definitions, methods' too, if once."""

    def link(found):
        name = found["name"] or found["token"] or ""
        text = found["token"] or found[0]
        there = {name} & set(anchors)
        if name.startswith("_"):
            there = [one for one in anchors if f".{one}".endswith(f".{name}")]
        if len(there) == 1:
            text = f'<a href="#{min(there)}">{text}</a>'
        return text

    return re.sub(NAMES, link, html)


def highlight(code, language="python", _=None):
    """Code as HTML; what isn't Python stays as it is."""
    if language != "python":
        return ""
    lexer, html = PythonLexer(stripnl=False), HtmlFormatter(nowrap=True)
    return pygments.highlight(code, lexer, html)


def to_html(text):
    """Markdown as HTML."""
    md = MarkdownIt("commonmark", {"highlight": highlight}).enable("table")
    md.renderer.rules["image"] = figure
    tokens = md.parse(text)
    for token, inline in pairwise(tokens):
        match token.type:
            case "heading_open":
                token.attrSet("id", slug(inline.content))
            case "thead_open":
                labels = []
            case "th_open":
                labels.append(inline.content.replace("`", ""))
            case "td_open":  # shown in each cell on a phone
                token.attrSet("data-label", labels[0])
                labels.append(labels.pop(0))
    html = md.renderer.render(tokens, md.options, {})
    html = html.replace("<p><figure", '<div class="figures"><figure')
    html = html.replace("</figure>\n</p>", "</figure>\n</div>")
    html = html.replace("<table>", '<div class="wide"><table>')
    return html.replace("</table>", "</table></div>")


def size(file):
    """The width and the height of a picture, SVG or PNG."""
    content = file.read_bytes()
    if file.suffix == ".png":
        return struct.unpack(">II", content[16:24])
    box = re.search(rb'viewBox="0 0 ([\d.]+) ([\d.]+)"', content)
    return [round(float(one)) for one in box.groups()]


def figure(tokens, at, *_):
    """A picture by its path, with its size, so that nothing shifts."""
    path, alt = tokens[at].attrs["src"], escape(tokens[at].content)
    caption = MarkdownIt().renderInline(tokens[at].attrs["title"])
    width, height = size(DOCS / path)
    picture = (
        f'<img src="{path}" alt="{alt}" width="{width}" height="{height}"'
        ' loading="lazy">'
    )
    name = Path(path).stem
    moving = HERE / f"moving/{name}.html"
    if moving.exists():
        return fill(moving.read_text(), picture=picture, caption=caption)
    caption = f"<figcaption>{caption}</figcaption>"
    return f'<figure class="{name}">{picture}{caption}</figure>\n'


def code(block, anchors):
    """A block of code; each line knows how far it is indented."""
    html = ""
    for row, line in enumerate(highlight(block.text).splitlines(), block.row):
        indent = len(line) - len(line.lstrip())
        where = f' id="{anchors[row]}"' if row in anchors else ""
        where += f' style="--i:{indent}"' if indent else ""
        html += f"<span{where}>{line}</span>\n"
    return f'<div class="code"><pre><code>{html}</code></pre></div>'


def html_page(source):
    anchors = dict(definitions(ast.parse(source)))
    out = []
    for block in story(source):
        match block.kind:
            case "code":
                out.append(code(block, anchors))
            case "fold":
                html = to_html(block.text).replace("p>", "span>")
                where = "prose" if block.row else "note"
                html = html.replace("<summary>", f'<summary class="{where}">')
                # What a link leads to is inside: the browser opens the fold.
                out.append(re.sub(ANCHOR, r"\2<span\1></span>", html))
            case kind:
                out.append(f'<div class="{kind}">{to_html(block.text)}</div>')
    title, top, *rest = out
    main = f'<div class="top">{title}{top}</div>\n' + "\n".join(rest)
    return fill(
        (HERE / "page.html").read_text(),
        title=re.search("^# (.+)", source, re.M)[1],
        description=DESCRIPTION,
        style="".join(texts("css")),
        main=linked(main, anchors.values()),
        scripts="\n".join(
            f"<script>\n{text}</script>" for text in texts("js")
        ),
    )


def woven(source):
    """All files that are woven, as `{path: text}`."""
    reference = (HERE / "reference.md").read_text()
    files = {
        ROOT / "game.md": markdown(story(source)),
        DOCS / "index.html": html_page(source),
        DOCS / "reference.md": fill(reference, **measured()),
    }
    for name in re.findall(r'read\("(\w+)"\)', "".join(texts("js"))):
        data = (HERE / f"data/{name}.json").read_text().strip()
        files[DOCS / f"data/{name}.js"] = f"given.{name} = {data};\n"
    return files


def main():
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--check", action="store_true")
    check = parser.parse_args().check
    stale = False
    for path, text in woven((ROOT / "game.py").read_text()).items():
        if path.exists() and path.read_text() == text:
            continue
        stale = True
        print(path.relative_to(ROOT), "is stale" if check else "written")
        if not check:
            path.write_text(text)
    return check and stale


if __name__ == "__main__":
    sys.exit(main())
