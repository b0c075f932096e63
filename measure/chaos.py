"""What `Games` does when something goes wrong, and what others do.

    pip install -r requirements.txt --group measure
    python measure/chaos.py --publish   # 3 minutes

A worker is killed or stopped, an action is out of range or missing, in `Games`
and in other vector environments. Each lives in a process of its own, with four
games and its own defaults. It says how it goes, call by call. This one waits
for its end, and listens. An engine that has threads has no workers to kill.
"""

import contextlib
import multiprocessing
import os
import signal
import time
from collections.abc import Mapping
from multiprocessing.connection import Connection
from typing import Any

import gymnasium as gym
import numpy as np

import common
from game import BREAKOUT, Games

PEERS = ["games", "envpool", "ale", "gymnasium", "sb3"]
LOSSES = {"killed": signal.SIGKILL, "stopped": signal.SIGSTOP}
FAULTS = [*LOSSES, "out of range", "missing"]
PEER_GAMES = 4
TIMEOUT = 1  # seconds that a step of `Games` may take
SILENCE = 30  # seconds; a program that takes so long hangs


def make(peer: str) -> Any:
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

    return env_util.make_atari_env(
        BREAKOUT, PEER_GAMES, vec_env_cls=vec_env.SubprocVecEnv
    )


def suffer(peer: str, fault: str, pipe: Connection) -> None:
    """The process of one peer, to which one fault happens."""
    os.setsid()
    multiprocessing.set_start_method(None, force=True)  # the usual one
    env = make(peer)
    env.reset()
    good = np.ones(PEER_GAMES, np.int32)
    for _ in range(10):
        env.step(good)
    workers = multiprocessing.active_children()
    pipe.send({"workers": len(workers)})
    actions = good.copy()
    if fault in LOSSES:
        if not workers:
            return
        worker = workers[1].pid
        assert worker
        os.kill(worker, LOSSES[fault])
        time.sleep(0.1)
    elif fault == "out of range":
        actions[1] = 99
    else:
        actions = actions[:-1]
    for name, call in (
        ("step", lambda: env.step(actions)),
        ("next step", lambda: env.step(good)),
    ):
        try:
            result = call()
        except Exception as error:
            outcome = type(error).__name__
        else:
            said = isinstance(result, tuple) and "restarted" in result[-1]
            outcome = "reports" if said else "says nothing"
        pipe.send({name: outcome})


def observe(peer: str, fault: str) -> Mapping[str, Any]:
    """Let a fault happen to a peer; return what was seen of it."""
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe()
    process = context.Process(target=suffer, args=(peer, fault, there))
    process.start()
    process.join(SILENCE)
    end = "hangs" if process.exitcode is None else "dies"
    # Whatever is left of its session ends, too.
    assert process.pid
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.join()
    seen = {"end": end}
    while here.poll():
        seen |= here.recv()
    print(peer, fault, seen, flush=True)
    return seen


def observe_all() -> dict[str, Any]:
    table = {
        peer: {fault: observe(peer, fault) for fault in FAULTS}
        for peer in PEERS
    }
    return {"games": PEER_GAMES, "hangs after": SILENCE, "peers": table}


def main() -> None:
    run = common.options(__doc__).parse_args()
    common.measure(run, "chaos", {"peers": observe_all}, timed=False)


if __name__ == "__main__":
    main()
