"""Write the pages of docs/ and README's tables from what is published.

    pip install -r requirements.txt --group measure
    python measure/report.py
    python measure/report.py --trial   # with your own runs, into runs/measure

Measures nothing: what is in measure/results is put into the tables of
`templates`, and drawn. With --trial, parts that are in runs/measure stand in
the place of those published, and README stays as it is.
"""

import re

import numpy as np
import pandas as pd

import charts
import common
from benchmark import COLUMNS, IN_TURN, LOCKSTEP, OURS_IN_TURN, batches, best
from charts import TESTER, rounds

TEMPLATES = common.HERE / "templates"


def cells(table, words):
    """Of each row the cells for Markdown, in these words."""
    return table.map(words).agg(" | ".join, axis=1)


def spread(values):
    """The median and the range."""
    low, high = min(values), max(values)
    return f"{np.median(values):.2f} ({low:.2f}–{high:.2f})"


def middle(values):
    return f"{np.median(values):,.0f}"


def machine(data):
    """What something was measured on."""
    versions = ", ".join(f"{k} {v}" for k, v in data["versions"].items())
    cores = f"{data['cores']} cores ({data['processor']})"
    return f"{cores}, Python {data['python']}, {versions}"


# How fast


def speed_values(data):
    """What stands in speed.md."""
    parts = {name: data[name] for name in data if name != "machine"}
    speeds = {name: rounds(parts[name]["columns"]) for name in COLUMNS}
    memory = rounds(data["count"]["columns"], "memory")
    network = speeds["network"]
    rules = "whole", "restart", "continue"
    return {
        "machine": machine(data["machine"]),
        "benchmark": data,
        "how": {name: how(part) for name, part in parts.items()},
        "threads": {
            name: best(column)["options"]["threads"]
            for name, column in parts["tune"]["columns"].items()
        },
        "share": {rule: shares(speeds[rule]) for rule in rules},
        "ahead": {rule: ahead(speeds[rule]) for rule in rules},
        "snapshots": beside(speeds["restart"], "games", "games_true"),
        "network": cells(network, middle),
        "network_ahead": cells(ahead(network), str),
        "in_turn": beside(network, "games_2", "games"),
        "count": cells(speeds["count"], middle),
        "memory": cells(memory, middle),
        "about": network.map(lambda v: f"{round(np.median(v), -2):,.0f}"),
    }


def how(part):
    """How a part was measured, to stand beside its tables."""
    columns = part["columns"].values()
    others = [row["others"] for column in columns for row in column.values()]
    others = np.concatenate(others)
    return (
        f"*{part['rounds']} rounds of {part['seconds']} s, "
        f"{part['date']}, `game.py` of commit {part['commit']}; other "
        f"programs took less than {common.DISTURBED} of a core in "
        f"{np.mean(others < common.DISTURBED):.0%} of the measurements, "
        f"{others.max():.2f} at most*"
    )


def shares(speeds):
    """Each one's share of the limit, and the limit."""
    table = (speeds / speeds.loc["limit"]).map(spread)
    table.loc["limit"] = speeds.loc["limit"].map(middle) + " steps/s"
    return cells(table, str)


def ahead(speeds):
    """Ours beside the best of the others with as many batches in flight."""
    table = pd.DataFrame(columns=speeds.columns)
    for ours in ["games", *OURS_IN_TURN]:
        rivals = [
            name
            for name in [*LOCKSTEP, *IN_TURN]
            if name in speeds.index and batches(name) == batches(ours)
        ]
        fastest = speeds.loc[rivals].map(np.median).idxmax()
        table.loc[ours] = [
            spread(column[ours] / column[fastest[name]])
            for name, column in speeds.items()
        ]
    return table


def beside(speeds, name, base):
    return " | ".join((speeds.loc[name] / speeds.loc[base]).map(spread))


# What happens when something dies


def faults_values(data, mutants):
    """What stands in faults.md."""
    soak = data["soak"]
    faults = sorted(soak["faults"].items())
    memory = soak["memory in MB, round by round"]
    replaced = pd.DataFrame(data["replace"]["seconds"]).T
    seen = pd.DataFrame(data["peers"]["peers"])
    seen = seen.map(lambda times: in_words(times[0]))
    return {
        **data,
        "machine": machine(data["machine"]),
        "number": sum(number for _, number in faults),
        "kinds": ", ".join(f"{kind} {number}" for kind, number in faults),
        "memory": [memory[0], memory[-1]],
        "memories": len(memory),
        "replaced": cells(
            replaced, lambda v: f"{np.median(v):.2f} ({max(v):.2f})"
        ),
        "seen": cells(seen, str),
        "seen_in_short": cells(
            seen, lambda words: ", ".join(words.split(", ")[:2])
        ),
        "mutants": mutants,
        "survivors": "\n".join(f"- {one}" for one in mutants["survivors"]),
    }


def in_words(seen):
    """What was seen of a fault, in a few words."""
    silence = "hangs" if "hangs" in seen else "the program dies"
    if seen.get("hangs") == "stopped":
        silence = "the program stops"
    if "step" not in seen:
        return silence
    told = {"told": "replaced and reported", "silent": "says nothing"}
    first = seen["step"]
    said = [told.get(first, f"`{first}`")]
    if seen.get("next") in told:
        said.append("plays on")
    for call, name in ("next", "next step"), ("close", "`close`"):
        outcome = seen.get(call, silence)
        if outcome not in told:
            too = "too" if outcome == first else f"`{outcome}`"
            said.append(f"{name} {too}")
    if seen.get("stay"):
        said.append(f"{seen['stay']} of {seen['workers']} workers stay")
    return ", ".join(said)


# What is learned

SIDES = "games", "wrappers"
SHARED = "turns", *SIDES


def learning_values(curve, training, labml, pong, cores, notes):
    """What stands in learning.md."""
    agent, share = notes["agent"], notes["training"]["share"]
    spent = {  # (rounds, parts)
        side: np.array([one[side] for one in share["rounds"]])
        for side in SHARED
    }
    turns, games, wrappers = spent.values()
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
        "parts": {side: parts(each) for side, each in spent.items()},
        "update_in_turn": summary(games.sum(1) / turns.sum(1)),
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
        "pong": pong_values(pong, cores, notes["pong"]),
        "labml": labml.iloc[-1],
        "labml_run": notes["labml"],
        "labml_machine": machine(notes["labml"]),
        "labml_hours": labml.seconds.iloc[-1] / 3600,
    }


def pong_values(curve, cores, about):
    """What learning.md says of a run of Pong."""
    hours = curve[["games", "network", "learning"]].sum(axis=1) / 3600
    ahead = (curve.score > 0).idxmax()
    return about | {
        "machine": machine(about),
        "hours": hours.iloc[-1],
        "score": curve.score.iloc[-1],
        "speed": about["steps"] / hours.iloc[-1] / 3600,
        "others": cores.others.mean(),
        "ahead": curve.steps[ahead],
        "ahead_hours": hours[ahead],
        "games": len(about["scores"]["served"]),
        "served": summary(about["scores"]["served"]),
        "alone": summary(about["scores"]["alone"]),
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
    parser = common.parser(__doc__)
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

    learners = "agent", "training", "labml", "pong"
    curves = [curve(f"{name}.csv") for name in learners]
    notes = {name: read(f"{name}.json") for name in learners}
    benchmark = read("benchmark.json")
    cores = curve("pong_cores.csv")
    folder = docs / "charts"
    folder.mkdir(exist_ok=True)
    charts.draw_speeds(benchmark, folder)
    charts.draw_learning(*curves, cores, folder)
    values = {
        "speed": speed_values(benchmark),
        "faults": faults_values(read("chaos.json"), read("mutants.json")),
        "learning": learning_values(*curves, cores, notes),
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
