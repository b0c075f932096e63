"""Read `game.py`: its code, its notes, and where its names are defined."""

import ast
import io
import re
import tokenize
from dataclasses import dataclass, replace

FOLD = "<details>\n<summary>What the module is built on</summary>"


@dataclass
class Piece:
    """Lines of one kind: "code", "comment" or "docstring"."""

    kind: str
    row: int  # of the first line
    text: str


class Module:
    """The source of `game.py`: the pieces above its imports, these, and those
    below, and the nodes that define its names.
    """

    def __init__(self, source):
        tree = ast.parse(source)
        self.names = dict(definitions(tree))
        kinds = ast.Import | ast.ImportFrom
        imports = [node for node in tree.body if isinstance(node, kinds)]
        first, end = imports[0].lineno, imports[-1].end_lineno + 1
        pieces = read(source, tree, {first, end})
        self.above = [piece for piece in pieces if piece.row < first]
        self.imports = [it for it in pieces if first <= it.row < end]
        self.below = [piece for piece in pieces if piece.row >= end]

    def meant(self, name):
        """Return the definition that a name means, or None."""
        if name.startswith("_"):
            found = [one for one in self.names if one.endswith(f".{name}")]
            return found[0] if len(found) == 1 else None
        return name if name in self.names else None

    def quoted(self, name):
        """Return the pieces of a definition, without its docstring."""
        node = self.names[name]
        rows = range(first_row(node), node.end_lineno + 1)
        found = [replace(it) for it in self.below if it.row in rows]
        for piece in found:
            if piece.kind == "docstring":
                piece.text = ""
        return found

    def markdown(self):
        """Return the module for a code host."""

        def text(pieces):
            return "\n\n".join(
                f"```python\n{it.text}\n```" if it.kind == "code" else it.text
                for it in pieces
            )

        fold = f"{FOLD}\n\n{text(self.imports)}\n\n</details>"
        return f"{text(self.above)}\n\n{fold}\n\n{text(self.below)}\n"


def read(source, tree, starts):
    """Return all pieces in order; some begin at the rows `starts`.

    A heading begins one, too, a definition, and what is below its docstring.
    """
    words = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef | ast.FunctionDef):
            starts.add(first_row(node))
        elif not isinstance(node, ast.Module):
            continue
        if text := ast.get_docstring(node):
            first, last = node.body[0].lineno, node.body[0].end_lineno
            lines = text.splitlines() + [""] * (last - first)
            for row in range(first, last + 1):
                words[row] = "docstring", lines[row - first]
            starts |= {first, last + 1}
    title = min(words)  # what stands above it, a licence, is code
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        row, column = token.start
        alone = not token.line[:column].strip()
        if token.type == tokenize.COMMENT and alone and row > title:
            words[row] = "comment", token.string[2:]
            if token.string.startswith("# #"):
                starts.add(row)

    found, last = [], 0  # the last row that isn't blank
    for row, line in enumerate(source.splitlines(), 1):
        kind, text = words.get(row, ("code", line))
        if not text:
            continue
        begins = any(last < start <= row for start in starts)
        if begins or not found or kind != found[-1].kind:
            found.append(Piece(kind, row, text))
        else:
            found[-1].text += "\n" * (row - last) + text
        last = row
    return found


def first_row(node):
    """Return where a definition begins, decorators included."""
    decorators = getattr(node, "decorator_list", [])
    return min(one.lineno for one in [node, *decorators])


def definitions(node, outer=""):
    """Yield classes, functions and constants: name and node of each."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.ClassDef | ast.FunctionDef):
            yield outer + child.name, child
        if isinstance(child, ast.ClassDef):
            yield from definitions(child, f"{child.name}.")
        if isinstance(child, ast.Assign | ast.AnnAssign):
            target = getattr(child, "target", None) or child.targets[0]
            if isinstance(target, ast.Name):
                yield outer + target.id, child


def together(pieces):
    """Yield notes and the code that they belong to."""
    notes, code, last = [], [], ""
    for piece in pieces:
        begins = re.match(r" *(@|class |def )", piece.text)
        if piece.kind == "docstring" and code:
            # It stands beside the head of its definition, and what stands
            # above that head stands alone.
            if notes:
                yield notes, []
            notes = [piece]
        elif piece.kind == "code" and (
            not code or last == "docstring" and not begins
        ):
            code.append(piece)
        else:
            yield notes, code
            notes, code = [], []
            (code if piece.kind == "code" else notes).append(piece)
        last = piece.kind
    yield notes, code
