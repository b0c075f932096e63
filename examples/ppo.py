"""Train an agent with PPO on Atari games: a file to copy and to change.

PPO (proximal policy optimization) improves a policy, a network that gives each
action a probability. Actions that went better than expected become likelier,
the others less likely. Each step that was played is learned from four times.
Clipping keeps the policy close to the one that played: once the probability of
an action has changed by a tenth in the wanted direction, changing it further
gains nothing.

1. Play 128 steps in each of 8 games (`Player.play`).
2. Estimate how much better than expected each action was (`advantages`).
3. In each of 4 epochs, split these 1,024 steps at random into 4 minibatches.
4. Make a gradient step on each minibatch (`learn`).
5. Repeat with the new policy (`train`).

Why not DQN? It learns from a memory of its last million steps, 7 GB of
pictures. PPO needs none: it learns from what it has just played, in many games
at once.

Copy this file beside game.py and games.py, with run.py, which saves and
resumes a training, and play.py, which plays with a trained agent. It follows
`ppo_atari.py` of CleanRL, which follows OpenAI's Baselines; comments say where
it differs. In this repository, on a GPU if there is one:

    pip install -r requirements.txt torch tensorboard tyro
    python examples/ppo.py                      # Breakout, 10 million steps
    python examples/ppo.py PongNoFrameskip-v4 --steps 4_000_000
    python examples/ppo.py --folder runs/mine   # begin there, or continue
    python examples/play.py runs/mine           # play 30 whole games
    tensorboard --logdir runs
"""

import dataclasses
import functools
import math
import pathlib
import sys
from collections.abc import Callable
from typing import Any, Literal, NamedTuple

import numpy as np
import torch
import tyro
from torch import Tensor, nn
from torch.distributions import Categorical

# In this repository game.py is one folder up; in a copy it is beside.
if not pathlib.Path(__file__).with_name("game.py").exists():
    sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))
from game import BREAKOUT, TRAINING
from games import Games
from run import (
    Ended,
    Learned,
    Run,
    RunSettings,
    one_line,
    read_settings,
    run_program,
    saved_settings,
    uncompiled,
)

# #### The settings, in code


@dataclasses.dataclass
class GameOptions:
    """The options of `Games`: what an agent sees and does."""

    on_life_loss: Literal["restart", "continue", "ignore"] = "continue"
    """What a lost life does to the episode."""
    noop_max: int = TRAINING["noop_max"]
    """The most frames without an action at the start of a game."""
    fire_on_reset: bool = TRAINING["fire_on_reset"]
    """Hold FIRE for one step before each episode."""
    clip_reward: bool = TRAINING["clip_reward"]
    """Learn from the signs of the rewards; scores stay raw."""
    action_repeat: int = 4
    """Frames for which an action is held."""
    stack: int = 4
    """Pictures in an observation."""
    size: tuple[int, int] = (84, 84)
    """Height and width of a picture."""
    grayscale: bool = True
    """Show gray pictures instead of color."""
    repeat_action_probability: float | None = None
    """How often the console repeats an action; None: as the id says."""
    full_action_space: bool = False
    """Let the agent choose from all 18 actions of the console."""
    mode: int | None = None
    """Mode of the console; None: the title's own."""
    difficulty: int | None = None
    """Difficulty switch of the console; None: the title's own."""
    max_num_frames_per_episode: int | None = None
    """Frames after which a game is cut off; None: as the id says."""


@dataclasses.dataclass
class GameSettings(GameOptions, RunSettings):
    """The settings of a run that plays `Games`."""

    # Other pictures or actions need other weights.
    fixed = RunSettings.fixed | {
        *("stack", "size", "grayscale", "full_action_space"),
    }

    env_id: tyro.conf.Positional[str] = BREAKOUT
    """Gymnasium's id of an Atari game."""

    @property
    def scored(self) -> str:
        return "life" if self.on_life_loss == "restart" else "game"

    def make_games(self, count: int, **options: Any) -> Games:
        """Make games with these settings, except for `options`."""
        names = [field.name for field in dataclasses.fields(GameOptions)]
        mine = {name: getattr(self, name) for name in names} | options
        given = {name: v for name, v in mine.items() if v is not None}
        return Games(count, self.env_id, **{"seed": self.seed} | given)


def has_fast_bfloat16() -> bool:
    """Return whether the network computes on a CPU that has bfloat16."""
    # An older PyTorch can't tell.
    can = getattr(torch.cpu, "get_capabilities", dict)()
    return can.get("avx512_bf16", False) and not torch.cuda.is_available()


@dataclasses.dataclass
class Settings(GameSettings):
    """The settings of Baselines' `ppo2` for Atari, as in CleanRL."""

    program = "ppo"

    games: int = 8
    """Games that are played at once."""
    rollout: int = 128
    """Steps of each game between two updates."""
    minibatch: int = 256
    """Samples in a minibatch; CleanRL has four minibatches in any update."""
    epochs: int = 4
    """How often an update learns from each sample."""
    learning_rate: float = 2.5e-4
    """Learning rate at the beginning."""
    anneal: bool = True
    """Let the learning rate fall to 0 over the training."""
    gamma: float = 0.99
    """Discount: what a reward of 1 in the next step is worth now."""
    gae_lambda: float = 0.95
    """How far advantages look ahead, from 0 to 1."""
    clip: float = 0.1
    """Change of a ratio, or of a value, beyond which nothing is gained."""
    clip_values: bool = True
    """Clip the change of the values, and not of the policy alone."""
    normalize_advantages: bool = True
    """Give the advantages of a minibatch a mean of 0, a deviation of 1."""
    target_kl: float | None = None
    """End an update after an epoch that changed the policy by so much."""
    entropy_weight: float = 0.01
    """Weight of the bonus for exploring."""
    value_weight: float = 0.5
    """Weight of the value loss."""
    max_gradient: float = 0.5
    """Largest norm of all gradients together."""
    bfloat16: bool = dataclasses.field(default_factory=has_fast_bfloat16)
    """Compute in half precision; by default where it is fast."""
    threads: int | None = None
    """Threads of PyTorch while it learns; None: PyTorch's own choice."""
    processes: int | None = None
    """Processes that play; None: one for each core, 0: this one."""


# ## The network


def layer(module: Any, gain: float = 2**0.5) -> Any:
    """Begin with orthogonal weights, times `gain`, and biases of 0."""
    nn.init.orthogonal_(module.weight, gain)
    nn.init.zeros_(module.bias)
    return module


class Agent(nn.Module):
    """DQN's network (Mnih et al. 2015), shared by the policy and the value."""

    def __init__(
        self,
        actions: int,
        bfloat16: bool = False,
        shape: tuple[int, ...] = (4, 84, 84),
    ) -> None:
        super().__init__()
        self.dtype = torch.bfloat16 if bfloat16 else torch.float32
        pictures, height, width, *colors = shape  # (3,), or nothing
        channels = pictures * math.prod(colors)
        self.body = self.make_body(channels)
        # 64 * 7 * 7 for pictures of 84×84. In `eval` mode this black one isn't
        # counted among the pictures of which layers may keep a mean.
        black = torch.zeros(1, channels, height, width)
        size = self.body.eval()(black).numel()
        self.body.train()
        self.body.append(layer(nn.Linear(size, 512))).append(nn.ReLU())
        # A small `gain` makes all actions almost equally likely (Baselines).
        self.policy = layer(nn.Linear(512, actions), gain=0.01)
        self.value = layer(nn.Linear(512, 1), gain=1)
        # Convolutions are faster on a CPU if channels come last in memory.
        self.to(memory_format=torch.channels_last)

    def make_body(self, channels: int) -> nn.Sequential:
        """Make the layers that see pictures; another network replaces them."""
        return nn.Sequential(
            layer(nn.Conv2d(channels, 32, 8, stride=4)),
            nn.ReLU(),
            layer(nn.Conv2d(32, 64, 4, stride=2)),
            nn.ReLU(),
            layer(nn.Conv2d(64, 64, 3)),
            nn.ReLU(),
            nn.Flatten(),
        )

    def forward(self, obs: Tensor) -> tuple[Categorical, Tensor]:
        """Map observations, `uint8 (n, 4, 84, 84)`, to a policy and values."""
        return self.look(self.scale(obs))

    def scale(self, obs: Tensor) -> Tensor:
        """Scale observations to 0..1, as `(n, 84, 84, 4)`."""
        scaled = obs.movedim(1, 3).flatten(3).contiguous().to(self.dtype)
        return scaled / 255

    def look(self, scaled: Tensor) -> tuple[Categorical, Tensor]:
        """Map scaled observations to a policy and values."""
        half = self.dtype is torch.bfloat16
        with torch.autocast(scaled.device.type, torch.bfloat16, half):
            hidden = self.body(scaled.movedim(3, 1)).float()
        # The two heads compute in full precision.
        value = self.value(hidden).squeeze(1)
        # The distribution needn't check its numbers in each step. `Run` checks
        # once an update that losses and weights are finite.
        policy = Categorical(logits=self.policy(hidden), validate_args=False)
        return policy, value


def make_agent(
    settings: Settings, games: Games, kind: type[Agent] = Agent
) -> tuple[Agent, torch.optim.Optimizer]:
    """Make an agent that has learned nothing, and its optimizer.

    What another agent learns besides is a part of it, and of its optimizer. A
    group of parameters may have a rate of its own, `lr`.
    """
    actions = int(games.single_action_space.n)
    shape = games.single_observation_space.shape
    assert shape
    agent = kind(actions, settings.bfloat16, shape).to(settings.device)
    # Adam moves a weight by this much, where α is the learning rate, m the
    # mean of its gradients, and v the mean of their squares:
    #
    # $$\alpha \, \frac{m}{\sqrt{v} + \text{eps}}$$
    #
    # Baselines' `eps` of 1e-5 slows weights whose gradients are small: if they
    # are 1e-5, the weight moves by half of α. With PyTorch's default of 1e-8
    # it moves by almost all of α.
    optimizer = torch.optim.Adam(
        agent.parameters(), settings.learning_rate, eps=1e-5, fused=True
    )
    return agent, optimizer


# ## Playing
#
# An update begins with `rollout` steps in each game. The actions are sampled
# from the policy, so that it also tries those that it finds less likely.


class Batch(NamedTuple):
    """What was played for an update, one row for each step of each game."""

    obs: Tensor  # uint8 (n, 4, 84, 84)
    actions: Tensor  # (n,), like all that follow
    log_probs: Tensor
    values: Tensor
    advantages: Tensor


def ended_games(infos: dict[str, Any]) -> dict[int, Ended]:
    """Return the whole games that have ended in a step, by their index."""
    indices = np.flatnonzero(infos.get("_episode", [])).tolist()
    return {
        i: Ended(*(infos["episode"][name][i].item() for name in "rl"))
        for i in indices
    }


class Player:
    """Plays games with an agent, from one update to the next."""

    def __init__(
        self, agent: Agent, games: Games, settings: Settings, seed: int
    ) -> None:
        self.agent = agent
        self.games = games
        self.settings = settings
        self.device = next(agent.parameters()).device
        # This generator samples the actions, and nothing else.
        self.random = torch.Generator().manual_seed(seed)
        self.obs, _ = games.reset(seed=seed)
        # where an episode begins with `obs`
        self.starts = torch.ones(games.num_envs, dtype=torch.bool)
        self.starts = self.starts.to(self.device)

    def look(self, obs: Tensor) -> tuple[Categorical, Tensor]:
        """Map the observations of all games to a policy and values."""
        # An agent with a memory remembers them here, and forgets what was
        # before an episode that begins (lstm.py).
        return self.agent(obs)

    def value(self, obs: Tensor, which: Tensor) -> Tensor:
        """Return the values of some games (a mask), and remember nothing."""
        return self.agent(obs)[1]

    @torch.no_grad()
    def play(self) -> tuple[Batch, list[Ended]]:
        """Play for an update; return the steps, and the games that ended."""
        self.agent.eval()  # Playing is not learning.
        as_tensor = functools.partial(torch.as_tensor, device=self.device)
        seen = []
        outcomes = []
        ended: list[Ended] = []
        # `look` casts the weights to bfloat16 by `autocast`, which keeps them
        # until the outermost such block ends. This block casts nothing itself:
        # thanks to it they are cast once, and not in each step.
        with torch.autocast(self.device.type, enabled=False):
            for _ in range(self.settings.rollout):
                obs = as_tensor(self.obs)
                policy, values = self.look(obs)
                actions = self.sample(policy)
                log_probs = policy.log_prob(actions)
                seen.append((obs, actions, log_probs, values))

                self.obs, rewards, terminated, truncated, infos = (
                    self.games.step(actions.cpu().numpy())
                )
                ended += ended_games(infos).values()
                # The value of the last observation of a truncated episode
                # stands for the rewards that would have followed.
                last_values = np.zeros(len(rewards))
                if truncated.any():
                    last = as_tensor(np.stack(infos["final_obs"][truncated]))
                    of_last = self.value(last, as_tensor(truncated))
                    last_values[truncated] = of_last.cpu()
                outcomes.append((rewards, terminated, truncated, last_values))
                self.starts = as_tensor(np.logical_or(terminated, truncated))
            everyone = torch.ones_like(self.starts)
            next_values = self.value(as_tensor(self.obs), everyone)

        # Each column has the shape (steps, games, …).
        columns = [torch.stack(column) for column in zip(*seen, strict=True)]
        table = as_tensor(np.array(outcomes, np.float32))
        values = columns[-1]
        columns.append(advantages(table, values, next_values, self.settings))
        rows = [column.flatten(0, 1) for column in columns]
        return Batch(*rows), ended

    def sample(self, policy: Categorical) -> Tensor:
        """Sample actions, by the Gumbel-max trick: the same on any device."""
        noise = torch.empty(policy.logits.shape)
        noise.exponential_(generator=self.random)
        noise = noise.log().to(policy.logits.device)
        return (policy.logits - noise).argmax(1)


# ### How much better than expected
#
# The value is the sum of the rewards that the agent expects. A reward that is
# one step away counts γ, one that is two steps away γ². So each step tests the
# value: if the reward and the value after it are worth more than the value
# before, the action was better than expected.
#
# Later steps test it, too. But the later a step, the more it is due to other
# actions. λ says how much later steps count: with 0 only the step of the
# action itself counts, with 1 all to the end of the episode.
#
# An episode that is *terminated* is over, and no rewards follow. By default a
# lost life terminates it, too (`on_life_loss`). One that is *truncated* was
# cut off by a limit of its length, and would have gone on.
#
# In the formulas r is `rewards`, V `values`, d `terminated`, e `ended`,
# δ `errors` and A `advantage`, each at step t.
def advantages(
    table: Tensor, values: Tensor, next_values: Tensor, settings: Settings
) -> Tensor:
    """Return generalized advantage estimates (GAE; Schulman et al. 2016).

    Args:
        table: Rewards, terminations, truncations and the values of last
            observations, `float32 (steps, 4, games)`.
        values: Values of the observations, `(steps, games)`.
        next_values: Values of the observations after them, `(games,)`.
        settings: Their `gamma` and `gae_lambda` count.
    """
    # The value V at t + 1 is that of the next observation. At a truncation it
    # is that of the last one of the old episode (Pardo et al. 2018). CleanRL
    # treats a truncation as a termination.
    rewards, terminated, truncated, last_values = table.unbind(1)
    following = torch.cat([values[1:], next_values[None]])
    following = torch.where(truncated > 0, last_values, following)

    # The error of the value. At a termination d is 1, which cuts off the value
    # that follows:
    #
    # $$\delta_t = r_t + \gamma \, (1 - d_t) \, V_{t+1} - V_t$$
    errors = rewards + settings.gamma * (1 - terminated) * following - values
    ended = torch.maximum(terminated, truncated)
    weights = settings.gamma * settings.gae_lambda * (1 - ended)

    result = torch.zeros_like(values)
    advantage = torch.zeros_like(next_values)
    for step in reversed(range(len(values))):
        # The advantage is the sum of the errors from here to the end of the
        # episode, where each counts γλ times as much as the one before. It is
        # computed backwards (Schulman et al. 2016, equation 16). At a
        # termination and at a truncation e is 1, which cuts off the errors of
        # the next episode:
        #
        # $$A_t = \delta_t + \gamma \lambda \, (1 - e_t) \, A_{t+1}$$
        advantage = errors[step] + weights[step] * advantage
        result[step] = advantage
    return result


# ## Learning
#
# Actions whose advantage is positive become likelier, the others less likely.
# But the advantages are those of the policy that played. The further the
# policy moves from it, the less they tell. So PPO compares the probability of
# an action with what it was when it was played. This is the *ratio*. Once it
# is beyond 1 ± `clip`, and on the side that the advantage asks for, a further
# change gains nothing. (The wrong side is never clipped.) So the policy stays
# close enough for several epochs to learn from a batch.
#
# In the formulas π is `policy`, ρ `ratio`, ε `clip`, V `values`, R `returns`
# and H `entropy`. A is normalized, R is not. L is a loss, the mean over a
# minibatch, and is minimized.
def losses(
    policy: Categorical, values: Tensor, batch: Batch, settings: Settings
) -> tuple[Tensor, list[Tensor]]:
    """Compare what the agent says now with what was played.

    Args:
        policy: The agent's policy for each observation of a minibatch.
        values: Its values of them, `(n,)`.
        batch: The minibatch.
        settings: Settings of the run.

    Returns:
        The loss to minimize.
        The policy's loss, that of the values, the entropy, the KL divergence
        from the policy that played, and the share of clipped ratios.
    """
    clip = settings.clip
    _, actions, old_log_probs, old_values, advantages = batch
    returns = advantages + old_values
    # Advantages are normalized in each minibatch (Baselines). A single sample
    # has no deviation.
    if settings.normalize_advantages and len(advantages) > 1:
        spread = advantages.std() + 1e-8
        advantages = (advantages - advantages.mean()) / spread

    # The ratio, from the logarithms of the probabilities:
    # $\rho = \pi / \pi_{\text{old}}$
    change = policy.log_prob(actions) - old_log_probs
    ratio = change.exp()

    # The clipped objective (Schulman et al. 2017, equation 7):
    #
    # $$L_\pi = {-\min}(\rho A, \; \operatorname{clip}(\rho, 1 -
    # \varepsilon, 1 + \varepsilon) \, A)$$
    clipped = ratio.clamp(1 - clip, 1 + clip)
    smaller = torch.min(ratio * advantages, clipped * advantages)
    policy_loss = -smaller.mean()

    # The value should become the return R, the old value plus the advantage.
    # Clipping it, too, is from Baselines; Engstrom et al. 2020 found no gain
    # in it:
    #
    # $$L_V = \frac{1}{2} \, \max((V - R)^2, \;
    # (V_{\text{clipped}} - R)^2)$$
    #
    # A clipped value is at most ε from the old one.
    errors = (values - returns) ** 2
    if settings.clip_values:
        change_of_values = (values - old_values).clamp(-clip, clip)
        clipped_values = old_values + change_of_values
        errors = torch.max(errors, (clipped_values - returns) ** 2)
    value_loss = errors.mean() / 2

    # The entropy is largest if all actions are equally likely, so it is a
    # bonus for exploring (Mnih et al. 2016). The whole loss (Schulman et al.
    # 2017, equation 9), with the default weights:
    #
    # $$L = L_\pi + \frac{1}{2} \, L_V - 0.01 \, H$$
    entropy = policy.entropy().mean()
    loss = policy_loss + settings.value_weight * value_loss
    loss -= settings.entropy_weight * entropy

    # How far the policy has moved: $\rho - 1 - \log \, \rho$ estimates its
    # KL divergence ([Schulman 2020](http://joschu.net/blog/kl-approx.html)).
    kl = (ratio - 1 - change).mean()
    outside = ((ratio - 1).abs() > clip).float().mean()
    return loss, [policy_loss, value_loss, entropy, kl, outside]


def improve(
    agent: nn.Module,
    optimizer: torch.optim.Optimizer,
    loss: Tensor,
    settings: Settings,
) -> None:
    """Make a gradient step."""
    optimizer.zero_grad()
    loss.backward()
    # Gradients are clipped by their global norm (Baselines).
    nn.utils.clip_grad_norm_(agent.parameters(), settings.max_gradient)
    optimizer.step()


def learn(
    agent: Agent,
    optimizer: torch.optim.Optimizer,
    batch: Batch,
    settings: Settings,
    random: torch.Generator,
) -> dict[str, float]:
    """Learn from a batch; return figures to watch."""
    agent.train()
    # Observations are scaled once, and not again in each epoch.
    columns = [agent.scale(batch.obs), *batch[1:]]
    for _ in range(settings.epochs):
        # Each epoch sees every sample once, in a new order (Baselines).
        order = torch.randperm(len(batch.obs), generator=random)
        figures = []
        for part in order.to(batch.obs.device).split(settings.minibatch):
            some = Batch(*(column.index_select(0, part) for column in columns))
            policy, values = agent.look(some.obs)
            loss, shown = losses(policy, values, some, settings)
            improve(agent, optimizer, loss, settings)
            figures.append(shown)
        # The KL of the last minibatch decides, as in CleanRL.
        if settings.target_kl is not None and shown[3] > settings.target_kl:
            break
    return summary(figures, batch, optimizer)


def summary(
    figures: list[list[Tensor]], batch: Batch, optimizer: torch.optim.Optimizer
) -> dict[str, float]:
    """Return the figures of an update by their names."""
    # Means of the last epoch. CleanRL has those of its last minibatch.
    names = ["policy_loss", "value_loss", "entropy", "kl", "clip_fraction"]
    means = [
        torch.stack(column).mean().item()
        for column in zip(*figures, strict=True)
    ]
    # The explained variance is 1 if the values predict the returns, and 0 if
    # they predict them no better than their mean does.
    returns = batch.advantages + batch.values
    explained = 1 - batch.advantages.var() / returns.var()
    return dict(zip(names, means, strict=True)) | {
        "explained_variance": explained.item(),
        "learning_rate": optimizer.param_groups[0]["lr"],
    }


# ## Training


def rate_shares(optimizer: torch.optim.Optimizer) -> list[float]:
    """Return the rate of each group of parameters, as a share of the main one.

    It is 1 for a group that was made without a rate of its own.
    """
    main = optimizer.defaults["lr"] or 1.0  # At a rate of 0 all are 0.
    return [group["lr"] / main for group in optimizer.param_groups]


def set_rate(
    optimizer: torch.optim.Optimizer, rate: float, shares: list[float]
) -> None:
    """Set the learning rate of each group of parameters."""
    for group, share in zip(optimizer.param_groups, shares, strict=True):
        group["lr"] = rate * share


def train(
    settings: Settings,
    make_agent: Callable[..., Any] = make_agent,
    player: Callable[..., Any] = Player,
    learn: Callable[..., dict[str, float]] = learn,
) -> None:
    """Train until all steps are played, or a signal comes.

    Args:
        settings: Settings of the run.
        make_agent: Makes the agent and its optimizer, after the seed is set.
            The checkpoint has both.
        player: Makes what plays the games with the agent.
        learn: Learns from what was played.

    Raises:
        SystemExit: A signal has ended the training before its last step.
    """
    # The number of threads decides how sums are rounded, also in the first
    # weights.
    threads = settings.threads or torch.get_num_threads()
    torch.set_num_threads(threads)
    with one_line("can't begin"):
        games = settings.make_games(
            settings.games, processes=settings.processes
        )
        torch.manual_seed(settings.seed)
        agent, optimizer = make_agent(settings, games)
        shares = rate_shares(optimizer)
        run = Run(settings, weights=agent, optimizer=optimizer)
    with games:
        # Drawn, so that a run that is continued plays other games than before.
        seed = torch.randint(2**31, (), generator=run.random).item()
        playing = player(agent, games, settings, int(seed))
        # Checkpoints are saved in this block.
        with run:
            while not run.over:
                # The rate falls to 0 over the training (Baselines).
                left = 1 - run.steps / settings.steps if settings.anneal else 1
                set_rate(optimizer, settings.learning_rate * left, shares)
                torch.set_num_threads(1)  # The games need the other cores.
                batch, ended = playing.play()
                torch.set_num_threads(threads)
                figures = learn(agent, optimizer, batch, settings, run.random)
                run.add(len(batch.obs), ended, figures)


# #### Loading a checkpoint, and the command line
#
# Ctrl-C, SIGTERM and a closed terminal end a training after the current
# update, with a checkpoint and exit code 75. Before the first update, Ctrl-C
# is a `KeyboardInterrupt` as usual.


def restore(
    saved: dict[str, Any],
    path: pathlib.Path,
    device: str,
    kind: type[Any],
    make_agent: Callable[..., Any],
) -> tuple[Any, Any]:
    """Return a checkpoint's agent, to play in float32, and its settings."""
    settings = saved_settings(kind, saved, path)
    settings.device = device
    if isinstance(settings, Settings):
        settings.bfloat16 = False
    with settings.make_games(1, processes=0) as games:
        agent, _ = make_agent(settings, games)
    uncompiled(agent).load_state_dict(saved["weights"])
    return agent.eval(), settings


def load(
    saved: dict[str, Any],
    path: pathlib.Path,
    device: str,
    kind: type[Settings] = Settings,
    make_agent: Callable[..., Any] = make_agent,
) -> Learned:
    """Return what a checkpoint has learned, for play.py."""
    agent, settings = restore(saved, path, device, kind, make_agent)

    def act(obs: np.ndarray, starts: np.ndarray) -> list[int]:
        policy, _ = agent(torch.as_tensor(obs, device=device))
        return policy.sample().tolist()

    return Learned(act, settings)


def main() -> None:
    """Train, as the command line says."""
    train(read_settings(Settings, __doc__))


if __name__ == "__main__":
    run_program(main)
