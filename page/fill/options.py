"""The table of options, from what game.py and games.py know of them."""

import enum
import inspect
from collections.abc import Callable
from typing import Any

import game
import games
from fill.values import table


def defaults(function: Callable) -> dict[str, Any]:
    """The named parameters of a function, and their defaults."""
    return {
        name: parameter.default
        for name, parameter in inspect.signature(function).parameters.items()
        if parameter.kind is not parameter.VAR_KEYWORD
    }


def shown(default: Any) -> str:
    """A default as one writes it in a call."""
    if default is inspect.Parameter.empty:
        return ""
    if isinstance(default, enum.Enum):
        default = default.value
    return f'`"{default}"`' if isinstance(default, str) else f"`{default}`"


def options_table() -> str:
    """Each option: its defaults, and what other libraries call it."""
    of_game = defaults(game.Game)
    of_games = of_game | game.TRAINING | defaults(games.Games)
    emulator = dict.fromkeys(game.EMULATOR_OPTIONS)
    rows = [
        [
            f"`{name}`" if name in of_games | emulator else name,
            shown(of_games.get(name, inspect.Parameter.empty)),
            shown(of_game.get(name, inspect.Parameter.empty)),
            ", ".join(
                f"`{o}`" for o in games.OTHER_NAMES.get(name, "").split()
            ),
        ]
        for name in defaults(games.Games)
        | of_game
        | emulator
        | games.OTHER_NAMES
    ]
    return table(["here", "`Games`", "`Game`", "elsewhere"], rows)
