"""Write the pages of docs/ and README's tables from what is published.

    pip install -r requirements.txt --group measure
    python measure/report.py
    python measure/report.py --trial   # with your own runs, into runs/measure

Measures nothing: what is in measure/results is put into the tables and charts
of `templates`. With --trial, parts that are in runs/measure stand in the place
of those published, and README stays as it is.
"""

import argparse
import re

import numpy as np
import pandas as pd

import charts
import common
from benchmark import ENGINES, IN_TURN, LOCKSTEP, batches, best
from chaos import FAULTS, HITS, PEERS
from charts import TESTER, ratios

TEMPLATES = common.HERE / "templates"
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


def table(head, body):
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


def speed_values(data):
    """What stands in speed.md."""
    parts = {name: data[name] for name in data if name != "machine"}
    columns = {name: part["columns"] for name, part in parts.items()}
    rules = "whole", "restart", "continue"
    return {
        "machine": machine(data["machine"]),
        "threads": "; ".join(map(threads, ENGINES, columns["tune"].values())),
        "how": {name: how(part) for name, part in parts.items()},
        "lockstep": {rule: shares(columns[rule], {1}) for rule in rules},
        "turn": {rule: shares(columns[rule], {2, 3}) for rule in rules},
        "network": speeds(columns["network"]),
        "times": times(columns["network"]),
        "count": counts(columns["count"]),
        "rounded": rounded(columns["network"]),
        "benchmark": data,
    }


def threads(name, column):
    options = best(column)["options"]
    games = f"{NAMES[name]}, {options['num_envs']} games"
    return f"{games}: {options['threads']} threads"


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


def rows(columns, cell, flying=(1, 2, 3)):
    """A row for each contender, of those with so many batches in flight."""
    first = next(iter(columns.values()))
    return [
        [
            NAMES[name],
            "" if name == "limit" else str(8 * batches(name)),
            *(cell(column, name) for column in columns.values()),
        ]
        for name in NAMES
        if name in first and batches(name) in flying
    ]


def speed(column, name):
    return f"{np.median(column[name]['speed']):,.0f}"


def share(column, name):
    if name == "limit":
        return f"{speed(column, name)} steps/s"
    return spread(ratios(column, name, "limit"))


def ahead(column, ours):
    """One of ours beside the best of those with as many batches in flight."""
    rivals = [
        name
        for name in [*LOCKSTEP, *IN_TURN]
        if name in column and batches(name) == batches(ours)
    ]
    fastest = max(rivals, key=lambda name: np.median(column[name]["speed"]))
    return spread(ratios(column, ours, fastest))


def shares(columns, flying):
    """Each one's share of the limit, and how much faster ours are."""
    body = rows(columns, share, flying)
    for ours in "games", "games_2", "games_3":
        if batches(ours) in flying:
            cells = [f"**{ahead(c, ours)}**" for c in columns.values()]
            words = "times as fast as the best of the others"
            body.append([f"**{NAMES[ours]}, {words}**", "", *cells])
    if 1 in flying and "games_true" in next(iter(columns.values())):
        words = "`Games`, times as fast as without snapshots"
        body.append([words, "", *beside(columns, "games", "games_true")])
    return table(["share of the limit", "games in flight", *columns], body)


def beside(columns, name, base):
    return [spread(ratios(column, name, base)) for column in columns.values()]


def speeds(columns):
    head = ["steps/s", "games in flight", *columns]
    return table(head, rows(columns, speed))


def times(columns):
    """Who is how much faster beside a network."""
    body = [
        [
            f"{NAMES[ours]} beside the best engine",
            *(ahead(column, ours) for column in columns.values()),
        ]
        for ours in ("games", "games_2", "games_3")
    ]
    in_turn = beside(columns, "games_2", "games")
    body.append(["two `Games` in turn beside one", *in_turn])
    return table(["times as fast", *columns], body)


def counts(columns):
    def memory(column, name):
        return f"{column[name]['memory']:,.0f}"

    body = [
        [f"{name}, {unit}", *cells]
        for unit, cell in (("steps/s", speed), ("MB", memory))
        for name, _, *cells in rows(columns, cell)
    ]
    return table(["games", *columns], body)


def rounded(columns):
    """README's table: Breakout in round numbers."""

    def about(column, name):
        if name not in columns[column]:
            return "–"
        middle = np.median(columns[column][name]["speed"])
        return f"{round(middle, -2):,.0f}"

    body = [
        [
            NAMES[name],
            about("no network", name),
            about("waits 1.5 ms", name),
            about("waits 1.5 ms", f"{name}_2"),
        ]
        for name in ("games", *LOCKSTEP)
    ]
    network = ["and a network of 1.5 ms", "two batches of 8 in turn"]
    return table(["Breakout, steps/s", "8 games", *network], body)


# What happens when something dies

SOAK = {
    "no answer": "calls without an answer",
    "longest step": "seconds that the longest step took",
    "replaced": "workers replaced",
    "games disturbed": "games reported as restarted by that",
    "replaced without a fault": "workers replaced without a fault",
    "faults not noticed": "faults that were not noticed",
    "compared": "observations compared, those of all steps",
    "differences": "differences",
}


def faults_values(data, mutants):
    """What stands in faults.md."""
    peers = data["peers"]["peers"]
    seen = {
        name: [in_words(peers[peer][fault][0]) for peer in PEERS]
        for fault, name in FAULTS.items()
    }
    return {
        **data,
        "machine": machine(data["machine"]),
        "number": sum(data["soak"]["faults"].values()),
        "soaked": soaked(data["soak"]),
        "replaced": replaced(data["replace"]["seconds"]),
        "seen": seen_by(seen),
        "seen_in_short": seen_by(
            {
                name: [", ".join(cell.split(", ")[:2]) for cell in cells]
                for name, cells in seen.items()
            }
        ),
        "mutants": mutants,
        "survivors": "\n".join(f"- {one}" for one in mutants["survivors"]),
    }


def soaked(data):
    faults = data["faults"]
    kinds = ", ".join(f"{kind} {n}" for kind, n in sorted(faults.items()))
    left = "{processes}, {descriptors}".format(**data["left"])
    memory = data["memory in MB, round by round"]
    rounds = (
        f"{memory[0]:.0f} MB after the first round, "
        f"{memory[-1]:.0f} MB after {len(memory)}"
    )
    body = [
        ["faults", f"**{sum(faults.values()):,}**: {kinds}"],
        *([words, f"{data[k]:,}"] for k, words in SOAK.items() if k in data),
        ["processes and file descriptors left", left],
        ["memory of the program", rounds],
    ]
    return table(["", ""], body)


def replaced(contexts):
    body = [
        [
            f"`{context}`",
            *(f"{np.median(v):.2f} ({max(v):.2f})" for v in times.values()),
        ]
        for context, times in contexts.items()
    ]
    return table(["seconds", "a plain start", *HITS], body)


def seen_by(faults):
    body = [[name, *cells] for name, cells in faults.items()]
    return table(["", *(NAMES[peer] for peer in PEERS)], body)


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


# What is learned

SIDES = "games", "wrappers"


def learning_values(curve, training, labml, notes):
    """What stands in learning.md."""
    agent, share = notes["agent"], notes["training"]["share"]
    games, wrappers = (
        np.array([one[side] for one in share["rounds"]]) for side in SIDES
    )  # (rounds, parts)
    last = training[training.steps == training.steps.max()]
    return {
        "agent": agent,
        "agent_machine": machine(agent),
        "film": agent["film"],
        "frames": 4 * agent["steps"],
        "hours": sum(agent["seconds"].values()) / 3600,
        "score": curve.score.iloc[-1],
        "tester": TESTER,
        "games_played": len(agent["scores"]["served"]),
        "served": summary(agent["scores"]["served"]),
        "alone": summary(agent["scores"]["alone"]),
        "share": share | {"rounds": len(share["rounds"])},
        "share_machine": machine(share),
        "parts": {"games": parts(games), "wrappers": parts(wrappers)},
        "whole": summary(wrappers.sum(1) / games.sum(1)),
        "games": summary(wrappers[:, 0] / games[:, 0]),
        "learning": summary([*games[:, 2], *wrappers[:, 2]]),
        "title": last.env_id.iloc[0].removesuffix("NoFrameskip-v4"),
        "last_step": last.steps.max(),
        "seeds": last.seed.nunique(),
        "learned": {
            side: learned(last[last.side == side].sort_values("seed").score)
            for side in SIDES
        },
        "labml": labml.iloc[-1],
        "labml_run": notes["labml"],
        "labml_machine": machine(notes["labml"]),
        "labml_hours": labml.seconds.iloc[-1] / 3600,
    }


def summary(values):
    """Among others the least, the median (`50%`), the mean and the most."""
    return pd.Series(values).describe()


def parts(seconds):
    """Cells: what an update's time is made of, and all of it."""
    middle = np.median(seconds, axis=0)
    cells = [f"{part:.2f} s ({part / middle.sum():.0%})" for part in middle]
    return " | ".join([*cells, f"{np.median(seconds.sum(axis=1)):.2f} s"])


def learned(scores):
    """Cells: the mean of the last scores, and that of each seed."""
    each = ", ".join(f"{score:,.0f}" for score in scores)
    return f"{scores.mean():,.0f} | {each}"


# All of it


def main():
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--trial", action="store_true", help="see above")
    args = parser.parse_args()
    docs = common.RUNS if args.trial else common.ROOT / "docs"
    text = write(docs, args.trial)
    if not args.trial:
        put(common.ROOT / "README.md", text)


def write(docs, trial=False):
    """Write pages and charts; return README's parts."""

    def read(name):
        data = common.read(common.RESULTS / name)
        return data | common.read(common.RUNS / name) if trial else data

    def curve(name):
        own = common.RUNS / name
        return pd.read_csv(
            own if trial and own.exists() else common.RESULTS / name
        )

    learners = "agent", "training", "labml"
    curves = [curve(f"{name}.csv") for name in learners]
    notes = {name: read(f"{name}.json") for name in learners}
    benchmark = read("benchmark.json")
    charts.draw_speeds(benchmark, docs)
    charts.draw_learning(*curves, docs)
    values = {
        "speed": speed_values(benchmark),
        "faults": faults_values(read("chaos.json"), read("mutants.json")),
        "learning": learning_values(*curves, notes),
    }
    for name, each in values.items():
        template = (TEMPLATES / f"{name}.md").read_text("utf-8")
        (docs / f"{name}.md").write_text(template.format(**each), "utf-8")
    template = (TEMPLATES / "README.md").read_text("utf-8")
    return template.format(
        **values["learning"] | values["faults"] | values["speed"]
    )


def put(readme, text):
    """Put README's parts in place of those between the same marks."""
    old = readme.read_text("utf-8")
    for block, mark in re.findall(
        r"(<!-- (\w+) -->.*<!-- /\2 -->)", text, re.S
    ):
        start, end = f"<!-- {mark} -->", f"<!-- /{mark} -->"
        before, after = old.split(start)[0], old.split(end)[1]
        old = before + block + after
    readme.write_text(old, "utf-8")


if __name__ == "__main__":
    main()
