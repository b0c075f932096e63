"""
What goes wrong in the tests of this folder.

A *fault* is something that no game should have, such as an error, or that its
process dies. A `Trap` is set for the game of a certain seed.
"""

import dataclasses
import multiprocessing
import os
import signal
import threading

import gymnasium as gym
import pytest

from test_game import LIFELIKE, replace_titles

PATIENCE = 300  # seconds, after which a process counts as hanging
NEEDED = gym.error.ResetNeeded
START_METHODS = multiprocessing.get_all_start_methods()


def workers_now():
    """Return the ids of this process's children."""
    return {child.pid for child in multiprocessing.active_children()}


def kill(pid):
    """Kill one of this process's children, and wait for its end."""
    (child,) = (c for c in multiprocessing.active_children() if c.pid == pid)
    child.kill()
    child.join()


ERRORS = {
    "crash": ZeroDivisionError("a bug in the middle of a step"),
    "unsendable": ArithmeticError("an odd error", threading.Lock()),
    # As a pipe's, but a game's own: of a server that it asks, for example.
    "reset": ConnectionResetError("a bug of a server"),
    "end": EOFError("a bug in a file"),
}
FAULTS = [*ERRORS, "interrupt", "leave", "die"]


def cause(fault):
    """Let a fault happen, in this process or in a worker."""
    if fault in ERRORS:
        raise ERRORS[fault]
    if fault == "interrupt":
        signal.raise_signal(signal.SIGINT)
    elif fault == "leave":
        os._exit(255)
    else:
        os.kill(os.getpid(), signal.SIGKILL)


class Trap:
    """A ghost for emulators, in this process and in those forked from it.

    After `trap.set(fault, seed)` the game of this seed has the fault when its
    emulator is used; or `later` uses after that, or `times` times.
    """

    def __init__(self):
        self._test = os.getpid()
        self._set = multiprocessing.RawArray("q", 4)
        self._players = multiprocessing.RawArray("q", 1000)

    def set(self, fault, seed, later=0, times=1):
        self._set[:] = FAULTS.index(fault), seed, later, times

    def sprung(self):
        """Return whether it has happened; it doesn't happen any more."""
        left = self._set[3]
        self._set[3] = 0
        return left == 0

    def player(self, seed):
        """Return which process plays the game of a seed."""
        assert self._players[seed] > 0
        return self._players[seed]

    def __call__(self, seed):
        if seed is None:
            return
        if os.getpid() != self._test:
            self._players[seed] = os.getpid()
        fault, whose, later, left = self._set
        if whose == seed and left > 0:
            if later > 0:
                self._set[2] -= 1
            else:
                self._set[3] -= 1
                cause(FAULTS[fault])


@pytest.fixture
def trap(monkeypatch):
    """Let all titles be lifelike ones in which this trap can be set."""
    ghost = Trap()
    replace_titles(monkeypatch, dataclasses.replace(LIFELIKE, ghost=ghost))
    return ghost
