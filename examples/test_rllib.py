"""Tests of rllib.py, on a Ray cluster of two nodes on this machine."""

import itertools
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

import numpy as np
import psutil
import pytest

# `ray` alone doesn't bring what RLlib imports.
pytest.importorskip("ray.rllib", exc_type=ImportError)

import ray
from ray.cluster_utils import Cluster
from ray.rllib.core.rl_module.default_model_config import DefaultModelConfig
from ray.rllib.env.single_agent_env_runner import SingleAgentEnvRunner

import rllib
from catch import Catch
from game import BREAKOUT, TRAINING
from games import FastGame
from rllib import as_floats, make_config
from run import Run, read_checkpoint

RUN = pathlib.Path("run")


@pytest.fixture(scope="module")
def cluster():
    """Two nodes of one core each, which programs find by themselves."""
    with (
        pytest.MonkeyPatch.context() as patch,
        tempfile.TemporaryDirectory(prefix="ray") as folder,  # a short path
    ):
        patch.setenv("HOME", folder)  # Ray and RLlib write there, too.
        patch.setenv("RAY_TMPDIR", folder)
        patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        patch.setenv("RAY_AUTH_MODE", "disabled")
        # Else other programs would come first.
        patch.setenv("RAY_worker_niceness", "0")
        nodes = Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
        nodes.add_node(num_cpus=1)
        patch.setenv("RAY_ADDRESS", nodes.address)
        rllib.start_ray(runners=2)
        yield
        ray.shutdown()
        nodes.shutdown()


@ray.remote(num_cpus=1)
def hold(folder):
    """Another job, which keeps a core until the folder is gone."""
    while pathlib.Path(folder).exists():
        time.sleep(0.1)


def test_cores_that_another_job_holds_are_told_of(cluster, tmp_path, capfd):
    """A start waits for them, and says so at once."""
    folder = tmp_path / "held"
    folder.mkdir()
    jobs = [hold.remote(str(folder)) for _ in range(2)]
    while ray.available_resources().get("CPU", 0):
        time.sleep(0.1)
    capfd.readouterr()
    rllib.start_ray(runners=2)
    assert "0 of Ray's 2 cores are free" in capfd.readouterr().out
    folder.rmdir()
    ray.get(jobs)
    while ray.available_resources().get("CPU", 0) < 2:
        time.sleep(0.1)
    rllib.start_ray(runners=2)
    assert "free" not in capfd.readouterr().out


def test_its_episodes_are_those_of_a_game():
    """No step is lost or mixed with another episode, at an end either."""
    config = make_config(BREAKOUT, processes=0)
    config.env_runners(num_envs_per_env_runner=1).debugging(seed=5)
    runner = SingleAgentEnvRunner(config=config)
    episodes = runner.sample(num_timesteps=300, random_actions=True)
    game = FastGame(5, **TRAINING)
    expected = game.reset()
    scores = []
    for episode in episodes:
        actions = episode.get_actions()
        seen = episode.get_observations()
        for i, action in enumerate(actions):
            assert (seen[i] == as_floats(expected[None])[0]).all()
            expected, reward, done, whole_game = game.step(action)
            assert episode.get_rewards(i) == reward
            assert done == (episode.is_done and i == len(actions) - 1)
        if episode.is_done:
            assert (seen[-1] == as_floats(game.final_obs[None])[0]).all()
            assert episode.is_terminated == game.terminated
            info = episode.get_infos(-1)
            assert ("episode" in info) == (whole_game is not None)
            scores += [info["episode"]["r"]] if whole_game else []
    assert len(scores) >= 1
    runner.stop()


def curve():
    """The score by steps."""
    saved = read_checkpoint(RUN / "checkpoint.pt")
    return {row["steps"]: row["score"] for row in saved["progress"]["rows"]}


def train(config, steps):
    settings = rllib.Settings(steps=steps, folder=RUN, save_every=1)
    rllib.train(settings, config)


def test_it_learns_catch_though_a_signal_comes(cluster, monkeypatch, here):
    count = itertools.count(1)
    add = Run.add

    def interrupted(*args):
        if next(count) == 8:
            signal.raise_signal(signal.SIGINT)
        add(*args)

    monkeypatch.setattr(Run, "add", interrupted)
    config = make_config("Catch", make=Catch, processes=0)
    network = dict(conv_filters=[[16, 7, 7]], head_fcnet_hiddens=[64])
    config.rl_module(model_config=DefaultModelConfig(**network))
    config.training(
        lr=0.004, train_batch_size_per_learner=256, minibatch_size=64
    )
    with pytest.raises(SystemExit, match="75"):
        train(config, 5120)
    before = curve()
    assert len(before) == 8
    train(config, 5120)
    after = curve()
    assert len(after) == 20 and before.items() < after.items()
    assert after[5120] > 0  # at random it is -0.5


def test_an_update_in_which_one_game_ends(cluster, here):
    short = {"max_num_frames_per_episode": 4 * 100}
    config = make_config(BREAKOUT, processes=0, **short)
    config.env_runners(num_envs_per_env_runner=1)
    config.training(train_batch_size_per_learner=128, minibatch_size=128)
    train(config, 128)
    assert np.isfinite(curve()[128])


def runners():
    """The processes of this cluster that play."""
    return [
        process
        for process in psutil.Process().children(recursive=True)
        if "EnvRunner" in " ".join(process.cmdline())
    ]


def test_a_killed_runner_costs_its_part_and_a_line(cluster, tmp_path):
    """In a program that is started in another folder than its own."""
    command = [sys.executable, rllib.__file__, "--folder=run", "--runners=2"]
    program = subprocess.Popen(
        command, cwd=tmp_path, stdout=subprocess.PIPE, text=True
    )

    def wait_for(words):
        for line in program.stdout:
            if words in line:
                return
        raise AssertionError(f"the program has ended before {words!r}")

    with program:
        wait_for("steps/s")
        runners()[0].kill()
        wait_for("1 of 2 runners play")
        wait_for("2 of 2 runners play")
        program.terminate()
        program.communicate()
    assert program.returncode == 75
    saved = read_checkpoint(tmp_path / "run/checkpoint.pt")
    assert saved["progress"]["steps"] > 2 * 1024
