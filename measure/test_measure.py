"""Tests of the instruments."""

import json
import sys

import numpy as np
import pytest
import torch

import agents
import benchmark
import common
import contenders
import dqn
import updates
from game import BREAKOUT, Game
from games import Games
from ratios import beside, interval, is_level
from run import describe


@pytest.fixture
def publish(monkeypatch, tmp_path):
    """Let an instrument publish; return the folder of its results."""
    monkeypatch.setattr(common, "RESULTS", tmp_path / "results")
    monkeypatch.setattr(common, "commit", lambda: "0123abc")

    def run(module, *arguments):
        argv = ["x.py", *map(str, arguments), "--publish"]
        monkeypatch.setattr(sys, "argv", argv)
        module.main()
        return common.folder()

    return run


def test_a_part_replaces_itself_and_nothing_else(publish, tmp_path):
    path = tmp_path / "machine/x.json"
    for rounds in 1, 2:
        for part in "ab":
            common.write_part(path, part, {"rounds": rounds})
    result = json.loads(path.read_text())
    assert [part["rounds"] for part in result.values()] == [2, 2]
    for key in "processor", "cores", "versions", "date", "commit":
        assert result["a"][key]


def test_the_benchmark_writes_a_part_for_each_title(publish, monkeypatch):
    names = ["games", "ale"]
    part = benchmark.Part(names, ["Pong"], {"num_envs": 2}, wait=0.001)
    monkeypatch.setitem(benchmark.PARTS, "waits", part)
    monkeypatch.setattr(benchmark, "TUNING", 0.1)
    folder = publish(benchmark, "waits", "--rounds=2", "--seconds=0.1")
    result = json.loads((folder / "waits.json").read_text())["Pong"]
    rows = result["rows"]
    assert list(rows) == names
    for row in rows.values():
        assert len(row["speed"]) == 2 and min(row["speed"]) > 0


def test_an_error_of_a_contender_arrives():
    with pytest.raises(Exception, match="Nonesuch"):
        contenders.Contender("games", {"title": "Nonesuch", "num_envs": 1})


LOCKSTEP = benchmark.PARTS["lockstep"].names
PLAYERS = [*LOCKSTEP, "games_ready", "worker", *benchmark.ONE_GAME]


@pytest.mark.parametrize("name", PLAYERS)
def test_a_contender_plays_its_games_and_shows_four_pictures(name):
    threads = common.CORES if name in ("ale", "envpool") else None
    games = [] if name in benchmark.ONE_GAME else [2]
    options = {"num_envs": 2} if games else {}
    part = benchmark.Part([], [], options)
    with benchmark.contender(name, part, "Breakout", threads) as player:
        # SB3 has the pictures of a game last.
        assert sorted(player.shape) == sorted([*games, 4, 84, 84])
        assert player.dtype == np.uint8
        assert player.play(0.2) > 0


def test_a_run_is_published(publish, tmp_path):
    settings = dqn.Settings(BREAKOUT, steps=2000)
    with Games(1, processes=0) as games:
        weights = dqn.make_agent(settings, games)[0].state_dict()
    progress = {"steps": 2000, "seconds": 9.0, "ended": [(1, 5), (3, 5)]}
    saved = {"weights": weights, "program": "dqn", "progress": progress}
    saved["settings"] = settings.kept()
    saved["about"] = describe(settings)
    torch.save(saved, tmp_path / "checkpoint.pt")
    (tmp_path / "curve.csv").write_text("steps,score\n2000,2.0\n")
    made = publish(agents, tmp_path, "--games=1")
    part = json.loads((made / "agents.json").read_text())["Breakout-dqn-0"]
    assert (part["steps"], part["last_score"]) == (2000, 2)
    assert [*map(len, part["scores"].values())] == [1, 1]
    curve = (made / "Breakout-dqn-0.csv").read_text().split()
    assert curve == ["steps,score", "2000,2.0"]


@pytest.mark.parametrize("name", ["old", "old_worker"])
def test_an_old_contender_plays_by_the_module_of_its_folder(tmp_path, name):
    """That says so in each process that imports it."""
    imported = tmp_path / "imported"
    for module in "game.py", "games.py":
        source = (common.ROOT / module).read_text("utf-8")
        says_so = f"\nwith open({str(imported)!r}, 'a') as f: f.write('.')\n"
        (tmp_path / module).write_text(source + says_so, "utf-8")
    part = benchmark.PARTS[name]
    with benchmark.contender(name, part, "Pong", old=tmp_path) as player:
        assert player.play(0.1) > 0
    assert len(imported.read_text()) > 1


def test_two_are_level_where_the_interval_of_the_median_holds_1():
    """Of 15 rounds it goes from the 4th to the 12th of the ratios."""
    ratios = [0.5, 0.6, 0.7, *np.linspace(1.01, 1.2, 12)]
    assert interval(ratios) == (ratios[3], ratios[11])
    assert not is_level(ratios)
    ratios[3] = 0.99
    assert is_level(ratios)


def test_a_ratio_is_of_one_round():
    rows = {"games": {"speed": [30, 20]}, "ale": {"speed": [10, 40]}}
    assert beside(rows, "games", "ale") == [3, 0.5]


@pytest.mark.parametrize("side", ["games", "envpool", "wrappers"])
def test_every_side_plays_what_the_others_play(monkeypatch, side):
    """Pictures of the same kind, and episodes that end with a life."""
    monkeypatch.setattr(updates, "GAMES", 2)
    games = updates.make(side)
    obs, _ = games.reset(seed=0)
    assert (obs.shape, obs.dtype) == ((2, 4, 84, 84), np.uint8)
    lives = 0
    actions = np.arange(2)
    for _ in range(60):
        obs, rewards, terminated, *_ = games.step(actions)
        lives += terminated.sum()
        assert set(np.unique(rewards)) <= {0, 1}
    games.close()
    assert lives > 0


def test_who_sees_nothing_move_sees_the_newest_picture():
    both = [make(0, on_life_loss="continue") for make in (Game, agents.Still)]
    moving, still = [game.reset() for game in both]
    for step in range(100):
        assert (still == moving[-1]).all() and still.shape == moving.shape
        moving, still = [game.step(step % 4)[0] for game in both]
