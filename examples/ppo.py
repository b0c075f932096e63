"""Train an agent with PPO on `Games`: the file to start from.

It follows CleanRL's `ppo_atari.py` and names the source of each detail.
Everything that isn't PPO is in training_run.py; copy both beside game.py.

    pip install -r requirements.txt torch Pillow tensorboard tyro filelock
    python examples/ppo.py             # train on Breakout
    python examples/ppo.py --resume    # continue an interrupted training
    python examples/ppo.py --evaluate  # play 30 whole games in two ways
    python examples/ppo.py --film      # play one and write it as a film
"""

import dataclasses
import math
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn
from torch.distributions import Categorical

import training_run
from training_run import Count, Ended, Games, Run, ended_games, main, timed


@dataclasses.dataclass
class Settings(training_run.Settings):
    """The settings of Baselines' ppo2 for Atari, which CleanRL shares."""

    games: Count = 8
    """that are played at once"""
    rollout: Count = 128
    """steps of each game between two updates"""
    minibatch: Count = 256
    """samples: a quarter of an update with 8 games"""
    epochs: Count = 4
    """how often an update sees each sample"""
    learning_rate: float = 2.5e-4
    """at first; it falls to 0"""
    gamma: float = 0.99
    """what a reward is worth a step earlier"""
    gae_lambda: float = 0.95
    """how far advantages look ahead"""
    clip: float = 0.1
    """how far an update may change the policy, and the values"""
    entropy_weight: float = 0.01
    """of the bonus for exploring"""
    value_weight: float = 0.5
    """of the values' errors in the loss"""
    max_gradient: float = 0.5
    """the norm of all gradients together"""


def layer(module: Any, gain: float = 2**0.5) -> Any:
    """Initialise with orthogonal weights and no bias (Baselines)."""
    nn.init.orthogonal_(module.weight, gain)
    nn.init.zeros_(module.bias)
    return module


class Agent(nn.Module):
    """DQN's network (Mnih et al. 2015), shared by policy and value.

    `shape` is that of an observation: the pictures, their height and width,
    and three colours or none.
    """

    def __init__(
        self,
        actions: int,
        bfloat16: bool = False,
        shape: tuple[int, ...] = (4, 84, 84),
    ) -> None:
        super().__init__()
        self.dtype = torch.bfloat16 if bfloat16 else torch.float32
        pictures, height, width, *colours = shape
        channels = pictures * math.prod(colours)
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
        return Categorical(logits=self.policy(hidden)), value


class Batch(NamedTuple):
    """What was played for an update, a row for each step of each game."""

    obs: Tensor  # uint8 (n, 4, 84, 84)
    actions: Tensor  # (n,), as all that follow
    log_probs: Tensor
    values: Tensor
    gains: Tensor  # advantages


class Player:
    """Plays with an agent, and goes on where it was."""

    def __init__(
        self, agent: Agent, games: Games, settings: Settings, seed: int
    ) -> None:
        self.agent = agent
        self.games = games
        self.settings = settings
        self.seconds = {"games": 0.0, "network": 0.0}
        # of its own, so that it plays the same wherever the learner is
        self.random = torch.Generator().manual_seed(seed)
        self.obs, _ = games.reset(seed=seed)

    @torch.no_grad()
    def play(self) -> tuple[Batch, list[Ended]]:
        """Play for an update; return it, and the whole games that ended."""
        agent = self.agent
        device = agent.value.weight.device
        seen = []
        outcomes = []
        ended: list[Ended] = []
        # While this lasts, weights that were cast to bfloat16 are kept.
        with torch.autocast(device.type, enabled=False):
            for _ in range(self.settings.rollout):
                with timed(self.seconds, "network"):
                    obs = torch.as_tensor(self.obs, device=device)
                    policy, values = agent(obs)
                    actions = self.sample(policy)
                    log_probs = policy.log_prob(actions)
                    seen.append((obs, actions, log_probs, values))
                    chosen = actions.cpu().numpy()
                with timed(self.seconds, "games"):
                    self.obs, rewards, terminated, truncated, infos = (
                        self.games.step(chosen)
                    )
                ended += ended_games(infos).values()
                final_values = np.zeros(self.games.num_envs)
                if truncated.any():
                    final_obs = np.stack(infos["final_obs"][truncated])
                    final_obs = torch.as_tensor(final_obs, device=device)
                    final_values[truncated] = agent(final_obs)[1].cpu()
                outcomes.append((rewards, terminated, truncated, final_values))
            following = agent(torch.as_tensor(self.obs, device=device))[1]

        columns = [torch.stack(column) for column in zip(*seen, strict=True)]
        # float32, because Apple's GPUs have no float64
        table = np.array(outcomes, np.float32)
        rewards, terminated, truncated, final = torch.as_tensor(
            table, device=device
        ).unbind(1)
        gains = advantages(
            rewards,
            terminated,
            truncated,
            final,
            columns[-1],
            following,
            self.settings,
        )
        rows = [column.flatten(0, 1) for column in (*columns, gains)]
        return Batch(*rows), ended

    def sample(self, policy: Categorical) -> Tensor:
        """Sample actions, the same on every device: the Gumbel-max trick."""
        noise = torch.empty(policy.logits.shape)
        noise.exponential_(generator=self.random)
        noise = noise.log().to(policy.logits.device)
        return (policy.logits - noise).argmax(1)


def advantages(
    rewards: Tensor,
    terminated: Tensor,
    truncated: Tensor,
    final: Tensor,
    values: Tensor,
    next_values: Tensor,
    settings: Settings,
) -> Tensor:
    """Return generalised advantage estimates (Schulman et al. 2016).

    A truncated episode would have gone on: what is missing is worth `final`,
    the value of its last observation (Pardo et al. 2018).
    """
    following = torch.cat([values[1:], next_values[None]])
    following = torch.where(truncated > 0, final, following)
    errors = rewards + settings.gamma * (1 - terminated) * following - values
    goes_on = (1 - terminated) * (1 - truncated)
    weights = settings.gamma * settings.gae_lambda * goes_on
    result = torch.zeros_like(values)
    later = torch.zeros_like(next_values)
    for step in reversed(range(len(values))):
        later = errors[step] + weights[step] * later
        result[step] = later
    return result


def learn(
    agent: Agent,
    optimizer: torch.optim.Optimizer,
    batch: Batch,
    settings: Settings,
    random: torch.Generator,
) -> dict[str, float]:
    """Learn from a batch; return figures, means of the last epoch."""
    clip = settings.clip
    scaled_obs = agent.scale(batch.obs)
    columns = [scaled_obs, *batch[1:]]
    for _ in range(settings.epochs):
        # Each epoch sees every sample once, in a new order (Baselines).
        order = torch.randperm(len(scaled_obs), generator=random)
        figures = []
        for part in order.to(scaled_obs.device).split(settings.minibatch):
            scaled, actions, old_log_probs, old_values, gains = (
                column.index_select(0, part) for column in columns
            )
            policy, values = agent.look(scaled)
            returns = gains + old_values
            # normalised within the minibatch (Baselines)
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
    means = [
        torch.stack(column).mean().item()
        for column in zip(*figures, strict=True)
    ]
    names = ["policy_loss", "value_loss", "entropy", "kl", "clip_fraction"]
    returns = batch.gains + batch.values
    explained = 1 - batch.gains.var() / returns.var()
    return dict(zip(names, means, strict=True)) | {
        "explained_variance": explained.item(),
        "learning_rate": optimizer.param_groups[0]["lr"],
    }


def make_agent(
    settings: Settings, actions: int, shape: tuple[int, ...]
) -> tuple[Agent, torch.optim.Optimizer]:
    """Make an agent that has learned nothing, and its optimiser."""
    torch.manual_seed(settings.seed)
    agent = Agent(actions, settings.here.bfloat16, shape)
    agent = agent.to(settings.here.device)
    # epsilon as in Baselines; PyTorch's default is 1e-8
    optimizer = torch.optim.Adam(agent.parameters(), eps=1e-5, fused=True)
    return agent, optimizer


def set_rate(optimizer: torch.optim.Optimizer, run: Run) -> None:
    """Let the learning rate fall to 0 (Baselines)."""
    left = 1 - run.steps / run.settings.steps
    optimizer.param_groups[0]["lr"] = run.settings.learning_rate * left


def train(settings: Settings) -> None:
    """Train until all steps are played; save as it goes."""
    with settings.make_games(settings.games) as games:
        actions = int(games.single_action_space.n)
        shape = games.single_observation_space.shape
        agent, optimizer = make_agent(settings, actions, shape)
        activities = ["games", "network", "learning"]
        with Run(
            settings, activities, weights=agent, optimizer=optimizer
        ) as run:
            # Sampled, so that a resumed run plays other games than before.
            seed = torch.randint(2**31, (), generator=run.random).item()
            player = Player(agent, games, settings, int(seed))
            player.seconds = run.seconds
            while not run.over:
                set_rate(optimizer, run)
                torch.set_num_threads(1)  # the games need the other cores
                batch, ended = player.play()
                torch.set_num_threads(settings.here.threads)
                with timed(run.seconds, "learning"):
                    figures = learn(
                        agent, optimizer, batch, settings, run.random
                    )
                run.add(len(batch.obs), ended, figures)


def load(
    settings: Settings, actions: int, shape: tuple[int, ...], weights: dict
) -> training_run.Choose:
    """Return how an agent with these weights chooses actions."""
    agent = Agent(actions, shape=shape).to(settings.here.device)
    # Half precision becomes float32.
    agent.load_state_dict(weights)
    # They are sampled, as in training.
    return lambda obs: agent(obs)[0].sample()


if __name__ == "__main__":
    main(__doc__, Settings, train, load)
