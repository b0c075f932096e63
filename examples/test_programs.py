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


@pytest.mark.parametrize("program", ["dqn", "ppo", "sb3"])
def test_help_is_there_and_writes_nothing(tmp_path, program):
    out = start(tmp_path, HERE / f"{program}.py", "--help")
    assert "--steps" in out
    assert not list(tmp_path.iterdir())


# Ray, on a cluster of its own on this machine. Nothing but `sys.path` leads to
# the modules, so that actors know game.py only because it goes along.


@pytest.fixture
def on_ray(monkeypatch, tmp_path):
    """Run a program with Ray; return the lines, Ray's among them."""
    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "0")
    monkeypatch.setenv("RAY_AUTH_MODE", "disabled")  # it writes to HOME
    # short, since sockets lie in it
    with tempfile.TemporaryDirectory(prefix="ray") as folder:
        monkeypatch.setenv("RAY_TMPDIR", folder)
        path = f"import sys; sys.path.append({str(HERE)!r})\n"
        yield lambda text: start(tmp_path, "-c", path + text).splitlines()


KILL = """
import os, pathlib, signal
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


def test_ray_actors_outlive_a_kill_in_any_folder(on_ray, tmp_path):
    lines = on_ray(KILL)
    assert (tmp_path / "died").exists()
    told = r"\d+ actors, \d+ episodes, score \d\.\d\d"
    assert any(re.fullmatch(told, line) for line in lines)


SAME = """
import numpy as np, ray
from ray_actors import game

ray.init(runtime_env={"py_modules": [game.__file__]}, log_to_driver=False)
theirs = ray.remote(game.Games).remote(3, processes=2, context="forkserver")
with game.Games(3, processes=0) as ours:
    seen = [ours.reset(), ray.get(theirs.reset.remote())]
    for row in np.random.default_rng(0).integers(4, size=(100, 3)):
        seen[0] += ours.step(row)[:4]
        seen[1] += ray.get(theirs.step.remote(row))[:4]
same = [np.array_equal(*two) for two in zip(*seen, strict=True)]
print(len(same), all(same))
"""


def test_an_actor_plays_the_same_games(on_ray):
    assert "402 True" in on_ray(SAME)
