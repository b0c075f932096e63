"""
The proof that `game.py` does what it says, from outside, as a user meets it.

    pip install -r requirements.txt && python -m pytest test_game.py

Real titles are compared with Gymnasium's wrappers, bit for bit. Most of the
rest is played on an emulator whose frames are known, so that what is right can
be worked out by hand. With `GAME_TESTS=all` in the environment all 104 titles
are played, and more of everything. What a test needs of the system stands
above it, such as `needs_fork`; elsewhere it is skipped.

Begin to read at "2. One game": section 1 is what the tests stand on.
"""

import contextlib
import copy
import dataclasses
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
import threading
import time
import traceback
import types
import typing
import warnings
from multiprocessing import connection

import ale_py
import cv2
import gymnasium as gym
import hypothesis
import numpy as np
import pytest
from gymnasium.envs.registration import EnvSpec
from gymnasium.vector import AsyncVectorEnv, AutoresetMode
from gymnasium.wrappers import AtariPreprocessing, FrameStackObservation
from hypothesis import stateful
from hypothesis import strategies as some

import game
from game import TRAINING, Game, Games, Worker

MODULE = pathlib.Path(game.__file__).resolve()
SOURCE = MODULE.read_text(encoding="utf-8")
ALL = os.environ.get("GAME_TESTS") == "all"
PATIENCE = 300  # seconds, after which a program counts as hanging

BREAKOUT = "BreakoutNoFrameskip-v4"
SAME_STEP, NEXT_STEP = AutoresetMode.SAME_STEP, AutoresetMode.NEXT_STEP
MODES = ["restart", "continue", "ignore"]  # for `on_life_loss`
REFUSED = ValueError, TypeError  # how bad input is answered
NEEDED = gym.error.ResetNeeded
# What `Game` does by default; `Games` does what `TRAINING` says.
PLAIN = dict(
    on_life_loss="restart", noop_max=0, fire_on_reset=False, clip_reward=False
)
# What both show by default.
LOOKS = dict(action_repeat=4, stack=4, size=(84, 84), colour=False)

# Gymnasium's titles, and those that are always played: with lives and without,
# one without snapshots, two of 250 and of 214 rows, and two without NOOP.
TITLES = {
    spec.kwargs["game"]: spec.id
    for spec in gym.registry.values()
    if re.fullmatch(r"ALE/.*-v5", spec.id)
}
SOME_TITLES = ["breakout", "pong", "qbert", "seaquest", "air_raid", "carnival"]
NO_NOOP = ["backgammon", "video_checkers"]
START_METHODS = multiprocessing.get_all_start_methods()
FORKS = "fork" in START_METHODS
# Gymnasium 1.1 refuses titles without NOOP, and counts the steps of an episode
# one short under SAME_STEP.
OLD = tuple(map(int, gym.__version__.split(".")[:2])) < (1, 4)

each = pytest.mark.parametrize
each_title = each("title", TITLES if ALL else SOME_TITLES + NO_NOOP)
each_odd_title = each("title", TITLES if ALL else SOME_TITLES[-2:] + NO_NOOP)
both_modes = each("mode", [SAME_STEP, NEXT_STEP])
here_and_there = each("processes", [0, 2] if FORKS else [0])

# Whoever loses a worker, and doesn't expect it, fails.
pytestmark = pytest.mark.filterwarnings("error::RuntimeWarning")
needs_fork = pytest.mark.skipif(not FORKS, reason="needs fork")
needs_proc = pytest.mark.skipif(
    not pathlib.Path("/proc/self/stat").exists(),
    reason="needs /proc, and the signals of POSIX",
)


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


def write_into(*results):
    """Do with arrays what their owner may do: later ones aren't touched."""
    for result in results:
        if isinstance(result, np.ndarray) and result.dtype != object:
            result[...] = 0
        elif isinstance(result, (tuple, list, np.ndarray)):
            write_into(*result)
        elif isinstance(result, dict):
            write_into(*result.values())


def actions_for(steps, n=4):
    """Return random actions, the same ones each time."""
    return np.random.default_rng(0).integers(n, size=steps).tolist()


def atari(env_id, **kwargs):
    """Return the spec of an id, with other settings of the emulator."""
    spec = copy.deepcopy(gym.spec(env_id))
    spec.kwargs.update(kwargs)
    return spec


def shrunk(screen, size=(84, 84)):
    """Return a screen as a picture of so many rows and columns."""
    return cv2.resize(screen, size[::-1], interpolation=cv2.INTER_AREA)


@pytest.fixture(autouse=True, scope="module")
def ctrl_c_is_heard():
    """A shell lets what it runs in the background ignore Ctrl-C."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


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
    """Return whether these processes end, however busy the machine is."""
    deadline = time.monotonic() + 30
    while any(map(alive, pids)) and time.monotonic() < deadline:
        time.sleep(0.02)
    return not any(map(alive, pids))


# --- 1. Stand-ins ------------------------------------------------------------
#
# - A `Script` says what happens in a game, frame by frame.
# - A `FakeALE` is an emulator that plays a script; a `FakeEnv` is Gymnasium's
#   environment around it. Frame n lights one band of the dark screen, ten rows
#   high, with a brightness of its own. Ten rows of 210 become exactly four of
#   84, so `seen` reads off an observation which frames are in it.
# - A `Model` is what `Game` should return of a script, in numbers of frames.
# - A `Twin` is what `Games` should return: a model or a `Game` for each.
# - A *deed* is what no game should do, such as dying, and a `Trap` is set for
#   the game of a certain seed, which then does it.
# - A `pair` is `Games` and their twin: `begin` resets both and compares,
#   `follow` steps both and compares.
MEANINGS = ["NOOP", "FIRE", "RIGHT"]
NOOP, FIRE, RIGHT = range(3)  # of Breakout, too
BANDS = 21


def lit(shape, band, frames):
    """Return a screen or a picture, with bands so high, that shows frames."""
    image = np.zeros(shape, np.uint8)
    for frame in frames:
        first = frame % BANDS * band
        image[first : first + band] = 200 - frame
    return image


@functools.cache
def picture_of(frames, size=(84, 84), colour=False):
    screen = lit((210, 160), 10, frames)
    return shrunk(np.dstack([screen] * 3) if colour else screen, size)


def seen(observation):
    """Return which frames are in each of an observation's four pictures."""
    pictures = []
    for picture in observation:
        values = set(picture[:, 0].tolist()) - {0}
        pictures.append(tuple(sorted(200 - value for value in values)))
    assert same(observation, np.array(list(map(picture_of, pictures))))
    return pictures


@dataclasses.dataclass
class Script:
    lives: dict = dataclasses.field(default_factory=lambda: {0: 5})  # by frame
    rewards: dict = dataclasses.field(default_factory=dict)  # and by action
    over: float = math.inf  # the frame in which the game is lost
    limit: float = math.inf  # the frame in which it is cut short
    draw: dict = dataclasses.field(default_factory=dict)  # screens by frame
    boot: int = 0  # the number of the first frame, up to 134 in real titles
    sticky: float = 0.0
    name: str = "fake"
    settings: dict = dataclasses.field(default_factory=dict)  # of the spec
    meanings: list = dataclasses.field(default_factory=lambda: MEANINGS)
    # Called with the game's last seed whenever the emulator is used.
    ghost: typing.Callable = lambda seed: None

    def lives_at(self, frame):
        return self.lives[max(n for n in self.lives if n <= frame)]

    def points(self, frame, action):
        return self.rewards.get(frame, 0) + self.rewards.get(action, 0)


class FakeALE:
    def __init__(self, script):
        self.script = script
        self.seed = None
        self.frame = 0
        self.shown = 0  # the frame that is on the screen
        self.played = []  # what was played and done, in its order

    def reset_game(self):
        self.script.ghost(self.seed)
        self.played.append("reset")
        self.frame = self.shown = 0

    def act(self, action):
        if self.game_over():  # as ALE: nothing moves any more
            return 0
        self.script.ghost(self.seed)
        name = ale_py.Action(action).name
        self.played.append(name)
        self.frame += 1
        self.shown = self.frame
        return self.script.points(self.frame, name)

    def lives(self):
        return self.script.lives_at(self.frame)

    def game_over(self, with_truncation=True):
        cut = with_truncation and self.frame >= self.script.limit
        return cut or self.frame >= self.script.over

    def getEpisodeFrameNumber(self):
        return self.script.boot + self.frame

    def getFloat(self, key):
        return {"repeat_action_probability": self.script.sticky}[key]

    def getScreenGrayscale(self):
        if self.shown in self.script.draw:
            return self.script.draw[self.shown].copy()
        return lit((210, 160), 10, [self.shown])

    def getScreenRGB(self):
        self.script.ghost(self.seed)
        return np.dstack([self.getScreenGrayscale()] * 3)


class FakeEnv(gym.Env):
    def __init__(self, script):
        self.ale = FakeALE(script)
        self.action_space = gym.spaces.Discrete(len(script.meanings))
        kwargs = dict(script.settings, game=script.name)
        self.spec = EnvSpec("FakeNoFrameskip-v4", "fake:Env", kwargs=kwargs)

    def get_action_meanings(self):
        return self.ale.script.meanings

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

    # As of ALE's own, a restored state isn't drawn before the next frame.
    def restore_state(self, state):
        self.ale.script.ghost(self.ale.seed)
        self.ale.played.append("restore")
        self.ale.frame = state


def replace_titles(patch, script):
    """Put such an emulator in the place of all titles, whatever is asked."""
    patch.setattr(gym, "make", lambda *_, **__: FakeEnv(script))


@pytest.fixture
def fake(monkeypatch):
    """Return a function that makes a `Game` of a script and of options."""

    def play(seed=0, make=Game, **kwargs):
        of_script = {it.name for it in dataclasses.fields(Script)}
        names = of_script & kwargs.keys()
        script = Script(**{name: kwargs.pop(name) for name in names})
        replace_titles(monkeypatch, script)
        one = make(seed, **kwargs)
        return one, one.env.ale

    return play


# A title with all that can happen: lives lost, points for frames and actions.
LIFELIKE = Script(
    lives={0: 3, 9: 2, 14: 3, 21: 2, 30: 1, 38: 0},
    rewards={5: 1, 13: -20, 22: 300, "FIRE": 0.25, "RIGHT": 2},
    over=41,
)


def told(reward, length, truncated=False):
    """Return an `episode_info`."""
    return dict(reward=float(reward), length=length, truncated=truncated)


class Model:
    def __init__(self, seed, script=LIFELIKE, **options):
        self.first_seed = seed
        self.script = script
        self.options = PLAIN | LOOKS | options
        mode = MODES.index(self.options["on_life_loss"])
        self.least = [0, 1, math.inf][mode]  # lives, for a lost one to count
        self.end = min(script.over, script.limit)

    def reset(self, seed=None):
        if seed is None:
            seed = self.first_seed
        self.first_seed = None
        self.start_game(seed)
        return self.observation()

    def start_game(self, seed=None):
        self.frame = self.score = self.length = 0
        self.seed(seed)
        most = self.options["noop_max"]
        number = self.random.integers(1, most + 1) if most > 0 else 0
        for _ in range(number):
            self.play_unseen("NOOP")
            if self.frame == self.end:
                self.frame = self.score = 0
                self.seed(seed)
        self.begin_episode()

    def seed(self, seed):
        if seed is not None:
            self.random = gym.utils.seeding.np_random(seed)[0]

    def begin_episode(self):
        if self.options["fire_on_reset"]:
            for _ in range(self.options["action_repeat"]):
                self.play_unseen("FIRE")
        self.lives = self.script.lives_at(self.frame)
        self.pictures = [(self.frame,)] * self.options["stack"]

    def play_unseen(self, name):
        """Play a frame that is no step's; the console counts its points."""
        if self.frame < self.end:
            self.frame += 1
            self.score += self.script.points(self.frame, name)

    def step(self, action):
        reward = 0.0
        repeat = self.options["action_repeat"]
        for number in range(1, repeat + 1):
            if self.frame < self.end:
                self.frame += 1
                reward += self.script.points(self.frame, MEANINGS[action])
            before, self.lives = self.lives, self.script.lives_at(self.frame)
            lost = self.lives < before and self.lives >= self.least
            over = self.frame == self.end
            last_two = (self.frame - 1, self.frame)
            shown = last_two if number == repeat > 1 else last_two[1:]
            if lost or over:
                break
        self.pictures = [*self.pictures[1:], shown]
        self.score += reward
        self.length += 1
        if self.options["clip_reward"]:
            reward = float(np.sign(reward))
        info = self.end_episode(lost, over) if lost or over else None
        return self.observation(), reward, lost or over, info

    def end_episode(self, lost, over):
        self.final_obs = self.observation()
        self.terminated = lost or self.frame == self.script.over
        if over or self.least == 0:
            cut = over and self.frame < self.script.over
            info = told(self.score, self.length, cut)
            self.start_game()
            return info
        self.begin_episode()
        return None

    def observation(self):
        look = self.options["size"], self.options["colour"]
        return np.array([picture_of(it, *look) for it in self.pictures])

    def render(self):
        return lit((210, 160, 3), 10, [self.frame])


class Twin:
    def __init__(self, seeds, mode=SAME_STEP, model=Model, **options):
        self.seeds = list(map(int, seeds))
        self.next_step = mode is NEXT_STEP
        self.games = [model(seed, **options) for seed in self.seeds]

    def reset(self, seeds=None, restarted=()):
        """Reset; games in `restarted` start over from their seeds."""
        if seeds is not None:
            self.seeds = list(map(int, seeds))
            restarted = range(len(self.seeds))
        obs = [
            one.reset(self.seeds[i] if i in restarted else None)
            for i, one in enumerate(self.games)
        ]
        self.obs = np.array(obs)
        self.resting = {}  # first observations that the next step returns
        return self.obs

    def step(self, actions, restarted=()):
        """Step; games in `restarted` start over instead."""
        rewards = np.zeros(len(self.games))
        terminated, truncated = np.zeros((2, len(self.games)), bool)
        obs = self.obs.copy()
        lasts, ends = {}, {}
        for i, one in enumerate(self.games):
            resting = self.resting.pop(i, None)
            if i in restarted:
                lasts[i] = self.obs[i]
                obs[i] = one.reset(self.seeds[i])
                truncated[i] = True
            elif resting is not None:
                obs[i] = resting
            else:
                obs[i], rewards[i], done, info = one.step(actions[i])
                if info is not None:
                    ends[i] = info
                    truncated[i] = info["truncated"]
                if done:
                    lasts[i] = one.final_obs
                    terminated[i] = one.terminated
        if self.next_step:
            for i, last in lasts.items():
                self.resting[i] = obs[i].copy()
                obs[i] = last
            lasts = {}
        self.obs = obs
        infos = self.infos(lasts, ends, restarted)
        return obs, rewards, terminated, truncated, infos

    def infos(self, lasts, ends, restarted):
        """Return infos as Gymnasium's own vector environments write them."""
        n = len(self.games)
        masks = [np.isin(range(n), [*it]) for it in (lasts, ends, restarted)]
        infos = {}
        if lasts:
            final_obs = np.full(n, None)
            for i, last in lasts.items():
                final_obs[i] = last
            infos.update(final_obs=final_obs, _final_obs=masks[0])
        if ends:
            scores, lengths = np.zeros(n), np.zeros(n, np.int64)
            for i, info in ends.items():
                scores[i] = info["reward"]
                lengths[i] = info["length"]
            infos.update(episode=dict(r=scores, l=lengths), _episode=masks[1])
        if restarted:
            infos["restarted"] = masks[2]
        return infos


def restarted_in(result):
    """Return which games a step reports as restarted."""
    return set(np.flatnonzero(result[4].get("restarted", ())).tolist())


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
        actions = ((action + np.arange(many.num_envs)) % 3).tolist()
        given = actions.copy()
        warned = contextlib.nullcontext()
        if restarted:
            warned = pytest.warns(RuntimeWarning)
        with warned:
            result = many.step(given)
        assert same(result, twin.step(actions, restarted))
        assert given == actions
        restarted = ()


@contextlib.contextmanager
def pair(n=4, processes=2, mode=SAME_STEP, timeout=60, model=Model, **options):
    """Games that were reset, and a twin to compare them with."""
    seeds = list(range(10, 10 + n))
    options = PLAIN | options
    twin = Twin(seeds, mode, model, **options)
    # The model is another one for real titles, and for games of one's own.
    if model not in (Model, Game):
        options["make"] = model
    options.update(seed=seeds, timeout=timeout, autoreset_mode=mode)
    context = "fork" if processes > 0 else None
    with Games(n, processes=processes, context=context, **options) as many:
        begin(many, twin)
        yield many, twin


ERRORS = {
    "crash": ZeroDivisionError("a bug in the middle of a step"),
    "unsendable": ArithmeticError("an odd error", threading.Lock()),
    # As a pipe's, but a game's own: of a server that it asks, for example.
    "reset": ConnectionResetError("a bug of a server"),
    "end": EOFError("a bug in a file"),
}
DEEDS = [*ERRORS, "interrupt", "leave", "die", "hang"]
ENDS = dict(leave="exitcode=42|42", die="SIGKILL|-9")  # as is told of them


def do(deed):
    """Do what a game should not do, in this process or in a worker."""
    if deed in ERRORS:
        raise ERRORS[deed]
    if deed == "interrupt" and multiprocessing.parent_process() is None:
        signal.raise_signal(signal.SIGINT)
    elif deed == "interrupt":
        os.kill(os.getppid(), signal.SIGINT)
    elif deed == "leave":
        os._exit(42)
    elif deed == "die":
        os.kill(os.getpid(), signal.SIGKILL)
    else:
        time.sleep(1000)


class Trap:
    """A ghost for emulators, in this process and in those forked from it.

    After `trap.set(deed, seed)` the game that was seeded so does the deed when
    its emulator is used; or `later` uses after that, or `times` times.
    """

    def __init__(self):
        self._test = os.getpid()
        self._set = multiprocessing.RawArray("q", 4)
        self._players = multiprocessing.RawArray("q", 1000)

    def set(self, deed, seed, later=0, times=1):
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
        if whose == seed and left > 0:
            if later > 0:
                self._set[2] -= 1
            else:
                self._set[3] -= 1
                do(DEEDS[deed])


@pytest.fixture
def trap(monkeypatch):
    """Let all titles be lifelike ones in which this trap can be set."""
    ghost = Trap()
    replace_titles(monkeypatch, dataclasses.replace(LIFELIKE, ghost=ghost))
    return ghost


def interrupted(line, call, error=KeyboardInterrupt, module=game):
    """Call; that line of a module raises what a signal's handler raises."""
    test = os.getpid()
    lines = itertools.count()

    def trace(frame, event, arg):
        code = frame.f_code
        # What is raised in a `__del__` is only printed, and processes that are
        # forked meanwhile inherit the trace.
        ours = code.co_filename == module.__file__ and os.getpid() == test
        if not ours or code.co_name == "__del__":
            return None
        if event == "line" and next(lines) == line:
            raise error
        return trace

    before = sys.gettrace()
    gc.disable()  # what is raised meanwhile would be only printed, too
    sys.settrace(trace)
    try:
        return call()
    finally:
        sys.settrace(before)
        gc.enable()


def ask(one, command, data=None):
    """Give a command to a game, or to one in another process."""
    if isinstance(one, Game):
        return getattr(one, command)(data)
    one.child.send((command, data))
    return one.child.recv()


def trajectory(one, actions=None, seed=None):
    """Reset a game or a worker and play; return all that it returned."""
    first = ask(one, "reset", seed)
    actions = actions or actions_for(150)
    return [first] + [ask(one, "step", action) for action in actions]


# --- 2. One game -------------------------------------------------------------


class TestGame:
    """What the agent sees, what ends an episode, and what starts one."""

    def test_the_pictures_are_those_of_the_last_four_steps(self, fake):
        """Each is of the third and the fourth frame; the first is repeated."""
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

    def test_the_score_is_that_of_the_whole_game(self, fake):
        """And at zero lives the episode waits for the game's own end."""
        lives = {0: 2, 2: 1, 7: 0}  # so steps end with 2, 6, 10, 14 and 16
        rewards = {1: 1, 5: 10, 9: 100, 16: 1000}
        script = dict(lives=lives, rewards=rewards, over=16)
        one, _ = fake(on_life_loss="continue", **script)
        one.reset()
        for _ in range(2):
            *steps, last = [one.step(NOOP)[2:] for _ in range(5)]
            assert steps == [(True, None), *[(False, None)] * 3]
            assert last == (True, told(1111, 5))
            assert seen(one.final_obs)[-1] == (16,)

    def test_fire_starts_every_episode(self, fake):
        """After the no-ops it is held for a step.

        The points of these frames count in the score, as on the console.
        """
        one, ale = fake(
            fire_on_reset=True,
            noop_max=1,
            on_life_loss="continue",
            rewards={1: 1, 2: 10, 6: 100, 8: 1000, 9: 1e4, 13: 1e5, 14: 1e6},
            lives={0: 4, 3: 3, 8: 2, 10: 1},
            over=14,
        )
        assert seen(one.reset()) == [(5,)] * 4
        assert one.step(RIGHT)[1] == 1100
        assert one.step(RIGHT)[1:] == (1.1e6, True, told(1111111, 2))
        assert seen(one.final_obs)[-1] == (14,)
        assert ale.played[-6:] == ["restore", "NOOP"] + ["FIRE"] * 4

    @each("meanings, fired", [("NOOP UP FIRE", 4), ("NOOP UP UPFIRE", 0)])
    def test_fire_is_found_by_its_name(self, fake, meanings, fired):
        """UPFIRE isn't FIRE, and a game without it is left alone."""
        one, ale = fake(meanings=meanings.split(), fire_on_reset=True)
        assert seen(one.reset()) == [(fired,)] * 4
        assert ale.played == ["reset"] + ["FIRE"] * fired

    @each(
        "script, later",
        [({}, "restore")]
        + [(dict(name=name), "reset") for name in sorted(game.LOSSY)]
        + [(dict(sticky=chance), "reset") for chance in (0.1, 0.25)]
        + [(dict(settings=dict(mode=2)), "reset")]
        + [(dict(settings=dict(difficulty=1)), "reset")],
    )
    def test_later_resets_put_back_the_first_state(self, fake, script, later):
        """Unless a snapshot can't be trusted."""
        one, ale = fake(**script)
        for _ in range(3):
            assert seen(one.reset()) == [(0,)] * 4
            one.step(NOOP)
        resets = [it for it in ale.played if it != "NOOP"]
        assert resets == ["reset", later, later]


# By default Hypothesis tries the same each time.
SETTINGS = functools.partial(
    hypothesis.settings,
    derandomize=not ALL,
    database=None,
    deadline=None,
    report_multiple_bugs=False,
    suppress_health_check=list(hypothesis.HealthCheck),
)
some_frame = some.integers(1, 24)
some_end = some.sampled_from([math.inf, 3, 5, 6, 7, 8, 21])
some_lives = some.dictionaries(some_frame, some.integers(0, 4))
some_script = some.builds(
    Script,
    lives=some_lives.map(lambda lives: {0: 3, **lives}),
    rewards=some.dictionaries(some_frame, some.integers(-9, 99)),
    over=some_end,
    limit=some_end,
    boot=some.sampled_from([0, 8]),
    name=some.sampled_from(["fake", "qbert"]),
)
some_options = some.builds(
    dict,
    on_life_loss=some.sampled_from(MODES),
    noop_max=some.sampled_from([0, 1, 50]),
    fire_on_reset=some.booleans(),
    clip_reward=some.booleans(),
    action_repeat=some.sampled_from([4, 1, 2, 3, 8]),
    stack=some.sampled_from([4, 1, 2, 5]),
    size=some.sampled_from([(84, 84), (60, 100), (37, 41), (240, 84), (1, 1)]),
    colour=some.booleans(),
)


class TestAnyGame:
    """Whatever may happen in a game, and whichever options it has."""

    @SETTINGS(max_examples=5000 if ALL else 100)
    @hypothesis.given(some_script, some_options, some.integers(0, 5))
    def test_any_game(self, script, options, seed):
        """All that it returns and shows, and what it tells of an end."""
        with pytest.MonkeyPatch.context() as patch:
            replace_titles(patch, script)
            one = Game(seed, **options)
        model = Model(seed, script, **options)
        for given in (None, None, 3):
            first = one.reset(given)
            assert same(first, model.reset(given))
            for action in actions_for(12, 3):
                screen, result = one.render(), one.step(action)
                assert same(screen, model.render())
                assert same(result, model.step(action))
                if result[2]:
                    assert same(one.final_obs, model.final_obs)
                    assert one.terminated is model.terminated
                write_into(first, screen, result, one.final_obs)


# --- 3. A game in another process --------------------------------------------


class TestWorker:
    """Asked as labml's tutorial asks."""

    @each("method", START_METHODS)
    def test_a_worker_plays_the_same_game(self, method):
        """Of a class of one's own, whichever way it was started."""
        title = "SeaquestNoFrameskip-v4"  # each no-op changes its screen
        one = RandomStarts(3, title, **TRAINING)
        actions = actions_for(90)
        options = dict(TRAINING, context=method, make=RandomStarts)
        with Worker(3, title, **options) as worker:
            assert isinstance(worker.child, connection.Connection)
            assert worker.process.daemon
            for seed in (None, 8):
                theirs = trajectory(worker, actions, seed)
                assert same(trajectory(one, actions, seed), theirs)
                if hasattr(signal, "SIGKILL"):
                    # That goes to all processes, and the parent decides.
                    os.kill(worker.process.pid, signal.SIGINT)

    @needs_fork
    def test_the_loop_may_be_started_by_hand(self, trap):
        """As labml's own `Worker` does: a pipe, a process, no class."""
        context = multiprocessing.get_context("fork")
        child, remote = context.Pipe()
        loop = game.worker_process
        process = context.Process(target=loop, args=(remote, 47))
        process.start()
        child.send(("reset", None))
        assert same(child.recv(), Game(47).reset())
        child.send(("close", None))
        process.join(PATIENCE)
        assert process.exitcode == 0

    @needs_fork
    @each("deed", ERRORS)
    def test_an_error_is_raised_where_it_is_received(self, trap, deed):
        """Or its name and words, if it can't be sent. The worker plays on."""
        with Worker(5, context="fork") as worker:
            before = trajectory(worker, [NOOP] * 20)
            trap.set(deed, 5)
            words = "a bug|ArithmeticError: .*an odd"
            error = type(ERRORS[deed])
            if deed == "unsendable":
                error = RuntimeError
            with pytest.raises(error, match=words) as raised:
                ask(worker, "step", NOOP)
            text = "".join(traceback.format_exception(raised.value))
            assert "in do" in text and "raise ERRORS[deed]" in text
            assert trap.sprung()
            assert same(before, trajectory(worker, [NOOP] * 20))

    @needs_fork
    def test_wrong_calls(self, trap):
        """Their errors say what was wrong, and the worker plays on."""
        fork = multiprocessing.get_context("fork")
        worker = Worker(0, context=fork, noops=3)
        with worker, pytest.raises(TypeError, match="noops"):
            ask(worker, "reset")
        with Worker(0, context=fork) as worker:
            with pytest.raises(NEEDED):
                ask(worker, "step", NOOP)
            for command in ("somersault", "__init__"):
                with pytest.raises(NotImplementedError, match=command):
                    ask(worker, command)
            assert seen(ask(worker, "reset")) == [(0,)] * 4

    @each("method", START_METHODS)
    def test_draws_of_numpy_differ(self, method):
        """Between workers, however they are started."""
        options = dict(context=method, make=Dice)
        with Worker(0, **options) as one, Worker(0, **options) as other:
            for worker in (one, other):
                worker.child.send(("reset", None))
            assert one.child.recv() != other.child.recv()

    @pytest.mark.skipif("forkserver" not in START_METHODS, reason="needs it")
    def test_no_signal_is_sent_to_who_is_gone(self, monkeypatch):
        """The system may have given its number to another process."""
        with Worker(0) as worker:
            pid = worker.process.pid
            os.kill(pid, signal.SIGKILL)
            assert connection.wait([worker.process.sentinel], PATIENCE)
            sent = []
            monkeypatch.setattr(os, "kill", lambda *args: sent.append(args))
            worker.close()
        assert sent == []

    @needs_fork
    @needs_proc
    @each("deed", ["leave", "die"])
    def test_a_dead_worker(self, trap, deed):
        """What a pipe raises, at once and each time."""
        with Worker(5, context="fork") as worker:
            ask(worker, "reset", 5)
            trap.set(deed, 5)
            for _ in range(2):
                with pytest.raises((EOFError, OSError)):
                    ask(worker, "step", NOOP)


# --- 4. Many games -----------------------------------------------------------

SHORT = atari(BREAKOUT, max_num_frames_per_episode=150)
STICKY = dict(full_action_space=True, repeat_action_probability=0.25)
WAYS = [(0, None)]
for way in (5, "fork"), (1, "spawn"), (3, "forkserver"):
    if way[1] in START_METHODS:
        WAYS.append(way)


class TestGames:
    """The same whatever plays them, as Gymnasium would."""

    @each("processes, method", WAYS)
    def test_the_same_games_whatever_plays_them(self, processes, method):
        """Bit for bit those of `Game` with the options to train with."""
        looks = dict(stack=2, size=(42, 63), colour=True, **STICKY)
        options = looks if processes in (1, 3) else {}
        model = dict(TRAINING, model=Game, env_id=SHORT, **options)
        twin = Twin(range(20, 25), **model)
        how = dict(processes=processes, context=method, **options)
        with Games(5, SHORT, seed=20, **how) as many:
            begin(many, twin)
            follow(many, twin, 80)
            assert len(workers_now()) == processes

    @each_odd_title
    def test_each_title_in_games(self, title):
        """Some screens are higher, and some titles have other actions."""
        still = dict(env_id=TITLES[title], repeat_action_probability=0.0)
        twin = Twin([6, 7], model=Game, **TRAINING, **still)
        method = "fork" if FORKS else None
        with Games(2, seed=6, context=method, **still) as many:
            begin(many, twin)
            follow(many, twin, 30)
            screens = tuple(one.render() for one in twin.games)
            assert same(many.render(), screens)

    @needs_fork
    @each("mode, lives", [(SAME_STEP, "restart"), (NEXT_STEP, "ignore")])
    def test_gymnasiums_own_vector_env_returns_the_same(self, mode, lives):
        """And its `RecordEpisodeStatistics` counts the same episodes."""
        # An `EnvSpec` may say how the game itself is to be.
        settings = dict(mode=12, difficulty=1, max_num_frames_per_episode=300)
        spec = atari(BREAKOUT, **settings)

        def env():
            return reference(spec, lives, noop_max=30)

        theirs = AsyncVectorEnv([env] * 2, context="fork", autoreset_mode=mode)
        counted = gym.wrappers.vector.RecordEpisodeStatistics(theirs)
        options = PLAIN | dict(on_life_loss=lives, noop_max=30)
        ours = Games(2, spec, processes=2, autoreset_mode=mode, **options)
        ends = 0
        with contextlib.closing(counted), ours:
            assert ours.observation_space == theirs.observation_space
            assert ours.single_action_space == theirs.single_action_space
            assert same(ours.reset(seed=11)[0], counted.reset(seed=11)[0])
            assert same(ours.np_random_seed, theirs.np_random_seed)
            for action in actions_for(150):
                actions = np.array([action, (action + 1) % 4])
                *one, infos = ours.step(actions)
                *other, their_infos = counted.step(actions)
                assert same(one, other)
                for key in ("final_obs", "_final_obs", "_episode"):
                    assert same(infos.get(key), their_infos.get(key))
                if "episode" in infos:
                    ends += infos["_episode"].sum()
                    for key in "r" if OLD else "rl":
                        value = infos["episode"][key]
                        theirs_too = their_infos["episode"][key]
                        assert np.array_equal(value, theirs_too)
        assert ends > 3

    @both_modes
    def test_it_is_a_vector_env(self, trap, mode):
        """But a wrapper that would count lives' ends raises its error."""
        for given in (mode, mode.value):
            many = Games(3, processes=0, autoreset_mode=given)
            assert isinstance(many, gym.vector.VectorEnv)
            assert many.spec.id == "FakeNoFrameskip-v4"
            assert many.render_mode == "rgb_array"
            assert many.autoreset_mode is mode
            assert many.metadata["autoreset_mode"] is mode
            assert many.reset(seed=1)[0] in many.observation_space
            assert many.action_space.contains(np.array([0, 1, 2]))
        counted = gym.wrappers.vector.RecordEpisodeStatistics(many)
        counted.reset()
        with pytest.raises(ValueError, match="episode"):
            for _ in range(50):
                counted.step(np.array([FIRE] * 3))

    @needs_fork
    def test_pipes_tell_who_is_ready(self, trap):
        """A worker that has answered or died, told by `connection.wait`."""
        with pair(noop_max=3) as (many, twin):
            assert connection.wait(many.pipes, 0) == []
            dead = many.pipes[1]
            kill(trap.player(12))
            assert connection.wait(many.pipes, PATIENCE) == [dead]
            follow(many, twin, restarted={2, 3})
            many.step_async([NOOP] * 4)
            for pipe in many.pipes:
                assert connection.wait([pipe], PATIENCE) == [pipe]
            assert same(many.step_wait(), twin.step([NOOP] * 4))
            many.pipes.clear()  # a list of the caller's own
            assert len(many.pipes) == 2 and dead not in many.pipes

    def test_what_was_returned_never_changes(self):
        kept = []
        one = Game(0, on_life_loss="continue")
        one.reset()
        with Games(2, processes=1) as many:
            many.reset()
            for action in actions_for(150):
                result = one.step(action), one.final_obs, one.render()
                results = result, many.step([action] * 2), many.render()
                kept.append((results, copy.deepcopy(results)))
        assert all(same(*it) for it in kept)


class Floats(Game):
    def observe(self):
        return super().observe() / np.float32(255) - np.float32(0.5)


class ChannelsLast(Game):
    def __init__(self, *args, **options):
        super().__init__(*args, colour=True, **options)

    def observe(self):
        return np.concatenate(super().observe(), axis=-1)


class Dice(Game):
    def reset(self, seed=None):
        super().reset(seed)
        return np.random.random()


class Impatient(Game):
    """Ends an episode when it likes, and hasn't lost it."""

    def step(self, action):
        obs, reward, done, info = super().step(action)
        early = not done and self._length % 5 == 0
        if early:
            self.final_obs, self.terminated = obs, False
            obs = super().reset()
        return obs, reward, done or early, info


class RandomStarts(Game):
    def start_action(self, rng):
        return rng.integers(self.env.action_space.n)


# What becomes of a gray observation in some games of one's own.
BECOMES = {
    Floats: lambda obs: obs / np.float32(255) - np.float32(0.5),
    ChannelsLast: lambda obs: np.moveaxis(obs, 0, -1).repeat(3, axis=-1),
}


class TestOwnGames:
    """Subclasses that show or do something else."""

    @here_and_there
    @each("make", BECOMES)
    def test_what_they_show(self, trap, make, processes):
        """Last observations too, with the space of them all."""
        context = "fork" if processes > 0 else None
        where = dict(processes=processes, context=context)
        options = dict(autoreset_mode=NEXT_STEP)
        gray = Games(3, processes=0, **options)
        with Games(3, make=make, **where, **options) as own:
            first, _ = own.reset()
            assert first in own.observation_space
            shown = list(map(BECOMES[make], gray.reset()[0]))
            assert same(first, np.array(shown))
            for action in actions_for(40, 3):
                obs, *others = own.step([action] * 3)
                grays, *same_others = gray.step([action] * 3)
                shown = list(map(BECOMES[make], grays))
                assert same(obs, np.array(shown))
                assert same(others, same_others)

    def test_what_they_do_at_the_start(self, fake):
        """The frames before the first observation are the subclass's own."""
        one, ale = fake(7, make=RandomStarts, noop_max=30)
        one.reset()
        random = gym.utils.seeding.np_random(7)[0]
        actions = random.integers(3, size=random.integers(1, 31))
        assert ale.played[1:] == [MEANINGS[action] for action in actions]

    @here_and_there
    def test_what_is_not_lost_was_cut_short(self, trap, processes):
        """An end of a game's own is `truncated`."""
        options = dict(model=Impatient, on_life_loss="ignore")
        with pair(2, processes, **options) as (many, _):
            for _ in range(4):
                assert not any(map(np.any, many.step([NOOP] * 2)[2:4]))
            _, _, terminated, truncated, infos = many.step([NOOP] * 2)
            assert truncated.all() and not terminated.any()
            assert infos["_final_obs"].all() and "episode" not in infos

    def test_a_shrink_of_an_object(self, fake):
        one, _ = fake()
        one.shrink = lambda screen: screen[:84, :84] // 2
        for obs in (one.reset(), one.step(NOOP)[0]):
            assert obs.shape == (4, 84, 84) and obs.max() <= 100

    @each("method", START_METHODS)
    def test_what_workers_cannot_import(self, method):
        """A local class and a lambda, also for a worker that is replaced."""

        class Local(Game):
            def observe(self):
                return super().observe() // 2

        def make(*args, **options):
            return Local(*args, stack=2, **options)

        expected = make(1).reset()
        with Worker(1, context=method, make=lambda *args: make(*args)) as one:
            assert same(ask(one, "reset"), expected)
        options = PLAIN | dict(processes=1, context=method, make=make)
        with Games(1, seed=1, **options) as many:
            assert same(many.reset()[0][0], expected)
            kill(*workers_now())
            with pytest.warns(RuntimeWarning):
                assert same(many.step([0])[0][0], expected)

    def test_what_a_game_is_made_with(self, trap):
        """All options, whether given or not, and those of one's own."""
        made = []

        def make(seed, env_id, **options):
            made.append(options)
            return Game(seed, env_id)

        Games(2, processes=0, make=make, paddle="red").reset()
        assert made == [dict(TRAINING, paddle="red")] * 3

    def test_observations_of_no_plain_type(self, trap):
        class Objects(Game):
            def observe(self):
                return super().observe().astype(object)

        with pytest.raises(ValueError, match="array"):
            Games(1, processes=0, make=Objects)

    @pytest.mark.skipif("spawn" not in START_METHODS, reason="needs spawn")
    def test_a_class_that_workers_cannot_import(self, monkeypatch, capfd):
        """As in a notebook: the error says where its cause stands."""
        notebook = types.ModuleType("a_notebook")
        exec("from game import Game\nclass Mine(Game): pass", vars(notebook))
        monkeypatch.setitem(sys.modules, "a_notebook", notebook)
        options = dict(make=notebook.Mine, processes=1, context="spawn")
        words = pytest.raises(RuntimeError, match="stderr.*import")
        with Games(1, **options) as many, words:
            many.reset()
        assert "No module named 'a_notebook'" in capfd.readouterr().err


# --- 5. Faults ---------------------------------------------------------------


def being_stopped():
    class Slow(Game):
        def step(self, action):
            time.sleep(0.05)
            return super().step(action)

    options = dict(timeout=0.5, make=Slow, context="fork")
    games = Games(4, processes=2, **options)
    games.reset()
    for n in range(5):
        print(f"step {n}", flush=True)
        assert "restarted" not in games.step([1] * 4)[4]


@needs_fork
@needs_proc
class TestFaults:
    """What `TestCalls` doesn't do: late, hanging and half-dead workers."""

    def test_a_lost_worker_is_told(self, trap):
        """Which games, how it ended and how often: Python shows each."""
        words = set()
        with pair(noop_max=3, timeout=1) as (many, twin):
            for count, deed in enumerate(["leave", "die", "hang"], 1):
                trap.set(deed, 12)
                with pytest.warns(RuntimeWarning, match="2 to 3") as warned:
                    if deed == "leave":
                        result = many.step([NOOP] * 4)
                    else:
                        many.step_async([NOOP] * 4)
                        result = many.step_wait()
                assert same(result, twin.step([NOOP] * 4, {2, 3}))
                (warning,) = warned
                assert warning.filename == __file__
                words.add(str(warning.message))
                assert re.search(ENDS.get(deed, "1 s"), str(warning.message))
                assert str(count) in str(warning.message)
        assert len(words) == 3

    def test_a_worker_that_is_found_dead_in_a_reset(self, trap):
        """It is told as well, and its games start from their seeds."""
        with pair(noop_max=3) as (many, twin):
            for _ in range(5):
                kill(trap.player(12))
                with pytest.warns(RuntimeWarning, match="2 to 3") as warned:
                    begin(many, twin, restarted={2, 3})
                assert warned[0].filename == begin.__code__.co_filename
                follow(many, twin)

    def test_gymnasiums_generator_harms_nothing(self, trap):
        with pair(noop_max=3) as (many, twin):
            assert many.np_random.random() < 1
            kill(trap.player(12))
            follow(many, twin, restarted={2, 3})
            begin(many, twin, 5)

    @each("processes", [0, 2])
    def test_closing_leaves_no_descriptor(self, trap, processes):
        """To the garbage collector, for example."""

        def play():
            many = Games(2, processes=processes, context="fork")
            many.reset()
            many.close()
            return len(os.listdir("/proc/self/fd"))

        gc.disable()
        try:
            first = play()
            assert [play() for _ in range(5)] == [first] * 5
        finally:
            gc.enable()

    def test_it_cannot_go_on_for_ever(self, trap):
        """Three times in a row, unless a game ends or there is a reset."""
        with pair(on_life_loss="ignore", noop_max=3) as (many, twin):
            ways = (22, 3, 1), (32, 3, 1), (42, 5, 12), (52, 3, 4)
            for seed, times, steps in ways:
                begin(many, twin, seed - 2)
                for _ in range(times):
                    kill(trap.player(seed))
                    follow(many, twin, steps, restarted={2, 3})
            # Meanwhile games of the other process have ended.
            kill(trap.player(52))
            with pytest.raises(RuntimeError, match="2 to 3"):
                many.step([NOOP] * 4)
            assert many.closed and not workers_now()

    def test_late_workers(self, trap, monkeypatch):
        """They share a deadline; black screens, and then they are replaced.

        They are closed before: they never write to their successor's memory.
        """
        late = multiprocessing.RawValue("q", 0)
        met = multiprocessing.RawValue("b", False)

        def look(seed):
            trap(seed)
            if seed == 10 and late.value not in (0, os.getpid()):
                met.value |= alive(late.value)

        replace_titles(monkeypatch, dataclasses.replace(LIFELIKE, ghost=look))
        with pair(timeout=1, noop_max=3) as (many, twin):
            late.value, other = trap.player(10), trap.player(12)
            for pid in (late.value, other):
                os.kill(pid, signal.SIGSTOP)
            # After the first has had its time, and a second one more.
            wakes = threading.Timer(3.5, os.kill, (other, signal.SIGCONT))
            wakes.start()
            screens = many.render()
            wakes.cancel()
            assert not any(screen.any() for screen in screens)
            follow(many, twin, restarted=range(4))
            assert trap.player(10) != late.value and not met.value

    def test_starts_and_resets_get_time(self, monkeypatch):
        """A minute at least, however short the timeout of a step is."""
        test = os.getpid()

        def slow(seed):
            time.sleep(0.55 * (os.getpid() != test))

        replace_titles(monkeypatch, dataclasses.replace(LIFELIKE, ghost=slow))
        with pair(2, processes=1, timeout=0.01) as (many, twin):
            before = workers_now()
            begin(many, twin, 5)
            assert workers_now() == before

    @each("deed", ["crash", "leave", "die"])
    def test_a_worker_that_cannot_start(self, trap, deed):
        trap.set(deed, 12)
        error = ZeroDivisionError if deed == "crash" else RuntimeError
        with pytest.raises(error, match=ENDS.get(deed, "a bug")):
            Games(4, seed=10, processes=2, context="fork").reset()

    def test_a_replacement_that_dies_at_once(self, trap):
        with pair(noop_max=3) as (many, twin):
            begin(many, twin, 20)
            trap.set("leave", 22, times=2)
            warned = pytest.warns(RuntimeWarning, match="42")
            with warned, pytest.raises(RuntimeError, match="42"):
                many.step([NOOP] * 4)
            assert trap.sprung() and many.closed and not workers_now()

    @here_and_there
    def test_a_forked_copy_of_the_program(self, trap, processes):
        """It neither plays the games nor ends them: they are the parent's."""

        def use_the_copy():
            for call in (many.step_wait, many.reset, many.render):
                with pytest.raises(RuntimeError, match="process"):
                    call()
            many.close()

        with pair(processes=processes) as (many, twin):
            many.step_async([FIRE] * 4)
            fork = multiprocessing.get_context("fork")
            copied = fork.Process(target=use_the_copy)
            copied.start()
            copied.join()
            assert copied.exitcode == 0
            assert same(many.step_wait(), twin.step([FIRE] * 4))
            follow(many, twin, 20)

    def test_a_program_that_was_stopped_loses_no_game(self, program):
        """As by Ctrl-Z or a batch system, for longer than the timeout."""
        process = program(being_stopped)
        process.stdout.readline()
        os.killpg(process.pid, signal.SIGSTOP)
        time.sleep(0.9)
        os.killpg(process.pid, signal.SIGCONT)
        lines, errors = end_of(process)
        assert lines[-1] == "step 4" and errors == []

    @each("state", ["dead", "stopped", "hung", "interrupted"])
    def test_closing_in_every_state(self, trap, monkeypatch, state):
        monkeypatch.setattr(game, "GRACE", 0.1)  # for those that don't end
        many = Games(2, processes=2, context="fork")
        many.reset(seed=5)
        if state == "hung":
            trap.set("hang", 5)
        else:
            how = signal.SIGKILL if state == "dead" else signal.SIGSTOP
            os.kill(trap.player(5), how)
        many.step_async([NOOP] * 2)
        if state == "interrupted":  # by Ctrl-C, at one line after the other
            for line in range(12):
                with contextlib.suppress(KeyboardInterrupt):
                    interrupted(line, many.close)
        many.close()
        assert not workers_now()
        for call in (many.step_wait, many.reset, many.render):
            with pytest.raises(gym.error.ClosedEnvironmentError):
                call()


# What the caller gets of a deed, but of one that costs a worker. An error that
# can't be sent is itself if it was raised in this process.
RAISED = {deed: (type(ERRORS[deed]), RuntimeError) for deed in ERRORS}
RAISED["interrupt"] = KeyboardInterrupt

# Which calls are wrong in which state of the games.
PENDING = gym.error.AlreadyPendingCallError
NOT_BEGUN = gym.error.NoAsyncCallError
WRONG_CALLS = {
    "new": dict(step=NEEDED, step_async=NEEDED, step_wait=NOT_BEGUN),
    "ready": dict(step_wait=NOT_BEGUN),
    "stepping": dict.fromkeys(
        ["step", "step_async", "render", "reset"], PENDING
    ),
}

N = 3  # games
CALLS = ["step", "step_async", "step_wait", "render", "reset"]
BEGUN = ["step_async", "step_wait"]
some_actions = some.lists(some.integers(0, 2), min_size=N, max_size=N)
# A trap goes by the seed, so none has been another game's before.
some_seeds = some.integers(0, 30).map(lambda number: number * N)


class Calls(stateful.RuleBasedStateMachine):
    """Calls of `Games` in any order, whatever goes wrong, beside a twin.

    The games are `"new"`, which need a reset, or `"ready"`, or `"stepping"`.
    `lost` are those whose worker has died, which the next step tells, and
    `maybe` those where the one after it may. `losses` is how often that was
    since the last reset.
    """

    @stateful.initialize(
        processes=some.integers(0, 3 if FORKS else 0),
        mode=some.sampled_from([SAME_STEP, NEXT_STEP]),
        on_life_loss=some.sampled_from(MODES),
        fire_on_reset=some.booleans(),
        clip_reward=some.booleans(),
        limit=some.sampled_from([25, 1000]),
    )
    def open(self, processes, mode, limit, **options):
        # What the handler of a signal raises is only printed, and lost, during
        # a garbage collection, for Hypothesis has a callback there.
        gc.disable()
        self.patch = pytest.MonkeyPatch()
        self.trap = Trap()
        script = dataclasses.replace(LIFELIKE, limit=limit)
        haunted = dataclasses.replace(script, ghost=self.trap)
        replace_titles(self.patch, haunted)
        options = PLAIN | options | dict(noop_max=5)
        self.twin = Twin(range(N), mode, script=script, **options)
        context = "fork" if processes > 0 else None
        options.update(processes=processes, context=context)
        self.games = Games(N, autoreset_mode=mode, **options)
        self.processes = processes
        self.losses = 0
        self.set_state("new")

    def set_state(self, state, lost=()):
        self.state = state
        self.lost = set(lost)
        self.maybe = set()

    def share_of(self, i):
        """Return the games that are played in the same process as game i."""
        if self.processes == 0:
            return set()
        players = [self.trap.player(seed) for seed in self.twin.seeds]
        return {j for j in range(N) if players[j] == players[i]}

    # What calls return, and what they should.

    def make(self, name, actions):
        args = [actions] if name in ("step", "step_async") else []
        return getattr(self.games, name)(*args)

    def check(self, name, result, actions):
        if name == "step_async":
            self.actions = actions
            self.state = "stepping"
        elif name == "reset":
            self.check_reset(result)
        elif name == "render":
            self.check_screens(result)
        elif self.state == "stepping":
            self.check_step(result, self.actions)
        else:
            self.check_step(result, actions)

    def check_step(self, result, actions):
        restarted = restarted_in(result)
        assert self.lost <= restarted <= self.lost | self.maybe
        assert same(result, self.twin.step(actions, restarted))
        write_into(result)
        self.twin.obs[...] = 0  # that is the last one of a lost game
        self.set_state("ready", lost=self.maybe - restarted)

    def check_reset(self, result, seeds=None):
        """Lost games start over from their seeds; after an error all do."""
        over = range(N) if self.state == "new" else self.lost | self.maybe
        assert same(result, (self.twin.reset(seeds, over), {}))
        self.losses = 0
        self.set_state("ready")

    def check_screens(self, screens):
        """Those of lost games are black."""
        assert len(screens) == N
        for i, one in enumerate(self.twin.games):
            assert same(screens[i], one.render() * (i not in self.lost))
        write_into(screens)

    # What happens. A rule that isn't for the state of the games does nothing:
    # it depends on who is faster, which Hypothesis must not.

    @stateful.rule(rollout=some.lists(some_actions, min_size=1, max_size=20))
    def play(self, rollout):
        for actions in rollout if self.state == "ready" else []:
            self.check_step(self.games.step(actions), actions)

    @stateful.rule(name=some.sampled_from(CALLS), actions=some_actions)
    def call(self, name, actions):
        """After an error all workers are new; a wrong call changes nothing."""
        state, replaces = self.state, self.lost | self.maybe
        before = workers_now()
        if name in WRONG_CALLS[state]:
            with pytest.raises(WRONG_CALLS[state][name]):
                self.make(name, actions)
        elif (state, name) != ("new", "render"):
            self.check(name, self.make(name, actions), actions)
        if (state, name) == ("new", "reset"):
            assert not workers_now() & before
        else:
            assert replaces or workers_now() == before

    @stateful.rule(seed=some_seeds, single=some.booleans())
    def reset(self, seed, single):
        """With seeds: whatever was before is forgotten."""
        if self.state != "stepping":
            seeds = list(range(seed, seed + N))
            result = self.games.reset(seed=seed if single else seeds)
            self.check_reset(result, seeds)

    @stateful.rule(i=some.integers(0, N - 1))
    def kill(self, i):
        share = set() if self.state == "new" else self.share_of(i)
        if share and self.losses < 3 and not share & (self.lost | self.maybe):
            self.losses += 1
            kill(self.trap.player(self.twin.seeds[i]))
            dying = self.lost if self.state == "ready" else self.maybe
            dying |= share

    @stateful.rule(
        deed=some.sampled_from(DEEDS[:-1]),
        calls=some.sampled_from([["step"], ["render"], ["reset"], BEGUN]),
        i=some.integers(0, N - 1),
        later=some.integers(0, 8),
        actions=some_actions,
    )
    def do_a_deed(self, deed, calls, i, later, actions):
        """In one of the games, in the middle of the calls."""
        if self.state != "ready" or self.lost or self.losses > 2:
            return
        if self.processes == 0 and deed not in RAISED:
            return
        if self.processes > 0 and deed == "interrupt" and len(calls) > 1:
            return  # it might come outside of both calls
        before = workers_now()
        share = self.share_of(i)
        self.trap.set(deed, self.twin.seeds[i], later)
        try:
            results = [self.make(name, actions) for name in calls]
        except RAISED.get(deed, ()):
            assert self.trap.sprung()
            assert workers_now() == before or deed == "interrupt"
            self.set_state("new")
            return
        done = self.trap.sprung()
        assert not (done and deed in RAISED)
        self.lost = share if done else set()
        self.losses += done
        for name, result in zip(calls, results, strict=True):
            self.check(name, result, actions)

    def teardown(self):
        """Close in whatever state."""
        self.games.close()
        # On a busy machine a process that was killed may take its time.
        for child in multiprocessing.active_children():
            child.join(PATIENCE)
        assert self.games.closed and not workers_now()
        self.patch.undo()
        gc.enable()


class TestCalls:
    """Whatever goes wrong meanwhile."""

    def test_any_order(self):
        examples = 400 if ALL else 80
        settings = SETTINGS(max_examples=examples, stateful_step_count=40)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            stateful.run_state_machine_as_test(Calls, settings=settings)

    @needs_fork
    @each("module", [game, connection])
    @each("name", ["step", "step_wait", "render", "reset"])
    def test_a_signal_at_any_line(self, trap, module, name):
        """What its handler raises isn't a pipe's error; then a reset helps."""
        kinds = itertools.cycle([TimeoutError, ConnectionResetError, EOFError])
        with pair(2, processes=1, noop_max=3) as (many, twin):
            call = getattr(many, name)
            if name == "step":
                call = functools.partial(call, [FIRE] * 2)
            for line in itertools.count(0, 1 if ALL else 2):
                if name == "step_wait":
                    many.step_async([FIRE] * 2)
                try:
                    interrupted(line, call, next(kinds), module)
                    break
                except (TimeoutError, ConnectionResetError, EOFError):
                    pass
                if name == "step_wait":  # it may not have begun
                    with contextlib.suppress(NOT_BEGUN):
                        many.step_wait()
                begin(many, twin, [3, 4])
                follow(many, twin)
        assert line > 3


# --- 6. What comes in --------------------------------------------------------


class Tensor:
    """What matters here of a PyTorch tensor: its data, or what it says."""

    def __init__(self, data, error=None):
        self._data = np.array(data)
        self._error = error

    def __array__(self, dtype=None, copy=None):
        if self._error:
            raise self._error
        return self._data


ON_GPU = TypeError("Use Tensor.cpu() to copy the tensor")
INTEGERS = "bBhHiIlLqQ"  # NumPy's types

# What is no action of three, no seed, and the same for batches of three.
BAD_ACTIONS = [
    *(-1, 3, 2**70, np.int8(-1)),
    *(0.0, 1.5, math.nan, np.float32(1)),
    *(True, np.True_, None, "1", object(), {}, [1], np.array([1])),
    *(Tensor(1.0), Tensor(1, ON_GPU)),
]
GOOD_ACTIONS = [
    *(np.array(1, kind)[()] for kind in INTEGERS),
    *(1, np.array(1), Tensor(1)),
]
BAD_SEEDS = [-1, np.int64(-1), 0.0, 1.5, math.nan, "1", [1], [], object()]
BAD_BATCHES = [
    *([bad] * 3 for bad in BAD_ACTIONS),
    *([0, bad, 1] for bad in (-1, 3, 2**70, 0.5, None, [1])),
    *([0, 0], [0] * 4, [], 0, None, "012", {}, [[0, 1, 2]]),
    *(np.zeros(3), np.zeros((3, 1), int), np.zeros(3, bool)),
    *(Tensor([0, 1]), Tensor([0, 1, 3]), Tensor([0] * 3, ON_GPU)),
]
GOOD_BATCHES = [
    *(np.array([FIRE, NOOP, RIGHT], kind) for kind in INTEGERS),
    (FIRE, NOOP, RIGHT),
    [np.int64(FIRE), NOOP, RIGHT],
    Tensor([FIRE, NOOP, RIGHT]),
]
BAD_SEEDS_OF_THREE = [
    *([1, 2, bad] for bad in (-3, 3.5, None, "3", [3])),
    *(-1, 1.5, "123", {}, [], [1, 2], [1] * 4, [[1, 2, 3]]),
]

DISABLED = AutoresetMode.DISABLED
WRONG_ARGUMENTS = {
    "num_envs": [0, -1, 1.5, "3", None, [2]],
    "processes": [-1, 1.5, "3", [2]],
    "timeout": [0, -1, math.nan, "a second", None],
    "context": ["telepathy", 3],
    "autoreset_mode": ["sometimes", None, 0, DISABLED, DISABLED.value],
    "seed": [None, -1, 1.5, "12", [1], [1, -2], [1, 2.5], [[1, 2]]],
    "noop_max": [-1, 1.5, "3", None],
    "on_life_loss": ["Restart", None, 1, ["restart"]],
    "action_repeat": [0, 1.5, "4", None],
    "stack": [0, -1, 2.0, None],
    "size": [84, (84,), (84, 84, 3), (0, 84), (84.0, 84), "84", None],
    "colour": ["yes", None, 2],
    # There is no such option, or it isn't one.
    "noops": [30],
    "frame_skip": [2],
    "frameskip": [4],
    "obs_type": ["ram"],
    "continuous": [True],
}

# Environments that `Game` can't play as they say; one has two names.
WRAPPED = gym.wrappers.NormalizeReward(gym.make(BREAKOUT)).spec
NOT_OF_ALE = EnvSpec("Other-v0", "other:Env", kwargs={"game": "breakout"})
ENTRY = gym.spec(BREAKOUT).entry_point
LIMITED = EnvSpec("Limited-v0", ENTRY, max_episode_steps=10)
gym.registry["Limited-v0"] = LIMITED


def signature_of(made):
    return dict(inspect.signature(made).parameters)


class TestInput:
    """What is refused, and what is taken."""

    def test_actions_are_integers(self, fake):
        """Python's, NumPy's and PyTorch's. What is refused plays no frame."""
        one, ale = fake()
        with pytest.raises(NEEDED):
            one.step(NOOP)
        one.reset()
        for action in BAD_ACTIONS:
            meanings = "0.*2.*NOOP.*FIRE.*RIGHT"
            with pytest.raises(REFUSED, match=meanings) as error:
                one.step(action)
        assert "Use Tensor.cpu()" in str(error.value.__cause__)
        assert ale.played == ["reset"]
        for action in GOOD_ACTIONS:
            one.step(action)
        assert ale.played[1:] == ["FIRE"] * 4 * len(GOOD_ACTIONS)

    def test_after_an_interrupted_reset(self, fake):
        """A step asks for a reset: no stack mixes two games."""
        for line in itertools.count():
            one, _ = fake(noop_max=3, fire_on_reset=True)
            twin, _ = fake(noop_max=3, fire_on_reset=True)
            for game_ in (one, twin):
                trajectory(game_, [NOOP] * 3)
            try:
                interrupted(line, one.reset)
                break
            except KeyboardInterrupt:
                # Unless it hadn't begun, or was done.
                allowed = [twin.step(RIGHT)]
                twin.reset()
                allowed.append(twin.step(RIGHT))
                with contextlib.suppress(NEEDED):
                    result = one.step(RIGHT)
                    assert any(same(result, other) for other in allowed)
                assert same(one.reset(5), twin.reset(5))
        assert line > 10

    @each("kind", [int, np.int64, np.uint8, np.array])
    def test_seeds_are_integers(self, fake, kind):
        """NumPy's too. Others are refused, and the game is unchanged."""
        one, _ = fake(kind(7), noop_max=30)
        model = Model(7, Script(), noop_max=30)
        assert same(one.reset(), model.reset())
        for seed in BAD_SEEDS:
            with pytest.raises(REFUSED):
                Game(seed)
            with pytest.raises(REFUSED):
                one.reset(seed)
        assert same(one.reset(), model.reset())
        assert same(one.reset(kind(7)), model.reset(7))

    @here_and_there
    def test_what_games_refuse(self, trap, processes):
        """No game has moved, no step has begun, and no worker was lost."""
        with pair(3, processes) as (many, twin):
            before = workers_now()
            for name in ("step", "step_async"):
                for actions in BAD_BATCHES:
                    with pytest.raises(REFUSED, match="3"):
                        getattr(many, name)(actions)
            follow(many, twin)
            for seed in BAD_SEEDS_OF_THREE:
                with pytest.raises(REFUSED):
                    many.reset(seed=seed)
            with pytest.raises(ValueError):
                many.reset(options={"reset_mask": np.array([True] * 3)})
            follow(many, twin, 3)
            assert workers_now() == before

    @here_and_there
    def test_what_games_take(self, trap, processes):
        """All kinds of batches, and a seed for all or one for each."""
        with pair(3, processes, noop_max=30, timeout=1e6) as (many, twin):
            begin(many, twin, np.int64(50))
            begin(many, twin, [5, 1, np.int32(9)])
            assert same(many.reset(options={})[0], twin.reset())
            for batch in GOOD_BATCHES:
                expected = twin.step([FIRE, NOOP, RIGHT])
                assert same(many.step(batch), expected)

    @each("take", [copy.copy, copy.deepcopy, pickle.dumps])
    def test_no_copies(self, trap, take):
        """Of a game the words say what there is in their place."""
        with pytest.raises(TypeError, match="clone_state"):
            take(Game(0))
        with pytest.raises(TypeError, match="copied"):
            take(Games(2, processes=0))

    @each("name", WRONG_ARGUMENTS)
    def test_wrong_arguments(self, fake, name):
        """Each is an error at once, and no process has been left."""
        words = None
        if name == "on_life_loss":
            words = "restart.*continue.*ignore"
        elif name not in signature_of(Games) | signature_of(Game):
            words = f"{name}.*action_repeat.*stack.*full_action_space"
        for wrong in WRONG_ARGUMENTS[name]:
            if name not in signature_of(Games) or name in PLAIN:
                with pytest.raises(REFUSED, match=words):
                    fake(**{name: wrong})
            with pytest.raises(REFUSED):
                Games(**{"num_envs": 2, "processes": 2, name: wrong})
            assert not workers_now()

    def test_defaults(self):
        """`Games` does what everybody trains with, `Game` as labml does."""
        for made, expected in ((Games, TRAINING), (Game, PLAIN | LOOKS)):
            shown = signature_of(made)
            assert {key: shown[key].default for key in expected} == expected

    @each(
        "spec, error, words",
        [
            ("Breakot-v4", gym.error.NameNotFound, "Breakout"),
            ("BreakoutNoFrameskip-v9", gym.error.VersionNotFound, "v9"),
            ("CartPole-v1", ValueError, "Atari"),
            ("CartPole", ValueError, "Atari"),
            ("Limited-v0", ValueError, "max_episode_steps"),
            ("Limited", ValueError, "max_episode_steps"),
            (None, ValueError, "Atari"),
            (atari("ALE/Breakout-v5", continuous=True), ValueError, "Discr"),
            (WRAPPED, ValueError, "wrap"),
            (NOT_OF_ALE, ValueError, "Atari"),
        ],
    )
    @each("make", [Game, Games])
    @pytest.mark.filterwarnings("ignore:.*latest versioned")
    def test_other_environments(self, make, spec, error, words):
        """Gymnasium's own errors for ids, and words for what isn't played."""
        with pytest.raises(error, match=words):
            make(1, spec)

    def test_options_of_the_emulator(self):
        """The same as those of an `EnvSpec`, which may be given, too."""
        options = dict(mode=12, max_num_frames_per_episode=300, **STICKY)
        one = Game(3, BREAKOUT, difficulty=1, **options)
        spec = atari("ALE/Breakout-v5", difficulty=1, **options)
        assert same(trajectory(one), trajectory(Game(3, spec)))
        assert one.env.action_space.n == 18

    def test_an_old_gymnasium(self, monkeypatch):
        monkeypatch.delattr(gym.vector, "AutoresetMode")
        with pytest.raises(ImportError, match="1.1"):
            runpy.run_path(str(MODULE))

    def test_licence_and_version(self):
        assert SOURCE.startswith("# SPDX-License-Identifier: MIT\n")
        citation = MODULE.parent / "CITATION.cff"
        if citation.exists():
            assert f"\nversion: {game.__version__}\n" in citation.read_text()


# --- 7. Real titles ----------------------------------------------------------


class Snapshots(gym.Wrapper):
    """Later resets put back the state after the first, as `Game` does."""

    def reset(self, *, seed=None, options=None):
        emulator = self.env.unwrapped
        if seed is None and self.spec.kwargs["game"] not in game.LOSSY:
            emulator.restore_state(self.state)
            return None, {"restored": True}
        result = self.env.reset(seed=seed, options=options)
        self.state = emulator.clone_state()
        self.start = emulator.ale.getEpisodeFrameNumber()  # not always 0
        return result


class Reference(AtariPreprocessing):
    """Gymnasium's preprocessing, with the right first and last picture."""

    # A restored state isn't drawn, and Gymnasium leaves the last frame out.
    def screen(self):
        if self.grayscale_obs:
            return self.ale.getScreenGrayscale()
        return self.ale.getScreenRGB()

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
            last = self.screen()
            played = self.ale.getEpisodeFrameNumber() - frame
            if played == self.frame_skip > 1:
                last = np.maximum(last, self.obs_buffer[1])
            picture = shrunk(last, self.screen_size[::-1])
        return picture, reward, terminated, truncated, info


def reference(spec, mode="restart", noop_max=0, **looks):
    """Return what `Game` must equal, made of Gymnasium's wrappers."""
    looks = LOOKS | looks
    gray = not looks["colour"]
    env = Reference(
        Snapshots(gym.make(spec, frameskip=1)),
        noop_max,
        looks["action_repeat"],
        looks["size"][::-1],
        terminal_on_life_loss=mode == "restart",
        grayscale_obs=gray,
    )
    return FrameStackObservation(env, looks["stack"])


# What is turned by options, in five titles.
some_looks = [
    ("breakout", "restart", dict(stack=1)),
    ("pong", "ignore", dict(action_repeat=1, stack=2, size=(256, 240))),
    (
        "seaquest",
        "restart",
        dict(action_repeat=8, stack=1, size=(60, 160), colour=True),
    ),
    (
        "ms_pacman",
        "ignore",
        dict(action_repeat=2, stack=5, size=(37, 101)),
    ),
    ("air_raid", "ignore", dict(action_repeat=3, size=(125, 80), colour=True)),
]


class TestTitles:
    """Gymnasium's to the last bit; resets, seeds and ids."""

    @each_title
    @each("mode, most", [("restart", 0), ("ignore", 30)])
    def test_a_title_equals_gymnasiums(self, title, mode, most):
        """With lives and no-ops or without."""
        self.compare(title, mode, most)

    @each("title, mode, looks", some_looks)
    def test_with_other_options_it_equals_gymnasiums(self, title, mode, looks):
        self.compare(title, mode, 30, **looks)

    def compare(self, title, mode, most, **looks):
        """Play a title beside Gymnasium's, and look at all."""
        still = dict(repeat_action_probability=0.0)
        spec = atari(TITLES[title], **still)
        options = dict(looks, on_life_loss=mode, noop_max=most)
        one = Game(5, TITLES[title], **still, **options)
        if title in NO_NOOP:
            most = 0  # Gymnasium refuses them
            if OLD:
                pytest.skip("Gymnasium doesn't play it")
        other = reference(spec, mode, most, **looks)
        np.testing.assert_array_equal(one.reset(), other.reset(seed=5)[0])
        steps = 300 if ALL else 150
        for action in actions_for(steps, one.env.action_space.n):
            obs, reward, done, info = one.step(action)
            theirs, points, terminated, truncated, _ = other.step(action)
            assert (reward, done) == (points, terminated or truncated)
            if done:
                assert info["truncated"] is truncated
                np.testing.assert_array_equal(one.final_obs, theirs)
                theirs, _ = other.reset()
            else:
                shown = other.unwrapped.ale.getScreenRGB()
                assert same(one.render(), shown)
            np.testing.assert_array_equal(obs, theirs)

    @each(
        "title, settings",
        [(title, {}) for title in (TITLES if ALL else SOME_TITLES)]
        + [("tic_tac_toe_3d", {}), ("video_checkers", dict(mode=5))],
    )
    def test_a_reset_is_as_good_as_a_new_emulator(self, title, settings):
        """However long a title was played before, in memory and on screen.

        A title that fails belongs to those that take true resets.
        """
        settings = dict(settings, repeat_action_probability=0.0)
        one, new = (Game(0, atari(TITLES[title], **settings)) for _ in "12")
        random = np.random.default_rng(1)
        ale = one.env.unwrapped.ale
        codes = ale.getMinimalActionSet()
        actions = random.choice(codes, 240 if ALL else 60)

        def play(ale):
            for action in actions:
                ale.act(action)
                yield ale.getRAM().tobytes()
                yield hash(ale.getScreenRGB().tobytes())

        first = new.reset()
        expected = list(play(new.env.unwrapped.ale))
        frames = 24000 if ALL else 2000
        while frames > 0:
            assert same(one.reset(), first)
            assert list(play(ale)) == expected
            one.reset()
            for action in random.choice(codes, random.choice([15, 150, 1500])):
                for _ in range(4):
                    ale.act(action)
                frames -= 4
                if ale.game_over():
                    break

    @pytest.mark.filterwarnings("ignore:.*out of date")
    def test_all_ids_make_the_same_engine(self):
        """With sticky actions episodes differ, and repeat with the seed."""
        assert len(TITLES) == 104
        first = trajectory(Game(3, "Breakout-v4"))
        still = atari("ALE/Breakout-v5", repeat_action_probability=0.0)
        for spec in (BREAKOUT, still):
            assert same(first, trajectory(Game(4, spec)))
        sticky = Game(3, "ALE/Breakout-v5")
        second, third = (trajectory(sticky) for _ in range(2))
        assert not same(first, second) and not same(second, third)
        assert same(second, trajectory(sticky, seed=3))
        assert same(third, trajectory(sticky))
        assert same(second, trajectory(Game(3, "Breakout-v0")))


# --- 8. Programs, and how they end -------------------------------------------
#
# They are functions of this file, with what they import in front.
IMPORTS = """
import multiprocessing, os, signal, sys, time
import game
from game import Game, Games, Worker
"""


@pytest.fixture
def program(tmp_path):
    """Return a function that starts a function, or a text, as a program."""
    started = []

    def start(main, *args, guard='if __name__ == "__main__":', by=()):
        text = main
        if callable(main):
            text = IMPORTS + inspect.getsource(worker_and_games)
            text += f"{inspect.getsource(main)}\n{guard}\n"
            text += f"    {main.__name__}(*{args})\n"
        name = f"program{len(started)}.py"
        (tmp_path / name).write_text(text, encoding="utf-8")
        paths = str(MODULE.parent), os.environ.get("PYTHONPATH", "")
        process = subprocess.Popen(
            [sys.executable, *by, name, *map(str, args)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=tmp_path,
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
    r"\d+\.\d+\.\d+\+\w+\)|\[Powered by Stella\]"
)


def end_of(process, code=0):
    """Wait for a program; return what it wrote, without the greeting."""
    stdout, stderr = process.communicate(timeout=PATIENCE)
    assert process.returncode == code, stderr
    lines = BANNER.sub("", stderr).splitlines()
    return stdout.splitlines(), [line for line in lines if line.strip()]


def worker_and_games(context=None):
    """Start both, in the middle of a step, and print their processes."""
    worker = Worker(1, context=context)
    worker.child.send(("reset", None))
    worker.child.recv()
    many = Games(2, processes=2, context=context)
    many.reset()
    many.step_async([0, 0])
    print(*[p.pid for p in multiprocessing.active_children()], flush=True)
    global kept  # until the interpreter ends
    kept = worker, many
    return kept


def ending(how, context):
    def save(*_):
        os.write(1, b"saved\n")
        sys.exit()

    signal.signal(signal.SIGTERM, save)
    worker, many = worker_and_games(context)
    if how == "error":
        raise LookupError("an error of the program's own")
    if how == "stopped":
        for child in multiprocessing.active_children():
            os.kill(child.pid, signal.SIGSTOP)
    if how in ("SIGKILL", "SIGTERM"):
        time.sleep(1000)
    while how == "SIGINT":
        many.step_wait()
        worker.child.send(("step", 0))
        many.step_async([0, 0])
        worker.child.recv()


def unguarded(context):
    Games(2, processes=1, context=context).reset()


def after_another_choice(method):
    multiprocessing.set_start_method(method)
    with Worker(0), Games(1, processes=1) as many:
        many.reset()
        for child in multiprocessing.active_children():
            print(type(child).__name__)


def writing(how, processes, method):
    class Diary(Game):
        def __init__(self, seed, *args, **options):
            super().__init__(seed, *args, **options)
            self.file = open(f"{method}-{seed}.csv", "w")  # noqa: SIM115

        def step(self, action):
            print("step")
            self.file.write("step\n")
            return super().step(action)

        def close(self):
            print("end")
            self.file.write("end\n")
            self.file.close()

    global kept  # until the interpreter ends
    game.GRACE = 100.0  # on a busy machine an end may take its time
    if how == "worker":
        kept = Worker(1, make=Diary, context=method)
        kept.child.send(("reset", None))
        kept.child.recv()
        kept.child.send(("step", 0))
        kept.child.recv()
    else:
        options = dict(processes=processes, context=method)
        kept = Games(2, seed=1, make=Diary, **options)
        kept.reset()
        kept.step([0, 0])
    if how == "closed":
        kept.close()
    elif how == "dropped":
        del kept


OWN_CLASS = """
from game import Game, Games

class Mine(Game):
    def observe(self):
        return super().observe()[0, 0, :7]

if __name__ == "__main__":
    with Games(2, processes=1, make=Mine) as games:
        print(games.reset()[0].shape)
"""


def starting(method):
    signal.signal(signal.SIGINT, lambda *_: print("handled", flush=True))
    print("starting", flush=True)
    with Games(2, processes=2, context=method) as games:
        print(len(games.reset()[0]), flush=True)


def alone():
    assert Games(2, processes=0).reset()[0].shape == (2, 4, 84, 84)
    print(game.__file__)


@needs_proc
class TestPrograms:
    """Programs that end, one way or another."""

    @each("hows", ["end error stopped", "SIGINT", "SIGKILL", "SIGTERM"])
    def test_nothing_is_left(self, program, hows):
        """No process, and no more is said than the program's own traceback.

        Batch systems send signals to all processes; one has a handler.
        """
        codes = dict(error=1, SIGINT=-signal.SIGINT, SIGKILL=-signal.SIGKILL)
        methods = START_METHODS if hows.startswith("SIG") else [None]
        ways = list(itertools.product(hows.split(), methods))
        programs = [program(ending, *way) for way in ways]
        for process, (how, _) in zip(programs, ways, strict=True):
            workers = list(map(int, process.stdout.readline().split()))
            assert len(workers) == 3
            if how == "SIGKILL":
                process.kill()
            elif how in ("SIGINT", "SIGTERM"):
                os.killpg(process.pid, getattr(signal, how))
            lines, errors = end_of(process, codes.get(how, 0))
            assert lines == ["saved"] * (how == "SIGTERM")
            tracebacks = [it for it in errors if it.startswith("Traceback")]
            assert len(tracebacks) == (how in ("error", "SIGINT"))
            assert bool(errors) == bool(tracebacks)
            assert all_gone(workers)

    def test_without_a_guard(self, program):
        """Python's own message says what is missing; nothing runs on."""
        methods = [one for one in START_METHODS if one != "fork"]
        guard = "if True:"
        programs = [program(unguarded, one, guard=guard) for one in methods]
        for process in programs:
            _, errors = end_of(process, 1)
            assert "__name__ == '__main__'" in "".join(errors)

    @each("how", ["closed", "dropped", "exit", "worker"])
    def test_what_games_print_and_write_arrives(self, program, tmp_path, how):
        """Whichever way they end, they are closed and buffers are written."""
        most = how == "closed" or ALL
        ways = WAYS if most else [WAYS[0], WAYS[-1]]
        programs = [program(writing, how, *way) for way in ways]
        for process, (_, method) in zip(programs, ways, strict=True):
            lines, errors = end_of(process)
            text = "".join(lines)  # of two processes: lines may be mixed
            n = 1 if how == "worker" else 2
            assert errors == [] and text.count("step") == n
            # A game that shows the spaces is made and closed first.
            assert text.count("end") == n + (how != "worker")
            for seed in range(1, n + 1):
                written = (tmp_path / f"{method}-{seed}.csv").read_text()
                assert written == "step\nend\n"

    @each("delay", [0.1, 0.5, 1])
    def test_ctrl_c_while_workers_start(self, program, delay):
        """Its handler says what happens, whether they have imported or not."""
        programs = [program(starting, method) for method in (None, "spawn")]
        for process in programs:
            process.stdout.readline()
        time.sleep(delay)
        for process in programs:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGINT)
        for process in programs:
            lines, errors = end_of(process)
            # OpenCV prints its own words when its import is interrupted.
            assert "2" in lines
            assert "RuntimeError" not in "".join(errors)

    def test_a_class_of_the_programs_own(self, program):
        """Also without a file, as in a notebook."""
        ways = ["-c", OWN_CLASS], ["-m", "cProfile", "-o", "profile"]
        programs = [program(OWN_CLASS, by=way) for way in ways]
        for process in programs:
            lines, _ = end_of(process)
            assert "(2, 7)" in lines

    @pytest.mark.skipif("forkserver" not in START_METHODS, reason="needs it")
    def test_the_start_method_is_the_same_everywhere(self, program):
        methods = ["fork", "spawn"]
        programs = [program(after_another_choice, one) for one in methods]
        for process in programs:
            lines, _ = end_of(process)
            assert lines == ["ForkServerProcess"] * 2

    def test_the_module_alone_is_complete(self, program, tmp_path):
        """Copied into an empty folder, where labml isn't installed."""
        (tmp_path / "game.py").write_text(SOURCE, encoding="utf-8")
        (tmp_path / "labml.py").write_text("raise ImportError")
        assert end_of(program(alone)) == ([str(tmp_path / "game.py")], [])


def steps_in(lines):
    """Check the three lines that the program ends with; return the steps."""
    summary = (
        r"([\d,]+) steps .* \d+ episodes\n"
        r"score: (mean [\d.-]+, best -?\d+|no game has ended)\n"
        r"[\d,]+ steps/s, [\d,]+ frames/s"
    )
    found = re.fullmatch(summary, "\n".join(lines[-3:]))
    return int(found[1].replace(",", ""))


class TestMain:
    """The module as a program."""

    @each("title, steps", [(BREAKOUT, 300), ("PongNoFrameskip-v4", 50)])
    def test_the_program(self, program, tmp_path, title, steps):
        """Progress, also if no game ends, a summary and a picture alone."""
        args = title, "--steps", str(steps), "--games", "2", "--seed", "9"
        lines, errors = end_of(program(SOURCE, *args))
        assert errors == []
        files = {path.name for path in tmp_path.iterdir()}
        assert files - {"__pycache__"} == {"program0.py", "game.png"}
        assert steps_in(lines) == 2 * steps
        assert (lines[-2] == "score: no game has ended") == (steps == 50)
        assert any("steps per second" in line for line in lines)
        assert not any("warn" in line.lower() for line in lines)

    def test_the_program_without_labml(self, program, tmp_path):
        (tmp_path / "labml.py").write_text("raise ImportError")
        _, errors = end_of(program(SOURCE, "--games", "1"), 2)
        assert "pip install labml" in errors[-1] and len(errors) == 1

    def test_the_score_and_the_picture(self, monkeypatch, tmp_path, capsys):
        """Of each game when it is over, and when it last won a point."""
        replace_titles(monkeypatch, Script(rewards={20: 3, 40: -1}, over=45))
        options = dict(processes=0, noop_max=8, fire_on_reset=False)
        monkeypatch.setattr(game, "Games", functools.partial(Games, **options))
        monkeypatch.setattr(sys, "argv", ["game", "--games=2", "--steps=12"])
        monkeypatch.chdir(tmp_path)
        game.main()
        assert "\nscore: mean 2.00, best 2\n" in capsys.readouterr().out
        image = cv2.imread("game.png", cv2.IMREAD_GRAYSCALE)[-336::2, ::2]
        one, two = (np.hsplit(it, 4) for it in np.vsplit(image, 2))
        assert seen(np.array(one)) == [(10, 11), (14, 15), (18, 19), (22, 23)]
        assert seen(np.array(two)) == [(7, 8), (11, 12), (15, 16), (19, 20)]

    def test_a_picture_stays_until_there_is_another(
        self, monkeypatch, tmp_path
    ):
        (tmp_path / "game.png").write_text("old")
        monkeypatch.setattr(sys, "argv", ["game", "--games=1", "--steps=2"])
        monkeypatch.setattr(game, "draw", lambda seen: 1 / 0)
        monkeypatch.chdir(tmp_path)
        with pytest.raises(ZeroDivisionError):
            game.main()
        assert (tmp_path / "game.png").read_text() == "old"

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
        "args, words",
        [
            ("Breakot-v4", "Did you mean: `Breakout`?"),
            ("no_such_module:Pong-v5", "no_such_module"),
            ("CartPole-v1", "Atari"),
            ("--games 0", "games"),
            ("--steps 0", "steps"),
            ("--seed -1", "-1"),
        ],
    )
    def test_arguments(self, monkeypatch, tmp_path, capsys, args, words):
        """One clear line and exit code 2, and no file."""
        monkeypatch.setattr(sys, "argv", ["game.py", *args.split()])
        monkeypatch.chdir(tmp_path)
        with pytest.raises(SystemExit) as ending:
            runpy.run_path(str(MODULE), run_name="__main__")
        assert ending.value.code == 2
        assert list(tmp_path.iterdir()) == []
        stdout, stderr = capsys.readouterr()
        (line,) = stderr.splitlines()
        assert words in line and stdout == ""
