"""Tests of in_turn.py: whose turn it is."""

import contextlib
import itertools
import re
import subprocess
import sys

import in_turn
from game import Games


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


def test_the_program_prints_three_speeds(tmp_path):
    command = [sys.executable, in_turn.__file__]
    out = subprocess.check_output(command, cwd=tmp_path, text=True)
    assert len(re.findall(r": [\d,]+ steps/s\n", out)) == 3
