"""A test of catch.py: ppo.py learns it as it is."""

import pathlib

import catch
import play
import ppo
from run import read_checkpoint

FOLDER = pathlib.Path("run")


def test_ppo_learns_it_and_plays_it(start):
    settings = catch.Settings(
        folder=FOLDER, steps=16_384, device="cpu", threads=1, processes=0
    )
    start(lambda: ppo.train(settings))
    saved = read_checkpoint(FOLDER / "checkpoint.pt")
    # At random it is -0.7.
    assert saved["progress"]["rows"][-1]["score"] > 0
    *_, line = start(play.main, FOLDER, "--games", 20, "--processes", 0)
    assert float(line.split("mean ")[1].split()[0]) > 0
