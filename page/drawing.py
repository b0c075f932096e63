"""The pen that the figures are drawn with: SVG, in light and in dark."""

import base64
import json
from html import escape
from pathlib import Path

import cv2

HERE = Path(__file__).resolve().parent
FIGURES = HERE.parent / "docs/figures"
WIDTH = 480  # which a phone can show
TIP = """<marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8"
 markerHeight="8" orient="auto">
<path d="M0 0 8 4 0 8z" class="quiet"/></marker>
"""


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
        self.kind = "drawing" + " screen" * screen + " large" * large
        self.parts = []
        self.tip = ""

    def put(self, tag, kind, inside="", **attributes):
        told = f'class="{kind}"'
        for name, value in attributes.items():
            value = f"{value:.4g}" if isinstance(value, float) else value
            told += f' {name}="{value}"'
        self.parts.append(f"<{tag} {told}>{escape(inside)}</{tag}>\n")

    def text(self, x, y, text, kind=""):
        self.put("text", kind, text, x=x, y=y)

    def box(self, x, y, width, height, kind="box"):
        self.put("rect", kind, x=x, y=y, width=width, height=height)

    def line(self, *points, kind="line"):
        path = " ".join(f"{x:g},{y:g}" for x, y in points)
        self.put("polyline", kind, points=path)

    def arrow(self, *points):
        self.tip = TIP
        self.line(*points, kind="line arrow")

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
            f"<style>\n{style}</style>\n{self.tip}{''.join(self.parts)}</svg>\n"
        )
        (FIGURES / name).write_text(svg)
