"""What `Games` of game.py does when its workers are killed, and what peers do.

    pip install -r requirements.txt -r measure/peers.txt
    python measure/chaos.py soak     # faults at random, 10 minutes
    python measure/chaos.py replace  # what a replacement costs, 3 minutes
    python measure/chaos.py peers    # the same faults elsewhere, 9 minutes
    python measure/chaos.py report   # docs/faults.md and README's table

Results go to runs/chaos/, or with --publish to measure/results/chaos.json; a
part that is measured again replaces itself there. `report` measures nothing:
it makes docs/faults.md and README's table between its `faults` marks from what
is published.
"""

import argparse
import contextlib
import functools
import gc
import itertools
import json
import math
import multiprocessing
import os
import random
import resource
import select
import signal
import subprocess
import sys
import tempfile
import threading
import time
import weakref
from collections import Counter
from statistics import median

import publish
from publish import put, table

sys.path.insert(0, str(publish.ROOT))
SIGNALS = {
    "killed": signal.SIGKILL,
    "terminated": signal.SIGTERM,
    "segmentation fault": signal.SIGSEGV,
    "stopped": signal.SIGSTOP,
    "paused": signal.SIGSTOP,  # for PAUSE seconds, which nobody should notice
}
PAUSED, BAD_BATCH = "paused", "bad batch of actions"
MOMENTS = {
    "between steps": 3,
    "asked for a step": 3,
    "in a step": 3,
    "in render": 1,
    "in reset": 1,
    "while it starts": 1,
}

# ## The soak
#
# Every `Worker` that is made is recorded, to hit it and to know by its seeds
# which games it plays. What `Games` returns is compared with what each game
# does when it is played alone.
#
# Games are played in rounds, by turns of these kinds: whole games from
# snapshots, all options, sticky actions with true resets, the other autoreset
# mode; and rows of four games, of two or three, of two and of one.

KINDS = [
    dict(env_id="BreakoutNoFrameskip-v4", processes=2, on_life_loss="ignore"),
    dict(
        env_id="SeaquestNoFrameskip-v4",
        processes=3,
        on_life_loss="continue",
        noop_max=30,
        fire_on_reset=True,
    ),
    dict(env_id="ALE/MsPacman-v5", processes=4, clip_reward=True),
    dict(
        env_id="PongNoFrameskip-v4",
        processes=8,
        on_life_loss="ignore",
        autoreset_mode="NextStep",
    ),
]
RESULTS = "observation", "reward", "terminated", "truncated"
RESULTS += "final observation", "final info"
GAMES, ROUNDS = 8, 12
TIMEOUT, START_TIMEOUT = 1, 5  # seconds; the module waits 60 for a start
PAUSE = 0.2
LIMIT = 30  # a call that takes so long is one without an answer


class NoAnswer(Exception):
    """A call took longer than LIMIT."""


def give_up(*_):
    raise NoAnswer


@contextlib.contextmanager
def limit():
    """Raise `NoAnswer` if the block takes longer than LIMIT."""
    signal.setitimer(signal.ITIMER_REAL, LIMIT)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


class Twin:
    """One `Game`, played alone, that says what a step of `Games` returns."""

    def __init__(self, env_id, autoreset_mode="SameStep", **options):
        self.next_step = autoreset_mode == "NextStep"
        self.game, self.options = None, {"env_id": env_id} | options

    def start(self, seed):
        """Start over with `seed`; return the first observation."""
        from game import Game

        self.seed, self.first = seed, None
        self.game = self.game or Game(seed, **self.options)
        self.obs = self.game.reset(seed)
        return self.obs

    def step(self, action):
        """Returns `obs, reward, terminated, truncated, final_obs, info`."""
        if self.first is not None:  # the game rests
            self.obs, self.first = self.first, None
            return self.obs, 0.0, False, False, None, None
        self.obs, reward, done, info = self.game.step(action)
        if not done:
            return self.obs, reward, False, False, None, None
        truncated = bool(info and info["truncated"])
        final = self.end(self.game.final_obs)
        lost = self.game.terminated
        return self.obs, reward, lost, truncated, final, info

    def restart(self, last):
        """What the step returns in which the game was replaced."""
        self.start(self.seed)
        final = self.end(last)
        return self.obs, 0.0, False, True, final, None

    def end(self, last):
        """End an episode with the observation `last`, in either mode."""
        if not self.next_step:
            return last
        self.obs, self.first = last, self.obs
        return None


class Record:
    """All workers that are made from now on, by the seeds of their games."""

    def __init__(self):
        import game

        record, self.made = self, []

        class Worker(game.Worker):
            def __init__(self, seed, *args, **options):
                super().__init__(seed, *args, **options)
                record.made.append((tuple(seed), weakref.ref(self)))
                record.again = functools.partial(
                    record.plain, seed, *args, **options
                )

        self.plain, self.module = game.Worker, game
        game.Worker = Worker

    def latest(self):
        """The worker of each row, in the order of its games' first seeds."""
        workers = {seeds: made() for seeds, made in self.made}
        return [workers[seeds] for seeds in sorted(workers)]

    def stop(self):
        self.module.Worker = self.plain


class Soak:
    """One round: `Games` under faults, and their twins."""

    def __init__(self, games, settings, tally, chance, record):
        settings = {k: v for k, v in settings.items() if k != "processes"}
        self.games, self.tally, self.chance = games, tally, chance
        self.twins = [Twin(**settings) for _ in range(GAMES)]
        self.hits, self.threads, self.record = set(), [], record
        # A row of games is known by its first one.
        self.numbers = {seed: seed for seed in range(GAMES)}
        self.rows = {self.numbers[s[0]]: len(s) for s, _ in record.made}
        self.reset()

    def workers(self):
        """The worker of each row, the latest that was made for it."""
        return {self.numbers[s[0]]: made() for s, made in self.record.made}

    def pids(self):
        return {i: each.process.pid for i, each in self.workers().items()}

    def hit_rows(self):
        return {i for i, pid in self.pids().items() if pid in self.hits}

    def games_of(self, i):
        return range(i, i + self.rows[i])

    # ### Faults

    def hit(self, kind, i):
        """Do to worker i what `kind` says."""
        pid = self.pids()[i]
        with contextlib.suppress(ProcessLookupError):  # dead by now
            os.kill(pid, SIGNALS[kind])
            self.tally["faults"][kind] += 1
            if kind == PAUSED:
                self.later(PAUSE, os.kill, pid, signal.SIGCONT)
            else:
                self.hits.add(pid)

    def later(self, seconds, do, *args):
        """Do it in another thread, while the games are asked or waited for."""

        def run():
            time.sleep(seconds)
            with contextlib.suppress(ProcessLookupError):
                do(*args)

        self.threads.append(threading.Thread(target=run))
        self.threads[-1].start()

    def hit_next(self, kind, i):
        """Hit the worker that takes the place of worker i, as it starts."""
        pid, end = self.pids()[i], time.monotonic() + 2 * TIMEOUT
        while self.pids()[i] == pid and time.monotonic() < end:
            time.sleep(0.001)
        time.sleep(random.uniform(0, 0.3))
        self.hit(kind, i)

    def fault(self):
        """Something bad; return `[(kind, worker)]` of what is to be done
        between `step_async` and `step_wait`."""
        kind = random.choice([*SIGNALS, BAD_BATCH])
        if kind == BAD_BATCH:
            self.bad_batch()
            return []
        moment = random.choices([*MOMENTS], MOMENTS.values())[0]
        workers = list(self.pids())
        which = workers if random.random() < 0.2 else random.sample(workers, 1)
        self.tally["moments"][moment] += len(which)
        if moment == "asked for a step":
            return [(kind, i) for i in which]
        sudden = random.random() < 0.5
        for i in which:
            if moment == "while it starts":
                self.hit("killed", i)
                self.later(0, self.hit_next, kind, i)
            elif moment == "in a step":
                self.later(random.uniform(0, 0.004), self.hit, kind, i)
            elif moment == "between steps" or sudden:
                self.hit(kind, i)
            else:
                self.later(random.uniform(0, 0.03), self.hit, kind, i)
        if moment == "in render":
            self.render()
        elif moment == "in reset":
            self.reset()
        return []

    def bad_batch(self):
        """A bad batch of actions must be refused, and moves nothing."""
        n = self.games.single_action_space.n
        good = [random.randrange(n) for _ in range(GAMES)]
        one = random.randrange(GAMES)
        bad = [good[:-1], [*good, 0], [good], [], None, 1, "NOOP"]
        for action in (n, -1, 2**40, 0.5, 1.0, math.nan, None, "1", [1]):
            bad.append(good[:one] + [action] + good[one + 1 :])
        self.tally["faults"][BAD_BATCH] += 1
        try:
            self.games.step(random.choice(bad))
        except (TypeError, ValueError):
            return
        self.differ("a bad batch was played")

    # ### Calls and comparisons

    def differ(self, what):
        self.tally["differences"] += 1
        print("DIFFERENT:", what, flush=True)

    def same(self, got, want, what):
        """Compare what `Games` gave with what the twin says."""
        if hasattr(want, "shape"):
            self.tally["compared"] += 1
            equal = got is not None and (got == want).all()
        else:
            equal = got == want
        if not equal:
            self.differ(what)

    def reset(self):
        """Start with new seeds. Nothing is said of workers that had died."""
        seeds = [random.randrange(2**31) for _ in range(GAMES)]
        before = self.pids()
        self.numbers |= {seed: game for game, seed in enumerate(seeds)}
        with limit():
            self.obs, infos = self.games.reset(seed=seeds)
        after = self.pids()
        self.tally["replaced"] += sum(before[i] != after[i] for i in before)
        self.same(infos, {}, "infos of a reset")
        for game, twin in enumerate(self.twins):
            want = twin.start(seeds[game])
            self.same(self.obs[game], want, "a first observation")

    def render(self):
        """The screens of workers that weren't hit must be right."""
        with limit():
            screens = self.games.render()
        for thread in self.threads:
            thread.join()
        hit = self.hit_rows()
        for i in self.rows:
            if i in hit:
                continue
            for game in self.games_of(i):
                want = self.twins[game].game.render()
                self.same(screens[game], want, "a screen")

    def step(self):
        """One step, with a fault or without."""
        rest = self.fault() if random.random() < self.chance else []
        before, n = self.pids(), self.games.single_action_space.n
        must = self.hit_rows()
        actions = [random.randrange(n) for _ in range(GAMES)]
        with limit():
            start = time.perf_counter()
            self.games.step_async(actions)
            spent = time.perf_counter() - start
        for kind, i in rest:
            self.hit(kind, i)
        # The twins play while the workers do.
        want = [
            twin.step(act)
            for twin, act in zip(self.twins, actions, strict=True)
        ]
        with limit():
            start = time.perf_counter()
            obs, rewards, terminated, truncated, infos = self.games.step_wait()
            spent += time.perf_counter() - start
        for thread in self.threads:
            thread.join()
        self.threads = []
        self.tally["env steps"] += GAMES
        self.tally["longest step"] = max(self.tally["longest step"], spent)

        # Who was replaced, and had they been hit?
        after = self.pids()
        restarted = infos.get("restarted", [False] * GAMES)
        for i in self.rows:
            new = before[i] != after[i]
            if {bool(restarted[game]) for game in self.games_of(i)} != {new}:
                self.differ("replaced, not told, or told, not replaced")
            self.tally["replaced"] += new
            self.tally["replaced without a fault"] += (
                new and before[i] not in self.hits
            )
            self.tally["faults not noticed"] += i in must and not new
            if new:
                for game in self.games_of(i):
                    want[game] = self.twins[game].restart(self.obs[game])
                    self.tally["games disturbed"] += 1

        self.hits &= set(after.values())

        for game in range(GAMES):
            got = obs[game], rewards[game], terminated[game], truncated[game]
            final = pick(infos, "final_obs", game)
            got += final, pick(infos, "final_info", game)
            for i, name in enumerate(RESULTS):
                self.same(got[i], want[game][i], name)
        self.obs = obs


def pick(infos, key, game):
    """One game's entry of Gymnasium's infos."""
    if key not in infos or not infos["_" + key][game]:
        return None
    entry = infos[key]
    if isinstance(entry, dict):
        return {k: v[game] for k, v in entry.items() if k[0] != "_"}
    return entry[game]


def left():
    """Processes, descriptors and bytes of this process's own."""
    import psutil

    gc.collect()
    me = psutil.Process()
    return {
        "processes": len(me.children(recursive=True)),
        "descriptors": me.num_fds(),
        "bytes": me.memory_full_info().uss,
    }


def soak(run, _):
    """Play rounds until there were frames and faults enough."""
    import game

    game.START_TIMEOUT = START_TIMEOUT
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # of segfault signals
    signal.signal(signal.SIGALRM, give_up)
    random.seed(run.seed)
    sums = ["env steps", "replaced", "replaced without a fault"]
    sums += ["faults not noticed", "games disturbed", "compared"]
    sums += ["differences", "no answer", "longest step"]
    tally = dict.fromkeys(sums, 0) | {"faults": Counter()}
    tally["moments"] = Counter()
    steps = run.frames // 4 // GAMES
    # Bad batches and faults that hit several workers even out.
    chance, start, memory = run.faults / steps * 1.1, time.time(), []

    def go_on():
        if run.seconds:
            return time.time() - start < run.seconds
        faults = sum(tally["faults"].values())
        enough = tally["env steps"] * 4 >= run.frames
        return faults < run.faults or not enough

    def play(settings, chance, steps, more):
        record = Record()
        try:
            with game.Games(
                GAMES, timeout=TIMEOUT, context=run.context, **settings
            ) as games:
                soak = Soak(games, settings, tally, chance, record)
                while steps > 0 and more():
                    soak.step()
                    steps -= 1
                games.step_async([0] * GAMES)  # is closed in a step
        except NoAnswer:
            tally["no answer"] += 1
            print("NO ANSWER", settings, flush=True)
        finally:
            record.stop()

    # What is loaded once and kept is there after a round of each kind.
    for settings in KINDS:
        play(settings, 0, 20, lambda: True)
    tally |= dict.fromkeys(sums, 0)
    before, start = left(), time.time()
    for settings in itertools.cycle(KINDS):
        if not go_on():
            break
        play(settings, chance, math.ceil(steps / ROUNDS), go_on)
        memory.append(round(left()["bytes"] / 2**20, 1))
        done = tally["env steps"] * 4, sum(tally["faults"].values())
        spent = time.time() - start
        print(
            f"{done[0]:,} frames, {done[1]} faults, {spent:.0f} s", flush=True
        )
    after = left()
    tally["longest step"] = round(tally["longest step"], 2)
    return {
        "seconds": round(time.time() - start),
        "games": GAMES,
        "timeout": TIMEOUT,
        "context": run.context or multiprocessing.get_start_method(),
        "frames": tally["env steps"] * 4,
        **tally,
        "left": {key: after[key] - before[key] for key in after},
        "memory in MB, round by round": memory,
    }


# ## What a replacement costs


def replace(run, _):
    """Seconds: a plain start, and steps that replace, less a plain step."""
    import game

    contexts = {}
    for context in ("fork", "spawn", "forkserver"):
        print(context, flush=True)
        times = {name: [] for name in ("start", *HITS)}
        record = Record()
        with game.Games(
            GAMES, processes=2, timeout=TIMEOUT, context=context
        ) as games:
            games.reset()
            for _ in range(run.rounds):
                times["start"].append(start_another(record))
                for name, (number, count) in HITS.items():
                    plain = median(timed(games) for _ in range(20))
                    for worker in record.latest()[:count]:
                        os.kill(worker.process.pid, number)
                    spent = timed(games) - plain
                    spent -= TIMEOUT if number == signal.SIGSTOP else 0
                    times[name].append(spent)
        record.stop()
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


def start_another(record):
    """Seconds to start a worker like the last, until its games are reset."""
    start = time.perf_counter()
    with record.again() as worker:
        worker.child.send(("reset", [None] * (GAMES // 2)))
        worker.child.recv()
        return time.perf_counter() - start


HITS = {
    "killed": (signal.SIGKILL, 1),
    "two killed": (signal.SIGKILL, 2),
    "stopped": (signal.SIGSTOP, 1),
    "two stopped": (signal.SIGSTOP, 2),
}


def timed(games):
    start = time.perf_counter()
    games.step([0] * GAMES)
    return time.perf_counter() - start


# ## The peers, under the same faults
#
# Each lives in a program of its own, with four games and its own defaults. The
# program says how it goes, a line for each thing. This one waits for the lines
# and looks at who is there afterwards.

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
    "ctrl-c": "Ctrl-C in a terminal",
    "orphans": "the program is killed",
}
PEER_GAMES = 4
LOADING, SILENCE, LEAVE = 60, 20, 4  # seconds
TIMES = 5


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
    import gymnasium as gym

    gym.register_envs(ale_py)
    return gym.make("BreakoutNoFrameskip-v4")


def make_one():
    from gymnasium.wrappers import AtariPreprocessing

    return AtariPreprocessing(make_raw())


def victim(run):
    """The program of one peer, to which one fault happens."""
    import numpy as np

    # A shell starts what runs in its background deaf to Ctrl-C.
    signal.signal(signal.SIGINT, signal.default_int_handler)
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
    say("workers", pids)
    actions = good.copy()
    if run.fault in SIGNALS:
        # The workers of the two engines are threads.
        os.kill([*pids, *sorted(threads() - before)][1], SIGNALS[run.fault])
        time.sleep(0.1)
    elif run.fault == "range":
        actions[1] = 99
    elif run.fault == "short":
        actions = actions[:-1]
    else:
        say("plays", None)
        while True:
            env.step(good)
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
    command = [sys.executable, "-W", "ignore", __file__, "victim"]
    command += ["--peer", peer, "--fault", fault]
    with tempfile.TemporaryFile("w+") as errors:
        program = subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=errors,
            start_new_session=True,  # a group of processes, as in a terminal
        )
        seen = watch(program, fault)
        end_session(program)
        errors.seek(0)
        said = errors.read()
    if "workers" not in seen:
        raise RuntimeError(said)
    seen["workers"] = len(seen["workers"])
    return seen | {"tracebacks": said.count("Traceback (most")}


def watch(program, fault):
    """Do to the program what has to be done from outside; return its words."""
    seen = {}
    for what, value in listen(program):
        seen[what] = value
        if what == "plays":
            time.sleep(0.5)
            start = time.monotonic()
            if fault == "ctrl-c":
                os.killpg(program.pid, signal.SIGINT)
            else:
                program.kill()
            with contextlib.suppress(subprocess.TimeoutExpired):
                program.wait(SILENCE)
                seen["seconds"] = round(time.monotonic() - start, 1)
            time.sleep(LEAVE)
            seen["stay"] = sum(map(alive, seen["workers"]))
            break
    return seen


def end_session(program):
    """Kill what is left of a program and of its processes."""
    import psutil

    for process in psutil.process_iter():
        with contextlib.suppress(OSError, psutil.Error):
            if os.getsid(process.pid) == program.pid:
                process.kill()
    program.wait()


def listen(program):
    """Yield what a victim says, and last why it says no more."""
    import psutil

    text, seconds = b"", LOADING
    while select.select([program.stdout], [], [], seconds)[0]:
        said = os.read(program.stdout.fileno(), 4096)
        if not said:
            break
        *lines, text = (text + said).split(b"\n")
        yield from map(json.loads, lines)
        seconds = SILENCE
    # Workers that stay keep the pipe open, which is not a hanging program.
    with contextlib.suppress(subprocess.TimeoutExpired):
        yield "ended", program.wait(1)
        return
    state = psutil.Process(program.pid).status()
    yield "hangs", state == psutil.STATUS_STOPPED and "stopped"


def peers(run, before):
    """All faults with all peers; several times those that come at random."""
    table = {peer: before["peers"][peer] for peer in before.get("peers", {})}
    for peer in run.only:
        table[peer] = {}
        for fault in FAULTS:
            times = TIMES if fault in ("ctrl-c", "orphans") else 1
            seen = [observe(peer, fault) for _ in range(times)]
            table[peer][fault] = seen
            print(f"{peer}, {fault}: {outcomes(fault, seen)}", flush=True)
    dates = before.get("dates", dict.fromkeys(table, before.get("date")))
    dates |= dict.fromkeys(run.only, publish.today())
    how = {"games": PEER_GAMES, "hangs after": SILENCE, "times": TIMES}
    if "games" not in run.only:
        how["commit"] = before["commit"]  # the others have no game.py
    return how | {"dates": dates, "peers": table}


def outcomes(fault, seen):
    """What was seen, one time or several, in a few words."""
    said = Counter(words(fault, one) for one in seen)
    if len(said) == 1:
        return words(fault, seen[0])
    return "; ".join(f"{n} of {len(seen)}: {text}" for text, n in said.items())


def words(fault, seen):
    """What was seen once, in a few words."""
    silence = "dies" if "ended" in seen else "hangs"
    silence = "stops" if seen.get("hangs") == "stopped" else silence
    first = seen.get("step")
    if "plays" in seen:
        said = ["ends" if "seconds" in seen else "hangs"]
        if fault == "orphans":
            said = [] if seen["stay"] else ["nobody stays"]
        elif seen["tracebacks"] > 1:  # the program's own is one
            said.append("tracebacks of workers")
    elif first is None:
        said = ["hangs" if silence == "hangs" else f"the program {silence}"]
    else:
        told = {"told": "replaced and reported", "silent": "says nothing"}
        said = [told.get(first, f"`{first}`")]
        for call, name in ("next", "next step"), ("close", "`close`"):
            if call not in seen:
                said.append(f"{name} {silence}")
                break
            if seen[call] not in told:
                too = "too" if seen[call] == first else f"`{seen[call]}`"
                said.append(f"{name} {too}")
            elif call == "next":
                said.append("plays on")
    if seen.get("stay"):
        said.append(f"{seen['stay']} of {seen['workers']} workers stay")
    return ", ".join(said)


# ## What it says


def report(data):
    """The text of docs/faults.md, from whatever there is."""
    machine = data["machine"]
    versions = ", ".join(f"{k} {v}" for k, v in machine["versions"].items())
    text = [
        "# What happens when something dies",
        "Written by `measure/chaos.py report`.",
        f"{machine['cores']} cores ({machine['processor']}), Python "
        f"{machine['python']}, {versions}.",
    ]
    for part, describe in {
        "soak": describe_soak,
        "replace": describe_replace,
        "peers": describe_peers,
    }.items():
        if part in data:
            text += describe(data[part])
    return "\n\n".join(text) + "\n"


def how(part):
    """When a part was measured, and on which code."""
    code = (
        f", `game.py` of commit {part['commit']}" if "commit" in part else ""
    )
    return f"*{part['date']}{code}*"


def describe_soak(data):
    faults = [f"{kind} {n}" for kind, n in sorted(data["faults"].items())]
    number = sum(data["faults"].values())
    left, memory = data["left"], data["memory in MB, round by round"]
    rows = {
        "steps of single games": f"{data['env steps']:,}, which are "
        f"{data['frames']:,} frames, in {data['seconds'] / 60:.0f} minutes",
        "faults": f"**{number:,}**: {', '.join(faults)}",
        "calls without an answer": f"**{data['no answer']}**; the longest "
        f"step took {data['longest step']} s; the timeout of "
        f"{data['timeout']} s and the start of a worker may come more than "
        "once in a step",
        "workers replaced in steps and resets": f"{data['replaced']:,}, since "
        "several faults may hit one worker; "
        f"{data['games disturbed']:,} games were reported as restarted",
        "workers replaced without a fault": f"**"
        f"{data['replaced without a fault']}**",
        "faults that were not noticed": f"**{data['faults not noticed']}**",
        "observations compared": f"{data['compared']:,}, those of all games "
        "in all steps and resets",
        "differences": f"**{data['differences']}**",
        "processes left, file descriptors left": f"**{left['processes']}**, "
        f"**{left['descriptors']}**",
        "memory of the program": f"{memory[0]:.0f} MB after the first round, "
        f"{memory[-1]:.0f} MB after the last of {len(memory)}",
    }
    return [
        "## A soak",
        how(data),
        f"{data['games']} games play, and {number:,} times in "
        f"{data['seconds']:,} seconds something bad happens at random: a "
        "worker is killed, stopped or crashes, or a batch of actions is bad. "
        "Each game is compared with a `Game` that plays undisturbed.",
        table(["", ""], *rows.items()),
    ]


def describe_replace(data):
    head = ["seconds", "a plain start", *HITS]
    body = []
    for context, times in data["seconds"].items():
        cells = [f"{median(v):.2f} ({max(v):.2f})" for v in times.values()]
        body.append([f"`{context}`", *cells])
    return [
        "## What a replacement costs",
        how(data),
        "The step that replaces workers takes longer by this, beside a plain "
        "start of a worker with as many games "
        f"({data['games to a worker']}). Medians of {data['rounds']} (and the "
        "most). For stopped workers the timeout "
        f"({data['timeout']} s) is not counted.",
        table(head, *body),
    ]


def describe_peers(data):
    body = []
    for fault, name in FAULTS.items():
        seen = [data["peers"][peer][fault] for peer in PEERS]
        body.append([name, *(outcomes(fault, each) for each in seen)])
    dates = ", ".join(sorted(set(data["dates"].values())))
    return [
        "## The same faults elsewhere",
        how(data | {"date": dates}),
        f"{data['games']} games, each with its own defaults; what the next "
        'calls did. The workers of EnvPool and of ALE are threads. "Hangs": '
        f"{data['hangs after']} s without a word. The last two were tried "
        f"{data['times']} times.",
        table(["", *PEERS.values()], *body),
    ]


SHORT = ["killed", "stopped", "range", "short"]
SHORT_WORDS = 2  # of what was seen


def short(data):
    """README's table: what a fault does here and elsewhere, in short."""
    soak, body = data["soak"], []
    for fault in SHORT:
        row = [FAULTS[fault]]
        for peer in PEERS:
            seen = outcomes(fault, data["peers"]["peers"][peer][fault])
            row.append(", ".join(seen.split(", ")[:SHORT_WORDS]))
        body.append(row)
    number = sum(soak["faults"].values())
    return "\n\n".join(
        [
            table(["", *PEERS.values()], *body),
            f"In a soak of {soak['frames']:,} frames with {number:,} faults, "
            f"{soak['replaced']:,} workers were replaced, and "
            f"{soak['compared']:,} observations were compared with those of "
            f"games that nobody disturbed: {soak['differences']} differed. "
            f"{soak['no answer']} calls went without an answer, "
            f"{soak['faults not noticed']} faults were not noticed, "
            f"{soak['left']['processes']} processes were left "
            f"({soak['date']}).",
        ]
    )


# ## The main job

PARTS = {"soak": soak, "replace": replace, "peers": peers}
FILE = "chaos.json"


def main():
    parser = publish.Parser(__doc__)
    add, above_0 = parser.add_argument, publish.positive
    add(
        "part",
        choices=[*PARTS, "report", "victim"],
        metavar="PART",
        help="soak, replace, peers or report",
    )
    add(
        "--frames",
        type=above_0(int),
        default=2_000_000,
        help="of the soak, at least",
    )
    add(
        "--faults",
        type=above_0(int),
        default=500,
        help="of the soak, at least",
    )
    add("--seconds", type=above_0(float), help="of the soak, at most")
    add(
        "--context",
        choices=multiprocessing.get_all_start_methods(),
        help="of the soak: how processes start",
    )
    add("--seed", type=int, default=0, help="of the soak")
    add("--rounds", type=above_0(int), default=7, help="of replacements")
    add(
        "--only",
        choices=PEERS,
        nargs="+",
        default=list(PEERS),
        help="of peers: whose faults to look at anew",
    )
    add("--publish", action="store_true", help="write to measure/results/")
    add("--peer", choices=PEERS, help=argparse.SUPPRESS)
    add("--fault", choices=FAULTS, help=argparse.SUPPRESS)
    run = parser.parse_args()
    parser.need("psutil", "gymnasium", "ale_py", "cv2")
    if run.part == "victim":
        victim(run)
    elif run.part == "report":
        data = publish.read(publish.RESULTS / FILE)
        missing = [part for part in PARTS if part not in data]
        if missing:
            parser.error(f"not yet published: {', '.join(missing)}")
        (publish.DOCS / "faults.md").write_text(report(data), "utf-8")
        put(publish.README, "faults", short(data))
    else:
        measure(parser, run)


def measure(parser, run):
    """Measure a part, and write it down."""
    if run.part == "peers":
        parser.need("envpool", "stable_baselines3")
    path = publish.target("chaos", FILE, run.publish)
    data, machine = publish.read(path), publish.machine()
    if run.publish:
        parser.must_be_quiet()
        if data.get("machine", machine) != machine:
            parser.error(f"{path.name} is of another machine: take another")
    data["machine"] = machine
    about = {"date": publish.today(), "commit": publish.commit()}
    before = data.get(run.part, {})
    data[run.part] = about | PARTS[run.part](run, before)
    publish.write(path, data)
    if not run.publish:
        (path.parent / "faults.md").write_text(report(data), "utf-8")


if __name__ == "__main__":
    main()
