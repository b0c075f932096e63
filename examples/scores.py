"""Print the human-normalized scores of a sweep, and their mean.

    python examples/scores.py runs/sweep

A run's score is the last one of its curve.csv. It is normalized by human.csv:
0 is random play, 1 a professional tester (Wang et al. 2016, the table that
DQN Zoo has, too). The interquartile mean is that of the middle half of all
runs, with a 95 % interval by a bootstrap over the runs of each title (Agarwal
et al. 2021).
"""

import csv
import json
import pathlib
import re
import sys

import numpy as np

HUMAN = pathlib.Path(__file__).with_name("human.csv")


def read(path: pathlib.Path) -> list[dict[str, str]]:
    """Return the rows of a table."""
    return list(csv.DictReader(path.read_text("utf-8").splitlines()))


def normalized(folder: pathlib.Path) -> dict[str, list[float]]:
    """Return the scores of all runs in a folder, by title; print each."""
    human = {row["title"]: row for row in read(HUMAN)}
    scores: dict[str, list[float]] = {}
    precisions = set()
    for path in sorted(folder.glob("**/curve.csv")):
        run = json.loads(path.with_name("settings.json").read_text("utf-8"))
        precisions.add(run["about"]["precision"])
        title = re.sub(r"ALE/|(NoFrameskip)?-v\d", "", run["env_id"])
        rows = read(path) or [{"steps": "0", "score": ""}]
        steps, score = int(rows[-1]["steps"]), rows[-1]["score"]
        name = f"{title}, seed {run['seed']}, {steps:,} steps"
        if steps < run["steps"] or not score:
            print(f"{name}: not finished, and left out")
            continue
        low, high = (float(human[title][who]) for who in ("random", "human"))
        share = (float(score) - low) / (high - low)
        print(f"{name}: {float(score):.1f}, normalized {share:.3f}")
        scores.setdefault(title, []).append(share)
    if len(precisions) > 1:
        print("WARNING: the runs differ in precision:", *sorted(precisions))
    return scores


def middle_mean(scores: np.ndarray) -> float:
    """Return the mean of the middle half."""
    cut = len(scores) // 4
    return np.sort(scores)[cut : len(scores) - cut].mean().item()


def main() -> None:
    """Print the scores of the runs in a folder."""
    titles = list(normalized(pathlib.Path(sys.argv[1])).values())
    if not titles:
        sys.exit("no run is finished")
    random = np.random.default_rng(0)
    samples = [
        middle_mean(np.concatenate([random.choice(t, len(t)) for t in titles]))
        for _ in range(2000)
    ]
    low, high = np.percentile(samples, [2.5, 97.5])
    mean = middle_mean(np.concatenate(titles))
    print(f"interquartile mean {mean:.3f} ({low:.3f} to {high:.3f})")


if __name__ == "__main__":
    main()
