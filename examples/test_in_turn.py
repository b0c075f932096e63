"""Tests of in_turn.py: whose turn it is."""

import contextlib
import itertools
import os
import pathlib
import re
import subprocess
import sys

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


def test_the_program_prints_three_speeds(tmp_path):
    """In a tenth of a second each, in place of three."""
    program = "import in_turn; in_turn.SECONDS = 0.1; in_turn.main()"
    out = subprocess.check_output(
        [sys.executable, "-c", program],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(pathlib.Path(__file__).parent)},
        text=True,
    )
    assert len(re.findall(r": [\d,]+ steps/s\n", out)) == 3
