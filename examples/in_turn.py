"""Two `Games` in turn: one plays while a network looks at the other's.

    pip install -r requirements.txt
    python examples/in_turn.py

It pays if the network runs on a device, or leaves cores free; which is faster
depends on the machine. Here the "network" only waits, as a program does for a
GPU. Prints the steps a second of one `Games` in lockstep and of two in turn,
each with as many games to a batch.
"""

import argparse
import contextlib
import pathlib
import sys
import time

# In this repository game.py lies one folder up; copied, it lies beside.
sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))
from game import Games


def choose(games, obs, milliseconds):
    """Stand for a network: wait, and choose an action for each game."""
    time.sleep(milliseconds / 1000)
    return games.action_space.sample()


def play(count, args):
    """Play `count` `Games` in turn for a while; return the steps a second."""
    with contextlib.ExitStack() as stack:
        fleet = []
        for i in range(count):
            games = Games(args.games, args.env_id, seed=i * args.games)
            fleet.append(stack.enter_context(games))
        for games in fleet:
            obs, _ = games.reset()
            games.step_async(choose(games, obs, args.milliseconds))
        steps = 0
        start = time.perf_counter()
        while time.perf_counter() < start + args.seconds:
            for games in fleet:
                # `step_wait` waits for these games alone, and `step_async`
                # doesn't wait: the others are played all the while. With one
                # `Games` there are no others: lockstep.
                obs, rewards, terminated, truncated, infos = games.step_wait()
                games.step_async(choose(games, obs, args.milliseconds))
                steps += args.games
        return steps / (time.perf_counter() - start)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("env_id", nargs="?", default="BreakoutNoFrameskip-v4")
    parser.add_argument("--games", type=int, default=8, help="to a batch")
    parser.add_argument("--seconds", type=float, default=3, help="for each")
    wait = "that the network takes for a batch"
    parser.add_argument("--milliseconds", type=float, default=1.5, help=wait)
    args = parser.parse_args()
    for count, name in (1, "one in lockstep"), (2, "two in turn"):
        print(f"{name}: {play(count, args):,.0f} steps/s", flush=True)


if __name__ == "__main__":
    main()
