"""The published agent's weights, for the pages.

`python page/build.py --record weights` makes site/data/network.js of
examples/breakout.pt. That takes PyTorch, so a build leaves this file alone.

Each output channel has a scale, and its weights are whole numbers. The layer
with 1.6 million weights has 8 bits for each, the others, which are small, 16:
with 8 bits everywhere the value would be wrong by up to 0.24.
"""

import base64
import json
from typing import Any

import numpy as np

from paths import ROOT

SOURCE = "examples/breakout.pt"
LARGE = 1_000_000  # weights, of a layer that has 8 bits for each


def script() -> str:
    """Return the text of the script that has the weights."""
    import torch

    given = torch.load(ROOT / SOURCE, "cpu")
    arrays = {name: part.float().numpy() for name, part in given.items()}
    names = sorted(name.rpartition(".")[0] for name in arrays)
    layers = {name: layer(name, arrays) for name in names}
    text = json.dumps(layers, separators=(",", ":"))
    head = f"// Made by page/build.py --record weights of {SOURCE}."
    return f"{head}\ngiven.network = {text};\n"


def layer(name: str, arrays: dict[str, np.ndarray]) -> dict[str, Any]:
    """Return a layer, its weights as text."""
    weight = arrays[f"{name}.weight"]
    kind = np.int8 if weight.size > LARGE else np.int16
    flat = weight.reshape(len(weight), -1)
    scale = np.abs(flat).max(axis=1) / np.iinfo(kind).max
    whole = np.round(flat / scale[:, None]).astype(kind)
    return {
        "bias": rounded(arrays[f"{name}.bias"]),
        "scale": rounded(scale),
        "bits": 8 * whole.itemsize,
        "weight": base64.b64encode(whole.tobytes()).decode(),
    }


def rounded(numbers: np.ndarray) -> list[float]:
    return [float(f"{number:.6g}") for number in numbers]
