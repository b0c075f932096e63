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
import re
from collections.abc import Iterable, Mapping, Sequence
from statistics import mean, median
from typing import NamedTuple, TypeVar

from msgspec import Struct, convert

from paths import FIGURES, RESULTS

# What tables call what the results have.
NAMES = {
    "envpool": "EnvPool",
    "ale": "ALE's engine",
    "gymnasium": "Gymnasium's `AsyncVectorEnv`",
    "sb3": "SB3's `SubprocVecEnv`",
    "wrappers": "CleanRL's wrappers, a process for each game",
    "single": "CleanRL's wrappers, all in one process",
    "worker": "`Worker`s, played as labml's tutorial plays its own",
}
TITLES = {
    "MsPacman": "Ms. Pac-Man",
    "ALE/Breakout-v5": "Breakout, sticky actions",
    "Breakout-dqn": "Breakout, `dqn.py`",
}


# What was measured


class Player(Struct):
    """How fast a contender played, round by round."""

    speed: list[float]  # steps/s


class Measured(Struct, kw_only=True):
    processor: str
    cores: int
    date: str
    commit: str


class Speeds(Measured, kw_only=True):
    """Contenders that took turns, by their names."""

    rows: dict[str, Player]
    precision: str = ""  # of a network that learns

    def beside(self, name: str, ours: str = "games") -> list[float]:
        """How many times as fast ours is, round by round."""
        speeds = zip(self.rows[ours].speed, self.rows[name].speed, strict=True)
        return [our_speed / speed for our_speed, speed in speeds]

    def beside_all(self) -> dict[str, list[float]]:
        """`Games` beside each of the others, by the names in tables."""
        others = [name for name in self.rows if name != "games"]
        return {name: self.beside(name) for name in others}

    def middle(self, name: str) -> float:
        return median(self.rows[name].speed)


class Scores(Struct):
    """Of whole games."""

    served: list[float] = []
    alone: list[float] = []  # nobody pressed FIRE for the agent
    still: list[float] = []  # nothing moved in what it saw
    film: list[float] = []


class Agent(Measured, kw_only=True):
    """What an agent has learned."""

    title: str
    run: str  # its seed
    steps: int
    seconds: dict[str, float]  # of its training, by activity
    paused: float = 0.0  # seconds of these in which the program stood still
    program_commit: str  # of the program that trained it
    precision: str
    last_score: float  # the mean of its last hundred games of training
    scores: Scores

    @property
    def hours(self) -> float:
        return (sum(self.seconds.values()) - self.paused) / 3600

    @property
    def mean(self) -> float:
        return mean(self.scores.served)


class Learned(NamedTuple):
    """The score of the last hundred games, after some steps."""

    steps: int
    score: float


Part = TypeVar("Part", bound=Measured)


def read(name: str, kind: type[Part]) -> dict[str, Part]:
    """The parts of a result, by name; of any machines, the newest counts."""
    found: list[tuple[str, Part]] = []
    for path in sorted(RESULTS.glob(f"*/{name}.json")):
        parts = json.loads(path.read_text("utf-8"))
        found += [(part, convert(one, kind)) for part, one in parts.items()]
    return dict(sorted(found, key=lambda part: part[1].date))


def read_curves(title: str) -> dict[str, list[Learned]]:
    """The curve of each agent of a title, by its seed."""
    curves: dict[str, list[Learned]] = {}
    paths = RESULTS.glob(f"*/{title}-?.csv")
    for path in sorted(paths, key=lambda path: path.name):
        rows = csv.DictReader(path.read_text("utf-8").splitlines())
        seed = path.stem.removeprefix(f"{title}-")
        if seed in curves:
            raise ValueError(f"two machines have {path.name}: remove one")
        curves[seed] = [
            Learned(int(row["steps"]), float(row["score"]))
            for row in rows
            if row["score"]  # until a game has ended there is none
        ]
    return curves


# In words


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"|{'|'.join(map(str, line))}|" for line in lines)


def listed(words: Sequence[str]) -> str:
    """Words as a sentence lists them."""
    *most, last = words
    return f"{', '.join(most)} and {last}" if most else last


# How fast


def measured(parts: Iterable[Measured]) -> str:
    """On which machines, when, and with which commit of game.py."""
    words = {
        f"{one.cores} cores ({one.processor}), {one.date}, "
        f"commit {one.commit}": None
        for one in parts
    }
    return "; ".join(words)


def is_level(ratios: Sequence[float]) -> bool:
    """Whether the range touches 1."""
    return round(min(ratios), 2) <= 1 <= round(max(ratios), 2)


def in_short(comparisons: Mapping[str, Sequence[float]]) -> str:
    """What comparisons in some titles say together."""
    apart = {
        title: rounded(median(ratios))
        for title, ratios in comparisons.items()
        if not is_level(ratios)
    }
    if len(apart) == len(comparisons):
        ends = [f(apart.values(), key=float) for f in (min, max)]
        return " to ".join(dict.fromkeys(ends))
    return "; ".join(["level", *(f"{r} in {t}" for t, r in apart.items())])


def rounded(ratio: float) -> str:
    return f"{ratio:.2f}" if ratio < 1.1 else f"{ratio:.1f}"


def spread(ratios: Sequence[float]) -> str:
    """The median and the range."""
    low, high = min(ratios), max(ratios)
    return f"{median(ratios):.2f} ({low:.2f}–{high:.2f})"


def ratios_table(columns: Mapping[str, Speeds]) -> str:
    """How many times as fast `Games` is as each of the others."""
    ratios = [column.beside_all() for column in columns.values()]
    found = {name for column in ratios for name in column}
    if unnamed := found - NAMES.keys():
        raise ValueError(f"values.py has no name for {sorted(unnamed)}")
    rows = [
        [words, *(spread(r[name]) if name in r else "–" for r in ratios)]
        for name, words in NAMES.items()
        if name in found
    ]
    return table(["`Games` beside", *columns], rows)


def fast_game_table(columns: Mapping[str, Speeds]) -> str:
    """How many times as fast one game is as a simpler one."""
    rows = [
        [title, spread(column.beside("game", "fast_game"))]
        for title, column in columns.items()
    ]
    return table(["one game", "`FastGame` beside `Game`"], rows)


def runners_table(runners: Speeds) -> str:
    """Steps a second of ppo.py and of RLlib with more and more runners."""
    rows = [
        [words, f"{runners.middle(name):,.0f}"]
        for name, words in {
            "ppo": "`ppo.py`",
            "rllib0": "`rllib.py`",
            "rllib1": "`rllib.py --runners 1`",
            "rllib2": "`rllib.py --runners 2`",
        }.items()
    ]
    return table(["eight games, or eight a runner", "steps a second"], rows)


def beside_async(columns: Mapping[str, Speeds], ours: str) -> str:
    """Ours beside the fastest asynchronous engine of each title."""
    comparisons = {}
    for title, column in columns.items():
        engines = [name for name in column.rows if "games" not in name]
        best = max(engines, key=column.middle)
        comparisons[title] = column.beside(best, ours)
    return in_short(comparisons)


def read_titles(name: str, ending: str = "") -> dict[str, Speeds]:
    """The parts of a result, by the names of their titles."""
    parts = read(name, Speeds)
    return {TITLES.get(t, t) + ending: one for t, one in parts.items()}


# What agents learn


def whole_games(scores: Sequence[float]) -> str:
    """The mean of whole games, and the range."""
    return f"{mean(scores):.1f} ({min(scores):.0f} to {max(scores):.0f})"


def agent_table(agents: Mapping[str, Agent]) -> str:
    """A row for each run."""
    rows = [
        [
            TITLES.get(name.removesuffix(f"-{agent.run}"), agent.title),
            agent.run,
            f"{agent.steps:,}",
            f"{agent.hours:.1f}",
            agent.program_commit,
            agent.precision,
            whole_games(agent.scores.served),
        ]
        for name, agent in agents.items()
    ]
    head = ["title", "seed", "steps", "hours", "program", "precision"]
    return table([*head, "mean of 30 games"], rows)


def trained_on(agents: Iterable[Agent]) -> str:
    """On which machines, and until when."""
    last = {}
    for agent in sorted(agents, key=lambda agent: agent.date):
        last[f"{agent.cores} cores ({agent.processor})"] = agent.date
    return "; ".join(f"{on} until {date}" for on, date in last.items())


# All of them


def values() -> dict[str, str]:
    """All values, by name."""
    return speed_values() | agent_values()


def speed_values() -> dict[str, str]:
    lockstep = read_titles("lockstep")
    more = read_titles("lockstep64", ", 64 games")
    more |= read_titles("lockstep256", ", 256 games")
    more |= read_titles("restart", ", a lost life restarts")
    updates = read("updates", Speeds)["Breakout"]
    runners = read("runners", Speeds)["Breakout"]
    waits = read_titles("waits")
    one_game = read_titles("fast_game")
    one_game |= read_titles("fast_game_restart", ", a lost life restarts")
    peers = {name for one in lockstep.values() for name in one.beside_all()}
    return {
        **{
            f"{name}_update": in_short({"Breakout": ratios})
            for name, ratios in updates.beside_all().items()
        },
        **{
            f"{name}_play": in_short(
                {title: one.beside(name) for title, one in lockstep.items()}
            )
            for name in peers
        },
        "compared_on": measured(
            [updates, *lockstep.values(), *waits.values()]
        ),
        "updates_table": ratios_table({"an update of PPO": updates}),
        "updates_on": measured([updates]),
        "updates_precision": updates.precision,
        "runners_table": runners_table(runners),
        "runners_on": measured([runners]),
        "runners_precision": runners.precision,
        "lockstep_table": ratios_table(lockstep | more),
        "lockstep_on": measured([*lockstep.values(), *more.values()]),
        "fast_game_table": fast_game_table(one_game),
        "fast_game_on": measured(one_game.values()),
        "lockstep_beside_async": beside_async(waits, "games"),
        "in_turn_beside_async": beside_async(waits, "games_ready"),
        "waits_on": measured(waits.values()),
    }


def agent_values() -> dict[str, str]:
    agents = dict(sorted(read("agents", Agent).items()))
    breakout = [
        agent
        for name, agent in agents.items()
        if re.fullmatch(r"Breakout-\d+", name)  # which differ in their seeds
    ]
    moving = [agents[f"{n}-0"] for n in ("Breakout", "MsPacman", "Seaquest")]
    hope = json.loads((FIGURES / "network/hope.json").read_text("utf-8"))
    published = breakout[0]
    scores = published.scores
    return {
        "agent_points": f"{scores.film[0]:.0f}",
        "agent_mean": f"{published.mean:.1f}",
        "agent_alone": whole_games(scores.alone),
        "agents_trained_on": trained_on(agents.values()),
        "breakout_end": whole_games([agent.last_score for agent in breakout]),
        "breakout_hours": f"{published.hours:.0f}",
        "agent_table": agent_table(agents),
        "pong_minutes": f"{60 * agents['Pong-1'].hours:.0f}",
        **{
            f"{agent.title.lower()}_{kind}": f"{mean(scores):,.0f}"
            for agent in moving
            for kind, scores in (
                ("moving", agent.scores.served),
                ("still", agent.scores.still),
            )
        },
        "hope_opening": hope["opening"],
        **training_values(),
        "human_points": "31.8",  # DQN's professional tester (Mnih et al. 2015)
    }


def training_values() -> dict[str, str]:
    """The marks of the story's training, in million steps."""
    path = FIGURES / "training/training.json"
    games = json.loads(path.read_text("utf-8"))

    def mark(game: Mapping[str, int]) -> str:
        return f"{game['trained'] / 1e6:.1f}".removesuffix(".0")

    first = next(game for game in games if game["behind"] is not None)
    scores = [
        min(curve, key=lambda row: abs(row.steps - first["trained"])).score
        for curve in read_curves("Breakout").values()
    ]
    return {
        "training_marks": " ".join(map(mark, games)),
        "training_first": mark(first),
        "training_first_scores": listed(
            [f"{score:.0f}" for score in sorted(scores, reverse=True)]
        ),
    }
