"""Write the pages of docs/ and README's tables from what is published.

    pip install -r requirements.txt --group measure
    python measure/report.py           # all of them
    python measure/report.py speed     # one of speed, faults, learning
    python measure/report.py --trial   # of your own runs, into runs/measure

Measures nothing: what is in measure/results, or with --trial in runs/measure,
is put into tables and charts. README's are those between comment marks.
"""

import numpy as np
import pandas as pd

import charts
import common
from benchmark import (
    ENGINES,
    IN_TURN,
    LOCKSTEP,
    OURS,
    OURS_IN_TURN,
    batches,
    best,
)
from chaos import FAULTS, HITS, PEERS
from charts import TESTER, ratios

NAMES = {
    "limit": "the emulator alone, the limit",
    "games": "`Games`",
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
    "ale_2": "ALE `AtariVectorEnv`, asynchronous",
    "ale_3": "ALE `AtariVectorEnv`, asynchronous",
    "envpool_2": "EnvPool, asynchronous",
    "envpool_3": "EnvPool, asynchronous",
}


def table(head, *body):
    """The lines of a Markdown table."""
    lines = [f"| {' | '.join(row)} |" for row in (head, *body)]
    return "\n".join([lines[0], "| --- " * len(head) + "|", *lines[1:]])


def spread(values):
    """The median and the range."""
    low, high = min(values), max(values)
    return f"{np.median(values):.2f} ({low:.2f}–{high:.2f})"


def machine(data):
    """What something was measured on."""
    versions = ", ".join(f"{k} {v}" for k, v in data["versions"].items())
    cores = f"{data['cores']} cores ({data['processor']})"
    return f"{cores}, Python {data['python']}, {versions}"


# How fast


def speed(row):
    return f"{np.median(row['speed']):,.0f}"


def how(part):
    """How a part was measured, to stand beside its tables."""
    others = np.concatenate(
        [
            row["others"]
            for column in part["columns"].values()
            for row in column.values()
        ]
    )
    return (
        f"*{part['rounds']} rounds of {part['seconds']} s, "
        f"{part['date']}, `game.py` of commit {part['commit']}; other "
        f"programs took less than {common.DISTURBED} of a core in "
        f"{np.mean(others < common.DISTURBED):.0%} of the measurements, "
        f"{others.max():.2f} at most*"
    )


def in_flight(name, column):
    """How many games a contender has in flight."""
    if name == "limit":
        return ""
    return str(column[name]["options"]["games"] * batches(name))


def rivals(ours, column):
    """Who has as many batches in flight as one of ours."""
    return [
        name
        for name in [*LOCKSTEP, *IN_TURN]
        if name in column and batches(name) == batches(ours)
    ]


def times_as_fast(columns, ours):
    """A row: one of ours beside the best of those with as many batches."""
    cells = []
    for column in columns.values():
        peers = rivals(ours, column)
        fastest = max(peers, key=lambda name: np.median(column[name]["speed"]))
        cells.append(spread(ratios(column, ours, fastest)))
    return cells


def shares(columns):
    """Each one's share of the limit, those in lockstep and those in turn."""
    first = next(iter(columns.values()))
    text = []
    for title, ours, one in (
        ("In lockstep: who waits for each batch.", OURS, True),
        ("In turn: who has more batches in flight.", OURS_IN_TURN, False),
    ):
        names = [name for name in NAMES if name in first]
        names = [name for name in names if (batches(name) == 1) is one]
        body = []
        for name in names:
            row = [NAMES[name], in_flight(name, first)]
            for column in columns.values():
                if name == "limit":
                    row.append(f"{speed(column[name])} steps/s")
                else:
                    row.append(spread(ratios(column, name, "limit")))
            body.append(row)
        for name in ours:
            best_of = (
                f"**{NAMES[name]}, times as fast as the best of the others**"
            )
            if name.startswith("games"):
                cells = [f"**{x}**" for x in times_as_fast(columns, name)]
                body.append([best_of, "", *cells])
        if "games_true" in names:
            row = ["`Games`, times as fast as without snapshots", ""]
            for column in columns.values():
                row.append(spread(ratios(column, "games", "games_true")))
            body.append(row)
        head = ["share of the limit", "games in flight", *columns]
        text += [title, table(head, *body)]
    return text


def networks(columns):
    """Steps a second beside a network, then who is how much faster."""
    first = next(iter(columns.values()))
    body = []
    for name in filter(first.get, NAMES):
        cells = [speed(column[name]) for column in columns.values()]
        body.append([NAMES[name], in_flight(name, first), *cells])
    times = [
        [
            f"{NAMES[name]} beside the best engine",
            *times_as_fast(columns, name),
        ]
        for name in ("games", "games_2", "games_3")
    ]
    cells = [spread(ratios(c, "games_2", "games")) for c in columns.values()]
    times.append(["two `Games` in turn beside one", *cells])
    return [
        table(["steps/s", "games in flight", *columns], *body),
        table(["times as fast", *columns], *times),
    ]


def counts(columns):
    body = []
    for name in columns["1"]:
        cells = [speed(column[name]) for column in columns.values()]
        body.append([f"{NAMES[name]}, steps/s", *cells])
    for name in columns["1"]:
        cells = [f"{c[name]['memory']:,.0f}" for c in columns.values()]
        body.append([f"{NAMES[name]}, MB", *cells])
    return [table(["games", *columns], *body)]


NETWORK = (
    "Whole games of Breakout. After each batch of games comes a network: it "
    "waits, as for a device, or it computes on one of the cores."
)
COUNT = (
    "Whole games of Breakout in lockstep. Memory is that of all processes, "
    "with what they share counted once (PSS)."
)
SHARES = (
    "The limit is the emulator's own speed: four frames and nothing else, in "
    "a process for each core. Numbers are the median of the rounds (and their "
    "range)."
)
ABOVE = (
    "A share above 1.00 is no mistake: the limit resets the emulator at each "
    "lost life, which takes it some milliseconds, and `Games` puts a snapshot "
    "back in its place."
)
PARTS = {  # of the page: title, chart, note, how to make its tables
    "whole": ("Whole games", "benchmark.svg", SHARES, shares),
    "restart": ("A lost life restarts the game", "", ABOVE, shares),
    "continue": ("A lost life ends the episode, not the game", "", "", shares),
    "network": ("A network between steps", "network.svg", NETWORK, networks),
    "count": ("How many games at once", "", COUNT, counts),
}


def speed_page(data):
    """The text of docs/speed.md, of whatever parts there are."""
    tuned = {name: best(data["tune"]["columns"][name]) for name in ENGINES}
    threads = [
        f"{NAMES[name]}, {row['options']['num_envs']} games: "
        f"{row['options']['threads']} threads"
        for name, row in tuned.items()
    ]
    text = [
        "# How fast",
        "Written by `measure/report.py` of what `measure/benchmark.py` "
        "measured.",
        f"{machine(data['machine'])}; EnvPool is built on ALE 0.11.2.",
        "Threads of the engines, the best of a sweep without a network: "
        f"{'; '.join(threads)}. {how(data['tune'])}",
    ]
    text.append(whose_arrays(data))
    for part, (title, chart, note, make) in PARTS.items():
        if part in data:
            text += [f"## {title}", how(data[part]), note]
            text.append(f"![{title}]({chart})" if chart else "")
            text += make(data[part]["columns"])
    return "\n\n".join(filter(None, text)) + "\n"


def whose_arrays(data):
    """Whose observations stay as they are and may be written to."""
    others = {
        f"{NAMES[name]}: {row['arrays']}"
        for part in ("whole", "restart", "continue")
        for column in data.get(part, {"columns": {}})["columns"].values()
        for name, row in column.items()
        if row["arrays"] not in ("own", None)
    }
    if others:
        return f"Observations that aren't the caller's: {'; '.join(others)}."
    return (
        "The observations that any of them returns are the caller's: no "
        "later step changes them, and they may be written to."
    )


def speed_table(data):
    """README's table: Breakout in round numbers."""
    part = data["network"]
    plain, network = (
        part["columns"][name] for name in ("no network", "waits 1.5 ms")
    )

    def about(column, name):
        if name not in column:
            return "–"
        return f"{round(np.median(column[name]['speed']), -2):,.0f}"

    body = [
        [
            NAMES[name],
            about(plain, name),
            about(network, name),
            about(network, f"{name}_2"),
        ]
        for name in ("games", *LOCKSTEP)
    ]
    head = [
        "Breakout, steps/s",
        "8 games",
        "and a network of 1.5 ms",
        "two batches of 8 in turn",
    ]
    where = (
        f"{data['machine']['cores']} cores ({data['machine']['processor']})"
    )
    return "\n\n".join(
        [
            table(head, *body),
            f"Whole games on {where}, {part['date']}, medians in round "
            "numbers. The network waits for a device after each batch; in the "
            "last column another batch plays meanwhile, in two `Games` or in "
            "an engine's asynchronous mode.",
        ]
    )


# What happens when something dies


def faults_page(data):
    """The text of docs/faults.md, of whatever parts there are."""
    text = [
        "# What happens when something dies",
        "Written by `measure/report.py` of what `measure/chaos.py` saw.",
        f"{machine(data['machine'])}.",
    ]
    for part, describe in {
        "soak": describe_soak,
        "replace": describe_replace,
        "peers": describe_peers,
    }.items():
        if part in data:
            text += describe(data[part])
    return "\n\n".join(text) + "\n"


def mutants_section(data):
    """What `.ci/mutants` came to, as it was noted down."""
    survivors = "\n".join(f"- {one}" for one in data["survivors"])
    return (
        "\n## What the tests notice\n\n"
        f"{seen_on(data)}\n\n"
        f"Of {data['drawn']} single changes of `game.py`, drawn by "
        f"`.ci/mutants`, {data['tried']} were tried, and {data['noticed']} "
        "are noticed: 135 in that run, and six when all tests were run on "
        "each. The others change nothing that a caller relies on:\n\n"
        f"{survivors}\n"
    )


def seen_on(part):
    """When a part was looked at, and with which code."""
    return f"*{part['date']}, `game.py` of commit {part['commit']}*"


def describe_soak(data):
    faults = data["faults"]
    number = sum(faults.values())
    kinds = ", ".join(f"{kind} {n}" for kind, n in sorted(faults.items()))
    memory = data["memory in MB, round by round"]
    rows = [["faults", f"**{number:,}**: {kinds}"]]
    for words, key in (
        ("calls without an answer", "no answer"),
        ("seconds that the longest step took", "longest step"),
        ("workers replaced", "replaced"),
        ("games reported as restarted by that", "games disturbed"),
        ("workers replaced without a fault", "replaced without a fault"),
        ("faults that were not noticed", "faults not noticed"),
        ("observations compared, those of all steps", "compared"),
        ("differences", "differences"),
    ):
        if key in data:
            rows.append([words, f"{data[key]:,}"])
    left = data["left"]["processes"], data["left"]["descriptors"]
    rows.append(
        ["processes and file descriptors left", "{}, {}".format(*left)]
    )
    first, last = f"{memory[0]:.0f} MB", f"{memory[-1]:.0f} MB"
    rounds = f"{first} after the first round, {last} after {len(memory)}"
    rows.append(["memory of the program", rounds])
    return [
        "## A soak",
        seen_on(data),
        f"{data['games']} games play {data['env steps']:,} steps in "
        f"{data['seconds']:,} seconds, which are {data['frames']:,} frames, "
        f"and {number:,} times something bad happens at random: a worker is "
        "killed, stopped or crashes, or a batch of actions is bad. Each game "
        "is compared with a `Game` that plays undisturbed.",
        table(["", ""], *rows),
    ]


def describe_replace(data):
    body = []
    for context, times in data["seconds"].items():
        cells = [f"{np.median(v):.2f} ({max(v):.2f})" for v in times.values()]
        body.append([f"`{context}`", *cells])
    return [
        "## What a replacement costs",
        seen_on(data),
        "The step that replaces workers takes longer by this, beside a plain "
        "start of a worker with as many games "
        f"({data['games to a worker']}). Medians of {data['rounds']} (and the "
        "most). For stopped workers the timeout "
        f"({data['timeout']} s) is not counted.",
        table(["seconds", "a plain start", *HITS], *body),
    ]


def describe_peers(data):
    body = []
    for fault, name in FAULTS.items():
        seen = [data["peers"][peer][fault] for peer in PEERS]
        body.append([name, *(in_words(each[0]) for each in seen)])
    dates = ", ".join(sorted(set(data["dates"].values())))
    return [
        "## The same faults elsewhere",
        seen_on(data | {"date": dates}),
        f"{data['games']} games, each with its own defaults; what the next "
        'calls did. The workers of EnvPool and of ALE are threads. "Hangs": '
        f"{data['hangs after']} s without a word.",
        table(["", *PEERS.values()], *body),
    ]


def in_words(seen):
    """What was seen of a fault, in a few words."""
    silence = "dies" if "ended" in seen else "hangs"
    if seen.get("hangs") == "stopped":
        silence = "stops"
    first = seen.get("step")
    if first is None:
        return "hangs" if silence == "hangs" else f"the program {silence}"
    told = {"told": "replaced and reported", "silent": "says nothing"}
    said = [told.get(first, f"`{first}`")]
    for call, name in ("next", "next step"), ("close", "`close`"):
        if call not in seen:
            said.append(f"{name} {silence}")
            break
        if seen[call] not in told:
            too = "too" if seen[call] == first else f"`{seen[call]}`"
            said.append(f"{name} {too}")
        elif call == "next":
            said.append("plays on")
    if seen.get("stay"):
        said.append(f"{seen['stay']} of {seen['workers']} workers stay")
    return ", ".join(said)


def faults_table(data):
    """README's table: what a fault does here and elsewhere, in short."""
    soak, peers, body = data["soak"], data["peers"]["peers"], []
    for fault in "killed", "stopped", "range", "short":
        cells = [in_words(peers[peer][fault][0]) for peer in PEERS]
        cells = [", ".join(cell.split(", ")[:2]) for cell in cells]
        body.append([FAULTS[fault], *cells])
    number = sum(soak["faults"].values())
    return "\n\n".join(
        [
            table(["", *PEERS.values()], *body),
            f"In a soak of {soak['frames']:,} frames with {number:,} faults, "
            f"{soak['replaced']:,} workers were replaced, and "
            f"{soak['compared']:,} observations were compared with those of "
            f"games that nobody disturbed: {soak['differences']} differed. "
            f"{soak['left']['processes']} processes were left "
            f"({soak['date']}).",
        ]
    )


# What is learned

SIDES = {"games": "`Games`", "wrappers": "CleanRL's wrappers"}


def machine_and_date(data):
    return f"{machine(data)}. {data['date']}."


def learning_page(curve, training, labml, notes):
    """The text of docs/learning.md: its words are in learning.template.md."""
    agent, share = notes["agent"], notes["training"]["share"]
    seconds = {  # (rounds, parts)
        side: np.array([one[side] for one in share["rounds"]])
        for side in SIDES
    }
    whole = seconds["wrappers"].sum(1) / seconds["games"].sum(1)
    games = seconds["wrappers"][:, 0] / seconds["games"][:, 0]
    learning = np.concatenate([each[:, 2] for each in seconds.values()])
    last = training[training.steps == training.steps.max()]
    verdict = "a step teaches as much on both"
    scores = last.groupby("side").score
    if scores.min().max() > scores.max().min():
        verdict = "the two sides' ranges don't overlap"
    text = (common.HERE / "learning.template.md").read_text("utf-8")
    return text.format(
        agent=agent,
        film=agent["film"],
        frames=4 * agent["steps"],
        hours=sum(agent["seconds"].values()) / 3600,
        score=curve.score.iloc[-1],
        tester=TESTER,
        scores=scores_of(agent),
        agent_machine=machine_and_date(agent),
        share=share,
        options="--bfloat16" if share["bfloat16"] else "--seed 0",
        rounds=len(share["rounds"]),
        parts=parts_of(seconds),
        whole=spread(whole),
        whole_median=np.median(whole),
        games=spread(games),
        games_median=np.median(games),
        least=learning.min(),
        most=learning.max(),
        seeds=last.seed.nunique(),
        learned=learned_in(last),
        verdict=verdict,
        share_machine=machine_and_date(share),
        labml=labml.iloc[-1],
        labml_hours=labml.seconds.iloc[-1] / 3600,
        labml_machine=machine_and_date(notes["labml"]),
    )


def scores_of(agent):
    """A table of whole games, in both ways to play them."""
    scores = agent["scores"]
    rows = [
        [way, f"{np.mean(each):.1f}", f"{min(each):.0f}–{max(each):.0f}"]
        for way, each in (
            (
                '`on_life_loss="continue", fire_on_reset=True`, as it learned',
                scores["served"],
            ),
            ('`on_life_loss="ignore"`, serving by itself', scores["alone"]),
        )
    ]
    return table([f"{len(scores['served'])} games", "mean", "range"], *rows)


def parts_of(seconds):
    """A table of what an update's time is made of, on each side."""
    rows = []
    for side, name in SIDES.items():
        parts = np.median(seconds[side], axis=0)
        cells = [f"{part:.2f} s ({part / parts.sum():.0%})" for part in parts]
        update = np.median(seconds[side].sum(axis=1))
        rows.append([name, *cells, f"{update:.2f} s"])
    head = ["an update", "games", "network while playing", "learning", "all"]
    return table(head, *rows)


def learned_in(last):
    """A table of the last scores, of each side and seed."""
    rows = []
    for side, name in SIDES.items():
        scores = last[last.side == side].sort_values("seed").score
        each = ", ".join(f"{score:,.0f}" for score in scores)
        rows.append([name, f"{scores.mean():,.0f}", each])
    title = last.env_id.iloc[0].removesuffix("NoFrameskip-v4")
    after = f"{title}, after {last.steps.max():,} steps"
    return table([after, "mean", "each seed"], *rows)


def of_the_film(agent):
    """What README says below the film."""
    served = agent["scores"]["served"]
    return (
        "Left, a whole game of the agent that `examples/ppo.py` has trained: "
        f"{agent['film']['reward']:.0f} points, where {np.mean(served):.1f} "
        f"are its mean of {len(served)} games ([more](docs/learning.md)). "
        "Right, what eight random players saw when they last hit a brick."
    )


# All of it


def speed_report(results, docs):
    data = common.read(results / "benchmark.json")
    if {"whole", "count", "network"} <= data.keys():
        charts.draw_speeds(data, docs)
    (docs / "speed.md").write_text(speed_page(data), "utf-8")
    return "speed", lambda: speed_table(data)


def faults_report(results, docs):
    data = common.read(results / "chaos.json")
    page = faults_page(data)
    mutants = results / "mutants.json"
    if mutants.exists():
        page += mutants_section(common.read(mutants))
    (docs / "faults.md").write_text(page, "utf-8")
    return "faults", lambda: faults_table(data)


def learning_report(results, docs):
    names = "agent", "training", "labml"
    curves = [pd.read_csv(results / f"{name}.csv") for name in names]
    notes = {name: common.read(results / f"{name}.json") for name in names}
    charts.draw_learning(*curves, docs)
    page = learning_page(*curves, notes)
    (docs / "learning.md").write_text(page, "utf-8")
    return "agent", lambda: of_the_film(notes["agent"])


REPORTS = {
    "speed": speed_report,
    "faults": faults_report,
    "learning": learning_report,
}


def put(path, name, text):
    """Write `text` between README's marks of that name."""
    start, end = f"<!-- {name} -->", f"<!-- /{name} -->"
    old = path.read_text("utf-8")
    if start not in old or end not in old:
        raise SystemExit(f"{path.name} has no {start} … {end}")
    before, after = old.split(start)[0], old.split(end)[1]
    path.write_text(f"{before}{start}\n\n{text}\n\n{end}{after}", "utf-8")


def main():
    parser = common.Parser(__doc__)
    choices = [*REPORTS, []]
    parser.add_argument("what", nargs="*", choices=choices, metavar="PAGE")
    trial = "of runs/measure, into runs/measure"
    parser.add_argument("--trial", action="store_true", help=trial)
    args = parser.parse_args()
    results, docs = common.RESULTS, common.ROOT / "docs"
    if args.trial:
        results = docs = common.RUNS
    for name in args.what or REPORTS:
        mark, text = REPORTS[name](results, docs)
        if not args.trial:
            put(common.ROOT / "README.md", mark, text())


if __name__ == "__main__":
    main()
