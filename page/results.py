"""What was measured: the files of `measure/results/`, as typed records.

`MACHINE/NAME.json` is a dict of parts; each says on what and when it was
measured. Nothing here imports the instruments.
"""

import csv
import json
from pathlib import Path
from typing import NamedTuple

from msgspec import Struct, convert, field

from paths import RESULTS


class Measured(Struct, kw_only=True):
    """On what, when, and with which commit of game.py."""

    processor: str
    cores: int
    gpu: str | None = None
    date: str
    commit: str

    @property
    def where(self) -> str:
        gpu = f", {self.gpu}" if self.gpu else ""
        return f"{self.cores} cores ({self.processor}{gpu})"


class Player(Struct):
    """How fast a contender played, by rounds, and its memory in MB."""

    speed: list[float]  # steps/s
    memory: float | None = None


class Speeds(Measured):
    """Contenders that took turns, by their names."""

    rounds: int
    seconds: float  # of a round
    rows: dict[str, Player]


class Updates(Measured):
    """Updates of PPO, in rounds: of each side the seconds of its parts."""

    agent: str  # "trained" or "untrained"
    games: int
    steps: int  # of an update
    rounds: list[dict[str, list[float]]]


class ActorUpdates(Measured):
    """Updates by Ray's actors and by ppo.py, in rounds: each one's seconds."""

    games: int  # of an actor
    steps: int  # of an actor, in an update
    updates: list[dict[str, dict[str, float]]]  # by side and part


class Scores(Struct):
    """Of whole games."""

    served: list[float]
    alone: list[float] = []  # nobody pressed FIRE for the agent
    still: list[float] = []  # nothing moved in what it saw
    film: list[float] = []


class Agent(Measured):
    """What an agent has learned."""

    title: str
    run: str  # its seed, and where it learned
    steps: int
    seconds: dict[str, float]  # of its training, by activity
    last_score: float  # the mean of its last hundred games of training
    scores: Scores

    @property
    def hours(self) -> float:
        return sum(self.seconds.values()) / 3600


class Seen(Struct):
    """What a vector environment does about a fault."""

    end: str
    step: str | None = None  # what its step says, if it returns
    next_step: str | None = field(default=None, name="next step")


class Peers(Measured):
    peers: dict[str, dict[str, Seen]]  # by contender and fault


class Counts(Struct):
    steps: int
    replaced: int  # workers


class Soak(Measured):
    counts: Counts


class Chaos(Struct):
    peers: Peers
    soak: Soak


class Start(Struct):
    """What it costs to start processes by a method."""

    first: float  # seconds until `Games(8)` has answered
    later: float
    workers: float  # until 64 `Worker`s have
    memory: int  # MB of a worker, its own


class Starts(Measured):
    methods: dict[str, Start]


class Span(NamedTuple):
    """From when to when, in milliseconds since a step began."""

    start: float
    end: float


class Lanes(Struct):
    """When the program and each game were at work in a step."""

    program: list[Span]
    games: list[Span]


class Race(Measured):
    workers: Lanes  # one for each game
    games: Lanes


class Machine(Struct):
    """What was measured on a machine, by file and part."""

    lockstep: dict[str, Speeds] = {}
    wrappers: dict[str, Speeds] = {}
    waits: dict[str, Speeds] = {}
    computes: dict[str, Speeds] = {}
    none: dict[str, Speeds] = {}
    number: dict[str, Speeds] = {}
    updates: dict[str, Updates] = {}
    actors: dict[str, ActorUpdates] = {}
    agents: dict[str, Agent] = {}
    motion: dict[str, Agent] = {}  # with a number of pictures each
    chaos: Chaos | None = None
    starts: dict[str, Starts] = {}
    race: dict[str, Race] = {}


class Learned(NamedTuple):
    """The score of the last hundred games, after some steps."""

    steps: int
    score: float


def read(folder: Path = RESULTS) -> dict[str, Machine]:
    """All results, by machine."""
    return {
        machine.name: convert(
            {
                path.stem: json.loads(path.read_text("utf-8"))
                for path in machine.glob("*.json")
            },
            Machine,
        )
        for machine in sorted(folder.iterdir())
        if machine.is_dir()
    }


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
