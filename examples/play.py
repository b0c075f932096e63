"""Play what has been learned, and print the scores of whole games.

    python examples/play.py                     # the published agent
    python examples/play.py runs/mine           # the agent of a run
    python examples/play.py runs/mine/checkpoint-1000448.pt
    python examples/play.py runs/mine --film    # a game, as film.mp4

An agent is judged by the raw points of whole games, in two ways: `served` as
in training, and `alone`, where it has to press FIRE itself, which it was never
taught. The settings of the games are those of the run.
"""

import dataclasses
import os
import pathlib
import random
from collections.abc import Callable
from typing import Any, NamedTuple

import cv2
import numpy as np
import torch
import tyro

import ppo
from game import Games
from run import (
    one_line,
    read_checkpoint,
    run_program,
    saved_settings,
    say,
)

PUBLISHED = pathlib.Path(__file__).with_name("breakout.pt")

WAYS: dict[str, dict[str, Any]] = {
    "served": dict(clip_reward=False),
    "alone": dict(
        clip_reward=False, on_life_loss="ignore", fire_on_reset=False
    ),
}


@dataclasses.dataclass
class Options:
    what: tyro.conf.Positional[pathlib.Path] = PUBLISHED
    """Folder of a run, one of its checkpoints, or weights of Breakout."""
    games: int = 30
    """Games to play each way; scores differ widely. DQN was judged by 30."""
    film: bool = False
    """Film one game, instead."""
    seed: int | None = None
    """Seed of the games and the sampled actions; None: as the run says."""
    device: str = "cuda" if torch.cuda.is_available() else "cpu"
    """Device that computes the network."""
    processes: int | None = None
    """Processes that play; None: one for each core, 0: this one."""


Act = Callable[[np.ndarray], list[int]]  # observations to actions


class Learned(NamedTuple):
    """What an agent does, and the settings it was trained with."""

    act: Act
    settings: ppo.GameSettings


def load(path: pathlib.Path, device: str = "cpu") -> Learned:
    """Return what a run has learned, one of its checkpoints, or weights."""
    if path.is_dir():
        path = path / "checkpoint.pt"
    say(f"weights: {path}")
    saved = read_checkpoint(path)
    if "weights" not in saved:
        saved = {"program": "ppo", "settings": {}, "weights": saved}
    load_agent = load_dqn if saved.get("program") == "dqn" else load_ppo
    with one_line(f"{path} doesn't fit"):
        return load_agent(saved, path, device)


def load_ppo(
    saved: dict[str, Any], path: pathlib.Path, device: str
) -> Learned:
    """PPO samples actions, as in training, but computes in float32."""
    settings = saved_settings(ppo.Settings, saved, path)
    settings.device = device
    settings.bfloat16 = False
    with settings.make_games(1, processes=0) as games:
        agent, _ = ppo.make_agent(settings, games)
    agent.load_state_dict(saved["weights"])

    def act(obs: np.ndarray) -> list[int]:
        policy, _ = agent(torch.as_tensor(obs, device=device))
        return policy.sample().tolist()

    return Learned(act, settings)


def load_dqn(
    saved: dict[str, Any], path: pathlib.Path, device: str
) -> Learned:
    """DQN takes the best action, and sometimes a random one, as its paper."""
    import dqn  # PPO plays without this file, too.

    settings = saved_settings(dqn.Settings, saved, path)
    with settings.make_games(1, processes=0) as games:
        network = dqn.make_network(games).to(device)
    network.load_state_dict(saved["weights"])
    return Learned(lambda obs: dqn.choose(network, obs, 0.05), settings)


@torch.no_grad()
def whole_games(
    act: Act,
    games: Games,
    seed: int,
    show: Callable[[np.ndarray], None] | None = None,
) -> list[float]:
    """Play until each game has ended once; return those scores.

    A game that has ended rests: of all the games that end by a given time, too
    many would be short. The screens of the first game go to `show`.
    """
    torch.manual_seed(seed)
    random.seed(seed)
    scores: dict[int, float] = {}
    obs, _ = games.reset(seed=seed)
    while len(scores) < games.num_envs:
        if show is not None:
            show(games.render()[0])
        actions: list[Any] = act(obs)
        for i in scores:
            actions[i] = None
        obs, *_, infos = games.step(actions)
        for i, ended in ppo.ended_games(infos).items():
            scores[i] = ended.score
            say(f"game {i}: {ended.score:.0f} points")
    return [scores[i] for i in range(games.num_envs)]


def evaluate(learned: Learned, count: int, **options: Any) -> None:
    """Play whole games in both ways and print their scores."""
    act, settings = learned
    for way, changes in WAYS.items():
        with one_line("can't play"):
            games = settings.make_games(count, **options, **changes)
        with games:
            scores = whole_games(act, games, settings.seed)
        say(
            f"{way}: mean {np.mean(scores):.1f} "
            f"({min(scores):.0f} to {max(scores):.0f})"
        )


def film(learned: Learned, path: pathlib.Path) -> None:
    """Play one whole game, as in training, and film it."""
    act, settings = learned
    # The film has its name when it is whole.
    new = path.with_name(f"{path.stem}-{os.getpid()}{path.suffix}")
    count = 0

    def show(screen: np.ndarray) -> None:
        nonlocal count
        count += 1
        picture = cv2.cvtColor(screen, cv2.COLOR_RGB2BGR)
        nearest = cv2.INTER_NEAREST
        writer.write(cv2.resize(picture, size, interpolation=nearest))

    with settings.make_games(1, processes=0, **WAYS["served"]) as games:
        games.reset()
        height, width, _ = games.render()[0].shape
        size = 2 * width, 2 * height  # Each pixel becomes four.
        rate = 60 / settings.action_repeat
        codec = cv2.VideoWriter_fourcc(*"vp09")
        with one_line(f"{path} can't be written"):
            path.parent.mkdir(parents=True, exist_ok=True)
            writer = cv2.VideoWriter(str(new), codec, rate, size)
            # OpenCV raises no errors. Nobody should wait for a game in vain.
            if path.is_dir() or not writer.isOpened():
                raise OSError("it is a folder, or OpenCV has no VP9")
            try:
                whole_games(act, games, settings.seed, show)
                writer.release()
                written = cv2.VideoCapture(str(new))
                if written.get(cv2.CAP_PROP_FRAME_COUNT) != count:
                    raise OSError("only a part could be written")
                new.replace(path)
            finally:
                writer.release()
                new.unlink(missing_ok=True)
    say(path)


def main() -> None:
    options = tyro.cli(Options, description=__doc__)
    learned = load(options.what, options.device)
    if options.seed is not None:
        learned.settings.seed = options.seed
    if options.film:
        folder = options.what if options.what.is_dir() else "runs"
        film(learned, pathlib.Path(folder, "film.mp4"))
    else:
        evaluate(learned, options.games, processes=options.processes)


if __name__ == "__main__":
    run_program(main)
