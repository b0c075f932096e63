"""The published agent's game around one moment, frame by frame."""

from typing import Any

import numpy as np

from record.recordings import MOMENT, NEAR, colours, pack, read_film


def record() -> dict[str, Any]:
    """The four frames before each decision of a part of the film."""
    from record.published import agent, game_of, play

    moments, _ = play(agent())
    actions = [moment.decision["action"] for moment in moments]
    film = read_film("agent/agent")
    game = game_of()
    ale = game.env.unwrapped.ale
    buttons = ale.getMinimalActionSet()
    game.reset()
    frames = []
    for at, action in enumerate(actions[: film.start + NEAR[-1]]):
        if at >= film.start + NEAR[0] - 1:
            before = ale.cloneState()
            for _ in range(4):
                ale.act(buttons[action])
                frames.append(ale.getScreen())
            ale.restoreState(before)
        game.step(action)
    return {
        "moment": {
            "first": NEAR[0],
            "asked": MOMENT,
            "rgb": colours().rgb.tolist(),
            "frames": pack(np.searchsorted(colours().numbers, frames)),
        }
    }
