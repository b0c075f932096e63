"""
Weave `game.py` into the two pages that people read: `game.md` for a code host
and `docs/index.html` for a browser.

    python page/weave.py            # write both
    python page/weave.py --check    # exit with 1 if one of them is stale

Docstrings and comments that fill a line are Markdown, everything else is code.
Each source line comes out once and in order. `page/notes.md` holds the prose
that belongs to no line of code. Each part of it begins with a comment that
says where it goes: `<!-- first: breakout-annotated -->` under the title,
`<!-- inside: the-stack -->` under the first prose of that section, and
`<!-- after: the-stack -->` behind its code; with `if agent.webp` at the end
only if there is that file. `{{name}}` in it is a measured number.

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
from math import ceil
from pathlib import Path
from urllib.parse import quote

from markdown_it import MarkdownIt
from pygments.lexers import PythonLexer
from pygments.token import STANDARD_TYPES, Name

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
DOCS = ROOT / "docs"
RESULTS = ROOT / "measure/results"
MEASURED = [
    RESULTS / "facts.json",
    RESULTS / "agent.json",
    RESULTS / "differences.json",
    RESULTS / "benchmark.json",
    RESULTS / "chaos.json",
    RESULTS / "step_time.json",
]
NOTES = "first", "inside", "after"
IMAGE = r'(!\[.*\]\()(\S+) "(.*)"\)'
FILE = r"(?<!\[)`([\w/]+\.(?:py|md|txt|json))`(?!\])"  # that is named
IT_MOVES = "(In [docs/index.html](docs/index.html) it moves.)"
DESCRIPTION = (
    "Atari preprocessing for DQN and PPO, explained line by line: frame skip, "
    "maximum, 84×84 gray, frame stack, lost lives, and many games at once."
)
PHONE = 90  # characters of a table's row, at most, that a phone can wrap
LARGEST = 600_000  # bytes of a picture that index.html takes in


# Reading


@dataclass
class Block:
    """Lines of one kind, from line `row` of the source on.

    The kind is "prose", "code", or "head" for the first lines of a class or
    function that has a docstring; "first", "inside" or "after" for a note;
    or "contents".
    """

    kind: str
    row: int
    lines: list

    text = property(lambda self: "\n".join(self.lines))
    end = property(lambda self: self.row + len(self.lines))
    is_code = property(lambda self: self.kind in ("code", "head"))
    is_title = property(lambda self: self.text.strip().startswith("# "))


def blocks(source):
    """Return the source as a list of blocks, in order.

    A heading begins a new one, and so does what follows the title. Blank
    lines are kept inside a block and dropped between two.
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
            starts |= {first, doc.end_lineno + 1}
    for row, (kind, line) in enumerate(zip(kinds, lines, strict=True)):
        last = found[-1] if found else Block("", 0, [])
        if kind == "prose":
            fenced ^= line.startswith("```")
            if line and (last.is_title or line[0] == "#" and not fenced):
                starts.add(row)
        if kind == last.kind and not (row in starts and any(last.lines)):
            last.lines += [""] * (row - last.end) + [line]
        elif kind:
            found.append(Block(kind, row, [line]))
    return found


def notes():
    """Return `{(kind, slug): [Markdown, ...]}` of `notes.md`."""
    facts = {file.stem: json.loads(file.read_text()) for file in MEASURED}
    text, found = (HERE / "notes.md").read_text(), {}
    parts = re.split(r"<!-- (\w+): (\S+)(?: if (\S+))? -->\n", text)[1:]
    for kind, place, needed, text in zip(*[iter(parts)] * 4, strict=True):
        if not needed or (DOCS / needed).exists():
            text = fill(text.strip(), **facts, **facts["facts"])
            found.setdefault((kind, place), []).append(text)
    return found


def fill(template, **parts):
    """Put what `{{name}}` or `{{name[key]}}` stands for in its place."""
    put = "{{{}}}".format
    return re.sub(r"{{(.+?)}}", lambda m: put(m[1]).format(**parts), template)


def slug(title):
    """The anchor of a heading, made as code hosts make it."""
    return re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-")


def story(source):
    """Return the source's blocks with the notes between them.

    The contents stand before the first note behind some code.
    """
    told, extra, here, listed = [], notes(), None, Block("contents", 0, [])

    def note(kind):
        if (kind, here) in extra:
            if kind == "after" and listed not in told:
                told.append(listed)
            text = "\n\n".join(extra.pop((kind, here)))
            told.append(Block(kind, 0, text.splitlines()))

    for block in blocks(source):
        heading = not block.is_code and re.match(r"\s*#+ +(.+)", block.text)
        if heading:
            note("after")
            here = slug(heading[1])
        told.append(block)
        note("first" if block.is_title else "inside")
    note("after")
    if extra:
        raise SystemExit(f"notes.md: no section for {list(extra)}")
    text = "\n".join(block.text for block in told if not block.is_code)
    listed.lines = [
        f"{'  ' * (len(marks) - 2)}- [{title}](#{slug(title)})"
        for marks, title in re.findall(r"^(##+) +(.+)", text, re.M)
    ]
    return told


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
            if block.kind == "contents":
                text = f"## Contents\n\n{text}"
            elif block.kind != "prose":  # its paths start from docs/
                text = re.sub(FILE, link_to_file, text)
                text = re.sub(r"\]\((?!http|#)", "](docs/", text)
                text = text.replace("](docs/../", "](")
                text = re.sub(IMAGE, still, text)
                # Two figures in a row: each caption is a paragraph.
                text = re.sub(r"(?<=[^\n])\n(?=!\[)", "\n\n", text)
            out.append(text)
    return "\n\n".join(out) + "\n"


def still(image):
    """A picture with its caption below it, and whether it moves elsewhere."""
    start, path, caption = image.groups()
    moves = f" {IT_MOVES}" if moving(path) else ""
    return f"{start}{path})\n\n*{caption}*{moves}"


def link_to_file(name):
    """A link to a file of the repository, as seen from `docs`."""
    there = (ROOT / name[1]).is_file()
    return f"[{name[0]}](../{name[1]})" if there else name[0]


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


def definitions(source):
    """Where the module itself gives a name to something: `{(row, col)}`."""
    lines, found = source.splitlines(), set()
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.ClassDef():
                place = node.lineno, node.col_offset + len("class ")
            case ast.FunctionDef():
                place = node.lineno, node.col_offset + len("def ")
            case ast.arg() | ast.Name(ctx=ast.Store()):
                place = node.lineno, node.col_offset
            case ast.Attribute(ctx=ast.Store(), attr=name):
                bytes_before = node.end_col_offset - len(name)
                place = node.end_lineno, bytes_before
            case _:
                continue
        row, col = place  # columns count bytes
        found.add((row, len(lines[row - 1].encode()[:col].decode())))
    return found


def highlight(source, places=()):
    """The source's lines as HTML.

    Names that are defined at `places` have the class `own`, and `def` there.
    """
    rows, col, own = [""], 0, set()
    tokens = list(PythonLexer(stripnl=False).get_tokens(source))
    for mark in (False, True):  # what has a name, then the lines
        rows, col = [""], 0
        for kind, text in tokens:
            css = STANDARD_TYPES.get(kind) or STANDARD_TYPES[kind.parent]
            if kind in Name and len(text) > 1 and text != "self":
                is_def = (len(rows), col) in places
                if is_def:
                    own.add(text)
                css += " own" * (text in own) + " def" * is_def
            for i, part in enumerate(text.split("\n")):
                if i:
                    rows.append("")
                    col = 0
                col += len(part)
                if mark and part:
                    plain = css in ("", "n", "nn", "o", "p", "w")
                    html = escape(part, quote=False)
                    rows[-1] += (
                        html if plain else f'<span class="{css}">{html}</span>'
                    )
    return rows


def markdown_to_html():
    """Return a function from Markdown to HTML."""
    md = MarkdownIt("commonmark").enable("table")
    md.options["highlight"] = lambda code, language, _: (
        "\n".join(highlight(code)) if language == "python" else ""
    )

    def code(tokens, i, *_):
        name = re.fullmatch(FILE, f"`{tokens[i].content}`")
        html = f"<code>{escape(tokens[i].content)}</code>"
        linked = any(t.type == "link_open" for t in tokens[:i])
        if linked or not name or not (ROOT / name[1]).is_file():
            return html
        return f'<a href="../{name[1]}">{html}</a>'

    md.renderer.rules |= {
        "table_open": lambda tokens, i, *_: open_table(tokens[i:]),
        "table_close": lambda *_: "</table></div>\n",
        "image": lambda tokens, i, *_: figure(tokens[i], md.renderInline),
        "code_inline": code,
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
            elif before.type == "td_open":  # shown in each cell on a phone
                before.attrSet("data-label", labels[0])
                labels.append(labels.pop(0))
            elif (
                before.type == "paragraph_open" and len(token.content) < SHORT
            ):
                before.attrSet("class", "short")
            if token.type == "inline" and token.content.startswith("!["):
                before.tag = behind.tag = "div"  # figures, no paragraph
                before.attrSet("class", "figures")
        return md.renderer.render(tokens, md.options, {})

    return html


def open_table(tokens):
    """Begin a table; one that is too wide for a phone is `long`."""
    ends = [token.type for token in tokens].index("table_close")
    cells = [token.content for token in tokens[:ends] if token.content]
    columns = [token.type for token in tokens[:ends]].count("th_open")
    widths = [max(map(len, cells[i::columns])) for i in range(columns)]
    long = " long" * (sum(widths) > PHONE)
    return f'<div class="wide{long}"><table>\n'


def address(path, content):
    """A picture as an address that has all of it; SVG stays text."""
    kind = Path(path).suffix[1:]
    if kind != "svg":
        data = base64.b64encode(content).decode()
        return f"data:image/{kind};base64,{data}"
    text = quote(content.decode(), safe=" =:/?;,.()<>'[]{}+*!@$&")
    return escape(f"data:image/svg+xml,{text}", quote=False)


def figure(image, to_html):
    path, alt = image.attrs["src"], escape(image.content)
    caption = to_html(image.attrs.get("title", ""))
    content = (DOCS / path).read_bytes()
    picture = f'<img src="{address(path, content)}" alt="{alt}">'
    narrow = DOCS / path.replace(".svg", "-narrow.svg")
    if path.endswith(".svg") and narrow.exists():
        source = address(narrow.name, narrow.read_bytes())
        source = source.replace(" ", "%20")  # a space would end it
        source = f'<source media="(max-width: 599px)" srcset="{source}">'
        picture = f"<picture>{source}{picture}</picture>"
    if len(content) > LARGEST:
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
        alone = block.is_title or block.kind in ("first", "after", "contents")
        section = kinds[-1:] == ["inside"] and block.kind == "prose"
        if not kinds or again or alone or section:
            found.append([])
        found[-1].append(block)
        full = alone or block.kind == "code"
    return found


# How things are laid out. Side by side with code, a line of prose has about 62
# characters, and prose much longer than its code would leave a hole beside it:
# it is set in two columns above the code instead.
LINE, CODE_LINE, GAP = 27, 20, 12  # pixels
ACROSS = 62  # characters
HOLE = 150  # pixels, beside an essay
BESIDE = 250  # beside one paragraph, or a docstring, which is near its code
MOST = 14  # lines of code beside each other
SHORT = 340  # characters of a paragraph that stays in one column


def height(blocks):
    """About how high the blocks are, in pixels, in the column of their own."""
    pixels = 0
    for block in blocks:
        if block.is_code:
            pixels += CODE_LINE * len(block.lines)
            continue
        for part in re.split(r"\n\s*\n|\n(?= *[-|#])", block.text.strip()):
            if part.startswith("```"):
                pixels += CODE_LINE * part.count("\n") + GAP
            elif part.startswith("!["):
                pixels += height_of_picture(re.match(IMAGE, part, re.S))
            elif part.startswith("#"):
                pixels += 2 * LINE
            elif part:
                pixels += LINE * ceil(len(part) / ACROSS)
                pixels += GAP * (part[0] not in "-|")
    return pixels


def height_of_picture(image, across=560):
    """How high a picture of `docs/figures` is with its caption."""
    size = re.search(
        r'viewBox="0 0 (\d+) (\d+)"', (DOCS / image[2]).read_text()
    )
    width, pixels = map(int, size.groups())
    return pixels * across // width + LINE * ceil(len(image[3]) / ACROSS)


def laid_out(row):
    """Cut a row into parts, each with the way in which it is laid out.

    "beside" is prose on the left and code on the right, "spread" is prose over
    both columns, "pair" is prose with a picture at its right, "strip" is code
    over both columns.
    """
    if row[0].kind in NOTES:
        return [("note", row[:1])] + (laid_out(row[1:]) if row[1:] else [])
    if row[0].kind == "contents":
        return [("contents", row)]
    is_doc = [block.kind in ("head", "code") for block in row]
    first = is_doc.index(True) if True in is_doc else len(row)
    essay = [block for block in row[:first] if block.kind == "prose"]
    figures = [block for block in row[:first] if block.kind == "inside"]
    rest, parts = row[first:], []
    code = [block for block in rest if block.is_code]
    docstring = [block for block in rest if not block.is_code]
    paragraphs = sum(block.text.strip().count("\n\n") for block in essay)
    room = height(code) + (HOLE if paragraphs > 1 else BESIDE)
    if figures:
        image = re.fullmatch(IMAGE, figures[0].text)
        pair = image and not moving(image[2])
        if pair and abs(height(essay) - height(figures)) < 2 * HOLE:
            parts.append(("pair", essay + figures))
        else:
            parts += [("spread", essay), ("note", figures)]
        essay = []
    elif essay and (not rest or height(essay + docstring) > room):
        parts.append(("spread", essay))
        essay = []
    lines = sum(len(list(filter(None, block.lines))) for block in code)
    too_much = height(docstring) > height(code) + BESIDE
    if docstring and (too_much or lines > MOST):
        parts += [("spread", essay)] if essay else []
        parts.append(("strip", rest[:1]))
        essay, rest = [], rest[1:]
    if docstring and too_much:
        parts.append(("spread", docstring))
        rest = [block for block in rest if block.is_code]
    if essay + rest:
        parts.append(("beside", essay + rest))
    return parts


def html_page(source):
    to_html, told = markdown_to_html(), story(source)
    lines = ["", *highlight(source, definitions(source))]
    plain = ["", *source.splitlines()]

    def code_line(i):
        indent = len(plain[i]) - len(plain[i].lstrip())
        style = f' style="--i:{indent}"' if indent else ""
        unread = 'tabindex="-1" aria-hidden="true"'
        number = f'<a href="#L{i}" data-n="{i}" {unread}></a>'
        return f'<span id="L{i}"{style}>{number}{lines[i]}</span>'

    def cell(block):
        if block.is_code:
            code = "\n".join(map(code_line, range(block.row, block.end)))
            return f"<pre><code>{code}</code></pre>"
        text = to_html(block.text)
        if block.kind != "prose":
            return text
        return f'<div data-lines="{block.row}-{block.end - 1}">{text}</div>'

    def beside(row):
        """What comes before a docstring is `first`, the rest `second`."""
        kinds, html, part = [block.kind for block in row], "", "first"
        for is_code, group in groupby(row, key=lambda block: block.is_code):
            inner = "".join(map(cell, group))
            side = "code" if is_code else "prose"
            html += f'<div class="{side} {part}">{inner}</div>\n'
            part = "second" if is_code else part  # only a head goes on
        if "head" not in kinds:
            return f'<div class="row">{html}</div>'
        lines = len(row[kinds.index("head")].lines)
        bare = " bare" * (kinds[0] == "head")
        return (
            f'<div class="row head{bare}" style="--head:{lines}">{html}</div>'
        )

    def as_html(kind, part):
        inner = "".join(map(cell, part))
        match kind:
            case "beside":
                return beside(part)
            case "contents":
                return (
                    '<nav id="contents" aria-label="Contents">'
                    f"<p>Contents</p>\n{inner}</nav>"
                )
            case "strip":
                kind += " code"
            case "pair":
                *essay, picture = map(cell, part)
                inner = f"<div>{''.join(essay)}</div>{picture}"
        return f'<div class="{kind}">{inner}</div>'

    title, *after = told
    top = [title]
    if after[0].kind == "first":
        top.append(after.pop(0))
    parts = [part for row in rows(after) for part in laid_out(row)]
    main = f'<div class="top">{"".join(map(cell, top))}</div>\n'
    main += "\n".join(as_html(*part) for part in parts)
    styles = [HERE / "page.css", *added("css")]
    scripts = [HERE / "page.js", *added("js")]
    return fill(
        (HERE / "page.html").read_text(),
        title=re.search("^# (.+)", title.text, re.M)[1],
        description=DESCRIPTION,
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
    check, stale = "--check" in sys.argv[1:], False
    pages = {
        ROOT / "game.md": markdown_page,
        DOCS / "index.html": html_page,
    }
    for path, weave in pages.items():
        page = weave(source)
        if path.exists() and path.read_text() == page:
            continue
        stale = True
        print(path.relative_to(ROOT), "is stale" if check else "written")
        if not check:
            path.write_text(page)
    return int(check and stale)


if __name__ == "__main__":
    sys.exit(main())
