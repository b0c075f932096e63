"""What `Games` of game.py does when its workers are killed, and what peers do.

    pip install -r requirements.txt --group measure
    python measure/chaos.py          # all parts, 22 minutes
    python measure/chaos.py replace  # one of them
    python measure/chaos.py --publish

A part that is measured again replaces itself in chaos.json; report.py makes
docs/faults.md and README's table of it. The parts:

- soak: faults at random, 10 minutes. If nobody waits for it, begin it by
  `setsid`: when the shell that has begun it ends, Linux makes stopped workers
  go on, which then look like a fault that wasn't noticed
- replace: what a replacement costs, 3 minutes
- peers: the same faults elsewhere, 9 minutes
"""

import contextlib
import itertools
import multiprocessing
import os
import random
import signal
import time
from collections import Counter, defaultdict
from statistics import median

import gymnasium as gym
import numpy as np
import psutil
from gymnasium.vector import AutoresetMode

import common
from game import BREAKOUT, Game, Games

TIMEOUT = 1  # seconds that a step of `Games` may take
GAMES = 8

# The soak
#
# `Games` plays, and each result is compared with that of the twin of
# test_game.py, whose games are played one by one and undisturbed. A difference
# ends the soak with an error, and with a call without an answer it has no end:
# then nothing is written.

TITLES = [BREAKOUT, "SeaquestNoFrameskip-v4"]
TITLES += ["ALE/MsPacman-v5", "PongNoFrameskip-v4"]
MODES = [AutoresetMode.SAME_STEP, AutoresetMode.NEXT_STEP]
OPTIONS = {"on_life_loss": "continue", "noop_max": 30}
SECONDS = 600  # that it takes at least
STEPS = 1000  # of a title, until the next one is played
RATE = 0.05  # of steps in which something bad happens
SIGNALS = {
    "killed": [signal.SIGKILL],
    "stopped": [signal.SIGSTOP],
    "paused": [signal.SIGSTOP, signal.SIGCONT],
    "terminated": [signal.SIGTERM],
    "segmentation fault": [signal.SIGSEGV],
}


def soak():
    """Play for some minutes, and let bad things happen."""
    me = psutil.Process()
    faults, sums = Counter(), Counter()
    memory, descriptors = [], []  # round by round
    start = time.monotonic()
    rounds = itertools.cycle(itertools.product(TITLES, MODES))
    while time.monotonic() - start < SECONDS:
        soak_round(*next(rounds), faults, sums)
        memory.append(round(me.memory_full_info().uss / 2**20, 1))
        descriptors.append(me.num_fds())
    harmless = faults["bad batch of actions"] + faults["paused"]
    deadly = faults.total() - harmless
    return {
        "seconds": round(time.monotonic() - start),
        "games": GAMES,
        "frames": sums["env steps"] * 4,
        **sums,
        "replaced without a fault": max(0, sums["replaced"] - deadly),
        "faults not noticed": max(0, deadly - sums["replaced"]),
        "faults": faults,
        "compared": sums["env steps"],
        "differences": 0,
        "no answer": 0,
        "left": {
            "processes": len(me.children(recursive=True)),
            "descriptors": descriptors[-1] - descriptors[0],
        },
        "memory in MB, round by round": memory,
    }


def soak_round(title, mode, faults, sums):
    """Play a title in a mode; add to what has happened."""
    import pytest

    from test_game import pair, restarted_in, same

    how = {"mode": mode, "timeout": TIMEOUT, "env_id": title, **OPTIONS}
    how["model"] = Game
    with pair(GAMES, **how) as (games, twin):
        dying = False
        for step in range(STEPS):
            start = time.monotonic()
            workers = set(multiprocessing.active_children())
            actions = games.action_space.sample()
            if random.random() < RATE:
                with pytest.raises(ValueError):
                    games.step(actions[1:])
                faults["bad batch of actions"] += 1

            # A fault may strike before or after a worker's answer, and in the
            # latter case the next step reports it. It is waited for.
            games.step_async(actions)
            if random.random() < RATE and not dying and step < STEPS - 1:
                name = random.choice(list(SIGNALS))
                time.sleep(random.uniform(0, 0.003))
                worker = random.choice(list(workers))
                for number in SIGNALS[name]:
                    os.kill(worker.pid, number)
                    time.sleep(0.1)
                faults[name] += 1
                dying = name != "paused"
            result = games.step_wait()
            restarted = restarted_in(result)
            assert same(result, twin.step(actions, restarted))
            dying = dying and not restarted
            sums["games disturbed"] += len(restarted)
            new = set(multiprocessing.active_children()) - workers
            sums["replaced"] += len(new)
            sums["env steps"] += GAMES
            spent = round(time.monotonic() - start, 2)
            sums["longest step"] = max(sums["longest step"], spent)


# What a replacement costs

ROUNDS = 5
HITS = {
    "killed": (signal.SIGKILL, 1),
    "two killed": (signal.SIGKILL, 2),
    "stopped": (signal.SIGSTOP, 1),
    "two stopped": (signal.SIGSTOP, 2),
}


def replace():
    """Seconds: a plain start, and steps that replace, less a plain step."""
    contexts = {}
    for context in ("fork", "spawn", "forkserver"):
        times = contexts[context] = defaultdict(list)
        options = {"timeout": TIMEOUT, "context": context}
        with Games(GAMES, processes=2, **options) as games:
            games.reset()
            for _ in range(ROUNDS):
                # Another worker with as many games as each of these.
                start = time.perf_counter()
                with Games(GAMES // 2, processes=1, **options) as another:
                    another.reset()
                    spent = time.perf_counter() - start
                times["start"].append(round(spent, 3))
                for name, (number, count) in HITS.items():
                    plain = median(timed(games) for _ in range(20))
                    for worker in multiprocessing.active_children()[:count]:
                        os.kill(worker.pid, number)
                    late = TIMEOUT if "stopped" in name else 0
                    spent = timed(games) - plain - late
                    times[name].append(round(spent, 3))
    return {
        "rounds": ROUNDS,
        "games to a worker": GAMES // 2,
        "timeout": TIMEOUT,
        "seconds": contexts,
    }


def timed(games):
    start = time.perf_counter()
    games.step([0] * GAMES)
    return time.perf_counter() - start


# The peers, under the same faults
#
# Each lives in a process of its own, with four games and its own defaults. It
# says how it goes, call by call. This one waits for its end, and listens.

PEERS = ["games", "envpool", "ale", "gymnasium", "sb3"]
# A worker is killed or stopped, an action is out of range, or one too few.
FAULTS = ["killed", "stopped", "range", "short"]
PEER_GAMES = 4
SILENCE = 60  # seconds; a program that takes so long hangs


def make(peer):
    """Make the environment; ours with as many workers as the others have."""
    if peer == "games":
        return Games(PEER_GAMES, processes=PEER_GAMES, timeout=TIMEOUT)
    if peer == "envpool":
        import envpool

        return envpool.make_gymnasium("Breakout-v5", num_envs=PEER_GAMES)
    if peer == "ale":
        return gym.make_vec("ALE/Breakout-v5", PEER_GAMES)
    if peer == "gymnasium":
        wrappers = [gym.wrappers.AtariPreprocessing]
        return gym.make_vec(BREAKOUT, PEER_GAMES, "async", wrappers=wrappers)
    from stable_baselines3.common import env_util, vec_env

    how = {"vec_env_cls": vec_env.SubprocVecEnv}
    return env_util.make_atari_env(BREAKOUT, PEER_GAMES, **how)


def victim(peer, fault, pipe):
    """The process of one peer, to which one fault happens."""
    os.setsid()
    multiprocessing.set_start_method(None, force=True)  # the usual one
    env = make(peer)
    env.reset()
    good = np.ones(PEER_GAMES, np.int32)
    for _ in range(10):
        env.step(good)
    pids = sorted(each.pid for each in multiprocessing.active_children())
    pipe.send({"workers": len(pids)})
    actions = good.copy()
    if fault in SIGNALS:
        # The workers of the two engines are threads. What kills or stops a
        # thread does so to its whole process.
        worker = pids[1] if pids else os.getpid()
        os.kill(worker, SIGNALS[fault][0])
        time.sleep(0.1)
    elif fault == "range":
        actions[1] = 99
    else:
        actions = actions[:-1]
    for name, call in (
        ("step", lambda: env.step(actions)),
        ("next", lambda: env.step(good)),
        ("close", env.close),
    ):
        try:
            result = call()
        except Exception as error:
            outcome = type(error).__name__
        else:
            told = isinstance(result, tuple) and "restarted" in result[-1]
            outcome = "told" if told else "silent"
        pipe.send({name: outcome})
    time.sleep(1)
    pipe.send({"stay": len(multiprocessing.active_children())})


def observe(peer, fault):
    """Start a victim; return what was seen of it."""
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe()
    process = context.Process(target=victim, args=(peer, fault, there))
    process.start()
    process.join(SILENCE)
    silence = "the program dies"
    if process.exitcode is None:
        status = psutil.Process(process.pid).status()
        stopped = status == psutil.STATUS_STOPPED
        silence = "the program stops" if stopped else "hangs"
    seen = {"silence": silence}
    # Whatever is left of its session ends, too.
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.join()
    while here.poll():
        seen |= here.recv()
    return seen


def peers():
    """All faults with all peers."""
    table = {
        peer: {fault: observe(peer, fault) for fault in FAULTS}
        for peer in PEERS
    }
    return {"games": PEER_GAMES, "hangs after": SILENCE, "peers": table}


PARTS = {"soak": soak, "replace": replace, "peers": peers}


def main():
    common.measure(__doc__, "chaos.json", PARTS, lambda part, _: PARTS[part]())


if __name__ == "__main__":
    main()
