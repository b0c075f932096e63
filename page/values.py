"""The values of the pages: what was measured, in words and tables.

`values()` is a flat dict from names to Markdown, which templates write
as `{{ name }}`. `results` is what `read_results` returns: of each machine the
instruments, and of each instrument the parts that its file has.

Contenders take turns, so speeds are compared within a round. A comparison is
the median of the rounds' ratios; where their range touches 1, it is level.
"""

import csv
import json
from collections.abc import Mapping
from pathlib import Path
from statistics import mean, median
from typing import NamedTuple

RESULTS = Path(__file__).resolve().parent.parent / "measure/results"

# What tables call what the results have.
NAMES = {
    "games": "`Games`",
    "games_ready": "several `Games` in turn",
    "worker": "`Worker`",
    "ale": "ALE's engine",
    "ale_few": "ALE's engine, 3 batches",
    "ale_many": "ALE's engine, as many",
    "envpool": "EnvPool",
    "envpool_many": "EnvPool, as many",
    "gymnasium": "Gymnasium's `AsyncVectorEnv`",
    "gymnasium_single": "Gymnasium's `SyncVectorEnv`",
    "sb3": "SB3's `SubprocVecEnv`",
    "sb3_single": "SB3's `DummyVecEnv`",
}
UPDATES = {
    "envpool": "EnvPool",
    "wrappers": "CleanRL's wrappers, a process for each game",
    "single": "CleanRL's wrappers, all in one process",
    "sb3": "SB3's own PPO, under `SubprocVecEnv`",
}
TITLES = {
    "MsPacman": "Ms. Pac-Man",
    "CrazyClimber": "Crazy Climber",
    "ALE/Breakout-v5": "Breakout, sticky",
}
FAULTS = {
    "killed": "a worker is killed",
    "stopped": "a worker is stopped",
    "out of range": "an action is out of range",
    "missing": "an action is missing",
}
NETWORKS = {"waits": "waits", "computes": "computes", "none": "no network"}


class Learned(NamedTuple):
    """The score of the last hundred games, after some steps."""

    steps: int
    score: float


def curves(title: str) -> dict[str, list[Learned]]:
    """The curve of each agent of a title, by its seed."""
    return {
        path.stem.removeprefix(f"{title}-"): [
            Learned(int(row["steps"]), float(row["score"]))
            for row in read_rows(path)
        ]
        for path in sorted(RESULTS.glob(f"*/{title}-?.csv"))
    }


def read_rows(path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(path.read_text("utf-8").splitlines()))


def agents() -> Mapping:
    """What was measured of agents, by title and seed."""
    (path,) = RESULTS.glob("*/agents.json")
    return json.loads(path.read_text("utf-8"))


def read_results(folder=RESULTS):
    """All results: of each machine its instruments, and their parts."""
    results = {}
    for path in sorted(folder.glob("*/*.json")):
        parts = json.loads(path.read_text("utf-8"))
        results.setdefault(path.parent.name, {})[path.stem] = parts
    return results


def machines(results, instrument, prefix):
    """Of each machine the parts whose names begin so; the newest comes first.

    A name is "part, column"; the result is by columns, in the file's order.
    """
    found = []
    for instruments in results.values():
        parts = {
            name.partition(", ")[2]: part
            for name, part in instruments.get(instrument, {}).items()
            if name.partition(", ")[0] == prefix
        }
        if parts:
            found.append(parts)
    return sorted(found, key=lambda parts: max(dates(parts)), reverse=True)


def newest(results, instrument, name):
    """The newest result of a part that has no columns."""
    return first(machines(results, instrument, name)[0])


def dates(parts):
    return sorted(part["date"] for part in parts.values())


def first(parts):
    return next(iter(parts.values()))


# In words


def table(head, rows):
    """A Markdown table, without spaces that would count as words."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"|{'|'.join(map(str, line))}|" for line in lines)


def grid(corner, columns, names, cell):
    """A table whose columns and rows are looked up together.

    `columns` maps heads to data, `names` what a row is called there to its
    words; `cell(data, name)` is what stands where they meet.
    """
    rows = []
    for name, words in names.items():
        cells = [
            cell(column, name) if name in column else "–"
            for column in columns.values()
        ]
        rows.append([words, *cells])
    return table([corner, *columns], rows)


def title_name(title):
    return TITLES.get(title, title)


def is_level(values):
    return round(min(values), 2) <= 1 <= round(max(values), 2)


def spread(values):
    """The median and the range."""
    return f"{median(values):.2f} ({min(values):.2f}–{max(values):.2f})"


def in_short(values):
    """A comparison as one would say it."""
    if is_level(values):
        return "level"
    value = median(values)
    return f"{value:.2f}" if 0.9 <= value < 1.1 else f"{value:.1f}"


def in_short_range(comparisons):
    """From which to which of several comparisons; there may be none."""
    if not comparisons:
        return "–"
    least = in_short(min(comparisons, key=median))
    most = in_short(max(comparisons, key=median))
    return least if least == most else f"{least} to {most}"


def where(part):
    """On what something was measured."""
    gpu = f", {part['gpu']}" if part.get("gpu") else ""
    return f"{part['cores']} cores ({part['processor']}{gpu})"


def how(parts):
    """How and when parts were measured, to stand above their table."""
    rounds, commits = {}, {}
    for part in parts.values():
        rounds[f"{part['rounds']} rounds of {part['seconds']:g} s"] = True
        commits[part["commit"]] = True
    days = dict.fromkeys([dates(parts)[0], dates(parts)[-1]])
    return (
        f"{where(first(parts))}: {' or '.join(rounds)}, {' to '.join(days)}, "
        f"commit {', '.join(commits)}"
    )


def by_machine(found, write):
    """A table for each machine, below how it was measured."""
    tables = [f"{how(parts)}.\n\n{write(parts)}" for parts in found]
    return "\n\n".join(tables)


# How fast


def beside(rows, name, ours="games"):
    """The ratios of our speed to that of another, round by round."""
    speeds = zip(rows[ours]["speed"], rows[name]["speed"], strict=True)
    return [our_speed / speed for our_speed, speed in speeds]


def speed(rows, name):
    return f"{median(rows[name]['speed']):,.0f}"


def rows_of(parts):
    """What was measured, by titles as they are written."""
    return {title_name(title): part["rows"] for title, part in parts.items()}


def names_in(columns):
    """Who plays, as in the first column."""
    return {name: NAMES[name] for name in first(columns)}


def beside_or_speed(rows, name):
    if name == "games":
        return f"{speed(rows, name)} steps/s"
    return spread(beside(rows, name))


def comparison_table(parts):
    """`Games` beside everybody, with a column for each title."""
    columns = rows_of(parts)
    return grid("`Games` beside", columns, names_in(columns), beside_or_speed)


def speed_table(lockstep, wrappers):
    """README's table: who, and how many times as fast `Games` is."""
    two, most = lockstep_machines(lockstep)
    breakout = [two["Breakout"]["rows"], wrappers["Breakout"]["rows"]]
    others = [two[title]["rows"] for title in two if title != "Breakout"]
    columns = {
        f"Breakout, {first(two)['cores']} cores": breakout,
        "others": others,
        f"Breakout, {first(most)['cores']} cores": [most["Breakout"]["rows"]],
    }
    names = dict.fromkeys(name for rows in breakout for name in rows)
    lines = []
    for name in names:
        if name not in ("games", "worker"):
            cells = [
                in_short_range([beside(it, name) for it in each if name in it])
                for each in columns.values()
            ]
            lines.append([NAMES[name], *cells])
    return table(["`Games` beside", *columns], lines)


def lockstep_machines(lockstep):
    """The newest machine of two cores, and that of the most cores."""
    two = next(it for it in lockstep if first(it)["cores"] == 2)
    return two, max(lockstep, key=lambda parts: first(parts)["cores"])


def behind(parts):
    """In which titles `Games` is slower than an engine, and by how much."""
    found = []
    for name in ("ale", "envpool"):
        shares = {}
        for title, rows in rows_of(parts).items():
            compared = beside(rows, name)
            if median(compared) < 1 and not is_level(compared):
                shares[title] = f"{100 * (1 - median(compared)):.0f}\u00a0%"
        if shares:
            each = ", ".join(f"{title} ({shares[title]})" for title in shares)
            found.append(f"{NAMES[name]} in {each}")
    return " and ".join(found) or "no engine"


def measured_on(lockstep):
    """Where README's table was measured, and where we are behind."""
    places = lockstep_machines(lockstep)
    both = " and ".join(
        f"{where(first(parts))}, {dates(parts)[-1]}" for parts in places
    )
    return (
        f"Measured on {both}. On two cores it is behind {behind(places[0])}."
    )


def lockstep_table(parts):
    return f"{comparison_table(parts)}\n\nBehind {behind(parts)}."


def in_turn_table(parts):
    """Speeds of batches in flight, with a column for each network."""
    columns = {
        f"{title_name(title)}, {network}": part["rows"]
        for (title, network), part in parts.items()
    }
    speeds = grid("steps/s", columns, names_in(columns), speed)
    cells = [spread(beside_best(rows)) for rows in columns.values()]
    return f"{speeds}\n|**in turn, beside the fastest**|{'|'.join(cells)}|"


def beside_best(rows):
    """Several in turn beside the fastest of the asynchronous engines."""
    engines = [name for name in rows if not name.startswith("games")]
    best = max(engines, key=lambda name: median(rows[name]["speed"]))
    return beside(rows, best, "games_ready")


def in_turn(parts):
    """How many times as fast several in turn are beside a waiting network."""
    found = [median(beside_best(rows)) for rows in rows_of(parts).values()]
    return f"{min(found):.2f} to {max(found):.2f} times as fast as"


def speed_and_memory(rows, name):
    memory = rows[name].get("memory")
    used = f", {memory:.0f} MB" if memory else ""
    return speed(rows, name) + used


def number_table(parts):
    """Speeds and memory, with a column for each number of games."""
    columns = {f"{number} games": it["rows"] for number, it in parts.items()}
    return grid("steps/s", columns, names_in(columns), speed_and_memory)


# In training


def compared_updates(part):
    """Of each side how many times as fast an update is on `Games`."""
    sides = {}
    for name in UPDATES:
        ours = "sb3_games" if name == "sb3" else "games"
        if name in part["rounds"][0]:
            sides[name] = [
                sum(one[name]) / sum(one[ours]) for one in part["rounds"]
            ]
    return sides


def updates(results):
    """All parts that have updates, the newest first, with their agents."""
    found = [
        (part, name.partition(",")[0])
        for instruments in results.values()
        for name, part in instruments.get("updates", {}).items()
        if "rounds" in part
    ]
    return sorted(found, key=lambda it: it[0]["date"], reverse=True)


def updates_table(results):
    """How many times as fast an update is on `Games`, by agent and machine."""
    lines = {}
    for part, agent in updates(results):
        name = f"{agent} agent, {where(part)}, {part['games']} games"
        name += f", {part['date']}"
        lines.setdefault(name, {}).update(compared_updates(part))
    rows = []
    for name, sides in lines.items():
        cells = [spread(sides[it]) if it in sides else "–" for it in UPDATES]
        if sides:
            rows.append([name, *cells])
    return table(["", *UPDATES.values()], rows)


def time_of_an_update(results, gpu):
    """An update's time on `Games`, as a share of that on CleanRL's wrappers.

    To the next five percent, by the newest part that has both.
    """
    for part, agent in updates(results):
        if bool(part["gpu"]) == gpu and part["games"] == 8:
            ratio = compared_updates(part).get("wrappers")
            if ratio and (gpu or agent == "trained"):
                return f"{round(20 / median(ratio)) * 5}\u00a0%"
    raise LookupError("no updates beside CleanRL's wrappers")


def training_hours(results):
    """From which to which hours 10 million steps take on two cores."""
    hours = []
    for part, _ in updates(results):
        if part["cores"] == 2 and "games" in part["rounds"][0]:
            seconds = median(sum(one["games"]) for one in part["rounds"])
            hours.append(10e6 / part["steps"] * seconds / 3600)
    return f"{min(hours):.0f} to {max(hours):.0f}"


# When something dies


def in_words(peer, fault):
    """What was seen of a fault, in a few words."""
    seen = peer[fault]
    if "step" not in seen:
        return f"the program {seen['end']}"
    step, later = seen["step"], seen.get("next step", seen["end"])
    if step == "reports":
        return "replaced and reported"
    goes_on = "plays on" if later == "says nothing" else "no step works"
    if step == "says nothing":
        return f"{goes_on} in silence"
    return f"`{step}`, {goes_on}"


def fault_table(peers):
    """What everybody does; a row for each fault."""
    columns = {NAMES[peer]: seen for peer, seen in peers.items()}
    return grid("", columns, FAULTS, in_words)


def soak(part):
    counts = part["counts"]
    return (
        f"In {counts['steps']:,} steps {counts['replaced']} workers that were "
        "killed or stopped at random were replaced, and all else was, bit for "
        "bit, as in games that nobody disturbed."
    )


def start_costs(methods):
    """Seconds until everything has answered."""
    names = {key: key for key in first(methods) if "memory" not in key}
    return grid("seconds", methods, names, lambda it, key: f"{it[key]:.1f}")


def worker_memory(methods):
    words = [
        f"{taken['memory of a worker']} MB under {name}"
        for name, taken in methods.items()
    ]
    return f"A worker of `Games(8)` has {', '.join(words)} of its own."


def snapshots(parts):
    """Which titles don't play as a new emulator does after a restore."""
    tried = sum(part["tried"] for part in parts.values())
    differ = [
        f"{title} ({len(part['differ'])} of {part['tried']})"
        for title, part in parts.items()
        if part["differ"]
    ]
    return (
        f"{len(parts)} titles were played in {tried} combinations of mode and "
        "difficulty before the snapshot of the first reset was restored. "
        "Screens or memory then differed from those of a new emulator in "
        f"{', '.join(differ)}."
    )


# What agents learn


def whole_games(scores):
    """The mean of whole games, and the range."""
    return f"{mean(scores):.1f} ({min(scores):.0f} to {max(scores):.0f})"


def hours_of(part):
    return sum(part["seconds"].values()) / 3600


def agent_table(agents, title):
    """A row for each run: the end of its training, and whole games."""
    rows = [
        [
            name.removeprefix(f"{title}-").replace("-", ", "),
            f"{part['steps']:,}",
            f"{hours_of(part):.1f}",
            f"{part['last score']:.1f}",
            whole_games(part["scores"]["served"]),
            whole_games(part["scores"]["alone"]),
        ]
        for name, part in agents.items()
        if name.startswith(title)
    ]
    head = ["seed", "steps", "hours", "end of training", "as it learned"]
    return table([*head, "serving by itself"], rows)


def field_table(field, ours):
    """What others publish, and the agents here."""
    keys = ["name", "breakout", "pong", "seeds", "hours", "source"]
    rows = [[agent[key] for key in keys] for agent in field["agents"]]
    head = ["agent", "Breakout", "Pong", "seeds", "hours, Breakout", "source"]
    return table(head, [*rows, ours])


def equal_steps_table(curve):
    """The last scores of each title and side, seed by seed."""
    titles = {}
    for row in curve:  # of which the last of each agent stays
        name = f"{title_name(row['title'])}, {int(row['steps']):,}"
        sides = titles.setdefault(row["title"], {})
        sides.setdefault(row["side"], {})[row["seed"]] = float(row["score"])
        sides["name"] = name
    heads = {"games": "`Games`", "wrappers": "CleanRL's wrappers"}
    rows = [
        [sides["name"], *(seeds_in_words(sides[side]) for side in heads)]
        for sides in titles.values()
    ]
    return table(["title, steps", *heads.values()], rows)


def seeds_in_words(seeds):
    """The mean of some seeds, and each."""
    digits = 0 if mean(seeds.values()) > 100 else 1
    each = ", ".join(f"{score:,.{digits}f}" for score in seeds.values())
    return f"{mean(seeds.values()):,.{digits}f} ({each})"


def agent_values(agents, field):
    """The values of `agents.json`, whose parts are "TITLE-SEED"."""
    breakout = [it for name, it in agents.items() if "Breakout" in name]
    means = [f"{mean(it['scores']['served']):.0f}" for it in breakout]
    ends = [it["last score"] for it in breakout]
    end = f"{mean(ends):.1f} ({min(ends):.0f} to {max(ends):.0f})"
    pong = agents["Pong-0"]
    ours = [
        "**`ppo.py` here**",
        f"**{end}**",
        f"{pong['last score']:.1f} after 4 million steps",
        f"{len(breakout)}; Pong 1",
        ", ".join(f"{hours_of(it):.1f}" for it in breakout),
        "",
    ]
    first_agent = breakout[0]["scores"]
    return {
        "agent_points": f"{first_agent['film'][0]:.0f}",
        "agent_mean": f"{mean(first_agent['served']):.1f}",
        "still_mean": f"{mean(first_agent['still']):.1f}",
        "pong_mean": f"{mean(pong['scores']['served']):.1f}",
        "pong_minutes": f"{60 * hours_of(agents['Pong-1']):.0f}",
        "breakout_first_score": means[0],
        "breakout_scores": f"{', '.join(means[:-1])} and {means[-1]} points "
        f"in the mean of {len(first_agent['served'])} games each",
        "breakout_end": end,
        "breakout_table": agent_table(agents, "Breakout"),
        "pong_table": agent_table(agents, "Pong"),
        "field_table": field_table(field, ours),
        "field_date": field["date"],
        "agents_on": f"{where(breakout[0])}, {breakout[0]['date']}",
        "human": "31.8",  # DQN's professional tester (Mnih et al. 2015)
    }


# All of them


def values():
    """All values, by name."""
    (equal_steps,) = RESULTS.glob("*/equal-steps.csv")
    field = json.loads((RESULTS / "field.json").read_text("utf-8"))
    results = read_results()
    lockstep, wrappers, number = (
        machines(results, "benchmark", part)
        for part in ("lockstep", "wrappers", "number")
    )
    networks = {
        (title, words): part
        for network, words in NETWORKS.items()
        for title, part in machines(results, "benchmark", network)[0].items()
    }
    one_of = {
        name: it[name]
        for it in results.values()
        for name in ("agents", "snapshots")
        if name in it
    }
    methods = newest(results, "starts", "starts")["methods"]
    return {
        "speed_table": speed_table(lockstep, wrappers[0]),
        "measured_on": measured_on(lockstep),
        "lockstep": by_machine(lockstep, lockstep_table),
        "wrappers": by_machine(wrappers, comparison_table),
        "number": by_machine(number, number_table),
        "in_turn": in_turn(machines(results, "benchmark", "waits")[0]),
        "in_turn_table": by_machine([networks], in_turn_table),
        "updates_table": updates_table(results),
        "ppo_two_cores": time_of_an_update(results, gpu=False),
        "ppo_gpu": time_of_an_update(results, gpu=True),
        "breakout_hours": training_hours(results),
        "soak": soak(newest(results, "chaos", "soak")),
        "fault_table": fault_table(newest(results, "chaos", "peers")["peers"]),
        "start_costs": start_costs(methods),
        "worker_memory": worker_memory(methods),
        "snapshots": snapshots(one_of["snapshots"]),
        "equal_steps_table": equal_steps_table(read_rows(equal_steps)),
        **agent_values(one_of["agents"], field),
    }
