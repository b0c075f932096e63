"""Train an agent with PPO on `Games`: the file to start from.

In the manner of CleanRL's `ppo_atari.py`, each detail with its source. What
isn't PPO is in training_run.py; copy both beside game.py, and change what you
like.

    pip install -r requirements.txt torch Pillow
    python examples/ppo.py PongNoFrameskip-v4             # train
    python examples/ppo.py PongNoFrameskip-v4 --resume    # go on with it
    python examples/ppo.py PongNoFrameskip-v4 --evaluate  # whole games
    python examples/ppo.py PongNoFrameskip-v4 --film      # one, as a film
"""

import numpy as np
import torch
from torch import nn
from torch.distributions import Categorical

from training_run import SERVED, Run, final_scores, main, make_games, timed

# Served as training_run.py says. Rewards become -1, 0 or 1, so that one
# learning rate is right for all titles (Mnih et al. 2015). Actions aren't
# sticky, as in DQN; with ids such as "ALE/Pong-v5" they are (Machado et al.
# 2018).
TRAINING = dict(SERVED, clip_reward=True)

# As Baselines' ppo2 sets them for Atari, and CleanRL after it.
STEPS = 128  # of each game, to an update
MINIBATCHES = 4
LEARNING_RATE = 2.5e-4
GAMMA = 0.99
LAMBDA = 0.95
CLIP = 0.1
ENTROPY_WEIGHT = 0.01
VALUE_WEIGHT = 0.5
MAX_GRADIENT = 0.5
# Three as in the PPO paper (Schulman et al. 2017, table 5), where Baselines
# have four: on a CPU most of the time goes into learning.
EPOCHS = 3


def layer(module, gain=2**0.5):
    """Orthogonal weights and no bias at first (Baselines)."""
    nn.init.orthogonal_(module.weight, gain)
    nn.init.zeros_(module.bias)
    return module


class Agent(nn.Module):
    """DQN's network (Mnih et al. 2015), shared by policy and value."""

    def __init__(self, actions, bfloat16=False):
        super().__init__()
        self.bfloat16 = bfloat16
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
        # At first all actions are nearly as likely (Baselines).
        self.policy = layer(nn.Linear(512, actions), gain=0.01)
        self.value = layer(nn.Linear(512, 1), gain=1)
        # The same numbers in another order: a CPU is faster with them.
        self.to(memory_format=torch.channels_last)

    def forward(self, obs):
        """From `uint8 (n, 4, 84, 84)` to a policy and `n` values."""
        obs = obs.to(torch.float32, memory_format=torch.channels_last) / 255
        with torch.autocast(obs.device.type, torch.bfloat16, self.bfloat16):
            hidden = self.body(obs).float()  # what follows needs precision
        value = self.value(hidden).squeeze(1)
        return Categorical(logits=self.policy(hidden)), value


@torch.no_grad()
def play(agent, games, obs, seconds):
    """Play `STEPS` steps of all games.

    Returns a batch to learn from, the next observations and the scores of the
    whole games that ended. Adds to `seconds` what games and network took.
    """
    device = agent.value.weight.device
    seen = []
    outcomes = []
    scores = []
    final_values = torch.zeros((STEPS, games.num_envs), device=device)
    for step in range(STEPS):
        with timed(seconds, "network"):
            # All games go to the device as one batch, and stay there to be
            # learned from: 28 kB a game, bytes until the network reads them.
            obs = torch.as_tensor(obs, device=device)
            policy, values = agent(obs)
            actions = policy.sample()
            seen.append((obs, actions, policy.log_prob(actions), values))
            actions = actions.cpu().numpy()
        with timed(seconds, "games"):
            obs, rewards, terminated, truncated, infos = games.step(actions)
        outcomes.append((rewards, terminated, truncated))
        scores += final_scores(infos).values()
        if truncated.any():
            final_obs = np.stack(infos["final_obs"][truncated])
            final_obs = torch.as_tensor(final_obs, device=device)
            final_values[step, truncated] = agent(final_obs)[1]
    next_values = agent(torch.as_tensor(obs, device=device))[1]
    seen = [torch.stack(column) for column in zip(*seen, strict=True)]
    # float32, because Apple's GPUs know no float64
    outcomes = np.array(outcomes, np.float32)
    outcomes = torch.as_tensor(outcomes, device=device).unbind(1)
    gains = advantages(*outcomes, seen[-1], next_values, final_values)
    batch = [column.flatten(0, 1) for column in (*seen, gains)]
    return batch, obs, scores


def advantages(rewards, terminated, truncated, values, next_values, final):
    """Return how much better each step was than expected, `(steps, games)`.

    That is generalised advantage estimation (Schulman et al. 2016). What
    follows a step is worth nothing where the episode terminated; where it was
    truncated, the value of its last observation, in `final`, since the game
    would have gone on (Pardo et al. 2018); else the next step's value, which
    is one of `next_values (games,)` after the last step.
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
        # Each epoch sees all samples once, in a new order (Baselines).
        for part in torch.randperm(len(batch[0])).chunk(MINIBATCHES):
            obs, actions, old_log_probs, old_values, gains = (
                column[part.to(column.device)] for column in batch
            )
            policy, values = agent(obs)
            returns = gains + old_values
            # normalised within the minibatch (Baselines)
            gains = (gains - gains.mean()) / (gains.std() + 1e-8)
            # the clipped objective (Schulman et al. 2017, equation 7)
            ratio = (policy.log_prob(actions) - old_log_probs).exp()
            clipped = ratio.clamp(1 - CLIP, 1 + CLIP)
            policy_loss = -torch.min(ratio * gains, clipped * gains).mean()
            # The value is clipped likewise (Baselines), although Engstrom et
            # al. 2020 found no gain in that.
            near = old_values + (values - old_values).clamp(-CLIP, CLIP)
            errors = torch.max((values - returns) ** 2, (near - returns) ** 2)
            # a bonus for trying things (Mnih et al. 2016)
            entropy = policy.entropy().mean()
            loss = policy_loss + VALUE_WEIGHT * errors.mean() / 2
            loss = loss - ENTROPY_WEIGHT * entropy
            optimizer.zero_grad()
            loss.backward()
            # the length of all gradients together (Baselines)
            nn.utils.clip_grad_norm_(agent.parameters(), MAX_GRADIENT)
            optimizer.step()
    return entropy.item()


def train(args):
    """Train until all steps are played; save as it goes."""
    torch.manual_seed(args.seed)
    with make_games(args, args.games, TRAINING) as games:
        actions = games.single_action_space.n
        agent = Agent(actions, args.bfloat16).to(args.device)
        # epsilon as in Baselines; PyTorch's own is 1e-8
        optimizer = torch.optim.Adam(agent.parameters(), eps=1e-5)
        run = Run(args, agent, optimizer)
        # Drawn, so that a resumed run doesn't play the same games once more.
        seeds = torch.randint(2**31, (args.games,)).tolist()
        obs, _ = games.reset(seed=seeds)
        while not run.over:
            rate = LEARNING_RATE * (1 - run.steps / run.until)
            optimizer.param_groups[0]["lr"] = rate  # falls to 0 (Baselines)
            batch, obs, scores = play(agent, games, obs, run.seconds)
            with timed(run.seconds, "learning"):
                entropy = learn(agent, optimizer, batch)
            run.add(STEPS * args.games, scores, entropy)


if __name__ == "__main__":
    main(__doc__, Agent, train)
