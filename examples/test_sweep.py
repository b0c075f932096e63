"""Tests of a sweep, as docs/sweep.md has it, and of its scores."""

import json
import os
import pathlib
import signal
import subprocess
import sys

import gymnasium as gym
import numpy as np
import pytest
import torch

import ppo
import scores

TINY = (
    "--games 2 --rollout 16 --minibatch 16 --epochs 1 --device cpu "
    "--threads 1 --processes 1 --save-every 1 --no-bfloat16 --steps"
)
RUNS = [("Pong", 0), ("Pong", 8), ("Breakout", 0), ("Breakout", 8)]
RUNS += [("Breakout", 16)]


def start(folder, title, seed, steps):
    """Start a run in a group of processes, as batch systems do."""
    command = f"ALE/{title}-v5 --seed {seed} --folder sweep/{title}-{seed}"
    command = [sys.executable, ppo.__file__, *command.split(), *TINY.split()]
    return subprocess.Popen(
        [*command, str(steps)],
        stdout=subprocess.PIPE,
        text=True,
        cwd=folder,
        start_new_session=True,
    )


def wait_for_update(program):
    while "steps/s" not in program.stdout.readline():
        assert program.poll() is None


def test_five_runs_of_two_titles_are_preempted_and_go_on(tmp_path):
    """Groups are asked to end or killed; the same commands finish the runs."""
    preempted = [(signal.SIGTERM, 75), (signal.SIGKILL, -signal.SIGKILL)]
    for number, code in preempted:
        programs = [start(tmp_path, *run, steps=10**6) for run in RUNS[:3]]
        for program in programs:
            wait_for_update(program)
            os.killpg(program.pid, number)
        for program in programs:
            # It returns when no process of the group can print any more.
            program.communicate(timeout=600)
            assert program.returncode == code
    reached = {}
    for title, seed in RUNS:
        path = tmp_path / f"sweep/{title}-{seed}/checkpoint.pt"
        if path.exists():
            reached[title, seed] = torch.load(path)["progress"]["steps"]
    assert len(reached) == 3
    steps = max(reached.values()) + 32
    programs = [start(tmp_path, *run, steps=steps) for run in RUNS]
    for program in programs:
        program.communicate(timeout=600)
        assert program.returncode == 0
    found = subprocess.run(
        [sys.executable, scores.__file__, "sweep"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    # No game has ended so soon.
    assert found.stdout.count("not finished") == 5
    assert found.stderr == "no run is finished\n"


def make_run(folder, title, seed, score, precision="float32"):
    """Make what a run leaves behind."""
    path = folder / title / str(seed)
    path.mkdir(parents=True)
    about = {"precision": precision}
    settings = dict(env_id=title, seed=seed, steps=20, about=about)
    (path / "settings.json").write_text(json.dumps(settings))
    (path / "curve.csv").write_text(f"steps,score\n10,\n20,{score}\n")


def test_scores_are_normalized_and_the_middle_half_counts(
    tmp_path, capsys, monkeypatch
):
    for seed, score in enumerate((1.7, 30.5, 59.3, 1000)):
        make_run(tmp_path, "BreakoutNoFrameskip-v4", seed, score)
    make_run(tmp_path, "ALE/Pong-v5", 0, 14.6, "bfloat16")
    shares = scores.normalized(tmp_path)
    assert shares["Breakout"][:3] == pytest.approx([0, 1, 2])
    assert shares["Pong"] == [1]
    assert "differ in precision: bfloat16 float32" in capsys.readouterr().out
    monkeypatch.setattr(sys, "argv", ["scores.py", str(tmp_path)])
    scores.main()
    # 0, 1, 1, 2 and the largest, without the first and the last
    assert "interquartile mean 1.333 (" in capsys.readouterr().out
    assert scores.middle_mean(np.arange(8.0)) == np.arange(2, 6).mean()


def test_each_title_of_the_table_is_one_of_ale():
    titles = [row["title"] for row in scores.read(scores.HUMAN)]
    assert len(titles) == 57
    assert all(f"ALE/{title}-v5" in gym.registry for title in titles)
    names = {f"{title}NoFrameskip-v4" for title in titles}
    assert names - gym.registry.keys() == {"SurroundNoFrameskip-v4"}


def test_the_batch_script_names_each_run_once(tmp_path):
    """It is run with a program that only prints, and a stand-in for Slurm."""
    text = pathlib.Path(__file__).parents[1].joinpath("docs/sweep.md")
    script = text.read_text("utf-8").split("```bash\n")[1].split("```")[0]
    (tmp_path / "srun").write_text('#!/bin/sh\necho "$@"\nexit $CODE\n')
    (tmp_path / "scontrol").write_text('#!/bin/sh\necho "$@"\n')
    for name in ("srun", "scontrol"):
        (tmp_path / name).chmod(0o755)
    said = {}
    for task, code in ((0, 0), (1, 75), (284, 2)):
        here = {"SLURM_ARRAY_TASK_ID": str(task), "CODE": str(code)}
        here |= {"SLURM_ARRAY_JOB_ID": "7"}
        here["PATH"] = f"{tmp_path}:{os.environ['PATH']}"
        found = subprocess.run(
            ["bash", "-c", script],
            cwd=pathlib.Path(__file__).parents[1],
            env=os.environ | here,
            capture_output=True,
            text=True,
        )
        assert found.returncode == code
        said[task] = found.stdout
    assert "ALE/Alien-v5 --seed 0 " in said[0]
    assert "ALE/Alien-v5 --seed 8 " in said[1]
    assert "ALE/Zaxxon-v5 --seed 32 " in said[284]
    assert "requeue 7_1" in said[1]
    assert "requeue" not in said[0] + said[284]
