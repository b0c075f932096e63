"""The first program of the story, and what it prints and saves."""

import functools
import os
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass

import cv2
import numpy as np

from paths import HERE, ROOT

# What is printed of a step: its number, the reward, done.
STEP = re.compile(r"(?m)^(\d+) (\d\.0) (True|False)")


@dataclass
class Run:
    """What the program has printed, and the picture that it has saved."""

    printed: str
    seen: np.ndarray  # gray

    @property
    def ends(self) -> list[int]:
        """The steps that end an episode."""
        return [int(at) for at, _, done in self._steps if done == "True"]

    @property
    def bricks(self) -> list[int]:
        """The steps that hit a brick."""
        return [int(at) for at, reward, _ in self._steps if reward != "0.0"]

    @property
    def _steps(self) -> list[tuple[str, str, str]]:
        return STEP.findall(self.printed)


@functools.cache
def first() -> Run:
    """Run `text/first.py`."""
    with tempfile.TemporaryDirectory() as folder:
        printed = subprocess.run(
            [sys.executable, HERE / "text/first.py"],
            cwd=folder,
            env=os.environ | {"PYTHONPATH": str(ROOT)},
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,  # the emulator's greeting
            text=True,
            check=True,
        ).stdout
        picture = cv2.imread(f"{folder}/seen.png", cv2.IMREAD_GRAYSCALE)
    assert picture is not None
    return Run(printed, picture)
