"""Train an agent with PPO on all machines of a Ray cluster.

    pip install -r requirements.txt ray torch tensorboard tyro
    ray start --head                         # on the first machine
    ray start --address FIRST_MACHINE:6379   # on each of the others
    python examples/ray_ppo.py --actors 16   # on the first; it finds the rest

Without a cluster Ray starts one of this machine's cores. The learner and its
settings, checkpoints and curves are those of ppo.py: an actor plays
`--games` games, so that 4 actors learn from updates 4 times as large. With one
actor the weights are ppo.py's, bit for bit.

It is for a few actors. All wait while the learner learns from what all have
played, so from about four actors on, beside a learner on a CPU, IMPALA makes
more of them: there nobody waits. RLlib has it.

The packages have to be installed on all machines; these files go along. An
actor that dies, or whose machine does, or that doesn't answer for `--patience`
seconds, costs one update its part, and a new one is started where there is
room. What actors print and warn is shown here.
"""

import dataclasses
import inspect
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import ray
import torch
from ray.exceptions import GetTimeoutError, ObjectLostError, RayActorError
from torch import Tensor

import ppo
import run
from ppo import Games
from run import Ended, Run


@dataclasses.dataclass
class Settings(ppo.Settings):
    actors: int = 2
    """Actors that play, each so many games."""
    cores: int = 1
    """Cores of each actor."""
    patience: float = 60
    """Seconds for an actor to play its part of an update."""
    address: str | None = None
    """Address of the cluster; None: this machine's, or a new one."""


MOST_DEATHS = 3  # of an actor in a row, without an update
LAST_SECONDS = 5  # that the training waits once it is asked to end


class Actor:
    """Plays in a process of its own, on some machine of the cluster."""

    # Not in `__init__`: an error in there would look like a death.
    def start(self, settings: Settings, seed: int) -> str:
        """Make the games and the network; return where they are."""
        torch.set_num_threads(1)
        # With one core nobody would play at the same time.
        processes = settings.cores if settings.cores > 1 else 0
        self._games = settings.make_games(settings.games, processes=processes)
        # The learner's device is no concern of the games.
        settings = dataclasses.replace(settings, device="cpu")
        agent, _ = ppo.make_agent(settings, self._games)
        self._player = ppo.Player(agent, self._games, settings, seed)
        return ray.util.get_node_ip_address()

    def play(
        self, weights: dict[str, np.ndarray]
    ) -> tuple[list[np.ndarray], list[Ended]]:
        """Play for an update with these weights."""
        # What comes from the object store can't be written to.
        self._player.agent.load_state_dict(
            {name: torch.tensor(array) for name, array in weights.items()}
        )
        batch, ended = self._player.play()
        return [column.numpy() for column in batch], ended


class Actors:
    """All actors: those that play, and those that are still to start."""

    def __init__(
        self,
        settings: Settings,
        random: torch.Generator,
        asked: Callable[[], bool] = lambda: False,
    ) -> None:
        """Start them; once `asked` to end, they wait for nobody for long."""
        self._settings = settings
        self._random = random
        self._asked = asked
        # Ray isn't asked to restart them, since a new one needs a new seed.
        self._make = ray.remote(num_cpus=settings.cores)(Actor)
        self._handles: dict[int, Any] = {}
        self._starting: dict[Any, int] = {}  # by the answer that is awaited
        self.playing: list[int] = []
        self._deaths = dict.fromkeys(range(settings.actors), 0)
        for i in self._deaths:
            self._start(i)

    def _start(self, i: int) -> None:
        """Start an actor, as soon as a machine has room for it."""
        seed = torch.randint(2**31, (), generator=self._random).item()
        self._handles[i] = self._make.remote()
        answer = self._handles[i].start.remote(self._settings, seed)
        self._starting[answer] = i

    def _replace(self, i: int, error: ray.exceptions.RayError) -> None:
        """Say that an actor is lost, and start another one, unless it ends."""
        # One that doesn't answer would keep its core.
        ray.kill(self._handles[i])
        if self._asked():
            return
        self._deaths[i] += 1
        if self._deaths[i] > MOST_DEATHS:
            raise error
        warnings.warn(
            f"actor {i} is lost, {self._deaths[i]} in a row, and is started "
            f"again where there is room: {error}",
            RuntimeWarning,
            stacklevel=3,
        )
        self._start(i)

    def _wait(self, answers: list[Any], count: int, seconds: float) -> Any:
        """Wait for so many of the answers; return those that have come."""
        end = time.monotonic() + seconds
        while True:
            ready, _ = ray.wait(
                answers, num_returns=count, timeout=min(1, seconds)
            )
            now = time.monotonic()
            if self._asked():
                end = min(end, now + LAST_SECONDS)
            if len(ready) == count or now >= end:
                return ready

    def welcome(self, count: int, seconds: float) -> None:
        """Wait for so many actors to start; let those play that have."""
        answers = list(self._starting)
        count = min(count, len(answers))
        if count == 0:
            return
        for answer in self._wait(answers, count, seconds):
            i = self._starting.pop(answer)
            try:
                run.say(f"actor {i} plays on {ray.get(answer)}")
                self.playing.append(i)
            except RayActorError as error:
                self._replace(i, error)
        if self._starting and seconds:
            run.say(f"{len(self._starting)} actors wait for room")

    def play(
        self, weights: dict[str, Tensor]
    ) -> tuple[list[list[np.ndarray]], list[Ended]]:
        """Let all play an update; return what each has played."""
        sent = ray.put({name: w.cpu().numpy() for name, w in weights.items()})
        calls = {i: self._handles[i].play.remote(sent) for i in self.playing}
        if calls:
            answers = list(calls.values())
            self._wait(answers, len(answers), self._settings.patience)
        parts = []
        ended = []
        for i, call in calls.items():
            try:
                columns, games = ray.get(call, timeout=0)
            # What it has played may be lost with its machine, too.
            except (RayActorError, ObjectLostError, GetTimeoutError) as error:
                self.playing.remove(i)
                self._replace(i, error)
                continue
            self._deaths[i] = 0
            parts.append(columns)
            ended += games
        return parts, ended


def start_ray(**options: Any) -> None:
    """Connect to a cluster, or start one; these files go along."""
    modules = [inspect.getfile(each) for each in (Games, Run, ppo, Actor)]
    ray.init(runtime_env={"py_modules": modules}, **options)


def train(settings: Settings) -> None:
    """Train until all steps are played; save as it goes."""
    if settings.threads:
        torch.set_num_threads(settings.threads)
    with run.one_line("can't begin"):
        with settings.make_games(1, processes=0) as games:
            agent, optimizer = ppo.make_agent(settings, games)
        # Ray notes SIGTERM, too, but the training does so last.
        start_ray(address=settings.address)
        training = Run(settings, weights=agent, optimizer=optimizer)
    with training:
        actors = Actors(settings, training.random, lambda: training.asked)
        # At first all are waited for, but for a minute only.
        actors.welcome(settings.actors, seconds=60)
        figures: dict[str, float] = {}
        while not training.over:
            if actors.playing:
                actors.welcome(settings.actors, seconds=0)
            else:
                actors.welcome(1, seconds=10)
            ppo.set_rate(optimizer, settings, training)
            played, ended = actors.play(agent.state_dict())
            steps = 0
            if played:
                batch = join(played, settings.device)
                steps = len(batch.obs)
                figures = ppo.learn(
                    agent, optimizer, batch, settings, training.random
                )
            # A signal ends it, whether anybody has played or not.
            if played or training.asked:
                training.add(steps, ended, figures)
    ray.shutdown()


def join(parts: list[list[np.ndarray]], device: str) -> ppo.Batch:
    """Make one batch of what several actors have played."""
    return ppo.Batch(
        *(
            torch.as_tensor(np.concatenate(columns), device=device)
            for columns in zip(*parts, strict=True)
        )
    )


def main() -> None:
    """Train, as the command line says."""
    train(run.read_settings(Settings, __doc__))


if __name__ == "__main__":
    run.run_program(main)
