"""The clipped objective over the ratio, and a minibatch's ratios."""

import tempfile
from pathlib import Path
from typing import Any

from draw.drawing import Drawing
from paths import ROOT

# The script draws on the same axes.
LEFT, RIGHT, TOP, BOTTOM = 56, 468, 30, 250
LEAST, MOST = 0.5, 1.5  # ratios; as many units high as wide
RATIO, CLIP = 1.25, 0.1
SEED = 0
UPDATES = 5
SAMPLES = 256


def x(ratio: float) -> float:
    return LEFT + (RIGHT - LEFT) * (ratio - LEAST) / (MOST - LEAST)


def y(objective: float) -> float:
    return BOTTOM - (BOTTOM - TOP) * (objective - LEAST) / (MOST - LEAST)


def draw_clip() -> str:
    """For an advantage of 1. The script moves what has a class of its own."""
    d = Drawing(300)
    d.text(4, 18, "objective", "quiet")
    low, high = x(1 - CLIP), x(1 + CLIP)
    d.box(low, TOP, high - low, BOTTOM - TOP, "near")
    d.put("g", "bars")
    for edge, name in (low, "1 \N{MINUS SIGN} ε"), (high, "1 + ε"):
        d.line((edge, TOP), (edge, BOTTOM), kind="line edge")
        d.text(edge, TOP - 8, name, "mid edge")
    for level in LEAST, 1, MOST:
        d.text(LEFT - 8, y(level) + 5, f"{level:g}", "quiet end level")
        d.text(x(level), BOTTOM + 20, f"{level:g}", "quiet mid")
    d.line((LEFT, BOTTOM), (RIGHT, BOTTOM))
    d.text(x(1), BOTTOM + 42, "ratio ρ", "quiet mid")
    d.line((x(LEAST), y(LEAST)), (x(MOST), y(MOST)), kind="line past")
    flat = y(1 + CLIP)
    corner = (high, flat)
    d.line((x(LEAST), y(LEAST)), corner, (RIGHT, flat), kind="objective")
    d.put("path", "pull", d="M11 0h26m-8-6 8 6-8 6")
    d.put("circle", "point", cx=x(RATIO), cy=flat, r=8)
    return d.svg()


def record() -> dict[str, Any]:
    """The published agent learns on, at the rate of the middle of a training.

    Of the last update, what became of some steps, chosen at random.
    """
    import torch

    import ppo

    found: dict[str, list[float]] = {}

    def make_agent(*args: Any) -> Any:
        agent, optimizer = ppo.make_agent(*args)
        weights = torch.load(ROOT / "examples/breakout.pt", "cpu")
        agent.load_state_dict(weights)
        return agent, optimizer

    def learn(agent: Any, optimizer: Any, batch: Any, *args: Any) -> Any:
        figures = ppo.learn(agent, optimizer, batch, *args)
        torch.manual_seed(SEED)
        some = torch.randperm(len(batch.obs))[:SAMPLES]
        with torch.no_grad():
            policy, _ = agent(batch.obs[some])
        changes = policy.log_prob(batch.actions[some]) - batch.log_probs[some]
        found["ratios"] = [round(r, 3) for r in changes.exp().tolist()]
        # Their mean is taken off in each minibatch.
        gains = batch.advantages[some] - batch.advantages[some].mean()
        found["signs"] = [int(sign) for sign in gains.sign().tolist()]
        return figures

    with tempfile.TemporaryDirectory() as folder:
        settings = ppo.Settings(
            steps=UPDATES * 1024,
            learning_rate=ppo.Settings.learning_rate / 2,
            anneal=False,
            bfloat16=False,
            threads=1,
            processes=0,
            device="cpu",
            folder=Path(folder, "run"),
        )
        ppo.train(settings, make_agent, learn=learn)
    return {"clip": found}
