"""The published agent, `examples/breakout.pt`, and a game that it plays.

Its digits are those of PyTorch on one machine: on another, sums of floats may
round otherwise, and an action that is then sampled otherwise plays another
game. The figures show what was recorded.
"""

import functools
from typing import Any, NamedTuple

import numpy as np
import torch

import ppo
from game import TRAINING, Game
from paths import ROOT
from record.recordings import BREAKOUT, pack

SEED = 0


class Moment(NamedTuple):
    """The screen before a step, and what the agent did."""

    screen: np.ndarray
    action: int


class Answer(NamedTuple):
    """What the network says to some observations."""

    values: np.ndarray  # (n,)
    chances: np.ndarray  # (n, 4)


@functools.cache
def agent() -> torch.nn.Module:
    return agent_of(torch.load(ROOT / "examples/breakout.pt", "cpu"))


def agent_of(weights: dict[str, torch.Tensor]) -> torch.nn.Module:
    network = untrained(SEED)
    network.load_state_dict(weights)
    return network


def untrained(seed: int) -> torch.nn.Module:
    """What a training with that seed begins with."""
    torch.manual_seed(seed)
    return ppo.Agent(4)


def game_of() -> Game:
    """The game that the agent plays."""
    return Game(SEED, BREAKOUT, **TRAINING)


@torch.no_grad()
def ask(obs: np.ndarray) -> Answer:
    policy, values = agent()(torch.as_tensor(obs))
    return Answer(values.numpy(), policy.probs.numpy())


@torch.no_grad()
def play(network: torch.nn.Module) -> list[Moment]:
    """Play a game."""
    torch.manual_seed(SEED)
    game = game_of()
    moments: list[Moment] = []
    obs, info = game.reset(), None
    while info is None:
        policy, _ = network(torch.as_tensor(obs[None]))
        action = policy.sample().item()
        moments.append(Moment(game.render(), action))
        obs, _, _, info = game.step(action)
    return moments


def film(part: list[Moment]) -> dict[str, Any]:
    """The screens of a part of a game, as indices into `rgb`, packed."""
    screens = np.array([moment.screen for moment in part])
    rgb, indices = np.unique(
        screens.reshape(-1, 3), axis=0, return_inverse=True
    )
    packed = pack(indices.reshape(screens.shape[:3]))
    return {"rgb": rgb.tolist(), "screens": packed}
