"""What `Games` of game.py does when its workers are killed, and what peers do.

    pip install -r requirements.txt --group measure
    python measure/chaos.py soak     # calls and faults at random, 10 minutes
    python measure/chaos.py replace  # what a replacement costs, 3 minutes
    python measure/chaos.py peers    # the same faults elsewhere, 9 minutes

A part that is measured again replaces itself in chaos.json; report.py makes
docs/faults.md and README's table of it.
"""

import argparse
import contextlib
import faulthandler
import gc
import itertools
import json
import math
import multiprocessing
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from statistics import median

import gymnasium as gym
import numpy as np

import common

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


def soak(run, _):
    """Let the machine of test_game.py play real titles."""
    import hypothesis
    import psutil
    from hypothesis import stateful, strategies

    import game
    import test_game

    make = gym.make
    faults = Counter()
    sums = Counter()
    games = set()

    class Trap(test_game.Trap):
        def set(self, deed, *args, **options):
            self.deed = deed.__name__
            super().set(deed, *args, **options)

        def sprung(self):
            sprung = super().sprung()
            faults[self.deed] += sprung
            return sprung

    class Soak(test_game.Calls):
        def check_step(self, result, actions):
            super().check_step(result, actions)
            *_, infos = result
            sums["env steps"] += self.games.num_envs
            sums["games disturbed"] += int(sum(infos.get("restarted", [0])))
            games.add(self.games.num_envs)

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

    class Worker(game.Worker):
        def __init__(self, *args, **options):
            super().__init__(*args, **options)
            sums["replaced"] += 1  # or new, which `teardown` takes off

    def kill(pid):
        faults["killed from outside"] += 1
        plain_kill(pid)

    plain_kill = test_game.kill
    test_game.kill = kill
    test_game.Trap = Trap
    game.Worker = Worker
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
    for title in itertools.cycle(TITLES):

        def real(ghost, limit, title=title, **_):
            options = {"frameskip": 1, "obs_type": "ram"}
            if limit < math.inf:
                options["max_num_frames_per_episode"] = FRAMES
            return haunt(make(title, **options), ghost)

        test_game.FakeEnv = real
        faulthandler.dump_traceback_later(LIMIT, exit=True)
        stateful.run_state_machine_as_test(Soak, settings=settings)
        gc.collect()
        memory.append(round(me.memory_full_info().uss / 2**20, 1))
        if len(memory) == len(TITLES):  # what is loaded once is loaded
            descriptors = me.num_fds()
        spent = time.monotonic() - start
        print(f"{dict(sums)}, {dict(faults)}, {spent:.0f} s", flush=True)
        if spent > run.seconds and len(memory) > len(TITLES):
            break
    faulthandler.cancel_dump_traceback_later()
    return {
        "seconds": round(spent),
        "games": max(games),
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
HITS = {
    "killed": (signal.SIGKILL, 1),
    "two killed": (signal.SIGKILL, 2),
    "stopped": (signal.SIGSTOP, 1),
    "two stopped": (signal.SIGSTOP, 2),
}


def replace(run, _):
    """Seconds: a plain start, and steps that replace, less a plain step."""
    from game import Games

    contexts = {}
    for context in ("fork", "spawn", "forkserver"):
        print(context, flush=True)
        times = {name: [] for name in ("start", *HITS)}
        options = {"timeout": TIMEOUT, "context": context}
        with Games(GAMES, processes=2, **options) as games:
            games.reset()
            # Another worker with as many games as each of these.
            for _ in range(run.rounds):
                start = time.perf_counter()
                with Games(GAMES // 2, processes=1, **options) as another:
                    another.reset()
                    times["start"].append(time.perf_counter() - start)
            workers = multiprocessing.active_children
            for _ in range(run.rounds):
                for name, (number, count) in HITS.items():
                    plain = median(timed(games) for _ in range(20))
                    for worker in workers()[:count]:
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
        "rounds": run.rounds,
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
# Each lives in a program of its own, with four games and its own defaults. The
# program writes down how it goes, a line for each call. This one waits for its
# end, and reads the lines.

SIGNALS = {"killed": signal.SIGKILL, "stopped": signal.SIGSTOP}
PEERS = {
    "games": "`Games`",
    "envpool": "EnvPool",
    "ale": "ALE `AtariVectorEnv`",
    "gymnasium": "Gymnasium `AsyncVectorEnv`",
    "sb3": "SB3 `SubprocVecEnv`",
}
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
        from game import Games

        return Games(PEER_GAMES, processes=PEER_GAMES, timeout=TIMEOUT)
    if peer == "envpool":
        import envpool

        return envpool.make_gymnasium("Breakout-v5", num_envs=PEER_GAMES)
    if peer == "ale":
        from ale_py.vector_env import AtariVectorEnv

        return AtariVectorEnv("breakout", PEER_GAMES)
    if peer == "gymnasium":
        from gymnasium.vector import AsyncVectorEnv

        return AsyncVectorEnv([make_one] * PEER_GAMES)
    from stable_baselines3.common import env_util, vec_env

    how = {"vec_env_cls": vec_env.SubprocVecEnv}
    return env_util.make_atari_env(make_raw, PEER_GAMES, **how)


def make_raw():
    import ale_py

    gym.register_envs(ale_py)
    return gym.make("BreakoutNoFrameskip-v4")


def make_one():
    from gymnasium.wrappers import AtariPreprocessing

    return AtariPreprocessing(make_raw())


def victim(run):
    """The program of one peer, to which one fault happens."""
    lines = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # what a library prints is not a line of ours

    def say(what, value):
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
        return {int(name) for name in os.listdir("/proc/self/task")}

    before, env = threads(), make(run.peer)
    env.reset()
    good = np.ones(PEER_GAMES, np.int32)
    for _ in range(10):
        env.step(good)
    workers = multiprocessing.active_children()
    pids = sorted(worker.pid for worker in workers)
    say("workers", len(pids))
    actions = good.copy()
    if run.fault in SIGNALS:
        # The workers of the two engines are threads.
        worker = [*pids, *sorted(threads() - before)][1]
        os.kill(worker, SIGNALS[run.fault])
        time.sleep(0.1)
    elif run.fault == "range":
        actions[1] = 99
    else:
        actions = actions[:-1]
    outcome("step", env.step, actions)
    outcome("next", env.step, good)
    outcome("close", env.close)
    time.sleep(1)
    say("stay", sum(map(alive, pids)))


def alive(pid):
    import psutil

    with contextlib.suppress(psutil.NoSuchProcess):
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    return False


def observe(peer, fault):
    """Start a victim; return what was seen of it."""
    import psutil

    command = [sys.executable, "-W", "ignore", __file__, "victim"]
    command += ["--peer", peer, "--fault", fault]
    seen = {}
    with tempfile.TemporaryFile("w+") as lines:
        program = subprocess.Popen(
            command,
            stdout=lines,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        try:
            seen["ended"] = program.wait(SILENCE)
        except subprocess.TimeoutExpired:
            status = psutil.Process(program.pid).status()
            seen["hangs"] = status == psutil.STATUS_STOPPED and "stopped"
        end_session(program)
        lines.seek(0)
        seen |= map(json.loads, lines)
    if "workers" not in seen:
        raise RuntimeError(f"{peer} didn't start")
    return seen


def end_session(program):
    """Kill what is left of a program and of its processes."""
    import psutil

    for process in psutil.process_iter():
        with contextlib.suppress(OSError, psutil.Error):
            if os.getsid(process.pid) == program.pid:
                process.kill()
    program.wait()


def peers(run, before):
    """All faults with all peers."""
    table = before.get("peers", {})
    for peer in run.only:
        table[peer] = {fault: [observe(peer, fault)] for fault in FAULTS}
        print(peer, table[peer], flush=True)
    dates = before.get("dates", {}) | dict.fromkeys(run.only, common.today())
    how = {"games": PEER_GAMES, "hangs after": SILENCE}
    if "games" not in run.only:
        how["commit"] = before["commit"]  # the others have no game.py
    return how | {"dates": dates, "peers": table}


# The main job

PARTS = {"soak": soak, "replace": replace, "peers": peers}


def main():
    parser = common.Parser(__doc__)
    add, above_0 = parser.add_argument, common.positive
    words = ", ".join(PARTS)
    add("part", choices=[*PARTS, "victim"], metavar="PART", help=words)
    add("--seconds", type=above_0(float), default=600, help="of the soak")
    add("--rounds", type=above_0(int), default=7, help="of replacements")
    only = "of peers: whose faults to look at anew"
    add("--only", choices=PEERS, nargs="+", default=list(PEERS), help=only)
    parser.add_publish()
    add("--peer", choices=PEERS, help=argparse.SUPPRESS)
    add("--fault", choices=FAULTS, help=argparse.SUPPRESS)
    run = parser.parse_args()
    parser.need("psutil", "gymnasium", "ale_py", "cv2")
    if run.part == "victim":
        victim(run)
        return
    if run.part == "peers":
        parser.need("envpool", "stable_baselines3")
    path = common.target("chaos.json", run.publish)
    data, machine = common.read(path), common.machine()
    if run.publish:
        parser.must_be_quiet()
        if data.get("machine", machine) != machine:
            parser.error(f"{path.name} is of another machine: take another")
    data["machine"] = machine
    about = {"date": common.today(), "commit": common.commit()}
    before = data.get(run.part, {})
    data[run.part] = about | PARTS[run.part](run, before)
    common.write(path, data)


if __name__ == "__main__":
    main()
