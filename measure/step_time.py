"""Measure where the time of a step goes, for a bar on the page.

    pip install -r requirements.txt --group measure
    python measure/step_time.py            # a minute
    python measure/step_time.py --publish

Whole games of a title are played, four to a core, with the same actions in
three ways: each core's games by themselves, the same with a clock around what
the emulator and OpenCV are asked to do, and all together in a `Games`. All
numbers are microseconds that a core spends on one step of one game:

- the emulator's four frames, two gray screens, shrinking: by the clock;
- the brighter of two screens, and what has changed: the same operations on
  screens that were seen, by themselves;
- rules and the stack: what else a `Game` does in a step;
- waiting for the slowest: how much longer the slowest core takes than the
  average, since a step of `Games` ends with the last of them;
- the parent and the pipes: what is left of the time that a step of `Games`
  takes.

Rounds in which other programs were at work are played again.
"""

import contextlib
import functools
import itertools
import multiprocessing
import time
from concurrent.futures import ProcessPoolExecutor
from unittest import mock

import ale_py
import cv2
import numpy as np
import pandas as pd

import common
from common import CORES
from contenders import rows
from game import Game, Games

TITLES = ["Pong", "Breakout"]
ROW = 4  # games to a core
ROUNDS = 9
STEPS = 600  # of a round
SCREENS = 200  # of which comparing is measured
BANDS = 42  # of a screen, in which `Game` looks for changes
CLOCKED = {
    "frames": (ale_py.ALEInterface, "act"),
    "gray": (ale_py.ALEInterface, "getScreenGrayscale"),
    "shrinking": (cv2, "resize"),
}


def start(title, core):
    """Make the games of one core, in a process of its own."""
    global players, actions
    cv2.setNumThreads(0)
    first = core * ROW
    players = [start_game(title, seed) for seed in range(first, first + ROW)]
    actions = (row[first:] for row in rows(title, first + ROW))


def start_game(title, seed):
    game = Game(seed, f"{title}NoFrameskip-v4", on_life_loss="ignore")
    game.reset()
    return game


def play(steps):
    """Play the games of one core; return how long each step took."""
    times = []
    for row in itertools.islice(actions, steps):
        start = time.perf_counter()
        for game, action in zip(players, row, strict=True):
            game.step(action)
        times.append(time.perf_counter() - start)
    return times


def play_clocked(steps):
    """Play them; return how long each thing took that is clocked."""
    spent = dict.fromkeys(CLOCKED, 0)

    def clock(name, plain):
        def call(*args, **options):
            start = time.perf_counter()
            result = plain(*args, **options)
            spent[name] += time.perf_counter() - start
            return result

        return call

    with contextlib.ExitStack() as stack:
        for name, place in CLOCKED.items():
            clocked = clock(name, getattr(*place))
            stack.enter_context(mock.patch.object(*place, clocked))
        play(steps)
    return spent


def comparing(title):
    """Seconds of a maximum, and of looking where a screen has changed."""
    game = start_game(title, 0)
    screens = []
    for (action,) in itertools.islice(rows(title, 1), SCREENS):
        game.step(action)
        screens.append(game.env.unwrapped.ale.getScreenGrayscale())
    start = time.perf_counter()
    for older, newer in itertools.pairwise(screens):
        (np.maximum(older, newer) != older).reshape(BANDS, -1).any(1)
    return (time.perf_counter() - start) / (SCREENS - 1)


def play_round(title, many, cores, actions):
    """Play a round in all three ways; return seconds, part by part."""

    def ask(call):
        asked = [core.submit(call, STEPS) for core in cores]
        return pd.DataFrame([each.result() for each in asked])

    alone = ask(play) / ROW
    clocked = ask(play_clocked).mean() / STEPS / ROW
    start = time.perf_counter()
    for row in itertools.islice(actions, STEPS):
        many.step(row)
    total = (time.perf_counter() - start) / STEPS / ROW
    plain = alone.mean(axis=None)
    parts = {
        "four frames of the emulator": clocked.frames,
        "two gray screens": clocked.gray,
        "the brighter of two screens, and what has changed": comparing(title),
        "shrinking": clocked.shrinking,
    }
    parts["rules and the stack"] = plain - sum(parts.values())
    parts["waiting for the slowest"] = alone.max().mean() - plain
    return parts | {"total": total}


def measure(title):
    """Medians of the rounds; what is left of the total is the last part."""
    number = CORES * ROW
    actions = rows(title, number)
    spawn = multiprocessing.get_context("spawn")
    with contextlib.ExitStack() as stack:
        env_id = f"{title}NoFrameskip-v4"
        many = Games(number, env_id, on_life_loss="ignore")
        stack.enter_context(many).reset()
        cores = [
            stack.enter_context(
                ProcessPoolExecutor(1, spawn, start, (title, core))
            )
            for core in range(CORES)
        ]
        once = functools.partial(play_round, title, many, cores, actions)
        once()  # to warm up
        rounds = [common.undisturbed(once) for _ in range(ROUNDS)]
    parts = pd.DataFrame([parts for parts, _ in rounds]).median() * 1e6
    total = parts.pop("total")
    parts["the parent and the pipes"] = total - parts.sum()
    return {
        "parts": [[name, round(spent, 1)] for name, spent in parts.items()],
        "total": round(total, 1),
        "others' cores": round(max(others for _, others in rounds), 2),
        "limit, steps/s": round(CORES / parts.iloc[0] * 1e6),
        "share of the limit": round(parts.iloc[0] / total, 3),
    }


def main():
    run = common.options(__doc__).parse_args()
    if run.publish:
        common.must_be_quiet()
    about = common.when() | {"rounds": ROUNDS, "steps": STEPS}
    data = {"machine": common.machine()} | about
    for title in TITLES:
        data[title] = measure(title)
        print(title, data[title], flush=True)
    common.write(common.target("step_time.json", run.publish), data)


if __name__ == "__main__":
    main()
