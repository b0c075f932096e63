"""Train an agent with DQN on one game: small, whole, and to be changed.

The algorithm is that of Mnih et al. 2015, the settings are mostly those of
CleanRL's `dqn_atari.py`. Scores rise after some 200,000 steps. What isn't DQN
is in training_run.py; copy both beside game.py.

    pip install -r requirements.txt torch Pillow tensorboard tyro filelock
    python examples/dqn.py             # train on Breakout
    python examples/dqn.py --resume    # continue an interrupted training
    python examples/dqn.py --evaluate  # play 30 whole games in two ways

A checkpoint doesn't have the memory, which would be 700 MB: a run that is
resumed fills it again before it learns.
"""

import collections
import dataclasses
import math
import random
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

import training_run
from training_run import Count, Run, ended_games, main, timed


@dataclasses.dataclass
class Settings(training_run.Settings):
    """Mostly those of CleanRL's `dqn_atari.py`."""

    steps: Count = 2_000_000
    """in all"""
    memory: Count = 100_000
    """steps to remember, 7 kB each; DQN had 1,000,000"""
    learn_after: Count = 5_000
    """steps are played before the first update; CleanRL has 80,000"""
    learn_every: Count = 4
    """steps between two updates"""
    target_every: Count = 1_000
    """steps between two copies of the network to its target"""
    batch: Count = 32
    """steps to learn from in an update"""
    learning_rate: float = 1e-4
    """constant"""
    gamma: float = 0.99
    """what a reward is worth a step earlier"""
    explore: float = 0.01
    """the share of random actions, which falls from 1 to this in the first
    tenth of the steps"""


REPORT = 1_000  # steps between two reports to the run
EXPLORE_TO_EVALUATE = 0.05  # as in the paper


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
    pictures, height, width, *colours = shape
    channels = pictures * math.prod(colours)
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
    # Colours become channels, too.
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


def train(settings: Settings) -> None:
    """Play and learn; save as it goes."""
    # One observation is too little work to share: threads would only wait.
    torch.set_num_threads(1)
    torch.manual_seed(settings.seed)
    # A process of its own would only be waited for.
    with settings.make_games(1, processes=0) as games:
        count = int(games.single_action_space.n)
        shape = games.single_observation_space.shape
        network, target = (
            make_network(count, shape).to(settings.here.device)
            for _ in range(2)
        )
        target.load_state_dict(network.state_dict())
        optimizer = torch.optim.Adam(
            network.parameters(), settings.learning_rate
        )
        with Run(
            settings,
            ["playing", "learning"],
            weights=network,
            target=target,
            optimizer=optimizer,
        ) as run:
            play_and_learn(games, network, target, optimizer, settings, run)


def play_and_learn(
    games: training_run.Games,
    network: nn.Module,
    target: nn.Module,
    optimizer: torch.optim.Optimizer,
    settings: Settings,
    run: Run,
) -> None:
    memory = Memory(settings.memory)
    # Sampled, so that a resumed run plays another game than before.
    seed = int(torch.randint(2**31, (), generator=run.random).item())
    random.seed(seed)
    obs, _ = games.reset(seed=seed)
    memory.start(obs[0])
    step = run.steps
    ended = []
    figures: dict[str, Any] = {"loss": None, "value": None}
    while not run.over:
        step += 1
        explore = np.interp(
            step, [0, settings.steps / 10], [1, settings.explore]
        )
        with timed(run.seconds, "playing"):
            action = choose(network, obs, explore)[0]
            obs, rewards, terminated, truncated, infos = games.step([action])
        # What followed the last step of an episode is not `obs`, which is the
        # first observation of the next.
        over = terminated[0] or truncated[0]
        after = infos["final_obs"][0] if over else obs[0]
        memory.add(action, rewards[0], terminated[0], after)
        if over:
            memory.start(obs[0])
        ended += ended_games(infos).values()
        is_full = len(memory.steps) >= min(
            settings.learn_after, settings.memory
        )
        if is_full and step % settings.learn_every == 0:
            with timed(run.seconds, "learning"):
                figures = learn(network, target, optimizer, memory, settings)
        if step % settings.target_every == 0:
            target.load_state_dict(network.state_dict())
        if run.interrupted or step % REPORT == 0 or step == settings.steps:
            run.add(step - run.steps, ended, figures | {"explore": explore})
            ended = []


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


def load(
    settings: Settings, actions: int, shape: tuple[int, ...], weights: dict
) -> training_run.Choose:
    """Return how an agent with these weights chooses actions."""
    network = make_network(actions, shape).to(settings.here.device)
    network.load_state_dict(weights)
    random.seed(settings.seed)
    return lambda obs: torch.tensor(choose(network, obs, EXPLORE_TO_EVALUATE))


if __name__ == "__main__":
    main(__doc__, Settings, train, load)
