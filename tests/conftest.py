"""
The fixtures of this folder.

These tests need Linux: forks, its signals and `/proc`.
"""

import signal
import sys

import pytest

from stand_ins import trap  # noqa: F401
from test_game import nothing_is_left_running  # noqa: F401

collect_ignore_glob = [] if sys.platform == "linux" else ["test_*.py"]


@pytest.fixture(autouse=True, scope="session")
def ctrl_c_is_heard():
    """A program that a shell runs in the background ignores Ctrl-C."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)
