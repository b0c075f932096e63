"""Workers, the games that they play, and what becomes of them."""

import contextlib
import dataclasses
import gc
import multiprocessing
import os
import re
import signal
import time
import traceback
import warnings
from multiprocessing import connection
from multiprocessing.process import BaseProcess

import gymnasium as gym
import numpy as np
import pytest

import game
from game import TRAINING, FastGame, Game, Games, Worker
from stand_ins import (
    ENDS,
    ERRORS,
    NEEDED,
    PATIENCE,
    START_METHODS,
    alive,
    all_gone,
    ask,
    begin,
    each,
    end_of,
    follow,
    here_and_there,
    interrupted,
    kill,
    pair,
    text_of,
    workers_now,
)
from test_game import (
    BREAKOUT,
    FIRE,
    LIFELIKE,
    NOOP,
    SEAQUEST,
    random_actions,
    replace_titles,
    same,
    seen,
)

pytestmark = pytest.mark.filterwarnings("error::RuntimeWarning")


class Dice(FastGame):
    def reset(self, seed=None):
        super().reset(seed)
        return np.random.random()


class Impatient(FastGame):
    """Ends an episode when it likes, and hasn't lost it."""

    def step(self, action):
        obs, reward, done, info = super().step(action)
        frame = self.env.unwrapped.ale.getEpisodeFrameNumber()
        early = not done and frame == 20
        if early:
            self.final_obs, self.terminated = obs, False
            obs = super().reset()
        return obs, reward, done or early, info


@each("method", START_METHODS)
def test_a_game_of_ones_own(method):
    """Of a local class and a lambda, which a worker can't import."""

    class Floats(FastGame):
        def start_action(self, rng):
            return rng.integers(self.env.action_space.n)

        def observe(self):
            return super().observe() / np.float32(255)

    def make(*args, **options):
        return Floats(*args, stack=2, **options)

    one = make(3, SEAQUEST, **TRAINING)
    how = dict(context=method, make=lambda *args, **kw: make(*args, **kw))
    with Worker(3, SEAQUEST, **TRAINING, **how) as worker:
        assert isinstance(worker.child, connection.Connection)
        for seed in (None, 8):
            assert same(ask(worker, "reset", seed), one.reset(seed))
            for action in random_actions(90, 18):
                assert same(ask(worker, "step", action), one.step(action))
            # That goes to all processes, and the parent decides.
            os.kill(worker.process.pid, signal.SIGINT)
    expected = one.reset(3)
    with Games(1, SEAQUEST, seed=3, processes=1, **how) as many:
        first, _ = many.reset()
        assert same(first[0], expected) and first in many.observation_space
        kill(*workers_now())
        with pytest.warns(RuntimeWarning):
            assert same(many.step([NOOP])[0][0], expected)


def test_the_loop_may_be_started_by_hand(trap):
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


@each("deed", ERRORS)
def test_an_error_is_raised_where_it_is_received(trap, deed):
    """Or its name and words, if it can't be sent. The worker plays on."""

    with Worker(5, context="fork") as worker:
        first = ask(worker, "reset")
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
        assert same(ask(worker, "reset"), first)


def test_wrong_calls(trap):
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


def test_workers_are_forked_of_a_server():
    """As Python 3.14 has it by default: a server has no threads."""
    server = multiprocessing.get_context("forkserver")
    with Worker(0) as worker:
        assert isinstance(worker.process, server.Process)


@each("method", START_METHODS)
def test_draws_of_numpy_differ(method):
    """Between workers, however they are started."""
    options = dict(context=method, make=Dice)
    with Worker(0, **options) as one, Worker(0, **options) as other:
        for worker in (one, other):
            worker.child.send(("reset", None))
        assert one.child.recv() != other.child.recv()


def test_no_signal_is_sent_to_who_is_gone(monkeypatch):
    """The system may have given its number to another process."""

    class Leaver(FastGame):
        def reset(self, seed=None):
            os._exit(255)  # as workers end of whom a forkserver knows nothing

    with Worker(0, make=Leaver) as worker:
        worker.child.send(("reset", None))
        assert connection.wait([worker.process.sentinel], PATIENCE)
        sent = []
        monkeypatch.setattr(os, "kill", lambda *args: sent.append(args))
        worker.close()
    assert sent == []


@here_and_there
def test_what_is_not_lost_was_cut_short(trap, processes):
    """An end of a game's own is `truncated`."""
    options = dict(model=Impatient, on_life_loss="ignore")
    with pair(2, processes, **options) as (many, _):
        for _ in range(4):
            assert not any(map(np.any, many.step([NOOP] * 2)[2:4]))
        _, _, terminated, truncated, infos = many.step([NOOP] * 2)
        assert truncated.all() and not terminated.any()
        assert infos["_final_obs"].all() and "episode" not in infos


def test_titles_whose_observations_differ():
    """The error names both."""

    class Screens(FastGame):
        def observe(self):
            return self.render()

    titles = [BREAKOUT, "ALE/AirRaid-v5"]
    options = dict(make=Screens, full_action_space=True, processes=0)
    with pytest.raises(ValueError, match="(?s)Breakout.*AirRaid"):
        Games(2, titles, **options)


# --- Lost workers ------------------------------------------------------------


def test_a_lost_worker_is_told(trap):
    """Which games, how it ended and how often: Python shows each."""
    with pair(noop_max=3) as (many, twin):
        for count, deed in enumerate(["leave", "die"], 1):
            trap.set(deed, 12)
            with pytest.warns(RuntimeWarning, match="2 to 3") as warned:
                many.step_async([NOOP] * 4)
                result = many.step_wait()
            assert same(result, twin.step([NOOP] * 4, {2, 3}))
            (warning,) = warned
            assert warning.filename == __file__
            assert re.search(ENDS[deed], str(warning.message))
            assert str(count) in str(warning.message)


@each("processes", [0, 2])
def test_closing_leaves_no_descriptor(trap, processes):
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


def test_it_cannot_go_on_for_ever(trap):
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


def test_late_workers(trap, monkeypatch):
    """Their screens are black, and then they are replaced.

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
        screens = many.render()
        assert not any(screen.any() for screen in screens)
        with pytest.warns(RuntimeWarning, match="1 s"):
            result = many.step([NOOP] * 4)
        assert same(result, twin.step([NOOP] * 4, range(4)))
        assert trap.player(10) != late.value and not met.value


def test_a_replacement_that_dies_at_once(trap):
    """What is likely is told: imports that are too slow, for example."""
    with pair(noop_max=3) as (many, twin):
        begin(many, twin, 20)
        trap.set("leave", 22, times=2)
        warned = pytest.warns(RuntimeWarning, match="42")
        with warned, pytest.raises(RuntimeError, match="42") as raised:
            many.step([NOOP] * 4)
        assert "timeout" in str(raised.value)
        assert trap.sprung() and many.closed and not workers_now()


def test_a_forked_copy_of_the_program(trap):
    """It neither plays the games nor ends them: they are the parent's."""

    def use_the_copy():
        for call in (many.step_wait, many.reset, many.render):
            with pytest.raises(RuntimeError, match="process"):
                call()
        many.close()

    with pair() as (many, twin):
        many.step_async([FIRE] * 4)
        fork = multiprocessing.get_context("fork")
        copied = fork.Process(target=use_the_copy)
        copied.start()
        copied.join()
        assert copied.exitcode == 0
        assert same(many.step_wait(), twin.step([FIRE] * 4))
        follow(many, twin, 20)


def being_stopped():
    class Slow(Game):
        def step(self, action):
            time.sleep(0.05)
            return super().step(action)

    game.GRACE = 60.0  # on a busy machine a moment may be long
    options = dict(timeout=0.5, make=Slow, context="fork")
    games = Games(4, processes=2, **options)
    games.reset()
    for n in range(5):
        print(f"step {n}", flush=True)
        assert "restarted" not in games.step([1] * 4)[4]


def test_a_program_that_was_stopped_loses_no_game(program):
    """As by Ctrl-Z or a batch system, for longer than the timeout."""
    process = program(text_of(being_stopped))
    process.stdout.readline()
    os.killpg(process.pid, signal.SIGSTOP)
    time.sleep(0.9)
    os.killpg(process.pid, signal.SIGCONT)
    lines, errors = end_of(process)
    assert lines[-1] == "step 4" and errors == []


@each("state", ["dead", "stopped", "interrupted"])
def test_closing_in_every_state(trap, monkeypatch, state):
    monkeypatch.setattr(game, "GRACE", 0.1)  # for those that don't end
    many = Games(2, processes=2, context="fork")
    many.reset(seed=5)
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


def test_a_replaced_worker_starts_its_own_titles():
    titles = [BREAKOUT, "PongNoFrameskip-v4"] * 2
    options = dict(full_action_space=True, processes=2)
    with Games(4, titles, **options) as many:
        first, _ = many.reset()
        replaced = np.zeros(4, bool)
        for pid in workers_now():
            many.step([3] * 4)
            kill(pid)
            with pytest.warns(RuntimeWarning):
                obs, *_, infos = many.step([FIRE] * 4)
            restarted = infos["restarted"]
            assert same(obs[restarted], first[restarted])
            replaced |= restarted
        assert replaced.all()


def test_a_start_that_fails(trap, monkeypatch):
    """It is one error, whose cause is the system's own. A reset helps."""
    cause = BlockingIOError(11, "Resource temporarily unavailable")

    def start(process):
        raise cause

    with pair(noop_max=3) as (many, twin):
        kill(trap.player(12))
        with monkeypatch.context() as patch:
            patch.setattr(BaseProcess, "start", start)
            fails = pytest.raises(RuntimeError, match="start")
            with pytest.warns(RuntimeWarning), fails as raised:
                many.step([NOOP] * 4)
            assert raised.value.__cause__ is cause
            with pytest.raises(RuntimeError, match="limit") as raised:
                Worker(0)
            assert raised.value.__cause__ is cause
        with pytest.raises(NEEDED):
            many.step([NOOP] * 4)
        begin(many, twin, 10)


def without_a_forkserver():
    warnings.simplefilter("ignore")
    games = Games(2, processes=2, timeout=0.5)
    games.reset()
    late, other = (p.pid for p in multiprocessing.active_children())
    print(late, other)
    with open(f"/proc/{late}/stat") as file:
        server = int(file.read().rpartition(")")[2].split()[1])
    os.kill(server, signal.SIGKILL)
    os.kill(late, signal.SIGSTOP)
    assert "restarted" in games.step([1, 1])[4]
    games.close()


def test_a_killed_forkserver(program):
    """A late worker is killed all the same: a stopped one would stay."""
    lines, _ = end_of(program(text_of(without_a_forkserver)))
    assert all_gone(list(map(int, lines[0].split())))


def test_pipes_tell_who_is_ready(trap):
    """A worker that has answered or died, told by `connection.wait`."""
    with pair(noop_max=3) as (many, twin):
        assert connection.wait(many.pipes, 0) == []
        many.step_async([NOOP] * 4)
        for pipe in many.pipes:
            assert connection.wait([pipe], PATIENCE) == [pipe]
        assert same(many.step_wait(), twin.step([NOOP] * 4))
        kill(trap.player(12))
        assert connection.wait(many.pipes, PATIENCE) == [many.pipes[1]]
