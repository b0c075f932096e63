"""The published agent, `examples/breakout.pt`, and a game that it plays.

Its digits are those of PyTorch on one machine: on another, sums of floats may
round otherwise, and an action that is then sampled otherwise plays another
game. The figures show what was recorded.
"""

from typing import Any

import numpy as np
import torch

import ppo
from game import TRAINING, Game
from paths import ROOT
from record.recordings import BREAKOUT, pack

SEED = 0


def agent_of(weights: dict[str, torch.Tensor]) -> torch.nn.Module:
    network = untrained(SEED)
    network.load_state_dict(weights)
    return network


def untrained(seed: int) -> torch.nn.Module:
    """What a training with that seed begins with."""
    torch.manual_seed(seed)
    return ppo.Agent(4)


@torch.no_grad()
def ask(obs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the odds of the actions and the value, for each observation."""
    network = agent_of(torch.load(ROOT / "examples/breakout.pt", "cpu"))
    policy, values = network(torch.as_tensor(obs))
    return policy.probs.numpy(), values.numpy()


@torch.no_grad()
def play(network: torch.nn.Module) -> list[np.ndarray]:
    """Play a game; return the screen before each step."""
    torch.manual_seed(SEED)
    game = Game(SEED, BREAKOUT, **TRAINING)
    screens: list[np.ndarray] = []
    obs, info = game.reset(), None
    while info is None:
        policy, _ = network(torch.as_tensor(obs[None]))
        screens.append(game.render())
        obs, _, _, info = game.step(policy.sample().item())
    return screens


def film(screens: list[np.ndarray]) -> dict[str, Any]:
    """The screens of a part of a game, as indices into `rgb`, packed."""
    shown = np.array(screens)
    rgb, indices = np.unique(shown.reshape(-1, 3), axis=0, return_inverse=True)
    packed = pack(indices.reshape(shown.shape[:3]))
    return {"rgb": rgb.tolist(), "screens": packed}
