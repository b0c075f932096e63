"""Train an agent with PPO on `Games`: the file to start from.

It follows CleanRL's `ppo_atari.py` and names the source of each detail.
Everything that isn't PPO is in training_run.py; copy both beside game.py.

    pip install -r requirements.txt torch Pillow
    python examples/ppo.py             # train on Breakout
    python examples/ppo.py --resume    # continue an interrupted training
    python examples/ppo.py --evaluate  # play 30 whole games in two ways
    python examples/ppo.py --film      # play one and write it as a film
"""

import numpy as np
import torch
from torch import nn
from torch.distributions import Categorical

from training_run import Games, Run, final_scores, main, timed

# The settings of Baselines' ppo2 for Atari, which CleanRL shares.
STEPS = 128  # of each game between two updates
MINIBATCH = 256  # samples: a quarter of an update with 8 games
EPOCHS = 4
LEARNING_RATE = 2.5e-4
GAMMA = 0.99
LAMBDA = 0.95
CLIP = 0.1
ENTROPY_WEIGHT = 0.01
VALUE_WEIGHT = 0.5
MAX_GRADIENT = 0.5  # the norm of all gradients together


def layer(module, gain=2**0.5):
    """Initialise with orthogonal weights and no bias (Baselines)."""
    nn.init.orthogonal_(module.weight, gain)
    nn.init.zeros_(module.bias)
    return module


class Agent(nn.Module):
    """DQN's network (Mnih et al. 2015), shared by policy and value."""

    def __init__(self, actions, bfloat16=False):
        super().__init__()
        self.dtype = torch.bfloat16 if bfloat16 else torch.float32
        self.body = nn.Sequential(
            layer(nn.Conv2d(4, 32, 8, stride=4)),
            nn.ReLU(),
            layer(nn.Conv2d(32, 64, 4, stride=2)),
            nn.ReLU(),
            layer(nn.Conv2d(64, 64, 3)),
            nn.ReLU(),
            nn.Flatten(),
            layer(nn.Linear(64 * 7 * 7, 512)),
            nn.ReLU(),
        )
        # At first all actions are almost equally likely (Baselines).
        self.policy = layer(nn.Linear(512, actions), gain=0.01)
        self.value = layer(nn.Linear(512, 1), gain=1)
        # Convolutions are faster on a CPU if channels come last in memory.
        self.to(memory_format=torch.channels_last)

    def forward(self, obs):
        """Map observations, `uint8 (n, 4, 84, 84)`, to a policy and values."""
        return self.look(self.scale(obs))

    def scale(self, obs):
        """Scale them to 0..1, as `(n, 84, 84, 4)`: channels come last."""
        return obs.movedim(1, 3).contiguous().to(self.dtype) / 255

    def look(self, scaled):
        """Map scaled observations to a policy and values."""
        half = self.dtype is torch.bfloat16
        with torch.autocast(scaled.device.type, torch.bfloat16, half):
            hidden = self.body(scaled.movedim(3, 1)).float()
        # The two heads compute in full precision.
        value = self.value(hidden).squeeze(1)
        return Categorical(logits=self.policy(hidden)), value


@torch.no_grad()
def play(agent, games, obs, seconds):
    """Play `STEPS` steps of all games, from the observations `obs` on.

    Returns a batch, the next observations and the scores of whole games.
    """
    device = agent.value.weight.device
    seen = []
    outcomes = []
    scores = []
    for _ in range(STEPS):
        with timed(seconds, "network"):
            scaled = agent.scale(torch.as_tensor(obs, device=device))
            policy, values = agent.look(scaled)
            actions = policy.sample()
            log_probs = policy.log_prob(actions)
            seen.append((scaled, actions, log_probs, values))
            chosen = actions.cpu().numpy()
        with timed(seconds, "games"):
            obs, rewards, terminated, truncated, infos = games.step(chosen)
        scores += final_scores(infos).values()
        final_values = np.zeros(games.num_envs)
        if truncated.any():
            final_obs = np.stack(infos["final_obs"][truncated])
            final_obs = torch.as_tensor(final_obs, device=device)
            final_values[truncated] = agent(final_obs)[1].cpu()
        outcomes.append((rewards, terminated, truncated, final_values))

    columns = [torch.stack(column) for column in zip(*seen, strict=True)]
    # float32, because Apple's GPUs have no float64
    outcomes = np.array(outcomes, np.float32)
    outcomes = torch.as_tensor(outcomes, device=device).unbind(1)
    next_values = agent(torch.as_tensor(obs, device=device))[1]
    gains = advantages(*outcomes, columns[-1], next_values)
    batch = [column.flatten(0, 1) for column in (*columns, gains)]
    return batch, obs, scores


def advantages(rewards, terminated, truncated, final, values, next_values):
    """Return generalised advantage estimates (Schulman et al. 2016).

    A truncated episode would have gone on: what is missing is worth `final`,
    the value of its last observation (Pardo et al. 2018).
    """
    following = torch.cat([values[1:], next_values[None]])
    following = torch.where(truncated > 0, final, following)
    errors = rewards + GAMMA * (1 - terminated) * following - values
    goes_on = (1 - terminated) * (1 - truncated)
    result = torch.zeros_like(values)
    later = 0
    for step in reversed(range(len(values))):
        later = errors[step] + GAMMA * LAMBDA * goes_on[step] * later
        result[step] = later
    return result


def learn(agent, optimizer, batch):
    """Learn from a batch; return the last minibatch's entropy."""
    for _ in range(EPOCHS):
        # Each epoch sees every sample once, in a new order (Baselines).
        order = torch.randperm(len(batch[0]), device=batch[0].device)
        for part in order.split(MINIBATCH):
            scaled, actions, old_log_probs, old_values, gains = (
                column.index_select(0, part) for column in batch
            )
            policy, values = agent.look(scaled)
            returns = gains + old_values
            # normalised within the minibatch (Baselines)
            gains = (gains - gains.mean()) / (gains.std() + 1e-8)
            # the clipped objective (Schulman et al. 2017, equation 7)
            ratio = (policy.log_prob(actions) - old_log_probs).exp()
            clipped = ratio.clamp(1 - CLIP, 1 + CLIP)
            loss = -torch.min(ratio * gains, clipped * gains).mean()
            # clipped likewise (Baselines; Engstrom et al. 2020: no gain)
            near = old_values + (values - old_values).clamp(-CLIP, CLIP)
            errors = torch.max((values - returns) ** 2, (near - returns) ** 2)
            loss += VALUE_WEIGHT * errors.mean() / 2
            # a bonus for exploring (Mnih et al. 2016)
            entropy = policy.entropy().mean()
            loss -= ENTROPY_WEIGHT * entropy
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(agent.parameters(), MAX_GRADIENT)
            optimizer.step()
    return entropy.item()


def train(args):
    """Train until all steps are played; save as it goes."""
    torch.manual_seed(args.seed)
    with Games(args.games, args.env_id, seed=args.seed) as games:
        agent = Agent(args.actions, args.bfloat16).to(args.device)
        # epsilon as in Baselines; PyTorch's default is 1e-8
        optimizer = torch.optim.Adam(agent.parameters(), eps=1e-5, fused=True)
        run = Run(args, agent, optimizer)
        # Sampled, so that a resumed run doesn't play the same games again.
        seed = torch.randint(2**31, ()).item()
        obs, _ = games.reset(seed=seed)
        while not run.over:
            rate = LEARNING_RATE * (1 - run.steps / run.until)
            optimizer.param_groups[0]["lr"] = rate  # falls to 0 (Baselines)
            torch.set_num_threads(1)  # the games need the other cores
            # While this lasts, weights that were cast to bfloat16 are kept.
            with torch.autocast(args.device.type, enabled=False):
                batch, obs, scores = play(agent, games, obs, run.seconds)
            torch.set_num_threads(args.threads)
            with timed(run.seconds, "learning"):
                entropy = learn(agent, optimizer, batch)
            run.add(STEPS * args.games, scores, entropy)


if __name__ == "__main__":
    main(__doc__, Agent, train)
