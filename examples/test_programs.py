"""Tests of the programs as they are started, and of ray_actors.py."""

import copy
import multiprocessing
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from multiprocessing import resource_tracker

import gymnasium as gym
import numpy as np
import psutil
import pytest

import game
import ray_actors

HERE = pathlib.Path(__file__).resolve().parent
LIMIT = 300  # seconds for a program, on a machine with much to do


def start(folder, *command, **environ):
    """Run a program in a folder; return what it printed."""
    result = subprocess.run(
        [sys.executable, *map(str, command)],
        cwd=folder,
        env=os.environ | environ,
        capture_output=True,
        text=True,
        timeout=LIMIT,
    )
    assert result.returncode == 0, result.stderr
    assert "Traceback" not in result.stderr
    return result.stdout


def test_two_in_turn(tmp_path):
    out = start(tmp_path, HERE / "in_turn.py", "--seconds", "0.3")
    assert re.fullmatch(
        r"one in lockstep: [\d,]+ steps/s\ntwo in turn: [\d,]+ steps/s\n", out
    )


PROGRAMS = ["dqn", "in_turn", "ppo", "ray_actors", "sb3"]


@pytest.mark.parametrize("program", PROGRAMS)
def test_help_is_there_and_writes_nothing(tmp_path, program):
    out = start(tmp_path, HERE / f"{program}.py", "--help")
    assert f"python examples/{program}.py" in out
    assert not list(tmp_path.iterdir())


# Ray, on a cluster of its own on this machine. Whatever has to do with Ray
# happens in a process that may take so long and no longer. All that Ray starts
# knows of the folder that it was given, and is found by that in the end.


def processes_that_know(folder):
    """The processes that have the folder in their environment."""
    known = []
    for process in psutil.process_iter(["environ"]):
        environ = process.info["environ"] or {}
        if environ.get("RAY_TMPDIR") == folder:
            known.append(process)
    return known


@pytest.fixture
def ray_folder(monkeypatch):
    """A folder for Ray, short since sockets lie in it; and no one left."""
    resource_tracker.ensure_running()  # it stays as long as this process
    folder = tempfile.mkdtemp(prefix="ray")
    monkeypatch.setenv("RAY_TMPDIR", folder)
    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "0")
    monkeypatch.setenv("RAY_AUTH_MODE", "disabled")  # it writes to HOME
    yield folder
    _, left = psutil.wait_procs(processes_that_know(folder), timeout=30)
    for process in left:
        process.kill()
    shutil.rmtree(folder, ignore_errors=True)
    assert not left


def on_ray(test):
    """Run `test`, a function of this file, with Ray; not beyond the limit."""
    context = multiprocessing.get_context("spawn")
    process = context.Process(target=with_ray, args=(test,))
    process.start()
    process.join(LIMIT)
    late = process.is_alive()
    process.kill()
    process.join()
    assert not late, f"{test.__name__} took longer than {LIMIT} s"
    assert process.exitcode == 0


def with_ray(test):
    import ray

    ray.init(
        num_cpus=4,
        runtime_env={"py_modules": [game.__file__]},
        include_dashboard=False,
        log_to_driver=False,
        object_store_memory=100 * 2**20,
    )
    try:
        test(ray)
    finally:
        ray.shutdown()


def short(steps):
    """Breakout, cut off after so many steps."""
    spec = copy.deepcopy(gym.spec("BreakoutNoFrameskip-v4"))
    spec.kwargs["max_num_frames_per_episode"] = 4 * steps
    return spec


def actors_play_as_at_home(ray):
    """Bit for bit; with processes of their own, too."""
    actor = ray.remote(game.Games)
    ways = {"processes": 0}, {"processes": 2, "context": "forkserver"}
    actions = np.random.default_rng(0).integers(4, size=(100, 3))
    with game.Games(3, short(40), processes=0) as games:
        first = games.reset()[0]
        right = [games.step(row) for row in actions]
    for way in ways:
        other = actor.remote(3, short(40), **way)
        assert (ray.get(other.reset.remote())[0] == first).all()
        for row, expected in zip(actions, right, strict=True):
            result = ray.get(other.step.remote(row))
            for got, wanted in zip(result[:4], expected[:4], strict=True):
                assert (got == wanted).all()
            assert result[4].keys() == expected[4].keys()
        ray.kill(other)


def test_games_are_ray_actors(ray_folder):
    on_ray(actors_play_as_at_home)


def an_actor_dies_and_its_games_go_on(ray):
    """ray_actors.py, with a worker of Ray's killed in the middle of it."""
    choose = ray_actors.choose
    calls = []
    killed = []

    def choose_and_kill(obs):
        calls.append(None)
        if len(calls) == 20:
            folder = os.environ["RAY_TMPDIR"]
            for process in processes_that_know(folder):
                if "ray::Games" in process.name() + str(process.cmdline()):
                    os.kill(process.pid, signal.SIGKILL)
                    killed.append(process)
                    break
        return choose(obs)

    ray_actors.choose = choose_and_kill
    args = ray_actors.argparse.Namespace(
        env_id=short(40), games=2, actors=2, steps=100
    )
    scores = ray_actors.play(args)
    assert len(killed) == 1
    assert len(calls) == 200  # two choices a step
    assert len(scores) > 2


def test_ray_actors_outlive_a_kill(ray_folder):
    on_ray(an_actor_dies_and_its_games_go_on)


def test_ray_actors_from_any_folder(ray_folder, tmp_path):
    """The module goes along with the program: nothing else knows of it."""
    out = start(tmp_path, HERE / "ray_actors.py", "--steps", "20")
    assert out.startswith("320 steps of 2 actors, ")
