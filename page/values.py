"""The values of the texts: what was measured, rounded, in words and tables.

`values()` is a dict from names to Markdown, which texts write as
`{{ name }}`. A result is a file of `measure/results/`, a dict of parts; each
says on what and when it was measured. Nothing here imports the instruments.

Contenders take turns, so speeds are compared within a round. A comparison is
the median of the rounds' ratios; where their range touches 1, it is level.
"""

import csv
import json
from collections.abc import Iterable, Mapping, Sequence
from statistics import mean, median, stdev
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
NETWORKS = {
    "waits": "waits 1.5 ms for a device",
    "computes": "computes for 1.5 ms on a core",
    "none": "no network",
}
DASH = "–"  # nothing was measured


# What was measured


class Measured(Struct, kw_only=True):
    """On what, and when."""

    processor: str
    cores: int
    gpu: str | None = None
    date: str

    @property
    def where(self) -> str:
        gpu = f", {self.gpu}" if self.gpu else ""
        return f"{self.cores} cores ({self.processor}{gpu})"


class Player(Struct):
    """How fast a contender played, round by round, and its memory."""

    speed: list[float]  # steps/s
    memory: float = 0.0  # MB


class Speeds(Measured):
    """Contenders that took turns, by their names."""

    rows: dict[str, Player]

    def beside(self, name: str, ours: str = "games") -> list[float]:
        """How many times as fast ours is, round by round."""
        speeds = zip(self.rows[ours].speed, self.rows[name].speed, strict=True)
        return [our_speed / speed for our_speed, speed in speeds]

    def middle(self, name: str) -> float:
        return median(self.rows[name].speed)


class Updates(Measured):
    """Updates of PPO, in rounds: of each side the seconds of its parts."""

    agent: str  # "trained", "untrained" or "actors"
    games: int
    steps: int  # of an update
    rounds: list[dict[str, list[float]]]

    def beside(self, name: str) -> list[float]:
        """How many times as fast an update on `Games` is."""
        ours = "sb3_games" if name == "sb3" else "games"
        return [sum(one[name]) / sum(one[ours]) for one in self.rounds]


class Scores(Struct):
    """Of whole games."""

    served: list[float]
    alone: list[float] = []  # nobody pressed FIRE for the agent
    still: list[float] = []  # nothing moved in what it saw
    film: list[float] = []


class Agent(Measured):
    """What an agent has learned."""

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


class Peers(Measured):
    peers: dict[str, dict[str, Seen]]  # by contender and fault


class Start(Struct):
    """What it costs to start processes by a method."""

    first: float  # seconds until `Games(8)` has answered
    later: float
    memory: int  # MB of a worker, its own


class Starts(Measured):
    methods: dict[str, Start]


class Learned(NamedTuple):
    """The score of the last hundred games, after some steps."""

    steps: int
    score: float


Part = TypeVar("Part")


def read(machine: str, name: str, kind: type[Part]) -> dict[str, Part]:
    """The parts of a result; none, if that hasn't been measured yet."""
    path = RESULTS / machine / f"{name}.json"
    if not path.exists():
        return {}
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
        [words, *(cells.get(name, DASH) for cells in columns.values())]
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


def span(values: Iterable[float], form: str = ".2f") -> str:
    """From which to which."""
    found = sorted({f"{value:{form}}" for value in values}, key=float)
    return " to ".join([found[0], *found[1:][-1:]])


def listed(words: Sequence[str]) -> str:
    """Words as a sentence lists them."""
    *most, last = words
    return f"{', '.join(most)} and {last}" if most else last


# How fast


def comparison_table(trained: Updates, lockstep: Iterable[Speeds]) -> str:
    """README's: an update of PPO, and random play in several titles."""
    columns = list(lockstep)
    training = {}
    playing = {}
    for name in NAMES:
        if name != "games" and name in trained.rounds[0]:
            ratios = trained.beside(name)
            words = "level" if is_level(ratios) else in_short(median(ratios))
            training[name] = words
        if name != "games" and name in columns[0].rows:
            medians = sorted(median(one.beside(name)) for one in columns)
            ends = dict.fromkeys(map(in_short, [medians[0], medians[-1]]))
            playing[name] = " to ".join(ends)
    heads = {"an update of PPO": training, "random play": playing}
    return grid("beside", heads, NAMES)


def lockstep_table(columns: Mapping[str, Speeds]) -> str:
    cells = {}
    for title, column in columns.items():
        cells[title] = {"games": f"{column.middle('games'):,.0f} steps/s"}
        for name in column.rows.keys() - {"games"}:
            cells[title][name] = spread(column.beside(name))
    return grid("`Games` beside", cells, NAMES)


def beside_best(column: Speeds, ours: str) -> float:
    """Ours beside the fastest of the asynchronous engines."""
    engines = [name for name in column.rows if not name.startswith("games")]
    best = max(engines, key=column.middle)
    return median(column.beside(best, ours))


def fast_game_table(machine: str) -> str:
    """One game; nothing, if that hasn't been measured."""
    rows = []
    for name, words in (
        ("fast_game", "settings of `TRAINING`"),
        (
            "restart",
            "a lost life restarts",
        ),
    ):
        for title, column in read(machine, name, Speeds).items():
            sides = ("game", "whole_screens")
            ratios = [spread(column.beside(one, "fast_game")) for one in sides]
            rows.append([f"{title}, {words}", *ratios])
    head = ["`FastGame` beside", "`Game`", "whole screens resized"]
    return table(head, rows) if rows else ""


def in_turn_table(machine: str) -> str:
    rows = []
    for network, words in NETWORKS.items():
        columns = read(machine, network, Speeds)
        rows.append(
            [
                words,
                listed([TITLES.get(title, title) for title in columns]),
                *(
                    span(beside_best(one, ours) for one in columns.values())
                    for ours in ("games", "games_ready")
                ),
            ]
        )
    head = ["the network", "titles", "one `Games`", "several in turn"]
    return table(head, rows)


def updates_table(parts: Iterable[Updates]) -> str:
    """How many times as fast an update is on `Games`, by agent and machine."""
    columns = {}
    for part in parts:
        head = f"{part.agent} agent, {part.where}, {part.games} games"
        sides = [name for name in NAMES if name in part.rounds[0]]
        columns[head] = {
            name: spread(part.beside(name))
            for name in sides
            if name != "games"
        }
    return grid("`Games` beside", columns, NAMES)


def breakout_hours(parts: Iterable[Updates]) -> str:
    """From which to which hours 10 million steps take."""
    return span(
        (
            10e6
            / part.steps
            * median(sum(one["games"]) for one in part.rounds)
            / 3600
            for part in parts
        ),
        ".0f",
    )


def actors_speed(part: Updates, count: int) -> str:
    """The steps a second of so many of Ray's actors; 0: of ppo.py."""
    side = f"ray{count}" if count else "games"
    steps = part.steps * max(count, 1)
    return f"{steps / median(sum(one[side]) for one in part.rounds):,.0f}"


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


# All of them


def values() -> dict[str, str]:
    """All values, by name."""
    return speed_values() | start_values() | agent_values()


def speed_values() -> dict[str, str]:
    lockstep = read(TWO_CORES, "lockstep", Speeds)
    sixteen = read(SIXTEEN_CORES, "lockstep", Speeds)["Breakout"]
    columns = {TITLES.get(name, name): one for name, one in lockstep.items()}
    columns["Breakout, 16 cores"] = sixteen
    updates = read(TWO_CORES, "updates", Updates)
    with_gpu = read(SIXTEEN_CORES, "updates", Updates)
    trained = updates["trained"]
    eight = read(TWO_CORES, "number8", Speeds)["Breakout"]
    many = read(TWO_CORES, "number64", Speeds)["Breakout"]
    actors = read(AGENTS, "updates", Updates)["actors"]
    return {
        "comparison_table": comparison_table(trained, lockstep.values()),
        "cleanrl_percent": f"{100 / median(trained.beside('single')):.0f}",
        "lockstep_table": lockstep_table(columns),
        "two_cores": f"{lockstep['Breakout'].where}, {trained.date}",
        "sixteen_cores": f"{sixteen.where}, {sixteen.date}",
        "fast_game_table": fast_game_table(TWO_CORES),
        "in_turn_table": in_turn_table(TWO_CORES),
        "speed_64": f"{many.middle('games'):,.0f}",
        "speed_8": f"{eight.middle('games'):,.0f}",
        "memory_64": f"{many.rows['games'].memory:,.0f} MB",
        "worker_memory_64": f"{many.rows['worker'].memory:,.0f} MB",
        "updates_table": updates_table([trained, *with_gpu.values()]),
        "breakout_hours": breakout_hours(updates.values()),
        "ppo_speed": actors_speed(actors, 0),
        "actors_speeds": listed([actors_speed(actors, n) for n in (1, 2, 4)]),
        "actors_on": f"{actors.where}, {actors.date}",
    }


def start_values() -> dict[str, str]:
    peers = read(TWO_CORES, "chaos", Peers)["peers"].peers
    starts = read(TWO_CORES, "starts", Starts)["starts"].methods
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
    others = json.loads((RESULTS / "field.json").read_text("utf-8"))
    first = breakout[0].scores
    means = [f"{agent.mean:.0f}" for agent in breakout]
    best = max(max(agent.scores.served) for agent in breakout)
    return {
        "agent_points": f"{first.film[0]:.0f}",
        "agent_mean": f"{breakout[0].mean:.1f}",
        "agent_mean_rounded": means[0],
        "agent_error": f"{stdev(first.served) / len(first.served) ** 0.5:.0f}",
        "agent_still_mean": f"{mean(first.still):.1f}",
        "agent_still_mean_rounded": f"{mean(first.still):.0f}",
        "agents_trained_on": f"{breakout[0].where}, {breakout[0].date}",
        "breakout_means": f"{listed(means)} points in the mean of "
        f"{len(first.served)} games each",
        "breakout_best": f"{best:.0f}",
        "breakout_end": end_of_training(breakout),
        "breakout_table": agent_table(breakout),
        "pong_mean": f"{pong[0].mean:.1f}",
        "pong_minutes": f"{60 * pong[1].hours:.0f}",
        "pong_table": agent_table(pong),
        "motion_one_mean_rounded": f"{one.mean:.0f}",
        "motion_four_mean_rounded": f"{four.mean:.0f}",
        "motion_one_games": whole_games(one.scores.served),
        "motion_four_games": whole_games(four.scores.served),
        "motion_trained_on": f"{one.where}, {one.date}",
        "field_table": field_table(others["agents"], breakout, pong[0]),
        "field_date": others["date"],
        "human_points": "31.8",  # DQN's professional tester (Mnih et al. 2015)
    }
