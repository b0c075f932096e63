"""Draw the learning curves, and write what they show into README.

Reads what examples/labml_ppo.py and examples/ppo.py wrote: train-….csv, train.json,
ppo-….csv and ppo.json. Writes the chart train.svg beside them, and the part of
README between its `<!-- learning -->` marks. Needs matplotlib, see peers.txt.

    python measure/curves.py
"""

import csv
import json
import pathlib
import statistics

from benchmark import COLOURS, canvas, put, save

HERE = pathlib.Path(__file__).resolve().parent
RESULTS, DOCS = HERE / "results", HERE.parent / "docs"
LABELS = {
    "train-ours": ("games", "labml's PPO on `Worker`"),
    "train-labml": ("labml", "labml's PPO on labml's worker"),
    "ppo-games": ("games", "ppo.py on `Games`"),
    "ppo-gymnasium": ("gymnasium", "ppo.py on Gymnasium"),
}


def read(name):
    """Return the columns of a curve, as numbers."""
    with (RESULTS / f"{name}.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    return {key: [float(row[key]) for row in rows] for key in rows[0]}


def at(curve, steps, column):
    """Return a column where so many steps have been played."""
    i = min(range(len(curve["steps"])),
            key=lambda i: abs(curve["steps"][i] - steps))
    return curve[column][i]


def draw(curves):
    """Reward by steps, score by steps, score by hours."""
    plt = canvas()
    figure = plt.figure(figsize=(9, 3.6), layout="constrained")
    left, middle, right = figure.subplots(1, 3)
    for name, curve in curves.items():
        colour, label = LABELS[name]
        style = dict(color=COLOURS[colour], label=label.replace("`", ""))
        steps = [n / 1e6 for n in curve["steps"]]
        minutes = [n / 60 for n in curve["seconds"]]
        if name.startswith("train"):
            left.plot(steps, curve["reward"], **style)
        else:
            middle.plot(steps, curve["score"], **style)
            right.plot(minutes, curve["score"], **style)
    left.set_title("reward of a life, by million steps", fontsize=10)
    middle.set_title("score of a game, by million steps", fontsize=10)
    right.set_title("the same by minutes", fontsize=10)
    for axis in (left, middle, right):
        axis.set_xlim(0)
        axis.set_ylim(0)
    for axis in (left, middle):
        axis.legend(frameon=False, fontsize=8)
    save(plt, DOCS / "train.svg")


def ratio_of(rounds, slow, fast):
    """Return the median of the ratios, and their range, as text."""
    ratios = [one[slow] / one[fast] for one in rounds]
    middle = statistics.median(ratios)
    return f"{middle:.2f} ({min(ratios):.2f}–{max(ratios):.2f})"


def about(ran):
    """Say what it ran on."""
    cpu = ran["processor"].split()
    versions = ", ".join(f"{k} {v}" for k, v in ran["versions"].items())
    return (f"{ran['cores']} cores ({' '.join(cpu[:2])}), Python "
            f"{ran['python']}, {versions}. {ran['date']}.")


def report(curves):
    """README's part."""
    train = json.loads((RESULTS / "train.json").read_text())
    ppo = json.loads((RESULTS / "ppo.json").read_text())
    ours = curves["train-ours"]
    last, early = int(ours["steps"][-1]), 50_000
    film, filmed = train["film"], train["film"]["filmed"]
    scores = film["scores"]
    mean, chance = (statistics.fmean(scores[who])
                    for who in ("trained", "by_chance"))
    text = [
        "![learning curves](docs/train.svg)",
        f"**labml's PPO** on `Worker`, {last:,} steps of Breakout: the reward "
        f"of a life, as the mean of the last 100, was "
        f"{at(ours, early, 'reward'):.2f} after {early:,} steps and "
        f"{ours['reward'][-1]:.2f} at the end. Whole games of the trained "
        f"agent then brought {mean:.1f} points ({min(scores['trained']):.0f} "
        f"to {max(scores['trained']):.0f} in {len(scores['trained'])} games), "
        f"those of an agent that acts by chance {chance:.1f}; a life that "
        f"is lost restarts the game in this training, so that the agent knew "
        f"none but first lives. The film is "
        f"game {film['seed']}, which brought {filmed['reward']:.0f}: "
        f"{filmed['steps']} of its {filmed['of']} steps.",
    ]
    if "train-labml" in curves:
        theirs = curves["train-labml"]
        end = theirs["steps"][-1]
        text.append(
            f"On a worker that does what labml's original one does, the same "
            f"training was at {theirs['reward'][-1]:.2f} after {int(end):,} "
            f"steps, and on `Worker` at {at(ours, end, 'reward'):.2f}; each "
            "is one run with one seed.")
    if "compare" in train:
        ratio = ratio_of(train["compare"]["seconds"], "labml", "ours")
        text.append(
            f"Sampling, the network included, was {ratio} times as fast on "
            "`Worker`, both in turn.")
    text.append(about(train["run ours"]))
    games, peer = curves["ppo-games"], curves["ppo-gymnasium"]
    text.append(
        f"**`examples/ppo.py`**, {int(games['steps'][-1]):,} steps of Breakout on "
        f"each engine, an update of each in turn. The score of a game, as the "
        f"mean of the last 20, was {games['score'][-1]:.1f} on `Games` and "
        f"{peer['score'][-1]:.1f} on Gymnasium's, where an episode is a whole "
        f"game and the agent has to learn to serve. It took "
        f"{games['seconds'][-1] / 60:.0f} and {peer['seconds'][-1] / 60:.0f} "
        "minutes, on a machine that did other work besides.")
    rows = ["| whole games, raw points | `\"ignore\"` | `\"continue\"`, FIRE |",
            "| --- | --- | --- |"]
    for engine, label in ("games", "`Games`"), ("gymnasium", "Gymnasium"):
        runs = ppo[f"evaluation of {engine}"]
        cells = [[statistics.fmean(seed) for seed in runs[name]]
                 for name in ("scores", "served")]
        cells = [f"{statistics.fmean(means):.1f} ({min(means):.1f}–"
                 f"{max(means):.1f})" for means in cells]
        rows.append(f"| trained on {label} | {' | '.join(cells)} |")
    seeds, count = len(runs["scores"]), len(runs["scores"][0])
    text += [
        f"To evaluate them, {seeds} times {count} whole games, the mean and "
        "the range of the means. Who learned with `fire_on_reset` hasn't "
        "learned to serve, and needs FIRE pressed in its place:",
        "\n".join(rows)]
    names = ["sampling", "network", "training"]
    rows = ["| minutes | games | network while playing | learning | all |",
            "| --- | --- | --- | --- | --- |"]
    for engine, label in ("games", "`Games`"), ("gymnasium", "Gymnasium"):
        parts = [curves[f"ppo-{engine}"][name][-1] / 60 for name in names]
        cells = [f"{part:.1f} ({part / sum(parts):.0%})" for part in parts]
        rows.append(f"| {label} | {' | '.join(cells)} | {sum(parts):.1f} |")
    text += [
        "Where the time went. The games are the part that `Games` makes "
        "shorter; on a CPU the network takes most, and stays as it is:",
        "\n".join(rows), about(ppo["games"])]
    return "\n\n".join(text)


def main():
    curves = {name: read(name) for name in LABELS
              if (RESULTS / f"{name}.csv").exists()}
    draw(curves)
    put(DOCS.parent / "README.md", "learning", report(curves))


if __name__ == "__main__":
    main()
