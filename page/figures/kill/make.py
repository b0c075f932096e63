"""Eight games of the published agent, in two processes."""

from typing import Any

import numpy as np

from record.recordings import BREAKOUT, pack

EVERY = 12  # steps, of which one is shown
LONGEST = 1440  # steps


def record() -> dict[str, Any]:
    """It ends before a game does. `pictures` are the newest of every `every`
    steps, those of game 0 first.
    """
    import torch

    from game import Games
    from record.published import agent

    torch.manual_seed(0)
    pictures = []
    with Games(8, BREAKOUT, processes=2) as games, torch.no_grad():
        obs, infos = games.reset()
        for step in range(LONGEST):
            if "episode" in infos:
                break
            if step % EVERY == 0:
                pictures.append(obs[:, -1])
            policy, _ = agent()(torch.as_tensor(obs))
            obs, *_, infos = games.step(policy.sample().numpy())
    by_game = np.stack(pictures, axis=1)  # (8, pictures, 84, 84)
    return {
        "eight": {
            "every": EVERY,
            "pictures": pack(by_game.reshape(-1, 84, 84)),
        }
    }
