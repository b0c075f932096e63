"""Export the published agent's weights for the page.

    python page/live/weights.py  # examples/breakout.pt to weights.npz

Each output channel has a scale, and its weights are whole numbers. The layer
with 1.6 million weights has 8 bits for each, the others, which are small, 16:
with 8 bits everywhere the value would be wrong by up to 0.24.
"""

import base64
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

WEIGHTS = Path(__file__).with_name("weights.npz")
LARGE = 1_000_000  # weights, of a layer that has 8 bits for each
PARTS = 8  # scripts that the weights are loaded by, to tell how far it is


def export() -> None:
    """Write the layers of `examples/breakout.pt` to weights.npz."""
    import torch

    from paths import ROOT

    given = torch.load(ROOT / "examples/breakout.pt", "cpu")
    arrays: dict[str, np.ndarray] = {}
    for name in [key for key in given if key.endswith("weight")]:
        layer = name.removesuffix(".weight")
        weight = given[name].float().numpy()
        arrays |= quantized(layer, weight)
        arrays[f"{layer}.bias"] = given[f"{layer}.bias"].float().numpy()
    np.savez_compressed(WEIGHTS, **arrays)  # type: ignore[arg-type]


def quantized(layer: str, weight: np.ndarray) -> dict[str, np.ndarray]:
    """Return the weights as whole numbers, and the scale of each channel."""
    kind = np.int8 if weight.size > LARGE else np.int16
    flat = weight.reshape(len(weight), -1)
    scale = np.abs(flat).max(axis=1) / np.iinfo(kind).max
    whole = np.round(flat / scale[:, None]).astype(kind)
    return {f"{layer}.weight": whole, f"{layer}.scale": scale}


def parts() -> Iterator[tuple[str, str]]:
    """Yield the names and texts of the scripts that the page loads."""
    text = json.dumps(layers(), separators=(",", ":"))
    size = -(-len(text) // PARTS)
    for number in range(PARTS):
        part = text[number * size : (number + 1) * size]
        yield f"network{number}", json.dumps(part)


def layers() -> dict[str, dict[str, Any]]:
    """Return the layers by their names, their weights as text."""
    with np.load(WEIGHTS) as arrays:
        named = {name: arrays[name] for name in sorted(arrays)}
    found: dict[str, dict[str, Any]] = {}
    for name, array in named.items():
        layer, _, part = name.rpartition(".")
        entry = found.setdefault(layer, {})
        if part == "weight":
            entry["bits"] = 8 * array.itemsize
            entry["weight"] = base64.b64encode(array.tobytes()).decode()
        else:
            entry[part] = [float(f"{number:.6g}") for number in array]
    return found


if __name__ == "__main__":
    import sys

    sys.path.append(str(Path(__file__).resolve().parents[1]))
    export()
