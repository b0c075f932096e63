"""Tests of programs as they are started, README's too."""

import pathlib
import re
import subprocess
import sys
import tempfile

import pytest

HERE = pathlib.Path(__file__).resolve().parent
# README's programs, and what it shows of what they print.
README = re.findall(
    r"^```python\n(.*?)^```\n(?:\n```text\n(.*?)^```)?",
    (HERE.parent / "README.md").read_text(),
    re.MULTILINE | re.DOTALL,
)


def start(folder, *command):
    """Run a program in a folder; return what it printed."""
    result = subprocess.run(
        [sys.executable, *command],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=300,  # seconds, on a machine with much to do
    )
    assert result.returncode == 0, result.stderr
    assert "Traceback" not in result.stderr
    return result.stdout


@pytest.mark.parametrize("number", [0, 1])
def test_readmes_programs_run_as_they_stand(tmp_path, monkeypatch, number):
    text, shown = README[number]
    (tmp_path / "program.py").write_text(text)
    monkeypatch.setenv("PYTHONPATH", str(HERE.parent))
    out = start(tmp_path, "program.py")
    assert out.strip()
    # What the second prints isn't shown.
    assert out == shown or number == 1


def test_two_in_turn(tmp_path):
    out = start(tmp_path, HERE / "in_turn.py")
    assert re.fullmatch(
        r"one in lockstep: [\d,]+ steps/s\ntwo in turn: [\d,]+ steps/s\n", out
    )


@pytest.mark.parametrize("program", ["dqn", "ppo", "sb3"])
def test_help_is_there_and_writes_nothing(tmp_path, program):
    out = start(tmp_path, HERE / f"{program}.py", "--help")
    assert "--steps" in out
    assert not list(tmp_path.iterdir())


# A program in a folder where nothing but `sys.path` leads to ray_actors.py, so
# that the actors know game.py only because it goes along.
KILL = """
import os, pathlib, signal, sys

sys.path.append(sys.argv[1])
import ray_actors

died = pathlib.Path("died").absolute()

class Mortal(ray_actors.game.Games):
    steps = 0

    def step(self, actions):
        self.steps += 1
        if self.steps == 20 and not died.exists():
            died.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return super().step(actions)

ray_actors.game.Games = Mortal
ray_actors.main()
"""


def test_ray_actors_outlive_a_kill_in_any_folder(tmp_path, monkeypatch):
    """On a cluster of its own on this machine."""
    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "0")
    monkeypatch.setenv("RAY_AUTH_MODE", "disabled")  # it writes to HOME
    # short, since sockets lie in it
    with tempfile.TemporaryDirectory(prefix="ray") as folder:
        monkeypatch.setenv("RAY_TMPDIR", folder)
        out = start(tmp_path, "-c", KILL, HERE)
    assert (tmp_path / "died").exists()
    last = out.splitlines()[-1]
    assert re.fullmatch(r"\d+ actors, \d+ episodes, score \d\.\d\d", last)
