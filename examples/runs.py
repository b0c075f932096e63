"""What isn't PPO in ppo.py: options, the folder of a run, evaluation, a film.

`main` does what the options say, with any network that returns a distribution
of actions and a value, `policy, value = agent(obs)`, and any training that
counts its updates with a `Run`.
"""

import argparse
import contextlib
import csv
import json
import os
import pathlib
import signal
import sys
import time

import gymnasium as gym
import numpy as np
import torch
from PIL import Image

HERE = pathlib.Path(__file__).resolve().parent
# In this repository game.py lies one folder up; copied, it lies beside.
sys.path.append(str(HERE.parent))
from game import Game, Games  # noqa: E402

FILES = """\
Everything goes to a folder of the run, runs/ENV_ID-SEED unless --run names
another: curve.csv, weights.pt, checkpoint.pt, evaluation.json, film.webp. For
Breakout there are trained weights, breakout.pt: without a run of your own,
--evaluate and --film take those.

--resume restores the weights, the optimiser, the counters and PyTorch's random
numbers (there are no others). The games themselves start anew.
"""

# In training a lost life ends an episode, so that losing one costs something,
# but not the game, so that the agent sees all of it (Mnih et al. 2015). FIRE
# serves the ball for it at each new life (Baselines). Games start after 1 to
# 30 frames without an action, so that they differ (Mnih et al. 2015).
SERVED = dict(on_life_loss="continue", fire_on_reset=True, noop_max=30)
# An agent is judged in two ways, by whole games and raw points: `final_info`
# counts all lives, and is never clipped. Served, FIRE is pressed for it as in
# training; alone, it has to press FIRE itself, which it was never taught.
ALONE = dict(on_life_loss="ignore", noop_max=30)
WAYS = {"served": SERVED, "alone": ALONE}
# Scores of one agent differ widely from game to game. The mean of 30 games is
# what DQN was judged by.
GAMES = 30

UPDATES_TO_A_SAVE = 10
LAST = 20  # whole games that the score on the curve is the mean of
# What a run goes on from, beside weights, optimiser and random numbers.
COUNTERS = ["steps", "ended", "scores", "seconds", "rows"]

STEP_MILLISECONDS = 67  # of the film: a step is four frames of 1/60 s
ZOOM = 2  # of the film: each pixel becomes four, so that none is smoothed


def main(description, make_agent, train):
    """Train, evaluate or film, as the options say."""
    args = arguments(description)
    if args.evaluate:
        evaluate(trained(args, make_agent), args)
    elif args.film:
        film(trained(args, make_agent), args)
    else:
        train(args)


def arguments(description):
    """Return the options given, and the run's folder among them.

    Ends in a line, before anything is written, where one of them is wrong.
    """
    parser = argparse.ArgumentParser(
        description=description,
        epilog=FILES,
        formatter_class=argparse.RawTextHelpFormatter,
    )
    option = parser.add_argument
    option("env_id", nargs="?", default="BreakoutNoFrameskip-v4")
    steps = "of all games; 10,000,000 unless given"
    option("--steps", type=int, default=10_000_000, help=steps)
    option("--games", type=int, default=8, help="at once; 8 unless given")
    option("--seed", type=int, default=0, help="0 unless given")
    option("--run", type=pathlib.Path, help="the run's folder", dest="folder")
    option("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    bfloat16 = "faster where the processor has avx512_bf16, slower elsewhere"
    option("--bfloat16", action="store_true", help=bfloat16)
    threads = "of PyTorch; 1 is the fastest where other programs run beside"
    option("--threads", type=int, help=threads)
    option("--resume", action="store_true", help="go on with the run")
    option("--evaluate", action="store_true", help="play 30 whole games")
    option("--film", action="store_true", help="play one, as film.webp")
    args = parser.parse_args()
    if args.steps < 1:
        stop(f"--steps: expected 1 or more, got {args.steps}")
    if args.threads is not None and args.threads < 1:
        stop(f"--threads: expected 1 or more, got {args.threads}")
    try:
        torch.zeros(1, device=args.device)
    except (AssertionError, RuntimeError):
        stop(f"--device: PyTorch finds no {args.device} here")
    if args.folder is None:
        name = f"{args.env_id}-{args.seed}".replace("/", "-")
        args.folder = pathlib.Path("runs") / name
    if args.folder.exists() and not args.folder.is_dir():
        stop(f"--run: {args.folder} is not a folder")
    exists = (args.folder / "checkpoint.pt").exists()
    if args.resume and not exists:
        stop(f"nothing to resume in {args.folder}")
    if exists and not (args.resume or args.evaluate or args.film):
        stop(f"{args.folder} has a run: --resume goes on, --run names another")
    if args.threads:
        torch.set_num_threads(args.threads)
    return args


def stop(line):
    """End with a line and not with a traceback."""
    print(f"{pathlib.Path(sys.argv[0]).name}: {line}", file=sys.stderr)
    sys.exit(2)


def make_games(args, count, options):
    """Return the games, or end with a line on what is wrong with them.

    On Linux up to Python 3.13 their processes are forked, as is usual beside
    PyTorch. Should one hang at its start, `Games` starts another.
    """
    try:
        return Games(count, args.env_id, seed=args.seed, **options)
    except (gym.error.Error, TypeError, ValueError) as error:
        stop(error)


def check_title(args, state):
    """End with a line if the run is one of another title."""
    if state["env_id"] != args.env_id:
        stop(f"{args.folder} is a run of {state['env_id']}")


@contextlib.contextmanager
def timed(seconds, part):
    """Add the seconds that a block takes to `seconds[part]`."""
    start = time.perf_counter()
    yield
    seconds[part] += time.perf_counter() - start


class Run:
    """A training: how far it has come, and its folder.

    With --resume it goes on from the checkpoint there. From its start Ctrl-C
    waits for the end of an update, so that all is of one piece.
    """

    def __init__(self, args, agent, optimizer):
        self.args = args
        self.agent = agent
        self.optimizer = optimizer
        self.updates = 0
        self.steps = 0
        self.ended = 0  # whole games
        self.scores = []  # of the last of them
        self.seconds = dict.fromkeys(["games", "network", "learning"], 0.0)
        self.rows = []  # of the curve
        if args.resume:
            self.resume()
        args.folder.mkdir(parents=True, exist_ok=True)
        self.interrupted = False
        signal.signal(signal.SIGINT, self.interrupt)

    def __str__(self):
        steps = f"{self.steps:,} steps of {self.args.steps:,}"
        return f"{self.args.folder}: {steps}; --resume goes on, up to --steps"

    def interrupt(self, *_):
        self.interrupted = True

    def over(self):
        """Are all steps played, or was Ctrl-C pressed?"""
        return self.interrupted or self.steps >= self.args.steps

    def add(self, steps, scores, entropy):
        """Count an update; save after every tenth, and after the last."""
        self.updates += 1
        self.steps += steps
        self.ended += len(scores)
        self.scores = [*self.scores, *scores][-LAST:]
        if self.updates % UPDATES_TO_A_SAVE == 0 or self.over():
            self.save(entropy)

    def save(self, entropy):
        """Write the curve, the weights and all that is needed to go on."""
        score = np.mean(self.scores).item() if self.scores else 0
        row = {"steps": self.steps, **self.seconds, "ended": self.ended}
        row |= {"entropy": entropy, "score": score}
        self.rows.append({name: round(x, 3) for name, x in row.items()})
        folder = self.args.folder
        with open(folder / "curve.csv", "w", newline="") as file:
            writer = csv.DictWriter(file, row)
            writer.writeheader()
            writer.writerows(self.rows)
        weights = self.agent.state_dict()
        state = {name: getattr(self, name) for name in COUNTERS}
        checkpoint = {
            "weights": weights,
            "optimizer": self.optimizer.state_dict(),
            "random": torch.get_rng_state(),
            "random_on_gpus": torch.cuda.get_rng_state_all(),
            "state": {"env_id": self.args.env_id, **state},
        }
        files = {"weights.pt": weights, "checkpoint.pt": checkpoint}
        for name, data in files.items():
            # A crash while writing must not leave half a file.
            torch.save(data, folder / "new.pt")
            os.replace(folder / "new.pt", folder / name)
        speed = self.steps / sum(self.seconds.values())
        print(
            f"{self.steps:,} steps, {speed:,.0f} a second, "
            f"{self.ended} games, score {score:.1f}, entropy {entropy:.2f}",
            flush=True,
        )

    def resume(self):
        """Restore what `save` wrote."""
        path = self.args.folder / "checkpoint.pt"
        # without `weights_only` a file could run any code
        saved = torch.load(path, self.args.device, weights_only=True)
        check_title(self.args, saved["state"])
        for name in COUNTERS:
            setattr(self, name, saved["state"][name])
        self.agent.load_state_dict(saved["weights"])
        self.optimizer.load_state_dict(saved["optimizer"])
        torch.set_rng_state(saved["random"].cpu())
        on_gpus = [each.cpu() for each in saved["random_on_gpus"]]
        torch.cuda.set_rng_state_all(on_gpus)


def trained(args, make_agent):
    """Return the agent of the run, or the published one."""
    path = args.folder / "weights.pt"
    checkpoint = args.folder / "checkpoint.pt"
    if checkpoint.exists():
        saved = torch.load(checkpoint, args.device, weights_only=True)
        check_title(args, saved["state"])
    if not path.exists() and "Breakout" in args.env_id:
        path = HERE / "breakout.pt"
    if not path.exists():
        stop(f"nothing trained in {args.folder} yet: train it first")
    print(f"weights: {path}")
    weights = torch.load(path, args.device, weights_only=True)
    agent = make_agent(len(weights["policy.bias"])).to(args.device)
    agent.load_state_dict(weights)  # half precision becomes float32
    return agent


@torch.no_grad()
def choose(agent, obs):
    """Draw an action for each of `obs`, as in training."""
    device = next(agent.parameters()).device
    policy, _ = agent(torch.as_tensor(obs, device=device))
    return policy.sample().cpu().numpy()


def final_scores(infos):
    """Return the scores of the whole games that ended in a step, by index.

    Those are raw points, and stand in `final_info`, under its mask. The
    rewards of a step may be clipped, and episodes may end with each life.
    """
    ended = np.flatnonzero(infos.get("_final_info", []))
    return {i: infos["final_info"]["reward"][i].item() for i in ended}


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
        for i, score in final_scores(infos).items():
            first.setdefault(i, score)
    return [first[i] for i in sorted(first)]


def evaluate(agent, args):
    """Play whole games in both ways; print the scores and write them down."""
    results = {}
    for way, options in WAYS.items():
        with make_games(args, GAMES, options) as games:
            scores = results[way] = whole_games(agent, games, args.seed)
        print(
            f"{way}: {len(scores)} games, {np.mean(scores):.1f} points "
            f"({min(scores):.0f} to {max(scores):.0f}) with {options}"
        )
    args.folder.mkdir(parents=True, exist_ok=True)
    path = args.folder / "evaluation.json"
    path.write_text(json.dumps(results) + "\n")


def film(agent, args):
    """Play one whole game and leave it as an animated picture."""
    torch.manual_seed(args.seed)
    game = Game(args.seed, args.env_id, **SERVED)
    obs = game.reset()
    screens = []
    info = None
    while info is None:
        screens.append(game.render())
        obs, _, _, info = game.step(choose(agent, obs[None])[0])
    args.folder.mkdir(parents=True, exist_ok=True)
    path = args.folder / "film.webp"
    write_film(screens, path)
    print(f"{path}: {info}")


def write_film(screens, path):
    """Write colour screens as an animated WebP, nothing lost or smoothed."""
    screens = [s.repeat(ZOOM, axis=0).repeat(ZOOM, axis=1) for s in screens]
    first, *others = map(Image.fromarray, screens)
    # The most effort, and no frame whole but the first: a quarter of the size.
    effort = dict(lossless=True, quality=100, method=6, kmin=9998, kmax=9999)
    options = dict(save_all=True, append_images=others, loop=0)
    first.save(path, duration=STEP_MILLISECONDS, **options, **effort)
