"""What `Games` does when something dies, and what others do.

    pip install -r requirements.txt --group measure
    python measure/chaos.py peers            # 3 minutes
    python measure/chaos.py soak --publish   # 10 minutes

- peers: a worker is killed or stopped, an action is out of range or missing,
  in `Games` and in other vector environments
- soak: workers are lost at random, batches of actions are bad, and workers
  pause. Each result is compared with that of games which nobody disturbs, and
  a difference ends it with an error. If nobody waits for it, begin it by
  `setsid`: when the shell that has begun it ends, Linux wakes up stopped
  workers
"""

import contextlib
import itertools
import multiprocessing
import os
import random
import signal
import time
import warnings
from collections import Counter
from collections.abc import Mapping
from multiprocessing.connection import Connection
from typing import Any

import gymnasium as gym
import numpy as np
import psutil

import common
from game import BREAKOUT, TRAINING, Game, Games

TIMEOUT = 1  # seconds that a step of `Games` may take

# The soak

GAMES = 8
TITLES = [BREAKOUT, "ALE/MsPacman-v5", "PongNoFrameskip-v4"]
STEPS = 1000  # of a title, until the next one is played
RATE = 0.05  # of steps in which a kind of fault happens
MOST = 3  # workers lost until a reset; `Games` gives up if there are too many
LOSSES = {
    "killed": signal.SIGKILL,
    "stopped": signal.SIGSTOP,
    "terminated": signal.SIGTERM,
    "segmentation fault": signal.SIGSEGV,
}


class Undisturbed:
    """The same games, each played by itself."""

    def __init__(self, env_id: str) -> None:
        self.env_id = env_id

    def start(self, seed: int) -> Game:
        return Game(seed, self.env_id, **TRAINING)

    def reset(self, seed: int) -> np.ndarray:
        self.seed = seed
        self.games = [self.start(seed + i) for i in range(GAMES)]
        return np.stack([game.reset() for game in self.games])

    def step(
        self, actions: np.ndarray, restarted: np.ndarray
    ) -> list[np.ndarray]:
        """Return observations, rewards, whether an episode is over, scores.

        The games that `restarted` start over from their seeds.
        """
        results: list[tuple] = []
        for i, action in enumerate(actions.tolist()):
            if restarted[i]:
                self.games[i] = self.start(self.seed + i)
                results.append((self.games[i].reset(), 0.0, True, 0.0))
                continue
            *result, info = self.games[i].step(action)
            results.append((*result, info["reward"] if info else 0.0))
        return [np.array(column) for column in zip(*results, strict=True)]


def soak(seconds: float) -> dict[str, Any]:
    """Play for some time, and let bad things happen."""
    counts: Counter[str] = Counter()
    memory = []  # MB, title by title
    start = time.monotonic()
    for env_id in itertools.cycle(TITLES):
        if time.monotonic() > start + seconds:
            break
        soak_title(env_id, counts)
        used = psutil.Process().memory_full_info().uss / 2**20
        memory.append(round(used, 1))
        print(dict(counts), f"{used:.0f} MB", flush=True)
    left = multiprocessing.active_children()
    return {
        "seconds": round(time.monotonic() - start),
        "counts": counts,
        "memory": memory,
        "processes left": len(left),
    }


def soak_title(env_id: str, counts: Counter[str]) -> None:
    """Play a title, and compare each step; add to what has happened."""
    twin = Undisturbed(env_id)
    with Games(GAMES, env_id, timeout=TIMEOUT) as games:
        losses = MOST
        pending = False  # a worker that is lost, which nobody has noticed
        for step in range(STEPS):
            if losses == MOST and not pending:
                obs, _ = games.reset(seed=step)
                assert (obs == twin.reset(step)).all()
                losses = 0
            actions = games.action_space.sample()
            if random.random() < RATE:
                send_too_few(games, actions)
                counts["bad batches"] += 1

            # A fault may come before a worker's answer, or after it: then the
            # next step notices.
            games.step_async(actions)
            time.sleep(random.uniform(0, 0.003))
            worker = random.choice(pids())
            # A pause would wake up a worker that is stopped.
            if not pending and random.random() < RATE:
                os.kill(worker, signal.SIGSTOP)
                time.sleep(0.1)
                os.kill(worker, signal.SIGCONT)
                counts["pauses"] += 1
            may_end = losses < MOST and not pending and step < STEPS - 1
            if may_end and random.random() < RATE:
                name = random.choice(list(LOSSES))
                os.kill(worker, LOSSES[name])
                time.sleep(0.1)
                counts[name] += 1
                counts["lost"] += 1
                losses += 1
                pending = True
            if finish_step(games, twin, actions, counts):
                pending = False


def pids() -> list[int]:
    """The workers of this program."""
    workers = multiprocessing.active_children()
    return sorted(worker.pid for worker in workers if worker.pid)


def send_too_few(games: Games, actions: np.ndarray) -> None:
    """Send a batch that lacks an action; no game moves."""
    try:
        games.step(actions[1:])
    except ValueError:
        return
    raise AssertionError("a batch that is too short was played")


def finish_step(
    games: Games,
    twin: Undisturbed,
    actions: np.ndarray,
    counts: Counter[str],
) -> bool:
    """Compare a step with the twin's; return whether a worker was replaced."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        obs, rewards, terminated, truncated, infos = games.step_wait()
    counts["replaced"] += len(caught)
    restarted = infos.get("restarted", np.zeros(GAMES, bool))
    over = terminated | truncated
    scores = infos.get("episode", {"r": np.zeros(GAMES)})["r"]
    found = obs, rewards, over, scores
    expected = twin.step(actions, restarted)
    for ours, theirs in zip(found, expected, strict=True):
        np.testing.assert_array_equal(ours, theirs)
    counts["steps"] += GAMES
    return bool(restarted.any())


# Others, under the same faults
#
# Each lives in a process of its own, with four games and its own defaults. It
# says how it goes, call by call. This one waits for its end, and listens.

PEERS = ["games", "envpool", "ale", "gymnasium", "sb3"]
FAULTS = ["killed", "stopped", "out of range", "missing"]
PEER_GAMES = 4
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
    workers = pids()
    pipe.send({"workers": len(workers)})
    actions = good.copy()
    if fault in LOSSES:
        # The workers of the two engines are threads. What kills or stops a
        # thread does so to its whole process.
        worker = workers[1] if workers else os.getpid()
        os.kill(worker, LOSSES[fault])
        time.sleep(0.1)
    elif fault == "out of range":
        actions[1] = 99
    else:
        actions = actions[:-1]
    for name, call in (
        ("step", lambda: env.step(actions)),
        ("next step", lambda: env.step(good)),
        ("close", env.close),
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
    end = "dies"
    if process.exitcode is None:
        status = psutil.Process(process.pid).status()
        end = "stops" if status == psutil.STATUS_STOPPED else "hangs"
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
    parser = common.options(__doc__)
    parser.add_argument("parts", nargs="+", choices=["peers", "soak"])
    parser.add_argument("--seconds", type=float, default=550, help="of soak")
    run = parser.parse_args()
    parts = {"peers": observe_all, "soak": lambda: soak(run.seconds)}
    chosen = {name: parts[name] for name in run.parts}
    common.measure(run, "chaos", chosen, timed=False)


if __name__ == "__main__":
    main()
