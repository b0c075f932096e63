"""Tests of the values."""

import json
import re
from statistics import median

import msgspec
import pytest

from fill import values
from fill.values import Player, Speeds


def column(**players):
    """Speeds of some contenders, round by round."""
    return Speeds(
        processor="Z80",
        cores=2,
        date="1982-01-01",
        commit="0123abc",
        rows={name: Player(speeds) for name, speeds in players.items()},
    )


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
    rows = dict(list(COLUMN.rows.items())[::order])
    one = msgspec.structs.replace(COLUMN, rows=rows)
    columns = dict([("Breakout", one), ("Pong", one)][::order])
    found = cells(values.ratios_table(columns))
    assert found["ALE's engine", "Pong"] == "3.10 (3.00–3.20)"
    assert found["EnvPool", "Breakout"] == "1.00 (1.00–1.00)"


def test_training_is_level_where_its_range_touches_1():
    trained = column(
        games=[100, 100, 100],
        envpool=[101, 80, 70],
        wrappers=[50, 50, 50],
    )
    found = values.comparisons(trained, [COLUMN])
    assert found["envpool_update"] == "level"
    assert found["wrappers_update"] == "2.0"
    assert found["ale_play"] == "3.1"


def test_the_module_says_what_was_measured():
    """In comments, where no value is filled in."""
    source = (values.ROOT / "game.py").read_text("utf-8")
    text = " ".join(re.sub("(?m)^ *#", "", source).split())
    column = values.read("fast_game", Speeds)["Breakout"]
    times = median(column.beside("whole_screens", "fast_game"))
    assert re.findall(r"(\d\.\d+) times", text) == [f"{times:.1f}"]


# Where results come from


def test_of_two_machines_the_newest_result_counts(monkeypatch, tmp_path):
    monkeypatch.setattr(values, "RESULTS", tmp_path)
    for machine, date in (
        ("a", "2026-01-01"),
        ("b", "2026-01-02"),
        ("c", "2025"),
    ):
        part = msgspec.structs.replace(COLUMN, date=date)
        (tmp_path / machine).mkdir()
        text = json.dumps({"Pong": msgspec.to_builtins(part)})
        (tmp_path / machine / "lockstep.json").write_text(text)
    assert values.read("lockstep", Speeds)["Pong"].date == "2026-01-02"


def test_a_commit_that_nobody_knows_is_older():
    assert "commit 0123abc, an older" in values.measured([COLUMN])


def test_comments_are_no_code():
    one = values.code_of("# a\ndef f():\n    'b'\n    return 'c'  # d")
    assert one == values.code_of("def f():\n    return 'c'")
    assert one != values.code_of("def f():\n    return 'e'")
