"""Two `Games` in turn beside a network: while one waits, the other plays.

    python examples/in_turn.py

In lockstep the games stand still while the network chooses, and the network
while the games are played. With two `Games` the network chooses for one while
the other is played. Here the "network" only waits, as a program does for a
GPU. Prints the steps a second of one `Games` in lockstep and of two in turn,
each with as many games to a batch. Nothing but requirements.txt is needed.
"""

import argparse
import contextlib
import pathlib
import sys
import time

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))
try:
    import gymnasium as gym

    from game import Games
except ModuleNotFoundError as error:
    needs = "pip install -r requirements.txt"
    sys.exit(f"in_turn.py: {error}: needs game.py, and {needs}")


def choose(games, obs, milliseconds):
    """Stand for a network: wait, and choose an action for each game."""
    time.sleep(milliseconds / 1000)
    return games.action_space.sample()


def play(count, args):
    """Play `count` `Games` in turn for a while; return the steps a second."""
    with contextlib.ExitStack() as stack:
        fleet = [
            stack.enter_context(
                Games(args.games, args.env_id, seed=i * args.games)
            )
            for i in range(count)
        ]
        for games in fleet:
            obs, _ = games.reset()
            games.step_async(choose(games, obs, args.milliseconds))
        steps, start = 0, time.perf_counter()
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
    if args.seconds <= 0 or args.milliseconds < 0:
        parser.error("expected times above 0")
    try:
        for count, name in (1, "one in lockstep"), (2, "two in turn"):
            print(f"{name}: {play(count, args):,.0f} steps/s", flush=True)
    except (gym.error.Error, ImportError, TypeError, ValueError) as error:
        parser.exit(2, f"in_turn.py: {error}\n")
    except KeyboardInterrupt:
        print("interrupted")


if __name__ == "__main__":
    main()
