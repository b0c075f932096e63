"""Train an agent with DQN on one game: small, whole, and to be changed.

The algorithm is that of Mnih et al. 2015, the settings are mostly those of
CleanRL's `dqn_atari.py`. Scores rise after some 200,000 steps. Copy it beside
game.py.

    pip install -r requirements.txt torch tensorboard tyro
    python examples/dqn.py             # train on Breakout
    python examples/dqn.py --resume    # continue the newest run
    python examples/dqn.py --evaluate  # play 30 whole games

Each run has a folder, runs/dqn/ENV_ID-SEED-TIME, with settings.json, a log for
`tensorboard --logdir runs`, and checkpoint.pt. That doesn't have the memory,
which would be 700 MB: a run that is resumed fills it again before it learns.
Ctrl-C, SIGTERM or a closed terminal save and end a training, a second signal
ends it at once.
"""

import collections
import contextlib
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
REPORT = 1_000  # steps between two points of a curve
EXPLORE_TO_EVALUATE = 0.05  # as in the paper

# ## Settings


@dataclasses.dataclass
class GameOptions:
    # what a lost life does to the episode
    on_life_loss: Literal["restart", "continue", "ignore"] = "continue"
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
    # that the console ignores a frame's action; None: as the id has it
    repeat_action_probability: float | None = None


@dataclasses.dataclass
class Here:
    """What is done now, and where; not kept with the run."""

    resume: bool = False  # continue a run
    evaluate: bool = False  # play whole games
    # of the run; None: a new one, or the newest to resume or evaluate
    folder: pathlib.Path | None = None
    whole_games: int = 30  # to evaluate
    device: str = "cuda" if torch.cuda.is_available() else "cpu"
    processes: int | None = None  # that play to evaluate


@dataclasses.dataclass
class Settings(GameOptions, Here):
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

    def make_games(self, count: int, **options: Any) -> Games:
        """Make games as these settings have them, but for `options`."""
        mine = part_of(self, GameOptions)
        if self.repeat_action_probability is None:
            del mine["repeat_action_probability"]
        return Games(count, self.env_id, seed=self.seed, **mine | options)


def part_of(settings: Settings, kind: type) -> dict[str, Any]:
    """Return the settings that a class has."""
    names = [field.name for field in dataclasses.fields(kind)]
    return {name: getattr(settings, name) for name in names}


class RunError(Exception):
    """Ends the program with its words, and without a traceback."""


def check(settings: Settings) -> None:
    """Raise an error if a setting can't be."""
    shares = ("gamma", "explore", "repeat_action_probability")
    for name, value in vars(settings).items():
        if name in ("seed", "noop_max", "processes"):
            continue  # `Games` checks these
        low = 1 if type(value) is int else 0
        high = 1 if name in shares else sys.float_info.max
        if isinstance(value, int | float) and not low <= value <= high:
            raise RunError(f"--{name.replace('_', '-')} can't be {value}")
    try:
        with settings.make_games(1) as games:
            make_network(games).to(settings.device)
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


def make_network(games: Games) -> nn.Module:
    """From observations to the value of each action (Mnih et al. 2015)."""
    shape = games.single_observation_space.shape
    assert shape
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
        nn.Linear(512, int(games.single_action_space.n)),
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
    before = {}

    def note(number: int, frame: Any) -> None:
        asked.set()
        signal.signal(number, signal.SIG_DFL)
        # `print` may be what was interrupted, and the terminal closed.
        with contextlib.suppress(OSError):
            os.write(2, b"saves and ends; once more: ends at once\n")

    # Python allows handlers in the main thread alone. Windows has no SIGHUP.
    if threading.current_thread() is threading.main_thread():
        for name in {"SIGINT", "SIGTERM", "SIGHUP"} & vars(signal).keys():
            number = getattr(signal, name)
            before[number] = signal.getsignal(number)
            if before[number] != signal.SIG_IGN:  # by `nohup` or a shell's `&`
                signal.signal(number, note)
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
    except OSError as error:
        new.unlink(missing_ok=True)
        raise RunError(f"{path} can't be written: {error}") from error


def read_checkpoint(path: pathlib.Path) -> dict[str, Any]:
    try:
        # On the CPU: the machine that wrote it may have had other devices.
        return torch.load(path, "cpu")
    except Exception as error:  # PyTorch raises all kinds
        raise RunError(f"{path} can't be read ({error!r:.60})") from error


def read_settings(folder: pathlib.Path) -> Settings:
    """Return the settings of a run."""
    path = folder / "settings.json"
    try:
        saved = json.loads(path.read_text())
        saved["size"] = tuple(saved["size"])
        return Settings(**saved)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise RunError(f"{path} can't be read ({error!r})") from error


def name_of(settings: Settings) -> str:
    """Return the name of a run, but for its time."""
    return f"{settings.env_id.replace('/', '-')}-{settings.seed}"


class Run:
    """The progress of a training, and the folder that keeps it."""

    def __init__(self, settings: Settings, **parts: Any) -> None:
        self.parts = parts  # that a checkpoint keeps, by their names
        self.steps = 0
        self.scores: list[float] = []  # of the last hundred whole games
        now = f"{datetime.datetime.now():%Y%m%d-%H%M%S-%f}"
        self.folder = settings.folder or RUNS / f"{name_of(settings)}-{now}"
        path = self.folder / "settings.json"
        if settings.resume:
            self._load(settings)
        elif path.exists():
            raise RunError(f"{self.folder} has a run: --resume continues it")
        self.folder.mkdir(parents=True, exist_ok=True)
        here = part_of(settings, Here)
        kept = {k: v for k, v in vars(settings).items() if k not in here}
        # NumPy's and PyTorch's numbers become Python's.
        text = json.dumps(kept, indent=2, default=lambda it: it.tolist())
        write(path, text.encode())
        # What can be read again is what is used.
        self.settings = read_settings(self.folder)
        vars(self.settings).update(here)
        self._saved = self.steps
        self._start = self.steps, time.perf_counter()
        self._next_line = 0.0
        # What came after the checkpoint is played again.
        self._board = SummaryWriter(self.folder, purge_step=self.steps + 1)
        print(f"{self.folder}: {self.steps:,} steps of {settings.steps:,}")

    def _load(self, settings: Settings) -> None:
        """Go on from a checkpoint."""
        saved = read_checkpoint(self.folder / "checkpoint.pt")
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
        # A sum is finite only if all that is added is.
        total = figures["loss"] or 0
        total += sum(
            w.sum().item() for w in self.parts["weights"].parameters()
        )
        if not math.isfinite(total):
            raise RunError(
                "loss or weights have numbers that aren't finite since step "
                f"{self.steps:,}; {self.folder} has those of {self._saved:,}"
            )
        before, start = self._start
        speed = (self.steps - before) / (time.perf_counter() - start)
        # no number if no game has ended
        score = np.mean(self.scores).item() if self.scores else None
        more = {"steps_per_second": speed, "score": score}
        for name, value in (figures | more).items():
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
        """Write a checkpoint to resume from."""
        parts = {name: part.state_dict() for name, part in self.parts.items()}
        state = {
            "steps": self.steps,
            "scores": self.scores,
            "until": self.settings.steps,
        }
        checkpoint = io.BytesIO()
        torch.save(parts | {"state": state}, checkpoint)
        write(self.folder / "checkpoint.pt", checkpoint.getvalue())
        self._saved = self.steps
        self._board.flush()


def train(settings: Settings) -> None:
    """Play and learn; save as it goes."""
    # One observation is too little work to share: threads would only wait.
    torch.set_num_threads(1)
    torch.manual_seed(settings.seed)
    # A process of its own would only be waited for.
    with settings.make_games(1, processes=0) as games:
        network = make_network(games).to(settings.device)
        target = make_network(games).to(settings.device)
        target.load_state_dict(network.state_dict())
        optimizer = torch.optim.Adam(network.parameters())
        run = Run(
            settings, weights=network, target=target, optimizer=optimizer
        )
        settings = run.settings
        optimizer.param_groups[0]["lr"] = settings.learning_rate
        # A run that is resumed plays another game than before.
        random.seed(settings.seed + run.steps)
        obs, _ = games.reset(seed=random.randrange(2**31))
        memory = Memory(settings.memory)
        memory.start(obs[0])
        count = min(settings.memory, settings.steps - run.steps)
        size = count * obs[0, -1].nbytes / 1e9
        print(f"the memory grows to {size:.1f} GB, for {count:,} steps")
        enough = min(settings.learn_after, settings.memory)
        scores: list[float] = []
        figures: dict[str, Any] = {"loss": None, "value": None}
        step = run.steps
        with noting_signals() as asked:
            while step < settings.steps and not asked.is_set():
                step += 1
                explore = np.interp(
                    step, [0, settings.steps / 10], [1, settings.explore]
                ).item()
                action = choose(network, obs, explore)[0]
                obs, rewards, terminated, truncated, infos = games.step(
                    [action]
                )
                # What followed the last step of an episode is not `obs`, which
                # is the first observation of the next.
                over = terminated[0] or truncated[0]
                after = infos["final_obs"][0] if over else obs[0]
                memory.add(action, rewards[0], terminated[0], after)
                if over:
                    memory.start(obs[0])
                if "_episode" in infos:
                    scores.append(infos["episode"]["r"][0].item())
                is_time = step % settings.learn_every == 0
                if is_time and len(memory.steps) >= enough:
                    figures = learn(
                        network, target, optimizer, memory, settings
                    )
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
    assert settings.folder
    path = settings.folder / "checkpoint.pt"
    print(f"weights: {path}", flush=True)
    saved = read_checkpoint(path)
    random.seed(settings.seed)
    scores: dict[int, float] = {}
    options = dict(clip_reward=False, processes=settings.processes)
    with settings.make_games(settings.whole_games, **options) as games:
        network = make_network(games).to(settings.device)
        network.load_state_dict(saved["weights"])
        obs, _ = games.reset()
        while len(scores) < games.num_envs:
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


def find_run(settings: Settings) -> Settings:
    """Return the settings of the run that is meant.

    They are those that it was begun with, unless the command line has others.
    """
    pattern = f"{name_of(settings)}-*/checkpoint.pt"
    folders = [path.parent for path in sorted(RUNS.glob(pattern))]
    folder = settings.folder or (folders[-1] if folders else None)
    if folder is None:
        raise RunError(f"there is no run {RUNS}/{pattern}: train it first")
    found = tyro.cli(Settings, default=read_settings(folder))
    return dataclasses.replace(found, folder=folder)


def main() -> None:
    """Train or evaluate, as the command line says."""
    settings = tyro.cli(Settings, description=__doc__)
    try:
        if settings.resume or settings.evaluate:
            settings = find_run(settings)
        check(settings)
        if settings.evaluate:
            evaluate(settings)
        else:
            train(settings)
    except RunError as error:
        name = pathlib.Path(sys.argv[0]).name
        print(f"{name}: error: {error}", file=sys.stderr)
        sys.exit(2)


if __name__ == "__main__":
    main()
