"""The pen that figures are drawn with: SVG, in light and in dark."""

import base64
import json
import math
from html import escape
from typing import Any

import cv2
import numpy as np

from paths import STYLE

WIDTH = 480  # which a phone can show


def palette() -> str:
    """The colours as a rule, each in light and in dark."""
    named = json.loads((STYLE / "palette.json").read_text("utf-8"))
    rule = "".join(
        f"  --{name}: light-dark({light}, {dark});\n"
        for name, (light, dark) in named.items()
    )
    return f":root {{\n  color-scheme: light dark;\n{rule}}}\n"


def png(picture: np.ndarray) -> str:
    """A picture, in gray or in RGB, as a PNG in text."""
    smallest = [cv2.IMWRITE_PNG_COMPRESSION, 9]
    if picture.ndim == 3:
        picture = cv2.cvtColor(picture, cv2.COLOR_RGB2BGR)
    data = cv2.imencode(".png", picture, smallest)[1]
    return base64.b64encode(data.tobytes()).decode()


class Drawing:
    """An SVG, 480 units wide.

    What shows pictures is a dark screen, whatever the scheme of the page. A
    `large` one takes all of its column, and its words keep their size in it.
    """

    def __init__(
        self, height: int, screen: bool = True, large: bool = False
    ) -> None:
        self.height = height
        self.kind = "drawing" + " screen" * screen + " large" * large
        self.parts: list[str] = []

    def put(
        self, tag: str, kind: str, inside: str = "", **attributes: object
    ) -> None:
        shown = f'class="{kind}"'
        for name, value in attributes.items():
            value = f"{value:.4g}" if isinstance(value, float) else value
            shown += f' {name}="{value}"'
        self.parts.append(f"<{tag} {shown}>{escape(inside)}</{tag}>\n")

    def text(self, x: float, y: float, text: str, kind: str = "") -> None:
        self.put("text", kind, text, x=x, y=y)

    def box(
        self,
        x: float,
        y: float,
        width: float,
        height: float,
        kind: str = "box",
    ) -> None:
        self.put("rect", kind, x=x, y=y, width=width, height=height)

    def line(self, *points: Any, kind: str = "line") -> None:
        path = " ".join(f"{x:g},{y:g}" for x, y in points)
        self.put("polyline", kind, points=path)

    def arrow(self, *points: Any) -> None:
        self.line(*points)
        (before_x, before_y), (x, y) = points[-2:]
        turn = math.degrees(math.atan2(y - before_y, x - before_x))
        place = f"translate({x:g} {y:g}) rotate({turn:.4g})"
        self.put("path", "quiet", d="M1 0-7 4-7-4z", transform=place)

    def svg(self) -> str:
        style = palette() + (STYLE / "drawing.css").read_text("utf-8")
        return (
            f'<svg class="{self.kind}" xmlns="http://www.w3.org/2000/svg" '
            f'viewBox="0 0 {WIDTH} {self.height}">\n'
            f"<style>\n{style}</style>\n{''.join(self.parts)}</svg>\n"
        )
