"""When each of thirty games of the published agent ends, and its score.

They are those of `agents.json`, as `examples/play.py` plays them.
"""

from typing import Any

import numpy as np

GAMES = 30


def record() -> dict[str, Any]:
    import torch

    import play
    from paths import ROOT

    act, settings = play.load(ROOT / "examples/breakout.pt")
    torch.manual_seed(settings.seed)
    ended: dict[int, dict[str, int]] = {}
    served = play.WAYS["served"]
    with (
        torch.no_grad(),
        settings.make_games(GAMES, processes=0, **served) as games,
    ):
        obs, _ = games.reset(seed=settings.seed)
        while len(ended) < GAMES:
            actions: list[Any] = act(obs)
            for i in ended:
                actions[i] = None
            obs, *_, infos = games.step(actions)
            if "episode" not in infos:
                continue
            for i in np.flatnonzero(infos["_episode"]).tolist():
                episode = infos["episode"]
                score, steps = int(episode["r"][i]), int(episode["l"][i])
                ended[i] = {"score": score, "steps": steps}
    return {"ended": [ended[i] for i in range(GAMES)]}
