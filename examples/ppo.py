"""Train an agent with PPO on `Games`: the file to start from.

One file in the manner of CleanRL's `ppo_atari.py`, each detail with its
source. Copy it beside game.py and change what you like.

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

import argparse
import csv
import json
import os
import pathlib
import signal
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.append(str(HERE.parent))
try:
    import gymnasium as gym
    import numpy as np
    import torch
    from PIL import Image
    from torch import nn
    from torch.distributions import Categorical

    from game import Game, Games
except ModuleNotFoundError as error:
    needs = "pip install -r requirements.txt -r examples/requirements.txt"
    sys.exit(f"ppo.py: {error}: {needs}")

# To learn from: a lost life ends an episode, so that losing one costs
# something, but not the game, so that the agent sees all of it (Mnih et al.
# 2015). FIRE serves the ball for it at each new life (Baselines). Games start
# after 1 to 30 frames without an action, so that they differ; rewards become
# -1, 0 or 1, so that one learning rate serves all titles (both DQN's).
# Actions are not sticky, as in DQN and CleanRL; ids such as "ALE/Pong-v5" have
# sticky ones (Machado et al. 2018) and need no other change.
SERVED = dict(on_life_loss="continue", fire_on_reset=True, noop_max=30)
TRAINING = dict(SERVED, clip_reward=True)
# To be judged by: whole games and raw points. "served": FIRE is pressed for
# the agent as in training; `final_info` counts the whole game nevertheless.
# "alone": it has to press FIRE itself, which it was never taught.
ALONE = dict(on_life_loss="ignore", noop_max=30)
EVALUATION = {"served": SERVED, "alone": ALONE}
# Scores of one agent differ widely from game to game. The mean of 30 games is
# what DQN was judged by.
EVALUATION_GAMES = 30

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
STEP_MILLISECONDS = 67  # of the film: a step is four frames of 1/60 s
ZOOM = 2  # of the film: each pixel becomes four, so that none is smoothed


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
        with torch.autocast(
            obs.device.type, torch.bfloat16, enabled=self.bfloat16
        ):
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
    seen, outcomes, scores = [], [], []
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
    outcomes = torch.as_tensor(
        np.array(outcomes), dtype=torch.float32, device=device
    ).unbind(1)
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


def train(args, folder):
    """Train until `args.steps` are played; save as it goes."""
    checkpoint = folder / "checkpoint.pt"
    if checkpoint.exists() and not args.resume:
        stop(f"{folder} has a run: --resume goes on, --run names another")
    if args.resume and not checkpoint.exists():
        stop(f"nothing to resume in {folder}")
    torch.manual_seed(args.seed)
    with make_games(args, args.games, TRAINING) as games:
        agent = Agent(games.single_action_space.n, args.bfloat16)
        agent.to(args.device)
        # epsilon as in Baselines; PyTorch's own is 1e-8
        optimizer = torch.optim.Adam(agent.parameters(), eps=1e-5)
        seconds = dict.fromkeys(["games", "network", "learning"], 0.0)
        state = {"env_id": args.env_id, "steps": 0, "ended": 0, "scores": []}
        state |= {"seconds": seconds, "rows": []}
        if args.resume:
            saved = torch.load(checkpoint, args.device, weights_only=True)
            state = saved["state"]
            if state["env_id"] != args.env_id:
                stop(f"{folder} is a run of {state['env_id']}")
            agent.load_state_dict(saved["weights"])
            optimizer.load_state_dict(saved["optimizer"])
            torch.set_rng_state(saved["random"].cpu())
            on_gpus = [each.cpu() for each in saved["random_on_gpus"]]
            torch.cuda.set_rng_state_all(on_gpus)
        # Drawn, so that a resumed run doesn't play the same games once more.
        seeds = torch.randint(2**31, (args.games,)).tolist()
        obs, _ = games.reset(seed=seeds)

        folder.mkdir(parents=True, exist_ok=True)
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
                save(folder, agent, optimizer, state, entropy)
    print(f"{folder}: {state['steps']:,} steps; --resume goes on")


def save(folder, agent, optimizer, state, entropy):
    """Write the curve, the weights and all that is needed to go on."""
    row = {"steps": state["steps"], **state["seconds"]}
    row |= {"ended": state["ended"], "entropy": entropy}
    row["score"] = np.mean(state["scores"]).item() if state["scores"] else 0
    state["rows"].append({name: round(x, 3) for name, x in row.items()})
    with open(folder / "curve.csv", "w", newline="") as file:
        writer = csv.DictWriter(file, row)
        writer.writeheader()
        writer.writerows(state["rows"])
    weights = agent.state_dict()
    together = {"weights": weights, "optimizer": optimizer.state_dict()}
    together |= {"random": torch.get_rng_state(), "state": state}
    together |= {"random_on_gpus": torch.cuda.get_rng_state_all()}
    files = {"weights.pt": weights, "checkpoint.pt": together}
    for name, data in files.items():
        # A crash while writing must not leave half a file.
        torch.save(data, folder / "new.pt")
        os.replace(folder / "new.pt", folder / name)
    speed = state["steps"] / sum(state["seconds"].values())
    print(
        f"{row['steps']:,} steps, {speed:,.0f} a second, "
        f"{row['ended']} games, score {row['score']:.1f}, "
        f"entropy {entropy:.2f}",
        flush=True,
    )


def trained(args, folder):
    """Return the agent of the run, or the published one."""
    path = folder / "weights.pt"
    published = HERE / "breakout.pt"
    if not path.exists() and "Breakout" in args.env_id and published.exists():
        path = published
    if not path.exists():
        stop(f"nothing trained in {folder} yet: run without this option first")
    print(f"weights: {path}")
    # without `weights_only` a file could run any code
    weights = torch.load(path, args.device, weights_only=True)
    agent = Agent(len(weights["policy.bias"])).to(args.device)
    agent.load_state_dict(weights)  # half precision becomes float32
    return agent


@torch.no_grad()
def choose(agent, obs):
    """Draw an action for each of `obs`, as in training."""
    obs = torch.as_tensor(obs, device=agent.value.weight.device)
    return agent(obs)[0].sample().cpu().numpy()


def evaluate(args, folder):
    """Play whole games in both ways; print the scores and write them down."""
    agent = trained(args, folder)
    results = {}
    for way, options in EVALUATION.items():
        with make_games(args, EVALUATION_GAMES, options) as games:
            scores = results[way] = whole_games(agent, games, args.seed)
        print(
            f"{way}: {len(scores)} games, {np.mean(scores):.1f} points "
            f"({min(scores):.0f} to {max(scores):.0f}) with {options}"
        )
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "evaluation.json").write_text(json.dumps(results) + "\n")


def whole_games(agent, games, seed):
    """Play until each game was over once; return those scores.

    Only the first game of each counts: of all games that end by a given time,
    too many would be short ones.
    """
    torch.manual_seed(seed)
    first = {}
    obs, _ = games.reset(seed=seed)
    while len(first) < games.num_envs:
        obs, *_, infos = games.step(choose(agent, obs))
        for i in np.flatnonzero(infos.get("_final_info", [])):
            first.setdefault(i, infos["final_info"]["reward"][i].item())
    return [first[i] for i in sorted(first)]


def film(args, folder):
    """Play one whole game and leave it as an animated picture."""
    agent = trained(args, folder)
    torch.manual_seed(args.seed)
    game = Game(args.seed, args.env_id, **SERVED)
    obs, screens, info = game.reset(), [], None
    while info is None:
        screens.append(game.render())
        obs, _, _, info = game.step(choose(agent, obs[None])[0])
    folder.mkdir(parents=True, exist_ok=True)
    write_film(screens, folder / "film.webp")
    print(f"{folder / 'film.webp'}: {info}")


def write_film(screens, path):
    """Write colour screens as an animated WebP, nothing lost or smoothed."""
    screens = [s.repeat(ZOOM, axis=0).repeat(ZOOM, axis=1) for s in screens]
    first, *others = map(Image.fromarray, screens)
    # The most effort, and no frame whole but the first: a quarter of the size.
    effort = dict(lossless=True, quality=100, method=6, kmin=9998, kmax=9999)
    film = dict(save_all=True, append_images=others, loop=0)
    first.save(path, duration=STEP_MILLISECONDS, **film, **effort)


def make_games(args, count, options):
    """Return the games, or end with a line on what is wrong with them."""
    try:
        return Games(count, args.env_id, seed=args.seed, **options)
    except (gym.error.Error, TypeError, ValueError) as error:
        stop(error)


def stop(line):
    """End with a line and not with a traceback."""
    print(f"ppo.py: {line}", file=sys.stderr)
    sys.exit(2)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("env_id", nargs="?", default="BreakoutNoFrameskip-v4")
    for name, default in ("steps", 10_000_000), ("games", 8), ("seed", 0):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--run", type=pathlib.Path, help="the run's folder")
    device = "cuda" if torch.cuda.is_available() else "cpu"
    parser.add_argument("--device", default=device)
    bfloat16 = "faster where the processor has avx512_bf16, slower elsewhere"
    parser.add_argument("--bfloat16", action="store_true", help=bfloat16)
    threads = "of PyTorch; 1 is the fastest where other programs run beside"
    parser.add_argument("--threads", type=int, help=threads)
    for name in "resume", "evaluate", "film":
        parser.add_argument(f"--{name}", action="store_true")
    args = parser.parse_args()
    if args.steps < 1:
        stop(f"--steps: expected 1 or more, got {args.steps}")
    try:
        torch.zeros(1, device=args.device)
    except (AssertionError, RuntimeError):
        stop(f"--device: PyTorch finds no {args.device} here")
    name = f"{args.env_id}-{args.seed}".replace("/", "-")
    folder = args.run or pathlib.Path("runs") / name
    if args.threads:
        torch.set_num_threads(args.threads)
    if args.evaluate:
        evaluate(args, folder)
    elif args.film:
        film(args, folder)
    else:
        train(args, folder)


if __name__ == "__main__":
    main()
