"""Tests of sb3.py: `Games` under Stable-Baselines3."""

import csv
import errno
import itertools
import multiprocessing
import os
import pathlib
import re
import signal
import sys
import threading
import zipfile

import gymnasium as gym
import numpy as np
import pytest
from stable_baselines3.common.evaluation import evaluate_policy

import sb3
from game import Games
from sb3 import GamesVecEnv

BREAKOUT = "BreakoutNoFrameskip-v4"
HERE = dict(noop_max=0, processes=0)


def cut_off_after(steps, monkeypatch):
    """Make games of Breakout as short as that."""
    limit = "max_num_frames_per_episode"
    monkeypatch.setitem(gym.spec(BREAKOUT).kwargs, limit, 4 * steps)


def test_what_sb3_is_told_is_what_games_say(monkeypatch):
    """Whole games and cut off ones, lives and last observations."""
    cut_off_after(140, monkeypatch)
    options = dict(clip_reward=False, processes=0)
    env = GamesVecEnv(Games(4, **options))
    same = Games(4, seed=50, **options)
    env.seed(50)
    assert (env.reset() == same.reset()[0]).all()
    ends = set()
    for actions in np.random.default_rng(0).integers(4, size=(300, 4)):
        obs, rewards, dones, infos = env.step(actions)
        right, points, terminated, truncated, more = same.step(actions)
        assert (obs == right).all() and obs.dtype == np.uint8
        assert (rewards == points).all() and rewards.dtype == np.float32
        assert (dones == terminated | truncated).all()
        for i in np.flatnonzero(dones):
            last = infos[i].pop("terminal_observation")
            assert (last == more["final_obs"][i]).all()
            cut_off = infos[i].pop("TimeLimit.truncated")
            assert cut_off is bool(truncated[i] and not terminated[i])
            over = more.get("_episode", np.zeros(4, bool))[i]
            if over:
                whole = {key: more["episode"][key][i] for key in "rl"}
                assert infos[i].pop("episode") == whole
            ends.add((cut_off, bool(over)))
        assert infos == [{}] * 4
    # A game was cut off, a game was over, and a life was lost.
    assert ends == {(True, True), (False, True), (False, False)}


def test_a_killed_worker_is_told_and_is_a_truncation():
    with Games(4, processes=2) as games:
        env = GamesVecEnv(games)
        env.reset()
        before = env.step([2] * 4)[0]
        multiprocessing.active_children()[0].kill()
        with pytest.warns(RuntimeWarning, match="SIGKILL") as warnings:
            _, _, dones, infos = env.step([2] * 4)
    assert warnings[0].filename == sb3.__file__
    assert dones.sum() == 2  # the games of one worker of two
    for i in np.flatnonzero(dones):
        last = infos[i].pop("terminal_observation")
        assert (last == before[i]).all()
        # Nobody knows the score.
        assert infos[i] == {"TimeLimit.truncated": True}


@pytest.fixture
def run(monkeypatch, tmp_path, capsys):
    """Run the program in an empty folder; return what it prints."""
    cut_off_after(100, monkeypatch)
    monkeypatch.chdir(tmp_path)

    def run(*args, rc=0):
        # The limit is known in this process alone.
        options = ["--games=2", "--processes=0", "--device=cpu"]
        monkeypatch.setattr(sys, "argv", ["sb3.py", *options, *args])
        ended = 0
        try:
            sb3.main()
        except SystemExit as error:
            ended = error.code
        assert ended == rc
        return re.sub(" +", " ", "".join(capsys.readouterr()))

    return run


def models(folder="run"):
    return sorted(path.name for path in pathlib.Path(folder).glob("*.zip*"))


def test_one_command_begins_a_run_and_goes_on(run):
    """Also in a folder whose name could be a pattern."""
    folder = "run [!a]"
    output = run("--folder", folder, "--steps=512", "--keep-every=300")
    assert "total_timesteps | 512 " in output
    # The limit counts each FIRE, too, so that a game has a few steps less than
    # 100; a life has about 25.
    assert float(re.search(r"ep_len_mean \| (\S+)", output)[1]) > 90
    assert models(folder) == ["model_300_steps.zip", "model_512_steps.zip"]
    output = run("--folder", folder, "--steps=768")
    assert "total_timesteps | 768 " in output
    assert "model_768_steps.zip" in models(folder)
    for start, end in (("from-0", "512"), ("from-512", "768")):
        path = pathlib.Path(folder, start)
        with (path / "progress.csv").open(newline="") as file:
            rows = list(csv.DictReader(file))
        assert rows[-1]["time/total_timesteps"] == end
        assert list(path.glob("events*"))
    output = run("--folder", folder, "--evaluate", "--whole-games=2")
    assert "model_768_steps.zip" in output
    assert re.search(r"mean \S+ \(\d+ to \d+\)", output)


def test_without_a_folder_each_run_gets_a_new_one(run):
    for _ in range(2):
        run("--steps=256")
    assert len(list(sb3.RUNS.iterdir())) == 2


def test_the_last_model_has_most_steps(run):
    """Whatever its time, and however its name is sorted."""
    run("--folder=run", "--steps=256", "--keep-every=96")
    assert models()[-1] == "model_96_steps.zip"
    os.utime("run/model_96_steps.zip", (2e9, 2e9))
    assert "model_256" in run("--folder=run", "--evaluate", "--whole-games=1")


def test_a_damaged_model_is_told_and_the_one_before_is_taken(run):
    run("--folder=run", "--steps=256", "--keep-every=96")
    whole = pathlib.Path("run/model_192_steps.zip")
    damaged = pathlib.Path("run/model_256_steps.zip")
    with zipfile.ZipFile(damaged, "w") as file:
        file.writestr("data", "{}")
    pathlib.Path("run/model_300_steps.zip").touch()
    broken = bytearray(whole.read_bytes())
    broken[len(broken) // 2] ^= 255
    pathlib.Path("run/model_400_steps.zip").write_bytes(broken)
    # what a killed program leaves
    pathlib.Path("run/model_500_steps.zip.1").write_bytes(b"PK")

    output = run("--folder=run", "--evaluate", "--whole-games=1")
    for steps in (256, 300, 400):
        assert f"model_{steps}_steps.zip can't be read" in output
    assert "model: run/model_192_steps.zip" in output
    run("--folder=run", "--steps=400")
    assert pathlib.Path("run/from-192").exists()

    # A run that can't go on isn't begun anew.
    for path in pathlib.Path("run").glob("*.zip"):
        path.write_bytes(b"")
    before = models()
    run("--folder=run", "--steps=512", rc=2)
    assert models() == before


def test_a_full_disk_leaves_the_models_before(run, monkeypatch):
    save = sb3.PPO.save

    def full(model, path):
        if model.num_timesteps > 200:
            path.write_bytes(b"PK")
            raise OSError(errno.ENOSPC, "No space left on device")
        save(model, path)

    monkeypatch.setattr(sb3.PPO, "save", full)
    run("--folder=run", "--steps=512", "--keep-every=200", rc=2)
    assert models() == ["model_200_steps.zip"]


def test_misuse_is_one_line(run, tmp_path):
    run("--folder=run", "--steps=256")
    pathlib.Path("file").touch()
    for args in (
        ["PongNoFrameskip-v4", "--folder=run"],  # another title's
        ["--folder=file"],
        ["--folder=nothing", "--evaluate"],
        ["--evaluate"],
    ):
        lines = run(*args, rc=2).strip().splitlines()
        assert len(lines) == 1 and lines[0].startswith("sb3.py: ")


def test_sb3_evaluates_whole_games(monkeypatch):
    cut_off_after(100, monkeypatch)
    with Games(2, **HERE) as games:
        env = GamesVecEnv(games)
        model = sb3.PPO("CnnPolicy", env, **sb3.ATARI, seed=0)
        _, lengths = evaluate_policy(
            model, env, 2, return_episode_rewards=True
        )
    assert len(lengths) == 2
    assert min(lengths) > 90


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_training_is_saved(run, monkeypatch, number):
    step = GamesVecEnv.step_wait
    count = itertools.count()

    def interrupted(env):
        if next(count) == 10:
            signal.raise_signal(number)
        return step(env)

    monkeypatch.setattr(GamesVecEnv, "step_wait", interrupted)
    run("--folder=run", "--steps=512")
    assert models() == ["model_22_steps.zip"]


def test_it_trains_in_a_thread(tmp_path):
    settings = sb3.Settings(
        folder=tmp_path, steps=256, games=2, processes=0, device="cpu"
    )
    thread = threading.Thread(target=sb3.train, args=[settings])
    thread.start()
    thread.join()
    assert models(tmp_path) == ["model_256_steps.zip"]
