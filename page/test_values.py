"""Tests of the values, with made-up results."""

import pytest

import values


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
