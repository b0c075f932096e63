"""Tests of dqn.py."""

import dataclasses
import functools
import pathlib
from unittest import mock

import numpy as np
import pytest
import torch

import catch
import dqn
import play
from games import Games
from run import RunError

FOLDER = pathlib.Path("run")


@pytest.fixture
def train(start, monkeypatch):
    """Train in an empty folder, in this program."""
    monkeypatch.setattr(dqn, "REPORT", 100)
    here = ["--folder", FOLDER, "--device", "cpu"]
    return lambda command: start(dqn.main, *here, *command.split())


def test_it_remembers_what_was_played_and_each_frame_once(train, monkeypatch):
    """What its memory holds is what a game plays, step by step."""
    memory = dqn.Memory(1000)
    monkeypatch.setattr(dqn, "Memory", lambda _: memory)
    with mock.patch.object(
        Games, "reset", autospec=True, side_effect=Games.reset
    ) as reset:
        train("--steps 600 --learn-after 590")
    assert len(memory.steps) == 600
    ends = 0
    with Games(1, processes=0) as games:
        obs, _ = games.reset(**reset.call_args.kwargs)
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


class Scales(torch.nn.Module):
    """Values each action by the brightness of the pictures."""

    def __init__(self, scales):
        super().__init__()
        self.scales = torch.nn.Parameter(torch.tensor(scales))

    def forward(self, obs):
        return obs.mean((1, 2, 3))[:, None] * self.scales


@pytest.mark.parametrize(("terminated", "loss"), [(False, 2.5), (True, 0.5)])
def test_its_loss_worked_out_by_hand(terminated, loss):
    """Action 1 is worth 1 to the network, and earned 2."""
    memory = dqn.Memory(1)
    memory.start(np.full((4, 84, 84), 51, np.uint8))  # 0.2 of 255
    memory.add(1, 2.0, terminated, np.full((4, 84, 84), 255, np.uint8))
    network, target = Scales([1.0, 5.0, 3.0]), Scales([10.0, 2.0, 5.0])
    optimizer = torch.optim.SGD(network.parameters(), 0.5)
    settings = dqn.Settings(batch=1, gamma=0.5)
    figures = dqn.learn(network, target, optimizer, memory, settings)
    # Only the last of four pictures is new, so they are (3 * 0.2 + 1) / 4
    # bright: 0.4, which the target values at 4. So the action was worth
    # 2 + 4 / 2, or 2 where nothing follows: 3 or 1 more than was expected. A
    # Huber loss of d is d - 1/2 from d = 1 on, and its slope is 1.
    assert figures["loss"] == pytest.approx(loss)
    assert figures["value"] == pytest.approx(1)
    scales = network.scales.tolist()
    assert scales == pytest.approx([1, 5 + 0.5 * 0.2, 3])


def test_a_run_that_cannot_learn_is_refused(train):
    with pytest.raises(RunError, match="learn-after"):
        train("--steps 500 --learn-after 500")
    assert not FOLDER.exists()


def test_a_piece_that_has_learned_nothing_says_so(train):
    said = []
    for steps in (200, 300, 600):
        lines = train(f"--steps {steps} --learn-after 190")
        said.append(any("nothing was learned" in line for line in lines))
    assert said == [False, True, False]


@dataclasses.dataclass
class Settings(dqn.Settings):
    """Those of a DQN that plays Catch."""

    program = "other"

    env_id: str = "Catch"
    folder: pathlib.Path = FOLDER
    device: str = "cpu"

    def make_games(self, count, **options):
        return super().make_games(count, **{"make": catch.Catch} | options)


def make_agent(settings, games):
    network, optimizer = dqn.make_agent(settings, games)
    return network.insert(7, torch.nn.Dropout()), optimizer


load = functools.partial(dqn.load, kind=Settings, make_agent=make_agent)


def test_another_game_and_network_are_trained_and_judged(start):
    """By play.py as it is; it plays without dropout."""
    settings = Settings(steps=300, learn_after=100)
    start(lambda: dqn.train(settings, make_agent))
    (FOLDER / "other.py").write_text("from test_dqn import load")
    lines = start(play.main, FOLDER, "--games", 2, "--processes", 0)
    assert "played: " in lines[-1]
    act = play.load(FOLDER).act
    obs = np.zeros((20, 1, 42, 42), np.uint8)
    assert len(set(act(obs, np.ones(20, bool)))) == 1


def test_a_run_is_continued_and_plays(train, start):
    """With one picture of 64×48 in color, and its random actions."""
    small = "--stack 1 --size 64 48 --no-grayscale --explore 0.25"
    train(f"--steps 300 --learn-after 120 --save-every 1 {small}")
    train("--steps 500")
    rows = torch.load(FOLDER / "checkpoint.pt")["progress"]["rows"]
    # The memory had to be filled again.
    learned = [row["steps"] for row in rows if "loss" in row]
    assert learned == [200, 300, 500]
    with mock.patch.object(dqn.random, "randrange", return_value=0) as draw:
        start(play.main, FOLDER, "--device=cpu", "--games=1", "--processes=0")
    assert draw.call_count > 5


def test_it_learns_catch(start):
    """Some of it, in so few steps."""
    settings = Settings(
        steps=5_000, learn_after=500, target_every=200, save_every=1
    )
    start(lambda: dqn.train(settings))
    rows = torch.load(FOLDER / "checkpoint.pt")["progress"]["rows"]
    # Each of 100 games, so of 300 together. At random the mean of so many is
    # -0.71, with a deviation of 0.04.
    assert np.mean([row["score"] for row in rows[-3:]]) > -0.58
