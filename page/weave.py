"""
Weave `game.py` into the two pages that people read: `game.md` for a code host
and `docs/index.html` for a browser; put numbers into `docs/reference.md`, make
a page for a browser of each `docs/*.md`, and give these their style.

    python page/weave.py            # write them
    python page/weave.py --check    # exit with 1 if one of them is stale

Docstrings and comments that fill a line are Markdown, everything else is code.
Each source line comes out once and in order. `page/notes.md` holds the prose
that belongs to no line of code. Each part of it begins with a comment that
says where it goes: `<!-- inside: the-stack -->` under the first prose of that
section and `<!-- after: the-stack -->` behind its code. `{{name}}` in it is a
number of `measured.py`, and `{{minutes[2-many-games]}}` says how long that
part takes to read.

`<!-- fold: who-is-who -->` folds that section, with those below it whose
headings are of a lower level; the lines below the mark are what the closed
fold shows beside its title. A definition's name, such as `Game.render`, begins
a section, too: the fold starts at its line and goes to the next heading or
fold. `<!-- anchor: maximum -->` makes that address lead to the words that
stand below it.

In a browser words stand left, and what follows them right: code, programs,
figures and tables. A figure that is indented by a space stays left. A
docstring stands left of its `def` and what follows that. All but the first
paragraph of a long one is folded.

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
from dataclasses import dataclass, field
from html import escape
from itertools import pairwise
from pathlib import Path

import pygments
from markdown_it import MarkdownIt
from pygments.formatters import HtmlFormatter
from pygments.lexers import get_lexer_by_name

import fonts
from measured import measured

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
DOCS = ROOT / "docs"
IMAGE = r"(!\[.*\]\(\S+) (['\"])(.*)\2\)\n*"  # with its caption
# A heading, or what stands on the right: a program, figures, a table, or lines
# that are indented.
PIECE = (
    r"(?m)^(#+ .*|```(?s:.*?)^```|!\[.*(?:\n!.*)*|\|.*(?:\n\|.*)*|"
    r" {4}.*(?:\n {4}.*)*)$"
)
ANCHOR = r'(?s)( id=".+?")(.*?)( <a class="sign".*?</a>)(.*</summary>)'
# What has a colour of its own, in bold prose and as a name in code.
COLOURED = "third|fourth|picture"
# Whoever wants to cite a place finds its address here.
SIGN = ' <a class="sign" href="#{}">#</a>'
LONG = 4  # line ends of a docstring, after its first paragraph
SHORT = 30  # characters of a cell, if its row fits a phone
NARROW = 40  # of a line of code, likewise
WORDS_A_MINUTE = 220
SECONDS_A_LINE = 4
# A name in prose and a token of code; what is in these others has no links.
NAMES = (
    r"(?s)<(a|h\d|figure|summary)\b.*?</\1>|<code>(?P<name>[\w.]+).*?</code>|"
    '<span class="(?:bp|kc|mf|mi|n|nb|nd|ne|nn|o|p|vm|w)">'
    "(?P<token>.*?)</span>"
)
# Headings, marks and addresses.
NO_WORDS = r"^#.*|<[^>]+>|\]\([^)]*\)|!\[[^]]*\]|[|*`#>_-]"


# Reading


@dataclass
class Block:
    """Text of one kind, of the source from line `row` on.

    The kind is "code", "comment" or "docstring" of the source, "note", or
    "fold" for the two ends of a fold. All but code is Markdown.
    """

    kind: str
    text: str
    row: int = 0
    anchors: dict = field(default_factory=dict)

    level = property(lambda self: len(re.match("#*", self.text)[0]))
    is_code = property(lambda self: self.kind == "code")

    @property
    def is_thing(self):
        """Whether it stands on the right."""
        words = self.level or not re.match(PIECE, self.text)
        return self.is_code or not words


def blocks(source, starts=()):
    """Return the source as a list of blocks, in order.

    A heading is one, and what has a docstring begins one, and each row of
    `starts`. Blank lines are kept inside a block and dropped between two.
    """
    words, starts, found = {}, set(starts), [Block("", "")]
    for row, line in enumerate(source.splitlines(), 1):
        if comment := re.match(" *# ?(.*)", line):
            words[row] = "comment", comment[1]
    for node in ast.walk(ast.parse(source)):
        documented = ast.Module, ast.ClassDef, ast.FunctionDef
        if isinstance(node, documented) and ast.get_docstring(node):
            doc = node.body[0]
            text = ast.get_docstring(node).splitlines()
            text += [""] * (doc.end_lineno - doc.lineno + 1 - len(text))
            for row, line in enumerate(text, doc.lineno):
                words[row] = "docstring", line
            starts.add(doc.end_lineno + 1)
            if not isinstance(node, ast.Module):
                starts.add([*node.decorator_list, node][0].lineno)
    for row, line in enumerate(source.splitlines(), 1):
        last, (kind, line) = found[-1], words.get(row, ("code", line))
        if kind != "code" and (line[:1] == "#" or last.level):
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
    minutes = reading_time(markdown(told(source, text)))
    numbers = measured() | {"minutes": minutes}
    return told(source, fill(text, **numbers))


def pieces(block):
    """Return the headings, words and things of a block, each as a block."""
    if block.kind == "code":
        return [block]
    texts = [text.strip("\n") for text in re.split(PIECE, block.text)]
    return [Block(block.kind, text, block.row) for text in texts if text]


def sections(blocks, rows=()):
    """Return lists of blocks, a new one from each heading, fold or row on."""
    found = []
    for block in blocks:
        if block.level or block.kind == "fold" or block.row in rows:
            found.append([])
        found[-1].append(block)
    return found


def told(source, text):
    """Return the source's blocks, the notes between them, and the folds."""
    tree = ast.parse(source)
    rows = {name: row for row, name in definitions(tree)}
    notes = {"inside": {}, "after": {}, "fold": {}, "anchor": {}}
    places = re.split(r"<!-- (\w+): (\S+) -->\n", text)[1:]
    for what, name, text in zip(*[iter(places)] * 3, strict=True):
        notes[what][rows.get(name, name)] = Block("note", text.strip())
    folds = notes["fold"]

    whole, found = [], []
    for section in sections(blocks(source, folds), folds):
        first = section[0]
        here = slug(first.text) if first.level else first.row
        words = section[1:] and section[1].kind in ("comment", "docstring")
        at = 2 if words else 1
        for what, place in ("inside", at), ("after", len(section) + 1):
            if here in notes[what]:
                section.insert(place, notes[what].pop(here))
        whole += [piece for block in section for piece in pieces(block)]
    open_level = 0  # of the heading of an open fold
    for section in sections(whole, folds):
        first = section[0]
        here = slug(first.text) if first.level else first.row
        if here in folds:
            open_level = first.level
            title = section.pop(0).text if first.level else ""
            seen = f"{title}\n\n{folds.pop(here).text}".strip()
            seen = f"<details>\n<summary>\n\n{seen}\n\n</summary>"
            section.insert(0, Block("fold", seen, first.row))
            section.append(Block("fold", "</details>"))
        elif first.level > open_level > 0:
            section.append(found.pop())
        else:
            open_level = 0
        found += section
    for name, note in notes.pop("anchor").items():
        words = [block for block in found if not block.is_code]
        places = [block for block in words if note.text in block.text]
        assert len(places) == 1, f"notes.md: {len(places)} places for {name}"
        places[0].anchors[name] = note.text
    assert not any(notes.values()), f"notes.md: no place for {notes}"
    return shorten(found)


def shorten(told):
    """Fold what is long of the docstrings."""
    for before, block in pairwise(told):
        if block.kind == "docstring" and before.is_code:
            first, _, rest = block.text.partition("\n\n")
            if rest.count("\n") >= LONG:
                block.text = f"{first}\n\n<details>\n\n{rest}\n\n</details>"
    return told


def reading_time(page):
    """Return how many minutes it takes to read each part; of all but the last,
    which is folded, what isn't folded.

    What comes before the first part belongs to it, but for the contents.
    """
    parts = [slug(title) for title in re.findall("(?m)^## (.*)", page)]
    minutes, part = dict.fromkeys(parts, 0), parts[0]
    page = re.sub("(?s)<nav.*?</nav>", "", page)
    folds = 0  # that a text is in
    for text in re.split(r"^(?=## |</?details>)", page, flags=re.M):
        if heading := re.match(r"## (.*)", text):
            part = slug(heading[1])
        pieces = text.split("\n```")  # prose, code, prose, and so on
        prose = "\n".join(pieces[::2])
        words = re.sub(NO_WORDS, " ", prose, flags=re.M)
        lines = sum(len(re.findall("\n.", code)) for code in pieces[1::2])
        spent = len(words.split()) / WORDS_A_MINUTE
        spent += lines * SECONDS_A_LINE / 60
        if text.startswith("<details>"):
            folds += 1
        elif text.startswith("</details>"):
            folds -= 1
        if part == parts[-1] or not folds:
            minutes[part] += spent
    return {part: round(spent) for part, spent in minutes.items()}


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
            text = re.sub(IMAGE, r"\1)\n\n*\3*\n\n", text).strip("\n")
        out += [f'<a id="{name}"></a>' for name in block.anchors]
        out.append(text)
    return "\n\n".join(out) + "\n"


# HTML


def texts(kind):
    """The styles or scripts of the figures, first what they share.

    Comments and indents are left out: browsers don't read them.
    """
    files = (HERE / "moving").glob(f"*.{kind}")
    files = sorted(files, key=lambda file: (file.stem != "shared", file.name))
    return [
        re.sub(r"(?m)^ *//.*\n|^ +|/\*(?s:.*?)\*/\n?", "", file.read_text())
        for file in files
    ]


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
        if found["token"]:  # where a long line may go on below
            text = re.sub("[(=]$", r"\g<0><wbr>", text)
        there = {name} & set(anchors)
        if name.startswith("_"):
            there = [one for one in anchors if f".{one}".endswith(f".{name}")]
        if len(there) == 1:
            text = f'<a href="#{min(there)}">{text}</a>'
        return text

    def narrow(line):
        fits = len(re.sub("<.*?>", "", line[0])) <= NARROW
        return line[0].replace("<wbr>", "") if fits else line[0]

    # At a space it goes on below by itself.
    html = re.sub(NAMES, link, html).replace("<wbr> ", " ")
    return re.sub(".*<wbr>.*", narrow, html)


def highlight(text, language="python", _=None, start=1, anchors=()):
    """Code as HTML; each line knows how far it is indented."""
    lexer = get_lexer_by_name(language or "text", stripnl=False)
    html = pygments.highlight(text, lexer, HtmlFormatter(nowrap=True))
    html = re.sub(f'="n">({COLOURED})<', r'="n \1">\1<', html)
    if language == "bash":
        # Neither an option nor a package breaks at a hyphen.
        whole = r'<span class="whole">\g<0></span>'
        html = re.sub(r"(?<=[ >])(--\w+|\w+(-\w+)+)", whole, html)
    # The screen that is compared with the third frame is the fourth.
    html = re.sub(
        r"(third</span>[^/]*,</span>[^/]*n)(?=\W+screen)", r"\1 fourth", html
    )
    lines = ""
    for row, line in enumerate(html.splitlines(), start):
        indent = len(line) - len(line.lstrip())
        where = f' id="{anchors[row]}"' if row in anchors else ""
        inside = f" style=--i:{indent}" if indent else ""
        lines += f"<span{where}{inside}>{line}\n</span>"
    return lines


def to_html(text):
    """Markdown as HTML."""
    md = MarkdownIt("commonmark", {"highlight": highlight}).enable("table")
    md.renderer.rules["image"] = figure
    tokens = md.parse(text)
    for token, inline in pairwise(tokens):
        match token.type:
            case "heading_open":
                token.attrSet("id", slug(inline.content))
            case "table_open":
                table = token
                labels = []
            case "th_open":
                labels.append(inline.content.replace("`", ""))
            case "td_open":
                if len(labels) > 2:  # a list on a phone
                    token.attrSet("data-label", labels[0])
                labels.append(labels.pop(0))
                if len(re.sub(r"\]\(.*?\)", "", inline.content)) > SHORT:
                    table.attrSet("class", "long")
    html = md.renderer.render(tokens, md.options, {})
    for old, new in [
        ("<p>(<figure.*</figure>)\\s*</p>", r'<div class="figures">\1</div>'),
        # Only a long one becomes a list.
        ("<table>.*?</table>", lambda it: re.sub(" data-.*?(?=>)", "", it[0])),
        # The first cell of a row is what the others are about.
        ('(<tr>\\s*<td) data-label=".*?"', r"\1"),
        # A list leaves out what is empty.
        ('(<td) data-label="[^"]*">(?=–?</td>)', r'\1 class="none">'),
        ("(<table.*?</table>)", r'<div class="wide">\1</div>'),
        ('(<h. id="([^"]*)">.*?)(?=</h)', r"\1" + SIGN.format(r"\2")),
        (r"(\([\d.]+–[\d.]+\))(?=</td>)", r"<small>\1</small>"),
        (f"<strong>({COLOURED})", r'<strong class="\1">\1'),
        # Nor does an option in a sentence, or a "no-op".
        ("(?<=[ >])[Nn]o-op(?=[ <])", r'<span class="whole">\g<0></span>'),
        (r"<code>(--\w+)</code>", r'<code class="whole">\1</code>'),
        (
            "<details>(?!\\s*<summary)",
            '<details><summary aria-label="Details"></summary>',
        ),
    ]:
        html = re.sub(f"(?s){old}", new, html)
    return html


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
    if "title" not in tokens[at].attrs:
        return f'<img src="{path}" alt="{alt}">'
    caption = MarkdownIt().renderInline(tokens[at].attrs["title"])
    width, height = size(DOCS / path)
    picture = (
        f'<img src="{path}" alt="{alt}" width="{width}" height="{height}"'
        ' loading="lazy">'
    )
    moving = HERE / f"moving/{Path(path).stem}.html"
    if moving.exists():
        return fill(moving.read_text(), picture=picture, caption=caption)
    caption = f"<figcaption>{caption}</figcaption>"
    large = b'<svg class="large"' in (DOCS / path).read_bytes()
    kind = " class=large" if large else ""
    return f"<figure{kind}>{picture}{caption}</figure>\n"


def rows(section):
    """Return rows of blocks: words on the left, things on the right of them,
    and behind these what else the section has of words, on the left again.
    """
    section, found = list(section), []
    for i, block in enumerate(section):
        # A docstring stands left of its `def`, too.
        if block.kind == "docstring" and i > 0 and section[i - 1].is_code:
            section[i - 1 : i + 1] = block, section[i - 1]
    for block in section:
        if not found or found[-1][1] and not block.is_thing:
            # Beside a figure right below a heading there is room.
            alone = found and all(one.level for one in found[-1][0])
            if not (alone and block.kind == "note"):
                found.append(([], [], []))
        found[-1][block.is_thing].append(block)
    if len(found) > 1 and not found[-1][1]:
        last = found.pop()
        found[-1][2].extend(last[0])
    return found


def documented(row):
    """What the docstring of a row is of; the module has no name."""
    code = "".join(block.text for block in row[1] if block.is_code)
    found = re.search(r"^ *((?:def|class) \w+)", code, re.M)
    return found and found[1]


def to_row(row, anchors):
    """A row as HTML.

    The address of its heading is the row's own: what is inside a row may be
    kept in sight, and isn't where it would be sought.
    """
    html = '<div class="row">'
    for name, column in zip(("words", "things", "after"), row, strict=True):
        html += f'<div class="{name}">' if column else ""
        for block in column:
            text = block.text
            for name, words in block.anchors.items():
                sign = SIGN.format(name).replace(" href", f' id="{name}" href')
                text = text.replace(
                    words, re.sub("^(- )?", rf"\1{sign}", words)
                )
            if block.is_code:
                text = highlight(text, "python", "", block.row, anchors)
                html += f'<pre class="code"><code>{text}</code></pre>\n'
                continue
            mark = f'class="{block.kind}"'
            if block.kind == "docstring" and (name := documented(row)):
                mark += f' data-of="{name}"'
            html += f"<div {mark}>{to_html(text)}</div>\n"
        html += "</div>" if column else ""
    html = re.sub(
        r'(?s)^<div class="row">(.*?)<(h\d) id="([^"]+)">',
        r'<div class="row" id="\3">\1<\2>',
        html,
    )
    return html + "</div>\n"


def html_page(source):
    anchors = dict(definitions(ast.parse(source)))
    main = ""
    for section in sections(story(source)):
        if section[0].kind == "fold":
            # What leads to its title leads inside: the browser opens it.
            html = to_html(section.pop(0).text).replace("p>", "span>")
            main += re.sub(ANCHOR, r"\2\4<span\1>\3</span>", html)
        for row in rows(section):
            main += to_row(row, anchors)
    main = linked(main, anchors.values())
    # A third of a page of code are tags. One is enough for a string and what
    # is in it, a letter says all that matters, and HTML needs neither quotes
    # nor the ends of paragraphs and cells.
    keyword = r'(?s)<span class="(?:k\w?|ow)">(.*?)</span>'
    main = re.sub(keyword, r"<b>\1</b>", main)
    main = re.sub(r'<span class="([cns])\w">', r'<span class="\1">', main)
    main = main.replace('</span><span class="s">', "")
    main = re.sub(r'<(\w+) class="([\w-]+)"', r"<\1 class=\2", main)
    bare = "id|width|height|loading|data-label|href(?==.#)"
    main = re.sub(rf' ({bare})="(#?[\w.-]+)"', r" \1=\2", main)
    main = re.sub(r"\n?</(?:p|li|td|th|tr|thead|tbody)>", "", main)
    # Only within a tag must a quotation mark be escaped.
    main = re.sub("&quot;(?=[^<>]*<)", '"', main)
    main = to_documents(main)
    before, contents, after = re.split("(?s)<nav(.*</nav>)", main)
    return fill(
        (HERE / "page.html").read_text(),
        title=re.search("^# (.+)", source, re.M)[1],
        style="".join(texts("css")),
        contents="<nav popover" + contents,
        main=before + after,
        scripts="\n".join(
            f"<script>\n{text}</script>" for text in texts("js")
        ),
    )


def to_documents(html):
    """HTML whose links to the Markdown beside it lead to its pages."""
    html = html.replace('"../game.md', '"index.html')
    return re.sub(r'(href="\w+)\.md(?=[#"])', r"\1.html", html)


def document(text):
    """Markdown as a page of its own, whose tables the keyboard scrolls."""
    html = to_documents(to_html(text))
    html = html.replace('class="wide"', 'class="wide" tabindex="0"')
    label = 'aria-label="Link to this place"'  # there is no script for it
    html = html.replace('class="sign"', f'class="sign" {label}')
    return fill(
        (HERE / "document.html").read_text(),
        title=re.search("^# (.+)", text)[1],
        main=html,
    )


def woven(source):
    """All files that are woven, as `{path: text}`."""
    reference = (HERE / "reference.md").read_text()
    files = {
        ROOT / "game.md": markdown(story(source)),
        DOCS / "index.html": html_page(source),
        DOCS / "reference.md": fill(reference, **measured()),
        DOCS / "page.css": fonts.faces() + (HERE / "page.css").read_text(),
        DOCS / "document.css": (HERE / "document.css").read_text(),
        DOCS / "page.js": (HERE / "page.js").read_text(),
    }
    documents = {path: path.read_text() for path in DOCS.glob("*.md")}
    for path, text in (documents | files).items():
        if path.parent == DOCS and path.suffix == ".md":
            files[path.with_suffix(".html")] = document(text)
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
