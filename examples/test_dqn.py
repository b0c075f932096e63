"""Tests of dqn.py."""

import json
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


def test_a_run_is_continued_and_plays(train, start):
    """With one picture of 64×48 in color, and its random actions."""
    small = "--stack 1 --size 64 48 --no-grayscale --explore 0.25"
    train(f"--steps 300 --learn-after 120 --save-every 1 {small}")
    train("--steps 500")
    rows = torch.load(FOLDER / "checkpoint.pt")["progress"]["rows"]
    # The memory had to be filled again.
    learned = [row["steps"] for row in rows if "loss" in row]
    assert learned == [200, 300, 500]
    with pytest.raises(RunError, match="seed is 8 now, and was 0"):
        train("--seed 8")
    short = "--max-num-frames-per-episode=200 --games=1 --json=scores.json"
    start(play.main, FOLDER, "--device=cpu", *short.split())
    played = json.loads(pathlib.Path("scores.json").read_text())
    assert played["explore"] == 0.25 and played["scores"]["served"]


def test_it_learns_catch(train, monkeypatch):
    """Some of it, in so few steps."""
    make = {"make": catch.Catch}
    make_games = dqn.Settings.make_games
    monkeypatch.setattr(
        dqn.Settings,
        "make_games",
        lambda *args, **options: make_games(*args, **options | make),
    )
    train("Catch --steps 5_000 --learn-after 500 --target-every 200")
    rows = torch.load(FOLDER / "checkpoint.pt")["progress"]["rows"]
    # Each of 1,000 steps, so of 500 games together. At random the mean of so
    # many is -0.71, with a deviation of 0.03.
    assert np.mean([row["score"] for row in rows[-3:]]) > -0.58
