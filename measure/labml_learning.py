"""Train labml's PPO on `Worker`, and write its curve.

    pip install -r requirements.txt --group labml --group measure
    python measure/labml_learning.py            # 1,000,000 steps, two hours
    python measure/labml_learning.py --publish

The training is that of examples/labml_ppo.py. Results go to labml.csv, a row
for every tenth update, and labml.json; report.py makes a part of
docs/learning.md of them.
"""

import statistics
import time

import pandas as pd
import torch

import common
import labml_ppo

PACKAGES = "ale-py gymnasium labml labml-nn numpy opencv-python torch"
UPDATES_TO_A_ROW = 10
LAST = 100  # episodes that the curve is the mean of


class Tally:
    """Stands for labml's tracker, and keeps the rewards of episodes."""

    def __init__(self):
        self.rewards = []

    def add(self, name, value=None):
        if name == "reward":
            self.rewards.append(value)


def train(steps):
    """Train; yield a row of the curve now and then."""
    trainer = labml_ppo.make_trainer(steps)
    from labml_nn.rl.ppo import experiment

    experiment.tracker = tally = Tally()
    # The same numbers in another order: a CPU is faster with them.
    order = {"memory_format": torch.channels_last}
    trainer.model.to(**order)
    sampling = training = 0.0
    for update in range(1, trainer.updates + 1):
        start = time.perf_counter()
        samples = trainer.sample()
        sampled = time.perf_counter()
        samples["obs"] = samples["obs"].contiguous(**order)
        trainer.train(samples)
        sampling += sampled - start
        training += time.perf_counter() - sampled
        if update % UPDATES_TO_A_ROW == 0 or update == trainer.updates:
            yield {
                "steps": update * trainer.batch_size,
                "seconds": round(sampling + training, 3),
                "sampling": round(sampling, 3),
                "training": round(training, 3),
                "episodes": len(tally.rewards),
                "reward": round(statistics.fmean(tally.rewards[-LAST:]), 3),
            }
    trainer.destroy()


def main():
    parser = common.options(__doc__)
    parser.add_argument("--steps", type=int, default=1_000_000)
    args = parser.parse_args()
    torch.manual_seed(0)
    curve = common.target("labml.csv", args.publish)
    rows = []
    for row in train(args.steps):
        print(row, flush=True)
        rows.append(row)
        pd.DataFrame(rows).to_csv(curve, index=False)
    about = common.machine(PACKAGES)
    about |= {"threads": torch.get_num_threads(), "date": common.today()}
    about |= {"seed": 0, "steps": row["steps"]}
    common.write(common.target("labml.json", args.publish), about)


if __name__ == "__main__":
    main()
