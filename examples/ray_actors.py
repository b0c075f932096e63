"""`Games` as Ray actors: on all cores, or on many machines.

    pip install -r requirements.txt -r examples/ray.txt
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

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))
try:
    import gymnasium as gym
    import numpy as np
    import ray

    import game
except ModuleNotFoundError as error:
    needs = "pip install -r requirements.txt -r examples/ray.txt"
    sys.exit(f"ray_actors.py: {error}: needs game.py, and {needs}")

# An actor that died is started again so many times, and a call that failed by
# it is made again. Both are needed: without retries the next call raises
# `ActorUnavailableError`. Not -1, without an end: an actor that can't import
# game.py would be started for ever.
RETRIES = {"max_restarts": 9, "max_task_retries": 9}


def choose(obs):
    """Stand for a network: choose an action for each of `(n, 4, 84, 84)`."""
    return np.random.randint(2, size=len(obs))


def play(args):
    """Play on all actors at once; return the steps and the scores."""
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
    for name, default in ("actors", 2), ("games", 8), ("steps", 200):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--address", help="of a cluster, or auto")
    args = parser.parse_args()
    if min(args.actors, args.steps) < 1:
        parser.error("expected actors and steps of 1 or more")
    try:
        game.Games(args.games, args.env_id, processes=0).close()
    except (gym.error.Error, ImportError, TypeError, ValueError) as error:
        parser.exit(2, f"ray_actors.py: {error}\n")
    # The module goes along, wherever this program was started.
    module = str(pathlib.Path(game.__file__).resolve())
    options = {} if args.address else {"num_cpus": args.actors}
    try:
        ray.init(
            args.address,
            runtime_env={"py_modules": [module]},
            include_dashboard=False,
            log_to_driver=False,
            **options,
        )
    except ConnectionError as error:
        parser.exit(2, f"ray_actors.py: {error}\n")
    start = time.perf_counter()
    try:
        scores = play(args)
    except KeyboardInterrupt:
        sys.exit("interrupted")
    finally:
        ray.shutdown()
    seconds = time.perf_counter() - start
    steps = args.actors * args.games * args.steps
    print(
        f"{steps:,} steps of {args.actors} actors, {steps / seconds:,.0f} a "
        f"second with their start; {len(scores)} episodes, "
        f"score {np.mean(scores or 0):.2f}"
    )


if __name__ == "__main__":
    main()
