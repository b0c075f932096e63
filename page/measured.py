"""The numbers that were measured, as `notes.md` names them."""

import csv
import json
import re
import sys
from pathlib import Path
from statistics import mean, median

# What the instruments publish of speeds is published here, too.
sys.path.append(str(Path(__file__).resolve().parents[1] / "measure"))
import ratios

HERE = Path(__file__).resolve().parent
RESULTS = HERE.parent / "measure/results"
FACTS = RESULTS / "facts.json"
AGENTS = "agent", "agent_1", "agent_2"
WALL = 6 * 18 * 4  # points: rows, bricks, and what a brick scores on average


def measured():
    """All that is in the files, and what follows from it."""
    files = {
        file.stem: json.loads(file.read_text())
        for file in RESULTS.glob("*.json")
    }
    compared = ratios.published(files["benchmark"])
    replaced = files["chaos"]["replace"]["seconds"]
    alone = hours_of(files["training"]["share"], "turns")
    slowest = hours_of(files["float32"]["share"], "turns")
    others = [rounded(agent["breakout"]) for agent in files["field"]["agents"]]
    found = {
        **files,
        **files["facts"],
        "agents": [
            whole_games(files[name]["scores"]["served"]) for name in AGENTS
        ],
        "still_games": whole_games(files["still"]["still"]),
        "agent_hours": [
            sum(files[name]["seconds"].values()) / 3600 for name in AGENTS
        ],
        "wall": WALL,
        "young_steps": recorded("young")["trained"] / 1e6,
        "trained": [float(curve(name)[-1]["score"]) for name in AGENTS],
        "known": others,
        "race": race(),
        "ahead": ratios.beside(files["single"]["long"]),
        "xeon": ratios.beside(files["single_xeon"]["long"]),
        "sticky": ratios.beside(files["sticky"]["sticky"]),
        "titles": {
            title: ratios.beside(files["titles"]["titles"], column=title)
            for title in files["titles"]["titles"]["columns"]
        },
        "played": ratios.beside(files["benchmark"]["agent"]),
        "many": ratios.by_games(files["cores"]["cores"]),
        "beside": compared,
        "replacing": {
            context: median(replaced[context]["killed"])
            for context in ("fork", "forkserver")
        },
        "first_update": {
            **ratios.updates(files["stock_xeon"]["share"]["rounds"]),
            **ratios.updates(files["sb3_updates"]["first"]),
        },
        "trained_update": {
            **ratios.updates(files["trained"]["share"]["rounds"]),
            **ratios.updates(files["sb3_updates"]["trained"]),
        },
        "gpu_update": {
            **ratios.updates(files["gpu"]["8"]["rounds"]),
            **ratios.updates(files["sb3_gpu"]["first"]),
        },
        "gpu_trained": ratios.updates(files["sb3_gpu"]["trained"]),
        "gpu_hours": hours_of(files["gpu"]["8"], "turns"),
        "alone_hours": alone,
        "slower_hours": hours_of(files["stock"]["share"], "games"),
        "float32_hours": slowest,
        "learned": learned(),
        "pong": [
            whole_games(files[name]["scores"]["served"])
            | {"minutes": sum(files[name]["seconds"].values()) / 60}
            for name in ("pong_64", "pong_gpu")
        ],
    }
    found["medians"] = {
        part: {name: median_of(told) for name, told in found[part].items()}
        for part in ("played", "trained_update", "gpu_trained")
    }
    return found


def recorded(name):
    """What a figure that moves shows."""
    return json.loads((HERE / f"data/{name}.json").read_text())


def race():
    """How many milliseconds a step takes on both sides of the race."""
    sides = recorded("race")
    workers, games = (
        sides[side]["program"][-1][1] for side in ("workers", "games")
    )
    return {
        "workers": workers,
        "games": games,
        "steps": sides["steps"],
        "processor": sides["machine"]["processor"].replace("(R)", ""),
    }


def median_of(told):
    """The median of a ratio in words, without its range."""
    level, number = re.match(r"(level, )?([\d.]+)", told).groups()
    return "no clear gain" if level else f"{number}×"


def rounded(score):
    """A score, and behind "±" how far it varies, without decimals."""
    numbers = [f"{float(one):.0f}" for one in score.split(" ± ")]
    return "\u00a0±\u00a0".join(numbers)


def hours_of(share, side):
    """How long 1 and 10 million steps take by the median of the updates."""
    pace = median(seconds(share, side)) / share["steps"] / 3600
    return [1e6 * pace, 10e6 * pace]


def seconds(share, side):
    """What each update of a side took."""
    return [sum(parts[side]) for parts in share["rounds"]]


def curve(name):
    """The rows that were written while agents were trained."""
    text = (RESULTS / f"{name}.csv").read_text()
    return list(csv.DictReader(text.splitlines()))


def learned():
    """What agents have learned at the end, by title and side: all seeds."""
    ends = {}
    for row in curve("training"):  # of which the last of each agent stays
        ends[row["title"], row["side"], row["seed"]] = row
    found = {}
    for (title, side, _), row in ends.items():
        steps = int(row["steps"])
        here = found.setdefault(title, {"steps": steps})
        here.setdefault(side, []).append(float(row["score"]))
    for sides in found.values():
        for side in ("games", "wrappers"):
            sides[f"{side}_told"] = told(sides[side])
    return found


def told(scores):
    """The mean of several seeds, and each."""
    digits = 0 if mean(scores) > 100 else 1
    each = ", ".join(f"{score:,.{digits}f}" for score in scores)
    return f"{mean(scores):,.{digits}f} ({each})"


def whole_games(scores):
    """What is said of an agent's scores."""
    return {
        "games": len(scores),
        "mean": mean(scores),
        "least": min(scores),
        "most": max(scores),
    }
