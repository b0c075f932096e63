"""Workers, the games that they play, and what becomes of them."""

import gc
import multiprocessing
import os
import re
import signal
import time
import traceback
from multiprocessing import connection, forkserver
from multiprocessing.context import BaseContext
from multiprocessing.process import BaseProcess

import cv2
import gymnasium as gym
import numpy as np
import pytest

import game
import games
from game import TRAINING, Game, Worker
from games import FastGame, Games
from stand_ins import (
    ERRORS,
    NEEDED,
    PATIENCE,
    START_METHODS,
    kill,
    workers_now,
)
from test_game import BREAKOUT, FIRE, NOOP, ask, each, random_actions, same

SEAQUEST = "SeaquestNoFrameskip-v4"

pytestmark = pytest.mark.filterwarnings("error::RuntimeWarning")


@each("method", START_METHODS)
def test_a_game_of_ones_own(method):
    """Of a local class and a lambda, which a worker can't import."""

    class Floats(FastGame):
        def start_action(self, rng):
            return rng.integers(self.env.action_space.n)

        def observe(self):
            return super().observe() / np.float32(255)

    one = Floats(3, SEAQUEST, **TRAINING)
    how = dict(context=method, make=lambda *args, **kw: Floats(*args, **kw))
    with Worker(3, SEAQUEST, **TRAINING, **how) as worker:
        assert isinstance(worker.child, connection.Connection)
        for seed in (None, 8):
            assert same(ask(worker, "reset", seed), one.reset(seed))
            for action in random_actions(90, 18):
                assert same(ask(worker, "step", action), one.step(action))
            # That goes to all processes, and the parent decides.
            os.kill(worker.process.pid, signal.SIGINT)
    with Games(1, SEAQUEST, seed=3, processes=1, **how) as many:
        first, _ = many.reset()
        assert same(first[0], one.reset(3))
        assert first in many.observation_space


def test_errors_of_a_worker(trap):
    """They are raised where they are received, and the worker plays on."""
    worker = Worker(0, context="fork", noop_max="3")
    with worker, pytest.raises(TypeError, match="noop_max"):
        ask(worker, "reset")
    with Worker(5, context="fork") as worker:
        with pytest.raises(NEEDED):
            ask(worker, "step", NOOP)
        with pytest.raises(NotImplementedError, match="__init__"):
            ask(worker, "__init__")
        first = ask(worker, "reset")
        # An error that can't be sent is told in words.
        for fault, error in dict(ERRORS, unsendable=RuntimeError()).items():
            trap.set(fault, 5)
            words = "a bug|ArithmeticError: .*an odd"
            with pytest.raises(type(error), match=words) as raised:
                ask(worker, "step", NOOP)
            text = "".join(traceback.format_exception(raised.value))
            assert "raise ERRORS[fault]" in text
            assert same(ask(worker, "reset"), first)


def test_the_loop_may_be_started_by_hand():
    """As labml's own `Worker` does: a pipe, a process, no class."""
    child, remote = multiprocessing.Pipe()
    loop = game.worker_process
    process = multiprocessing.Process(target=loop, args=(remote, 47))
    process.start()
    child.send(("reset", None))
    assert same(child.recv(), Game(47).reset())
    child.send(("close", None))
    process.join(PATIENCE)
    assert process.exitcode == 0


def test_workers_are_forked_of_a_server():
    """As Python 3.14 has it by default: a server has no threads."""
    server = multiprocessing.get_context("forkserver")
    with Worker(0) as worker:
        assert isinstance(worker.process, server.Process)


@each("method", START_METHODS)
def test_what_a_worker_is(method):
    """It draws its own numbers, with one thread of OpenCV's."""

    class Told(FastGame):
        def info(self):
            threads = cv2.getNumThreads()
            return dict(die=np.random.random(), threads=threads)

    cv2.setNumThreads(4)
    with Games(2, processes=2, context=method, make=Told) as many:
        infos = many.reset()[1]
        assert infos["threads"].tolist() == [1, 1]
        assert infos["die"][0] != infos["die"][1]


def test_an_error_that_only_the_worker_knows():
    """It arrives in words."""

    class Changed(Exception):
        def __reduce__(self):
            return str, ("a text",)

    class Odd(FastGame):
        def reset(self, seed=None):
            raise Changed("a bug")

    fails = pytest.raises(RuntimeError, match="Changed: a bug")
    with Worker(0, make=Odd) as worker, fails:
        ask(worker, "reset")


def test_what_is_not_lost_was_cut_short():
    """An end of a game's own is `truncated`."""

    class Impatient(FastGame):
        def step(self, action):
            self.final_obs, *_ = super().step(action)
            return self.final_obs, 0.0, True, None

    with Games(2, make=Impatient, processes=0) as many:
        many.reset()
        obs, _, terminated, truncated, infos = many.step([NOOP] * 2)
    assert truncated.all() and not terminated.any()
    assert same(np.array(list(infos["final_obs"])), obs)
    assert "episode" not in infos


# --- Lost workers ------------------------------------------------------------

# Two workers, of which the second one plays the seeds 12 and 13.
FOUR = dict(num_envs=4, seed=10, processes=2, context="fork", noop_max=3)


def test_a_lost_worker_is_told(trap):
    """Which games, how it ended and how often: Python shows each."""
    with Games(**FOUR) as many:
        many.reset()
        ways = dict(leave="exitcode=255", die="SIGKILL|-9")
        for count, (fault, end) in enumerate(ways.items(), 1):
            trap.set(fault, 12)
            assert connection.wait(many.pipes, 0) == []
            many.step_async([NOOP] * 4)
            # One worker answers, and the other one dies.
            for pipe in many.pipes:
                assert connection.wait([pipe], PATIENCE) == [pipe]
            with pytest.warns(RuntimeWarning, match="2 to 3") as warned:
                infos = many.step_wait()[4]
            assert infos["restarted"].tolist() == [False, False, True, True]
            (warning,) = warned
            assert warning.filename == __file__
            assert re.search(end, str(warning.message))
            assert str(count) in str(warning.message)


def test_what_may_take_its_time(monkeypatch):
    """A start, and a late worker, which gets another moment."""

    class Slow(FastGame):
        def reset(self, seed=None):
            time.sleep(2)
            return super().reset(seed)

        def step(self, action):
            time.sleep(0.1)
            return super().step(action)

    monkeypatch.setattr(games, "GRACE", PATIENCE)
    with Games(1, timeout=0.01, processes=1, make=Slow) as many:
        many.reset()
        assert "restarted" not in many.step([NOOP])[4]


def test_closing_leaves_no_descriptor(trap):
    """To the garbage collector, for example."""

    def play():
        with Games(2, processes=2, context="fork") as many:
            many.reset()
        return len(os.listdir("/proc/self/fd"))

    gc.disable()
    try:
        first = play()
        assert [play() for _ in range(5)] == [first] * 5
    finally:
        gc.enable()


def test_it_cannot_go_on_for_ever(trap):
    """Three times in a row, unless a game ends or there is a reset."""
    with Games(**FOUR, on_life_loss="ignore") as many:
        ways = (20, 3, 1), (30, 3, 1), (40, 5, 12), (50, 3, 4)
        for seed, times, steps in ways:
            many.reset(seed=seed)
            for _ in range(times):
                kill(trap.player(seed + 2))
                with pytest.warns(RuntimeWarning):
                    for _ in range(steps):
                        many.step([NOOP] * 4)
        # Meanwhile games of the other process have ended.
        kill(trap.player(52))
        with pytest.raises(RuntimeError, match="2 to 3"):
            many.step([NOOP] * 4)
        with pytest.raises(NEEDED):
            many.step([NOOP] * 4)
        many.reset()
        assert "restarted" not in many.step([NOOP] * 4)[4]


def test_late_workers(monkeypatch):
    """Their screens are black, and then they are replaced.

    They are closed before: they never write to their successor's memory. A
    black screen is as high as its title's, and each starts its own again.
    """
    start = BaseProcess.start

    def start_alone(process):
        assert not workers_now() & late
        start(process)

    titles = ["ALE/AirRaid-v5"] * 2 + [BREAKOUT] * 2
    options = dict(full_action_space=True, context="fork", timeout=1)
    with Games(4, titles, processes=2, **options) as many:
        first, _ = many.reset()
        late = workers_now()
        monkeypatch.setattr(BaseProcess, "start", start_alone)
        for pid in late:
            os.kill(pid, signal.SIGSTOP)
        screens = many.render()
        assert [len(screen) for screen in screens] == [250, 250, 210, 210]
        assert not any(screen.any() for screen in screens)
        with pytest.warns(RuntimeWarning, match="1 s"):
            obs, *_, infos = many.step([FIRE] * 4)
        assert infos["restarted"].all() and same(obs, first)


class Terminated:
    """Makes games in a process that gets signals, or ends, on its way there.

    The file has a letter for each time: T for SIGTERM and SIGHUP, as sent to
    all processes of a program, and E for an exit.
    """

    def __init__(self, path):
        self.path = path

    def __call__(self, *args, **options):
        return FastGame(*args, **options)

    def __setstate__(self, state):
        self.__dict__.update(state)
        left = self.path.read_text()
        self.path.write_text(left[1:])
        if left.startswith("T"):
            signal.raise_signal(signal.SIGTERM)
            signal.raise_signal(signal.SIGHUP)
        if left.startswith("E"):
            os._exit(255)


def test_a_worker_that_dies_before_it_plays(tmp_path):
    """A first start that fails is an error, which says what is likely.

    A replacement that dies counts as another loss; three are allowed.
    """
    make = Terminated(tmp_path / "left")
    make.path.write_text("E")
    with Games(2, make=make, processes=1) as many:
        with pytest.raises(RuntimeError, match="255.*timeout"):
            many.reset()
        assert not workers_now()
        first, _ = many.reset()
        kill(*workers_now())
        make.path.write_text("E")
        with pytest.warns(RuntimeWarning, match="SIGKILL|255") as warned:
            obs, *_, infos = many.step([NOOP] * 2)
        assert len(warned) == 2
        assert same(obs, first) and infos["restarted"].all()
        many.reset()
        kill(*workers_now())
        make.path.write_text("EEE")
        fails = pytest.raises(RuntimeError, match="0 to 1")
        with pytest.warns(RuntimeWarning) as warned, fails:
            many.step([NOOP] * 2)
        assert len(warned) == 3
        assert same(many.reset(seed=0)[0], first)


@each("method", START_METHODS)
def test_a_signal_while_workers_start(tmp_path, method):
    """To all processes: they are deaf from their first moment on."""
    # That of a `Worker` of another test isn't deaf.
    forkserver._forkserver._stop()
    make = Terminated(tmp_path / "left")
    make.path.write_text("TT")
    alone = Games(2, processes=0)
    with Games(2, make=make, processes=2, context=method) as many:
        assert same(many.reset(), alone.reset())


@each("processes", [0, 1])
@each(
    "when, words",
    [
        ("step", r"\(4, 84, 84\).*\(1, 84, 84\)"),
        ("reset", r"\(4, 84, 84\).*\(84, 84\)"),
        ("end", "uint8.*float32"),
        ("reward", "reward.*'1.5'"),
        ("no reward", "reward.*None"),
        ("info", "episode"),
        ("mask", "_final_obs"),
    ],
)
def test_what_a_game_may_not_return(processes, when, words):
    """The error names it; of observations, it has both shapes or types."""

    class Wrong(FastGame):
        def step(self, action):
            obs, reward, done, info = super().step(action)
            self.final_obs = obs.astype(np.float32)
            obs = obs[:1] if when == "step" else obs
            reward = {"reward": "1.5", "no reward": None}.get(when, reward)
            return obs, reward, when == "end", info

        def reset(self, seed=None):
            obs = super().reset(seed)
            return obs[0] if (when, seed) == ("reset", 7) else obs

        def info(self):
            # Of the first steps there is none.
            keys = dict(info="episode", mask="_final_obs")
            return {keys[when]: 1} if when in keys and self._length > 1 else {}

    with Games(2, make=Wrong, processes=processes) as many:
        many.reset()
        with pytest.raises(ValueError, match=words):
            if when == "reset":
                many.reset(seed=7)
            for _ in range(3):
                many.step([NOOP] * 2)
        with pytest.raises(NEEDED):
            many.step([NOOP] * 2)
        many.reset(seed=3)


@each("processes", [0, 2])
def test_what_games_know(processes):
    """Of any type. What comes later isn't dropped; masks say who has it."""

    class Knowing(FastGame):
        def info(self):
            later = {"level": f"{self._length}"} if self._length > 1 else {}
            return super().info() | {"pixels": self.render()[0]} | later

    with Games(2, make=Knowing, processes=processes) as many:
        infos = many.reset()[1]
        for action in (NOOP, None):
            assert same(infos["lives"], np.array([5, 5]))
            screens = many.render()
            for mask, pixels, screen in zip(
                infos["_pixels"], infos["pixels"], screens, strict=True
            ):
                assert mask and same(pixels, screen[0])
            assert "level" not in infos
            infos = many.step([NOOP, action])[4]
        assert infos["level"].tolist() == ["2", None]
        assert infos["_level"].tolist() == [True, False]


@each("processes", [0, 1])
@each("method", START_METHODS)
def test_an_exception_of_ones_own(processes, method):
    """It arrives as itself, with what it knows and where it was raised."""

    class NoBall(Exception):
        pass

    class Empty(FastGame):
        def step(self, action):
            raise NoBall(action)

    options = dict(make=Empty, processes=processes, context=method)
    with Games(1, **options) as many:
        many.reset()
        with pytest.raises(NoBall) as raised:
            many.step([FIRE])
        assert raised.value.args == (FIRE,)
        text = "".join(traceback.format_exception(raised.value))
        assert "game.step(action)" in text


@each("processes", [0, 1])
def test_every_game_is_closed(tmp_path, processes):
    """Also if the making of another one fails, its step, or its end."""

    class Diary(FastGame):
        def __init__(self, seed, env_id, fails, **options):
            super().__init__(seed, env_id, **options)
            if (seed, fails) == (12, "start"):
                raise ArithmeticError
            self.path = tmp_path / f"{fails} {seed}"

        def step(self, action):
            raise ArithmeticError

        def close(self):
            with open(self.path, "a") as file:
                file.write("closed ")
            if self.path.name == "end 11":
                raise LookupError

    options = dict(make=Diary, processes=processes, seed=10)
    many = Games(3, fails="start", **options)
    with many, pytest.raises(ArithmeticError):
        many.reset()
    with Games(3, fails="end", **options) as many:
        many.reset()
        with pytest.raises(ArithmeticError):
            many.step([NOOP] * 3)
        many.reset()  # closes all, and makes new ones
    with pytest.raises(gym.error.ClosedEnvironmentError):
        many.step([NOOP] * 3)
    # Of seed 0 is the one that shows the spaces.
    once = ["start 0", "start 10", "start 11", "end 0"]
    times = dict.fromkeys(once, 1) | {f"end {i}": 2 for i in (10, 11, 12)}
    for name, expected in times.items():
        assert (tmp_path / name).read_text() == "closed " * expected
    assert len(list(tmp_path.iterdir())) == len(times)


def test_a_forked_copy_of_the_program(trap):
    """It neither plays the games nor ends them: they are the parent's."""

    def use_the_copy():
        for call in (many.step_wait, many.reset, many.render):
            with pytest.raises(RuntimeError, match="process"):
                call()
        many.close()

    alone = Games(**dict(FOUR, processes=0))
    with Games(**FOUR) as many, alone:
        assert same(many.reset(), alone.reset())
        many.step_async([FIRE] * 4)
        process = multiprocessing.get_context("fork").Process(
            target=use_the_copy
        )
        process.start()
        process.join(PATIENCE)
        assert process.exitcode == 0
        assert same(many.step_wait(), alone.step([FIRE] * 4))
        assert same(many.step([FIRE] * 4), alone.step([FIRE] * 4))


@each(
    "owner, name, cause",
    [
        (BaseProcess, "start", BlockingIOError(11, "no process is left")),
        (BaseContext, "Pipe", OSError(24, "no descriptor is left")),
        (BaseProcess, "start", AssertionError("not from a daemon")),
    ],
)
def test_a_start_that_fails(trap, monkeypatch, owner, name, cause):
    """It is one error, whose cause is the system's own. A reset helps."""

    def fail(*_):
        raise cause

    with Games(**FOUR) as many:
        first = many.reset()
        kill(trap.player(12))
        with monkeypatch.context() as patch:
            patch.setattr(owner, name, fail)
            fails = pytest.raises(RuntimeError, match="start")
            with pytest.warns(RuntimeWarning), fails as raised:
                many.step([NOOP] * 4)
            assert raised.value.__cause__ is cause
            assert "timeout" not in str(raised.value)
            with pytest.raises(type(cause)) as raised:
                Worker(0)
            assert raised.value is cause
        with pytest.raises(NEEDED):
            many.step([NOOP] * 4)
        assert same(many.reset(seed=10), first)
