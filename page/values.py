"""The values of the texts: what was measured, in words and tables.

`values(read())` is a dict from names to Markdown, which texts write as
`{{ name }}`.

Contenders take turns, so speeds are compared within a round. A comparison is
the median of the rounds' ratios; where their range touches 1, it is level.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from statistics import mean, median, stdev

from paths import RESULTS
from results import (
    ActorUpdates,
    Agent,
    Machine,
    Seen,
    Speeds,
    Start,
    Updates,
)

# The machines that README speaks of. Tables of docs/ show all that there are.
TWO_CORES = "amd-epyc-2-cores"
SIXTEEN_CORES = "intel-xeon-16-cores"
AGENTS = "intel-xeon-2-cores"  # where they played

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
ENGINES = "ale", "envpool"
UPDATES = {
    "envpool": "EnvPool",
    "sb3": "SB3's own PPO, under `SubprocVecEnv`",
    "wrappers": "CleanRL's wrappers, a process for each game",
    "single": "CleanRL's wrappers, all in one process",
}
TITLES = {
    "MsPacman": "Ms. Pac-Man",
    "CrazyClimber": "Crazy Climber",
    "ALE/Breakout-v5": "Breakout with sticky actions",
}
FAULTS = {
    "killed": "a worker is killed",
    "stopped": "a worker is stopped",
    "out of range": "an action is out of range",
    "missing": "an action is missing",
}
NETWORKS = {"waits": "waits", "computes": "computes", "none": "no network"}
DASH = "–"  # nothing was measured
NBSP = "\N{NO-BREAK SPACE}"


# In words


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"|{'|'.join(map(str, line))}|" for line in lines)


def grid(
    corner: str,
    columns: Mapping[str, Mapping[str, str]],
    names: Mapping[str, str],
) -> str:
    """A table of columns of cells; `names` has the words of each row."""
    rows = [
        [words, *(cells.get(name, DASH) for cells in columns.values())]
        for name, words in names.items()
    ]
    return table([corner, *columns], rows)


def title_name(title: str) -> str:
    return TITLES.get(title, title)


def is_level(ratios: Sequence[float]) -> bool:
    return round(min(ratios), 2) <= 1 <= round(max(ratios), 2)


def spread(ratios: Sequence[float]) -> str:
    """The median and the range."""
    low, high = min(ratios), max(ratios)
    return f"{median(ratios):.2f} ({low:.2f}–{high:.2f})"


def in_short(ratios: Sequence[float]) -> str:
    """A comparison as one would say it."""
    if is_level(ratios):
        return "level"
    value = median(ratios)
    return f"{value:.2f}" if 0.9 <= value < 1.1 else f"{value:.1f}"


def in_short_range(comparisons: Sequence[Sequence[float]]) -> str:
    """From which to which of several comparisons; there may be none."""
    if not comparisons:
        return DASH
    least = in_short(min(comparisons, key=median))
    most = in_short(max(comparisons, key=median))
    return least if least == most else f"{least} to {most}"


def listed(words: Sequence[str]) -> str:
    """Words as a sentence lists them."""
    *most, last = words
    return f"{', '.join(most)} and {last}" if most else last


# How fast


def beside(column: Speeds, name: str, ours: str = "games") -> Sequence[float]:
    """The ratios of our speed to that of another, round by round."""
    speeds = zip(column.rows[ours].speed, column.rows[name].speed, strict=True)
    return [our_speed / speed for our_speed, speed in speeds]


def speed(column: Speeds, name: str) -> str:
    return f"{median(column.rows[name].speed):,.0f}"


def names_in(columns: Mapping[str, Speeds]) -> dict[str, str]:
    """Who plays, in the order of the first column, with its words."""
    first = next(iter(columns.values()))
    return {name: NAMES[name] for name in first.rows}


def how(columns: Mapping[str, Speeds]) -> str:
    """How and when columns were measured, to stand above their table."""
    rounds = [
        f"{column.rounds} rounds of {column.seconds:g} s"
        for column in columns.values()
    ]
    about = list(columns.values())
    days = sorted(one.date for one in about)
    return (
        f"{about[0].where}: {' or '.join(dict.fromkeys(rounds))}, "
        f"{' to '.join(dict.fromkeys([days[0], days[-1]]))}, "
        f"commit {', '.join(dict.fromkeys(one.commit for one in about))}."
    )


def by_machine(
    machines: Iterable[Mapping[str, Speeds]],
    write: Callable[[Mapping[str, Speeds]], str],
) -> str:
    """A table for each machine that has columns, below how it was measured."""
    return "\n\n".join(
        f"{how(columns)}\n\n{write(columns)}"
        for columns in machines
        if columns
    )


def comparison_table(columns: Mapping[str, Speeds]) -> str:
    """`Games` beside everybody, with a column for each title."""

    def cell(column: Speeds, name: str) -> str:
        if name == "games":
            return f"{speed(column, name)} steps/s"
        return spread(beside(column, name))

    cells = {
        title_name(title): {name: cell(column, name) for name in column.rows}
        for title, column in columns.items()
    }
    return grid("`Games` beside", cells, names_in(columns))


def lockstep_table(columns: Mapping[str, Speeds]) -> str:
    return f"{comparison_table(columns)}\n\nBehind {behind(columns)}."


def behind(columns: Mapping[str, Speeds]) -> str:
    """In which titles `Games` is slower than an engine, and by how much."""
    found = []
    for name in ENGINES:
        shares = []
        for title, column in columns.items():
            ratios = beside(column, name)
            if median(ratios) < 1 and not is_level(ratios):
                share = f"{100 * (1 - median(ratios)):.0f}{NBSP}%"
                shares.append(f"{title_name(title)} ({share})")
        if shares:
            found.append(f"{NAMES[name]} in {', '.join(shares)}")
    return " and ".join(found) or "no engine"


def speed_table(two_cores: Machine, sixteen_cores: Machine) -> str:
    """README's: who, and how many times as fast `Games` is."""
    lockstep = two_cores.lockstep
    columns = {
        "Breakout, 2 cores": [
            lockstep["Breakout"],
            two_cores.wrappers["Breakout"],
        ],
        "other titles, 2 cores": [
            lockstep[title] for title in lockstep if title != "Breakout"
        ],
        "Breakout, 16 cores": [sixteen_cores.lockstep["Breakout"]],
    }
    names = dict.fromkeys(
        name
        for column in columns["Breakout, 2 cores"]
        for name in column.rows
        if name not in ("games", "worker")
    )
    cells = {
        head: {
            name: in_short_range(
                [
                    beside(column, name)
                    for column in measured
                    if name in column.rows
                ]
            )
            for name in names
        }
        for head, measured in columns.items()
    }
    return grid("beside", cells, {name: NAMES[name] for name in names})


def other_titles(machine: Machine) -> str:
    """Which titles README's table calls others."""
    titles = [title for title in machine.lockstep if title != "Breakout"]
    return listed([title_name(title) for title in titles])


def measured_on(columns: Mapping[str, Speeds]) -> str:
    """On what, and when last."""
    about = list(columns.values())
    return f"{about[0].where}, {max(one.date for one in about)}"


def beside_best(column: Speeds) -> Sequence[float]:
    """Several in turn beside the fastest of the asynchronous engines."""
    engines = [name for name in column.rows if not name.startswith("games")]
    best = max(engines, key=lambda name: median(column.rows[name].speed))
    return beside(column, best, "games_ready")


def in_turn_table(machine: Machine) -> str:
    """Speeds of batches in flight, with a column for each network."""
    columns = {
        f"{title_name(title)}, {words}": column
        for network, words in NETWORKS.items()
        for title, column in getattr(machine, network).items()
    }
    ratios = "beside the fastest"
    cells = {
        head: {name: speed(column, name) for name in column.rows}
        | {ratios: spread(beside_best(column))}
        for head, column in columns.items()
    }
    names = names_in(columns) | {ratios: "**in turn, beside the fastest**"}
    return f"{how(columns)}\n\n{grid('steps/s', cells, names)}"


def in_turn(machine: Machine) -> str:
    """How fast several in turn are while a network waits, beside others."""
    found = [median(beside_best(column)) for column in machine.waits.values()]
    return f"{min(found):.2f} to {max(found):.2f}"


def number_table(columns: Mapping[str, Speeds]) -> str:
    """Speeds and memory, with a column for each number of games."""

    def cell(column: Speeds, name: str) -> str:
        memory = column.rows[name].memory
        used = f", {memory:.0f} MB" if memory else ""
        return speed(column, name) + used

    cells = {
        f"{number} games": {name: cell(column, name) for name in column.rows}
        for number, column in columns.items()
    }
    return grid("steps/s", cells, names_in(columns))


# In training


def compared_updates(part: Updates) -> dict[str, list[float]]:
    """Of each side how many times as fast an update is on `Games`."""
    sides = {}
    for name in UPDATES:
        ours = "sb3_games" if name == "sb3" else "games"
        if name in part.rounds[0]:
            sides[name] = [
                sum(one[name]) / sum(one[ours]) for one in part.rounds
            ]
    return sides


def updates_table(machines: Mapping[str, Machine]) -> str:
    """How many times as fast an update is on `Games`, by agent and machine."""
    parts = [
        part for one in machines.values() for part in one.updates.values()
    ]
    rows: dict[str, dict[str, list[float]]] = {}
    for part in sorted(parts, key=lambda part: part.date)[::-1]:
        name = f"{part.agent} agent, {part.where}, {part.games} games, "
        rows.setdefault(name + part.date, {}).update(compared_updates(part))
    lines = [
        [
            name,
            *(
                spread(sides[side]) if side in sides else DASH
                for side in UPDATES
            ),
        ]
        for name, sides in rows.items()
        if sides
    ]
    return table(["", *UPDATES.values()], lines)


def training_table(machines: Mapping[str, Machine]) -> str:
    """README's: how many times as fast the trained agent's updates are."""
    columns: dict[str, dict[str, str]] = {}
    for machine in TWO_CORES, SIXTEEN_CORES:
        for part in machines[machine].updates.values():
            if part.agent == "trained":
                gpu = " and a GPU" if part.gpu else ""
                head = f"{part.cores} cores{gpu}"
                columns[head] = {
                    name: spread(ratios)
                    for name, ratios in compared_updates(part).items()
                }
    return grid("beside", columns, UPDATES)


def breakout_hours(machines: Mapping[str, Machine]) -> str:
    """From which to which hours 10 million steps take on two cores."""
    hours = [
        10e6
        / part.steps
        * median(sum(one["games"]) for one in part.rounds)
        / 3600
        for machine in machines.values()
        for part in machine.updates.values()
        if part.cores == 2 and "games" in part.rounds[0]
    ]
    return f"{min(hours):.0f} to {max(hours):.0f}"


# When something dies


def in_words(seen: Seen) -> str:
    """What was seen of a fault, in a few words."""
    if seen.step is None:
        return f"the program {seen.end}"
    if seen.step == "reports":
        return "replaced and reported"
    later = seen.next_step or seen.end
    goes_on = "plays on" if later == "says nothing" else "no step works"
    if seen.step == "says nothing":
        return f"{goes_on} in silence"
    return f"`{seen.step}`, {goes_on}"


def fault_table(peers: Mapping[str, Mapping[str, Seen]]) -> str:
    """What everybody does; a row for each fault."""
    columns = {
        NAMES[name]: {fault: in_words(seen) for fault, seen in faults.items()}
        for name, faults in peers.items()
    }
    return grid("", columns, FAULTS)


def start_costs(starts: Mapping[str, Start]) -> str:
    """Seconds until everything has answered."""
    columns = {
        method: {
            "first": f"{start.first:.1f}",
            "later": f"{start.later:.1f}",
            "workers": f"{start.workers:.1f}",
        }
        for method, start in starts.items()
    }
    names = {
        "first": "`Games(8)`, first",
        "later": "`Games(8)`, later",
        "workers": "64 `Worker`s",
    }
    return grid("seconds", columns, names)


def worker_memory(starts: Mapping[str, Start]) -> str:
    return ", ".join(
        f"{start.memory} MB under {method}" for method, start in starts.items()
    )


def actors_table(part: ActorUpdates) -> str:
    """Of an update by each side the seconds of its parts, and its speed."""
    rows = []
    for side in ("ppo", *sorted(part.updates[0].keys() - {"ppo"})):
        count = 1 if side == "ppo" else int(side)
        spent = [one[side] for one in part.updates]
        total = median([sum(one.values()) for one in spent])
        parts = {
            name: median([one[name] for one in spent]) for name in spent[0]
        }
        playing = parts.get("games", 0) + parts.get("network", 0)
        rows.append(
            [
                "`ppo.py`" if side == "ppo" else f"{side} by Ray",
                f"{count * part.steps:,}",
                f"{parts.get('waiting', playing):.2f}",
                f"{parts['sending']:.2f}" if "sending" in parts else DASH,
                f"{parts['learning']:.2f}",
                f"{total:.2f}",
                f"{count * part.steps / total:,.0f}",
            ]
        )
    head = ["actors", "steps", "playing, or waiting", "sending", "learning"]
    return table([*head, "in all", "steps/s"], rows)


# What agents learn


def whole_games(scores: Sequence[float]) -> str:
    """The mean of whole games, and the range."""
    return f"{mean(scores):.1f} ({min(scores):.0f} to {max(scores):.0f})"


def agent_table(agents: Sequence[Agent]) -> str:
    """A row for each run: the end of its training, and whole games."""
    rows = [
        [
            agent.run,
            f"{agent.steps:,}",
            f"{agent.hours:.1f}",
            f"{agent.last_score:.1f}",
            whole_games(agent.scores.served),
            whole_games(agent.scores.alone),
        ]
        for agent in agents
    ]
    head = ["seed", "steps", "hours", "end of training", "as it learned"]
    return table([*head, "serving by itself"], rows)


def motion_table(agents: Sequence[Agent]) -> str:
    """The end of each training, and whole games, by what the agent sees."""
    words = {
        "seed": "it sees",
        "stack-1": "one picture",
        "stack-4": "four pictures",
    }
    result = table(
        ["seed", "steps", "hours", "end of training", "30 whole games"],
        [
            [
                agent.run,
                f"{agent.steps:,}",
                f"{agent.hours:.1f}",
                f"{agent.last_score:.1f}",
                whole_games(agent.scores.served),
            ]
            for agent in agents
        ],
    )
    for name, seen in words.items():
        result = result.replace(f"|{name}|", f"|{seen}|")
    return result


def end_of_training(agents: Sequence[Agent]) -> str:
    return whole_games([agent.last_score for agent in agents])


def field_table(
    published: Sequence[Mapping[str, str]],
    breakout: Sequence[Agent],
    pong: Agent,
) -> str:
    """What others publish, and the agents here."""
    keys = ["name", "breakout", "pong", "seeds", "hours", "source"]
    rows = [[agent[key] for key in keys] for agent in published]
    ours = [
        "**`ppo.py` here**",
        f"**{end_of_training(breakout)}**",
        f"{pong.last_score:.1f} after 4 million steps",
        f"{len(breakout)}; Pong 1",
        ", ".join(f"{agent.hours:.1f}" for agent in breakout),
        "",
    ]
    head = ["agent", "Breakout", "Pong", "seeds", "hours, Breakout", "source"]
    return table(head, [*rows, ours])


def agent_values(agents: Sequence[Agent]) -> dict[str, str]:
    field = json.loads((RESULTS / "field.json").read_text("utf-8"))
    breakout = [agent for agent in agents if agent.title == "Breakout"]
    pong = [agent for agent in agents if agent.title == "Pong"]
    means = [f"{mean(agent.scores.served):.0f}" for agent in breakout]
    best = max(max(agent.scores.served) for agent in breakout)
    return {
        "agent_points": f"{breakout[0].scores.film[0]:.0f}",
        "agent_mean": f"{mean(breakout[0].scores.served):.1f}",
        "agent_mean_rounded": means[0],
        "agent_still_mean": f"{mean(breakout[0].scores.still):.1f}",
        "agent_still_mean_rounded": f"{mean(breakout[0].scores.still):.0f}",
        "breakout_means": f"{listed(means)} points in the mean of "
        f"{len(breakout[0].scores.served)} games each",
        "breakout_best": f"{best:.0f}",
        "agent_error": f"{standard_error(breakout[0].scores.served):.0f}",
        "breakout_end": end_of_training(breakout),
        "breakout_table": agent_table(breakout),
        "pong_mean": f"{mean(pong[0].scores.served):.1f}",
        "pong_minutes": f"{60 * pong[1].hours:.0f}",
        "pong_table": agent_table(pong),
        "field_table": field_table(field["agents"], breakout, pong[0]),
        "field_date": field["date"],
        "agents_trained_on": f"{breakout[0].where}, {breakout[0].date}",
        "human_points": "31.8",  # DQN's professional tester (Mnih et al. 2015)
    }


def motion_values(agents: Sequence[Agent]) -> dict[str, str]:
    """Of two agents, who see one picture and four."""
    one, four = agents
    return {
        "motion_table": motion_table(agents),
        "motion_trained_on": f"{one.where}, {one.date}",
        "motion_one_mean_rounded": f"{mean(one.scores.served):.0f}",
        "motion_four_mean_rounded": f"{mean(four.scores.served):.0f}",
    }


def standard_error(scores: Sequence[float]) -> float:
    return stdev(scores) / len(scores) ** 0.5


# All of them


def values(machines: Mapping[str, Machine]) -> dict[str, str]:
    """All values, by name."""
    two_cores, sixteen_cores = machines[TWO_CORES], machines[SIXTEEN_CORES]
    chaos = two_cores.chaos
    assert chaos
    counts = chaos.soak.counts
    (found_actors,) = (
        part
        for machine in machines.values()
        for part in machine.actors.values()
    )
    return {
        "speed_table": speed_table(two_cores, sixteen_cores),
        "speed_other_titles": other_titles(two_cores),
        "speed_behind": behind(two_cores.lockstep),
        "two_cores": measured_on(two_cores.lockstep),
        "sixteen_cores": measured_on(sixteen_cores.lockstep),
        "training_table": training_table(machines),
        "in_turn_ratios": in_turn(two_cores),
        "lockstep_tables": by_machine(
            [machine.lockstep for machine in machines.values()], lockstep_table
        ),
        "wrappers_tables": by_machine(
            [machine.wrappers for machine in machines.values()],
            comparison_table,
        ),
        "number_tables": by_machine(
            [machine.number for machine in machines.values()], number_table
        ),
        "in_turn_table": in_turn_table(two_cores),
        "updates_table": updates_table(machines),
        "actors_table": actors_table(found_actors),
        "actors_rounds": f"{len(found_actors.updates)}",
        "actors_on": f"{found_actors.where}, {found_actors.date}",
        "breakout_hours": breakout_hours(machines),
        "soak_steps": f"{counts.steps:,}",
        "soak_replaced": f"{counts.replaced}",
        "fault_table": fault_table(chaos.peers.peers),
        "start_costs_table": start_costs(two_cores.starts["starts"].methods),
        "worker_memory": worker_memory(two_cores.starts["starts"].methods),
        **agent_values([*machines[AGENTS].agents.values()]),
        **motion_values([*machines[AGENTS].motion.values()]),
    }
