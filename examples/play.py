"""Play what has been learned, and print the scores of whole games.

    python examples/play.py                     # the published agent
    python examples/play.py runs/mine           # the agent of a run
    python examples/play.py runs/mine/checkpoint-1000448.pt
    python examples/play.py runs/mine --film    # a game, as film.mp4
    python examples/play.py runs/mine --json scores.json

An agent is judged by the raw points of whole games, with the settings of its
training: by default FIRE is pressed for it after each life, which is called
`served`. The agent is made by `load` in the program of the run, a file beside
this one or in the folder of the run.
"""

import dataclasses
import importlib
import json
import pathlib
import random
import sys
from collections.abc import Callable
from typing import Any, NamedTuple

import cv2
import numpy as np
import torch
import tyro

import ppo
import run
from games import Games
from run import Learned, RunError, one_line

PUBLISHED = pathlib.Path(__file__).with_name("breakout.pt")


@dataclasses.dataclass
class Options:
    what: tyro.conf.Positional[pathlib.Path] = PUBLISHED
    """Folder of a run, one of its checkpoints, or weights of Breakout."""
    games: int = 30
    """Games to play; scores differ widely. DQN was judged by 30."""
    film: bool = False
    """Film one game, instead."""
    json: pathlib.Path | None = None
    """File for each game's score, and how it was played."""
    seed: int | None = None
    """Seed of the games and the sampled actions; None: as the run says."""
    device: str = "cuda" if torch.cuda.is_available() else "cpu"
    """Device that computes the network."""
    processes: int | None = None
    """Processes that play; None: one for each core, 0: this one."""


class Played(NamedTuple):
    """A whole game that was played."""

    score: float
    length: float
    cut_off: bool  # by the limit of its frames


def find(path: pathlib.Path) -> pathlib.Path:
    """Return the file of a run's last checkpoint, or what is a file."""
    return path / "checkpoint.pt" if path.is_dir() else path


def load(path: pathlib.Path, device: str = "cpu") -> Learned:
    """Return what a run has learned, one of its checkpoints, or weights."""
    path = find(path)
    saved = run.read_checkpoint(path)
    print(f"weights: {path}", flush=True)
    if "weights" not in saved:
        saved = {"program": "ppo", "settings": {}, "weights": saved}
    with one_line(f"{path} doesn't fit"):
        name = str(saved["program"])
        file = run.find_program(name, path.parent)
        program: Any = None
        if file:
            sys.path.append(str(file.parent))
            program = importlib.import_module(name)
        if not hasattr(program, "load"):
            raise RunError(
                f"{path} needs {name}.py, with `load`, beside play.py or it"
            )
        return program.load(saved, path, device)


@torch.no_grad()
def whole_games(
    act: Callable[[np.ndarray, np.ndarray], list[int]],
    games: Games,
    seed: int,
    show: Callable[[np.ndarray], None] | None = None,
    scored: str = "game",
) -> list[Played]:
    """Play until each game has ended once, and return those.

    A game that has ended rests: of all the games that end by a given time, too
    many would be short.

    Args:
        act: Chooses the actions, as `Learned` has it.
        games: Games to play.
        seed: Seed of the games and the sampled actions.
        show: Gets the screens of the first game.
        scored: What a game is called.
    """
    torch.manual_seed(seed)
    random.seed(seed)
    played: dict[int, Played] = {}
    obs, _ = games.reset(seed=seed)
    starts = np.ones(games.num_envs, bool)
    while len(played) < games.num_envs:
        if show is not None:
            show(games.render()[0])
        actions: list[Any] = act(obs, starts)
        for i in played:
            actions[i] = None
        obs, _, terminated, truncated, infos = games.step(actions)
        starts = terminated | truncated
        for i, ended in ppo.ended_games(infos).items():
            played[i] = Played(*ended, bool(truncated[i]))
            end = ", cut off" if truncated[i] else ""
            print(f"{scored} {i}: {ended.score:.0f} points{end}", flush=True)
    return [played[i] for i in range(games.num_envs)]


def evaluate(learned: Learned, options: Options) -> dict[str, Any]:
    """Play whole games; print their scores and return them."""
    act, settings = learned
    with one_line("can't play"):
        games = settings.make_games(options.games, processes=options.processes)
    with games:
        served = settings.fire_on_reset and "FIRE" in games.meanings
        played = whole_games(act, games, settings.seed, scored=settings.scored)
    way = "served" if served else "played"
    scores = [game.score for game in played]
    cut_off = [game.cut_off for game in played]
    what = "" if settings.scored == "game" else f", each a {settings.scored}"
    end = f", cut off: {sum(cut_off)} of {len(played)}" if any(cut_off) else ""
    print(
        f"{way}{what}: mean {np.mean(scores):.1f} "
        f"({min(scores):.0f} to {max(scores):.0f}){end}",
        flush=True,
    )
    return {
        "weights": str(find(options.what)),
        "settings": settings.kept(),
        "about": run.describe(settings),
        "scored": settings.scored,
        "scores": {way: scores},
        "cut_off": {way: cut_off},
    }


def film(learned: Learned, path: pathlib.Path) -> None:
    """Play one whole game, as in training, and film it."""
    act, settings = learned
    with settings.make_games(1, processes=0) as games:
        games.reset()
        height, width, _ = games.render()[0].shape
        size = 2 * width, 2 * height  # Each pixel becomes four.
        rate = 60 / settings.action_repeat
        codec = cv2.VideoWriter_fourcc(*"vp09")
        path.parent.mkdir(parents=True, exist_ok=True)
        writer = cv2.VideoWriter(str(path), codec, rate, size)
        # OpenCV raises no errors. Nobody should wait for a game in vain.
        if not writer.isOpened():
            raise RunError(f"{path} can't be written, or OpenCV has no VP9")

        def show(screen: np.ndarray) -> None:
            picture = cv2.cvtColor(screen, cv2.COLOR_RGB2BGR)
            nearest = cv2.INTER_NEAREST
            writer.write(cv2.resize(picture, size, interpolation=nearest))

        print("plays a whole game, and films it", flush=True)
        whole_games(act, games, settings.seed, show)
        writer.release()
    print(path)


def main() -> None:
    """Play, as the command line says."""
    options = tyro.cli(Options, description=__doc__)
    learned = load(options.what, options.device)
    if options.seed is not None:
        learned.settings.seed = options.seed
    if options.film:
        folder = options.what if options.what.is_dir() else "runs"
        film(learned, pathlib.Path(folder, "film.mp4"))
        return
    result = evaluate(learned, options)
    if options.json:
        run.write(options.json, json.dumps(result, indent=1).encode())


if __name__ == "__main__":
    run.run_program(main)
