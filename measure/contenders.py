"""Who plays in the benchmarks, and the process that each of them lives in.

A contender is a generator: it yields observations and how many steps that
played frames they stand for, and then steps again. Whatever happens between
two steps, such as a network, is up to its user. All make the same observation:
the maximum of two frames, gray, 84×84, the last four.

A title is a name such as "Breakout", or an id such as "ALE/Breakout-v5", in
which the emulator repeats actions at random.
"""

import contextlib
import itertools
import os
import pathlib
import subprocess
import sys
import time
from multiprocessing import Pipe, active_children, connection

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[1]
CORES = len(os.sched_getaffinity(0))
NO_NETWORK = ("computes", 0)  # what it does, and for how many milliseconds
# Nobody plays no-ops or presses FIRE at a start, as far as one can tell it so.
WHOLE_GAMES = dict(
    on_life_loss="ignore", noop_max=0, fire_on_reset=False, clip_reward=False
)


def id_of(title):
    """The id of a title."""
    return title if "/" in title else f"{title}NoFrameskip-v4"


def emulator(title):
    """A game of Gymnasium's, one frame a step, without wrappers."""
    import gymnasium

    return gymnasium.make(
        f"ale_py:{id_of(title)}", frameskip=1, obs_type="ram"
    )


def rows(title, columns):
    """Random actions, a row for each step, the same for every contender."""
    count = emulator(title).action_space.n
    table = np.random.RandomState(0).randint(count, size=(1024, 1024))
    return itertools.cycle(np.ascontiguousarray(table[:, :columns], np.int32))


# ## The limit, and the engines in C++


def limit(title, num_envs, **_):
    """`act` four times and nothing else; a process for each core does that."""
    env = emulator(title)
    env.reset(seed=0)
    ale = env.unwrapped.ale
    legal = ale.getMinimalActionSet()
    for (action,) in rows(title, 1):
        for _ in range(4):
            ale.act(legal[action])
        if ale.game_over():
            ale.reset_game()
        yield None, 1


def ale(title, num_envs, threads, batch=None, **_):
    """ALE's vector, in the autoreset mode that is its default."""
    from ale_py.vector_env import AtariVectorEnv

    env = AtariVectorEnv(
        emulator(title).spec.kwargs["game"],
        num_envs,
        batch_size=batch or num_envs,
        num_threads=threads,
        noop_max=0,
        use_fire_reset=False,
        reward_clipping=False,
        repeat_action_probability=0.25 if "/" in title else 0.0,
    )
    *_, info = env.reset(seed=0)
    yield from batches(title, info, lambda row, ids: env.send(row), env.recv)


def envpool(title, num_envs, threads, batch=None, **_):
    """EnvPool. An episode starts with a no-op frame: it can't have fewer."""
    import envpool

    name = title.removeprefix("ALE/").removesuffix("-v5")
    env = envpool.make_gymnasium(
        f"{name}-v5",
        num_envs=num_envs,
        batch_size=batch or num_envs,
        num_threads=threads,
        noop_max=1,
        use_fire_reset=False,
        repeat_action_probability=0.25 if "/" in title else 0.0,
    )
    env.async_reset()
    *_, info = env.recv()
    yield from batches(title, info, env.send, env.recv)


def batches(title, info, send, recv):
    """Play the games that are ready; a step after an end is but a reset."""
    over = np.zeros(1024, bool)
    for row in rows(title, 1024):
        send(row[info["env_id"]], info["env_id"])
        obs, _, terminated, truncated, info = recv()
        yield obs, len(obs) - int(over[info["env_id"]].sum())
        over[info["env_id"]] = terminated | truncated


# ## Gymnasium and SB3, as their documentation has them: a process for each
# game, or all of them in this one


def gymnasium(title, num_envs, single=False, **_):
    import gymnasium as gym
    from gymnasium import wrappers

    def make():
        env = gym.make(f"ale_py:{id_of(title)}", frameskip=1)
        env = wrappers.AtariPreprocessing(env, noop_max=0)
        return wrappers.FrameStackObservation(env, 4)

    vector = gym.vector.SyncVectorEnv if single else gym.vector.AsyncVectorEnv
    env = vector([make] * num_envs)
    env.reset(seed=0)
    resets = 0
    for row in rows(title, num_envs):
        obs, _, terminated, truncated, _ = env.step(row)
        yield obs, num_envs - resets
        resets = int((terminated | truncated).sum())


def sb3(title, num_envs, single=False, **_):
    """It presses FIRE at each start, and clips rewards."""
    from stable_baselines3.common import env_util, vec_env

    env = env_util.make_atari_env(
        f"ale_py:{id_of(title)}",
        num_envs,
        seed=0,
        env_kwargs={"frameskip": 1},
        wrapper_kwargs={"noop_max": 0, "terminal_on_life_loss": False},
        vec_env_cls=vec_env.DummyVecEnv if single else vec_env.SubprocVecEnv,
    )
    env = vec_env.VecFrameStack(env, 4)
    env.reset()
    for row in rows(title, num_envs):
        yield env.step(row)[0], num_envs


# ## `Games` and `Worker`


def games(title, num_envs, **options):
    """`Games` in lockstep."""
    fleet = begin(title, num_envs, 1, options)
    yield from steps_of(itertools.cycle(fleet), rows(title, num_envs))


def ready_first(title, num_envs, count, **options):
    """`Games` of one process each, taken as they become ready."""
    fleet = begin(title, num_envs, count, options | {"processes": 1})
    # The workers give way to the program, as in examples/in_turn.py.
    for worker in active_children():
        param = os.sched_param(0)
        os.sched_setscheduler(worker.pid, os.SCHED_IDLE, param)
    yield from steps_of(as_ready(fleet), rows(title, num_envs))


def begin(title, num_envs, count, options):
    from game import Games

    fleet = []
    for number in range(count):
        seed = number * num_envs
        env = Games(num_envs, id_of(title), seed=seed, **options)
        env.reset()
        env.step_async(np.zeros(num_envs, np.int32))
        fleet.append(env)
    return fleet


def as_ready(fleet):
    """Yield `Games` of one process each as their steps are done."""
    while True:
        owners = {env.pipes[0]: env for env in fleet}
        for pipe in connection.wait(owners):
            yield owners[pipe]


def steps_of(turns, actions):
    """Play the `Games` whose turn it is."""
    for env in turns:
        yield env.step_wait()[0], env.num_envs
        env.step_async(next(actions))


def workers(title, num_envs, **options):
    """`Worker`s, driven as labml's tutorial drives its own."""
    from game import Worker

    fleet = [Worker(i, id_of(title), **options) for i in range(num_envs)]
    for worker in fleet:
        worker.child.send(("reset", None))
        worker.child.recv()
    for row in rows(title, num_envs):
        for worker, action in zip(fleet, row, strict=True):
            worker.child.send(("step", action))
        obs = np.empty((num_envs, 4, 84, 84), np.uint8)
        for i, worker in enumerate(fleet):
            obs[i], *_ = worker.child.recv()
        yield obs, num_envs


# ## A contender's process


class Contender(contextlib.ExitStack):
    """A contender in a process of its own, seen from outside.

    `kind` is a generator of this file, which takes the `options`. After each
    batch a network takes some milliseconds: it `"waits"` for a device, or
    `"computes"` on one of the cores. `folder` is where game.py is.
    """

    def __init__(self, kind, options, network=NO_NETWORK, folder=ROOT):
        super().__init__()
        count = CORES if kind == "limit" else 1
        self.processes = [self.start(folder) for _ in range(count)]
        self.ask((kind, options, network))

    def start(self, folder):
        """Start a process that serves commands."""
        here, there = Pipe()
        path = [str(folder), os.environ.get("PYTHONPATH", "")]
        process = subprocess.Popen(
            [sys.executable, __file__, str(there.fileno())],
            pass_fds=[there.fileno()],
            env=os.environ | {"PYTHONPATH": os.pathsep.join(path)},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        there.close()
        # The process ends when its pipe is closed.
        self.callback(process.wait)
        self.callback(here.close)
        return process, here

    def ask(self, command):
        """Send a command to all processes; return the sum of the answers."""
        for _, pipe in self.processes:
            pipe.send(command)
        total = 0
        for _, pipe in self.processes:
            answer = pipe.recv()
            if isinstance(answer, Exception):
                raise answer
            total += answer
        return total

    def play(self, seconds):
        """Play for some seconds; return the steps a second of all."""
        self.ask(0.1)  # to warm up again
        return self.ask(seconds)


def serve(pipe):
    """Make a contender, and play it for as many seconds as the pipe says."""
    kind, options, network = pipe.recv()
    steps = globals()[kind](**options)
    play(steps, 0.5, network)
    pipe.send(0)
    while True:
        pipe.send(play(steps, pipe.recv(), network))


def play(steps, seconds, network):
    """Play for some seconds, with a network after each batch.

    Returns steps a second.
    """
    kind, milliseconds = network
    played = 0
    start = now = time.perf_counter()
    while now < start + seconds:
        _, count = next(steps)
        played += count
        end = time.perf_counter() + milliseconds / 1000
        if kind == "waits":
            time.sleep(milliseconds / 1000)
        now = time.perf_counter()
        while now < end:
            now = time.perf_counter()
    return played / (now - start)


if __name__ == "__main__":
    parent = connection.Connection(int(sys.argv[1]))
    # The end of the pipe is the end of the process.
    with contextlib.suppress(EOFError):
        try:
            serve(parent)
        except EOFError:
            raise
        except Exception as error:
            parent.send(error)
