"""The charts of docs/, drawn from what was measured.

An image has no way to know the page that it is on. So it brings a ground of
its own, and both change with the reader's preference for light or dark. What
is this module's has a colour, all else is gray, and each name stands at what
it names. A chart is as wide as a phone; where there is room two stand side by
side.
"""

import contextlib
import io
import re

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.ticker import EngFormatter

import common
import fonts
from benchmark import FLYING, LOCKSTEP, NETWORKS, OURS, OURS_FLYING

NAMES = {
    "limit": "emulator alone",
    "games": "Games",
    "games_2": "two in turn",
    "ready": "ready first",
    "worker": "Worker",
    "ale": "ALE",
    "envpool": "EnvPool",
    "gymnasium": "Gymnasium",
    "sb3": "SB3",
    "labml": "labml's own",
}
TESTER = 31.8  # points of DQN's professional tester (Mnih et al. 2015)

matplotlib.use("svg")
plt.style.use(common.HERE / "charts.mplstyle")
INK, QUIET, GRID, GROUND = map(
    plt.rcParams.get,
    ["text.color", "xtick.color", "grid.color", "figure.facecolor"],
)
OUR, SECOND, THIRD = "#a5332a", "#7a4fa8", "#1b7340"
OTHER = "#8f8980"
# The colours of page/page.css in the dark.
DARK = {
    INK: "#e4e1da",
    QUIET: "#a19c93",
    GRID: "#3b3d45",
    GROUND: "#1b1d22",
    OUR: "#f29b8c",
    SECOND: "#b493e0",
    THIRD: "#6fd08c",
    OTHER: "#7d7972",
}
FONT = "Sans, system-ui, sans-serif"


@contextlib.contextmanager
def chart(path, title, across="", **panels):
    """Draw a chart, and write it with the dark colours beside the light."""
    figure, axes = plt.subplots(**panels)
    yield axes
    figure.suptitle(title, x=0.01, ha="left", weight="bold")
    for axis in figure.axes:
        # An axis ends where the data end.
        axis.spines.bottom.set_bounds(*axis.dataLim.intervalx)
        axis.set_xlabel(across, loc="right")
        if across == "steps":
            axis.xaxis.set_major_formatter(EngFormatter(sep=" "))
    text = io.StringIO()
    metadata = {"Date": None, "Creator": None}
    figure.savefig(text, format="svg", metadata=metadata)
    plt.close(figure)
    rules = "".join(
        f'[style*="{part}: {light}"]{{{part}:{dark}!important}}'
        for light, dark in DARK.items()
        for part in ("fill", "stroke")
    )
    style = f"text{{font-family:{FONT}!important}}"
    style += f"@media(prefers-color-scheme:dark){{{rules}}}"
    svg = text.getvalue().replace("<defs>", f"<style>{style}</style><defs>", 1)
    path.write_text(fonts.embed(svg), "utf-8")


def colour(name):
    """Ours have one, `Worker` another, all else is gray."""
    if name == "worker":
        return SECOND
    return OUR if name in [*OURS, *OURS_FLYING] else OTHER


def name_lines(axis, ends):
    """Write names at the ends of lines: `(name, x, y, colour)` of each.

    Where two would touch, the lower one is moved down.
    """
    axis.figure.canvas.draw()  # after which heights are known
    room = 1.3 * plt.rcParams["font.size"] * axis.figure.dpi / 72
    below = np.inf
    for name, x, y, ink in sorted(ends, key=lambda end: -end[2]):
        _, height = axis.transData.transform((x, y))
        lowered = min(height, below) - height
        below = height + lowered - room
        axis.annotate(
            name,
            (x, y),
            (4, lowered * 72 / axis.figure.dpi),
            textcoords="offset points",
            va="center",
            color=INK if ink == OTHER else ink,
            annotation_clip=False,
        )


# Speeds

# Who is drawn on the page, by which name; and of each part of the benchmark.
PAGE = {
    "sb3": "SB3",
    "worker_plain": "+ one Game, no wrappers",
    "games_plain_each": "+ shared memory",
    "games_each": "+ snapshots, less resizing",
    "games": "+ two workers: Games",
    "envpool": "EnvPool",
    "ale": "ALE's engine",
    "gymnasium": "Gymnasium's AsyncVectorEnv",
}
DRAWN = {"lockstep": [*OURS, *LOCKSTEP]}
DRAWN |= dict.fromkeys(NETWORKS, ["games", *OURS_FLYING, *FLYING])


def rounds(columns, number="speed"):
    """A row for each contender; in each cell what it made, by round."""
    return pd.DataFrame(columns).map(lambda row: np.array(row[number]))


def draw_speeds(data, folder):
    """Draw the charts of docs/speed.md, and the page's."""
    title = "Of the emulator's own speed, %"
    for part, names in DRAWN.items():
        speeds = rounds(data[part]["columns"])
        shares = 100 * speeds / speeds.loc["limit"]
        labels = [label(name) for name in names]
        bars(folder / f"{part}.svg", title, shares.loc[names], labels, 100)
    speeds = rounds(data["agent"]["columns"]).loc[list(PAGE)]
    title = "Eight games of Breakout on two cores, steps/s"
    bars(folder / "ladder.svg", title, speeds, PAGE.values(), others=3)
    for number, title in (
        ("speed", "Breakout, steps/s"),
        ("memory", "Breakout, memory in MB"),
    ):
        table = rounds(data["count"]["columns"], number).map(np.median)
        lines = table.T.rename(int)
        last = lines.index[-1]
        with chart(folder / f"{number}.svg", title, "games") as axis:
            for name in lines:
                axis.plot(lines[name], "o-", ms=3, color=colour(name))
            axis.set_xscale("log", base=2)
            axis.set_xticks(lines.index, lines.index)
            axis.yaxis.set_major_formatter("{x:,.0f}")
            axis.set_ylim(0)
            name_lines(
                axis,
                [
                    (label(name), last, lines[name][last], colour(name))
                    for name in lines
                ],
            )


def bars(path, title, table, names, mark=None, others=0):
    """A bar for each cell: the median of the rounds, and their range.

    A column has a panel of its own, in which a line may mark a value. The last
    `others` bars stand apart.
    """
    colours = [colour(name) for name in table.index]
    places = np.arange(len(table), dtype=float)
    places[len(table) - others :] += 0.6
    most = table.map(np.max).max(axis=None)
    panels = {"ncols": len(table.columns), "sharex": True, "sharey": True}
    with chart(path, title, squeeze=False, **panels) as [axes]:
        for axis, column in zip(axes, table, strict=True):
            cells = table[column]
            middle = cells.map(np.median)
            axis.barh(places, middle, height=0.6, color=colours)
            axis.set_yticks(places, names)
            least, most_of = cells.map(np.min), cells.map(np.max)
            axis.hlines(places, least, most_of, GROUND, lw=2.4)  # on a bar
            axis.errorbar(
                middle,
                places,
                xerr=[middle - least, most_of - middle],
                fmt="none",
                ecolor=INK,
                elinewidth=1,
                capsize=2,
            )
            for place, value, end in zip(places, middle, most_of, strict=True):
                axis.annotate(
                    f"{value:,.0f}",
                    (end, place),
                    (6, 0),
                    textcoords="offset points",
                    va="center",
                )
            if len(axes) > 1:
                axis.set_title(column)
            axis.set_xlim(0, (1.45 if len(axes) > 1 else 1.25) * most)
            axis.set_xticks([])
            if mark is not None:
                axis.axvline(mark, color=QUIET, lw=1, zorder=0)
            axis.grid(visible=False)
            axis.spines[:].set_visible(False)
        axes[0].set_ylim(places[-1] + 0.6, -0.4)


def label(name):
    """A contender's name in a chart: short, and how much is in flight."""
    flying = f", {8 * FLYING[name]}" if name in FLYING else ""
    return NAMES.get(name, NAMES[name.split("_")[0]]) + flying


# Learning

MARKED = "PPO paper", "CleanRL, `ppo_atari`"  # on the chart of Breakout


def spaced(title):
    """The name of a title in words: "CrazyClimber" is "Crazy Climber"."""
    return re.sub("(?<=[a-z])(?=[A-Z])", " ", title)


def draw_learning(agents, training, labml, pong, cores, field, folder):
    """Draw the charts of docs/learning.md."""
    hours = pong[["games", "network", "learning"]].sum(axis=1) / 3600
    for name, title, across, along, score in (
        ("pong", "Pong, points", "steps", pong.steps, pong.score),
        ("pong-hours", "Pong, points", "hours", hours, pong.score),
        ("labml", "Reward of a life", "steps", labml.steps, labml.reward),
    ):
        with chart(folder / f"{name}.svg", title, across) as axis:
            axis.plot(along, score, color=OUR)

    path = folder / "breakout.svg"
    with chart(path, "Breakout, points", "steps") as axis:
        ends = []
        inks = OUR, SECOND, THIRD
        for seed, (agent, ink) in enumerate(zip(agents, inks, strict=True)):
            axis.plot(agent.steps, agent.score, color=ink)
            last = agent.iloc[-1]
            ends.append((f"seed {seed}", last.steps, last.score, ink))
        name_lines(axis, ends)
        mark(axis, field)

    for title, rows in training.groupby("title"):
        path = folder / f"learned-{title.lower()}.svg"
        with chart(path, f"{spaced(title)}, points", "steps") as axis:
            ends = []
            for side, name, ink in (
                ("games", "Games", OUR),
                ("wrappers", "CleanRL's", OTHER),
            ):
                scores = rows[rows.side == side].groupby("steps").score
                mean = scores.mean()
                low, high = scores.min(), scores.max()
                axis.fill_between(mean.index, low, high, alpha=0.25, color=ink)
                axis.plot(mean, color=ink)
                ends.append((name, mean.index[-1], mean.iloc[-1], ink))
            axis.yaxis.set_major_formatter("{x:,.0f}")
            name_lines(axis, ends)

    with chart(folder / "cores.svg", "Pong, cores at work", "hours") as axis:
        names = ["program", "workers", "others"]
        colours = [QUIET, OUR, OTHER]
        hours = cores.seconds / 3600
        axis.stackplot(hours, cores[names].T, colors=colours)
        mean = cores[names].mean()
        middles = mean.cumsum() - mean / 2
        name_lines(
            axis,
            [
                (name, hours.iloc[-1], middles[name], ink)
                for name, ink in zip(names, colours, strict=True)
            ],
        )


def mark(axis, field):
    """Draw what others reach after 10 million steps, and write who."""
    for agent in field:
        if agent["name"] in MARKED:
            score = float(agent["breakout"].split()[0])
            axis.axhline(score, color=OTHER, linewidth=0.9)
            word = agent["name"].split(",")[0]
            where = dict(xy=(0, score), xycoords=("axes fraction", "data"))
            above = dict(xytext=(2, 2), textcoords="offset points")
            axis.annotate(word, **where, **above)
