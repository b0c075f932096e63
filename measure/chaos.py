"""What `Games` of game.py does when its workers are killed, and what peers do.

    pip install -r requirements.txt --group measure
    python measure/chaos.py          # all parts, 22 minutes
    python measure/chaos.py replace  # one of them
    python measure/chaos.py --publish

A part that is measured again replaces itself in chaos.json; report.py makes
docs/faults.md and README's table of it. The parts:

- soak: calls and faults at random, 10 minutes
- replace: what a replacement costs, 3 minutes
- peers: the same faults elsewhere, 9 minutes
"""

import contextlib
import faulthandler
import functools
import gc
import itertools
import json
import math
import multiprocessing
import os
import pathlib
import signal
import tempfile
import time
from collections import Counter
from statistics import median

import gymnasium as gym
import numpy as np
import psutil

import common
from game import Games, Worker

BREAKOUT = "BreakoutNoFrameskip-v4"
TIMEOUT = 1  # seconds that a step of `Games` may take

# The soak
#
# test_game.py has a machine that makes the calls of `Games` in any order, lets
# everything go wrong that can, and compares each result with what games return
# that are played alone. There it plays an emulator made up for the tests, for
# seconds; here it plays real titles, for minutes. A difference, or a call
# without an answer, ends the soak with an error, and nothing is written.

TITLES = ["BreakoutNoFrameskip-v4", "SeaquestNoFrameskip-v4"]
TITLES += ["ALE/MsPacman-v5", "PongNoFrameskip-v4"]
SECONDS = 600  # that it takes at least
EXAMPLES = 5  # of `Games` of a title, until the next one is played
CALLS = 60  # of each
FRAMES = 400  # of a game, where its length is limited
LIMIT = 600  # seconds; a round that takes so long is one without an answer


class Haunted:
    """A real emulator, in which the ghost of the tests can do its deeds."""

    def __init__(self, ale, ghost):
        self._ale = ale
        self._ghost = ghost
        self.seed = None

    def __getattr__(self, name):
        method = getattr(self._ale, name)
        if name in ("act", "reset_game", "restoreState", "getScreenRGB"):
            self._ghost(self.seed)
        return method


def haunt(env, ghost):
    """Put a ghost into a title of Gymnasium's.

    The title keeps its first three actions, as the made up one has them.
    """
    inner = env.unwrapped
    inner._action_set = inner._action_set[:3]
    inner.action_space = gym.spaces.Discrete(3)
    inner.ale = Haunted(inner.ale, ghost)
    seed_game = inner.seed_game

    def seed_both(seed=None):
        inner.ale.seed = seed
        return seed_game(seed)

    inner.seed_game = seed_both
    return env


def soak():
    """Let the machine of test_game.py play real titles."""
    import hypothesis
    from hypothesis import stateful, strategies

    import game
    import test_game

    make = gym.make
    faults = Counter()
    sums = Counter()

    class Trap(test_game.Trap):
        def set(self, deed, *args, **options):
            self.deed = deed.__name__
            super().set(deed, *args, **options)

        def sprung(self):
            sprung = super().sprung()
            if sprung:
                faults[self.deed] += 1
            return sprung

    def kill(pid, plain=test_game.kill):
        faults["killed from outside"] += 1
        plain(pid)

    class CountedWorker(Worker):
        def __init__(self, *args, **options):
            super().__init__(*args, **options)
            sums["replaced"] += 1  # or new, which `teardown` takes off

    class Soak(test_game.Calls):
        def check_step(self, result, actions):
            super().check_step(result, actions)
            *_, infos = result
            sums["env steps"] += self.games.num_envs
            sums["games disturbed"] += int(sum(infos.get("restarted", [0])))

        @stateful.precondition(lambda self: self.state == "ready")
        @stateful.rule(seed=strategies.integers(0, 1000))
        def play_on(self, seed):
            """Many steps in a row, since the machine makes few by itself."""
            rng = np.random.default_rng(seed)
            for actions in rng.integers(3, size=(100, self.games.num_envs)):
                self.check_step(self.games.step(actions), list(actions))

        def teardown(self):
            super().teardown()
            sums["replaced"] -= self.processes

    test_game.kill = kill
    test_game.Trap = Trap
    game.Worker = CountedWorker
    settings = hypothesis.settings(
        max_examples=EXAMPLES,
        stateful_step_count=CALLS,
        derandomize=False,
        database=None,
        deadline=None,
        phases=[hypothesis.Phase.generate],
        suppress_health_check=list(hypothesis.HealthCheck),
    )
    me = psutil.Process()
    memory = []
    start = time.monotonic()
    modes = test_game.SAME_STEP, test_game.NEXT_STEP
    ways = itertools.cycle(itertools.product([2, 3, 1, 0], modes))
    for title in itertools.cycle(TITLES):
        processes, mode = next(ways)

        def real(ghost, limit, title=title, **_):
            options = {"frameskip": 1, "obs_type": "ram"}
            if limit < math.inf:
                options["max_num_frames_per_episode"] = FRAMES
            return haunt(make(title, **options), ghost)

        test_game.FakeEnv = real
        faulthandler.dump_traceback_later(LIMIT, exit=True)
        stateful.run_state_machine_as_test(
            functools.partial(Soak, processes, mode), settings=settings
        )
        gc.collect()
        memory.append(round(me.memory_full_info().uss / 2**20, 1))
        if len(memory) == len(TITLES):  # what is loaded once is loaded
            descriptors = me.num_fds()
        spent = time.monotonic() - start
        print(f"{dict(sums)}, {dict(faults)}, {spent:.0f} s", flush=True)
        if spent > SECONDS and len(memory) > len(TITLES):
            break
    faulthandler.cancel_dump_traceback_later()
    return {
        "seconds": round(spent),
        "games": test_game.N,
        "frames": sums["env steps"] * 4,
        **sums,
        "faults": faults,
        "compared": sums["env steps"],
        "differences": 0,
        "no answer": 0,
        "left": {
            "processes": len(me.children(recursive=True)),
            "descriptors": me.num_fds() - descriptors,
        },
        "memory in MB, round by round": memory,
    }


# What a replacement costs

GAMES = 8
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
        print(context, flush=True)
        times = {name: [] for name in ("start", *HITS)}
        options = {"timeout": TIMEOUT, "context": context}
        with Games(GAMES, processes=2, **options) as games:
            games.reset()
            # Another worker with as many games as each of these.
            for _ in range(ROUNDS):
                start = time.perf_counter()
                with Games(GAMES // 2, processes=1, **options) as another:
                    another.reset()
                    times["start"].append(time.perf_counter() - start)
            for _ in range(ROUNDS):
                for name, (number, count) in HITS.items():
                    plain = median(timed(games) for _ in range(20))
                    for worker in multiprocessing.active_children()[:count]:
                        os.kill(worker.pid, number)
                    spent = timed(games) - plain
                    if number == signal.SIGSTOP:
                        spent -= TIMEOUT
                    times[name].append(spent)
        contexts[context] = {
            name: [round(value, 3) for value in values]
            for name, values in times.items()
        }
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
# writes down how it goes, a line for each call. This one waits for its end,
# and reads the lines.

PEERS = ["games", "envpool", "ale", "gymnasium", "sb3"]
FAULTS = {
    "killed": "a worker is killed",
    "stopped": "a worker is stopped",
    "range": "an action out of range",
    "short": "an action too few",
}
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
        from ale_py.vector_env import AtariVectorEnv

        return AtariVectorEnv("breakout", PEER_GAMES)
    if peer == "gymnasium":
        return gym.vector.AsyncVectorEnv([make_one] * PEER_GAMES)
    from stable_baselines3.common import env_util, vec_env

    how = {"vec_env_cls": vec_env.SubprocVecEnv}
    return env_util.make_atari_env(BREAKOUT, PEER_GAMES, **how)


def make_one():
    return gym.wrappers.AtariPreprocessing(gym.make(BREAKOUT))


def victim(peer, fault, path):
    """The process of one peer, to which one fault happens."""
    os.setsid()
    with open(os.devnull, "w") as nowhere:
        os.dup2(nowhere.fileno(), 1)
        os.dup2(nowhere.fileno(), 2)
    multiprocessing.set_start_method(None, force=True)  # the usual one

    def say(what, value):
        with path.open("a") as lines:
            print(json.dumps([what, value]), file=lines)

    def outcome(what, call, *args):
        try:
            result = call(*args)
        except Exception as error:
            say(what, type(error).__name__)
        else:
            told = isinstance(result, tuple) and "restarted" in result[-1]
            say(what, "told" if told else "silent")

    def threads():
        return {thread.id for thread in psutil.Process().threads()}

    before, env = threads(), make(peer)
    env.reset()
    good = np.ones(PEER_GAMES, np.int32)
    for _ in range(10):
        env.step(good)
    pids = sorted(each.pid for each in multiprocessing.active_children())
    workers = [psutil.Process(pid) for pid in pids]
    say("workers", len(workers))
    actions = good.copy()
    if fault in ("killed", "stopped"):
        # The workers of the two engines are threads.
        worker = [*pids, *sorted(threads() - before)][1]
        number = signal.SIGKILL if fault == "killed" else signal.SIGSTOP
        os.kill(worker, number)
        time.sleep(0.1)
    elif fault == "range":
        actions[1] = 99
    else:
        actions = actions[:-1]
    outcome("step", env.step, actions)
    outcome("next", env.step, good)
    outcome("close", env.close)
    _, alive = psutil.wait_procs(workers, timeout=1)
    say("stay", len(alive))


def observe(peer, fault):
    """Start a victim; return what was seen of it."""
    context = multiprocessing.get_context("spawn")
    seen = {}
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "lines")
        process = context.Process(target=victim, args=(peer, fault, path))
        process.start()
        process.join(SILENCE)
        if process.exitcode is None:
            status = psutil.Process(process.pid).status()
            seen["hangs"] = status == psutil.STATUS_STOPPED and "stopped"
        else:
            seen["ended"] = process.exitcode
        # Whatever is left of its session ends, too.
        for each in psutil.process_iter():
            with contextlib.suppress(OSError, psutil.Error):
                if os.getsid(each.pid) == process.pid:
                    each.kill()
        process.join()
        lines = path.read_text().splitlines()
    return seen | dict(map(json.loads, lines))


def peers():
    """All faults with all peers."""
    table = {}
    for peer in PEERS:
        table[peer] = {fault: [observe(peer, fault)] for fault in FAULTS}
        print(peer, table[peer], flush=True)
    return {"games": PEER_GAMES, "hangs after": SILENCE, "peers": table}


# The main job

PARTS = {"soak": soak, "replace": replace, "peers": peers}


def main():
    run = common.options(__doc__, PARTS).parse_args()
    path = common.target("chaos.json", run.publish)
    data = common.kept(path, run.parts)
    for part in run.parts or PARTS:
        if run.publish:
            common.must_be_quiet()
        data[part] = common.when() | PARTS[part]()
        common.write(path, data)


if __name__ == "__main__":
    main()
