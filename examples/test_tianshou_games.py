"""Tests of tianshou_games.py: `Games` under a Tianshou collector."""

import numpy as np
import pytest
import torch

pytest.importorskip("tianshou")

from tianshou.algorithm.modelfree.dqn import DiscreteQLearningPolicy
from tianshou.data import Collector, VectorReplayBuffer

from game import TRAINING, FastGame, Games
from tianshou_games import TianshouGames

N = 3


class Network(torch.nn.Module):
    """Looks at nothing, since the policy samples all actions."""

    def forward(self, obs, state=None, info=None):
        return torch.zeros(len(obs), 4), state


def test_a_collector_has_the_steps_that_a_game_plays():
    """Through lost lives and ends, also while the other games rest."""
    games = Games(N, seed=5, processes=0)
    policy = DiscreteQLearningPolicy(
        model=Network(),
        action_space=games.single_action_space,
        eps_inference=1,
    )
    buffer = VectorReplayBuffer(3000, N)
    collector = Collector(policy, TianshouGames(games), buffer)
    collector.reset()
    lengths = [
        collector.collect(n_step=30 * N).n_collected_steps,
        # more episodes than games: at last, some games are done and rest
        collector.collect(n_episode=4 * N + 1).n_collected_steps,
    ]
    collector.close()

    steps = [one[np.arange(len(one))] for one in buffer.buffers]
    assert sum(map(len, steps)) == sum(lengths)
    assert len({len(one) for one in steps}) > 1
    for seed, played in enumerate(steps, 5):
        game = FastGame(seed, **TRAINING)
        obs = game.reset()
        for one in played:
            assert (one.obs == obs).all()
            obs, reward, done, _ = game.step(int(one.act))
            after = game.final_obs if done else obs
            assert (one.obs_next == after).all()
            assert (one.rew, one.terminated) == (reward, done)
        assert played.terminated.sum() > 1
