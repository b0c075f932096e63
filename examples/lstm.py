"""PPO with a memory: an agent that sees one picture, and remembers others.

    pip install -r requirements.txt torch tensorboard tyro
    python examples/lstm.py                      # Breakout
    python examples/lstm.py --folder runs/lstm   # begin there, or continue
    python examples/play.py runs/lstm

A single picture doesn't show where a ball flies. The agent of ppo.py sees four
at once. This one sees the newest, and an LSTM between its layers keeps a state
from step to step (Hochreiter and Schmidhuber 1997). Copy this file beside
ppo.py and its companions. What it changes there, as CleanRL's
`ppo_atari_lstm.py` does:

1. The state of a game ends with its episode: while the agent plays, learns and
   is judged.
2. A minibatch has whole games. Their steps are learned from in order,
   beginning with the state that they had when the update began.
3. An observation is one picture (`stack`).

A run that is continued begins new games, so the state isn't saved.
"""

import dataclasses
import functools
import pathlib
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn
from torch.distributions import Categorical

import ppo
from run import Ended, Learned, read_settings, run_program

SIZE = 128  # numbers that the LSTM hands on to the policy and the value


@dataclasses.dataclass
class Settings(ppo.Settings):
    """The settings of ppo.py, but for the pictures."""

    program = "lstm"

    stack: int = 1
    """Pictures in an observation."""


# ## The network


class Agent(ppo.Agent):
    """The network of ppo.py, with an LSTM before the policy and the value."""

    def __init__(self, actions: int, *options: Any) -> None:
        super().__init__(actions, *options)
        # What the LSTM makes of a picture, and of its own last output.
        self.seen = ppo.layer(nn.Linear(512, 4 * SIZE), gain=1)
        self.kept = ppo.layer(nn.Linear(SIZE, 4 * SIZE), gain=1)
        self.policy = ppo.layer(nn.Linear(SIZE, actions), gain=0.01)
        self.value = ppo.layer(nn.Linear(SIZE, 1), gain=1)

    def remember(
        self, obs: Tensor, starts: Tensor, state: Tensor
    ) -> tuple[Categorical, Tensor, Tensor]:
        """See one or more steps of some games, in order.

        Args:
            obs: Observations, `uint8 (steps * games, 1, 84, 84)`: all games of
                the first step, then all of the second.
            starts: Whether an episode begins with each of them.
            state: What the LSTM knows of each game, `(2, games, 128)`.

        Returns:
            The policy and the values, a row for each observation, and the
            state after the last step.
        """
        scaled = self.scale(obs)
        half = self.dtype is torch.bfloat16
        with torch.autocast(scaled.device.type, torch.bfloat16, half):
            hidden = self.body(scaled.movedim(3, 1)).float()
        # All pictures are seen at once, but the LSTM takes them step by step:
        # each step needs the state that the one before has left.
        games = state.shape[1]
        output, cell = state
        outputs = []
        for seen, start in zip(
            self.seen(hidden).split(games), starts.split(games), strict=True
        ):
            # An episode begins with a state of zeros.
            output = output * ~start[:, None]
            cell = cell * ~start[:, None]
            gates = (seen + self.kept(output)).chunk(4, 1)
            add, forget, show = (gate.sigmoid() for gate in gates[:3])
            cell = forget * cell + add * gates[3].tanh()
            output = show * cell.tanh()
            outputs.append(output)
        hidden = torch.cat(outputs)
        value = self.value(hidden).squeeze(1)
        policy = Categorical(logits=self.policy(hidden), validate_args=False)
        return policy, value, torch.stack([output, cell])


make_agent = functools.partial(ppo.make_agent, kind=Agent)


# ## Playing


class Batch(NamedTuple):
    """What was played for an update, and what the memory began with."""

    played: ppo.Batch
    starts: Tensor  # (steps * games,): whether an episode begins
    state: Tensor  # (2, games, 128), before the first step

    @property
    def obs(self) -> Tensor:
        return self.played.obs


class Player(ppo.Player):
    """Plays games, and keeps their state from one update to the next."""

    def __init__(self, agent: Agent, games: Any, *others: Any) -> None:
        super().__init__(agent, games, *others)
        self.state = torch.zeros(2, games.num_envs, SIZE, device=self.device)

    def look(self, obs: Tensor) -> tuple[Categorical, Tensor]:
        """See the next observations."""
        self.begun.append(self.starts)
        policy, values, self.state = self.agent.remember(
            obs, self.starts, self.state
        )
        # Until the step is played, no episode has ended.
        self.starts = torch.zeros_like(self.starts)
        return policy, values

    def value(self, obs: Tensor, which: Tensor) -> Tensor:
        """Return the values of observations that aren't played from."""
        _, values, _ = self.agent.remember(
            obs, self.starts[which], self.state[:, which]
        )
        return values

    def play(self) -> tuple[Batch, list[Ended]]:
        """Play for an update; return the steps, and the games that ended."""
        before = self.state
        self.begun: list[Tensor] = []
        batch, ended = super().play()
        return Batch(batch, torch.cat(self.begun), before), ended


# ## Learning


def learn(
    agent: Agent,
    optimizer: torch.optim.Optimizer,
    batch: Batch,
    settings: Settings,
    random: torch.Generator,
) -> dict[str, float]:
    """Learn from a batch; return figures to watch."""
    agent.train()
    games = batch.state.shape[1]
    rows = torch.arange(len(batch.obs)).view(-1, games)  # (steps, games)
    count = max(1, settings.minibatch // len(rows))
    for _ in range(settings.epochs):
        figures = []
        # A minibatch has all steps of some games, in the order of the steps.
        for part in torch.randperm(games, generator=random).split(count):
            index = rows[:, part].flatten().to(batch.obs.device)
            sample = ppo.Batch(*(column[index] for column in batch.played))
            policy, values, _ = agent.remember(
                sample.obs, batch.starts[index], batch.state[:, part]
            )
            loss, shown = ppo.losses(policy, values, sample, settings)
            ppo.improve(agent, optimizer, loss, settings)
            figures.append(shown)
        if settings.target_kl is not None and shown[3] > settings.target_kl:
            break
    return ppo.summary(figures, batch.played, optimizer)


# #### Loading a checkpoint, and the command line


def load(
    saved: dict[str, Any],
    path: pathlib.Path,
    device: str,
    kind: type[Settings] = Settings,
) -> Learned:
    """Return what a checkpoint has learned, for play.py."""
    agent, settings = ppo.restore(saved, path, device, kind, make_agent)
    state = torch.zeros(2, 0, SIZE)

    def act(obs: np.ndarray, starts: np.ndarray) -> list[int]:
        nonlocal state
        if starts.all():
            state = torch.zeros(2, len(obs), SIZE, device=device)
        policy, _, state = agent.remember(
            torch.as_tensor(obs, device=device),
            torch.as_tensor(starts, device=device),
            state,
        )
        return policy.sample().tolist()

    return Learned(act, settings)


def train(settings: Settings) -> None:
    """Train until all steps are played, or a signal comes."""
    ppo.train(settings, make_agent, Player, learn)


def main() -> None:
    """Train, as the command line says."""
    train(read_settings(Settings, __doc__))


if __name__ == "__main__":
    run_program(main)
