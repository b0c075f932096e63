"""The values of the texts: what was measured, rounded, in words and tables.

`values()` is a dict from names to Markdown; texts have it between
`<!--=name-->` and `<!--/-->`. A result is a file of `measure/results/`, a
dict of parts; each says on what and when it was measured. How speeds are
compared is said in `measure/ratios.py`.
"""

import csv
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from statistics import mean, median
from typing import Any, NamedTuple

from paths import FIGURES, RESULTS
from ratios import beside, is_level, spread

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
    "ALE/Breakout-v5": "sticky actions",
    "Breakout-dqn": "Breakout, `dqn.py`",
}

Part = dict[str, Any]
Parts = Mapping[str, Part]
Ratios = Sequence[float]  # round by round


# What was measured


def read(name: str) -> dict[str, Part]:
    """The parts of a result, by name; of any machines, the newest counts."""
    found: list[tuple[str, Part]] = []
    for path in sorted(RESULTS.glob(f"*/{name}.json")):
        found += json.loads(path.read_text("utf-8")).items()
    return dict(sorted(found, key=lambda part: part[1]["date"]))


class Learned(NamedTuple):
    """The score of the last hundred games, after some steps."""

    steps: int
    score: float


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


# How fast


def measured(parts: Iterable[Part]) -> str:
    """On which machines, when, and with which commit of game.py."""
    words = {
        f"{one['cores']} cores ({one['processor']}), {one['date']}, "
        f"commit {one['commit']}": None
        for one in parts
    }
    return "; ".join(words)


def rounds(parts: Iterable[Part]) -> str:
    """How many rounds were played, at least."""
    rows = [row for part in parts for row in part["rows"].values()]
    return str(min(len(row["speed"]) for row in rows))


def beside_all(part: Part) -> dict[str, Ratios]:
    """`Games` beside each of the others, by the names in results."""
    rows = part["rows"]
    others = [name for name in rows if name != "games"]
    return {name: beside(rows, "games", name) for name in others}


def ratios_of(parts: Parts, ours: str, other: str) -> dict[str, Ratios]:
    """Ours beside another one, in the parts that it has played."""
    return {
        title: beside(part["rows"], ours, other)
        for title, part in parts.items()
        if other in part["rows"]
    }


def in_short(comparisons: Mapping[str, Ratios]) -> str:
    """What comparisons in some titles say together."""
    apart = {
        title: rounded(median(ratios))
        for title, ratios in comparisons.items()
        if not is_level(ratios)
    }
    level = [title for title in comparisons if title not in apart]
    if not apart:
        return "level"
    ends = [f(apart.values(), key=float) for f in (min, max)]
    reach = " to ".join(dict.fromkeys(ends))
    if not level:
        return reach
    if len(apart) > 3:
        return f"{reach}, but level in {', '.join(level)}"
    return f"{', '.join(f'{r} ({t})' for t, r in apart.items())}, else level"


def rounded(ratio: float) -> str:
    return f"{ratio:.2f}" if ratio < 1.1 else f"{ratio:.1f}"


def speed_table(columns: Parts, a_row_for_each_title: bool = False) -> str:
    """How many times as fast `Games` is as each of the others."""
    ratios = [beside_all(column) for column in columns.values()]
    found = {name for column in ratios for name in column}
    if unnamed := found - NAMES.keys():
        raise ValueError(f"values.py has no name for {sorted(unnamed)}")
    rows = [
        [words, *(spread(r[name]) if name in r else "–" for r in ratios)]
        for name, words in NAMES.items()
        if name in found
    ]
    lines = [["`Games` beside", *columns], *rows]
    if a_row_for_each_title:
        lines = [list(column) for column in zip(*lines, strict=True)]
    return table(lines[0], lines[1:])


def by_title(parts: Parts, ours: str, other: str) -> str:
    """Ours beside another one, title by title."""
    ratios = ratios_of(parts, ours, other)
    return ", ".join(f"{spread(r)} in {t}" for t, r in ratios.items())


def runners_table(rows: Parts) -> str:
    """Steps a second of ppo.py and of RLlib with more and more runners."""
    programs = {
        "ppo": "`ppo.py`",
        "rllib0": "`rllib.py`",
        "rllib1": "`rllib.py --runners 1`",
        "rllib2": "`rllib.py --runners 2`",
    }
    return table(
        ["eight games, or eight a runner", "steps a second"],
        [
            [words, f"{median(rows[name]['speed']):,.0f}"]
            for name, words in programs.items()
        ],
    )


def starts_table(rows: Parts) -> str:
    """How long workers take to start, and their memory, in some programs."""
    programs = {
        "forkserver": '`"forkserver"`',
        "torch": '`"forkserver"`, `import torch` at the top',
        "preload": '`"forkserver"`, PyTorch preloaded',
        "fork": '`"fork"`',
    }
    return table(
        ["program", "until the first `reset`", "memory of a worker"],
        [
            [
                words,
                f"{median(rows[name]['seconds']):.1f} s",
                f"{median(rows[name]['memory']):.0f} MB",
            ]
            for name, words in programs.items()
        ],
    )


def beside_async(columns: Parts, ours: str) -> str:
    """Ours beside the fastest asynchronous engine of each title."""
    comparisons = {}
    for title, column in columns.items():
        rows = column["rows"]
        engines = [name for name in rows if "games" not in name]
        best = max(engines, key=lambda name: median(rows[name]["speed"]))
        comparisons[title] = beside(rows, ours, best)
    return in_short(comparisons)


def read_titles(name: str, called: str = "") -> dict[str, Part]:
    """The parts of a result, by their titles, or the only one as it's called.

    `called` is for what is measured in Breakout alone.
    """
    return {
        called or TITLES.get(title, title): part
        for title, part in read(name).items()
    }


# What agents learn


def hours(agent: Part) -> float:
    """How long its training took, without breaks of the program."""
    return (sum(agent["seconds"].values()) - agent.get("paused", 0)) / 3600


def whole_games(scores: Ratios) -> str:
    """The mean of whole games, and the range."""
    return f"{mean(scores):.1f} ({min(scores):.0f} to {max(scores):.0f})"


def agent_table(agents: Parts) -> str:
    """A row for each run."""
    rows = [
        [
            TITLES.get(name.removesuffix(f"-{agent['run']}"), agent["title"]),
            agent["run"],
            f"{agent['steps']:,}",
            f"{hours(agent):.1f}",
            agent["program_commit"],
            agent["precision"],
            whole_games(agent["scores"]["served"]),
        ]
        for name, agent in agents.items()
    ]
    head = ["title", "seed", "steps", "hours", "program", "precision"]
    return table([*head, "mean of 30 games"], rows)


def trained_on(agents: Parts) -> str:
    """On which machines, and until when."""
    last = {}
    for agent in sorted(agents.values(), key=lambda agent: agent["date"]):
        machine = f"{agent['cores']} cores ({agent['processor']})"
        last[machine] = agent["date"]
    return "; ".join(f"{on} until {date}" for on, date in last.items())


# All of them


def values() -> dict[str, str]:
    """All values, by name."""
    return speed_values() | agent_values()


def speed_values() -> dict[str, str]:
    eight = read_titles("lockstep")
    more = read_titles("lockstep64", "64 games")
    more |= read_titles("lockstep256", "256 games")
    lockstep = eight | more
    restart = read_titles("restart", "restarts")
    updates = read_titles("updates", "an update of PPO")
    [update] = updates.values()
    [runners] = read("runners").values()
    [starts] = read("starts").values()
    waits = read_titles("waits")
    one_game = read_titles("fast_game")
    compared = updates | lockstep | restart
    itself = read_titles("itself")
    old = read_titles("old")
    old_worker = read_titles("old_worker")
    everything = [
        part
        for parts in (compared, waits, one_game, itself, old, old_worker)
        for part in parts.values()
    ]
    short = {
        f"{name}_update": in_short({"Breakout": ratios})
        for name, ratios in beside_all(update).items()
    }
    for name in ("envpool", "ale", "gymnasium", "sb3"):
        words = [in_short(ratios_of(eight, "games", name))]
        for count, ratios in ratios_of(more, "games", name).items():
            words.append(f"{in_short({count: ratios})} ({count})")
        short[f"{name}_play"] = "; ".join(words)
    return {
        **short,
        "rounds": rounds(everything),
        "compared_on": measured([*compared.values(), *waits.values()]),
        "measured_on": measured(everything),
        "play_table": speed_table(lockstep, a_row_for_each_title=True),
        "speed_table": speed_table(updates | restart),
        "updates_precision": update["precision"],
        "itself": by_title(itself, "games", "again"),
        "old_games": by_title(old, "games", "old"),
        "old_worker": by_title(old_worker, "worker", "old_worker"),
        "starts_table": starts_table(starts["rows"]),
        "starts_on": measured([starts]),
        "runners_table": runners_table(runners["rows"]),
        "runners_on": measured([runners]),
        "runners_precision": runners["precision"],
        "fast_game": in_short(ratios_of(one_game, "fast_game", "game")),
        "lockstep_beside_async": beside_async(waits, "games"),
        "in_turn_beside_async": beside_async(waits, "games_ready"),
    }


def agent_values() -> dict[str, str]:
    agents = dict(sorted(read("agents").items()))
    breakout = [
        agent
        for name, agent in agents.items()
        if re.fullmatch(r"Breakout-\d+", name)  # which differ in their seeds
    ]
    published = breakout[0]
    scores = published["scores"]
    return {
        "agent_mean": f"{mean(scores['served']):.1f}",
        "breakout_moving": f"{mean(scores['served']):.0f}",
        "breakout_still": f"{mean(scores['still']):.0f}",
        "agents_trained_on": trained_on(agents),
        "breakout_end": whole_games([a["last_score"] for a in breakout]),
        "breakout_hours": f"{hours(published):.0f}",
        "agent_table": agent_table(agents),
        "pong_hours": f"{hours(agents['Pong-0']):.1f}",
        **training_values(),
        "alone_minutes": alone_minutes(),
        **ball_values(),
        "human_points": "31.8",  # DQN's professional tester (Mnih et al. 2015)
    }


def alone_minutes() -> str:
    """How long five balls last the agent of the story, in a word."""
    path = FIGURES / "tease/tease.json"
    seconds = json.loads(path.read_text("utf-8"))["alone"]
    return ["no", "one", "two", "three", "four"][round(median(seconds) / 60)]


def ball_values() -> dict[str, str]:
    """The points a ball with each change of the agent's pictures."""
    path = FIGURES / "ball/ball.json"
    played = json.loads(path.read_text("utf-8"))
    means = {name: it["points"] / it["balls"] for name, it in played.items()}
    return {
        f"ball_{name}": f"{mean:.1f}" if mean < 10 else f"{mean:.0f}"
        for name, mean in means.items()
    }


def training_values() -> dict[str, str]:
    """The marks of the story's training, in million steps."""
    path = FIGURES / "training/training.json"
    games = json.loads(path.read_text("utf-8"))

    def mark(game: Mapping[str, int]) -> str:
        return f"{game['trained'] / 1e6:.1f}".removesuffix(".0")

    first = next(game for game in games if game["behind"] is not None)
    return {
        "training_marks": " ".join(map(mark, games)),
        "training_first": mark(first),
    }
