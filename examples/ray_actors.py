"""`Games` as Ray actors: on all cores of a machine, or of many.

    pip install -r requirements.txt ray
    python examples/ray_actors.py

`Games` is an actor as it is, on the cluster that `RAY_ADDRESS` names or that
Ray starts here. Ray starts one that dies anew and makes its call again; the
new one knows nothing of the games that were played: `ResetNeeded`.
"""

import pathlib
import sys

import gymnasium as gym
import numpy as np
import ray

# In this repository game.py lies one folder up; copied, it lies beside.
sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))
import game

GAMES = 8  # of each actor
STEPS = 200  # of each game
# An actor that died is started again so many times, and a call that failed by
# it is made again. Both are needed: without retries the next call raises
# `ActorUnavailableError`. Not -1, without an end: an actor that can't import
# game.py would be started for ever.
RETRIES = {"max_restarts": 9, "max_task_retries": 9}


def choose(obs):
    """Stand for a network: choose an action for each of `(n, 4, 84, 84)`."""
    return np.random.randint(2, size=len(obs))


def play(count):
    """Play on `count` actors at once; return the scores of ended games."""
    # An actor for each core, which plays its games one after the other. For
    # one that takes a whole machine of 16 cores it is `num_cpus=16` and
    # `processes=16`.
    actor = ray.remote(num_cpus=1, **RETRIES)(game.Games)
    actors = [
        actor.remote(GAMES, seed=i * GAMES, processes=0) for i in range(count)
    ]
    starts = ray.get([each.reset.remote() for each in actors])
    obs = [start for start, _ in starts]
    scores = []
    for _ in range(STEPS):
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
            if "episode" in infos:
                scores += infos["episode"]["r"][infos["_episode"]].tolist()
    return scores


def main():
    # The module goes along, wherever this program was started.
    ray.init(runtime_env={"py_modules": [game.__file__]}, log_to_driver=False)
    count = int(ray.cluster_resources()["CPU"])
    scores = play(count)
    mean = np.mean(scores or 0)
    print(f"{count} actors, {len(scores)} games, score {mean:.2f}")


if __name__ == "__main__":
    main()
