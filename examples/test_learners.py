"""Tests of the small programs, and of `Games` under other people's learners.

    pip install -r requirements.txt -r page/requirements.txt
    pytest examples/test_learners.py

DQN's memory, two in turn, README's programs: half a minute. Stable-Baselines3
and Ray: two minutes.
"""

import copy
import csv
import gc
import multiprocessing
import os
import pathlib
import re
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
    VecMonitor,
    VecTransposeImage,
    is_vecenv_wrapped,
)

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent
sys.path.insert(0, str(ROOT))
sys.path.insert(0, str(HERE))
import dqn  # noqa: E402
import ray_actors  # noqa: E402
import sb3  # noqa: E402
from game import Games  # noqa: E402
from sb3 import GamesVecEnv  # noqa: E402

BREAKOUT = "BreakoutNoFrameskip-v4"
SEAQUEST = "SeaquestNoFrameskip-v4"  # where each no-op changes the screen
TRAIN = {
    "on_life_loss": "continue",
    "noop_max": 30,
    "fire_on_reset": True,
    "clip_reward": True,
}
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
    with (
        Games(4, spec, processes=0, **options) as games,
        Games(4, spec, processes=0, **options) as same,
    ):
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
                    assert episode == {
                        "r": final["reward"][i],
                        "l": final["length"][i],
                    }
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
        model = PPO(
            "CnnPolicy",
            env,
            n_steps=64,
            batch_size=64,
            n_epochs=1,
            seed=7,
            device="cpu",
        )
        # Channels are first already, and nothing is put around the games.
        assert model.env is env
        assert not is_vecenv_wrapped(model.env, VecTransposeImage)
        before = [p.detach().clone() for p in model.policy.parameters()]
        model.set_logger(configure(str(tmp_path), ["csv"]))
        model.learn(3 * 64 * 4, log_interval=1)
    assert model.num_timesteps == 3 * 64 * 4
    after = model.policy.parameters()
    pairs = zip(after, before, strict=True)
    assert any((a != b).any() for a, b in pairs)
    with open(tmp_path / "progress.csv") as file:
        last = list(csv.DictReader(file))[-1]
    assert float(last["train/loss"]) == float(last["train/loss"])
    assert len(scores) >= 4 and sum(scores) > 0
    assert float(last["rollout/ep_rew_mean"]) == pytest.approx(np.mean(scores))


def test_sb3_dqn_stores_what_came_last():
    """Its buffer's next observation is the end of the episode."""
    with Games(1, short(20), processes=0, **TRAIN) as games:
        model = DQN(
            "CnnPolicy",
            GamesVecEnv(games),
            buffer_size=200,
            learning_starts=90,
            batch_size=8,
            device="cpu",
        )
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

        model = PPO(
            "CnnPolicy",
            env,
            n_steps=32,
            batch_size=64,
            n_epochs=1,
            device="cpu",
        )
        model.learn(2 * 32 * 4, callback=on_step)
    assert model.num_timesteps == 2 * 32 * 4
    ((before, after, dones, infos),) = deaths
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
            model,
            env,
            n_eval_episodes=2,
            deterministic=False,
            callback=note,
            return_episode_rewards=True,
        )
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
    with (
        Games(2, SEAQUEST, processes=0, **TRAIN) as games,
        Games(2, SEAQUEST, processes=0, seed=50, **TRAIN) as other,
    ):
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
    with (
        Games(1, processes=0, autoreset_mode=mode) as games,
        pytest.raises(ValueError, match="SAME_STEP"),
    ):
        GamesVecEnv(games)


def test_the_program_trains_and_evaluates(monkeypatch, capsys):
    command = "sb3.py --games 2 --steps 256"
    monkeypatch.setattr(sys, "argv", command.split())
    sb3.main()
    output = re.sub(" +", " ", capsys.readouterr().out)
    assert "total_timesteps | 256 " in output
    assert "scores of 2 games: [" in output


# ---------------------------------------------------------------------------
# DQN
# ---------------------------------------------------------------------------


def test_dqn_remembers_what_was_played_and_each_frame_once(monkeypatch):
    """What its memory holds is what a game plays, step by step."""
    memories = []

    class Kept(dqn.Memory):
        def __init__(self, capacity):
            super().__init__(capacity)
            memories.append(self)

    monkeypatch.setattr(dqn, "Memory", Kept)
    command = "dqn.py --steps 600 --memory 1000 --learning-starts 590"
    monkeypatch.setattr(sys, "argv", [*command.split(), "--device", "cpu"])
    dqn.main()
    (memory,) = memories
    assert len(memory.steps) == 600
    ends = 0
    with Games(1, processes=0, **TRAIN) as games:
        obs, _ = games.reset()
        for five, action, reward, ended in memory.steps:
            assert (np.array(five[:4]) == obs[0]).all()
            obs, rewards, terminated, truncated, infos = games.step([action])
            assert reward == rewards[0]
            assert ended == terminated[0]
            done = terminated[0] or truncated[0]
            last = infos["final_obs"][0] if done else obs[0]
            assert (np.array(five[1:]) == last).all()
            ends += done
    assert ends > 5
    kept = {id(frame) for five, *_ in memory.steps for frame in five}
    # Four more at the start of each episode; one that has only begun has
    # none in the memory yet.
    assert len(kept) in (600 + 4 * ends, 600 + 4 * (ends + 1))


def test_dqn_forgets_the_oldest():
    memory = dqn.Memory(3)
    memory.start(np.zeros((4, 84, 84), np.uint8))
    for number in range(5):
        after = np.full((4, 84, 84), number, np.uint8)
        memory.add(number, float(number), False, after)
    assert sorted(action for _, action, _, _ in memory.steps) == [2, 3, 4]
    frames, actions, rewards, terminated = memory.sample(8)
    assert frames.shape == (8, 5, 84, 84)
    assert frames.dtype == torch.uint8
    # The newest frame is the one that the step led to.
    assert (frames[:, 4, 0, 0] == actions).all()
    assert (rewards == actions).all()
    assert not terminated.any()


def test_dqn_learns_towards_reward_and_what_follows(monkeypatch):
    """Worked out by hand: 1 + 0.5 * 3 where the episode goes on, else 1."""
    monkeypatch.setattr(dqn, "GAMMA", 0.5)
    monkeypatch.setattr(dqn, "BATCH", 2)
    errors = []

    class Network(torch.nn.Sequential):
        def forward(self, obs):
            # the mean brightness of the newest frame, for both actions
            newest = obs[:, -1].mean((1, 2)) * 255
            return self[0].weight * newest[:, None]

    def network(scale):
        layer = torch.nn.Linear(1, 2, bias=False)
        torch.nn.init.constant_(layer.weight, scale)
        layer.weight = torch.nn.Parameter(layer.weight.T)
        return Network(layer)

    class Memory:
        def sample(self, count):
            frames = torch.zeros((2, 5, 84, 84), dtype=torch.uint8)
            frames[:, 3] = 2  # what was seen: worth 2
            frames[:, 4] = 3  # what followed
            ended = torch.tensor([False, True])
            return frames, torch.tensor([0, 1]), torch.ones(2), ended

    def loss(expected, worth):
        errors.append((expected.tolist(), worth.tolist()))
        return (expected - worth).pow(2).mean()

    monkeypatch.setattr(torch.nn.functional, "smooth_l1_loss", loss)
    own, target = network(1.0), network(1.0)
    optimizer = torch.optim.SGD(own.parameters(), 0.1)
    dqn.learn(own, target, optimizer, Memory())
    expected, worth = errors[0]
    assert expected == pytest.approx([2, 2], rel=1e-4)
    assert worth == pytest.approx([1 + 0.5 * 3, 1], rel=1e-4)


# ---------------------------------------------------------------------------
# The programs, as they are started
# ---------------------------------------------------------------------------


def start(folder, *command):
    """Run a program in a folder; return its exit code and what it said."""
    result = subprocess.run(
        [sys.executable, *map(str, command)],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=LIMIT,
    )
    return result.returncode, result.stdout, result.stderr


def test_two_in_turn(tmp_path):
    code, out, _ = start(tmp_path, HERE / "in_turn.py", "--seconds", "0.3")
    assert code == 0
    assert re.fullmatch(
        r"one in lockstep: [\d,]+ steps/s\ntwo in turn: [\d,]+ steps/s\n", out
    )


PROGRAMS = ["dqn.py", "in_turn.py", "ppo.py", "ray_actors.py", "sb3.py"]


@pytest.mark.parametrize("program", PROGRAMS)
def test_help_and_a_bad_id(tmp_path, program):
    code, out, _ = start(tmp_path, HERE / program, "--help")
    assert code == 0
    assert f"examples/{program}" in out
    code, _, err = start(tmp_path, HERE / program, "Foo-v1")
    assert code == 2
    assert err == f"{program}: Environment `Foo` doesn't exist.\n"
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("program", [*PROGRAMS, "labml_ppo.py"])
def test_a_missing_package_is_one_line(tmp_path, program):
    """Whatever is missing, the line names the file to install from."""
    (tmp_path / "gymnasium.py").write_text("import there_is_no_such_thing")
    (tmp_path / "game.py").write_text("import gymnasium")
    (tmp_path / "torch.py").write_text("import there_is_no_such_thing")
    result = subprocess.run(
        [sys.executable, str(HERE / program)],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=LIMIT,
    )
    assert result.returncode == 1
    assert result.stderr.count("\n") == 1
    assert "there_is_no_such_thing" in result.stderr
    files = re.findall(r"-r (\S+\.txt)", result.stderr)
    assert all((ROOT / file).exists() for file in files)
    assert files[0] == "requirements.txt"


# ---------------------------------------------------------------------------
# README's programs
# ---------------------------------------------------------------------------


def snippets():
    """README's Python programs, each under its first line of note."""
    text = (ROOT / "README.md").read_text()
    return re.findall(r"^```python\n(.*?)^```", text, re.M | re.S)


@pytest.mark.parametrize("number", range(len(snippets())))
def test_a_program_of_readme(tmp_path, number, request):
    """It runs as it stands, from any folder, and prints something."""
    code = snippets()[number]
    if "import ray" in code:
        request.getfixturevalue("ray_folder")
    (tmp_path / "snippet.py").write_text(code)
    code, out, err = start(tmp_path, "snippet.py")
    assert code == 0, err
    assert out
    assert "Traceback" not in err


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

    ray.init(
        num_cpus=4,
        include_dashboard=False,
        log_to_driver=False,
        logging_level="ERROR",
        object_store_memory=100 * 2**20,
    )
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
    ways = [
        {"processes": 0},
        {"processes": 2},
        {"processes": 2, "context": "forkserver"},
    ]
    actor = ray.remote(**RETRIES)(Games)
    actors = [
        actor.remote(3, short(40), seed=3 * i, **way, **TRAIN)
        for i, way in enumerate(ways)
    ]
    starts = ray.get([each.reset.remote() for each in actors])
    steps = [
        lambda a, each=each: ray.get(each.step.remote(a)) for each in actors
    ]
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
    pids = ray.get(
        actors[2].__ray_call__.remote(
            lambda games: [
                process.pid for process in multiprocessing.active_children()
            ]
        )
    )
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


def an_actor_dies_and_its_games_go_on(ray):
    """ray_actors.py, with a worker of Ray's killed in the middle of it."""
    choose = ray_actors.choose
    killed = []

    def choose_and_kill(obs):
        killed.append(None)
        if len(killed) == 20:
            folder = os.environ["RAY_TMPDIR"]
            for pid in processes_that_know(folder):
                name = pathlib.Path(f"/proc/{pid}/cmdline").read_bytes()
                if b"ray::Games" in name:
                    os.kill(pid, signal.SIGKILL)
                    killed[-1] = pid
                    break
        return choose(obs)

    ray_actors.choose = choose_and_kill
    args = ray_actors.argparse.Namespace(
        env_id=short(40), games=2, actors=2, steps=100
    )
    scores = ray_actors.play(args)
    assert killed[19]
    assert len(killed) == 200  # two choices a step
    assert len(scores) > 2


def test_ray_actors_outlive_a_kill(ray_folder):
    on_ray(an_actor_dies_and_its_games_go_on)


def test_ray_actors_from_any_folder(ray_folder, tmp_path, monkeypatch):
    """The module goes along with the program: nothing else knows of it."""
    monkeypatch.delenv("PYTHONPATH")
    result = subprocess.run(
        [sys.executable, str(HERE / "ray_actors.py"), "--steps", "20"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=LIMIT,
    )
    assert result.returncode == 0, result.stderr
    assert result.stdout.startswith("320 steps of 2 actors, ")
