"""Tests of the values, with made-up results."""

import json
import shutil

import msgspec
import pytest

import results
import values
from paths import RESULTS
from results import Player, Seen, Speeds


def column(**players):
    """Speeds of some contenders, round by round."""
    return Speeds(
        processor="Z80",
        cores=2,
        date="1982-01-01",
        commit="abc",
        rounds=3,
        seconds=10,
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
    found = cells(values.comparison_table(columns))
    assert found["`Games`", "Pong"] == "310 steps/s"
    assert found["ALE's engine", "Pong"] == "3.10 (3.00–3.20)"
    assert found["EnvPool", "Breakout"] == "1.00 (1.00–1.00)"


def test_a_fault_is_told_of_who_has_it():
    seen = {
        "games": Seen("dies", "reports", "says nothing"),
        "envpool": Seen("stops"),
        "ale": Seen("dies", "says nothing", "says nothing"),
    }
    table = values.fault_table({who: {"killed": seen[who]} for who in seen})
    found = cells(table)
    for name, words in (
        ("games", "replaced and reported"),
        ("envpool", "the program stops"),
        ("ale", "plays on in silence"),
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
    slower = column(
        games=[300, 310, 320], ale=[400, 410, 420], envpool=[1, 1, 1]
    )
    words = values.behind({"MsPacman": slower})
    assert words == "ALE's engine in Ms. Pac-Man (24\u00a0%)"


def test_two_cores_are_those_of_the_machine_that_is_meant(tmp_path):
    """Whatever another machine has measured since."""
    shutil.copytree(RESULTS, tmp_path, dirs_exist_ok=True)
    other = tmp_path / "made-up-8-cores"
    shutil.copytree(tmp_path / values.TWO_CORES, other)
    for path in other.glob("*.json"):
        parts = json.loads(path.read_text("utf-8"))
        for part in parts.values():
            part |= {"cores": 8, "date": "2999-12-31"}
            for row in part.get("rows", {}).values():
                row["speed"] = [10 * speed for speed in row["speed"]]
        path.write_text(json.dumps(parts), "utf-8")
    ours, found = (
        values.values(results.read(folder)) for folder in (RESULTS, tmp_path)
    )
    changed = {name for name in ours if found[name] != ours[name]}
    assert changed == {
        "lockstep_tables",
        "wrappers_tables",
        "number_tables",
        "updates_table",
    }
