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


def test_faster_means_faster_in_every_round():
    fake = {
        "Pong": columns(games=[20, 30], ale=[10, 29], envpool=[10, 31]),
        "Breakout": columns(games=[20, 30], ale=[19, 29], envpool=[21, 31]),
    }
    assert report.claims(fake, ["games"]) == (
        "- `Games`, in every round: faster than ALE `AtariVectorEnv`; "
        "slower than EnvPool (Breakout)."
    )
    # The best of the others is the one with the best median.
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


# Learning, of a made-up training


def test_the_comparison_says_what_was_measured():
    rounds = [  # games, network, learning: twice to four times as fast
        {"games": [1.0, 1.0, 2.0], "wrappers": [4.0, 1.0, 3.0]},
        {"games": [1.0, 1.0, 2.0], "wrappers": [4.0, 1.0, 7.0]},
        {"games": [1.0, 1.0, 2.0], "wrappers": [4.0, 1.0, 11.0]},
    ]
    ran = {"processor": "AMD EPYC", "cores": 2, "python": "3.11.7"}
    ran |= {"versions": {"torch": "2.13.0"}, "date": "2026-11-20"}
    ran |= {"threads": 1, "bfloat16": True, "games": 8, "rounds": rounds}
    rows = [
        ["KrullNoFrameskip-v4", side, seed, steps, 1, score + seed]
        for side, last in (("games", 100), ("wrappers", 90))
        for seed in (0, 1)
        for steps, score in ((500, 10), (900, last))
    ]
    heads = ["env_id", "side", "seed", "steps", "ended", "score"]
    training = pd.DataFrame(rows, columns=heads)
    text = report.of_the_comparison(training, {"share": ran})
    text = " ".join(text.split())
    for words in (
        "3.00 (2.00–4.00) times as fast",
        "the games alone 4.00 (4.00–4.00) times",
        "| `Games` | 1.00 s (25%) | 1.00 s (25%) | 2.00 s (50%) | 4.00 s |",
        "it took 2.00 to 11.00 s on either is chance",
        "Krull, after 900 steps",
        "| `Games` | 100 | 100, 101 |",
        "| CleanRL's wrappers | 90 | 90, 91 |",
        "the two sides' ranges don't overlap.",
    ):
        assert words in text


def test_a_steps_parts_sum_up():
    data = common.read(RESULTS / "step_time.json")
    for title in "Pong", "Breakout":
        parts = [spent for _, spent in data[title]["parts"]]
        assert np.sum(parts) == pytest.approx(data[title]["total"], abs=0.5)
        assert min(parts) > 0
