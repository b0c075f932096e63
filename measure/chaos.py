"""What `Games` does when something goes wrong, and what others do.

    pip install -r requirements.txt --group measure
    python measure/chaos.py --publish   # 5 minutes

Each vector environment plays four games in a program of its own, in which one
fault happens. The program reports each call as it returns. Nobody is asked for
a timeout, but for one fault, where all that have one get the same. An engine
of threads has no workers to kill.
"""

import contextlib
import multiprocessing
import os
import signal
import time
from multiprocessing.connection import Connection
from typing import Any, NamedTuple

import gymnasium as gym
import numpy as np

import common
from game import BREAKOUT, Games

COUNT = 4  # games
SILENCE = 60  # seconds; a program that takes longer hangs
PEERS = ["games", "envpool", "ale", "gymnasium", "sb3"]
HAVE_TIMEOUTS = ["games", "gymnasium"]


class Fault(NamedTuple):
    signal: int | None = None  # that a worker gets
    timeout: float | None = None  # of a step, in seconds
    actions: list[int] = [1] * COUNT


FAULTS = {
    "killed": Fault(signal.SIGKILL),
    "stopped": Fault(signal.SIGSTOP),
    "stopped, timeout": Fault(signal.SIGSTOP, timeout=1),
    "out of range": Fault(actions=[1, 99, 1, 1]),
    "missing": Fault(actions=[1, 1, 1]),
}


def make(peer: str, timeout: float | None) -> Any:
    """Make the environment; ours with as many workers as the others have."""
    if peer == "games":
        options: dict[str, Any] = {"timeout": timeout} if timeout else {}
        return Games(COUNT, processes=COUNT, **options)
    if peer == "envpool":
        import envpool

        return envpool.make_gymnasium("Breakout-v5", num_envs=COUNT)
    if peer == "ale":
        return gym.make_vec("ALE/Breakout-v5", COUNT)
    if peer == "gymnasium":
        wrappers = [gym.wrappers.AtariPreprocessing]
        return gym.make_vec(BREAKOUT, COUNT, "async", wrappers=wrappers)
    from stable_baselines3.common import env_util, vec_env

    return env_util.make_atari_env(
        BREAKOUT, COUNT, vec_env_cls=vec_env.SubprocVecEnv
    )


def suffer(peer: str, fault: Fault, pipe: Connection) -> None:
    """The program of one peer, in which one fault happens."""
    os.setsid()
    multiprocessing.set_start_method(None, force=True)  # the usual one
    env = make(peer, fault.timeout)
    env.reset()
    good = np.ones(COUNT, np.int32)
    for _ in range(10):
        env.step(good)
    workers = multiprocessing.active_children()
    pipe.send({"workers": len(workers)})
    if fault.signal:
        if not workers:
            return
        worker = workers[1].pid
        assert worker
        os.kill(worker, fault.signal)
        time.sleep(0.1)
    start = time.perf_counter()
    outcome = step(env, np.array(fault.actions, np.int32), fault.timeout)
    seconds = round(time.perf_counter() - start)
    pipe.send({"step": outcome, "seconds": seconds})
    pipe.send({"next step": step(env, good, fault.timeout)})


def step(env: Any, actions: np.ndarray, timeout: float | None) -> str:
    """Play a step; return what it says."""
    try:
        if timeout and isinstance(env, gym.vector.AsyncVectorEnv):
            env.step_async(actions)
            result = env.step_wait(timeout)
        else:
            result = env.step(actions)
    except Exception as error:
        return type(error).__name__
    reports = isinstance(result, tuple) and "restarted" in result[-1]
    return "reports" if reports else "says nothing"


def observe(peer: str, fault: Fault) -> dict[str, Any]:
    """Let a fault happen to a peer; return what was seen of it."""
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe()
    process = context.Process(target=suffer, args=(peer, fault, there))
    process.start()
    process.join(SILENCE)
    seen = {"end": "hangs" if process.exitcode is None else "dies"}
    # Whatever is left of its session ends, too.
    assert process.pid
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.join()
    while here.poll():
        seen |= here.recv()
    print(peer, fault, seen, flush=True)
    return seen


def observe_all() -> dict[str, Any]:
    peers = {
        peer: {
            name: observe(peer, fault)
            for name, fault in FAULTS.items()
            if not fault.timeout or peer in HAVE_TIMEOUTS
        }
        for peer in PEERS
    }
    return {"hangs after": SILENCE, "peers": peers}


def main() -> None:
    run = common.options(__doc__).parse_args()
    common.measure(run, "chaos", {"peers": observe_all}, timed=False)


if __name__ == "__main__":
    main()
