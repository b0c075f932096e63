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


@pytest.mark.parametrize("terminated", [False, True])
def test_it_learns_the_reward_and_what_follows(monkeypatch, terminated):
    monkeypatch.setattr(dqn, "BATCH", 1)
    torch.manual_seed(0)
    before = np.full((4, 84, 84), 50, np.uint8)
    after = np.full((4, 84, 84), 200, np.uint8)
    memory = dqn.Memory(1)
    memory.start(before)
    memory.add(1, 2.0, terminated, after)
    network, target = dqn.make_network(2), dqn.make_network(2)
    optimizer = torch.optim.SGD(network.parameters(), 0.01)
    for _ in range(200):
        dqn.learn(network, target, optimizer, memory)
    # Four pictures after the step, of which only the last is new.
    obs = np.stack([*before[1:], after[-1]])
    following = dqn.GAMMA * dqn.values(target, obs[None]).max().item()
    value = dqn.values(network, before[None])[0, 1].item()
    worth = 2.0 if terminated else 2.0 + following
    assert value == pytest.approx(worth, abs=0.01)
