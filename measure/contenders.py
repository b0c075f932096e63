"""Who plays in the benchmarks, and the process that each of them lives in.

A contender is a generator: it yields observations and how many steps that
played frames they stand for, and then steps again. Whatever happens between
two steps, such as a network, is up to its user. All make the same observation:
the maximum of two frames, gray, 84×84, the last four. `num_envs` games are a
batch, and `count` batches are in flight.

A title is a name such as "Breakout", or an id such as "ALE/Breakout-v5", in
which the emulator repeats actions at random.
"""

import contextlib
import importlib.util
import itertools
import os
import pathlib
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from multiprocessing import Pipe, connection
from typing import Any

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent
# What a contender yields: observations, and the steps that they stand for.
Played = Iterator[tuple[Any, int]]

# Nobody plays no-ops or presses FIRE at a start, as far as one can tell it so.
WHOLE_GAMES = dict(
    on_life_loss="ignore", noop_max=0, fire_on_reset=False, clip_reward=False
)


def id_of(title: str) -> str:
    """The id of a title."""
    return title if "/" in title else f"{title}NoFrameskip-v4"


def emulator(title: str) -> Any:
    """A game of Gymnasium's, one frame a step, without wrappers."""
    import gymnasium

    return gymnasium.make(
        f"ale_py:{id_of(title)}", frameskip=1, obs_type="ram"
    )


def rows(title: str, columns: int) -> Iterator[np.ndarray]:
    """Random actions, a row for each step, the same for every contender."""
    count = emulator(title).action_space.n
    table = np.random.RandomState(0).randint(count, size=(1024, 1024))
    return itertools.cycle(np.ascontiguousarray(table[:, :columns], np.int32))


# The engines in C++


def ale(
    title: str,
    num_envs: int,
    threads: int,
    count: int = 1,
    on_life_loss: str = "ignore",
) -> Played:
    """ALE's vector, in the autoreset mode that is its default."""
    from ale_py.vector_env import AtariVectorEnv

    env = AtariVectorEnv(
        emulator(title).spec.kwargs["game"],
        count * num_envs,
        batch_size=num_envs,
        num_threads=threads,
        noop_max=0,
        use_fire_reset=False,
        reward_clipping=False,
        repeat_action_probability=0.25 if "/" in title else 0.0,
        episodic_life=on_life_loss == "restart",
    )
    *_, info = env.reset(seed=0)
    yield from batches(title, info, lambda row, ids: env.send(row), env.recv)


def envpool(title: str, num_envs: int, threads: int, count: int = 1) -> Played:
    """EnvPool. An episode starts with a no-op frame: it can't have fewer."""
    import envpool

    name = title.removeprefix("ALE/").removesuffix("-v5")
    env = envpool.make_gymnasium(
        f"{name}-v5",
        num_envs=count * num_envs,
        batch_size=num_envs,
        num_threads=threads,
        noop_max=1,
        use_fire_reset=False,
        repeat_action_probability=0.25 if "/" in title else 0.0,
    )
    env.async_reset()
    *_, info = env.recv()
    yield from batches(title, info, env.send, env.recv)


def batches(
    title: str,
    info: Mapping[str, Any],
    send: Callable[[np.ndarray, np.ndarray], Any],
    recv: Callable[[], tuple],
) -> Played:
    """Play the games that are ready; a step after an end is but a reset."""
    over = np.zeros(1024, bool)
    for row in rows(title, 1024):
        send(row[info["env_id"]], info["env_id"])
        obs, _, terminated, truncated, info = recv()
        yield obs, len(obs) - int(over[info["env_id"]].sum())
        over[info["env_id"]] = terminated | truncated


# Gymnasium and SB3, as their documentation has them: a process for each game


def gymnasium(title: str, num_envs: int) -> Played:
    import gymnasium as gym
    from gymnasium import wrappers

    def make() -> Any:
        env = gym.make(f"ale_py:{id_of(title)}", frameskip=1)
        env = wrappers.AtariPreprocessing(env, noop_max=0)
        return wrappers.FrameStackObservation(env, 4)

    env = gym.vector.AsyncVectorEnv([make] * num_envs)
    env.reset(seed=0)
    resets = 0
    for row in rows(title, num_envs):
        obs, _, terminated, truncated, _ = env.step(row)
        yield obs, num_envs - resets
        resets = int((terminated | truncated).sum())


def sb3(title: str, num_envs: int) -> Played:
    """It presses FIRE at each start, and clips rewards."""
    from stable_baselines3.common import env_util, vec_env

    env = env_util.make_atari_env(
        f"ale_py:{id_of(title)}",
        num_envs,
        seed=0,
        env_kwargs={"frameskip": 1},
        wrapper_kwargs={"noop_max": 0, "terminal_on_life_loss": False},
        vec_env_cls=vec_env.SubprocVecEnv,
    )
    env = vec_env.VecFrameStack(env, 4)
    env.reset()
    for row in rows(title, num_envs):
        yield env.step(row)[0], num_envs


# `Games`, `Worker`, and one game


def ours(name: str) -> Any:
    """A class of games.py, or of a game.py that is older than that file."""
    there = importlib.util.find_spec("games")
    return getattr(importlib.import_module("games" if there else "game"), name)


def games(title: str, num_envs: int, **options: Any) -> Played:
    """`Games` in lockstep."""
    Games = ours("Games")
    env = Games(num_envs, id_of(title), **options)
    env.reset()
    for row in rows(title, num_envs):
        yield env.step(row)[0], num_envs


def ready_first(
    title: str, num_envs: int, count: int, **options: Any
) -> Played:
    """`Games` of one process each, played by examples/in_turn.py."""
    import in_turn
    from games import Games

    actions = rows(title, num_envs)
    fleet = []
    for i in range(count):
        env = Games(
            num_envs, id_of(title), seed=i * num_envs, processes=1, **options
        )
        env.reset()
        env.step_async(next(actions))
        fleet.append(env)
    in_turn.give_way()
    for env in in_turn.ready_first(fleet):
        yield env.step_wait()[0], num_envs
        env.step_async(next(actions))


def workers(title: str, num_envs: int, **options: Any) -> Played:
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


def one_game(title: str, make: str, **options: Any) -> Played:
    """A game in this process, of a class of game.py or games.py."""
    one = ours(make)(0, id_of(title), **options)
    one.reset()
    for row in rows(title, 1):
        yield one.step(row[0])[0], 1


# A contender's process


class Contender(contextlib.ExitStack):
    """A contender in a process of its own, seen from outside.

    `kind` names a function above, which takes the `options`. After each batch
    it waits some seconds, as for a network on a device. `folder` is where
    game.py is. `shape` and `dtype` are those of its batches.
    """

    def __init__(
        self,
        kind: str,
        options: Mapping[str, Any],
        wait: float = 0,
        folder: pathlib.Path = ROOT,
    ) -> None:
        super().__init__()
        self.pipe, there = Pipe()
        # The working directory comes first where modules are looked for.
        path = os.pathsep.join(map(str, [HERE, ROOT / "examples"]))
        self.process = subprocess.Popen(
            [sys.executable, "-m", "contenders", str(there.fileno())],
            pass_fds=[there.fileno()],
            cwd=folder,
            env=os.environ | {"PYTHONPATH": path},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        there.close()
        self.callback(self.end)
        self.shape, self.dtype = self.ask((kind, options, wait))

    def ask(self, command: Any) -> Any:
        """Send a command; return the answer."""
        self.pipe.send(command)
        answer = self.pipe.recv()
        if isinstance(answer, Exception):
            raise answer
        return answer

    def end(self) -> None:
        """End the process, by closing its pipe, or after ten seconds."""
        self.pipe.close()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:  # An engine's threads go on.
            self.process.kill()
            self.process.wait()

    def play(self, seconds: float) -> float:
        """Play for some seconds; return the steps a second."""
        self.ask(0.1)  # to warm up again
        return self.ask(seconds)


def serve(pipe: connection.Connection) -> None:
    """Make a contender, and play it as the pipe says."""
    kind, options, wait = pipe.recv()
    # Where one process plays, its CPU time counts, which other programs
    # disturb less.
    clock = time.process_time if kind == "one_game" else time.perf_counter
    steps = globals()[kind](**options)
    obs, _ = next(steps)
    play(steps, 0.5, wait, clock)
    pipe.send((obs.shape, obs.dtype))
    while True:
        pipe.send(play(steps, pipe.recv(), wait, clock))


def play(
    steps: Played, seconds: float, wait: float, clock: Callable[[], float]
) -> float:
    """Play for some seconds; return the steps a second."""
    played = 0
    start = now = clock()
    while now < start + seconds:
        _, count = next(steps)
        played += count
        if wait:
            time.sleep(wait)
        now = clock()
    return played / (now - start)


if __name__ == "__main__":
    parent = connection.Connection(int(sys.argv[1]))
    try:
        serve(parent)
    except EOFError:
        pass  # the end of the pipe is the end of the process
    except Exception as error:
        parent.send(error)
