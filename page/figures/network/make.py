"""The agent's network, with what its layers make of one observation."""

from typing import Any

import numpy as np

from drawing import Drawing, bright
from figures.looks.make import stack
from recordings import ACTIONS, MOMENT, pack, read, read_film, unpack

LAST = 16, 32  # how the 512 numbers of the last layer are drawn
# Where the ball is and has been, in a picture of the first layer
ROWS, COLUMNS = slice(12, 17), slice(11, 17)
SHOWN = 8  # pictures of the first layer, those that show it best


def record() -> dict[str, Any]:
    """What each layer gives, after its ReLU. Its brightest number is 255."""
    import torch

    from published import agent

    layer = torch.as_tensor(stack(MOMENT)[None].copy()) / 255
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


def recorded() -> list[np.ndarray]:
    """The pictures of each layer."""
    return [
        unpack(layer["pictures"], *layer["size"])
        for layer in read("network/network")
    ]


def showing_the_ball(pictures: np.ndarray) -> np.ndarray:
    """The pictures that are brightest there."""
    bright_there = pictures[:, ROWS, COLUMNS].max(axis=(1, 2)).astype(float)
    bright_there -= pictures.mean(axis=(1, 2))
    return pictures[np.sort(np.argsort(-bright_there)[:SHOWN])]


def tiles(
    d: Drawing,
    pictures: np.ndarray,
    *,
    x: int,
    middle: int,
    columns: int,
    scale: float,
) -> None:
    """Draw the pictures of a layer in rows, with gray lines between them."""
    between = [(0, 0), (0, 1), (0, 1)]
    framed = np.pad(pictures, between, constant_values=20)
    _, height, width = framed.shape
    rows = framed.reshape(-1, columns, height, width).swapaxes(1, 2)
    mosaic = rows.reshape(-1, columns * width)[:-1, :-1]
    shades = (255 * np.sqrt(mosaic / 255)).astype(np.uint8)
    high, wide = (scale * side for side in shades.shape)
    d.image(x, middle - high / 2, wide, high, shades)


def bars(d: Drawing, x: int, y: int, scale: int) -> None:
    """The probabilities of the moment, in bold the one that was sampled."""
    decision = read_film("agent/agent").decisions[MOMENT]
    for i, chance in enumerate(decision["chances"]):
        kind = "strong" if i == decision["action"] else ""
        d.text(x, y + 25 * i, ACTIONS[i], kind)
        d.box(x + 56, y - 13 + 25 * i, scale * chance + 1, 14, "ink")


def draw_network() -> str:
    decision = read_film("agent/agent").decisions[MOMENT]
    d = Drawing(316)
    for i, picture in enumerate(stack(MOMENT)):
        d.image(4 + 8 * i, 10 + 8 * i, 84, 84, bright(picture), "line")
    d.text(4, 150, "4 pictures")
    first, *rest = recorded()
    for pictures, x, middle, below, columns, scale, words in zip(
        [showing_the_ball(first), *rest],
        (148, 356, 4, 136),
        (65, 65, 236, 236),
        (150, 150, 306, 306),
        (4, 8, 8, 1),
        (2, 1.48, 1.48, 4),
        ("8 of 32, of 20×20", "64 of 9×9", "64 of 7×7", "512 numbers"),
        strict=True,
    ):
        tiles(d, pictures, x=x, middle=middle, columns=columns, scale=scale)
        d.text(x, below, words)
    for i in range(SHOWN):
        left, top = 148 + 42 * (i % 4), 24 + 42 * (i // 4)
        d.put("circle", "ring", cx=left + 28, cy=top + 29, r=10)
    d.arrow((118, 65), (142, 65))
    d.arrow((320, 65), (350, 65))
    d.arrow((415, 156), (415, 166), (50, 166), (50, 184))
    d.arrow((106, 236), (130, 236))
    d.arrow((270, 236), (294, 236))
    bars(d, 302, 202, scale=100)
    d.text(302, 306, f"value {decision['value']:.2f}")
    return d.svg()
