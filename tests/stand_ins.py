"""
What the tests of this folder stand on.

- A `Model` is what `Game` should return of a script, in numbers of frames.
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
import math
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
from test_game import (
    LOOKS,
    MEANINGS,
    NEXT_STEP,
    SAME_STEP,
    Script,
    lit,
    picture_of,
    random_actions,
    same,
)

MODULE = pathlib.Path(game.__file__).resolve()
ALL = os.environ.get("GAME_TESTS") == "all"
PATIENCE = 300  # seconds, after which a program counts as hanging
REFUSED = ValueError, TypeError  # how bad input is answered
NEEDED = gym.error.ResetNeeded
START_METHODS = multiprocessing.get_all_start_methods()
FORKS = "fork" in START_METHODS

each = pytest.mark.parametrize
both_modes = each("mode", [SAME_STEP, NEXT_STEP])
here_and_there = each("processes", [0, 2] if FORKS else [0])
needs_fork = pytest.mark.skipif(not FORKS, reason="needs fork")
needs_proc = pytest.mark.skipif(
    not pathlib.Path("/proc/self/stat").exists(),
    reason="needs /proc, and the signals of POSIX",
)


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


def ask(worker, command, data=None):
    """Give a command to a worker, and return its answer."""
    worker.child.send((command, data))
    return worker.child.recv()


# A title with all that can happen: lives lost, points for frames and actions.
LIFELIKE = Script(
    lives={0: 3, 9: 2, 14: 3, 21: 2, 30: 1, 38: 0},
    rewards={5: 1, 13: -20, 22: 300, "FIRE": 0.25, "RIGHT": 2},
    over=41,
)
MODES = ["restart", "continue", "ignore"]
# What `Game` does by default; `Games` does what `TRAINING` says.
PLAIN = dict(
    on_life_loss="restart", noop_max=0, fire_on_reset=False, clip_reward=False
)


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
            info = dict(reward=float(self.score), length=self.length)
            info["truncated"] = over and self.frame < self.script.over
            self.start_game()
            return info
        self.begin_episode()
        return None

    def observation(self):
        look = self.options["size"], self.options["grayscale"]
        return np.array([picture_of(it, *look) for it in self.pictures])

    def render(self):
        return lit((210, 160, 3), 10, [self.frame])


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


def write_into(*results):
    """Do with arrays what their owner may do: later ones aren't touched."""
    for result in results:
        if isinstance(result, np.ndarray) and result.dtype != object:
            result[...] = 0
        elif isinstance(result, (tuple, list, np.ndarray)):
            write_into(*result)
        elif isinstance(result, dict):
            write_into(*result.values())


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
DEEDS = [*ERRORS, "interrupt", "leave", "die", "hang"]
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
