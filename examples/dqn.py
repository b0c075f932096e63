"""Train an agent with DQN on one game: small, whole, and to be changed.

The algorithm is that of Mnih et al. 2015, the settings are mostly those of
CleanRL's `dqn_atari.py`. Scores rise after some 200,000 steps. Copy it beside
game.py.

    pip install -r requirements.txt torch tensorboard tyro
    python examples/dqn.py             # train on Breakout
    python examples/dqn.py --resume    # continue the newest run
    python examples/dqn.py --evaluate  # play 30 whole games

Each run has a folder, runs/dqn/ENV_ID-SEED-TIME, with settings.json, curve.csv
and the same for `tensorboard --logdir runs`, and checkpoint.pt. That doesn't
have the memory, which would be 700 MB: a run that is resumed fills it again
before it learns. Ctrl-C, SIGTERM or a closed terminal save and end a training,
a second signal ends it at once.
"""

import collections
import contextlib
import csv
import dataclasses
import datetime
import io
import json
import math
import os
import pathlib
import random
import signal
import sys
import threading
import time
from collections.abc import Iterator
from typing import Any, Literal

import numpy as np
import torch
import tyro
from torch import Tensor, nn
from torch.utils.tensorboard import SummaryWriter

# In this repository game.py lies one folder up; copied, it lies beside.
sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))
from game import BREAKOUT, TRAINING, Games

RUNS = pathlib.Path("runs/dqn")
REPORT = 1_000  # steps between two rows of the curve
EXPLORE_TO_EVALUATE = 0.05  # as in the paper

# ## Settings

OnLifeLoss = Literal["restart", "continue", "ignore"]


@dataclasses.dataclass
class GameOptions:
    # what a lost life does to the episode
    on_life_loss: OnLifeLoss = TRAINING["on_life_loss"]
    # a game begins with up to so many frames without an action
    noop_max: int = TRAINING["noop_max"]
    # FIRE is held for a step before each episode
    fire_on_reset: bool = TRAINING["fire_on_reset"]
    # rewards become -1, 0 or 1; scores stay raw
    clip_reward: bool = TRAINING["clip_reward"]
    action_repeat: int = 4  # frames to a step
    stack: int = 4  # pictures to an observation
    size: tuple[int, int] = (84, 84)  # height and width of a picture
    grayscale: bool = True  # else pictures are in color
    full_action_space: bool = False  # all 18 actions of the console
    # that the console ignores a frame's action; None: as the id has it
    repeat_action_probability: float | None = None
    mode: int | None = None  # the title's variant; None: its default
    difficulty: int | None = None  # of the title; None: its default
    # limit of a game; None: 108,000
    max_num_frames_per_episode: int | None = None

    def options(self, **others: Any) -> dict[str, Any]:
        """Return the keywords of `Games`, with others in place."""
        return {k: v for k, v in vars(self).items() if v is not None} | others


@dataclasses.dataclass
class Here:
    resume: bool = False  # continue a run
    evaluate: bool = False  # play whole games
    # of the run; None: a new one, or the newest to resume or evaluate
    folder: pathlib.Path | None = None
    # to resume or evaluate; None: the last one in the folder
    checkpoint: pathlib.Path | None = None
    whole_games: int = 30  # to evaluate
    device: str = "cuda" if torch.cuda.is_available() else "cpu"
    processes: int | None = None  # that play to evaluate


@dataclasses.dataclass
class Settings:
    # any Atari title
    env_id: tyro.conf.Positional[str] = BREAKOUT
    seed: int = 0  # of the weights, and of what is drawn
    steps: int = 2_000_000  # in all
    memory: int = 100_000  # steps to remember, 7 kB each; DQN had 1,000,000
    # steps are played before the first update; CleanRL has 80,000
    learn_after: int = 5_000
    learn_every: int = 4  # steps between two updates
    target_every: int = 1_000  # steps between two copies to the target
    batch: int = 32  # steps to learn from in an update
    learning_rate: float = 1e-4  # constant
    gamma: float = 0.99  # what a reward is worth a step earlier
    # the share of random actions, which falls from 1 to this in the first
    # tenth of the steps
    explore: float = 0.01
    save_every: int = 10_000  # steps between two checkpoints
    keep_every: int = 1_000_000  # steps between checkpoints that are kept
    # what is played
    game: GameOptions = dataclasses.field(default_factory=GameOptions)
    # what is done now, and where; not kept with the run
    here: Here = dataclasses.field(default_factory=Here)

    def make_games(self, count: int, **options: Any) -> Games:
        """Make games as these settings have them, but for `options`."""
        options = self.game.options(**options)
        return Games(count, self.env_id, seed=self.seed, **options)


class RunError(Exception):
    """Ends the program with its words, and without a traceback."""


def check(settings: Settings) -> None:
    """Raise an error if a setting can't be."""
    numbers = vars(settings) | vars(settings.here)
    for name in ("env_id", "seed", "processes"):  # `Games` checks these
        del numbers[name]
    sticky = "repeat_action_probability"
    numbers[sticky] = settings.game.repeat_action_probability
    shares = ("gamma", "explore", sticky)
    for name, value in numbers.items():
        low = 1 if type(value) is int else 0
        high = 1 if name in shares else sys.float_info.max
        if isinstance(value, int | float) and not low <= value <= high:
            option = name.replace("_", "-")
            raise RunError(f"--{option} can't be {value}")
    if min(settings.game.size) < 36:
        raise RunError("--size must be at least 36 36: the network shrinks it")
    try:
        settings.make_games(1).close()
        torch.zeros(1, device=settings.here.device)
    except Exception as error:  # PyTorch raises all kinds
        raise RunError(error) from error


# ## The memory, and the network


class Memory:
    """The last `capacity` steps, to learn from again and again.

    Steps in a row share their pictures, so that each is kept once: 7 kB a
    step, where two observations would be 56 kB.
    """

    def __init__(self, capacity: int) -> None:
        # one that is full forgets the oldest
        self.steps: collections.deque = collections.deque(maxlen=capacity)

    def start(self, obs: np.ndarray) -> None:
        """Begin an episode with its first observation, `(4, 84, 84)`."""
        self.pictures = [picture.copy() for picture in obs]

    def add(
        self, action: int, reward: float, terminated: bool, after: np.ndarray
    ) -> None:
        """Keep a step that led to the observation `after`."""
        five = [*self.pictures, after[-1].copy()]
        self.pictures = five[1:]
        self.steps.append((five, action, reward, terminated))

    def sample(self, count: int) -> list[Tensor]:
        """Draw steps; return pictures `(count, 5, 84, 84)` and the rest."""
        drawn = random.choices(self.steps, k=count)
        return [
            torch.as_tensor(np.array(column))
            for column in zip(*drawn, strict=True)
        ]


def make_network(actions: int, shape: tuple[int, ...]) -> nn.Module:
    """From observations to the value of each action (Mnih et al. 2015)."""
    pictures, height, width, *colors = shape
    channels = pictures * math.prod(colors)
    network = nn.Sequential(
        nn.Conv2d(channels, 32, 8, stride=4),
        nn.ReLU(),
        nn.Conv2d(32, 64, 4, stride=2),
        nn.ReLU(),
        nn.Conv2d(64, 64, 3),
        nn.ReLU(),
        nn.Flatten(),
        nn.LazyLinear(512),  # of 64 * 7 * 7 for pictures of 84×84
        nn.ReLU(),
        nn.Linear(512, actions),
    )
    network(torch.zeros(1, channels, height, width))
    return network.to(memory_format=torch.channels_last)  # faster on a CPU


def values(network: nn.Module, obs: Any) -> Tensor:
    """The values of all actions in `obs`, `uint8 (n, 4, 84, 84)`."""
    device = next(network.parameters()).device
    # Colors become channels, too.
    obs = torch.as_tensor(obs).movedim(1, 3).flatten(3).movedim(3, 1)
    return network(obs.to(device, torch.float32) / 255)


def learn(
    network: nn.Module,
    target: nn.Module,
    optimizer: torch.optim.Optimizer,
    memory: Memory,
    settings: Settings,
) -> dict[str, float]:
    """Draw the values of steps from memory towards what came of them."""
    pictures, actions, rewards, terminated = memory.sample(settings.batch)
    with torch.no_grad():
        following = values(target, pictures[:, 1:]).max(1).values.cpu()
    # Only `terminated` ends the sum of rewards: a game that was truncated
    # would have gone on.
    worth = rewards + settings.gamma * following * ~terminated
    expected = values(network, pictures[:, :-1])
    expected = expected[range(settings.batch), actions]
    # The Huber loss clips the error's gradient, as the paper does.
    worth = worth.to(expected.device, torch.float32)
    loss = nn.functional.smooth_l1_loss(expected, worth)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return {"loss": loss.item(), "value": expected.mean().item()}


# ## A run and its folder


@contextlib.contextmanager
def noting_signals() -> Iterator[threading.Event]:
    """Set an event when the program is asked to end; twice ends it at once."""
    asked = threading.Event()

    def note(number: int, frame: Any) -> None:
        asked.set()
        signal.signal(number, signal.SIG_DFL)
        # `print` may be what was interrupted, and the terminal closed.
        with contextlib.suppress(OSError):
            os.write(2, b"saves and ends; once more: ends at once\n")

    before = {}
    # Python allows handlers in the main thread alone.
    if threading.current_thread() is threading.main_thread():
        # Windows has no SIGHUP.
        for name in {"SIGINT", "SIGTERM", "SIGHUP"} & vars(signal).keys():
            number = getattr(signal, name)
            ignored = signal.getsignal(number) == signal.SIG_IGN
            if not (ignored and name == "SIGHUP"):  # by `nohup`
                before[number] = signal.signal(number, note)
    try:
        yield asked
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def write(path: pathlib.Path, data: bytes) -> None:
    """Write a file whole, or leave what was there."""
    new = path.with_name(f"{path.name}.new")
    try:
        new.write_bytes(data)
        new.replace(path)
    except OSError:
        new.unlink(missing_ok=True)
        raise


def read_checkpoint(path: pathlib.Path) -> dict[str, Any]:
    try:
        # On the CPU: the machine that wrote it may have had other devices.
        return torch.load(path, "cpu")
    except Exception as error:  # PyTorch raises all kinds
        raise RunError(
            f"{path} can't be read ({error!r:.60}); --checkpoint takes an "
            "older one, checkpoint-STEPS.pt, if one was kept"
        ) from error


def read_settings(folder: pathlib.Path) -> Settings:
    path = folder / "settings.json"
    try:
        saved = json.loads(path.read_text())
        size = tuple(saved["game"].pop("size"))
        saved["game"] = GameOptions(size=size, **saved["game"])
        return Settings(**saved)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise RunError(f"{path} can't be read ({error!r})") from error


class Run:
    """The progress of a training, and the folder that keeps it."""

    def __init__(self, settings: Settings, **parts: Any) -> None:
        here = settings.here
        self.parts = parts  # that a checkpoint keeps, by their names
        self.steps = 0
        self.scores: list[float] = []  # of the last hundred whole games
        self.rows: list[dict[str, Any]] = []  # of the curve
        if here.resume:
            self._load(settings)
        title = settings.env_id.replace("/", "-")
        now = f"{datetime.datetime.now():%Y%m%d-%H%M%S-%f}"
        self.folder = here.folder or RUNS / f"{title}-{settings.seed}-{now}"
        self.folder.mkdir(parents=True, exist_ok=True)
        path = self.folder / "settings.json"
        if path.exists() and not here.resume:
            raise RunError(f"{self.folder} has a run: --resume continues it")
        kept = dataclasses.asdict(settings)
        del kept["here"]
        # NumPy's and PyTorch's numbers become Python's.
        text = json.dumps(kept, indent=2, default=lambda it: it.tolist())
        write(path, text.encode())
        # What can be read again is what is used.
        self.settings = read_settings(self.folder)
        self.settings.here = here
        self._saved = self.steps
        self._start = self.steps, time.perf_counter()
        self._next_line = 0.0
        # What came after the checkpoint is played again.
        self._board = SummaryWriter(self.folder, purge_step=self.steps + 1)
        print(f"{self.folder}: {self.steps:,} steps of {settings.steps:,}")

    def _load(self, settings: Settings) -> None:
        """Go on from a checkpoint."""
        assert settings.here.checkpoint
        saved = read_checkpoint(settings.here.checkpoint)
        for name, part in self.parts.items():
            part.load_state_dict(saved[name])
        until = saved["state"].pop("until")
        vars(self).update(saved["state"])
        if until != settings.steps:
            print(
                f"--steps was {until:,}: the share of random actions falls "
                f"until {settings.steps // 10:,} now, and changes at once"
            )

    def add(
        self, steps: int, scores: list[float], figures: dict[str, Any]
    ) -> None:
        """Count steps, with the games that ended in them and their figures."""
        self.steps += steps
        self.scores = [*self.scores, *scores][-100:]
        loss = figures["loss"]
        weights = self.parts["weights"].parameters()
        if not (
            math.isfinite(loss or 0)
            and all(weight.isfinite().all() for weight in weights)
        ):
            raise RunError(
                "loss or weights have numbers that aren't finite since step "
                f"{self.steps:,}; {self.folder} has those of {self._saved:,}"
            )
        before, start = self._start
        speed = (self.steps - before) / (time.perf_counter() - start)
        # no number if no game has ended
        score = np.mean(self.scores).item() if self.scores else None
        more = {"steps_per_second": speed, "score": score}
        self.rows.append({"steps": self.steps} | figures | more)
        for name, value in self.rows[-1].items():
            if value is not None:
                self._board.add_scalar(name, value, self.steps)
        if time.perf_counter() >= self._next_line:
            self._next_line = time.perf_counter() + 10
            minutes = (self.settings.steps - self.steps) / speed / 60
            result = f"score {score:.1f}" if self.scores else "no game ended"
            print(
                f"{self.steps:,} steps, {speed:,.0f} steps/s, "
                f"{minutes // 60:.0f}:{minutes % 60:02.0f} h left, {result}",
                flush=True,
            )

    def save(self) -> None:
        """Write a checkpoint to resume from, and the curve."""
        parts = {name: part.state_dict() for name, part in self.parts.items()}
        state = {
            "steps": self.steps,
            "scores": self.scores,
            "rows": self.rows,
            "until": self.settings.steps,
        }
        checkpoint = io.BytesIO()
        torch.save(parts | {"state": state}, checkpoint)
        # All rows: a newer program may have other figures.
        curve = io.StringIO()
        names = dict.fromkeys(name for row in self.rows for name in row)
        writer = csv.DictWriter(curve, names)
        writer.writeheader()
        writer.writerows(self.rows)
        keep_every = self.settings.keep_every
        try:
            if self.steps // keep_every > self._saved // keep_every:
                kept = self.folder / f"checkpoint-{self.steps}.pt"
                write(kept, checkpoint.getvalue())
            write(self.folder / "checkpoint.pt", checkpoint.getvalue())
            self._saved = self.steps
            write(self.folder / "curve.csv", curve.getvalue().encode())
            self._board.flush()
        except OSError as error:
            raise RunError(
                f"can't save: {error}; {self.folder} has a checkpoint of "
                f"{self._saved:,} steps"
            ) from error


def train(settings: Settings) -> None:
    """Play and learn; save as it goes."""
    # One observation is too little work to share: threads would only wait.
    torch.set_num_threads(1)
    torch.manual_seed(settings.seed)
    # A process of its own would only be waited for.
    with settings.make_games(1, processes=0) as games:
        shape = games.single_observation_space.shape
        network, target = (
            make_network(int(games.single_action_space.n), shape)
            for _ in range(2)
        )
        network.to(settings.here.device)
        target.to(settings.here.device).load_state_dict(network.state_dict())
        optimizer = torch.optim.Adam(network.parameters())
        run = Run(
            settings, weights=network, target=target, optimizer=optimizer
        )
        optimizer.param_groups[0]["lr"] = run.settings.learning_rate
        play_and_learn(games, network, target, optimizer, run)


def play_and_learn(
    games: Games,
    network: nn.Module,
    target: nn.Module,
    optimizer: torch.optim.Optimizer,
    run: Run,
) -> None:
    settings = run.settings
    # A run that is resumed plays another game than before.
    random.seed(settings.seed + run.steps)
    obs, _ = games.reset(seed=random.randrange(2**31))
    memory = Memory(settings.memory)
    memory.start(obs[0])
    count = min(settings.memory, settings.steps - run.steps)
    size = count * obs[0, -1].nbytes / 1e9
    print(f"the memory grows to {size:.1f} GB, for {count:,} steps")
    step = run.steps
    scores: list[float] = []
    figures: dict[str, Any] = {"loss": None, "value": None}
    with noting_signals() as asked:
        while step < settings.steps and not asked.is_set():
            step += 1
            explore = np.interp(
                step, [0, settings.steps / 10], [1, settings.explore]
            ).item()
            action = choose(network, obs, explore)[0]
            obs, rewards, terminated, truncated, infos = games.step([action])
            # What followed the last step of an episode is not `obs`, which is
            # the first observation of the next.
            over = terminated[0] or truncated[0]
            after = infos["final_obs"][0] if over else obs[0]
            memory.add(action, rewards[0], terminated[0], after)
            if over:
                memory.start(obs[0])
            if "_episode" in infos:
                scores.append(infos["episode"]["r"][0].item())
            is_full = len(memory.steps) >= min(
                settings.learn_after, settings.memory
            )
            if is_full and step % settings.learn_every == 0:
                figures = learn(network, target, optimizer, memory, settings)
            if step % settings.target_every == 0:
                target.load_state_dict(network.state_dict())
            last = asked.is_set() or step == settings.steps
            if last or step % REPORT == 0:
                more = {"explore": explore}
                run.add(step - run.steps, scores, figures | more)
                scores = []
            if last or step % settings.save_every == 0:
                run.save()


# ## What has been learned


@torch.no_grad()
def choose(network: nn.Module, obs: Any, explore: float) -> list[int]:
    """Choose the best action for each game, or a random one."""
    best = values(network, obs)
    return [
        random.randrange(len(row))
        if random.random() < explore
        else row.argmax().item()
        for row in best
    ]


def evaluate(settings: Settings) -> None:
    """Play whole games with raw points, and print their scores."""
    here = settings.here
    assert here.checkpoint
    print(f"weights: {here.checkpoint}", flush=True)
    saved = read_checkpoint(here.checkpoint)
    random.seed(settings.seed)
    scores: dict[int, float] = {}
    with settings.make_games(
        here.whole_games, clip_reward=False, processes=here.processes
    ) as games:
        shape = games.single_observation_space.shape
        network = make_network(int(games.single_action_space.n), shape)
        network.load_state_dict(saved["weights"])
        network.to(here.device)
        obs, _ = games.reset()
        while len(scores) < here.whole_games:
            actions: list[Any] = choose(network, obs, EXPLORE_TO_EVALUATE)
            # A game that has ended rests.
            for i in scores:
                actions[i] = None
            obs, *_, infos = games.step(actions)
            for i in np.flatnonzero(infos.get("_episode", [])).tolist():
                scores[i] = infos["episode"]["r"][i].item()
                print(f"game {i}: {scores[i]:.0f} points", flush=True)
    points = list(scores.values())
    print(
        f"mean {np.mean(points):.1f} ({min(points):.0f} to {max(points):.0f})"
    )


# ## The program

CONFIG = (tyro.conf.OmitArgPrefixes,)  # --stack, not --game.stack


def find_run(settings: Settings) -> Settings:
    """Return the settings of the run that is meant, the newest if none is.

    They are those that it was begun with, unless the command line has others.
    """
    here = settings.here
    checkpoints = sorted(RUNS.glob("*/checkpoint.pt"), key=os.path.getmtime)
    if here.folder:
        checkpoints = [here.folder / "checkpoint.pt"]
    if here.checkpoint:
        checkpoints = [here.checkpoint]
    for checkpoint in reversed(checkpoints):
        folder = here.folder or checkpoint.parent
        if not (folder / "settings.json").exists():
            continue
        begun = read_settings(folder)
        found = tyro.cli(Settings, default=begun, config=CONFIG)
        # A run keeps the title and the seed that are in its name.
        if (found.env_id, found.seed) == (begun.env_id, begun.seed):
            found.here.folder = folder
            found.here.checkpoint = checkpoint
            return found
    raise RunError(
        f"there is no run of {settings.env_id} with seed {settings.seed} "
        f"in {here.folder or RUNS}: train it first"
    )


def main() -> None:
    """Train or evaluate, as the command line says."""
    settings = tyro.cli(Settings, description=__doc__, config=CONFIG)
    try:
        here = settings.here
        if here.resume or here.evaluate:
            settings = find_run(settings)
        check(settings)
        if here.evaluate:
            evaluate(settings)
        else:
            train(settings)
    except RunError as error:
        name = pathlib.Path(sys.argv[0]).name
        print(f"{name}: error: {error}", file=sys.stderr)
        sys.exit(2)


if __name__ == "__main__":
    main()
