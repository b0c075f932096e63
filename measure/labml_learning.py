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


class Tracker:
    """Stands for labml's tracker, and writes the curve."""

    def __init__(self, trainer, path):
        self.trainer = trainer
        self.path = path
        self.rewards = []  # of episodes
        self.updates = 0
        self.rows = []
        self.start = time.perf_counter()

    def set_queue(self, *_):
        """How many episodes a mean is of, as labml shows it."""

    def add(self, name, value=None):
        if name == "reward":
            self.rewards.append(value)

    def save(self):
        """Called after each update."""
        self.updates += 1
        over = self.updates == self.trainer.updates
        if self.updates % UPDATES_TO_A_ROW == 0 or over:
            row = {
                "steps": self.updates * self.trainer.batch_size,
                "seconds": round(time.perf_counter() - self.start, 3),
                "reward": round(statistics.fmean(self.rewards[-LAST:]), 3),
            }
            print(row, flush=True)
            self.rows.append(row)
            pd.DataFrame(self.rows).to_csv(self.path, index=False)


def main():
    parser = common.options(__doc__)
    parser.add_argument("--steps", type=int, default=1_000_000)
    args = parser.parse_args()
    torch.manual_seed(0)
    trainer = labml_ppo.make_trainer(args.steps)
    from labml_nn.rl.ppo import experiment

    path = common.target("labml.csv", args.publish)
    experiment.tracker = tracker = Tracker(trainer, path)
    trainer.run_training_loop()
    trainer.destroy()
    about = common.machine(PACKAGES)
    about |= {"threads": torch.get_num_threads(), "date": common.today()}
    about |= {"seed": 0, "steps": tracker.rows[-1]["steps"]}
    common.write(common.target("labml.json", args.publish), about)


if __name__ == "__main__":
    main()
