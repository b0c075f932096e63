"""The numbers that were measured, as `notes.md` names them."""

import csv
import json
from pathlib import Path
from statistics import mean, median

HERE = Path(__file__).resolve().parent
RESULTS = HERE.parent / "measure/results"
FACTS = RESULTS / "facts.json"
FILES = [
    FACTS,
    RESULTS / "agent.json",
    RESULTS / "differences.json",
    RESULTS / "benchmark.json",
    RESULTS / "chaos.json",
    RESULTS / "step_time.json",
]
IN_LOCKSTEP = "ale", "envpool"  # what `Games` is compared with
IN_TURN = "ale_2", "ale_3", "envpool_2", "envpool_3"
HOW_MANY = "none", "one", "two", "three", "all"


def measured():
    """All that is in the files, and what follows from it."""
    files = {file.stem: json.loads(file.read_text()) for file in FILES}
    return {
        **files,
        **files["facts"],
        **speeds(files["benchmark"]["whole"]["columns"]),
        **learning(files["agent"]),
    }


def speeds(columns):
    """How fast eight whole games are, and how many times as fast as others."""
    times = {}
    for title, arms in columns.items():
        speed = {name: median(arm["speed"]) for name, arm in arms.items()}
        times[title] = {
            "engine": speed["games"] / max(map(speed.get, IN_LOCKSTEP)),
            "turn": speed["games_2"] / max(map(speed.get, IN_TURN)),
            "gymnasium": speed["games"] / speed["gymnasium"],
            "labml": speed["games"] / speed["labml"],
        }
    ahead = {
        way: HOW_MANY[sum(one[way] > 1 for one in times.values())]
        for way in ("engine", "turn")
    }
    speed = median(columns["Breakout"]["games"]["speed"])
    minutes = round(10e6 / speed / 60)
    return dict(times=times, ahead=ahead, speed=speed, ten_million=minutes)


def learning(agent):
    """What the agent of the film makes, and what its peers made of Krull."""
    scores = agent["scores"]["served"]
    with (RESULTS / "training.csv").open() as file:
        rows = list(csv.DictReader(file))
    steps = rows[-1]["steps"]
    krull = {}
    for side in "games", "wrappers":
        points = [
            float(row["score"])
            for row in rows
            if (row["side"], row["steps"]) == (side, steps)
        ]
        least, most = min(points), max(points)
        krull[side] = f"{mean(points):,.0f} ({least:,.0f} to {most:,.0f})"
    return {
        "agent_hours": sum(agent["seconds"].values()) / 3600,
        "agent_games": len(scores),
        "agent_mean": mean(scores),
        "agent_least": min(scores),
        "agent_most": max(scores),
        "krull": krull,
        "krull_steps": int(steps),
    }
