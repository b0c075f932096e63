"""Measure how long one process of `Games` waits for the other, and what helps.

    pip install -r requirements.txt --group measure
    python measure/waiting.py            # a minute
    python measure/waiting.py --publish  # `shared` is for root alone

Eight games are played in lockstep, four to a process on two cores, with a
clock around each game's step. Of these times is worked out how long the steps
would have taken had the games been shared out otherwise:

- one moves: where a process took longer than the other by more than a game,
  it hands one over for the steps that follow;
- the next: a process that is done takes the next game, whichever that is;
- longest first: likewise, those first that took longest in the step before;
- nobody waits: all processes are done at once.

For the first three a game would have to move to another process, which takes
time of its own: that is measured, too.

Then several `Games` are played by examples/in_turn.py beside a network that
waits, with workers that give way to the program and with workers that don't.
What is measured is where the program's time goes.
"""

import contextlib
import heapq
import multiprocessing
import pickle
import time
import timeit

import numpy as np

import common
from benchmark import GAMES, TITLES
from common import CORES
from contenders import neighbours, rows
from game import Game, Games
from in_turn import BATCHES, NETWORK, give_way, ready_first

ROUNDS = 7
STEPS = 200  # of a round
PARTS = [
    "`ready_first`, until a batch is ready",
    "`step_wait`",
    "the network, and waking up",
    "`step_async`",
]
# How many `Games` of one process each, and whether their workers give way. The
# last don't: they are started after all others were told to.
FLEETS = {f"{n}": (n, True) for n in range(CORES + 1, CORES + 7)}
FLEETS["don't"] = (BATCHES, False)
WAYS = ["one moves", "the next", "longest first", "nobody waits"]
TIMES = multiprocessing.RawArray("d", GAMES)  # seconds of each game's step


class Clocked(Game):
    """A game that tells how long its steps take."""

    def __init__(self, seed, *args, **options):
        super().__init__(seed, *args, **options)
        self.number = seed

    def step(self, action):
        start = time.perf_counter()
        result = super().step(action)
        TIMES[self.number] = time.perf_counter() - start
        return result


def shared_out(times, bounds):
    """How long a step takes if each process has a row of games."""
    return max(part.sum() for part in np.split(times, bounds))


def as_they_come(times, order):
    """How long it takes if whoever is done takes the next game."""
    done = [0.0] * CORES
    for game in order:
        heapq.heapreplace(done, done[0] + times[game])
    return max(done)


def simulate(steps):
    """Of each way to share out, how long all steps take together."""
    result = dict.fromkeys(["as it is", *WAYS], 0.0)
    bounds = [GAMES * i // CORES for i in range(1, CORES)]
    first = bounds[0]
    before = steps[0]
    for times in steps:
        result["as it is"] += shared_out(times, bounds)
        result["one moves"] += shared_out(times, [first, *bounds[1:]])
        one, other = times[:first].sum(), times[first:].sum()
        if abs(one - other) > times.mean():
            first += 1 if one < other else -1
        longest = np.argsort(-before)
        result["the next"] += as_they_come(times, range(GAMES))
        result["longest first"] += as_they_come(times, longest)
        result["nobody waits"] += times.sum() / CORES
        before = times
    return result


def measure(host, _):
    """Of each title and way the ratio to how it is, by round."""
    columns = {}
    with beside(host):
        for title in TITLES:
            env_id = f"{title}NoFrameskip-v4"
            actions = rows(title, GAMES)
            rounds = []
            options = {"make": Clocked, "context": "fork"}
            with Games(GAMES, env_id, on_life_loss="ignore", **options) as it:
                it.reset()
                for _ in range(ROUNDS):
                    steps = []
                    for _ in range(STEPS):
                        it.step(next(actions))
                        steps.append(np.array(TIMES))
                    rounds.append(simulate(steps))
            columns[title] = {
                way: [round(one["as it is"] / one[way], 3) for one in rounds]
                for way in WAYS
            }
    return {
        "rounds": ROUNDS,
        "columns": columns,
        "move": move(),
        "in turn": in_turn(host),
    }


def beside(host):
    """Of a shared host the neighbours, while a `with` statement runs."""
    return neighbours() if host == "shared" else contextlib.nullcontext()


def in_turn(host):
    """Of each fleet and network the parts of a batch, by round."""
    actions = rows("Breakout", GAMES)
    with contextlib.ExitStack() as stack:
        fleets = {}
        for name, (count, gives_way) in FLEETS.items():
            fleets[name] = []
            for i in range(count):
                options = dict(seed=GAMES * i, processes=1, context="fork")
                games = Games(GAMES, on_life_loss="ignore", **options)
                fleets[name].append(stack.enter_context(games))
                games.reset()
            if gives_way:
                give_way()
        # Neighbours don't give way, so they are started last.
        stack.enter_context(beside(host))
        rounds = {name: {"waits": [], "none": []} for name in fleets}
        for _ in range(ROUNDS):
            for name, fleet in fleets.items():
                rounds[name]["waits"].append(parts(fleet, actions, NETWORK))
                rounds[name]["none"].append(parts(fleet, actions, 0))
    return rounds


def parts(fleet, actions, network):
    """The mean microseconds that the program spends on a batch, in parts."""
    for games in fleet:
        games.step_async(next(actions))
    spent = np.zeros(len(PARTS))
    turns = ready_first(fleet)
    for _ in range(STEPS):
        times = [time.perf_counter()]
        games = next(turns)
        times.append(time.perf_counter())
        games.step_wait()
        times.append(time.perf_counter())
        if network:
            time.sleep(network)
        times.append(time.perf_counter())
        games.step_async(next(actions))
        times.append(time.perf_counter())
        spent += np.diff(times)
    for games in fleet:
        games.step_wait()
    return (1e6 * spent / STEPS).round(1).tolist()


def move():
    """Microseconds to pack and unpack a game's emulator, and of a step."""
    game = Game(0)
    game.reset()
    env = game.env.unwrapped

    def there_and_back():
        env.restore_state(pickle.loads(pickle.dumps(env.clone_state())))

    number = 200
    calls = {"packed": there_and_back, "step": lambda: game.step(1)}
    seconds = {
        name: timeit.timeit(c, number=number) for name, c in calls.items()
    }
    return {name: round(1e6 * s / number, 1) for name, s in seconds.items()}


def main():
    common.measure(__doc__, "waiting.json", ["quiet", "shared"], measure)


if __name__ == "__main__":
    main()
