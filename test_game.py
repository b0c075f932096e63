"""
The proof that `game.py` does what it says, from outside, as a user meets it.

    pip install -r requirements.txt && python -m pytest test_game.py

Six real titles are compared with Gymnasium's wrappers, bit for bit; most of
the rest is played on an emulator whose frames are known, so that what is right
is worked out by hand. With `GAME_TESTS=all` in the environment all 104 titles
are played, and twelve times as many orders of calls are tried.

Helpers stand in front, then a class for each part, which can be run alone:
`python -m pytest test_game.py -k TestEpisode`. What a test needs of the system
stands above it, such as `needs_fork`; elsewhere it is skipped.
"""

import contextlib
import copy
import functools
import gc
import hashlib
import inspect
import itertools
import math
import multiprocessing
import os
import pathlib
import pickle
import re
import runpy
import select
import signal
import subprocess
import sys
import threading
import time
import traceback
import types

import ale_py
import cv2
import gymnasium as gym
import hypothesis
import numpy as np
import pytest
from gymnasium.vector import AsyncVectorEnv, AutoresetMode
from gymnasium.wrappers import AtariPreprocessing, FrameStackObservation
from hypothesis import stateful
from hypothesis import strategies as some

import game
from game import BREAKOUT, NO_SNAPSHOT, Game, Games, Worker

MODULE = pathlib.Path(game.__file__).resolve()
SOURCE = MODULE.read_text(encoding="utf-8")
ALL = os.environ.get("GAME_TESTS") == "all"
PATIENCE = 300  # seconds, after which a program counts as hanging

SAME_STEP, NEXT_STEP = AutoresetMode.SAME_STEP, AutoresetMode.NEXT_STEP
NOOP, FIRE, RIGHT = 0, 1, 2  # actions of Breakout and of the fake emulator
REFUSED = ValueError, TypeError  # how bad input is answered
# Where each no-op changes the screen, and thus each seed the start.
SEAQUEST = "SeaquestNoFrameskip-v4"
QBERT = "QbertNoFrameskip-v4"  # has no snapshot
# With everything on, so that whatever could differ would differ.
EVERYTHING = dict(
    on_life_loss="continue", noop_max=30, fire_on_reset=True, clip_reward=True
)

# Gymnasium's titles, and those that are always played: with lives and without,
# one that has no snapshot, and two of 250 and of 214 rows.
TITLES = {
    spec.kwargs["game"]: spec.id
    for spec in gym.registry.values()
    if re.fullmatch(r"ALE/.*-v5", spec.id)
}
SIX = ["breakout", "pong", "qbert", "seaquest", "air_raid", "carnival"]
START_METHODS = multiprocessing.get_all_start_methods()

each = pytest.mark.parametrize
each_title = each("title", TITLES if ALL else SIX)
each_life_mode = each("on_life_loss", ["restart", "continue", "ignore"])
both_modes = each("mode", [SAME_STEP, NEXT_STEP])
here_and_there = each("processes", [0, 2] if "fork" in START_METHODS else [0])

needs_fork = pytest.mark.skipif(
    "fork" not in START_METHODS, reason="needs fork"
)
needs_proc = pytest.mark.skipif(
    not pathlib.Path("/proc/self/stat").exists(),
    reason="needs /proc, and the signals of POSIX",
)


# --- An emulator whose frames are known --------------------------------------
#
# Frame n of a game lights one band of the dark screen, ten rows high, with a
# brightness of its own. Ten rows of 210 become exactly four rows of 84, so
# what an agent must see needs no arithmetic, and `seen` reads off an
# observation which frames are in it.
BANDS = 21


def band_of(frame, height):
    """Return which rows a frame lights in a picture with bands so high."""
    first = frame % BANDS * height
    return slice(first, first + height)


def shrunk(gray):
    """Return a gray screen as a picture."""
    return cv2.resize(gray, (84, 84), interpolation=cv2.INTER_AREA)


def seen(observation):
    """Return which frames are in each of an observation's four pictures."""
    assert observation.shape == (4, 84, 84)
    assert observation.dtype == np.uint8
    pictures = []
    for picture in observation:
        lit = sorted(200 - int(value) for value in set(picture[:, 0]) if value)
        expected = np.zeros((84, 84), np.uint8)
        for frame in lit:
            expected[band_of(frame, 4)] = 200 - frame
        np.testing.assert_array_equal(picture, expected)
        pictures.append(tuple(lit))
    return pictures


# What the emulator does. `lives` are given by frame number, and `rewards` by
# frame number or by action; a game is lost in frame `over`, and cut short in
# frame `limit`. `draw` are screens of some frames. The first frame has the
# number `boot`: 0 in most real titles, up to 134 in sixteen. `ghost` is called
# with the game's last seed whenever the emulator is used.
SCRIPT = dict(
    lives={0: 5},
    rewards={},
    over=math.inf,
    limit=math.inf,
    sticky=0.0,
    draw={},
    boot=0,
    ghost=lambda seed: None,
)


class FakeALE:
    """The part of ALE's interface that matters, after a script."""

    def __init__(self, **script):
        self.script = types.SimpleNamespace(**{**SCRIPT, **script})
        self.seed = None
        self.frame = 0
        self.shown = 0  # the frame that is on the screen
        self.played = []  # what was played and done, in its order

    def reset_game(self):
        self.script.ghost(self.seed)
        self.played.append("reset")
        self.frame = self.shown = 0

    # As ALE's own, a restored state isn't drawn before the next frame.
    def restoreState(self, state):
        self.script.ghost(self.seed)
        self.played.append("restore")
        self.frame = state

    def act(self, action):
        if self.game_over():  # as ALE: nothing moves any more
            return 0
        self.script.ghost(self.seed)
        name = ale_py.Action(action).name
        self.played.append(name)
        self.frame += 1
        self.shown = self.frame
        rewards = self.script.rewards
        return rewards.get(self.frame, 0) + rewards.get(name, 0)

    def lives(self):
        lives = self.script.lives
        return lives[max(n for n in lives if n <= self.frame)]

    def game_over(self, with_truncation=True):
        cut = with_truncation and self.frame >= self.script.limit
        return cut or self.frame >= self.script.over

    def getEpisodeFrameNumber(self):
        return self.script.boot + self.frame

    def getFloat(self, key):
        return {"repeat_action_probability": self.script.sticky}[key]

    def getScreenGrayscale(self):
        screen = np.zeros((210, 160), np.uint8)
        screen[band_of(self.shown, 10)] = 200 - self.shown
        return self.script.draw.get(self.shown, screen).copy()

    def getScreenRGB(self):
        self.script.ghost(self.seed)
        return np.dstack([self.getScreenGrayscale()] * 3)


class FakeEnv(gym.Env):
    """The Gymnasium environment around such an emulator."""

    def __init__(self, name="fake", meanings="NOOP FIRE RIGHT", **script):
        self.ale = FakeALE(**script)
        self._meanings = meanings.split()
        self.action_space = gym.spaces.Discrete(len(self._meanings))
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
        return None, {}

    def clone_state(self):
        return self.ale.frame

    def restore_state(self, state):
        self.ale.restoreState(state)


def replace_titles(patch, **script):
    """Put such an emulator in the place of all titles.

    What else `gym.make` is asked for is ignored: test that on a real title.
    """
    patch.setattr(gym, "make", lambda *_, **__: FakeEnv(**script))


@pytest.fixture
def fake(monkeypatch):
    """Return a function that makes a `Game` of a script and of options."""

    def make(seed=0, **kwargs):
        names = {"name", "meanings", *SCRIPT} & set(kwargs)
        script = {name: kwargs.pop(name) for name in names}
        replace_titles(monkeypatch, **script)
        one = Game(seed, **kwargs)
        return one, one.env.ale

    return make


def noops(seed, most, games):
    """Return the numbers of no-ops that Gymnasium draws for some games."""
    random = gym.utils.seeding.np_random(seed)[0]
    return [int(random.integers(1, most + 1)) for _ in range(games)]


# --- What goes wrong inside an emulator --------------------------------------


class Unreadable(Exception):
    """An error that is pickled, and can't be put together again."""

    def __init__(self, one, other):
        super().__init__(one)


def crash():
    raise ZeroDivisionError("a bug in the middle of a step")


def unsendable():
    raise ArithmeticError("an odd error", threading.Lock())


def unreadable():
    raise Unreadable("an odd error", "of two parts")


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
ERRORS = {
    crash: ZeroDivisionError,
    unsendable: (ArithmeticError, RuntimeError),  # itself if played here
    unreadable: (Unreadable, RuntimeError),
    interrupt: KeyboardInterrupt,
}


class Trap:
    """A ghost for emulators, in this process and in those forked from it.

    After `trap.set(deed, seed)` the game that was seeded so, or with `None`
    any of them, does the deed as soon as its emulator is used; or `later` uses
    after that, or `times` times.
    """

    def __init__(self):
        self._test = os.getpid()
        self._set = multiprocessing.RawArray("q", 4)
        self._players = multiprocessing.RawArray("q", 1000)

    def set(self, deed, seed, later=0, times=1):
        seed = -1 if seed is None else seed
        self._set[:] = DEEDS.index(deed), seed, later, times

    def sprung(self):
        """Return whether it was done, and don't let it be done any more."""
        left = self._set[3]
        self._set[3] = 0
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
        deed, whose, later, left = self._set
        if whose in (-1, seed) and left > 0:
            if later > 0:
                self._set[2] -= 1
            else:
                self._set[3] -= 1
                DEEDS[deed]()


# A title with all that can happen: lives lost, points for frames and actions.
LIFELIKE = dict(
    lives={0: 3, 9: 2, 14: 3, 21: 2, 30: 1, 38: 0},
    rewards={5: 1, 13: -20, 22: 300, "FIRE": 0.25, "RIGHT": 2},
    over=41,
)


@pytest.fixture
def trap(monkeypatch):
    """Let all titles be lifelike ones in which this trap can be set."""
    ghost = Trap()
    replace_titles(monkeypatch, **LIFELIKE, ghost=ghost)
    return ghost


# --- What games return, and what they should ---------------------------------


def actions_for(steps, n=4):
    """Return random actions, the same ones each time."""
    return np.random.default_rng(0).integers(n, size=steps).tolist()


ACTIONS = actions_for(150)


def ask(one, command, data=None):
    """Give a command to a game, or to one in another process."""
    if isinstance(one, Game):
        return getattr(one, command)(data)
    one.child.send((command, data))
    return one.child.recv()


def trajectory(one, actions=ACTIONS, seed=None):
    """Reset a game or a worker and play; return all that it returned."""
    first = ask(one, "reset", seed)
    return [first, *(ask(one, "step", action) for action in actions)]


def same(one, other):
    """Return whether two results are the same: types and every bit."""
    if type(one) is not type(other):
        return False
    if isinstance(one, dict):
        both = one.keys() == other.keys()
        return both and all(same(one[key], other[key]) for key in one)
    if isinstance(one, np.ndarray) and one.dtype != object:
        return one.dtype == other.dtype and np.array_equal(one, other)
    if isinstance(one, (list, tuple, np.ndarray)):
        return len(one) == len(other) and all(map(same, one, other))
    return one == other


def atari(env_id, **kwargs):
    """Return the spec of an id, with other settings of the emulator."""
    spec = copy.deepcopy(gym.spec(env_id))
    spec.kwargs.update(kwargs)
    return spec


class Twin(gym.vector.VectorEnv):
    """What `Games` with the same arguments should return, game by game."""

    def __init__(self, seeds, env_id=BREAKOUT, mode=SAME_STEP, **options):
        self.seeds = list(seeds)
        self.num_envs = len(self.seeds)
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
        self.resting = {}  # first observations that the next step returns
        return self.obs

    def step(self, actions, restarted=()):
        """Step; games in `restarted` start over instead."""
        n = self.num_envs
        obs = self.obs.copy()
        rewards, terminated, truncated = np.zeros((3, n))
        infos = {}
        for i, one in enumerate(self.games):
            first = self.resting.pop(i, None)
            done, info = False, {}
            if i in restarted:
                done, truncated[i], final = True, True, self.obs[i]
                first = one.reset(self.seeds[i])
            elif first is None:
                first, rewards[i], done, told = one.step(actions[i])
                final = one.final_obs
                if told:
                    info["final_info"] = told
                    truncated[i] = told["truncated"]
                terminated[i] = done and not truncated[i]
            obs[i] = first
            if done and self.next_step:
                self.resting[i] = first
                obs[i] = final
            elif done:
                info["final_obs"] = final
            # As Gymnasium's own vector environments write it.
            infos = self._add_info(infos, info, i)
        if restarted:
            infos["restarted"] = np.isin(range(n), list(restarted))
        self.obs = obs
        return obs, rewards, terminated > 0, truncated > 0, infos


def restarted_in(result):
    """Return which games a step reports as restarted."""
    return set(np.flatnonzero(result[4].get("restarted", ())))


def begin(many, twin, seed=None, restarted=()):
    """Reset both, and compare."""
    seeds = None
    if seed is not None:
        seeds = seed if np.ndim(seed) else range(seed, seed + many.num_envs)
    expected = twin.reset(seeds, restarted)
    assert same(many.reset(seed=seed), (expected, {}))


def follow(many, twin, steps=1, restarted=()):
    """Step both, and compare; in the first step these games start over."""
    for action in actions_for(steps, 3):
        actions = (action + np.arange(many.num_envs)) % 3
        assert same(many.step(actions), twin.step(actions, restarted))
        restarted = ()


@contextlib.contextmanager
def pair(n=4, processes=2, seed=10, mode=SAME_STEP, timeout=60, **options):
    """Games that were reset, and a twin to compare them with."""
    twin = Twin(range(seed, seed + n), mode=mode, **options)
    with Games(
        n,
        seed=seed,
        processes=processes,
        timeout=timeout,
        context="fork" if processes > 0 else None,
        autoreset_mode=mode,
        **options,
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


def all_gone(pids):
    """Return whether these processes end within four seconds."""
    deadline = time.monotonic() + 4
    while any(map(alive, pids)) and time.monotonic() < deadline:
        time.sleep(0.02)
    return not any(map(alive, pids))


def trace_to(line, deed):
    """Do a deed before that line of all that the module runs from here on."""
    lines = itertools.count()

    def trace(frame, event, arg):
        if frame.f_code.co_filename != game.__file__:
            return None
        if event == "line" and next(lines) == line:
            deed()
        return trace

    sys.settrace(trace)


def interrupted(line, call):
    """Call, with Ctrl-C before that line of all that the module runs in it."""
    test = os.getpid()

    def press():
        # Processes that are forked meanwhile inherit the trace.
        if os.getpid() == test:
            raise KeyboardInterrupt

    before = sys.gettrace()
    trace_to(line, press)
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


# Programs are functions of this file, with what they import in front.
IMPORTS = """
import hashlib, multiprocessing, os, pickle, select, signal, subprocess, sys
import threading, time
import cv2, numpy as np
import game
from game import Game, Games, Worker
"""


@pytest.fixture
def program(tmp_path):
    """Return a function that starts a function, or a text, as a program.

    `first` is called in every process that imports the program.
    """
    started = []

    def start(
        main,
        *args,
        first=None,
        guard='if __name__ == "__main__":',
        folder=tmp_path,
        path=(MODULE.parent,),
    ):
        text = main
        if callable(main):
            text = IMPORTS
            if first:
                text += f"{inspect.getsource(first)}\n{first.__name__}()\n"
            text += f"{inspect.getsource(main)}\n{guard}\n"
            text += f"    {main.__name__}(*sys.argv[1:])\n"
        folder.mkdir(exist_ok=True)
        name = f"program{len(started)}.py"
        (folder / name).write_text(text, encoding="utf-8")
        paths = [*map(str, path), os.environ.get("PYTHONPATH", "")]
        process = subprocess.Popen(
            [sys.executable, name, *args],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=folder,
            env=dict(os.environ, PYTHONPATH=os.pathsep.join(paths)),
            start_new_session=True,
        )
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


class TestPicture:
    """What the agent sees."""

    def test_the_pictures_are_those_of_the_last_four_steps(self, fake):
        """Of a step's frames the third and fourth, one over the other.

        A game begins with its first screen four times.
        """
        one, _ = fake()
        assert seen(one.reset()) == [(0,)] * 4
        assert seen(one.step(NOOP)[0]) == [(0,), (0,), (0,), (3, 4)]
        for _ in range(4):
            obs, *_ = one.step(NOOP)
        assert seen(obs) == [(7, 8), (11, 12), (15, 16), (19, 20)]

    @each("height", [210, 214, 220, 230, 250])
    def test_the_maximum_is_taken_and_then_shrunk(self, fake, height):
        """However little changes, the picture is that of all rows."""
        random = np.random.default_rng(height)
        screens = [random.integers(256, size=(height, 160)).astype(np.uint8)]
        for _ in range(200):
            y, x, h, w = random.integers((height, 160, 60, 60))
            screens.append(screens[-1].copy())
            screens[-1][y : y + h, x : x + w] = random.integers(256)
        one, _ = fake(draw=dict(enumerate(screens)))
        one.reset()
        for frame in range(4, 200, 4):
            whole = shrunk(np.maximum(screens[frame - 1], screens[frame]))
            np.testing.assert_array_equal(one.step(NOOP)[0][3], whole)
        assert same(one.shrink(screens[0]), shrunk(screens[0]))

    def test_an_action_is_held_for_four_frames(self, fake):
        """And their rewards are added."""
        rewards = {1: 1, 2: 20, 3: 300, 4: 4000, 5: -7}
        one, ale = fake(rewards=rewards)
        one.reset()
        assert [one.step(it)[1] for it in (RIGHT, FIRE, NOOP)] == [4321, -7, 0]
        actions = ["RIGHT"] * 4 + ["FIRE"] * 4 + ["NOOP"] * 4
        assert ale.played == ["reset", *actions]

    def test_clipping_leaves_the_sign_and_the_score_raw(self, fake):
        rewards = {1: 7, 4: -2, 5: -3, 9: 1, 10: -1}
        one, _ = fake(rewards=rewards, over=13, clip_reward=True)
        one.reset()
        results = [one.step(NOOP) for _ in range(4)]
        assert same([result[1] for result in results], [1.0, -1.0, 0.0, 0.0])
        score = {"reward": 2.0, "length": 4, "truncated": False}
        assert same(results[-1][3], score)

    def test_what_was_returned_never_changes(self, fake):
        """Observations are the caller's own, to keep and to write into."""
        lives = {0: 3, 5: 2, 10: 1}
        one, _ = fake(on_life_loss="continue", lives=lives)
        kept = [one.reset()]
        copies = copy.deepcopy(kept)
        for _ in range(7):
            obs, _, done, _ = one.step(NOOP)
            kept.append(one.final_obs if done else obs)
            copies.append(kept[-1].copy())
        assert same(kept, copies)
        for array in kept:
            array[:] = 0
        last = [(13, 14), (17, 18), (21, 22), (25, 26)]
        assert seen(one.step(NOOP)[0]) == last


# What is seen last if a step ends with its first, ... fourth frame.
LAST_SEEN = {1: (1,), 2: (2,), 3: (3,), 4: (3, 4)}

# The mode, the script, and what is told of each of the first steps: nothing,
# or of one that ends an episode the newest picture of `final_obs`, the frame
# that the next episode begins with, and the info.
ENDS = {
    "a lost life restarts the game": (
        "restart",
        dict(lives={0: 3, 6: 2}, rewards={1: 5, 8: 9}),
        [None, ((6,), 0, (5, 2, False)), None],
    ),
    "or ends the episode, and the game goes on": (
        "continue",
        dict(lives={0: 3, 6: 2}),
        [None, ((6,), 6, None), None],
    ),
    "or means nothing": ("ignore", dict(lives={0: 3, 6: 2, 9: 0}), [None] * 4),
    "a drop to no lives restarts, too": (
        "restart",
        dict(lives={0: 1, 6: 0}, over=50),
        [None, ((6,), 0, (0, 2, False))],
    ),
    "or waits for the end of the game": (
        "continue",
        dict(lives={0: 1, 6: 0}, over=15),
        [None, None, None, ((15,), 0, (0, 4, False))],
    ),
    "a game over with a lost life is a game over": (
        "continue",
        dict(lives={0: 3, 2: 2}, over=2),
        [((2,), 0, (0, 1, False))],
    ),
    "a life won ends nothing, losing it again does": (
        "restart",
        dict(lives={0: 3, 2: 4, 9: 3}),
        [None, None, ((9,), 0, (0, 3, False))],
    ),
    "lives are read at every frame: won and lost, lost and won": (
        "continue",
        dict(lives={0: 3, 1: 4, 3: 3, 5: 2, 6: 3}),
        [((3,), 3, None), ((5,), 5, None), None],
    ),
    "the score of a whole game is told once": (
        "continue",
        dict(
            lives={0: 3, 2: 2, 7: 1},
            over=16,
            rewards={1: 1, 5: 10, 9: 100, 16: 1000},
        ),
        # Frames 1-2, 3-6, 7, 8-11, 12-15; then 16 alone. And again.
        [
            *(((2,), 2, None), None, ((7,), 7, None), None, None),
            ((16,), 0, (1111, 6, False)),
        ]
        * 2,
    ),
    "no-ops are no steps, their points no reward, their lives not lost": (
        "restart",
        dict(noop_max=1, lives={0: 3, 1: 2}, over=5, rewards={1: 7, 2: 1}),
        [((4, 5), 1, (1, 1, False))] * 2,
    ),
    "there are none when the game goes on": (
        "continue",
        dict(noop_max=1, lives={0: 3, 3: 2}),
        [((3,), 3, None)],
    ),
    "the limit is a game's": (
        "continue",
        dict(lives={0: 3, 6: 2}, limit=11),
        [None, ((6,), 6, None), None, ((11,), 0, (0, 4, True))],
    ),
}


def told_of(one, steps, action=NOOP):
    """Play, and return what is told of each step, as above."""
    told = []
    for _ in range(steps):
        obs, _, done, info = one.step(action)
        end = None
        if done:
            first = seen(obs)
            assert first == [first[0]] * 4
            info = info and tuple(info.values())
            end = seen(one.final_obs)[-1], *first[0], info
        assert done is (end is not None)
        told.append(end)
    return told


class TestEpisode:
    """What ends an episode, and what is reported of it."""

    @each("what", ENDS)
    def test_ends(self, fake, what):
        on_life_loss, script, expected = ENDS[what]
        one, _ = fake(on_life_loss=on_life_loss, **script)
        one.reset()
        assert told_of(one, len(expected)) == expected

    @each("frame", LAST_SEEN)
    @each_life_mode
    @each("what", ["over", "limit", "over limit"])
    def test_the_end_of_a_game(self, fake, frame, on_life_loss, what):
        """On any frame it stops the step there, in each game, in every mode.

        Also without lives, as in Pong. A game that is over on the frame of
        its limit had come to its own end.
        """
        rewards = {4 + i: 2**i for i in range(5)}
        ends = dict.fromkeys(what.split(), 4 + frame)
        script = dict(lives={0: 0}, rewards=rewards, **ends)
        one, ale = fake(on_life_loss=on_life_loss, **script)
        one.reset()
        last = tuple(4 + n for n in LAST_SEEN[frame])
        info = 2 ** (frame + 1) - 1, 2, what == "limit"
        for _ in range(3):
            assert told_of(one, 2) == [None, (last, 0, info)]
            assert seen(one.final_obs) == [(0,), (0,), (3, 4), last]
            assert one.terminated is not info[2]
        assert ale.played.count("NOOP") == 3 * (4 + frame)


class TestStart:
    """How a game starts: no-ops, FIRE, resets by snapshot."""

    @each("seed", [0, 1, 7])
    def test_no_ops_start_a_game(self, fake, seed):
        """After each reset as many as Gymnasium would draw."""
        first, second, third = noops(seed, 30, 3)
        one, ale = fake(seed, noop_max=30, rewards={1: 1})
        assert seen(one.reset()) == [(first,)] * 4
        assert ale.played == ["reset"] + ["NOOP"] * first
        assert seen(one.reset()) == [(second,)] * 4
        assert seen(one.reset()) == [(third,)] * 4
        assert seen(one.reset(seed)) == [(first,)] * 4
        one, _ = fake(seed, noop_max=1)
        assert seen(one.reset()) == seen(one.reset()) == [(1,)] * 4

    @each("kind", ["over", "limit"])
    def test_a_game_over_among_the_no_ops(self, fake, kind):
        """It is reset, and seeded again if it was; the no-ops go on."""
        one, ale = fake(noop_max=30, **{kind: 5})
        first, second = noops(0, 30, 2)
        for number in (first, first, second):
            ale.played.clear()
            one.reset()
            assert ale.played.count("NOOP") == number
            resets = [i for i, it in enumerate(ale.played) if it != "NOOP"]
            assert resets == list(range(0, number + number // 5 + 1, 6))

    def test_no_ops_need_a_no_op(self, fake):
        """A game whose action 0 does something is refused, as by Gymnasium."""
        with pytest.raises(ValueError, match="NOOP"):
            fake(meanings="FIRE NOOP", noop_max=3)
        one, _ = fake(meanings="FIRE NOOP")
        assert seen(one.reset()) == [(0,)] * 4

    def test_fire_starts_every_episode(self, fake):
        """After the no-ops it is held for a step; then the screen is seen.

        It counts neither in the reward nor in the game's, nor as a step. Lives
        are counted from the first observation on.
        """
        one, ale = fake(
            fire_on_reset=True,
            noop_max=1,
            on_life_loss="continue",
            rewards={2: 1, 6: 10, 8: 100, 9: 1000, 13: 10000, 14: 100000},
            lives={0: 4, 3: 3, 8: 2, 10: 1},
            over=14,
        )
        assert seen(one.reset()) == [(5,)] * 4
        # The step plays frames 6-8, FIRE 9-12, and the next step 13-14.
        assert told_of(one, 2, RIGHT) == [
            *(((8,), 12, None), ((14,), 5, (110110, 2, False))),
        ]
        start = ["NOOP"] + ["FIRE"] * 4
        assert ale.played == [
            *("reset", *start, *["RIGHT"] * 3, *["FIRE"] * 4),
            *(*["RIGHT"] * 2, "restore", *start),
        ]

    def test_fire_is_found_by_its_name(self, fake):
        """UPFIRE isn't FIRE, and a game without it is left alone."""
        for meanings, fired in [("NOOP UP FIRE", 4), ("NOOP UP UPFIRE", 0)]:
            one, ale = fake(meanings=meanings, fire_on_reset=True)
            assert seen(one.reset()) == [(fired,)] * 4
            assert ale.played == ["reset"] + ["FIRE"] * fired

    @each("name", ["fake", "sticky", *sorted(NO_SNAPSHOT)])
    def test_later_resets_put_back_the_first_state(self, fake, name):
        """Unless a snapshot can't be trusted, or actions are sticky."""
        one, ale = fake(name=name, sticky=0.25 * (name == "sticky"), over=3)
        one.reset()
        assert told_of(one, 2) == [((3,), 0, (0, 1, False))] * 2
        one.reset()
        later = "restore" if name == "fake" else "reset"
        resets = [it for it in ale.played if it != "NOOP"]
        assert resets == ["reset"] + [later] * 3

    @each("name, boot", [("fake", 0), ("fake", 8), ("qbert", 8)])
    def test_the_screen_right_after_a_reset(self, fake, name, boot):
        """The emulator hasn't drawn it, whatever number the frame has."""
        one, ale = fake(name=name, over=6, boot=boot)

        def assert_shown(frame):
            for _ in range(2):
                screen = one.render()
                expected = np.zeros((210, 160, 3), np.uint8)
                expected[band_of(frame, 10)] = 200 - frame
                assert same(screen, expected)
                screen[:] = 0  # it is the caller's own

        for _ in range(2):
            assert seen(one.reset()) == [(0,)] * 4
            assert_shown(0)
            one.step(NOOP)
            assert_shown(4)
            assert seen(one.step(NOOP)[0]) == [(0,)] * 4
            assert_shown(0)


class OnGPU:
    """A tensor that has to be copied first, as PyTorch says."""

    def __array__(self, dtype=None, copy=None):
        raise TypeError("Use Tensor.cpu() to copy the tensor to host memory")


class Tensor:
    """What matters here of a PyTorch tensor."""

    def __init__(self, data):
        self._data = np.array(data)

    def __array__(self, dtype=None, copy=None):
        return self._data


BAD_ACTIONS = [
    *(-1, 3, 99, -(2**70), 2**70, np.int8(-1), np.uint8(255), np.array(3)),
    *(0.0, 1.0, 1.5, math.nan, math.inf, np.float32(1), Tensor(1.0), 1j),
    *(True, np.True_, None, "1", b"1", "FIRE", object(), {}, {1}),
    *([1], (), np.array([1]), np.array([[1]]), [[1]], Tensor([1]), OnGPU()),
]
GOOD_ACTIONS = [1, *(np.array(1, kind)[()] for kind in "bBhHiIlLqQ")]
GOOD_ACTIONS += [np.array(1), Tensor(1)]
BAD_SEEDS = [-1, np.int64(-1), 0.0, 1.5, math.nan, "1", [1], [], object()]
BAD_OPTIONS = [
    *(dict(on_life_loss=mode) for mode in (None, 1, ["restart"])),
    *(dict(noop_max=most) for most in (-1, 1.5, "3", None)),
    dict(noop=30),
]


class TestInput:
    """What is refused, and what is taken."""

    def test_a_rejected_action_changes_nothing(self, fake):
        """No frame has been played; the error names the actions.

        Of what is on a GPU, its cause is PyTorch's advice.
        """
        one, ale = fake()
        with pytest.raises(gym.error.ResetNeeded):
            one.step(NOOP)
        assert ale.played == []
        one.reset()
        one.step(NOOP)
        for action in BAD_ACTIONS:
            meanings = "0.*2.*NOOP.*FIRE.*RIGHT"
            with pytest.raises(REFUSED, match=meanings) as error:
                one.step(action)
        assert "Use Tensor.cpu()" in str(error.value.__cause__)
        assert ale.played == ["reset"] + ["NOOP"] * 4
        assert seen(one.step(NOOP)[0]) == [(0,), (0,), (3, 4), (7, 8)]

    def test_all_kinds_of_integers_are_actions(self, fake):
        """Python's, NumPy's, and what turns into one, as PyTorch's do."""
        one, ale = fake()
        one.reset()
        for action in GOOD_ACTIONS:
            one.step(action)
        assert ale.played == ["reset"] + ["FIRE"] * 4 * len(GOOD_ACTIONS)

    @each("kind", [int, np.int64, np.uint8, np.array])
    def test_seeds_are_whole_numbers(self, fake, kind):
        """NumPy's too. Others are refused, and the game is as it was."""
        first, second = noops(7, 30, 2)
        one, ale = fake(kind(7), noop_max=30)

        def try_bad_seeds():
            for seed in BAD_SEEDS:
                with pytest.raises(REFUSED):
                    Game(seed)
                with pytest.raises(REFUSED):
                    one.reset(seed)

        try_bad_seeds()
        assert seen(one.reset()) == [(first,)] * 4
        try_bad_seeds()
        assert ale.played == ["reset"] + ["NOOP"] * first
        assert seen(one.reset()) == [(second,)] * 4
        assert seen(one.reset(kind(7))) == [(first,)] * 4

    def test_bad_options(self, fake):
        """A misspelt one isn't passed over; of modes all three are named."""
        for options in BAD_OPTIONS:
            with pytest.raises(REFUSED):
                fake(**options)
            with pytest.raises(REFUSED):
                Games(2, processes=0, **options)
        with pytest.raises(ValueError, match="restart.*continue.*ignore"):
            fake(on_life_loss="Restart")

    def test_what_is_taken_if_nothing_is_said(self):
        """By `Game`, and by `Games` for the rest."""
        for made, expected in [
            (Game, "restart 0 False False"),
            (Games, f"0 None 60.0 None AutoresetMode.SAME_STEP {Game}"),
        ]:
            parameters = inspect.signature(made).parameters.values()
            _, env_id, *others = [
                it.default for it in parameters if it.kind != it.VAR_KEYWORD
            ]
            assert env_id == BREAKOUT
            assert " ".join(map(str, others)) == expected

    def test_bad_ids(self):
        """Gymnasium's own errors, with its suggestions, if it knows none.

        What is no Atari title, or has no `Discrete` actions, is refused.
        """
        continuous = atari("ALE/Breakout-v5", continuous=True)
        cart_pole = gym.spec("CartPole-v1")
        for env_id, error, words in [
            ("Breakot-v4", gym.error.NameNotFound, "Breakout"),
            ("BreakoutNoFrameskip-v9", gym.error.VersionNotFound, "v9"),
            *((it, ValueError, "Atari") for it in ("CartPole-v1", 3, None)),
            (cart_pole, ValueError, "Atari"),
            (continuous, ValueError, "Discrete"),
        ]:
            for make in (Game, Games):
                with pytest.raises(error, match=words):
                    make(1, env_id)


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
            picture = shrunk(last)
        return picture, reward, terminated, truncated, info


def reference(spec, mode="restart", noop_max=0):
    """Return what `Game` must equal, made of Gymnasium's wrappers."""
    env = Snapshots(gym.make(spec, frameskip=1))
    lives = dict(terminal_on_life_loss=mode == "restart")
    return FrameStackObservation(Reference(env, noop_max, **lives), 4)


def frames_of(ale, actions):
    """Play `actions`; return the memory and the screen of each frame.

    From the first one on: the memory that ALE 0.11 shows right after a restore
    is still that from before.
    """
    frames = []
    for action in actions:
        ale.act(action)
        frames += [ale.getRAM().tobytes(), ale.getScreenRGB().tobytes()]
    return frames


class TestTitles:
    """Real titles: Gymnasium's to the last bit; snapshots, seeds and ids."""

    @each_title
    @each("mode, most", [("restart", 0), ("ignore", 30)])
    def test_a_title_equals_gymnasiums(self, title, mode, most):
        """300 steps, with lives and no-ops or without."""
        spec = atari(TITLES[title], repeat_action_probability=0.0)
        if title in ("backgammon", "video_checkers"):
            most = 0  # action 0 isn't NOOP
        one = Game(5, spec, on_life_loss=mode, noop_max=most)
        other = reference(spec, mode, most)
        np.testing.assert_array_equal(one.reset(), other.reset(seed=5)[0])
        for action in actions_for(300, one.env.action_space.n):
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

    @each_title
    def test_which_titles_a_snapshot_brings_back(self, title):
        """Frame by frame all but those that are named in the module.

        And a seed, for which Gymnasium loads a title anew, changes nothing:
        `Game` doesn't load it anew.
        """
        spec = atari(TITLES[title], repeat_action_probability=0.0)
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

    @each("env_id", [SEAQUEST, QBERT])
    def test_the_same_seed_and_actions_give_the_same(self, env_id):
        """In another `Game`, and in the same one when it is seeded again."""
        one = Game(np.int64(3), env_id, noop_max=30)
        first = trajectory(one)
        assert same(first, trajectory(Game(3, env_id, noop_max=30)))
        other = trajectory(one, seed=2**100)
        assert not same(first, other)
        assert same(first, trajectory(one, seed=np.uint8(3)))
        assert same(other, trajectory(one, seed=2**100))

    @pytest.mark.filterwarnings("ignore:.*out of date")
    def test_all_ids_make_the_same_engine(self):
        """They differ in stickiness, and here in nothing else.

        Without it actions alone decide. With it episodes differ, and repeat
        with the seed.
        """
        first = trajectory(Game(3, "Breakout-v4"))
        still = atari("ALE/Breakout-v5", repeat_action_probability=0.0)
        for spec in (BREAKOUT, still):
            assert same(first, trajectory(Game(4, spec)))
        sticky = Game(3, "ALE/Breakout-v5")
        second, third = (trajectory(sticky) for _ in range(2))
        assert not same(first, second) and not same(second, third)
        assert same(second, trajectory(sticky, seed=3))
        assert same(third, trajectory(sticky))
        for env_id in ("Breakout-v0", "BreakoutNoFrameskip-v0"):
            assert same(second, trajectory(Game(3, env_id)))

    def test_modes_and_difficulties(self):
        """An `EnvSpec` may say how the game itself is to be."""
        spec = atari(BREAKOUT, mode=12, difficulty=1)
        envs = Game(0, spec), reference(spec), Game(0)
        for env in envs:
            env.reset(seed=0)
            env.step(FIRE)
        one, equal, plain = (env.env.unwrapped.ale.getRAM() for env in envs)
        assert same(one, equal) and not same(one, plain)

    @each("env_id", [BREAKOUT, QBERT])
    def test_a_limit_and_what_follows(self, env_id):
        """Every game gets the whole limit, with a snapshot or without.

        And `render` shows the right screen, also right after a reset.
        """
        one = Game(0, atari(env_id, max_num_frames_per_episode=50))
        one.reset()
        cut = {"reward": 0.0, "length": 13, "truncated": True}
        for step in range(1, 40):
            screen = one.env.unwrapped.ale.getScreenRGB()
            assert same(one.render(), screen) or step % 13 == 1
            obs, _, _, info = one.step(NOOP)
            assert info == (None if step % 13 else cut)
        gray = cv2.cvtColor(one.render(), cv2.COLOR_RGB2GRAY)
        np.testing.assert_array_equal(shrunk(gray), obs[0])


class TestWorker:
    """A game in another process, asked as labml's tutorial asks."""

    @each("method", START_METHODS)
    def test_a_worker_plays_the_same_game(self, method):
        """Whichever way it was started, with every option on."""
        one = Game(3, SEAQUEST, **EVERYTHING)
        with Worker(3, SEAQUEST, context=method, **EVERYTHING) as worker:
            assert worker.process.daemon
            for seed in (None, 8):
                theirs = trajectory(worker, ACTIONS[:90], seed)
                assert same(trajectory(one, ACTIONS[:90], seed), theirs)
                if hasattr(signal, "SIGKILL"):
                    # That goes to all processes, and the parent decides.
                    os.kill(worker.process.pid, signal.SIGINT)
            if hasattr(os, "SCHED_BATCH"):
                # Whoever waits for the worker goes first.
                policy = os.sched_getscheduler(worker.process.pid)
                assert policy == os.SCHED_BATCH != os.sched_getscheduler(0)

    @needs_fork
    def test_the_loop_may_be_started_by_hand(self, trap):
        """As labml's own `Worker` does: a pipe, a process, no class."""
        context = multiprocessing.get_context("fork")
        child, remote = context.Pipe()
        args = remote, 47, "PongNoFrameskip-v4"
        process = context.Process(target=game.worker_process, args=args)
        process.start()
        remote.close()
        child.send(("reset", None))
        assert same(child.recv(), Game(47).reset())
        child.send(("close", None))
        process.join(10)
        assert process.exitcode == 0

    @needs_fork
    def test_what_a_worker_is_made_of(self):
        """A context, a connection, and anything to play with `make`."""

        def echo(*args, **options):
            return types.SimpleNamespace(
                reset=lambda seed: (seed, args, options),
                step=lambda action: action,
                render=lambda: "a screen",
            )

        context = multiprocessing.get_context("fork")
        with Worker(3, "id", context=context, make=echo, size=5) as worker:
            assert isinstance(worker.process, context.Process)
            child = worker.child
            assert isinstance(child, multiprocessing.connection.Connection)
            assert ask(worker, "reset", 8) == (8, (3, "id"), {"size": 5})
            assert ask(worker, "step", [1, 2]) == [1, 2]
            assert ask(worker, "render") == "a screen"
        with pytest.raises(ValueError):
            Worker(0, context="telepathy")

    @needs_fork
    @each("deed", [crash, unsendable, unreadable])
    def test_an_error_is_raised_where_it_is_received(self, trap, deed):
        """With its type, or with the name of one that can't be sent.

        The worker's traceback comes along, and the worker plays on.
        """
        with Worker(5, context="fork") as worker:
            before = trajectory(worker, [NOOP] * 20)
            trap.set(deed, 5)
            words = "a bug|ArithmeticError: .*an odd|Unreadable: an odd"
            error = ZeroDivisionError if deed is crash else RuntimeError
            with pytest.raises(error, match=words) as told:
                ask(worker, "step", NOOP)
            text = "".join(traceback.format_exception(told.value))
            assert f"in {deed.__name__}" in text
            assert trap.sprung()
            assert same(before, trajectory(worker, [NOOP] * 20))

    @needs_fork
    def test_wrong_calls(self, trap):
        """Their errors say what was wrong, and the worker plays on.

        That of a game that can't be made comes with the first answer.
        """
        for wrong in (
            dict(env_id="CartPole-v1"),
            dict(on_life_loss="never"),
            dict(noops=3),
        ):
            worker = Worker(0, context="fork", **wrong)
            with worker, pytest.raises(REFUSED):
                ask(worker, "reset")
        with Worker(0, context="fork") as worker:
            with pytest.raises(gym.error.ResetNeeded):
                ask(worker, "step", NOOP)
            for command in ("somersault", "__init__"):
                with pytest.raises(NotImplementedError, match=command):
                    ask(worker, command)
            assert seen(ask(worker, "reset")) == [(0,)] * 4
            with pytest.raises(ValueError, match="NOOP"):
                ask(worker, "step", 99)
            assert seen(ask(worker, "step", NOOP)[0])[3] == (3, 4)

    @needs_fork
    @needs_proc
    @each("deed", [leave, die])
    def test_a_dead_worker(self, trap, deed):
        """What a pipe raises, at once and each time."""
        with Worker(5, context="fork") as worker:
            ask(worker, "reset", 5)
            trap.set(deed, 5)
            for _ in range(2):
                with pytest.raises((EOFError, OSError)):
                    ask(worker, "step", NOOP)

    @needs_fork
    @needs_proc
    def test_ctrl_c_in_close(self, trap):
        """Whichever line it comes at, another call ends the process."""
        for line in itertools.count():
            worker = Worker(5, context="fork")
            ask(worker, "reset")
            pressed = False
            try:
                interrupted(line, worker.close)
            except KeyboardInterrupt:
                pressed = True
                worker.close()
            assert all_gone([worker.process.pid])
            if not pressed:
                break
        assert line > 3

    @needs_fork
    def test_a_worker_that_may_not_be_a_batch_job(self, monkeypatch, trap):
        """It plays all the same."""

        def refuse(*_):
            raise PermissionError

        monkeypatch.setattr(os, "sched_setscheduler", refuse, raising=False)
        with Worker(0, context="fork") as worker:
            assert seen(ask(worker, "reset")) == [(0,)] * 4


SHORT = atari(BREAKOUT, max_num_frames_per_episode=150)
WAYS = [(0, None), (1, "fork"), (5, "fork"), (2, "spawn"), (3, "forkserver")]


@functools.cache
def steps_of_five_games():
    """Return the first observations of five games, and then their steps."""
    twin = Twin(range(20, 25), SHORT, **EVERYTHING)
    first = twin.reset()
    batches = np.random.default_rng(0).integers(4, size=(60, 5))
    steps = [(batch, twin.step(batch)) for batch in batches]
    ends = np.sum([step[2:4] for _, step in steps], axis=(0, 2))
    assert (ends > 3).all()  # by a lost life, and by the limit
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
    *(dict(timeout=t) for t in (0, -1, math.inf, math.nan, "a second", None)),
    *(dict(context=c) for c in ("telepathy", 3)),
    *(dict(autoreset_mode=m) for m in ("sometimes", None, 0)),
    dict(autoreset_mode=AutoresetMode.DISABLED),
    dict(autoreset_mode=AutoresetMode.DISABLED.value),
    dict(seed=None),
    dict(env_id="ALE/Backgammon-v5", noop_max=3),
]


class TestGames:
    """Many games: the same whatever plays them, as Gymnasium would."""

    @each(
        "processes, method",
        [way for way in WAYS if way[1] in (None, *START_METHODS)],
    )
    def test_the_same_games_whatever_plays_them(self, processes, method):
        """Bit for bit those of `Game`, with every option on."""
        first, expected = steps_of_five_games()
        kwargs = dict(processes=processes, context=method, **EVERYTHING)
        with Games(5, SHORT, seed=20, **kwargs) as many:
            assert same(many.reset()[0], first)
            for actions, step in expected:
                assert same(many.step(actions), step)
            assert len(workers_now()) == processes

    @needs_fork
    @each(
        "mode, on_life_loss", [(SAME_STEP, "restart"), (NEXT_STEP, "ignore")]
    )
    def test_gymnasiums_own_vector_env_returns_the_same(
        self, mode, on_life_loss
    ):
        """`AsyncVectorEnv` of its wrappers: everything, but for more infos.

        And its `RecordEpisodeStatistics` counts what `final_info` says.
        """
        spec = atari(BREAKOUT, max_num_frames_per_episode=300)

        def make():
            return reference(spec, on_life_loss, noop_max=30)

        theirs = AsyncVectorEnv(
            [make] * 2, context="fork", autoreset_mode=mode
        )
        options = dict(on_life_loss=on_life_loss, noop_max=30, processes=2)
        ours = Games(2, spec, autoreset_mode=mode, **options)
        counted = gym.wrappers.vector.RecordEpisodeStatistics(ours)
        ends = 0
        with contextlib.closing(theirs), contextlib.closing(counted):
            for name in ("observation_space", "action_space"):
                for it in (name, "single_" + name):
                    assert getattr(ours, it) == getattr(theirs, it)
            assert same(counted.reset(seed=11)[0], theirs.reset(seed=11)[0])
            for action in ACTIONS:
                actions = np.array([action, (action + 1) % 4])
                *one, infos = counted.step(actions)
                *other, their_infos = theirs.step(actions)
                assert same(one, other)
                for key in ("final_obs", "_final_obs"):
                    assert same(infos.get(key), their_infos.get(key))
                assert ("episode" in infos) == ("final_info" in infos)
                if "episode" in infos:
                    ended = infos["_final_info"]
                    ends += ended.sum()
                    assert same(ended, infos["_episode"])
                    for name, key in [("r", "reward"), ("l", "length")]:
                        counts = infos["episode"][name][ended]
                        final = infos["final_info"][key][ended]
                        assert counts.tolist() == final.tolist()
        assert ends > 3

    @both_modes
    def test_it_is_a_vector_env(self, trap, mode):
        """With all that wrappers and training programs look for."""
        for given in (mode, mode.value):
            with Games(3, processes=0, autoreset_mode=given) as many:
                assert isinstance(many, gym.vector.VectorEnv)
                assert many.unwrapped is many
                assert many.num_envs == 3
                assert many.spec.id == "FakeNoFrameskip-v4"
                assert many.render_mode == "rgb_array"
                assert many.metadata == {
                    "render_modes": ["rgb_array"],
                    "render_fps": 15,
                    "autoreset_mode": mode,
                }
                assert many.reset(seed=1)[0] in many.observation_space
                many.step(many.action_space.sample())
        assert "autoreset_mode" not in Games.metadata

    @needs_fork
    @each("cores", [1, 3])
    def test_how_many_processes(self, trap, monkeypatch, cores):
        """One for each core that may be used, and none without a game."""
        of_processes = {0: set(range(cores))}  # 0 is this one
        monkeypatch.setattr(
            os, "sched_getaffinity", of_processes.get, raising=False
        )
        ways = (cores + 1, None, cores), (1, None, 1), (2, 5, 2), (2, 0, 0)
        for num_envs, processes, expected in ways:
            with Games(num_envs, processes=processes, context="fork"):
                assert len(workers_now()) == expected

    @here_and_there
    def test_what_is_refused_before_any_game_moves(self, trap, processes):
        """Batches, seeds, options and copies; all games are as they were."""
        with pair(3, processes, noop_max=30) as (many, twin):
            before = workers_now()
            for batch in BAD_BATCHES:
                for step in (many.step, many.step_async):
                    with pytest.raises(REFUSED, match="3"):
                        step(batch)
                with pytest.raises(gym.error.NoAsyncCallError):
                    many.step_wait()
                follow(many, twin)
            for seed in BAD_SEEDS_OF_MANY:
                with pytest.raises(REFUSED):
                    Games(3, seed=seed, processes=0)
                with pytest.raises(REFUSED):
                    many.reset(seed=seed)
                follow(many, twin)
            for copied in (copy.copy, copy.deepcopy, pickle.dumps):
                with pytest.raises(TypeError, match="copied"):
                    copied(many)
                gc.collect()
                follow(many, twin)
            with pytest.raises(ValueError):
                many.reset(options={"reset_mask": np.array([True] * 3)})
            follow(many, twin)
            assert same(many.reset(options={})[0], twin.reset())
            assert workers_now() == before

    @here_and_there
    def test_all_kinds_of_batches_and_seeds(self, trap, processes):
        """Lists, tuples, arrays of whole numbers, what turns into one."""
        with Games(2, seed=[4, 2], processes=0, noop_max=30) as many:
            begin(many, Twin([4, 2], noop_max=30))
        with pair(3, processes, noop_max=30) as (many, twin):
            begin(many, twin, np.int64(50))
            begin(many, twin, [5, 1, np.int32(9)])
            for batch in GOOD_BATCHES:
                expected = twin.step([FIRE, NOOP, RIGHT])
                assert same(many.step(batch), expected)

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
                assert same(kept[-2], twin.step(batch))
                assert batch.tolist() == [action] * 3
            assert same(kept, copies)
            for action in actions_for(30, 3):
                result = many.step([action] * 3)
                assert same(result, twin.step([action] * 3))
                lasts = result[4].get("final_obs", [])
                for array in [*result[:4], *many.render(), *lasts]:
                    if array is not None:
                        array[:] = 0

    def test_wrong_arguments(self):
        """Each is an error at once, and no process has been left."""
        for wrong in WRONG_ARGUMENTS:
            with pytest.raises(REFUSED):
                Games(**{"num_envs": 2, "processes": 2, **wrong})
            assert not workers_now()


def play_slowly():
    """Let a step of a game take 0.05 s."""
    step = Game.step

    def slow_step(self, action):
        time.sleep(0.05)
        return step(self, action)

    Game.step = slow_step


def being_stopped():
    with Games(8, processes=2, timeout=0.8) as many:
        many.reset()
        for _ in range(2):
            print("playing", flush=True)
            for _ in range(3):
                assert "restarted" not in many.step([1] * 8)[4]
    print("played")


@needs_fork
@needs_proc
class TestFaults:
    """What `TestCalls` doesn't do: late, hanging and half-dead workers."""

    def test_all_that_hang_share_one_timeout(self, trap, monkeypatch):
        """A process that wakes up after it is late, whoever else was late."""
        monkeypatch.setattr(game, "GRACE", 0.1)
        with pair(timeout=2, noop_max=3) as (many, twin):
            begin(many, twin, 5)
            first, second = trap.player(5), trap.player(7)
            for pid in (first, second):
                os.kill(pid, signal.SIGSTOP)
            wakes = threading.Timer(3.9, os.kill, (second, signal.SIGCONT))
            wakes.start()
            follow(many, twin, restarted=range(4))
            wakes.cancel()

    def test_a_late_worker_is_closed_before_another_starts(
        self, trap, monkeypatch
    ):
        """Whoever holds it: it never writes to its successor's memory."""
        late = multiprocessing.RawValue("q", 0)
        met = multiprocessing.RawValue("b", False)

        def look(seed):
            trap(seed)
            if seed == 5 and late.value not in (0, os.getpid()):
                met.value |= alive(late.value)

        replace_titles(monkeypatch, **LIFELIKE, ghost=look)
        with pair(timeout=0.1, noop_max=3) as (many, twin):
            workers = [it for it in gc.get_objects() if isinstance(it, Worker)]
            held = [worker for worker in workers if not worker.child.closed]
            assert len(held) == 2
            begin(many, twin, 5)
            late.value = trap.player(5)
            os.kill(late.value, signal.SIGSTOP)
            many.step([NOOP] * 4)
            assert trap.player(5) != late.value
            assert not met.value and not alive(late.value)

    @both_modes
    def test_a_worker_dies_while_it_writes(self, monkeypatch, trap, mode):
        """`final_obs` is whole: what the caller saw last, each time.

        The worker is killed before each line of the module that it comes to
        after the last frame of a step, until it gets through the step.
        """
        line = multiprocessing.RawValue("q", -1)
        act, test = FakeALE.act, os.getpid()

        def act_and_count(ale, *args):
            last = ale.seed == 13 and ale.frame % 4 == 3
            if os.getpid() != test and last and line.value >= 0:
                trace_to(line.value, die)
                line.value = -1
            return act(ale, *args)

        monkeypatch.setattr(FakeALE, "act", act_and_count)
        with pair(mode=mode) as (many, twin):
            for n in itertools.count():
                begin(many, twin)
                follow(many, twin)
                line.value = n
                result = many.step([FIRE] * 4)
                restarted = restarted_in(result)
                assert same(result, twin.step([FIRE] * 4, restarted))
                if not restarted:
                    break
                assert restarted == {2, 3}
            assert n > 10

    def test_an_error_replaces_nobody(self, trap):
        """One of all games at once neither: each answer has been read."""
        with pair(noop_max=3) as (many, twin):
            before = workers_now()
            trap.set(crash, None, times=100)
            with pytest.raises(ZeroDivisionError):
                many.step([NOOP] * 4)
            trap.sprung()
            begin(many, twin, 20)
            follow(many, twin, 20)
            assert workers_now() == before

    def test_ctrl_c_leaves_no_answer_behind(self, trap):
        """What a worker still owes isn't taken for the answer to a reset."""
        with pair() as (many, twin):
            for later in range(8):
                begin(many, twin, 20)
                follow(many, twin)
                trap.set(interrupt, 22, later)
                with pytest.raises(KeyboardInterrupt):
                    for _ in range(20):
                        many.step([NOOP] * 4)
                trap.sprung()
            begin(many, twin, 20)
            follow(many, twin, 20)

    @each("deed, words", [(crash, "a bug"), (leave, "42"), (die, "SIGKILL|9")])
    def test_a_worker_that_cannot_start(self, monkeypatch, deed, words):
        """The construction fails, and leaves no process behind."""
        test = os.getpid()

        def make(*_, **__):
            if os.getpid() != test:
                deed()
            return FakeEnv()

        monkeypatch.setattr(gym, "make", make)
        error = ZeroDivisionError if deed is crash else RuntimeError
        with pytest.raises(error, match=words):
            Games(4, processes=2, context="fork")
        assert not workers_now()

    def test_a_replacement_that_dies_at_once(self, trap):
        """An error with the exit code, and the games are closed."""
        with pair(noop_max=3) as (many, twin):
            begin(many, twin, 20)
            trap.set(leave, 22, times=2)
            with pytest.raises(RuntimeError, match="42"):
                many.step([NOOP] * 4)
            assert trap.sprung() and many.closed and not workers_now()

    def test_a_short_timeout_is_for_steps_alone(self, monkeypatch):
        """Starts and resets get their time, which grows with the games."""
        monkeypatch.setattr(game, "GRACE", 0.01)
        monkeypatch.setattr(game, "START_TIMEOUT", 0.1)
        test = os.getpid()

        def slow(seed):
            time.sleep(0.2 * (os.getpid() != test))

        replace_titles(monkeypatch, ghost=slow)
        with pair(2, processes=1, timeout=0.1) as (many, twin):
            before = workers_now()
            begin(many, twin, 5)
            assert workers_now() == before

    def test_a_program_that_was_stopped_loses_no_game(self, program):
        """As by Ctrl-Z or a batch system, for longer than the timeout."""
        process = program(being_stopped, first=play_slowly)
        for _ in range(2):
            assert process.stdout.readline() == "playing\n"
            time.sleep(0.1)  # at some moment of a step
            os.killpg(process.pid, signal.SIGSTOP)
            time.sleep(1.2)
            os.killpg(process.pid, signal.SIGCONT)
        assert end_of(process) == (["played"], [])

    @here_and_there
    @each("state", ["new", "stepping", "dead", "stopped", "hung", "dropped"])
    def test_closing_in_every_state(self, trap, state, processes):
        """Nobody is left, and later calls are told."""
        many = Games(2, processes=processes, context="fork", noop_max=3)
        if state != "new":
            many.reset(seed=5)
        if processes > 0 and state in ("dead", "stopped"):
            stop = state == "stopped"
            how = signal.SIGSTOP if stop else signal.SIGKILL
            os.kill(trap.player(5), how)
        if state in ("stepping", "hung", "dropped"):
            trap.set(hang, 5, times=processes > 0 and state == "hung")
            many.step_async([NOOP] * 2)
        pids = workers_now()
        if state != "dropped":
            many.close()
            assert not workers_now()
            with pytest.raises(gym.error.ClosedEnvironmentError):
                many.step_wait()
        many = None
        gc.collect()
        assert all_gone(pids)

    def test_opening_and_closing_leaves_nothing(self, trap):
        """No process, no thread and no file, after an error either."""

        def use():
            with pytest.raises(LookupError), pair() as (many, twin):
                follow(many, twin)
                with Worker(0, context="fork") as worker:
                    ask(worker, "reset")
                    raise LookupError

        def held():
            gc.collect()
            folders = "/proc/self/fd", "/proc/self/task"
            return [len(os.listdir(folder)) for folder in folders]

        use()
        before = held()
        use()
        use()
        assert held() == before and not workers_now()


N = 3  # games
actions_of_all = some.lists(some.integers(0, 2), min_size=N, max_size=N)
one_of_them = some.integers(0, N - 1)
kinds_of_seeds = some.sampled_from(["none", "number", "list"])


def when(*states):
    """Let a rule be for these states of the games."""
    return stateful.precondition(lambda self: self.state in states)


class Calls(stateful.RuleBasedStateMachine):
    """Calls of `Games` in any order, whatever goes wrong, beside a twin.

    The games are `"ready"`, `"stepping"` or `"closed"`, and within a rule
    `"new"`: they need a reset. `lost` are those whose worker has died, which
    the next step tells, and `maybe` those where the one after it may.
    """

    def __init__(self, processes, mode):
        super().__init__()
        self.processes = processes
        self.mode = mode

    @stateful.initialize(
        on_life_loss=some.sampled_from(["restart", "continue", "ignore"]),
        fire=some.booleans(),
        limit=some.sampled_from([25, math.inf]),
        timeout=some.sampled_from([60] * 5 + [1]),
        line_of_close=some.integers(0, 30),
    )
    def open(self, on_life_loss, fire, limit, timeout, line_of_close):
        self.patch = pytest.MonkeyPatch()
        self.trap = Trap()
        script = dict(LIFELIKE, limit=limit, ghost=self.trap)
        replace_titles(self.patch, **script)
        self.patch.setattr(game, "GRACE", 0.1)
        options = dict(
            on_life_loss=on_life_loss, fire_on_reset=fire, noop_max=5
        )
        self.seeds = itertools.count(100, 10)
        seed = next(self.seeds)
        self.twin = Twin(range(seed, seed + N), mode=self.mode, **options)
        self.games = Games(
            N,
            seed=seed,
            processes=self.processes,
            context="fork" if self.processes else None,
            timeout=timeout,
            autoreset_mode=self.mode,
            **options,
        )
        self.line_of_close = line_of_close
        # With little time any worker may be late, on a machine that has other
        # work to do.
        self.hasty = timeout == 1 and self.processes > 0
        self.may_stop = self.hasty
        self.state = "new"
        self.lost = set()
        self.maybe = set()
        self.reset("none")

    def share_of(self, i):
        """Return the games that are played in the same process as game i."""
        if self.processes == 0:
            return set()
        players = [self.trap.player(seed) for seed in self.twin.seeds]
        return {j for j in range(N) if players[j] == players[i]}

    def check_step(self, result, actions):
        """Compare a step with the twin's, in which lost games start over."""
        restarted = restarted_in(result)
        assert self.lost <= restarted
        assert restarted <= self.lost | self.maybe or self.hasty
        assert same(result, self.twin.step(actions, restarted))
        self.lost = self.maybe - restarted
        self.maybe = set()
        self.state = "ready"

    def check_screens(self, screens):
        """Compare screens with the twin's; those of lost games are black."""
        if self.hasty:
            self.lost |= {i for i in range(N) if not screens[i].any()}
        expected = [
            one.render() * np.uint8(i not in self.lost)
            for i, one in enumerate(self.twin.games)
        ]
        assert same(screens, tuple(expected))

    @when("ready")
    @stateful.rule(kind=kinds_of_seeds)
    def reset(self, kind):
        # Without a seed the games go on with the random numbers they have,
        # but after an interruption they start from their seeds.
        restarted = self.lost if self.state == "ready" else range(N)
        first = next(self.seeds)
        seed = dict(number=first, list=[first + 3, first, first + 7]).get(kind)
        begin(self.games, self.twin, seed, restarted)
        self.lost = set()
        self.state = "ready"

    @when("ready")
    @stateful.rule(rollout=some.lists(actions_of_all, min_size=1, max_size=20))
    def step(self, rollout):
        for actions in rollout:
            self.check_step(self.games.step(actions), actions)

    @when("ready")
    @stateful.rule(actions=actions_of_all)
    def step_async(self, actions):
        self.games.step_async(actions)
        self.actions = actions
        self.state = "stepping"

    @when("stepping")
    @stateful.rule()
    def step_wait(self):
        self.check_step(self.games.step_wait(), self.actions)

    @stateful.rule(i=some.integers(0, len(BAD_BATCHES) - 1))
    def call_wrongly(self, i):
        error = dict(
            new=gym.error.ResetNeeded,
            ready=REFUSED,
            stepping=gym.error.AlreadyPendingCallError,
            closed=gym.error.ClosedEnvironmentError,
        )[self.state]
        actions = BAD_BATCHES[i] if self.state == "ready" else [NOOP] * N
        for step in (self.games.step, self.games.step_async):
            with pytest.raises(error):
                step(actions)
        if self.state in ("stepping", "closed"):
            with pytest.raises(error):
                self.games.render()
        if self.state == "closed":
            with pytest.raises(error):
                self.games.reset()
        elif self.state != "stepping":
            with pytest.raises(gym.error.NoAsyncCallError):
                self.games.step_wait()

    @when("ready")
    @stateful.rule()
    def render(self):
        self.check_screens(self.games.render())

    @when("ready", "stepping")
    @stateful.rule(i=one_of_them)
    def kill(self, i):
        share = self.share_of(i)
        if share and not share & (self.lost | self.maybe):
            kill(self.trap.player(self.twin.seeds[i]))
            if self.state == "stepping":
                self.maybe |= share
            else:
                self.lost |= share

    @when("ready")
    @stateful.rule(i=one_of_them, actions=actions_of_all)
    def be_late(self, i, actions):
        """Its worker is stopped, and doesn't answer in time: once."""
        share = self.share_of(i)
        if self.may_stop and not share & self.lost:
            self.may_stop = False
            os.kill(self.trap.player(self.twin.seeds[i]), signal.SIGSTOP)
            self.lost |= share
            self.check_step(self.games.step(actions), actions)

    @when("ready")
    @stateful.rule(
        deed=some.sampled_from([*ERRORS, leave, die]),
        call=some.sampled_from(["step", "wait", "reset", "render"]),
        i=one_of_them,
        everybody=some.booleans(),
        later=some.integers(0, 8),
        actions=actions_of_all,
        kind=kinds_of_seeds,
    )
    def do_a_deed(self, deed, call, i, everybody, later, actions, kind):
        """Something happens in a game, in the middle of the call.

        Or an error in every game.
        """
        if self.lost or self.hasty:
            return
        if self.processes == 0 and deed not in ERRORS:
            return
        if self.processes > 0 and deed is interrupt and call == "wait":
            return  # it might come outside of both calls
        before = workers_now()
        share = self.share_of(i)
        if everybody and deed in (crash, unsendable, unreadable):
            self.trap.set(deed, None, times=100)
        else:
            self.trap.set(deed, self.twin.seeds[i], later)
            everybody = False
        try:
            result = self.call(call, actions)
        except ERRORS.get(deed, ()):
            assert self.trap.sprung() or everybody
            self.state = "new"
            self.call_wrongly(0)
            assert len(self.games.render()) == N
            self.reset(kind)
            assert workers_now() == before or deed is interrupt
        else:
            sprung = self.trap.sprung()
            assert not (sprung and deed in ERRORS)
            self.check(call, result, actions, share if sprung else set())

    @when("ready")
    @stateful.rule(
        line=some.integers(0, 90),
        call=some.sampled_from(["step", "wait", "reset", "render"]),
        actions=actions_of_all,
    )
    def press_ctrl_c(self, line, call, actions):
        """Ctrl-C comes at some line of the call; then a reset is fine."""
        try:
            result = interrupted(line, lambda: self.call(call, actions))
        except KeyboardInterrupt:
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
        self.lost = lost
        if name in ("step", "wait"):
            self.check_step(result, actions)
        elif name == "render":
            self.check_screens(result)
        else:
            assert same(result[0], self.twin.reset(restarted=lost))
            self.lost = set()

    def close(self):
        self.games.close()
        self.games.close()
        # On a busy machine a process that was killed may take its time.
        for child in multiprocessing.active_children():
            child.join(PATIENCE)
        assert self.games.closed and not workers_now()
        self.state = "closed"
        self.call_wrongly(0)

    def teardown(self):
        with contextlib.suppress(KeyboardInterrupt):
            interrupted(self.line_of_close, self.games.close)
        self.close()
        self.patch.undo()


class TestCalls:
    """Any order of calls.

    By default the same orders are tried each time, and what fails is shown as
    it is; with `GAME_TESTS=all` others each time, and a short one is looked
    for.
    """

    SETTINGS = hypothesis.settings(
        max_examples=200 if ALL else 16,
        stateful_step_count=30,
        derandomize=not ALL,
        database=None,
        deadline=None,
        phases=list(hypothesis.Phase) if ALL else [hypothesis.Phase.generate],
        suppress_health_check=list(hypothesis.HealthCheck),
    )

    # Ctrl-C may come where Python says so and goes on.
    @pytest.mark.filterwarnings("ignore:Exception ignored")
    @both_modes
    @each("processes", range(4 if "fork" in START_METHODS else 1))
    def test_any_order(self, processes, mode):
        stateful.run_state_machine_as_test(
            lambda: Calls(processes, mode), settings=self.SETTINGS
        )


def hang_in_steps():
    Game.step = lambda self, action: time.sleep(1000)


def hanging(context):
    worker = Worker(0, context=context)
    busy = Worker(1, context=context)
    many = Games(2, processes=2, context=context)
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
    worker = Worker(1)
    worker.child.send(("reset", None))
    worker.child.recv()
    many = Games(2, processes=2)
    many.reset()
    many.step_async([0, 0])
    print(*[p.pid for p in multiprocessing.active_children()], flush=True)
    if how == "error":
        raise LookupError("an error of the program's own")
    if how == "exit":
        sys.exit(3)
    while how == "ctrl-c":
        many.step_wait()
        worker.child.send(("step", 0))
        many.step_async([0, 0])
        worker.child.recv()


def starting_others():
    look = "print(*[l for l in open('/proc/self/status') if 'Sig' in l[:3]])"
    command = [sys.executable, "-c", look]
    subprocess.call(command)
    with Games(4, processes=2) as many:
        many.reset()
        subprocess.call(command)
        other = multiprocessing.Process(target=subprocess.call, args=[command])
        other.start()
        other.join()


def unguarded(context):
    Games(2, processes=1, context=context)


def alone():
    assert Game(0).reset().shape == (4, 84, 84)
    assert Games(2, processes=0).reset()[0].shape == (2, 4, 84, 84)
    print(game.__file__)


class TestPrograms:
    """Programs that end, one way or another."""

    @needs_proc
    def test_workers_leave_with_a_parent_that_is_killed(self, program):
        """By `SIGKILL`, idle or in the middle of a step, however started.

        One that is stopped leaves when it is continued.
        """
        programs = [
            program(hanging, method, first=hang_in_steps)
            for method in START_METHODS
        ]
        stopped, *others = itertools.chain(*map(numbers_from, programs))
        assert 1 + len(others) == 4 * len(START_METHODS)
        assert alive(stopped) and all(map(alive, others))
        os.kill(stopped, signal.SIGSTOP)
        for process in programs:
            process.kill()
            process.wait()
        assert all_gone(others)
        os.kill(stopped, signal.SIGCONT)
        assert all_gone([stopped])

    @needs_proc
    def test_programs_end_without_closing(self, program):
        """By an error, by their end or by Ctrl-C, which goes to all.

        Nothing is left, and no more is said than one traceback, their own.
        """
        codes = {"error": 1, "exit": 3, "end": 0, "ctrl-c": -signal.SIGINT}
        programs = {how: program(ending, how) for how in codes}
        for how, process in programs.items():
            pids = numbers_from(process)
            assert len(pids) == 3
            if how == "ctrl-c":
                os.killpg(process.pid, signal.SIGINT)
            _, errors = end_of(process, codes[how])
            assert all_gone(pids)
            tracebacks = [it for it in errors if it.startswith("Traceback")]
            assert len(tracebacks) == (how in ("error", "ctrl-c"))
            assert bool(errors) == bool(tracebacks)
            assert "worker_process" not in "".join(errors)

    @needs_proc
    def test_programs_that_start_others(self, program):
        """After a worker they hear all signals, as without one."""
        lines, _ = end_of(program(starting_others))
        masks = [it for it in lines if re.match(" ?Sig(Blk|Ign)", it)]
        assert len(masks) == 6
        assert masks[:2] == masks[2:4] == masks[4:]

    @needs_proc
    def test_programs_without_a_guard(self, program):
        """Python's own message says what is missing; nothing runs on.

        Whatever ran on would hold the program's output open.
        """
        methods = set(START_METHODS) - {"fork"}
        programs = [program(unguarded, it, guard="if True:") for it in methods]
        for process in programs:
            _, errors = end_of(process, 1)
            assert "__name__ == '__main__'" in "".join(errors)

    def test_the_module_alone_is_complete(self, program, tmp_path):
        """Copied into an empty folder, where labml isn't installed."""
        (tmp_path / "game.py").write_text(SOURCE, encoding="utf-8")
        (tmp_path / "labml.py").write_text("raise ImportError")
        process = program(alone, path=[tmp_path])
        assert end_of(process) == ([str(tmp_path / "game.py")], [])


def steps_in(lines):
    """Check the three lines that the program ends with; return the steps."""
    number = r"[\d,]+(\.\d+)?"
    patterns = [
        rf"({number}) steps.* {number} episodes.*",
        r"score: (mean [\d.-]+, best -?\d+|no game has ended)",
        rf"{number} .*steps/s, {number} .*frames/s",
    ]
    steps, *_ = map(re.fullmatch, patterns, lines[-3:])
    assert all(map(re.fullmatch, patterns, lines[-3:])), lines
    return int(steps[1].replace(",", ""))


class TestMain:
    """The module as a program."""

    @each("title, steps", [(BREAKOUT, 300), ("PongNoFrameskip-v4", 50)])
    def test_the_program(self, program, tmp_path, title, steps):
        """Progress, a summary and a picture, and nothing else anywhere.

        In so few steps of Pong no game ends, and progress is there as well.
        """
        args = title, "--steps", str(steps), "--games", "2", "--seed", "9"
        folder = tmp_path / "empty"
        lines, errors = end_of(program(SOURCE, *args, folder=folder))
        assert errors == []
        files = {path.name for path in folder.iterdir()}
        assert files - {"__pycache__"} == {"program0.py", "game.png"}
        assert steps_in(lines) == 2 * steps
        assert (lines[-2] == "score: no game has ended") == (steps == 50)
        assert any("steps per second" in line for line in lines)
        assert not any("warn" in line.lower() for line in lines)
        picture = cv2.imread(str(folder / "game.png"))
        assert picture.shape[0] >= 2 * 84 and picture.shape[1] >= 4 * 84
        assert picture.max() > 100

    @needs_proc
    def test_ctrl_c_stops_the_program(self, program):
        """With the summary so far, and no traceback of anyone."""
        process = program(SOURCE, "--steps", "10000000")
        progress = ""
        while "steps per second" not in progress:  # then it plays
            progress += process.stdout.read(1)
        os.killpg(process.pid, signal.SIGINT)
        lines, errors = end_of(process)
        assert errors == [] and steps_in(lines) > 0

    @each(
        "args, code, words",
        [
            ("Breakot-v4", 2, "Did you mean: `Breakout`?"),
            ("NoSuchGame", 2, "NoSuchGame"),
            ("no_such_module:Pong-v5", 2, "no_such_module"),
            ("CartPole-v1", 2, "Atari"),
            ("--games 0", 2, "games"),
            ("--steps 0", 2, "steps"),
            ("--steps -3", 2, "-3"),
            ("--seed -1", 2, "-1"),
            ("--games many", 2, "many"),
            ("--help", 0, rf"env_id( \w+)+ \(default: {BREAKOUT}\)"),
            ("--help", 0, r"--games GAMES( \w+)+ \(default: 8\)"),
            ("--help", 0, r"--steps STEPS( \w+)+ \(default: 2000\)"),
            ("--help", 0, r"--seed SEED( \w+)+ \(default: 0\)"),
        ],
    )
    def test_arguments(self, monkeypatch, tmp_path, capsys, args, code, words):
        """One clear line and exit code 2, and no file; or what there is."""
        monkeypatch.setattr(sys, "argv", ["game.py", *args.split()])
        monkeypatch.chdir(tmp_path)
        with pytest.raises(SystemExit) as ending:
            runpy.run_path(str(MODULE), run_name="__main__")
        assert ending.value.code == code
        assert list(tmp_path.iterdir()) == []
        stdout, stderr = capsys.readouterr()
        if code == 0:
            assert re.search(words, " ".join(stdout.split()))
        else:
            *usage, line = stderr.splitlines()
            assert words in line and stdout == ""
            assert usage == [] or "many" in args  # argparse's has a usage


MAC_LACKS = ["os.sched_getaffinity", "os.sched_setscheduler", "os.SCHED_BATCH"]
WINDOWS_LACKS = [
    *(*MAC_LACKS, "os.sched_yield", "os.fork", "os.forkpty", "os.killpg"),
    *("select.poll", "select.epoll"),
    *("signal.pthread_sigmask", "signal.pthread_kill", "signal.sigwait"),
]


def take_away(names):
    """Let a system be without these names, and without forking."""
    for name in names:
        module, attribute = name.split(".")
        if hasattr(sys.modules[module], attribute):
            delattr(sys.modules[module], attribute)
    if "os.fork" in names:
        import multiprocessing
        from multiprocessing import context, resource_tracker

        del resource_tracker.ensure_running
        spawn = context._concrete_contexts["spawn"]
        context._concrete_contexts = {"spawn": spawn}
        context._default_context._default_context = spawn
        multiprocessing.get_all_start_methods = lambda: ["spawn"]


def tell_it_all(*names):
    """Print which names are missing, and a digest of all that is played."""
    modules = dict(os=os, select=select, signal=signal)
    pairs = [name.split(".") for name in names]
    print(*[b for a, b in pairs if hasattr(modules[a], b)])
    print(*multiprocessing.get_all_start_methods())
    options = dict(on_life_loss="continue", noop_max=30, fire_on_reset=True)
    actions = [1, 2, 3] * 20
    one = Game(3, **options)
    returned = [one.reset(), *map(one.step, actions)]
    with Worker(3, **options) as worker:
        for command in [("reset", None), *[("step", it) for it in actions]]:
            worker.child.send(command)
            returned.append(worker.child.recv())
    for processes in (0, 2):
        with Games(3, processes=processes, **options) as many:
            returned.append(many.reset())
            returned += [many.step([action] * 3) for action in actions]
            returned.append(many.render())
    sys.argv = ["game.py", "--steps", "100", "--games", "3"]
    game.main()
    with open("game.png", "rb") as file:
        returned.append(file.read())
    print(hashlib.sha1(pickle.dumps(returned, protocol=4)).hexdigest())


@pytest.mark.skipif(sys.platform != "linux", reason="needs Linux")
def test_systems(program, tmp_path):
    """The same results where names are missing that Windows or macOS lack.

    Bit for bit, from `Game`, `Worker` and `Games`, and the picture. Python
    imports `sitecustomize` in each process, before anything else.
    """
    programs = []
    for i, lacks in enumerate([[], MAC_LACKS, WINDOWS_LACKS]):
        folder = tmp_path / f"system{i}"
        folder.mkdir()
        text = (
            f"import os, select, signal, sys\n{inspect.getsource(take_away)}"
        )
        text += f"take_away({lacks})\n"
        (folder / "sitecustomize.py").write_text(text)
        path = folder, MODULE.parent
        names = WINDOWS_LACKS
        programs.append(program(tell_it_all, *names, folder=folder, path=path))
    linux, macos, windows = (end_of(process)[0] for process in programs)
    for lines in (linux, macos, windows):
        assert steps_in(lines[:-1]) == 300
        assert lines[-1] == linux[-1]
    assert len(linux[0].split()) == len(WINDOWS_LACKS)
    assert len(macos[0].split()) == len(WINDOWS_LACKS) - len(MAC_LACKS)
    assert windows[0] == ""
    assert macos[1] == linux[1] == " ".join(START_METHODS)
    assert windows[1] == "spawn"
