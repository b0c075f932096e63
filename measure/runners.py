"""Measure updates of PPO by ppo.py, and by RLlib's runners.

    pip install -r requirements.txt --group measure --group rllib
    python measure/runners.py --publish   # 3 minutes

All learn Breakout from its beginning, by updates of 1,024 steps in four
epochs. In each round every side plays and learns one update.

- ppo: examples/ppo.py, with eight games
- rllib0, rllib1, rllib2: examples/rllib.py with so many runners of eight games
  each, which share this machine's cores with the learner; without runners the
  program itself plays eight games. RLlib computes in float32
"""

import contextlib
from collections.abc import Generator
from functools import partial
from typing import Any

import torch

import common
import ppo
import rllib
from game import BREAKOUT
from updates import play_update

COUNTS = (0, 1, 2)  # of runners


def ppo_updates(settings: ppo.Settings) -> Generator[int]:
    """Play and learn as ppo.py does; yield the steps of each update."""
    threads = torch.get_num_threads()
    with settings.make_games(settings.games) as games:
        agent, optimizer = ppo.make_agent(settings, games)
        optimizer.param_groups[0]["lr"] = settings.learning_rate
        player = ppo.Player(agent, games, settings, seed=0)
        while True:
            torch.set_num_threads(1)
            batch, _ = player.play()
            torch.set_num_threads(threads)
            ppo.learn(agent, optimizer, batch, settings, player.random)
            yield len(batch.obs)


def rllib_updates(runners: int) -> Generator[int]:
    """Play and learn as rllib.py does; yield the steps of each update."""
    algorithm = rllib.make_config(BREAKOUT, runners).build_algo()
    try:
        while True:
            board = algorithm.train()["env_runners"]
            yield int(board["num_env_steps_sampled"])
    finally:
        algorithm.stop()


def take_turns(rounds: int) -> dict[str, Any]:
    """Let the sides play and learn in turn; return their steps a second."""
    half = ppo.has_fast_bfloat16()
    settings = ppo.Settings(device="cpu", bfloat16=half)
    # So many cores that all runners find room, whatever this machine has.
    rllib.start_ray(sum(COUNTS), num_cpus=sum(COUNTS))
    sides = {"ppo": ppo_updates(settings)}
    sides |= {f"rllib{count}": rllib_updates(count) for count in COUNTS}
    with contextlib.ExitStack() as stack:
        players = {}
        for name, side in sides.items():
            stack.enter_context(contextlib.closing(side))
            next(side)  # to warm up
            players[name] = partial(play_update, name, side)
        speeds = common.take_turns(players, rounds)
    return {
        "precision": "bfloat16" if half else "float32",  # of ppo.py
        "threads": torch.get_num_threads(),
        "rows": {name: {"speed": speed} for name, speed in speeds.items()},
    }


def main() -> None:
    parser = common.options(__doc__)
    parser.add_argument("--rounds", type=int, default=15)
    run = parser.parse_args()
    parts = {"Breakout": lambda: take_turns(run.rounds)}
    common.measure(run, "runners", parts)


if __name__ == "__main__":
    main()
