"""The pen that the figures are drawn with: SVG, in light and in dark."""

import base64
import json
from html import escape
from pathlib import Path

import cv2

HERE = Path(__file__).resolve().parent
FIGURES = HERE.parent / "docs/figures"
WIDTH = 480  # which a phone can show


def colours():
    """Return the colours as a rule, each in light and in dark."""
    named = json.loads((HERE / "colours.json").read_text())
    rule = "".join(
        f"  --{name}: light-dark({light}, {dark});\n"
        for name, (light, dark) in named.items()
    )
    return f":root {{\n  color-scheme: light dark;\n{rule}}}\n"


class Drawing:
    """An SVG, 480 units wide.

    What shows pictures is a dark screen, whatever the scheme of the page. A
    `large` one takes all of its column, and its words keep their size in it.
    """

    def __init__(self, height, screen=True, large=False):
        self.height = height
        kinds = "drawing", screen and "screen", large and "large"
        self.kind = " ".join(filter(None, kinds))
        self.parts = []

    def put(self, tag, kind, inside="", **attributes):
        attributes["class"] = kind
        for name, value in attributes.items():
            if isinstance(value, float):
                attributes[name] = f"{value:.4g}"
        told = " ".join(f'{name}="{attributes[name]}"' for name in attributes)
        self.parts.append(f"<{tag} {told}>{escape(inside)}</{tag}>\n")

    def text(self, x, y, text, kind=""):
        self.put("text", kind, text, x=x, y=y)

    def box(self, x, y, width, height, kind="box"):
        self.put("rect", kind, x=x, y=y, width=width, height=height)

    def line(self, *points, kind="line"):
        path = " ".join(f"{x:g},{y:g}" for x, y in points)
        self.put("polyline", kind, points=path)

    def arrow(self, *points):
        """A line whose end has a tip."""
        self.line(*points)
        (x, y), (end_x, end_y) = points[-2:]
        length = ((end_x - x) ** 2 + (end_y - y) ** 2) ** 0.5
        along = 8 * (end_x - x) / length, 8 * (end_y - y) / length
        back = end_x - along[0], end_y - along[1]
        side = along[1] / 2, -along[0] / 2
        tip = [
            (back[0] + side[0], back[1] + side[1]),
            (end_x, end_y),
            (back[0] - side[0], back[1] - side[1]),
        ]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in tip)
        self.put("polygon", "quiet", points=path)

    def image(self, x, y, width, height, pixels, kind=""):
        """A picture, and around it a frame of a kind."""
        if pixels.ndim == 3:
            pixels = pixels[..., ::-1]  # as OpenCV has them
        smallest = [cv2.IMWRITE_PNG_COMPRESSION, 9]
        data = base64.b64encode(cv2.imencode(".png", pixels, smallest)[1])
        place = {"x": x, "y": y, "width": width, "height": height}
        href = f"data:image/png;base64,{data.decode()}"
        self.put("image", "", preserveAspectRatio="none", **place, href=href)
        if kind:
            self.box(**place, kind=kind)

    def save(self, name):
        style = colours() + (HERE / "drawing.css").read_text()
        svg = (
            f'<svg class="{self.kind}" xmlns="http://www.w3.org/2000/svg" '
            f'viewBox="0 0 {WIDTH} {self.height}">\n'
            f"<style>\n{style}</style>\n{''.join(self.parts)}</svg>\n"
        )
        (FIGURES / name).write_text(svg)
