"""Draw how agents learn, and write docs/learning.md.

    pip install -r requirements.txt -r measure/peers.txt
    python measure/curves.py

Reads what measure/agent.py, measure/training.py and examples/labml_ppo.py
published in measure/results. Writes docs/learning.md and its chart,
docs/learning.svg, and what README says of the film. Trains nothing: a few
seconds.
"""

import csv
from statistics import fmean, median

import charts
import publish

CHART = publish.DOCS / "learning.svg"
PAGE = publish.DOCS / "learning.md"
TESTER = 31.8  # points of DQN's professional tester (Mnih et al. 2015)
NAMES = {"games": "`Games`", "wrappers": "CleanRL's wrappers"}
COLOURS = {
    "games": charts.COLOURS["games"],
    "wrappers": charts.COLOURS["gymnasium"],
    "labml": charts.COLOURS["worker"],
}
FRAMES = 4  # to a step


def read(name):
    """Return the rows of a table, numbers as numbers."""
    with open(publish.RESULTS / f"{name}.csv", newline="") as file:
        return [
            {key: number(text) for key, text in row.items()}
            for row in csv.DictReader(file)
        ]


def number(text):
    """Return the number that a text is, or the text."""
    try:
        return float(text)
    except ValueError:
        return text


def runs(rows):
    """Return the runs of each side, a list of rows for each seed."""
    sides = {side: {} for side in NAMES}
    for row in rows:
        sides[row["side"]].setdefault(row["seed"], []).append(row)
    return {side: list(seeds.values()) for side, seeds in sides.items()}


def draw(agent, training, labml):
    """Draw the chart in both its forms."""
    plt = charts.canvas()
    # three charts side by side, or one below the other
    beside = plt.figure(figsize=(9, 3.4), layout="constrained")
    draw_on(beside.subplots(1, 3), agent, training, labml)
    charts.save(plt, CHART)
    below = plt.figure(figsize=(charts.NARROW, 8.4), layout="constrained")
    draw_on(below.subplots(3, 1), agent, training, labml)
    charts.save(plt, CHART.with_name(charts.narrow_name(CHART.name)))


def draw_on(axes, agent, training, labml):
    """Draw the agent, both sides of the comparison, and labml's PPO."""
    left, middle, right = axes

    steps = [row["steps"] / 1e6 for row in agent]
    scores = [row["score"] for row in agent]
    left.plot(steps, scores, color=COLOURS["games"])
    left.axhline(TESTER, color=charts.INK, linestyle="--", linewidth=1)
    left.annotate(
        "DQN's human tester",
        (0, TESTER),
        (2, 3),
        textcoords="offset points",
        fontsize=8,
        color=charts.INK,
    )
    left.set_title("ppo.py: score of a game", fontsize=10)

    for side, seeds in runs(training).items():
        style = {"color": COLOURS[side]}
        together = list(zip(*seeds, strict=True))
        steps = [rows[0]["steps"] / 1e6 for rows in together]
        scores = [[row["score"] for row in rows] for rows in together]
        lows, highs = map(min, scores), map(max, scores)
        middle.fill_between(steps, list(lows), list(highs), alpha=0.2, **style)
        label = NAMES[side].replace("`", "")
        middle.plot(steps, list(map(fmean, scores)), label=label, **style)
    middle.set_title(f"{title(training)}: score, mean and range", fontsize=10)
    middle.legend(frameon=False, fontsize=8)

    steps = [row["steps"] / 1e6 for row in labml]
    rewards = [row["reward"] for row in labml]
    right.plot(steps, rewards, color=COLOURS["labml"])
    right.set_title("labml's PPO: reward of a life", fontsize=10)

    for axis in axes:
        axis.set_xlim(0)
        axis.set_ylim(0)
        axis.set_xlabel("million steps", fontsize=8, color=charts.INK)
    middle.yaxis.set_major_formatter("{x:,.0f}")


def title(training):
    """The title that both sides learned."""
    return training[0]["env_id"].removesuffix("NoFrameskip-v4")


def spread(values, digits=2):
    """Return the median of values and their range, as text."""
    low, middle, high = min(values), median(values), max(values)
    return f"{middle:.{digits}f} ({low:.{digits}f}–{high:.{digits}f})"


def about(ran):
    """Say what it ran on."""
    versions = ", ".join(f"{k} {v}" for k, v in ran["versions"].items())
    cpu = " ".join(ran["processor"].split()[:2])
    return (
        f"{ran['cores']} cores ({cpu}), Python {ran['python']}, {versions}. "
        f"{ran['date']}."
    )


def how(ran):
    """Say which of ppo.py's options a run had."""
    threads = f"`--threads {ran['threads']}`"
    return f"{threads} `--bfloat16`" if ran["bfloat16"] else threads


def of_the_agent(curve, agent):
    """The part about the agent that plays Breakout."""
    served, alone = agent["scores"]["served"], agent["scores"]["alone"]
    film = agent["film"]
    last, spent = curve[-1], sum(agent["seconds"].values())
    better = "higher" if fmean(served) > TESTER else "lower"
    ways = {
        '`on_life_loss="continue", fire_on_reset=True`, as it learned': served,
        '`on_life_loss="ignore"`, serving by itself': alone,
    }
    rows = [
        [way, f"{fmean(scores):.1f}", f"{min(scores):.0f}–{max(scores):.0f}"]
        for way, scores in ways.items()
    ]
    return f"""## An agent that plays Breakout

![{film["reward"]:.0f} points](agent.webp)

{agent["steps"]:,} steps, which are {FRAMES * agent["steps"]:,} frames, made by
`examples/ppo.py` with `--bfloat16`, seed 0, in {spent / 3600:.1f} hours.
{agent["note"]}On the chart, the
score is the mean of the last 20 whole games of training; it was
{last["score"]:.1f} at the end.

Then 30 whole games, raw points, with the published weights
([`examples/breakout.pt`](../examples/breakout.pt), in half precision): the
mean is {better} than the {TESTER} of DQN's professional tester (Mnih et al.
2015). The film is the game with seed {film["seed"]}, and brought
{film["reward"]:.0f} points.

{publish.table([f"{len(served)} whole games", "mean", "range"], *rows)}

Both ways play until all five lives are lost. An agent that learned with
`fire_on_reset` was never taught to serve; with `"ignore"` it has to find FIRE
by chance, and may wait long. Thirty games, because scores of one agent differ
widely; of each of the thirty the first game alone counts, since of the games
that end first too many are short. Actions are drawn from the policy as in
training, are not sticky, and each game begins with 1 to 30 frames without one.
The score is `infos["final_info"]["reward"]` under `infos["_final_info"]`. Play
them yourself with `python examples/ppo.py --evaluate`, or see one with
`--film`.

{about(agent)}"""


def of_the_film(agent):
    """What README says below the film."""
    served, film = agent["scores"]["served"], agent["film"]
    return (
        "Left, a whole game of the agent that `examples/ppo.py` has trained: "
        f"{film['reward']:.0f} points, where {fmean(served):.1f} are its mean "
        f"of {len(served)} games ([more](docs/learning.md)). Right, what "
        "eight random players saw when they last hit a brick."
    )


def of_the_comparison(training, notes):
    """The part about `Games` beside CleanRL's wrappers."""
    share = notes["share"]
    rows = []
    for side, name in NAMES.items():
        columns = list(
            zip(*(one[side] for one in share["rounds"]), strict=True)
        )
        parts = list(map(median, columns))
        cells = [f"{part:.2f} s ({part / sum(parts):.0%})" for part in parts]
        update = median(sum(one[side]) for one in share["rounds"])
        rows.append([name, *cells, f"{update:.2f} s"])
    whole, games = [], []
    for one in share["rounds"]:
        whole.append(sum(one["wrappers"]) / sum(one["games"]))
        games.append(one["wrappers"][0] / one["games"][0])
    learning = [one[side][2] for one in share["rounds"] for side in NAMES]
    where = publish.table(
        ["an update", "games", "network while playing", "learning", "all"],
        *rows,
    )

    sides = runs(training)
    first = next(iter(sides.values()))[0]
    steps = int(first[-1]["steps"])
    scores = {
        side: [each[-1]["score"] for each in seeds]
        for side, seeds in sides.items()
    }
    learned = publish.table(
        [f"{title(training)}, after {steps:,} steps", "mean", "each seed"],
        *(
            [
                name,
                f"{fmean(scores[side]):,.0f}",
                ", ".join(f"{score:,.0f}" for score in scores[side]),
            ]
            for side, name in NAMES.items()
        ),
    )
    count = len(scores["games"])
    seeds = f"{count} seeds" if count > 1 else "one seed"
    apart = max(map(min, scores.values())) > min(map(max, scores.values()))
    if count == 1:
        verdict = "One seed can't say on which side a step teaches more."
    elif apart:
        verdict = f"With {seeds} the two sides' ranges don't overlap."
    else:
        verdict = f"A step teaches as much on both, as far as {seeds} can say."
    ran = next(n for name, n in notes.items() if name.startswith("learn"))
    return f"""## The same agent on CleanRL's wrappers

CleanRL's `ppo_atari.py` wraps each game in Stable-Baselines3's and Gymnasium's
wrappers. Here they run under Gymnasium's `AsyncVectorEnv`, a process for each
of {share["games"]} games, and play as `Games` does for `examples/ppo.py`:
no-op starts, FIRE, an episode for each life, clipped rewards. The agent and
its updates are those of `ppo.py` on both sides.

**Where the time goes**: {len(share["rounds"])} updates of Breakout, one of
each side in turn, with {how(share)}; medians.

{where}

An update on `Games` is {spread(whole)} times as fast, the games alone
{spread(games)} times: the median of the rounds, and their range. Learning is
the same on both sides; that it took {min(learning):.2f} to
{max(learning):.2f} s on either is chance, hence the width of the range.

**What is learned from equal steps**: the score is the mean of the last 20
whole games, raw points; {seeds} each, with {how(ran)}. The band on the chart
is the range.

{learned}

**What it is worth.** On these two cores, where learning takes most of the
time, the same agent is there {median(whole):.2f} times as fast. On a machine
with a GPU the network and the learning take less; if they took no time at all,
the agent would be there {median(games):.2f} times as fast, which is a model
and no measurement. {verdict}

{about(share)}"""


def of_labml(curve, ran):
    """The part about labml's PPO."""
    last = curve[-1]
    return f"""## labml's PPO on `Worker`

As it is published, nothing of it changed
([`examples/labml_ppo.py`](../examples/labml_ppo.py)): {last["steps"]:,.0f}
steps of Breakout in {last["seconds"] / 3600:.1f} hours. A lost life restarts
the game, so the agent knows first lives alone; the reward of a life, as the
mean of the last 100, was {last["reward"]:.2f} at the end. One run with one
seed.

{about(ran)}"""


def main():
    publish.Parser(__doc__).parse_args()
    agent, training, labml = map(read, ("agent", "training", "labml"))
    notes = {
        name: publish.read(publish.RESULTS / f"{name}.json")
        for name in ("agent", "training", "labml")
    }
    draw(agent, training, labml)
    parts = [
        "# What agents learn on these games",
        "Written by [`measure/curves.py`](../measure/curves.py) from the data "
        "in [`measure/results`](../measure/results).",
        f"![learning curves]({CHART.name})",
        of_the_agent(agent, notes["agent"]),
        of_the_comparison(training, notes["training"]),
        of_labml(labml, notes["labml"]),
    ]
    PAGE.write_text("\n\n".join(parts) + "\n")
    publish.put(publish.README, "agent", of_the_film(notes["agent"]))


if __name__ == "__main__":
    main()
