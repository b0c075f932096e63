"""What was measured: the files of `measure/results/`, as typed records.

A file is `MACHINE/INSTRUMENT.json`, a dict of parts; each says on what and
when it was measured. Nothing here imports the instruments.
"""

import csv
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from paths import RESULTS


class Measured(NamedTuple):
    """On what, when, and with which commit of game.py."""

    processor: str
    cores: int
    gpu: str | None
    date: str
    commit: str

    @property
    def where(self) -> str:
        gpu = f", {self.gpu}" if self.gpu else ""
        return f"{self.cores} cores ({self.processor}{gpu})"


class Player(NamedTuple):
    """How fast a contender played, by rounds, and its memory in MB."""

    speeds: list[float]  # steps/s
    memory: float | None


@dataclass(frozen=True)
class Speeds:
    """Contenders that took turns, by their names."""

    measured: Measured
    rounds: int
    seconds: float  # of a round
    players: dict[str, Player]


@dataclass(frozen=True)
class Updates:
    """Updates of PPO, in rounds: of each side the seconds of one."""

    measured: Measured
    agent: str  # "trained" or "untrained"
    games: int
    steps: int  # of an update
    rounds: list[dict[str, float]]


@dataclass(frozen=True)
class ActorUpdates:
    """Updates by Ray's actors and by ppo.py, in rounds: each one's seconds."""

    measured: Measured
    games: int  # of an actor
    steps: int  # of an actor, in an update
    rounds: list[dict[str, dict[str, float]]]  # by side and part


@dataclass(frozen=True)
class Agent:
    """What an agent has learned. Scores are those of whole games."""

    measured: Measured
    title: str
    run: str  # its seed, and where it learned
    steps: int
    hours: float
    last_score: float  # the mean of its last hundred games of training
    served: list[float]
    alone: list[float]  # nobody pressed FIRE for it
    still: list[float]  # nothing moved in what it saw
    film: list[float]


class Seen(NamedTuple):
    """What a vector environment does about a fault."""

    step: str | None  # what its step says, if it returns
    later: str
    end: str


class Soak(NamedTuple):
    steps: int
    replaced: int  # workers


class Start(NamedTuple):
    """What it costs to start processes by a method."""

    first: float  # seconds until `Games(8)` has answered
    later: float
    workers: float  # until 64 `Worker`s have
    memory: int  # MB of a worker, its own


class Span(NamedTuple):
    """From when to when, in milliseconds since a step began."""

    start: float
    end: float


class Lanes(NamedTuple):
    """When the program and each game were at work in a step."""

    program: list[Span]
    games: list[Span]


@dataclass(frozen=True)
class Machine:
    """What was measured on a machine."""

    speeds: dict[str, dict[str, Speeds]]  # by part and title, or number
    updates: list[Updates]
    actors: list[ActorUpdates]
    agents: list[Agent]
    faults: dict[str, dict[str, Seen]]  # by contender and fault
    soak: Soak | None
    starts: dict[str, Start]  # by method
    race: dict[str, Lanes]  # by side


class Learned(NamedTuple):
    """The score of the last hundred games, after some steps."""

    steps: int
    score: float


# Reading


def read(folder: Path = RESULTS) -> dict[str, Machine]:
    """All results, by machine."""
    return {
        path.name: read_machine(path)
        for path in sorted(folder.iterdir())
        if path.is_dir()
    }


def read_machine(folder: Path) -> Machine:
    files = {
        path.stem: json.loads(path.read_text("utf-8"))
        for path in sorted(folder.glob("*.json"))
    }
    chaos = files.get("chaos", {})
    return Machine(
        {
            name: {column: speeds(part) for column, part in parts.items()}
            for name, parts in files.items()
            if any("rows" in part for part in parts.values())
        },
        [updates(part) for part in files.get("updates", {}).values()],
        [actors(part) for part in files.get("actors", {}).values()],
        [agent(part) for part in files.get("agents", {}).values()],
        {
            name: {fault: seen(found) for fault, found in faults.items()}
            for name, faults in chaos.get("peers", {}).get("peers", {}).items()
        },
        soak(chaos["soak"]["counts"]) if "soak" in chaos else None,
        {
            method: Start(**taken)
            for part in files.get("starts", {}).values()
            for method, taken in part["methods"].items()
        },
        {
            side: lanes(part[side])
            for part in files.get("race", {}).values()
            for side in ("workers", "games")
        },
    )


def measured(part: Mapping[str, Any]) -> Measured:
    return Measured(
        part["processor"],
        part["cores"],
        part.get("gpu"),
        part["date"],
        part["commit"],
    )


def speeds(part: Mapping[str, Any]) -> Speeds:
    players = {
        name: Player(row["speed"], row.get("memory"))
        for name, row in part["rows"].items()
    }
    return Speeds(measured(part), part["rounds"], part["seconds"], players)


def updates(part: Mapping[str, Any]) -> Updates:
    rounds = [
        {side: sum(seconds) for side, seconds in one.items()}
        for one in part["rounds"]
    ]
    return Updates(
        measured(part), part["agent"], part["games"], part["steps"], rounds
    )


def actors(part: Mapping[str, Any]) -> ActorUpdates:
    return ActorUpdates(
        measured(part), part["games"], part["steps"], part["updates"]
    )


def agent(part: Mapping[str, Any]) -> Agent:
    return Agent(
        measured(part),
        part["title"],
        part["run"],
        part["steps"],
        sum(part["seconds"].values()) / 3600,
        part["last_score"],
        part["scores"]["served"],
        part["scores"]["alone"],
        part["scores"].get("still", []),
        part["scores"].get("film", []),
    )


def seen(found: Mapping[str, Any]) -> Seen:
    later = found.get("next step", found["end"])
    return Seen(found.get("step"), later, found["end"])


def soak(counts: Mapping[str, int]) -> Soak:
    return Soak(counts["steps"], counts["replaced"])


def lanes(side: Mapping[str, list[list[float]]]) -> Lanes:
    return Lanes(
        [Span(*span) for span in side["program"]],
        [Span(*span) for span in side["games"]],
    )


def read_rows(path: Path) -> list[dict[str, str]]:
    """The rows of a table, by the names of its columns."""
    return list(csv.DictReader(path.read_text("utf-8").splitlines()))


def read_curves(title: str) -> dict[str, list[Learned]]:
    """The curve of each agent of a title, by its seed."""
    return {
        path.stem.removeprefix(f"{title}-"): [
            Learned(int(row["steps"]), float(row["score"]))
            for row in read_rows(path)
            if row["score"]  # until a game has ended there is none
        ]
        for path in sorted(RESULTS.glob(f"*/{title}-?.csv"))
    }
