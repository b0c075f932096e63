"""Programs of one's own on ppo.py, to start from."""

import copy
import json
import math
import pathlib
import subprocess
import sys

import pytest
import torch
from gymnasium.vector import VectorWrapper
from torch import nn

import ppo

TINY = dict(games=2, rollout=16, minibatch=16, epochs=1, save_every=1)
TINY |= dict(device="cpu", processes=0, threads=1, folder=pathlib.Path("run"))

IMPALA = '''
"""PPO with IMPALA's network (Espeholt et al. 2018)."""

import dataclasses
import functools

from torch import nn

import ppo
from run import read_settings, run_program


@dataclasses.dataclass
class Settings(ppo.Settings):
    program = "impala"


class Residual(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.layers = nn.Sequential(
            nn.ReLU(),
            ppo.layer(nn.Conv2d(channels, channels, 3, padding=1)),
            nn.ReLU(),
            ppo.layer(nn.Conv2d(channels, channels, 3, padding=1)),
        )

    def forward(self, x):
        return x + self.layers(x)


class Impala(ppo.Agent):
    def make_body(self, channels):
        layers = []
        for width in (16, 32, 32):
            layers += [
                ppo.layer(nn.Conv2d(channels, width, 3, padding=1)),
                nn.MaxPool2d(3, stride=2, padding=1),
                Residual(width),
                Residual(width),
            ]
            channels = width
        return nn.Sequential(*layers, nn.ReLU(), nn.Flatten())


make_agent = functools.partial(ppo.make_agent, kind=Impala)
load = functools.partial(ppo.load, kind=Settings, make_agent=make_agent)


if __name__ == "__main__":
    settings = read_settings(Settings, __doc__)
    run_program(lambda: ppo.train(settings, make_agent=make_agent))
'''


def test_impalas_network_is_trained_continued_and_played(tmp_path):
    """By play.py as it is: it finds the loader in the folder of the run."""
    (tmp_path / "run").mkdir()
    (tmp_path / "run/impala.py").write_text(IMPALA)
    examples = pathlib.Path(ppo.__file__).parent

    def start(program, *words):
        return subprocess.run(
            [sys.executable, program, *words],
            cwd=tmp_path,
            env={"PYTHONPATH": f"{examples}", "OMP_NUM_THREADS": "1"},
            check=True,
            capture_output=True,
            text=True,
        ).stdout

    tiny = "--games 2 --rollout 16 --minibatch 16 --epochs 1 --processes 0"
    words = ["--folder=run", "--device=cpu", *tiny.split()]
    start("run/impala.py", *words, "--steps=32")
    assert "32 steps of 64" in start("run/impala.py", *words, "--steps=64")
    judged = "run --games 1 --json scores.json --processes 0 --device cpu"
    limit = ["--max-num-frames-per-episode=200"]
    start(examples / "play.py", *judged.split(), *limit)
    assert json.loads((tmp_path / "scores.json").read_text())["scores"]


class Novelty(nn.Module):
    """How badly a network predicts a random one: less for known pictures.

    That is the idea of random network distillation (Burda et al. 2019), which
    has deeper networks, scales pictures and rewards, and a second value.
    """

    def __init__(self, settings):
        super().__init__()
        size = math.prod(settings.size)
        self.target, self.guess = nn.Linear(size, 8), nn.Linear(size, 8)
        self.optimizer = torch.optim.Adam(self.guess.parameters())

    @torch.enable_grad()
    def forward(self, obs):
        newest = torch.as_tensor(obs[:, -1]).flatten(1) / 255
        error = (self.guess(newest) - self.target(newest).detach()) ** 2
        self.optimizer.zero_grad()
        error.mean().backward()
        self.optimizer.step()
        return error.detach().mean(1).numpy()


class Curious(VectorWrapper):
    """Adds the novelty of a picture to the reward."""

    def __init__(self, games, novelty):
        super().__init__(games)
        self.novelty = novelty

    def step(self, actions):
        obs, rewards, *others = self.env.step(actions)
        return obs, rewards + self.novelty(obs), *others


@pytest.fixture
def here(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)


def test_a_reward_for_novelty_is_learned_and_goes_on(here):
    """Its networks and their optimizer are parts of the checkpoint."""
    gains = []

    def learn(agent, optimizer, batch, *others):
        gains.append(batch.advantages)
        return ppo.learn(agent, optimizer, batch, *others)

    def train(folder, steps, novelty=None):
        settings = ppo.Settings(steps=steps, **TINY)
        settings.folder = pathlib.Path(folder)
        if novelty is None:
            return ppo.train(settings, learn=learn)
        return ppo.train(
            settings,
            player=lambda agent, games, *others: ppo.Player(
                agent, Curious(games, novelty), *others
            ),
            learn=learn,
            novelty=novelty,
            novelty_optimizer=novelty.optimizer,
        )

    torch.manual_seed(0)
    first, second = (Novelty(ppo.Settings()) for _ in range(2))
    train("plain", 32)
    train("curious", 32, first)
    plain, curious = gains
    assert (curious > plain).float().mean() > 0.5

    before = copy.deepcopy(first.state_dict())
    train("curious", 64, second)
    assert second.target.weight.equal(before["target.weight"])
    assert not second.guess.weight.equal(before["guess.weight"])
    steps = second.optimizer.state_dict()["state"][0]["step"]
    assert steps == 2 * first.optimizer.state_dict()["state"][0]["step"]
