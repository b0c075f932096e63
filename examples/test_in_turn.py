"""Tests of in_turn.py: whose turn it is."""

import contextlib
import itertools
import multiprocessing
import re
import subprocess
import sys

import pytest

import in_turn
from game import Games


@pytest.fixture
def fleet():
    """Three `Games` that have begun a step."""
    with contextlib.ExitStack() as stack:
        fleet = []
        for seed in range(3):
            games = stack.enter_context(Games(1, seed=seed, processes=1))
            games.reset()
            games.step_async([0])
            fleet.append(games)
        yield fleet


def wait_for_all(fleet):
    for games in fleet:
        assert games.pipes[0].poll(60)


def test_all_that_are_ready_have_a_turn_before_a_second_one(fleet):
    order = in_turn.ready_first(fleet)
    for _ in range(5):
        wait_for_all(fleet)
        seen = set()
        for games in itertools.islice(order, len(fleet)):
            games.step_wait()
            games.step_async([0])
            seen.add(games)
        assert seen == set(fleet)


def test_one_whose_worker_died_has_its_turn_and_goes_on(fleet):
    wait_for_all(fleet)
    for games in fleet:
        games.step_wait()
    multiprocessing.active_children()[0].kill()
    order = in_turn.ready_first(fleet)
    games = next(order)
    games.step_async([0])
    with pytest.warns(RuntimeWarning, match="SIGKILL"):
        *_, infos = games.step_wait()
    assert infos["restarted"].all()
    games.step_async([0])
    assert next(order) is games
    assert "restarted" not in games.step_wait()[-1]


def test_the_program_prints_three_speeds(tmp_path):
    """From any folder, as it is started."""
    command = [sys.executable, in_turn.__file__]
    out = subprocess.check_output(command, cwd=tmp_path, text=True)
    assert len(re.findall(r": [\d,]+ steps/s\n", out)) == 3
