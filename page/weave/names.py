"""Find the names in a source that mean what a source defines.

A name is known by its module: `game.Game.step`.
"""

import ast
import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

FUNCTION = ast.FunctionDef | ast.Lambda


class Definition(NamedTuple):
    """Where a function, a class or a constant is, and its first sentence."""

    row: int
    says: str


def definitions(
    tree: ast.Module, lines: list[str], notes: Mapping[int, str]
) -> dict[str, Definition]:
    """Return what a source defines, by names such as `Game.step`.

    A constant says what is noted at its row, or else its own line.
    """
    found = {}
    for node in tree.body:
        for name, part in named(node):
            says = lines[part.lineno - 1].strip()
            if part.lineno in notes:
                says = sentence(notes[part.lineno])
            if isinstance(part, ast.ClassDef | ast.FunctionDef):
                says = sentence(ast.get_docstring(part) or says)
            found[name] = Definition(part.lineno, says)
    return found


def named(node: ast.stmt) -> Iterator[tuple[str, ast.stmt]]:
    """Yield what a statement of a module defines, with a class its methods."""
    if isinstance(node, ast.ClassDef | ast.FunctionDef):
        yield node.name, node
    if isinstance(node, ast.ClassDef):
        for part in node.body:
            if isinstance(part, ast.FunctionDef):
                yield f"{node.name}.{part.name}", part
    if isinstance(node, ast.Assign | ast.AnnAssign):
        targets = (
            node.targets if isinstance(node, ast.Assign) else [node.target]
        )
        for target in targets:
            if isinstance(target, ast.Name):
                yield target.id, node


def sentence(text: str) -> str:
    """Return the first sentence, without marks of Markdown."""
    first = " ".join(text.split("\n\n")[0].split())
    first = re.split(r"(?<=\.) (?=[^a-z\d(])", first)[0]
    return re.sub(r"[`*]|\]\(.*?\)|\[", "", first)


def local_names(function: FUNCTION) -> set[str]:
    """Return the names that a function, or one inside it, has of its own."""
    own = set()
    for node in ast.walk(function):
        match node:
            case ast.Name(ctx=ast.Store()):
                own.add(node.id)
            case ast.arg():
                own.add(node.arg)
            case ast.ExceptHandler(name=str(name)):
                own.add(name)
            case ast.alias():
                own.add(node.asname or node.name)
    return own


class Uses(ast.NodeVisitor):
    """Where a source uses names that it, or one that it imports, defines.

    `found` has them by their row and column. A name that is a function's own
    isn't one, nor is an attribute, unless it is one of `self` or of a class.
    """

    def __init__(
        self, module: str, tree: ast.Module, lines: list[str]
    ) -> None:
        self.lines = lines
        self.found: dict[tuple[int, int], str] = {}
        self.names: dict[str, str] = {}  # what they mean in this source
        self.bases: dict[str, list[str]] = {}
        for node in tree.body:
            for name, _ in named(node):
                self.names[name] = f"{module}.{name}"
            if isinstance(node, ast.ImportFrom):
                for alias in node.names:
                    name = alias.asname or alias.name
                    self.names[name] = f"{node.module}.{alias.name}"
            if isinstance(node, ast.ClassDef):
                names = [b.id for b in node.bases if isinstance(b, ast.Name)]
                self.bases[node.name] = names
        self.local: list[set[str]] = []
        self.owner = ""  # the class around
        self.visit(tree)

    def method(self, owners: list[str], name: str) -> str | None:
        """Return what the first of some classes has."""
        found = (self.names.get(f"{owner}.{name}") for owner in owners)
        return next(filter(None, found), None)

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self.owner = node.name
        self.generic_visit(node)
        self.owner = ""

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        outside = [*node.decorator_list, node.args]
        for part in [*outside, *filter(None, [node.returns])]:
            self.visit(part)
        self.local.append(local_names(node))
        for part in node.body:
            self.visit(part)
        self.local.pop()

    def visit_Name(self, node: ast.Name) -> None:
        is_local = any(node.id in names for names in self.local)
        if isinstance(node.ctx, ast.Load) and not is_local:
            self.keep(node, node.col_offset, self.names.get(node.id))

    def visit_Attribute(self, node: ast.Attribute) -> None:
        self.generic_visit(node)
        owners = []
        match node.value:
            case ast.Name(id="self"):
                owners = [self.owner]
            case ast.Call(func=ast.Name(id="super")):
                owners = self.bases[self.owner]
            case ast.Name(id=name) if name in self.bases:
                owners = [name]
        at = (node.end_col_offset or 0) - len(node.attr)
        self.keep(node, at, self.method(owners, node.attr))

    def keep(self, node: ast.expr, at: int, name: str | None) -> None:
        """Keep what a name means; `at` counts bytes."""
        row = node.end_lineno or node.lineno
        if name:
            line = self.lines[row - 1].encode()
            self.found[row, len(line[:at].decode())] = name
