"""A minibatch's ratios, which the objective is shown with."""

import tempfile
from pathlib import Path
from typing import Any

from paths import ROOT

SEED = 0
UPDATES = 5
SAMPLES = 256


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
