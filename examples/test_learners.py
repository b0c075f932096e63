"""
Tests of `Games` under other people's learners: Stable-Baselines3 and Ray, and
README's snippets for them.

    pip install -r requirements.txt -r page/requirements.txt
    pytest examples/test_learners.py
"""

import copy
import csv
import gc
import multiprocessing
import os
import pathlib
import re
import runpy
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from multiprocessing import resource_tracker

import gymnasium as gym
import numpy as np
import pytest
import torch
from gymnasium.error import ResetNeeded
from gymnasium.vector import AutoresetMode
from stable_baselines3 import DQN, PPO
from stable_baselines3.common.evaluation import evaluate_policy
from stable_baselines3.common.logger import configure
from stable_baselines3.common.monitor import Monitor
from stable_baselines3.common.vec_env import (
    VecMonitor, VecTransposeImage, is_vecenv_wrapped)

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent
sys.path[:0] = [str(ROOT), str(HERE)]

from game import BREAKOUT, Games
from sb3 import GamesVecEnv, main

SEAQUEST = "SeaquestNoFrameskip-v4"  # where each no-op changes the screen
TRAIN = {"on_life_loss": "continue", "noop_max": 30, "fire_on_reset": True,
         "clip_reward": True}
LIMIT = 300  # seconds for another process, on a machine with much to do
torch.set_num_threads(1)  # the games need the other cores


def short(steps=50, env_id=BREAKOUT):
    """The game, cut off after so many steps."""
    spec = copy.deepcopy(gym.spec(env_id))
    spec.kwargs["max_num_frames_per_episode"] = 4 * steps
    return spec


@pytest.fixture(autouse=True)
def nobody_is_left_behind():
    """Every test here ends without a process that it started."""
    yield
    gc.collect()
    left = multiprocessing.active_children()
    for process in left:
        process.kill()
        process.join()
    assert not left


# ---------------------------------------------------------------------------
# Stable-Baselines3
# ---------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["restart", "continue", "ignore"])
def test_what_sb3_is_told_is_what_games_say(mode):
    """Whole games and cut off ones, lives and last observations."""
    options = {**TRAIN, "on_life_loss": mode, "clip_reward": False}
    random, ends = np.random.default_rng(0), set()
    spec = short(40 if mode == "restart" else 140)
    with Games(4, spec, processes=0, **options) as games, \
            Games(4, spec, processes=0, **options) as same:
        env = GamesVecEnv(games)
        assert (env.reset() == same.reset()[0]).all()
        for _ in range(300):
            actions = random.integers(4, size=4)
            env.step_async(actions)
            obs, rewards, dones, infos = env.step_wait()
            right, points, terminated, truncated, more = same.step(actions)
            assert (obs == right).all() and obs.dtype == np.uint8
            assert rewards.dtype == np.float32 and (rewards == points).all()
            assert (dones == terminated | truncated).all()
            for i, info in enumerate(infos):
                if not dones[i]:
                    assert info == {}
                    continue
                last = info.pop("terminal_observation")
                assert (last == more["final_obs"][i]).all()
                cut_off = info.pop("TimeLimit.truncated")
                assert cut_off is bool(truncated[i] and not terminated[i])
                over = "final_info" in more and more["_final_info"][i]
                assert ("episode" in info) == over
                if over:
                    episode = info.pop("episode")
                    final = more["final_info"]
                    assert episode.pop("t") > 0
                    assert episode == {"r": final["reward"][i],
                                       "l": final["length"][i]}
                assert info == {}
                ends.add((cut_off, bool(over)))
    # A game was cut off, a game was over, and a life was lost.
    lives = {(False, False)} if mode == "continue" else set()
    assert ends == {(True, True), (False, True)} | lives


def test_sb3_ppo_learns_and_logs_whole_games(tmp_path):
    """`ep_rew_mean` is the mean of the scores that `Games` told."""
    scores = []
    with Games(4, short(100), processes=0, **TRAIN) as games:
        wait = games.step_wait

        def step_wait():
            result = wait()
            final = result[-1].get("final_info")
            if final:
                ended = result[-1]["_final_info"]
                scores.extend(final["reward"][ended])
            return result

        games.step_wait = step_wait
        env = GamesVecEnv(games)
        model = PPO("CnnPolicy", env, n_steps=64, batch_size=64, n_epochs=1,
                    seed=7, device="cpu")
        # Channels are first already, and nothing is put around the games.
        assert model.env is env
        assert not is_vecenv_wrapped(model.env, VecTransposeImage)
        before = [p.detach().clone() for p in model.policy.parameters()]
        model.set_logger(configure(str(tmp_path), ["csv"]))
        model.learn(3 * 64 * 4, log_interval=1)
    assert model.num_timesteps == 3 * 64 * 4
    after = model.policy.parameters()
    assert any((a != b).any() for a, b in zip(after, before))
    with open(tmp_path / "progress.csv") as file:
        last = list(csv.DictReader(file))[-1]
    assert float(last["train/loss"]) == float(last["train/loss"])
    assert len(scores) >= 4 and sum(scores) > 0
    assert float(last["rollout/ep_rew_mean"]) == pytest.approx(np.mean(scores))


def test_sb3_dqn_stores_what_came_last():
    """Its buffer's next observation is the end of the episode."""
    with Games(1, short(20), processes=0, **TRAIN) as games:
        model = DQN("CnnPolicy", GamesVecEnv(games), buffer_size=200,
                    learning_starts=90, batch_size=8, device="cpu")
        model.learn(100)
    with Games(1, short(20), processes=0, **TRAIN) as games:
        obs, _ = games.reset()
        buffer = model.replay_buffer
        for i in range(100):
            assert (buffer.observations[i] == obs).all()
            obs, _, *over, infos = games.step(buffer.actions[i, 0])
            last = infos["final_obs"][0] if np.any(over) else obs[0]
            assert (buffer.next_observations[i, 0] == last).all()
            assert buffer.timeouts[i, 0] == (over[1] & ~over[0])[0]
    assert buffer.timeouts.any()


def test_a_killed_worker_is_a_truncation_and_sb3_trains_on():
    deaths = []
    with Games(4, processes=2, **TRAIN) as games:
        env = GamesVecEnv(games)
        shown = []

        def on_step(told, _):
            seen, dones, infos = told["new_obs"], told["dones"], told["infos"]
            if told["self"].num_timesteps == 4 * 10:
                multiprocessing.active_children()[0].kill()
            if told["self"].num_timesteps == 4 * 11:
                deaths.append((shown[-1], seen, dones, infos))
            shown.append(seen)
            return True  # go on

        model = PPO("CnnPolicy", env, n_steps=32, batch_size=64, n_epochs=1,
                    device="cpu")
        model.learn(2 * 32 * 4, callback=on_step)
    assert model.num_timesteps == 2 * 32 * 4
    (before, after, dones, infos), = deaths
    assert dones.sum() == 2  # the games of one worker of two
    for i in np.flatnonzero(dones):
        assert infos[i]["TimeLimit.truncated"] is True
        assert "episode" not in infos[i]  # nobody knows the score
        assert (infos[i]["terminal_observation"] == before[i]).all()
        assert (after[i] != before[i]).any()


def test_evaluate_policy_counts_whole_games():
    """Even where lives are episodes; and as SB3's own monitor would."""
    ended = []
    with Games(2, processes=0, **TRAIN) as games:
        env = GamesVecEnv(games)
        model = PPO("CnnPolicy", env, device="cpu", seed=0)

        def note(told, _):
            if "episode" in told["info"]:
                ended.append(told["info"]["episode"])

        scores, lengths = evaluate_policy(
            model, env, n_eval_episodes=2, deterministic=False, callback=note,
            return_episode_rewards=True)
    assert scores == [episode["r"] for episode in ended]
    assert lengths == [episode["l"] for episode in ended]
    assert min(lengths) > 100 and len(scores) == 2
    with Games(2, short(30), processes=0, on_life_loss="ignore") as games:
        with pytest.warns(UserWarning, match="overwritten"):
            env = VecMonitor(GamesVecEnv(games))
        inner = env.venv.step_wait
        told = []
        env.venv.step_wait = lambda: told.append(inner()) or told[-1]
        env.reset()
        for _ in range(70):
            *_, dones, infos = env.step([1, 2])
            for i in np.flatnonzero(dones):
                ours, theirs = told[-1][-1][i]["episode"], infos[i]["episode"]
                assert ours["r"] == theirs["r"] and ours["l"] == theirs["l"]
        assert env.episode_count == 4


def test_seeds_options_and_questions():
    with Games(2, SEAQUEST, processes=0, **TRAIN) as games, \
            Games(2, SEAQUEST, processes=0, seed=50, **TRAIN) as other:
        env, right = GamesVecEnv(games), other.reset()[0]
        assert (env.reset() != right).any()
        assert env.seed(50) == [50, 51]
        assert (env.reset() == right).all()
        # A seed is for one reset; then the random numbers go on.
        assert (env.reset() == other.reset()[0]).all()
        env.set_options({"mode": 1})
        with pytest.raises(ValueError, match="no options"):
            env.reset()
        assert env.reset().shape == (2, 4, 84, 84)

        assert env.render_mode == "rgb_array"
        assert env.get_attr("render_mode") == ["rgb_array"] * 2
        assert env.get_attr("spec", indices=1)[0].id == SEAQUEST
        assert not env.has_attr("lives")
        assert env.env_is_wrapped(Monitor, [0]) == [True]
        assert env.env_is_wrapped(gym.wrappers.TimeLimit) == [False] * 2
        with pytest.raises(NotImplementedError):
            env.set_attr("difficulty", 1)
        with pytest.raises(NotImplementedError):
            env.env_method("lives")
        assert env.render().shape == (420, 160, 3)  # one over the other
        env.close()
        env.close()
        with pytest.raises(gym.error.ClosedEnvironmentError):
            env.reset()


def test_other_autoreset_modes_are_refused():
    mode = AutoresetMode.NEXT_STEP
    with Games(1, processes=0, autoreset_mode=mode) as games:
        with pytest.raises(ValueError, match="SAME_STEP"):
            GamesVecEnv(games)


def test_the_program_trains_and_evaluates(monkeypatch, capsys):
    command = "sb3.py --games 2 --steps 256"
    monkeypatch.setattr(sys, "argv", command.split())
    main()
    output = re.sub(" +", " ", capsys.readouterr().out)
    assert "total_timesteps | 256 " in output
    assert "scores of 2 games: [" in output


# ---------------------------------------------------------------------------
# README's snippets
# ---------------------------------------------------------------------------


def snippet(word, folder):
    """Write README's one Python snippet that has `word` in it to a file."""
    text = (ROOT / "README.md").read_text()
    blocks = re.findall(r"^```python\n(.*?)^```", text, re.M | re.S)
    code, = [block for block in blocks if word in block]
    (folder / "snippet.py").write_text(code)
    return folder / "snippet.py"


def test_the_snippet_for_sb3(tmp_path, capsys):
    path = snippet("stable_baselines3", tmp_path)
    model = runpy.run_path(path, run_name="__main__")["model"]
    assert model.num_timesteps == 1024
    assert "ep_rew_mean" in capsys.readouterr().out


def test_the_snippet_for_dqn(tmp_path):
    """What its buffer holds is what a game plays, step by step."""
    told = runpy.run_path(snippet("deque", tmp_path), run_name="__main__")
    ends, buffer = 0, told["buffer"]
    assert len(buffer) == 1000 and told["target"].shape == (32,)
    with Games(1, processes=0, **TRAIN) as games:
        obs, _ = games.reset()
        for five, action, reward, ended in buffer:
            assert (np.array(five[:4]) == obs[0]).all()
            obs, rewards, terminated, truncated, infos = games.step([action])
            assert reward == rewards[0] and ended == terminated[0]
            done = terminated[0] or truncated[0]
            last = infos["final_obs"][0] if done else obs[0]
            assert (np.array(five[1:]) == last).all()
            ends += done
    assert ends > 5
    kept = {id(picture): picture for five, *_ in buffer for picture in five}
    assert len(kept) == len(buffer) + 4 * (ends + 1)


# ---------------------------------------------------------------------------
# Ray, on a cluster of its own on this machine
#
# Whatever has to do with Ray happens in a process that may take so long and
# no longer. All that Ray starts knows of the folder that it was given, and is
# found by that in the end: no one may be left.
# ---------------------------------------------------------------------------
RETRIES = {"max_restarts": 3, "max_task_retries": 3}


def processes_that_know(folder):
    """The processes that have the folder in their environment."""
    known = []
    for path in pathlib.Path("/proc").glob("[0-9]*/environ"):
        try:
            if folder.encode() in path.read_bytes():
                known.append(int(path.parent.name))
        except OSError:
            pass  # ended meanwhile
    return known


@pytest.fixture
def ray_folder(monkeypatch):
    """A folder for Ray, short since sockets lie in it; and no one left."""
    resource_tracker.ensure_running()  # it stays as long as this process
    folder = tempfile.mkdtemp(prefix="ray")
    monkeypatch.setenv("RAY_TMPDIR", folder)
    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "0")
    monkeypatch.setenv("RAY_AUTH_MODE", "disabled")  # it writes to HOME
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    yield folder
    deadline = time.monotonic() + 30
    while left := processes_that_know(folder):
        if time.monotonic() > deadline:
            break
        time.sleep(0.2)
    for pid in left:
        os.kill(pid, signal.SIGKILL)
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

    ray.init(num_cpus=4, include_dashboard=False, log_to_driver=False,
             logging_level="ERROR", object_store_memory=100 * 2**20)
    try:
        test(ray)
    finally:
        ray.shutdown()


def plain(value):
    """All that is in `value`, to the last bit, to be compared by `==`."""
    if isinstance(value, dict):
        return {key: plain(each) for key, each in value.items()}
    if isinstance(value, tuple | list) or getattr(value, "dtype", 0) == "O":
        return [plain(each) for each in value]
    if isinstance(value, np.ndarray):
        return value.dtype, value.shape, value.tobytes()
    return value


def play(step, seed, steps=100):
    """Play three games at random; return all that came back."""
    actions = np.random.default_rng(seed).integers(4, size=(steps, 3))
    return plain([step(row) for row in actions])


def actors_play_as_at_home_and_come_back(ray):
    """Several at once; with processes of their own, too."""
    ways = [{"processes": 0}, {"processes": 2},
            {"processes": 2, "context": "forkserver"}]
    actor = ray.remote(**RETRIES)(Games)
    actors = [actor.remote(3, short(40), seed=3 * i, **way, **TRAIN)
              for i, way in enumerate(ways)]
    starts = ray.get([each.reset.remote() for each in actors])
    steps = [lambda a, each=each: ray.get(each.step.remote(a))
             for each in actors]
    right = []
    for i, step in enumerate(steps):
        with Games(3, short(40), seed=3 * i, processes=0, **TRAIN) as games:
            assert (starts[i][0] == games.reset()[0]).all()
            right.append(play(games.step, seed=i))
        assert play(step, seed=i) == right[i]
    assert any("final_info" in more for *_, more in right[0])

    # One is killed by Ray, one's process is, and Ray brings both back. They
    # say that they have to be reset, and then play their games once more.
    ray.kill(actors[0], no_restart=False)
    pid = ray.get(actors[1].__ray_call__.remote(lambda games: os.getpid()))
    os.kill(pid, signal.SIGKILL)
    for i in (0, 1):
        with pytest.raises(ResetNeeded):
            while True:  # `ray.kill` doesn't wait until it's done
                steps[i]([0, 0, 0])
        again, _ = ray.get(actors[i].reset.remote())
        assert (again == starts[i][0]).all()
        assert play(steps[i], seed=i) == right[i]
    # The third heard nothing of it.
    assert steps[2]([0, 0, 0])[0].shape == (3, 4, 84, 84)

    # The workers of an actor that was killed don't outlive it for long.
    pids = ray.get(actors[2].__ray_call__.remote(lambda games: [
        worker.process.pid for worker in games._workers.values()]))
    assert len(pids) == 2
    ray.kill(actors[2])
    deadline = time.monotonic() + 30
    while any(pathlib.Path(f"/proc/{pid}").exists() for pid in pids):
        assert time.monotonic() < deadline
        time.sleep(0.1)

    # Restarts alone, without retries, aren't enough.
    other = ray.remote(max_restarts=3)(Games).remote(3, processes=0)
    ray.get(other.reset.remote())
    ray.kill(other, no_restart=False)
    with pytest.raises(ray.exceptions.ActorUnavailableError):
        while True:
            ray.get(other.step.remote([0, 0, 0]))


def test_games_are_ray_actors(ray_folder):
    on_ray(actors_play_as_at_home_and_come_back)


def test_the_snippet_for_ray(ray_folder, tmp_path, monkeypatch):
    """As it stands, and with an actor killed in the middle of it."""
    monkeypatch.delenv("PYTHONPATH")
    path = snippet("import ray", tmp_path)
    shutil.copy(ROOT / "game.py", tmp_path)  # beside it, as for a user
    code = path.read_text()
    call = "        calls = "
    assert code.count(call) == 1
    kill = "        if step == 50: ray.kill(actors[1], no_restart=False)\n"
    path.write_text(code.replace(call, kill + call) + "\n    print(step)\n")
    with open(tmp_path / "output", "w+") as output:
        process = subprocess.Popen(
            [sys.executable, path.name], cwd=tmp_path, stdout=output,
            stderr=subprocess.STDOUT)
        try:
            assert process.wait(LIMIT) == 0, (tmp_path / "output").read_text()
        finally:
            process.kill()
            process.wait()
    lines = (tmp_path / "output").read_text().splitlines()
    assert "99" in lines
