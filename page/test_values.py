"""Tests of the values."""

import msgspec
import pytest

import values
from values import Player, Seen, Speeds


def column(**players):
    """Speeds of some contenders, round by round."""
    return Speeds(
        processor="Z80",
        cores=2,
        date="1982-01-01",
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


def test_a_fault_is_told_of_who_has_it():
    seen = {
        "games": Seen("dies", 4, "reports", "says nothing"),
        "envpool": Seen("dies", 0),
        "sb3": Seen("hangs", 4),
        "ale": Seen("dies", 4, "says nothing", "says nothing"),
    }
    table = values.fault_table({who: {"killed": seen[who]} for who in seen})
    found = cells(table)
    for name, words in (
        ("games", "replaced and reported"),
        ("envpool", "has no workers"),
        ("sb3", "the program hangs"),
        ("ale", "plays on in silence"),
    ):
        assert found["a worker is killed", values.NAMES[name]] == words


def test_training_is_level_where_its_range_touches_1():
    trained = column(
        games=[100, 100, 100],
        envpool=[101, 80, 70],
        wrappers=[50, 50, 50],
        sb3_games=[30, 30, 30],
        sb3=[10, 10, 10],
    )
    found = values.comparisons(trained, [COLUMN])
    assert found["envpool_update"] == "level"
    assert (found["wrappers_update"], found["sb3_update"]) == ("2.0", "3.0")
    assert found["ale_play"] == "3.1"


def test_what_texts_say_of_numbers_holds():
    """README: an update takes as long as on EnvPool, and random play is ahead
    of both engines. speed.md: 64 games are played as fast as eight.
    """
    results = values.read(values.TWO_CORES, "updates", Speeds)
    assert values.is_level(results["trained"].beside("envpool"))
    lockstep = values.read(values.TWO_CORES, "lockstep", Speeds)
    for title in lockstep.values():
        assert min(*title.beside("ale"), *title.beside("envpool")) > 1
    eight = lockstep["Breakout"].middle("games")
    many = values.read(values.TWO_CORES, "number64", Speeds)["Breakout"]
    assert many.middle("games") == pytest.approx(eight, rel=0.05)
