"""Tests of ray_ppo.py, on a cluster of two nodes on this machine."""

import os
import pathlib
import signal
import tempfile

import psutil
import pytest
import ray
import torch
from ray.cluster_utils import Cluster

import ppo
import ray_ppo

RUN = pathlib.Path("run")


@pytest.fixture
def cluster(monkeypatch, tmp_path):
    """Two nodes of one core each; runs are in an empty folder."""
    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "0")
    monkeypatch.setenv("RAY_AUTH_MODE", "disabled")  # it writes to HOME
    monkeypatch.chdir(tmp_path)
    # Whatever the shell ignores.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    # short, since sockets lie in it
    with tempfile.TemporaryDirectory(prefix="ray") as folder:
        monkeypatch.setenv("RAY_TMPDIR", folder)
        cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
        cluster.add_node(num_cpus=1)
        yield cluster
        ray.shutdown()
        cluster.shutdown()
    signal.signal(signal.SIGINT, before)


def make(kind, **options):
    """Settings of a short run, with the threads that the program would set."""
    torch.set_num_threads(1)
    short = dict(games=2, rollout=16, save_every=1)
    here = dict(folder=RUN, device="cpu", threads=1)
    return kind(**short | here | options)


def test_one_actor_learns_what_ppo_learns(cluster):
    weights = []
    for module, folder, options in (
        (ppo, "alone", {}),
        (ray_ppo, "ray", {"actors": 1, "address": cluster.address}),
    ):
        settings = make(module.Settings, steps=96, **options)
        settings.folder = pathlib.Path(folder)
        module.train(settings)
        saved = torch.load(f"{folder}/checkpoint.pt")
        assert saved["progress"]["steps"] == 96
        weights.append(saved["weights"])
    torch.testing.assert_close(*weights, rtol=0, atol=0)


def actors():
    """The processes of actors that play."""
    return [
        process
        for process in psutil.process_iter(["cmdline"])
        if "ray::Actor" in " ".join(process.info["cmdline"] or [])
    ]


def test_it_outlives_an_actor_and_a_node(cluster, monkeypatch):
    """Kill one, then the other's node; at last there is room for it again."""
    learn = ppo.learn
    updates = []

    def kill_actor():
        actors()[0].kill()

    def kill_node():
        cluster.remove_node(cluster.list_all_nodes()[1], allow_graceful=False)

    def add_node():
        cluster.add_node(num_cpus=1)

    def end():
        os.kill(os.getpid(), signal.SIGINT)

    # What is done when updates come of so many actors.
    script = [
        (2, kill_actor),
        (1, lambda: None),  # it costs its part
        (2, kill_node),  # and is started again
        (1, add_node),
        (2, end),
    ]

    def watched(agent, optimizer, batch, *others):
        count = len(batch.obs) // 32
        updates.append(count)
        if script and count == script[0][0]:
            script.pop(0)[1]()
        return learn(agent, optimizer, batch, *others)

    monkeypatch.setattr(ppo, "learn", watched)
    settings = make(ray_ppo.Settings, address=cluster.address)
    with pytest.warns(RuntimeWarning, match="has died") as warnings:
        ray_ppo.train(settings)
    assert not script
    assert len(warnings) >= 2
    saved = torch.load(RUN / "checkpoint.pt")
    assert saved["progress"]["steps"] == 32 * sum(updates)
    # ppo.py continues the run.
    alone = make(ppo.Settings, steps=saved["progress"]["steps"] + 32)
    ppo.train(alone)
    again = torch.load(RUN / "checkpoint.pt")
    assert again["progress"]["steps"] == alone.steps


def test_an_error_in_an_actor_ends_the_run_with_its_words(cluster):
    settings = make(ray_ppo.Settings, games=0, address=cluster.address)
    with pytest.raises(ValueError, match="num_envs"):
        ray_ppo.train(settings)
