"""Train an agent with DQN on one game: small, whole, and to be changed.

    pip install -r requirements.txt torch
    python examples/dqn.py                            # Breakout
    python examples/dqn.py PongNoFrameskip-v4 --steps 2000000

The algorithm is that of Mnih et al. 2015, the settings are mostly those of
CleanRL's `dqn_atari.py`. Scores rise after some 200,000 steps.
"""

import argparse
import collections
import pathlib
import random
import sys

import numpy as np
import torch
from torch import nn

# In this repository game.py lies one folder up; copied, it lies beside.
sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))
from game import Games

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
MEMORY = 100_000  # steps to remember, 7 kB each; DQN had 1,000,000
STEPS_TO_LEARN_FROM = 5_000  # before the first update; CleanRL has 80,000
STEPS_TO_AN_UPDATE = 4
STEPS_TO_A_NEW_TARGET = 1_000
BATCH = 32
GAMMA = 0.99
LEARNING_RATE = 1e-4
# The share of actions that are drawn at random falls from 1 to this, over the
# first tenth of the steps.
EXPLORE = 0.01


class Memory:
    """The last `capacity` steps, to learn from again and again.

    Steps in a row share their pictures, so that each is kept once: 7 kB a
    step, where two observations would be 56 kB.
    """

    def __init__(self, capacity):
        # one that is full forgets the oldest
        self.steps = collections.deque(maxlen=capacity)

    def start(self, obs):
        """Begin an episode with its first observation, `(4, 84, 84)`."""
        self.pictures = [picture.copy() for picture in obs]

    def add(self, action, reward, terminated, after):
        """Keep a step that led to the observation `after`."""
        five = [*self.pictures, after[-1].copy()]
        self.pictures = five[1:]
        self.steps.append((five, action, reward, terminated))

    def sample(self, count):
        """Draw steps; return pictures `(count, 5, 84, 84)` and the rest."""
        drawn = random.choices(self.steps, k=count)
        return [
            torch.as_tensor(np.array(column))
            for column in zip(*drawn, strict=True)
        ]


def make_network(actions):
    """From `(n, 4, 84, 84)` to the value of each action (Mnih et al. 2015)."""
    return nn.Sequential(
        nn.Conv2d(4, 32, 8, stride=4),
        nn.ReLU(),
        nn.Conv2d(32, 64, 4, stride=2),
        nn.ReLU(),
        nn.Conv2d(64, 64, 3),
        nn.ReLU(),
        nn.Flatten(),
        nn.Linear(64 * 7 * 7, 512),
        nn.ReLU(),
        nn.Linear(512, actions),
    ).to(DEVICE, memory_format=torch.channels_last)  # faster on a CPU


def values(network, obs):
    """The values of all actions in `obs`, `uint8 (n, 4, 84, 84)`."""
    return network(torch.as_tensor(obs).to(DEVICE, torch.float32) / 255)


def learn(network, target, optimizer, memory):
    """Draw the values of steps from memory towards what came of them."""
    pictures, actions, rewards, terminated = memory.sample(BATCH)
    with torch.no_grad():
        following = values(target, pictures[:, 1:]).max(1).values.cpu()
    # Only `terminated` ends the sum of rewards: a game that was truncated
    # would have gone on.
    worth = rewards + GAMMA * following * ~terminated
    expected = values(network, pictures[:, :4])[range(BATCH), actions]
    # The Huber loss clips the error's gradient, as the paper does.
    worth = worth.to(DEVICE, torch.float32)
    loss = nn.functional.smooth_l1_loss(expected, worth)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


def train(args, games):
    """Play and learn; print how it goes."""
    # One observation is too little work to share: threads would only wait.
    torch.set_num_threads(1)
    random.seed(args.seed)
    torch.manual_seed(args.seed)
    count = int(games.single_action_space.n)
    network = make_network(count)
    target = make_network(count)
    target.load_state_dict(network.state_dict())
    optimizer = torch.optim.Adam(network.parameters(), LEARNING_RATE)
    memory = Memory(MEMORY)
    scores = []
    obs, _ = games.reset()
    memory.start(obs[0])
    for step in range(1, args.steps + 1):
        explore = np.interp(step, [0, args.steps / 10], [1, EXPLORE])
        if random.random() < explore:
            action = random.randrange(count)
        else:
            with torch.no_grad():
                action = values(network, obs).argmax(1).item()
        obs, rewards, terminated, truncated, infos = games.step([action])
        # What followed the last step of an episode is not `obs`, which is the
        # first observation of the next.
        over = terminated[0] or truncated[0]
        after = infos["final_obs"][0] if over else obs[0]
        memory.add(action, rewards[0], terminated[0], after)
        if over:
            memory.start(obs[0])
        if "episode" in infos:
            scores.append(infos["episode"]["r"][0])
        if step >= STEPS_TO_LEARN_FROM and step % STEPS_TO_AN_UPDATE == 0:
            learn(network, target, optimizer, memory)
        if step % STEPS_TO_A_NEW_TARGET == 0:
            target.load_state_dict(network.state_dict())
        if step % 1_000 == 0:
            score = np.mean(scores[-20:] or 0)
            print(f"{step:,} steps, score {score:.1f}", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("env_id", nargs="?", default="BreakoutNoFrameskip-v4")
    parser.add_argument("--steps", type=int, default=2_000_000)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    with Games(1, args.env_id, seed=args.seed, processes=0) as games:
        train(args, games)


if __name__ == "__main__":
    main()
