"""Play what has been learned, and print the scores of whole games.

    python examples/play.py                     # the published agent
    python examples/play.py runs/mine           # the agent of a run
    python examples/play.py runs/mine/checkpoint-1000448.pt
    python examples/play.py runs/mine --film    # a game, as film.mp4
    python examples/play.py runs/mine --json scores.json

An agent is judged by the raw points of whole games, in two ways: `served`, as
in training, where FIRE is pressed for it, and `alone`, where it has to press
FIRE itself, which it was never taught. The settings of the games are those of
the run, but for those that the command line names. The agent is made by `load`
in the program of the run, a file beside this one or in the folder of the run.
"""

import dataclasses
import importlib
import json
import pathlib
import random
import sys
from collections.abc import Callable
from typing import Any, Literal

import cv2
import numpy as np
import torch
import tyro

import ppo
import run
from games import Games
from run import Learned, RunError, Seed, Share, Whole, one_line

PUBLISHED = pathlib.Path(__file__).with_name("breakout.pt")

WAYS: dict[str, dict[str, Any]] = {
    "served": dict(clip_reward=False),
    "alone": dict(
        clip_reward=False, on_life_loss="ignore", fire_on_reset=False
    ),
}


@dataclasses.dataclass
class Protocol(run.Options):
    """Options of the games; what is None is as the run and the way say."""

    on_life_loss: Literal["restart", "continue", "ignore"] | None = None
    """What a lost life does to the episode."""
    noop_max: Whole | None = None
    """The most frames without an action at the start of a game."""
    fire_on_reset: bool | None = None
    """Hold FIRE for one step before each episode."""
    repeat_action_probability: Share | None = None
    """How often the console repeats an action, which is called sticky."""
    max_num_frames_per_episode: int | None = None
    """Frames after which a game is cut off."""

    def given(self) -> dict[str, Any]:
        """Return the options that are not None."""
        names = [field.name for field in dataclasses.fields(Protocol)]
        values = {name: getattr(self, name) for name in names}
        return {name: v for name, v in values.items() if v is not None}


@dataclasses.dataclass
class Options(Protocol):
    what: tyro.conf.Positional[pathlib.Path] = PUBLISHED
    """Folder of a run, one of its checkpoints, or weights of Breakout."""
    games: int = 30
    """Games to play each way; scores differ widely. DQN was judged by 30."""
    most_likely: bool = False
    """Take the most likely action in place of a sampled one."""
    explore: Share | None = None
    """Share of random actions; None: as the run says, if it is of dqn.py."""
    json: pathlib.Path | None = None
    """File for each game's score, and the protocol."""
    film: bool = False
    """Film one game, instead."""
    seed: Seed | None = None
    """Seed of the games and the sampled actions; None: as the run says."""
    device: str = "cuda" if torch.cuda.is_available() else "cpu"
    """Device that computes the network."""
    processes: Whole | None = None
    """Processes that play; None: one for each core, 0: this one."""


def find(path: pathlib.Path) -> pathlib.Path:
    """Return the file of a run's last checkpoint, or what is a file."""
    return path / "checkpoint.pt" if path.is_dir() else path


def load(path: pathlib.Path, device: str = "cpu") -> Learned:
    """Return what a run has learned, one of its checkpoints, or weights."""
    with one_line(f"--device {device} can't be used"):
        torch.zeros(1, device=device)
    path = find(path)
    saved = run.read_checkpoint(path)
    print(f"weights: {path}", flush=True)
    if "weights" not in saved:
        saved = {"program": "ppo", "settings": {}, "weights": saved}
    with one_line(f"{path} doesn't fit"):
        name = str(saved["program"])
        folders = [PUBLISHED.parent, path.resolve().parent]
        files = [folder / f"{name}.py" for folder in folders]
        # A checkpoint mustn't choose from all modules that Python finds.
        if not name.isidentifier() or not any(
            map(pathlib.Path.is_file, files)
        ):
            raise RunError(
                f"{path} is of {name}.py, which is neither beside play.py nor "
                "beside the checkpoint"
            )
        sys.path.append(str(folders[1]))
        program = importlib.import_module(name)
        if not hasattr(program, "load"):
            raise RunError(f"{path} is of {name}.py, which has no `load`")
        return program.load(saved, path, device)


@torch.no_grad()
def whole_games(
    act: Callable[..., list[int]],
    games: Games,
    seed: int,
    show: Callable[[np.ndarray], None] | None = None,
    scored: str = "game",
    explore: float = 0.0,
    **how: Any,
) -> list[float]:
    """Play until each game has ended once; return those scores.

    A game that has ended rests: of all the games that end by a given time, too
    many would be short. The screens of the first game go to `show`. A share of
    the actions, `explore`, is random. Other options go to `act`.
    """
    torch.manual_seed(seed)
    random.seed(seed)
    scores: dict[int, float] = {}
    obs, _ = games.reset(seed=seed)
    while len(scores) < games.num_envs:
        if show is not None:
            show(games.render()[0])
        actions: list[Any] = act(obs, **how)
        for i in range(games.num_envs):
            if random.random() < explore:
                actions[i] = random.randrange(len(games.meanings))
        for i in scores:
            actions[i] = None
        obs, *_, infos = games.step(actions)
        for i, ended in ppo.ended_games(infos).items():
            scores[i] = ended.score
            print(f"{scored} {i}: {ended.score:.0f} points", flush=True)
    return [scores[i] for i in range(games.num_envs)]


def protocols(
    learned: Learned, given: dict[str, Any]
) -> dict[str, dict[str, Any]]:
    """Return the options of the games, by the ways to play them."""
    settings = learned.settings
    names = [field.name for field in dataclasses.fields(ppo.GameOptions)]
    own = {name: getattr(settings, name) for name in names}
    served, alone = (own | changes | given for changes in WAYS.values())
    with settings.make_games(1, processes=0) as games:
        has_fire = "FIRE" in games.meanings
    if not has_fire:
        return {"played": served}
    ways = {}
    if served["fire_on_reset"]:
        ways["served"] = served
    if not alone["fire_on_reset"]:
        ways["alone"] = alone
    return ways


def evaluate(learned: Learned, options: Options) -> dict[str, Any]:
    """Play whole games in each way; print their scores and return them."""
    act, settings = learned
    ways = protocols(learned, options.given())
    how: Any = dict(explore=options.explore, most_likely=options.most_likely)
    scored = {}
    scores = {}
    for way, protocol in ways.items():
        with one_line("can't play"):
            judged = dataclasses.replace(settings, **protocol)
            games = judged.make_games(
                options.games, processes=options.processes
            )
        scored[way] = judged.scored
        with games:
            scores[way] = whole_games(
                act, games, judged.seed, scored=judged.scored, **how
            )
        what = "" if judged.scored == "game" else f", each a {judged.scored}"
        print(
            f"{way}{what}: mean {np.mean(scores[way]):.1f} "
            f"({min(scores[way]):.0f} to {max(scores[way]):.0f})",
            flush=True,
        )
    return {
        "weights": str(find(options.what)),
        "env_id": settings.env_id,
        "seed": settings.seed,
        **how,
        "about": run.describe(settings),
        "protocols": ways,
        "scored": scored,
        "scores": scores,
    }


def film(learned: Learned, path: pathlib.Path, options: Options) -> None:
    """Play one whole game, as in training, and film it."""
    act, settings = learned
    new = path.with_name(f"{path.stem}-new{path.suffix}")  # until it is whole
    changes = WAYS["served"] | options.given()
    with settings.make_games(1, processes=0, **changes) as games:
        games.reset()
        height, width, _ = games.render()[0].shape
        size = 2 * width, 2 * height  # Each pixel becomes four.
        rate = 60 / settings.action_repeat
        codec = cv2.VideoWriter_fourcc(*"vp09")
        path.parent.mkdir(parents=True, exist_ok=True)
        writer = cv2.VideoWriter(str(new), codec, rate, size)
        # OpenCV raises no errors. Nobody should wait for a game in vain.
        if path.is_dir() or not writer.isOpened():
            raise RunError(f"{path} can't be written, or OpenCV has no VP9")

        def show(screen: np.ndarray) -> None:
            picture = cv2.cvtColor(screen, cv2.COLOR_RGB2BGR)
            nearest = cv2.INTER_NEAREST
            writer.write(cv2.resize(picture, size, interpolation=nearest))

        print("plays a whole game, and films it", flush=True)
        how: Any = dict(
            explore=options.explore, most_likely=options.most_likely
        )
        whole_games(act, games, settings.seed, show, **how)
        writer.release()
    new.replace(path)
    print(path)


def main() -> None:
    """Play, as the command line says."""
    options = tyro.cli(Options, description=__doc__)
    learned = load(options.what, options.device)
    if options.seed is not None:
        learned.settings.seed = options.seed
    if options.explore is None:
        options.explore = getattr(learned.settings, "explore", 0.0)
    if options.film:
        folder = options.what if options.what.is_dir() else "runs"
        film(learned, pathlib.Path(folder, "film.mp4"), options)
        return
    result = evaluate(learned, options)
    if options.json:
        run.write(options.json, json.dumps(result, indent=1).encode())


if __name__ == "__main__":
    run.run_program(main)
