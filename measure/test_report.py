"""Tests of report.py: the pages of docs/ are what the data say."""

import shutil
import sys

import numpy as np
import pandas as pd
import pytest

import common
import report
from report import spread

RESULTS = common.RESULTS
DOCS = common.ROOT / "docs"
README = (common.ROOT / "README.md").read_text("utf-8")


def test_what_is_published_is_what_the_data_say(tmp_path):
    """Every page, every chart and README's tables, byte for byte."""
    for make in report.REPORTS.values():
        mark, text = make(RESULTS, tmp_path)
        block = f"<!-- {mark} -->\n\n{text()}\n\n<!-- /{mark} -->"
        assert block in README
    written = sorted(path.name for path in tmp_path.iterdir())
    assert written == [
        "benchmark-narrow.svg",
        "benchmark.svg",
        "faults.md",
        "learning-narrow.svg",
        "learning.md",
        "learning.svg",
        "network.svg",
        "speed.md",
    ]
    for path in tmp_path.glob("*.md"):
        assert path.read_bytes() == (DOCS / path.name).read_bytes()
    # Another matplotlib may draw other bytes, but not other words.
    for path in tmp_path.glob("*.svg"):
        for file in path, DOCS / path.name:
            assert "prefers-color-scheme:dark" in file.read_text("utf-8")


def test_a_trial_leaves_readme_and_docs_alone(tmp_path, monkeypatch):
    runs = tmp_path / "runs/measure"
    shutil.copytree(RESULTS, runs)
    monkeypatch.setattr(common, "ROOT", tmp_path)
    monkeypatch.setattr(common, "RUNS", runs)
    monkeypatch.setattr(sys, "argv", ["report.py", "faults", "--trial"])
    report.main()
    assert (runs / "faults.md").read_text() == (DOCS / "faults.md").read_text()
    assert [path.name for path in tmp_path.iterdir()] == ["runs"]


def test_readmes_part_is_replaced_and_nothing_else(tmp_path):
    readme = tmp_path / "README.md"
    readme.write_text("a\n<!-- x -->\nold\n<!-- /x -->\nb\n")
    report.put(readme, "x", "new")
    text = "a\n<!-- x -->\n\nnew\n\n<!-- /x -->\nb\n"
    assert readme.read_text("utf-8") == text
    with pytest.raises(SystemExit, match="README.md has no <!-- y -->"):
        report.put(readme, "y", "new")
    assert readme.read_text("utf-8") == text


# Speeds, of made-up rounds


def columns(**speeds):
    """A column of contenders with these speeds, round by round."""
    return {
        name: {
            "options": {"games": 8},
            "arrays": "own",
            "speed": list(map(float, rounds)),
            "others": [0.0] * len(rounds),
        }
        for name, rounds in speeds.items()
    }


def test_ours_stand_beside_the_best_of_the_others():
    """The one with the best median; round by round."""
    fake = {
        "Pong": columns(games=[20, 30], ale=[10, 29], envpool=[10, 31]),
        "Breakout": columns(games=[20, 30], ale=[19, 29], envpool=[21, 31]),
    }
    assert report.times_as_fast(fake, "games") == [
        "1.48 (0.97–2.00)",
        "0.96 (0.95–0.97)",
    ]


def test_only_equals_are_compared():
    names = ["games", "ale", "games_2", "ale_2", "ale_3", "envpool_3"]
    column = columns(**dict.fromkeys(names, [1]))
    assert report.rivals("games", column) == ["ale"]
    assert report.rivals("games_2", column) == ["ale_2"]
    assert report.rivals("games_3", column) == ["ale_3", "envpool_3"]


def test_a_median_stands_with_its_range():
    assert spread([3, 1, 2]) == "2.00 (1.00–3.00)"


# Learning, made up


def test_what_was_learned_is_said_of_each_seed():
    rows = [
        ["KrullNoFrameskip-v4", side, seed, 900, score + seed]
        for side, score in (("games", 100), ("wrappers", 90))
        for seed in (1, 0)
    ]
    heads = ["env_id", "side", "seed", "steps", "score"]
    text = report.learned_in(pd.DataFrame(rows, columns=heads))
    assert "| Krull, after 900 steps | mean | each seed |" in text
    assert "| `Games` | 100 | 100, 101 |" in text
    assert "| CleanRL's wrappers | 90 | 90, 91 |" in text


def test_an_updates_time_is_parted():
    rounds = np.array([[1.0, 1, 2], [1, 1, 2], [9, 1, 2]])
    text = report.parts_of({"games": rounds, "wrappers": rounds})
    row = "1.00 s (25%) | 1.00 s (25%) | 2.00 s (50%) | 4.00 s |"
    assert f"| `Games` | {row}" in text


def test_a_steps_parts_sum_up():
    data = common.read(RESULTS / "step_time.json")
    for title in "Pong", "Breakout":
        parts = [spent for _, spent in data[title]["parts"]]
        assert np.sum(parts) == pytest.approx(data[title]["total"], abs=0.5)
        assert min(parts) > 0
