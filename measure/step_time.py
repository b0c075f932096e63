"""Measure where the time of a step goes, for a table on the page.

    pip install -r requirements.txt --group measure
    python measure/step_time.py            # 2 minutes
    python measure/step_time.py --publish

Whole games of a title are played, four to a core: each core's by themselves,
the same with a clock around what the emulator and OpenCV are asked to do, and
all together in a `Games`. All numbers are microseconds that a core spends on
one step of one game:

- the emulator's four frames, two gray screens, shrinking: by the clock;
- the rest of a game's step: what else a core takes that plays by itself;
- waiting for the slowest, the parent and the pipes: what is left of the time
  that a step of `Games` takes.
"""

import multiprocessing
import time
import timeit

import ale_py
import cv2
import pandas as pd

import common
from common import CORES
from contenders import rows
from game import Game, Games

TITLES = ["Pong", "Breakout"]
ROW = 4  # games to a core
ROUNDS = 9
STEPS = 600  # of a round
CLOCKED = {
    "four frames of the emulator": (ale_py.ALEInterface, "act"),
    "two gray screens": (ale_py.ALEInterface, "getScreenGrayscale"),
    "shrinking": (cv2, "resize"),
}


def seconds(step, actions):
    """How long it takes to play some steps."""
    return timeit.timeit(lambda: step(next(actions)), number=STEPS)


def clocked(call):
    """The same call; its attribute `spent` becomes the seconds of all."""

    def timed(*args, **options):
        start = time.perf_counter()
        result = call(*args, **options)
        timed.spent += time.perf_counter() - start
        return result

    timed.spent = 0
    return timed


def play(title, core):
    """Play the games of one core, in a process of its own.

    Returns the seconds of each part.
    """
    cv2.setNumThreads(0)
    seeds = range(core * ROW, (core + 1) * ROW)
    env_id = f"{title}NoFrameskip-v4"
    games = [Game(seed, env_id, on_life_loss="ignore") for seed in seeds]
    for game in games:
        game.reset()
    actions = (row[seeds.start :] for row in rows(title, seeds.stop))

    def step(row):
        for game, action in zip(games, row, strict=True):
            game.step(action)

    alone = seconds(step, actions)
    clocks = {}
    for name, place in CLOCKED.items():
        clocks[name] = clocked(getattr(*place))
        setattr(*place, clocks[name])
    seconds(step, actions)
    parts = {name: clock.spent for name, clock in clocks.items()}
    return parts | {"the rest of a game's step": alone - sum(parts.values())}


def play_round(title):
    """Play a round in all ways; return microseconds, part by part."""
    spawn = multiprocessing.get_context("spawn")
    with spawn.Pool(CORES) as pool:
        cores = [(title, core) for core in range(CORES)]
        parts = pd.DataFrame(pool.starmap(play, cores)).mean()
    number = CORES * ROW
    env_id = f"{title}NoFrameskip-v4"
    with Games(number, env_id, on_life_loss="ignore") as games:
        games.reset()
        total = seconds(games.step, rows(title, number))
    parts["waiting, the pipes and the parent"] = total - parts.sum()
    return 1e6 * parts / STEPS / ROW


def measure(title, _):
    """Medians of the rounds, and their sum."""
    rounds = pd.DataFrame([play_round(title) for _ in range(ROUNDS)])
    parts = rounds.median()
    total = parts.sum()
    return {
        "parts": parts.round(1).to_dict(),
        "total": round(total, 1),
        "limit, steps/s": round(CORES / parts.iloc[0] * 1e6),
        "share of the limit": round(parts.iloc[0] / total, 3),
    }


def main():
    common.measure(__doc__, "step_time.json", TITLES, measure)


if __name__ == "__main__":
    main()
