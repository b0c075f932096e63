"""Two `Games` in turn: one plays while a network looks at the other's.

    pip install -r requirements.txt
    python examples/in_turn.py

It pays if the network runs on a device, or leaves cores free; which is faster
depends on the machine. Here the "network" only waits, as a program does for a
GPU. Prints the steps a second of one `Games` in lockstep and of two in turn,
each with as many games to a batch.
"""

import contextlib
import pathlib
import sys
import time

# In this repository game.py lies one folder up; copied, it lies beside.
sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))
from game import Games

GAMES = 8  # to a batch
NETWORK = 0.0015  # seconds that the network takes for a batch
SECONDS = 3  # to play


def choose(games, obs):
    """Stand for a network: wait, and choose an action for each game."""
    time.sleep(NETWORK)
    return games.action_space.sample()


def play(count):
    """Play `count` `Games` in turn for a while; return the steps a second."""
    with contextlib.ExitStack() as stack:
        fleet = []
        for i in range(count):
            fleet.append(stack.enter_context(Games(GAMES, seed=i * GAMES)))
        for games in fleet:
            obs, _ = games.reset()
            games.step_async(choose(games, obs))
        steps = 0
        start = time.perf_counter()
        while time.perf_counter() < start + SECONDS:
            for games in fleet:
                # `step_wait` waits for these games alone, and `step_async`
                # doesn't wait: the others are played all the while. With one
                # `Games` there are no others: lockstep.
                obs, rewards, terminated, truncated, infos = games.step_wait()
                games.step_async(choose(games, obs))
                steps += GAMES
        return steps / (time.perf_counter() - start)


if __name__ == "__main__":
    print(f"one in lockstep: {play(1):,.0f} steps/s", flush=True)
    print(f"two in turn: {play(2):,.0f} steps/s")
