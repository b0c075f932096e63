"""game.py as a package: `pip install` of this repository."""

import importlib.metadata
import os
import pathlib
import shutil
import subprocess
import sys

import pytest
from packaging.requirements import Requirement

import game

ROOT = pathlib.Path(__file__).resolve().parents[1]


def test_it_is_installed(tmp_path):
    pip = [sys.executable, "-m", "pip"]
    quick = ["download", "--no-deps", "--retries", "0", "gymnasium"]
    if subprocess.run([*pip, *quick], cwd=tmp_path).returncode:
        pytest.skip("pip reaches no index")
    # What `pip` builds stays in a copy.
    source, target = tmp_path / "source", tmp_path / "target"
    source.mkdir()
    for name in ("game.py", "pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    here = ["install", "--no-deps", "--target", target, source]
    subprocess.run([*pip, *here], check=True)
    assert (target / "game.py").read_bytes() == (ROOT / "game.py").read_bytes()
    (found,) = importlib.metadata.distributions(path=[str(target)])
    assert found.version == game.__version__

    # What it needs is what requirements.txt has, but for the tests' packages.
    lines = (ROOT / "requirements.txt").read_text().splitlines()
    wanted = {Requirement(line) for line in lines if line[:1] not in ("", "#")}
    needs = {Requirement(line.split("; extra")[0]) for line in found.requires}
    assert needs < wanted
    assert {each.name for each in wanted - needs} == {"pytest", "hypothesis"}


@pytest.mark.parametrize("name", ["in_turn", "ppo", "sb3", "single_env"])
def test_an_example_takes_its_own_game(tmp_path, name):
    """Though another `game` is installed."""
    package = tmp_path / "game"
    package.mkdir()
    (package / "__init__.py").write_text("raise ImportError('not this one')")
    subprocess.run(
        [sys.executable, "-c", f"import {name}"],
        cwd=ROOT / "examples",
        env=os.environ | {"PYTHONPATH": str(tmp_path)},
        check=True,
    )
