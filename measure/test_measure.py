"""Tests of the instruments, and of the report with made-up results."""

import json
import random
import sys

import numpy as np
import pytest
import torch

import agents
import benchmark
import chaos
import common
import compare
import contenders
import ppo
import report
import training_run
import updates
import values
from game import BREAKOUT, Game


@pytest.fixture
def runs(monkeypatch, tmp_path):
    """All that would be written goes to a folder of the test."""
    monkeypatch.setattr(common, "ROOT", tmp_path)
    monkeypatch.setattr(common, "RUNS", tmp_path / "runs")
    monkeypatch.setattr(common, "RESULTS", tmp_path / "results")
    monkeypatch.setattr(common, "commit", lambda: "0123abc")
    return tmp_path


def run(monkeypatch, module, *arguments):
    monkeypatch.setattr(sys, "argv", ["x.py", *arguments])
    module.main()


# Files of results


def test_a_part_replaces_itself_and_nothing_else(runs):
    machine = common.folder(publish=True)
    other = common.RESULTS / "another/x.json"
    common.write_part(other, "a", {"rounds": 9})
    for rounds in 1, 2:
        for part in "ab":
            path = machine / "x.json"
            common.write_part(path, part, {"rounds": rounds})
    result = json.loads(path.read_text())
    assert [part["rounds"] for part in result.values()] == [2, 2]
    assert json.loads(other.read_text())["a"]["rounds"] == 9
    for key in "processor", "cores", "versions", "date", "commit":
        assert result["a"][key]


def test_a_busy_machine_publishes_nothing(runs, monkeypatch):
    monkeypatch.setattr(common, "busy", lambda: 1.234)
    monkeypatch.setattr(common, "QUIET", 0.5)
    with pytest.raises(SystemExit, match="1.23 of"):
        run(monkeypatch, benchmark, "lockstep", "--publish")
    assert not common.RESULTS.exists()


# The instruments


def test_the_benchmark_writes_a_part_for_each_column(runs, monkeypatch):
    names = ["limit", "games", "worker", "ale_few"]
    part = benchmark.by_title(names, ("waits", 1))
    monkeypatch.setitem(benchmark.PARTS, "waits", (part, ["Pong"]))
    monkeypatch.setattr(benchmark, "TUNING", 0.1)
    quick = ["--rounds", "2", "--seconds", "0.1"]
    run(monkeypatch, benchmark, "waits", *quick)
    results = values.read_results(common.RUNS)
    (parts,) = values.machines(results, "benchmark", "waits")
    assert list(parts["Pong"]["rows"]) == names
    for row in parts["Pong"]["rows"].values():
        assert len(row["speed"]) == 2 and min(row["speed"]) > 0


def test_an_error_of_a_contender_arrives():
    with pytest.raises(Exception, match="Nonesuch"):
        contenders.Contender("games", {"title": "Nonesuch", "num_envs": 1})


def test_the_module_that_is_compared_is_the_old_one(tmp_path, capsys):
    """A step that is slow on purpose is noticed."""
    source = (common.ROOT / "game.py").read_text("utf-8")
    head = "import time\nfrom game_as_it_is import *\nimport game_as_it_is\n"
    slow = "class Games(game_as_it_is.Games):\n    def step_wait(self):\n"
    slow += "        time.sleep(0.02)\n        return super().step_wait()\n"
    (tmp_path / "game.py").write_text(head + slow)
    (tmp_path / "game_as_it_is.py").write_text(source)
    folders = {"old": tmp_path, "new": common.ROOT}
    ratios = compare.compare("games", "Pong", folders, 2, 0.3)
    assert min(ratios) > 1.5


def test_the_true_median_is_surely_between():
    assert compare.confidence(list(range(100))) == (40, 60)
    assert compare.confidence([3, 1, 2]) == (1, 3)


@pytest.mark.parametrize("side", updates.SIDES[:4])
def test_every_side_plays_what_the_others_play(side):
    """Pictures of the same kind, and episodes that end with a life."""
    games = updates.make(side)
    obs, _ = games.reset(seed=0)
    assert (obs.shape, obs.dtype) == ((updates.GAMES, 4, 84, 84), np.uint8)
    lives = 0
    actions = np.arange(updates.GAMES) % games.single_action_space.n
    for _ in range(60):
        obs, rewards, terminated, *_ = games.step(actions)
        lives += terminated.sum()
        assert set(np.unique(rewards)) <= {0, 1}
    games.close()
    assert lives > 0


def test_sb3s_agent_is_ours():
    weights = torch.load(training_run.PUBLISHED)
    how = {"device": "cpu"}
    model = updates.sb3_model("sb3_games", how, weights)
    obs = torch.as_tensor(model.env.reset())
    model.env.close()
    ours = ppo.Agent(4)
    ours.load_state_dict(weights)
    policy, found = ours(obs)
    same = model.policy.get_distribution(obs).distribution.probs
    torch.testing.assert_close(policy.probs, same)
    torch.testing.assert_close(found, model.policy.predict_values(obs)[:, 0])


def test_a_soak_compares_games_with_undisturbed_ones(monkeypatch):
    random.seed(0)
    monkeypatch.setattr(chaos, "STEPS", 30)
    monkeypatch.setattr(chaos, "RATE", 0.3)
    monkeypatch.setattr(chaos, "TITLES", [BREAKOUT])
    result = chaos.soak(0.1)
    counts = result["counts"]
    assert counts["replaced"] == counts["lost"] > 0
    assert counts["pauses"] > 0 and counts["bad batches"] > 0
    assert result["processes left"] == 0


def test_who_sees_nothing_move_sees_the_newest_picture():
    both = [make(0, on_life_loss="continue") for make in (Game, agents.Still)]
    moving, still = [game.reset() for game in both]
    for step in range(100):
        assert (still == moving[-1]).all() and still.shape == moving.shape
        moving, still = [game.step(step % 4)[0] for game in both]


# The report


def part(**more):
    about = {"processor": "Z80", "cores": 2, "date": "1982-01-01"}
    return about | {"commit": "abc", "rounds": 3, "seconds": 10} | more


def row(*speeds, **more):
    return {"speed": list(speeds), "threads": None} | more


def made_up():
    """Results in which each number is of one contender alone."""
    rows = {
        "games": row(300, 310, 320),
        "ale": row(100, 100, 100),
        "envpool": row(300, 309, 321),
    }
    peers = {
        "games": {"killed": {"end": "dies", "step": "reports"}},
        "envpool": {"killed": {"end": "stops"}},
        "ale": {"killed": {"end": "hangs"}},
    }
    for seen in peers.values():
        seen |= dict.fromkeys(values.FAULTS, seen["killed"])
    return rows, peers


def cells(text):
    """The cells of a table by the heads of its rows and columns."""
    lines = [line[1:-1].split("|") for line in text.splitlines()]
    head, _, *rows = lines
    return {
        (name, title): cell
        for name, *row in rows
        for title, cell in zip(head[1:], row, strict=True)
    }


@pytest.mark.parametrize("order", [1, -1])
def test_the_number_under_each_head_is_its_own(order):
    """In whatever order the results come."""
    rows, peers = made_up()
    rows = dict(list(rows.items())[::order])
    peers = dict(list(peers.items())[::order])
    parts = {"Breakout": part(rows=rows), "Pong": part(rows=rows)}
    found = cells(values.comparison_table(dict(list(parts.items())[::order])))
    assert found["`Games`", "Pong"] == "310 steps/s"
    assert found["ALE's engine", "Pong"] == "3.10 (3.00–3.20)"
    assert found["EnvPool", "Breakout"] == "1.00 (1.00–1.00)"
    found = cells(values.speed_table([parts], parts))
    assert found["ALE's engine", "Breakout, 2 cores"] == "3.1"
    assert found["EnvPool", "Breakout, 2 cores"] == "level"

    found = cells(values.fault_table(peers))
    for name, words in (
        ("games", "replaced and reported"),
        ("envpool", "the program stops"),
        ("ale", "the program hangs"),
    ):
        assert found["a worker is killed", values.NAMES[name]] == words


@pytest.mark.parametrize(
    ("compared", "words"),
    [
        ([0.99, 1.2, 1.3], "level"),
        ([1.01, 1.02, 1.3], "1.02"),
        ([1.5, 1.55, 1.6], "1.6"),
        ([0.5, 0.7, 0.8], "0.7"),
    ],
)
def test_a_comparison_is_level_where_its_range_touches_1(compared, words):
    assert values.in_short(compared) == words


def test_where_games_is_behind_is_said():
    rows, _ = made_up()
    rows["ale"] = row(400, 410, 420)
    parts = {"MsPacman": part(rows=rows)}
    assert values.behind(parts) == "ALE's engine in Ms. Pac-Man (24\u00a0%)"


def test_the_newest_machine_comes_first():
    old, new = part(tried=1), part(tried=2) | {"date": "2001-01-01"}
    results = {"a": {"x": {"y": old}}, "b": {"x": {"y": new}}}
    for order in 1, -1:
        these = dict(list(results.items())[::order])
        assert values.newest(these, "x", "y")["tried"] == 2


def test_a_name_that_is_no_value_is_an_error():
    assert report.fill("a {{b}} c", {"b": "1"}) == "a 1 c"
    with pytest.raises(KeyError):
        report.fill("{{nonesuch}}", {})


def test_nothing_that_is_published_is_stale(monkeypatch):
    monkeypatch.setattr(sys, "argv", ["report.py", "--check"])
    with pytest.raises(SystemExit) as end:
        report.main()
    assert not end.value.code
