"""Measure updates of examples/ray_ppo.py, with 1, 2 and 4 actors.

    pip install -r requirements.txt --group measure --group ray
    python measure/actors.py --publish   # 5 minutes

All play eight games of Breakout to an actor, with the settings of ppo.py, and
begin to learn; the actors share this machine's cores with the learner. In each
round ppo.py and every number of actors play and learn one update. Of an update
by Ray the seconds are those of *waiting* until all have played, of *sending*
weights and batches, and of *learning*; ppo.py's are those of the games, of the
network that plays, and of learning.
"""

import contextlib
from collections.abc import Generator
from typing import Any

import ray
import torch

import common
import ppo
import ray_ppo
import training_run
import updates
from training_run import Here, timed

ROUNDS = 15
ACTORS = [1, 2, 4]


def ray_updates(count: int, here: Here) -> Generator[dict[str, float]]:
    """Train on so many actors; yield the seconds of each update."""
    settings = ray_ppo.Settings(games=updates.GAMES, actors=count, here=here)
    agent, optimizer = ppo.make_agent(settings, 4, (4, 84, 84))
    optimizer.param_groups[0]["lr"] = settings.learning_rate
    random = torch.Generator().manual_seed(0)
    actors = ray_ppo.Actors(settings, random)
    while len(actors.playing) < count:
        actors.welcome(count, seconds=60)
    while True:
        seconds = dict.fromkeys(["waiting", "sending", "learning"], 0.0)
        played, _ = actors.play(agent.state_dict(), seconds)
        with timed(seconds, "sending"):
            batch = ray_ppo.join(played, here.device)
        with timed(seconds, "learning"):
            ppo.learn(agent, optimizer, batch, settings, random)
        yield seconds


def interleaved(rounds: int) -> dict[str, Any]:
    """Let all play and learn in turn; return what each update took."""
    here = Here(device="cpu", bfloat16=training_run.has_fast_bfloat16())
    # So many that they find room, whatever this machine has.
    ray_ppo.start_ray(num_cpus=sum(ACTORS))
    measured = []
    with contextlib.ExitStack() as stack:
        sides = {"ppo": updates.our_updates("games", here)}
        sides |= {f"{n}": ray_updates(n, here) for n in ACTORS}
        for side in sides.values():
            stack.enter_context(contextlib.closing(side))
        order = list(sides)
        for _ in range(rounds + 1):
            row = {}
            for name in order:
                parts = next(sides[name])
                row[name] = {k: round(v, 4) for k, v in parts.items()}
            print(row, flush=True)
            measured.append(row)
            order.reverse()
    ray.shutdown()
    return {
        "device": here.device,
        "bfloat16": here.bfloat16,
        "threads": torch.get_num_threads(),
        "games": updates.GAMES,
        "steps": ppo.Settings().rollout * updates.GAMES,  # of an actor
        "updates": measured[1:],  # the first was to warm up
    }


def main() -> None:
    parser = common.options(__doc__)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    run = parser.parse_args()
    parts = {"actors": lambda: interleaved(run.rounds)}
    common.measure(run, "actors", parts)


if __name__ == "__main__":
    main()
