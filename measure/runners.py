"""Measure updates of PPO by ppo.py, and by RLlib's runners.

    pip install -r requirements.txt --group measure --group rllib
    python measure/runners.py --publish

All learn Breakout from its beginning. In each round every side plays and
learns one update.

- ppo: examples/ppo.py, with eight games
- rllib0, rllib1, rllib2: examples/rllib.py with so many runners of eight games
  each, which share this machine's cores with the learner; without runners the
  program itself plays eight games. RLlib computes in float32
"""

from collections.abc import Generator

import common
import rllib
import updates
from game import BREAKOUT

COUNTS = (0, 1, 2)  # of runners


def rllib_updates(runners: int) -> Generator[int]:
    """Play and learn as rllib.py does; yield the steps of each update."""
    # So many cores that all runners find room, whatever this machine has.
    rllib.start_ray(sum(COUNTS), num_cpus=sum(COUNTS))
    algorithm = rllib.make_config(BREAKOUT, runners).build_algo()
    try:
        while True:
            board = algorithm.train()["env_runners"]
            yield int(board["num_env_steps_sampled"])
    finally:
        algorithm.stop()


if __name__ == "__main__":
    sides = {"ppo": updates.updates("games", trained=False)}
    sides |= {f"rllib{count}": rllib_updates(count) for count in COUNTS}
    updates.measure(common.options(__doc__), "runners", sides)
