"""Train one agent by PPO on several GPUs, or by several processes.

    torchrun --nproc-per-node 2 examples/several_gpus.py --folder runs/both

Each process plays `--games` games of its own and learns from them; gradients
are averaged, so all have the same weights. The first process keeps the run,
whose steps are those of each process.
"""

import os
import pathlib
import shutil
import signal
import tempfile
from typing import Any

import torch
import torch.distributed as dist

import ppo
from run import RunError, read_settings, run_program


def average(weight: torch.Tensor) -> None:
    """Average a weight's gradient over all processes."""
    dist.all_reduce(weight.grad)
    weight.grad /= dist.get_world_size()


def make_agent(settings: ppo.Settings, games: ppo.Games) -> tuple[Any, Any]:
    """Make ppo.py's agent; the seed gives it the same weights everywhere."""
    agent, optimizer = ppo.make_agent(settings, games)
    for weight in agent.parameters():
        weight.register_post_accumulate_grad_hook(average)
    return agent, optimizer


class Player(ppo.Player):
    """Plays other games in each process, which all end after one update."""

    def __init__(
        self,
        agent: ppo.Agent,
        games: ppo.Games,
        settings: ppo.Settings,
        seed: int,
    ) -> None:
        other = seed + dist.get_rank() * settings.games
        super().__init__(agent, games, settings, other)
        self.asked = 0.0
        self.note: Any = None

    def play(self) -> Any:
        if self.note is None:  # that of the run
            self.note = signal.signal(signal.SIGTERM, self.ask)
        device = next(self.agent.parameters()).device
        asked = torch.tensor(self.asked, device=device)
        dist.all_reduce(asked)
        if asked:
            self.note(signal.SIGTERM, None)
        return super().play()

    def ask(self, *_: Any) -> None:
        self.asked = 1.0


def main() -> None:
    """Train, as the command line says."""
    settings = read_settings(ppo.Settings, __doc__)
    if settings.folder is None:
        raise RunError("expected the --folder of the run")
    rank = int(os.environ["LOCAL_RANK"])
    on_gpus = settings.device == "cuda"
    if on_gpus:
        settings.device = f"cuda:{rank}"
        torch.cuda.set_device(rank)
    dist.init_process_group("nccl" if on_gpus else "gloo")
    with tempfile.TemporaryDirectory() as scratch:
        checkpoint = settings.folder / "checkpoint.pt"
        if rank > 0:
            settings.folder = pathlib.Path(scratch)
            if checkpoint.exists():
                shutil.copy(checkpoint, scratch)
        dist.barrier()
        ppo.train(settings, make_agent=make_agent, player=Player)


if __name__ == "__main__":
    run_program(main)
