"""The table of options, from what game.py and games.py know of them."""

import enum
import inspect
from collections.abc import Callable
from typing import Any

import game
import games
from fill.values import table
from weave.module import divided, with_lists


def defaults(function: Callable) -> dict[str, Any]:
    """The named parameters of a function, and their defaults."""
    return {
        name: parameter.default
        for name, parameter in inspect.signature(function).parameters.items()
        if parameter.kind is not parameter.VAR_KEYWORD
    }


def meanings(function: Callable) -> dict[str, str]:
    """What a docstring says of each argument, unless it refers to another."""
    _, sections = divided(inspect.getdoc(function) or "")
    text = with_lists(sections)
    listed = text.partition("**Args**\n\n- ")[2].partition("\n\n")[0]
    found = {}
    for item in listed.split("\n- "):
        names, _, words = item.partition(": ")
        words = " ".join(words.split()).replace("](#", "](../game.md#")
        if not words.startswith("As for"):
            found |= dict.fromkeys(names.split(", "), words)
    return found


def shown(default: Any) -> str:
    """A default as one writes it in a call."""
    if default is inspect.Parameter.empty:
        return ""
    if isinstance(default, enum.Enum):
        default = default.value
    if isinstance(default, str):
        return f'`"{default}"`'
    return f"`{getattr(default, '__name__', default)}`"


def elsewhere(name: str) -> str:
    """What other libraries call an option."""
    names = game.OTHER_NAMES.get(name, "").split()
    return ", ".join(f"`{other}`" for other in names)


def options_table() -> str:
    """Each option of `Games`: its defaults, its meaning, its other names."""
    of_game = defaults(game.Game)
    of_games = defaults(games.Games)
    words = {}
    for function in (game.Game, game.Worker, games.Games):
        words |= meanings(function.__init__)
    rows = [
        [
            f"`{name}`",
            shown((of_game | of_games)[name]),
            shown(of_game[name]) if name in of_game else "",
            words[f"`{name}`"],
            elsewhere(name),
        ]
        for name in of_games | of_game
    ]
    rows += [
        [f"`{name}`", "", "", "As Gymnasium's.", elsewhere(name)]
        for name in game.EMULATOR_OPTIONS
    ]
    options = of_games | of_game | dict.fromkeys(game.EMULATOR_OPTIONS)
    rows += [
        [name, "", "", "", elsewhere(name)]
        for name in game.OTHER_NAMES
        if name not in options
    ]
    head = ["option", "`Games`", "`Game`", "what it means", "elsewhere"]
    return table(head, rows)
