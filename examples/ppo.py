"""Train an agent with PPO on `Games`: the file to start from.

In the manner of CleanRL's `ppo_atari.py`, each detail with its source. What
isn't PPO, its options and the folder of a run, is in runs.py. Copy both beside
game.py, and change what you like.

    pip install -r requirements.txt -r examples/requirements.txt
    python examples/ppo.py PongNoFrameskip-v4             # train
    python examples/ppo.py PongNoFrameskip-v4 --resume    # go on with it
    python examples/ppo.py PongNoFrameskip-v4 --evaluate  # 30 whole games
    python examples/ppo.py PongNoFrameskip-v4 --film      # one, as a film

Everything goes to a folder of the run, runs/ENV_ID-SEED unless --run names
another: curve.csv, weights.pt, checkpoint.pt, evaluation.json, film.webp. For
Breakout there are trained weights, breakout.pt: without a run of your own,
--evaluate and --film take those.

--resume restores the weights, the optimiser, the counters and PyTorch's random
numbers (there are no others). The games themselves start anew.
"""

import pathlib
import signal
import sys
import time

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))
try:
    import numpy as np
    import torch
    from torch import nn
    from torch.distributions import Categorical

    import runs
except ModuleNotFoundError as error:
    needs = "pip install -r requirements.txt -r examples/requirements.txt"
    sys.exit(f"ppo.py: {error}: {needs}")

# Served as runs.py says. Rewards become -1, 0 or 1, so that one learning rate
# is right for all titles (Mnih et al. 2015). Actions are not sticky, as in DQN
# and CleanRL; ids such as "ALE/Pong-v5" have sticky ones (Machado et al. 2018)
# and need no other change.
TRAINING = dict(runs.SERVED, clip_reward=True)

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

UPDATES_TO_A_SAVE = 10
LAST = 20  # whole games that the score on the curve is the mean of


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
        kind = obs.device.type
        with torch.autocast(kind, torch.bfloat16, enabled=self.bfloat16):
            hidden = self.body(obs)
        hidden = hidden.float()  # what follows needs the precision
        value = self.value(hidden).squeeze(1)
        return Categorical(logits=self.policy(hidden)), value


@torch.no_grad()
def play(agent, games, obs, seconds):
    """Play `STEPS` steps of all games.

    Returns a batch to learn from, the observations to go on from, and the raw
    scores of the whole games that ended. Adds to `seconds` what the games and
    the network took.
    """
    device = agent.value.weight.device
    seen = []
    outcomes = []
    scores = []
    final_values = torch.zeros((STEPS, games.num_envs), device=device)
    for step in range(STEPS):
        start = time.perf_counter()
        # All games go to the device as one batch, and stay there to be learned
        # from; 28 kB a game, since they are bytes until the network reads them
        obs = torch.as_tensor(obs, device=device)
        policy, values = agent(obs)
        actions = policy.sample()
        seen.append((obs, actions, policy.log_prob(actions), values))
        actions = actions.cpu().numpy()
        chosen = time.perf_counter()
        obs, rewards, terminated, truncated, infos = games.step(actions)
        seconds["games"] += time.perf_counter() - chosen
        seconds["network"] += chosen - start
        outcomes.append((rewards, terminated, truncated))
        # Raw scores of whole games are in `final_info`, under its mask. The
        # rewards are clipped, and end with each life.
        if "final_info" in infos:
            ended = infos["_final_info"]
            scores += infos["final_info"]["reward"][ended].tolist()
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
    follows a step is worth nothing where the episode terminated. Where it was
    truncated, the game would have gone on from its last observation, whose
    value, in `final`, counts (Pardo et al. 2018). Else it is the next step's
    value; after the last step, `next_values (games,)`.
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
    samples = len(batch[0])
    for _ in range(EPOCHS):
        # Each epoch sees all samples once, in a new order (Baselines).
        for part in torch.randperm(samples).chunk(MINIBATCHES):
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
            value_loss = errors.mean() / 2
            # a bonus for trying things (Mnih et al. 2016)
            entropy = policy.entropy().mean()
            loss = policy_loss + VALUE_WEIGHT * value_loss
            loss = loss - ENTROPY_WEIGHT * entropy
            optimizer.zero_grad()
            loss.backward()
            # the length of all gradients together (Baselines)
            nn.utils.clip_grad_norm_(agent.parameters(), MAX_GRADIENT)
            optimizer.step()
    return entropy.item()


def train(args):
    """Train until `args.steps` are played; save as it goes."""
    torch.manual_seed(args.seed)
    with runs.make_games(args, args.games, TRAINING) as games:
        agent = Agent(games.single_action_space.n, args.bfloat16)
        agent.to(args.device)
        # epsilon as in Baselines; PyTorch's own is 1e-8
        optimizer = torch.optim.Adam(agent.parameters(), eps=1e-5)
        state = runs.begin(args, agent, optimizer)
        # Drawn, so that a resumed run doesn't play the same games once more.
        seeds = torch.randint(2**31, (args.games,)).tolist()
        obs, _ = games.reset(seed=seeds)

        # Ctrl-C waits for the end of the update, so that all is of one piece.
        stopping = []
        signal.signal(signal.SIGINT, lambda *_: stopping.append(True))
        update = 0
        while state["steps"] < args.steps and not stopping:
            # falls to nothing (Baselines)
            rate = LEARNING_RATE * (1 - state["steps"] / args.steps)
            optimizer.param_groups[0]["lr"] = rate
            batch, obs, scores = play(agent, games, obs, state["seconds"])
            start = time.perf_counter()
            entropy = learn(agent, optimizer, batch)
            state["seconds"]["learning"] += time.perf_counter() - start
            state["steps"] += STEPS * args.games
            state["ended"] += len(scores)
            state["scores"] = (state["scores"] + scores)[-LAST:]
            update += 1
            over = stopping or state["steps"] >= args.steps
            if update % UPDATES_TO_A_SAVE == 0 or over:
                runs.save(args.folder, agent, optimizer, state, entropy)
    steps = f"{state['steps']:,} steps of {args.steps:,}"
    print(f"{args.folder}: {steps}; --resume goes on, up to --steps")


def main():
    args = runs.arguments(__doc__)
    if args.evaluate:
        runs.evaluate(runs.trained(args, Agent), args)
    elif args.film:
        runs.film(runs.trained(args, Agent), args)
    else:
        train(args)


if __name__ == "__main__":
    main()
