"""The table of options, from the signatures of `Game` and `Games`."""

import enum
import inspect
from typing import Any

import game
from values import table

# What each means. One that has no words here, or is none any more, is an
# error.
WORDS = {
    "env_id": "any Atari id; in `Games` also a list of `num_envs` of them",
    "seed": "of game 0; game i has `seed + i`",
    "on_life_loss": 'the episode ends, the game goes on; `"ignore"`: neither '
    'ends; `"restart"`: a new game begins, so that an agent plays first lives '
    "only",
    "noop_max": "a game begins with 1 to so many frames without an action",
    "fire_on_reset": "FIRE, which serves the ball, begins each episode",
    "clip_reward": "rewards become -1, 0 or 1; scores stay raw",
    "action_repeat": "frames to a step",
    "stack": "pictures to an observation",
    "size": "height and width of a picture",
    "grayscale": "gray pictures, or else RGB",
    "processes": "one for each core; 0: this one, for a debugger or within a "
    "`DataLoader`",
    "timeout": "seconds for a step, until a worker is replaced",
    "context": '`"forkserver"` where there is one, or [another](#processes)',
    "autoreset_mode": 'or `"NextStep"`, Gymnasium\'s default',
    "make": "what is played, such as [a subclass](#a-game-of-your-own)",
}
NO_OPTIONS = {"num_envs"}  # how many games: the first thing one says


def defaults(function: Any) -> dict[str, Any]:
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
    if isinstance(default, str):
        return f'`"{default}"`'
    return f"`{getattr(default, '__name__', default)}`"


def options_table() -> str:
    """Each option of `Games`, with its default and that of `Game`."""
    of_game, of_games = defaults(game.Game), defaults(game.Games)
    names = [name for name in of_games | of_game if name not in NO_OPTIONS]
    missing = WORDS.keys() ^ set(names)
    if missing:
        raise ValueError(f"give words, or none, to {sorted(missing)}")
    rows = [
        [
            f"`{name}`",
            shown((of_game | of_games)[name]),
            shown(of_game[name]) if name in of_game else "",
            WORDS[name],
        ]
        for name in names
    ]
    emulator = ", ".join(f"`{name}`" for name in game.EMULATOR_OPTIONS)
    rows.append([emulator, "", "", "as in Gymnasium's `AtariEnv`"])
    return table(["option", "`Games`", "`Game`", "what it means"], rows)
