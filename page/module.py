"""Read `game.py`: its words, and the code below them."""

import ast
import itertools
import re
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass, field

# The comment at the end of part one begins so.
END = "The tutorial ends here."
SECTION = r"(?m)^(Args|Attributes|Returns|Raises|Yields):\n((?: .*\n|\n)+)"
# How an item of a section begins: "size: ", or "KeyError, OSError: "
NAMES = r"(?m)^[*\w.]+(, [*\w.]+)*: "
DEFINITION = ast.FunctionDef | ast.ClassDef


@dataclass
class Words:
    """A docstring or a comment, and the row of the code that it is about.

    A note stands at that row, other words above the code.
    """

    rows: range
    text: str
    at: int
    is_note: bool
    is_docstring: bool


@dataclass
class Piece:
    """A function or some statements: words, and the code below them by rows.

    `source` is that code with its notes, and `code` without them. `notes` has
    those of a row of code.
    """

    words: list[Words] = field(default_factory=list)
    notes: dict[int, list[Words]] = field(default_factory=dict)
    source: dict[int, str] = field(default_factory=dict)
    code: dict[int, str] = field(default_factory=dict)


class Module:
    """What is read of a source.

    `imports` are the pieces down to the last import, with the license above
    the title. `end` is the comment between the tutorial and the engine.
    """

    def __init__(self, source: str) -> None:
        tree = ast.parse(source)
        lines = source.splitlines()
        found = list(docstrings(tree, lines))
        skipped = {1}.union(*(words.rows for words in found))  # 1: the license
        found += comments(lines, skipped)
        found.sort(key=lambda words: words.rows.start)

        imports = ast.Import | ast.ImportFrom
        cut = 1 + max(last(it) for it in tree.body if isinstance(it, imports))
        headings = {
            words.rows.start
            for words in found
            if not words.is_note and not words.is_docstring
        }
        begins = sorted({1, cut, *cards(tree), *headings})
        pieces = {begin: Piece() for begin in begins}

        def piece_of(row: int) -> Piece:
            return pieces[max(begin for begin in begins if begin <= row)]

        by_row = {row: words for words in found for row in words.rows}
        for words in found:
            piece = piece_of(words.rows.start)
            if words.is_note:
                piece.notes.setdefault(words.at, []).append(words)
            else:
                piece.words.append(words)
        for row, line in enumerate(lines, 1):
            piece, about = piece_of(row), by_row.get(row)
            if about is None or about.is_note:
                piece.source[row] = line
            if about is None:
                piece.code[row] = line
        for piece in pieces.values():
            strip(piece.source)
            strip(piece.code)

        self.title = pieces[1].words.pop(0).text
        [end] = [words for words in found if words.text.startswith(END)]
        self.end = end.text
        pieces[end.rows.start].words.remove(end)
        parts = [[], [], []]
        for begin, piece in pieces.items():
            if piece.words or piece.code:
                part = (begin >= cut) + (begin >= end.rows.start)
                parts[part].append(piece)
        self.imports, self.tutorial, self.engine = parts


def cards(body_of: ast.Module | ast.ClassDef) -> Iterator[int]:
    """Yield the rows where a card begins: around each function.

    What a class has above its first method goes with that.
    """
    alone = isinstance(body_of, ast.Module)
    for node, following in itertools.pairwise(body_of.body):
        alone = alone or isinstance(node, DEFINITION)
        around = isinstance(node, DEFINITION)
        if alone and (around or isinstance(following, DEFINITION)):
            yield last(node) + 1
    for node in body_of.body:
        if isinstance(node, ast.ClassDef):
            yield from cards(node)


def strip(lines: dict[int, str]) -> None:
    """Take away the empty lines at both ends."""
    for end in min, max:
        while lines and not lines[end(lines)]:
            del lines[end(lines)]


def docstrings(tree: ast.Module, lines: list[str]) -> Iterator[Words]:
    """Yield the docstrings; one of a sentence is a note.

    The title, the module's own, stands above all of the code.
    """
    for node in ast.walk(tree):
        documented = ast.Module | ast.ClassDef | ast.FunctionDef
        if not isinstance(node, documented):
            continue
        if text := ast.get_docstring(node):
            end = last(node.body[0])
            if isinstance(node, ast.FunctionDef):
                end += lines[end : end + 1] == [""]  # the empty line below
            rows = range(node.body[0].lineno, end + 1)
            outer = [node, *getattr(node, "decorator_list", [])]
            at = min(getattr(it, "lineno", 1) for it in outer)
            is_note = not re.search(r"[.!?]\s+[^\sa-z\d]|\n\n", text)
            yield Words(rows, with_lists(text), at, is_note, True)


def with_lists(docstring: str) -> str:
    """Return it as Markdown: its sections are lists."""

    def item(found: re.Match[str]) -> str:
        return re.sub(r"[*\w.]+", r"`\g<0>`", f"- {found[0]}")

    def section(found: re.Match[str]) -> str:
        items = textwrap.dedent(found[2]).strip()
        items = re.sub(NAMES, item, items)
        items = items if items.startswith("- ") else f"- {items}"
        return f"**{found[1]}**\n\n{items}\n\n"

    return re.sub(SECTION, section, f"{docstring}\n").strip()


def comments(lines: list[str], skipped: set[int]) -> Iterator[Words]:
    """Yield the comments that fill lines, together where they are adjacent.

    One that begins with a heading, or ends part one, isn't a note.
    """
    alone: dict[int, str] = {}
    for row, line in enumerate(lines, 1):
        if line.lstrip().startswith("#") and row not in skipped:
            alone[row] = line.lstrip()[2:]
    runs: list[range] = []
    for row, text in alone.items():
        if row - 1 in alone and not text.startswith("#"):
            runs[-1] = range(runs[-1].start, row + 1)
        else:
            runs.append(range(row, row + 1))
    for rows in runs:
        at = rows.stop
        while at in alone or not lines[at - 1]:
            at += 1
        text = "\n".join(alone[row] for row in rows).strip()
        yield Words(rows, text, at, not text.startswith(("#", END)), False)


def last(node: ast.stmt) -> int:
    return node.end_lineno or node.lineno
