"""The agent's network, with what its layers make of one observation."""

from typing import Any

import numpy as np

from drawing import Drawing, bright
from figures.looks.make import ASKED
from recordings import pack, read, read_film, unpack

ACTIONS = "NOOP", "FIRE", "RIGHT", "LEFT"
LAST = 16, 32  # how the 512 numbers of the last layer are drawn


def record() -> dict[str, Any]:
    """What each layer gives, after its ReLU. Its brightest number is 255."""
    import torch

    from published import agent, play

    moments, _ = play(agent())
    obs = moments[read_film("agent/agent").start + ASKED].obs
    layer = torch.as_tensor(obs[None]) / 255
    layers = []
    for module in agent().body:
        layer = module(layer).detach()
        if isinstance(module, torch.nn.ReLU):
            shades = (255 * layer / layer.max()).round().byte().numpy()
            pictures = shades[0] if shades.ndim == 4 else shades.reshape(LAST)
            size = pictures.shape[-2:]
            packed = pack(pictures.reshape(-1, *size))
            layers.append({"size": size, "pictures": packed})
    return {"network": layers}


def mosaic(pictures: np.ndarray, columns: int) -> np.ndarray:
    """Small pictures in rows, with gray lines between them."""
    between = [(0, 0), (0, 1), (0, 1)]
    framed = np.pad(pictures, between, constant_values=20)
    _, height, width = framed.shape
    rows = framed.reshape(-1, columns, height, width).swapaxes(1, 2)
    return rows.reshape(-1, columns * width)[:-1, :-1]


def draw() -> str:
    film = read_film("agent/agent")
    decision = film.decisions[ASKED]
    d = Drawing(316, large=True)
    for i, picture in enumerate(unpack(film.frames, 84, 84)[ASKED:][:4]):
        d.image(4 + 8 * i, 10 + 8 * i, 84, 84, bright(picture), "line")
    d.text(4, 150, "4 pictures")
    for layer, x, middle, below, columns, scale, words in zip(
        read("network/network"),
        (148, 356, 4, 136),
        (65, 65, 236, 236),
        (150, 150, 306, 306),
        (8, 8, 8, 1),
        (1, 1.48, 1.48, 4),
        ("32 of 20×20", "64 of 9×9", "64 of 7×7", "512 numbers"),
        strict=True,
    ):
        pictures = unpack(layer["pictures"], *layer["size"])
        shades = 255 * np.sqrt(mosaic(pictures, columns) / 255)
        high, wide = (scale * side for side in shades.shape)
        top = middle - high / 2
        d.image(x, top, wide, high, shades.astype(np.uint8))
        d.text(x, below, words)
    d.arrow((118, 65), (142, 65))
    d.arrow((320, 65), (350, 65))
    d.arrow((415, 156), (415, 166), (50, 166), (50, 184))
    d.arrow((106, 236), (130, 236))
    d.arrow((270, 236), (294, 236))
    for i, (action, chance) in enumerate(
        zip(ACTIONS, decision["chances"], strict=True)
    ):
        y = 202 + 24 * i
        d.text(302, y, action)
        d.box(364, y - 12, 108 * chance, 13, "ink")
    d.text(302, 306, f"value {decision['value']:.2f}")
    return d.svg()
