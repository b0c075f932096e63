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

import ast
import io
import re
import struct
import sys
import tokenize
from dataclasses import dataclass
from html import escape
from pathlib import Path

import pygments
from markdown_it import MarkdownIt
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer

from measured import measured

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
DOCS = ROOT / "docs"
IMAGE = r'(!\[.*\]\()(\S+) "(.*)"\)'
IT_MOVES = " (In [docs/index.html](index.html) this and others move.)"
IMPORTS = "**The imports**: what the module is built on, and why."
DESCRIPTION = (
    "Atari preprocessing for DQN and PPO, explained line by line: frame skip, "
    "maximum, 84×84 gray, frame stack, lost lives, and many games at once."
)
PARTS = 1, 2, 3, "folded"
WORDS_A_MINUTE = 220
SECONDS_A_LINE = 4
NO_WORDS = r"<[^>]+>|\]\([^)]*\)|!\[[^]]*\]|[|*`#>_-]"  # marks and addresses


# Reading


@dataclass
class Block:
    """Lines of one kind, of the source from line `row` on.

    The kind is "prose" or "code" of the source, "note", or "open" and "close"
    for the two ends of a fold, which shows the Markdown of its first end.
    """

    kind: str
    row: int = 0
    lines: list = ()

    text = property(lambda self: "\n".join(self.lines).strip("\n"))
    end = property(lambda self: self.row + len(self.lines))
    level = property(lambda self: len(re.match("#*", self.text)[0]))
    is_code = property(lambda self: self.kind == "code")


def blocks(source):
    """Return the source as a list of blocks, in order.

    A heading begins a new one, and so does what follows the title, and what
    has a docstring. Blank lines are kept inside a block and dropped between
    two.
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
        if isinstance(node, documented) and ast.get_docstring(node):
            doc = node.body[0].value
            starts.add(doc.end_lineno + 1)
            if not isinstance(node, ast.Module):
                heads = [node, *node.decorator_list]
                starts.add(min(head.lineno for head in heads))
            for row in range(doc.lineno, doc.end_lineno + 1):
                text = re.sub(rf"^ {{0,{doc.col_offset}}}", "", lines[row])
                lines[row] = text.replace('"""', "").rstrip()
                kinds[row] = "prose"
    for row, (kind, line) in enumerate(zip(kinds, lines, strict=True)):
        last = found[-1] if found else Block("", 0, [])
        if kind == "prose":
            fenced ^= line.startswith("```")
            if line and (last.level == 1 or line[0] == "#" and not fenced):
                starts.add(row)
        if kind == last.kind and not (row in starts and last.text):
            last.lines += [""] * (row - last.end) + [line]
        elif kind:
            found.append(Block(kind, row, [line]))
    return found


def notes(minutes):
    """Return `{(kind, slug): [Markdown, ...]}` of `notes.md`."""
    facts = measured()
    text, found = (HERE / "notes.md").read_text(), {}
    parts = re.split(r"<!-- (\w+): (\S+) -->\n", text)[1:]
    for kind, place, text in zip(*[iter(parts)] * 3, strict=True):
        text = fill(text.strip(), minutes=minutes, **facts)
        found.setdefault((kind, place), []).append(text)
    return found


def fill(template, **parts):
    """Put what `{{name}}` or `{{name[key]}}` stands for in its place."""
    put = "{{{}}}".format
    return re.sub(r"{{(.+?)}}", lambda m: put(m[1]).format(**parts), template)


def slug(title):
    """The anchor of a heading, made as code hosts make it."""
    return re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-")


def pieces(text):
    """Cut Markdown into notes, a new one from each heading on."""
    parts = re.split(r"^(?=##+ )", text, flags=re.M)
    return [Block("note", 0, part.splitlines()) for part in parts if part]


def story(source):
    """Return the source's blocks with the notes between them, and the folds.

    It is told twice: the first time nobody knows yet how long it takes.
    """
    unknown = dict.fromkeys(PARTS, 0)
    minutes = reading_time(markdown(fold(told(source, unknown))))
    return fold(told(source, minutes))


def told(source, minutes):
    """Return the source's blocks with the notes between them."""
    extra, here, found = notes(minutes), None, []

    def note(kind):
        for text in extra.pop((kind, here), []):
            found.extend(pieces(text))

    for block in blocks(source):
        if block.level:
            note("after")
            here = slug(block.text.lstrip("# ").partition("\n")[0])
        found.append(block)
        note("inside")
    note("after")
    if extra:
        raise SystemExit(f"notes.md: no section for {list(extra)}")
    return found


def fold(told):
    """Fold the imports, each section of the last part, and each aside."""
    parts = sum(block.level == 2 for block in told)
    found, part, is_open = [], 0, False
    for block in told:
        if is_open and block.level in (2, 3, 4):
            found.append(Block("close"))
            is_open = False
        part += block.level == 2
        if part == 0 and block.is_code and not is_open:
            found.append(Block("open", 0, [IMPORTS]))
            is_open = True
        if block.level == 4 or part == parts and block.level == 3:
            # What is seen of it is the title and the first paragraph.
            seen = re.match(r"#.*\n*(.+\n?)*", block.text)[0]
            cut = len(seen.splitlines())
            found.append(Block("open", block.row, block.lines[:cut]))
            block = Block(block.kind, block.row + cut, block.lines[cut:])
            is_open = True
        if block.text:
            found.append(block)
    return found + [Block("close")] * is_open


def reading_time(page):
    """Return how many minutes each part takes, and all that is folded.

    What comes before the second part belongs to the first.
    """
    minutes = dict.fromkeys(PARTS, 0)
    part, folded, in_code = 1, False, False
    for line in page.splitlines():
        spent = 0
        if line.startswith("```"):
            in_code = not in_code
        elif in_code:
            spent = SECONDS_A_LINE / 60 * bool(line.strip())
        elif heading := re.match(r"#+ (\d?)", line):
            part = int(heading[1] or part)
        else:
            folded = (folded or line == "<details>") and line != "</details>"
            spent = len(re.sub(NO_WORDS, " ", line).split()) / WORDS_A_MINUTE
        minutes["folded" if folded else part] += spent
    return {name: round(one) for name, one in minutes.items()}


# Markdown


def markdown(told):
    """The story as Markdown, for a code host."""
    out, moves = [], iter([IT_MOVES])

    def still(image):
        """A picture with its caption; the first one says that it moves."""
        start, path, caption = image.groups()
        caption = caption.replace('\\"', '"')
        says = next(moves, "") if moving(path) else ""
        return f"{start}{path})\n\n*{caption}*{says}"

    for block in told:
        text = block.text.strip()
        if block.kind == "note":
            text = re.sub(IMAGE, still, text)
            # Two figures in a row: each caption is a paragraph.
            text = re.sub(r"(?<=[^\n])\n(?=!\[)", "\n\n", text)
            # Its paths start from docs/.
            text = re.sub(r"\]\((?!http|#)", "](docs/", text)
            text = text.replace("](docs/../", "](")
        elif block.is_code:
            text = f"```python\n{block.text}\n```"
        elif block.kind == "open":
            text = f"<details>\n<summary>\n\n{text}\n\n</summary>"
        elif block.kind == "close":
            text = "</details>"
        out.append(text)
    return "\n\n".join(out) + "\n"


# HTML


def moving(path):
    """The file of the figure that moves in the place of a picture, or None."""
    file = HERE / "moving" / f"{Path(path).stem}.html"
    return file if "figures/" in path and file.exists() else None


def added(kind):
    """The moving figures' files of a kind, what they share first."""
    files = (HERE / "moving").glob(f"*.{kind}")
    return sorted(files, key=lambda file: (file.stem != "shared", file.name))


def definitions(node, outer=""):
    """Where each class and function begins: pairs of a row and an anchor."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.ClassDef | ast.FunctionDef):
            yield child.lineno, outer + child.name
            yield from definitions(child, f"{outer}{child.name}.")


def homes(anchors):
    """To which anchor a name leads: that of the only method of a name, too."""
    names = [anchor.rpartition(".")[2] for anchor in anchors]
    found = {anchor: anchor for anchor in anchors}
    for name, anchor in zip(names, anchors, strict=True):
        if name.startswith("_") and names.count(name) == 1:
            found[name] = anchor
    return found


def highlight(source, homes):
    """The source as HTML, in which names lead to their definitions."""
    lexer, html = PythonLexer(stripnl=False), HtmlFormatter(nowrap=True)

    def plain(name):
        text = name[1]
        there = homes.get(text)
        return f'<a href="#{there}">{text}</a>' if there else text

    html = pygments.highlight(source, lexer, html)
    return re.sub('<span class="(?:n|nn|o|p|w)">(.*?)</span>', plain, html)


def link_names(tokens, homes):
    """Let a name in prose lead to its definition, but not within a link."""
    depth = 0
    for token in tokens:
        depth += token.nesting
        name = re.match(r"[\w.]*", token.content)[0]
        if token.type == "code_inline" and not depth and name in homes:
            token.type = "html_inline"
            html = f"<code>{escape(token.content)}</code>"
            token.content = f'<a href="#{homes[name]}">{html}</a>'


def markdown_to_html(homes):
    """Return a function from Markdown to HTML."""
    md = MarkdownIt("commonmark").enable("table")
    md.options["highlight"] = lambda code, language, _: (
        highlight(code, homes) if language == "python" else ""
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
                before.attrSet("id", slug(token.content))
            elif before.type == "thead_open":
                labels.clear()
            elif before.type == "th_open":
                labels.append(token.content.replace("`", ""))
            elif before.type == "td_open":  # shown in each cell on a phone
                before.attrSet("data-label", labels[0])
                labels.append(labels.pop(0))
            if token.type == "inline" and before.type != "heading_open":
                link_names(token.children, homes)
            if token.type == "inline" and token.content.startswith("!["):
                before.tag = behind.tag = "div"  # figures, no paragraph
                before.attrSet("class", "figures")
        return md.renderer.render(tokens, md.options, {})

    return html


def size(file):
    """The width and the height of a picture, SVG or PNG."""
    content = file.read_bytes()
    if file.suffix == ".png":
        return struct.unpack(">II", content[16:24])
    box = re.search(rb'viewBox="0 0 ([\d.]+) ([\d.]+)"', content)
    return [round(float(one)) for one in box.groups()]


def figure(image, to_html):
    """A picture by its path, with its size, so that nothing shifts."""
    path, alt = image.attrs["src"], escape(image.content)
    caption = to_html(image.attrs.get("title", ""))
    width, height = size(DOCS / path)
    picture = (
        f'<img src="{path}" alt="{alt}" width="{width}" height="{height}"'
        ' loading="lazy">'
    )
    narrow = DOCS / path.replace(".svg", "-narrow.svg")
    if path.endswith(".svg") and narrow.exists():
        width, height = size(narrow)
        picture = (
            f'<picture><source media="(max-width: 599px)" width="{width}"'
            f' height="{height}" srcset="{narrow.name}">{picture}</picture>'
        )
    if moving(path):
        page = moving(path).read_text()
        return fill(page, picture=picture, caption=caption)
    caption = f"<figcaption>{caption}</figcaption>"
    return f'<figure class="{Path(path).stem}">{picture}{caption}</figure>\n'


def code(block, lines, anchors):
    """A block of code; each line knows how far it is indented."""
    html = ""
    for row in range(block.row, block.end):
        line = lines[row]
        indent = len(line) - len(line.lstrip())
        where = f' id="{anchors[row]}"' if row in anchors else ""
        where += f' style="--i:{indent}"' if indent else ""
        html += f"<span{where}>{line}</span>\n"
    return f'<div class="code"><pre><code>{html}</code></pre></div>'


def html_page(source):
    anchors = dict(definitions(ast.parse(source)))
    names, told = homes(list(anchors.values())), story(source)
    to_html = markdown_to_html(names)
    lines = ["", *highlight(source, names).split("\n")]
    out = []
    for block in told:
        match block.kind:
            case "code":
                out.append(code(block, lines, anchors))
            case "open":
                html = to_html(block.text).replace("p>", "span>").strip()
                html = re.sub("</?a.*?>", "", html)  # it is a button itself
                where = "prose" if block.row else "note"
                # What a link leads to is inside: the browser opens the fold.
                anchor = "".join(re.findall(' id=".+?"', html))
                html = html.replace(anchor, "")
                out.append(
                    f'<details><summary class="{where}">{html}</summary>'
                    f"<span{anchor}></span>"
                )
            case "close":
                out.append("</details>")
            case kind:
                out.append(f'<div class="{kind}">{to_html(block.text)}</div>')
    title, top, *rest = out
    main = f'<div class="top">{title}{top}</div>\n' + "\n".join(rest)
    title = re.search("^# (.+)", told[0].text, re.M)[1]
    return page(title, main)


def page(title, main):
    """All that a browser needs, around what is read."""
    styles = [HERE / "page.css", *added("css")]
    scripts = [HERE / "page.js", *added("js")]
    return fill(
        (HERE / "page.html").read_text(),
        title=title,
        description=DESCRIPTION,
        style="".join(file.read_text() for file in styles),
        main=main,
        scripts="\n".join(
            f"<script>\n{file.read_text()}</script>" for file in scripts
        ),
    )


def woven(source):
    """All files that are woven, as `{path: text}`."""
    files = {
        ROOT / "game.md": markdown(story(source)),
        DOCS / "index.html": html_page(source),
        DOCS / "reference.md": fill(
            (HERE / "reference.md").read_text(), **measured()
        ),
    }
    scripts = "".join(file.read_text() for file in added("js"))
    for name in set(re.findall(r'read\("(\w+)"\)', scripts)):
        data = (HERE / f"data/{name}.json").read_text().strip()
        files[DOCS / f"data/{name}.js"] = f"given.{name} = {data};\n"
    return files


def main():
    check, stale = "--check" in sys.argv[1:], False
    for path, text in woven((ROOT / "game.py").read_text()).items():
        if path.exists() and path.read_text() == text:
            continue
        stale = True
        print(path.relative_to(ROOT), "is stale" if check else "written")
        if not check:
            path.parent.mkdir(exist_ok=True)
            path.write_text(text)
    return int(check and stale)


if __name__ == "__main__":
    sys.exit(main())
