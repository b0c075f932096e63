"""Train labml's annotated PPO on the games of this project.

The training is `labml_nn.rl.ppo` as it is published, nothing of it changed,
with the settings of its own `main`; only the module that it takes its `Worker`
from is another. Needs the packages of train.txt.

    python examples/labml_ppo.py run                   # on this project's Worker
    python examples/labml_ppo.py run --worker labml    # on one that does as labml's
    python examples/labml_ppo.py compare               # how fast each of them samples
    python examples/labml_ppo.py film                  # how the trained agent plays

A run writes its curve to train-….csv beside this file as it goes, and the
weights to a folder outside the project. Started again after it was ended, it
goes on from the weights saved last; its games begin anew. What ran where and
when, and what came out, is in train.json.
"""

import argparse
import collections
import contextlib
import csv
import datetime
import json
import multiprocessing
import os
import pathlib
import platform
import re
import statistics
import sys
import time
import types
from importlib import metadata

ROOT = pathlib.Path(__file__).resolve().parents[1]
RESULTS, DOCS = ROOT / "measure/results", ROOT / "docs"
sys.path.insert(0, str(ROOT))
CACHE = os.environ.get("XDG_CACHE_HOME", pathlib.Path.home() / ".cache")
WEIGHTS = pathlib.Path(CACHE) / "breakout-annotated"
PACKAGES = "ale-py gymnasium labml labml-nn numpy opencv-python torch".split()
COLUMNS = ["steps", "seconds", "sampling", "training", "episodes", "reward",
           "length"]
UPDATES_TO_A_ROW = 10
LAST = 100  # episodes that the curve is the mean of
GAMES = 10  # that the trained agent is judged by
FILM_STEPS = 600  # at most: 40 seconds at the speed of the console


# ## Two workers for one trainer


class Labml:
    """A worker that does what labml's original one does."""

    def __init__(self, seed):
        from contenders import labml_worker

        self.child, remote = multiprocessing.Pipe()
        args = remote, seed, "Breakout", "restart"
        self.process = multiprocessing.Process(
            target=labml_worker, args=args, daemon=True)
        self.process.start()


class Watched:
    """A worker, and a note of each episode that ends in it."""

    def __init__(self, worker, ended):
        self.worker, self.ended, self.child = worker, ended, self
        self.episodes = 0

    def send(self, message):
        self.worker.child.send(message)

    def recv(self):
        answer = self.worker.child.recv()
        if answer[3]:
            self.ended.append(answer[3])
            self.episodes += 1
        return answer


def labml_ppo(worker):
    """Import labml's PPO, with one of our modules in place of its games."""
    import game

    ours = types.SimpleNamespace(Worker=Labml) if worker == "labml" else game
    sys.modules["labml_nn.rl.game"] = ours
    from labml_nn.rl.ppo import experiment

    experiment.Worker = ours.Worker  # also for a second trainer
    return experiment


def make_trainer(worker):
    """labml's trainer with the settings of its own `main`."""
    from labml.configs import FloatDynamicHyperParam as Float
    from labml.configs import IntDynamicHyperParam as Int

    return labml_ppo(worker).Trainer(
        updates=10_000, epochs=Int(8), n_workers=8, worker_steps=128,
        batches=4, value_loss_coef=Float(0.5), entropy_bonus_coef=Float(0.01),
        clip_range=Float(0.1), learning_rate=Float(1e-3, (0, 1e-3)))


def forget():
    """Let go of what labml's tracker holds, without its line of output."""
    from labml import tracker

    with open(os.devnull, "w") as null, contextlib.redirect_stdout(null):
        tracker.save()


# ## Training


def run(worker, steps, seed):
    """Train for `steps` steps of all games together, from where it stands."""
    import torch

    curve = RESULTS / f"train-{worker}.csv"
    weights = WEIGHTS / f"train-{worker}-{seed}.pt"
    WEIGHTS.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(seed)
    trainer, ended = make_trainer(worker), collections.deque(maxlen=LAST)
    trainer.workers = [Watched(one, ended) for one in trainer.workers]
    # The same numbers in another order in memory: a CPU is faster with them.
    order = dict(memory_format=torch.channels_last)
    trainer.model.to(**order)
    row, played = dict.fromkeys(COLUMNS, 0), 0
    if weights.exists():
        saved = torch.load(weights, weights_only=False)
        trainer.model.load_state_dict(saved["model"])
        trainer.optimizer.load_state_dict(saved["optimizer"])
        row, played = saved["row"], saved["row"]["episodes"]
        ended.extend(saved["ended"])
    else:
        with curve.open("w", newline="") as file:
            csv.writer(file).writerow(COLUMNS)
    update = 0
    while row["steps"] < steps:
        started = time.perf_counter()
        samples = trainer.sample()
        sampled = time.perf_counter()
        samples["obs"] = samples["obs"].contiguous(**order)
        trainer.train(samples)
        trained = time.perf_counter()
        forget()
        update += 1
        row["steps"] += trainer.batch_size
        row["seconds"] += trained - started
        row["sampling"] += sampled - started
        row["training"] += trained - sampled
        if update % UPDATES_TO_A_ROW == 0 or row["steps"] >= steps:
            new = sum(one.episodes for one in trainer.workers)
            row["episodes"] = played + new
            row["reward"] = statistics.fmean(e["reward"] for e in ended)
            row["length"] = statistics.fmean(e["length"] for e in ended)
            partial = weights.with_suffix(".part")
            torch.save({
                "model": trainer.model.state_dict(),
                "optimizer": trainer.optimizer.state_dict(),
                "row": row, "ended": list(ended)}, partial)
            with curve.open("a", newline="") as file:
                csv.writer(file).writerow(
                    round(row[name], 3) for name in COLUMNS)
            partial.replace(weights)
            print(row, flush=True)
    trainer.destroy()
    note(f"run {worker}", seed=seed, steps=row["steps"])


def compare(rounds):
    """Let trainers on both workers sample in turn; say how long each took.

    Sampling is 128 steps of eight games, the network's choices included.
    """
    trainers = {name: make_trainer(name) for name in ("ours", "labml")}
    seconds = []
    for i in range(rounds + 1):
        seconds.append({})
        for name in sorted(trainers, reverse=i % 2):
            started = time.perf_counter()
            trainers[name].sample()
            seconds[-1][name] = round(time.perf_counter() - started, 4)
        forget()
    seconds = seconds[1:]  # the first was to warm up
    for trainer in trainers.values():
        trainer.destroy()
    ratios = [one["labml"] / one["ours"] for one in seconds]
    print(f"sampling is {statistics.median(ratios):.2f} times as fast"
          f" ({min(ratios):.2f}–{max(ratios):.2f})")
    note("compare", seconds=seconds)


# ## The trained agent


def film(seed):
    """Play whole games with the trained agent; film the first of them."""
    import torch
    from game import Game, Games
    from PIL import Image

    ppo = labml_ppo("ours")
    saved = torch.load(WEIGHTS / f"train-ours-{seed}.pt", weights_only=False)
    model = ppo.Model()
    model.load_state_dict(saved["model"])
    torch.manual_seed(seed)

    @torch.no_grad()
    def trained(obs):
        return model(ppo.obs_to_torch(obs))[0].sample().numpy()

    def by_chance(obs):
        return torch.randint(4, [len(obs)]).numpy()

    scores = {}
    for act in trained, by_chance:
        with Games(GAMES, seed=seed, on_life_loss="ignore") as games:
            (obs, _), first = games.reset(), {}
            while len(first) < GAMES:
                obs, *_, infos = games.step(act(obs))
                for i, ended in enumerate(infos.get("_final_info", [])):
                    if ended:
                        score = infos["final_info"]["reward"][i]
                        first.setdefault(i, score)
        scores[act.__name__] = list(first.values())
        print(act.__name__, statistics.fmean(scores[act.__name__]))

    game = Game(seed, on_life_loss="ignore")
    obs, screens, info = game.reset(), [game.render()], None
    while info is None:
        obs, _, _, info = game.step(trained(obs[None])[0])
        screens.append(game.render())
    images = [Image.fromarray(one) for one in screens[:FILM_STEPS]]
    images[0].save(
        DOCS / "agent.webp", save_all=True, append_images=images[1:], loop=0,
        duration=round(4000 / 60), lossless=True, quality=100, method=6)
    print(f"filmed {len(images)} of {len(screens)} steps, {info}")
    note("film", seed=seed, steps=saved["row"]["steps"], scores=scores,
         filmed={"steps": len(images), "of": len(screens)} | info)


def note(section, **results):
    """Write to train.json what ran, where and when, and its results."""
    import torch

    path, cpuinfo = RESULTS / "train.json", pathlib.Path("/proc/cpuinfo")
    known = cpuinfo.read_text() if cpuinfo.exists() else ""
    cpu = re.findall("model name.*: (.*)", known) or [platform.machine()]
    data = json.loads(path.read_text()) if path.exists() else {}
    data[section] = {
        "processor": cpu[0], "cores": os.cpu_count(),
        "threads": torch.get_num_threads(),
        "python": platform.python_version(),
        "versions": {name: metadata.version(name) for name in PACKAGES},
        "date": datetime.date.today().isoformat()} | results
    path.write_text(json.dumps(data, indent=1) + "\n")


def main():
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["run", "compare", "film"])
    parser.add_argument("--worker", choices=["ours", "labml"], default="ours")
    parser.add_argument("--steps", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--rounds", type=int, default=20)
    args = parser.parse_args()
    if args.what == "run":
        run(args.worker, args.steps, args.seed)
    elif args.what == "compare":
        compare(args.rounds)
    else:
        film(args.seed)


if __name__ == "__main__":
    main()
