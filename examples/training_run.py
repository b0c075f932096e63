"""What isn't PPO in ppo.py: options, the folder of a run, evaluation, a film.

Everything goes to the folder runs/ENV_ID-SEED: curve.csv, weights.pt,
checkpoint.pt, evaluation.json, film.webp. For Breakout there are trained
weights, breakout.pt: where there is no run of your own, --evaluate and --film
take those, and write to runs/published.

--resume restores the weights, the optimiser, the counters and PyTorch's random
numbers (there are no others). The games themselves start anew.

--evaluate takes minutes, and --film about one for a thousand steps. Ctrl-C
ends a training after the update, and leaves it to be resumed.
"""

import argparse
import contextlib
import csv
import json
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

STEPS = 4_000_000
UPDATES_TO_A_SAVE = 10
LAST = 20  # whole games that the score on the curve is the mean of
# What a run goes on from, beside weights, optimiser and random numbers.
COUNTERS = ["steps", "until", "ended", "scores", "seconds", "rows"]

STEP_MILLISECONDS = 67  # of the film: a step is four frames of 1/60 s
ZOOM = 2  # of the film: each pixel becomes four, so that none is smoothed


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
    print(f"weights: {args.weights}", flush=True)
    game = Game(args.seed, args.env_id, **SERVED)
    agent = make_agent(len(game.meanings)).to(args.device)
    # half precision becomes float32
    agent.load_state_dict(torch.load(args.weights, "cpu"))
    args.folder.mkdir(parents=True, exist_ok=True)
    if args.evaluate:
        evaluate(agent, args)
    if args.film:
        film(agent, game, args)


def arguments(description):
    """Return the options, or end in a line where one of them is wrong."""
    parser = argparse.ArgumentParser(
        description=description,
        epilog=__doc__,
        formatter_class=argparse.RawTextHelpFormatter,
    )
    option = parser.add_argument
    option("env_id", nargs="?", default="BreakoutNoFrameskip-v4")
    option("--steps", type=count, help="of all games; 4,000,000 unless given")
    option("--games", type=count, default=8, help="at once; 8 unless given")
    option("--seed", type=int, default=0, help="0 unless given")
    option("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    where = "on CPUs that have avx512_bf16, unless told"
    switch = argparse.BooleanOptionalAction
    option("--bfloat16", action=switch, help=where)
    option("--threads", type=count, help="1 is best beside other programs")
    option("--resume", action="store_true", help="go on with the run")
    option("--evaluate", action="store_true", help="play 30 games in two ways")
    option("--film", action="store_true", help="play a game, as film.webp")
    args = parser.parse_args()
    try:
        Game(args.seed, args.env_id, **SERVED)
        torch.zeros(1, device=args.device)
    except Exception as error:  # PyTorch raises all kinds
        parser.error(error)
    if args.bfloat16 is None:
        # Elsewhere it may be slower. An older PyTorch doesn't know.
        can = getattr(torch.cpu, "get_capabilities", dict)()
        args.bfloat16 = args.device == "cpu" and can.get("avx512_bf16", False)
    args.threads = args.threads or torch.get_num_threads()
    torch.set_num_threads(args.threads)

    args.plays = args.evaluate or args.film
    args.folder = RUNS / f"{args.env_id}-{args.seed}".replace("/", "-")
    args.weights = args.folder / "weights.pt"
    trained = args.weights.exists()
    if args.plays and not trained and "Breakout" in args.env_id:
        args.folder = RUNS / "published"
        args.weights = PUBLISHED
        trained = args.weights.exists()
    if trained and not (args.plays or args.resume):
        parser.error(f"{args.folder} has a run: --resume goes on with it")
    if not trained and (args.plays or args.resume):
        parser.error(f"no {args.weights} yet: train it first")
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
        self.updates = 0
        self.steps = 0
        self.until = args.steps or STEPS  # where the learning rate is 0
        self.ended = 0  # whole games
        self.scores = []  # of the last of them
        self.seconds = dict.fromkeys(["games", "network", "learning"], 0.0)
        self.rows = []  # of the curve
        args.folder.mkdir(parents=True, exist_ok=True)
        if args.resume:
            self.resume()
        print(f"{args.folder}: {self.steps:,} steps of {self.until:,}")
        self.over = self.steps >= self.until
        self.interrupted = False
        signal.signal(signal.SIGINT, self.interrupt)

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
        score = np.mean(self.scores or 0).item()
        row = {"steps": self.steps, **self.seconds, "ended": self.ended}
        row |= {"entropy": entropy, "score": score}
        self.rows.append({name: round(x, 3) for name, x in row.items()})
        with open(self.args.folder / "curve.csv", "w", newline="") as file:
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
        files = {"checkpoint.pt": checkpoint, "weights.pt": weights}
        for name, data in files.items():
            # A crash while writing must not leave half a file.
            new = self.args.folder / "new.pt"
            torch.save(data, new)
            new.replace(self.args.folder / name)
        speed = self.steps / sum(self.seconds.values())
        print(
            f"{self.steps:,} steps, {speed:,.0f} a second, "
            f"{self.ended} games, score {score:.1f}, entropy {entropy:.2f}",
            flush=True,
        )

    def resume(self):
        """Restore what `save` wrote."""
        saved = torch.load(self.args.folder / "checkpoint.pt", "cpu")
        for name in COUNTERS:
            setattr(self, name, saved["state"][name])
        if self.args.steps not in (None, self.until):
            end = f"{self.args.steps:,} steps in place of {self.until:,}"
            print(f"the run ends, and its learning rate is 0, at {end}")
            self.until = self.args.steps
        self.agent.load_state_dict(saved["weights"])
        self.optimizer.load_state_dict(saved["optimizer"])
        torch.set_rng_state(saved["random"])
        torch.cuda.set_rng_state_all(saved["random_on_gpus"])


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
                print(f"game {i}: {score:.0f} points", flush=True)
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


def film(agent, game, args):
    """Play one whole game and leave it as an animated picture."""
    torch.manual_seed(args.seed)
    obs = game.reset()
    screens = []
    info = None
    while info is None:
        screens.append(game.render())
        obs, _, _, info = game.step(choose(agent, obs[None])[0])
    path = args.folder / "film.webp"
    print(f"{info}, to be written to {path}", flush=True)
    write_film(screens, path)


def write_film(screens, path):
    """Write colour screens as an animated WebP, nothing lost or smoothed."""
    screens = [s.repeat(ZOOM, axis=0).repeat(ZOOM, axis=1) for s in screens]
    first, *others = map(Image.fromarray, screens)
    # The most effort, and no frame whole but the first: a quarter of the size.
    effort = dict(lossless=True, quality=100, method=6, kmin=9998, kmax=9999)
    options = dict(save_all=True, append_images=others, loop=0)
    first.save(path, duration=STEP_MILLISECONDS, **options, **effort)
