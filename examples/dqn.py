"""Train an agent with DQN on one game: the smallest one, to be changed.

The algorithm is that of Mnih et al. 2015; the settings are mostly those of
CleanRL's `dqn_atari.py`. Copy this file beside game.py, with run.py, which
keeps a training, ppo.py, which has the options of the games, and play.py.

    pip install -r requirements.txt torch tensorboard tyro
    python examples/dqn.py --folder runs/dqn  # begin there, or continue
    python examples/play.py runs/dqn          # play 30 whole games

A checkpoint doesn't have the memory, which would be 700 MB: a run that is
continued fills it again before it learns. `train` takes another `make_agent`
or `learn`, and `load` another `make_agent`, as those of ppo.py do.
"""

import collections
import copy
import dataclasses
import math
import pathlib
import random
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

# In this repository game.py is one folder up; in a copy it is beside.
if not pathlib.Path(__file__).with_name("game.py").exists():
    sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))
from games import Games
from ppo import GameSettings, ended_games, rate_shares, restore, set_rate
from run import (
    Ended,
    Learned,
    Run,
    RunError,
    one_line,
    read_settings,
    run_program,
)

REPORT = 1_000  # steps between two reports to the run

# ## Settings


@dataclasses.dataclass
class Settings(GameSettings):
    """The settings of CleanRL, but for a smaller memory."""

    program = "dqn"

    steps: int = 1_000_000
    """Steps of the whole training."""
    memory: int = 100_000
    """Steps to remember, 7 kB each; DQN had 1,000,000."""
    learn_after: int = 5_000
    """Steps before the first update; CleanRL has 80,000."""
    learn_every: int = 4
    """Steps between two updates."""
    target_every: int = 1_000
    """Steps between two copies of the network to the target."""
    batch: int = 32
    """Remembered steps that an update learns from."""
    learning_rate: float = 1e-4
    """Learning rate, which is constant."""
    gamma: float = 0.99
    """Discount: the worth of a reward one step earlier."""
    explore: float = 0.01
    """Share of random actions; it falls from 1 in a tenth of the steps."""
    save_every: int = 10
    """Thousands of steps between two checkpoints, each with a row."""


# ## The memory, and the network


class Memory:
    """The last `capacity` steps, to learn from again and again.

    Steps in a row share their pictures, so that each is kept once: 7 kB a
    step, where two observations would be 56 kB.
    """

    def __init__(self, capacity: int) -> None:
        # A memory that is full forgets its oldest step.
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


def make_agent(
    settings: Settings, games: Games
) -> tuple[nn.Module, torch.optim.Optimizer]:
    """Make the network that values each action, and its optimizer."""
    shape = games.single_observation_space.shape
    assert shape
    pictures, height, width, *colors = shape
    channels = pictures * math.prod(colors)
    # that of Mnih et al. 2015
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
    # faster on a CPU
    network.to(settings.device, memory_format=torch.channels_last)
    optimizer = torch.optim.Adam(network.parameters(), settings.learning_rate)
    return network, optimizer


def values(network: nn.Module, obs: Any) -> Tensor:
    """The values of all actions in `obs`, `uint8 (n, 4, 84, 84)`."""
    device = next(network.parameters()).device
    # Colors become channels, too.
    obs = torch.as_tensor(obs).movedim(1, 3).flatten(3).movedim(3, 1)
    return network(obs.to(device, torch.float32) / 255)


@torch.no_grad()
def choose(network: nn.Module, obs: Any, explore: float) -> list[int]:
    """Choose the best action for each game, or a random one."""
    network.eval()  # Playing is not learning.
    best = values(network, obs)
    return [
        random.randrange(len(row))
        if random.random() < explore
        else row.argmax().item()
        for row in best
    ]


# ## Learning


def learn(
    network: nn.Module,
    target: nn.Module,
    optimizer: torch.optim.Optimizer,
    memory: Memory,
    settings: Settings,
) -> dict[str, float]:
    """Draw the values of steps from memory towards what came of them."""
    network.train()
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


def train(
    settings: Settings,
    make_agent: Callable[..., Any] = make_agent,
    learn: Callable[..., dict[str, float]] = learn,
) -> None:
    """Play and learn until all steps are played, or a signal comes.

    Args:
        settings: Settings of the run.
        make_agent: Makes the network and its optimizer, after the seed is set.
        learn: Learns from the memory.
    """
    enough = min(settings.learn_after, settings.memory)
    if settings.steps <= enough:
        raise RunError(
            f"{settings.steps:,} steps are too few to learn: the first "
            f"{enough:,} fill the memory (--learn-after)"
        )
    # One observation is too little work to share: threads would only wait.
    # And they decide over the rounding, of the first weights, too.
    torch.set_num_threads(1)
    with one_line("can't begin"):
        # Another process would only be waited for.
        games = settings.make_games(1, processes=0)
        torch.manual_seed(settings.seed)
        network, optimizer = make_agent(settings, games)
        target = copy.deepcopy(network).eval()
        shares = rate_shares(optimizer)
        run = Run(
            settings, weights=network, target=target, optimizer=optimizer
        )
    # It may have been another rate before.
    set_rate(optimizer, settings.learning_rate, shares)
    # A run that is continued plays another game than before.
    random.seed(settings.seed + run.steps)
    memory = Memory(min(settings.memory, settings.steps))
    ended: list[Ended] = []
    figures: dict[str, float] = {}
    with games, run:
        obs, _ = games.reset(seed=random.randrange(2**31))
        memory.start(obs[0])
        step = run.steps
        while not run.over:
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
            ended += ended_games(infos).values()
            is_time = step % settings.learn_every == 0
            if is_time and len(memory.steps) >= enough:
                figures = learn(network, target, optimizer, memory, settings)
            if step % settings.target_every == 0:
                target.load_state_dict(network.state_dict())
            if run.asked or step % REPORT == 0 or step == settings.steps:
                more = {"explore": explore}
                run.add(step - run.steps, ended, figures | more)
                ended = []
        if not figures:
            print(
                f"nothing was learned: the first {enough:,} steps after each "
                "start fill the memory"
            )


def load(
    saved: dict[str, Any],
    path: pathlib.Path,
    device: str,
    kind: type[Settings] = Settings,
    make_agent: Callable[..., Any] = make_agent,
) -> Learned:
    """Return what a checkpoint has learned, for play.py.

    A share of the actions is random, as at the end of the training.
    """
    network, settings = restore(saved, path, device, kind, make_agent)

    def act(obs: np.ndarray, starts: np.ndarray) -> list[int]:
        return choose(network, obs, settings.explore)

    return Learned(act, settings)


def main() -> None:
    """Train, as the command line says."""
    train(read_settings(Settings, __doc__))


if __name__ == "__main__":
    run_program(main)
