"""Tests of report.py: the pages of docs/ are what the data say."""

import re

import pandas as pd
import pytest

import charts
import common
import report

DOCS = common.ROOT / "docs"


def test_what_is_published_is_what_the_data_say(tmp_path):
    """Every page and README's tables byte for byte, and every chart."""
    readme = (common.ROOT / "README.md").read_text("utf-8")
    blocks = re.findall(r"(<!-- (\w+) -->.*?<!-- /\2 -->)", readme, re.S)
    assert report.write(tmp_path) == "\n\n".join(b for b, _ in blocks) + "\n"
    for path in tmp_path.glob("*.md"):
        assert path.read_text("utf-8") == (DOCS / path.name).read_text("utf-8")
    # Another matplotlib may draw other bytes.
    charts = {path.name for path in (DOCS / "charts").iterdir()}
    assert {path.name for path in (tmp_path / "charts").iterdir()} == charts
    for name in charts:
        for folder in tmp_path, DOCS:
            text = (folder / "charts" / name).read_text("utf-8")
            assert "prefers-color-scheme:dark" in text
            assert 'width="259.2pt"' in text  # of a phone


def test_what_the_pages_say_in_words_is_so():
    """Nobody's observations change, and as much is learned on both sides."""
    data = common.read(common.RESULTS / "benchmark.json")
    parts = [data[name]["columns"] for name in data if name != "machine"]
    for column in (each for part in parts for each in part.values()):
        assert {row["arrays"] for row in column.values()} <= {"own", None}
    curves = pd.read_csv(common.RESULTS / "training.csv")
    last = curves[curves.steps == curves.steps.max()]
    scores = last.groupby("side").score
    assert scores.min().max() <= scores.max().min()


def test_readmes_parts_are_replaced_and_nothing_else():
    old = "a\n<!-- x -->\nold\n<!-- /x -->\nb\n"
    text = "a\n<!-- x -->\n\nnew\n\n<!-- /x -->\nb\n"
    assert report.put(old, "<!-- x -->\n\nnew\n\n<!-- /x -->\n") == text


# Speeds, of made-up rounds


def ahead(speeds):
    """Ours beside the best of contenders with these speeds, by round."""
    rows = {name: {"speed": rounds} for name, rounds in speeds.items()}
    return report.ahead(charts.rounds({"Pong": rows}))["Pong"].to_dict()


def test_ours_stand_beside_the_best_of_their_equals():
    """The one with the best median; round by round."""
    speeds = {"games": [20, 30], "ale": [10, 29], "envpool": [10, 31]}
    speeds |= {"games_2": [1], "ale_2": [4], "envpool_2": [2]}
    speeds |= {"games_3": [1], "ale_3": [5], "envpool_3": [8]}
    assert ahead(speeds) == {
        "games": "1.48 (0.97–2.00)",
        "games_2": "0.25 (0.25–0.25)",
        "games_3": "0.12 (0.12–0.12)",
    }


def test_a_steps_parts_sum_up():
    data = common.read(common.RESULTS / "step_time.json")
    for title in "Pong", "Breakout":
        parts = data[title]["parts"].values()
        assert sum(parts) == pytest.approx(data[title]["total"], abs=0.5)
        assert min(parts) > 0
