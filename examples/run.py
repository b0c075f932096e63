"""What keeps a training: its folder, its log, and how it is stopped.

A learner has settings, a dataclass that extends `RunSettings`, and parts,
objects with `state_dict`. One command begins a run or continues it:

    settings = read_settings(Settings, __doc__)
    with Run(settings, weights=network, optimizer=optimizer) as run:
        while not run.over:
            ...
            run.add(steps, ended, figures)

A signal ends it after an update, with a checkpoint; a second one at once.

A run is its folder. If that has a checkpoint.pt, the run continues with the
settings that were saved there, except for those on the command line. The
folder also has the settings as text, settings.json, and a row for each
checkpoint, in curve.csv and for TensorBoard.
"""

import contextlib
import csv
import dataclasses
import datetime
import hashlib
import importlib.metadata
import inspect
import io
import json
import math
import os
import pathlib
import signal
import sys
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from typing import Any, ClassVar, NamedTuple, TypeVar

import numpy as np
import torch
import tyro
from torch.utils.tensorboard import SummaryWriter

# ## Settings


@dataclasses.dataclass
class RunSettings:
    """The settings that every run has."""

    program: ClassVar[str]  # Another program can't continue the run.

    env_id: tyro.conf.Positional[str]
    """Gymnasium's id of the game."""
    seed: int = 0
    """Seed of the weights, the games and the sampled actions."""
    steps: int = 10_000_000
    """Steps of the whole training, in all games together."""
    folder: pathlib.Path | None = None
    """Folder of the run, to begin or to continue; None: a new one in runs/."""
    device: str = "cuda" if torch.cuda.is_available() else "cpu"
    """Device that computes the network."""
    save_every: int = 10
    """Updates between two checkpoints, each with a row of the curve."""
    keep_every: int = 1_000_000
    """Steps between two checkpoints that are kept."""

    def kept(self) -> dict[str, Any]:
        """Return what a checkpoint keeps, as plain Python values."""
        return {
            name: value.tolist() if hasattr(value, "tolist") else value
            for name, value in vars(self).items()
            if name not in ("folder", "device")
        }


Kind = TypeVar("Kind", bound=RunSettings)


def read_settings(kind: type[Kind], description: str | None = None) -> Kind:
    """Read the command line, and the settings of the run that it names."""
    settings = tyro.cli(kind, description=description)
    path = pathlib.Path(settings.folder or "", "checkpoint.pt")
    if settings.folder and os.path.exists(path):
        saved = saved_settings(kind, read_checkpoint(path), path)
        settings = tyro.cli(kind, description=description, default=saved)
    for name, value in vars(settings).items():
        if name in ("seed", "noop_max", "processes"):
            continue  # `Games` checks these
        low = 1 if type(value) is int else 0
        if isinstance(value, int | float) and not low <= value < math.inf:
            raise RunError(f"--{name.replace('_', '-')} can't be {value}")
    return settings


def saved_settings(
    kind: type[Kind], saved: dict[str, Any], path: pathlib.Path
) -> Kind:
    """Return the settings of a checkpoint."""
    with one_line(f"{path} doesn't fit"):
        if saved["program"] != kind.program:
            raise RunError(f"{path} is of {saved['program']}.py")
        kept = saved["settings"]
        names = {field.name for field in dataclasses.fields(kind)}
        return kind(**{name: kept[name] for name in names if name in kept})


def sources(kind: type[RunSettings]) -> dict[str, str]:
    """Return git's hash of each file that a run consists of, by its name.

    These are the files of the settings and of their bases, such as ppo.py and
    this one, and game.py. `git log --find-object HASH` finds the commit.
    """
    paths = [
        inspect.getfile(each)
        for each in kind.__mro__
        # a class of a notebook has no file
        if hasattr(sys.modules[each.__module__], "__file__")
    ]
    if "game" in sys.modules:
        paths.append(inspect.getfile(sys.modules["game"]))
    return {path.name: blob_hash(path) for path in map(pathlib.Path, paths)}


def blob_hash(path: pathlib.Path) -> str:
    """Return the hash that git has for a file."""
    data = path.read_bytes()
    return hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()


def versions() -> dict[str, str]:
    """Return the versions of what decides over a training's results."""
    names = ["torch", "ale-py"]
    return {name: importlib.metadata.version(name) for name in names}


# ## The program


class RunError(Exception):
    """Ends the program with one line and without a traceback."""


@contextlib.contextmanager
def one_line(about: str) -> Iterator[None]:
    """Turn the errors of wrong settings and files into a `RunError`."""
    try:
        yield
    except (RunError, AttributeError, NameError):
        raise  # The last two are mistakes in the program.
    except Exception as error:  # PyTorch and Gymnasium raise all kinds
        raise RunError(f"{about}: {error!s:.400}") from error


def run_program(main: Callable[[], None]) -> None:
    """Run a program. A `RunError` ends it with exit code 2."""
    try:
        main()
    except RunError as error:
        name = pathlib.Path(sys.argv[0]).name
        words = " ".join(str(error).split())
        with contextlib.suppress(OSError, ValueError):
            print(f"{name}: error: {words}", file=sys.stderr)
        sys.exit(2)
    finally:
        # If lines are left that nobody reads, Python would end with 120.
        try:
            print(end="", flush=True)
        except OSError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def say(*words: Any) -> None:
    """Print a line, if it can be printed."""
    # A pipe may be closed, a disk full, or a letter unknown to the terminal.
    with contextlib.suppress(OSError, ValueError):
        print(*words, flush=True)


@contextlib.contextmanager
def noting_signals() -> Iterator[threading.Event]:
    """Set an event when the program is asked to end; twice ends it at once."""
    asked = threading.Event()
    before: dict[int, Any] = {}

    def note(number: int, frame: Any) -> None:
        asked.set()
        # A session that ends may send SIGHUP after SIGTERM, and asks once.
        for each in {number, signal.SIGINT, signal.SIGTERM} & before.keys():
            signal.signal(each, signal.SIG_DFL)
        # `print` may be what was interrupted, and the terminal closed.
        with contextlib.suppress(OSError):
            os.write(2, b"ends after this update; once more: at once\n")

    # Python allows handlers in the main thread alone. Windows has no SIGHUP.
    # What a shell ignores (`nohup`, or `&`) stays ignored.
    if threading.current_thread() is threading.main_thread():
        for name in {"SIGINT", "SIGTERM", "SIGHUP"} & vars(signal).keys():
            number = getattr(signal, name)
            if signal.getsignal(number) not in (signal.SIG_IGN, None):
                before[number] = signal.signal(number, note)
    try:
        yield asked
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


# ## Files


def read_checkpoint(path: pathlib.Path) -> dict[str, Any]:
    """Read what PyTorch has saved."""
    try:
        # To the CPU: the machine that wrote it may have had other devices.
        return torch.load(path, "cpu", weights_only=True)
    except Exception as error:  # PyTorch raises all kinds
        kept = " ".join(map(str, path.parent.glob("checkpoint-*.pt")))
        raise RunError(
            f"{path} can't be read ({error!r:.60}); copy an older one there: "
            f"{kept or 'there is none'}"
        ) from error


def write(path: pathlib.Path, data: bytes) -> None:
    """Write a file whole, or leave what was there."""
    # Another program, on another machine perhaps, may write the same file.
    new = path.with_name(f"{path.name}-{uuid.uuid4()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with new.open("wb") as file:
            file.write(data)
            # Else a power failure may leave an empty file.
            os.fsync(file.fileno())
        new.replace(path)
    except OSError as error:
        with contextlib.suppress(OSError):
            new.unlink()
        raise RunError(f"{path} can't be written: {error}") from error


# ## The run


class Ended(NamedTuple):
    """A whole game that has ended."""

    score: float
    length: float


Row = dict[str, Any]


@dataclasses.dataclass
class Progress:
    """What a training has reached, as its checkpoint keeps it."""

    steps: int = 0
    updates: int = 0
    seconds: float = 0.0
    # one for each checkpoint
    rows: list[Row] = dataclasses.field(default_factory=list)
    # score and length of the last hundred whole games, as many as in CleanRL
    ended: list[tuple[float, float]] = dataclasses.field(default_factory=list)


def new_name(env_id: str, seed: int) -> str:
    """Return a name for the folder of a new run."""
    now = datetime.datetime.now(datetime.timezone.utc)
    title = env_id.replace("/", "-")
    return f"{title}-{seed}-{now:%Y%m%d-%H%M%S-%f}"


class Run:
    """A training, which is counted, saved and logged as it goes.

    Attributes:
        settings: Settings of the run.
        folder: Folder of the run.
        random: Generator for what the training draws; it is saved, too.
    """

    def __init__(self, settings: RunSettings, **parts: Any) -> None:
        name = new_name(settings.env_id, settings.seed)
        self.folder = settings.folder or pathlib.Path("runs", name)
        self.random = torch.Generator().manual_seed(int(settings.seed))
        # now, since a file may be edited while the training runs
        self._sources = sources(type(settings))
        self.settings = settings
        self._parts = parts
        self._progress = Progress()
        if os.path.exists(self.folder / "checkpoint.pt"):
            self._continue()
        self._start = dataclasses.replace(self._progress)
        self._began = time.perf_counter() - self._start.seconds
        self._next_line = 0.0
        self._saved = self.steps
        self._stopped = False
        self._signals = contextlib.ExitStack()
        text = json.dumps(settings.kept(), indent=2)
        write(self.folder / "settings.json", text.encode())
        # What was logged after the checkpoint is dropped: it is played again.
        self._board = SummaryWriter(self.folder, purge_step=self.steps + 1)
        self._board.add_text("settings", f"```json\n{text}\n```", self.steps)
        self._write_curve()
        say(f"{self.folder}: {self.steps:,} steps of {settings.steps:,}")

    def _continue(self) -> None:
        """Load the checkpoint, and tell which settings have changed."""
        path = self.folder / "checkpoint.pt"
        saved = read_checkpoint(path)
        before = saved_settings(type(self.settings), saved, path).kept()
        now = self.settings.kept()
        if now["env_id"] != before["env_id"]:
            raise RunError(f"{path} is of {before['env_id']}")
        with one_line(f"{path} doesn't fit"):
            for name, part in self._parts.items():
                part.load_state_dict(saved[name])
            self.random.set_state(saved["random"])
            self._progress = Progress(**saved["progress"])
        for name, value in now.items():
            if value != before[name]:
                say(f"{name} is {value} now, and was {before[name]}")

    def __enter__(self) -> "Run":
        self._asked = self._signals.enter_context(noting_signals())
        return self

    def __exit__(self, *_: Any) -> None:
        self._signals.close()
        # An error here would hide the one that has ended the training.
        with contextlib.suppress(OSError):
            self._board.close()

    @property
    def steps(self) -> int:
        return self._progress.steps

    @property
    def asked(self) -> bool:
        """Whether a signal has asked the training to end."""
        return self._asked.is_set()

    @property
    def over(self) -> bool:
        return self._stopped or self.steps >= self.settings.steps

    def add(
        self, steps: int, ended: list[Ended], figures: dict[str, float]
    ) -> None:
        """Count an update; save it if it is time.

        Args:
            steps: Number of steps that were played.
            ended: The whole games that have ended.
            figures: What is logged. Losses are checked to be finite.
        """
        now = self._progress
        now.seconds = time.perf_counter() - self._began
        now.steps += steps
        now.updates += 1
        for score, length in ended:
            now.ended = [*now.ended[-99:], (float(score), float(length))]
            game = {"game/score": score, "game/length": length}
            self._show(game)
        self._check_finite(figures)
        self._stopped = self.asked
        row = self._make_row(figures)
        if self.over or now.updates % self.settings.save_every == 0:
            now.rows.append(row)
            # The checkpoint comes last, so that its rows are in the log.
            self._show(row)
            self._write_curve()
            self._save()
        if self.over or now.seconds >= self._next_line:
            self._next_line = now.seconds + 10
            self._say_row(row)

    def _check_finite(self, figures: dict[str, float]) -> None:
        # A sum is finite only if all that is added is.
        total = sum(v for k, v in figures.items() if k.endswith("loss"))
        for part in self._parts.values():
            if isinstance(part, torch.nn.Module):
                total += sum(w.sum().item() for w in part.parameters())
        if not math.isfinite(total):
            raise RunError(
                "loss or weights have numbers that aren't finite since step "
                f"{self.steps:,}; {self.folder} has those of {self._saved:,}"
            )

    def _make_row(self, figures: dict[str, float]) -> Row:
        now = self._progress
        steps = now.steps - self._start.steps
        # no number if no game has ended
        score, length = None, None
        if now.ended:
            score, length = np.mean(now.ended, 0).tolist()
        return {
            "steps": now.steps,
            "seconds": now.seconds,
            "steps_per_second": steps / (now.seconds - self._start.seconds),
            **{name: float(value) for name, value in figures.items()},
            "score": score,
            "length": length,
        }

    def _show(self, figures: Row) -> None:
        """Show figures on TensorBoard."""
        with one_line(f"{self.folder} can't be written"):
            for name, value in figures.items():
                if value is not None:
                    self._board.add_scalar(name, value, self.steps)
            self._board.flush()

    def _write_curve(self) -> None:
        # All rows: another version of a program may have other figures.
        rows = self._progress.rows
        curve = io.StringIO()
        names = dict.fromkeys(name for row in rows for name in row)
        writer = csv.DictWriter(curve, names)
        writer.writeheader()
        writer.writerows(rows)
        write(self.folder / "curve.csv", curve.getvalue().encode())

    def _say_row(self, row: Row) -> None:
        speed, score = row["steps_per_second"], row["score"]
        minutes = max(0, self.settings.steps - self.steps) / speed / 60
        result = "no game has ended" if score is None else f"score {score:.1f}"
        say(
            f"{self.steps:,} steps, {speed:,.0f} steps/s, "
            f"{minutes // 60:.0f}:{minutes % 60:02.0f} h left, {result}"
        )

    def _save(self) -> None:
        """Write a checkpoint to continue from."""
        saved = {name: part.state_dict() for name, part in self._parts.items()}
        saved["random"] = self.random.get_state()
        saved["program"] = self.settings.program
        saved["sources"] = self._sources
        saved["versions"] = versions()
        saved["settings"] = self.settings.kept()
        saved["progress"] = vars(self._progress)
        file = io.BytesIO()
        torch.save(saved, file)
        every = self.settings.keep_every
        if self.steps // every > self._saved // every:
            path = self.folder / f"checkpoint-{self.steps}.pt"
            write(path, file.getvalue())
        write(self.folder / "checkpoint.pt", file.getvalue())
        self._saved = self.steps
