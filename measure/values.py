"""The values of the pages: what was measured, in words and tables.

`values(results)` is a flat dict from names to Markdown, which templates write
as `{{name}}`. `results` is what `read_results` returns: of each machine the
instruments, and of each instrument the parts that its file has.

Contenders take turns, so speeds are compared within a round. A comparison is
the median of the rounds' ratios; where their range touches 1, it is level.
"""

import json
from statistics import mean, median

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
    "labml": "labml's worker",
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
METHODS = {"preload": "forkserver, preloaded"}
NETWORKS = {"waits": "waits", "computes": "computes", "none": "no network"}


def read_results(folder):
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
            name.removeprefix(prefix).removeprefix(", "): part
            for name, part in instruments.get(instrument, {}).items()
            if name.split(", ")[0] == prefix
        }
        if parts:
            found.append(parts)
    return sorted(found, key=lambda it: max(dates(it)), reverse=True)


def newest(results, instrument, name):
    """The newest result of a part that has no columns."""
    return first(machines(results, instrument, name)[0])


def dates(parts):
    return [part["date"] for part in parts.values()]


def first(parts):
    return next(iter(parts.values()))


def with_cores(found, cores):
    """The newest of the machines that have so many cores."""
    return next((it for it in found if first(it)["cores"] == cores), None)


# In words


def table(head, rows):
    """A Markdown table, without spaces that would count as words."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"|{'|'.join(map(str, line))}|" for line in lines)


def title_name(title):
    return TITLES.get(title, title)


def ratios(ours, theirs):
    """Of each round the ratio of two speeds."""
    return [a / b for a, b in zip(ours, theirs, strict=True)]


def is_level(values):
    return round(min(values), 2) <= 1 <= round(max(values), 2)


def spread(values):
    """The median and the range."""
    return f"{median(values):.2f} ({min(values):.2f}–{max(values):.2f})"


def roughly(value):
    """A ratio as one would say it."""
    return f"{value:.2f}" if 0.9 <= value < 1.1 else f"{value:.1f}"


def in_short(values):
    """A comparison, rounded."""
    return "level" if is_level(values) else roughly(median(values))


def in_short_range(comparisons):
    """From which to which of several comparisons, rounded."""
    least = in_short(min(comparisons, key=median))
    most = in_short(max(comparisons, key=median))
    return least if least == most else f"{least} to {most}"


def where(part):
    """On what something was measured."""
    gpu = f" and an {part['gpu']}" if part.get("gpu") else ""
    return f"{part['cores']} cores of an {part['processor']}{gpu}"


def how(parts):
    """How and when parts were measured, to stand above their table."""
    rounds, commits = {}, {}
    for part in parts.values():
        rounds[f"{part['rounds']} rounds of {part['seconds']:g} s"] = True
        commits[part["commit"]] = True
    days = " to ".join(sorted({min(dates(parts)), max(dates(parts))}))
    return (
        f"{where(first(parts))}: {' or '.join(rounds)}, {days}, "
        f"commit {', '.join(commits)}"
    )


# How fast


def beside(rows, name, ours="games"):
    """The ratios of our speed to that of another, round by round."""
    return ratios(rows[ours]["speed"], rows[name]["speed"])


def speed(row):
    return f"{median(row['speed']):,.0f}"


def comparison_table(parts):
    """`Games` beside everybody, with a column for each title."""
    columns = [part["rows"] for part in parts.values()]
    rows = [["`Games`, steps/s", *(speed(it["games"]) for it in columns)]]
    for name in columns[0]:
        if name != "games":
            cells = [
                spread(beside(column, name)) if name in column else "–"
                for column in columns
            ]
            rows.append([f"beside {NAMES[name]}", *cells])
    return table(["", *map(title_name, parts)], rows)


def by_machine(found, write):
    """A table for each machine, below how it was measured."""
    tables = [f"{how(parts)}.\n\n{write(parts)}" for parts in found]
    return "\n\n".join(tables)


def speed_table(lockstep, wrappers):
    """README's table: who, and how many times as fast `Games` is."""
    two, more = lockstep_machines(lockstep)
    single = wrappers[0]["Breakout"]["rows"] if wrappers else {}
    cores = first(two)["cores"]
    head = ["`Games` beside", f"Breakout, {cores} cores", "other titles"]
    if more:
        head.append(f"Breakout, {first(more)['cores']} cores")
    rows = []
    for name in two["Breakout"]["rows"]:
        if name == "games":
            continue
        others = [
            beside(part["rows"], name)
            for title, part in two.items()
            if title != "Breakout" and name in part["rows"]
        ]
        row = [NAMES[name], in_short(beside(two["Breakout"]["rows"], name))]
        row.append(in_short_range(others) if others else "–")
        if more:
            row.append(in_short(beside(more["Breakout"]["rows"], name)))
        rows.append(row)
    for name in single:
        if name not in ("games", "worker"):
            row = [NAMES[name], in_short(beside(single, name)), "–"]
            rows.append(row + ["–"] * bool(more))
    return table(head, rows)


def lockstep_machines(lockstep):
    """The newest machine of two cores, and that of the most cores."""
    two = with_cores(lockstep, 2)
    most = max(lockstep, key=lambda parts: first(parts)["cores"])
    return two, most if first(most)["cores"] > 2 else None


def behind(lockstep):
    """Where `Games` is slower than an engine, and by how much."""
    found = []
    for parts in lockstep:
        for title, part in parts.items():
            for name in ("ale", "envpool"):
                compared = beside(part["rows"], name)
                if median(compared) < 1 and not is_level(compared):
                    share = 1 - median(compared)
                    found.append(
                        f"{title_name(title)} on an {part['processor']}, "
                        f"{share:.0%} behind {NAMES[name]}"
                    )
    return "; ".join(found) or "nowhere"


def measured_on(lockstep):
    """Where README's table was measured, and where we are behind."""
    two, more = lockstep_machines(lockstep)
    places = [where(first(parts)) for parts in (two, more) if parts]
    sentence = f"Measured on {', and on '.join(places)}."
    return f"{sentence} Behind there: {behind([two])}."


def in_turn_table(parts):
    """Speeds of batches in flight, with a column for each network."""
    columns = [part["rows"] for part in parts.values()]
    heads = [", ".join(map(title_name, name)) for name in parts]
    rows = [
        [NAMES[name], *(speed(column[name]) for column in columns)]
        for name in columns[0]
    ]
    cells = [spread(beside_best(column)) for column in columns]
    rows.append(["**in turn, beside the fastest engine**", *cells])
    return table(["steps/s", *heads], rows)


def beside_best(rows):
    """Several in turn beside the fastest of the asynchronous engines."""
    engines = [name for name in rows if not name.startswith("games")]
    best = max(engines, key=lambda name: median(rows[name]["speed"]))
    return beside(rows, best, "games_ready")


def in_turn(parts):
    """How many times as fast several in turn are beside a waiting network."""
    compared = [beside_best(part["rows"]) for part in parts.values()]
    words = in_short_range(compared)
    return "as fast as" if words == "level" else f"{words} times as fast as"


def number_table(parts):
    """Speeds and memory, with a column for each number of games."""
    columns = [part["rows"] for part in parts.values()]
    rows = []
    for name in columns[0]:
        cells = []
        for column in columns:
            memory = column[name].get("memory")
            used = f", {memory:.0f} MB" if memory else ""
            cells.append(speed(column[name]) + used)
        rows.append([NAMES[name], *cells])
    return table(["steps/s", *(f"{n} games" for n in parts)], rows)


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


def updates_table(results):
    """How many times as fast an update is on `Games`, by agent and machine."""
    lines = {}
    for part, agent in updates(results):
        name = f"{agent} agent, {where(part)}"
        if part["games"] != 8:
            name += f", {part['games']} games"
        lines.setdefault(f"{name}, {part['date']}", {}).update(
            compared_updates(part)
        )
    rows = []
    for name, sides in lines.items():
        cells = [spread(sides[it]) if it in sides else "–" for it in UPDATES]
        if sides:
            rows.append([name, *cells])
    return table(["", *UPDATES.values()], rows)


def updates(results):
    """All parts that have updates, the newest first, with their agents."""
    found = [
        (part, name.split(",")[0])
        for instruments in results.values()
        for name, part in instruments.get("updates", {}).items()
        if "rounds" in part
    ]
    return sorted(found, key=lambda it: it[0]["date"], reverse=True)


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


def fault_table(peers):
    """What everybody does; a row for each fault."""
    rows = [
        [words, *(in_words(seen[fault]) for seen in peers.values())]
        for fault, words in FAULTS.items()
    ]
    return table(["", *(NAMES[peer] for peer in peers)], rows)


def in_words(seen):
    """What was seen of a fault, in a few words."""
    if "step" not in seen:
        return f"the program {seen['end']}"
    step, later = seen["step"], seen.get("next step", seen["end"])
    if step == "reports":
        return "replaced and reported"
    goes_on = "plays on" if later == "says nothing" else "no step works"
    if step == "says nothing":
        return f"{goes_on} in silence"
    return f"`{step}`, {goes_on}"


def soak(part):
    counts = part["counts"]
    return (
        f"In {counts['steps']:,} steps {counts['lost']} workers were killed "
        "or stopped at random: each was replaced, and all else was, bit for "
        "bit, as in games that nobody disturbed."
    )


def start_costs(methods):
    """Seconds until everything has answered."""
    heads = [METHODS.get(name, name) for name in methods]
    rows = [
        [key, *(f"{taken[key]:.1f} s" for taken in methods.values())]
        for key in first(methods)
        if key != "memory of a worker"
    ]
    return table(["", *heads], rows)


def worker_memory(methods):
    words = [
        f"{taken['memory of a worker']} MB under {METHODS.get(name, name)}"
        for name, taken in methods.items()
    ]
    return f"A worker of `Games(8)` has {', '.join(words)} of its own."


def snapshots(results):
    """Which titles don't play as a new emulator does after a restore."""
    parts = next(
        it["snapshots"] for it in results.values() if "snapshots" in it
    )
    tried = sum(part["tried"] for part in parts.values())
    differ = [
        f"{title} ({len(part['differ'])} of {part['tried']})"
        for title, part in parts.items()
        if part["differ"]
    ]
    return (
        f"{len(parts)} titles were played in {tried} combinations of mode "
        "and difficulty, each for some minutes, before the snapshot of its "
        "first reset was restored. Screens or memory then differed from "
        f"those of a new emulator in {', '.join(differ)}."
    )


# What agents learn


def agent_table(agents, title):
    """A row for each run: the end of its training, and whole games."""
    rows = []
    for name, part in agents.items():
        if name.startswith(title):
            minutes = sum(part["seconds"].values()) / 60
            served, alone = part["scores"]["served"], part["scores"]["alone"]
            took = f"{minutes:.0f} min"
            if minutes > 90:
                took = f"{minutes / 60:.1f} h"
            rows.append(
                [
                    name.removeprefix(f"{title}-").replace("-", ", "),
                    f"{part['steps']:,}",
                    took,
                    f"{part['last score']:.1f}",
                    whole_games(served),
                    whole_games(alone),
                ]
            )
    head = ["seed", "steps", "took", "end of training", "as it learned"]
    return table([*head, "serving by itself"], rows)


def whole_games(scores):
    """The mean of whole games, and the range."""
    return f"{mean(scores):.1f} ({min(scores):.0f} to {max(scores):.0f})"


def field_table(field, ours):
    """What others publish, and the agents here."""
    keys = ["name", "breakout", "pong", "seeds", "hours", "source"]
    rows = [[agent[key] for key in keys] for agent in field["agents"]]
    head = ["agent", "Breakout", "Pong", "seeds", "hours, Breakout", "source"]
    return table(head, [*rows, ours])


def equal_steps_table(rows):
    """The last score of each title, side and seed."""
    last, steps = {}, {}
    for row in rows:
        sides = last.setdefault(row["title"], {})
        seeds = sides.setdefault(row["side"], {})
        seeds[row["seed"]] = float(row["score"])
        steps[row["title"]] = int(row["steps"])
    heads = {"games": "`Games`", "wrappers": "CleanRL's wrappers"}
    sides = list(first(last))
    lines = []
    for title, scores in last.items():
        line = [title_name(title), f"{steps[title]:,}"]
        for side in sides:
            points = list(scores[side].values())
            digits = 0 if mean(points) > 100 else 1
            each = ", ".join(f"{point:,.{digits}f}" for point in points)
            line.append(f"{mean(points):,.{digits}f} ({each})")
        lines.append(line)
    return table(["title", "steps", *(heads[s] for s in sides)], lines)


def agent_values(agents, field):
    """The values of `agents.json`, whose parts are "TITLE-SEED"."""
    breakout = [
        part for name, part in agents.items() if name.startswith("Breakout")
    ]
    means = [f"{mean(part['scores']['served']):.0f}" for part in breakout]
    ends = [part["last score"] for part in breakout]
    hours = [sum(part["seconds"].values()) / 3600 for part in breakout]
    pong = agents["Pong-0"]
    end = f"{mean(ends):.1f} ({min(ends):.0f} to {max(ends):.0f})"
    ours = [
        "**`ppo.py` here**",
        f"**{end}**",
        f"{pong['last score']:.1f} after 4 million steps",
        f"{len(breakout)}; Pong 1",
        ", ".join(f"{each:.1f}" for each in hours),
        "",
    ]
    still = breakout[0]["scores"]["still"]
    games = len(still)
    minutes = sum(agents["Pong-1"]["seconds"].values()) / 60
    return {
        "agent_points": f"{breakout[0]['film']:.0f}",
        "agent_mean": f"{mean(breakout[0]['scores']['served']):.1f}",
        "still_mean": f"{mean(still):.1f}",
        "pong_mean": f"{mean(pong['scores']['served']):.1f}",
        "pong_minutes": f"{minutes:.0f}",
        "breakout_first_score": means[0],
        "breakout_scores": f"{', '.join(means[:-1])} and {means[-1]} points "
        f"in the mean of {games} games each",
        "breakout_end": end,
        "breakout_table": agent_table(agents, "Breakout"),
        "pong_table": agent_table(agents, "Pong"),
        "field_table": field_table(field, ours),
        "field_date": field["date"],
        "agents_on": f"{where(breakout[0])}, {breakout[0]['date']}",
        "human": "31.8",  # DQN's professional tester (Mnih et al. 2015)
    }


# All of them


def values(results, field, equal_steps):
    """All values, by name."""
    lockstep = machines(results, "benchmark", "lockstep")
    wrappers = machines(results, "benchmark", "wrappers")
    waits = machines(results, "benchmark", "waits")[0]
    in_flight = {
        (title, words): part
        for network, words in NETWORKS.items()
        for title, part in machines(results, "benchmark", network)[0].items()
    }
    (agents,) = (it["agents"] for it in results.values() if "agents" in it)
    peers = newest(results, "chaos", "peers")["peers"]
    methods = newest(results, "starts", "starts")["methods"]
    return {
        "speed_table": speed_table(lockstep, wrappers),
        "measured_on": measured_on(lockstep),
        "behind": behind(lockstep),
        "lockstep": by_machine(lockstep, comparison_table),
        "wrappers": by_machine(wrappers, comparison_table),
        "number": by_machine(
            machines(results, "benchmark", "number"), number_table
        ),
        "in_turn": in_turn(waits),
        "in_turn_table": by_machine([in_flight], in_turn_table),
        "updates_table": updates_table(results),
        "ppo_two_cores": time_of_an_update(results, gpu=False),
        "ppo_gpu": time_of_an_update(results, gpu=True),
        "breakout_hours": training_hours(results),
        "soak": soak(newest(results, "chaos", "soak")),
        "fault_table": fault_table(peers),
        "start_costs": start_costs(methods),
        "worker_memory": worker_memory(methods),
        "snapshots": snapshots(results),
        "equal_steps_table": equal_steps_table(equal_steps),
        **agent_values(agents, field),
    }
