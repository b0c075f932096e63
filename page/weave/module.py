"""Read a source: its words, and the code below them."""

import ast
import itertools
import re
import textwrap
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from weave.names import Uses, definitions

FOLD = "#### "  # so begins the title of what is folded
SECTION = r"(?m)^(Args|Attributes|Returns|Raises|Yields):\n((?: .*\n|\n)+)"
LISTS = {"Args": "Arguments", "Attributes": "Attributes"}
# How an item of a section begins: "size: ", or "KeyError, OSError: "
NAMES = r"(?m)^[*\w.]+(, [*\w.]+)*: "
DEFINITION = ast.FunctionDef | ast.ClassDef


class Words(NamedTuple):
    """A docstring or a comment, and the row of the code that it is about.

    A note stands at that row, other words above the code. The lists of a
    docstring stand behind it, in a fold that says what they are.
    """

    rows: range
    text: str
    at: int
    is_note: bool
    is_docstring: bool
    lists: str = ""
    fold: str = ""


class Setting(NamedTuple):
    """A field of the class `Settings`, and the string below it."""

    name: str
    default: str
    words: str


class Piece:
    """A function or some statements: words, and the code below them by rows.

    `notes` are the words at a row of that code, and `source` is the code with
    them in it. `fold` is a heading of the fourth level: this piece is folded,
    and so are those that follow, up to the next heading.
    """

    def __init__(
        self, rows: range, found: Iterable[Words], lines: list[str]
    ) -> None:
        self.rows = rows
        said = [words for words in found if words.rows.start in rows]
        self.words: list[Words] = []
        self.notes: dict[int, list[Words]] = {}
        for words in said:
            if not words.is_note or words.at not in rows:
                self.words.append(words)
            else:
                self.notes.setdefault(words.at, []).append(words)
        self.source = rest(rows, self.words, lines)
        self.code = rest(rows, said, lines)
        self.fold = ""
        self.has_heading = bool(self.words) and self.words[0].text[0] == "#"
        if self.has_heading and self.words[0].text.startswith(FOLD):
            title, _, text = self.words[0].text.partition("\n")
            self.fold = title.removeprefix(FOLD)
            self.words[0] = self.words[0]._replace(text=text.strip())


def groups(
    pieces: Iterable[Piece],
) -> Iterator[tuple[str, list[Piece]]]:
    """Yield pieces together that are in one fold, and its title."""
    together: list[Piece] = []
    for piece in pieces:
        begins = piece.has_heading or not together or not together[0].fold
        if together and begins:
            yield together[0].fold, together
            together = []
        together.append(piece)
    if together:
        yield together[0].fold, together


def rest(
    rows: range, said: Iterable[Words], lines: list[str]
) -> dict[int, str]:
    """Return what isn't said, without empty lines at both ends."""
    skipped = {row for words in said for row in words.rows}
    left = {row: lines[row - 1] for row in rows if row not in skipped}
    for end in min, max:
        while left and not left[end(left)]:
            del left[end(left)]
    return left


class Module:
    """What is read of a source, which is known by the name of its file.

    `imports` are the pieces down to the last import, with the license above
    the title. `pieces` are the others.
    """

    def __init__(self, path: Path) -> None:
        source = path.read_text("utf-8")
        self.name = path.stem
        self.tree = ast.parse(source)
        lines = source.splitlines()
        found = list(docstrings(self.tree, lines))
        skipped = {1}.union(*(words.rows for words in found))  # 1: the license
        found += comments(lines, skipped)
        found.sort(key=lambda words: words.rows.start)
        notes = {words.at: words.text for words in found if words.is_note}
        self.definitions = definitions(self.tree, lines, notes)
        self.uses = Uses(self.name, self.tree, lines)
        self.settings = settings(self.tree, lines)
        self.arguments = [
            node for node in ast.walk(self.tree) if isinstance(node, ast.arg)
        ]

        imports = ast.Import | ast.ImportFrom
        cut = 1 + max(
            last(node) for node in self.tree.body if isinstance(node, imports)
        )
        headings = {
            words.rows.start
            for words in found
            if not words.is_note and not words.is_docstring
        }
        begins = sorted({1, cut, *cards(self.tree), *headings, len(lines) + 1})
        all_ = [
            Piece(range(begin, end), found, lines)
            for begin, end in itertools.pairwise(begins)
        ]
        pieces = [piece for piece in all_ if piece.words or piece.code]
        self.title = pieces[0].words.pop(0).text
        self.imports = [piece for piece in pieces if piece.rows.start < cut]
        self.pieces = pieces[len(self.imports) :]

    def class_of(self, piece: Piece) -> str:
        """Return the class that a piece is in, if any."""
        row = max(piece.code, default=piece.rows.start)
        classes = (
            node.name
            for node in self.tree.body
            if isinstance(node, ast.ClassDef)
            and node.lineno <= row <= last(node)
        )
        return next(classes, "")

    def arguments_in(self, piece: Piece) -> set[str]:
        """Return the names of the arguments of a piece's functions."""
        return {arg.arg for arg in self.arguments if arg.lineno in piece.rows}


def cards(body_of: ast.Module | ast.ClassDef) -> Iterator[int]:
    """Yield the rows where a card begins: around each function.

    What a class has above its first method goes with that.
    """
    has_head = isinstance(body_of, ast.ClassDef)
    for node, following in itertools.pairwise(body_of.body):
        if isinstance(node, DEFINITION):
            yield last(node) + 1
            has_head = False
        elif isinstance(following, DEFINITION) and not has_head:
            yield last(node) + 1
    for node in body_of.body:
        if isinstance(node, ast.ClassDef):
            yield from cards(node)


def docstrings(tree: ast.Module, lines: list[str]) -> Iterator[Words]:
    """Yield the docstrings; one of a sentence is a note.

    The title, the module's own, stands above all of the code.
    """
    makers = {}  # by the names of their classes
    for node in ast.walk(tree):
        documented = ast.Module | ast.ClassDef | ast.FunctionDef
        if not isinstance(node, documented):
            continue
        name = getattr(node, "name", "")
        if isinstance(node, ast.ClassDef):
            makers |= dict.fromkeys(node.body, name)
        if name == "__init__":
            name = makers[node]
        if text := ast.get_docstring(node):
            end = last(node.body[0])
            if isinstance(node, ast.FunctionDef):
                end += lines[end : end + 1] == [""]  # the empty line below
            rows = range(node.body[0].lineno, end + 1)
            outer = [node, *getattr(node, "decorator_list", [])]
            at = min(getattr(part, "lineno", 1) for part in outer)
            is_note = not re.search(r"[.!?]\s+[^\sa-z\d]|\n\n", text)
            said, lists = divided(text)
            fold = contents(re.findall(SECTION, lists), name)
            lists = with_lists(lists)
            yield Words(rows, said, at, is_note, True, lists, fold)


def divided(docstring: str) -> tuple[str, str]:
    """Return what is said before the first section, and the sections."""
    first = re.search(SECTION, f"{docstring}\n")
    at = first.start() if first else len(docstring)
    return docstring[:at].strip(), f"{docstring[at:]}\n"


def contents(sections: list[tuple[str, str]], name: str) -> str:
    """Say what the sections of a docstring have."""
    titles = [title for title, _ in sections]
    lists = [title for title in titles if title in LISTS]
    verbs = [title.lower() for title in titles if title not in LISTS]
    said = []
    if lists:
        said.append(f"{LISTS[lists[0]]} of `{name}`")
    if verbs:
        subject = "what it" if lists else f"What `{name}`"
        said.append(f"{subject} {' and '.join(verbs)}")
    return (", " if len(verbs) > 1 else " and ").join(said)


def with_lists(sections: str) -> str:
    """Return the sections of a docstring as Markdown."""

    def item(found: re.Match[str]) -> str:
        return re.sub(r"[*\w.]+", r"`\g<0>`", f"- {found[0]}")

    def section(found: re.Match[str]) -> str:
        items = textwrap.dedent(found[2]).strip()
        items = re.sub(NAMES, item, items)
        items = items if items.startswith("- ") else f"- {items}"
        return f"**{found[1]}**\n\n{items}\n\n"

    return re.sub(SECTION, section, sections).strip()


def comments(lines: list[str], skipped: set[int]) -> Iterator[Words]:
    """Yield the comments that fill lines, together where they are adjacent.

    One that begins with a heading isn't a note.
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
        yield Words(rows, text, at, not text.startswith("#"), False)


def last(node: ast.stmt) -> int:
    return node.end_lineno or node.lineno


def settings(tree: ast.Module, lines: list[str]) -> dict[int, Setting]:
    """Return, by their rows, those with a number or a truth as default."""
    found = {}
    for node in tree.body:
        if not isinstance(node, ast.ClassDef) or node.name != "Settings":
            continue
        for pair in itertools.pairwise(node.body):
            match pair:
                case (
                    ast.AnnAssign(
                        target=ast.Name(id=name),
                        value=ast.Constant(value=int() | float()),
                    ) as field,
                    ast.Expr(value=ast.Constant(value=str(words))),
                ):
                    _, default = lines[field.lineno - 1].split(" = ")
                    found[field.lineno] = Setting(name, default, words)
    return found
