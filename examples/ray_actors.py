"""`Games` as Ray actors: on all cores, or on many machines.

    pip install -r requirements.txt ray
    python examples/ray_actors.py                  # on this machine
    python examples/ray_actors.py --address auto   # on a cluster that runs

`Games` is an actor as it is, and plays the same games bit for bit. An actor
that dies is started anew by Ray and its call made again; the new one knows
nothing of the games that were played, and says so by `ResetNeeded`.
"""

import argparse
import pathlib
import sys
import time

import gymnasium as gym
import numpy as np
import ray

# In this repository game.py lies one folder up; copied, it lies beside.
sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))
import game

# An actor that died is started again so many times, and a call that failed by
# it is made again. Both are needed: without retries the next call raises
# `ActorUnavailableError`. Not -1, without an end: an actor that can't import
# game.py would be started for ever.
RETRIES = {"max_restarts": 9, "max_task_retries": 9}


def choose(obs):
    """Stand for a network: choose an action for each of `(n, 4, 84, 84)`."""
    return np.random.randint(2, size=len(obs))


def play(args):
    """Play on all actors at once; return the scores of ended episodes."""
    # An actor for each core, which plays its games one after the other. For
    # one that takes a whole machine of 16 cores it is `num_cpus=16` and
    # `processes=16`, with `context="forkserver"`, since Ray has threads.
    actor = ray.remote(num_cpus=1, **RETRIES)(game.Games)
    actors = [
        actor.remote(args.games, args.env_id, seed=i * args.games, processes=0)
        for i in range(args.actors)
    ]
    starts = ray.get([each.reset.remote() for each in actors])
    obs = [start for start, _ in starts]
    scores = []
    for _ in range(args.steps):
        # All are asked before the first answer is waited for. What comes
        # can't be written to: `copy()` it first.
        calls = [
            each.step.remote(choose(seen))
            for each, seen in zip(actors, obs, strict=True)
        ]
        for i, call in enumerate(calls):
            try:
                obs[i], rewards, terminated, truncated, infos = ray.get(call)
            except gym.error.ResetNeeded:
                # It had died, and its episodes were cut off by that.
                obs[i], _ = ray.get(actors[i].reset.remote())
                continue
            if "final_info" in infos:
                ended = infos["_final_info"]
                scores += infos["final_info"]["reward"][ended].tolist()
    return scores


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("env_id", nargs="?", default="BreakoutNoFrameskip-v4")
    parser.add_argument("--actors", type=int, default=2)
    parser.add_argument("--games", type=int, default=8, help="of each actor")
    parser.add_argument("--steps", type=int, default=200, help="of each game")
    parser.add_argument("--address", help="of a cluster, or auto")
    args = parser.parse_args()
    # The module goes along, wherever this program was started.
    ray.init(
        args.address,
        runtime_env={"py_modules": [game.__file__]},
        num_cpus=None if args.address else args.actors,
        include_dashboard=False,
        log_to_driver=False,
    )
    start = time.perf_counter()
    scores = play(args)
    seconds = time.perf_counter() - start
    steps = args.actors * args.games * args.steps
    print(
        f"{steps:,} steps of {args.actors} actors, {steps / seconds:,.0f} a "
        f"second with their start; {len(scores)} episodes, "
        f"score {np.mean(scores or 0):.2f}"
    )


if __name__ == "__main__":
    main()
