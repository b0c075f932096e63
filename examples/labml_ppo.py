"""Train labml's annotated PPO on `Worker`.

    pip install -r requirements.txt labml==0.4.168 labml-nn==0.5.1
    python examples/labml_ppo.py              # Breakout, 1,000,000 steps

The training is `labml_nn.rl.ppo` as it is published; only its `Worker` is that
of game.py. A lost life restarts the game, so the agent knows first lives only,
and `reward` on the screen is the mean of the last 100 of them. In the end the
weights are in runs/labml.pt.
"""

import argparse
import pathlib
import sys
from typing import Any

import torch
from labml.configs import FloatDynamicHyperParam, IntDynamicHyperParam

# In this repository game.py is one folder up; in a copy it is beside.
if not pathlib.Path(__file__).with_name("game.py").exists():
    sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))
import game


def make_trainer(steps: int) -> Any:
    """labml's trainer with the settings of its own `main`."""
    # It imports `Worker` from this module of its own.
    sys.modules["labml_nn.rl.game"] = game
    from labml_nn.rl.ppo.experiment import Trainer

    return Trainer(
        updates=-(-steps // (8 * 128)),  # rounded up
        epochs=IntDynamicHyperParam(8),
        n_workers=8,
        worker_steps=128,
        batches=4,
        value_loss_coef=FloatDynamicHyperParam(0.5),
        entropy_bonus_coef=FloatDynamicHyperParam(0.01),
        clip_range=FloatDynamicHyperParam(0.1),
        learning_rate=FloatDynamicHyperParam(1e-3, (0, 1e-3)),
    )


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=1_000_000)
    args = parser.parse_args()
    trainer = make_trainer(args.steps)
    trainer.run_training_loop()
    trainer.destroy()
    pathlib.Path("runs").mkdir(exist_ok=True)
    torch.save(trainer.model.state_dict(), "runs/labml.pt")


if __name__ == "__main__":
    main()
