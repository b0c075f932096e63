"""`Games` as Tianshou's `Collector` takes its environments.

    pip install -r requirements.txt tianshou

Copy this file beside game.py, then:

    games = Games(8, "PongNoFrameskip-v4")
    collector = Collector(policy, TianshouGames(games), buffer)

A collector counts lives and clipped rewards. To evaluate, make the games with
`clip_reward=False, on_life_loss="ignore"`.
"""

import pathlib
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

# Copied, game.py lies beside this file; in this repository it lies one folder
# up. Both come before a `game` that is installed.
sys.path.insert(1, str(pathlib.Path(__file__).resolve().parents[1]))
from game import Games


class TianshouGames:
    """`Games`, of which a collector steps some, while the others rest."""

    is_async = False

    def __init__(self, games: Games) -> None:
        self.games = games
        self.action_space = [games.single_action_space] * games.num_envs

    def __len__(self) -> int:
        return self.games.num_envs

    def reset(
        self, env_id: Sequence[int] | None = None, **options: Any
    ) -> tuple[NDArray, NDArray]:
        """Start all games, or return what those that have ended begin with."""
        if env_id is None:
            self._obs, _ = self.games.reset(**options)
            env_id = range(len(self))
        return self._obs[env_id], np.array([{} for _ in env_id])

    def step(self, action: Any, id: Any = None) -> tuple[NDArray, ...]:
        """Step the games of these numbers."""
        chosen = np.arange(len(self)) if id is None else np.asarray(id)
        actions: list[Any] = [None] * len(self)
        for i, one in zip(chosen, action, strict=True):
            actions[i] = one
        obs, *columns, infos = self.games.step(actions)
        # The next episode has begun already: its first observation is for
        # `reset`, and the last one of the episode is returned.
        self._obs = obs.copy()
        for i in np.flatnonzero(infos.get("_final_obs", [])):
            obs[i] = infos["final_obs"][i]
        about = np.array([{"env_id": i} for i in chosen])
        return obs[chosen], *(column[chosen] for column in columns), about

    def close(self) -> None:
        self.games.close()
