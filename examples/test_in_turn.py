"""Tests of in_turn.py: whose turn it is."""

import contextlib
import itertools
import multiprocessing
import os
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


def test_whoever_is_not_ready_is_not_waited_for(fleet):
    wait_for_all(fleet)
    slow, *others = fleet
    slow.step_wait()  # and nothing is asked of it
    for games in itertools.islice(in_turn.ready_first(fleet), 10):
        assert games in others
        games.step_wait()
        games.step_async([0])


def test_one_whose_worker_died_has_its_turn_and_goes_on(fleet):
    wait_for_all(fleet)
    for games in fleet:
        games.step_wait()
    victim = min(multiprocessing.active_children(), key=lambda it: it.pid)
    victim.kill()
    victim.join()
    order = in_turn.ready_first(fleet)
    games = next(order)
    games.step_async([0])
    *_, truncated, infos = games.step_wait()
    assert truncated.all() and infos["restarted"].all()
    games.step_async([0])
    assert next(order) is games
    assert "restarted" not in games.step_wait()[-1]


@pytest.mark.skipif(sys.platform != "linux", reason="as the function says")
def test_workers_give_way_to_the_program(fleet):
    """Once told to; they may be told twice."""
    workers = multiprocessing.active_children()
    assert len(workers) == len(fleet)
    before = os.sched_getscheduler(0)
    for _ in range(2):
        in_turn.give_way()
        policies = {os.sched_getscheduler(one.pid) for one in workers}
        assert policies == {os.SCHED_IDLE}
    assert os.sched_getscheduler(0) == before != os.SCHED_IDLE


def test_the_program_prints_three_speeds(tmp_path):
    """From any folder, as it is started."""
    program = in_turn.__file__
    command = [sys.executable, program]
    out = subprocess.check_output(command, cwd=tmp_path, text=True)
    ways = "one in lockstep", "two in turn", rf"{in_turn.BATCHES}, ready first"
    lines = [rf"{way}: [\d,]+ steps/s\n" for way in ways]
    assert re.fullmatch("".join(lines), out)
