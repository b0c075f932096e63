"""A beginner's first lives, and the best part of the published agent's game.

The beginner has learned for a hundredth of the time. Train one before it is
recorded: `python examples/ppo.py --steps 204_800 --folder runs/young`.
"""

from dataclasses import asdict
from typing import Any

from paths import ROOT

MOST = 600  # steps that are recorded
YOUNG = ROOT / "runs/young/checkpoint.pt"
FEW = 62  # steps of the beginner


def record() -> dict[str, Any]:
    import torch

    from published import agent, agent_of, film, play

    saved = torch.load(YOUNG, "cpu")
    moments, info = play(agent_of(saved["weights"]))
    young = film(moments, info, 0, FEW, saved["state"]["steps"])

    moments, info = play(agent())
    points = [moment.decision["reward"] for moment in moments]
    start = max(
        range(len(points) - MOST + 1),
        key=lambda at: sum(points[at : at + MOST]),
    )
    trained = film(moments, info, start, MOST)
    return {"young": asdict(young), "agent": asdict(trained)}
