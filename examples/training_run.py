"""What isn't PPO in ppo.py: options, the folder of a run, evaluation, a film.

Everything goes to the folder runs/ENV_ID-SEED: curve.csv, checkpoint.pt,
film.webp. For Breakout there are trained weights, breakout.pt: where there is
no run of your own, --evaluate and --film take those.

--resume restores the weights, the optimiser, the counters and PyTorch's random
numbers (there are no others). The games themselves start anew.

On a CPU that has avx512_bf16 the network computes in bfloat16, unless it is
told not to. Beside other programs --threads 1 is best.

--evaluate takes minutes, and --film about one for a thousand steps. Ctrl-C
ends a training after the update, and leaves it to be resumed.
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
from game import Game, Games

RUNS = pathlib.Path("runs")
PUBLISHED = pathlib.Path(__file__).with_name("breakout.pt")

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
WAYS = {"served": SERVED, "alone": dict(on_life_loss="ignore", noop_max=30)}
# Scores of one agent differ widely from game to game. The mean of 30 games is
# what DQN was judged by.
GAMES = 30

UPDATES_TO_A_SAVE = 10
LAST = 100  # whole games that the score on the curve is the mean of
# What a run goes on from, beside weights, optimiser and random numbers.
COUNTERS = ["env_id", "steps", "until", "scores", "seconds"]


def main(description, make_agent, train):
    """Train, evaluate or film, as the options say.

    The network may be any that returns a distribution of actions and a value,
    `policy, value = agent(obs)`, and `train` any that counts its updates with
    a `Run`.
    """
    args = arguments(description)
    if not args.plays:
        train(args)
        return
    print(f"weights: {args.checkpoint}", flush=True)
    saved = torch.load(args.checkpoint, "cpu")
    agent = make_agent(args.actions).to(args.device)
    # The published weights lie there alone; half precision becomes float32.
    agent.load_state_dict(saved.get("weights", saved))
    if args.evaluate:
        evaluate(agent, args)
    if args.film:
        film(agent, args)


def arguments(description):
    """Return the options, or end in a line where one of them is wrong."""
    parser = argparse.ArgumentParser(
        description=description,
        epilog=__doc__,
        formatter_class=argparse.RawTextHelpFormatter,
    )
    option = parser.add_argument
    option("env_id", nargs="?", default="BreakoutNoFrameskip-v4")
    option("--steps", type=count, help="of all games; 10,000,000 unless given")
    option("--games", type=count, default=8, help="at once; 8 unless given")
    option("--seed", type=int, default=0, help="0 unless given")
    option("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    option("--bfloat16", action=argparse.BooleanOptionalAction)
    option("--threads", type=count, default=torch.get_num_threads())
    option("--resume", action="store_true", help="go on with the run")
    option("--evaluate", action="store_true", help="play 30 games in two ways")
    option("--film", action="store_true", help="play a game, as film.webp")
    args = parser.parse_args()
    try:
        game = Game(args.seed, args.env_id, **SERVED)
        torch.zeros(1, device=args.device)
    except Exception as error:  # PyTorch raises all kinds
        parser.error(error)
    if args.bfloat16 is None:
        # Elsewhere it may be slower. An older PyTorch doesn't know.
        can = getattr(torch.cpu, "get_capabilities", dict)()
        args.bfloat16 = args.device == "cpu" and can.get("avx512_bf16", False)
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
        parser.error(f"{args.folder} has a run: --resume goes on with it")
    if not trained and (args.plays or args.resume):
        parser.error(f"no {args.checkpoint} yet: train it first")
    return args


def count(text):
    """A type of options: a whole number from 1 on."""
    if int(text) < 1:
        raise ValueError
    return int(text)


def make_games(args, count, options):
    """Return games for these arguments."""
    options = dict(options, seed=args.seed, context=CONTEXT)
    return Games(count, args.env_id, **options)


@contextlib.contextmanager
def make_fleet(args, options):
    """Share the games between two `Games`, which can play in turn."""
    shares = [args.games - args.games // 2, args.games // 2]
    with contextlib.ExitStack() as stack:
        yield [
            stack.enter_context(make_games(args, count, options))
            for count in shares
            if count > 0
        ]


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
        self.env_id = args.env_id
        self.steps = 0
        self.until = 10_000_000  # where the learning rate is 0
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
        until = args.steps or self.until
        if args.resume and until != self.until:
            end = f"{until:,} steps in place of {self.until:,}"
            print(f"the run ends, and its learning rate is 0, at {end}")
        self.until = until
        print(f"{args.folder}: {self.steps:,} steps of {self.until:,}")
        self.over = self.steps >= self.until
        self.interrupted = False
        signal.signal(signal.SIGINT, self.interrupt)

    def interrupt(self, *_):
        self.interrupted = True

    def add(self, steps, scores, entropy):
        """Count an update; save after every tenth, and after the last."""
        self.steps += steps
        self.scores = [*self.scores, *scores][-LAST:]
        # Decided here alone: a run that is over has been saved.
        self.over = self.interrupted or self.steps >= self.until
        if self.steps // steps % UPDATES_TO_A_SAVE == 0 or self.over:
            self.save(entropy)

    def save(self, entropy):
        """Write what is needed to go on, and a row of the curve."""
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
    """Return the scores of the whole games that ended in a step, by index.

    Those are raw points, and stand in `final_info`, under its mask. The
    rewards of a step may be clipped, and episodes may end with each life.
    """
    ended = np.flatnonzero(infos.get("_final_info", []))
    return {i: infos["final_info"]["reward"][i].item() for i in ended}


@torch.no_grad()
def whole_games(agent, games, seed, screens=None):
    """Play until each game was over once; return those scores.

    Actions are drawn, as in training. What is to be seen goes to `screens`.
    Only the first game of each counts: of all games that end by a given time,
    too many would be short ones.
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
    """Play whole games in both ways, and print the scores."""
    for way, options in WAYS.items():
        with make_games(args, GAMES, options) as games:
            scores = whole_games(agent, games, args.seed)
        print(
            f"{way}, {options}: mean {np.mean(scores):.1f} "
            f"({min(scores):.0f} to {max(scores):.0f})",
            flush=True,
        )


def film(agent, args):
    """Play one whole game and leave it as an animated picture."""
    screens = []
    with make_games(args, 1, SERVED) as games:
        whole_games(agent, games, args.seed, screens)
    args.folder.mkdir(parents=True, exist_ok=True)
    path = args.folder / "film.webp"
    print(f"{len(screens)} steps, to be written to {path}", flush=True)
    write_film(screens, path)


def write_film(screens, path):
    """Write colour screens as an animated WebP, nothing lost or smoothed."""
    # Each pixel becomes four, so that none is smoothed.
    screens = [s.repeat(2, axis=0).repeat(2, axis=1) for s in screens]
    first, *others = map(Image.fromarray, screens)
    # The most effort, and no frame whole but the first: a quarter of the size.
    effort = dict(lossless=True, quality=100, method=6, kmin=9998, kmax=9999)
    options = dict(save_all=True, append_images=others, loop=0)
    # A step is four frames of 1/60 s.
    first.save(path, duration=67, **options, **effort)
