"""Train labml's PPO on `Worker`, and write its curve.

    pip install -r requirements.txt --group labml --group measure
    python measure/labml_learning.py            # 1,000,000 steps, two hours
    python measure/labml_learning.py --publish

The training is that of examples/labml_ppo.py. Results go to labml.csv, a row
for each update, and labml.json; report.py makes a part of
docs/learning.md of them.
"""

import statistics
import time

import pandas as pd
import torch

import common
import labml_ppo

PACKAGES = f"ale-py gymnasium labml labml-nn numpy {common.OPENCV} torch"
LAST = 100  # episodes that the curve is the mean of
COLUMNS = ["steps", "seconds", "reward"]


class Tracker:
    """Stands for labml's tracker, and writes the curve."""

    def __init__(self, batch_size, path):
        self.batch_size = batch_size
        self.path = path
        self.rewards = []  # of episodes
        self.rows = []
        self.start = time.perf_counter()

    def set_queue(self, *_):
        """How many episodes a mean is of, as labml shows it."""

    def add(self, name, value=None):
        if name == "reward":
            self.rewards.append(value)

    def save(self):
        """Called after each update."""
        steps = self.batch_size * (len(self.rows) + 1)
        seconds = time.perf_counter() - self.start
        reward = statistics.fmean(self.rewards[-LAST:])
        self.rows.append([steps, seconds, reward])
        table = pd.DataFrame(self.rows, columns=COLUMNS)
        table.to_csv(self.path, index=False, float_format="%.3f")


def main():
    parser = common.options(__doc__)
    parser.add_argument("--steps", type=int, default=1_000_000)
    args = parser.parse_args()
    torch.manual_seed(0)
    trainer = labml_ppo.make_trainer(args.steps)
    from labml_nn.rl.ppo import experiment

    path = common.target("labml.csv", args.publish)
    experiment.tracker = Tracker(trainer.batch_size, path)
    trainer.run_training_loop()
    trainer.destroy()
    about = {"threads": torch.get_num_threads(), "date": common.today()}
    path = common.target("labml.json", args.publish)
    common.write(path, common.machine(PACKAGES) | about)


if __name__ == "__main__":
    main()
