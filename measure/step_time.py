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
  takes. The parent's processor time stands beside; a part of it is spent
  while the workers play.

Rounds in which other programs were at work are played again.
"""

import multiprocessing
import time
from statistics import mean, median

import common
from common import CORES
from contenders import ACTIONS, rows

TITLES = ["Pong", "Breakout"]
ROW = 4  # games to a core
WARM_UP = 100  # steps
TRIES = 4  # times as many rounds at most, to find undisturbed ones
SCREENS = 200  # of which comparing is measured
BANDS = 42  # of a screen, in which `Game` looks for changes
MICRO = 1e6


def player(pipe, title, first, clocked):
    """Play the games of one core; for each number of steps that comes in,
    return how long each step took, and what the clock says."""
    import ale_py
    import cv2

    cv2.setNumThreads(0)
    clock = Clock()
    if clocked:
        emulator = ale_py.ALEInterface
        emulator.act = clock.around("frames", emulator.act)
        gray = clock.around("gray", emulator.getScreenGrayscale)
        emulator.getScreenGrayscale = clock.keep(gray)
        cv2.resize = clock.around("shrinking", cv2.resize)
    from game import Game

    env_id = f"{title}NoFrameskip-v4"
    games = [
        Game(seed, env_id, on_life_loss="ignore")
        for seed in range(first, first + ROW)
    ]
    for game in games:
        game.reset()
    actions = rows(title, first + ROW)
    while steps := pipe.recv():
        clock.spent.clear()
        times = []
        for _ in range(steps):
            start = time.perf_counter()
            row = next(actions)[first:]
            for game, action in zip(games, row, strict=True):
                game.step(action)
            times.append(time.perf_counter() - start)
        parts = {k: v / steps / ROW for k, v in clock.spent.items()}
        if clocked:
            parts["comparing"] = comparing(clock.screens)
        pipe.send((times, parts))


class Clock:
    """What was spent in calls, by name; and some of the screens."""

    def __init__(self):
        self.spent, self.screens = {}, []

    def around(self, name, function):
        def call(*args, **options):
            start = time.perf_counter()
            result = function(*args, **options)
            spent = time.perf_counter() - start
            self.spent[name] = self.spent.get(name, 0) + spent
            return result

        return call

    def keep(self, function):
        def call(*args):
            screen = function(*args)
            if len(self.screens) < SCREENS:
                self.screens.append(screen)
            return screen

        return call


def comparing(screens):
    """Seconds of a maximum, and of looking where a screen has changed."""
    import numpy as np

    start = time.perf_counter()
    last = screens[0]
    for older, newer in zip(screens[::2], screens[1::2], strict=True):
        screen = np.maximum(older, newer)
        (screen != last).reshape(BANDS, -1).any(1)
        last = screen
    return (time.perf_counter() - start) / (len(screens) // 2)


def ask(pipes, steps):
    """Let players play at the same time; return their answers."""
    for pipe in pipes:
        pipe.send(steps)
    return [pipe.recv() for pipe in pipes]


def measure(title, run):
    """The parts of a title's step."""
    from game import Games

    context = multiprocessing.get_context("fork")
    pipes = {"alone": [], "clocked": []}
    processes = []
    for way, ends in pipes.items():
        for core in range(CORES):
            here, there = context.Pipe()
            ends.append(here)
            args = there, title, core * ROW, way == "clocked"
            process = context.Process(target=player, args=args, daemon=True)
            process.start()
            processes.append(process)
    number = CORES * ROW
    found = []
    env_id = f"{title}NoFrameskip-v4"
    with Games(number, env_id, on_life_loss="ignore") as games:
        games.reset()
        actions = rows(title, number)
        for steps in [WARM_UP] + [run.steps] * run.rounds * TRIES:
            if quiet_rounds(found) == run.rounds:
                break
            others = common.Others()
            alone = [times for times, _ in ask(pipes["alone"], steps)]
            clocked = [parts for _, parts in ask(pipes["clocked"], steps)]
            start, busy = time.perf_counter(), time.process_time()
            for _ in range(steps):
                games.step(next(actions))
            parent = (time.process_time() - busy) / steps / ROW
            total = (time.perf_counter() - start) / steps / ROW
            slowest = [max(each) for each in zip(*alone, strict=True)]
            game = mean(mean(times) for times in alone) / ROW
            parts = {
                name: mean(each[name] for each in clocked)
                for name in ("frames", "gray", "comparing", "shrinking")
            }
            parts["rules"] = game - sum(parts.values())
            parts["slowest"] = mean(slowest) / ROW - game
            parts["parent"] = parent
            parts |= {"total": total, "others": others.cores()}
            if steps == run.steps:
                found.append(parts)
    for process in processes:
        process.kill()
    found.sort(key=lambda parts: parts["others"])
    return summary(found[: run.rounds])


def quiet_rounds(found):
    """How many rounds no other program has disturbed."""
    return sum(parts["others"] < common.DISTURBED for parts in found)


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
        name: median(parts[name] for parts in found) * MICRO
        for name in found[0]
    }
    parts = [[NAMES[name], round(middle[name], 1)] for name in NAMES]
    rest = middle["total"] - sum(middle[name] for name in NAMES)
    totals = [parts["total"] * MICRO for parts in found]
    return {
        "parts": [*parts, [REST, round(rest, 1)]],
        "total": round(middle["total"], 1),
        "others' cores": round(found[-1]["others"], 2),
        "total, range": [round(min(totals), 1), round(max(totals), 1)],
        "the parent's processor time": round(middle["parent"], 1),
        "steps/s": round(CORES / middle["total"] * MICRO),
        "limit, steps/s": round(CORES / middle["frames"] * MICRO),
        "share of the limit": round(middle["frames"] / middle["total"], 3),
    }


def main():
    parser = common.Parser(__doc__)
    add = parser.add_argument
    add("--titles", nargs="+", choices=ACTIONS, default=TITLES, help="to play")
    add("--rounds", type=common.positive(int), default=9, help="of each title")
    add("--steps", type=common.positive(int), default=600, help="of a round")
    parser.add_publish()
    run = parser.parse_args()
    parser.need("gymnasium", "ale_py", "numpy", "cv2")
    if run.publish:
        parser.must_be_quiet()
    titles = {}
    for title in run.titles:
        titles[title] = measure(title, run)
        print(f"{title}: {titles[title]['total']} µs")
        for name, spent in titles[title]["parts"]:
            print(f"{spent:8.1f}  {name}")
    machine = common.machine()
    versions = machine.pop("versions")
    about = {"machine": machine, "versions": versions}
    about |= {"date": common.today(), "commit": common.commit()}
    about |= {"rounds": run.rounds, "steps": run.steps}
    path = common.target("step_time.json", run.publish)
    common.write(path, titles | about)


if __name__ == "__main__":
    main()
