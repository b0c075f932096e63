"""Compare `Games` and `Worker` of game.py with their peers, side by side.

    pip install -r measure/peers.txt
    python measure/benchmark.py                         # all of it, 20 minutes
    python measure/benchmark.py whole count --rounds 5  # two sections, quicker
    python measure/benchmark.py --report                # chart and tables only

Results go to measure/results/benchmark.json; a section that is measured again replaces
itself there. The chart docs/benchmark.svg and the tables between README's
`<!-- benchmark -->` marks are made from that file.

What makes it fair: every contender lives in a process of its own, where it
builds its environment once and warms up. Then they take turns, in an order
that rotates from round to round, and are compared within a round: a machine
that slows down slows down for all. All play the same random actions. Only
transitions that played frames count, not those that a peer spends on a reset.
"Faster" means faster in every round.
"""

import argparse
import contextlib
import datetime
import io
import json
import os
import pathlib
import platform
import re
import subprocess
import sys
import tempfile
from importlib import metadata
from statistics import median

HERE = pathlib.Path(__file__).resolve().parent
DOCS = HERE.parent / "docs"
CORES = len(os.sched_getaffinity(0))
PACKAGES = "ale-py envpool gymnasium numpy opencv-python stable_baselines3"
NAMES = {
    "limit": "the emulator alone, the limit",
    "limit_0112": "the same on ALE 0.11.2",
    "games": "`Games`",
    "games_0112": "`Games` on ALE 0.11.2",
    "games_true": "`Games`, true resets",
    "games_in_turn": "two `Games` in turn",
    "worker": "`Worker`",
    "ale": "ALE `AtariVectorEnv`",
    "ale_async": "ALE `AtariVectorEnv`, async",
    "envpool": "EnvPool",
    "envpool_async": "EnvPool, async",
    "gymnasium": "Gymnasium `AsyncVectorEnv`",
    "sb3": "SB3 `SubprocVecEnv`",
    "sb3_games": "`Games` under SB3",
    "labml": "labml's original worker",
}
ENGINES = ["ale", "ale_async", "envpool", "envpool_async"]
PEERS = [*ENGINES, "gymnasium", "sb3", "labml"]
LIVES = ["Breakout", "MsPacman", "Seaquest"]  # Pong has none to lose
COUNTS = [1, 2, 4, 8, 16, 32, 64]
MODEL_CORES, ROW = [16, 64, 256], 4  # so many games a core

# ## What is measured
#
# A section is a table of columns. A column holds contenders, each as `(its
# generator in contenders.py, what that takes)`.


def setup(name, data, games, game="Breakout", rule="ignore"):
    """One contender; the engines as they were best when they were tuned."""
    options = {"game": game, "games": games, "rule": rule}
    if name == "games_true":
        options["snapshots"] = False
    if name == "games_in_turn":
        options["count"] = 2
    if name in ENGINES:
        tuned = best(data["tune"]["columns"][name])["options"]
        options["num_envs"] = games * tuned["num_envs"] // tuned["games"]
        options["threads"] = min(tuned["threads"], options["num_envs"])
    return re.sub("_(async|0112|true|in_turn)$", "", name), options


def best(column):
    return max(column.values(), key=lambda row: median(row["speed"]))


def tune(run, data):
    """The engines' threads; async, authors advise 2.5 to 3 times the games."""
    columns = {}
    for name in ENGINES:
        columns[name] = {}
        for factor in (2.5, 3) if name.endswith("async") else (1,):
            num_envs = int(run.games * factor)
            for threads in sorted(
                {CORES, CORES * 3 // 2, CORES * 2, num_envs}
            ):
                label = f"{num_envs} games, {threads} threads"
                options = {"num_envs": num_envs, "threads": threads}
                options |= {"game": "Breakout", "games": run.games}
                options |= {"rule": "ignore"}
                columns[name][label] = name.removesuffix("_async"), options
    return columns


def by_game(run, data, games, names, rule):
    if not run.python_0112:
        names = [name for name in names if not name.endswith("_0112")]
    return {
        game: {
            name: setup(name, data, run.games, game, rule) for name in names
        }
        for game in games
    }


def whole(run, data):
    """A lost life ends nothing."""
    names = [n for n in NAMES if n not in ("games_true", "games_in_turn")]
    games = ["Breakout", "Pong", "MsPacman", "Seaquest"]
    return by_game(run, data, games, names, "ignore")


def restart(run, data):
    """A lost life ends the episode, and the game starts over."""
    names = "limit games games_true worker ale ale_async gymnasium labml"
    return by_game(run, data, LIVES, names.split(), "restart")


def goes_on(run, data):
    """A lost life ends the episode, and the game continues."""
    names = "limit games worker envpool envpool_async sb3 sb3_games"
    return by_game(run, data, LIVES, names.split(), "continue")


def count(run, data):
    """Whole games of Breakout, more and more of them."""
    names = "games worker ale envpool gymnasium labml".split()
    return {
        games: {name: setup(name, data, games) for name in names}
        for games in COUNTS
    }


def machinery(run, data):
    """`Games` in many processes over games that cost nothing."""
    column = {}
    for cores in sorted({1, CORES, *MODEL_CORES}):
        options = setup("games", data, ROW * cores)[1] | {"processes": cores}
        column[cores] = "free", options
    options = setup("games", data, ROW)[1] | {"processes": 1}
    return {"Breakout": column | {"row": ("games", options)}}


def overlap(run, data):
    """A network's pass for each batch, elsewhere or on one of the cores."""
    names = ["games", "games_in_turn", *ENGINES]
    column = {name: setup(name, data, run.games) for name in names}
    return {"waiting": column, "computing": column}


SECTIONS = {
    "tune": tune,
    "whole": whole,
    "restart": restart,
    "continue": goes_on,
    "count": count,
    "machinery": machinery,
    "overlap": overlap,
}


# ## How it is measured


class Contender(contextlib.AbstractContextManager):
    """A contender in a process of its own; the limit takes one for a core."""

    def __init__(self, name, what, network, run):
        kind, options = what
        old = str(name).endswith("_0112")
        python = run.python_0112 if old else sys.executable
        copies = [options]
        if kind == "limit":
            seeds = range(min(CORES, options["games"]))
            copies = [options | {"seed": seed} for seed in seeds]
        self.errors = tempfile.TemporaryFile("w+")
        self.processes = []
        for options in copies:
            what = json.dumps([kind, options, network, run.network])
            self.processes.append(
                subprocess.Popen(
                    [python, "-W", "ignore", HERE / "contenders.py", what],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=self.errors,
                    text=True,
                )
            )

    def answer(self):
        """The next answer; those of several processes add up."""
        lines = [process.stdout.readline() for process in self.processes]
        if not all(lines):
            self.errors.seek(0)
            raise RuntimeError(self.errors.read())
        answers = [json.loads(line) for line in lines]
        if "speed" in answers[0]:
            answers[0]["speed"] = sum(answer["speed"] for answer in answers)
        return answers[0]

    def play(self, seconds):
        for process in self.processes:
            print(seconds, file=process.stdin, flush=True)
        return self.answer()

    def __exit__(self, *_):
        for process in self.processes:
            process.stdin.close()
            process.wait()


def measure(section, run, data):
    """All columns of a section, and how they came about."""
    rounds = min(3, run.rounds) if section == "tune" else run.rounds
    results = {}
    for column, contenders in SECTIONS[section](run, data).items():
        print(section, column, flush=True)
        network = column if section == "overlap" else None
        rows = results[column] = {}
        for name in contenders:
            rows[name] = {"options": contenders[name][1]}
            if section == "count":  # memory is measured with nobody else there
                with Contender(name, contenders[name], None, run) as alone:
                    rows[name]["memory"] = alone.answer()["memory"]
        with contextlib.ExitStack() as stack:
            turns = []
            for name, what in contenders.items():
                player = Contender(name, what, network, run)
                turns.append((name, stack.enter_context(player)))
            for name, player in turns:
                rows[name]["arrays"] = player.answer()["arrays"]
            for _ in range(rounds):
                for name, player in turns:
                    result = player.play(run.seconds)
                    if section != "machinery":
                        del result["parent"]
                    for key, value in result.items():
                        rows[name].setdefault(key, []).append(round(value, 2))
                turns.append(turns.pop(0))
    date = datetime.date.today().isoformat()
    how = {"date": date, "rounds": rounds, "seconds": run.seconds}
    how |= {"network": run.network} if section == "overlap" else {}
    return json.loads(json.dumps(how | {"columns": results}))


def write(path, data):
    """Write JSON that can be read: a list of numbers stays on a line."""
    text = json.dumps(data, indent=1)
    text = re.sub(r"\[[^][{}]+\]", lambda m: " ".join(m[0].split()), text)
    path.write_text(text + "\n")


def machine():
    """What was measured on."""
    cpu = re.findall(
        r"model name\s*: (.*)", pathlib.Path("/proc/cpuinfo").read_text()
    )
    return {
        "processor": cpu[0] if cpu else platform.machine(),
        "cores": CORES,
        "python": platform.python_version(),
        "versions": {
            name: metadata.version(name) for name in PACKAGES.split()
        },
    }


# ## What it says


def ratios(column, name, base):
    """Speed over speed, round by round."""
    pairs = zip(column[name]["speed"], column[base]["speed"])
    return [a / b for a, b in pairs]


def spread(values):
    return f"{median(values):.2f} ({min(values):.2f}–{max(values):.2f})"


def speed(row):
    return f"{median(row['speed']):,.0f}"


def table(head, *body):
    """The lines of a Markdown table."""
    lines = [f"| {' | '.join(row)} |" for row in (head, *body)]
    return "\n".join([lines[0], "| --- " * len(head) + "|", *lines[1:]])


def shares(columns):
    """Each one's share of the limit, and what `Games` is beside others."""
    first = next(iter(columns.values()))
    body = []
    for name in first:
        body.append([NAMES[name], first[name]["arrays"] or "–"])
        for column in columns.values():
            share = spread(ratios(column, name, "limit"))
            steps = f"{speed(column['limit'])} steps/s"
            body[-1].append(steps if name == "limit" else share)
    peers = [name for name in first if name in PEERS]
    body.append(["**`Games` over the best of its peers**", ""])
    for column in columns.values():
        rival = max(peers, key=lambda name: median(column[name]["speed"]))
        body[-1].append(f"**{spread(ratios(column, 'games', rival))}**")
    if "games_true" in first:
        body.append(["what the snapshots give: times as fast", ""])
        for column in columns.values():
            body[-1].append(spread(ratios(column, "games", "games_true")))
    ours = [name for name in ("games", "worker") if name in first]
    said = [claims(columns, name, peers) for name in ours]
    return "\n".join([table(["", "arrays", *columns], *body), "", *said])


def claims(columns, ours, peers):
    """What holds in every round, in words."""
    words = []
    for peer in peers:
        values = {g: ratios(c, ours, peer) for g, c in columns.items()}
        for verb, games in {
            "faster than": [g for g in values if min(values[g]) > 1],
            "slower than": [g for g in values if max(values[g]) < 1],
        }.items():
            where = (
                "" if len(games) == len(values) else f" ({', '.join(games)})"
            )
            if games:
                words.append(f"{verb} {NAMES[peer]}{where}")
    said = "; ".join(words) or "neither faster nor slower than any"
    return f"- {NAMES[ours]}, in every round: {said}."


def counts(columns):
    body = [[NAMES[name]] for name in columns["1"]]
    for row, name in zip(body, columns["1"]):
        row += [speed(column[name]) for column in columns.values()]
    for name in ("games", "gymnasium", "labml"):
        memory = [column[name]["memory"] for column in columns.values()]
        body.append([f"{NAMES[name]}, MB", *(f"{m:,.0f}" for m in memory)])
    return table(["steps/s", *columns], *body)


def model(columns):
    """A step takes what a row takes, with one process, and what the parent
    needs more, in processor time, with as many processes as cores."""
    column = columns["Breakout"]
    one = ROW / median(column["row"]["speed"])
    parents = {
        int(cores): median(row["parent"]) * ROW * int(cores) / 1e6
        for cores, row in column.items()
        if cores != "row"
    }
    body = []
    for cores, parent in parents.items():
        games, step = ROW * cores, one + parent - parents[1]
        body.append(
            [f"{cores}", f"{games}", f"{parent * 1e3:.2f} ms"]
            + [f"{games / parent:,.0f}", f"{games / step:,.0f}"]
            + [f"{one / step:.0%}"]
        )
    head = ["cores", "games", "the parent's work", "it could drive"]
    return table([*head, "model, steps/s", "of linear"], *body)


def overlaps(columns):
    body = [[NAMES[name]] for name in columns["waiting"]]
    for row, name in zip(body, columns["waiting"]):
        for column in columns.values():
            times = spread(ratios(column, name, "games"))
            row += [speed(column[name]), f"× {times}"]
    head = ["", "waiting, steps/s", "", "computing, steps/s", ""]
    return table(head, *body)


def about(data):
    """What was measured on, and how the engines were set."""
    machine, how = data["machine"], data.get("whole", data["tune"])
    versions = ", ".join(f"{k} {v}" for k, v in machine["versions"].items())
    engines = []
    for name in ENGINES:
        tuned = best(data["tune"]["columns"][name])["options"]
        batch = "{num_envs} games for batches of {games}, {threads} threads"
        engines.append(f"{NAMES[name]} {batch.format(**tuned)}")
    return (
        f"{machine['cores']} cores ({machine['processor']}), Python "
        f"{machine['python']}, {versions}; EnvPool is built on ALE 0.11.2. "
        f"{how['date']}, {how['rounds']} rounds of {how['seconds']} s: "
        f"median (range). Best in a sweep: {'; '.join(engines)}."
    )


def report(data):
    """README's part, from whatever sections there are."""
    network = data.get("overlap", {}).get("network")
    parts = {
        "whole": (shares, "Whole games: the share of the emulator's speed"),
        "restart": (shares, "A lost life restarts the game"),
        "continue": (shares, "A lost life ends the episode, not the game"),
        "count": (
            counts,
            "How many games at once: whole games of Breakout, and memory as "
            "the PSS of all processes",
        ),
        "overlap": (
            overlaps,
            f"A network that takes {network} ms for each batch, waiting for a "
            "device or computing on one of the cores",
        ),
        "machinery": (
            model,
            f"A model, no measurement, of more cores with {ROW} games each: a "
            "step takes what a row takes and what the parent needs more, "
            "measured on games that cost nothing",
        ),
    }
    text = ["![speed and memory](docs/benchmark.svg)", about(data)]
    for name, (make, title) in parts.items():
        if name in data:
            text += [f"**{title}**", make(data[name]["columns"])]
    return "\n\n".join(text)


# ### The chart
#
# An image has no way to know the page that it's on. So it brings a ground of
# its own, and both change with the reader's preference for light or dark. The
# colours of the bars and lines stand out from either, by 3 to 1 or more.

INK, GROUND, GRID = "#1f2328", "#ffffff", "#d1d9e0"
DARK = {INK: "#f0f6fc", GROUND: "#0d1117", GRID: "#3d444d"}
COLOURS = {
    "games": "#e8590c",
    "worker": "#b7791f",
    "ale": "#2b7fd4",
    "ale_async": "#2b7fd4",
    "envpool": "#2f9e6e",
    "envpool_async": "#2f9e6e",
    "gymnasium": "#a15bd6",
    "sb3": "#d6468c",
    "labml": "#7d8590",
}


def chart(data, path):
    """Draw whole games, and speed and memory by the number of games."""
    plt = canvas()
    axes = plt.figure(figsize=(9, 7.4), layout="constrained").subplot_mosaic(
        [["whole", "whole"], ["speed", "memory"]]
    )
    bars(axes["whole"], data["whole"]["columns"])
    columns = data["count"]["columns"]
    lines(axes["speed"], columns, "speed", "steps/s by number of games")
    lines(axes["memory"], columns, "memory", "memory in MB by number of games")
    axes["memory"].set_yscale("log")
    axes["memory"].minorticks_off()
    axes["speed"].set_ylim(0)
    for name in ("speed", "memory"):
        axes[name].yaxis.set_major_formatter("{x:,.0f}")
    save(plt, path)


def canvas():
    """Return matplotlib, set to draw in the light colours."""
    import matplotlib

    matplotlib.use("svg")
    import matplotlib.pyplot as plt

    plt.rcParams |= {
        "axes.edgecolor": GRID,
        "axes.facecolor": GROUND,
        "axes.grid": True,
        "axes.axisbelow": True,
        "axes.spines.right": False,
        "axes.spines.top": False,
        "axes.titlecolor": INK,
        "axes.titlelocation": "left",
        "figure.facecolor": GROUND,
        "grid.color": GRID,
        "hatch.linewidth": 1.2,
        "svg.fonttype": "none",
        "svg.hashsalt": "breakout",  # the same file each time
    }
    for key in ("text.color", "xtick.labelcolor", "ytick.labelcolor"):
        plt.rcParams[key] = INK
    return plt


def save(plt, path):
    """Write the figure that was drawn, with the dark colours beside."""
    text = io.StringIO()
    plt.savefig(text, format="svg", metadata={"Date": None, "Creator": None})
    rules = "".join(
        f'[style*="{part}: {light}"]{{{part}:{dark}!important}}'
        for light, dark in DARK.items()
        for part in ("fill", "stroke")
    )
    style = f"<style>@media(prefers-color-scheme:dark){{{rules}}}</style>"
    path.write_text(text.getvalue().replace("<defs>", style + "<defs>", 1))


def bars(axis, columns):
    """Shares of the limit, with the range of the rounds."""
    first = next(iter(columns.values()))
    names = [name for name in COLOURS if name in first]
    width = 0.86 / len(names)
    for i, name in enumerate(names):
        shares = [ratios(column, name, "limit") for column in columns.values()]
        middle = [median(values) for values in shares]
        axis.bar(
            [
                x + (i - (len(names) - 1) / 2) * width
                for x in range(len(shares))
            ],
            middle,
            width * 0.9,
            color=COLOURS[name],
            edgecolor=GROUND,
            hatch="//////" * name.endswith("async"),
            linewidth=0,
            label=plain(name),
            yerr=[
                [m - min(v) for m, v in zip(middle, shares)],
                [max(v) - m for m, v in zip(middle, shares)],
            ],
            error_kw={"ecolor": INK, "elinewidth": 0.9},
        )
    axis.set_xticks(range(len(columns)), columns)
    axis.set_ylim(0, 1.24)
    axis.set_yticks([0, 0.2, 0.4, 0.6, 0.8, 1])
    axis.grid(axis="x", visible=False)
    axis.yaxis.set_major_formatter(lambda share, _: f"{share:.0%}")
    axis.set_title("Whole games: share of what the emulator alone can do")
    axis.legend(ncols=3, frameon=False, loc="upper left", fontsize=8.5)


def plain(name):
    return NAMES[name].replace("`", "")


def lines(axis, columns, what, title):
    """A line for each contender, in the colour of its bars."""
    names = [
        n for n in COLOURS if n in columns["1"] and what in columns["1"][n]
    ]
    counts = [int(count) for count in columns]
    for name in names:
        values = [columns[str(count)][name][what] for count in counts]
        if what == "speed":
            values = [median(value) for value in values]
        axis.plot(counts, values, "o-", ms=3.5, color=COLOURS[name])
    axis.set_xscale("log", base=2)
    axis.set_xticks(counts, counts)
    axis.set_title(title)


# ## The main job


def put(readme, name, text):
    """Write `text` between README's marks of that name."""
    start, end = f"<!-- {name} -->", f"<!-- /{name} -->"
    old = readme.read_text()
    if start not in old or end not in old:
        raise SystemExit(f"{readme} has no {start} … {end}")
    before, after = old.split(start)[0], old.split(end)[1]
    readme.write_text(f"{before}{start}\n\n{text}\n\n{end}{after}")


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    add = parser.add_argument
    add("sections", nargs="*", help=f"of {', '.join(SECTIONS)}")
    add("--rounds", type=int, default=9)
    add("--seconds", type=float, default=0.6, help="a round's, of each")
    add("--games", type=int, default=8, help="at once")
    add("--network", type=float, default=1.5, help="milliseconds of a pass")
    add("--python-0112", help="a Python that has ale-py 0.11.2")
    add("--json", type=pathlib.Path, default=HERE / "results/benchmark.json")
    add("--readme", type=pathlib.Path, default=DOCS.parent / "README.md")
    add("--report", action="store_true", help="measure nothing")
    run = parser.parse_args()
    unknown = set(run.sections) - set(SECTIONS)
    if unknown:
        parser.error(f"no such section: {', '.join(unknown)}")
    data = json.loads(run.json.read_text()) if run.json.exists() else {}
    if not run.report:
        if os.getloadavg()[0] > CORES / 4:
            print("others are at work on this machine: wait for a quiet hour")
        if data.setdefault("machine", machine()) != machine():
            parser.error(
                f"{run.json} is of another machine: take another file"
            )
        for section in run.sections or SECTIONS:
            if section != "tune" and "tune" not in data:
                data["tune"] = measure("tune", run, data)
            data[section] = measure(section, run, data)
            write(run.json, data)
    if "whole" in data and "count" in data:
        chart(data, run.json.with_suffix(".svg"))
    put(run.readme, "benchmark", report(data))


if __name__ == "__main__":
    main()
