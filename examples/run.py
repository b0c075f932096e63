"""What keeps a training: its folder, its log, and how it is stopped.

A learner has settings, a dataclass that extends `RunSettings`, and parts: the
networks, optimizers and other objects with a `state_dict` that it trains.

    settings = read_settings(Settings, __doc__)
    with Run(settings, weights=network, optimizer=optimizer) as run:
        while not run.over:
            ...
            run.add(steps, ended, figures)

A run is its folder. If that has a checkpoint.pt, the run continues with the
settings that were saved there, except for those on the command line. The
settings are also in settings.json, with what the run is computed on and by.
Each checkpoint has a row in curve.csv and on TensorBoard, but for the first
one, which is saved before anything is played.
"""

import collections
import contextlib
import csv
import dataclasses
import datetime
import importlib.metadata
import io
import json
import math
import os
import pathlib
import platform
import signal
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any, ClassVar, NamedTuple, TypeVar

import filelock
import numpy as np
import torch
import tyro
from torch.utils.tensorboard import SummaryWriter

# ## Settings


@dataclasses.dataclass
class RunSettings:
    """The settings that every run has."""

    program: ClassVar[str]  # Another program can't continue the run.
    # A continued run doesn't use these, or its weights have another shape.
    fixed: ClassVar[set[str]] = {"env_id", "seed"}

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

    @property
    def scored(self) -> str:
        """What is scored: a game, or a life."""
        return "game"

    def kept(self) -> dict[str, Any]:
        """Return what a checkpoint keeps."""
        return {
            name: value
            for name, value in vars(self).items()
            if name not in ("folder", "device")
        }


Kind = TypeVar("Kind", bound=RunSettings)


def read_settings(kind: type[Kind], description: str | None = None) -> Kind:
    """Read the command line, and the settings of the run that it names."""
    settings = tyro.cli(kind, description=description)
    path = settings.folder and settings.folder / "checkpoint.pt"
    if path and path.exists():
        saved = saved_settings(kind, read_checkpoint(path), path)
        settings = tyro.cli(kind, description=description, default=saved)
    return settings


def saved_settings(
    kind: type[Kind], saved: dict[str, Any], path: pathlib.Path
) -> Kind:
    """Return the settings of a checkpoint."""
    with one_line(f"{path} doesn't fit"):
        if saved["program"] != kind.program:
            raise RunError(f"{path} is of {saved['program']}.py")
        return kind(**saved["settings"])


def describe(settings: RunSettings) -> dict[str, Any]:
    """Return what a run is computed on and by."""
    half = getattr(settings, "bfloat16", False)
    device = settings.device
    if torch.device(device).type == "cuda":
        device += f" ({torch.cuda.get_device_name(device)})"
    return {
        "program": settings.program,
        "commit": commit_of(type(settings)),
        "python": platform.python_version(),
        "torch": str(torch.__version__),
        "ale-py": importlib.metadata.version("ale-py"),
        "device": device,
        "precision": "bfloat16" if half else "float32",
        "threads": torch.get_num_threads(),
        "score": f"of a {settings.scored}",
    }


def commit_of(kind: type) -> str | None:
    """Return the commit of a class's file, or None if git knows none."""
    file = getattr(sys.modules[kind.__module__], "__file__", "")
    folder = str(pathlib.Path(file).resolve().parent)
    command = ["git", "-C", folder, "describe", "--always", "--dirty"]
    with contextlib.suppress(OSError):  # There may be no git.
        found = subprocess.run(command, capture_output=True, text=True)
        return found.stdout.strip() or None
    return None


# ## The program

EVENTS = "events.out.tfevents.*.run"  # TensorBoard's files
STOPPED = 75  # EX_TEMPFAIL, the exit code that asks to be run again


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
        words = " ".join(str(error).split())
        print(
            f"{pathlib.Path(sys.argv[0]).name}: error: {words}",
            file=sys.stderr,
        )
        sys.exit(2)


# ## Files


def newest_kept(folder: pathlib.Path) -> str:
    """Return the last of the checkpoints that are kept, to be named."""
    kept = folder.glob("checkpoint-*.pt")
    return str(max(kept, key=os.path.getmtime, default="none"))


def read_checkpoint(path: pathlib.Path) -> dict[str, Any]:
    """Read what PyTorch has saved."""
    try:
        # To the CPU: the machine that wrote it may have had other devices.
        return torch.load(path, "cpu", weights_only=True)
    except (FileNotFoundError, NotADirectoryError) as error:
        raise RunError(f"there is no {path}") from error
    except Exception as error:  # PyTorch raises all kinds
        raise RunError(
            f"{path} is no checkpoint, or is damaged ({error!r:.60}); the one "
            f"before, to be copied there: {newest_kept(path.parent)}"
        ) from error


def write(path: pathlib.Path, data: bytes) -> None:
    """Write a file whole, or leave what was there."""
    new = path.with_name(f"{path.name}.new")
    with one_line(f"{path} can't be written"):
        path.parent.mkdir(parents=True, exist_ok=True)
        new.write_bytes(data)
        new.replace(path)


def uncompiled(part: Any) -> Any:
    """Return a network itself, with its own names, if it is compiled."""
    return getattr(part, "_orig_mod", part)


def find_program(name: str, folder: pathlib.Path) -> pathlib.Path | None:
    """Return the file by which play.py loads a program's checkpoints."""
    places = [pathlib.Path(__file__).resolve().parent, folder.resolve()]
    files = [place / f"{name}.py" for place in places]
    return next(filter(pathlib.Path.is_file, files), None)


# ## The run


class Ended(NamedTuple):
    """A whole game that has ended."""

    score: float
    length: float


class Learned(NamedTuple):
    """What plays: a program's `load` returns it, for play.py.

    `act` gets the observations of some games, and a mask `(games,)` of bools:
    where it is true, an episode begins with this observation, and a memory
    begins anew. It returns an action for each game.
    """

    act: Callable[[np.ndarray, np.ndarray], list[int]]
    settings: Any


@dataclasses.dataclass
class Progress:
    """What a training has reached, as its checkpoint keeps it."""

    begun: str  # when
    steps: int = 0
    updates: int = 0
    seconds: float = 0.0
    games: int = 0  # that have ended
    # score and length of the last hundred of them, as many as in CleanRL
    ended: list[tuple[float, float]] = dataclasses.field(default_factory=list)
    # one for each checkpoint, with the time at which it was made
    rows: list[dict[str, Any]] = dataclasses.field(default_factory=list)


class Run:
    """A training, which is counted, saved and logged as it goes.

    Attributes:
        settings: Settings of the run.
        folder: Folder of the run.
        asked: Whether a signal has asked the training to end.
        random: Generator for what the training draws; it is saved, too.
    """

    def __init__(self, settings: RunSettings, **parts: Any) -> None:
        now = datetime.datetime.now(datetime.timezone.utc)
        title = settings.env_id.replace("/", "-")
        name = f"{title}-{settings.seed}-{now:%Y%m%d-%H%M%S-%f}"
        self.folder = pathlib.Path(settings.folder or f"runs/{name}")
        self.random = torch.Generator().manual_seed(settings.seed)
        self.settings = settings
        self._parts = {name: uncompiled(part) for name, part in parts.items()}
        self._progress = Progress(now.isoformat())
        self._path = self.folder / "checkpoint.pt"
        self._lock = filelock.FileLock(self.folder / "lock", blocking=False)
        with one_line(f"{self.folder} is in use, or can't be written"):
            self.folder.mkdir(parents=True, exist_ok=True)
            self._lock.acquire()
        if self._path.exists():
            self._continue()
        else:
            self._check_new()
        self._about = describe(settings) | {"begun": self._progress.begun}
        self._saved = self.steps
        # Else nobody could tell a run that was killed before its first
        # checkpoint from one that has lost its last.
        self._save()
        text = json.dumps(settings.kept() | {"about": self._about}, indent=2)
        write(self.folder / "settings.json", text.encode())
        # steps a second of the last updates
        self._speeds: collections.deque = collections.deque(maxlen=20)
        self._next_line = 0.0
        self.asked = False
        self._handlers: dict[int, Any] = {}  # of before
        self._stopped = False

    def _continue(self) -> None:
        """Load the checkpoint."""
        saved = read_checkpoint(self._path)
        before = saved_settings(type(self.settings), saved, self._path)
        for name in self.settings.fixed:
            was, now = getattr(before, name), getattr(self.settings, name)
            words = f"{name} is {now} now, and was {was}"
            if was != now:
                raise RunError(f"{self._path} can't go on: {words}")
        with one_line(f"{self._path} doesn't fit"):
            for name, part in self._parts.items():
                part.load_state_dict(saved[name])
            self.random.set_state(saved["random"])
            self._progress = Progress(**saved["progress"])

    def _check_new(self) -> None:
        """See that no run would be overwritten."""
        for name in ("checkpoint*.pt", "curve.csv", "settings.json", EVENTS):
            for found in self.folder.glob(name):
                raise RunError(
                    f"{found} is of a run that has no checkpoint.pt; the one "
                    f"before, to be copied there: {newest_kept(self.folder)}"
                )

    def __enter__(self) -> "Run":
        # TensorBoard gets all rows anew: a kill may have lost the last one.
        for path in self.folder.glob(EVENTS):
            path.unlink()
        self._board = SummaryWriter(self.folder, filename_suffix=".run")
        self._log(self._progress.rows)
        # Python sets handlers in the main thread alone.
        is_main = threading.current_thread() is threading.main_thread()
        for name in ("SIGINT", "SIGTERM", "SIGHUP") if is_main else ():
            number = getattr(signal, name, None)  # Windows has no SIGHUP.
            # What a shell ignores (`nohup`) stays ignored.
            if number and signal.getsignal(number) != signal.SIG_IGN:
                self._handlers[number] = signal.signal(number, self._note)
        # From this line on a signal saves before it ends the program.
        print(
            f"{self.folder}: {self.steps:,} steps of {self.settings.steps:,}, "
            f"on {self._about['device']} in {self._about['precision']}",
            flush=True,
        )
        program = self.settings.program
        has_load = hasattr(sys.modules[type(self.settings).__module__], "load")
        if not has_load or find_program(program, self.folder) is None:
            print(
                f"play.py can't play with what is learned: it needs {program}"
                f".py, with `load`, beside itself or in {self.folder}"
            )
        self._last = time.perf_counter()
        return self

    def __exit__(self, kind: Any, *_: Any) -> None:
        for number, handler in self._handlers.items():
            signal.signal(number, handler)
        with contextlib.suppress(OSError):  # An error was raised already.
            self._board.close()
        self._lock.release()
        if self._stopped and kind is None and self.steps < self.settings.steps:
            sys.exit(STOPPED)

    def _note(self, number: int, frame: Any) -> None:
        """Note that a signal asks the training to end; twice ends it now."""
        if self.asked:
            os._exit(128 + number)
        self.asked = True
        # `print` may be what was interrupted, and the terminal closed.
        with contextlib.suppress(OSError):
            os.write(2, b"ends after this update; once more: at once\n")

    @property
    def steps(self) -> int:
        return self._progress.steps

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
        spent = time.perf_counter() - self._last
        self._last += spent
        now.seconds += spent
        now.steps += steps
        now.updates += 1
        now.games += len(ended)
        scores = [(each.score, each.length) for each in ended]
        now.ended = [*now.ended, *scores][-100:]
        self._speeds.append(steps / spent)
        self._check_finite(figures)
        self._stopped = self.asked
        row = self._make_row(figures)
        if self.over or now.updates % self.settings.save_every == 0:
            now.rows.append(row)
            self._save()
            self._log([row])
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

    def _make_row(self, figures: dict[str, float]) -> dict[str, Any]:
        now = self._progress
        # no number if no game has ended
        score, length = None, None
        if now.ended:
            score, length = np.mean(now.ended, 0).tolist()
        # The median leaves out a time for which the program was stopped.
        speed = statistics.median(self._speeds)
        return {
            "time": time.time(),
            "steps": now.steps,
            "seconds": now.seconds,
            "steps_per_second": speed,
            **{name: float(value) for name, value in figures.items()},
            "score": score,
            "length": length,
            "games": now.games,
        }

    def _say_row(self, row: dict[str, Any]) -> None:
        speed, scored = row["steps_per_second"], self.settings.scored
        missing = max(0, self.settings.steps - self.steps)
        # There is no speed if nobody has played.
        minutes = round(missing / speed / 60) if speed else 0
        score = f"no {scored} has ended"
        if row["score"] is not None:
            score = f"score of a {scored} {row['score']:.1f}"
        print(
            f"{self.steps:,} steps, {speed:,.0f} steps/s, "
            f"{minutes // 60}:{minutes % 60:02} h left, {score}",
            flush=True,
        )

    def _save(self) -> None:
        """Write a checkpoint to continue from."""
        saved = {name: part.state_dict() for name, part in self._parts.items()}
        saved["random"] = self.random.get_state()
        saved["program"] = self.settings.program
        saved["settings"] = self.settings.kept()
        saved["about"] = self._about
        saved["progress"] = vars(self._progress)
        file = io.BytesIO()
        torch.save(saved, file)
        every = self.settings.keep_every
        if self.steps // every > self._saved // every:
            kept = self.folder / f"checkpoint-{self.steps}.pt"
            write(kept, file.getvalue())
        write(self._path, file.getvalue())
        self._saved = self.steps

    def _log(self, new: list[dict[str, Any]]) -> None:
        """Write the curve, and show new rows on TensorBoard."""
        rows = self._progress.rows
        curve = io.StringIO()
        # Another version of a program may have other figures.
        names = dict.fromkeys(name for row in rows for name in row)
        names.pop("time", None)
        writer = csv.DictWriter(curve, names, extrasaction="ignore")
        writer.writeheader()
        writer.writerows(rows)
        write(self.folder / "curve.csv", curve.getvalue().encode())
        for row in new:
            shown = {k: v for k, v in row.items() if v is not None}
            made = shown.pop("time", None)
            for name, value in shown.items():
                self._board.add_scalar(name, value, row["steps"], made)
        self._board.flush()
