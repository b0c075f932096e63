"""Tests of dqn.py."""

import pathlib
import re
import signal
import sys

import numpy as np
import pytest
import torch

import dqn
import play
import run
from game import Games

FOLDER = pathlib.Path("run")


@pytest.fixture
def train(monkeypatch, tmp_path, capsys):
    """Train in an empty folder, in this program; return the lines."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(dqn, "REPORT", 100)

    def train(command):
        argv = f"dqn.py --device cpu --folder {FOLDER} {command}".split()
        monkeypatch.setattr(sys, "argv", argv)
        dqn.main()
        return "".join(capsys.readouterr()).splitlines()

    return train


def saved():
    return torch.load(FOLDER / "checkpoint.pt")


def test_it_remembers_what_was_played_and_each_frame_once(train, monkeypatch):
    """What its memory holds is what a game plays, step by step."""
    memory = dqn.Memory(1000)
    monkeypatch.setattr(dqn, "Memory", lambda _: memory)
    seeds = []
    monkeypatch.setattr(
        Games,
        "reset",
        lambda games, seed, reset=Games.reset: (
            seeds.append(seed) or reset(games, seed=seed)
        ),
    )
    train("--steps 600 --learn-after 590")
    assert len(memory.steps) == 600
    ends = 0
    with Games(1, processes=0) as games:
        obs, _ = games.reset(seed=seeds[0])
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


@pytest.mark.parametrize("terminated", [False, True])
def test_it_learns_the_reward_and_what_follows(terminated):
    settings = dqn.Settings(batch=1)
    torch.manual_seed(0)
    before = np.full((4, 84, 84), 50, np.uint8)
    after = np.full((4, 84, 84), 200, np.uint8)
    memory = dqn.Memory(1)
    memory.start(before)
    memory.add(1, 2.0, terminated, after)
    with settings.make_games(1, processes=0) as games:
        network, target = (dqn.make_network(games) for _ in range(2))
    optimizer = torch.optim.SGD(network.parameters(), 0.01)
    for _ in range(200):
        dqn.learn(network, target, optimizer, memory, settings)
    # Four pictures after the step, of which only the last is new.
    obs = np.stack([*before[1:], after[-1]])
    following = settings.gamma * dqn.values(target, obs[None]).max().item()
    value = dqn.values(network, before[None])[0, 1].item()
    worth = 2.0 if terminated else 2.0 + following
    assert value == pytest.approx(worth, abs=0.01)


def test_a_run_is_continued_and_plays(train, monkeypatch, capsys):
    """Interrupted in the midst of a report, with one picture of 64×48."""
    add = dqn.Memory.add

    def interrupt(memory, *step):
        if len(memory.steps) == 449:
            signal.raise_signal(signal.SIGTERM)
        add(memory, *step)

    small = "--stack 1 --size 64 48 --no-grayscale --target-every 100"
    with monkeypatch.context() as patch:
        patch.setattr(dqn.Memory, "add", interrupt)
        train(f"--steps 1000 --learn-after 120 --save-every 1 {small}")
    interrupted = saved()
    assert interrupted["progress"]["steps"] == 450
    # A picture in color is 9 kB.
    assert any(
        "0.0 GB, for 250 steps" in line for line in train("--steps 700")
    )
    name = "0.weight"
    for part in ("weights", "target"):
        assert not saved()[part][name].equal(interrupted[part][name])
    rows = saved()["progress"]["rows"]
    # Every report, and the ends
    steps = [100, 200, 300, 400, 450, 500, 600, 700]
    assert [row["steps"] for row in rows] == steps
    # The memory had to be filled again.
    learned = [row["steps"] for row in rows if "loss" in row]
    assert learned == [200, 300, 400, 450, 600, 700]
    explored = [row["explore"] for row in rows]
    assert explored[0] < 0.02 and explored[-1] == pytest.approx(0.01)

    act, settings = play.load(FOLDER)
    with settings.make_games(2, processes=0, clip_reward=False) as games:
        assert len(play.whole_games(act, games, 0)) == 2


def test_weights_that_are_not_finite_are_never_saved(train, monkeypatch):
    """Whenever it saves."""
    learn = dqn.learn
    updates = []

    def learn_badly(network, *others):
        updates.append(0)
        if len(updates) == 40:
            torch.nn.init.constant_(network[0].bias, np.nan)
        return learn(network, *others)

    monkeypatch.setattr(dqn, "learn", learn_badly)
    small = "--stack 1 --size 36 36 --learn-after 100 --save-every 2"
    # The fortieth update is that of step 256.
    with pytest.raises(run.RunError, match="since step 300.* of 200"):
        train(f"--steps 500 {small}")
    weights = saved()["weights"].values()
    assert all(weight.isfinite().all() for weight in weights)


def test_ppo_cannot_continue_its_run(train, monkeypatch):
    train("--steps 100")
    import ppo

    monkeypatch.setattr(sys, "argv", ["ppo.py", "--folder", str(FOLDER)])
    with pytest.raises(run.RunError, match=re.escape("of dqn.py")):
        ppo.main()
