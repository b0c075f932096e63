"""The contenders of benchmark.py, and the process that each of them lives in.

A contender is a generator: it yields observations and how many transitions
that played frames they stand for, then steps again. What happens between the
two, a network say, is for its user. All make the same observation: the maximum
of two frames, gray, 84×84, the last four (labml's shrinks, then takes the
maximum). Nobody repeats actions at random, plays no-ops or presses FIRE at the
start, as far as it lets itself be told.

`rule` says what a lost life does, in the words of `Game`: "restart" the game,
"continue" it as a new episode, or "ignore" the loss: whole games.

Each imports what it needs by itself, since its memory is measured, too.
"""

import itertools
import multiprocessing
import os
import sys
import time
import warnings

import common  # it says where game.py is

ACTIONS = {"Breakout": 4, "Pong": 6, "MsPacman": 9, "Seaquest": 18}
ROMS = {"MsPacman": "ms_pacman"}  # where ALE's name is not the id's


def rows(game, games):
    """Random actions, the same for all: game i's are those of column i."""
    import numpy as np

    table = np.random.RandomState(0).randint(ACTIONS[game], size=(1024, 1024))
    return itertools.cycle(np.ascontiguousarray(table[:, :games]))


def gym_with_ale():
    """Gymnasium with ALE's titles, whose emulator says nothing."""
    import ale_py
    import gymnasium as gym

    gym.register_envs(ale_py)
    ale_py.ALEInterface.setLoggerMode(ale_py.LoggerMode.Error)
    return gym


# ## The limit, and the two C++ engines


def limit(game, games, rule):
    """`act` four times and nothing else; a process for each core does that."""
    import ale_py

    ale_py.ALEInterface.setLoggerMode(ale_py.LoggerMode.Error)
    ale = ale_py.ALEInterface()
    ale.setFloat("repeat_action_probability", 0.0)
    ale.loadROM(ale_py.roms.get_rom_path(ROMS.get(game, game.lower())))
    legal, lives = ale.getMinimalActionSet(), ale.lives()
    for (action,) in rows(game, 1):
        for _ in range(4):
            ale.act(legal[action])
        if ale.game_over() or (rule == "restart" and ale.lives() < lives):
            ale.reset_game()
        lives = ale.lives()
        yield None, 1


def ale(game, games, rule, num_envs, threads):
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
    )
    *_, info = env.reset(seed=0)
    yield from batches(game, info, lambda row, ids: env.send(row), env.recv)


def envpool(game, games, rule, num_envs, threads):
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
    )
    env.async_reset()
    *_, info = env.recv()

    def send(row, ids):
        env.send(row.astype("int32"), ids)

    yield from batches(game, info, send, env.recv)


def batches(game, info, send, recv):
    """Play the games that are ready; a step after an end is but a reset."""
    over = None
    for row in rows(game, 1024):
        over = row < 0 if over is None else over  # nobody's yet
        send(row[info["env_id"]], info["env_id"])
        obs, _, terminated, truncated, info = recv()
        yield obs, len(obs) - int(over[info["env_id"]].sum())
        over[info["env_id"]] = terminated | truncated


# ## The processes of Gymnasium and of SB3, as their documentation has them


def gymnasium(game, games, rule):
    """In the autoreset mode that is its default."""
    from gymnasium import wrappers

    gym = gym_with_ale()

    def make():
        env = wrappers.AtariPreprocessing(
            gym.make(f"{game}NoFrameskip-v4"),
            noop_max=0,
            terminal_on_life_loss=rule == "restart",
        )
        return wrappers.FrameStackObservation(env, 4)

    env = gym.vector.AsyncVectorEnv([make] * games)
    env.reset(seed=0)
    resets = 0
    for row in rows(game, games):
        obs, _, terminated, truncated, _ = env.step(row)
        yield obs, games - resets
        resets = int((terminated | truncated).sum())


def sb3(game, games, rule):
    """It presses FIRE at each start, and clips rewards."""
    from stable_baselines3.common import env_util, vec_env

    gym_with_ale()
    env = env_util.make_atari_env(
        f"{game}NoFrameskip-v4",
        games,
        seed=0,
        vec_env_cls=vec_env.SubprocVecEnv,
        vec_env_kwargs={"start_method": "fork"},  # as everyone's here
        wrapper_kwargs={
            "noop_max": 0,
            "terminal_on_life_loss": rule == "continue",
        },
    )
    yield from stepped(vec_env.VecFrameStack(env, 4), game, games)


def sb3_games(game, games, rule):
    """`Games` in place of those processes, by examples/sb3.py."""
    from game import Games
    from sb3 import GamesVecEnv

    gym_with_ale()
    env = GamesVecEnv(Games(games, f"{game}NoFrameskip-v4", on_life_loss=rule))
    yield from stepped(env, game, games)


def stepped(env, game, games):
    env.reset()
    for row in rows(game, games):
        yield env.step(row)[0], games


# ## labml's original worker, and ours in its place


def labml(game, games, rule):
    """A process for each game, its observations through a pipe."""
    yield from pipes(labml_pipes(game, games, rule), game)


def labml_pipes(game, games, rule):
    remotes = []
    for seed in range(games):
        remote, pipe = multiprocessing.Pipe()
        multiprocessing.Process(
            target=labml_worker, args=(pipe, seed, game, rule), daemon=True
        ).start()
        remotes.append(remote)
    return remotes


def labml_worker(pipe, seed, game, rule):
    """What labml's worker does: it shrinks both frames, keeps its stack as
    float64 and resets the emulator at each lost life. Only "restart" is its
    own rule; under another it shows what its way costs in whole games."""
    import cv2
    import numpy as np

    env = gym_with_ale().make(f"{game}NoFrameskip-v4")
    lives = env.unwrapped.ale.lives

    def shrink(screen):
        gray = cv2.cvtColor(screen, cv2.COLOR_RGB2GRAY)
        return cv2.resize(gray, (84, 84), interpolation=cv2.INTER_AREA)

    stack, two = np.zeros((4, 84, 84)), np.zeros((2, 84, 84))
    stack[:] = shrink(env.reset(seed=seed)[0])
    rewards, left = [], lives()
    while True:
        _, action = pipe.recv()
        reward, info = 0.0, None
        for frame in range(4):
            screen, points, done, *_ = env.step(action)
            if frame >= 2:
                two[frame % 2] = shrink(screen)
            reward += points
            done = done or (rule == "restart" and lives() < left)
            if done:
                break
        rewards.append(reward)
        if done:
            info = {"reward": sum(rewards), "length": len(rewards)}
            stack[:] = shrink(env.reset()[0])
            rewards = []
        else:
            stack = np.roll(stack, -1, axis=0)
            stack[-1] = two.max(axis=0)
        left = lives()
        pipe.send((stack, reward, done, info))


def worker(game, games, rule):
    """`Worker`s, driven as the tutorial drives labml's."""
    from game import Worker

    gym_with_ale()
    env_id = f"{game}NoFrameskip-v4"
    workers = [Worker(i, env_id, on_life_loss=rule) for i in range(games)]
    for each in workers:
        each.child.send(("reset", None))
        each.child.recv()
    yield from pipes([each.child for each in workers], game)


def pipes(remotes, game):
    """Send each worker its action, and make a batch of what comes back."""
    import numpy as np

    for row in rows(game, len(remotes)):
        for remote, action in zip(remotes, row, strict=True):
            remote.send(("step", action))
        obs = np.empty((len(remotes), 4, 84, 84), np.uint8)
        for i, remote in enumerate(remotes):
            obs[i], *_ = remote.recv()
        yield obs, len(remotes)


# ## `Games`


def games(game, games, rule, count=1, snapshots=True):
    """`Games` as it comes. With a `count` of 2, two of them in turn: one plays
    while the network looks at the other's. `snapshots=False` makes every
    reset a true one."""
    import ale_py.env

    from game import Games

    gym_with_ale()
    if not snapshots:
        ale_py.env.AtariEnv.restore_state = lambda env, _: env.ale.reset_game()
    actions, envs = rows(game, games), []
    for number in range(count):
        env = Games(
            games,
            f"{game}NoFrameskip-v4",
            seed=number * games,
            on_life_loss=rule,
        )
        env.reset()
        env.step_async(next(actions))
        envs.append(env)
    for env, row in zip(itertools.cycle(envs), actions):
        yield env.step_wait()[0], games
        env.step_async(row)


# ## A contender's process


class Contender:
    """A contender, seen from outside.

    `kind` and `options` are a generator of this file and what it takes. After
    each batch a network takes some milliseconds: it `"waits"` for a device,
    or `"computes"` on one of the cores. `folder` is where game.py is.
    """

    def __init__(self, kind, options, network=("computes", 0), folder=None):
        number = 1
        if kind == "limit":
            number = min(common.CORES, options["games"])
        context = multiprocessing.get_context("spawn")
        self.pipes = []
        self.processes = []
        for _ in range(number):
            here, there = context.Pipe()
            args = there, kind, options, network, str(folder or common.ROOT)
            process = context.Process(target=live, args=args)
            process.start()
            there.close()
            self.pipes.append(here)
            self.processes.append(process)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for pipe, process in zip(self.pipes, self.processes, strict=True):
            pipe.close()
            process.join()

    def ready(self):
        """Wait until it is ready; return what it is like."""
        return [pipe.recv() for pipe in self.pipes][0]

    def play(self, seconds):
        """Play for some seconds; return the steps a second of all."""
        for pipe in self.pipes:
            pipe.send(seconds)
        return sum(pipe.recv() for pipe in self.pipes)


def live(pipe, kind, options, network, folder):
    """Say that all is ready; then play as long as each message says."""
    import psutil

    warnings.simplefilter("ignore")
    sys.path.insert(0, folder)
    multiprocessing.set_start_method("fork", force=True)
    steps = globals()[kind](**options)
    arrays = whose(steps)
    play(steps, 0.5, network)
    me = psutil.Process()
    family = [me, *me.children(recursive=True)]
    memory = sum(each.memory_full_info().pss for each in family) / 2**20
    pipe.send({"arrays": arrays, "memory": round(memory, 1)})
    try:
        while True:
            seconds = pipe.recv()
            play(steps, 0.1, network)
            pipe.send(play(steps, seconds, network))
    except EOFError:
        for each in me.children(recursive=True):
            each.kill()
        os._exit(0)


def play(steps, seconds, network):
    """Play for some seconds, a network's pass after each batch.

    Returns transitions a second.
    """
    kind, milliseconds = network
    played = 0
    start = time.perf_counter()
    while (spent := time.perf_counter() - start) < seconds:
        _, transitions = next(steps)
        played += transitions
        end = time.perf_counter() + milliseconds / 1000
        if kind == "waits":
            time.sleep(milliseconds / 1000)
        while time.perf_counter() < end:
            pass
    return played / spent


def whose(steps):
    """Whether observations stay as they are, and may be written to."""
    obs, _ = next(steps)
    if obs is None:
        return None
    before = obs.copy()
    for _ in range(20):
        next(steps)
    if (obs != before).any():
        return "overwritten"
    return "own" if obs.flags.writeable else "read-only"
