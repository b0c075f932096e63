"""
Weave `game.py` into the two pages that people read: `game.md` for a code host
and `docs/index.html` for a browser.

    python page/weave.py            # write both
    python page/weave.py --check    # exit with 1 if one of them is stale

Docstrings and comments that fill a line are Markdown, everything else is code.
Each source line comes out once and in order. `page/notes.md` holds the prose
that belongs to no line of code. Each part of it begins with a comment that
says where it goes: `<!-- inside: the-stack -->` under the first prose of that
section, `<!-- after: the-stack -->` behind its code, and with `if agent.webp`
at the end only if there is that file. `{{name}}` in it is a measured number.

A picture `figures/NAME.svg` moves in the browser if there is `NAME.html` in
`page/moving`: that stands in its place, with `{{picture}}` and `{{caption}}`
in it. All `*.css` and `*.js` of that folder come along, `shared.js` first, and
`data-needs="recording"` in a figure brings along `page/recording.json`, as
`<script type="application/json" id="recording">`.
"""

import ast
import base64
import io
import json
import re
import sys
import tokenize
from dataclasses import dataclass
from html import escape
from itertools import groupby
from pathlib import Path

import pygments
from markdown_it import MarkdownIt
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
DOCS = ROOT / "docs"
RESULTS = ROOT / "measure/results"
MEASURED = [
    HERE / "facts.json",
    RESULTS / "differences.json",
    RESULTS / "benchmark.json",
    RESULTS / "chaos.json",
]
NOTES = "inside", "after"
IT_MOVES = "(In [docs/index.html](docs/index.html) it moves.)"
LARGEST = 600_000  # bytes of a picture that index.html takes in


# Reading


@dataclass
class Block:
    """Lines of one kind, from line `row` of the source on.

    The kind is "prose", "code", or "head" for the first lines of a class or
    function that has a docstring; "inside" or "after" for a note.
    """

    kind: str
    row: int
    lines: list

    text = property(lambda self: "\n".join(self.lines))
    end = property(lambda self: self.row + len(self.lines))
    is_code = property(lambda self: self.kind in ("code", "head"))


def blocks(source):
    """Return the source as a list of blocks, in order.

    A heading begins a new one. Blank lines are kept inside a block and
    dropped between two.
    """
    lines = ["", *source.splitlines()]  # the first is number 1
    kinds = ["code" if line.strip() else "" for line in lines]
    starts, fenced, found = set(), False, []
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        row, col = token.start
        if token.type == tokenize.COMMENT and not token.line[:col].strip():
            kinds[row], lines[row] = "prose", re.sub("^# ?", "", token.string)
    for node in ast.walk(ast.parse(source)):
        documented = ast.Module, ast.ClassDef, ast.FunctionDef
        if not isinstance(node, documented) or not ast.get_docstring(node):
            continue
        doc = node.body[0].value
        for row in range(doc.lineno, doc.end_lineno + 1):
            text = re.sub(rf"^ {{0,{doc.col_offset}}}", "", lines[row])
            kinds[row], lines[row] = "prose", text.replace('"""', "").rstrip()
        if not isinstance(node, ast.Module):
            first = min(n.lineno for n in [node, *node.decorator_list])
            kinds[first : doc.lineno] = ["head"] * (doc.lineno - first)
            starts.add(first)
    for row, (kind, line) in enumerate(zip(kinds, lines, strict=True)):
        if kind == "prose":
            fenced ^= line.startswith("```")
            if line.startswith("#") and not fenced:
                starts.add(row)
        last = found[-1] if found else Block("", 0, [])
        if kind == last.kind and not (row in starts and any(last.lines)):
            last.lines += [""] * (row - last.end) + [line]
        elif kind:
            found.append(Block(kind, row, [line]))
    return found


def notes():
    """Return `{(kind, slug): [Markdown, ...]}` of `notes.md`."""
    facts = {file.stem: json.loads(file.read_text()) for file in MEASURED}
    text = (HERE / "notes.md").read_text()
    text, found = fill(text, **facts, **facts["facts"]), {}
    parts = re.split(r"<!-- (\w+): (\S+)(?: if (\S+))? -->\n", text)[1:]
    for kind, place, needed, text in zip(*[iter(parts)] * 4, strict=True):
        if not needed or (DOCS / needed).exists():
            found.setdefault((kind, place), []).append(text.strip())
    return found


def fill(template, **parts):
    """Put what `{{name}}` or `{{name[key]}}` stands for in its place."""
    put = "{{{}}}".format
    return re.sub(r"{{(.+?)}}", lambda m: put(m[1]).format(**parts), template)


def slug(title):
    """The anchor of a heading, made as code hosts make it."""
    return re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-")


def story(source):
    """Return the source's blocks with the notes between them."""
    told, extra, here = [], notes(), None

    def note(kind):
        if (kind, here) in extra:
            text = "\n\n".join(extra.pop((kind, here)))
            told.append(Block(kind, 0, text.splitlines()))

    for block in blocks(source):
        heading = not block.is_code and re.match(r"\s*#+ +(.+)", block.text)
        if heading:
            note("after")
            here = slug(heading[1])
        told.append(block)
        note("inside")
    note("after")
    if extra:
        raise SystemExit(f"notes.md: no section for {list(extra)}")
    return told


def contents(told):
    """A list of links to all headings below the title."""
    text = "\n".join(block.text for block in told if not block.is_code)
    return "\n".join(
        f"{'  ' * (len(marks) - 2)}- [{title}](#{slug(title)})"
        for marks, title in re.findall(r"^(##+) +(.+)", text, re.M)
    )


# Markdown


def markdown_page(source):
    told, lines = story(source), source.splitlines()
    out = []
    for is_code, group in groupby(told, key=lambda block: block.is_code):
        group = list(group)
        if is_code:
            code = "\n".join(lines[group[0].row - 1 : group[-1].end - 1])
            out.append(f"```python\n{code}\n```")
            continue
        for block in group:
            text = block.text.strip()
            if block.kind != "prose":  # its paths start from docs/
                text = re.sub(r"\]\((?!http|#)", "](docs/", text)
                text = re.sub(r'(!\[.*\]\()(\S+) "(.*)"\)', still, text)
            out.append(text)
    out.insert(1, "## Contents\n\n" + contents(told))
    return "\n\n".join(out) + "\n"


def still(image):
    """A picture with its caption below it, and whether it moves elsewhere."""
    start, path, caption = image.groups()
    moves = f" {IT_MOVES}" if moving(path) else ""
    return f"{start}{path})\n\n*{caption}*{moves}"


# HTML


def moving(path):
    """The file of the figure that moves in the place of a picture, or None."""
    file = HERE / "moving" / f"{Path(path).stem}.html"
    return file if "figures/" in path and file.exists() else None


def added(kind):
    """The moving figures' files of a kind, what they share first."""
    files = (HERE / "moving").glob(f"*.{kind}")
    return sorted(files, key=lambda file: (file.stem != "shared", file.name))


def data(html):
    """The data files that figures in `html` need, for scripts to read."""
    needed = " ".join(re.findall(r'data-needs="([^"]*)"', html))
    out = []
    for name in sorted(set(needed.split())):
        text = (HERE / f"{name}.json").read_text().strip()
        text = text.replace("<", "\\u003c")
        out.append(
            f'<script type="application/json" id="{name}">{text}</script>'
        )
    return "\n".join(out)


def highlight(source, names=()):
    """The source's lines as HTML; those of `names` have the class `own`."""

    def own(name):
        kind = f"{name[1]} own" if name[2] in names else name[1]
        return f'<span class="{kind}">{name[2]}<'

    form = HtmlFormatter(nowrap=True)
    html = pygments.highlight(source, PythonLexer(stripnl=False), form)
    return re.sub(r'<span class="(n\w*)">(\w+)<', own, html).split("\n")


def own_names(source):
    """The names that the module itself gives to something."""
    names = set()
    for node in ast.walk(ast.parse(source)):
        match node:
            case (
                ast.ClassDef(name=name)
                | ast.FunctionDef(name=name)
                | ast.arg(arg=name)
                | ast.Name(id=name, ctx=ast.Store())
                | ast.Attribute(attr=name, ctx=ast.Store())
            ):
                names.add(name)
    return {name for name in names if len(name) > 1} - {"self"}


def markdown_to_html():
    """Return a function from Markdown to HTML."""
    md = MarkdownIt("commonmark").enable("table")
    md.options["highlight"] = lambda code, language, _: (
        "\n".join(highlight(code)) if language == "python" else ""
    )
    md.renderer.rules |= {
        "table_open": lambda *_: '<div class="wide"><table>\n',
        "table_close": lambda *_: "</table></div>\n",
        "image": lambda tokens, i, *_: figure(tokens[i], md.renderInline),
    }

    def html(text):
        tokens, labels = md.parse(text), []
        for before, token, behind in zip(
            tokens, tokens[1:], tokens[2:], strict=False
        ):
            if before.type == "heading_open":
                anchor = slug(token.content)
                before.attrSet("id", anchor)
                link = md.parseInline(f"[{token.content}](#{anchor})")
                token.children = link[0].children
            elif before.type == "thead_open":
                labels.clear()
            elif before.type == "th_open":
                labels.append(token.content.replace("`", ""))
            elif before.type == "td_open":  # told in each cell on a phone
                before.attrSet("data-label", labels[0])
                labels.append(labels.pop(0))
            elif token.type == "inline" and token.content.startswith("!["):
                before.hidden = behind.hidden = True  # figures, no paragraph
        return md.renderer.render(tokens, md.options, {})

    return html


def figure(image, to_html):
    path, alt = image.attrs["src"], escape(image.content)
    caption = to_html(image.attrs.get("title", ""))
    data = (DOCS / path).read_bytes()
    kind = Path(path).suffix[1:].replace("svg", "svg+xml")
    source = f"data:image/{kind};base64,{base64.b64encode(data).decode()}"
    picture = f'<img src="{source}" alt="{alt}">'
    if len(data) > LARGEST:
        picture = f'<a href="{path}">{alt}</a>'
    if moving(path):
        page = moving(path).read_text()
        return fill(page, picture=picture, caption=caption)
    caption = f"<figcaption>{caption}</figcaption>"
    return f'<figure class="{Path(path).stem}">{picture}{caption}</figure>\n'


def rows(told):
    """Group the story: prose and the code beside it, or a note alone."""
    found, full = [], True
    for block in told:
        kinds = [] if full else [one.kind for one in found[-1]]
        again = block.kind == "head" and "head" in kinds
        if not kinds or again or block.kind == "after":
            found.append([])
        found[-1].append(block)
        alone = found[-1][0].kind in NOTES or block.row == 1
        full = alone or block.kind == "code"
    return found


def html_page(source):
    to_html, told = markdown_to_html(), story(source)
    lines = ["", *highlight(source, own_names(source))]
    nav = f"<p>Contents</p>\n{to_html(contents(told))}"
    nav = f'<nav id="contents" aria-label="Contents">{nav}</nav>'

    def cell(block):
        if block.is_code:
            code = "\n".join(
                f'<span id="L{i}" data-n="{i}">{lines[i]}</span>'
                for i in range(block.row, block.end)
            )
            return f"<pre><code>{code}</code></pre>"
        text = to_html(block.text)
        if block.kind != "prose":
            return text
        return f'<div data-lines="{block.row}-{block.end - 1}">{text}</div>'

    def as_html(row):
        """What comes before a docstring is `first`, the rest `second`."""
        if row[0].kind in NOTES:
            return f'<div class="note">{cell(row[0])}</div>'
        kinds, html, part = [block.kind for block in row], "", "first"
        for is_code, group in groupby(row, key=lambda block: block.is_code):
            inner = "".join(map(cell, group))
            side = "code" if is_code else "prose"
            html += f'<div class="{side} {part}">{inner}</div>\n'
            part = "second" if is_code else part  # only a head goes on
        if row[0].row == 1:
            html += f'<div class="nav first">{nav}</div>'
        head = " head" * ("head" in kinds) + " bare" * (kinds[0] == "head")
        return f'<div class="row{head}">{html}</div>'

    main = "\n".join(map(as_html, rows(told)))
    styles = [HERE / "page.css", *added("css")]
    scripts = [HERE / "page.js", *added("js")]
    return fill(
        (HERE / "page.html").read_text(),
        title=re.search("^# (.+)", told[0].text, re.M)[1],
        style="".join(file.read_text() for file in styles),
        main=main,
        data=data(main),
        source=json.dumps(source).replace("<", "\\u003c"),
        scripts="\n".join(
            f"<script>\n{file.read_text()}</script>" for file in scripts
        ),
    )


def main():
    source = (ROOT / "game.py").read_text()
    pages = {
        ROOT / "game.md": markdown_page(source),
        DOCS / "index.html": html_page(source),
    }
    check, stale = "--check" in sys.argv[1:], False
    for path, page in pages.items():
        if path.exists() and path.read_text() == page:
            continue
        stale = True
        print(path.relative_to(ROOT), "is stale" if check else "written")
        if not check:
            path.write_text(page)
    return int(check and stale)


if __name__ == "__main__":
    sys.exit(main())
