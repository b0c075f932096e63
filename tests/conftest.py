"""
The fixtures of this folder.

These tests need Linux: forks, its signals and `/proc`.
"""

import sys

from stand_ins import program, trap  # noqa: F401
from test_game import (  # noqa: F401
    ctrl_c_is_heard,
    fake,
    nothing_is_left_running,
)

collect_ignore_glob = [] if sys.platform == "linux" else ["test_*.py"]
