"""Train an agent with DQN on one game: the smallest one, to be changed.

The algorithm is that of Mnih et al. 2015; the settings are mostly those of
CleanRL's `dqn_atari.py`. Copy this file beside game.py, with run.py, which
keeps a training, ppo.py, which has the options of the games, and play.py.

    pip install -r requirements.txt torch tensorboard tyro
    python examples/dqn.py --folder runs/dqn  # begin there, or continue
    python examples/play.py runs/dqn          # play 30 whole games

A checkpoint doesn't have the memory, which would be 700 MB: a run that is
continued fills it again before it learns.
"""

import collections
import dataclasses
import math
import pathlib
import random
import sys
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

# In this repository game.py is one folder up; in a copy it is beside.
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from games import Games
from ppo import GameSettings, ended_games
from run import (
    Ended,
    Learned,
    Run,
    Share,
    Whole,
    one_line,
    read_settings,
    run_program,
    saved_settings,
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
    learn_after: Whole = 5_000
    """Steps before the first update; CleanRL has 80,000."""
    learn_every: int = 4
    """Steps between two updates."""
    target_every: int = 1_000
    """Steps between two copies of the network to the target."""
    batch: int = 32
    """Remembered steps that an update learns from."""
    learning_rate: float = 1e-4
    """Learning rate, which is constant."""
    gamma: Share = 0.99
    """Discount: the worth of a reward one step earlier."""
    explore: Share = 0.01
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


# ## Learning


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


def train(settings: Settings) -> None:
    """Play and learn until all steps are played, or a signal comes."""
    # One observation is too little work to share: threads would only wait.
    # And they decide over the rounding, of the first weights, too.
    torch.set_num_threads(1)
    with one_line("can't begin"):
        torch.manual_seed(settings.seed)
        # Another process would only be waited for.
        games = settings.make_games(1, processes=0)
        network = make_network(games).to(settings.device)
        target = make_network(games).to(settings.device)
        target.load_state_dict(network.state_dict())
        optimizer = torch.optim.Adam(network.parameters())
        run = Run(
            settings, weights=network, target=target, optimizer=optimizer
        )
    optimizer.param_groups[0]["lr"] = settings.learning_rate
    # A run that is continued plays another game than before.
    random.seed(settings.seed + run.steps)
    memory = Memory(min(settings.memory, settings.steps))
    enough = min(settings.learn_after, settings.memory)
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


def load(saved: dict[str, Any], path: pathlib.Path, device: str) -> Learned:
    """Return what a checkpoint has learned, for play.py."""
    settings = saved_settings(Settings, saved, path)
    with settings.make_games(1, processes=0) as games:
        network = make_network(games).to(device)
    network.load_state_dict(saved["weights"])

    def act(obs: np.ndarray, most_likely: bool = False) -> list[int]:
        return choose(network, obs, explore=0)  # play.py explores.

    return Learned(act, settings)


def main() -> None:
    """Train, as the command line says."""
    train(read_settings(Settings, __doc__))


if __name__ == "__main__":
    run_program(main)
