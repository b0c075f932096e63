"""Tests of programs as they are started, README's too, and of Ray's actors."""

import multiprocessing
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile

import numpy as np
import pytest

import game
import ray_actors

HERE = pathlib.Path(__file__).resolve().parent
LIMIT = 300  # seconds for a program, on a machine with much to do
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
        timeout=LIMIT,
    )
    assert result.returncode == 0, result.stderr
    assert "Traceback" not in result.stderr
    return result.stdout


@pytest.mark.parametrize("number", range(len(README)))
def test_readmes_programs_run_as_they_stand(tmp_path, monkeypatch, number):
    text, printed = README[number]
    (tmp_path / "program.py").write_text(text)
    monkeypatch.setenv("PYTHONPATH", str(HERE.parent))
    out = start(tmp_path, "program.py")
    assert out.strip()
    if printed:
        assert out == printed


def test_readme_shows_what_a_program_prints():
    assert any(printed for _, printed in README)


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


# Ray, on a cluster of its own on this machine, in a process that may take so
# long and no longer.


@pytest.fixture
def on_ray(monkeypatch):
    """Call a function of this file with Ray, in a process of its own."""
    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "0")
    monkeypatch.setenv("RAY_AUTH_MODE", "disabled")  # it writes to HOME
    # short, since sockets lie in it
    with tempfile.TemporaryDirectory(prefix="ray") as folder:
        monkeypatch.setenv("RAY_TMPDIR", folder)

        def call(function):
            context = multiprocessing.get_context("spawn")
            process = context.Process(target=function)
            process.start()
            process.join(LIMIT)
            process.kill()
            assert process.exitcode == 0

        yield call


def actors_play_as_at_home():
    """Bit for bit; with processes of their own, too."""
    import ray

    ray.init(
        num_cpus=2,
        runtime_env={"py_modules": [game.__file__]},
        include_dashboard=False,
    )
    actions = np.random.default_rng(0).integers(4, size=(100, 3))
    with game.Games(3, processes=0) as games:
        first = games.reset()[0]
        right = [games.step(row) for row in actions]
    for way in {"processes": 0}, {"processes": 2, "context": "forkserver"}:
        actor = ray.remote(game.Games).remote(3, **way)
        assert (ray.get(actor.reset.remote())[0] == first).all()
        for row, expected in zip(actions, right, strict=True):
            result = ray.get(actor.step.remote(row))
            for got, wanted in zip(result[:4], expected[:4], strict=True):
                assert (got == wanted).all()
            assert result[4].keys() == expected[4].keys()


def test_games_are_ray_actors(on_ray):
    on_ray(actors_play_as_at_home)


def an_actor_dies_and_the_others_play_on():
    """ray_actors.py, with an actor killed in the middle of it."""
    with tempfile.TemporaryDirectory() as folder:
        died = pathlib.Path(folder, "died")

        class Mortal(game.Games):
            steps = 0

            def step(self, actions):
                self.steps += 1
                if self.steps == 20 and not died.exists():
                    died.touch()
                    os.kill(os.getpid(), signal.SIGKILL)
                return super().step(actions)

        ray_actors.game.Games = Mortal
        ray_actors.main()
        assert died.exists()


def test_ray_actors_outlive_a_kill(on_ray):
    on_ray(an_actor_dies_and_the_others_play_on)


def test_ray_actors_from_any_folder(on_ray, tmp_path):
    """The module goes along with the program: nothing else knows of it."""
    out = start(tmp_path, HERE / "ray_actors.py")
    assert re.match(r"\d+ actors, [\d,]+ steps a second .* episodes, ", out)
