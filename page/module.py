"""Read `game.py`: its code, its notes, and where its names are defined."""

import ast
import io
import itertools
import re
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

FOLD = "<details>\n<summary>What the module is built on</summary>"
# At the top a picture has a size on a code host, too, and a caption.
PICTURE = r'!\[([^]]*)\]\((\S+)\s+"([^"]*)"\)'
SIZED = r'<img src="\2" width="300" alt="\1">\n\n\3'
FUNCTION = ast.FunctionDef | ast.AsyncFunctionDef
DEFINITION = ast.ClassDef | FUNCTION


@dataclass
class Words:
    """A comment or docstring, and the row of the code that it is about.

    A note stands at that line, and other words above its code.
    """

    first: int
    last: int
    text: str
    is_note: bool
    at: int


@dataclass
class Part:
    """A function, or other code that stands together.

    `lines` is the code and the empty lines in it, `notes` the words that
    belong to some of its lines, `source` the code with its notes as they
    stand, each by its rows; `words` and a long docstring stand above.
    """

    words: list[str] = field(default_factory=list)
    docstring: str = ""
    lines: dict[int, str] = field(default_factory=dict)
    notes: dict[int, list[str]] = field(default_factory=dict)
    source: dict[int, str] = field(default_factory=dict)

    def pieces(self) -> list[tuple[list[str], dict[int, str]]]:
        """Return the notes of a line, and it with all lines down to the next
        one that has notes.
        """
        rows = [row for row, line in self.lines.items() if line]
        pieces: list[tuple[list[str], dict[int, str]]] = []
        for row in range(rows[0], rows[-1] + 1) if rows else []:
            if row in self.notes or not pieces:
                pieces.append((self.notes.get(row, []), {}))
            if row in self.lines:
                pieces[-1][1][row] = self.lines[row]
        return pieces


class Module:
    """The source of `game.py`: the words at its top, the part that is its
    imports, and the parts below, and the nodes that define its names.
    """

    def __init__(self, source: str):
        tree = ast.parse(source)
        self.names = dict(definitions(tree))
        self.title = ast.get_docstring(tree) or ""
        imports = ast.Import | ast.ImportFrom
        end = max(
            last_row(node) for node in tree.body if isinstance(node, imports)
        )
        # What stands above the title, a licence, is code like the imports.
        self.imports, *self.parts = parts(source, tree, end)

    def meant(self, name: str) -> str | None:
        """Return the definition that a name means, or None."""
        if name.startswith("_"):
            found = [one for one in self.names if one.endswith(f".{name}")]
            return found[0] if len(found) == 1 else None
        return name if name in self.names else None

    def quoted(self, name: str) -> dict[int, str]:
        """Return the code of a definition, without its notes, by its rows."""
        node = self.names[name]
        rows = range(first_row(node), last_row(node) + 1)
        lines = itertools.chain(*(part.lines.items() for part in self.parts))
        return {row: line for row, line in lines if row in rows}

    def markdown(self) -> str:
        """Return the module for a code host, which has no margin: there a
        note is the comment that it is in the source.
        """
        title = re.sub(PICTURE, SIZED, self.title)
        blocks = [title, FOLD, *self.imports.words]
        blocks += [fence(self.imports.source), "</details>"]
        source: dict[int, str] = {}
        for part in self.parts:
            if part.words or part.docstring:
                blocks += [fence(source), *part.words, part.docstring]
                source = {}
            source |= part.source
        blocks.append(fence(source))
        return "\n\n".join(block for block in blocks if block) + "\n"


def fence(source: dict[int, str]) -> str:
    """Return lines of code for Markdown."""
    text = "\n".join(source.values()).strip("\n")
    return f"```python\n{text}\n```" if text else ""


def parts(source: str, tree: ast.Module, end: int) -> list[Part]:
    """Return all parts in order; the first one ends at the row `end`."""
    lines = dict(enumerate(source.splitlines(), 1))
    remarks = comments(source, tree.body[0])
    found = [*docstrings(source, tree), *remarks]
    words = {
        row: remark
        for remark in found
        for row in range(remark.first, remark.last + 1)
    }
    starts = {end + 1}
    for outer in [tree, *walk(tree, ast.ClassDef)]:
        for node in outer.body:
            if isinstance(node, DEFINITION):
                starts.add(first_row(node))
            if isinstance(node, FUNCTION):
                starts.add(last_row(node) + 1)
    for remark in remarks:
        begins = remark.at in starts or not remark.is_note
        if remark.first > end and begins:
            starts.add(remark.first)

    result = [Part()]
    for row, line in lines.items():
        part = result[-1]
        if row in starts and any(part.lines.values()):
            part = Part()
            result.append(part)
        here = words.get(row)
        if here is None:
            part.lines[row] = part.source[row] = line
        elif here.is_note:
            part.source[row] = line
        if here and row == here.first:
            if here.is_note:
                part.notes.setdefault(here.at, []).append(here.text)
            elif here.at > row:
                part.words.append(here.text.strip())
            elif here.at > 0:
                part.docstring = here.text
    return result


def docstrings(source: str, tree: ast.Module) -> list[Words]:
    """Return the docstrings: one of a sentence is a note on its `def`."""
    found = []
    lines = source.splitlines()
    for node in walk(tree, DEFINITION | ast.Module):
        text = ast.get_docstring(node)
        if text is None:
            continue
        first, last = node.body[0].lineno, last_row(node.body[0])
        while last < len(lines) and not lines[last].strip():
            last += 1  # the empty line below belongs to it
        at = getattr(node, "lineno", 0)  # none of the title of the page
        is_note = at > 0 and not re.search(r"[.!?]\s+[^\sa-z\d]|\n\n", text)
        found.append(Words(first, last, text, is_note, at))
    return found


def comments(source: str, title: ast.stmt) -> list[Words]:
    """Return the comments that fill lines, below the title; one that begins
    with a heading isn't a note.
    """
    rows = source.splitlines()
    alone = {}
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        row, column = token.start
        fills = not token.line[:column].strip() and row > last_row(title)
        if token.type == tokenize.COMMENT and fills:
            alone[row] = token.string[2:]
    found: list[Words] = []
    for row, text in alone.items():
        heading = text.startswith("#")
        if row - 1 in alone and not heading:
            found[-1].last = row
            found[-1].text += f"\n{text}"
        else:
            found.append(Words(row, row, text, not heading, 0))
    for remark in found:
        below = itertools.count(remark.last + 1)
        remark.at = next(
            row for row in below if row not in alone and rows[row - 1].strip()
        )
    return found


def walk(tree: ast.AST, kind: Any) -> list:
    """Return all nodes of a kind, in the order of the source."""
    nodes = [node for node in ast.walk(tree) if isinstance(node, kind)]
    return sorted(nodes, key=lambda node: getattr(node, "lineno", 0))


def last_row(node: ast.stmt) -> int:
    return node.end_lineno or node.lineno


def first_row(node: ast.stmt) -> int:
    """Return where a definition begins, decorators included."""
    decorators = getattr(node, "decorator_list", [])
    return min(one.lineno for one in [node, *decorators])


def definitions(
    node: ast.AST, outer: str = ""
) -> Iterator[tuple[str, ast.stmt]]:
    """Yield classes, functions and constants: name and node of each."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.ClassDef | ast.FunctionDef):
            yield outer + child.name, child
        if isinstance(child, ast.ClassDef):
            yield from definitions(child, f"{child.name}.")
        if isinstance(child, ast.Assign | ast.AnnAssign):
            if isinstance(child, ast.AnnAssign):
                targets: list[ast.expr] = [child.target]
            else:
                targets = child.targets
            for target in targets:
                if isinstance(target, ast.Name):
                    yield outer + target.id, child
