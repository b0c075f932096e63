"""What isn't the learner in ppo.py and dqn.py: settings, runs, evaluation.

A run has a folder, by default runs/ENV_ID-SEED:

- curve.csv, and the same for `tensorboard --logdir runs`;
- checkpoint.pt, which --resume goes on from. It has the weights, the
  optimiser, the settings and the counters; the games themselves start anew.
  Every million steps one is kept beside it;
- film.webp, if one was made.

Ctrl-C, the SIGTERM of a batch system or a terminal that is closed end a
training after the current update, with a checkpoint; a second signal ends it
at once. Under `nohup` it outlives the terminal.

--evaluate takes a few minutes, --film one for a thousand steps. Both play with
the settings of the run. Without a run of your own they play Breakout with the
published weights, breakout.pt.

On a CPU with avx512_bf16 the network computes in bfloat16. Beside other
programs, --threads 1 is by far the fastest.
"""

import contextlib
import csv
import dataclasses
import os
import pathlib
import shutil
import signal
import sys
import time
from collections.abc import Callable, Iterator
from typing import Annotated, Any, Literal, NamedTuple, TypeVar

import filelock
import numpy as np
import torch
import tyro
from PIL import Image, _webp
from torch.utils.tensorboard import SummaryWriter

# In this repository game.py lies one folder up; copied, it lies beside.
sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))
from game import BREAKOUT, TRAINING, Game, Games

RUNS = pathlib.Path("runs")
PUBLISHED = pathlib.Path(__file__).with_name("breakout.pt")

# An agent is judged by the raw points of whole games, in two ways: "served" as
# in training, and "alone", where it has to press FIRE itself, which it was
# never taught.
WAYS: dict[str, dict[str, Any]] = {
    "served": dict(clip_reward=False),
    "alone": dict(
        clip_reward=False, on_life_loss="ignore", fire_on_reset=False
    ),
}

LAST = 100  # whole games whose mean is the curve's score, as in CleanRL
LINE = 10  # seconds between two lines on the screen


# Settings: each with its type, its default and its words.

Count = Annotated[int, tyro.conf.arg(metavar="N")]  # a positive one


@dataclasses.dataclass
class GameSettings:
    """What is played: the options of `Game`."""

    on_life_loss: Literal["restart", "continue", "ignore"] = TRAINING[
        "on_life_loss"
    ]
    """what a lost life does to the episode"""
    noop_max: int = TRAINING["noop_max"]
    """a game begins with up to so many frames without an action"""
    fire_on_reset: bool = TRAINING["fire_on_reset"]
    """FIRE is held for a step before each episode"""
    clip_reward: bool = TRAINING["clip_reward"]
    """rewards become -1, 0 or 1; scores stay raw"""
    action_repeat: Count = 4
    """frames to a step"""
    stack: Count = 4
    """pictures to an observation"""
    size: tuple[int, int] = (84, 84)
    """height and width of a picture"""
    grayscale: bool = True
    """gray pictures, or else in color"""
    full_action_space: bool = False
    """all 18 actions of the console"""
    repeat_action_probability: float | None = None
    """that the console ignores a frame's action; None: as the id has it"""
    mode: int | None = None
    """the title's variant; None: its default"""
    difficulty: int | None = None
    """the title's difficulty; None: its default"""
    max_num_frames_per_episode: int | None = None
    """limit of a game; None: 108,000"""

    def options(self, **others: Any) -> dict[str, Any]:
        """Return the keywords of `Game` and `Games`, with others in place."""
        given = {k: v for k, v in vars(self).items() if v is not None}
        return given | others


def has_fast_bfloat16() -> bool:
    """Return whether this computes on a CPU that is faster in bfloat16."""
    # An older PyTorch can't tell.
    can = getattr(torch.cpu, "get_capabilities", dict)()
    return can.get("avx512_bf16", False) and not torch.cuda.is_available()


@dataclasses.dataclass
class Here:
    """What is done, and where: no part of a run."""

    resume: bool = False
    """continue the run"""
    evaluate: bool = False
    """play whole games in two ways"""
    film: bool = False
    """play one as film.webp"""
    whole_games: Count = 30
    """to evaluate: one agent's scores differ widely. DQN was judged by 30"""
    folder: pathlib.Path | None = None
    """of the run; None: runs/ENV_ID-SEED"""
    checkpoint: pathlib.Path | None = None
    """to resume, evaluate or film; None: the last one in the folder"""
    device: str = "cuda" if torch.cuda.is_available() else "cpu"
    """on which the network computes"""
    bfloat16: bool = dataclasses.field(default_factory=has_fast_bfloat16)
    """train the network in half precision"""
    threads: Count = dataclasses.field(default_factory=torch.get_num_threads)
    """of PyTorch, to learn"""
    processes: int | None = None
    """that play; None: one for each core, 0: this one"""


@dataclasses.dataclass
class Settings:
    """What every training has; a learner adds its own."""

    env_id: tyro.conf.Positional[str] = BREAKOUT
    """any Atari title"""
    seed: int = 0
    """of the weights, and of what is sampled"""
    steps: Count = 10_000_000
    """of all games together"""
    save_every: Count = 10
    """updates between two checkpoints, and two rows of the curve"""
    keep_every: Count = 1_000_000
    """steps between two checkpoints that are kept"""
    game: Annotated[GameSettings, tyro.conf.arg(name="")] = dataclasses.field(
        default_factory=GameSettings
    )
    here: Annotated[Here, tyro.conf.arg(name="")] = dataclasses.field(
        default_factory=Here
    )

    @property
    def folder(self) -> pathlib.Path:
        name = f"{self.env_id}-{self.seed}".replace("/", "-")
        return self.here.folder or RUNS / name

    def make_games(self, count: int, **options: Any) -> Games:
        """Make games as these settings have them, but for `options`."""
        options = self.game.options(**options)
        options = {"processes": self.here.processes} | options
        return Games(count, self.env_id, seed=self.seed, **options)


def read_settings(kind: type[Settings], description: str | None) -> Any:
    """Return the settings, or exit with a message if one of them is wrong.

    A run that is continued, evaluated or filmed has the settings that it was
    begun with, unless the command line has others.
    """
    text = f"{description}\n{__doc__}"
    settings = tyro.cli(kind, description=text)
    here = settings.here
    path = here.checkpoint or settings.folder / "checkpoint.pt"
    plays = here.evaluate or here.film
    if plays and not path.exists() and "Breakout" in settings.env_id:
        path = here.checkpoint or PUBLISHED
    if plays or here.resume:
        if not path.exists():
            exit_with(f"no {path} yet: train it first")
        saved = torch.load(path, "cpu")
        if here.resume and "settings" not in saved:
            exit_with(f"{path} can't be continued: it has only weights")
        begun = begun_with(kind, saved.get("settings", {}))
        settings = tyro.cli(kind, description=text, default=begun)
        settings.here.checkpoint = path
    elif path.exists():
        exit_with(f"{settings.folder} has a run: --resume continues it")
    check(settings)
    torch.set_num_threads(settings.here.threads)
    return settings


S = TypeVar("S", bound=Settings)


def begun_with(kind: type[S], saved: dict[str, Any]) -> S:
    """Return the settings of a checkpoint, of another learner's, too."""
    names = {field.name for field in dataclasses.fields(kind)}
    known = {name: saved[name] for name in names & saved.keys()}
    return kind(**known | {"game": GameSettings(**saved.get("game", {}))})


def check(settings: Settings) -> None:
    """Exit with a message if something can't be."""
    for group in (settings, settings.game, settings.here):
        for field in dataclasses.fields(group):
            value = getattr(group, field.name)
            if field.type is Count and value < 1:
                name = field.name.replace("_", "-")
                exit_with(f"--{name} must be at least 1, not {value}")
    if min(settings.game.size) < 36:
        exit_with("--size must be at least 36 36: the network shrinks it")
    try:
        Game(settings.seed, settings.env_id, **settings.game.options())
        torch.zeros(1, device=settings.here.device)
    except Exception as error:  # PyTorch raises all kinds
        exit_with(str(error))


def exit_with(message: str) -> None:
    name = pathlib.Path(sys.argv[0]).name
    print(f"{name}: error: {message}", file=sys.stderr)
    sys.exit(2)


# What a training does besides learning.


@contextlib.contextmanager
def timed(seconds: dict[str, float], part: str) -> Iterator[None]:
    """Add the time that a block takes to `seconds[part]`."""
    start = time.perf_counter()
    yield
    seconds[part] += time.perf_counter() - start


class Signals(contextlib.AbstractContextManager):
    """Notes that the program is asked to end; a second time ends it."""

    def __init__(self) -> None:
        self.asked = False
        self._before = {}
        for name in ("SIGINT", "SIGTERM", "SIGHUP"):
            number = getattr(signal, name, None)  # Windows has no SIGHUP
            # `nohup` has it ignored.
            if number is None or (
                name == "SIGHUP" and signal.getsignal(number) == signal.SIG_IGN
            ):
                continue
            self._before[number] = signal.signal(number, self._note)

    def _note(self, number: int, frame: Any) -> None:
        if self.asked:
            signal.signal(number, signal.SIG_DFL)
            signal.raise_signal(number)
        self.asked = True
        # `print` may be what was interrupted, and the terminal closed.
        with contextlib.suppress(OSError):
            os.write(2, b"ends after this update; once more: at once\n")

    def __exit__(self, *_: Any) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)


def lock(folder: pathlib.Path) -> filelock.BaseFileLock:
    """Make a folder of a run and lock it, until this program has ended."""
    folder.mkdir(parents=True, exist_ok=True)
    result = filelock.FileLock(folder / "lock", blocking=False)
    try:
        result.acquire()
    except filelock.Timeout:
        exit_with(f"another run is at work in {folder}")
    return result


class Ended(NamedTuple):
    """A whole game that has ended."""

    score: float
    length: float


class Run(contextlib.AbstractContextManager):
    """The progress of a training, and the folder that keeps it.

    `parts` are what a checkpoint keeps, such as networks, by their names; with
    --resume they are set from there. `seconds` is the time that each activity
    has taken, and `random` a generator that the checkpoint keeps, too: all
    that a training draws comes from it, or is seeded by it.
    """

    def __init__(
        self, settings: Settings, activities: list[str], **parts: Any
    ) -> None:
        self.settings = settings
        self._parts = parts
        self.steps = 0
        self.updates = 0
        self._ended: list[Ended] = []  # the last whole games
        self.seconds = dict.fromkeys(activities, 0.0)
        self.random = torch.Generator().manual_seed(settings.seed)
        self._lock = lock(settings.folder)
        self._curve = settings.folder / "curve.csv"
        self._checkpoint = settings.folder / "checkpoint.pt"
        if settings.here.resume:
            self._load(settings.here.checkpoint)
        else:
            self._curve.unlink(missing_ok=True)
        self._board = SummaryWriter(
            settings.folder, purge_step=self.steps + 1, max_queue=1000
        )
        say(f"{settings.folder}: {self.steps:,} steps of {settings.steps:,}")
        self._saved = self._told = self.steps
        self._signals = Signals()
        self._first = self._last_row = self._mark()
        self._next_line = 0.0

    def _load(self, path: pathlib.Path | None) -> None:
        """Go on from a checkpoint."""
        # On the CPU: the machine that wrote it may have had other devices.
        saved = torch.load(path, "cpu")
        for name, part in self._parts.items():
            part.load_state_dict(saved[name])
        self.random.set_state(saved["random"])
        state = saved["state"]
        self.steps = state["steps"]
        self.updates = state["updates"]
        self._ended = [Ended(*each) for each in state["ended"]]
        self.seconds |= state["seconds"]
        # What came after the checkpoint is played again.
        if self._curve.exists():
            with self._curve.open(newline="") as file:
                rows = list(csv.reader(file))
            head, *rows = rows or [[]]
            kept = [
                row
                for row in rows
                if len(row) == len(head) and int(row[0]) <= self.steps
            ]
            with self._curve.open("w", newline="") as file:
                csv.writer(file).writerows([head, *kept])

    @property
    def interrupted(self) -> bool:
        return self._signals.asked

    @property
    def over(self) -> bool:
        return self.interrupted or self.steps >= self.settings.steps

    def add(
        self, steps: int, ended: list[Ended], figures: dict[str, Any]
    ) -> None:
        """Count an update, with the games that ended in it and its figures."""
        self.steps += steps
        self.updates += 1
        self._ended = [*self._ended, *ended][-LAST:]
        self._figures = figures
        if self.updates % self.settings.save_every == 0:
            self._save()
        if time.perf_counter() >= self._next_line:
            self._print_line()

    def _save(self) -> None:
        """Write a row of the curve, and a checkpoint to resume from."""
        self._add_row()
        keep_every = self.settings.keep_every
        keep = self.steps // keep_every > self._saved // keep_every
        self._saved = self.steps
        self._write_checkpoint(keep)

    def _mark(self) -> tuple[int, float]:
        return self.steps, sum(self.seconds.values())

    def _speed_since(self, mark: tuple[int, float]) -> float:
        # Not by the clock: at first processes start.
        steps, seconds = (
            now - then for now, then in zip(self._mark(), mark, strict=True)
        )
        return steps / seconds

    def _mean(self, name: str) -> float | None:
        """The mean of the last whole games; `None` if there are none."""
        values = [getattr(each, name) for each in self._ended]
        return np.mean(values).item() if values else None

    def _add_row(self) -> None:
        """Write a row of the curve, and the same for TensorBoard."""
        row = {
            "steps": self.steps,
            **self.seconds,
            "steps_per_second": self._speed_since(self._last_row),
            **self._figures,
            "score": self._mean("score"),
            "length": self._mean("length"),
        }
        self._last_row = self._mark()
        is_new = not self._curve.exists()
        with self._curve.open("a", newline="") as file:
            writer = csv.writer(file)
            if is_new:
                writer.writerow(row)
            # No value is an empty cell.
            writer.writerow(
                f"{value:.6g}" if isinstance(value, float) else value
                for value in row.values()
            )
        for name, value in row.items():
            if name != "steps" and value is not None:
                self._board.add_scalar(name, value, self.steps)
        self._board.flush()

    def _write_checkpoint(self, keep: bool) -> None:
        settings = dataclasses.asdict(self.settings)
        del settings["here"]
        parts = {name: part.state_dict() for name, part in self._parts.items()}
        saved = parts | {
            "random": self.random.get_state(),
            "settings": settings,
            "state": {
                "steps": self.steps,
                "updates": self.updates,
                "ended": [tuple(each) for each in self._ended],
                "seconds": self.seconds,
            },
        }
        # A crash while writing must not leave half a file.
        new = self._checkpoint.with_name("new.pt")
        torch.save(saved, new)
        new.replace(self._checkpoint)
        if keep:
            name = f"checkpoint-{self.steps}.pt"
            shutil.copy(self._checkpoint, self._checkpoint.with_name(name))

    def _print_line(self) -> None:
        self._told = self.steps
        self._next_line = time.perf_counter() + LINE
        speed = self._speed_since(self._first)
        minutes = max(0, self.settings.steps - self.steps) / speed / 60
        score = "no game has ended"
        if self._ended:
            score = f"score {self._mean('score'):.1f}"
        say(
            f"{self.steps:,} steps, {speed:,.0f} steps/s, "
            f"{minutes // 60:.0f}:{minutes % 60:02.0f} h left, {score}"
        )

    def __exit__(self, error: Any, *_: Any) -> None:
        if error is None and self.steps > self._saved:
            self._save()
        if self.steps > self._told:
            self._print_line()
        self._board.close()
        self._signals.__exit__()
        self._lock.release()


def say(line: str) -> None:
    """Print a line, unless the terminal was closed."""
    with contextlib.suppress(OSError):
        print(line, flush=True)


def ended_games(infos: dict[str, Any]) -> dict[int, Ended]:
    """Return the whole games that ended in a step, by index."""
    indices = np.flatnonzero(infos.get("_episode", [])).tolist()
    return {
        i: Ended(*(infos["episode"][name][i].item() for name in "rl"))
        for i in indices
    }


# What has been learned.

# Maps observations on a device to actions.
Choose = Callable[[torch.Tensor], torch.Tensor]


def main(
    description: str | None,
    kind: type[Settings],
    train: Callable[[Any], None],
    load: Callable[[Any, int, tuple[int, ...], dict], Choose],
) -> None:
    """Train, evaluate or film, as the settings say.

    `load` makes an agent for so many actions and such observations, with the
    weights of a checkpoint.
    """
    settings = read_settings(kind, description)
    here = settings.here
    if not (here.evaluate or here.film):
        train(settings)
        return
    print(f"weights: {here.checkpoint}", flush=True)
    saved = torch.load(here.checkpoint, "cpu")
    # breakout.pt holds only the weights.
    weights = saved.get("weights", saved)
    game = Game(0, settings.env_id, **settings.game.options())
    actions, shape = len(game.meanings), game.reset().shape
    choose = load(settings, actions, shape, weights)
    if here.evaluate:
        evaluate(choose, settings)
    if here.film:
        film(choose, settings)


@torch.no_grad()
def whole_games(
    choose: Choose,
    games: Games,
    seed: int,
    device: str = "cpu",
    show: Callable[[np.ndarray], None] | None = None,
) -> list[float]:
    """Play until each game has ended once; return those scores.

    The screens of the first game go to `show`. Only the first game of each
    counts: of all the games that end by a given time, too many would be short.
    """
    torch.manual_seed(seed)
    first: dict[int, float] = {}
    obs, _ = games.reset(seed=seed)
    while len(first) < games.num_envs:
        if show is not None:
            show(games.render()[0])
        actions = choose(torch.as_tensor(obs, device=device)).cpu().numpy()
        obs, *_, infos = games.step(actions)
        for i, game in ended_games(infos).items():
            if i not in first:
                first[i] = game.score
                print(f"game {i}: {game.score:.0f} points", flush=True)
    return [first[i] for i in sorted(first)]


def evaluate(choose: Choose, settings: Settings) -> None:
    """Play whole games in both ways and print their scores."""
    here = settings.here
    for way, options in WAYS.items():
        with settings.make_games(here.whole_games, **options) as games:
            scores = whole_games(choose, games, settings.seed, here.device)
        played = settings.game.options(**options)
        print(
            f"{way}, {played['on_life_loss']!r}, "
            f"fire_on_reset={played['fire_on_reset']}: "
            f"mean {np.mean(scores):.1f} "
            f"({min(scores):.0f} to {max(scores):.0f})",
            flush=True,
        )


def film(choose: Choose, settings: Settings) -> None:
    """Play one whole game and write it as an animated picture."""
    settings.folder.mkdir(parents=True, exist_ok=True)
    path = settings.folder / "film.webp"
    device = settings.here.device
    with (
        settings.make_games(1, **WAYS["served"]) as games,
        Film(path) as screens,
    ):
        whole_games(choose, games, settings.seed, device, screens.add)
    print(f"{screens.count} steps in {path}", flush=True)


class Film(contextlib.AbstractContextManager):
    """
    An animated WebP without any loss, to be written a screen at a time.

    Pillow's `save` wants all screens at once, a megabyte each. So this takes
    its encoder, which keeps what it has compressed: a game of half an hour
    needs a few megabytes.
    """

    def __init__(self, path: pathlib.Path) -> None:
        self._path = path
        self._encoder: Any = None
        self.count = 0

    def add(self, screen: np.ndarray) -> None:
        # Each pixel becomes four, so that viewers don't blur it.
        picture = Image.fromarray(screen.repeat(2, axis=0).repeat(2, axis=1))
        if self._encoder is None:
            # With one key frame and the most effort the film is a quarter of
            # the size.
            options = dict(loop=0, minimize_size=False, kmin=9998, kmax=9999)
            self._encoder = _webp.WebPAnimEncoder(
                picture.size, 0, *options.values(), False, False
            )
        self._encoder.add(picture.getim(), self._time(), True, 100, 100, 6)
        self.count += 1

    def _time(self) -> int:
        """The time of the next screen in ms: a step is four of 60 frames."""
        return 67 * self.count

    def __exit__(self, error: Any, *_: Any) -> None:
        if self._encoder is not None and error is None:
            self._encoder.add(None, self._time(), True, 100, 100, 0)
            self._path.write_bytes(self._encoder.assemble("", "", ""))
