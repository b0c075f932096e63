"""Tests of the values."""

import json
import re

import pytest

from fill import values
from paths import ROOT
from ratios import beside


def column(**players):
    """Speeds of some contenders, round by round."""
    return {
        "rows": {name: {"speed": speed} for name, speed in players.items()}
    }


COLUMN = column(
    games=[300, 310, 320], ale=[100, 100, 100], envpool=[300, 309, 321]
)


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
    one = {"rows": dict(list(COLUMN["rows"].items())[::order])}
    columns = dict([("Breakout", one), ("Pong", one)][::order])
    found = cells(values.speed_table(columns))
    assert found["ALE's engine", "Pong"] == "3.10 (3.00–3.20)"
    assert found["EnvPool", "Breakout"] == "1.00 (1.00–1.00)"
    turned = cells(values.speed_table(columns, a_row_for_each_title=True))
    assert turned == {
        (title, name): cell for (name, title), cell in found.items()
    }


@pytest.mark.parametrize(
    "comparisons, words",
    [
        ({"Breakout": [1.2, 1.3, 1.4]}, "1.3"),
        (
            {"Breakout": [1.2, 1.3, 1.4], "Pong": [0.8, 0.9, 0.91]},
            "0.90 to 1.3",
        ),
        ({"Breakout": [1.0, 1.3, 1.4], "Pong": [0.8, 1.1, 1.2]}, "level"),
        (
            {"Breakout": [0.8, 0.9, 0.97], "Pong": [0.8, 1.2, 1.3]},
            "0.90 (Breakout), else level",
        ),
        (
            dict.fromkeys("ABCD", [0.8, 0.9, 0.97]) | {"E": [0.9, 1, 1.1]},
            "0.90, but level in E",
        ),
    ],
)
def test_it_is_level_where_the_interval_holds_1(comparisons, words):
    """And what is behind is told."""
    assert values.in_short(comparisons) == words


def test_the_module_says_what_was_measured():
    """In comments, where no value is filled in."""
    source = (ROOT / "games.py").read_text("utf-8")
    text = " ".join(re.sub("(?m)^ *#", "", source).split())
    rows = values.read("fast_game")["Breakout"]["rows"]
    ratios = beside(rows, "fast_game", "game")
    for times in map(float, re.findall(r"(\d\.\d+) times as fast", text)):
        assert min(ratios) <= times <= max(ratios)


# Where results come from


def test_of_two_machines_the_newest_result_counts(monkeypatch, tmp_path):
    monkeypatch.setattr(values, "RESULTS", tmp_path)
    for machine, date in (
        ("a", "2026-01-01"),
        ("b", "2026-01-02"),
        ("c", "2025"),
    ):
        (tmp_path / machine).mkdir()
        text = json.dumps({"Pong": {"date": date}})
        (tmp_path / machine / "lockstep.json").write_text(text)
    assert values.read("lockstep")["Pong"]["date"] == "2026-01-02"
