"""Train an agent with PPO on `Games`: the file to start from.

It is in the manner of CleanRL's `ppo_atari.py`: one file, each detail with its
source. Copy it beside game.py and change it. Needs the packages of ppo.txt.

    python examples/ppo.py               # train, on a GPU if there is one
    python examples/ppo.py --evaluate    # play whole games, count raw points

Training writes its curve to ppo-games.csv as it goes, and what it ran on to
ppo.json, both beside this file; the weights to ~/.cache/breakout-annotated.

To compare, it trains on Gymnasium's own games too. With both engines it gives
an update to each in turn, so that a busy machine is as busy for both.

    python examples/ppo.py --engine games gymnasium
    python examples/ppo.py --share 20    # where the time of an update goes
"""

import argparse
import collections
import contextlib
import csv
import datetime
import itertools
import json
import math
import os
import pathlib
import platform
import re
import sys
import time
from importlib import metadata

import ale_py
import gymnasium as gym
import numpy as np
import torch
from gymnasium import wrappers
from gymnasium.vector import AsyncVectorEnv, AutoresetMode
from torch import nn
from torch.distributions import Categorical

ROOT = pathlib.Path(__file__).resolve().parents[1]
HERE = ROOT / "measure/results"
sys.path.insert(0, str(ROOT))
from game import Games  # noqa: E402

# What an agent learns from, and what it is judged by. To learn: a lost life
# ends an episode but not the game, games start differently, and rewards are
# of one size (Mnih et al. 2015). To be judged: whole games and raw points.
# Who learned with FIRE pressed in its place doesn't know how to serve: so it
# is judged with FIRE, too. `final_info` tells whole games and raw points then
# as well.
TRAINING = dict(on_life_loss="continue", noop_max=30, fire_on_reset=True,
                clip_reward=True)
EVALUATION = {"scores": dict(on_life_loss="ignore"),
              "served": dict(on_life_loss="continue", fire_on_reset=True)}
SEEDS = 3  # to evaluate with

# As Baselines' ppo2 sets them for Atari, and CleanRL after it.
STEPS, EPOCHS, MINIBATCHES, LEARNING_RATE = 128, 4, 4, 2.5e-4
GAMMA, LAMBDA, CLIP = 0.99, 0.95, 0.1
ENTROPY_WEIGHT, VALUE_WEIGHT, MAX_GRADIENT = 0.01, 0.5, 0.5

ENGINES = ["games", "gymnasium"]
LAST = 20  # whole games that the curve is the mean of
UPDATES_TO_A_ROW = 10
TIMES = ["sampling", "network", "training"]
COLUMNS = ["steps", "seconds", *TIMES, "episodes", "score"]
PACKAGES = ["ale-py", "gymnasium", "labml", "numpy", "torch"]
CACHE = os.environ.get("XDG_CACHE_HOME", pathlib.Path.home() / ".cache")
WEIGHTS = pathlib.Path(CACHE) / "breakout-annotated"


def make_games(args, engine):
    """Return the games to train on."""
    # Game i is seeded seed + i: runs 0 and 1 must not begin at 0 and 1, or
    # they would share all games but one.
    seed = args.seed * args.games
    if engine == "games":
        return Games(args.games, args.env_id, seed=seed, **TRAINING)
    make = [lambda: make_peer(args.env_id)] * args.games
    games = AsyncVectorEnv(make, autoreset_mode=AutoresetMode.SAME_STEP)
    games.reset(seed=seed)
    return games


def make_peer(env_id):
    """Return one game of Gymnasium's.

    Not quite the same play: Gymnasium can't end an episode at a lost life
    without restarting the game, and presses no FIRE. So an episode here is a
    whole game, and the agent has to learn to serve.
    """
    gym.register_envs(ale_py)
    env = wrappers.AtariPreprocessing(gym.make(env_id, frameskip=1))
    env = wrappers.RecordEpisodeStatistics(env)  # sees raw rewards
    env = wrappers.ClipReward(env, -1, 1)
    return wrappers.FrameStackObservation(env, 4)


def whole_games(infos):
    """Return the raw scores of the games that ended in this step."""
    if "final_info" not in infos:
        return []
    final, ended = infos["final_info"], infos["_final_info"]
    scores = final["reward"] if "reward" in final else final["episode"]["r"]
    return scores[ended].tolist()


def layer(module, gain=2**0.5):
    """Orthogonal weights and no bias at first (Baselines)."""
    nn.init.orthogonal_(module.weight, gain)
    nn.init.zeros_(module.bias)
    return module


class Agent(nn.Module):
    """DQN's network (Mnih et al. 2015), shared by policy and value."""

    def __init__(self, actions):
        super().__init__()
        self.body = nn.Sequential(
            layer(nn.Conv2d(4, 32, 8, stride=4)), nn.ReLU(),
            layer(nn.Conv2d(32, 64, 4, stride=2)), nn.ReLU(),
            layer(nn.Conv2d(64, 64, 3)), nn.ReLU(), nn.Flatten(),
            layer(nn.Linear(64 * 7 * 7, 512)), nn.ReLU())
        # At first all actions are nearly as likely (Baselines).
        self.policy = layer(nn.Linear(512, actions), gain=0.01)
        self.value = layer(nn.Linear(512, 1), gain=1)
        # The same numbers in another order: a CPU is faster with them.
        self.to(memory_format=torch.channels_last)

    def forward(self, obs):
        """From `uint8 (n, 4, 84, 84)` to a policy and `n` values."""
        obs = obs.to(torch.float32, memory_format=torch.channels_last) / 255
        hidden = self.body(obs)
        value = self.value(hidden).squeeze(1)
        return Categorical(logits=self.policy(hidden)), value


@torch.no_grad()
def play(agent, games, obs, spent, scores):
    """Play `STEPS` steps; return a batch to learn from, and observations.

    Adds to `spent` the seconds that the games and the network took, and to
    `scores` those of the games that ended.
    """
    device, seen, told = agent.value.weight.device, [], []
    final_values = torch.zeros((STEPS, games.num_envs), device=device)
    for step in range(STEPS):
        start = time.perf_counter()
        obs = torch.as_tensor(obs, device=device)
        policy, values = agent(obs)
        actions = policy.sample()
        seen.append((obs, actions, policy.log_prob(actions), values))
        actions = actions.cpu().numpy()
        chosen = time.perf_counter()
        obs, rewards, terminated, truncated, infos = games.step(actions)
        spent["sampling"] += time.perf_counter() - chosen
        spent["network"] += chosen - start
        told.append((rewards, terminated, truncated))
        scores += whole_games(infos)
        if truncated.any():
            final_obs = np.stack(infos["final_obs"][truncated])
            final_obs = torch.as_tensor(final_obs, device=device)
            final_values[step, truncated] = agent(final_obs)[1]
    next_values = agent(torch.as_tensor(obs, device=device))[1]
    seen = [torch.stack(column) for column in zip(*seen)]
    # float32, because Apple's GPUs know no float64
    told = torch.as_tensor(np.array(told), dtype=torch.float32, device=device)
    gains = advantages(*told.unbind(1), seen[-1], next_values, final_values)
    return [column.flatten(0, 1) for column in (*seen, gains)], obs


def advantages(rewards, terminated, truncated, values, next_values,
               final_values):
    """Return how much better each step was than expected, `(steps, games)`.

    That is generalised advantage estimation (Schulman et al. 2016). What
    follows a step is worth nothing where the episode terminated. Where it was
    truncated, the game would have gone on from its last observation, and that
    one's value counts (Pardo et al. 2018). Else it is the next step's value;
    after the last step, `next_values (games,)`.
    """
    following = torch.cat([values[1:], next_values[None]])
    following = torch.where(truncated > 0, final_values, following)
    errors = rewards + GAMMA * (1 - terminated) * following - values
    goes_on = (1 - terminated) * (1 - truncated)
    result, later = torch.zeros_like(values), 0
    for step in reversed(range(len(values))):
        later = errors[step] + GAMMA * LAMBDA * goes_on[step] * later
        result[step] = later
    return result


def learn(agent, optimizer, batch):
    """Learn from a batch; return figures to watch."""
    samples = len(batch[0])
    for _ in range(EPOCHS):
        # Each epoch sees all samples once, in a new order (Baselines).
        for part in torch.randperm(samples).chunk(MINIBATCHES):
            obs, actions, chances, old, gains = [
                column[part.to(column.device)] for column in batch]
            policy, values = agent(obs)
            returns = gains + old
            # normalised within the minibatch (Baselines)
            gains = (gains - gains.mean()) / (gains.std() + 1e-8)
            # the clipped objective (Schulman et al. 2017, equation 7)
            change = policy.log_prob(actions) - chances
            ratio = change.exp()
            clipped = ratio.clamp(1 - CLIP, 1 + CLIP)
            policy_loss = -torch.min(ratio * gains, clipped * gains).mean()
            # The value is clipped likewise (Baselines), although Engstrom et
            # al. 2020 found no gain in that.
            near = old + (values - old).clamp(-CLIP, CLIP)
            far = torch.max((values - returns)**2, (near - returns)**2)
            value_loss = far.mean() / 2
            # a bonus for trying things (Mnih et al. 2016)
            entropy = policy.entropy().mean()
            loss = (policy_loss + VALUE_WEIGHT * value_loss
                    - ENTROPY_WEIGHT * entropy)
            optimizer.zero_grad()
            loss.backward()
            # the length of all gradients together (Baselines)
            nn.utils.clip_grad_norm_(agent.parameters(), MAX_GRADIENT)
            optimizer.step()
    return {"entropy": entropy.item(), "value_loss": value_loss.item()}


def training(args, engine, updates):
    """Train; after each update, yield what there is by now."""
    torch.manual_seed(args.seed)
    spent, scores = collections.Counter(), []
    with contextlib.closing(make_games(args, engine)) as games:
        agent = Agent(games.single_action_space.n).to(args.device)
        # epsilon as in Baselines; PyTorch's own is 1e-8
        optimizer = torch.optim.Adam(agent.parameters(), eps=1e-5)
        obs, _ = games.reset()
        for update in range(updates):
            # falls to nothing (Baselines)
            rate = LEARNING_RATE * (1 - update / updates)
            optimizer.param_groups[0]["lr"] = rate
            batch, obs = play(agent, games, obs, spent, scores)
            start = time.perf_counter()
            figures = learn(agent, optimizer, batch)
            spent["training"] += time.perf_counter() - start
            yield agent, spent, scores, figures


def train(args):
    """Train; write the curve and the weights as it goes."""
    # labml warns if there is no file with its settings; none is needed here.
    with open(os.devnull, "w") as null, contextlib.redirect_stdout(null):
        from labml import lab, monit, tracker

        lab.get_path()
    batch, seconds = STEPS * args.games, collections.Counter()
    updates = math.ceil(args.steps / batch)
    WEIGHTS.mkdir(parents=True, exist_ok=True)
    runs = {name: training(args, name, updates) for name in args.engine}
    for engine in runs:
        note(args, engine, engines=args.engine)
        with open(HERE / f"ppo-{engine}.csv", "w", newline="") as file:
            csv.writer(file).writerow(COLUMNS)
    for update in monit.loop(range(1, updates + 1)):
        for engine, run in runs.items():
            start = time.perf_counter()
            agent, spent, scores, figures = next(run)
            seconds[engine] += time.perf_counter() - start
            score = np.mean(scores[-LAST:]) if scores else math.nan
            figures["score"] = score
            figures["per_second"] = update * batch / seconds[engine]
            for name, value in figures.items():
                tracker.add(f"{engine}.{name}", value)
            if update % UPDATES_TO_A_ROW == 0 or update == updates:
                row = [update * batch, seconds[engine]]
                row += [spent[name] for name in TIMES]
                row += [len(scores), score]
                with open(HERE / f"ppo-{engine}.csv", "a", newline="") as file:
                    csv.writer(file).writerow(round(x, 3) for x in row)
                torch.save(agent.state_dict(), weights(args, engine))
        tracker.save(update * batch)
    print()
    for run in runs.values():
        run.close()


def weights(args, engine):
    """Return the path of the trained agent."""
    return WEIGHTS / f"ppo-{pathlib.Path(args.env_id).name}-{engine}.pt"


@torch.no_grad()
def evaluate(args, engine):
    """Play whole games with the trained agent, with several seeds."""
    saved = torch.load(weights(args, engine), map_location=args.device)
    agent = Agent(len(saved["policy.bias"])).to(args.device)
    agent.load_state_dict(saved)
    results = {name: [] for name in EVALUATION}
    for name, run in itertools.product(EVALUATION, range(SEEDS)):
        seed, first = (args.seed + run) * args.games, {}
        options = EVALUATION[name]
        with Games(args.games, args.env_id, seed=seed, **options) as games:
            obs, _ = games.reset()
            # The first game of each counts: of all games that end by a given
            # time, too many would be short ones.
            while len(first) < args.games:
                obs = torch.as_tensor(obs, device=args.device)
                actions = agent(obs)[0].sample().cpu().numpy()
                obs, *_, infos = games.step(actions)
                for game in np.flatnonzero(infos.get("_final_info", [])):
                    score = infos["final_info"]["reward"][game]
                    first.setdefault(int(game), score)
        results[name].append(list(first.values()))
        mean = np.mean(results[name][-1])
        print(f"{options}, seed {seed}: {args.games} games, {mean:.1f} points")
    note(args, f"evaluation of {engine}", **results)


def share(args):
    """Let both engines train in turn; say where the time of each goes."""
    rounds, before = [], dict.fromkeys(ENGINES, np.zeros(len(TIMES)))
    runs = {name: training(args, name, args.share + 1) for name in ENGINES}
    for i in range(args.share + 1):
        rounds.append({})
        for name in ENGINES if i % 2 else reversed(ENGINES):
            _, spent, *_ = next(runs[name])
            now = np.array([spent[what] for what in TIMES])
            rounds[-1][name] = (now - before[name]).round(4).tolist()
            before[name] = now
    rounds = rounds[1:]  # the first was to warm up
    note(args, "share", columns=TIMES, rounds=rounds)
    for name in ENGINES:
        middle = np.median([one[name] for one in rounds], axis=0)
        print(name, dict(zip(TIMES, middle.round(3).tolist())))
        runs[name].close()
    ratio = [sum(one["gymnasium"]) / sum(one["games"]) for one in rounds]
    print(f"`Games` trains {np.median(ratio):.2f} times as fast"
          f" ({min(ratio):.2f}–{max(ratio):.2f})")


def note(args, section, **results):
    """Write to ppo.json what ran, where and when, and its results."""
    path, cpuinfo = HERE / "ppo.json", pathlib.Path("/proc/cpuinfo")
    known = cpuinfo.read_text() if cpuinfo.exists() else ""
    cpu = re.findall("model name.*: (.*)", known) or [platform.machine()]
    gpu = torch.cuda.get_device_name() if args.device == "cuda" else None
    data = json.loads(path.read_text()) if path.exists() else {}
    data[section] = {
        "processor": cpu[0], "cores": os.cpu_count(), "gpu": gpu,
        "threads": torch.get_num_threads(),
        "python": platform.python_version(),
        "versions": {name: metadata.version(name) for name in PACKAGES},
        "date": datetime.date.today().isoformat(),
        "env_id": args.env_id, "games": args.games, "seed": args.seed}
    data[section] |= results
    path.write_text(json.dumps(data, indent=1) + "\n")


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("env_id", nargs="?", default="BreakoutNoFrameskip-v4")
    parser.add_argument("--steps", type=int, default=500_000, help="in all")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--games", type=int, default=8)
    parser.add_argument(
        "--engine", nargs="+", choices=ENGINES, default=ENGINES[:1])
    device = "cuda" if torch.cuda.is_available() else "cpu"
    parser.add_argument("--device", default=device)
    parser.add_argument("--evaluate", action="store_true")
    parser.add_argument("--share", type=int, metavar="ROUNDS")
    args = parser.parse_args()
    if args.evaluate:
        for engine in args.engine:
            evaluate(args, engine)
    elif args.share:
        share(args)
    else:
        train(args)


if __name__ == "__main__":
    main()
