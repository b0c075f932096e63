"""The numbers that were measured, as `notes.md` names them."""

import csv
import json
import sys
from collections import defaultdict
from pathlib import Path
from statistics import mean, median

# What the instruments publish of speeds is published here, too.
sys.path.append(str(Path(__file__).resolve().parents[1] / "measure"))
import ratios

HERE = Path(__file__).resolve().parent
RESULTS = HERE.parent / "measure/results"
FACTS = RESULTS / "facts.json"


def measured():
    """All that is in the files, and what follows from it."""
    files = {
        file.stem: json.loads(file.read_text())
        for file in RESULTS.glob("*.json")
    }
    compared = ratios.published(files["benchmark"])
    speed = compared["lockstep"]["quiet"]["speed"]
    lockstep = files["benchmark"]["lockstep"]["columns"]["Breakout"]
    speeds, limits = (lockstep[name]["speed"] for name in ("games", "limit"))
    replaced = files["chaos"]["replace"]["seconds"]
    return {
        **files,
        **files["facts"],
        **learning(files["agent"]),
        "race": race(),
        "beside": compared,
        "speed": speed,
        "slowest": min(speeds),
        "fastest": max(speeds),
        "emulator": 100 * median(ratios.ratios(speeds, [limits])),
        "ten_million": round(10e6 / speed / 60),
        "replacing": median(replaced["fork"]["killed"]),
        "chaos_minutes": files["chaos"]["soak"]["seconds"] / 60,
        **updates(files["training"]["share"]["rounds"]),
        "choice": ratios.table(compared),
    }


def race():
    """How many milliseconds a step takes on both sides of the race."""
    sides = json.loads((HERE / "data/race.json").read_text())
    totals = {
        name: sides[name]["program"][-1][1] for name in ("workers", "games")
    }
    return totals | {"steps": sides["steps"]}


def updates(rounds):
    """How long an update takes, its games too, here and on CleanRL's wrappers.

    `update` says how many times as fast it is here.
    """
    sides = "games", "wrappers"
    spent = {side: [parts[side] for parts in rounds] for side in sides}
    whole = {side: [sum(parts) for parts in spent[side]] for side in sides}
    return {
        "updates": {side: median(whole[side]) for side in sides},
        "played": {side: median(x for x, *_ in spent[side]) for side in sides},
        "update": ratios.spread(
            ratios.ratios(whole["wrappers"], [whole["games"]])
        ),
    }


def learning(agent):
    """What the agent of the film makes, and what its peers made of Krull."""
    scores = agent["scores"]["served"]
    rows = (RESULTS / "training.csv").read_text().splitlines()
    points = defaultdict(list)
    for row in csv.DictReader(rows):
        points[row["side"], int(row["steps"])].append(float(row["score"]))
    steps = max(steps for _, steps in points)
    krull = {}
    for side in "games", "wrappers":
        made = points[side, steps]
        spread = f"({min(made):,.0f} to {max(made):,.0f})"
        krull[side] = f"{mean(made):,.0f} {spread}"
    return {
        "agent_games": len(scores),
        "agent_hours": sum(agent["seconds"].values()) / 3600,
        "agent_playing": agent["seconds"]["games"] / 3600,
        "agent_mean": mean(scores),
        "agent_least": min(scores),
        "agent_most": max(scores),
        "krull": krull,
        "krull_steps": steps,
    }
