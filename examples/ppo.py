"""Train an agent with PPO on `Games`: the file to start from.

It follows CleanRL's `ppo_atari.py` and names the source of each detail. Copy
it beside game.py.

    pip install -r requirements.txt torch tensorboard tyro
    python examples/ppo.py             # train on Breakout
    python examples/ppo.py --resume    # continue the newest run
    python examples/ppo.py --evaluate  # play 30 whole games in two ways
    python examples/ppo.py --film      # play a game and film it

Each run has a folder, runs/ENV_ID-SEED-TIME, with settings.json, curve.csv and
the same for `tensorboard --logdir runs`, checkpoint.pt, and film.mp4.

Ctrl-C, the SIGTERM of a batch system or a closed terminal end a training after
the current update, with a checkpoint. A second signal ends it at once.

--resume, --evaluate and --film take the newest run of the title and the seed,
or --folder, with the settings of that run. Before the first run the published
agent plays Breakout. Beside other programs, --threads 1 is by far the fastest.
"""

import contextlib
import csv
import dataclasses
import datetime
import io
import json
import math
import os
import pathlib
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any, Literal, NamedTuple

import cv2
import numpy as np
import torch
import tyro
from torch import Tensor, nn
from torch.distributions import Categorical
from torch.utils.tensorboard import SummaryWriter

# In this repository game.py lies one folder up; copied, it lies beside.
sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))
from game import BREAKOUT, TRAINING, Games

RUNS = pathlib.Path("runs")
PUBLISHED = pathlib.Path(__file__).with_name("breakout.pt")

# ## Settings


def has_fast_bfloat16() -> bool:
    """Return whether the network computes on a CPU that has bfloat16."""
    # An older PyTorch can't tell.
    can = getattr(torch.cpu, "get_capabilities", dict)()
    return can.get("avx512_bf16", False) and not torch.cuda.is_available()


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
    evaluate: bool = False  # play whole games in two ways
    film: bool = False  # play a game and film it
    # of the run; None: a new one, or the newest to resume, evaluate or film
    folder: pathlib.Path | None = None
    # to evaluate: one agent's scores differ widely. DQN was judged by 30
    whole_games: int = 30
    device: str = "cuda" if torch.cuda.is_available() else "cpu"
    # train the network in half precision
    bfloat16: bool = dataclasses.field(default_factory=has_fast_bfloat16)
    # of PyTorch, to learn
    threads: int = dataclasses.field(default_factory=torch.get_num_threads)
    # that play; None: one for each core, 0: this one
    processes: int | None = None


@dataclasses.dataclass
class Settings(GameOptions, Here):
    # any Atari title
    env_id: tyro.conf.Positional[str] = BREAKOUT
    seed: int = 0  # of the weights, and of what is sampled
    steps: int = 10_000_000  # of all games together
    games: int = 8  # that are played at once
    # The rest are the settings of Baselines' ppo2 for Atari.
    rollout: int = 128  # steps of each game between two updates
    minibatch: int = 256  # samples: a quarter of an update with 8 games
    epochs: int = 4  # how often an update sees each sample
    learning_rate: float = 2.5e-4  # at first; it falls to 0
    gamma: float = 0.99  # what a reward is worth a step earlier
    gae_lambda: float = 0.95  # how far advantages look ahead
    clip: float = 0.1  # how far an update may change policy and values
    entropy_weight: float = 0.01  # of the bonus for exploring
    value_weight: float = 0.5  # of the values' errors in the loss
    max_gradient: float = 0.5  # the norm of all gradients together
    save_every: int = 10  # updates between checkpoints, and rows of the curve
    keep_every: int = 1_000_000  # steps between checkpoints that are kept

    def make_games(self, count: int, **options: Any) -> Games:
        """Make games as these settings have them, but for `options`."""
        mine = part_of(self, GameOptions) | {"processes": self.processes}
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
    shares = ("gamma", "gae_lambda", "repeat_action_probability")
    for name, value in vars(settings).items():
        if name in ("seed", "noop_max", "processes"):
            continue  # `Games` checks these
        low = 1 if type(value) is int else 0
        high = 1 if name in shares else sys.float_info.max
        if isinstance(value, int | float) and not low <= value <= high:
            raise RunError(f"--{name.replace('_', '-')} can't be {value}")
    try:
        with settings.make_games(1) as games:
            make_agent(settings, games)
    except Exception as error:  # PyTorch raises all kinds
        raise RunError(error) from error


# ## The network


def layer(module: Any, gain: float = 2**0.5) -> Any:
    """Initialize with orthogonal weights and no bias (Baselines)."""
    nn.init.orthogonal_(module.weight, gain)
    nn.init.zeros_(module.bias)
    return module


class Agent(nn.Module):
    """DQN's network (Mnih et al. 2015), shared by policy and value."""

    def __init__(
        self,
        actions: int,
        bfloat16: bool = False,
        shape: tuple[int, ...] = (4, 84, 84),
    ) -> None:
        super().__init__()
        self.dtype = torch.bfloat16 if bfloat16 else torch.float32
        pictures, height, width, *colors = shape  # three, or none
        channels = pictures * math.prod(colors)
        self.body = nn.Sequential(
            layer(nn.Conv2d(channels, 32, 8, stride=4)),
            nn.ReLU(),
            layer(nn.Conv2d(32, 64, 4, stride=2)),
            nn.ReLU(),
            layer(nn.Conv2d(64, 64, 3)),
            nn.ReLU(),
            nn.Flatten(),
        )
        # what comes out of a picture, 64 * 7 * 7 for one of 84×84
        size = self.body(torch.zeros(1, channels, height, width)).numel()
        self.body.append(layer(nn.Linear(size, 512))).append(nn.ReLU())
        # At first all actions are almost equally likely (Baselines).
        self.policy = layer(nn.Linear(512, actions), gain=0.01)
        self.value = layer(nn.Linear(512, 1), gain=1)
        # Convolutions are faster on a CPU if channels come last in memory.
        self.to(memory_format=torch.channels_last)

    def forward(self, obs: Tensor) -> tuple[Categorical, Tensor]:
        """Map observations, `uint8 (n, 4, 84, 84)`, to a policy and values."""
        return self.look(self.scale(obs))

    def scale(self, obs: Tensor) -> Tensor:
        """Scale them to 0..1, as `(n, 84, 84, 4)`: channels come last."""
        scaled = obs.movedim(1, 3).flatten(3).contiguous().to(self.dtype)
        return scaled / 255

    def look(self, scaled: Tensor) -> tuple[Categorical, Tensor]:
        """Map scaled observations to a policy and values."""
        half = self.dtype is torch.bfloat16
        with torch.autocast(scaled.device.type, torch.bfloat16, half):
            hidden = self.body(scaled.movedim(3, 1)).float()
        # The two heads compute in full precision.
        value = self.value(hidden).squeeze(1)
        # `Run` finds numbers that are not finite.
        policy = Categorical(logits=self.policy(hidden), validate_args=False)
        return policy, value


def make_agent(
    settings: Settings, games: Games
) -> tuple[Agent, torch.optim.Optimizer]:
    """Make an agent that has learned nothing, and its optimizer."""
    torch.manual_seed(settings.seed)
    actions = int(games.single_action_space.n)
    shape = games.single_observation_space.shape
    assert shape
    agent = Agent(actions, settings.bfloat16, shape).to(settings.device)
    # epsilon as in Baselines; PyTorch's default is 1e-8
    optimizer = torch.optim.Adam(agent.parameters(), eps=1e-5, fused=True)
    return agent, optimizer


# ## Playing


class Batch(NamedTuple):
    """What was played for an update, a row for each step of each game."""

    obs: Tensor  # uint8 (n, 4, 84, 84)
    actions: Tensor  # (n,), as all that follow
    log_probs: Tensor
    values: Tensor
    gains: Tensor  # advantages


class Ended(NamedTuple):
    """A whole game that has ended."""

    score: float
    length: float


def ended_games(infos: dict[str, Any]) -> dict[int, Ended]:
    """Return the whole games that ended in a step, by index."""
    indices = np.flatnonzero(infos.get("_episode", [])).tolist()
    return {
        i: Ended(*(infos["episode"][name][i].item() for name in "rl"))
        for i in indices
    }


class Player:
    """Plays with an agent, and goes on where it was."""

    def __init__(
        self, agent: Agent, games: Games, settings: Settings, seed: int
    ) -> None:
        self.agent = agent
        self.games = games
        self.settings = settings
        # of its own, so that it plays the same wherever the learner is
        self.random = torch.Generator().manual_seed(seed)
        self.obs, _ = games.reset(seed=seed)

    @torch.no_grad()
    def play(self) -> tuple[Batch, list[Ended]]:
        """Play for an update; return it, and the whole games that ended."""
        device = self.agent.value.weight.device
        seen = []
        outcomes = []
        ended: list[Ended] = []
        # While this lasts, weights that were cast to bfloat16 are kept.
        with torch.autocast(device.type, enabled=False):
            for _ in range(self.settings.rollout):
                obs = torch.as_tensor(self.obs, device=device)
                policy, values = self.agent(obs)
                actions = self.sample(policy)
                log_probs = policy.log_prob(actions)
                seen.append((obs, actions, log_probs, values))
                self.obs, rewards, terminated, truncated, infos = (
                    self.games.step(actions.cpu().numpy())
                )
                ended += ended_games(infos).values()
                # the values of the last observations of truncated episodes
                last_values = np.zeros(len(rewards))
                if truncated.any():
                    last = np.stack(infos["final_obs"][truncated])
                    last = torch.as_tensor(last, device=device)
                    last_values[truncated] = self.agent(last)[1].cpu()
                outcomes.append((rewards, terminated, truncated, last_values))
            obs = torch.as_tensor(self.obs, device=device)
            next_values = self.agent(obs)[1]

        # each (steps, games, …)
        columns = [torch.stack(column) for column in zip(*seen, strict=True)]
        table = torch.as_tensor(np.array(outcomes, np.float32), device=device)
        values = columns[-1]
        gains = advantages(table, values, next_values, self.settings)
        rows = [column.flatten(0, 1) for column in (*columns, gains)]
        return Batch(*rows), ended

    def sample(self, policy: Categorical) -> Tensor:
        """Sample actions, the same on every device: the Gumbel-max trick."""
        noise = torch.empty(policy.logits.shape)
        noise.exponential_(generator=self.random)
        noise = noise.log().to(policy.logits.device)
        return (policy.logits - noise).argmax(1)


def advantages(
    table: Tensor, values: Tensor, next_values: Tensor, settings: Settings
) -> Tensor:
    """Return generalized advantage estimates (Schulman et al. 2016).

    A truncated episode would have gone on: what is missing is worth the value
    of its last observation (Pardo et al. 2018).
    """
    rewards, terminated, truncated, last_values = table.unbind(1)
    following = torch.cat([values[1:], next_values[None]])
    following = torch.where(truncated > 0, last_values, following)
    errors = rewards + settings.gamma * (1 - terminated) * following - values
    goes_on = (1 - terminated) * (1 - truncated)
    weights = settings.gamma * settings.gae_lambda * goes_on
    result = torch.zeros_like(values)
    later = torch.zeros_like(next_values)
    for step in reversed(range(len(values))):
        later = errors[step] + weights[step] * later
        result[step] = later
    return result


# ## Learning


def learn(
    agent: Agent,
    optimizer: torch.optim.Optimizer,
    batch: Batch,
    settings: Settings,
    random: torch.Generator,
) -> dict[str, float]:
    """Learn from a batch; return figures, means of the last epoch."""
    clip = settings.clip
    columns = [agent.scale(batch.obs), *batch[1:]]
    for _ in range(settings.epochs):
        # Each epoch sees every sample once, in a new order (Baselines).
        order = torch.randperm(len(batch.obs), generator=random)
        figures = []
        for part in order.to(batch.obs.device).split(settings.minibatch):
            scaled, actions, old_log_probs, old_values, gains = (
                column.index_select(0, part) for column in columns
            )
            policy, values = agent.look(scaled)
            returns = gains + old_values
            # normalized within the minibatch (Baselines); a single sample has
            # no deviation
            if len(part) > 1:
                gains = (gains - gains.mean()) / (gains.std() + 1e-8)
            # the clipped objective (Schulman et al. 2017, equation 7)
            change = policy.log_prob(actions) - old_log_probs
            ratio = change.exp()
            clipped = ratio.clamp(1 - clip, 1 + clip)
            policy_loss = -torch.min(ratio * gains, clipped * gains).mean()
            # clipped likewise (Baselines; Engstrom et al. 2020: no gain)
            near = old_values + (values - old_values).clamp(-clip, clip)
            errors = torch.max((values - returns) ** 2, (near - returns) ** 2)
            value_loss = errors.mean() / 2
            # a bonus for exploring (Mnih et al. 2016)
            entropy = policy.entropy().mean()
            loss = policy_loss + settings.value_weight * value_loss
            loss -= settings.entropy_weight * entropy
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(agent.parameters(), settings.max_gradient)
            optimizer.step()

            kl = (ratio - 1 - change).mean()  # Schulman's estimate
            outside = ((ratio - 1).abs() > clip).float().mean()
            figures.append((policy_loss, value_loss, entropy, kl, outside))
    names = ["policy_loss", "value_loss", "entropy", "kl", "clip_fraction"]
    means = [
        torch.stack(column).mean().item()
        for column in zip(*figures, strict=True)
    ]
    returns = batch.gains + batch.values
    explained = 1 - batch.gains.var() / returns.var()
    return dict(zip(names, means, strict=True)) | {
        "explained_variance": explained.item(),
        "learning_rate": optimizer.param_groups[0]["lr"],
    }


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
            os.write(2, b"ends after this update; once more: at once\n")

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
        kept = path.parent.glob("checkpoint-*.pt")
        raise RunError(
            f"{path} can't be read ({error!r:.60}); copy an older one there: "
            f"{' '.join(map(str, kept)) or 'there is none'}"
        ) from error


def read_settings(kind: type[Settings], folder: pathlib.Path) -> Any:
    """Return the settings of a run, as far as they are of this kind."""
    path = folder / "settings.json"
    try:
        saved = json.loads(path.read_text())
        saved["size"] = tuple(saved["size"])
        names = {field.name for field in dataclasses.fields(kind)}
        return kind(**{name: saved[name] for name in names & saved.keys()})
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise RunError(f"{path} can't be read ({error!r})") from error


def name_of(settings: Settings) -> str:
    """Return the name of a run, but for its time."""
    return f"{settings.env_id.replace('/', '-')}-{settings.seed}"


class Run:
    """The progress of a training, and the folder that keeps it."""

    def __init__(
        self, settings: Settings, agent: Agent, optimizer: torch.optim.Adam
    ) -> None:
        self.agent = agent
        self.optimizer = optimizer
        # All that a training draws comes from here, or is seeded by it.
        self.random = torch.Generator().manual_seed(int(settings.seed))
        self.steps = 0
        self.updates = 0
        self.seconds = 0.0
        self.ended: list[Ended] = []  # the last hundred whole games
        self.rows: list[dict[str, Any]] = []  # of the curve
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
        self.settings = read_settings(type(settings), self.folder)
        vars(self.settings).update(here)
        self.over = self.steps >= settings.steps
        self._saved = self.steps
        self._first = self.steps, self.seconds
        self._began = time.perf_counter() - self.seconds
        self._next_line = 0.0
        # What came after the checkpoint is played again.
        self._board = SummaryWriter(self.folder, purge_step=self.steps + 1)
        print(f"{self.folder}: {self.steps:,} steps of {settings.steps:,}")

    def _load(self, settings: Settings) -> None:
        """Go on from a checkpoint."""
        saved = read_checkpoint(self.folder / "checkpoint.pt")
        self.agent.load_state_dict(saved["weights"])
        self.optimizer.load_state_dict(saved["optimizer"])
        self.random.set_state(saved["random"])
        until = saved["state"].pop("until")
        vars(self).update(saved["state"])
        if until != settings.steps:
            print(
                f"--steps was {until:,}: the learning rate falls to 0 at "
                f"{settings.steps:,} now, and changes at once"
            )

    def add(
        self,
        steps: int,
        ended: list[Ended],
        figures: dict[str, float],
        is_last: bool,
    ) -> None:
        """Count an update, with the games that ended in it and its figures."""
        self.seconds = time.perf_counter() - self._began
        self.steps += steps
        self.updates += 1
        self.ended = [*self.ended, *ended][-100:]  # as many as in CleanRL
        self.over = is_last or self.steps >= self.settings.steps
        # A sum is finite only if all that is added is.
        total = sum(v for k, v in figures.items() if k.endswith("loss"))
        total += sum(w.sum().item() for w in self.agent.parameters())
        if not math.isfinite(total):
            raise RunError(
                "loss or weights have numbers that aren't finite since step "
                f"{self.steps:,}; {self.folder} has those of {self._saved:,}"
            )
        steps_before, seconds_before = self._first
        speed = (self.steps - steps_before) / (self.seconds - seconds_before)
        # no number if no game has ended
        score, length = None, None
        result = "no game has ended"
        if self.ended:
            score, length = np.mean(self.ended, 0).tolist()
            result = f"score {score:.1f}"
        row = {
            "steps": self.steps,
            "seconds": self.seconds,
            "steps_per_second": speed,
            **{name: float(value) for name, value in figures.items()},
            "score": score,
            "length": length,
        }
        if self.over or self.updates % self.settings.save_every == 0:
            self._save(row)
        if self.over or self.seconds >= self._next_line:
            self._next_line = self.seconds + 10
            minutes = max(0, self.settings.steps - self.steps) / speed / 60
            print(
                f"{self.steps:,} steps, {speed:,.0f} steps/s, "
                f"{minutes // 60:.0f}:{minutes % 60:02.0f} h left, {result}",
                flush=True,
            )

    def _save(self, row: dict[str, Any]) -> None:
        """Write a checkpoint to resume from, and the curve."""
        self.rows.append(row)
        state = {
            "steps": self.steps,
            "updates": self.updates,
            "seconds": self.seconds,
            "ended": [tuple(each) for each in self.ended],
            "rows": self.rows,
            "until": self.settings.steps,
        }
        saved = {
            "weights": self.agent.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "random": self.random.get_state(),
            "state": state,
        }
        checkpoint = io.BytesIO()
        torch.save(saved, checkpoint)
        # All rows: a newer program may have other figures.
        curve = io.StringIO()
        names = dict.fromkeys(name for row in self.rows for name in row)
        writer = csv.DictWriter(curve, names)
        writer.writeheader()
        writer.writerows(self.rows)
        keep_every = self.settings.keep_every
        if self.steps // keep_every > self._saved // keep_every:
            kept = self.folder / f"checkpoint-{self.steps}.pt"
            write(kept, checkpoint.getvalue())
        write(self.folder / "checkpoint.pt", checkpoint.getvalue())
        self._saved = self.steps
        write(self.folder / "curve.csv", curve.getvalue().encode())
        for name, value in row.items():
            if value is not None:
                self._board.add_scalar(name, value, self.steps)
        self._board.flush()


def set_rate(optimizer: torch.optim.Optimizer, run: Run) -> None:
    """Let the learning rate fall to 0 (Baselines)."""
    left = 1 - run.steps / run.settings.steps
    optimizer.param_groups[0]["lr"] = run.settings.learning_rate * left


def train(settings: Settings) -> None:
    """Train until all steps are played; save as it goes."""
    with settings.make_games(settings.games) as games:
        agent, optimizer = make_agent(settings, games)
        run = Run(settings, agent, optimizer)
        settings = run.settings
        # Drawn, so that a resumed run plays other games than before.
        seed = torch.randint(2**31, (), generator=run.random).item()
        player = Player(agent, games, settings, int(seed))
        with noting_signals() as asked:
            while not run.over:
                set_rate(optimizer, run)
                torch.set_num_threads(1)  # the games need the other cores
                batch, ended = player.play()
                torch.set_num_threads(settings.threads)
                figures = learn(agent, optimizer, batch, settings, run.random)
                run.add(len(batch.obs), ended, figures, asked.is_set())


# ## What has been learned

# An agent is judged by the raw points of whole games, in two ways: "served" as
# in training, and "alone", where it has to press FIRE itself, which it was
# never taught.
WAYS: dict[str, dict[str, Any]] = {
    "served": dict(clip_reward=False),
    "alone": dict(
        clip_reward=False, on_life_loss="ignore", fire_on_reset=False
    ),
}


def load(settings: Settings) -> Agent:
    """Return the agent of a run, or the published one."""
    path = PUBLISHED
    if settings.folder:
        path = settings.folder / "checkpoint.pt"
    print(f"weights: {path}", flush=True)
    saved = read_checkpoint(path)
    # It plays in float32.
    settings = dataclasses.replace(settings, bfloat16=False)
    with settings.make_games(1, processes=0) as games:
        agent, _ = make_agent(settings, games)
    # breakout.pt has the weights alone.
    agent.load_state_dict(saved.get("weights", saved))
    return agent


@torch.no_grad()
def whole_games(
    agent: Agent,
    games: Games,
    seed: int,
    show: Callable[[np.ndarray], None] | None = None,
) -> list[float]:
    """Play until each game has ended once; return those scores.

    The screens of the first game go to `show`. A game that has ended rests:
    of all the games that end by a given time, too many would be short.
    """
    torch.manual_seed(seed)
    device = agent.value.weight.device
    scores: dict[int, float] = {}
    obs, _ = games.reset(seed=seed)
    while len(scores) < games.num_envs:
        if show is not None:
            show(games.render()[0])
        policy, _ = agent(torch.as_tensor(obs, device=device))
        actions: list[Any] = policy.sample().tolist()  # as in training
        for i in scores:
            actions[i] = None
        obs, *_, infos = games.step(actions)
        for i, ended in ended_games(infos).items():
            scores[i] = ended.score
            print(f"game {i}: {ended.score:.0f} points", flush=True)
    return [scores[i] for i in range(games.num_envs)]


def evaluate(settings: Settings) -> None:
    """Play whole games in both ways and print their scores."""
    agent = load(settings)
    for way, options in WAYS.items():
        with settings.make_games(settings.whole_games, **options) as games:
            scores = whole_games(agent, games, settings.seed)
        print(
            f"{way}: mean {np.mean(scores):.1f} "
            f"({min(scores):.0f} to {max(scores):.0f})",
            flush=True,
        )


def film(settings: Settings) -> None:
    """Play one whole game and write its screens as it goes."""
    folder = settings.folder or RUNS
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "film.mp4"
    agent = load(settings)
    with settings.make_games(1, **WAYS["served"]) as games:
        games.reset()
        height, width, _ = games.render()[0].shape
        size = 2 * width, 2 * height  # each pixel becomes four
        codec = cv2.VideoWriter_fourcc(*"vp09")
        # 15 steps a second, four frames each
        writer = cv2.VideoWriter(str(path), codec, 15, size)

        def show(screen: np.ndarray) -> None:
            picture = cv2.cvtColor(screen, cv2.COLOR_RGB2BGR)
            nearest = cv2.INTER_NEAREST
            writer.write(cv2.resize(picture, size, interpolation=nearest))

        whole_games(agent, games, settings.seed, show)
        writer.release()
    print(path, flush=True)


# ## The program


def find_run(settings: Any) -> Any:
    """Return the settings of the run that is meant.

    They are those that it was begun with, unless the command line has others.
    """
    pattern = f"{name_of(settings)}-*/checkpoint.pt"
    folders = [path.parent for path in sorted(RUNS.glob(pattern))]
    folder = settings.folder or (folders[-1] if folders else None)
    if folder is not None:
        kind = type(settings)
        found = tyro.cli(kind, default=read_settings(kind, folder))
        return dataclasses.replace(found, folder=folder)
    if settings.resume or settings.env_id != BREAKOUT:
        raise RunError(f"there is no run {RUNS}/{pattern}: train it first")
    return settings  # for the published agent


def main(
    kind: type[Settings] = Settings,
    train: Callable[[Any], None] = train,
    description: str | None = __doc__,
) -> None:
    """Train, evaluate or film, as the command line says."""
    settings = tyro.cli(kind, description=description)
    try:
        if settings.resume or settings.evaluate or settings.film:
            settings = find_run(settings)
        check(settings)
        torch.set_num_threads(settings.threads)
        if settings.evaluate:
            evaluate(settings)
        if settings.film:
            film(settings)
        if not (settings.evaluate or settings.film):
            train(settings)
    except RunError as error:
        name = pathlib.Path(sys.argv[0]).name
        print(f"{name}: error: {error}", file=sys.stderr)
        sys.exit(2)


if __name__ == "__main__":
    main()
