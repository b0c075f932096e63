"""
What the tests of this folder stand on.

- A `Twin` is what `Games` should return, by a model of each game.
- A *deed* is something that no game should do, such as dying. A `Trap` is set
  for the game of a certain seed, which then does it.
- A `pair` is `Games` and their twin: `begin` resets both and compares,
  `follow` steps both and compares.
- A `program` is started in a folder of its own.
"""

import contextlib
import dataclasses
import gc
import inspect
import itertools
import multiprocessing
import os
import pathlib
import signal
import subprocess
import sys
import threading
from multiprocessing import connection

import gymnasium as gym
import numpy as np
import pytest

import game
from game import Games
from test_game import (
    LIFELIKE,
    NEXT_STEP,
    PLAIN,
    SAME_STEP,
    Model,
    random_actions,
    replace_titles,
    same,
)

MODULE = pathlib.Path(game.__file__).resolve()
SOURCE = MODULE.read_text(encoding="utf-8")
PATIENCE = 300  # seconds, after which a program counts as hanging
NEEDED = gym.error.ResetNeeded
START_METHODS = multiprocessing.get_all_start_methods()


def workers_now():
    """Return the ids of this process's children."""
    return {child.pid for child in multiprocessing.active_children()}


def kill(pid):
    """Kill one of this process's children, and wait for its end."""
    (child,) = (c for c in multiprocessing.active_children() if c.pid == pid)
    child.kill()
    child.join()


# --- Games and their twin ----------------------------------------------------


class Twin:
    def __init__(self, seeds, mode, options):
        self.seeds = seeds
        self.models = [Model(seed, **options) for seed in seeds]
        self.next_step = mode is NEXT_STEP

    def reset(self, seeds=None, restarted=()):
        """Reset; games in `restarted` start over from their seeds."""
        if seeds is not None:
            self.seeds = list(map(int, seeds))
            restarted = range(len(seeds))
        obs = [
            model.reset(self.seeds[i] if i in restarted else None)
            for i, model in enumerate(self.models)
        ]
        self.waiting = {}  # first observations that the next step returns
        return self._returned(np.array(obs))

    def _returned(self, obs):
        self.shown = obs.copy()
        self.returned = obs  # its owner may write into it
        return obs

    def step(self, actions, restarted=()):
        """Step; games in `restarted` start over instead."""
        n = len(self.models)
        obs = self.shown.copy()
        rewards, scores, lengths = np.zeros(n), np.zeros(n), np.zeros(n, int)
        terminated, truncated, game_over, lost = np.zeros((4, n), bool)
        last = np.full(n, None)
        for i, model in enumerate(self.models):
            first = self.waiting.pop(i, None)
            if i in restarted:
                last[i] = self.returned[i]
                obs[i] = model.reset(self.seeds[i])
                truncated[i] = lost[i] = True
            elif first is not None:
                obs[i] = first
            elif actions[i] is not None:
                obs[i], rewards[i], done, info = model.step(actions[i])
                if done:
                    last[i] = model.final_obs
                    terminated[i] = model.terminated
                if info is not None:
                    game_over[i] = True
                    truncated[i] = info["truncated"]
                    scores[i] = info["reward"]
                    lengths[i] = info["length"]
        infos = {}
        if lost.any():
            infos["restarted"] = lost
        if game_over.any():
            infos.update(episode=dict(r=scores, l=lengths), _episode=game_over)
        ended = terminated | truncated
        if self.next_step:
            for i in np.flatnonzero(ended):
                self.waiting[i] = obs[i].copy()
                obs[i] = last[i]
        elif ended.any():
            infos.update(final_obs=last, _final_obs=ended)
        return self._returned(obs), rewards, terminated, truncated, infos


def begin(many, twin, seed=None, restarted=()):
    """Reset both, and compare."""
    seeds = None
    if seed is not None:
        seeds = seed if np.ndim(seed) else range(seed, seed + many.num_envs)
    expected = twin.reset(seeds, restarted)
    assert same(many.reset(seed=seed), (expected, {}))


def follow(many, twin, steps=1, restarted=()):
    """Step both, and compare; in the first step these games start over."""
    for action in random_actions(steps, 3):
        actions = ((action + np.arange(many.num_envs)) % 3).tolist()
        result = many.step(actions)
        assert same(result, twin.step(actions, restarted))
        restarted = ()


def make_both(n, processes, mode=SAME_STEP, timeout=60, **options):
    """Return games, and a twin to compare them with."""
    seeds = list(range(10, 10 + n))
    options = PLAIN | options
    twin = Twin(seeds, mode, options)
    options.update(processes=processes, context="fork", timeout=timeout)
    return Games(n, seed=seeds, autoreset_mode=mode, **options), twin


@contextlib.contextmanager
def pair(n=4, processes=2, **options):
    """Both, which were reset."""
    many, twin = make_both(n, processes, **options)
    with many:
        begin(many, twin)
        yield many, twin


# --- What goes wrong ---------------------------------------------------------

ERRORS = {
    "crash": ZeroDivisionError("a bug in the middle of a step"),
    "unsendable": ArithmeticError("an odd error", threading.Lock()),
    # As a pipe's, but a game's own: of a server that it asks, for example.
    "reset": ConnectionResetError("a bug of a server"),
    "end": EOFError("a bug in a file"),
}
DEEDS = [*ERRORS, "interrupt", "leave", "die"]


def do(deed):
    """Do what a game should not do, in this process or in a worker."""
    if deed in ERRORS:
        raise ERRORS[deed]
    if deed == "interrupt":
        signal.raise_signal(signal.SIGINT)
    elif deed == "leave":
        os._exit(42)
    else:
        os.kill(os.getpid(), signal.SIGKILL)


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


# --- Programs ----------------------------------------------------------------


@pytest.fixture
def program(tmp_path):
    """Return a function that starts a program."""
    started = []

    def start(text, *args):
        path = tmp_path / f"program{len(started)}.py"
        path.write_text(text, encoding="utf-8")
        process = subprocess.Popen(
            [sys.executable, path, *args],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=tmp_path,
            start_new_session=True,
        )
        started.append(process)
        return process

    yield start
    for process in started:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


# A module beside the program comes first. The emulators don't greet.
IMPORTS = f"""
import multiprocessing, os, signal, sys, time, warnings
sys.path.append({str(MODULE.parent)!r})
import ale_py
import numpy as np
import game
from game import Game, Games, Worker

ale_py.ALEInterface.setLoggerMode(ale_py.LoggerMode.Error)
"""


def text_of(function, args=(), guard='if __name__ == "__main__":'):
    """Return a program that calls a function."""
    source = inspect.getsource(function)
    return f"{IMPORTS}\n{source}\n{guard}\n    {function.__name__}(*{args})\n"


def end_of(process, code=0):
    """Wait for a program; return the lines that it wrote."""
    stdout, stderr = process.communicate(timeout=PATIENCE)
    assert process.returncode == code, stderr
    return stdout.splitlines(), stderr.splitlines()


def wait_for_ends(pids):
    """Wait until these processes end, however busy the machine is."""
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            process = os.pidfd_open(pid)
            assert connection.wait([process], PATIENCE)
            os.close(process)
