"""Tests of sb3.py: `Games` under Stable-Baselines3."""

import csv
import itertools
import os
import pathlib
import re
import signal
import uuid

import gymnasium as gym
import numpy as np
import pytest

import sb3
from game import Games
from run import RunError
from sb3 import GamesVecEnv

BREAKOUT = "BreakoutNoFrameskip-v4"


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


@pytest.fixture
def run(start, monkeypatch):
    """Run the program in an empty folder; return what it prints."""
    cut_off_after(100, monkeypatch)
    # The limit is known in this process alone.
    options = ["--games=2", "--processes=0", "--device=cpu"]

    def run(*args):
        output = "\n".join(start(sb3.main, *options, *args))
        return re.sub(" +", " ", output)

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
    for start, end in (("from-0", "512"), ("from-512", "768")):
        path = pathlib.Path(folder, start)
        with (path / "progress.csv").open(newline="") as file:
            rows = list(csv.DictReader(file))
        assert rows[-1]["time/total_timesteps"] == end
        assert list(path.glob("events*"))
    output = run("--folder", folder, "--evaluate", "--whole-games=2")
    assert "model_768_steps.zip" in output
    assert re.search(r"mean \S+ \(\d+ to \d+\)", output)
    with pytest.raises(RunError, match="is a run of Breakout"):
        run("PongNoFrameskip-v4", "--folder", folder)


def test_a_damaged_model_is_told_and_the_one_before_is_taken(run):
    """The last has most steps, whatever its time and its name's place."""
    run("--folder=run", "--steps=256", "--keep-every=96")
    os.utime("run/model_96_steps.zip", (2e9, 2e9))
    whole = pathlib.Path("run/model_192_steps.zip").read_bytes()
    pathlib.Path("run/model_256_steps.zip").write_bytes(whole[:5000])
    output = run("--folder=run", "--evaluate", "--whole-games=1")
    assert "model_256_steps.zip can't be read" in output
    assert "model: run/model_192_steps.zip" in output

    # A run that can't go on isn't begun anew.
    for path in pathlib.Path("run").glob("*.zip"):
        path.write_bytes(b"")
    before = models()
    with pytest.raises(RunError, match="no model that can be read"):
        run("--folder=run", "--steps=512")
    assert models() == before


def test_an_interrupted_training_is_saved(run, monkeypatch, number):
    step = GamesVecEnv.step_wait
    count = itertools.count()

    def interrupted(env):
        if next(count) == 10:
            signal.raise_signal(number)
        return step(env)

    monkeypatch.setattr(GamesVecEnv, "step_wait", interrupted)
    with pytest.raises(SystemExit, match="75"):
        run("--folder=run", "--steps=512")
    assert models() == ["model_22_steps.zip"]


def test_a_folder_is_of_one_program(run, monkeypatch):
    """Another's models are left alone, and what a kill has left goes."""
    run("--folder=run", "--steps=256")
    left = pathlib.Path(f"run/model_32_steps.zip-{uuid.uuid4()}")
    left.touch()
    step = GamesVecEnv.step_wait

    def beside(env):
        pathlib.Path("run/model_24_steps.zip").touch()
        return step(env)

    monkeypatch.setattr(GamesVecEnv, "step_wait", beside)
    with pytest.raises(RunError, match="another program"):
        run("--folder=run", "--steps=512")
    assert not left.exists()
    assert models() == ["model_24_steps.zip", "model_256_steps.zip"]


@pytest.mark.parametrize("command", [f"--seed={2**32}", "Brekout"])
def test_what_cannot_be_taken_is_a_line(run, command):
    with pytest.raises(RunError, match="can't begin"):
        run(command)
