"""
Weave `game.py` into the two pages that people read: `game.md` for a code host
and `docs/index.html` for a browser.

    python docs/weave.py            # write both
    python docs/weave.py --check    # exit with 1 if one of them is stale

Docstrings and comments that fill a line are Markdown, everything else is code.
Each source line comes out once and in order. `docs/notes.md` holds the prose
that belongs to no line of code. Each part of it begins with a comment that
says where it goes: `<!-- inside: the-stack -->` under the first prose of that
section, `<!-- after: the-stack -->` behind its code. Numbers in it are written
`{{name}}` and come from `docs/figures/facts.json`.
"""

import ast
import base64
import io
import json
import re
import sys
import tokenize
from html import escape
from pathlib import Path

from markdown_it import MarkdownIt
from pygments.lexers import PythonLexer
from pygments.token import STANDARD_TYPES, Name

DOCS = Path(__file__).resolve().parent
ROOT = DOCS.parent
MOVING = "figures/moving.svg"  # in a browser, the figure to move instead
IT_MOVES = "\n\n(In [docs/index.html](docs/index.html) it moves.)"


# Reading


def blocks(source):
    """Return the source as `(kind, [(line number, text), ...])`, in order.

    The kind is "prose", "code", or "head" for the first lines of a class or
    function that has a docstring. A heading begins a new block. Blank lines
    are kept inside a block and dropped between two.
    """
    lines = source.splitlines()
    kinds = {i: "code" for i, line in enumerate(lines, 1) if line.strip()}
    texts, starts, fenced = dict(enumerate(lines, 1)), set(), False
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        row, col = token.start
        if token.type == tokenize.COMMENT and not token.line[:col].strip():
            kinds[row], texts[row] = "prose", re.sub("^# ?", "", token.string)
    for node in ast.walk(ast.parse(source)):
        documented = ast.Module, ast.ClassDef, ast.FunctionDef
        if not isinstance(node, documented) or not ast.get_docstring(node):
            continue
        doc = node.body[0].value
        for row in range(doc.lineno, doc.end_lineno + 1):
            text = re.sub(rf"^ {{0,{doc.col_offset}}}", "", lines[row - 1])
            kinds[row], texts[row] = "prose", text.replace('"""', "").rstrip()
        if not isinstance(node, ast.Module):
            first = min(n.lineno for n in [node, *node.decorator_list])
            kinds |= dict.fromkeys(range(first, doc.lineno), "head")
            starts.add(first)
    for row in filter(lambda row: kinds[row] == "prose", sorted(kinds)):
        fenced ^= texts[row].startswith("```")
        if not fenced and texts[row].startswith("#"):
            starts.add(row)
    found = []
    for row, kind in sorted(kinds.items()):
        part = found[-1][1] if found and kind == found[-1][0] else []
        if not part or row in starts and any(text for _, text in part):
            found.append((kind, part := []))
        part += [(i, "") for i in range(part[-1][0] + 1, row)] if part else []
        part.append((row, texts[row]))
    return found


def notes():
    """`{(place, slug): Markdown}` of `notes.md`, facts in their places."""
    facts = json.loads((DOCS / "figures/facts.json").read_text())
    text = fill((DOCS / "notes.md").read_text(), **facts)
    parts = re.split(r"<!-- (inside|after): (\S+) -->\n", text)[1:]
    keys = zip(parts[::3], parts[1::3])
    return dict(zip(keys, map(str.strip, parts[2::3])))


def fill(template, **parts):
    return re.sub(r"{{(\w+)}}", lambda m: str(parts[m[1]]), template)


def slug(title):
    """The anchor of a heading, made as code hosts make it."""
    return re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-")


def story(source):
    """Yield `(kind, text, lines)`: the source's blocks and the notes between.

    The kind of a note is "inside" or "after".
    """
    extra, here = notes(), None
    for kind, part in blocks(source):
        text = "\n".join(text for _, text in part)
        heading = kind == "prose" and re.match(r"\s*#+ +(.+)", text)
        if heading:
            if ("after", here) in extra:
                yield "after", extra.pop(("after", here)), None
            here = slug(heading[1])
        yield kind, text, part
        if ("inside", here) in extra:
            yield "inside", extra.pop(("inside", here)), None
    if ("after", here) in extra:
        yield "after", extra.pop(("after", here)), None
    if extra:
        raise SystemExit(f"notes.md: no section for {list(extra)}")


# Markdown


def markdown_page(source):
    out, contents, before = [], ["## Contents\n"], None
    for kind, text, part in story(source):
        if kind in ("code", "head"):
            if before:  # code follows code
                fence = out.pop().removeprefix("```python\n")[:-4]
                text = fence + "\n" * (part[0][0] - before) + text
            out.append(f"```python\n{text}\n```")
            before = part[-1][0]
            continue
        if kind in ("inside", "after"):
            text = re.sub(r"\]\((?!http|#|\.\./)", "](docs/", text)
            text = text.replace("](../", "](")
            text = re.sub(r'(!\[.*\]\(\S+) "(.*)"\)', r"\1)\n\n*\2*", text)
            text += IT_MOVES if MOVING in text else ""
        for marks, title in re.findall(r"^(##+) +(.+)", text, re.M):
            indent = "  " * (len(marks) - 2)
            contents.append(f"{indent}- [{title}](#{slug(title)})")
        out.append(text.strip())
        before = None
    return "\n\n".join([out[0], "\n".join(contents), *out[1:]]) + "\n"


# HTML


def highlight(source, names=()):
    """The source's lines as HTML; those of `names` have the class `own`."""
    html = ""
    for kind, value in PythonLexer(stripnl=False).get_tokens(source):
        css = STANDARD_TYPES.get(kind, "")
        css += " own" if kind in Name and value in names else ""
        for piece in re.split("(\n)", value):
            text = escape(piece, quote=False)
            plain = not css or not piece.strip()
            html += text if plain else f'<span class="{css}">{text}</span>'
    return html.split("\n")


def own_names(source):
    """The names that the module itself gives to something."""
    nodes = list(ast.walk(ast.parse(source)))
    names = {node.arg for node in nodes if isinstance(node, ast.arg)}
    for node in nodes:
        if isinstance(node, (ast.ClassDef, ast.FunctionDef)):
            names.add(node.name)
        elif isinstance(getattr(node, "ctx", None), ast.Store):
            names.add(getattr(node, "id", getattr(node, "attr", "")))
    return {name for name in names if len(name) > 1} - {"self"}


class Prose:
    """Markdown to HTML, keeping a list of the headings met."""

    def __init__(self):
        self.headings = []
        self.md = MarkdownIt("commonmark").enable("table")
        self.md.options["highlight"] = lambda code, language, _: (
            "\n".join(highlight(code)) if language == "python" else ""
        )
        rules = self.md.renderer.rules
        rules["table_open"] = lambda *_: '<div class="wide"><table>\n'
        rules["table_close"] = lambda *_: "</table></div>\n"

    def render(self, text):
        tokens = self.md.parse(text)
        for i, token in enumerate(tokens):
            if token.type == "heading_open":
                self.heading(token, tokens[i + 1])
            elif token.content.startswith("![") and token.type == "inline":
                images = [c for c in token.children if c.type == "image"]
                token.content = "".join(map(self.figure, images))
                token.type = "html_block"
                tokens[i - 1].hidden = tokens[i + 1].hidden = True
        return self.md.renderer.render(tokens, self.md.options, {})

    def heading(self, opening, title):
        anchor, text = slug(title.content), title.content
        plain = "".join(child.content for child in title.children)
        self.headings.append((int(opening.tag[1]), anchor, plain))
        opening.attrSet("id", anchor)
        linked = self.md.parseInline(f"[{text}](#{anchor})")
        title.children = linked[0].children

    def figure(self, image):
        path = image.attrs["src"].removeprefix("docs/")
        data = base64.b64encode((DOCS / path).read_bytes()).decode()
        picture = (
            f'<img src="data:image/svg+xml;base64,{data}" '
            f'alt="{escape(image.content)}">'
        )
        caption = self.md.renderInline(image.attrs.get("title", ""))
        if path == MOVING:
            page = (DOCS / "page/moving.html").read_text()
            return fill(page, picture=picture, caption=caption)
        caption = f"<figcaption>{caption}</figcaption>"
        return f"<figure>{picture}{caption}</figure>\n"


def contents(headings):
    out, depth = "", 1
    for level, anchor, title in headings[1:]:
        out += "<ol><li>" * (level - depth)
        out += "</li></ol>" * (depth - level)
        out += "</li><li>" * (depth >= level)
        out += f'<a href="#{anchor}">{escape(title)}</a>'
        depth = level
    return (
        f'<nav id="contents" aria-label="Contents"><p>Contents</p>{out}'
        f"{'</li></ol>' * (depth - 1)}</nav>"
    )


def as_row(cells):
    """A row of prose beside code, from `(kind, HTML)` in source order.

    What comes before the docstring is of the class `first`, the docstring
    and the body beside it `second`.
    """
    kinds = [kind for kind, _ in cells]
    shape, html, part = "row", "", "first"
    if "head" in kinds:
        shape = "row head bare" if kinds[0] == "head" else "row head"
    for kind, inner in cells:
        side = "code" if kind == "head" else kind
        html += f'<div class="{side} {part}">{inner}</div>\n'
        part = "second" if kind == "head" else part
    return f'<div class="{shape}">{html}</div>'


def html_page(source):
    prose, lines = Prose(), highlight(source, own_names(source))
    rows, cells, aside = [], [], ""
    for kind, text, part in story(source):
        kinds = [kind for kind, _ in cells]
        note = kind == "after" or kind == "inside" and not cells
        full = kinds[-1:] == ["code"] or kind == "head" and "head" in kinds
        if cells and (note or full):
            rows.append(as_row(cells))
            cells = []
        if note:
            rows.append(f'<div class="note">{prose.render(text)}</div>')
        elif kind == "inside":
            aside = f'<div class="aside">{prose.render(text)}</div>'
        elif kind == "prose":
            html = prose.render(text)
            html = f'<div data-lines="{part[0][0]}-{part[-1][0]}">{html}</div>'
            before = cells.pop()[1] if kinds[-1:] == ["prose"] else ""
            cells.append(("prose", before + html))
            if part[0][0] == 1:  # the module's docstring, beside the contents
                rows.append(as_row([*cells, ("nav", "{{nav}}")]))
                cells = []
        else:
            html = (
                "<pre><code>"
                + "\n".join(
                    f'<span id="L{i}" data-n="{i}">{lines[i - 1]}</span>'
                    for i, _ in part
                )
                + "</code></pre>"
            )
            if aside and kind == "head":  # beside the body, below the prose
                cells.append(("prose", cells.pop()[1] + aside))
            elif aside:  # there is room for it below the code
                html += aside
            cells.append((kind, html))
            aside = ""
    rows += [as_row(cells)] if cells else []
    nav = contents(prose.headings)
    page = {
        name: (DOCS / "page" / name).read_text()
        for name in ["page.html", "page.css", "page.js"]
    }
    return fill(
        page["page.html"],
        title=prose.headings[0][2],
        style=page["page.css"],
        script=page["page.js"],
        main="\n".join(rows).replace("{{nav}}", nav),
        recording=(DOCS / "figures/recording.json").read_text().strip(),
        source=json.dumps(source).replace("<", "\\u003c"),
    )


def main():
    source = (ROOT / "game.py").read_text()
    pages = {
        ROOT / "game.md": markdown_page(source),
        DOCS / "index.html": html_page(source),
    }
    check = "--check" in sys.argv[1:]
    stale = [
        path
        for path, page in pages.items()
        if not path.exists() or path.read_text() != page
    ]
    for path in stale:
        print(f"{path.relative_to(ROOT)} {'is stale' if check else 'written'}")
        if not check:
            path.write_text(pages[path])
    return 1 if check and stale else 0


if __name__ == "__main__":
    sys.exit(main())
