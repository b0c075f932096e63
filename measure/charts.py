"""The charts of docs/, drawn from what was measured.

An image has no way to know the page that it is on. So it brings a ground of
its own, and both change with the reader's preference for light or dark. The
colours of the bars and lines stand out from either, by 3 to 1 or more.
"""

import io

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import common
from benchmark import IN_TURN, LOCKSTEP, OURS, OURS_IN_TURN, batches

NARROW = 3.6  # inches: for phones, beside the wide form
STYLES = {
    "games": ("Games", "#e8590c"),
    "worker": ("Worker", "#b7791f"),
    "ale": ("ALE", "#2b7fd4"),
    "envpool": ("EnvPool", "#2f9e6e"),
    "gymnasium": ("Gymnasium", "#a15bd6"),
    "sb3": ("SB3", "#d6468c"),
    "labml": ("labml's original", "#7d8590"),
}
COLOURS = {name: colour for name, (_, colour) in STYLES.items()}
TESTER = 31.8  # points of DQN's professional tester (Mnih et al. 2015)

matplotlib.use("svg")
plt.style.use(common.HERE / "charts.mplstyle")
INK, GROUND, GRID = map(
    plt.rcParams.get, ["text.color", "figure.facecolor", "grid.color"]
)
DARK = {INK: "#f0f6fc", GROUND: "#0d1117", GRID: "#3d444d"}


def save(figure, path):
    """Write a figure, with the dark colours beside the light ones."""
    text = io.StringIO()
    metadata = {"Date": None, "Creator": None}
    figure.savefig(text, format="svg", metadata=metadata)
    plt.close(figure)
    rules = "".join(
        f'[style*="{part}: {light}"]{{{part}:{dark}!important}}'
        for light, dark in DARK.items()
        for part in ("fill", "stroke")
    )
    style = f"<style>@media(prefers-color-scheme:dark){{{rules}}}</style>"
    svg = text.getvalue().replace("<defs>", style + "<defs>", 1)
    path.write_text(svg, "utf-8")


# Speeds

GROUPS = [*OURS, *LOCKSTEP], [*OURS_IN_TURN, *IN_TURN]


def rounds(columns, number="speed"):
    """A row for each contender; in each cell what it made, by round."""
    return pd.DataFrame(columns).map(lambda row: np.array(row[number]))


def draw_speeds(data, folder):
    """Draw the charts of docs/speed.md."""
    draw_games(data, (9, 10), "aa;bb;cd", folder / "benchmark.svg")
    narrow = folder / "benchmark-narrow.svg"
    draw_games(data, (NARROW, 12.5), "a;b;c;d", narrow)
    speeds = rounds(data["network"]["columns"])
    figure, axes = plt.subplots(2, 1, figsize=(9, 8), sharey=True)
    titles = "batches of 8 in lockstep", "two or three in flight"
    for axis, names, title in zip(axes, GROUPS, titles, strict=True):
        bars(axis, speeds.loc[names])
        axis.set_title(f"Breakout, steps/s: {title}")
        axis.yaxis.set_major_formatter("{x:,.0f}")
    axes[0].set_ylim(0, axes[0].get_ylim()[1] * 1.2)
    save(figure, folder / "network.svg")


def draw_games(data, size, places, path):
    """Whole games in both groups; speed and memory by the number of games."""
    narrow = size[0] == NARROW
    figure = plt.figure(figsize=size)
    axes = figure.subplot_mosaic(places)
    speeds = rounds(data["whole"]["columns"])
    shares = speeds / speeds.loc["limit"]
    titles = "8 games in lockstep", "16 or 24, in batches of 8"
    for place, names, title in zip("ab", GROUPS, titles, strict=True):
        axis = axes[place]
        bars(axis, shares.loc[names], narrow)
        axis.set_ylim(0, 1.6 if narrow else 1.3)
        axis.set_yticks([0, 0.2, 0.4, 0.6, 0.8, 1])
        axis.yaxis.set_major_formatter("{x:.0%}")
        words = "\nshare" if narrow else " share"
        axis.set_title(f"{title}:{words} of the emulator's own speed")
    for axis, number, title in (
        (axes["c"], "speed", "steps/s by number of games"),
        (axes["d"], "memory", "memory in MB by number of games"),
    ):
        table = rounds(data["count"]["columns"], number).map(np.median)
        lines = table.T.rename(int)
        lines.plot(
            ax=axis,
            color=COLOURS,
            style="o-",
            ms=3.5,
            legend=False,
            title=title,
        )
        axis.set_xscale("log", base=2)
        axis.set_xticks(lines.index, lines.index)
    axes["c"].set_ylim(0)
    axes["d"].set_yscale("log")
    axes["d"].minorticks_off()
    for name in "cd":
        axes[name].yaxis.set_major_formatter("{x:,.0f}")
    save(figure, path)


def bars(axis, table, narrow=False):
    """A bar for each cell: the median of the rounds, and their range."""
    middle = table.map(np.median)
    below = middle - table.map(np.min)
    above = table.map(np.max) - middle
    lines = {column: column.replace("s ", "s\n", 1) for column in table}
    size = 8 if narrow else 10
    middle.rename(index=label, columns=lines).T.plot.bar(
        ax=axis,
        rot=0,
        width=0.86,
        color=[COLOURS[name.split("_")[0]] for name in table.index],
        edgecolor=GROUND,
        linewidth=0.5,
        yerr=np.stack([below, above], axis=1),
        error_kw={"ecolor": INK, "elinewidth": 0.9},
        fontsize=size,
    )
    drawn = [each for each in axis.containers if hasattr(each, "patches")]
    for name, container in zip(table.index, drawn, strict=True):
        for bar in container.patches:
            bar.set_hatch("//////" * (batches(name) == 3))
    axis.grid(axis="x", visible=False)
    legend = {"fontsize": 8.5, "ncols": 4}
    if narrow:
        legend = {"ncols": 2, "handlelength": 1.2, "columnspacing": 1}
    axis.legend(loc="upper left", **{"fontsize": size} | legend)


def label(name):
    """A contender's name in a legend: short, and how much is in flight."""
    flying = f", {8 * batches(name)} games" if batches(name) > 1 else ""
    return STYLES[name.split("_")[0]][0] + flying


# Learning


def draw_learning(agent, training, labml, folder):
    """Draw the chart of docs/learning.md, wide and narrow."""
    for shape, size, name in (
        ((1, 3), (9, 3.4), "learning.svg"),
        ((3, 1), (NARROW, 8.4), "learning-narrow.svg"),
    ):
        figure, axes = plt.subplots(*shape, figsize=size)
        draw_curves(axes, agent, training, labml)
        save(figure, folder / name)


def draw_pong(curve, cores, folder):
    """Draw a run of Pong: its score, and what kept the cores busy."""
    figure, (left, middle, right) = plt.subplots(1, 3, figsize=(9, 3.4))
    left.plot(curve.steps / 1e6, curve.score, color=COLOURS["games"])
    left.set_title("Pong: score of a game", fontsize=10)
    left.set_xlabel("million steps", fontsize=8, color=INK)
    hours = curve[["games", "network", "learning"]].sum(axis=1) / 3600
    middle.plot(hours, curve.score, color=COLOURS["games"])
    middle.set_title("the same by time", fontsize=10)
    for axis in left, middle:
        axis.set_xlim(0)
        axis.set_ylim(-21, 21)
    names = ["program", "workers", "others"]
    colours = [COLOURS[name] for name in ("ale", "games", "labml")]
    parts = cores[names].T
    right.stackplot(cores.seconds / 3600, parts, labels=names, colors=colours)
    right.set_title("cores at work", fontsize=10)
    right.set_xlim(0)
    right.set_ylim(0, 1.3 * parts.sum().max())  # room for the legend
    right.legend(fontsize=8, loc="upper left")
    for axis in middle, right:
        axis.set_xlabel("hours", fontsize=8, color=INK)
    save(figure, folder / "pong.svg")


def draw_curves(axes, agent, training, labml):
    """Draw the agent, both sides of the comparison, and labml's PPO."""
    left, middle, right = axes
    left.plot(agent.steps / 1e6, agent.score, color=COLOURS["games"])
    left.axhline(TESTER, color=INK, linestyle="--", linewidth=1)
    left.text(0, TESTER + 1, " DQN's human tester", fontsize=8)
    left.set_title("ppo.py: score of a game", fontsize=10)

    for side, name, colour in (
        ("games", "Games", COLOURS["games"]),
        ("wrappers", "CleanRL's wrappers", COLOURS["gymnasium"]),
    ):
        scores = training[training.side == side].groupby("steps").score
        low, mean, high = scores.min(), scores.mean(), scores.max()
        steps = mean.index / 1e6
        middle.fill_between(steps, low, high, alpha=0.2, color=colour)
        middle.plot(steps, mean, label=name, color=colour)
    title = training.env_id[0].removesuffix("NoFrameskip-v4")
    middle.set_title(f"{title}: score, mean and range", fontsize=10)
    middle.legend(fontsize=8)
    middle.yaxis.set_major_formatter("{x:,.0f}")

    right.plot(labml.steps / 1e6, labml.reward, color=COLOURS["worker"])
    right.set_title("labml's PPO: reward of a life", fontsize=10)

    for axis in axes:
        axis.set_xlim(0)
        axis.set_ylim(0)
        axis.set_xlabel("million steps", fontsize=8, color=INK)
