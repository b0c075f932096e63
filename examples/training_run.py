"""What isn't PPO in ppo.py: options, checkpoints, evaluation, films.

A run writes to the folder runs/ENV_ID-SEED: curve.csv, checkpoint.pt and
film.webp. Ctrl-C, or the SIGTERM of a batch system, ends a training after the
current update. --resume restores the weights, the optimiser, the counters and
PyTorch's random state; the games themselves start anew.

--evaluate takes a few minutes, --film one for a thousand steps. Without a run
of your own, both play Breakout with the published weights, breakout.pt.

On a CPU with avx512_bf16 the network computes in bfloat16, or not with
--no-bfloat16. Beside other programs, --threads 1 is by far the fastest.
"""

import argparse
import contextlib
import pathlib
import signal
import sys
import time

import numpy as np
import torch
from PIL import Image

# In this repository game.py lies one folder up; copied, it lies beside.
sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))
from game import TRAINING, Game, Games

RUNS = pathlib.Path("runs")
PUBLISHED = pathlib.Path(__file__).with_name("breakout.pt")

# An agent is judged by the raw points of whole games, in two ways: "served" as
# in training, and "alone", where it has to press FIRE itself, which it was
# never taught.
SERVED = dict(TRAINING, clip_reward=False)
ALONE = dict(SERVED, on_life_loss="ignore", fire_on_reset=False)
WAYS = {"served": SERVED, "alone": ALONE}
# One agent's scores differ widely between games. DQN was judged by 30.
GAMES = 30

UPDATES_PER_SAVE = 10
LAST = 100  # whole games whose mean is the curve's score, as in CleanRL
# Saved beside the weights, the optimiser and the random state.
COUNTERS = ["env_id", "steps", "until", "scores", "seconds"]


def main(description, make_agent, train):
    """Train, evaluate or film, as the options say.

    Any network will do that returns `policy, value = agent(obs)`, and any
    `train` that reports its updates to a `Run`.
    """
    args = arguments(description)
    if not args.plays:
        train(args)
        return
    print(f"weights: {args.checkpoint}", flush=True)
    saved = torch.load(args.checkpoint, "cpu")
    agent = make_agent(args.actions).to(args.device)
    # breakout.pt holds only the weights. Half precision becomes float32.
    agent.load_state_dict(saved.get("weights", saved))
    if args.evaluate:
        evaluate(agent, args)
    if args.film:
        film(agent, args)


def arguments(description):
    """Return the options, or exit with a message if one of them is wrong."""
    parser = argparse.ArgumentParser(
        description=description,
        epilog=__doc__,
        formatter_class=argparse.RawTextHelpFormatter,
    )
    option = parser.add_argument
    option("env_id", nargs="?", default="BreakoutNoFrameskip-v4")
    option("--steps", type=count, help="of all games; default 10,000,000")
    option("--games", type=count, default=8, help="at once; default 8")
    option("--seed", type=int, default=0, help="default 0")
    option("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    option("--bfloat16", action=argparse.BooleanOptionalAction)
    option("--threads", type=count, default=torch.get_num_threads())
    option("--resume", action="store_true", help="continue the run")
    option("--evaluate", action="store_true", help="play 30 games in two ways")
    option("--film", action="store_true", help="play one as film.webp")
    args = parser.parse_args()
    try:
        game = Game(args.seed, args.env_id, **SERVED)
        args.device = torch.device(args.device)
        torch.zeros(1, device=args.device)
    except Exception as error:  # PyTorch raises all kinds
        parser.error(error)
    if args.bfloat16 is None:
        # Elsewhere it may be slower. An older PyTorch can't tell.
        can = getattr(torch.cpu, "get_capabilities", dict)()
        fast = can.get("avx512_bf16", False)
        args.bfloat16 = fast and args.device.type == "cpu"
    torch.set_num_threads(args.threads)

    args.actions = len(game.meanings)
    args.plays = args.evaluate or args.film
    args.folder = RUNS / f"{args.env_id}-{args.seed}".replace("/", "-")
    args.checkpoint = args.folder / "checkpoint.pt"
    published = args.plays and "Breakout" in args.env_id
    if published and not args.checkpoint.exists():
        args.checkpoint = PUBLISHED
    trained = args.checkpoint.exists()
    if trained and not (args.plays or args.resume):
        parser.error(f"{args.folder} has a run: --resume continues it")
    if not trained and (args.plays or args.resume):
        parser.error(f"no {args.checkpoint} yet: train it first")
    return args


def count(text):
    """Read a positive integer from the command line."""
    if int(text) < 1:
        raise ValueError
    return int(text)


@contextlib.contextmanager
def timed(seconds, part):
    """Add the time that a block takes to `seconds[part]`."""
    start = time.perf_counter()
    yield
    seconds[part] += time.perf_counter() - start


class Run:
    """The progress of a training, and the folder that keeps it.

    With --resume it starts from the checkpoint there. Ctrl-C and SIGTERM wait
    for the end of an update, so that a checkpoint holds whole ones.
    """

    def __init__(self, args, agent, optimizer):
        self.args = args
        self.agent = agent
        self.optimizer = optimizer
        self.env_id = args.env_id
        self.steps = 0
        self.until = 10_000_000  # steps at which the learning rate is 0
        self.scores = []  # of the last whole games
        self.seconds = dict.fromkeys(["games", "network", "learning"], 0.0)
        self.curve = args.folder / "curve.csv"
        if args.resume:
            saved = torch.load(args.checkpoint, "cpu")
            vars(self).update(saved["state"])
            agent.load_state_dict(saved["weights"])
            optimizer.load_state_dict(saved["optimizer"])
            torch.set_rng_state(saved["random"])
            torch.cuda.set_rng_state_all(saved["random_on_gpus"])
        else:
            args.folder.mkdir(parents=True, exist_ok=True)
            columns = "steps", *self.seconds, "entropy", "score"
            self.curve.write_text(",".join(columns) + "\n")
        self.until = args.steps or self.until
        print(f"{args.folder}: {self.steps:,} steps of {self.until:,}")
        self.over = self.steps >= self.until
        self.interrupted = False
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self.interrupt)

    def interrupt(self, *_):
        self.interrupted = True

    def add(self, steps, scores, entropy):
        """Count an update; save after every tenth and after the last."""
        self.steps += steps
        self.scores = [*self.scores, *scores][-LAST:]
        # Set here only, so that a run that is over has always been saved.
        self.over = self.interrupted or self.steps >= self.until
        if self.steps // steps % UPDATES_PER_SAVE == 0 or self.over:
            self.save(entropy)

    def save(self, entropy):
        """Write a checkpoint to resume from, and a row of the curve."""
        checkpoint = {
            "weights": self.agent.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "random": torch.get_rng_state(),
            "random_on_gpus": torch.cuda.get_rng_state_all(),
            "state": {name: getattr(self, name) for name in COUNTERS},
        }
        # A crash while writing must not leave half a file.
        new = self.args.folder / "new.pt"
        torch.save(checkpoint, new)
        new.replace(self.args.checkpoint)
        score = np.mean(self.scores or 0).item()
        row = self.steps, *self.seconds.values(), entropy, score
        with self.curve.open("a") as file:
            print(*[round(x, 3) for x in row], sep=",", file=file)
        speed = self.steps / sum(self.seconds.values())
        line = f"{self.steps:,} steps, {speed:,.0f} steps/s, score {score:.1f}"
        print(line, flush=True)


def final_scores(infos):
    """Return the scores of the whole games that ended in a step, by index."""
    ended = np.flatnonzero(infos.get("_episode", []))
    return {i: infos["episode"]["r"][i].item() for i in ended}


@torch.no_grad()
def whole_games(agent, games, seed, screens=None):
    """Play until each game has ended once; return those scores.

    Actions are sampled, as in training, and the screens go to `screens`. Only
    the first game of each counts: of all the games that end by a given time,
    too many would be short.
    """
    torch.manual_seed(seed)
    device = next(agent.parameters()).device
    first = {}
    obs, _ = games.reset(seed=seed)
    while len(first) < games.num_envs:
        if screens is not None:
            screens += games.render()
        policy, _ = agent(torch.as_tensor(obs, device=device))
        actions = policy.sample().cpu().numpy()
        obs, *_, infos = games.step(actions)
        for i, score in final_scores(infos).items():
            if i not in first:
                first[i] = score
                print(f"game {i}: {score:.0f} points", flush=True)
    return [first[i] for i in sorted(first)]


def evaluate(agent, args):
    """Play whole games in both ways and print their scores."""
    for way, options in WAYS.items():
        with Games(GAMES, args.env_id, **options) as games:
            scores = whole_games(agent, games, args.seed)
        print(
            f"{way}, {options}: mean {np.mean(scores):.1f} "
            f"({min(scores):.0f} to {max(scores):.0f})",
            flush=True,
        )


def film(agent, args):
    """Play one whole game and write it as an animated picture."""
    screens = []
    with Games(1, args.env_id, **SERVED) as games:
        whole_games(agent, games, args.seed, screens)
    args.folder.mkdir(parents=True, exist_ok=True)
    path = args.folder / "film.webp"
    print(f"{len(screens)} steps, being written to {path}", flush=True)
    write_film(screens, path)


def write_film(screens, path):
    """Write colour screens as an animated WebP, without any loss."""
    # Each pixel becomes four, so that viewers don't blur it.
    screens = [s.repeat(2, axis=0).repeat(2, axis=1) for s in screens]
    first, *others = map(Image.fromarray, screens)
    # With the most effort and only one key frame it is a quarter of the size.
    effort = dict(lossless=True, quality=100, method=6, kmin=9998, kmax=9999)
    options = dict(save_all=True, append_images=others, loop=0)
    # A step is four frames of 1/60 s.
    first.save(path, duration=67, **options, **effort)
