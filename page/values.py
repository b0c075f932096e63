"""The values of the texts: what was measured, rounded, in words and tables.

`values()` is a dict from names to Markdown; texts have it between
`<!--=name-->` and `<!--/-->`. A result is a file of `measure/results/`, a
dict of parts; each says on what and when it was measured. Nothing here imports
the instruments.

Contenders take turns, so speeds are compared within a round. A comparison is
the median of the rounds' ratios; where their range touches 1, it is level.
"""

import csv
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from statistics import mean, median
from typing import NamedTuple, TypeVar

from msgspec import Struct, convert, field

from paths import RESULTS

TWO_CORES = "amd-epyc-2-cores"
SIXTEEN_CORES = "intel-xeon-16-cores"
AGENTS = "intel-xeon-2-cores"  # where they played

# What tables call what the results have.
NAMES = {
    "games": "`Games`",
    "envpool": "EnvPool",
    "ale": "ALE's engine",
    "gymnasium": "Gymnasium's `AsyncVectorEnv`",
    "sb3": "SB3's `SubprocVecEnv`",
    "wrappers": "CleanRL's wrappers, a process for each game",
    "single": "CleanRL's wrappers, all in one process",
}
TITLES = {
    "MsPacman": "Ms. Pac-Man",
    "ALE/Breakout-v5": "Breakout, sticky actions",
}
FAULTS = {
    "killed": "a worker is killed",
    "stopped": "a worker is stopped",
    "out of range": "an action is out of range",
    "missing": "an action is missing",
}
ONE_GAME = {
    "fast_game": "settings of `TRAINING`",
    "restart": "a lost life resets",
}


# What was measured


class Player(Struct):
    """How fast a contender played, round by round, and its memory."""

    speed: list[float]  # steps/s
    memory: float = 0.0  # MB


class Measured(Struct, kw_only=True):
    processor: str
    cores: int
    date: str

    @property
    def on(self) -> str:
        return f"{self.cores} cores ({self.processor}), {self.date}"


class Speeds(Measured, kw_only=True):
    """Contenders that took turns, by their names."""

    gpu: str | None = None
    rows: dict[str, Player]

    def beside(self, name: str, ours: str = "games") -> list[float]:
        """How many times as fast ours is, round by round."""
        speeds = zip(self.rows[ours].speed, self.rows[name].speed, strict=True)
        return [our_speed / speed for our_speed, speed in speeds]

    def beside_all(self) -> dict[str, list[float]]:
        """`Games` beside each of the others."""
        ours = {"sb3": "sb3_games"} if "sb3_games" in self.rows else {}
        others = [n for n in NAMES if n in self.rows and n != "games"]
        return {n: self.beside(n, ours.get(n, "games")) for n in others}

    def middle(self, name: str) -> float:
        return median(self.rows[name].speed)


class Scores(Struct):
    """Of whole games."""

    served: list[float]
    alone: list[float] = []  # nobody pressed FIRE for the agent
    still: list[float] = []  # nothing moved in what it saw
    film: list[float] = []


class Agent(Measured, kw_only=True):
    """What an agent has learned."""

    title: str
    run: str  # its seed
    steps: int
    seconds: dict[str, float]  # of its training, by activity
    last_score: float  # the mean of its last hundred games of training
    scores: Scores

    @property
    def hours(self) -> float:
        return sum(self.seconds.values()) / 3600

    @property
    def mean(self) -> float:
        return mean(self.scores.served)


class Seen(Struct):
    """What a vector environment does about a fault."""

    end: str
    workers: int
    step: str | None = None  # what its step says, if it returns
    next_step: str | None = field(default=None, name="next step")


class Peers(Struct):
    peers: dict[str, dict[str, Seen]]  # by contender and fault


class Start(Struct):
    """What it costs to start processes by a method."""

    first: float  # seconds until `Games(8)` has answered
    later: float
    memory: int  # MB of a worker, its own


class Learned(NamedTuple):
    """The score of the last hundred games, after some steps."""

    steps: int
    score: float


Part = TypeVar("Part")


def read(machine: str, name: str, kind: type[Part]) -> dict[str, Part]:
    """The parts of a result."""
    path = RESULTS / machine / f"{name}.json"
    parts = json.loads(path.read_text("utf-8"))
    return {name: convert(part, kind) for name, part in parts.items()}


def read_curves(title: str) -> dict[str, list[Learned]]:
    """The curve of each agent of a title, by its seed."""
    curves = {}
    for path in sorted(RESULTS.glob(f"*/{title}-?.csv")):
        rows = csv.DictReader(path.read_text("utf-8").splitlines())
        curves[path.stem.removeprefix(f"{title}-")] = [
            Learned(int(row["steps"]), float(row["score"]))
            for row in rows
            if row["score"]  # until a game has ended there is none
        ]
    return curves


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
        [words, *(cells.get(name, "–") for cells in columns.values())]
        for name, words in names.items()
        if any(name in cells for cells in columns.values())
    ]
    return table([corner, *columns], rows)


def is_level(ratios: Sequence[float]) -> bool:
    return round(min(ratios), 2) <= 1 <= round(max(ratios), 2)


def in_short(ratio: float) -> str:
    return f"{ratio:.2f}" if 0.9 <= ratio < 1.1 else f"{ratio:.1f}"


def spread(ratios: Sequence[float]) -> str:
    """The median and the range."""
    low, high = min(ratios), max(ratios)
    return f"{median(ratios):.2f} ({low:.2f}–{high:.2f})"


def span(
    values: Sequence[float], shown: Callable[[float], str] = "{:.2f}".format
) -> str:
    """From which to which."""
    ends = min(values), max(values)
    return " to ".join(dict.fromkeys(map(shown, ends)))


def listed(words: Sequence[str]) -> str:
    """Words as a sentence lists them."""
    *most, last = words
    return f"{', '.join(most)} and {last}" if most else last


# How fast


def comparisons(trained: Speeds, lockstep: Iterable[Speeds]) -> dict[str, str]:
    """README's: an update of PPO, and random play in several titles."""
    cells = {}
    for name, ratios in trained.beside_all().items():
        short = "level" if is_level(ratios) else in_short(median(ratios))
        cells[f"{name}_update"] = short
    medians: dict[str, list[float]] = {}
    for column in lockstep:
        for name, ratios in column.beside_all().items():
            medians.setdefault(name, []).append(median(ratios))
    for name, all_ in medians.items():
        cells[f"{name}_play"] = span(all_, in_short)
    return cells


def ratios_table(columns: Mapping[str, Speeds]) -> str:
    """How many times as fast `Games` is as each of the others."""
    cells = {
        head: {name: spread(r) for name, r in column.beside_all().items()}
        for head, column in columns.items()
    }
    return grid("`Games` beside", cells, NAMES)


def beside_async(columns: Iterable[Speeds], ours: str) -> str:
    """Ours beside the fastest asynchronous engine of each title."""
    ratios = []
    for column in columns:
        engines = [name for name in column.rows if "games" not in name]
        best = max(engines, key=column.middle)
        ratios.append(median(column.beside(best, ours)))
    return span(ratios)


def fast_game_table(machine: str) -> str:
    """How many times as fast one game is as a simpler one."""
    rows = [
        [
            f"{title}, {words}",
            spread(column.beside("game", "fast_game")),
            spread(column.beside("whole_screens", "fast_game")),
        ]
        for name, words in ONE_GAME.items()
        for title, column in read(machine, name, Speeds).items()
    ]
    return table(
        ["`FastGame` beside", "`Game`", "whole screens resized"], rows
    )


# When something dies


def in_words(seen: Seen, fault: str) -> str:
    """What was seen of a fault, in a few words."""
    if fault in ("killed", "stopped") and not seen.workers:
        return "has no workers"
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
        NAMES[name]: {
            fault: in_words(seen, fault) for fault, seen in faults.items()
        }
        for name, faults in peers.items()
    }
    return grid("", columns, FAULTS)


# What agents learn


def whole_games(scores: Sequence[float]) -> str:
    """The mean of whole games, and the range."""
    return f"{mean(scores):.1f} ({min(scores):.0f} to {max(scores):.0f})"


def agent_table(corner: str, agents: Mapping[str, Agent]) -> str:
    """A row for each run: the end of its training, and whole games."""
    rows = [
        [
            name,
            f"{agent.steps:,}",
            f"{agent.hours:.1f}",
            f"{agent.last_score:.1f}",
            whole_games(agent.scores.served),
            whole_games(agent.scores.alone),
        ]
        for name, agent in agents.items()
    ]
    head = [corner, "steps", "hours", "end of training", "as it learned"]
    return table([*head, "serving by itself"], rows)


def by_seed(agents: Iterable[Agent]) -> str:
    return agent_table("seed", {agent.run: agent for agent in agents})


# All of them


def values() -> dict[str, str]:
    """All values, by name."""
    return speed_values() | start_values() | agent_values()


def speed_values() -> dict[str, str]:
    lockstep = read(TWO_CORES, "lockstep", Speeds)
    sixteen = read(SIXTEEN_CORES, "lockstep", Speeds)["Breakout"]
    playing = {TITLES.get(name, name): one for name, one in lockstep.items()}
    updates = read(TWO_CORES, "updates", Speeds)
    trained = updates["trained"]
    training = {"trained": trained} | read(SIXTEEN_CORES, "updates", Speeds)
    many = read(TWO_CORES, "number64", Speeds)["Breakout"]
    actors = read(AGENTS, "updates", Speeds)["actors"]
    waits = read(TWO_CORES, "waits", Speeds)
    hours = [10e6 / one.middle("games") / 3600 for one in updates.values()]
    return {
        **comparisons(trained, lockstep.values()),
        "cleanrl_percent": f"{100 / median(trained.beside('single')):.0f}",
        "updates_table": ratios_table(
            {
                f"{name}, {one.cores} cores": one
                for name, one in training.items()
            }
        ),
        "lockstep_table": ratios_table(
            playing | {"Breakout, 16 cores": sixteen}
        ),
        "two_cores": trained.on,
        "sixteen_cores": sixteen.on,
        "gpu": training["trained, GPU"].gpu or "",
        "fast_game_table": fast_game_table(TWO_CORES),
        "lockstep_beside_async": beside_async(waits.values(), "games"),
        "in_turn_beside_async": beside_async(waits.values(), "games_ready"),
        "memory_64": f"{many.rows['games'].memory:,.0f} MB",
        "worker_memory_64": f"{many.rows['worker'].memory:,.0f} MB",
        "breakout_hours": span(hours, "{:.0f}".format),
        "ppo_speed": f"{actors.middle('games'):,.0f}",
        "actors_speeds": listed(
            [f"{actors.middle(f'ray{n}'):,.0f}" for n in (1, 2, 4)]
        ),
        "actors_on": actors.on,
    }


def start_values() -> dict[str, str]:
    peers = read(TWO_CORES, "chaos", Peers)["peers"].peers
    starts = read(TWO_CORES, "starts", Start)
    result = {"fault_table": fault_table(peers)}
    for method, start in starts.items():
        result[f"{method}_first"] = f"{start.first:.1f}"
        result[f"{method}_later"] = f"{start.later:.1f}"
        result[f"{method}_memory"] = f"{start.memory} MB"
    return result


def agent_values() -> dict[str, str]:
    agents = read(AGENTS, "agents", Agent)
    breakout = [agents[f"Breakout-{seed}"] for seed in range(3)]
    pong = [agents[f"Pong-{seed}"] for seed in range(2)]
    one, four = agents["Breakout-stack-1"], agents["Breakout-stack-4"]
    more = {
        TITLES.get(agent.title, agent.title): agent
        for _, agent in sorted(read(TWO_CORES, "agents", Agent).items())
    }
    first = breakout[0].scores
    means = [f"{agent.mean:.0f}" for agent in breakout]
    return {
        "agent_points": f"{first.film[0]:.0f}",
        "agent_mean": f"{breakout[0].mean:.1f}",
        "agent_mean_rounded": means[0],
        "agent_still_mean_rounded": f"{mean(first.still):.0f}",
        "agents_trained_on": breakout[0].on,
        "breakout_means": f"{listed(means)} points in the mean of "
        f"{len(first.served)} games each",
        "breakout_end": whole_games([it.last_score for it in breakout]),
        "breakout_table": by_seed(breakout),
        "pong_minutes": f"{60 * pong[1].hours:.0f}",
        "pong_table": by_seed(pong),
        "more_titles_table": agent_table("title", more),
        "more_titles_trained_on": next(iter(more.values())).on,
        "motion_one_mean_rounded": f"{one.mean:.0f}",
        "motion_four_mean_rounded": f"{four.mean:.0f}",
        "motion_one_games": whole_games(one.scores.served),
        "motion_four_games": whole_games(four.scores.served),
        "motion_trained_on": one.on,
        "breakout_agent_hours": ", ".join(
            f"{agent.hours:.1f}" for agent in breakout
        ),
        "pong_end": f"{pong[0].last_score:.1f}",
        "mspacman_end": f"{more['Ms. Pac-Man'].last_score:.1f}",
        "seaquest_end": f"{more['Seaquest'].last_score:.1f}",
        "human_points": "31.8",  # DQN's professional tester (Mnih et al. 2015)
    }
