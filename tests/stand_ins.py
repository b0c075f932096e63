"""
What the tests of this folder stand on.

- A `Twin` is what `Games` should return: a model, or a game, for each.
- A *deed* is something that no game should do, such as dying. A `Trap` is set
  for the game of a certain seed, which then does it.
- A `pair` is `Games` and their twin: `begin` resets both and compares,
  `follow` steps both and compares.
"""

import contextlib
import gc
import inspect
import itertools
import multiprocessing
import os
import pathlib
import re
import signal
import sys
import threading
import time

import gymnasium as gym
import numpy as np
import pytest

import game
from game import Games
from test_game import NEXT_STEP, PLAIN, SAME_STEP, Model, random_actions, same

MODULE = pathlib.Path(game.__file__).resolve()
PATIENCE = 300  # seconds, after which a program counts as hanging
REFUSED = ValueError, TypeError  # how bad input is answered
NEEDED = gym.error.ResetNeeded
START_METHODS = multiprocessing.get_all_start_methods()

each = pytest.mark.parametrize
here_and_there = each("processes", [0, 2])


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
    deadline = time.monotonic() + PATIENCE
    while any(map(alive, pids)) and time.monotonic() < deadline:
        time.sleep(0.02)
    return not any(map(alive, pids))


def ask(worker, command, data=None):
    """Give a command to a worker, and return its answer."""
    worker.child.send((command, data))
    return worker.child.recv()


class Twin:
    def __init__(self, games, seeds, mode=SAME_STEP):
        self.games = games
        self.seeds = list(seeds)
        self.next_step = mode is NEXT_STEP

    def reset(self, seeds=None, restarted=()):
        """Reset; games in `restarted` start over from their seeds."""
        if seeds is not None:
            self.seeds = list(map(int, seeds))
            restarted = range(len(seeds))
        obs = [
            one.reset(self.seeds[i] if i in restarted else None)
            for i, one in enumerate(self.games)
        ]
        self.waiting = {}  # first observations that the next step returns
        return self._returned(np.array(obs))

    def _returned(self, obs):
        self.shown = obs.copy()
        self.returned = obs  # its owner may write into it
        return obs

    def step(self, actions, restarted=()):
        """Step; games in `restarted` start over instead."""
        rewards = np.zeros(len(self.games))
        terminated, truncated = np.zeros((2, len(self.games)), bool)
        obs = self.shown.copy()
        lasts, ends = {}, {}
        for i, one in enumerate(self.games):
            first = self.waiting.pop(i, None)
            if i in restarted:
                lasts[i] = self.returned[i]
                obs[i] = one.reset(self.seeds[i])
                truncated[i] = True
            elif first is not None:
                obs[i] = first
            elif actions[i] is not None:
                obs[i], rewards[i], done, info = one.step(actions[i])
                if info is not None:
                    ends[i] = info
                    truncated[i] = info["truncated"]
                if done:
                    lasts[i] = one.final_obs
                    terminated[i] = one.terminated
        if self.next_step:
            for i, last in lasts.items():
                self.waiting[i] = obs[i].copy()
                obs[i] = last
            lasts = {}
        infos = self._infos(lasts, ends, restarted)
        return self._returned(obs), rewards, terminated, truncated, infos

    def _infos(self, lasts, ends, restarted):
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
        warned = contextlib.nullcontext()
        if restarted:
            warned = pytest.warns(RuntimeWarning)
        with warned:
            result = many.step(actions)
        assert same(result, twin.step(actions, restarted))
        restarted = ()


@contextlib.contextmanager
def pair(n=4, processes=2, mode=SAME_STEP, timeout=60, model=Model, **options):
    """Games that were reset, and a twin to compare them with."""
    seeds = list(range(10, 10 + n))
    options = PLAIN | options
    twin = Twin([model(seed, **options) for seed in seeds], seeds, mode)
    if model is not Model:
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
DEEDS = [*ERRORS, "interrupt", "leave", "die"]
# How a lost worker's end is told.
ENDS = dict(leave="exitcode=42|42", die="SIGKILL|-9")


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


def text_of(*functions, args=(), guard='if __name__ == "__main__":'):
    """Return a program: some functions, of which it calls the last."""
    text = "import multiprocessing, os, signal, sys, time, warnings\n"
    text += "import numpy as np\n"
    text += "import game\nfrom game import Game, Games, Worker\n\n"
    text += "\n\n".join(map(inspect.getsource, functions))
    return f"{text}\n\n{guard}\n    {functions[-1].__name__}(*{args})\n"
