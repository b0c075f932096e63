"""Tests of lstm.py, and that its memory is worth something."""

import csv
import dataclasses
import pathlib

import numpy as np
import pytest
import torch
from torch import nn

import catch
import lstm
import play
from run import read_checkpoint

FOLDER = pathlib.Path("run")


class Drift(catch.Catch):
    """Catch whose ball drifts sideways, and bounces off the walls."""

    def __init__(self, seed, env_id, *, stack, **options):
        super().__init__(seed, env_id)
        self.stack = stack
        self.pictures = {}  # by row

    def reset(self, seed=None):
        obs = super().reset(seed)
        self.drift = self.random.integers(-2, 3)
        return obs

    def step(self, action):
        if not 0 <= self.ball + self.drift < catch.SIDE:
            self.drift = -self.drift
        self.ball += self.drift
        return super().step(action)

    def observe(self):
        self.pictures[self.row] = super().observe()
        rows = range(self.row + 1 - self.stack, self.row + 1)
        return np.concatenate([self.pictures[max(row, 0)] for row in rows])


@dataclasses.dataclass
class Settings(lstm.Settings):
    """Those of catch.py, and a higher rate."""

    env_id: str = "Drift"
    steps: int = 40_960
    rollout: int = 32
    minibatch: int = 128
    learning_rate: float = 4e-3
    device: str = "cpu"
    threads: int = 1
    processes: int = 0

    def make_games(self, count, **options):
        return super().make_games(count, **{"make": Drift} | options)


@pytest.fixture(scope="module")
def agent():
    """An agent of three actions, and pictures of four steps of two games."""
    torch.manual_seed(0)
    agent = lstm.Agent(3, False, (1, 42, 42))
    # At first all actions are almost equally likely, whatever it sees.
    nn.init.orthogonal_(agent.policy.weight)
    obs = torch.randint(256, (8, 1, 42, 42), dtype=torch.uint8)
    return agent, obs


NEVER = torch.zeros(8, dtype=torch.bool)
FRESH = torch.zeros(2, 2, lstm.SIZE)


@torch.no_grad()
def test_steps_in_a_row_are_learned_as_they_were_played(agent):
    agent, obs = agent
    starts = NEVER.clone()
    starts[5] = True  # the second game's third step
    policy, values, after = agent.remember(obs, starts, FRESH)
    state = FRESH
    for step in range(4):
        rows = slice(2 * step, 2 * step + 2)
        one, value, state = agent.remember(obs[rows], starts[rows], state)
        torch.testing.assert_close(one.logits, policy.logits[rows])
        torch.testing.assert_close(value, values[rows])
    torch.testing.assert_close(state, after)


@torch.no_grad()
def test_a_memory_ends_with_its_episode(agent):
    """That of the game beside it goes on."""
    agent, obs = agent
    _, _, state = agent.remember(obs, NEVER, FRESH)
    starts = torch.tensor([True, False])
    _, values, after = agent.remember(obs[:2], starts, state)
    _, fresh_values, fresh = agent.remember(obs[:2], NEVER[:2], FRESH)
    _, kept_values, kept = agent.remember(obs[:2], NEVER[:2], state)
    assert not torch.allclose(fresh_values, kept_values)
    expected = torch.stack([fresh_values[0], kept_values[1]])
    torch.testing.assert_close(values, expected)
    expected = torch.stack([fresh[:, 0], kept[:, 1]], 1)
    torch.testing.assert_close(after, expected)


def test_one_picture_and_a_memory_are_enough(monkeypatch, tmp_path):
    """With one picture ppo.py scores 0.2, with two 1.0, and lstm.py 0.7."""
    monkeypatch.chdir(tmp_path)
    settings = Settings(folder=FOLDER)
    lstm.train(settings)
    with (FOLDER / "curve.csv").open(newline="") as file:
        *_, last = csv.DictReader(file)
    assert float(last["score"]) > 0.4

    path = FOLDER / "checkpoint.pt"
    act, settings = lstm.load(read_checkpoint(path), path, "cpu", Settings)

    def forgetful(obs, starts):
        return act(obs, np.ones_like(starts))

    def score(act):
        with settings.make_games(40, processes=0) as games:
            played = play.whole_games(act, games, seed=0)
        return np.mean([each.score for each in played])

    assert score(act) > 0.4 > 0 > score(forgetful)


def test_a_run_goes_on_and_is_judged(start):
    tiny = "--games 2 --rollout 16 --minibatch 16 --epochs 1 --processes 0"
    words = [*tiny.split(), "--device", "cpu", "--folder", FOLDER]
    words += ["--max-num-frames-per-episode", 400]

    def weights():
        saved = read_checkpoint(FOLDER / "checkpoint.pt")
        return saved["progress"]["steps"], saved["weights"]["kept.weight"]

    start(lstm.main, *words, "--steps", 64)
    steps, before = weights()
    assert steps == 64
    start(lstm.main, *words, "--steps", 128)
    steps, after = weights()
    assert steps == 128 and not after.equal(before)
    lines = start(play.main, FOLDER, "--games", 2, "--device", "cpu")
    assert any("mean" in line for line in lines)
