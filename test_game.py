"""
The proof that `game.py` does what it says.

    pip install -r requirements.txt && python -m pytest test_game.py

Everything is tested from outside, as a user would meet it, and in the order of
the page. Each part is a class, which can be run alone, such as the second with
`python -m pytest test_game.py -k TestEpisode`:

| part | what it shows | seconds |
| --- | --- | --- |
| `TestPicture` | what the agent sees of a step | 0 |
| `TestEpisode` | what ends an episode, and what is reported of it | 0 |
| `TestStart` | how a game starts: no-ops, FIRE, resets by snapshot | 0 |
| `TestEnds` | what `Games` report of these ends | 0 |
| `TestGymnasium` | all titles are, bit for bit, Gymnasium's | 36 |
| `TestTitles` | real titles: seeds, ids, limits, screens | 6 |
| `TestInput` | what is refused, and what is taken | 1 |
| `TestWorker` | a game in another process | 7 |
| `TestPrograms` | programs that end, one way or another | 13 |
| `TestGames` | many games, the same whatever plays them | 24 |
| `TestWrappers` | Gymnasium's own wrappers around them | 3 |
| `TestArguments` | wrong arguments | 1 |
| `TestClosing` | closing leaves nothing behind | 4 |
| `TestFaults` | workers that die, hang, fail or are interrupted | 41 |
| `TestMain` | the module as a program | 7 |
| `TestSystems` | where names are missing that Windows and macOS lack | 4 |
| `TestReadme` | README's programs run | 4 |

The seconds are those of two cores with nothing else to do, 150 in all. The
first four parts play an emulator whose frames are known, so that what is right
is worked out by hand. What a test needs of the system stands above it, such as
`needs_fork`; elsewhere it is skipped.
"""

import collections
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
import signal
import subprocess
import sys
import time
import traceback
import types
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

import ale_py
import cv2
import gymnasium as gym
import numpy as np
import pytest
from gymnasium.vector import AsyncVectorEnv, AutoresetMode
from gymnasium.wrappers import AtariPreprocessing, FrameStackObservation

import game
from game import BREAKOUT, Game, Games, Worker

MODULE = pathlib.Path(game.__file__).resolve()
START_METHODS = [
    method
    for method in ("fork", "spawn", "forkserver")
    if method in multiprocessing.get_all_start_methods()
]
MODES = ["restart", "continue", "ignore"]
NO_SNAPSHOT = Game.NO_SNAPSHOT
SAME_STEP, NEXT_STEP = AutoresetMode.SAME_STEP, AutoresetMode.NEXT_STEP
# Where each no-op changes the screen, and thus each seed the start.
SEAQUEST = "SeaquestNoFrameskip-v4"
NOOP, FIRE, RIGHT = 0, 1, 2  # actions of Breakout and of the fake emulator
REFUSED = ValueError, TypeError  # how bad input is answered
PATIENCE = 300  # seconds, after which a program counts as hanging

# What a test needs of the system. Where that is missing it is skipped, and the
# others run; on Linux none is skipped.
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
needs_dev_full = pytest.mark.skipif(
    not pathlib.Path("/dev/full").exists(), reason="needs /dev/full"
)


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


# ---------------------------------------------------------------------------
# An emulator whose frames are known
#
# Frame n of a game lights one band of the dark screen, ten rows high, with a
# brightness of its own. Ten rows of 210 become exactly four rows of 84, so
# what an agent must see needs no arithmetic, and `seen` reads off an
# observation which frames are in it.
# ---------------------------------------------------------------------------
BANDS = 21


def screen_of(frame):
    """Return frame number `frame` as the console shows it, (210, 160)."""
    screen, band = np.zeros((210, 160), np.uint8), frame % BANDS
    screen[10 * band : 10 * band + 10] = 200 - frame
    return screen


def picture_of(frames):
    """Return what `frames` look like, one over the other, (84, 84)."""
    picture = np.zeros((84, 84), np.uint8)
    for frame in frames:
        band = frame % BANDS
        picture[4 * band : 4 * band + 4] = 200 - frame
    return picture


def seen(observation):
    """Return which frames are in each of an observation's four pictures."""
    assert observation.shape == (4, 84, 84)
    assert observation.dtype == np.uint8
    pictures = []
    for picture in observation:
        lit = sorted(200 - int(value) for value in set(picture[:, 0]) if value)
        np.testing.assert_array_equal(picture, picture_of(lit))
        pictures.append(tuple(lit))
    return pictures


class FakeALE:
    """The part of ALE's interface that matters, after a script.

    `lives` and `rewards` are given by frame number, `over` is the frame in
    which a game is lost, and `limit` the frame after which it is cut short.
    `draw` are screens that are not those of `screen_of`, and `boot` is the
    number that the emulator gives to the first frame: 0 in most real games,
    up to 134 in sixteen.
    """

    def __init__(
        self,
        lives=None,
        rewards=None,
        over=0,
        limit=0,
        sticky=0.0,
        draw=None,
        boot=0,
    ):
        self._lives, self._rewards = lives or {0: 5}, rewards or {}
        self._over, self._limit, self._sticky = over, limit, sticky
        self._draw, self._boot = draw or {}, boot
        self.played = []  # what was played and done, in its order
        self.reset_game()

    def reset_game(self):
        self.frame = 0
        self._show()

    def _show(self):
        self._screen = self._draw.get(self.frame, screen_of(self.frame))

    def act(self, action, strength=1.0):
        if self.game_over():  # as ALE: nothing moves any more
            return 0
        self.played.append(ale_py.Action(action).name)
        self.frame += 1
        self._show()
        return self._rewards.get(self.frame, 0)

    def lives(self):
        return self._lives[max(n for n in self._lives if n <= self.frame)]

    def game_over(self, with_truncation=True):
        if with_truncation and self.game_truncated():
            return True
        return bool(self._over) and self.frame >= self._over

    def game_truncated(self):
        return bool(self._limit) and self.frame >= self._limit

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
        screen = np.dstack([self._screen] * 3)
        if buffer is None:
            return screen
        buffer[:] = screen
        return buffer

    # As ALE's own, a restored state is not drawn before the next frame.
    def cloneState(self, include_rng=False):
        return self.frame

    def restoreState(self, state):
        self.frame = state


class FakeEnv(gym.Env):
    """The Gymnasium environment around such an emulator."""

    observation_space = gym.spaces.Box(0, 255, (210, 160, 3), np.uint8)
    _frameskip = 1

    def __init__(
        self, name="fake", meanings=("NOOP", "FIRE", "RIGHT"), **script
    ):
        self.ale, self._meanings = FakeALE(**script), list(meanings)
        self.action_space = gym.spaces.Discrete(len(meanings))
        self.spec = gym.envs.registration.EnvSpec(
            "FakeNoFrameskip-v4", "fake:Env", kwargs={"game": name}
        )

    def get_action_meanings(self):
        return self._meanings

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.ale.played.append("reset")
        self.ale.reset_game()
        return self.ale.getScreenRGB(), {}

    def seed_game(self, seed=None):
        super().reset(seed=seed)

    def step(self, action):
        meaning = self._meanings[action]
        reward = self.ale.act(getattr(ale_py.Action, meaning))
        over, cut = self.ale.game_over(False), self.ale.game_truncated()
        return self.ale.getScreenRGB(), reward, over, cut, {}

    def clone_state(self, include_rng=False):
        return self.ale.cloneState()

    def restore_state(self, state):
        self.ale.played.append("restore")
        self.ale.restoreState(state)


@pytest.fixture
def fake(monkeypatch):
    """Return a function that makes a `Game` of a script and of options."""

    def make(cls=Game, *args, **kwargs):
        names = inspect.signature(FakeALE).parameters
        names = {"name", "meanings", *names} & set(kwargs)
        script = {name: kwargs.pop(name) for name in names}
        made = []

        def gym_make(*_, **__):
            made.append(FakeEnv(**script))
            return made[-1]

        monkeypatch.setattr(game.gym, "make", gym_make)
        one = cls(*(args or (0,)), **kwargs)
        return one, made[-1].ale

    return make


def play(one, steps, action=NOOP):
    """Play so many steps, and return what the last one returned."""
    for _ in range(steps):
        result = one.step(action)
    return result


START = [(0,)] * 4  # what is seen right after a reset


# ---------------------------------------------------------------------------
# What the agent sees
# ---------------------------------------------------------------------------


class TestPicture:
    """What the agent sees."""

    def test_a_game_begins_with_its_first_screen_four_times(self, fake):
        """The first observation is the first screen alone, four times."""
        one, _ = fake()
        assert seen(one.reset()) == START

    def test_a_step_shows_the_maximum_of_its_last_two_frames(self, fake):
        """Of four frames the third and fourth are seen, one over the other."""
        one, _ = fake()
        one.reset()
        assert seen(one.step(NOOP)[0]) == [(0,), (0,), (0,), (3, 4)]

    def test_the_oldest_picture_is_the_first(self, fake):
        """The four pictures are those of the last four steps, in order."""
        one, _ = fake()
        one.reset()
        obs = play(one, 5)[0]
        assert seen(obs) == [(7, 8), (11, 12), (15, 16), (19, 20)]

    def test_the_maximum_is_taken_before_the_screen_is_shrunk(self, fake):
        """Two frames with every other line lit make a picture all lit."""
        even, odd = np.zeros((2, 210, 160), np.uint8)
        even[::2], odd[1::2] = 200, 200
        one, _ = fake(draw={3: even, 4: odd})
        one.reset()
        assert (one.step(NOOP)[0][3] == 200).all()

    def test_ctrl_c_while_a_picture_is_made(self, fake, monkeypatch):
        """Such a step is lost, and later pictures are right."""
        one, _ = fake()
        one.reset()

        def interrupt(*_, **__):
            raise KeyboardInterrupt

        with monkeypatch.context() as patch:
            patch.setattr(cv2, "resize", interrupt)
            with pytest.raises(KeyboardInterrupt):
                one.step(NOOP)
        assert seen(one.step(NOOP)[0]) == [(0,), (0,), (0,), (7, 8)]
        obs = play(one, 3)[0]
        assert seen(obs) == [(7, 8), (11, 12), (15, 16), (19, 20)]

    def test_every_pixel_is_the_mean_of_the_area_it_covers(self, fake):
        """A line five rows high and one lit of them: the shares are exact."""
        lines = np.zeros((210, 160), np.uint8)
        lines[::5] = 200  # of 2.5 rows to a pixel one is lit, then none
        one, _ = fake(draw={0: lines})
        obs = one.reset()
        assert (obs[:, ::2] == 80).all()
        assert (obs[:, 1::2] == 0).all()

    @pytest.mark.parametrize("height", [210, 214, 220, 230, 250])
    def test_a_change_is_seen_as_in_the_whole_screen(self, fake, height):
        """However little changes, the picture is that of all rows, shrunk."""
        random, steps = np.random.default_rng(height), range(1, 51)
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
        """A step plays the one action that it was given, and nothing else."""
        one, ale = fake()
        one.reset()
        play(one, 1, RIGHT)
        play(one, 1, FIRE)
        assert ale.played == ["reset"] + ["RIGHT"] * 4 + ["FIRE"] * 4

    def test_rewards_of_all_four_frames_are_added(self, fake):
        """The reward of a step is the sum, none is lost or counted twice."""
        one, _ = fake(rewards={1: 1, 2: 20, 3: 300, 4: 4000, 5: -7, 9: 0.5})
        one.reset()
        assert [one.step(NOOP)[1] for _ in range(4)] == [4321, -7, 0.5, 0]

    def test_clipping_leaves_the_sign_and_the_score_raw(self, fake):
        """With `clip_reward` a step gives -1, 0 or 1; the info doesn't."""
        rewards = {1: 7, 4: -2, 5: -3, 9: 1, 10: -1}
        one, _ = fake(rewards=rewards, over=13, clip_reward=True)
        one.reset()
        results = [one.step(NOOP) for _ in range(4)]
        assert [reward for _, reward, _, _ in results] == [1, -1, 0, 0]
        assert results[-1][3] == {"reward": 2, "length": 4, "truncated": False}


# ---------------------------------------------------------------------------
# What ends an episode
# ---------------------------------------------------------------------------

# What is seen last if a step ends with its first, ... fourth frame.
LAST_SEEN = {1: (1,), 2: (2,), 3: (3,), 4: (3, 4)}

each_frame = pytest.mark.parametrize("frame", LAST_SEEN)

each_mode = pytest.mark.parametrize("mode", MODES)
both_modes = pytest.mark.parametrize("mode", [SAME_STEP, NEXT_STEP])


class TestEpisode:
    """What ends an episode."""

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

    @pytest.mark.parametrize("mode", ["restart", "continue"])
    def test_an_extra_life_is_counted(self, fake, mode):
        """A life won ends nothing, and losing it again does, steps later."""
        lives = {0: 3, 2: 4, 9: 3}
        one, _ = fake(lives=lives, on_life_loss=mode)
        one.reset()
        assert [one.step(NOOP)[2] for _ in range(3)] == [False, False, True]

    @pytest.mark.parametrize("mode", ["restart", "continue"])
    def test_a_life_won_and_lost_within_a_step(self, fake, mode):
        """Lives are read at every frame, so these two don't cancel out."""
        one, _ = fake(lives={0: 3, 1: 4, 3: 3}, on_life_loss=mode)
        one.reset()
        assert one.step(NOOP)[2] is True
        assert seen(one.final_obs)[-1] == (3,)

    @pytest.mark.parametrize("mode", ["restart", "continue"])
    def test_a_life_lost_and_won_within_a_step(self, fake, mode):
        """The step ends with the lost life; the won one comes later."""
        one, _ = fake(lives={0: 3, 2: 2, 3: 3}, on_life_loss=mode)
        one.reset()
        assert one.step(NOOP)[2] is True
        assert seen(one.final_obs)[-1] == (2,)
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
            results = [one.step(NOOP) for _ in range(6)]
            # Frames 1-2, 3-6, 7, 8-11, 12-15, 16-19; then 20 alone.
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
        assert play(one, 3)[3] == {
            "reward": 1,
            "length": 3,
            "truncated": False,
        }

    def test_the_info_holds_plain_numbers(self, fake):
        """A float, an int and a Python bool, whatever the emulator gives."""
        one, _ = fake(over=3)
        one.reset()
        _, reward, done, info = one.step(NOOP)
        kinds = {name: type(value) for name, value in info.items()}
        assert kinds == {"reward": float, "length": int, "truncated": bool}
        assert type(reward) is float and type(done) is bool

    # --- The limit
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
            assert seen(one.final_obs)[-1] == tuple(
                8 + n for n in LAST_SEEN[frame]
            )
            assert info == {"reward": 0, "length": 3, "truncated": True}
            assert info["truncated"] is True

    @each_mode
    def test_over_on_the_frame_of_the_limit_is_over(self, fake, mode):
        """Such a game wasn't cut short, it had come to its own end."""
        one, _ = fake(limit=10, over=10, on_life_loss=mode)
        one.reset()
        assert play(one, 3)[3]["truncated"] is False

    @pytest.mark.parametrize("mode", ["restart", "continue"])
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


# ---------------------------------------------------------------------------
# How a game starts: no-ops, FIRE, resets by snapshot
# ---------------------------------------------------------------------------


def noops(seed, most, games):
    """Return the numbers of no-ops that Gymnasium draws for some games."""
    random = gym.utils.seeding.np_random(seed)[0]
    return [int(random.integers(1, most + 1)) for _ in range(games)]


class TestStart:
    """How a game starts: no-ops, FIRE, snapshots."""

    @pytest.mark.parametrize("seed", [0, 1, 7])
    def test_no_ops_start_a_game(self, fake, seed):
        """After each reset of the emulator as many as Gymnasium would draw."""
        first, second, third = noops(seed, 30, 3)
        one, ale = fake(Game, seed, noop_max=30, rewards={1: 1})
        assert seen(one.reset()) == [(first,)] * 4
        assert ale.played == ["reset"] + ["NOOP"] * first
        assert seen(one.reset()) == [(second,)] * 4
        assert seen(one.reset()) == [(third,)] * 4
        assert seen(one.reset(seed)) == [(first,)] * 4

    def test_one_no_op_at_most_is_one(self, fake):
        """`noop_max=1` isn't random."""
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
        script = dict(
            lives={0: 3, 33: 2}, noop_max=30
        )  # in the first 33 frames
        for mode, start in [("restart", second), ("continue", 33)]:
            one, _ = fake(Game, 5, on_life_loss=mode, **script)
            one.reset()
            done = False
            while not done:
                obs, _, done, _ = one.step(NOOP)
            assert seen(obs) == [(start,)] * 4

    @pytest.mark.parametrize("seed", range(4))
    @pytest.mark.parametrize("kind", ["over", "limit"])
    def test_a_game_over_among_the_no_ops(self, fake, seed, kind):
        """It is reset and the no-ops go on, as Gymnasium's wrapper does it."""
        one, ale = fake(Game, seed, noop_max=30, **{kind: 5})
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
        with pytest.raises(ValueError):
            Game(0, "ALE/Backgammon-v5", noop_max=30)
        assert Game(0, "ALE/Backgammon-v5").reset().shape == (4, 84, 84)

    # --- Fire
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
        rewards = {1: 1, 5: 10, 7: 100, 8: 1000, 12: 10000, 13: 100000}
        one, _ = fake(
            fire_on_reset=True,
            on_life_loss="continue",
            rewards=rewards,
            lives={0: 3, 7: 2},
            over=13,
        )
        one.reset()  # frames 1-4; the step plays 5-7, FIRE 8-11
        assert one.step(NOOP)[1] == 110
        _, reward, done, info = one.step(NOOP)  # 12-13
        assert (reward, done) == (110000, True)
        assert info == {"reward": 110110, "length": 2, "truncated": False}

    @pytest.mark.parametrize("mode", ["restart", "continue"])
    def test_a_life_lost_in_fire(self, fake, mode):
        """Lives are counted from the first observation on."""
        lives = {0: 3, 2: 2, 10: 1}
        one, _ = fake(fire_on_reset=True, lives=lives, on_life_loss=mode)
        assert seen(one.reset()) == [(4,)] * 4
        assert [one.step(NOOP)[2] for _ in range(2)] == [False, True]

    @pytest.mark.parametrize("frame", [1, 2, 3, 4])
    @pytest.mark.parametrize("kind", ["over", "limit"])
    def test_a_game_over_in_fire(self, fake, frame, kind):
        """The game is reset then, and FIRE isn't pressed again."""
        one, ale = fake(fire_on_reset=True, rewards={1: 9}, **{kind: frame})
        assert seen(one.reset()) == START
        fired = ["reset"] + ["FIRE"] * frame + ["restore"]
        assert ale.played == fired
        # The next game ends in its first step, and the one after it in
        # FIRE: two resets in one step, of which only the first ended what
        # was played.
        obs, reward, done, info = one.step(NOOP)
        assert (reward, done) == (9, True)
        assert seen(obs) == START
        assert info == {"reward": 9, "length": 1, "truncated": kind == "limit"}
        assert ale.played == fired + ["NOOP"] * frame + ["restore"] + fired[1:]

    @pytest.mark.parametrize("kind", ["over", "limit"])
    def test_a_game_over_in_the_fire_after_a_life(self, fake, kind):
        """The emulator was reset in this step: so here is the game's info."""
        one, _ = fake(
            fire_on_reset=True,
            on_life_loss="continue",
            rewards={6: 3, 9: 50},
            lives={0: 3, 7: 2},
            **{kind: 9},
        )
        one.reset()
        obs, reward, done, info = one.step(NOOP)
        assert (reward, done) == (3, True)
        assert seen(one.final_obs)[-1] == (7,)
        assert seen(obs) == START
        cut = kind == "limit"
        assert info == {"reward": 3, "length": 1, "truncated": cut}

    def test_fire_comes_after_the_no_ops(self, fake):
        """First the random start, then the serve."""
        (n,) = noops(3, 30, 1)
        one, ale = fake(Game, 3, noop_max=30, fire_on_reset=True)
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

    # --- Resets by snapshot
    def test_later_resets_put_back_the_first_state(self, fake):
        """The emulator is reset once, and then restored."""
        one, ale = fake(over=3)
        one.reset()
        play(one, 2)
        one.reset()
        assert [it for it in ale.played if it != "NOOP"] == (
            ["reset"] + ["restore"] * 3
        )

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

        def shown():
            screen = one.render()
            assert screen.shape == (210, 160, 3)
            assert screen.dtype == np.uint8
            return screen

        for _ in range(2):
            one.reset()
            np.testing.assert_array_equal(
                shown(), np.dstack([screen_of(0)] * 3)
            )
            one.step(NOOP)
            np.testing.assert_array_equal(
                shown(), np.dstack([screen_of(4)] * 3)
            )
            shown()[:] = 0  # it is the caller's own
            np.testing.assert_array_equal(
                shown(), np.dstack([screen_of(4)] * 3)
            )
            one.step(NOOP)
            shown()[:] = 0
            np.testing.assert_array_equal(
                shown(), np.dstack([screen_of(0)] * 3)
            )


# ---------------------------------------------------------------------------
# What `Games` report of these ends
# ---------------------------------------------------------------------------


def fake_games(fake, **kwargs):
    """Return three games after a script, played in this process."""
    games = fake(Games, 3, "FakeNoFrameskip-v4", processes=0, **kwargs)[0]
    games.reset()
    return games


class TestEnds:
    """What `Games` report of these ends."""

    @pytest.mark.parametrize(
        "script, terminated, truncated",
        [
            (dict(over=2), True, False),
            (dict(limit=2), False, True),
            (dict(limit=2, over=2), True, False),
            (dict(lives={0: 3, 2: 2}), True, False),
            (dict(over=2, on_life_loss="ignore"), True, False),
            (dict(limit=2, on_life_loss="continue"), False, True),
        ],
    )
    def test_terminated_or_truncated(
        self, fake, script, terminated, truncated
    ):
        """A lost life and the end of a game terminate, the limit truncates."""
        with fake_games(fake, **script) as many:
            obs, _, ended, cut, infos = many.step([NOOP] * 3)
            assert ended.tolist() == [terminated] * 3
            assert cut.tolist() == [truncated] * 3
            assert infos["final_info"]["truncated"].tolist() == [truncated] * 3
            for i in range(3):
                assert seen(obs[i]) == START
                assert seen(infos["final_obs"][i])[-1] == (2,)

    @both_modes
    def test_a_life_that_is_no_game_has_no_info(self, fake, mode):
        """With "continue" an episode may end without any `final_info`."""
        script = dict(lives={0: 3, 2: 2}, rewards={1: 2, 5: 3}, over=6)
        with fake_games(
            fake, on_life_loss="continue", autoreset_mode=mode, **script
        ) as many:
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

    def test_next_step_shows_the_end_and_then_the_start(self, fake):
        """In this mode the start comes one step later, and takes no action."""
        with fake_games(fake, over=6, autoreset_mode=NEXT_STEP) as many:
            shown = [many.step([RIGHT] * 3)[0][1] for _ in range(4)]
            assert seen(shown[1]) == [(0,), (0,), (3, 4), (6,)]
            assert seen(shown[2]) == START
            assert seen(shown[3]) == [(0,), (0,), (0,), (3, 4)]


# ---------------------------------------------------------------------------
# Real games, bit for bit against Gymnasium's own wrappers
#
# Three things have to be the same before the pictures can be: how the emulator
# is reset, what is seen right after that, since a restored state isn't drawn,
# and what is seen when a game ends, since Gymnasium leaves that frame out.
# ---------------------------------------------------------------------------


class Snapshots(gym.Wrapper):
    """Later resets put back the state after the first, as `Game` does."""

    def reset(self, *, seed=None, options=None):
        emulator, name = self.env.unwrapped, self.spec.kwargs["game"]
        if seed is None and name not in NO_SNAPSHOT:
            emulator.restore_state(self.state)
            return None, {"restored": True}
        result = self.env.reset(seed=seed, options=options)
        self.state = emulator.clone_state()
        self.start = emulator.ale.getEpisodeFrameNumber()  # not always 0
        return result


class Reference(AtariPreprocessing):
    """Gymnasium's preprocessing, with the right first and last picture."""

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


def reference(env, mode="restart", noop_max=0):
    """Return what `Game` must equal, made of Gymnasium's wrappers."""
    env = Reference(
        Snapshots(env),
        noop_max=noop_max,
        terminal_on_life_loss=mode == "restart",
    )
    return FrameStackObservation(env, 4)


def differences(env_id):
    """Play a game beside its reference; return what wasn't the same."""
    env = gym.make(env_id, frameskip=1)
    random, faults = np.random.default_rng(0), []
    most = 30 if env.unwrapped.get_action_meanings()[0] == "NOOP" else 0
    for mode, noop_max in [("restart", 0), ("ignore", most)]:
        one = Game(5, env_id, on_life_loss=mode, noop_max=noop_max)
        other = reference(env, mode, noop_max)
        same = np.array_equal(one.reset(), other.reset(seed=5)[0])
        for action in random.integers(env.action_space.n, size=300):
            obs, reward, done, info = one.step(action)
            theirs, points, terminated, truncated, _ = other.step(action)
            same &= (reward, done) == (points, terminated or truncated)
            if done:
                same &= info["truncated"] is truncated
                same &= np.array_equal(one.final_obs, theirs)
                theirs, _ = other.reset()
            same &= np.array_equal(obs, theirs)
        if not same:
            faults.append((env_id, mode, noop_max))
    return faults


def on_two_cores(function, names):
    """Return what `function` returns for each name, in two processes."""
    with ProcessPoolExecutor(2) as pool:
        return list(pool.map(function, names))


def follow(ale, actions):
    """Play `actions`; return the memory and the screen of each frame."""
    frames = []
    for action in actions:
        ale.act(action)
        frames.append((ale.getRAM().tobytes(), ale.getScreenRGB().tobytes()))
    return frames


def forgets(env_id):
    """Return a game's name if its snapshot leaves something out.

    And see that a seed, which is taken when the game is loaded anew, changes
    nothing: `Game` doesn't load it anew.
    """
    options = dict(frameskip=1, obs_type="ram", repeat_action_probability=0.0)
    env = gym.make(env_id, **options)
    env.reset()
    emulator = env.unwrapped
    possible = emulator.ale.getMinimalActionSet()
    actions, others = np.random.default_rng(0).choice(possible, (2, 120))
    first = follow(emulator.ale, actions)
    env.reset(seed=1)
    state = emulator.clone_state()
    assert follow(emulator.ale, actions) == first
    for _ in range(2):
        follow(emulator.ale, others)
        emulator.restore_state(state)
        if follow(emulator.ale, actions) != first:
            return env.spec.kwargs["game"]
    return None


class TestGymnasium:
    """All titles are as Gymnasium makes them."""

    def test_all_games_equal_gymnasiums(self):
        """62 titles, with lives and no-ops or without, 300 steps each."""
        # Older packages have each game a second time, with RAM to observe.
        ids = [i for i in gym.registry if i.endswith("NoFrameskip-v4")]
        ids = [i for i in ids if not i.endswith("-ramNoFrameskip-v4")]
        assert len(ids) == 62
        assert [it for it in on_two_cores(differences, ids) if it] == []

    def test_which_games_a_snapshot_brings_back(self):
        """Of all 104, frame by frame: all but those named in the module."""
        ids = [i for i in gym.registry if re.fullmatch(r"ALE/.*-v5", i)]
        assert len(ids) == 104
        assert set(on_two_cores(forgets, ids)) - {None} == set(NO_SNAPSHOT)


# ---------------------------------------------------------------------------
# Real titles: seeds, ids, limits, screens
# ---------------------------------------------------------------------------

Trajectory = collections.namedtuple("Trajectory", "obs rewards dones infos")


def actions_for(steps, n=4, seed=0):
    """Return random actions, the same ones each time."""
    return np.random.default_rng(seed).integers(n, size=steps).tolist()


def trajectory(one, actions, seed=None):
    """Reset a game and play; return all that it returned."""
    results = [(one.reset(seed), 0.0, False, None)]
    results += [one.step(action) for action in actions]
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


ACTIONS = actions_for(150)


class TestTitles:
    """Real titles: seeds, ids, limits, screens."""

    @pytest.mark.parametrize("env_id", [SEAQUEST, "QbertNoFrameskip-v4"])
    def test_the_same_seed_and_actions_give_the_same(self, env_id):
        """In another `Game`, and in the same one when it is seeded again."""
        one = Game(3, env_id, noop_max=30)
        first = trajectory(one, ACTIONS)
        assert same(first, trajectory(Game(3, env_id, noop_max=30), ACTIONS))
        assert same(first, trajectory(one, ACTIONS, seed=3))
        assert not same(first, trajectory(one, ACTIONS, seed=4))

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
        one, env = Game(0, spec), gym.make(spec)
        assert np.array_equal(one.reset(), reference(env).reset(seed=0)[0])
        env.reset(seed=0)
        one.step(FIRE)
        for _ in range(4):
            env.step(FIRE)
        plain = Game(0)
        plain.reset()
        plain.step(FIRE)
        ours, theirs, other = (
            it.unwrapped.ale.getRAM() for it in (one.env, env, plain.env)
        )
        assert np.array_equal(ours, theirs)
        assert not np.array_equal(ours, other)

    def test_the_wrappers_of_a_spec_are_left_out(self):
        """As those of an environment that somebody has wrapped already."""
        env = gym.wrappers.AtariPreprocessing(gym.make(BREAKOUT))
        wrappers = env.spec.additional_wrappers
        assert len(wrappers) == 1
        one = Game(0, env.spec)
        other = Game(0)
        assert np.array_equal(one.reset(), other.reset())
        for step in range(100):
            first, *rest = one.step(step % 4)
            second, *others = other.step(step % 4)
            assert np.array_equal(first, second)
            assert rest == others
        assert env.spec.additional_wrappers == wrappers

    @pytest.mark.parametrize("env_id", [BREAKOUT, "QbertNoFrameskip-v4"])
    @pytest.mark.parametrize("mode", MODES)
    def test_every_game_gets_the_whole_limit(self, env_id, mode):
        """With snapshots and without: cut at the same length each time."""
        spec = atari(env_id, max_num_frames_per_episode=50)
        one = Game(0, spec, on_life_loss=mode)
        one.reset()
        infos = [one.step(NOOP)[3] for _ in range(39)]
        assert [i for i, info in enumerate(infos) if info] == [12, 25, 38]
        cut = {"reward": 0.0, "length": 13, "truncated": True}
        assert infos[12] == infos[25] == infos[38] == cut

    @pytest.mark.parametrize("mode", ["restart", "continue"])
    def test_gray_is_the_emulators_own(self, mode):
        """Also where that isn't what the colours would make: in Air Raid."""
        one = Game(0, "AirRaidNoFrameskip-v4", noop_max=5, on_life_loss=mode)
        obs, ale = one.reset(), one.env.unwrapped.ale
        ends, random = 0, np.random.default_rng(0)
        while ends < 3:
            gray = ale.getScreenGrayscale()
            picture = cv2.resize(gray, (84, 84), interpolation=cv2.INTER_AREA)
            assert all(np.array_equal(picture, it) for it in obs)
            done = False
            while not done:
                obs, _, done, _ = one.step(random.integers(6))
            ends += 1

    def test_what_was_returned_never_changes(self):
        """Observations are the caller's own, to keep and to write into."""
        one, other = Game(0), Game(0)
        kept = [one.reset()]
        copies, ends = [other.reset().copy()], 0
        for action in actions_for(250):
            obs, _, done, _ = one.step(action)
            kept.append(obs)
            copies.append(other.step(action)[0].copy())
            if done:
                kept.append(one.final_obs)
                copies.append(other.final_obs.copy())
                ends += 1
        assert ends > 2
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
        first = one.render()
        assert first.shape == (210, 160, 3) and first.dtype == np.uint8
        done = False
        while not done:
            assert np.array_equal(
                one.render(), one.env.unwrapped.ale.getScreenRGB()
            )
            done = one.step(FIRE)[2]
        gray = cv2.cvtColor(one.render(), cv2.COLOR_RGB2GRAY)
        picture = cv2.resize(gray, (84, 84), interpolation=cv2.INTER_AREA)
        assert np.array_equal(picture, one.reset()[0])
        assert np.array_equal(first, one.render()) or env_id != BREAKOUT


# ---------------------------------------------------------------------------
# What is refused, and what is taken
# ---------------------------------------------------------------------------


class Tensor:
    """What matters here of a PyTorch tensor."""

    def __init__(self, data):
        self._data = np.array(data)
        self.shape, self.dtype = self._data.shape, self._data.dtype

    def __array__(self, dtype=None, copy=None):
        return self._data

    def __index__(self):
        return self._data.__index__()

    def __len__(self):
        return len(self._data)

    def __getitem__(self, i):
        return Tensor(self._data[i])


def good_actions(number):
    """Return a number as all kinds of integer."""
    kinds = [int, np.int64, np.int32, np.int8, np.uint8, np.uint64, np.array]
    return [kind(number) for kind in [*kinds, Tensor]]


BAD_ACTIONS = [
    *(-1, 4, 99, -(2**70), 2**70, np.int8(-1), np.uint8(255), np.array(4)),
    *(0.0, 1.0, 1.5, math.nan, math.inf, np.float32(1), Tensor(1.0), 1j),
    *(True, np.True_, None, "1", b"1", "FIRE", object(), {}, {1}),
    *([1], (), np.array([1]), np.array([[1]]), [[1]], Tensor([1])),
]

BAD_SEEDS = [-1, np.int64(-1), 0.0, 1.5, math.nan, "1", [1], [], object()]


class TestInput:
    """What is refused, and what is taken."""

    @pytest.mark.parametrize("action", BAD_ACTIONS, ids=repr)
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

    def test_the_error_names_the_actions(self):
        """Whoever sees it can tell what would have been right."""
        one = Game(0)
        one.reset()
        with pytest.raises(
            ValueError, match=r"(?s)0.*3.*NOOP.*FIRE.*RIGHT.*LEFT"
        ):
            one.step(4)

    def test_all_kinds_of_integers_are_actions(self, fake):
        """Python's, NumPy's, and what turns into one, as PyTorch's do."""
        one, ale = fake()
        one.reset()
        for action in good_actions(RIGHT):
            one.step(action)
        assert set(ale.played[1:]) == {"RIGHT"}

    def test_reset_comes_first(self):
        """It returns the observation to start from, so `step` waits for it."""
        one = Game(0)
        for step in (one.step, one.play):
            with pytest.raises(gym.error.ResetNeeded):
                step(NOOP)
        assert same(trajectory(one, ACTIONS), trajectory(Game(0), ACTIONS))

    @pytest.mark.parametrize("kind", [np.int64, np.uint8, np.int32, np.array])
    def test_seeds_are_whole_numbers(self, fake, kind):
        """NumPy's too, though Gymnasium itself wants Python's."""
        (n,) = noops(7, 30, 1)
        one, _ = fake(Game, kind(7), noop_max=30)
        assert seen(one.reset()) == [(n,)] * 4
        assert seen(one.reset(kind(7))) == [(n,)] * 4

    def test_real_games_take_them_too(self):
        """As any number that Gymnasium takes, however large."""
        one = Game(np.int64(7), SEAQUEST, noop_max=30)
        first = one.reset()
        other = one.reset(2**100)
        assert np.array_equal(first, one.reset(np.uint8(7)))
        assert not np.array_equal(first, other)
        assert np.array_equal(other, one.reset(2**100))

    @pytest.mark.parametrize("seed", BAD_SEEDS, ids=repr)
    def test_bad_seeds(self, fake, seed):
        """They are refused, and the game that was asked goes on as it was."""
        with pytest.raises(REFUSED):
            Game(seed)
        (n,) = noops(3, 30, 1)
        one, ale = fake(Game, 3, noop_max=30)
        with pytest.raises(REFUSED):
            one.reset(seed)
        assert seen(one.reset()) == [(n,)] * 4
        with pytest.raises(REFUSED):
            one.reset(seed)
        assert ale.played == ["reset"] + ["NOOP"] * n
        assert seen(one.step(RIGHT)[0])[3] == (n + 3, n + 4)

    @pytest.mark.parametrize(
        "mode", ["", "Restart", None, 1, True, ["restart"]]
    )
    def test_unknown_modes(self, mode):
        """The error names the three that there are."""
        with pytest.raises(REFUSED) as error:
            Game(0, on_life_loss=mode)
        if isinstance(mode, str):
            assert error.type is ValueError
            assert all(name in str(error.value) for name in MODES)

    @pytest.mark.parametrize("noop_max", [-1, 1.5, "3", None])
    def test_bad_numbers_of_no_ops(self, noop_max):
        """Whole numbers from 0 on."""
        with pytest.raises(REFUSED):
            Game(0, noop_max=noop_max)

    def test_unknown_ids(self):
        """Gymnasium's own errors, with its suggestions."""
        with pytest.raises(gym.error.NameNotFound, match="Breakout"):
            Game(0, "Breakot-v4")
        with pytest.raises(gym.error.VersionNotFound):
            Game(0, "BreakoutNoFrameskip-v9")

    def test_unknown_options(self):
        """A misspelt option isn't passed over."""
        with pytest.raises(TypeError):
            Game(0, noop=30)

    def test_the_environment_is_there(self):
        """`env` is Gymnasium's, with the actions that `step` takes."""
        one = Game(0)
        assert one.env.action_space == gym.spaces.Discrete(4)
        assert one.env.spec.id == BREAKOUT
        assert one.final_obs is None or isinstance(one.final_obs, np.ndarray)


# ---------------------------------------------------------------------------
# A game in another process
# ---------------------------------------------------------------------------

each_start_method = pytest.mark.parametrize("context", START_METHODS)

# With everything on, so that whatever could differ would differ.
EVERYTHING = dict(
    on_life_loss="continue", noop_max=30, fire_on_reset=True, clip_reward=True
)


def ask(worker, command, data=None):
    """Send a command and return the answer."""
    worker.child.send((command, data))
    return worker.child.recv()


def trajectory_of_worker(worker, actions, seed=None):
    """As `trajectory`, through the pipe."""
    results = [(ask(worker, "reset", seed), 0.0, False, None)]
    results += [ask(worker, "step", action) for action in actions]
    return Trajectory(*zip(*results, strict=True))


COPIES = [copy.copy, copy.deepcopy, pickle.dumps]


def text_of(error):
    """Return an error as it would be shown, with all that belongs to it."""
    return "".join(traceback.format_exception(error))


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


def workers_now():
    """Return the ids of this process's children."""
    return {child.pid for child in multiprocessing.active_children()}


def sockets(pid="self"):
    """Return the pipes and sockets that a process holds."""
    held = set()
    for path in pathlib.Path(f"/proc/{pid}/fd").iterdir():
        with contextlib.suppress(FileNotFoundError):
            held.add(os.readlink(path))
    return {it for it in held if it.startswith(("socket:", "pipe:"))}


class Haunted:
    """ALE with a ghost in it: `ghost()` is called before each frame."""

    def __init__(self, ale, ghost):
        self._ale, self._ghost = ale, ghost

    def __getattr__(self, name):
        return getattr(self._ale, name)

    def act(self, *args):
        self._ghost()
        return self._ale.act(*args)


class Unsendable(Exception):
    """An error that can't be pickled."""

    def __reduce__(self):
        raise pickle.PicklingError("this has a lock in it")


class Unreadable(Exception):
    """An error that is pickled, and can't be put together again."""

    def __init__(self, one, other):
        super().__init__(one)


@pytest.fixture
def haunt(monkeypatch):
    """Return a function that makes a deed happen within a worker's step.

    After `trap = haunt(deed)` and `trap.value = pid`, process `pid` calls
    `deed()` in its next frame, once.
    """

    def haunt(deed):
        trap = multiprocessing.RawValue("q", 0)
        gym_make = gym.make

        def ghost():
            if trap.value == os.getpid():
                trap.value = 0
                deed()

        def make(*args, **kwargs):
            env = gym_make(*args, **kwargs)
            env.unwrapped.ale = Haunted(env.unwrapped.ale, ghost)
            return env

        monkeypatch.setattr(game.gym, "make", make)
        return trap

    return haunt


def crash():
    """Have the bug that every program has."""
    raise ZeroDivisionError("a bug in the middle of a step")


def sleep():
    """Hang, in the middle of a step."""
    time.sleep(1000)


def die(how=signal.SIGKILL):
    """Return a deed that ends the process."""
    return lambda: os.kill(os.getpid(), how)


class TestWorker:
    """A game in another process."""

    @each_start_method
    def test_a_worker_plays_the_same_game(self, context):
        """Whichever way it was started, with every option on."""
        actions = ACTIONS[:90]
        with Worker(3, SEAQUEST, context=context, **EVERYTHING) as worker:
            one = Game(3, SEAQUEST, **EVERYTHING)
            for seed in (None, None, 8):
                expected = trajectory(one, actions, seed)
                assert same(
                    expected, trajectory_of_worker(worker, actions, seed)
                )

    @needs_fork
    def test_a_context_may_be_given_itself(self):
        """Where others take one of `multiprocessing`, so does a worker."""
        context = multiprocessing.get_context("fork")
        with Worker(0, context=context) as worker:
            assert ask(worker, "reset").shape == (4, 84, 84)
            assert isinstance(worker.process, context.Process)
        with pytest.raises(ValueError):
            Worker(0, context="telepathy")

    @needs_proc
    def test_a_rollout_over_several_workers(self):
        """As in labml's tutorial: send to all, then receive from all."""
        workers = [Worker(47 + i) for i in range(2)]
        games = [Game(47 + i) for i in range(2)]
        for worker in workers:
            worker.child.send(("reset", None))
        for worker, one in zip(workers, games, strict=True):
            assert np.array_equal(worker.child.recv(), one.reset())
        for action in ACTIONS[:60]:
            for worker in workers:
                worker.child.send(("step", action))
            for worker, one in zip(workers, games, strict=True):
                obs, reward, done, info = worker.child.recv()
                expected, *others = one.step(action)
                assert np.array_equal(obs, expected)
                assert [reward, done, info] == others
        for worker in workers:
            worker.child.send(("close", None))
        assert left_after(4, [worker.process.pid for worker in workers]) == []
        for worker in workers:
            worker.close()

    @needs_fork
    @needs_signals
    def test_the_loop_may_be_started_by_hand(self):
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

    def test_an_error_is_raised_where_it_is_received(self):
        """With its type and the worker's traceback; the worker plays on."""
        actions = ACTIONS[:40]
        with Worker(0) as worker:
            before = trajectory_of_worker(worker, actions)
            with pytest.raises(ValueError, match="NOOP") as error:
                ask(worker, "step", 99)
            assert "worker_process" in text_of(error.value)
            assert same(before, trajectory_of_worker(worker, actions))

    @needs_fork
    def test_any_error_is(self, haunt):
        """Also one from the depths of the emulator."""
        trap = haunt(crash)
        with Worker(0, context="fork") as worker:
            ask(worker, "reset")
            trap.value = worker.process.pid
            with pytest.raises(ZeroDivisionError, match="a bug") as error:
                ask(worker, "step", NOOP)
            assert "in crash" in text_of(error.value)
            assert ask(worker, "reset").shape == (4, 84, 84)

    def test_a_step_before_the_reset(self):
        """Is the same error as without another process."""
        with Worker(0) as worker:
            with pytest.raises(gym.error.ResetNeeded):
                ask(worker, "step", NOOP)
            assert ask(worker, "reset").shape == (4, 84, 84)

    def test_an_unknown_command(self):
        """The error names it, and the worker plays on."""
        with Worker(0) as worker:
            with pytest.raises(NotImplementedError, match="somersault"):
                ask(worker, "somersault")
            with pytest.raises(NotImplementedError, match="__init__"):
                ask(worker, "__init__")
            assert ask(worker, "reset").shape == (4, 84, 84)

    @pytest.mark.parametrize(
        "kwargs, expected",
        [
            (dict(env_id="Breakot-v4"), gym.error.NameNotFound),
            (dict(on_life_loss="never"), ValueError),
            (dict(env_id="ALE/Backgammon-v5", noop_max=3), ValueError),
            (dict(seed=-1), ValueError),
            (dict(noops=3), TypeError),
        ],
    )
    def test_a_game_that_cannot_be_made(self, kwargs, expected):
        """Its error comes with the first answer, or at once."""
        options = {"seed": 0, **kwargs}
        with pytest.raises(expected), Worker(**options) as worker:
            ask(worker, "reset")

    # A fork inherits pytest's long report of what caused a SIGSEGV.
    @pytest.mark.parametrize(
        "how, context",
        [("SIGKILL", "fork"), ("SIGTERM", "fork"), ("SIGSEGV", "spawn")],
    )
    @needs_fork
    @needs_signals
    def test_a_dead_worker(self, how, context):
        """To send to it is no error; what is received says how it ended."""
        number = getattr(signal, how)
        with Worker(0, context=context) as worker:
            ask(worker, "reset")
            os.kill(worker.process.pid, number)
            worker.process.join()
            for _ in range(2):
                worker.child.send(("step", NOOP))
                with pytest.raises(EOFError, match=f"{how}|-{int(number)}"):
                    worker.child.recv()

    @needs_fork
    def test_a_worker_that_exits(self, haunt):
        """The exit code is told, as it may explain what happened."""
        trap = haunt(lambda: os._exit(42))
        with Worker(0, context="fork") as worker:
            ask(worker, "reset")
            trap.value = worker.process.pid
            worker.child.send(("step", NOOP))
            with pytest.raises(EOFError, match="42"):
                worker.child.recv()

    def test_the_child_is_like_a_pipe(self):
        """It can be polled, and waited for together with others."""
        with Worker(0) as worker, Worker(1) as other:
            child = worker.child
            assert child.poll() is False
            child.send(("reset", None))
            assert child.poll(60) is True
            ready = multiprocessing.connection.wait([child, other.child], 60)
            assert ready == [child]
            assert isinstance(child.fileno(), int)
            assert child.recv().shape == (4, 84, 84)
            child.close()

    @needs_proc
    def test_a_closed_worker_is_gone(self):
        """Closing again is no error, nor after it was told to close."""
        worker = Worker(0)
        ask(worker, "reset")
        pid = worker.process.pid
        worker.close()
        worker.close()
        assert left_after(4, [pid]) == []
        worker.child.send(("step", NOOP))
        with pytest.raises(EOFError):
            worker.child.recv()
        with Worker(0) as worker:
            worker.child.send(("close", None))
            worker.process.join(10)
            assert worker.process.exitcode == 0

    @pytest.mark.parametrize(
        "state", ["new", "busy", "stopped", "dead", "hung"]
    )
    @needs_fork
    @needs_signals
    @needs_proc
    def test_close_in_every_state(self, haunt, state):
        """Never longer than a few seconds, and the process is gone."""
        trap = haunt(sleep)
        worker = Worker(0, context="fork")
        pid = worker.process.pid
        if state != "new":
            ask(worker, "reset")
        if state in ("busy", "hung"):
            trap.value = pid if state == "hung" else 0
            worker.child.send(("step", NOOP))
        if state in ("stopped", "dead"):
            os.kill(
                pid, signal.SIGSTOP if state == "stopped" else signal.SIGKILL
            )
        start = time.monotonic()
        worker.close()
        worker.close()
        assert time.monotonic() - start < 8
        assert left_after(4, [pid]) == []

    @needs_proc
    def test_a_dropped_worker_is_gone(self):
        """Whoever forgets to close it leaves nothing behind."""
        worker = Worker(0)
        ask(worker, "reset")
        pid = worker.process.pid
        del worker
        gc.collect()
        assert left_after(4, [pid]) == []

    @each_start_method
    @needs_signals
    def test_a_worker_is_deaf_to_ctrl_c(self, context):
        """The signal goes to all processes, and the parent decides."""
        with Worker(0, context=context) as worker:
            ask(worker, "reset")
            os.kill(worker.process.pid, signal.SIGINT)
            assert ask(worker, "step", NOOP)[2] is False
            assert worker.process.daemon

    @pytest.mark.parametrize("error", [ConnectionResetError, BlockingIOError])
    @each_start_method
    def test_a_start_that_breaks(self, monkeypatch, context, error):
        """As in Python 3.14, or where no more processes can be had."""
        context = multiprocessing.get_context(context)

        def start(_):
            raise error("no server, or no room")

        monkeypatch.setattr(context.Process, "start", start)
        with Worker(0, context=context) as worker:
            worker.child.send(("reset", None))
            with pytest.raises(EOFError, match="no room") as alone:
                worker.child.recv()
        with pytest.raises(RuntimeError, match="no room") as many:
            Games(2, processes=1, context=context)
        lacks_guard = error is ConnectionResetError
        lacks_guard &= context.get_start_method() != "fork"
        for raised in (alone, many):
            named = '__name__ == "__main__"' in str(raised.value)
            assert named == lacks_guard

    @needs_fork
    @pytest.mark.parametrize(
        "kind, expected", [(Unsendable, RuntimeError), (Unreadable, TypeError)]
    )
    def test_an_error_that_cannot_cross_the_pipe(self, haunt, kind, expected):
        """Another comes in its place, and the worker plays on."""

        def fail():
            raise kind("odd", "error")

        trap = haunt(fail)
        with Worker(0, context="fork") as worker:
            ask(worker, "reset")
            trap.value = worker.process.pid
            with pytest.raises(expected) as error:
                ask(worker, "step", NOOP)
            if kind is Unsendable:
                assert "can't be sent" in str(error.value)
            assert ask(worker, "reset").shape == (4, 84, 84)

    @pytest.mark.parametrize("copied", COPIES)
    def test_a_worker_cannot_be_copied(self, copied):
        """Two owners would close each other's pipes."""
        actions = ACTIONS[:30]
        with Worker(0) as worker:
            before = trajectory_of_worker(worker, actions)
            with pytest.raises(TypeError, match="Worker can't be copied"):
                copied(worker)
            gc.collect()
            assert same(before, trajectory_of_worker(worker, actions))

    @needs_batch_jobs
    @each_start_method
    def test_a_worker_is_a_batch_job(self, context):
        """Whoever waits for it goes first; this process stays as it is."""
        before = os.sched_getscheduler(0)
        with Worker(0, context=context) as worker:
            ask(worker, "reset")
            assert os.sched_getscheduler(worker.process.pid) == os.SCHED_BATCH
            assert os.sched_getscheduler(0) == before != os.SCHED_BATCH

    @needs_fork
    @needs_batch_jobs
    @pytest.mark.parametrize("why", ["refused", "missing"])
    def test_a_worker_that_may_not_be_a_batch_job(self, monkeypatch, why):
        """It plays all the same."""

        def refuse(*_):
            raise PermissionError

        monkeypatch.setattr(os, "sched_setscheduler", refuse)
        if why == "missing":
            monkeypatch.delattr(os, "sched_setscheduler")
            monkeypatch.delattr(os, "SCHED_BATCH")
        one = Game(0)
        with Worker(0, context="fork") as worker:
            theirs = trajectory_of_worker(worker, ACTIONS[:30])
            assert same(trajectory(one, ACTIONS[:30]), theirs)
            ordinary = os.sched_getscheduler(0)
            assert os.sched_getscheduler(worker.process.pid) == ordinary

    @each_start_method
    @needs_proc
    def test_siblings_do_not_keep_each_others_pipes(self, context):
        """Else none of them would notice that the parent has let go."""
        before = sockets()
        workers = [Worker(seed, context=context) for seed in range(2)]
        ours = {
            os.readlink(f"/proc/self/fd/{w.child.fileno()}") for w in workers
        }
        assert len(ours) == 2 and not ours & before
        for worker in workers:
            ask(worker, "reset")
            assert not ours & sockets(worker.process.pid)
        for worker in workers:
            worker.close()


# ---------------------------------------------------------------------------
# Programs that end, one way or another
# ---------------------------------------------------------------------------


def environment(*folders):
    """Return this process's, with more folders to import from."""
    paths = [str(folder) for folder in folders]
    if os.environ.get("PYTHONPATH"):
        paths.append(os.environ["PYTHONPATH"])
    return dict(os.environ, PYTHONPATH=os.pathsep.join(paths))


def session_of(process):
    """Return what still runs of all that a program has started."""
    pids = []
    for path in pathlib.Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            state, _, _, session, *_ = (
                path.read_text().rpartition(")")[2].split()
            )
            if session == str(process.pid) and state not in "ZX":
                pids.append(int(path.parent.name))
    return pids


@pytest.fixture
def program(tmp_path):
    """Return a function that starts a program beside `game.py`."""
    started = []
    # A shell lets what it runs in the background ignore Ctrl-C, and programs
    # that are started from there would inherit that.
    signal.signal(signal.SIGINT, signal.default_int_handler)

    def start(source, *args, name=None, **kwargs):
        path = tmp_path / (name or f"program{len(started)}.py")
        path.write_text(source)
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
        process.wait()
        for stream in (process.stdout, process.stderr):
            if stream is not None:
                stream.close()


def numbers_from(process):
    """Return the numbers in the first line that a program writes."""
    line = process.stdout.readline()
    assert line, process.communicate()[1]
    return [int(number) for number in line.split()]


# In this program a step takes forever.
HANGING = """
import multiprocessing, sys, time
import game

gym_make = game.gym.make

class Hanging:
    def __init__(self, ale):
        self.ale = ale
    def __getattr__(self, name):
        return getattr(self.ale, name)
    def act(self, *args):
        time.sleep(1000)

def make(*args, **kwargs):
    env = gym_make(*args, **kwargs)
    env.unwrapped.ale = Hanging(env.unwrapped.ale)
    return env

game.gym.make = make

def main(context):
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

if __name__ == "__main__":
    main(sys.argv[1])
"""

ENDING = """
import multiprocessing, sys
import game

if __name__ == "__main__":
    worker = game.Worker(1)
    worker.child.send(("reset", None))
    worker.child.recv()
    many = game.Games(2, processes=2)
    many.reset()
    many.step_async([0, 0])
    print(*[p.pid for p in multiprocessing.active_children()], flush=True)
    if sys.argv[1] == "error":
        raise LookupError("an error of the program's own")
    if sys.argv[1] == "exit":
        sys.exit(3)
"""

TRAINING = """
import multiprocessing
import game

if __name__ == "__main__":
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
"""


# This one starts a process of its own after ours.
UNBLOCKED = """
import multiprocessing, subprocess, sys, time
import game

def wait(pipe):
    pipe.send("ready")
    time.sleep(1000)

if __name__ == "__main__":
    context = multiprocessing.get_context(sys.argv[1])
    with game.Worker(0, context=context) as worker:
        many = game.Games(2, processes=1, context=context)
        worker.child.send(("reset", None))
        worker.child.recv()
        ours, theirs = context.Pipe()
        other = context.Process(target=wait, args=[theirs], daemon=True)
        other.start()
        ours.recv()
        sleep = "import time; time.sleep(1000)"
        third = subprocess.Popen([sys.executable, "-c", sleep])
        print(other.pid, third.pid, flush=True)
        time.sleep(1000)
"""

# What the processes of this one do depends on the arguments: end when they
# import the program, or in a step.
ENDING_BY_ITSELF = """
import os, sys
import game

context, when, code = sys.argv[1], sys.argv[2], int(sys.argv[3])

def end(*_):
    os._exit(code)

if __name__ == "__mp_main__":
    if when == "import":
        end()
    game.Game.step = end

if __name__ == "__main__":
    try:
        with game.Worker(0, context=context) as worker:
            worker.child.send(("reset", None))
            worker.child.recv()
            worker.child.send(("step", 0))
            worker.child.recv()
    except EOFError as error:
        print(error)
    if when == "import":
        try:
            game.Games(2, processes=1, context=context)
        except RuntimeError as error:
            print(error)
"""

# A program that reaches Python by the standard input.
ENDING_IN_A_LINE = """
import game
try:
    with game.Games(2, processes=1, context=CONTEXT) as many:
        print(many.reset()[0].shape)
except RuntimeError as error:
    print(error)
"""

# A notebook: a program without a file, into which the module was pasted.
PASTED = """
import hashlib, pathlib, sys
source, context, processes = sys.argv[1:]
sys.argv[1:] = ["-f", "kernel.json"]
exec(compile(pathlib.Path(source).read_text(), "pasted", "exec"))
try:
    with Games(2, processes=int(processes), context=context) as many:
        digest = hashlib.sha1(many.reset()[0])
        for _ in range(30):
            digest.update(many.step([1, 2])[0])
        print(digest.hexdigest())
except RuntimeError as error:
    print(error)
"""


class TestPrograms:
    """Programs that end, one way or another."""

    @needs_signals
    @needs_proc
    def test_workers_leave_with_a_parent_that_is_killed(self, program):
        """By `SIGKILL`, idle or in the middle of a step, however started.

        One that is stopped leaves when it is continued.
        """
        programs = [program(HANGING, context) for context in START_METHODS]
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

    @pytest.mark.parametrize(
        "how, code", [("error", 1), ("exit", 3), ("end", 0)]
    )
    @needs_proc
    def test_programs_end_without_closing(self, program, how, code):
        """By an error or by their end: nothing is left, nothing is added."""
        process = program(ENDING, how)
        stdout, stderr = process.communicate(timeout=PATIENCE)
        assert process.returncode == code
        assert left_after(4, [int(pid) for pid in stdout.split()]) == []
        assert stderr.count("Traceback") == (how == "error")

    @needs_signals
    @needs_proc
    @each_start_method
    def test_no_signal_is_blocked(self, program, context):
        """Neither in the workers nor in what is started after them."""
        process = program(UNBLOCKED, context)
        started = numbers_from(process)

        def blocked():
            pids = session_of(process)
            assert {process.pid, *started} < set(pids)
            status = [pathlib.Path(f"/proc/{pid}/status") for pid in pids]
            masks = re.findall(
                r"SigBlk:\s*(\w+)",
                "".join(map(pathlib.Path.read_text, status)),
            )
            assert len(masks) == len(pids) >= 5
            return [mask for mask in masks if int(mask, 16)]

        # Python itself blocks signals for a moment when it starts processes.
        deadline = time.monotonic() + 20
        while blocked() and time.monotonic() < deadline:
            time.sleep(0.1)
        assert blocked() == []

    @pytest.mark.skipif("spawn" not in START_METHODS, reason="needs spawn")
    @pytest.mark.parametrize(
        "when, code, guard",
        [("import", 1, True), ("import", 5, False), ("step", 1, False)],
    )
    def test_when_the_guard_is_blamed(self, program, when, code, guard):
        """With exit code 1 before the first answer, and not otherwise."""
        process = program(ENDING_BY_ITSELF, "spawn", when, str(code))
        stdout, stderr = process.communicate(timeout=PATIENCE)
        assert process.returncode == 0, stderr
        lines = stdout.splitlines()
        assert len(lines) == (2 if when == "import" else 1)
        for line in lines:
            assert f"exit code {code}" in line
            assert ('__name__ == "__main__"' in line) == guard

    @pytest.mark.parametrize(
        "context, processes", [("spawn", 0), *((m, 1) for m in START_METHODS)]
    )
    def test_a_pasted_module(self, program, context, processes):
        """It plays, or says in one line why it can't."""
        with Games(2, processes=0) as many:
            digest = hashlib.sha1(many.reset()[0])
            for _ in range(30):
                digest.update(many.step([1, 2])[0])
        result = subprocess.run(
            [sys.executable, "-c", PASTED, MODULE, context, str(processes)],
            env=environment(MODULE.parent),
            capture_output=True,
            text=True,
            timeout=PATIENCE,
        )
        assert result.returncode == 0
        assert without_banner(result.stderr) == []
        *_, line = result.stdout.splitlines()
        if processes == 0 or context == "fork":
            assert line == digest.hexdigest()
        else:
            assert "processes=0" in line and "game.py" in line

    @needs_proc
    @each_start_method
    def test_a_program_from_the_standard_input(self, tmp_path, context):
        """It can't be imported: one line says what to do."""
        text = ENDING_IN_A_LINE.replace("CONTEXT", repr(context))
        result = subprocess.run(
            [sys.executable, "-"],
            input=text,
            cwd=tmp_path,
            env=environment(MODULE.parent),
            capture_output=True,
            text=True,
            timeout=PATIENCE,
        )
        assert result.returncode == 0, result.stderr
        assert without_banner(result.stderr) == []
        (line,) = result.stdout.splitlines()
        if context == "fork":
            assert line == "(2, 4, 84, 84)"
        else:
            assert "processes=0" in line and "file" in line

    @needs_signals
    @needs_proc
    def test_ctrl_c_in_a_training_loop(self, program):
        """The signal goes to all: one traceback, the program's own."""
        process = program(TRAINING)
        pids = numbers_from(process)
        assert len(pids) == 3
        time.sleep(0.5)
        os.killpg(process.pid, signal.SIGINT)
        _, stderr = process.communicate(timeout=PATIENCE)
        assert process.returncode in (1, -signal.SIGINT)
        assert left_after(4, pids) == []
        assert stderr.count("Traceback") == 1
        assert "worker_process" not in stderr

    def test_the_module_alone_is_complete(self, program, tmp_path):
        """Copied into an empty folder, where labml isn't installed."""
        (tmp_path / "game.py").write_text(MODULE.read_text())
        text = (
            "import sys\n"
            "sys.modules['labml'] = None\n"
            "import game\n"
            "assert game.Game(0).reset().shape == (4, 84, 84)\n"
            "many = game.Games(2, processes=0)\n"
            "assert many.reset()[0].shape == (2, 4, 84, 84)\n"
            "print(game.__file__)\n"
        )
        process = program(text, env=environment())
        stdout, stderr = process.communicate(timeout=PATIENCE)
        assert stdout.strip() == str(tmp_path / "game.py"), stderr


# ---------------------------------------------------------------------------
# Many games
#
# What `Games` have to return is put together here from one `Game` each: the
# games go on bit for bit, whatever happens to others.
# ---------------------------------------------------------------------------


class Twin:
    """What `Games` with the same arguments should return.

    To load a game takes a tenth of a second. So games are used again.
    """

    loaded = {}

    def __init__(self, seeds, env_id=BREAKOUT, next_step=False, **options):
        self.seeds, self.next_step = list(seeds), next_step
        key = repr((self.seeds, env_id, options))
        if key not in self.loaded:
            games = [Game(0, env_id, **options) for _ in self.seeds]
            self.loaded[key] = games
        self.games, self.obs = self.loaded[key], None

    def reset(self, seeds=None):
        if seeds is not None:
            self.seeds = list(seeds)
        elif self.obs is None:
            seeds = self.seeds
        seeds = seeds or [None] * len(self.games)
        obs = [
            one.reset(seed)
            for one, seed in zip(self.games, seeds, strict=True)
        ]
        self.obs, self.waiting = np.array(obs), [None] * len(obs)
        return self.obs

    def step(self, actions, restarted=()):
        """Step; the games in `restarted` start over instead."""
        n = len(self.games)
        rewards, ends = np.zeros(n), np.zeros((2, n), bool)
        obs, finals, infos = self.obs.copy(), [None] * n, [None] * n
        for i, one in enumerate(self.games):
            if i in restarted:
                finals[i], obs[i] = self.obs[i], one.reset(self.seeds[i])
                ends[1, i], done = True, True
            elif self.waiting[i] is not None:
                obs[i], self.waiting[i], done = self.waiting[i], None, False
            else:
                obs[i], rewards[i], done, infos[i] = one.step(actions[i])
                cut = bool(infos[i]) and infos[i]["truncated"]
                ends[:, i] = done and not cut, cut
                finals[i] = one.final_obs if done else None
            if done and self.next_step:
                self.waiting[i], obs[i] = obs[i].copy(), finals[i]
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
        assert infos["final_obs"].shape == (len(mask),)
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


def follow_games(many, twin, steps=1, seed=0):
    """Step both with the same actions, and compare; return the last infos."""
    random = np.random.default_rng(seed)
    for _ in range(steps):
        actions = random.integers(4, size=many.num_envs)
        result = many.step(actions)
        restarted = result[4].get("restarted", [])
        expected = twin.step(actions, np.flatnonzero(restarted))
        assert_same_step(result, expected)
    return result[4]


def begin(many, twin, seed=None, seeds=None):
    """Reset both, and compare."""
    obs, infos = many.reset(seed=seed)
    np.testing.assert_array_equal(obs, twin.reset(seeds))
    assert obs.dtype == np.uint8 and infos == {}


SHORT = atari(BREAKOUT, max_num_frames_per_episode=150)


@functools.cache
def steps_of_five_games():
    """Return the first observations of five games, and then their steps."""
    twin = Twin(range(20, 25), SHORT, **EVERYTHING)
    first, random = twin.reset(), np.random.default_rng(0)
    batches = random.integers(4, size=(80, 5))
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
    *([0, 4, 0], [0, 0, -1], [0, 2**70, 0], np.array([0, 1, 255], np.uint8)),
    *([0.5, 1, 2], [0, math.nan, 1], [0, math.inf, 1], [0, None, 1]),
    *([0.0, 1.0, 2.0], np.zeros(3), np.zeros(3, np.float32), [1j, 0, 0]),
    *([True] * 3, np.zeros(3, bool), Tensor([0.0, 1.0, 2.0]), Tensor([0, 1])),
    *([[0, 1, 2]], [[0], [1], [2]], np.zeros((3, 1), int), [[0, 1], 2, 3]),
    *(np.array(2), Tensor(2), Tensor([0, 1, 4]), [0, [1], 2], object()),
]


class TestGames:
    """Many games: the same whatever plays them."""

    @pytest.mark.parametrize(
        "processes, context",
        [(0, None), *itertools.product([1, 2, 5], START_METHODS)],
    )
    def test_the_same_games_whatever_plays_them(self, processes, context):
        """Bit for bit those of `Game`, with every option on."""
        first, expected = steps_of_five_games()
        with Games(
            5,
            SHORT,
            seed=20,
            processes=processes,
            context=context,
            **EVERYTHING,
        ) as many:
            np.testing.assert_array_equal(many.reset()[0], first)
            for actions, step in expected:
                assert_same_step(many.step(actions), step)
            assert len(workers_now()) == processes

    @both_modes
    @pytest.mark.parametrize("on_life_loss", MODES)
    def test_both_autoreset_modes(self, mode, on_life_loss):
        """With ends of lives and of games, some of them cut short."""
        spec = atari(BREAKOUT, max_num_frames_per_episode=250)
        options = dict(env_id=spec, on_life_loss=on_life_loss)
        twin = Twin(range(2), next_step=mode is NEXT_STEP, **options)
        with Games(2, processes=2, autoreset_mode=mode, **options) as many:
            begin(many, twin)
            follow_games(many, twin, 150)

    @both_modes
    @pytest.mark.parametrize("on_life_loss", ["restart", "ignore"])
    @needs_fork
    def test_gymnasiums_own_vector_env_returns_the_same(
        self, mode, on_life_loss
    ):
        """`AsyncVectorEnv` of its wrappers: everything, but for more infos."""
        spec = atari(BREAKOUT, max_num_frames_per_episode=300)

        def make():
            return reference(gym.make(spec), on_life_loss, noop_max=30)

        theirs = AsyncVectorEnv(
            [make] * 2, context="fork", autoreset_mode=mode
        )
        options = dict(on_life_loss=on_life_loss, noop_max=30, processes=2)
        ours = Games(2, spec, autoreset_mode=mode, **options)
        with contextlib.closing(theirs), ours:
            assert ours.observation_space == theirs.observation_space
            assert ours.action_space == theirs.action_space
            one, other = (env.reset(seed=11) for env in (ours, theirs))
            np.testing.assert_array_equal(one[0], other[0])
            ends = 0
            for action in actions_for(200):
                actions = [action, (action + 1) % 4]
                *one, infos = ours.step(actions)
                *other, their_infos = theirs.step(np.array(actions))
                for array, other_array in zip(one, other, strict=True):
                    np.testing.assert_array_equal(array, other_array)
                    assert array.dtype == other_array.dtype
                assert ("final_obs" in infos) == ("final_obs" in their_infos)
                if "final_obs" in infos:
                    mask = their_infos["_final_obs"]
                    assert infos["_final_obs"].tolist() == mask.tolist()
                    for i in np.flatnonzero(mask):
                        last = their_infos["final_obs"][i]
                        np.testing.assert_array_equal(
                            infos["final_obs"][i], last
                        )
                ends += sum(one[2] | one[3])
            assert ends > 3

    def test_it_is_a_vector_env(self):
        """With all that wrappers and training programs look for."""
        with Games(3, processes=1) as many:
            assert isinstance(many, gym.vector.VectorEnv)
            assert many.num_envs == 3
            assert many.spec.id == BREAKOUT
            assert many.render_mode == "rgb_array"
            assert many.metadata["autoreset_mode"] is SAME_STEP
            box = gym.spaces.Box(0, 255, (4, 84, 84), np.uint8)
            assert many.single_observation_space == box
            assert many.single_action_space == gym.spaces.Discrete(4)
            assert many.observation_space.shape == (3, 4, 84, 84)
            assert many.action_space == gym.spaces.MultiDiscrete([4] * 3)
            assert many.reset(seed=1)[0] in many.observation_space
            assert many.step(many.action_space.sample())[0].shape[0] == 3
            assert many.unwrapped is many
        with Games(1, processes=0, autoreset_mode=NEXT_STEP) as many:
            assert many.metadata["autoreset_mode"] is NEXT_STEP

    @both_modes
    def test_names_of_autoreset_modes(self, mode):
        """Gymnasium's enum, its value, or its name."""
        for given in (mode, mode.value, mode.name):
            with Games(1, processes=0, autoreset_mode=given) as many:
                assert many.metadata["autoreset_mode"] is mode
        assert "autoreset_mode" not in Games.metadata

    @pytest.mark.parametrize("processes", [0, 2])
    @pytest.mark.parametrize("copied", COPIES)
    def test_games_cannot_be_copied(self, copied, processes):
        """It is refused, and the games go on as if nothing had happened."""
        twin = Twin(range(3))
        with Games(3, processes=processes) as many:
            begin(many, twin)
            before = workers_now()
            with pytest.raises(TypeError, match="Games can't be copied"):
                copied(many)
            gc.collect()
            assert "restarted" not in follow_games(many, twin, 40)
            assert workers_now() == before

    def test_how_many_processes(self):
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
            with Games(num_envs, processes=processes):
                assert len(workers_now()) == expected

    def test_seeds_of_many_games(self):
        """A number, a list, or none: then they go on with what they have."""
        twin = Twin([7, 8, 9], SEAQUEST, noop_max=30)
        with Games(3, SEAQUEST, seed=7, processes=2, noop_max=30) as many:
            begin(many, twin)
            begin(many, twin)
            begin(many, twin, np.int64(50), [50, 51, 52])
            begin(many, twin, [5, 1, np.int32(9)], [5, 1, 9])
            follow_games(many, twin, 3)
            begin(many, twin)

    def test_a_list_of_seeds_at_the_construction(self):
        """It may be given there as well as to `reset`."""
        with Games(2, SEAQUEST, seed=[4, 2], processes=2, noop_max=30) as many:
            begin(many, Twin([4, 2], SEAQUEST, noop_max=30))

    def test_bad_seeds_of_many_games(self):
        """They are refused before any game was reset."""
        twin = Twin([0, 1, 2], SEAQUEST, noop_max=30)
        with Games(3, SEAQUEST, processes=1, noop_max=30) as many:
            begin(many, twin)
            for seed in BAD_SEEDS_OF_MANY:
                with pytest.raises(REFUSED):
                    Games(3, seed=seed)
                with pytest.raises(REFUSED):
                    many.reset(seed=seed)
                follow_games(many, twin)

    @pytest.mark.parametrize("processes", [0, 2])
    def test_nothing_returned_changes_later(self, processes):
        """Observations, `final_obs`, infos, screens are the caller's own."""
        with Games(3, processes=processes) as many:
            kept = [many.reset(), many.render()]
            copies = copy.deepcopy(kept)
            for actions in np.random.default_rng(0).integers(4, size=(150, 3)):
                before = actions.copy()
                kept += [many.step(actions), many.render()]
                copies += copy.deepcopy(kept[-2:])
                assert np.array_equal(before, actions)
            assert sum("final_obs" in it[4] for it in kept if len(it) == 5) > 2
            assert pickle.dumps(kept) == pickle.dumps(copies)

    def test_what_is_returned_may_be_written_into(self):
        """Nobody else looks at it any more."""
        twin = Twin(range(3))
        with Games(3, processes=2) as many:
            obs, _ = many.reset()
            obs[:] = 0
            twin.reset()
            for action in actions_for(120):
                result = many.step([action] * 3)
                assert_same_step(result, twin.step([action] * 3))
                for array in [*result[:4], *many.render()]:
                    array[:] = 0
                for last in result[4].get("final_obs", []):
                    if last is not None:
                        last[:] = 0

    def test_bad_batches_are_refused_before_any_game_moves(self):
        """The error says what was expected; all games are as they were."""
        twin = Twin(range(3))
        with Games(3, processes=2) as many:
            begin(many, twin)
            follow_games(many, twin, 9)
            for batch in BAD_BATCHES:
                for step in (many.step, many.step_async):
                    with pytest.raises(REFUSED) as error:
                        step(batch)
                    assert "3" in str(error.value), batch
                with pytest.raises(gym.error.NoAsyncCallError):
                    many.step_wait()
                follow_games(many, twin)

    def test_all_kinds_of_batches(self):
        """Lists, tuples, arrays of whole numbers, what turns into one."""
        twin = Twin(range(3))
        with Games(3, processes=2) as many:
            begin(many, twin)
            kinds = [
                list,
                tuple,
                np.array,
                Tensor,
                np.uint8,
                np.int32,
                np.uint64,
            ]
            kinds.append(lambda batch: [np.int64(action) for action in batch])
            kinds.append(lambda batch: np.array([batch, batch]).T[:, 0])
            for kind in kinds:
                result = many.step(kind([1, 3, 2]))
                assert_same_step(result, twin.step([1, 3, 2]))

    @pytest.mark.parametrize("processes", [0, 2])
    def test_step_async_and_step_wait(self, processes):
        """Two calls that are one step; in a wrong order they are refused."""
        twin = Twin(range(3))
        with Games(3, processes=processes) as many:
            begin(many, twin)
            for _ in range(3):
                many.step_async([0, 1, 2])
                with pytest.raises(gym.error.AlreadyPendingCallError):
                    many.step_async([0, 1, 2])
                assert_same_step(many.step_wait(), twin.step([0, 1, 2]))
                with pytest.raises(gym.error.NoAsyncCallError):
                    many.step_wait()
            follow_games(many, twin, 3)

    def test_two_rows_of_games_in_turn(self):
        """One plays while the other's actions are chosen: both as if alone."""
        twins = Twin([0, 1]), Twin([5, 6])
        pair = [Games(2, seed=seed, processes=1) for seed in (0, 5)]
        with pair[0], pair[1]:
            for many, twin in zip(pair, twins, strict=True):
                begin(many, twin)
                many.step_async([1, 2])
            for _ in range(60):
                for many, twin in zip(pair, twins, strict=True):
                    assert_same_step(many.step_wait(), twin.step([1, 2]))
                    many.step_async([1, 2])

    @pytest.mark.parametrize("processes", [0, 1])
    def test_reset_before_step(self, processes):
        """Also after an error of that kind the games can be played."""
        with Games(2, processes=processes) as many:
            for step in (many.step, many.step_async):
                with pytest.raises(gym.error.ResetNeeded):
                    step([0, 0])
            twin = Twin(range(2))
            begin(many, twin)
            follow_games(many, twin)

    def test_options_of_a_reset(self):
        """There are none: what isn't known is refused, not passed over."""
        with Games(2, processes=0) as many:
            with pytest.raises(ValueError):
                many.reset(options={"reset_mask": np.array([True, False])})
            assert many.reset(options={})[0].shape == (2, 4, 84, 84)
            assert many.reset(options=None)[0].shape == (2, 4, 84, 84)

    @pytest.mark.parametrize("processes", [0, 2])
    def test_the_screens_of_all_games(self, processes):
        """A tuple of colour screens, those of the games as they are."""
        twin = Twin(range(3))
        with Games(3, processes=processes) as many:
            begin(many, twin)
            for _ in range(30):
                screens = many.render()
                assert isinstance(screens, tuple) and len(screens) == 3
                for screen, one in zip(screens, twin.games, strict=True):
                    assert screen.dtype == np.uint8
                    np.testing.assert_array_equal(screen, one.render())
                follow_games(many, twin)


# ---------------------------------------------------------------------------
# Gymnasium's own wrappers
# ---------------------------------------------------------------------------


class TestWrappers:
    """Gymnasium's own wrappers around them."""

    @both_modes
    @pytest.mark.parametrize("on_life_loss", ["restart", "ignore"])
    def test_gymnasiums_statistics_agree(self, mode, on_life_loss):
        """`RecordEpisodeStatistics` counts what `final_info` says."""
        spec = atari(BREAKOUT, max_num_frames_per_episode=300)
        many = Games(
            2,
            spec,
            processes=1,
            on_life_loss=on_life_loss,
            autoreset_mode=mode,
        )
        ends = 0
        with contextlib.closing(
            gym.wrappers.vector.RecordEpisodeStatistics(many)
        ) as wrapped:
            wrapped.reset()
            for actions in np.random.default_rng(0).integers(4, size=(200, 2)):
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

    def test_gymnasiums_reward_wrappers(self):
        """They work in the default mode."""
        wrappers = gym.wrappers.vector
        many = Games(2, "PongNoFrameskip-v4", processes=1)
        doubled = wrappers.TransformReward(many, lambda rewards: rewards * 2)
        clipped = wrappers.ClipReward(doubled, -0.5, 0.5)
        normal = wrappers.NormalizeReward(Games(2, processes=0))
        twin = Twin(range(2), "PongNoFrameskip-v4")
        with contextlib.closing(clipped), contextlib.closing(normal):
            np.testing.assert_array_equal(clipped.reset()[0], twin.reset())
            points = 0
            for action in actions_for(150, 6):
                rewards = clipped.step([action] * 2)[1]
                expected = twin.step([action] * 2)[1]
                points += abs(expected).sum()
                np.testing.assert_array_equal(rewards, np.sign(expected) / 2)
            assert points > 0
            normal.reset()
            assert normal.step([FIRE] * 2)[1].shape == (2,)

    def test_gymnasiums_observation_wrappers(self):
        """They all demand the mode in which the end is a step of its own."""
        many = Games(2, processes=1, autoreset_mode=NEXT_STEP)
        floats = gym.wrappers.vector.DtypeObservation(many, np.float32)
        wrapped = gym.wrappers.vector.RescaleObservation(
            floats, np.float32(0), np.float32(1)
        )
        wrapped = gym.wrappers.vector.FlattenObservation(wrapped)
        twin = Twin(range(2), next_step=True)
        with contextlib.closing(wrapped):
            twin.reset()
            assert wrapped.reset()[0].shape == (2, 4 * 84 * 84)
            for action in actions_for(90):
                obs = wrapped.step([action] * 2)[0]
                expected = twin.step([action] * 2)[0].reshape(2, -1) / 255
                np.testing.assert_allclose(obs, expected, atol=1e-6)
        with contextlib.closing(
            gym.wrappers.vector.NormalizeObservation(
                Games(2, processes=0, autoreset_mode=NEXT_STEP)
            )
        ) as wrapped:
            assert wrapped.reset()[0].shape == (2, 4, 84, 84)

    def test_gymnasiums_video_recorder(self, monkeypatch, tmp_path):
        """`RecordVideo` is fed: here with a codec that keeps the frames."""
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
        twin = Twin(range(2), next_step=True)
        many = Games(2, processes=1, autoreset_mode=NEXT_STEP)
        wrapped = gym.wrappers.vector.RecordVideo(
            many, str(tmp_path / "films"), video_length=20
        )
        with contextlib.closing(wrapped):
            wrapped.reset()
            twin.reset()
            expected = [np.hstack([one.render() for one in twin.games])]
            for action in actions_for(20):
                wrapped.step([action] * 2)
                twin.step([action] * 2)
                expected.append(
                    np.hstack([one.render() for one in twin.games])
                )
        assert len(films) == 1
        assert np.array_equal(films[0], expected)


# ---------------------------------------------------------------------------
# Wrong arguments
# ---------------------------------------------------------------------------


class TestArguments:
    """Wrong arguments."""

    @pytest.mark.parametrize(
        "kwargs",
        [
            *(dict(num_envs=n) for n in (0, -1, 1.5, "3", None, [2])),
            *(dict(processes=n) for n in (-1, 1.5, "3", [2])),
            *(dict(timeout=t) for t in (0, -1, -0.5, math.nan, "1", None)),
            *(dict(context=c) for c in ("telepathy", 3)),
            *(dict(autoreset_mode=m) for m in ("sometimes", None, 0)),
            *(dict(autoreset_mode=m) for m in ("DISABLED", "next_step")),
            dict(autoreset_mode=AutoresetMode.DISABLED),
            dict(autoreset_mode=AutoresetMode.DISABLED.value),
            dict(seed=None),
            dict(on_life_loss="never"),
            dict(noop_max=-1),
            dict(frames=4),
            dict(env_id="ALE/Backgammon-v5", noop_max=3),
        ],
        ids=repr,
    )
    def test_wrong_arguments(self, kwargs):
        """Each is an error at once, and no process has been left."""
        with pytest.raises(REFUSED):
            Games(**{"num_envs": 2, "processes": 2, **kwargs})
        assert not workers_now()

    @pytest.mark.parametrize("timeout", [1, np.float32(5), 10**9, math.inf])
    def test_timeouts(self, timeout):
        """Any number above 0, however large."""
        with Games(1, processes=1, timeout=timeout) as many:
            many.reset()
            assert many.step([NOOP])[0].shape == (1, 4, 84, 84)

    @pytest.mark.parametrize(
        "env_id", ["CartPole-v1", gym.spec("CartPole-v1"), 3, None]
    )
    def test_an_id_that_is_not_one_of_an_atari_title(self, env_id):
        with pytest.raises(ValueError, match="the id of an Atari title"):
            Game(0, env_id)
        with pytest.raises(ValueError, match="the id of an Atari title"):
            Games(2, env_id)

    @pytest.mark.parametrize("env_id", ["Breakot-v4", "CartPole-v7", ""])
    def test_many_games_of_an_unknown_id(self, env_id):
        """Gymnasium's own errors."""
        with pytest.raises(gym.error.Error):
            Games(2, env_id)


# ---------------------------------------------------------------------------
# Closing leaves nothing behind
# ---------------------------------------------------------------------------


def close_quickly(many):
    """Close twice, and check that it took no longer than a few seconds."""
    start = time.monotonic()
    many.close()
    many.close()
    assert time.monotonic() - start < 8
    assert not workers_now()
    for call in (
        many.reset,
        many.render,
        many.step_wait,
        lambda: many.step([0] * 2),
        lambda: many.step_async([0] * 2),
        lambda: many.step(None),
    ):
        with pytest.raises(gym.error.ClosedEnvironmentError):
            call()


class TestClosing:
    """Closing leaves nothing behind."""

    @pytest.mark.parametrize("processes", [0, 2])
    @pytest.mark.parametrize("state", ["new", "reset", "played", "playing"])
    def test_closing_many_games(self, state, processes):
        """In whatever state: nobody is left, and later calls are told."""
        many = Games(2, processes=processes)
        if state != "new":
            many.reset()
        if state == "played":
            many.step([0] * 2)
        if state == "playing":
            many.step_async([0] * 2)
        close_quickly(many)

    @pytest.mark.parametrize("state", ["dead", "stopped", "hung"])
    @needs_fork
    @needs_signals
    def test_closing_games_that_have_a_fault(self, haunt, state):
        """A killed, a stopped or a hanging worker doesn't hold it up."""
        trap = haunt(sleep)
        many = Games(2, processes=2, context="fork")
        many.reset()
        one = workers_now().pop()
        if state == "hung":
            trap.value = one
            many.step_async([0] * 2)
        else:
            kill = state == "dead"
            os.kill(one, signal.SIGKILL if kill else signal.SIGSTOP)
        close_quickly(many)

    @needs_proc
    def test_dropped_games_are_gone(self):
        """In the middle of a step, even."""
        many = Games(2, processes=2)
        many.reset()
        many.step_async([0] * 2)
        pids = workers_now()
        del many
        gc.collect()
        assert left_after(4, pids) == []

    def test_the_end_of_a_with_statement(self):
        """It closes the games, by an error too."""
        with pytest.raises(LookupError), Games(2, processes=1) as many:
            raise LookupError
        assert many.closed and not workers_now()

    @needs_proc
    def test_opening_and_closing_leaves_nothing(self):
        """No process, no thread, no file and no memory with a name."""

        def use():
            with Games(2, processes=2) as many, Worker(0) as worker:
                many.reset()
                many.step([0, 0])
                ask(worker, "reset")

        def held():
            gc.collect()
            folders = "/proc/self/fd", "/proc/self/task", "/dev/shm"
            return [len(os.listdir(folder)) for folder in folders]

        use()
        before = held()
        for _ in range(5):
            use()
        assert held() == before
        assert not workers_now()


# ---------------------------------------------------------------------------
# When a worker dies, hangs, fails or is interrupted
# ---------------------------------------------------------------------------


@contextlib.contextmanager
def four_games(
    env_id=BREAKOUT, processes=2, timeout=60.0, next_step=False, **options
):
    """Four games in two processes, and a twin to compare them with."""
    twin = Twin(range(10, 14), env_id, next_step=next_step, **options)
    with Games(
        4,
        env_id,
        seed=10,
        processes=processes,
        timeout=timeout,
        context="fork",
        autoreset_mode=NEXT_STEP if next_step else SAME_STEP,
        **options,
    ) as many:
        begin(many, twin)
        follow_games(many, twin, 20)
        yield many, twin


def assert_replaced(infos, games=2):
    """Check that so many games, and no others, were told to start over."""
    assert infos["restarted"].dtype == np.bool_
    assert infos["restarted"].shape == (4,)
    assert infos["restarted"].sum() == games


def strike(how):
    """Do that to one of the workers; return its process id."""
    pid = min(workers_now())
    os.kill(pid, getattr(signal, how))
    return pid


# Each game of this title is cut short by its tenth step.
TEN_STEPS = atari(BREAKOUT, max_num_frames_per_episode=40)


def start_and_end():
    """Return such a game's first observation, and its last one."""
    one = Game(0, TEN_STEPS, on_life_loss="ignore")
    first = one.reset()
    dones = [one.step(FIRE)[2] for _ in range(10)]
    assert dones == [False] * 9 + [True]
    return first, one.final_obs


@contextlib.contextmanager
def games_of_ten_steps(mode):
    """Four such games in two processes, after eight steps."""
    with Games(
        4,
        TEN_STEPS,
        seed=[0] * 4,
        processes=2,
        context="fork",
        autoreset_mode=mode,
        on_life_loss="ignore",
    ) as many:
        many.reset()
        for _ in range(8):
            many.step([FIRE] * 4)
        yield many


@pytest.fixture
def deadly(monkeypatch):
    """Return a function that lets the next workers die as they start."""

    def deadly(times, deed=lambda: os._exit(7)):
        left, gym_make = multiprocessing.RawValue("i", times), gym.make
        parent = os.getpid()

        def make(*args, **kwargs):
            if os.getpid() != parent and left.value > 0:
                left.value -= 1
                deed()
            return gym_make(*args, **kwargs)

        monkeypatch.setattr(game.gym, "make", make)
        return left

    return deadly


class SlowReset(gym.Wrapper):
    """An environment that takes its time for a reset."""

    def reset(self, **kwargs):
        time.sleep(0.3)
        return self.env.reset(**kwargs)


def interrupted(monkeypatch, owner, name, times):
    """Let the call of that number be ended by Ctrl-C."""
    real, calls = getattr(owner, name), itertools.count(1)

    def call(*args, **kwargs):
        if next(calls) == times:
            raise KeyboardInterrupt
        return real(*args, **kwargs)

    monkeypatch.setattr(owner, name, call)


BUSY = """
import sys, threading
import cv2, numpy as np
import game

busy = True

def work():
    while busy:
        cv2.GaussianBlur(np.zeros((500, 500, 3), np.uint8), (9, 9), 0)

if __name__ == "__main__":
    cv2.setNumThreads(4)
    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    with game.Games(4, processes=2, context=sys.argv[1]) as many:
        many.reset()
        for _ in range(30):
            assert "restarted" not in many.step([0, 1, 2, 3])[4]
    busy = False
"""

UNGUARDED = """
import sys
import game

if sys.argv[2] == "Games":
    game.Games(2, processes=1, context=sys.argv[1])
else:
    worker = game.Worker(0, context=sys.argv[1])
    worker.child.send(("reset", None))
    worker.child.recv()
"""


@pytest.fixture
def half_written(monkeypatch):
    """Return a trap: the worker whose id is in it dies while it writes.

    It does so in its next step, when the observation of the first of its games
    is in the shared memory and that of the second is not.
    """
    trap, looks = multiprocessing.RawValue("q", 0), []

    def look(one):
        # A game itself looks at its observation, too.
        inside = isinstance(sys._getframe(1).f_locals.get("self"), Game)
        if trap.value == os.getpid() and not inside:
            looks.append(one)
            if len(looks) == 2:
                trap.value = 0
                os.kill(os.getpid(), signal.SIGKILL)
        return vars(one)["observation"]

    def put(one, observation):
        vars(one)["observation"] = observation

    observation = property(look, put)
    monkeypatch.setattr(Game, "observation", observation, raising=False)
    return trap


@needs_fork
@needs_signals
@needs_proc
class TestFaults:
    """When a worker dies, hangs or is interrupted."""

    @pytest.mark.parametrize("how", ["SIGKILL", "SIGTERM", "SIGSTOP"])
    def test_a_worker_dies_between_two_steps(self, how):
        """Its games start over from their seeds, the others just go on."""
        with four_games(SEAQUEST, timeout=1, noop_max=30) as (many, twin):
            before = workers_now()
            pid = strike(how)
            assert_replaced(follow_games(many, twin))
            assert left_after(4, [pid]) == []
            assert len(workers_now()) == 2 and len(before & workers_now()) == 1
            assert "restarted" not in follow_games(many, twin, 60)

    @pytest.mark.parametrize("how", ["SIGKILL", "SIGSTOP"])
    def test_a_worker_dies_between_step_async_and_step_wait(self, how):
        """Before its answer, or right after it: all is told in one step."""
        with four_games(timeout=1) as (many, twin):
            many.step_async([0, 1, 2, 3])
            strike(how)
            result = many.step_wait()
            gone = np.flatnonzero(result[4].get("restarted", []))
            assert_same_step(result, twin.step([0, 1, 2, 3], gone))
            infos = follow_games(many, twin)
            assert_replaced(infos if len(gone) == 0 else result[4])
            assert "restarted" not in follow_games(many, twin, 30)

    @pytest.mark.parametrize(
        "deed",
        [die(), lambda: os._exit(1), sleep],
        ids=["SIGKILL", "exit", "hang"],
    )
    def test_a_worker_dies_in_the_middle_of_a_step(self, haunt, deed):
        """What it may have written by then is not what the caller gets."""
        trap = haunt(deed)
        with four_games(timeout=1) as (many, twin):
            trap.value = max(workers_now())
            assert_replaced(follow_games(many, twin))
            assert "restarted" not in follow_games(many, twin, 30)

    def test_a_late_worker_is_closed_before_another_starts(self, monkeypatch):
        """Whoever holds it: it never writes to its successor's memory."""
        held, still_there = [], []

        def make(*args, **kwargs):
            pids = [worker.process.pid for worker in held]
            still_there.append(list(filter(alive, pids)))
            held.append(Worker(*args, **kwargs))
            return held[-1]

        monkeypatch.setattr(game, "Worker", make)
        with four_games(timeout=1) as (many, twin):
            for starts in (3, 4):
                late = strike("SIGSTOP")
                many.step_async([0, 1, 2, 3])
                expected = {worker.process.pid for worker in held} - {late}
                result = many.step_wait()
                gone = np.flatnonzero(result[4]["restarted"])
                assert_same_step(result, twin.step([0, 1, 2, 3], gone))
                assert len(held) == starts
                assert late not in still_there[-1]
                assert set(still_there[-1]) <= expected
                # Nobody is there who could go on with it.
                with contextlib.suppress(ProcessLookupError):
                    os.kill(late, signal.SIGCONT)
                assert "restarted" not in follow_games(many, twin, 30)
            held.clear()

    @both_modes
    def test_a_worker_dies_while_it_writes(self, half_written, mode):
        """`final_obs` is whole: what the caller saw last, each time."""
        with four_games(next_step=mode is NEXT_STEP) as (many, twin):
            for choose in (min, max, max, min):
                half_written.value = choose(workers_now())
                assert_replaced(follow_games(many, twin))
                assert half_written.value == 0
            assert "restarted" not in follow_games(many, twin, 30)

    @both_modes
    def test_it_dies_so_and_ctrl_c_comes(
        self, monkeypatch, half_written, mode
    ):
        """Who dies half-written while the waiting is interrupted, too."""
        with four_games(next_step=mode is NEXT_STEP) as (many, twin):
            last = twin.obs
            first, second = sorted(workers_now())
            half_written.value = second
            interrupted(monkeypatch, Worker, "receive", 1)
            with pytest.raises(KeyboardInterrupt):
                many.step([0] * 4)
            assert left_after(10, [second]) == []
            assert half_written.value == 0
            half_written.value = first  # it is replaced before it could
            np.testing.assert_array_equal(twin.obs, last)
            assert_replaced(follow_games(many, twin), games=4)
            assert half_written.value == first
            half_written.value = 0
            assert "restarted" not in follow_games(many, twin, 30)

    @both_modes
    def test_it_dies_so_after_an_error(self, half_written, haunt, mode):
        """What was played in the step that failed, nobody has seen."""
        trap = haunt(crash)
        with four_games(next_step=mode is NEXT_STEP) as (many, twin):
            last = twin.obs
            trap.value, other = sorted(workers_now())
            with pytest.raises(ZeroDivisionError):
                many.step([0] * 4)
            half_written.value = other
            obs, _, _, truncated, infos = many.step([0] * 4)
            assert_replaced(infos)
            assert truncated.tolist() == infos["restarted"].tolist()
            final = obs if mode is NEXT_STEP else infos["final_obs"]
            for i in np.flatnonzero(infos["restarted"]):
                np.testing.assert_array_equal(final[i], last[i])

    @both_modes
    def test_a_worker_dies_at_any_moment(self, mode):
        """Also while it writes: `final_obs` is what the caller saw last."""
        delays = np.random.default_rng(0).uniform(0, 3e-3, 5)
        with four_games(next_step=mode is NEXT_STEP) as (many, twin):
            for delay in delays:
                many.step_async([1, 2, 3, 0])
                time.sleep(delay)
                strike("SIGKILL")
                result = many.step_wait()
                gone = np.flatnonzero(result[4].get("restarted", []))
                assert_same_step(result, twin.step([1, 2, 3, 0], gone))
                infos = follow_games(many, twin)
                assert_replaced(infos if len(gone) == 0 else result[4])

    def test_all_workers_die_at_once(self):
        """Then all games start over, and it is no more trouble than one."""
        with four_games() as (many, twin):
            for pid in workers_now():
                os.kill(pid, signal.SIGKILL)
            assert_replaced(follow_games(many, twin), games=4)
            assert "restarted" not in follow_games(many, twin, 30)

    def test_all_hung_workers_share_one_timeout(self):
        """Four that don't answer cost two seconds, and not eight."""
        with four_games(processes=4, timeout=2) as (many, twin):
            for pid in workers_now():
                os.kill(pid, signal.SIGSTOP)
            start = time.monotonic()
            assert_replaced(follow_games(many, twin), games=4)
            assert 2 <= time.monotonic() - start < 7
            assert "restarted" not in follow_games(many, twin, 3)

    def test_replaced_games_start_from_the_last_seeds(self):
        """Those of the construction or of the last reset that had some."""
        with four_games(SEAQUEST, noop_max=30) as (many, twin):
            begin(many, twin, [5, 1, 9, 70], [5, 1, 9, 70])
            begin(many, twin)
            follow_games(many, twin, 9)
            for pid in workers_now():
                os.kill(pid, signal.SIGKILL)
            assert_replaced(follow_games(many, twin), games=4)
            assert "restarted" not in follow_games(many, twin, 9)

    def test_a_worker_is_replaced_in_next_step_mode(self):
        """Its last observation comes with the end, its first a step later."""
        with four_games(next_step=True) as (many, twin):
            for _ in range(2):
                strike("SIGKILL")
                assert_replaced(follow_games(many, twin))
            assert "restarted" not in follow_games(many, twin, 60)

    def test_a_worker_dies_while_its_games_rest(self):
        """In this mode, just before the first observation is shown."""
        with four_games(next_step=True) as (many, twin):
            while not any(one is not None for one in twin.waiting):
                follow_games(many, twin)
            for pid in workers_now():
                os.kill(pid, signal.SIGKILL)
            assert_replaced(follow_games(many, twin), games=4)
            assert "restarted" not in follow_games(many, twin, 30)

    def test_a_worker_dies_before_or_in_a_reset(self, haunt):
        """It is replaced, the result is as ever, and nothing is said."""
        trap = haunt(die())
        with four_games(fire_on_reset=True) as (many, twin):
            strike("SIGKILL")
            begin(many, twin)
            follow_games(many, twin, 9)
            trap.value = max(workers_now())  # FIRE is pressed in the reset
            begin(many, twin, 3, [3, 4, 5, 6])
            assert trap.value == 0
            assert "restarted" not in follow_games(many, twin, 30)

    def test_the_screens_of_a_dead_worker_are_black(self):
        """`render` replaces nobody; the next step does, and tells."""
        with four_games() as (many, twin):
            pid = strike("SIGKILL")
            for _ in range(2):
                screens = many.render()
                black = [not screen.any() for screen in screens]
                assert sum(black) == 2
                for screen, one, dark in zip(
                    screens, twin.games, black, strict=True
                ):
                    assert dark or np.array_equal(screen, one.render())
                assert len(workers_now() - {pid}) == 1
            infos = follow_games(many, twin)
            assert infos["restarted"].tolist() == black
            for screen, one in zip(many.render(), twin.games, strict=True):
                assert np.array_equal(screen, one.render())

    def test_an_error_in_a_worker(self, haunt):
        """It is raised here, as it was there; the next call works."""
        trap = haunt(crash)
        with four_games() as (many, twin):
            before = workers_now()
            trap.value = min(before)
            with pytest.raises(ZeroDivisionError, match="a bug") as error:
                many.step([0] * 4)
            assert "in crash" in text_of(error.value)
            obs, *_ = many.step([0] * 4)
            assert obs.shape == (4, 4, 84, 84)
            begin(many, twin, 0, range(4))
            assert "restarted" not in follow_games(many, twin, 30)
            assert workers_now() == before

    @both_modes
    @pytest.mark.parametrize("number", [0, 1])
    def test_an_error_is_not_the_end_of_others(self, haunt, mode, number):
        """What they answered in that step is reported by the next one.

        Also if it is the second game of its row that raises an error.
        """
        frames = []

        def crash_later():
            frames.append("played")
            if len(frames) > 4 * number:
                crash()
            trap.value = os.getpid()

        trap = haunt(crash_later)
        first, end = start_and_end()
        with games_of_ten_steps(mode) as many:
            many.step([FIRE] * 4)
            trap.value = max(workers_now())
            with pytest.raises(ZeroDivisionError):
                many.step([FIRE] * 4)
            assert trap.value == 0
            # The games of the other row have come to their ends in the step
            # that failed, and the game that raised the error does so now.
            obs, _, terminated, truncated, infos = many.step([FIRE] * 4)
            assert truncated.all() and not terminated.any()
            assert infos["_final_info"].all() and "restarted" not in infos
            assert infos["final_info"]["length"].tolist() == [10] * 4
            final = obs if mode is NEXT_STEP else infos["final_obs"]
            for last in final:
                np.testing.assert_array_equal(last, end)
            obs, *_, truncated, infos = many.step([NOOP] * 4)
            assert infos == {} and not truncated.any()
            if mode is NEXT_STEP:
                np.testing.assert_array_equal(obs[3], first)

    def test_an_error_while_workers_start(self, deadly):
        """It is raised by the construction, which leaves no process behind."""

        def no_room():
            raise MemoryError("no room for another game")

        deadly(100, no_room)
        with pytest.raises(MemoryError, match="no room") as error:
            Games(4, processes=2, context="fork").reset()
        assert "in no_room" in text_of(error.value)
        assert not workers_now()

    def test_an_error_in_this_process(self, haunt):
        """Without processes it comes straight, and nothing is replaced."""
        trap = haunt(crash)
        with Games(2, processes=0) as many:
            many.reset()
            trap.value = os.getpid()
            with pytest.raises(ZeroDivisionError):
                many.step([0, 0])
            begin(many, Twin(range(2)), 0, range(2))

    def test_workers_that_die_as_they_start(self, deadly):
        """Two in a row are replaced, and nothing is said."""
        deadly(2)
        with Games(2, processes=1, context="fork") as many:
            twin = Twin(range(2))
            begin(many, twin)
            assert "restarted" not in follow_games(many, twin)

    def test_no_endless_loop(self, deadly):
        """After three in a row it is an error with the exit code."""
        left = deadly(100, lambda: os._exit(42))
        with pytest.raises(RuntimeError, match="42"):
            Games(2, processes=1, context="fork").reset()
        assert left.value == 97
        assert not workers_now()

    @pytest.mark.parametrize(
        "deed, cause",
        [
            (lambda: os._exit(1), "exit code 1"),
            (die(signal.SIGTERM), "SIGTERM"),
            (sleep, "didn't answer, within 1 s"),
        ],
        ids=["exit", "signal", "hang"],
    )
    def test_why_no_worker_starts(self, monkeypatch, deadly, deed, cause):
        """The error says how the last one ended, or which limit it passed."""
        monkeypatch.setattr(game, "START_TIMEOUT", 1.0)
        left = deadly(100, deed)
        with pytest.raises(RuntimeError) as error:
            Games(2, processes=1, context="fork", timeout=0.5)
        text = str(error.value)
        assert cause in text
        assert "SIGKILL" not in text and "-9" not in text
        assert "__name__" not in text
        assert left.value == 97
        assert not workers_now()

    def test_no_endless_loop_in_a_step_either(self, deadly):
        """Then the games are closed."""
        with four_games() as (many, _):
            deadly(100, lambda: os._exit(42))
            strike("SIGKILL")
            with pytest.raises(RuntimeError, match="42"):
                many.step([0] * 4)
            assert not workers_now()
            with pytest.raises(gym.error.ClosedEnvironmentError):
                many.step([0] * 4)

    def test_a_short_timeout_is_for_steps_alone(self, monkeypatch):
        """Starts and resets get their time; a slow one replaces nobody."""
        gym_make, parent = gym.make, os.getpid()

        def make(*args, **kwargs):
            if os.getpid() != parent:
                time.sleep(0.3)
            env = gym_make(*args, **kwargs)
            return SlowReset(env) if os.getpid() != parent else env

        monkeypatch.setattr(game.gym, "make", make)
        with Games(2, processes=1, context="fork", timeout=0.2) as many:
            before = workers_now()
            twin = Twin(range(2))
            begin(many, twin)
            begin(many, twin, 5, [5, 6])
            assert workers_now() == before

    def test_ctrl_c_replaces_nobody(self):
        """Workers don't hear it."""
        with four_games() as (many, twin):
            for pid in workers_now():
                os.kill(pid, signal.SIGINT)
            assert "restarted" not in follow_games(many, twin, 30)

    def test_ctrl_c_between_asking_and_waiting(self, monkeypatch):
        """Who owes an answer then is replaced by the next step."""
        with four_games() as (many, twin):
            interrupted(monkeypatch, Worker, "receive", 1)
            with pytest.raises(KeyboardInterrupt):
                many.step([0] * 4)
            time.sleep(0.3)  # the answers are there by now, and of no use
            assert_replaced(follow_games(many, twin), games=4)
            assert "restarted" not in follow_games(many, twin, 30)

    def test_ctrl_c_in_a_reset(self, monkeypatch):
        """It has to be made once more, and then all is as ever."""
        with four_games() as (many, twin):
            interrupted(monkeypatch, Worker, "receive", 1)
            with pytest.raises(KeyboardInterrupt):
                many.reset()
            with pytest.raises(gym.error.ResetNeeded):
                many.step([0] * 4)
            begin(many, twin, 3, [3, 4, 5, 6])
            assert "restarted" not in follow_games(many, twin, 30)

    @both_modes
    def test_what_was_answered_before_ctrl_c_is_told_by_the_next_step(
        self, monkeypatch, mode
    ):
        """Of the others, who are replaced, it is told as ever."""
        _, end = start_and_end()
        with games_of_ten_steps(mode) as many:
            before, *_ = many.step([FIRE] * 4)
            interrupted(monkeypatch, Worker, "receive", 2)
            with pytest.raises(KeyboardInterrupt):
                many.step([FIRE] * 4)
            many.render()
            obs, _, terminated, truncated, infos = many.step([FIRE] * 4)
            assert truncated.all() and not terminated.any()
            told, restarted = infos["_final_info"], infos["restarted"]
            assert_replaced(infos)
            assert (told ^ restarted).all()
            assert infos["final_info"]["length"][told].tolist() == [10] * 2
            final = obs if mode is NEXT_STEP else infos["final_obs"]
            for i in range(4):
                expected = end if told[i] else before[i]
                np.testing.assert_array_equal(final[i], expected)

    @pytest.mark.parametrize(
        "owner, name, times",
        [
            (game, "Worker", 1),  # before the new process is there
            (Worker, "receive", 3),  # while it loads its games
        ],
    )
    def test_ctrl_c_while_a_worker_is_replaced(
        self, monkeypatch, owner, name, times
    ):
        """The next step replaces it again; the others have played one step."""
        with four_games() as (many, twin):
            strike("SIGKILL")
            interrupted(monkeypatch, owner, name, times)
            with pytest.raises(KeyboardInterrupt):
                many.step([0] * 4)
            twin.step([0] * 4, ())
            obs, _, _, truncated, infos = many.step([1] * 4)
            expected = twin.step([1] * 4, np.flatnonzero(infos["restarted"]))
            assert_replaced(infos)
            np.testing.assert_array_equal(obs, expected[0])
            assert truncated.tolist() == infos["restarted"].tolist()
            assert "restarted" not in follow_games(many, twin, 30)

    def test_workers_of_many_games_keep_their_pipes_apart(self):
        """Those that replaced others, too."""
        before = sockets()
        with four_games(processes=4) as (many, twin):
            strike("SIGKILL")
            follow_games(many, twin)
            ours = sockets() - before
            assert len(workers_now()) == 4
            # Each holds its own end, which this process has closed.
            for pid in workers_now():
                shared = {s for s in sockets(pid) if s.startswith("socket:")}
                assert not ours & shared

    def test_programs_with_busy_threads(self, program):
        """OpenCV's own, and others, whichever way workers are started."""
        for process in [program(BUSY, method) for method in START_METHODS]:
            _, stderr = process.communicate(timeout=PATIENCE)
            assert process.returncode == 0, stderr

    def test_programs_without_a_guard(self, program):
        """Under spawn and forkserver the error names what is missing."""
        methods = "spawn", "forkserver"
        programs = [
            program(UNGUARDED, method, name)
            for method in methods
            for name in ("Games", "Worker")
        ]
        for process in programs:
            _, stderr = process.communicate(timeout=PATIENCE)
            assert process.returncode == 1
            assert '__name__ == "__main__"' in stderr.splitlines()[-1]


# ---------------------------------------------------------------------------
# The module as a program
# ---------------------------------------------------------------------------


def start_main(program, *args, **options):
    """Start `python game.py` in an empty folder."""
    return program(MODULE.read_text(), *args, name="game.py", **options)


def assert_summary(lines):
    """Check the three lines that a program ends with; return the steps."""
    number = r"[\d,]+(\.\d+)?"
    steps = re.fullmatch(rf"({number}) steps.* {number} episodes.*", lines[0])
    assert steps, lines
    scores = r"score: (mean [\d.-]+, best -?\d+|no game has ended)"
    assert re.fullmatch(scores, lines[1]), lines
    assert re.fullmatch(
        rf"{number} .*steps/s, {number} .*frames/s", lines[2]
    ), lines
    return int(steps[1].replace(",", ""))


# The emulator's greeting. It is written piece by piece, so that those of two
# processes that start at the same time may be mixed.
BANNER = re.compile(
    r"A\.L\.E: Arcade Learning Environment \(version |"
    r"\d+\.\d+\.\d+\+\w+\)|"
    r"\[Powered by Stella\]"
)


def without_banner(stderr):
    """Return the lines of what isn't the emulator's greeting."""
    lines = BANNER.sub("", stderr).splitlines()
    return [line for line in lines if line.strip()]


# Ctrl-C comes when the program asks for its random numbers, before the reset,
# or for its loop, after that.
INTERRUPTED = """
import os, runpy, signal, sys
import numpy
from labml import monit

def interrupt(*_):
    os.kill(os.getpid(), signal.SIGINT)

if __name__ == "__main__":
    if sys.argv[1] == "before":
        numpy.random.default_rng = interrupt
    else:
        monit.loop = interrupt
    sys.argv[1:] = ["--games", "2"]
    runpy.run_path("game.py", run_name="__main__")
"""


class TestMain:
    """The module as a program."""

    def test_the_program(self, program, tmp_path):
        """A picture and a summary, and nothing else anywhere."""
        process = start_main(program, "--steps", "400", "--games", "2")
        stdout, stderr = process.communicate(timeout=PATIENCE)
        assert process.returncode == 0, stderr
        files = {path.name for path in tmp_path.iterdir()}
        assert files - {"__pycache__"} == {"game.py", "game.png"}
        lines = stdout.strip().splitlines()[-3:]
        assert assert_summary(lines) == 800
        assert without_banner(stderr) == []
        assert "warn" not in stdout.lower()
        picture = cv2.imread(str(tmp_path / "game.png"))
        assert picture.shape[0] >= 2 * 84 and picture.shape[1] >= 4 * 84
        assert picture.max() > 100

    @pytest.mark.parametrize("to", ["pipe", "file"])
    def test_a_short_program(self, program, tmp_path, to):
        """Too short for a game to end: progress is there, in plain text."""
        args = ["PongNoFrameskip-v4", "--steps", "50", "--games", "2"]
        path = tmp_path / "output"
        with path.open("wb") as file:
            stdout = file if to == "file" else subprocess.PIPE
            options = dict(stdout=stdout, text=False)
            process = start_main(program, *args, "--seed", "9", **options)
            output, stderr = process.communicate(timeout=PATIENCE)
        assert process.returncode == 0, stderr
        text = (path.read_bytes() if to == "file" else output).decode()
        assert text.isascii() and text.replace("\n", "").isprintable()
        *progress, steps, score, speed = text.strip().splitlines()
        assert any("steps per second" in line for line in progress)
        assert assert_summary([steps, score, speed]) == 100
        assert score == "score: no game has ended"
        assert (tmp_path / "game.png").exists()

    def test_help(self, program):
        """It says what each option is, and its default."""
        stdout, stderr = start_main(program, "--help").communicate(
            timeout=PATIENCE
        )
        assert without_banner(stderr) == []
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
            (["Breakot-v4"], "Did you mean: `Breakout`?"),
            (["NoSuchGame"], "NoSuchGame"),
            (["no_such_module:Pong-v5"], "no_such_module"),
            (["CartPole-v1"], "Atari"),
            (["--games", "0"], "games"),
            (["--steps", "0"], "steps"),
            (["--steps", "-3"], "-3"),
            (["--seed", "-1"], "-1"),
            (["--games", "many"], "many"),
        ],
        ids=repr,
    )
    def test_the_program_with_wrong_arguments(
        self, program, tmp_path, args, message
    ):
        """One clear line and exit code 2, and no file."""
        process = start_main(program, *args)
        stdout, stderr = process.communicate(timeout=PATIENCE)
        assert process.returncode == 2
        lines = without_banner(stderr)
        assert message in lines[-1]
        assert "Traceback" not in stderr and stdout == ""
        if args != ["--games", "many"]:  # argparse's own comes with the usage
            assert len(lines) == 1
        assert not (tmp_path / "game.png").exists()

    @needs_signals
    @needs_proc
    def test_ctrl_c_stops_the_program(self, program):
        """With the summary so far, and no traceback of anyone."""
        process = start_main(program, "--steps", "10000000", "--games", "4")
        progress = ""
        while "steps per second" not in progress:  # then it plays
            progress = process.stdout.readline()
            assert progress, process.communicate()[1]
        pids = session_of(process)
        assert len(pids) > 1
        os.killpg(process.pid, signal.SIGINT)
        stdout, stderr = process.communicate(timeout=PATIENCE)
        assert process.returncode == 0, stderr
        assert "Traceback" not in stderr + stdout
        assert assert_summary(stdout.strip().splitlines()[-3:]) > 0
        assert left_after(4, pids) == []

    @needs_signals
    @needs_proc
    @pytest.mark.parametrize("moment", ["before", "after"])
    def test_ctrl_c_before_the_first_step(self, program, tmp_path, moment):
        """Before the reset or after it: a line, and exit code 130."""
        (tmp_path / "game.py").write_text(MODULE.read_text())
        process = program(INTERRUPTED, moment)
        stdout, stderr = process.communicate(timeout=PATIENCE)
        assert process.returncode == 130
        (line,) = without_banner(stderr)
        assert line == "game.py: interrupted"
        assert stdout == ""
        assert left_after(4, session_of(process)) == []
        assert not (tmp_path / "game.png").exists()

    def test_a_picture_that_cannot_be_written(self, program, tmp_path):
        """The summary is there, and then one line and exit code 1."""
        (tmp_path / "game.png").mkdir()
        process = start_main(program, "--steps", "20", "--games", "2")
        stdout, stderr = process.communicate(timeout=PATIENCE)
        assert process.returncode == 1
        (line,) = without_banner(stderr)
        assert line.startswith("game.py: ") and "game.png" in line
        assert assert_summary(stdout.strip().splitlines()[-3:]) == 40

    @needs_dev_full
    @needs_proc
    def test_a_full_disk(self, program):
        """Output that can't be written: one line and exit code 1."""
        with open("/dev/full", "w") as full:
            args = ["--steps", "20", "--games", "2"]
            process = start_main(program, *args, stdout=full)
        _, stderr = process.communicate(timeout=PATIENCE)
        assert process.returncode == 1
        (line,) = without_banner(stderr)
        assert line.startswith("game.py: ") and "No space" in line
        assert left_after(4, session_of(process)) == []

    @needs_signals
    @needs_proc
    def test_a_closed_pipe(self, program):
        """As before `| head -1`: one line, and nobody plays on."""
        process = start_main(program, "--steps", "10000000", "--games", "2")
        assert process.stdout.readline()
        process.stdout.close()
        (line,) = without_banner(process.stderr.read())
        assert line.startswith("game.py: ") and "Broken pipe" in line
        assert process.wait(PATIENCE) == 1
        assert left_after(4, session_of(process)) == []


# ---------------------------------------------------------------------------
# Other systems
#
# Python imports `sitecustomize` in each process, before anything else. These
# take away what Windows and macOS lack, and how they start processes stays.
# ---------------------------------------------------------------------------
MACOS = """
import os
for name in ("sched_getaffinity", "sched_setscheduler", "SCHED_BATCH"):
    if hasattr(os, name):
        delattr(os, name)
"""
WINDOWS = """
import os, select, signal

def take_away(module, *names):
    for name in names:
        if hasattr(module, name):
            delattr(module, name)

take_away(os, "sched_getaffinity", "sched_setscheduler", "SCHED_BATCH")
take_away(os, "sched_yield", "fork", "forkpty", "killpg")
take_away(select, "poll", "epoll")
take_away(signal, "pthread_sigmask", "pthread_kill", "sigwait")

from multiprocessing import context, resource_tracker

take_away(resource_tracker, "ensure_running")
spawn = context._concrete_contexts["spawn"]
context._concrete_contexts = {"spawn": spawn}
context._default_context._default_context = spawn
import multiprocessing
multiprocessing.get_all_start_methods = lambda: ["spawn"]
"""
LINUX = ""

# Its last line is a digest of all that was returned; and before that stands
# what its processes lacked.
EVERYWHERE = """
import hashlib, multiprocessing, os, pickle, select, signal
import game

LACKS = " ".join([
    name
    for module, name in [
        (os, "sched_getaffinity"), (os, "SCHED_BATCH"), (os, "fork"),
        (os, "sched_yield"), (select, "poll"), (signal, "pthread_sigmask"),
    ]
    if not hasattr(module, name)
])

class Telling(game.Game):
    def step(self, action):
        return LACKS

if __name__ == "__main__":
    options = dict(on_life_loss="continue", noop_max=30, fire_on_reset=True)
    returned = []
    one = game.Game(3, **options)
    returned.append(one.reset())
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
    with game.Worker(0, make=Telling) as worker:
        worker.child.send(("step", 0))
        print(LACKS, "|", worker.child.recv())
    print(*multiprocessing.get_all_start_methods())
    print(hashlib.sha1(pickle.dumps(returned, protocol=4)).hexdigest())
"""


@pytest.fixture
def everywhere(tmp_path):
    """Return the environments of three systems, by their names."""
    systems = {"Linux": LINUX, "macOS": MACOS, "Windows": WINDOWS}
    environments = {}
    for name, text in systems.items():
        folder = tmp_path / name
        folder.mkdir()
        (folder / "sitecustomize.py").write_text(text)
        environments[name] = environment(folder, MODULE.parent)
    return environments


@pytest.mark.skipif(sys.platform != "linux", reason="needs Linux")
class TestSystems:
    """Where names are missing that Windows or macOS lack."""

    def test_the_same_results_everywhere(self, program, everywhere):
        """Bit for bit, from `Game`, `Worker` and `Games`."""
        processes = {
            name: program(EVERYWHERE, env=env)
            for name, env in everywhere.items()
        }
        lacks, methods, digests = {}, {}, {}
        for name, process in processes.items():
            stdout, stderr = process.communicate(timeout=PATIENCE)
            assert process.returncode == 0, stderr
            assert without_banner(stderr) == []
            lacks[name], methods[name], digests[name] = stdout.splitlines()
        mac = "sched_getaffinity SCHED_BATCH"
        windows = f"{mac} fork sched_yield poll pthread_sigmask"
        assert lacks == {
            "Linux": " | ",
            "macOS": f"{mac} | {mac}",
            "Windows": f"{windows} | {windows}",
        }
        assert methods["macOS"] == methods["Linux"]
        assert methods["Windows"] == "spawn"
        assert len(set(digests.values())) == 1

    def test_the_same_program_everywhere(self, program, everywhere, tmp_path):
        """It plays the same games, and leaves the same picture."""
        text = MODULE.read_text()
        args = ["--steps", "150", "--games", "3"]
        results = set()
        processes = {}
        for name, env in everywhere.items():
            folder = tmp_path / name
            processes[folder] = program(
                text, *args, name=f"{name}/game.py", cwd=folder, env=env
            )
        for folder, process in processes.items():
            stdout, stderr = process.communicate(timeout=PATIENCE)
            assert process.returncode == 0, stderr
            assert without_banner(stderr) == []
            *_, steps, score, speed = stdout.strip().splitlines()
            assert assert_summary([steps, score, speed]) == 450
            picture = (folder / "game.png").read_bytes()
            results.add((steps, score, picture))
        assert len(results) == 1


# ---------------------------------------------------------------------------
# README
# ---------------------------------------------------------------------------


class TestReadme:
    """What README shows runs as it stands there."""

    def test_the_snippets_of_the_readme(self, tmp_path):
        """Each of them runs as it stands there.

        Those for Ray and SB3 do so in examples/test_learners.py.
        """
        text = (MODULE.parent / "README.md").read_text()
        snippets = re.findall(r"^```python\n(.*?)^```", text, re.M | re.S)
        others = re.compile(
            r"^(import|from) (ray|stable_baselines3|torch)\b", re.M
        )
        snippets = [one for one in snippets if not others.search(one)]
        assert len(snippets) == 4

        def run(i):
            folder = tmp_path / str(i)
            folder.mkdir()
            (folder / "snippet.py").write_text(snippets[i])
            return subprocess.run(
                [sys.executable, "snippet.py"],
                cwd=folder,
                env=environment(MODULE.parent),
                capture_output=True,
                text=True,
                timeout=PATIENCE,
            )

        with ThreadPoolExecutor(2) as pool:
            for result in pool.map(run, range(len(snippets))):
                assert result.returncode == 0, result.stderr
                assert result.stdout.strip()
