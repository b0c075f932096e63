"""What each line of the tutorial makes: a game under a tracer.

`recorded()` returns the text of `site/data/steps.js`. It is made anew if
`game.py` or this file has changed, or if somebody has edited it.
"""

import ast
import collections
import functools
import hashlib
import inspect
import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np

import game as module
from game import Game
from paths import SITE
from record.recordings import NOOP, png, rule
from weave.module import Module

STEPS = SITE / "data/steps.js"
SEED = 0
PLAIN = bool | int | float | str | list | dict | None

Picture = tuple[int, int, str]  # width, height, and a PNG
# What holds, by name: as text, and its pictures
Shown = tuple[str, tuple[Picture, ...]]
Values = dict[str, Shown]
# The rows of a line, the names of the functions that are being run, and what
# holds after it
Line = tuple[range, list[str], Values]


class Tracer:
    """Keeps the lines that are run in a class or a function of the module.

    What holds after a line is looked at when the next one begins, in all of
    these functions that are being run. So a line that calls another of them
    ends there, and what it makes of the answer is seen with the last line of
    that.
    """

    def __init__(self, shown: str) -> None:
        self._shown = shown  # how the names of functions begin
        self.lines: list[Line] = []
        self._frames: list[FrameType] = []  # that are being run
        self._open: tuple[FrameType, range] | None = None
        self._left: Values = {}  # by functions that have returned

    def run(self, call: Callable[[], Any]) -> Any:
        before = sys.gettrace()
        sys.settrace(self._call)
        try:
            return call()
        finally:
            sys.settrace(before)

    def _call(self, frame: FrameType, *_: Any) -> Any:
        code = frame.f_code
        is_shown = code.co_qualname.startswith(self._shown)
        # A comprehension is a part of its line.
        in_line = code.co_name.startswith("<")
        if code.co_filename != module.__file__ or not is_shown or in_line:
            return None
        self._end_line()
        self._frames.append(frame)
        return self._trace

    def _trace(self, frame: FrameType, event: str, value: Any) -> Any:
        if event == "line":
            rows = statements()[frame.f_lineno]
            if self._open != (frame, rows):
                self._end_line()
                self._open = frame, rows
                inside = [each.f_code.co_name for each in self._frames]
                self.lines.append((rows, inside, {}))
        elif event == "return":
            self._left = self._left or self._values()
            if value is not None:
                self._left[f"{frame.f_code.co_name}()"] = shown(value)
            self._frames.pop()
            if not self._frames:
                self._end_line()
        return self._trace

    def _end_line(self) -> None:
        if self._open:
            self.lines[-1][2].update(self._left | self._values())
        self._open = None
        self._left = {}

    def _values(self) -> Values:
        """What holds: variables, and attributes that a function names."""
        found: dict[str, Any] = {}
        console: Values = {}
        for frame in self._frames:
            found |= frame.f_locals
            owner = found.pop("self", None)
            if isinstance(owner, Game):
                console = {"console": ("in color", (sized(owner.render()),))}
            own = getattr(owner, "__dict__", {})
            for name in filter(own.__contains__, frame.f_code.co_names):
                found[f"self.{name}"] = own[name]
        all_ = {name: shown(value) for name, value in found.items()}
        return console | {k: value for k, value in all_.items() if value[0]}


@functools.cache
def statements() -> dict[int, range]:
    """The rows of each statement, by each of them; of a block the first."""
    found = {}
    parts = ast.stmt | ast.ExceptHandler
    for node in ast.walk(ast.parse(inspect.getsource(module))):
        if isinstance(node, parts):
            body = getattr(node, "body", None)
            after = (node.end_lineno or node.lineno) + 1
            end = body[0].lineno if body else after
            rows = range(node.lineno, end)
            found |= dict.fromkeys(rows, rows)
    return found


def shown(value: Any) -> Shown:
    return text_of(value), tuple(map(sized, pictures(value)))


def text_of(value: Any) -> str:
    """Return nothing of what isn't shown."""
    if isinstance(value, np.ndarray):
        return f"{value.dtype} {value.shape}"
    if isinstance(value, collections.deque):
        return f"{len(value)} pictures"
    if isinstance(value, tuple):
        return f"({', '.join(map(text_of, value))})"
    if isinstance(value, list) and not all(map(text_of, value)):
        return ""
    if isinstance(value, PLAIN):
        return repr(value)
    return ""


def pictures(value: Any) -> Iterator[np.ndarray]:
    """Yield the pictures in a value."""
    if isinstance(value, np.ndarray) and value.ndim == 2:
        yield value
    elif isinstance(value, np.ndarray | collections.deque | tuple):
        for part in value:
            yield from pictures(part)


def sized(picture: np.ndarray) -> Picture:
    height, width, *_ = picture.shape
    return width, height, png(picture)


# The scenes


def scenes() -> Iterator[dict[str, Any]]:
    """Yield each with its lines."""
    actions, hit = rehearsal()
    yield game_scene("A game begins", [], None, noop_max=2, fire_on_reset=True)
    yield game_scene("A brick is hit", actions[:hit], actions[hit])
    *before, last = actions
    for mode in "restart", "continue", "ignore":
        name = f'A life is lost: "{mode}"'
        yield game_scene(name, before, last, on_life_loss=mode)


def rehearsal() -> tuple[list[int], int]:
    """Follow the ball until a brick is hit, then wait until a life is lost.

    Return all actions, and which one hit the brick.
    """
    game = Game(SEED)
    game.reset()
    actions: list[int] = []
    rewards: list[float] = []
    done = False
    while not done:
        screen = game.env.unwrapped.ale.getScreen()
        actions.append(NOOP if any(rewards) else rule(screen))
        _, reward, done, _ = game.step(actions[-1])
        rewards.append(reward)
    return actions, rewards.index(1)


def game_scene(
    name: str, actions: list[int], action: int | None, **options: Any
) -> dict[str, Any]:
    """Play the actions, and the last one, or a reset, under a tracer."""
    game = Game(SEED, **options)
    tracer = Tracer("Game.")
    if action is None:
        tracer.run(game.reset)
    else:
        game.reset()
        for each in actions:
            game.step(each)
        tracer.run(lambda: game.step(action))
    said = "".join(f", {key}={value!r}" for key, value in options.items())
    call = f"game = Game({SEED}{said})"
    return {
        "name": name,
        "call": call,
        "seed": SEED,
        "options": options,
        "actions": actions,
        "action": action,
        "lines": tracer.lines,
    }


# The data


def recorded() -> str:
    """Return the text of the script that has the scenes."""
    text = ""
    if STEPS.exists():
        text = STEPS.read_text("utf-8").partition("\n")[2]
    body, _, seal = text.rpartition("// ")
    if seal != seal_of(body):
        data = json.dumps(packed([*scenes()]), separators=(",", ":"))
        body = f"given.steps = {data};\n"
    return f"{body}// {seal_of(body)}"


def seal_of(body: str) -> str:
    """Return a hash of the data, and of all that they are made of."""
    recorder = Path(__file__).read_text("utf-8")
    made = "\0".join([inspect.getsource(module), recorder, body])
    return hashlib.sha256(made.encode()).hexdigest() + "\n"


def packed(played: list[dict[str, Any]]) -> dict[str, Any]:
    """Return scenes with the numbers of what recurs, and that in lists."""
    numbers: dict[str, dict[Any, int]] = {"pictures": {}, "values": {}}

    def number(table: str, one: Any) -> int:
        return numbers[table].setdefault(one, len(numbers[table]))

    def packed_line(
        rows: range, inside: list[str], values: Values
    ) -> list[Any]:
        held = [
            (name, text, tuple(number("pictures", image) for image in images))
            for name, (text, images) in values.items()
        ]
        numbered = [number("values", one) for one in held]
        return [rows.start, rows.stop - 1, inside, numbered]

    for one in played:
        one["lines"] = [packed_line(*line) for line in one["lines"]]
    tables = {name: [*table] for name, table in numbers.items()}
    return {"scenes": played, **tables, "functions": functions()}


def functions() -> dict[str, list[int]]:
    """The rows of the code that each function's card on the page has."""
    tutorial = Module(Path(module.__file__))
    return {
        name: [*piece.code]
        for piece in tutorial.pieces
        for name, definition in tutorial.definitions.items()
        if name.startswith("Game.") and definition.row in piece.code
    }
