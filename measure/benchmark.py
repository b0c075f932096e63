"""Compare `Games` and `Worker` of game.py with their peers, side by side.

    pip install -r requirements.txt -r measure/peers.txt
    python measure/benchmark.py                         # all of it, 20 minutes
    python measure/benchmark.py whole count --rounds 3  # two parts, quicker
    python measure/benchmark.py --publish               # into measure/results/
    python measure/benchmark.py --report                # what is published

Results go to runs/benchmark/, with the tables and charts made from them; with
--publish they go to measure/results/benchmark.json. A part that is measured
again replaces itself there. --report measures nothing: it makes docs/speed.md,
docs/benchmark.svg, docs/network.svg and README's table between its `speed`
marks from measure/results/benchmark.json.

The parts:
- tune: how many threads the two C++ engines take
- whole: whole games of four titles
- restart, continue: a lost life ends the episode, by either rule
- network: a network between the steps that waits or computes
- count: 1 to 64 games, and their memory
- model: what the parent's work lets one expect of more cores
- gpu: the network of DQN on a GPU, where there is one

What makes it fair: every contender lives in a process of its own, where it
builds its environment once and warms up. Then they take turns, in an order
that rotates from round to round, and are compared within a round: a machine
that slows down slows down for all. All play the same random actions. Only
transitions that played frames count, not those that a peer spends on a reset.
Who waits for each batch is compared with whoever does so too, and who has
several batches in flight with whoever has as many. "Faster" means faster in
every round.
"""

import contextlib
import json
import time
from statistics import mean, median

import publish
from charts import COLOURS, GROUND, INK, NARROW, canvas, narrow_name, save
from contenders import contender
from publish import CORES, put, table

NAMES = {
    "limit": "the emulator alone, the limit",
    "limit_0112": "the same on ALE 0.11.2",
    "games": "`Games`",
    "games_0112": "`Games` on ALE 0.11.2",
    "games_true": "`Games` without snapshots",
    "worker": "`Worker`",
    "ale": "ALE `AtariVectorEnv`",
    "envpool": "EnvPool",
    "gymnasium": "Gymnasium `AsyncVectorEnv`",
    "sb3": "SB3 `SubprocVecEnv`",
    "sb3_games": "`Games` under SB3",
    "labml": "labml's original worker",
    "games_2": "two `Games` in turn",
    "games_3": "three `Games` in turn",
    "worker_2": "two groups of `Worker`s in turn",
    "ale_2": "ALE `AtariVectorEnv`, asynchronous",
    "ale_3": "ALE `AtariVectorEnv`, asynchronous",
    "envpool_2": "EnvPool, asynchronous",
    "envpool_3": "EnvPool, asynchronous",
}
# Who waits for each batch before it asks for the next; and who has two or
# three batches in flight, so that one is played while the network looks at
# another.
LOCKSTEP = ["ale", "envpool", "gymnasium", "sb3", "labml"]
IN_TURN = ["ale_2", "ale_3", "envpool_2", "envpool_3"]
ENGINES = ["ale", "envpool", *IN_TURN]
ALL_TITLES = ["Breakout", "Pong", "MsPacman", "Seaquest"]
LIVES = ["Breakout", "MsPacman", "Seaquest"]  # Pong has none to lose
COUNTS = [1, 2, 4, 8, 16, 32, 64]
BATCHES = [8, 64, 256]  # on a GPU
MODEL_CORES = [16, 64]
ROW = 4  # games to a core in the model
PASSES = [0.5, 1.5, 5]  # milliseconds of a network's pass
TUNE_ROUNDS = 3  # at most
WIDE = 1.25  # times the slowest round: the fastest one shows that it is noisy
CALM = 0.5  # of a column's measurements; what has fewer is measured again

# ## What is measured
#
# A part is a table of columns. A column holds contenders, each as `(its
# generator in contenders.py, what that takes, the network)`.


def batches(name):
    """How many batches a contender has in flight."""
    suffix = name.rpartition("_")[2]
    return int(suffix) if suffix in ("2", "3") else 1


def setup(name, data, games, title="Breakout", rule="ignore", network=None):
    """One contender; the engines as they were best when they were tuned."""
    kind, flying = name.split("_")[0], batches(name)
    options = {"game": title, "games": games, "rule": rule}
    if name in ENGINES:
        options["num_envs"] = games * flying
        tuned = best(data["tune"]["columns"][name])["options"]
        options["threads"] = min(tuned["threads"], options["num_envs"])
    elif flying > 1:
        options["count"] = flying
    if name == "games_true":
        options["snapshots"] = False
    if name == "sb3_games":
        kind = name
    if kind == "limit":
        seeds = range(min(CORES, games))
        options = [options | {"seed": seed} for seed in seeds]
    return kind, options, network


def best(column):
    return max(column.values(), key=lambda row: median(row["speed"]))


def tune(run, data):
    """The engines' threads."""
    columns = {}
    for name in ENGINES:
        columns[name] = {}
        num_envs = run.games * batches(name)
        for threads in sorted({CORES, CORES * 3 // 2, CORES * 2, num_envs}):
            options = {"num_envs": num_envs, "threads": threads}
            options |= {"game": "Breakout", "games": run.games}
            options |= {"rule": "ignore"}
            what = name.split("_")[0], options, None
            columns[name][f"{threads} threads"] = what
    return columns


def by_title(run, data, titles, names, rule):
    if not run.python_0112:
        names = [name for name in names if not name.endswith("_0112")]
    return {
        title: {
            name: setup(name, data, run.games, title, rule) for name in names
        }
        for title in titles
    }


def whole(run, data):
    """Whole games: a lost life ends nothing."""
    names = [name for name in NAMES if name != "games_true"]
    return by_title(run, data, ALL_TITLES, names, "ignore")


def restart(run, data):
    """A lost life ends the episode, and the game starts over."""
    names = "limit games games_true worker ale gymnasium labml"
    names += " games_2 games_3 worker_2 ale_2 ale_3"
    return by_title(run, data, LIVES, names.split(), "restart")


def goes_on(run, data):
    """A lost life ends the episode, and the game continues."""
    names = "limit games worker envpool sb3 sb3_games"
    names += " games_2 games_3 worker_2 envpool_2 envpool_3"
    return by_title(run, data, LIVES, names.split(), "continue")


def network(run, data):
    """A network's pass for each batch, elsewhere or on one of the cores."""
    networks = {"no network": None}
    for kind, verb in ("waiting", "waits"), ("computing", "computes"):
        for milliseconds in PASSES:
            networks[f"{verb} {milliseconds} ms"] = kind, milliseconds
    names = ["games", "worker", *LOCKSTEP]
    names += ["games_2", "games_3", "worker_2", *IN_TURN]
    return {
        column: {
            name: setup(name, data, run.games, network=network)
            for name in names
        }
        for column, network in networks.items()
    }


def gpu(run, data):
    """The network of DQN on a GPU, where there is one."""
    import torch

    if not torch.cuda.is_available():
        print("there is no GPU here: the part gpu is left out")
        return {}
    names = ["games", "ale", "envpool", "games_2", "ale_2", "envpool_2"]
    device = "device", 0
    return {
        games: {
            name: setup(name, data, games, network=device) for name in names
        }
        for games in BATCHES
    }


def count(run, data):
    """Whole games of Breakout, more and more of them."""
    names = ["games", "worker", "ale", "envpool", "gymnasium", "labml"]
    return {
        games: {name: setup(name, data, games) for name in names}
        for games in COUNTS
    }


def model(run, data):
    """`Games` in more and more processes: what the parent has to do."""
    column = {}
    for cores in sorted({1, CORES, *MODEL_CORES}):
        kind, options, _ = setup("games", data, ROW * cores)
        column[cores] = kind, options | {"processes": cores}, None
    return {"Breakout": column}


PARTS = {
    "tune": tune,
    "whole": whole,
    "restart": restart,
    "continue": goes_on,
    "network": network,
    "count": count,
    "model": model,
    "gpu": gpu,
}

# ## How it is measured


class Umpire:
    """Lets contenders play, and again if other programs were at work.

    A column may take twice as long by that, and no longer.
    """

    def __init__(self, seconds, rounds, strict):
        self.seconds, self.rounds, self.strict = seconds, rounds, strict

    def begin(self, players):
        """All contenders have been started."""
        self.family = publish.family()
        self.spare = self.rounds * players if self.strict else 0

    def play(self, player):
        results = [self.play_once(player)]
        while results[-1]["others"] > publish.DISTURBED and self.spare:
            self.spare -= 1
            results.append(self.play_once(player))
        return min(results, key=lambda result: result["others"])

    def play_once(self, player):
        others = publish.Others(self.family)
        result = player.play(self.seconds)
        return result | {"others": others.cores()}


def measure(part, run, data):
    """All columns of a part, and how they came about."""
    rounds = min(TUNE_ROUNDS, run.rounds) if part == "tune" else run.rounds
    how = {"date": publish.today(), "commit": publish.commit()}
    how |= {"rounds": rounds, "seconds": run.seconds}
    calm_ones = calm_columns(data[part], how) if run.again else {}
    results = {}
    for column, contenders in PARTS[part](run, data).items():
        if str(column) in calm_ones:
            results[str(column)] = calm_ones[str(column)]
            continue
        start = time.monotonic()
        umpire = Umpire(run.seconds, rounds, run.publish)
        results[str(column)] = measure_column(part, contenders, run, umpire)
        spent = time.monotonic() - start
        print(f"{part} {column}, {spent:.0f} s", flush=True)
    return json.loads(json.dumps(how | {"columns": results}))


def calm_columns(measured, how):
    """The columns that others left in peace, if they were measured so."""
    if any(measured[key] != how[key] for key in how if key != "date"):
        return {}
    return {
        name: column
        for name, column in measured["columns"].items()
        if calm([column]) >= CALM
    }


def calm(columns):
    """The share of measurements that other programs did not disturb."""
    others = [
        cores
        for column in columns
        for row in column.values()
        for cores in row["others"]
    ]
    return mean(cores < publish.DISTURBED for cores in others)


def measure_column(part, contenders, run, umpire):
    """Let the contenders of a column take turns; return what they reached."""
    rows = {}
    for name, what in contenders.items():
        rows[name] = {"options": what[1]}
        if part == "count":  # memory is measured with nobody else there
            with contender(*what) as alone:
                rows[name]["memory"] = round(alone.answer()["memory"], 1)
    with contextlib.ExitStack() as stack:
        turns = []
        for name, what in contenders.items():
            if str(name).endswith("_0112"):
                what = *what, run.python_0112
            player = stack.enter_context(contender(*what))
            turns.append((name, player))
        for name, player in turns:
            rows[name]["arrays"] = player.answer()["arrays"]
        umpire.begin(len(turns))
        for _ in range(umpire.rounds):
            for name, player in turns:
                result = umpire.play(player)
                if part != "model":
                    del result["parent"]
                for key, value in result.items():
                    rows[name].setdefault(key, []).append(round(value, 2))
            turns.append(turns.pop(0))
    return rows


# ## What it says


def ratios(column, name, base):
    """Speed over speed, round by round."""
    pairs = zip(column[name]["speed"], column[base]["speed"], strict=True)
    return [ours / theirs for ours, theirs in pairs]


def spread(values):
    return f"{median(values):.2f} ({min(values):.2f}–{max(values):.2f})"


def speed(row):
    return f"{median(row['speed']):,.0f}"


def speed_or_range(row):
    """The median, and the range if rounds differ by more than `WIDE`."""
    least, most = min(row["speed"]), max(row["speed"])
    if most <= WIDE * least:
        return speed(row)
    return f"{speed(row)} ({least:,.0f}–{most:,.0f})"


def how(part):
    """How a part was measured, to stand beside its tables."""
    most = max(
        max(row["others"])
        for column in part["columns"].values()
        for row in column.values()
    )
    return (
        f"*{part['rounds']} rounds of {part['seconds']} s, "
        f"{part['date']}, `game.py` of commit {part['commit']}; other "
        f"programs took less than {publish.DISTURBED} of a core in "
        f"{calm(part['columns'].values()):.0%} of the measurements, "
        f"{most:.2f} at most*"
    )


def group(names):
    """Part the names: the limit, in lockstep, in turn."""
    lockstep = [name for name in names if batches(name) == 1]
    return lockstep, [name for name in names if batches(name) > 1]


def fastest(column, names):
    names = [name for name in names if name in column]
    return max(names, key=lambda name: median(column[name]["speed"]))


def in_flight(name, column):
    """How many games a contender has in flight."""
    if name.startswith("limit"):
        return ""
    return str(column[name]["options"]["games"] * batches(name))


def shares(columns):
    """Each one's share of the limit, those in lockstep and those in turn."""
    first = next(iter(columns.values()))
    lockstep, in_turn = group(first)
    text = []
    for title, names in (
        ("In lockstep: who waits for each batch", lockstep),
        ("In turn: who has more batches in flight", in_turn),
    ):
        if not names:
            continue
        body = []
        for name in names:
            body.append([NAMES[name], in_flight(name, first)])
            for column in columns.values():
                if name == "limit":
                    body[-1].append(f"{speed(column[name])} steps/s")
                else:
                    body[-1].append(spread(ratios(column, name, "limit")))
        body += beside(columns, names)
        head = ["share of the limit", "games in flight", *columns]
        text += [f"{title}.", table(head, *body), sayings(columns, names)]
    return text


def beside(columns, names):
    """Rows of what ours are beside the best of those with as many batches."""
    body = []
    for ours, peers in rivals(names):
        row = [f"**{NAMES[ours]}, times as fast as the best of the others**"]
        row.append("")
        for column in columns.values():
            rival = fastest(column, peers)
            row.append(f"**{spread(ratios(column, ours, rival))}**")
        body.append(row)
    if "games_true" in names:
        row = ["`Games`, times as fast as without snapshots", ""]
        for column in columns.values():
            row.append(spread(ratios(column, "games", "games_true")))
        body.append(row)
    return body


def rivals(names):
    """Ours, each with the peers that have as many batches in flight."""
    for ours in ("games", "games_2", "games_3"):
        peers = [
            name
            for name in [*LOCKSTEP, *IN_TURN]
            if name in names and batches(name) == batches(ours)
        ]
        if ours in names and peers:
            yield ours, peers


def sayings(columns, names):
    """What holds in every round, a line for each of ours."""
    lines = []
    for ours in ("games", "worker", "games_2", "games_3", "worker_2"):
        peers = [
            name
            for name in [*LOCKSTEP, *IN_TURN]
            if name in names and batches(name) == batches(ours)
        ]
        if ours in names and peers:
            lines.append(claims(columns, ours, peers))
    return "\n".join(lines)


def claims(columns, ours, peers):
    """What holds in every round, in words."""
    words = []
    for peer in peers:
        values = {g: ratios(c, ours, peer) for g, c in columns.items()}
        for verb, where in {
            "faster than": [g for g in values if min(values[g]) > 1],
            "slower than": [g for g in values if max(values[g]) < 1],
        }.items():
            everywhere = len(where) == len(values)
            places = "" if everywhere else f" ({', '.join(where)})"
            if where:
                words.append(f"{verb} {NAMES[peer]}{places}")
    said = "; ".join(words) or "neither faster nor slower than any"
    return f"- {NAMES[ours]}, in every round: {said}."


def above_the_limit(columns):
    """Why a share can be above 1.00, if one is."""
    ours = [name for name in next(iter(columns.values())) if "games" in name]
    most = max(
        median(ratios(column, name, "limit"))
        for column in columns.values()
        for name in ours
    )
    if most <= 1:
        return []
    return [
        "A share above 1.00: the limit resets the emulator at each lost life, "
        "which takes it some milliseconds, and `Games` puts a snapshot back "
        "in its place. So it can play more than the emulator with its own "
        "resets."
    ]


def networks(columns):
    """Steps a second beside a network, then who is how much faster."""
    first = next(iter(columns.values()))
    body, times = [], []
    for name in first:
        body.append([NAMES[name], in_flight(name, first)])
        body[-1] += [speed(column[name]) for column in columns.values()]
    row = ["*measured undisturbed by other programs*", ""]
    row += [f"*{calm([column]):.0%}*" for column in columns.values()]
    body.append(row)
    for ours, theirs, title in (
        ("games", ["ale", "envpool"], "the best engine in lockstep"),
        ("games_2", ["ale_2", "envpool_2"], "the best engine with as many"),
        ("games_3", ["ale_3", "envpool_3"], "the best engine with as many"),
        ("worker_2", ["worker"], "one group of `Worker`s"),
        ("games_2", ["games"], "one `Games`"),
    ):
        times.append([f"{NAMES[ours]} beside {title}"])
        for column in columns.values():
            rival = fastest(column, theirs)
            times[-1].append(spread(ratios(column, ours, rival)))
    text = [table(["steps/s", "games in flight", *columns], *body)]
    text.append(table(["times as fast", *columns], *times))
    text += [sayings(columns, names) for names in group(first)]
    return text


def counts(columns):
    body = []
    for name in columns["1"]:
        row = [f"{NAMES[name]}, steps/s"]
        row += [speed(column[name]) for column in columns.values()]
        body.append(row)
    for name in columns["1"]:
        memory = [column[name]["memory"] for column in columns.values()]
        body.append([f"{NAMES[name]}, MB", *(f"{m:,.0f}" for m in memory)])
    return [table(["games", *columns], *body)]


def modelled(columns):
    """A step takes what a row takes, with one process, and what the parent
    needs more, in processor time, with as many processes as cores."""
    column = columns["Breakout"]
    one = ROW / median(column["1"]["speed"])
    parents = {
        int(cores): median(row["parent"]) * ROW * int(cores) / 1e6
        for cores, row in column.items()
    }
    body = []
    for cores, parent in parents.items():
        games, step = ROW * cores, one + parent - parents[1]
        body.append(
            [f"{cores}", f"{games}", f"{parent * 1e3:.2f} ms"]
            + [f"{games / parent:,.0f}", f"{games / step:,.0f}"]
            + [f"{one / step:.0%}"]
        )
    head = ["cores", "games", "the parent's work for a step"]
    head += ["steps/s that it alone could do", "steps/s, modelled"]
    return [table([*head, "of as many times the speed of one core"], *body)]


def passes(columns):
    """Steps a second beside the network of DQN, by batch."""
    first = next(iter(columns.values()))
    body = []
    for name in first:
        row = [NAMES[name], str(batches(name))]
        row += [speed(column[name]) for column in columns.values()]
        body.append(row)
    heads = [f"batches of {games}" for games in columns]
    text = [table(["steps/s", "batches in flight", *heads], *body)]
    return text + [sayings(columns, names) for names in group(first)]


TABLES = {
    "whole": (shares, "Whole games"),
    "restart": (shares, "A lost life restarts the game"),
    "continue": (shares, "A lost life ends the episode, not the game"),
    "network": (networks, "A network between the steps"),
    "gpu": (passes, "The network of DQN on a GPU"),
    "count": (counts, "How many games at once"),
    "model": (modelled, "More cores: a model, no measurement"),
}
NOTES = {
    "whole": "The limit is the emulator's own speed: four frames and nothing "
    "else, in a process for each core. Numbers are the median of the rounds "
    "(and their range).",
    "network": "Whole games of Breakout. After each batch of games comes a "
    "network: it waits, as for a device, or it computes on one of the cores.",
    "gpu": "Whole games of Breakout; three convolutions and 512 units look at "
    "each batch.",
    "count": "Whole games of Breakout in lockstep. Memory is that of all "
    "processes, with what they share counted once (PSS).",
    "model": "Each core plays " + str(ROW) + " games. A step is taken to "
    "last as long as it does with one process, and longer by the processor "
    "time that the parent needs more.",
}


def about(data):
    """What was measured on, and how the engines were set."""
    machine = data["machine"]
    versions = ", ".join(f"{k} {v}" for k, v in machine["versions"].items())
    engines = []
    for name in ENGINES:
        tuned = best(data["tune"]["columns"][name])["options"]
        engines.append(
            f"{NAMES[name]}, {tuned['num_envs']} games: "
            f"{tuned['threads']} threads"
        )
    return [
        f"{machine['cores']} cores ({machine['processor']}), Python "
        f"{machine['python']}, {versions}; EnvPool is built on ALE 0.11.2.",
        "Threads of the engines, the best of a sweep without a network: "
        f"{'; '.join(engines)}. {how(data['tune'])}",
    ]


def own(data):
    """Whose observations stay as they are and may be written to."""
    others = {
        f"{NAMES[name]}: {row['arrays']}"
        for part in ("whole", "restart", "continue")
        for column in data.get(part, {"columns": {}})["columns"].values()
        for name, row in column.items()
        if row["arrays"] not in ("own", None)
    }
    if not others:
        return (
            "The observations that any of them returns are the caller's: no "
            "later step changes them, and they may be written to."
        )
    return f"Observations that aren't the caller's: {'; '.join(others)}."


def report(data, pictures):
    """The text of docs/speed.md, from whatever parts there are."""
    text = ["# How fast", "Written by `measure/benchmark.py --report`."]
    text += about(data)
    text.append(own(data))
    for part, (make, title) in TABLES.items():
        if part in data and data[part]["columns"]:
            columns = data[part]["columns"]
            text += [f"## {title}", how(data[part])]
            if part in NOTES:
                text.append(NOTES[part])
            text += [f"![{title}]({p})" for p in pictures.get(part, [])]
            text += make(columns)
            if part == "restart":
                text += above_the_limit(columns)
    return "\n\n".join(text) + "\n"


SHORT = "games worker ale envpool gymnasium sb3 labml games_2 ale_2 envpool_2"
SHORT_COLUMNS = ["no network", "waits 1.5 ms", "computes 1.5 ms"]


def short(data):
    """README's table: Breakout with and without a network."""
    part, machine = data["network"], data["machine"]
    columns = {name: part["columns"][name] for name in SHORT_COLUMNS}
    first = columns[SHORT_COLUMNS[0]]
    body = []
    for name in SHORT.split():
        way = "in turn" if batches(name) > 1 else "in lockstep"
        row = [NAMES[name].removesuffix(" in turn"), way]
        row.append(in_flight(name, first))
        row += [speed_or_range(column[name]) for column in columns.values()]
        body.append(row)
    head = ["whole games of Breakout, steps/s", "batches", "games in flight"]
    names = SHORT.split()
    return "\n\n".join(
        [
            table([*head, *columns], *body),
            "A network looks at each batch of 8 and waits for a device, or "
            "computes on one of the cores. In lockstep the games wait for it; "
            "in turn another batch plays meanwhile. An episode is a whole "
            'game, `on_life_loss="ignore"`. '
            f"{machine['cores']} cores ({machine['processor']}), "
            f"{part['rounds']} rounds of {part['seconds']} s on "
            f"{part['date']}, medians; where the rounds differ by more than a "
            'quarter, their range, too. "Faster" is what is faster in every '
            "round:",
            "\n".join(sayings(columns, each) for each in group(names)),
        ]
    )


# ### The charts


def charts(data, folder):
    """Draw what there is; return the files by part."""
    pictures = {}
    if "whole" in data and "count" in data:
        plt = canvas()
        draw_games(plt, data)
        save(plt, folder / "benchmark.svg")
        draw_games(plt, data, narrow=True)
        save(plt, folder / narrow_name("benchmark.svg"))
        pictures["whole"] = ["benchmark.svg"]
    if "network" in data:
        plt = canvas()
        draw_network(plt, data["network"]["columns"])
        save(plt, folder / "network.svg")
        pictures["network"] = ["network.svg"]
    return pictures


def draw_games(plt, data, narrow=False):
    """Whole games in both groups; speed and memory by the number of games."""
    size = (9, 10)
    places = [["lockstep", "lockstep"], ["turn", "turn"], ["speed", "memory"]]
    if narrow:
        size = (NARROW, 12.5)
        places = [["lockstep"], ["turn"], ["speed"], ["memory"]]
    figure = plt.figure(figsize=size, layout="constrained")
    axes = figure.subplot_mosaic(places)
    columns = data["whole"]["columns"]
    shown = [name for name in next(iter(columns.values())) if colour(name)]
    lockstep, in_turn = group(shown)
    for axis, names, title in (
        (axes["lockstep"], lockstep, "8 games in lockstep"),
        (axes["turn"], in_turn, "16 or 24 games, in batches of 8"),
    ):
        values = {
            name: [
                ratios(column, name, "limit") for column in columns.values()
            ]
            for name in names
        }
        bars(axis, values, columns, narrow)
        axis.set_ylim(0, 1.6 if narrow else 1.3)
        axis.set_yticks([0, 0.2, 0.4, 0.6, 0.8, 1])
        axis.yaxis.set_major_formatter(lambda share, _: f"{share:.0%}")
        share = "\nshare" if narrow else " share"
        title = f"{title}:{share} of the emulator's own speed"
        axis.set_title(title, fontsize=11)
    columns = data["count"]["columns"]
    lines(axes["speed"], columns, "speed", "steps/s by number of games")
    lines(axes["memory"], columns, "memory", "memory in MB by number of games")
    axes["memory"].set_yscale("log")
    axes["memory"].minorticks_off()
    axes["speed"].set_ylim(0)
    for name in ("speed", "memory"):
        axes[name].yaxis.set_major_formatter("{x:,.0f}")


def draw_network(plt, columns):
    """Steps a second beside a network, in both groups."""
    figure = plt.figure(figsize=(9, 8), layout="constrained")
    axes = figure.subplots(2, 1, sharey=True)
    names = group(list(next(iter(columns.values()))))
    titles = "batches of 8 in lockstep", "two or three batches in flight"
    for axis, each, title in zip(axes, names, titles, strict=True):
        values = {
            name: [column[name]["speed"] for column in columns.values()]
            for name in each
        }
        bars(axis, values, columns)
        axis.yaxis.set_major_formatter("{x:,.0f}")
        axis.set_title(f"Breakout, steps/s: {title}", fontsize=11)
    axes[0].set_ylim(0, axes[0].get_ylim()[1] * 1.2)


def colour(name):
    """The colour of a contender; None for those that aren't shown."""
    if name.endswith(("_0112", "_true")) or name == "sb3_games":
        return None
    return COLOURS.get(name.split("_")[0])


def bars(axis, values, columns, narrow=False):
    """A bar for each name and column: the median, and the range."""
    width = 0.86 / len(values)
    for i, (name, rounds) in enumerate(values.items()):
        middle = [median(each) for each in rounds]
        left = (i - (len(values) - 1) / 2) * width
        lower = [m - min(v) for m, v in zip(middle, rounds, strict=True)]
        upper = [max(v) - m for m, v in zip(middle, rounds, strict=True)]
        axis.bar(
            [x + left for x in range(len(rounds))],
            middle,
            width * 0.9,
            color=colour(name),
            edgecolor=GROUND,
            hatch="//////" * (batches(name) == 3),
            linewidth=0,
            label=label(name),
            yerr=[lower, upper],
            error_kw={"ecolor": INK, "elinewidth": 0.9},
        )
    lines = [column.replace("s ", "s\n", 1) for column in columns]
    axis.set_xticks(range(len(columns)), lines, fontsize=8 if narrow else 10)
    axis.grid(axis="x", visible=False)
    axis.legend(
        ncols=2 if narrow else 4,
        frameon=False,
        loc="upper left",
        fontsize=8 if narrow else 8.5,
        handlelength=1.2 if narrow else 2,
        columnspacing=1 if narrow else 2,
    )


LABELS = {
    "games": "Games",
    "worker": "Worker",
    "ale": "ALE",
    "envpool": "EnvPool",
    "gymnasium": "Gymnasium",
    "sb3": "SB3",
    "labml": "labml's original",
}


def label(name):
    """A contender's name in a legend: short, and how much is in flight."""
    flying = f", {8 * batches(name)} games" if batches(name) > 1 else ""
    return LABELS[name.split("_")[0]] + flying


def lines(axis, columns, what, title):
    """A line for each contender, in the colour of its bars."""
    names = [n for n in COLOURS if what in columns["1"].get(n, {})]
    counts = [int(count) for count in columns]
    for name in names:
        values = [columns[str(count)][name][what] for count in counts]
        if what == "speed":
            values = [median(value) for value in values]
        axis.plot(counts, values, "o-", ms=3.5, color=COLOURS[name])
    axis.set_xscale("log", base=2)
    axis.set_xticks(counts, counts)
    axis.set_title(title, fontsize=11)


# ## The main job

FILE = "benchmark.json"


def write_report(data, folder):
    text = report(data, charts(data, folder))
    (folder / "speed.md").write_text(text, "utf-8")


def main():
    parser = publish.Parser(__doc__)
    add = parser.add_argument
    add("parts", nargs="*", metavar="PART", help="what to measure; none: all")
    add("--rounds", type=publish.positive(int), default=9, help="of each part")
    add(
        "--seconds",
        type=publish.positive(float),
        default=0.4,
        help="a round's, of each contender",
    )
    add("--games", type=publish.positive(int), default=8, help="in a batch")
    add("--python-0112", help="a Python that has ale-py 0.11.2")
    add(
        "--again",
        action="store_true",
        help="measure only columns that other programs have disturbed",
    )
    add("--publish", action="store_true", help="write to measure/results/")
    add("--report", action="store_true", help="measure nothing, write docs/")
    run = parser.parse_args()
    unknown = set(run.parts) - set(PARTS)
    if unknown:
        parser.error(
            f"no such part: {', '.join(sorted(unknown))}; "
            f"there are {', '.join(PARTS)}"
        )
    parser.need("matplotlib")
    if run.report:
        data = publish.read(publish.RESULTS / FILE)
        missing = [part for part in PARTS if part not in data]
        if set(missing) - {"gpu"}:
            parser.error(f"not yet published: {', '.join(missing)}")
        write_report(data, publish.DOCS)
        put(publish.README, "speed", short(data))
        return
    peers = "gymnasium", "ale_py", "cv2", "envpool", "stable_baselines3"
    parser.need("psutil", *peers)
    if run.publish:
        parser.must_be_quiet()
    parts = run.parts or list(PARTS)
    path = publish.target("benchmark", FILE, run.publish)
    data = publish.read(path)
    machine = publish.machine()
    if data.get("machine", machine) != machine:
        if run.publish and set(parts) < set(PARTS):
            parser.error(
                f"{path.name} is of another machine or other versions: "
                "measure all parts"
            )
        data = {}
    data["machine"] = machine
    missing = [part for part in parts if part not in data]
    if run.again and missing:
        parser.error(f"not yet measured: {', '.join(missing)}")
    if "tune" not in data and "tune" not in parts:
        parts.insert(0, "tune")
    for part in parts:
        if run.publish:
            parser.must_be_quiet()
        result = measure(part, run, data)
        if result["columns"]:
            data[part] = result
            publish.write(path, data)
    if not run.publish:
        write_report(data, path.parent)


if __name__ == "__main__":
    main()
