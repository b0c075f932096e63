"""What keeps a training: its folder, its log, and how it is stopped.

A learner has settings, a dataclass that extends `RunSettings`, and parts,
objects with `state_dict`. One command begins a run or continues it:

    settings = read_settings(Settings, __doc__)
    with Run(settings, weights=network, optimizer=optimizer) as run:
        while not run.over:
            ...
            run.add(steps, ended, figures)

A signal ends it after an update, with a checkpoint; a second one at once. The
exit code is then 75 if steps are missing, 0 after the last one, and 2 for what
is wrong.

A run is its folder. If that has a checkpoint.pt, the run continues with the
settings that were saved there, except for those on the command line. The
folder also has the settings as text, settings.json, with what the run is
computed on and by, and a row for each checkpoint, in curve.csv and for
TensorBoard.
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
import platform
import re
import signal
import sys
import threading
import time
import typing
import uuid
from collections.abc import Callable, Iterator
from signal import SIGINT, SIGTERM
from typing import Annotated, Any, ClassVar, NamedTuple, TypeVar

import numpy as np
import torch
import tyro
from torch.utils.tensorboard import SummaryWriter

# ## Settings

Whole = Annotated[int, "from 0"]
Seed = Annotated[int, "as PyTorch takes it"]
Share = Annotated[float, "from 0 to 1"]

# the least and the most of each kind of number
LIMITS: dict[Any, tuple[float, float]] = {
    int: (1, math.inf),
    Whole: (0, math.inf),
    Seed: (0, 2**64 - 1),
    float: (0, math.inf),
    Share: (0, 1),
}


class Options:
    """Options of a program: plain Python values within their limits."""

    def __setattr__(self, name: str, value: Any) -> None:
        # A checkpoint with NumPy's types couldn't be read.
        value = value.tolist() if hasattr(value, "tolist") else value
        if name == "size":
            value = tuple(int(length) for length in value)
        if name == "folder" and value is not None:
            value = pathlib.Path(value)
        if isinstance(value, pathlib.Path):
            value = value.expanduser()
        hint = typing.get_type_hints(type(self), include_extras=True)[name]
        if type(None) in typing.get_args(hint):
            hint = typing.get_args(hint)[0]
        if hint in LIMITS and value is not None:
            value = check_number(name, value, hint)
        super().__setattr__(name, value)


def check_number(name: str, value: Any, hint: Any) -> Any:
    """Return a number as its type, or refuse it by its name."""
    kind = getattr(hint, "__origin__", hint)
    low, high = LIMITS[hint]
    with contextlib.suppress(TypeError, ValueError, OverflowError):
        if kind(value) == value < math.inf and low <= value <= high:
            return kind(value)
    expected = "an integer" if kind is int else "a number"
    end = f"to {high}" if high < math.inf else "on"
    raise RunError(
        f"--{name.replace('_', '-')} can't be {value!r}: expected {expected} "
        f"from {low} {end}"
    )


@dataclasses.dataclass
class RunSettings(Options):
    """The settings that every run has."""

    program: ClassVar[str]  # Another program can't continue the run.

    env_id: tyro.conf.Positional[str]
    """Gymnasium's id of the game."""
    seed: Seed = 0
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
    path = pathlib.Path(settings.folder or "", "checkpoint.pt")
    if settings.folder and os.path.exists(path):
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
    return {
        "project": getattr(sys.modules.get("game"), "__version__", "none"),
        "python": platform.python_version(),
        "torch": str(torch.__version__),
        "ale-py": importlib.metadata.version("ale-py"),
    }


def device_name(device: str) -> str:
    """Return a device with the name of the GPU, or of the processor."""
    name = platform.processor()
    with contextlib.suppress(OSError, AttributeError):
        cpu = pathlib.Path("/proc/cpuinfo").read_text()
        name = re.search(r"model name\s*: (.*)", cpu)[1]  # type: ignore[index]
    if torch.device(device).type == "cuda":
        name = torch.cuda.get_device_name(device)
    return f"{device} ({name})"


# ## The program

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
    # If the program was started without standard files, the next files that
    # are opened would get their numbers, and what C++ prints would go there.
    while (number := os.open(os.devnull, os.O_RDWR)) <= 2:
        os.set_inheritable(number, True)
    os.close(number)
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
    noted: set[int] = set()
    before: dict[int, Any] = {}

    def note(number: int, frame: Any) -> None:
        # A session that ends may send SIGHUP after SIGTERM, and asks once.
        if noted and (number in noted or number in (SIGINT, SIGTERM)):
            # A signal's default action does nothing in a container's first
            # process.
            os._exit(128 + number)
        noted.add(number)
        asked.set()
        # `print` may be what was interrupted, and the terminal closed. Without
        # a stderr another file may have its number.
        with contextlib.suppress(OSError, ValueError, AttributeError):
            words = b"ends after this update; once more: at once\n"
            os.write(sys.stderr.fileno(), words)

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
    except (FileNotFoundError, NotADirectoryError) as error:
        raise RunError(f"there is no {path}") from error
    except Exception as error:  # PyTorch raises all kinds
        kept = " ".join(map(str, path.parent.glob("checkpoint-*.pt")))
        raise RunError(
            f"{path} is no checkpoint, or is damaged ({error!r:.60})"
            + (f"; copy an older one there: {kept}" if kept else "")
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


def remove_leftovers(folder: pathlib.Path, *names: str) -> None:
    """Remove what `write` has left there when its program was killed."""
    digits = "-".join("?" * count for count in (8, 4, 4, 4, 12))
    for name in names:
        for path in folder.glob(f"{name}-{digits}*"):
            with contextlib.suppress(OSError):
                path.unlink()


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
    # what TensorBoard doesn't have yet, and after how many steps it was
    unshown: list[tuple[int, Row]] = dataclasses.field(default_factory=list)


def new_name(env_id: str, seed: int) -> str:
    """Return a name for the folder of a new run."""
    now = datetime.datetime.now(datetime.timezone.utc)
    title = env_id.replace("/", "-")
    return f"{title}-{seed}-{now:%Y%m%d-%H%M%S-%f}"


class Learned(NamedTuple):
    """What plays: a program's `load` returns it, for play.py."""

    act: Callable[..., list[int]]  # (observations, most_likely) to actions
    settings: Any


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
        self.random = torch.Generator().manual_seed(settings.seed)
        self.settings = settings
        self._parts = parts
        self._progress = Progress()
        self._board: SummaryWriter | None = None
        self._checkpoint = self._look()
        if self._checkpoint:
            self._continue()
        # now, since a file may be edited while the training runs
        self._sources = sources(type(settings))
        about = self._describe()
        self._text = json.dumps(settings.kept() | {"about": about}, indent=2)
        self._start = dataclasses.replace(self._progress)
        self._began = time.perf_counter() - self._start.seconds
        self._next_line = 0.0
        self._saved = self.steps
        self._stopped = False
        self._signals = contextlib.ExitStack()
        remove_leftovers(self.folder, "*.pt", "*.csv", "*.json")
        self._write_settings()
        say(
            f"{self.folder}: {self.steps:,} steps of {settings.steps:,}, on "
            f"{about['device']} in {about['precision']}"
        )

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

    def _describe(self) -> dict[str, Any]:
        """Return what the run is computed on and by; warn of what is new."""
        half = getattr(self.settings, "bfloat16", False)
        about = {
            "device": device_name(self.settings.device),
            "precision": "bfloat16" if half else "float32",
            **versions(),
            **self._sources,
        }
        before: dict[str, Any] = {}
        with contextlib.suppress(OSError, ValueError, LookupError):
            text = (self.folder / "settings.json").read_text("utf-8")
            before = json.loads(text)["about"]
        for name, value in about.items():
            if before.get(name, value) != value:
                say(f"WARNING: {name} is {value} now, and was {before[name]}")
        now = datetime.datetime.now(datetime.timezone.utc).isoformat()
        times = {"begun": before.get("begun", now), "continued": now}
        return {"host": platform.node(), **about, **times}

    def __enter__(self) -> "Run":
        self._asked = self._signals.enter_context(noting_signals())
        self._log()
        return self

    def __exit__(self, kind: Any, *_: Any) -> None:
        self._signals.close()
        self._close_board()
        if self._stopped and kind is None and self.steps < self.settings.steps:
            sys.exit(STOPPED)

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
        now.steps += int(steps)
        now.updates += 1
        for score, length in ended:
            now.ended = [*now.ended[-99:], (float(score), float(length))]
            game = {"game/score": float(score), "game/length": float(length)}
            now.unshown.append((now.steps, game))
        self._check_finite(figures)
        self._stopped = self.asked
        row = self._make_row(figures)
        if self.over or now.updates % self.settings.save_every == 0:
            now.rows.append(row)
            now.unshown.append((now.steps, row))
            self._save()
            self._log()
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

    def _say_row(self, row: Row) -> None:
        speed, score = row["steps_per_second"], row["score"]
        minutes = max(0, self.settings.steps - self.steps) / speed / 60
        result = "no game has ended" if score is None else f"score {score:.1f}"
        say(
            f"{self.steps:,} steps, {speed:,.0f} steps/s, "
            f"{minutes // 60:.0f}:{minutes % 60:02.0f} h left, {result}"
        )

    # ### The checkpoint

    def _look(self) -> tuple[int, int] | None:
        """Return what tells the checkpoint from one of another program."""
        with contextlib.suppress(FileNotFoundError, NotADirectoryError):
            found = os.stat(self.folder / "checkpoint.pt")
            return found.st_ino, found.st_mtime_ns
        return None

    def _save(self) -> None:
        """Write a checkpoint to continue from."""
        path = self.folder / "checkpoint.pt"
        if self._look() not in (None, self._checkpoint):
            raise RunError(
                f"another program has written {path}, which is left as it is"
            )
        saved = {name: part.state_dict() for name, part in self._parts.items()}
        saved["random"] = self.random.get_state()
        saved["program"] = self.settings.program
        saved["sources"] = self._sources
        saved["versions"] = versions()
        saved["settings"] = self.settings.kept()
        saved["progress"] = vars(self._progress)
        file = io.BytesIO()
        torch.save(saved, file)
        # A part may have numbers of a type that can be saved, but not read.
        file.seek(0)
        with one_line("what is to be saved couldn't be read again"):
            torch.load(file, "cpu", weights_only=True)
        every = self.settings.keep_every
        if self.steps // every > self._saved // every:
            kept = self.folder / f"checkpoint-{self.steps}.pt"
            write(kept, file.getvalue())
        write(path, file.getvalue())
        self._checkpoint = self._look()
        self._saved = self.steps

    # ### The logs, which no training depends on

    def _log(self) -> None:
        """Write what is new; what can't be written is tried again later."""
        for log in (self._write_settings, self._write_curve, self._show):
            try:
                log()
            except (OSError, RunError) as error:
                say(f"a log is written later: {error}")
                self._close_board()

    def _write_settings(self) -> None:
        write(self.folder / "settings.json", self._text.encode())

    def _write_curve(self) -> None:
        # All rows: another version of a program may have other figures.
        rows = self._progress.rows
        curve = io.StringIO()
        names = dict.fromkeys(name for row in rows for name in row)
        writer = csv.DictWriter(curve, names)
        writer.writeheader()
        writer.writerows(rows)
        write(self.folder / "curve.csv", curve.getvalue().encode())

    def _show(self) -> None:
        """Show on TensorBoard what isn't there yet."""
        unshown = self._progress.unshown
        if self._board is None:
            # What was logged after that is dropped: it is logged again.
            first = unshown[0][0] if unshown else self.steps + 1
            self._board = SummaryWriter(self.folder, purge_step=first)
            text = f"```json\n{self._text}\n```"
            self._board.add_text("settings", text, self.steps)
        for steps, figures in unshown:
            for name, value in figures.items():
                if value is not None:
                    self._board.add_scalar(name, value, steps)
        self._board.flush()
        unshown.clear()

    def _close_board(self) -> None:
        if self._board is not None:
            # What it couldn't write is an error again.
            with contextlib.suppress(OSError):
                self._board.close()
            self._board = None
