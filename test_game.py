"""
The proof that `game.py` does what it says, from outside, as a user meets it.

    pip install -r requirements.txt && python -m pytest test_game.py

That plays real titles, the first six of `TITLES`, and everything else on an
emulator whose frames are known, so that what is right is worked out by hand.
With `GAME_TESTS=all` in the environment it plays all 104 titles, and tries
fifty times as many orders of calls.

Helpers stand in front, then a class for each part, which can be run alone:
`python -m pytest test_game.py -k TestEpisode`. What a test needs of the system
stands above it, such as `needs_fork`; elsewhere it is skipped.
"""

import collections
import contextlib
import copy
import functools
import gc
import inspect
import itertools
import math
import multiprocessing
import os
import pathlib
import pickle
import re
import runpy
import signal
import subprocess
import sys
import time
import traceback
import types

import ale_py
import cv2
import gymnasium as gym
import hypothesis
import hypothesis.stateful
import numpy as np
import pytest
from gymnasium.vector import AsyncVectorEnv, AutoresetMode
from gymnasium.wrappers import AtariPreprocessing, FrameStackObservation
from hypothesis import strategies

import game
from game import BREAKOUT, NO_SNAPSHOT, Game, Games, Worker

MODULE = pathlib.Path(game.__file__).resolve()
ALL = os.environ.get("GAME_TESTS") == "all"
PATIENCE = 300  # seconds, after which a program counts as hanging

SAME_STEP, NEXT_STEP = AutoresetMode.SAME_STEP, AutoresetMode.NEXT_STEP
MODES = ["restart", "continue", "ignore"]
NOOP, FIRE, RIGHT = 0, 1, 2  # actions of Breakout and of the fake emulator
REFUSED = ValueError, TypeError  # how bad input is answered
# Where each no-op changes the screen, and thus each seed the start.
SEAQUEST = "SeaquestNoFrameskip-v4"

# All titles; in front are some with and without lives, snapshots and gray of
# their own, and one of 250 rows.
FIRST = ["breakout", "pong", "qbert", "air_raid", "seaquest", "carnival"]
TITLES = {
    spec.kwargs["game"]: spec
    for spec in gym.registry.values()
    if re.fullmatch(r"ALE/.*-v5", spec.id)
}
PLAYED = list(TITLES) if ALL else FIRST

START_METHODS = [
    method
    for method in ("fork", "spawn", "forkserver")
    if method in multiprocessing.get_all_start_methods()
]
each_start_method = pytest.mark.parametrize("method", START_METHODS)
both_modes = pytest.mark.parametrize("mode", [SAME_STEP, NEXT_STEP])
here_and_there = pytest.mark.parametrize("processes", [0, 2])

needs_fork = pytest.mark.skipif(
    "fork" not in START_METHODS, reason="needs fork"
)
needs_signals = pytest.mark.skipif(
    not hasattr(signal, "SIGKILL"), reason="needs the signals of POSIX"
)
needs_proc = pytest.mark.skipif(
    not pathlib.Path("/proc/self/stat").exists(), reason="needs /proc"
)
needs_batch_jobs = pytest.mark.skipif(
    not hasattr(os, "SCHED_BATCH"), reason="needs the scheduler of Linux"
)


# --- An emulator whose frames are known -----------------------------------
#
# Frame n of a game lights one band of the dark screen, ten rows high, with a
# brightness of its own. Ten rows of 210 become exactly four rows of 84, so
# what an agent must see needs no arithmetic, and `seen` reads off an
# observation which frames are in it.
BANDS = 21
START = [(0,)] * 4  # what is seen right after a reset


def screen_of(frame):
    """Return frame number `frame` as the console shows it, (210, 160)."""
    screen = np.zeros((210, 160), np.uint8)
    band = frame % BANDS
    screen[10 * band : 10 * band + 10] = 200 - frame
    return screen


def seen(observation):
    """Return which frames are in each of an observation's four pictures."""
    assert observation.shape == (4, 84, 84)
    assert observation.dtype == np.uint8
    pictures = []
    for picture in observation:
        lit = sorted(200 - int(value) for value in set(picture[:, 0]) if value)
        expected = np.zeros((84, 84), np.uint8)
        for frame in lit:
            band = frame % BANDS
            expected[4 * band : 4 * band + 4] = 200 - frame
        np.testing.assert_array_equal(picture, expected)
        pictures.append(tuple(lit))
    return pictures


class FakeALE:
    """The part of ALE's interface that matters, after a script.

    `lives` are given by frame number and `rewards` by frame number or by the
    action's name; `over` is the frame in which a game is lost, and `limit` the
    one after which it is cut short. `draw` are screens that aren't those of
    `screen_of`, and `boot` is the number that the emulator gives to the first
    frame: 0 in most real titles, up to 134 in sixteen. `ghost` is called with
    the game's last seed whenever the emulator is used.
    """

    def __init__(
        self,
        lives=None,
        rewards=None,
        over=math.inf,
        limit=math.inf,
        sticky=0.0,
        draw=None,
        boot=0,
        ghost=lambda seed: None,
    ):
        self._lives = lives or {0: 5}
        self._rewards = rewards or {}
        self._over = over
        self._limit = limit
        self._sticky = sticky
        self._draw = draw or {}
        self._boot = boot
        self._ghost = ghost
        self.seed = None
        self.played = []  # what was played and done, in its order
        self.frame = 0
        self._show()

    def _show(self):
        self._screen = self._draw.get(self.frame, screen_of(self.frame))

    def reset_game(self):
        self._ghost(self.seed)
        self.played.append("reset")
        self.frame = 0
        self._show()

    # As ALE's own, a restored state is not drawn before the next frame.
    def restoreState(self, state):
        self._ghost(self.seed)
        self.played.append("restore")
        self.frame = state

    def cloneState(self, include_rng=False):
        return self.frame

    def act(self, action, strength=1.0):
        if self.game_over():  # as ALE: nothing moves any more
            return 0
        self._ghost(self.seed)
        name = ale_py.Action(action).name
        self.played.append(name)
        self.frame += 1
        self._show()
        return self._rewards.get(self.frame, 0) + self._rewards.get(name, 0)

    def lives(self):
        return self._lives[max(n for n in self._lives if n <= self.frame)]

    def game_over(self, with_truncation=True):
        if with_truncation and self.game_truncated():
            return True
        return self.frame >= self._over

    def game_truncated(self):
        return self.frame >= self._limit

    def getEpisodeFrameNumber(self):
        return self._boot + self.frame

    def getFloat(self, key):
        assert key == "repeat_action_probability"
        return self._sticky

    def getScreenDims(self):
        return 210, 160

    def getScreenGrayscale(self, buffer=None):
        buffer = np.empty_like(self._screen) if buffer is None else buffer
        buffer[:] = self._screen
        return buffer

    def getScreenRGB(self, buffer=None):
        self._ghost(self.seed)
        screen = np.dstack([self._screen] * 3)
        if buffer is None:
            return screen
        buffer[:] = screen
        return buffer


class FakeEnv(gym.Env):
    """The Gymnasium environment around such an emulator."""

    observation_space = gym.spaces.Box(0, 255, (210, 160, 3), np.uint8)
    _frameskip = 1

    def __init__(
        self, name="fake", meanings=("NOOP", "FIRE", "RIGHT"), **script
    ):
        self.ale = FakeALE(**script)
        self._meanings = list(meanings)
        self.action_space = gym.spaces.Discrete(len(meanings))
        self.spec = gym.envs.registration.EnvSpec(
            "FakeNoFrameskip-v4", "fake:Env", kwargs={"game": name}
        )

    def get_action_meanings(self):
        return self._meanings

    def seed_game(self, seed=None):
        super().reset(seed=seed)
        self.ale.seed = seed

    def reset(self, *, seed=None, options=None):
        if seed is not None:
            self.seed_game(seed)
        self.ale.reset_game()
        return self.ale.getScreenRGB(), {}

    def step(self, action):
        meaning = self._meanings[action]
        reward = self.ale.act(getattr(ale_py.Action, meaning))
        over = self.ale.game_over(False)
        return (
            self.ale.getScreenRGB(),
            reward,
            over,
            self.ale.game_truncated(),
            {},
        )

    def clone_state(self, include_rng=False):
        return self.ale.cloneState()

    def restore_state(self, state):
        self.ale.restoreState(state)


# --- What goes wrong inside an emulator ------------------------------------


class Unsendable(Exception):
    """An error that can't be pickled."""

    def __reduce__(self):
        raise pickle.PicklingError("this has a lock in it")


class Unreadable(Exception):
    """An error that is pickled, and can't be put together again."""

    def __init__(self, one, other):
        super().__init__(one)


def crash():
    """Have the bug that every program has."""
    raise ZeroDivisionError("a bug in the middle of a step")


def unsendable():
    raise Unsendable("an odd error")


def unreadable():
    raise Unreadable("odd", "error")


def interrupt():
    """Press Ctrl-C in the test's own process."""
    if multiprocessing.parent_process() is None:
        signal.raise_signal(signal.SIGINT)
    else:
        os.kill(os.getppid(), signal.SIGINT)


def leave():
    os._exit(42)


def die():
    os.kill(os.getpid(), signal.SIGKILL)


def hang():
    time.sleep(1000)


DEEDS = [crash, unsendable, unreadable, interrupt, leave, die, hang]


class Trap:
    """A ghost for emulators, in this process and in those forked from it.

    After `trap.set(deed, seed)` the game that was seeded so, or with `None`
    whichever comes first, does the deed as soon as its emulator is used; or
    `later` uses after that, or `times` times.
    """

    def __init__(self):
        self._test = os.getpid()
        self._deed = multiprocessing.RawValue("b", 0)
        self._seed = multiprocessing.RawValue("q", 0)
        self._later = multiprocessing.RawValue("q", 0)
        self._left = multiprocessing.RawValue("q", 0)
        self._players = multiprocessing.RawArray("q", 1000)

    def set(self, deed, seed, later=0, times=1):
        self._deed.value = DEEDS.index(deed)
        self._seed.value = -1 if seed is None else seed
        self._later.value = later
        self._left.value = times

    def sprung(self):
        """Return whether it was done, and don't let it be done any more."""
        left = self._left.value
        self._left.value = 0
        return left == 0

    def player(self, seed):
        """Return which process plays the game of a seed."""
        assert self._players[seed] > 0
        return self._players[seed]

    def __call__(self, seed):
        if seed is None:
            return
        if os.getpid() != self._test:
            self._players[seed] = os.getpid()
        if self._seed.value in (-1, seed) and self._left.value > 0:
            if self._later.value > 0:
                self._later.value -= 1
            else:
                self._left.value -= 1
                DEEDS[self._deed.value]()


# A title with all that can happen: lives lost, points for frames and actions.
LIFELIKE = dict(
    lives={0: 3, 9: 2, 14: 3, 21: 2, 30: 1, 38: 0},
    rewards={5: 1, 13: -20, 22: 300, "FIRE": 0.25, "RIGHT": 2},
    over=41,
)


@pytest.fixture
def titles(monkeypatch):
    """Return a function that puts a script in the place of all titles.

    It returns the emulators that are made after it.
    """

    def insert(**script):
        emulators = []

        def make(*_, **__):
            env = FakeEnv(**script)
            emulators.append(env.ale)
            return env

        monkeypatch.setattr(gym, "make", make)
        return emulators

    return insert


@pytest.fixture
def fake(titles):
    """Return a function that makes a `Game` of a script and of options."""
    of_script = {"name", "meanings", *inspect.signature(FakeALE).parameters}

    def make(seed=0, **kwargs):
        names = of_script & set(kwargs)
        emulators = titles(**{name: kwargs.pop(name) for name in names})
        return Game(seed, **kwargs), emulators[-1]

    return make


@pytest.fixture
def trap(titles):
    """Let all titles be lifelike ones in which this trap can be set."""
    ghost = Trap()
    titles(**LIFELIKE, ghost=ghost)
    return ghost


def play(one, steps, action=NOOP):
    """Play so many steps, and return what the last one returned."""
    for _ in range(steps):
        result = one.step(action)
    return result


def noops(seed, most, games):
    """Return the numbers of no-ops that Gymnasium draws for some games."""
    random = gym.utils.seeding.np_random(seed)[0]
    return [int(random.integers(1, most + 1)) for _ in range(games)]


# --- One game, as a record of all that it returned -------------------------
Trajectory = collections.namedtuple("Trajectory", "obs rewards dones infos")

# With everything on, so that whatever could differ would differ.
EVERYTHING = dict(
    on_life_loss="continue", noop_max=30, fire_on_reset=True, clip_reward=True
)


def actions_for(steps, n=4):
    """Return random actions, the same ones each time."""
    return np.random.default_rng(0).integers(n, size=steps).tolist()


ACTIONS = actions_for(150)


def trajectory(one, actions, seed=None):
    """Reset a game and play; return all that it returned."""
    results = [(one.reset(seed), 0.0, False, None)]
    results += [one.step(action) for action in actions]
    return Trajectory(*zip(*results, strict=True))


def ask(worker, command, data=None):
    """Send a command and return the answer."""
    worker.child.send((command, data))
    return worker.child.recv()


def trajectory_of_worker(worker, actions, seed=None):
    """As `trajectory`, through the pipe."""
    results = [(ask(worker, "reset", seed), 0.0, False, None)]
    results += [ask(worker, "step", action) for action in actions]
    return Trajectory(*zip(*results, strict=True))


def same(first, second):
    """Return whether two trajectories are the same to the last bit."""
    assert len(first.obs) == len(second.obs)
    return (
        all(map(np.array_equal, first.obs, second.obs))
        and first[1:] == second[1:]
    )


def atari(env_id, **kwargs):
    """Return the spec of an id, with other settings of the emulator."""
    spec = copy.deepcopy(gym.spec(env_id))
    spec.kwargs.update(kwargs)
    return spec


def text_of(error):
    """Return an error as it would be shown, with all that belongs to it."""
    return "".join(traceback.format_exception(error))


# --- Many games, and what they should return --------------------------------


class Twin:
    """What `Games` with the same arguments should return, game by game."""

    def __init__(self, seeds, env_id=BREAKOUT, mode=SAME_STEP, **options):
        self.seeds = list(seeds)
        self.next_step = mode is NEXT_STEP
        self.games = [Game(seed, env_id, **options) for seed in self.seeds]

    def reset(self, seeds=None, restarted=()):
        """Reset; games in `restarted` start over from their seeds."""
        if seeds is not None:
            self.seeds = list(seeds)
            restarted = range(len(seeds))
        obs = [
            one.reset(self.seeds[i] if i in restarted else None)
            for i, one in enumerate(self.games)
        ]
        self.obs = np.array(obs)
        self.waiting = [None] * len(obs)
        return self.obs

    def step(self, actions, restarted=()):
        """Step; games in `restarted` start over instead."""
        n = len(self.games)
        obs = self.obs.copy()
        rewards = np.zeros(n)
        ends = np.zeros((2, n), bool)  # terminated, truncated
        finals = [None] * n
        infos = [None] * n
        for i, one in enumerate(self.games):
            if i in restarted:
                done = True
                ends[1, i] = True
                finals[i] = self.obs[i]
                obs[i] = one.reset(self.seeds[i])
            elif self.waiting[i] is not None:
                done = False
                obs[i] = self.waiting[i]
            else:
                obs[i], rewards[i], done, infos[i] = one.step(actions[i])
                cut = bool(infos[i]) and infos[i]["truncated"]
                ends[:, i] = done and not cut, cut
                finals[i] = one.final_obs if done else None
            self.waiting[i] = None
            if done and self.next_step:
                self.waiting[i] = obs[i].copy()
                obs[i] = finals[i]
                finals[i] = None
        self.obs = obs
        return obs, rewards, *ends, finals, infos


def assert_same_step(result, expected):
    """Compare what `Games` returned with what a `Twin` says."""
    *arrays, infos = result
    *others, finals, final_infos = expected
    dtypes = np.uint8, np.float64, np.bool_, np.bool_
    for array, other, dtype in zip(arrays, others, dtypes, strict=True):
        np.testing.assert_array_equal(array, other)
        assert array.dtype == dtype and array.flags.writeable
    known = {"final_obs", "final_info", "restarted"}
    assert {name.lstrip("_") for name in infos} <= known
    mask = [final is not None for final in finals]
    assert ("final_obs" in infos) == ("_final_obs" in infos) == any(mask)
    if any(mask):
        assert infos["_final_obs"].tolist() == mask
        for one, other in zip(infos["final_obs"], finals, strict=True):
            assert (one is None) == (other is None)
            assert one is None or np.array_equal(one, other)
    mask = [info is not None for info in final_infos]
    assert ("final_info" in infos) == ("_final_info" in infos) == any(mask)
    if any(mask):
        assert infos["_final_info"].tolist() == mask
        for name in ("reward", "length", "truncated"):
            values = infos["final_info"][name][mask].tolist()
            assert values == [info[name] for info in final_infos if info]
            assert infos["final_info"]["_" + name].tolist() == mask


def restarted_in(result, n):
    """Return which games a step reports as restarted."""
    mask = result[4].get("restarted")
    if mask is None:
        return set()
    assert mask.dtype == np.bool_ and mask.shape == (n,) and mask.any()
    return set(np.flatnonzero(mask))


def begin(many, twin, seed=None, restarted=()):
    """Reset both, and compare."""
    obs, infos = many.reset(seed=seed)
    seeds = None
    if seed is not None:
        seeds = seed if np.ndim(seed) else range(seed, seed + many.num_envs)
    np.testing.assert_array_equal(obs, twin.reset(seeds, restarted))
    assert obs.dtype == np.uint8 and infos == {}


def follow(many, twin, steps=1, restarted=()):
    """Step both, and compare; in the first step these games start over."""
    random = np.random.default_rng(0)
    n = many.num_envs
    for _ in range(steps):
        actions = random.integers(3, size=n)
        result = many.step(actions)
        assert restarted_in(result, n) == set(restarted)
        assert_same_step(result, twin.step(actions, restarted))
        restarted = ()


@contextlib.contextmanager
def pair(n=4, processes=2, env_id=BREAKOUT, seed=10, mode=SAME_STEP, **kwargs):
    """Games that were reset, and a twin to compare them with."""
    own = {"timeout", "context"} & set(kwargs)
    own = {name: kwargs.pop(name) for name in own}
    twin = Twin(range(seed, seed + n), env_id, mode, **kwargs)
    if processes > 0 and "fork" in START_METHODS:
        own.setdefault("context", "fork")
    with Games(
        n,
        env_id,
        seed=seed,
        processes=processes,
        autoreset_mode=mode,
        **own,
        **kwargs,
    ) as many:
        begin(many, twin)
        yield many, twin


# --- Processes and programs --------------------------------------------------


def workers_now():
    """Return the ids of this process's children."""
    return {child.pid for child in multiprocessing.active_children()}


def kill(pid):
    """Kill one of this process's children, and wait for its end."""
    (child,) = (c for c in multiprocessing.active_children() if c.pid == pid)
    child.kill()
    child.join()


def alive(pid):
    """Return whether there is such a process, still running."""
    try:
        stat = pathlib.Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False
    return stat.rpartition(")")[2].split()[0] not in "ZX"


def left_after(seconds, pids):
    """Return which processes are still there after so many seconds."""
    deadline = time.monotonic() + seconds
    while any(map(alive, pids)) and time.monotonic() < deadline:
        time.sleep(0.02)
    return list(filter(alive, pids))


def interrupted(line, call):
    """Call, with Ctrl-C before that line of all that the module runs in it."""
    lines = itertools.count()

    def trace(frame, event, arg):
        if frame.f_code.co_filename != game.__file__:
            return None
        if event == "line" and next(lines) == line:
            raise KeyboardInterrupt
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        return call()
    finally:
        sys.settrace(before)


@pytest.fixture(autouse=True)
def nobody_is_left_behind():
    """Every test here ends without a process that it started."""
    yield
    if multiprocessing.active_children():
        gc.collect()
    left = multiprocessing.active_children()
    for process in left:
        process.kill()
        process.join()
    assert not left


@pytest.fixture(autouse=True, scope="module")
def ctrl_c_is_heard():
    """A shell lets what it runs in the background ignore Ctrl-C."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def environment(*folders):
    """Return this process's, with more folders to import from."""
    paths = [str(folder) for folder in folders]
    if os.environ.get("PYTHONPATH"):
        paths.append(os.environ["PYTHONPATH"])
    return dict(os.environ, PYTHONPATH=os.pathsep.join(paths))


def as_program(main, first=None, guard='if __name__ == "__main__":'):
    """Return a program of a function that imports what it needs.

    `first` is called in every process that imports the program.
    """
    lines = ["import sys"]
    if first is not None:
        lines += [inspect.getsource(first), f"{first.__name__}()"]
    lines += [inspect.getsource(main), guard]
    indent = "    " if guard else ""
    lines += [f"{indent}{main.__name__}(*sys.argv[1:])", ""]
    return "\n".join(lines)


@pytest.fixture
def program(tmp_path):
    """Return a function that starts a text as a program."""
    started = []

    def start(text, *args, name=None, **kwargs):
        path = tmp_path / (name or f"program{len(started)}.py")
        path.write_text(text)
        options = dict(
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=tmp_path,
            env=environment(MODULE.parent),
            start_new_session=True,
        )
        options.update(kwargs)
        process = subprocess.Popen([sys.executable, path, *args], **options)
        started.append(process)
        return process

    yield start
    for process in started:
        with contextlib.suppress(ProcessLookupError):
            if hasattr(os, "killpg"):
                os.killpg(process.pid, signal.SIGKILL)
            process.kill()
        process.communicate()


# The emulator's greeting. It is written piece by piece, so that those of two
# processes that start at the same time may be mixed.
BANNER = re.compile(
    r"A\.L\.E: Arcade Learning Environment \(version |"
    r"\d+\.\d+\.\d+\+\w+\)|"
    r"\[Powered by Stella\]"
)


def end_of(process, code=0):
    """Wait for a program; return what it wrote, without the greeting."""
    stdout, stderr = process.communicate(timeout=PATIENCE)
    assert process.returncode == code, stderr
    lines = BANNER.sub("", stderr).splitlines()
    return stdout.splitlines(), [line for line in lines if line.strip()]


def numbers_from(process):
    """Return the numbers in the first line that a program writes."""
    line = process.stdout.readline()
    assert line, process.communicate()[1]
    return [int(number) for number in line.split()]


def session_of(process):
    """Return what still runs of all that a program has started."""
    pids = []
    for path in pathlib.Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            fields = path.read_text().rpartition(")")[2].split()
            if fields[3] == str(process.pid) and fields[0] not in "ZX":
                pids.append(int(path.parent.name))
    return pids


class TestPicture:
    """What the agent sees."""

    def test_a_game_begins_with_its_first_screen_four_times(self, fake):
        one, _ = fake()
        assert seen(one.reset()) == START

    def test_a_step_shows_the_maximum_of_its_last_two_frames(self, fake):
        one, _ = fake()
        one.reset()
        assert seen(one.step(NOOP)[0]) == [(0,), (0,), (0,), (3, 4)]

    def test_the_pictures_are_those_of_the_last_four_steps(self, fake):
        """The oldest is the first."""
        one, _ = fake()
        one.reset()
        obs = play(one, 5)[0]
        assert seen(obs) == [(7, 8), (11, 12), (15, 16), (19, 20)]

    def test_the_maximum_is_taken_before_the_screen_is_shrunk(self, fake):
        """Two frames with every other line lit make a picture all lit."""
        even, odd = np.zeros((2, 210, 160), np.uint8)
        even[::2] = 200
        odd[1::2] = 200
        one, _ = fake(draw={3: even, 4: odd})
        one.reset()
        assert (one.step(NOOP)[0][3] == 200).all()

    def test_every_pixel_is_the_mean_of_the_area_it_covers(self, fake):
        """Of 2.5 rows to a pixel one is lit, then none."""
        lines = np.zeros((210, 160), np.uint8)
        lines[::5] = 200
        one, _ = fake(draw={0: lines})
        obs = one.reset()
        assert (obs[:, ::2] == 80).all()
        assert (obs[:, 1::2] == 0).all()

    @pytest.mark.parametrize("height", [210, 214, 220, 230, 250])
    def test_a_change_is_seen_as_in_the_whole_screen(self, fake, height):
        """However little changes, the picture is that of all rows, shrunk."""
        random = np.random.default_rng(height)
        steps = range(1, 51)
        screens = [random.integers(256, size=(height, 160)).astype(np.uint8)]
        for _ in steps:
            y, x, h, w = random.integers((height, 160, 60, 60))
            screens.append(screens[-1].copy())
            screens[-1][y : y + h, x : x + w] = random.integers(256)
        shown = {4 * i - j: screens[i] for i in steps for j in range(4)}
        one, _ = fake(draw={0: screens[0]} | shown)
        one.reset()
        for screen in screens[1:]:
            whole = cv2.resize(screen, (84, 84), interpolation=cv2.INTER_AREA)
            np.testing.assert_array_equal(one.step(NOOP)[0][3], whole)

    def test_an_action_is_held_for_four_frames(self, fake):
        one, ale = fake()
        one.reset()
        play(one, 1, RIGHT)
        play(one, 1, FIRE)
        assert ale.played == ["reset"] + ["RIGHT"] * 4 + ["FIRE"] * 4

    def test_rewards_of_all_four_frames_are_added(self, fake):
        one, _ = fake(rewards={1: 1, 2: 20, 3: 300, 4: 4000, 5: -7, 9: 0.5})
        one.reset()
        assert [one.step(NOOP)[1] for _ in range(4)] == [4321, -7, 0.5, 0]

    def test_clipping_leaves_the_sign_and_the_score_raw(self, fake):
        rewards = {1: 7, 4: -2, 5: -3, 9: 1, 10: -1}
        one, _ = fake(rewards=rewards, over=13, clip_reward=True)
        one.reset()
        results = [one.step(NOOP) for _ in range(4)]
        assert [reward for _, reward, _, _ in results] == [1, -1, 0, 0]
        assert results[-1][3] == {"reward": 2, "length": 4, "truncated": False}


# What is seen last if a step ends with its first, ... fourth frame.
LAST_SEEN = {1: (1,), 2: (2,), 3: (3,), 4: (3, 4)}
each_frame = pytest.mark.parametrize("frame", LAST_SEEN)
each_mode = pytest.mark.parametrize("mode", MODES)
life_modes = pytest.mark.parametrize("mode", ["restart", "continue"])


class TestEpisode:
    """What ends an episode, and what is reported of it."""

    @each_frame
    @each_mode
    def test_the_end_of_a_game(self, fake, frame, mode):
        """A game over on any frame stops the step there, whatever the mode."""
        rewards = {1: 1, 2: 2, 3: 4, 4: 8}
        one, ale = fake(over=frame, rewards=rewards, on_life_loss=mode)
        one.reset()
        obs, reward, done, info = one.step(NOOP)
        assert done is True
        assert ale.played.count("NOOP") == frame
        assert reward == 2**frame - 1
        assert seen(obs) == START
        assert seen(one.final_obs) == [(0,), (0,), (0,), LAST_SEEN[frame]]
        assert info == {"reward": reward, "length": 1, "truncated": False}

    @each_frame
    def test_a_lost_life_restarts_the_game(self, fake, frame):
        """By default a life lost on any frame ends episode and game."""
        one, ale = fake(lives={0: 3, 4 + frame: 2}, rewards={1: 5, 8: 9})
        one.reset()
        one.step(NOOP)
        obs, _, done, info = one.step(NOOP)
        assert done is True
        assert ale.played.count("NOOP") == 4 + frame
        assert seen(obs) == START
        last = tuple(4 + n for n in LAST_SEEN[frame])
        assert seen(one.final_obs) == [(0,), (0,), (3, 4), last]
        reward = 14 if frame == 4 else 5
        assert info == {"reward": reward, "length": 2, "truncated": False}

    @each_frame
    def test_a_lost_life_ends_the_episode_and_the_game_goes_on(
        self, fake, frame
    ):
        """With "continue" the next episode begins with the screen as it is."""
        one, ale = fake(lives={0: 3, frame: 2}, on_life_loss="continue")
        one.reset()
        obs, _, done, info = one.step(NOOP)
        assert (done, info) == (True, None)
        assert seen(one.final_obs) == [(0,), (0,), (0,), LAST_SEEN[frame]]
        assert seen(obs) == [(frame,)] * 4
        obs, _, done, _ = one.step(NOOP)
        assert done is False
        assert seen(obs) == [(frame,)] * 3 + [(frame + 3, frame + 4)]
        assert ale.played == ["reset"] + ["NOOP"] * (frame + 4)

    @each_frame
    def test_a_lost_life_may_mean_nothing(self, fake, frame):
        """With "ignore" only the end of the game ends an episode."""
        one, _ = fake(lives={0: 3, frame: 2, 5: 0}, on_life_loss="ignore")
        one.reset()
        obs, _, done, info = one.step(NOOP)
        assert (done, info) == (False, None)
        assert seen(obs) == [(0,), (0,), (0,), (3, 4)]
        assert one.step(NOOP)[2] is False

    def test_the_last_life_ends_the_game_that_restarts(self, fake):
        """By default a drop to no lives is an end, before the game's own."""
        one, _ = fake(lives={0: 1, 6: 0}, over=50)
        one.reset()
        assert [one.step(NOOP)[2] for _ in range(2)] == [False, True]

    def test_the_last_life_waits_for_the_end_of_the_game(self, fake):
        """With "continue" a drop to no lives isn't an episode of its own."""
        one, _ = fake(lives={0: 1, 6: 0}, over=15, on_life_loss="continue")
        one.reset()
        dones = [one.step(NOOP)[2] for _ in range(4)]
        assert dones == [False, False, False, True]
        assert seen(one.final_obs) == [(3, 4), (7, 8), (11, 12), (15,)]

    @pytest.mark.parametrize("left", [2, 0])
    def test_a_game_over_with_a_lost_life_is_a_game_over(self, fake, left):
        """With "continue" the emulator is reset if the game ends as well."""
        lives = {0: 3, 2: left}
        one, _ = fake(lives=lives, over=2, on_life_loss="continue")
        one.reset()
        obs, _, done, info = one.step(NOOP)
        assert done is True
        assert seen(obs) == START
        assert info == {"reward": 0, "length": 1, "truncated": False}

    @life_modes
    def test_an_extra_life_is_counted(self, fake, mode):
        """A life won ends nothing, and losing it again does, steps later."""
        lives = {0: 3, 2: 4, 9: 3}
        one, _ = fake(lives=lives, on_life_loss=mode)
        one.reset()
        assert [one.step(NOOP)[2] for _ in range(3)] == [False, False, True]

    @life_modes
    @pytest.mark.parametrize(
        "lives, end", [({0: 3, 1: 4, 3: 3}, 3), ({0: 3, 2: 2, 3: 3}, 2)]
    )
    def test_a_life_won_and_one_lost_within_a_step(
        self, fake, mode, lives, end
    ):
        """Lives are read at every frame, so these two don't cancel out."""
        one, _ = fake(lives=lives, on_life_loss=mode)
        one.reset()
        assert one.step(NOOP)[2] is True
        assert seen(one.final_obs)[-1] == (end,)
        if mode == "continue":
            assert one.step(NOOP)[2] is False

    @each_mode
    def test_a_game_without_lives(self, fake, mode):
        """Pong's lives are always 0, and no mode ends its episodes early."""
        one, _ = fake(lives={0: 0}, over=20, on_life_loss=mode)
        one.reset()
        assert [one.step(NOOP)[2] for _ in range(5)] == [False] * 4 + [True]

    def test_the_score_of_a_game_is_told_once(self, fake):
        """With "continue" the info is the whole game's, at its end only."""
        script = dict(lives={0: 3, 2: 2, 7: 1}, over=20)
        rewards = {1: 1, 5: 10, 9: 100, 20: 1000}
        one, _ = fake(rewards=rewards, on_life_loss="continue", **script)
        one.reset()
        for _ in range(2):  # the second game counts from zero
            # Frames 1-2, 3-6, 7, 8-11, 12-15, 16-19; then 20 alone.
            results = [one.step(NOOP) for _ in range(6)]
            ends = [done for _, _, done, _ in results]
            assert ends == [True, False, True, False, False, False]
            assert [info for _, _, _, info in results] == [None] * 6
            _, _, done, info = one.step(NOOP)
            assert done is True
            assert info == {"reward": 1111, "length": 7, "truncated": False}

    def test_a_reset_in_the_middle_begins_a_new_count(self, fake):
        """What was played before `reset` is in nobody's info."""
        one, _ = fake(over=9, rewards={1: 1})
        one.reset()
        play(one, 2)
        assert seen(one.reset()) == START
        info = {"reward": 1, "length": 3, "truncated": False}
        assert play(one, 3)[3] == info

    def test_the_info_holds_plain_numbers(self, fake):
        """A float, an int and a Python bool, whatever the emulator gives."""
        one, _ = fake(over=3)
        one.reset()
        _, reward, done, info = one.step(NOOP)
        kinds = {name: type(value) for name, value in info.items()}
        assert kinds == {"reward": float, "length": int, "truncated": bool}
        assert type(reward) is float and type(done) is bool

    @each_mode
    @each_frame
    def test_the_limit_cuts_a_game_short(self, fake, frame, mode):
        """Every game gets the whole limit, and is told to have been cut."""
        one, _ = fake(limit=8 + frame, on_life_loss=mode)
        one.reset()
        for _ in range(3):
            assert [one.step(NOOP)[2] for _ in range(2)] == [False, False]
            obs, _, done, info = one.step(NOOP)
            assert done is True
            assert seen(obs) == START
            last = tuple(8 + n for n in LAST_SEEN[frame])
            assert seen(one.final_obs)[-1] == last
            assert info == {"reward": 0, "length": 3, "truncated": True}
            assert info["truncated"] is True

    @each_mode
    def test_over_on_the_frame_of_the_limit_is_over(self, fake, mode):
        """Such a game wasn't cut short, it had come to its own end."""
        one, _ = fake(limit=10, over=10, on_life_loss=mode)
        one.reset()
        assert play(one, 3)[3]["truncated"] is False

    @life_modes
    def test_lost_lives_and_the_limit(self, fake, mode):
        """The limit is a game's: only by restart a lost life renews it."""
        lives = {0: 3, 6: 2}
        one, _ = fake(lives=lives, limit=11, on_life_loss=mode)
        one.reset()
        infos = [one.step(NOOP)[3] for _ in range(4)]
        if mode == "restart":
            life = {"reward": 0, "length": 2, "truncated": False}
            assert infos == [None, life, None, life]
        else:  # frames 1-4, 5-6, 7-10, 11
            cut = {"reward": 0, "length": 4, "truncated": True}
            assert infos == [None, None, None, cut]


class TestStart:
    """How a game starts: no-ops, FIRE, resets by snapshot."""

    @pytest.mark.parametrize("seed", [0, 1, 7])
    def test_no_ops_start_a_game(self, fake, seed):
        """After each reset of the emulator as many as Gymnasium would draw."""
        first, second, third = noops(seed, 30, 3)
        one, ale = fake(seed, noop_max=30, rewards={1: 1})
        assert seen(one.reset()) == [(first,)] * 4
        assert ale.played == ["reset"] + ["NOOP"] * first
        assert seen(one.reset()) == [(second,)] * 4
        assert seen(one.reset()) == [(third,)] * 4
        assert seen(one.reset(seed)) == [(first,)] * 4

    def test_one_no_op_at_most_is_one(self, fake):
        one, _ = fake(noop_max=1)
        assert all(seen(one.reset()) == [(1,)] * 4 for _ in range(5))

    def test_no_ops_count_for_nothing(self, fake):
        """No step, their points no reward, their lives not lost."""
        one, _ = fake(noop_max=1, rewards={1: 7, 2: 1}, lives={0: 3, 1: 2})
        one.reset()
        _, reward, done, _ = one.step(NOOP)
        assert (reward, done) == (1, False)

    def test_no_ops_follow_every_reset_of_the_emulator(self, fake):
        """A lost life draws new ones by "restart", and none by "continue"."""
        _, second = noops(5, 30, 2)
        lives = {0: 3, 33: 2}
        for mode, start in [("restart", second), ("continue", 33)]:
            one, _ = fake(5, noop_max=30, on_life_loss=mode, lives=lives)
            one.reset()
            done = False
            while not done:
                obs, _, done, _ = one.step(NOOP)
            assert seen(obs) == [(start,)] * 4

    @pytest.mark.parametrize("seed", range(4))
    @pytest.mark.parametrize("kind", ["over", "limit"])
    def test_a_game_over_among_the_no_ops(self, fake, seed, kind):
        """It is reset and the no-ops go on, as Gymnasium's wrapper does it."""
        one, ale = fake(seed, noop_max=30, **{kind: 5})
        theirs = FakeEnv(**{kind: 5})
        wrapper = AtariPreprocessing(theirs, noop_max=30)
        for reset_seed in (seed, None, None):
            wrapper.reset(seed=reset_seed)
            one.reset()
        played = ["reset" if it == "restore" else it for it in ale.played]
        assert played == theirs.ale.played

    def test_no_ops_need_a_no_op(self, fake):
        """A game whose action 0 does something is refused, as by Gymnasium."""
        with pytest.raises(ValueError, match="NOOP"):
            fake(meanings=("FIRE", "NOOP"), noop_max=3)
        one, _ = fake(meanings=("FIRE", "NOOP"))
        assert seen(one.reset()) == START

    def test_fire_starts_every_game(self, fake):
        """FIRE is held for four frames; then the screen alone is seen."""
        one, ale = fake(fire_on_reset=True, over=6)
        assert seen(one.reset()) == [(4,)] * 4
        assert ale.played == ["reset"] + ["FIRE"] * 4
        obs, _, done, _ = one.step(RIGHT)
        assert done is True
        assert seen(obs) == [(4,)] * 4
        assert ale.played[-5:] == ["restore"] + ["FIRE"] * 4

    def test_fire_after_each_life(self, fake):
        """With "continue" it is pressed again, and the game goes on."""
        one, ale = fake(
            fire_on_reset=True, lives={0: 3, 7: 2}, on_life_loss="continue"
        )
        one.reset()
        obs, _, done, info = one.step(NOOP)
        assert (done, info) == (True, None)
        assert seen(one.final_obs) == [(4,), (4,), (4,), (7,)]
        assert seen(obs) == [(11,)] * 4
        assert ale.played[-4:] == ["FIRE"] * 4

    def test_what_fire_does_counts_for_nothing(self, fake):
        """Neither in the reward nor in the game's, nor as a step."""
        one, _ = fake(
            fire_on_reset=True,
            on_life_loss="continue",
            rewards={1: 1, 5: 10, 7: 100, 8: 1000, 12: 10000, 13: 100000},
            lives={0: 3, 7: 2},
            over=13,
        )
        one.reset()  # frames 1-4; the step plays 5-7, FIRE 8-11
        assert one.step(NOOP)[1] == 110
        _, reward, done, info = one.step(NOOP)  # 12-13
        assert (reward, done) == (110000, True)
        assert info == {"reward": 110110, "length": 2, "truncated": False}

    @life_modes
    def test_a_life_lost_in_fire(self, fake, mode):
        """Lives are counted from the first observation on."""
        lives = {0: 3, 2: 2, 10: 1}
        one, _ = fake(fire_on_reset=True, lives=lives, on_life_loss=mode)
        assert seen(one.reset()) == [(4,)] * 4
        assert [one.step(NOOP)[2] for _ in range(2)] == [False, True]

    def test_fire_comes_after_the_no_ops(self, fake):
        """First the random start, then the serve."""
        (n,) = noops(3, 30, 1)
        one, ale = fake(3, noop_max=30, fire_on_reset=True)
        assert seen(one.reset()) == [(n + 4,)] * 4
        assert ale.played == ["reset"] + ["NOOP"] * n + ["FIRE"] * 4

    def test_fire_is_found_by_its_name(self, fake):
        """It isn't action 1 in every game."""
        one, ale = fake(meanings=("NOOP", "UP", "FIRE"), fire_on_reset=True)
        one.reset()
        assert ale.played == ["reset"] + ["FIRE"] * 4

    def test_a_game_without_fire_is_left_alone(self, fake):
        """There `fire_on_reset` does nothing: UPFIRE isn't FIRE."""
        one, ale = fake(meanings=("NOOP", "UP", "UPFIRE"), fire_on_reset=True)
        assert seen(one.reset()) == START
        assert ale.played == ["reset"]

    def test_later_resets_put_back_the_first_state(self, fake):
        """The emulator is reset once, and then restored."""
        one, ale = fake(over=3)
        one.reset()
        play(one, 2)
        one.reset()
        resets = [it for it in ale.played if it != "NOOP"]
        assert resets == ["reset"] + ["restore"] * 3

    @pytest.mark.parametrize("name", [*sorted(NO_SNAPSHOT), "sticky"])
    def test_some_games_are_truly_reset(self, fake, name):
        """Those whose snapshot can't be trusted, or with sticky actions."""
        one, ale = fake(name=name, sticky=0.25 * (name == "sticky"), over=3)
        one.reset()
        obs = play(one, 2)[0]
        assert seen(obs) == START
        assert [it for it in ale.played if it != "NOOP"] == ["reset"] * 3

    @pytest.mark.parametrize("boot", [0, 8])
    def test_a_restored_game_begins_with_its_first_screen(self, fake, boot):
        """The emulator has not drawn it, whatever number the frame has."""
        one, _ = fake(over=3, boot=boot)
        assert seen(one.reset()) == START
        assert seen(one.step(NOOP)[0]) == START
        assert seen(one.step(NOOP)[0]) == START
        assert seen(one.reset()) == START

    @pytest.mark.parametrize(
        "name, boot", [("fake", 0), ("fake", 8), ("qbert", 8)]
    )
    def test_render_shows_the_screen_as_it_is(self, fake, name, boot):
        """In colour, also right after a reset, when nothing was drawn yet."""
        one, _ = fake(name=name, over=6, boot=boot)

        def assert_shown(frame):
            for _ in range(2):
                screen = one.render()
                assert screen.dtype == np.uint8
                expected = np.dstack([screen_of(frame)] * 3)
                np.testing.assert_array_equal(screen, expected)
                screen[:] = 0  # it is the caller's own

        for _ in range(2):
            one.reset()
            assert_shown(0)
            one.step(NOOP)
            assert_shown(4)
            one.step(NOOP)
            assert_shown(0)


class OnGPU:
    """A tensor that has to be copied first, as PyTorch says."""

    def __array__(self, dtype=None, copy=None):
        raise TypeError("Use Tensor.cpu() to copy the tensor to host memory")


class Tensor:
    """What matters here of a PyTorch tensor."""

    def __init__(self, data):
        self._data = np.array(data)
        self.shape = self._data.shape
        self.dtype = self._data.dtype

    def __array__(self, dtype=None, copy=None):
        return self._data

    def __index__(self):
        return self._data.__index__()

    def __len__(self):
        return len(self._data)

    def __getitem__(self, i):
        return Tensor(self._data[i])


def named(values):
    """Return parameters of these values; their names hold no addresses."""
    return [
        pytest.param(value, id=f"{i}-{type(value).__name__}")
        for i, value in enumerate(values)
    ]


GOOD_ACTIONS = [
    *(RIGHT, np.int64(RIGHT), np.int8(RIGHT), np.uint8(RIGHT)),
    *(np.uint64(RIGHT), np.array(RIGHT), Tensor(RIGHT)),
]
BAD_ACTIONS = [
    *(-1, 4, 99, -(2**70), 2**70, np.int8(-1), np.uint8(255), np.array(4)),
    *(0.0, 1.0, 1.5, math.nan, math.inf, np.float32(1), Tensor(1.0), 1j),
    *(True, np.True_, None, "1", b"1", "FIRE", object(), {}, {1}),
    *([1], (), np.array([1]), np.array([[1]]), [[1]], Tensor([1]), OnGPU()),
]
BAD_SEEDS = [-1, np.int64(-1), 0.0, 1.5, math.nan, "1", [1], [], object()]


class TestInput:
    """What is refused, and what is taken."""

    @pytest.mark.parametrize("action", named(BAD_ACTIONS))
    def test_a_rejected_action_changes_nothing(self, fake, action):
        """Not one of the game's: refused, and no frame has been played."""
        names = ("NOOP", "FIRE", "RIGHT", "LEFT")
        one, ale = fake(meanings=names)
        one.reset()
        one.step(NOOP)
        with pytest.raises(REFUSED):
            one.step(action)
        assert ale.played == ["reset"] + ["NOOP"] * 4
        assert seen(one.step(NOOP)[0]) == [(0,), (0,), (3, 4), (7, 8)]

    def test_the_error_names_the_actions(self, fake):
        """Whoever sees it can tell what would have been right."""
        one, _ = fake()
        one.reset()
        with pytest.raises(ValueError, match="(?s)0.*2.*NOOP.*FIRE.*RIGHT"):
            one.step(3)

    def test_what_is_on_a_gpu_is_refused_with_pytorchs_advice(self, fake):
        """Which is the cause of the error."""
        one, _ = fake()
        one.reset()
        with pytest.raises(ValueError) as error:
            one.step(OnGPU())
        assert isinstance(error.value.__cause__, TypeError)
        assert "Use Tensor.cpu()" in str(error.value.__cause__)

    @pytest.mark.parametrize("action", named(GOOD_ACTIONS))
    def test_all_kinds_of_integers_are_actions(self, fake, action):
        """Python's, NumPy's, and what turns into one, as PyTorch's do."""
        one, ale = fake()
        one.reset()
        one.step(action)
        assert ale.played == ["reset"] + ["RIGHT"] * 4

    def test_reset_comes_first(self, fake):
        """It returns the observation to start from, so `step` waits for it."""
        one, ale = fake()
        with pytest.raises(gym.error.ResetNeeded):
            one.step(NOOP)
        assert ale.played == []
        assert seen(one.reset()) == START

    @pytest.mark.parametrize("kind", [np.int64, np.uint8, np.int32, np.array])
    def test_seeds_are_whole_numbers(self, fake, kind):
        """NumPy's too, though Gymnasium itself wants Python's."""
        (n,) = noops(7, 30, 1)
        one, _ = fake(kind(7), noop_max=30)
        assert seen(one.reset()) == [(n,)] * 4
        assert seen(one.reset(kind(7))) == [(n,)] * 4

    @pytest.mark.parametrize("seed", named(BAD_SEEDS))
    def test_bad_seeds(self, fake, seed):
        """They are refused, and the game that was asked goes on as it was."""
        with pytest.raises(REFUSED):
            fake(seed)
        (n,) = noops(3, 30, 1)
        one, ale = fake(3, noop_max=30)
        with pytest.raises(REFUSED):
            one.reset(seed)
        assert seen(one.reset()) == [(n,)] * 4
        with pytest.raises(REFUSED):
            one.reset(seed)
        assert ale.played == ["reset"] + ["NOOP"] * n
        assert seen(one.step(RIGHT)[0])[3] == (n + 3, n + 4)

    @pytest.mark.parametrize("mode", ["", "Restart", None, 1, ["restart"]])
    def test_unknown_modes(self, fake, mode):
        """The error names the three that there are."""
        with pytest.raises(REFUSED) as error:
            fake(on_life_loss=mode)
        if isinstance(mode, str):
            assert error.type is ValueError
            assert all(name in str(error.value) for name in MODES)

    @pytest.mark.parametrize("noop_max", [-1, 1.5, "3", None])
    def test_bad_numbers_of_no_ops(self, fake, noop_max):
        with pytest.raises(REFUSED):
            fake(noop_max=noop_max)

    def test_unknown_options(self, fake):
        """A misspelt option isn't passed over."""
        with pytest.raises(TypeError):
            fake(noop=30)

    def test_unknown_ids(self):
        """Gymnasium's own errors, with its suggestions."""
        with pytest.raises(gym.error.NameNotFound, match="Breakout"):
            Game(0, "Breakot-v4")
        with pytest.raises(gym.error.VersionNotFound):
            Games(2, "BreakoutNoFrameskip-v9")

    @pytest.mark.parametrize(
        "env_id", named(["CartPole-v1", gym.spec("CartPole-v1"), 3, None])
    )
    def test_an_id_that_is_not_one_of_an_atari_title(self, env_id):
        for make in (lambda: Game(0, env_id), lambda: Games(2, env_id)):
            with pytest.raises(ValueError, match="Atari"):
                make()

    def test_a_spec_whose_actions_are_not_discrete(self):
        """Refused at once, and not when the first of them is played."""
        spec = atari("ALE/Breakout-v5", continuous=True)
        for make in (lambda: Game(0, spec), lambda: Games(2, spec)):
            with pytest.raises(ValueError):
                make()


class Snapshots(gym.Wrapper):
    """Later resets put back the state after the first, as `Game` does."""

    def reset(self, *, seed=None, options=None):
        emulator = self.env.unwrapped
        if seed is None and self.spec.kwargs["game"] not in NO_SNAPSHOT:
            emulator.restore_state(self.state)
            return None, {"restored": True}
        result = self.env.reset(seed=seed, options=options)
        self.state = emulator.clone_state()
        self.start = emulator.ale.getEpisodeFrameNumber()  # not always 0
        return result


class Reference(AtariPreprocessing):
    """Gymnasium's preprocessing, with the right first and last picture.

    A restored state isn't drawn, and Gymnasium leaves the last frame out.
    """

    def reset(self, *, seed=None, options=None):
        picture, info = super().reset(seed=seed, options=options)
        if self.ale.getEpisodeFrameNumber() > self.env.start:
            return picture, info  # no-ops have drawn it
        if "restored" not in info:
            self.first = picture
        return self.first, info

    def step(self, action):
        frame = self.ale.getEpisodeFrameNumber()
        picture, reward, terminated, truncated, info = super().step(action)
        if terminated or truncated:
            last = self.ale.getScreenGrayscale()
            if self.ale.getEpisodeFrameNumber() == frame + 4:
                last = np.maximum(last, self.obs_buffer[1])
            picture = cv2.resize(last, (84, 84), interpolation=cv2.INTER_AREA)
        return picture, reward, terminated, truncated, info


def reference(spec, mode="restart", noop_max=0):
    """Return what `Game` must equal, made of Gymnasium's wrappers."""
    env = gym.make(spec, frameskip=1)
    env = Reference(
        Snapshots(env),
        noop_max=noop_max,
        terminal_on_life_loss=mode == "restart",
    )
    return FrameStackObservation(env, 4)


def frames_of(ale, actions):
    """Play `actions`; return the memory and the screen of each frame."""
    frames = [(ale.getRAM().tobytes(),)]
    for action in actions:
        ale.act(action)
        frames.append((ale.getRAM().tobytes(), ale.getScreenRGB().tobytes()))
    return frames


class TestTitles:
    """Real titles: Gymnasium's to the last bit; snapshots, seeds and ids."""

    @pytest.mark.parametrize("mode, most", [("restart", 0), ("ignore", 30)])
    @pytest.mark.parametrize("title", PLAYED)
    def test_a_title_equals_gymnasiums(self, title, mode, most):
        """300 steps, with lives and no-ops or without."""
        spec = atari(TITLES[title].id, repeat_action_probability=0.0)
        other = reference(spec, mode, 0)
        meanings = other.unwrapped.get_action_meanings()
        if meanings[0] == "NOOP":
            other = reference(spec, mode, most)
        else:
            most = 0
        one = Game(5, spec, on_life_loss=mode, noop_max=most)
        np.testing.assert_array_equal(one.reset(), other.reset(seed=5)[0])
        for action in actions_for(300, len(meanings)):
            obs, reward, done, info = one.step(action)
            theirs, points, terminated, truncated, _ = other.step(action)
            assert (reward, done) == (points, terminated or truncated)
            if done:
                assert info["truncated"] is truncated
                np.testing.assert_array_equal(one.final_obs, theirs)
                theirs, _ = other.reset()
            np.testing.assert_array_equal(obs, theirs)

    def test_there_are_104_titles(self):
        """And those without a snapshot are among them."""
        assert len(TITLES) == 104
        assert set(NO_SNAPSHOT) < set(TITLES)

    @pytest.mark.parametrize("title", PLAYED)
    def test_which_titles_a_snapshot_brings_back(self, title):
        """Frame by frame all but those that are named in the module.

        And a seed, for which Gymnasium loads a title anew, changes nothing:
        `Game` doesn't load it anew.
        """
        spec = atari(TITLES[title].id, repeat_action_probability=0.0)
        env = gym.make(spec, frameskip=1, obs_type="ram")
        env.reset()
        ale = env.unwrapped.ale
        possible = ale.getMinimalActionSet()
        actions, others = np.random.default_rng(0).choice(possible, (2, 120))
        first = frames_of(ale, actions)
        env.reset(seed=1)
        state = env.unwrapped.clone_state()
        assert frames_of(ale, actions) == first
        brought_back = True
        for _ in range(2):
            frames_of(ale, others)
            env.unwrapped.restore_state(state)
            brought_back &= frames_of(ale, actions) == first
        assert brought_back == (title not in NO_SNAPSHOT)

    @pytest.mark.parametrize("env_id", [SEAQUEST, "QbertNoFrameskip-v4"])
    def test_the_same_seed_and_actions_give_the_same(self, env_id):
        """In another `Game`, and in the same one when it is seeded again."""
        one = Game(np.int64(3), env_id, noop_max=30)
        first = trajectory(one, ACTIONS)
        assert same(first, trajectory(Game(3, env_id, noop_max=30), ACTIONS))
        assert same(first, trajectory(one, ACTIONS, seed=np.uint8(3)))
        other = trajectory(one, ACTIONS, seed=2**100)
        assert not same(first, other)
        assert same(other, trajectory(one, ACTIONS, seed=2**100))

    def test_episodes_start_alike_without_randomness(self):
        """No no-ops, no sticky actions: actions alone decide."""
        one = Game(1)
        first = trajectory(one, ACTIONS)
        assert same(first, trajectory(one, ACTIONS))
        assert same(first, trajectory(Game(2), ACTIONS))

    def test_sticky_actions(self):
        """They differ from episode to episode, and repeat with the seed."""
        one = Game(3, "ALE/Breakout-v5")
        first, second = (trajectory(one, ACTIONS) for _ in range(2))
        assert not same(first, second)
        assert same(first, trajectory(one, ACTIONS, seed=3))
        assert same(second, trajectory(one, ACTIONS))

    @pytest.mark.filterwarnings("ignore:.*out of date")
    def test_all_ids_make_the_same_engine(self):
        """v0, v4 and v5 differ in stickiness, and here in nothing else."""
        ids = ["Breakout-v4", BREAKOUT]
        ids += [atari("ALE/Breakout-v5", repeat_action_probability=0.0)]
        first, *others = [trajectory(Game(0, i), ACTIONS) for i in ids]
        assert all(same(first, other) for other in others)
        ids = ["Breakout-v0", "BreakoutNoFrameskip-v0", "ALE/Breakout-v5"]
        sticky, *others = [trajectory(Game(0, i), ACTIONS) for i in ids]
        assert all(same(sticky, other) for other in others)
        assert not same(first, sticky)

    def test_modes_and_difficulties(self):
        """An `EnvSpec` may say how the game itself is to be."""
        spec = atari(BREAKOUT, mode=12, difficulty=1)
        one, other, plain = Game(0, spec), reference(spec), Game(0)
        assert np.array_equal(one.reset(), other.reset(seed=0)[0])
        plain.reset()
        for env in (one, other, plain):
            env.step(FIRE)
        ours, theirs, others = (
            env.unwrapped.ale.getRAM() for env in (one.env, other, plain.env)
        )
        assert np.array_equal(ours, theirs)
        assert not np.array_equal(ours, others)

    @pytest.mark.parametrize("env_id", [BREAKOUT, "QbertNoFrameskip-v4"])
    @each_mode
    def test_every_game_gets_the_whole_limit(self, env_id, mode):
        """With snapshots and without: cut at the same length each time."""
        spec = atari(env_id, max_num_frames_per_episode=50)
        one = Game(0, spec, on_life_loss=mode)
        one.reset()
        infos = [one.step(NOOP)[3] for _ in range(39)]
        assert [i for i, info in enumerate(infos) if info] == [12, 25, 38]
        cut = {"reward": 0.0, "length": 13, "truncated": True}
        assert infos[12] == infos[25] == infos[38] == cut

    @life_modes
    def test_gray_is_the_emulators_own(self, mode):
        """Also where that isn't what the colours would make: in Air Raid."""
        one = Game(0, "AirRaidNoFrameskip-v4", noop_max=5, on_life_loss=mode)
        obs = one.reset()
        random = np.random.default_rng(0)
        for _ in range(3):
            gray = one.env.unwrapped.ale.getScreenGrayscale()
            picture = cv2.resize(gray, (84, 84), interpolation=cv2.INTER_AREA)
            assert all(np.array_equal(picture, it) for it in obs)
            done = False
            while not done:
                obs, _, done, _ = one.step(random.integers(6))

    def test_what_was_returned_never_changes(self):
        """Observations are the caller's own, to keep and to write into."""
        one, other = Game(0), Game(0)
        kept = [one.reset()]
        copies = [other.reset().copy()]
        for action in actions_for(250):
            obs, _, done, _ = one.step(action)
            kept.append(obs)
            copies.append(other.step(action)[0].copy())
            if done:
                kept.append(one.final_obs)
                copies.append(other.final_obs.copy())
        assert len(kept) > 253
        assert all(map(np.array_equal, kept, copies))
        for obs in kept:
            assert obs.flags.writeable and obs.base is None
            obs[:] = 0
        assert np.array_equal(one.step(NOOP)[0], other.step(NOOP)[0])

    @pytest.mark.parametrize("env_id", [BREAKOUT, "QbertNoFrameskip-v4"])
    def test_render_right_after_a_reset(self, env_id):
        """The right screen, though a restored emulator hasn't drawn any."""
        one = Game(0, env_id)
        one.reset()
        done = False
        while not done:
            screen = one.env.unwrapped.ale.getScreenRGB()
            assert np.array_equal(one.render(), screen)
            obs, _, done, _ = one.step(FIRE)
        gray = cv2.cvtColor(one.render(), cv2.COLOR_RGB2GRAY)
        picture = cv2.resize(gray, (84, 84), interpolation=cv2.INTER_AREA)
        assert np.array_equal(picture, obs[0])


COPIES = [copy.copy, copy.deepcopy, pickle.dumps]


class TestWorker:
    """A game in another process, asked as labml's tutorial asks."""

    @each_start_method
    def test_a_worker_plays_the_same_game(self, method):
        """Whichever way it was started, with every option on."""
        actions = ACTIONS[:90]
        one = Game(3, SEAQUEST, **EVERYTHING)
        with Worker(3, SEAQUEST, context=method, **EVERYTHING) as worker:
            for seed in (None, 8):
                expected = trajectory(one, actions, seed)
                theirs = trajectory_of_worker(worker, actions, seed)
                assert same(expected, theirs)
            if hasattr(signal, "SIGKILL"):
                # The signal goes to all processes, and the parent decides.
                os.kill(worker.process.pid, signal.SIGINT)
            assert ask(worker, "reset").shape == (4, 84, 84)
            assert worker.process.daemon

    @needs_fork
    def test_a_context_may_be_given_itself(self, trap):
        """As in Gymnasium's `AsyncVectorEnv`, whose `context` is a name."""
        context = multiprocessing.get_context("fork")
        with Worker(0, context=context) as worker:
            assert seen(ask(worker, "reset")) == START
            assert isinstance(worker.process, context.Process)
        with pytest.raises(ValueError):
            Worker(0, context="telepathy")

    @needs_fork
    @needs_proc
    def test_a_rollout_over_several_workers(self, trap):
        """As in labml's tutorial: send to all, then receive from all."""
        workers = [Worker(47 + i, context="fork") for i in range(2)]
        games = [Game(47 + i) for i in range(2)]
        for worker in workers:
            worker.child.send(("reset", None))
        for worker, one in zip(workers, games, strict=True):
            assert np.array_equal(worker.child.recv(), one.reset())
        for action in actions_for(60, 3):
            for worker in workers:
                worker.child.send(("step", action))
            for worker, one in zip(workers, games, strict=True):
                obs, *rest = worker.child.recv()
                expected, *others = one.step(action)
                assert np.array_equal(obs, expected)
                assert rest == others
        for worker in workers:
            worker.child.send(("close", None))
        assert left_after(4, [worker.process.pid for worker in workers]) == []
        for worker in workers:
            assert worker.process.exitcode == 0
            worker.close()

    @needs_fork
    @needs_signals
    def test_the_loop_may_be_started_by_hand(self, trap):
        """As labml's own `Worker` does: a pipe, a process, no class."""
        context = multiprocessing.get_context("fork")
        child, remote = context.Pipe()
        args = remote, 47, "PongNoFrameskip-v4"
        process = context.Process(target=game.worker_process, args=args)
        process.start()
        remote.close()
        one = Game(47, "PongNoFrameskip-v4")
        child.send(("reset", None))
        assert np.array_equal(child.recv(), one.reset())
        os.kill(process.pid, signal.SIGINT)  # it doesn't hear that
        child.send(("step", NOOP))
        assert np.array_equal(child.recv()[0], one.step(NOOP)[0])
        child.send(("close", None))
        process.join(10)
        assert process.exitcode == 0

    @needs_fork
    def test_it_plays_anything_with_step_reset_and_render(self):
        """With `make`, which gets the seed, the id and the options."""

        class Echo:
            def __init__(self, *args, **options):
                self.made_with = args, options

            def reset(self, seed=None):
                return seed, *self.made_with

            def step(self, action):
                return action

            def render(self, _=None):
                return "a screen"

        with Worker(3, "id", context="fork", make=Echo, size=5) as worker:
            assert ask(worker, "reset", 8) == (8, (3, "id"), {"size": 5})
            assert ask(worker, "step", [1, 2]) == [1, 2]
            assert ask(worker, "render") == "a screen"

    @needs_fork
    def test_the_child_is_the_end_of_a_pipe(self, trap):
        """With all that one has."""
        with Worker(0, context="fork") as worker:
            child = worker.child
            assert isinstance(child, multiprocessing.connection.Connection)
            assert child.poll() is False
            child.send(("reset", None))
            assert multiprocessing.connection.wait([child], 60) == [child]
            assert seen(child.recv()) == START

    @needs_fork
    @pytest.mark.parametrize(
        "deed, expected, words",
        [
            (crash, ZeroDivisionError, "a bug in the middle"),
            (unsendable, RuntimeError, "(?s)Unsendable.*an odd error"),
            (unreadable, RuntimeError, "Unreadable.*odd"),
        ],
    )
    def test_an_error_is_raised_where_it_is_received(
        self, trap, deed, expected, words
    ):
        """With its type and the worker's traceback; the worker plays on."""
        actions = actions_for(40, 3)
        with Worker(5, context="fork") as worker:
            before = trajectory_of_worker(worker, actions)
            trap.set(deed, 5)
            with pytest.raises(expected, match=words) as error:
                ask(worker, "step", NOOP)
            assert trap.sprung()
            if deed is crash:
                assert "in crash" in text_of(error.value)
            assert same(before, trajectory_of_worker(worker, actions))

    @needs_fork
    def test_wrong_calls(self, trap):
        """Their errors say what was wrong, and the worker plays on."""
        with Worker(0, context="fork") as worker:
            with pytest.raises(gym.error.ResetNeeded):
                ask(worker, "step", NOOP)
            for command in ("somersault", "__init__"):
                with pytest.raises(NotImplementedError, match=command):
                    ask(worker, command)
            assert seen(ask(worker, "reset")) == START
            with pytest.raises(ValueError, match="NOOP"):
                ask(worker, "step", 99)
            obs, *_ = ask(worker, "step", NOOP)
            assert seen(obs) == [(0,), (0,), (0,), (3, 4)]

    @needs_fork
    @pytest.mark.parametrize(
        "kwargs, expected",
        [
            (dict(env_id="Breakot-v4"), gym.error.NameNotFound),
            (dict(on_life_loss="never"), ValueError),
            (dict(seed=-1), ValueError),
            (dict(noops=3), TypeError),
        ],
        ids=["id", "mode", "seed", "option"],
    )
    def test_a_game_that_cannot_be_made(self, kwargs, expected):
        """Its error comes with the first answer."""
        kwargs = {"seed": 0, "context": "fork", **kwargs}
        with Worker(**kwargs) as worker, pytest.raises(expected):
            ask(worker, "reset")

    @needs_fork
    @needs_signals
    @pytest.mark.parametrize("deed", [leave, die])
    def test_a_dead_worker(self, trap, deed):
        """What a pipe raises, at once and each time."""
        with Worker(5, context="fork") as worker:
            ask(worker, "reset", 5)
            trap.set(deed, 5)
            for _ in range(2):
                with pytest.raises((EOFError, OSError)):
                    ask(worker, "step", NOOP)

    @needs_fork
    @needs_signals
    @needs_proc
    @pytest.mark.parametrize(
        "state", ["new", "idle", "busy", "stopped", "dead", "hung", "dropped"]
    )
    def test_close_in_every_state(self, trap, state):
        """Twice, and in the middle of a step; the process is gone."""
        worker = Worker(5, context="fork")
        pid = worker.process.pid
        if state != "new":
            ask(worker, "reset", 5)
        if state in ("busy", "hung"):
            if state == "hung":
                trap.set(hang, 5)
            worker.child.send(("step", NOOP))
        if state == "stopped":
            os.kill(pid, signal.SIGSTOP)
        if state == "dead":
            kill(pid)
        if state == "dropped":
            del worker
            gc.collect()
        else:
            worker.close()
            worker.close()
        assert left_after(4, [pid]) == []

    @needs_fork
    @needs_proc
    def test_ctrl_c_in_close(self, trap):
        """Whichever line it comes at, another call ends the process."""
        for line in itertools.count():
            worker = Worker(5, context="fork")
            pid = worker.process.pid
            ask(worker, "reset")
            try:
                interrupted(line, worker.close)
                break
            except KeyboardInterrupt:
                worker.close()
                assert left_after(4, [pid]) == []
        assert line > 0
        assert left_after(4, [pid]) == []

    @needs_batch_jobs
    @each_start_method
    def test_a_worker_is_a_batch_job(self, method):
        """Whoever waits for it goes first; this process stays as it is."""
        before = os.sched_getscheduler(0)
        with Worker(0, context=method) as worker:
            ask(worker, "reset")
            assert os.sched_getscheduler(worker.process.pid) == os.SCHED_BATCH
            assert os.sched_getscheduler(0) == before != os.SCHED_BATCH

    @needs_fork
    @needs_batch_jobs
    def test_a_worker_that_may_not_be_a_batch_job(self, monkeypatch, trap):
        """It plays all the same."""

        def refuse(*_):
            raise PermissionError

        monkeypatch.setattr(os, "sched_setscheduler", refuse)
        with Worker(0, context="fork") as worker:
            assert seen(ask(worker, "reset")) == START
            ordinary = os.sched_getscheduler(0)
            assert os.sched_getscheduler(worker.process.pid) == ordinary


SHORT = atari(BREAKOUT, max_num_frames_per_episode=150)
WAYS = [(0, None), (1, "fork"), (5, "fork"), (2, "spawn"), (3, "forkserver")]


@functools.cache
def steps_of_five_games():
    """Return the first observations of five games, and then their steps."""
    twin = Twin(range(20, 25), SHORT, **EVERYTHING)
    first = twin.reset()
    batches = np.random.default_rng(0).integers(4, size=(80, 5))
    steps = [(batch, twin.step(batch)) for batch in batches]
    ends = np.sum([step[2:4] for _, step in steps], axis=(0, 2))
    assert (ends > 5).all()  # by a lost life, and by the limit
    return first, steps


BAD_SEEDS_OF_MANY = [
    *(-1, 1.5, "123", [1, 2], [1, 2, 3, 4], [1, 2, -3], [1, 2, 3.5]),
    *([[1, 2, 3]], [1, 2, None], [], {}, [1, 2, "3"], [[1], [2], [3]]),
]
BAD_BATCHES = [
    *([0, 0], [0, 0, 0, 0], [], 0, None, "012", ["0", "1", "2"], {}, [0]),
    *([0, 3, 0], [0, 0, -1], [0, 2**70, 0], np.array([0, 1, 255], np.uint8)),
    *([0.5, 1, 2], [0, math.nan, 1], [0, math.inf, 1], [0, None, 1]),
    *([0.0, 1.0, 2.0], np.zeros(3), np.zeros(3, np.float32), [1j, 0, 0]),
    *([True] * 3, np.zeros(3, bool), Tensor([0.0, 1.0, 2.0]), Tensor([0, 1])),
    *([[0, 1, 2]], [[0], [1], [2]], np.zeros((3, 1), int), [[0, 1], 2, 3]),
    *(np.array(2), Tensor(2), Tensor([0, 1, 3]), [0, [1], 2], object()),
    *(OnGPU(), [OnGPU()] * 3),
]
GOOD_BATCHES = [
    *([FIRE, NOOP, RIGHT], (FIRE, NOOP, RIGHT), Tensor([FIRE, NOOP, RIGHT])),
    [np.int64(FIRE), np.uint8(NOOP), RIGHT],
    *(np.array([FIRE, NOOP, RIGHT], kind) for kind in "bBhHiIlLqQ"),
    np.array([[FIRE, NOOP, RIGHT]] * 2).T[:, 0],
]
WRONG_ARGUMENTS = [
    *(dict(num_envs=n) for n in (0, -1, 1.5, "3", None, [2])),
    *(dict(processes=n) for n in (-1, 1.5, "3", [2])),
    *(dict(timeout=t) for t in (0, -1, -0.5, math.nan, "a second", None)),
    *(dict(context=c) for c in ("telepathy", 3)),
    *(dict(autoreset_mode=m) for m in ("sometimes", None, 0)),
    dict(autoreset_mode=AutoresetMode.DISABLED),
    dict(autoreset_mode=AutoresetMode.DISABLED.value),
    dict(seed=None),
    dict(on_life_loss="never"),
    dict(noop_max=-1),
    dict(frames=4),
    dict(env_id="ALE/Backgammon-v5", noop_max=3),
]


class TestGames:
    """Many games: the same whatever plays them, as Gymnasium would."""

    @pytest.mark.parametrize(
        "processes, method",
        [way for way in WAYS if way[1] in (None, *START_METHODS)],
    )
    def test_the_same_games_whatever_plays_them(self, processes, method):
        """Bit for bit those of `Game`, with every option on."""
        first, expected = steps_of_five_games()
        kwargs = dict(processes=processes, context=method, **EVERYTHING)
        with Games(5, SHORT, seed=20, **kwargs) as many:
            np.testing.assert_array_equal(many.reset()[0], first)
            for actions, step in expected:
                assert_same_step(many.step(actions), step)
            assert len(workers_now()) == processes

    @needs_fork
    @both_modes
    @pytest.mark.parametrize("on_life_loss", ["restart", "ignore"])
    def test_gymnasiums_own_vector_env_returns_the_same(
        self, mode, on_life_loss
    ):
        """`AsyncVectorEnv` of its wrappers: everything, but for more infos."""
        spec = atari(BREAKOUT, max_num_frames_per_episode=300)

        def make():
            return reference(spec, on_life_loss, noop_max=30)

        theirs = AsyncVectorEnv(
            [make] * 2, context="fork", autoreset_mode=mode
        )
        options = dict(on_life_loss=on_life_loss, noop_max=30, processes=2)
        ours = Games(2, spec, autoreset_mode=mode, **options)
        ends = 0
        with contextlib.closing(theirs), ours:
            assert ours.observation_space == theirs.observation_space
            assert ours.action_space == theirs.action_space
            one, other = (env.reset(seed=11)[0] for env in (ours, theirs))
            np.testing.assert_array_equal(one, other)
            for action in actions_for(150):
                actions = [action, (action + 1) % 4]
                *one, infos = ours.step(actions)
                *other, their_infos = theirs.step(np.array(actions))
                for array, other_array in zip(one, other, strict=True):
                    np.testing.assert_array_equal(array, other_array)
                    assert array.dtype == other_array.dtype
                for key in ("final_obs", "_final_obs"):
                    assert (key in infos) == (key in their_infos)
                    if key in infos:
                        pairs = zip(infos[key], their_infos[key], strict=True)
                        assert all(itertools.starmap(np.array_equal, pairs))
                ends += sum(one[2] | one[3])
        assert ends > 3

    @pytest.mark.parametrize(
        "script, terminated",
        [
            (dict(over=2), True),
            (dict(limit=2), False),
            (dict(limit=2, over=2), True),
            (dict(lives={0: 3, 2: 2}), True),
            (dict(over=2, on_life_loss="ignore"), True),
            (dict(limit=2, on_life_loss="continue"), False),
        ],
    )
    def test_terminated_or_truncated(self, titles, script, terminated):
        """A lost life and the end of a game terminate, the limit truncates."""
        script = dict(script)
        options = dict(on_life_loss=script.pop("on_life_loss", "restart"))
        titles(**script)
        with Games(3, processes=0, **options) as many:
            many.reset()
            obs, _, ended, cut, infos = many.step([NOOP] * 3)
            assert ended.tolist() == [terminated] * 3
            assert cut.tolist() == [not terminated] * 3
            final_info = infos["final_info"]
            assert final_info["truncated"].tolist() == [not terminated] * 3
            for i in range(3):
                assert seen(obs[i]) == START
                assert seen(infos["final_obs"][i])[-1] == (2,)

    @both_modes
    def test_a_life_that_is_no_game_has_no_info(self, titles, mode):
        """With "continue" an episode may end without any `final_info`."""
        titles(lives={0: 3, 2: 2}, rewards={1: 2, 5: 3}, over=6)
        options = dict(autoreset_mode=mode, on_life_loss="continue")
        with Games(3, processes=0, **options) as many:
            many.reset()
            *_, terminated, _, infos = many.step([NOOP] * 3)
            assert terminated.all()
            assert ("final_obs" in infos) == (mode is SAME_STEP)
            assert "final_info" not in infos and "_final_info" not in infos
            if mode is NEXT_STEP:
                obs, rewards, terminated, _, infos = many.step([RIGHT] * 3)
                assert [seen(one) for one in obs] == [[(2,)] * 4] * 3
                assert (rewards == 0).all() and not terminated.any()
                assert infos == {}
            *_, infos = many.step([NOOP] * 3)
            assert infos["_final_info"].all()
            assert infos["final_info"]["reward"].tolist() == [5.0] * 3
            assert infos["final_info"]["length"].tolist() == [2] * 3

    def test_next_step_shows_the_end_and_then_the_start(self, titles):
        """In this mode the start comes one step later, and takes no action."""
        titles(over=6)
        with Games(3, processes=0, autoreset_mode=NEXT_STEP) as many:
            many.reset()
            shown = [many.step([RIGHT] * 3)[0][1] for _ in range(4)]
            assert seen(shown[1]) == [(0,), (0,), (3, 4), (6,)]
            assert seen(shown[2]) == START
            assert seen(shown[3]) == [(0,), (0,), (0,), (3, 4)]

    def test_it_is_a_vector_env(self, trap):
        """With all that wrappers and training programs look for."""
        box = gym.spaces.Box(0, 255, (4, 84, 84), np.uint8)
        for mode in (SAME_STEP, NEXT_STEP):
            for given in (mode, mode.value):
                with Games(3, processes=0, autoreset_mode=given) as many:
                    assert isinstance(many, gym.vector.VectorEnv)
                    assert many.num_envs == 3
                    assert many.spec.id == "FakeNoFrameskip-v4"
                    assert many.render_mode == "rgb_array"
                    assert many.metadata["autoreset_mode"] is mode
                    assert many.single_observation_space == box
                    assert many.single_action_space == gym.spaces.Discrete(3)
                    assert many.observation_space.shape == (3, 4, 84, 84)
                    assert many.action_space == gym.spaces.MultiDiscrete(
                        [3] * 3
                    )
                    assert many.reset(seed=1)[0] in many.observation_space
                    many.step(many.action_space.sample())
                    assert many.unwrapped is many
        assert "autoreset_mode" not in Games.metadata

    @needs_fork
    def test_how_many_processes(self, trap):
        """One for each core by default, and none without a game."""
        cores = os.cpu_count()
        if hasattr(os, "sched_getaffinity"):
            cores = len(os.sched_getaffinity(0))
        for num_envs, processes, expected in [
            (cores + 1, None, cores),
            (1, None, 1),
            (2, 5, 2),
            (2, 0, 0),
        ]:
            with Games(num_envs, processes=processes, context="fork"):
                assert len(workers_now()) == expected

    @needs_fork
    @here_and_there
    def test_seeds_of_many_games(self, trap, processes):
        """A number, a list, or none: then they go on with what they have."""
        with pair(3, processes, noop_max=30) as (many, twin):
            begin(many, twin)
            begin(many, twin, np.int64(50))
            begin(many, twin, [5, 1, np.int32(9)])
            follow(many, twin, 3)
            begin(many, twin)
        with Games(2, seed=[4, 2], processes=0, noop_max=30) as many:
            begin(many, Twin([4, 2], noop_max=30))

    @needs_fork
    @here_and_there
    def test_bad_seeds_and_options_of_a_reset(self, trap, processes):
        """They are refused before any game was reset."""
        with pair(3, processes, noop_max=30) as (many, twin):
            for seed in BAD_SEEDS_OF_MANY:
                with pytest.raises(REFUSED):
                    Games(3, seed=seed, processes=0)
                with pytest.raises(REFUSED):
                    many.reset(seed=seed)
                follow(many, twin)
            with pytest.raises(ValueError):
                many.reset(options={"reset_mask": np.array([True] * 3)})
            follow(many, twin)
            np.testing.assert_array_equal(
                many.reset(options={})[0], twin.reset()
            )

    @needs_fork
    @here_and_there
    def test_bad_batches_are_refused_before_any_game_moves(
        self, trap, processes
    ):
        """The error says what was expected; all games are as they were."""
        with pair(3, processes) as (many, twin):
            follow(many, twin, 9)
            for batch in BAD_BATCHES:
                for step in (many.step, many.step_async):
                    with pytest.raises(REFUSED) as error:
                        step(batch)
                    assert "3" in str(error.value), batch
                with pytest.raises(gym.error.NoAsyncCallError):
                    many.step_wait()
                follow(many, twin)

    @needs_fork
    @here_and_there
    def test_all_kinds_of_batches(self, trap, processes):
        """Lists, tuples, arrays of whole numbers, what turns into one."""
        with pair(3, processes) as (many, twin):
            for batch in GOOD_BATCHES:
                expected = twin.step([FIRE, NOOP, RIGHT])
                assert_same_step(many.step(batch), expected)

    @needs_fork
    @here_and_there
    @pytest.mark.parametrize("copied", COPIES)
    def test_games_cannot_be_copied(self, trap, copied, processes):
        """It is refused, and the games go on as if nothing had happened."""
        with pair(3, processes) as (many, twin):
            before = workers_now()
            with pytest.raises(TypeError):
                copied(many)
            gc.collect()
            follow(many, twin, 20)
            assert workers_now() == before

    @needs_fork
    @here_and_there
    def test_nothing_returned_changes_later(self, trap, processes):
        """Observations, `final_obs`, infos and screens are the caller's own.

        To keep, and to write into.
        """
        with pair(3, processes) as (many, twin):
            kept = [many.render()]
            copies = copy.deepcopy(kept)
            for action in actions_for(30, 3):
                batch = np.array([action] * 3)
                kept += [many.step(batch), many.render()]
                copies += copy.deepcopy(kept[-2:])
                assert_same_step(kept[-2], twin.step(batch))
                assert batch.tolist() == [action] * 3
            assert sum("final_obs" in it[4] for it in kept if len(it) == 5) > 2
            assert pickle.dumps(kept) == pickle.dumps(copies)
            for action in actions_for(30, 3):
                result = many.step([action] * 3)
                assert_same_step(result, twin.step([action] * 3))
                for array in [*result[:4], *many.render()]:
                    array[:] = 0
                for last in result[4].get("final_obs", []):
                    if last is not None:
                        last[:] = 0

    @needs_fork
    def test_two_rows_of_games_in_turn(self, trap):
        """One plays while the other's actions are chosen: both as if alone."""
        with pair(2, 1, seed=0) as first, pair(2, 1, seed=5) as second:
            for many, _ in (first, second):
                many.step_async([FIRE, RIGHT])
            for _ in range(30):
                for many, twin in (first, second):
                    result = many.step_wait()
                    assert_same_step(result, twin.step([FIRE, RIGHT]))
                    many.step_async([FIRE, RIGHT])

    @pytest.mark.parametrize("kwargs", named(WRONG_ARGUMENTS))
    def test_wrong_arguments(self, kwargs):
        """Each is an error at once, and no process has been left."""
        with pytest.raises(REFUSED):
            Games(**{"num_envs": 2, "processes": 2, **kwargs})
        assert not workers_now()

    @both_modes
    @pytest.mark.parametrize("on_life_loss", ["restart", "ignore"])
    def test_gymnasiums_statistics_agree(self, trap, mode, on_life_loss):
        """`RecordEpisodeStatistics` counts what `final_info` says."""
        options = dict(on_life_loss=on_life_loss, autoreset_mode=mode)
        many = Games(2, processes=0, noop_max=5, **options)
        wrapper = gym.wrappers.vector.RecordEpisodeStatistics(many)
        ends = 0
        with contextlib.closing(wrapper) as wrapped:
            wrapped.reset()
            for actions in np.random.default_rng(0).integers(3, size=(80, 2)):
                infos = wrapped.step(actions)[4]
                assert ("episode" in infos) == ("final_info" in infos)
                if "episode" in infos:
                    mask, final = infos["_final_info"], infos["final_info"]
                    assert mask.tolist() == infos["_episode"].tolist()
                    for name, key in [("r", "reward"), ("l", "length")]:
                        theirs = infos["episode"][name][mask]
                        assert theirs.tolist() == final[key][mask].tolist()
                    ends += mask.sum()
        assert ends > 3

    def test_gymnasiums_reward_wrappers(self, trap):
        """They work in the default mode."""
        wrappers = gym.wrappers.vector
        many = Games(2, processes=0)
        doubled = wrappers.TransformReward(many, lambda rewards: rewards * 2)
        clipped = wrappers.ClipReward(doubled, -0.5, 0.5)
        normal = wrappers.NormalizeReward(Games(2, processes=0))
        twin = Twin(range(2))
        with contextlib.closing(clipped), contextlib.closing(normal):
            np.testing.assert_array_equal(clipped.reset()[0], twin.reset())
            for action in actions_for(30, 3):
                rewards = clipped.step([action] * 2)[1]
                expected = np.clip(twin.step([action] * 2)[1] * 2, -0.5, 0.5)
                np.testing.assert_array_equal(rewards, expected)
            normal.reset()
            assert normal.step([FIRE] * 2)[1].shape == (2,)

    def test_gymnasiums_observation_wrappers(self, trap):
        """They all demand the mode in which the end is a step of its own."""
        wrappers = gym.wrappers.vector
        many = Games(2, processes=0, autoreset_mode=NEXT_STEP)
        floats = wrappers.DtypeObservation(many, np.float32)
        scaled = wrappers.RescaleObservation(
            floats, np.float32(0), np.float32(1)
        )
        wrapped = wrappers.FlattenObservation(scaled)
        twin = Twin(range(2), mode=NEXT_STEP)
        with contextlib.closing(wrapped):
            twin.reset()
            assert wrapped.reset()[0].shape == (2, 4 * 84 * 84)
            for action in actions_for(30, 3):
                obs = wrapped.step([action] * 2)[0]
                expected = twin.step([action] * 2)[0].reshape(2, -1) / 255
                np.testing.assert_allclose(obs, expected, atol=1e-6)
        many = Games(2, processes=0, autoreset_mode=NEXT_STEP)
        with contextlib.closing(
            wrappers.NormalizeObservation(many)
        ) as wrapped:
            assert wrapped.reset()[0].shape == (2, 4, 84, 84)

    def test_gymnasiums_video_recorder(self, monkeypatch, tmp_path, titles):
        """`RecordVideo` is fed: here with a codec that keeps the frames."""
        titles()
        films = []

        class Clip:
            def __init__(self, frames, fps):
                films.append(list(frames))
                assert fps == 15  # a step takes 1/15 of a second

            def write_videofile(self, path, logger=None):
                pass

        codec = types.ModuleType("moviepy.video.io.ImageSequenceClip")
        codec.ImageSequenceClip = Clip
        for name in ("moviepy", "moviepy.video", "moviepy.video.io"):
            monkeypatch.setitem(sys.modules, name, types.ModuleType(name))
        monkeypatch.setitem(sys.modules, codec.__name__, codec)
        twin = Twin(range(2), mode=NEXT_STEP)
        many = Games(2, processes=0, autoreset_mode=NEXT_STEP)
        wrapped = gym.wrappers.vector.RecordVideo(
            many, str(tmp_path / "films"), video_length=20
        )
        with contextlib.closing(wrapped):
            wrapped.reset()
            twin.reset()
            expected = [np.hstack([one.render() for one in twin.games])]
            for action in actions_for(20, 3):
                wrapped.step([action] * 2)
                twin.step([action] * 2)
                screens = [one.render() for one in twin.games]
                expected.append(np.hstack(screens))
        assert len(films) == 1
        assert np.array_equal(films[0], expected)


@needs_fork
@needs_signals
@needs_proc
class TestFaults:
    """Workers that die, hang, fail or are interrupted, and closing."""

    @both_modes
    @pytest.mark.parametrize("deed", [die, leave, hang])
    def test_a_worker_dies_in_the_middle_of_a_step(self, trap, deed, mode):
        """Its games start over from their seeds, the others just go on."""
        with pair(mode=mode, timeout=1, noop_max=30) as (many, twin):
            begin(many, twin, [5, 1, 9, 70])
            follow(many, twin, 5)
            late = trap.player(9)
            trap.set(deed, 9, later=2)
            follow(many, twin, restarted=[2, 3])
            assert trap.sprung()
            assert left_after(4, [late]) == []
            assert len(workers_now()) == 2
            follow(many, twin, 20)

    @both_modes
    @pytest.mark.parametrize("how", ["SIGKILL", "SIGSTOP"])
    def test_all_workers_die_between_two_steps(self, trap, how, mode):
        """In NEXT_STEP mode also just before a first observation is shown."""
        with pair(mode=mode, timeout=1) as (many, twin):
            while mode is NEXT_STEP and twin.waiting[0] is None:
                follow(many, twin)
            for pid in workers_now():
                os.kill(pid, getattr(signal, how))
            follow(many, twin, 20, restarted=range(4))

    def test_a_late_worker_is_closed_before_another_starts(
        self, trap, monkeypatch
    ):
        """Whoever holds it: it never writes to its successor's memory."""
        make, test = gym.make, os.getpid()
        late = multiprocessing.RawValue("q", 0)
        still_there = multiprocessing.RawValue("b", 0)

        def make_and_look(*args, **kwargs):
            if os.getpid() != test and late.value and alive(late.value):
                still_there.value = True
            return make(*args, **kwargs)

        monkeypatch.setattr(gym, "make", make_and_look)
        with pair(timeout=0.5, noop_max=3) as (many, twin):
            held = [it for it in gc.get_objects() if isinstance(it, Worker)]
            assert len(held) == 2
            begin(many, twin, 5)
            late.value = trap.player(5)
            os.kill(late.value, signal.SIGSTOP)
            follow(many, twin, restarted=[0, 1])
            assert not still_there.value and not alive(late.value)

    @both_modes
    def test_a_worker_dies_while_it_writes(self, monkeypatch, trap, mode):
        """`final_obs` is whole: what the caller saw last, each time.

        The worker is killed after each line that Python runs in it from the
        last frame of a step on, until it gets through the step.
        """
        line = multiprocessing.RawValue("q", 0)
        left = multiprocessing.RawValue("q", 0)
        act, test = FakeALE.act, os.getpid()

        def count(frame, event, arg):
            if event == "line" and left.value > 0:
                left.value -= 1
                if left.value == 0:
                    die()
            return count

        def act_and_count(ale, *args):
            # Both games have begun to play, and the second is at its end.
            if os.getpid() != test and ale.seed == 13:
                sys.settrace(count)
                if ale.frame % 4 == 3:
                    number = line.value
                    line.value = 0
                    left.value = number
            return act(ale, *args)

        monkeypatch.setattr(FakeALE, "act", act_and_count)
        with pair(mode=mode) as (many, twin):
            restarted = [2, 3]
            for n in itertools.count(1, 1 if ALL else 3):
                begin(many, twin)
                follow(many, twin, 1)
                line.value = n
                result = many.step([FIRE] * 4)
                restarted = restarted_in(result, 4)
                assert_same_step(result, twin.step([FIRE] * 4, restarted))
                if not restarted:
                    break
                assert restarted == {2, 3}
            assert n > 10

    def test_the_screens_of_a_dead_worker_are_black(self, trap):
        """`render` replaces nobody; the next step does, and tells."""
        with pair(noop_max=3) as (many, twin):
            begin(many, twin, 20)
            follow(many, twin)
            pid = trap.player(22)
            kill(pid)
            for _ in range(2):
                screens = many.render()
                assert isinstance(screens, tuple) and len(screens) == 4
                for i in range(2):
                    assert np.array_equal(screens[i], twin.games[i].render())
                    assert not screens[2 + i].any()
                assert len(workers_now()) == 1
            follow(many, twin, restarted=[2, 3])
            for screen, one in zip(many.render(), twin.games, strict=True):
                assert np.array_equal(screen, one.render())
            trap.set(die, 23)  # when that of the other game is drawn already
            screens = many.render()
            assert trap.sprung()
            assert [bool(screen.any()) for screen in screens] == [1, 1, 0, 0]

    @both_modes
    @here_and_there
    @pytest.mark.parametrize(
        "deed, seed, expected, words",
        [
            (crash, 22, ZeroDivisionError, "a bug in the middle"),
            (crash, None, ZeroDivisionError, "a bug in the middle"),
            (unsendable, 22, (Unsendable, RuntimeError), "an odd error"),
            (interrupt, 22, KeyboardInterrupt, "^$"),
        ],
    )
    def test_after_an_error_the_games_need_a_reset(
        self, trap, processes, mode, deed, seed, expected, words
    ):
        """It is raised once, and nothing of before is left after the reset.

        Whoever fails: one game, in a step in which others come to an end, or
        a game in each process.
        """
        with pair(processes=processes, mode=mode) as (many, twin):
            before = workers_now()
            for later in range(8):
                begin(many, twin, 20)
                follow(many, twin, 1)
                trap.set(deed, seed, later, times=1 if seed else 100)
                with pytest.raises(expected, match=words) as error:
                    for _ in range(20):
                        many.step([NOOP] * 4)
                trap.sprung()
                if deed is crash:
                    assert "in crash" in text_of(error.value)
                for step in (many.step, many.step_async):
                    with pytest.raises(gym.error.ResetNeeded):
                        step([NOOP] * 4)
            begin(many, twin, 20)
            follow(many, twin, 20)
            if deed is not interrupt:
                assert workers_now() == before

    def test_a_replacement_that_dies_at_once(self, trap):
        """An error with the exit code, and the games are closed."""
        with pair(noop_max=3) as (many, twin):
            begin(many, twin, 20)
            trap.set(leave, 22, times=2)
            with pytest.raises(RuntimeError, match="42"):
                many.step([NOOP] * 4)
            assert trap.sprung()
            assert not workers_now()
            with pytest.raises(gym.error.ClosedEnvironmentError):
                many.step([NOOP] * 4)

    @pytest.mark.parametrize(
        "deed, expected, words",
        [
            (crash, ZeroDivisionError, "a bug"),
            (leave, RuntimeError, "42"),
            (die, RuntimeError, "SIGKILL|9"),
        ],
    )
    def test_a_worker_that_cannot_start(
        self, monkeypatch, titles, deed, expected, words
    ):
        """The construction fails, and leaves no process behind."""
        titles()
        make, test = gym.make, os.getpid()

        def fail(*args, **kwargs):
            if os.getpid() != test:
                deed()
            return make(*args, **kwargs)

        monkeypatch.setattr(gym, "make", fail)
        with pytest.raises(expected, match=words):
            Games(4, processes=2, context="fork")
        assert not workers_now()

    def test_a_short_timeout_is_for_steps_alone(self, monkeypatch, trap):
        """Starts and resets get their time; a slow one replaces nobody."""
        make, test = gym.make, os.getpid()

        def make_slowly(*args, **kwargs):
            if os.getpid() != test:
                time.sleep(0.3)
            return make(*args, **kwargs)

        monkeypatch.setattr(gym, "make", make_slowly)
        reset = FakeEnv.restore_state

        def reset_slowly(env, state):
            time.sleep(0.7 * (os.getpid() != test))
            reset(env, state)

        with pair(processes=1, timeout=0.1) as (many, twin):
            before = workers_now()
            with monkeypatch.context() as patch:
                patch.setattr(FakeEnv, "restore_state", reset_slowly)
            begin(many, twin, 5)
            assert workers_now() == before

    def test_a_program_that_was_stopped_loses_no_game(self, program):
        """As by Ctrl-Z or a batch system, for longer than the timeout."""
        process = program(as_program(being_stopped, first=play_slowly))
        for _ in range(3):
            assert process.stdout.readline() == "playing\n"
            time.sleep(0.1)  # at some moment of a step
            os.killpg(process.pid, signal.SIGSTOP)
            time.sleep(1.2)
            os.killpg(process.pid, signal.SIGCONT)
        assert end_of(process) == (["played"], [])

    @here_and_there
    @pytest.mark.parametrize(
        "state",
        ["new", "reset", "stepping", "dead", "stopped", "hung", "dropped"],
    )
    def test_closing_in_every_state(self, trap, state, processes):
        """Twice: nobody is left, and later calls are told."""
        many = Games(2, processes=processes, context="fork", noop_max=3)
        if state != "new":
            many.reset(seed=5)
        if processes == 0 and state in ("dead", "stopped", "hung"):
            return  # there is nobody whom it could happen to
        if state in ("stepping", "hung", "dropped"):
            if state == "hung":
                trap.set(hang, 5)
            many.step_async([NOOP] * 2)
        if state in ("dead", "stopped"):
            stop = state == "stopped"
            how = signal.SIGSTOP if stop else signal.SIGKILL
            os.kill(trap.player(5), how)
        if state == "dropped":
            pids = workers_now()
            del many
            gc.collect()
            assert left_after(4, pids) == []
            return
        many.close()
        many.close()
        assert many.closed and not workers_now()
        for call in (
            many.reset,
            many.render,
            many.step_wait,
            lambda: many.step([NOOP] * 2),
            lambda: many.step_async([NOOP] * 2),
            lambda: many.step(None),
        ):
            with pytest.raises(gym.error.ClosedEnvironmentError):
                call()

    def test_the_end_of_a_with_statement(self, trap):
        """It closes the games, by an error too."""
        with pytest.raises(LookupError), pair() as (many, _):
            raise LookupError
        assert many.closed and not workers_now()

    def test_opening_and_closing_leaves_nothing(self, trap):
        """No process, no thread and no file."""

        def use():
            with pair() as (many, twin), Worker(0, context="fork") as worker:
                follow(many, twin)
                ask(worker, "reset")

        def held():
            gc.collect()
            folders = "/proc/self/fd", "/proc/self/task"
            return [len(os.listdir(folder)) for folder in folders]

        use()
        before = held()
        for _ in range(3):
            use()
        assert held() == before


def play_slowly():
    """Let a step of a game take 0.1 s."""
    import time

    import game

    step = game.Game.step

    def slow_step(self, action):
        time.sleep(0.1)
        return step(self, action)

    game.Game.step = slow_step


def being_stopped():
    import game

    with game.Games(4, processes=2, timeout=0.8) as many:
        many.reset()
        for _ in range(3):
            print("playing", flush=True)
            for _ in range(3):
                assert "restarted" not in many.step([1] * 4)[4]
    print("played")


# How many orders of calls are tried, and how long they are. By default they
# are the same each time.
TRIED = hypothesis.settings(
    max_examples=int(os.environ.get("N", 40)),
    stateful_step_count=30,
    derandomize=not ALL,
    database=None,
    deadline=None,
    phases=list(hypothesis.Phase) if ALL else [hypothesis.Phase.generate],
    suppress_health_check=list(hypothesis.HealthCheck),
)
GAMES = 3
game_numbers = strategies.integers(0, GAMES - 1)
batches = strategies.lists(
    strategies.integers(0, 2), min_size=GAMES, max_size=GAMES
)
rule, precondition = (
    hypothesis.stateful.rule,
    hypothesis.stateful.precondition,
)


def when(*states):
    """Let a rule be for these states of the games."""
    return precondition(lambda self: self.state in states)


class Calls(hypothesis.stateful.RuleBasedStateMachine):
    """Calls of `Games` in any order, whatever goes wrong, beside a twin.

    The games are `"new"` as long as they need a reset, or `"ready"`,
    `"stepping"` or `"closed"`. `lost` are those whose worker has died, which
    the next step tells, and `maybe` those where the one after it may.
    """

    @hypothesis.stateful.initialize(
        processes=strategies.integers(0, 3 if "fork" in START_METHODS else 0),
        mode=strategies.sampled_from([SAME_STEP, NEXT_STEP]),
        on_life_loss=strategies.sampled_from(MODES),
        fire=strategies.booleans(),
        limit=strategies.sampled_from([25, math.inf]),
    )
    def open(self, processes, mode, on_life_loss, fire, limit):
        self.patch = pytest.MonkeyPatch()
        self.trap = Trap()
        script = dict(LIFELIKE, limit=limit, ghost=self.trap)
        self.patch.setattr(gym, "make", lambda *_, **__: FakeEnv(**script))
        options = dict(
            on_life_loss=on_life_loss, fire_on_reset=fire, noop_max=5
        )
        self.seeds = itertools.count(100, 10)
        self.processes = processes
        self.was_late = False
        self.seed_anew = True
        self.state = "new"
        self.lost = set()
        self.maybe = set()
        seed = next(self.seeds)
        self.twin = Twin(range(seed, seed + GAMES), mode=mode, **options)
        self.games = Games(
            GAMES,
            seed=seed,
            processes=processes,
            context="fork" if processes else None,
            timeout=0.5,
            autoreset_mode=mode,
            **options,
        )
        self.reset("none")

    def share_of(self, i):
        """Return the games that are played in the same process as game i."""
        if self.processes == 0:
            return set()
        players = [self.trap.player(seed) for seed in self.twin.seeds]
        return {j for j in range(GAMES) if players[j] == players[i]}

    def check_step(self, result, actions):
        """Compare a step with the twin's, in which lost games start over."""
        restarted = restarted_in(result, GAMES)
        assert self.lost <= restarted <= self.lost | self.maybe
        assert_same_step(result, self.twin.step(actions, restarted))
        self.lost = self.maybe - restarted
        self.maybe = set()
        self.state = "ready"

    def check_screens(self, screens, lost):
        """Compare screens with the twin's; those of lost games are black."""
        assert isinstance(screens, tuple) and len(screens) == GAMES
        for i, one in enumerate(self.twin.games):
            expected = np.zeros((210, 160, 3), np.uint8)
            if i not in lost:
                expected = one.render()
            np.testing.assert_array_equal(screens[i], expected)

    @when("new", "ready")
    @rule(kind=strategies.sampled_from(["none", "number", "list"]))
    def reset(self, kind):
        if self.seed_anew and kind == "none" and self.state == "new":
            # Which random numbers were drawn before an error, nobody knows.
            obs, infos = self.games.reset()
            assert (obs == obs[:, :1]).all() and infos == {}
        seed = None
        if kind == "number" or self.seed_anew:
            seed = next(self.seeds)
        elif kind == "list":
            first = next(self.seeds)
            seed = [first + 3, first, first + 7]
        begin(self.games, self.twin, seed, self.lost)
        self.seed_anew = False
        self.lost = set()
        self.state = "ready"

    @when("ready")
    @rule(actions=batches)
    def step(self, actions):
        self.check_step(self.games.step(actions), actions)

    @when("ready")
    @rule(actions=batches)
    def step_async(self, actions):
        self.games.step_async(actions)
        self.actions = actions
        self.state = "stepping"

    @when("stepping")
    @rule()
    def step_wait(self):
        self.check_step(self.games.step_wait(), self.actions)

    @rule(batch=strategies.sampled_from(BAD_BATCHES))
    def call_wrongly(self, batch):
        closed = gym.error.ClosedEnvironmentError
        pending = gym.error.AlreadyPendingCallError
        needed = gym.error.ResetNeeded
        wrong = dict(new=needed, stepping=pending, closed=closed)
        for step in (self.games.step, self.games.step_async):
            if self.state == "ready":
                with pytest.raises(REFUSED):
                    step(batch)
            else:
                with pytest.raises(wrong[self.state]):
                    step([NOOP] * GAMES)
        if self.state in ("new", "ready"):
            with pytest.raises(gym.error.NoAsyncCallError):
                self.games.step_wait()
        if self.state == "closed":
            self.games.close()
            for call in (self.games.reset, self.games.render):
                with pytest.raises(closed):
                    call()

    @when("ready")
    @rule()
    def render(self):
        self.check_screens(self.games.render(), self.lost)

    @when("ready", "stepping")
    @precondition(lambda self: self.processes > 0)
    @rule(i=game_numbers)
    def kill(self, i):
        share = self.share_of(i)
        if share & (self.lost | self.maybe):
            return
        kill(self.trap.player(self.twin.seeds[i]))
        if self.state == "stepping":
            self.maybe |= share
        else:
            self.lost |= share

    @when("ready")
    @precondition(lambda self: self.processes > 0 and not self.was_late)
    @rule(i=game_numbers, actions=batches, seldom=strategies.integers(0, 9))
    def be_late(self, i, actions, seldom):
        share = self.share_of(i)
        if seldom == 0 and not share & self.lost:
            self.was_late = True
            pid = self.trap.player(self.twin.seeds[i])
            os.kill(pid, signal.SIGSTOP)
            self.lost |= share
            self.step(actions)

    @when("ready")
    @precondition(lambda self: not self.lost)
    @rule(
        deed=strategies.sampled_from(
            [crash, unsendable, unreadable, interrupt, leave, die]
        ),
        call=strategies.sampled_from(["step", "wait", "reset", "render"]),
        i=game_numbers,
        later=strategies.integers(0, 8),
        actions=batches,
    )
    def do_a_deed(self, deed, call, i, later, actions):
        """Something happens in a game, in the middle of the call."""
        if deed in (leave, die) and self.processes == 0:
            return
        if deed is interrupt and call == "wait" and self.processes > 0:
            return  # it might come outside of both calls
        expected = {
            crash: ZeroDivisionError,
            unsendable: (Unsendable, RuntimeError),
            unreadable: (Unreadable, RuntimeError),
            interrupt: KeyboardInterrupt,
        }.get(deed, ())
        share = self.share_of(i)
        self.trap.set(deed, self.twin.seeds[i], later)
        raised = True
        try:
            result = self.call(call, actions)
            raised = False
        except expected:
            pass
        sprung = self.trap.sprung()
        assert raised == (sprung and expected != ())
        if raised:
            self.state = "new"
            self.seed_anew = True
        else:
            lost = share if sprung else set()
            self.check(call, result, actions, lost)

    @when("ready")
    @rule(
        line=strategies.integers(0, 90),
        call=strategies.sampled_from(
            ["step", "wait", "reset", "render", "close"]
        ),
        actions=batches,
    )
    def press_ctrl_c(self, line, call, actions):
        """Ctrl-C comes at some line of the call; then a reset is fine."""
        try:
            result = interrupted(line, lambda: self.call(call, actions))
        except KeyboardInterrupt:
            if call == "close":
                self.close()
            else:
                self.seed_anew = True
                self.lost = set()
                self.reset("number")
        else:
            self.check(call, result, actions, self.lost)

    def call(self, name, actions):
        """Make a call, and return what it returns."""
        if name == "wait":
            self.games.step_async(actions)
            return self.games.step_wait()
        if name == "step":
            return self.games.step(actions)
        return getattr(self.games, name)()

    def check(self, name, result, actions, lost):
        """Compare what a call returned with the twin's; some are lost."""
        if name in ("step", "wait"):
            self.lost = lost
            self.check_step(result, actions)
        elif name == "reset":
            expected = self.twin.reset(restarted=lost)
            np.testing.assert_array_equal(result[0], expected)
            self.lost = set()
        elif name == "render":
            self.lost = lost
            self.check_screens(result, lost)
        else:
            self.close()

    @precondition(lambda self: self.state != "closed")
    @rule(seldom=strategies.integers(0, 9))
    def close_seldom(self, seldom):
        if seldom == 0:
            self.close()

    def close(self):
        self.games.close()
        self.games.close()
        assert not multiprocessing.active_children()
        self.state = "closed"

    def teardown(self):
        self.close()
        self.patch.undo()


TestCalls = Calls.TestCase
TestCalls.settings = TRIED


def hang_in_steps():
    """Let a step of a game take for ever."""
    import time

    import game

    def step(self, action):
        time.sleep(1000)

    game.Game.step = step


def hanging(context):
    import multiprocessing
    import time

    import game

    worker = game.Worker(0, context=context)
    busy = game.Worker(1, context=context)
    many = game.Games(2, processes=2, context=context)
    many.reset()
    for one in (worker, busy):
        one.child.send(("reset", None))
        one.child.recv()
    busy.child.send(("step", 0))
    many.step_async([0, 0])
    time.sleep(0.2)
    print(*[p.pid for p in multiprocessing.active_children()], flush=True)
    time.sleep(1000)


def ending(how):
    import multiprocessing
    import sys

    import game

    worker = game.Worker(1)
    worker.child.send(("reset", None))
    worker.child.recv()
    many = game.Games(2, processes=2)
    many.reset()
    many.step_async([0, 0])
    print(*[p.pid for p in multiprocessing.active_children()], flush=True)
    if how == "error":
        raise LookupError("an error of the program's own")
    if how == "exit":
        sys.exit(3)


def training():
    import multiprocessing

    import game

    worker = game.Worker(1)
    worker.child.send(("reset", None))
    worker.child.recv()
    many = game.Games(4, processes=2)
    many.reset()
    print(*[p.pid for p in multiprocessing.active_children()], flush=True)
    while True:
        worker.child.send(("step", 0))
        many.step(many.action_space.sample())
        worker.child.recv()


def starting_others(context):
    """See that what is started after a worker hears all signals."""
    import multiprocessing
    import subprocess
    import sys

    import game

    look = "print(*[l for l in open('/proc/self/status') if 'Sig' in l[:3]])"
    command = [sys.executable, "-c", look]
    subprocess.call(command)
    context = multiprocessing.get_context(context)
    with game.Worker(0, context=context) as worker:
        worker.child.send(("reset", None))
        worker.child.recv()
        subprocess.call(command)
        other = context.Process(target=subprocess.call, args=[command])
        other.start()
        other.join()


def working_threads():
    """Play beside threads, OpenCV's own and others."""
    import threading

    import cv2
    import numpy as np

    import game

    done = threading.Event()

    def work():
        while not done.is_set():
            cv2.GaussianBlur(np.zeros((500, 500, 3), np.uint8), (9, 9), 0)

    cv2.setNumThreads(4)
    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    with game.Games(4, processes=2, context="fork") as many:
        many.reset()
        for _ in range(10):
            assert "restarted" not in many.step([0, 1, 2, 3])[4]
    done.set()


def unguarded(context, name):
    import game

    if name == "Games":
        game.Games(2, processes=1, context=context)
    else:
        worker = game.Worker(0, context=context)
        worker.child.send(("reset", None))
        worker.child.recv()


def alone():
    import sys

    sys.modules["labml"] = None

    import game

    assert game.Game(0).reset().shape == (4, 84, 84)
    many = game.Games(2, processes=0)
    assert many.reset()[0].shape == (2, 4, 84, 84)
    print(game.__file__)


class TestPrograms:
    """Programs that end, one way or another."""

    @needs_signals
    @needs_proc
    def test_workers_leave_with_a_parent_that_is_killed(self, program):
        """By `SIGKILL`, idle or in the middle of a step, however started.

        One that is stopped leaves when it is continued.
        """
        text = as_program(hanging, first=hang_in_steps)
        programs = [program(text, context) for context in START_METHODS]
        pids = [numbers_from(process) for process in programs]
        assert [len(each) for each in pids] == [4, 4, 4]
        pids = list(itertools.chain(*pids))
        assert all(map(alive, pids))
        stopped, *others = pids
        os.kill(stopped, signal.SIGSTOP)
        for process in programs:
            process.kill()
            process.wait()
        assert left_after(4, others) == []
        os.kill(stopped, signal.SIGCONT)
        assert left_after(4, [stopped]) == []

    @needs_proc
    def test_programs_end_without_closing(self, program):
        """By an error or by their end: nothing is left, nothing is added."""
        text = as_program(ending)
        ways = [("error", 1), ("exit", 3), ("end", 0)]
        programs = [program(text, how) for how, _ in ways]
        for process, (how, code) in zip(programs, ways, strict=True):
            stdout, stderr = end_of(process, code)
            assert left_after(4, map(int, stdout[0].split())) == []
            assert (stderr == []) == (how != "error")
            assert "\n".join(stderr).count("Traceback") == (how == "error")

    @needs_signals
    @needs_proc
    def test_ctrl_c_in_a_training_loop(self, program):
        """The signal goes to all: one traceback, the program's own."""
        process = program(as_program(training))
        pids = numbers_from(process)
        assert len(pids) == 3
        time.sleep(0.2)
        os.killpg(process.pid, signal.SIGINT)
        _, stderr = process.communicate(timeout=PATIENCE)
        assert process.returncode in (1, -signal.SIGINT)
        assert left_after(4, pids) == []
        assert stderr.count("Traceback") == 1
        assert "worker_process" not in stderr

    @needs_signals
    @needs_proc
    def test_what_is_started_after_a_worker_hears_all_signals(self, program):
        """As it would without one, however it is started."""
        text = as_program(starting_others)
        for process in [program(text, method) for method in START_METHODS]:
            lines, _ = end_of(process)
            masks = [
                line for line in lines if re.match(" ?Sig(Blk|Ign)", line)
            ]
            assert len(masks) == 6
            assert masks[:2] == masks[2:4] == masks[4:]

    @needs_fork
    def test_programs_with_busy_threads(self, program):
        """OpenCV's own, and others: a fork copies their locks."""
        end_of(program(as_program(working_threads)))

    @needs_proc
    def test_programs_without_a_guard(self, program):
        """Python's own message says what is missing; nothing runs on."""
        text = as_program(unguarded, guard="")
        ways = itertools.product(
            set(START_METHODS) - {"fork"}, ("Games", "Worker")
        )
        for process in [program(text, *way) for way in ways]:
            _, stderr = end_of(process, 1)
            assert "__name__ == '__main__'" in "\n".join(stderr)
            assert left_after(4, session_of(process)) == []

    def test_the_module_alone_is_complete(self, program, tmp_path):
        """Copied into an empty folder, where labml isn't installed."""
        (tmp_path / "game.py").write_text(MODULE.read_text())
        process = program(as_program(alone), env=environment())
        assert end_of(process) == ([str(tmp_path / "game.py")], [])


def start_main(program, *args, **options):
    """Start `python game.py` in an empty folder."""
    return program(MODULE.read_text(), *args, name="game.py", **options)


def steps_in(lines):
    """Check the three lines that the program ends with; return the steps."""
    number = r"[\d,]+(\.\d+)?"
    steps = re.fullmatch(rf"({number}) steps.* {number} episodes.*", lines[0])
    assert steps, lines
    scores = r"score: (mean [\d.-]+, best -?\d+|no game has ended)"
    assert re.fullmatch(scores, lines[1]), lines
    assert re.fullmatch(
        rf"{number} .*steps/s, {number} .*frames/s", lines[2]
    ), lines
    return int(steps[1].replace(",", ""))


class TestMain:
    """The module as a program."""

    def test_the_program(self, program, tmp_path):
        """A picture and a summary, and nothing else anywhere."""
        process = start_main(program, "--steps", "300", "--games", "2")
        lines, errors = end_of(process)
        assert errors == []
        files = {path.name for path in tmp_path.iterdir()}
        assert files - {"__pycache__"} == {"game.py", "game.png"}
        assert steps_in(lines[-3:]) == 600
        assert not any("warn" in line.lower() for line in lines)
        picture = cv2.imread(str(tmp_path / "game.png"))
        assert picture.shape[0] >= 2 * 84 and picture.shape[1] >= 4 * 84
        assert picture.max() > 100

    def test_a_short_program(self, program, tmp_path):
        """Too short for a game to end: progress is there all the same."""
        args = ["PongNoFrameskip-v4", "--steps", "50", "--games", "2"]
        lines, errors = end_of(start_main(program, *args, "--seed", "9"))
        assert errors == []
        *progress, steps, score, speed = lines
        assert any("steps per second" in line for line in progress)
        assert steps_in([steps, score, speed]) == 100
        assert score == "score: no game has ended"
        assert (tmp_path / "game.png").exists()

    @needs_signals
    @needs_proc
    def test_ctrl_c_stops_the_program(self, program):
        """With the summary so far, and no traceback of anyone."""
        process = start_main(program, "--steps", "10000000", "--games", "4")
        progress = ""
        while "steps per second" not in progress:  # then it plays
            progress += process.stdout.read(1)
        pids = session_of(process)
        assert len(pids) > 1
        os.killpg(process.pid, signal.SIGINT)
        lines, errors = end_of(process)
        assert errors == []
        assert steps_in(lines[-3:]) > 0
        assert left_after(4, pids) == []

    @pytest.fixture
    def main(self, monkeypatch, tmp_path, capsys):
        """Return a function that runs the module here, until it gives up."""

        def run(*args):
            monkeypatch.setattr(sys, "argv", ["game.py", *args])
            monkeypatch.chdir(tmp_path)
            with pytest.raises(SystemExit) as ending:
                runpy.run_path(str(MODULE), run_name="__main__")
            assert list(tmp_path.iterdir()) == []
            return ending.value.code, *capsys.readouterr()

        return run

    def test_help(self, main):
        """It says what each option is, and its default."""
        code, stdout, _ = main("--help")
        assert code == 0
        for option, default in [
            ("env_id", BREAKOUT),
            ("--games GAMES", 8),
            ("--steps STEPS", 2000),
            ("--seed SEED", 0),
        ]:
            line = rf"^ +{option} +\w+( \w+)+ \(default: {default}\)$"
            assert re.search(line, stdout, re.M), option

    @pytest.mark.parametrize(
        "args, message",
        [
            ("Breakot-v4", "Did you mean: `Breakout`?"),
            ("NoSuchGame", "NoSuchGame"),
            ("no_such_module:Pong-v5", "no_such_module"),
            ("CartPole-v1", "Atari"),
            ("--games 0", "games"),
            ("--steps 0", "steps"),
            ("--steps -3", "-3"),
            ("--seed -1", "-1"),
            ("--games many", "many"),
        ],
    )
    def test_wrong_arguments(self, main, args, message):
        """One clear line and exit code 2, and no file."""
        code, stdout, stderr = main(*args.split())
        assert code == 2 and stdout == ""
        *usage, line = stderr.splitlines()
        assert message in line
        assert (usage == []) or "many" in args  # argparse's own has a usage


def tell_it_all():
    """Print what is missing here and in a child, and a digest of the games."""
    import hashlib
    import multiprocessing
    import pickle

    import game

    missing = "[name for module, name in {} if not hasattr(module, name)]"
    missing = missing.format(
        "[(__import__(path), name) for path, name in ["
        "('os', 'sched_getaffinity'), ('os', 'SCHED_BATCH'), ('os', 'fork'),"
        "('os', 'sched_yield'), ('select', 'poll'),"
        "('signal', 'pthread_sigmask')]]"
    )
    print(*eval(missing))
    with multiprocessing.Pool(1) as pool:
        print(*pool.apply(eval, [missing]))
    print(*multiprocessing.get_all_start_methods())
    options = dict(on_life_loss="continue", noop_max=30, fire_on_reset=True)
    one = game.Game(3, **options)
    returned = [one.reset()]
    with game.Worker(3, **options) as worker:
        worker.child.send(("reset", None))
        returned.append(worker.child.recv())
        for action in [1, 2, 3] * 30:
            returned.append(one.step(action))
            worker.child.send(("step", action))
            returned.append(worker.child.recv())
    for processes in (0, 2):
        with game.Games(3, processes=processes, **options) as many:
            returned.append(many.reset())
            for action in [1, 2, 3] * 30:
                returned.append(many.step([action] * 3))
            returned.append(many.render())
    print(hashlib.sha1(pickle.dumps(returned, protocol=4)).hexdigest())


def be_macos():
    import os

    for name in ("sched_getaffinity", "sched_setscheduler", "SCHED_BATCH"):
        if hasattr(os, name):
            delattr(os, name)


def be_windows():
    import os
    import select
    import signal

    def take_away(module, *names):
        for name in names:
            if hasattr(module, name):
                delattr(module, name)

    take_away(os, "sched_getaffinity", "sched_setscheduler", "SCHED_BATCH")
    take_away(os, "sched_yield", "fork", "forkpty", "killpg")
    take_away(select, "poll", "epoll")
    take_away(signal, "pthread_sigmask", "pthread_kill", "sigwait")

    import multiprocessing
    from multiprocessing import context, resource_tracker

    take_away(resource_tracker, "ensure_running")
    spawn = context._concrete_contexts["spawn"]
    context._concrete_contexts = {"spawn": spawn}
    context._default_context._default_context = spawn
    multiprocessing.get_all_start_methods = lambda: ["spawn"]


@pytest.mark.skipif(sys.platform != "linux", reason="needs Linux")
class TestSystems:
    """Where names are missing that Windows or macOS lack.

    Python imports `sitecustomize` in each process, before anything else. It
    takes them away, and how processes are started stays.
    """

    @pytest.fixture
    def systems(self, tmp_path):
        """Return the environments of three systems, by their names."""
        environments = {"Linux": environment(MODULE.parent)}
        for name, be in [("macOS", be_macos), ("Windows", be_windows)]:
            folder = tmp_path / name
            folder.mkdir()
            text = f"{inspect.getsource(be)}\n{be.__name__}()\n"
            (folder / "sitecustomize.py").write_text(text)
            environments[name] = environment(folder, MODULE.parent)
        return environments

    def test_the_same_results_everywhere(self, program, systems):
        """Bit for bit, from `Game`, `Worker` and `Games`."""
        text = as_program(tell_it_all)
        programs = [program(text, env=env) for env in systems.values()]
        linux, macos, windows = (end_of(process)[0] for process in programs)
        mac = "sched_getaffinity SCHED_BATCH"
        win = f"{mac} fork sched_yield poll pthread_sigmask"
        methods = " ".join(multiprocessing.get_all_start_methods())
        assert linux[:3] == ["", "", methods]
        assert macos[:3] == [mac, mac, methods]
        assert windows[:3] == [win, win, "spawn"]
        assert linux[3] == macos[3] == windows[3]

    def test_the_same_program_everywhere(self, program, systems, tmp_path):
        """It plays the same games, and leaves the same picture."""
        args = ["--steps", "100", "--games", "3"]
        results = set()
        processes = {}
        for name, env in systems.items():
            folder = tmp_path / f"{name} plays"
            folder.mkdir()
            options = dict(name=folder / "game.py", cwd=folder, env=env)
            text = MODULE.read_text()
            processes[folder] = program(text, *args, **options)
        for folder, process in processes.items():
            lines, errors = end_of(process)
            assert errors == []
            assert steps_in(lines[-3:]) == 300
            picture = (folder / "game.png").read_bytes()
            results.add((*lines[-3:-1], picture))
        assert len(results) == 1
