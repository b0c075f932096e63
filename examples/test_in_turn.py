"""Tests of in_turn.py: whose turn it is."""

import contextlib
import itertools

import in_turn
from games import Games


def test_all_that_are_ready_have_a_turn_before_a_second_one():
    with contextlib.ExitStack() as stack:
        fleet = [
            stack.enter_context(Games(1, seed=seed, processes=1))
            for seed in range(3)
        ]
        for games in fleet:
            games.reset()
            games.step_async([0])
        order = in_turn.ready_first(fleet)
        for _ in range(5):
            for games in fleet:
                assert games.pipes[0].poll(60)
            turns = list(itertools.islice(order, len(fleet)))
            assert set(turns) == set(fleet)
            for games in turns:
                games.step_wait()
                games.step_async([0])


def test_the_program_prints_three_speeds(start, monkeypatch):
    monkeypatch.setattr(in_turn, "SECONDS", 0.1)
    lines = start(in_turn.main)
    assert [line.endswith(" steps/s") for line in lines] == [True] * 3
