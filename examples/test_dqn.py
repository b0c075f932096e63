"""Tests of dqn.py."""

import sys

import numpy as np
import pytest
import torch

import dqn
from game import Games


def test_it_remembers_what_was_played_and_each_frame_once(monkeypatch):
    """What its memory holds is what a game plays, step by step."""
    memory = dqn.Memory(1000)
    monkeypatch.setattr(dqn, "Memory", lambda _: memory)
    monkeypatch.setattr(dqn, "STEPS_TO_LEARN_FROM", 590)
    monkeypatch.setattr(sys, "argv", ["dqn.py", "--steps", "600"])
    dqn.main()
    assert len(memory.steps) == 600
    ends = 0
    with Games(1, processes=0) as games:
        obs, _ = games.reset()
        for five, action, reward, ended in memory.steps:
            assert (np.array(five[:4]) == obs[0]).all()
            obs, rewards, terminated, truncated, infos = games.step([action])
            assert reward == rewards[0]
            assert ended == terminated[0]
            done = terminated[0] or truncated[0]
            last = infos["final_obs"][0] if done else obs[0]
            assert (np.array(five[1:]) == last).all()
            ends += done
    assert ends > 5
    kept = {id(frame) for five, *_ in memory.steps for frame in five}
    # Four more at the start of each episode; one that has only begun has
    # none in the memory yet.
    assert len(kept) in (600 + 4 * ends, 600 + 4 * (ends + 1))


def full(number):
    """An observation of one number."""
    return np.full((4, 84, 84), number, np.uint8)


class Brightness(torch.nn.Module):
    """The worth of both actions is the brightness of the newest frame."""

    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(2, device=dqn.DEVICE))

    def forward(self, obs):
        return 255 * obs[:, -1].mean((1, 2))[:, None] * self.weight


@pytest.mark.parametrize(
    ("reward", "terminated", "weight"),
    # Worth 1 + 0.5 * 3 where the episode goes on, else the reward; expected
    # was 2. The Huber loss clips errors of -0.5, 1 and 4 to -0.5, 1 and 1. A
    # tenth of that, times brightness 2, is taken from the weight.
    [(1.0, False, 1.1), (1.0, True, 0.8), (-2.0, True, 0.8)],
)
def test_it_learns_towards_reward_and_what_follows(
    monkeypatch, reward, terminated, weight
):
    monkeypatch.setattr(dqn, "GAMMA", 0.5)
    memory = dqn.Memory(1)
    before = np.full((4, 84, 84), 2, np.uint8)
    after = np.full((4, 84, 84), 3, np.uint8)
    memory.start(before)
    memory.add(1, reward, terminated, after)
    network = Brightness()
    optimizer = torch.optim.SGD(network.parameters(), 0.1)
    dqn.learn(network, Brightness(), optimizer, memory)
    assert network.weight.tolist() == pytest.approx([1, weight], rel=1e-4)
