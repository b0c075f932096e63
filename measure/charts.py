"""The charts of docs/, drawn from what was measured.

An image has no way to know the page that it is on. So it brings a ground of
its own, and both change with the reader's preference for light or dark. The
colours of the bars and lines stand out from either, by 3 to 1 or more. Each
chart is as wide as a phone; where there is room two stand side by side.
"""

import contextlib
import io

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.ticker import EngFormatter

import common
from benchmark import IN_TURN, LOCKSTEP, OURS, OURS_IN_TURN, batches

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


@contextlib.contextmanager
def chart(path, title, across=""):
    """Draw a chart, and write it with the dark colours beside the light."""
    figure, axis = plt.subplots()
    yield axis
    axis.set_title(title)
    axis.set_xlabel(across)
    if across == "steps":
        axis.xaxis.set_major_formatter(EngFormatter(sep=""))
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

GROUPS = {"lockstep": [*OURS, *LOCKSTEP], "turns": [*OURS_IN_TURN, *IN_TURN]}
NETWORKS = ["no network", "waits 1.5 ms", "computes 1.5 ms"]


def rounds(columns, number="speed"):
    """A row for each contender; in each cell what it made, by round."""
    return pd.DataFrame(columns).map(lambda row: np.array(row[number]))


def draw_speeds(data, folder):
    """Draw the charts of docs/speed.md."""
    speeds = rounds(data["whole"]["columns"])
    shares = speeds / speeds.loc["limit"]
    networks = rounds(data["network"]["columns"])[NETWORKS]
    for group, names in GROUPS.items():
        title = "share of the emulator's own speed"
        with chart(folder / f"{group}.svg", title) as axis:
            bars(axis, shares.loc[names])
            axis.yaxis.set_major_formatter("{x:.0%}")
        title = "Breakout, steps/s"
        with chart(folder / f"{group}-network.svg", title) as axis:
            bars(axis, networks.loc[names])
            axis.yaxis.set_major_formatter("{x:,.0f}")
    for number, title in (
        ("speed", "Breakout, steps/s"),
        ("memory", "Breakout, memory in MB"),
    ):
        table = rounds(data["count"]["columns"], number).map(np.median)
        lines = table.T.rename(int)
        with chart(folder / f"{number}.svg", title, "games") as axis:
            for name in lines:
                word, colour = STYLES[name]
                axis.plot(lines[name], "o-", ms=3.5, label=word, color=colour)
            axis.set_xscale("log", base=2)
            axis.set_xticks(lines.index, lines.index)
            axis.yaxis.set_major_formatter("{x:,.0f}")
            legend_above(axis, table)


def bars(axis, table):
    """A bar for each cell: the median of the rounds, and their range."""
    middle = table.map(np.median)
    most = table.map(np.max)
    lines = {column: column.replace("s ", "s\n", 1) for column in table}
    middle.rename(index=label, columns=lines).T.plot.bar(
        ax=axis,
        rot=0,
        width=0.86,
        color=[COLOURS[name.split("_")[0]] for name in table.index],
        edgecolor=GROUND,
        linewidth=0.5,
        yerr=np.stack([middle - table.map(np.min), most - middle], axis=1),
        error_kw={"ecolor": INK, "elinewidth": 0.9},
    )
    drawn = [each for each in axis.containers if hasattr(each, "patches")]
    for name, container in zip(table.index, drawn, strict=True):
        for bar in container.patches:
            bar.set_hatch("//////" * (batches(name) == 3))
    axis.grid(axis="x", visible=False)
    legend_above(axis, most)


def legend_above(axis, table):
    """Make room for the legend above what is as high as the table says."""
    axis.set_ylim(0, 1.6 * table.max(axis=None))
    axis.legend(loc="upper left", ncols=2)


def label(name):
    """A contender's name in a legend: short, and how much is in flight."""
    flying = f", {8 * batches(name)} games" if batches(name) > 1 else ""
    return STYLES[name.split("_")[0]][0] + flying


# Learning

MARKED = "PPO paper", "CleanRL, `ppo_atari`"  # on the chart of Breakout


def draw_learning(agent, training, labml, pong, cores, field, folder):
    """Draw the charts of docs/learning.md."""
    hours = pong[["games", "network", "learning"]].sum(axis=1) / 3600
    for name, title, across, along, score in (
        ("breakout", "Breakout: score", "steps", agent.steps, agent.score),
        ("pong", "Pong: score", "steps", pong.steps, pong.score),
        ("pong-hours", "Pong: score", "hours", hours, pong.score),
        ("labml", "Reward of a life", "steps", labml.steps, labml.reward),
    ):
        with chart(folder / f"{name}.svg", title, across) as axis:
            axis.plot(along, score, color=COLOURS["games"])
            if name == "breakout":
                mark(axis, field)

    with chart(folder / "krull.svg", "Krull: score", "steps") as axis:
        for side, name, colour in (
            ("games", "Games", COLOURS["games"]),
            ("wrappers", "CleanRL's wrappers", COLOURS["gymnasium"]),
        ):
            scores = training[training.side == side].groupby("steps").score
            mean = scores.mean()
            low, high = scores.min(), scores.max()
            axis.fill_between(mean.index, low, high, alpha=0.2, color=colour)
            axis.plot(mean, label=name, color=colour)
        axis.yaxis.set_major_formatter("{x:,.0f}")
        axis.legend()

    with chart(folder / "cores.svg", "Pong: cores at work", "hours") as axis:
        names = ["program", "workers", "others"]
        colours = [COLOURS[name] for name in ("ale", "games", "labml")]
        hours = cores.seconds / 3600
        axis.stackplot(hours, cores[names].T, labels=names, colors=colours)
        axis.set_ylim(0, 1.3 * cores[names].sum(axis=1).max())
        axis.legend(ncols=3)


def mark(axis, field):
    """Draw what others reach after 10 million steps, and write who."""
    for agent in field:
        if agent["name"] in MARKED:
            score = float(agent["breakout"].split()[0])
            axis.axhline(score, color=COLOURS["labml"], linewidth=0.9)
            word = agent["name"].split(",")[0]
            where = dict(xy=(0, score), xycoords=("axes fraction", "data"))
            above = dict(xytext=(2, 2), textcoords="offset points")
            axis.annotate(word, **where, **above, fontsize="small")
