"""The published agent's game around one moment, frame by frame."""

from typing import Any

import numpy as np

from record.recordings import colours, pack

STEPS = range(1252, 1288)  # of the game; in some a brick is hit
ASKED = 1272  # the one that is shown first: the paddle just reaches the ball


def record() -> dict[str, Any]:
    """The action of each step, and its four frames."""
    from record.published import agent, game_of, play

    moments = play(agent())
    actions = [moment.action for moment in moments]
    game = game_of()
    ale = game.env.unwrapped.ale
    buttons = ale.getMinimalActionSet()
    game.reset()
    frames = []
    for at, action in enumerate(actions[: STEPS.stop]):
        if at in STEPS:
            before = ale.cloneState()
            for _ in range(4):
                ale.act(buttons[action])
                frames.append(ale.getScreen())
            ale.restoreState(before)
        game.step(action)
    return {
        "moment": {
            "first": STEPS.start,
            "asked": ASKED,
            "actions": actions[STEPS.start : STEPS.stop],
            "rgb": colours().rgb.tolist(),
            "gray": colours().gray.tolist(),
            "frames": pack(np.searchsorted(colours().numbers, frames)),
        }
    }
