"""game.py as a package: `pip install` of this repository."""

import json
import pathlib
import shutil
import subprocess
import venv

import pytest
from packaging.requirements import Requirement

import game

ROOT = pathlib.Path(__file__).resolve().parents[1]
PROGRAM = """
import importlib.metadata
import json

from game import __version__
from games import Games

if __name__ == "__main__":
    with Games(2, "PongNoFrameskip-v4", processes=1) as games:
        games.reset()
        obs, *_ = games.step([2, 3])
    distribution = importlib.metadata.distribution("breakout-annotated")
    assert distribution.version == __version__
    print(json.dumps([__version__, obs.shape, distribution.requires]))
"""


@pytest.fixture
def run(tmp_path):
    """Run Python in an empty environment; return what it prints."""
    venv.create(tmp_path / "venv", with_pip=True)
    python = venv.EnvBuilder().ensure_directories(tmp_path / "venv").env_exe

    def run(*args):
        return subprocess.run(
            [python, "-I", *args],
            cwd=tmp_path,
            check=True,
            stdout=subprocess.PIPE,
            text=True,
            timeout=600,  # seconds, on a machine with much to do
        ).stdout

    try:
        run(
            "-m", "pip", "download", "--retries", "0", "--no-deps", "gymnasium"
        )
    except subprocess.CalledProcessError:
        pytest.skip("pip reaches no index")
    return run


def test_it_is_installed_and_plays(run, tmp_path):
    # What `pip` builds stays in a copy.
    source = tmp_path / "source"
    source.mkdir()
    for name in (
        "game.py",
        "games.py",
        "pyproject.toml",
        "README.md",
        "LICENSE",
    ):
        shutil.copy(ROOT / name, source)
    run("-m", "pip", "install", "--quiet", str(source))
    (tmp_path / "program.py").write_text(PROGRAM)
    version, shape, promised = json.loads(run("program.py"))
    assert version == game.__version__
    assert shape == [2, 4, 84, 84]

    # What it needs is what requirements.txt has, but for the tests' packages.
    lines = (ROOT / "requirements.txt").read_text().splitlines()
    wanted = {Requirement(line) for line in lines if line[:1] not in ("", "#")}
    needs = {Requirement(line.split("; extra")[0]) for line in promised}
    assert needs < wanted
    assert {each.name for each in wanted - needs} == {"pytest", "hypothesis"}
