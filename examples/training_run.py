"""What isn't PPO in ppo.py: options, the folder of a run, evaluation, a film.

`main` does what the options say, with any network that returns a distribution
of actions and a value, `policy, value = agent(obs)`, and with any training
that counts its updates with a `Run`.
"""

import argparse
import contextlib
import csv
import json
import os
import pathlib
import signal
import sys
import tempfile
import time

import gymnasium as gym
import numpy as np
import torch
from PIL import Image

# In this repository game.py lies one folder up; copied, it lies beside.
sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))
from game import Game, Games

HERE = pathlib.Path(__file__).resolve().parent

RUNS = pathlib.Path("runs")
SEEDS = 2**63  # PyTorch takes those below
FILES = """\
Everything goes to a folder of the run, runs/ENV_ID-SEED unless --run names
another: curve.csv, weights.pt, checkpoint.pt, evaluation.json, film.webp. For
Breakout there are trained weights, breakout.pt: where there is no run of your
own, --evaluate and --film take those, and write to runs/published.

--resume restores the weights, the optimiser, the counters and PyTorch's random
numbers (there are no others). The games themselves start anew.

--evaluate takes minutes, and --film about one for a thousand steps. Ctrl-C
ends a training after the update, and leaves it to be resumed.
"""

# Beside PyTorch's threads a process that is forked may hang. A server that has
# none forks them instead, as from Python 3.14 on.
CONTEXT = "forkserver" if sys.platform == "linux" else None

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

STEPS = 10_000_000
UPDATES_TO_A_SAVE = 10
LAST = 20  # whole games that the score on the curve is the mean of
# What a run goes on from, beside weights, optimiser and random numbers.
COUNTERS = ["steps", "until", "ended", "scores", "seconds", "rows"]

STEP_MILLISECONDS = 67  # of the film: a step is four frames of 1/60 s
ZOOM = 2  # of the film: each pixel becomes four, so that none is smoothed


def main(description, make_agent, train):
    """Train, evaluate or film, as the options say."""
    args = arguments(description)
    try:
        if args.evaluate:
            evaluate(trained(args, make_agent), args)
        elif args.film:
            film(trained(args, make_agent), args)
        else:
            train(args)
    except KeyboardInterrupt:
        stop("interrupted", code=130)


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
    steps = "of all games; 10,000,000 unless given, or as the run has it"
    option("--steps", type=int, help=steps)
    option("--games", type=int, default=8, help="at once; 8 unless given")
    option("--seed", type=int, default=0, help="0 unless given")
    option("--run", type=pathlib.Path, help="the run's folder")
    option("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    bfloat16 = "faster where the processor has avx512_bf16, slower elsewhere"
    option("--bfloat16", action="store_true", help=bfloat16)
    threads = "of PyTorch; 1 is the fastest where other programs run beside"
    option("--threads", type=int, help=threads)
    option("--resume", action="store_true", help="go on with the run")
    both = "play 30 whole games served, and 30 alone"
    option("--evaluate", action="store_true", help=both)
    option("--film", action="store_true", help="play one, as film.webp")
    args = parser.parse_args()
    if args.steps is not None and args.steps < 1:
        stop(f"--steps: expected 1 or more, got {args.steps}")
    if args.threads is not None and args.threads < 1:
        stop(f"--threads: expected 1 or more, got {args.threads}")
    if not 0 <= args.seed < SEEDS:
        stop(f"--seed: expected 0 to {SEEDS - 1}, got {args.seed}")
    try:
        torch.zeros(1, device=args.device)
    except (AssertionError, RuntimeError):
        stop(f"--device: PyTorch finds no {args.device} here")
    name = f"{args.env_id}-{args.seed}".replace("/", "-")
    args.folder = args.run or RUNS / name
    if args.folder.exists() and not args.folder.is_dir():
        stop(f"--run: {args.folder} is not a folder")
    if args.resume and not (args.folder / "checkpoint.pt").exists():
        stop(f"nothing to resume in {args.folder}")
    files = [args.folder / name for name in ("weights.pt", "checkpoint.pt")]
    exists = any(path.exists() for path in files)
    if exists and not (args.resume or args.evaluate or args.film):
        stop(f"{args.folder} has a run: --resume goes on, --run names another")
    if args.threads:
        torch.set_num_threads(args.threads)
    return args


def stop(line, code=2):
    """End with a line and not with a traceback."""
    print(f"{pathlib.Path(sys.argv[0]).name}: {line}", file=sys.stderr)
    sys.exit(code)


def make(kind, *args, **options):
    """Return a `Game` or `Games`, or end with a line on what is wrong."""
    try:
        return kind(*args, **options)
    except (gym.error.Error, ImportError, TypeError, ValueError) as error:
        stop(error)


def make_games(args, count, options):
    """Return games for these arguments."""
    options = dict(options, seed=args.seed, context=CONTEXT)
    return make(Games, count, args.env_id, **options)


def make_folder(args):
    """Make the run's folder, or end with a line if it can't be written to."""
    try:
        args.folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=args.folder):
            pass
    except OSError as error:
        stop(f"--run: {error}")


def load(args, path):
    """Return what was saved, or end with a line if it can't be read."""
    try:
        # without `weights_only` a file could run any code
        return torch.load(path, args.device, weights_only=True)
    # PyTorch raises all kinds of errors at what it hasn't written.
    except Exception as error:
        stop(f"{path} can't be read: {error!r}")


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

    With --resume it goes on from the checkpoint there. From here on Ctrl-C
    waits for the end of the update, so that all is of one piece.
    """

    def __init__(self, args, agent, optimizer):
        self.args = args
        self.agent = agent
        self.optimizer = optimizer
        self.updates = 0
        self.steps = 0
        self.until = args.steps or STEPS  # where the learning rate is 0
        self.ended = 0  # whole games
        self.scores = []  # of the last of them
        self.seconds = dict.fromkeys(["games", "network", "learning"], 0.0)
        self.rows = []  # of the curve
        make_folder(args)
        if args.resume:
            self.resume()
        self.over = self.steps >= self.until
        self.interrupted = False
        signal.signal(signal.SIGINT, self.interrupt)

    def __str__(self):
        steps = f"{self.steps:,} steps of {self.until:,}"
        return f"{self.args.folder}: {steps}; --resume goes on"

    def interrupt(self, *_):
        self.interrupted = True

    def add(self, steps, scores, entropy):
        """Count an update; save after every tenth, and after the last."""
        self.updates += 1
        self.steps += steps
        self.ended += len(scores)
        self.scores = [*self.scores, *scores][-LAST:]
        # Decided here alone: a run that is over has been saved.
        self.over = self.interrupted or self.steps >= self.until
        if self.updates % UPDATES_TO_A_SAVE == 0 or self.over:
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
        saved = load(self.args, self.args.folder / "checkpoint.pt")
        check_title(self.args, saved["state"])
        for name in COUNTERS:
            setattr(self, name, saved["state"][name])
        if self.args.steps not in (None, self.until):
            end = f"{self.args.steps:,} steps in place of {self.until:,}"
            print(f"the run ends, and its learning rate is 0, at {end}")
            self.until = self.args.steps
        self.agent.load_state_dict(saved["weights"])
        self.optimizer.load_state_dict(saved["optimizer"])
        torch.set_rng_state(saved["random"].cpu())
        on_gpus = [each.cpu() for each in saved["random_on_gpus"]]
        torch.cuda.set_rng_state_all(on_gpus)


def trained(args, make_agent):
    """Return the agent of the run, or the published one."""
    path = args.folder / "weights.pt"
    if not path.exists() and args.run is None and "Breakout" in args.env_id:
        path = HERE / "breakout.pt"
        args.folder = RUNS / "published"
    if not path.exists():
        stop(f"nothing trained in {args.folder} yet: train it first")
    checkpoint = args.folder / "checkpoint.pt"
    if checkpoint.exists():
        check_title(args, load(args, checkpoint)["state"])
    game = make(Game, args.seed, args.env_id)
    agent = make_agent(len(game.meanings)).to(args.device)
    try:
        # half precision becomes float32
        agent.load_state_dict(load(args, path))
    except (RuntimeError, TypeError):
        stop(f"{path} has other weights than an agent for {args.env_id}")
    print(f"weights: {path}", flush=True)
    make_folder(args)
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
            if i not in first:
                first[i] = score
                over = f"{len(first)} of {games.num_envs} games"
                print(f"{over}: {score:.0f} points", flush=True)
    return [first[i] for i in sorted(first)]


def evaluate(agent, args):
    """Play whole games in both ways; print the scores and write them down."""
    results = {}
    for way, options in WAYS.items():
        with make_games(args, GAMES, options) as games:
            scores = results[way] = whole_games(agent, games, args.seed)
        print(
            f"{way}: {len(scores)} games, {np.mean(scores):.1f} points "
            f"({min(scores):.0f} to {max(scores):.0f}) with {options}",
            flush=True,
        )
        path = args.folder / "evaluation.json"
        path.write_text(json.dumps(results) + "\n")


def film(agent, args):
    """Play one whole game and leave it as an animated picture."""
    torch.manual_seed(args.seed)
    game = make(Game, args.seed, args.env_id, **SERVED)
    obs = game.reset()
    screens = []
    info = None
    while info is None:
        screens.append(game.render())
        obs, _, _, info = game.step(choose(agent, obs[None])[0])
    path = args.folder / "film.webp"
    print(f"{len(screens):,} steps, to be written to {path}", flush=True)
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
