"""The numbers that were measured, as `notes.md` names them."""

import csv
import json
from collections import defaultdict
from pathlib import Path
from statistics import mean, median

HERE = Path(__file__).resolve().parent
RESULTS = HERE.parent / "measure/results"
FACTS = RESULTS / "facts.json"
IN_LOCKSTEP = "ale", "envpool"  # what `Games` is compared with
IN_TURN = "ale_2", "ale_3", "envpool_2", "envpool_3"
HOW_MANY = "none", "one", "two", "three", "all"


def measured():
    """All that is in the files, and what follows from it."""
    files = {
        file.stem: json.loads(file.read_text())
        for file in RESULTS.glob("*.json")
    }
    learned = learning(files["agent"])
    return files | files["facts"] | speeds(files["benchmark"]) | learned


def speeds(benchmark):
    """How fast eight whole games are, and how many times as fast as others."""
    times, columns = {}, benchmark["whole"]["columns"]
    for title, arms in columns.items():
        speed = {name: median(arm["speed"]) for name, arm in arms.items()}
        times[title] = {
            "engine": speed["games"] / max(map(speed.get, IN_LOCKSTEP)),
            "turn": speed["games_2"] / max(map(speed.get, IN_TURN)),
            "gymnasium": speed["games"] / speed["gymnasium"],
            "labml": speed["games"] / speed["labml"],
        }
    ahead = {}
    for way in "engine", "turn":
        ahead[way] = HOW_MANY[sum(one[way] > 1 for one in times.values())]
    speed = median(columns["Breakout"]["games"]["speed"])
    minutes = round(10e6 / speed / 60)
    return dict(times=times, ahead=ahead, speed=speed, ten_million=minutes)


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
        "agent_hours": sum(agent["seconds"].values()) / 3600,
        "agent_games": len(scores),
        "agent_mean": mean(scores),
        "agent_least": min(scores),
        "agent_most": max(scores),
        "krull": krull,
        "krull_steps": steps,
    }
