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

import itertools
import multiprocessing
import time
from collections import Counter
from statistics import mean, median

import ale_py
import cv2
import numpy as np

import common
from common import CORES
from contenders import rows
from game import Game, Games

TITLES = ["Pong", "Breakout"]
ROW = 4  # games to a core
STEPS = 600  # of a round
SCREENS = 200  # of which comparing is measured
BANDS = 42  # of a screen, in which `Game` looks for changes
MICRO = 1e6


def player(pipe, title, first, clocked):
    """Play the games of one core; for each number of steps that comes in,
    return how long each step took, and what the clock says."""
    cv2.setNumThreads(0)
    spent = Counter()

    def clock(place, function, name):
        plain = getattr(place, function)

        def call(*args, **options):
            start = time.perf_counter()
            result = plain(*args, **options)
            spent[name] += time.perf_counter() - start
            return result

        setattr(place, function, call)

    if clocked:
        clock(ale_py.ALEInterface, "act", "frames")
        clock(ale_py.ALEInterface, "getScreenGrayscale", "gray")
        clock(cv2, "resize", "shrinking")
    games = [start_game(title, seed) for seed in range(first, first + ROW)]
    actions = rows(title, first + ROW)
    while True:
        steps = pipe.recv()
        spent.clear()
        times = []
        for row in itertools.islice(actions, steps):
            start = time.perf_counter()
            for game, action in zip(games, row[first:], strict=True):
                game.step(action)
            times.append(time.perf_counter() - start)
        pipe.send((times, {k: v / steps / ROW for k, v in spent.items()}))


def start_game(title, seed):
    game = Game(seed, f"{title}NoFrameskip-v4", on_life_loss="ignore")
    game.reset()
    return game


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


def measure(title, rounds):
    """The parts of a title's step."""
    context = multiprocessing.get_context("fork")
    pipes = {"alone": [], "clocked": []}
    processes = []
    for way, core in itertools.product(pipes, range(CORES)):
        here, there = context.Pipe()
        pipes[way].append(here)
        args = there, title, core * ROW, way == "clocked"
        process = context.Process(target=player, args=args, daemon=True)
        process.start()
        processes.append(process)

    def ask(way):
        """Let players play at the same time; return their answers."""
        for pipe in pipes[way]:
            pipe.send(STEPS)
        return zip(*(pipe.recv() for pipe in pipes[way]), strict=True)

    def play_round():
        alone, _ = ask("alone")
        _, clocked = ask("clocked")
        start = time.perf_counter()
        for row in itertools.islice(actions, STEPS):
            games.step(row)
        total = (time.perf_counter() - start) / STEPS / ROW
        game = mean(map(mean, alone)) / ROW
        parts = {
            name: mean(each[name] for each in clocked)
            for name in ("frames", "gray", "shrinking")
        }
        parts["comparing"] = comparing(title)
        parts["rules"] = game - sum(parts.values())
        parts["slowest"] = (
            mean(map(max, zip(*alone, strict=True))) / ROW - game
        )
        return parts | {"total": total}

    number = CORES * ROW
    actions = rows(title, number)
    env_id = f"{title}NoFrameskip-v4"
    with Games(number, env_id, on_life_loss="ignore") as games:
        games.reset()
        play_round()  # to warm up
        found = [common.undisturbed(play_round) for _ in range(rounds)]
    for process in processes:
        process.kill()
    return summary(found)


NAMES = {
    "frames": "four frames of the emulator",
    "gray": "two gray screens",
    "comparing": "the brighter of two screens, and what has changed",
    "shrinking": "shrinking",
    "rules": "rules and the stack",
    "slowest": "waiting for the slowest",
}
REST = "the parent and the pipes"


def summary(found):
    """Medians of the rounds; what is left of the total is the last part."""
    middle = {
        name: median(parts[name] for parts, _ in found) * MICRO
        for name in [*NAMES, "total"]
    }
    parts = [[NAMES[name], round(middle[name], 1)] for name in NAMES]
    rest = middle["total"] - sum(middle[name] for name in NAMES)
    return {
        "parts": [*parts, [REST, round(rest, 1)]],
        "total": round(middle["total"], 1),
        "others' cores": round(max(others for _, others in found), 2),
        "limit, steps/s": round(CORES / middle["frames"] * MICRO),
        "share of the limit": round(middle["frames"] / middle["total"], 3),
    }


def main():
    parser = common.options(__doc__)
    parser.add_argument("--rounds", type=int, default=9, help="of each title")
    run = parser.parse_args()
    if run.publish:
        common.must_be_quiet()
    about = common.when() | {"rounds": run.rounds, "steps": STEPS}
    data = {"machine": common.machine()} | about
    for title in TITLES:
        data[title] = measure(title, run.rounds)
        print(f"{title}: {data[title]['total']} µs")
        for name, spent in data[title]["parts"]:
            print(f"{spent:8.1f}  {name}")
    common.write(common.target("step_time.json", run.publish), data)


if __name__ == "__main__":
    main()
