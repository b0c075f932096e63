"""
The fixtures of this folder.

These tests need Linux: forks, its signals and `/proc`.
"""

import contextlib
import dataclasses
import os
import signal
import subprocess
import sys

import pytest

from stand_ins import MODULE, Trap
from test_game import (  # noqa: F401
    LIFELIKE,
    ctrl_c_is_heard,
    fake,
    nothing_is_left_running,
    replace_titles,
)

collect_ignore_glob = [] if sys.platform == "linux" else ["test_*.py"]


@pytest.fixture
def trap(monkeypatch):
    """Let all titles be lifelike ones in which this trap can be set."""
    ghost = Trap()
    replace_titles(monkeypatch, dataclasses.replace(LIFELIKE, ghost=ghost))
    return ghost


@pytest.fixture
def program(tmp_path):
    """Return a function that starts a program in a folder of its own."""
    started = []

    def start(text, *args, by=()):
        name = f"program{len(started)}.py"
        (tmp_path / name).write_text(text, encoding="utf-8")
        paths = str(MODULE.parent), os.environ.get("PYTHONPATH", "")
        process = subprocess.Popen(
            [sys.executable, *by, name, *map(str, args)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=tmp_path,
            env=dict(os.environ, PYTHONPATH=os.pathsep.join(paths)),
            start_new_session=True,
        )
        started.append(process)
        return process

    yield start
    for process in started:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
