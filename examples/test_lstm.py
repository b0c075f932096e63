"""Tests of lstm.py, and that its memory is worth something."""

import dataclasses
import pathlib

import numpy as np
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


@torch.no_grad()
def test_a_memory_goes_from_step_to_step_and_ends_with_its_episode():
    """That of two games at once is that of each alone, step by step."""
    torch.manual_seed(0)
    agent = lstm.Agent(3, False, (1, 42, 42))
    # At first all actions are almost equally likely, whatever it sees.
    nn.init.orthogonal_(agent.policy.weight)
    obs = torch.randint(256, (8, 1, 42, 42), dtype=torch.uint8)
    starts = torch.zeros(8, dtype=torch.bool)
    starts[5] = True  # the second game's third step
    state = torch.rand(2, 2, lstm.SIZE)
    policy, values, after = agent.remember(obs, starts, state)
    for game in range(2):
        alone = state[:, [game]]
        for row in range(game, 8, 2):
            if starts[row]:
                alone = torch.zeros_like(alone)
            one, value, alone = agent.remember(obs[[row]], starts[:1], alone)
            torch.testing.assert_close(one.logits[0], policy.logits[row])
            torch.testing.assert_close(value[0], values[row])
        torch.testing.assert_close(alone[:, 0], after[:, game])


def test_one_picture_and_a_memory_are_enough(here):
    """With one picture ppo.py scores 0.2, with two 1.0, and lstm.py 0.7."""
    settings = Settings(folder=FOLDER)
    lstm.train(settings)
    path = FOLDER / "checkpoint.pt"
    saved = read_checkpoint(path)
    assert saved["progress"]["rows"][-1]["score"] > 0.4
    act, settings = lstm.load(saved, path, "cpu", Settings)

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
    start(lstm.main, *words, "--steps", 64)
    start(lstm.main, *words, "--steps", 128)
    saved = read_checkpoint(FOLDER / "checkpoint.pt")
    assert saved["progress"]["steps"] == 128
    lines = start(play.main, FOLDER, "--games", 2, "--device", "cpu")
    assert any("mean" in line for line in lines)
