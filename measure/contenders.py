"""The contenders of benchmark.py, and the process that each of them lives in.

A contender is a generator: it yields observations and how many transitions
that played frames they stand for, then steps again. What happens between the
two, a network say, is for its user. All make the same observation: the maximum
of two frames, gray, 84×84, the last four (labml's shrinks, then takes the
maximum). Nobody repeats actions at random, plays no-ops or presses FIRE at the
start, as far as it lets itself be told.

`rule` says what a lost life does, in the words of `Game`: "restart" the game,
"continue" it as a new episode, or "ignore" the loss: whole games.

Each imports what it alone needs by itself, since its memory is measured, too.
"""

import contextlib
import functools
import itertools
import multiprocessing
import os
import random
import sys
import time
import warnings
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import Process

import numpy as np
import psutil

import common  # it says where game.py is

ACTIONS = {"Breakout": 4, "Pong": 6, "MsPacman": 9, "Seaquest": 18}
NO_NETWORK = ("computes", 0)
AGENT = ("agent", 0)  # it chooses the actions; its own time isn't counted
BURST = 0.003  # seconds that a neighbour takes a core, as a host shares them
PAUSE = 0.009  # seconds between two of its bursts, on average
ROMS = {"MsPacman": "ms_pacman"}  # where ALE's name is not the id's


pause = NO_NETWORK  # what is between two batches of this process
chosen = np.zeros(1024, np.int32)  # by the agent, for the next batch


def rows(game, games):
    """Random actions, the same for all: game i's are those of column i.

    With an agent they are those that it has chosen.
    """
    if pause == AGENT:
        return itertools.repeat(chosen[:games])
    table = np.random.RandomState(0).randint(ACTIONS[game], size=(1024, 1024))
    return itertools.cycle(np.ascontiguousarray(table[:, :games], np.int32))


def id_of(game, sticky):
    """The id of a title, with sticky actions or without."""
    return f"ALE/{game}-v5" if sticky else f"{game}NoFrameskip-v4"


# ## The limit, and the two C++ engines


def limit(game, games, rule):
    """`act` four times and nothing else; a process for each core does that."""
    import gymnasium as gym

    env = gym.make(f"ale_py:{game}NoFrameskip-v4", obs_type="ram")
    env.reset(seed=0)
    ale = env.unwrapped.ale
    legal, lives = ale.getMinimalActionSet(), ale.lives()
    for (action,) in rows(game, 1):
        for _ in range(4):
            ale.act(legal[action])
        if ale.game_over() or (rule == "restart" and ale.lives() < lives):
            ale.reset_game()
        lives = ale.lives()
        yield None, 1


def ale(game, games, rule, num_envs, threads, sticky=False):
    """ALE's vector, in the autoreset mode that is its default."""
    from ale_py.vector_env import AtariVectorEnv

    env = AtariVectorEnv(
        ROMS.get(game, game.lower()),
        num_envs,
        batch_size=games,
        num_threads=threads,
        episodic_life=rule == "restart",
        noop_max=0,
        use_fire_reset=False,
        reward_clipping=False,
        repeat_action_probability=0.25 if sticky else 0.0,
    )
    *_, info = env.reset(seed=0)
    yield from batches(game, info, lambda row, ids: env.send(row), env.recv)


def envpool(game, games, rule, num_envs, threads, sticky=False):
    """EnvPool. An episode starts with a no-op frame: it can't have fewer."""
    import envpool

    env = envpool.make_gymnasium(
        f"{game}-v5",
        num_envs=num_envs,
        batch_size=games,
        num_threads=threads,
        episodic_life=rule == "continue",
        noop_max=1,
        use_fire_reset=False,
        repeat_action_probability=0.25 if sticky else 0.0,
    )
    env.async_reset()
    *_, info = env.recv()
    yield from batches(game, info, env.send, env.recv)


def batches(game, info, send, recv):
    """Play the games that are ready; a step after an end is but a reset."""
    over = np.zeros(1024, bool)
    for row in rows(game, 1024):
        send(row[info["env_id"]], info["env_id"])
        obs, _, terminated, truncated, info = recv()
        yield obs, len(obs) - int(over[info["env_id"]].sum())
        over[info["env_id"]] = terminated | truncated


# ## Gymnasium and SB3, as their documentation has them: a process for each
# game, or a `single` one for all


def gymnasium(game, games, rule, single=False, sticky=False):
    """In the autoreset mode that is its default."""
    import gymnasium as gym
    from gymnasium import wrappers

    options = {"noop_max": 0, "terminal_on_life_loss": rule == "restart"}

    def make():
        env = gym.make(f"ale_py:{id_of(game, sticky)}", frameskip=1)
        env = wrappers.AtariPreprocessing(env, **options)
        return wrappers.FrameStackObservation(env, 4)

    vector = gym.vector.SyncVectorEnv if single else gym.vector.AsyncVectorEnv
    env = vector([make] * games)
    env.reset(seed=0)
    resets = 0
    for row in rows(game, games):
        obs, _, terminated, truncated, _ = env.step(row)
        yield obs, games - resets
        resets = int((terminated | truncated).sum())


def sb3(game, games, rule, single=False, sticky=False):
    """It presses FIRE at each start, and clips rewards."""
    from stable_baselines3.common import env_util, vec_env

    wrapper = {"noop_max": 0, "terminal_on_life_loss": rule == "continue"}
    processes = {"start_method": "fork"}  # as everyone's here
    env = env_util.make_atari_env(
        f"ale_py:{id_of(game, sticky)}",
        games,
        seed=0,
        env_kwargs={"frameskip": 1},
        wrapper_kwargs=wrapper,
        vec_env_cls=vec_env.DummyVecEnv if single else vec_env.SubprocVecEnv,
        vec_env_kwargs=None if single else processes,
    )
    yield from stepped(vec_env.VecFrameStack(env, 4), game, games)


def sb3_games(game, games, rule):
    """`Games` in place of those processes, by examples/sb3.py."""
    from game import Games
    from sb3 import GamesVecEnv

    env = GamesVecEnv(Games(games, f"{game}NoFrameskip-v4", on_life_loss=rule))
    yield from stepped(env, game, games)


def stepped(env, game, games):
    env.reset()
    for row in rows(game, games):
        yield env.step(row)[0], games


# ## labml's original worker, and ours in its place


def labml(game, games, rule):
    """A process for each game, its observations through a pipe."""
    pipes = []
    for seed in range(games):
        here, there = multiprocessing.Pipe()
        args = there, seed, game, rule
        Process(target=labml_worker, args=args, daemon=True).start()
        pipes.append(here)
    yield from stepped_by_pipes(pipes, rows(game, games))


def labml_worker(pipe, seed, game, rule):
    """What labml's worker does, but for its sums of rewards: it shrinks both
    frames, keeps its stack as float64 and resets the emulator at each lost
    life. Only "restart" is its own rule; under another it shows what its way
    costs in whole games."""
    import cv2
    import gymnasium as gym

    env = gym.make(f"ale_py:{game}NoFrameskip-v4")
    lives = env.unwrapped.ale.lives

    def shrink(screen):
        gray = cv2.cvtColor(screen, cv2.COLOR_RGB2GRAY)
        return cv2.resize(gray, (84, 84), interpolation=cv2.INTER_AREA)

    stack, two = np.zeros((4, 84, 84)), np.zeros((2, 84, 84))
    stack[:] = shrink(env.reset(seed=seed)[0])
    left = lives()
    while True:
        _, action = pipe.recv()
        reward = 0.0
        for frame in range(4):
            screen, points, done, *_ = env.step(action)
            if frame >= 2:
                two[frame % 2] = shrink(screen)
            reward += points
            done = done or (rule == "restart" and lives() < left)
            if done:
                break
        if done:
            stack[:] = shrink(env.reset()[0])
        else:
            stack = np.roll(stack, -1, axis=0)
            stack[-1] = two.max(axis=0)
        left = lives()
        pipe.send((stack, reward, done, None))


def worker(game, games, rule, plain=False):
    """`Worker`s, driven as the tutorial drives labml's."""
    from game import Worker

    if plain:
        play_plainly()
    env_id = f"{game}NoFrameskip-v4"
    workers = [Worker(i, env_id, on_life_loss=rule) for i in range(games)]
    for each in workers:
        each.child.send(("reset", None))
        each.child.recv()
    pipes = [each.child for each in workers]
    yield from stepped_by_pipes(pipes, rows(game, games))


def stepped_by_pipes(pipes, rows):
    """Send each worker its action, and make a batch of what comes back."""
    for row in rows:
        for pipe, action in zip(pipes, row, strict=True):
            pipe.send(("step", action))
        obs = np.empty((len(pipes), 4, 84, 84), np.uint8)
        for i, pipe in enumerate(pipes):
            obs[i], *_ = pipe.recv()
        yield obs, len(pipes)


# ## `Games`


def games(
    game,
    games,
    rule,
    count=1,
    snapshots=True,
    plain=False,
    single=False,
    processes=None,
    sticky=False,
):
    """`Games` as it comes. With a `count` of 2, two of them in turn: one plays
    while the network looks at the other's. `snapshots=False` makes every
    reset a true one, `plain` resizes whole screens, too, and a `single`
    process plays all games, or as many `processes`."""
    if not snapshots:
        reset_truly()
    if plain:
        play_plainly()
    options = {"processes": 0 if single else processes, "sticky": sticky}
    yield from in_turn(itertools.cycle, game, games, rule, count, **options)


def reset_truly():
    """Let no reset restore a snapshot, here and in processes to come."""
    from ale_py.env import AtariEnv

    AtariEnv.restore_state = lambda env, _: env.ale.reset_game()


def play_plainly():
    """Let each screen be resized as a whole, too, likewise."""
    import game

    reset_truly()
    game.shrink_changes = lambda shrink, screen, *_: shrink(screen)


def ready(game, games, rule, count):
    """`Games` of one process each, whichever is ready first."""
    from in_turn import ready_first

    yield from in_turn(ready_first, game, games, rule, count, processes=1)


def in_turn(order, game, games, rule, count, sticky=False, **options):
    """A `count` of `Games`, played as examples/in_turn.py does."""
    from game import Games
    from in_turn import give_way

    env_id = id_of(game, sticky)
    actions, envs = rows(game, games), []
    for number in range(count):
        seed = number * games
        env = Games(games, env_id, seed=seed, on_life_loss=rule, **options)
        env.reset()
        env.step_async(next(actions))
        envs.append(env)
    if count > 1:
        give_way()
    for env in order(envs):
        yield env.step_wait()[0], games
        env.step_async(next(actions))


# ## A contender's process


class Contender(contextlib.ExitStack):
    """A contender, seen from outside.

    `kind` and `options` are a generator of this file and what it takes. After
    each batch a network takes some milliseconds: it `"waits"` for a device,
    or `"computes"` on one of the cores. Or an `"agent"` plays Breakout, the
    published one. `folder` is where game.py is.
    """

    def __init__(self, kind, options, network=NO_NETWORK, folder=common.ROOT):
        super().__init__()
        number = common.CORES if kind == "limit" else 1
        spawn = multiprocessing.get_context("spawn")
        self.processes = [
            self.enter_context(ProcessPoolExecutor(1, spawn))
            for _ in range(number)
        ]
        self.started = self.ask(start, kind, options, network, str(folder))

    def ask(self, call, *args):
        return [process.submit(call, *args) for process in self.processes]

    def ready(self):
        """Wait until it is ready; return what it is like."""
        return [each.result() for each in self.started][0]

    def play(self, seconds):
        """Play for some seconds; return the steps a second of all."""
        self.ask(play, 0.1)  # to warm up again
        return sum(each.result() for each in self.ask(play, seconds))


def start(kind, options, network, folder):
    """Begin to play, in a process of its own; return what it is like."""
    global steps, pause
    warnings.simplefilter("ignore")
    sys.path.insert(0, folder)
    multiprocessing.set_start_method("fork", force=True)
    steps = globals()[kind](**options)
    pause = network
    play(0.5)
    me = psutil.Process()
    family = [me, *me.children(recursive=True)]
    memory = sum(each.memory_full_info().pss for each in family) / 2**20
    return {"arrays": whose(steps), "memory": round(memory, 1)}


def play(seconds):
    """Play for some seconds, with a network's pass after each batch.

    Returns transitions a second.
    """
    kind, milliseconds = pause
    played = spent = 0
    while spent < seconds:
        start = time.perf_counter()
        obs, transitions = next(steps)
        played += transitions
        end = time.perf_counter() + milliseconds / 1000
        if kind == "waits":
            time.sleep(milliseconds / 1000)
        while time.perf_counter() < end:
            pass
        spent += time.perf_counter() - start
        if kind == "agent":
            chosen[: len(obs)] = choose(obs)
    return played / spent


@functools.cache
def agent():
    """Load the published agent, which computes on one core."""
    import torch

    from ppo import Agent
    from training_run import PUBLISHED

    torch.set_num_threads(1)
    result = Agent(ACTIONS["Breakout"])
    result.load_state_dict(torch.load(PUBLISHED))
    return result


def choose(obs):
    """Sample the agent's actions, as in training."""
    import torch

    if obs.shape[-1] == 4:  # SB3's channels come last
        obs = np.moveaxis(obs, 3, 1)
    with torch.no_grad():
        policy, _ = agent()(torch.as_tensor(np.ascontiguousarray(obs)))
        return policy.sample().numpy()


def whose(steps):
    """Whether observations stay as they are, and may be written to."""
    obs, _ = next(steps)
    if obs is None:
        return None
    before = obs.copy()
    for _ in range(20):
        next(steps)
    own = (obs == before).all() and obs.flags.writeable
    return "own" if own else "shared"


# ## A host that others use


@contextlib.contextmanager
def neighbours():
    """Take a quarter of each core, as virtual machines beside this one would.

    No program here can keep its core in a burst: its priority is above all of
    theirs. Unlike a true neighbour's, Linux knows of it, and may move a
    program to another core.
    """
    spawn = multiprocessing.get_context("spawn")
    cores = os.sched_getaffinity(0)
    with contextlib.ExitStack() as stack:
        for core in cores:
            process = spawn.Process(target=bursts, args=(core,), daemon=True)
            process.start()
            stack.callback(process.join)
            stack.callback(process.kill)
            os.sched_setaffinity(process.pid, [core])
            first = os.sched_param(1)
            os.sched_setscheduler(process.pid, os.SCHED_FIFO, first)
        yield


def bursts(seed):
    """Compute for a burst, pause for a random time, and so on."""
    chance = random.Random(seed)
    while True:
        end = time.perf_counter() + BURST
        while time.perf_counter() < end:
            pass
        time.sleep(chance.expovariate(1 / PAUSE))
