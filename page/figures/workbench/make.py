"""Games of three titles, every frame of 6.4 seconds, for the workbench."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from record.recordings import make, pack

# An action is held for 24 frames, so that a step of 1, 2, 3, 4, 6 or 8 frames
# has one action alone. They were found by trying: the player lives.
HELD = 24
SHOWN = 16 * HELD  # frames, the last of a game


@dataclass
class Title:
    """A title, its actions in hexadecimal digits, and what `Game` takes."""

    env_id: str
    digits: str
    arguments: list[str]

    @property
    def actions(self) -> list[int]:
        """The action of each frame."""
        return [int(digit, 16) for digit in self.digits for _ in range(HELD)]


TITLES = {
    "Breakout": Title(
        "BreakoutNoFrameskip-v4",
        "1330000203333322232330323330203230002322",
        [],
    ),
    "Pac-Man": Title(
        "ALE/Pacman-v5",
        "0032233020242020344341022341",
        ['"ALE/Pacman-v5"', "repeat_action_probability=0"],
    ),
    "Asteroids": Title(
        "AsteroidsNoFrameskip-v4",
        "854c53c0640ada47b45c2c96b558c998b6a68",
        ['"AsteroidsNoFrameskip-v4"'],
    ),
}


def play(title: Title) -> dict[str, Any]:
    """Return the last frames of a game as indices into its colors.

    Four frames count as one picture, since a screen differs least from the
    fourth before it.
    """
    env, ale = make(title.env_id, repeat_action_probability=0.0)
    screens = []
    known = {}  # RGB and gray of each color
    for action in title.actions:
        env.step(action)
        screens.append(ale.getScreen())
        colors, where = np.unique(screens[-1], return_index=True)
        rgb = ale.getScreenRGB().reshape(-1, 3)[where].tolist()
        gray = ale.getScreenGrayscale().reshape(-1)[where].tolist()
        both = zip(rgb, gray, strict=True)
        known |= dict(zip(colors.tolist(), both, strict=True))
    used = sorted(known)
    frames = np.searchsorted(used, screens[-SHOWN:])
    return {
        "arguments": title.arguments,
        "rgb": [known[color][0] for color in used],
        "gray": [known[color][1] for color in used],
        "height": len(screens[0]),
        "frames": pack(frames.reshape(SHOWN // 4, -1)),
    }


def record() -> dict[str, Any]:
    return {"workbench": {name: play(title) for name, title in TITLES.items()}}
