"""Tests of ray_ppo.py, on a cluster of two nodes on this machine."""

import os
import pathlib
import signal
import threading

import psutil
import pytest
import ray
import torch
from ray.cluster_utils import Cluster

import ppo
import ray_ppo

RUN = pathlib.Path("run")


@pytest.fixture(scope="module")
def nodes(for_ray):
    """Two nodes of one core each."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_TMPDIR", for_ray)
        nodes = Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
        nodes.add_node(num_cpus=1)
        yield nodes
        nodes.shutdown()


@pytest.fixture
def cluster(nodes, monkeypatch, tmp_path):
    """The nodes, which a program leaves; runs are in an empty folder."""
    monkeypatch.chdir(tmp_path)
    yield nodes
    ray.shutdown()


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

    def kill_node():
        cluster.remove_node(cluster.list_all_nodes()[1], allow_graceful=False)

    # What is done when updates come of so many actors.
    script = [
        (2, lambda: actors()[0].kill()),
        (1, lambda: None),  # it costs its part
        (2, kill_node),  # and is started again
        (1, lambda: cluster.add_node(num_cpus=1)),
        (2, lambda: signal.raise_signal(signal.SIGINT)),
    ]

    def watched(agent, optimizer, batch, *others):
        count = len(batch.obs) // 32
        updates.append(count)
        if script and count == script[0][0]:
            script.pop(0)[1]()
        return learn(agent, optimizer, batch, *others)

    monkeypatch.setattr(ppo, "learn", watched)
    settings = make(ray_ppo.Settings, address=cluster.address)
    with (
        pytest.warns(RuntimeWarning, match="is lost") as warnings,
        pytest.raises(SystemExit, match="75"),
    ):
        ray_ppo.train(settings)
    assert not script
    assert len(warnings) >= 2
    saved = torch.load(RUN / "checkpoint.pt")
    assert saved["progress"]["steps"] == 32 * sum(updates)


def test_a_stopped_actor_is_dropped(cluster, monkeypatch):
    """And a signal ends the training, while nobody answers, too."""
    learn = ppo.learn
    counts = []  # of actors, in each update
    stopped = []

    def stop(process):
        process.suspend()
        stopped.append(process)

    def watched(agent, optimizer, batch, *others):
        counts.append(len(batch.obs) // 32)
        if counts[-1] == 2 and not stopped:
            stop(actors()[0])
        # It was missing in an update, and there is another one.
        elif counts[-2:] == [1, 2]:
            for process in actors():
                stop(process)
            threading.Timer(2, os.kill, [os.getpid(), number]).start()
        return learn(agent, optimizer, batch, *others)

    number = signal.SIGTERM
    monkeypatch.setattr(ppo, "learn", watched)
    settings = make(ray_ppo.Settings, address=cluster.address, patience=10)
    settings.save_every = 1000
    with (
        pytest.warns(RuntimeWarning, match="is lost"),
        pytest.raises(SystemExit, match="75"),
    ):
        ray_ppo.train(settings)
    saved = torch.load(RUN / "checkpoint.pt")
    assert saved["progress"]["steps"] == 32 * sum(counts)
    _, alive = psutil.wait_procs(stopped, timeout=60)
    assert alive == []
