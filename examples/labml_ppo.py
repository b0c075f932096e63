"""Train labml's annotated PPO on `Worker`.

    pip install -r requirements.txt -r examples/labml_ppo.txt
    python examples/labml_ppo.py              # Breakout, 1,000,000 steps
    python examples/labml_ppo.py --resume     # go on with it

The training is `labml_nn.rl.ppo` as it is published, nothing of it changed,
with the settings of its own `main`; only the module that it takes its `Worker`
from is game.py. A lost life restarts the game, so the agent knows first lives
only. An update takes eight epochs, and the time for that.

A run writes its curve, what it ran on and its weights to runs/labml as it
goes, as labml-SEED.csv, .json and .pt. --publish writes the first two to
measure/results instead, as labml.csv and labml.json. After --resume the
weights, the optimiser and the counters are those saved last; the games begin
anew.
"""

import argparse
import collections
import contextlib
import csv
import datetime
import json
import os
import pathlib
import platform
import re
import statistics
import sys
import time
from importlib import metadata

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.append(str(ROOT))
try:
    import torch

    import game

    # labml's trainer imports `Worker` from this module of its own.
    sys.modules["labml_nn.rl.game"] = game
    from labml import tracker
    from labml.configs import FloatDynamicHyperParam, IntDynamicHyperParam
    from labml_nn.rl.ppo.experiment import Trainer
except ImportError as error:
    needs = "pip install -r requirements.txt -r examples/labml_ppo.txt"
    sys.exit(f"labml_ppo.py: {error}: needs game.py, and {needs}")

PACKAGES = ["ale-py", "gymnasium", "labml", "labml-nn", "numpy", "torch"]
COLUMNS = ["steps", "seconds", "sampling", "training", "episodes", "reward"]
UPDATES_TO_A_ROW = 10
LAST = 100  # episodes that the curve is the mean of


class Watched:
    """A worker, and a note of each episode that ends in it."""

    def __init__(self, worker, rewards):
        self.worker = worker
        self.child = self  # which the trainer sends to and receives from
        self.rewards = rewards
        self.episodes = 0

    def send(self, message):
        self.worker.child.send(message)

    def recv(self):
        answer = self.worker.child.recv()
        # The answer to "step" ends with an episode's info, or `None`.
        if answer[3]:
            self.rewards.append(answer[3]["reward"])
            self.episodes += 1
        return answer


def make_trainer():
    """labml's trainer with the settings of its own `main`."""
    return Trainer(
        updates=10_000,
        epochs=IntDynamicHyperParam(8),
        n_workers=8,
        worker_steps=128,
        batches=4,
        value_loss_coef=FloatDynamicHyperParam(0.5),
        entropy_bonus_coef=FloatDynamicHyperParam(0.01),
        clip_range=FloatDynamicHyperParam(0.1),
        learning_rate=FloatDynamicHyperParam(1e-3, (0, 1e-3)),
    )


def train(args, weights, curve):
    """Train until so many steps of all games together are played."""
    torch.manual_seed(args.seed)
    trainer = make_trainer()
    rewards = collections.deque(maxlen=LAST)
    trainer.workers = [Watched(each, rewards) for each in trainer.workers]
    # The same numbers in another order: a CPU is faster with them.
    order = {"memory_format": torch.channels_last}
    trainer.model.to(**order)
    row = dict.fromkeys(COLUMNS, 0)
    rows = []
    if args.resume:
        saved = torch.load(weights, weights_only=True)
        trainer.model.load_state_dict(saved["model"])
        trainer.optimizer.load_state_dict(saved["optimizer"])
        rewards.extend(saved["rewards"])
        rows = saved["rows"]
        row = dict(rows[-1])
    episodes_before = row["episodes"]
    update = 0
    while row["steps"] < args.steps:
        start = time.perf_counter()
        samples = trainer.sample()
        sampled = time.perf_counter()
        samples["obs"] = samples["obs"].contiguous(**order)
        trainer.train(samples)
        trained = time.perf_counter()
        # Let go of what the tracker holds, without its line of output.
        with open(os.devnull, "w") as null, contextlib.redirect_stdout(null):
            tracker.save()
        update += 1
        row["steps"] += trainer.batch_size
        row["seconds"] += trained - start
        row["sampling"] += sampled - start
        row["training"] += trained - sampled
        if update % UPDATES_TO_A_ROW and row["steps"] < args.steps:
            continue
        new = sum(worker.episodes for worker in trainer.workers)
        row["episodes"] = episodes_before + new
        row["reward"] = statistics.fmean(rewards) if rewards else 0
        rows.append({name: round(x, 3) for name, x in row.items()})
        print(rows[-1], flush=True)
        with open(curve, "w", newline="") as file:
            writer = csv.DictWriter(file, COLUMNS)
            writer.writeheader()
            writer.writerows(rows)
        together = {
            "model": trainer.model.state_dict(),
            "optimizer": trainer.optimizer.state_dict(),
            "rewards": list(rewards),
            "rows": rows,
        }
        # A crash while writing must not leave half a file.
        torch.save(together, weights.with_suffix(".new"))
        os.replace(weights.with_suffix(".new"), weights)
    trainer.destroy()
    return row["steps"]


def machine():
    """What it ran on."""
    path = pathlib.Path("/proc/cpuinfo")
    cpuinfo = path.read_text() if path.exists() else ""
    cpu = re.findall("model name.*: (.*)", cpuinfo) or [platform.machine()]
    return {
        "processor": cpu[0],
        "cores": os.cpu_count(),
        "threads": torch.get_num_threads(),
        "python": platform.python_version(),
        "versions": {name: metadata.version(name) for name in PACKAGES},
        "date": datetime.date.today().isoformat(),
    }


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--steps", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--resume", action="store_true")
    parser.add_argument("--publish", action="store_true")
    args = parser.parse_args()
    folder = pathlib.Path("runs/labml")
    weights = folder / f"labml-{args.seed}.pt"
    if args.steps < 1:
        parser.exit(2, "labml_ppo.py: --steps: expected 1 or more\n")
    if args.resume and not weights.exists():
        parser.exit(2, f"labml_ppo.py: nothing to resume in {folder}\n")
    if weights.exists() and not args.resume:
        line = f"{weights} is there: --resume, or another --seed"
        parser.exit(2, f"labml_ppo.py: {line}\n")
    folder.mkdir(parents=True, exist_ok=True)
    results = weights
    if args.publish:
        results = ROOT / "measure/results/labml"
    steps = train(args, weights, results.with_suffix(".csv"))
    about = machine() | {"seed": args.seed, "steps": steps}
    text = json.dumps(about, indent=1) + "\n"
    results.with_suffix(".json").write_text(text)


if __name__ == "__main__":
    main()
