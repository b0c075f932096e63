"""The pen that the still figures are drawn with: SVG, light and dark."""

import base64
from html import escape
from pathlib import Path

import cv2
import numpy as np

PICTURES = Path(__file__).resolve().parent.parent / "docs/figures"

STYLE = """
text { font: 15px system-ui, "Segoe UI", Roboto, sans-serif; fill: #201e1a }
.quiet { fill: #5e594e }
.strong { font-weight: 600 }
.code { font: 14px ui-monospace, Menlo, Consolas, monospace }
.mid { text-anchor: middle } .end { text-anchor: end }
.line { stroke: #5e594e; stroke-width: 1.5; fill: none }
.tip { fill: #5e594e } .box { fill: #f4f1e9; stroke: #5e594e }
.mark { fill: none; stroke: #b36b00; stroke-width: 3 }
.bar { fill: #b36b00 }
.other { fill: #5c7fb8 }
.red { stroke: #c84848; stroke-width: 3; fill: none }
.trace { stroke: #b36b00; stroke-width: 1.5; fill: none }
.ink { fill: #201e1a } .dash { stroke-dasharray: 4 3 }
.page { fill: #fdfcf9 } .dark { fill: #000 }
@media (prefers-color-scheme: dark) {
text { fill: #e7e3da } .quiet { fill: #a8a296 }
.line { stroke: #a8a296 } .tip { fill: #a8a296 }
.box { fill: #1d1f24; stroke: #a8a296 } .mark { stroke: #e5b566 }
.page { fill: #15161a } .bar { fill: #e5b566 }
.other { fill: #7f9fd6 } .red { stroke: #d9605c }
.trace { stroke: #e5b566 }
}
"""


class Drawing:
    """An SVG of 480 units across, which a phone can show."""

    WIDTH = 480

    def __init__(self, height):
        self.height, self.parts = height, []

    def text(self, x, y, text, kind=""):
        self.parts.append(
            f'<text x="{x}" y="{y}" class="{kind}">{escape(text)}</text>'
        )

    def image(self, x, y, width, height, pixels, faint=False, mark=False):
        if faint:
            self.box(x, y, width, height, "dark")
        pixels = pixels[..., ::-1].astype(np.uint8)
        if (pixels == pixels[..., :1]).all():  # gray takes less
            pixels = pixels[..., 0]
        smallest = [cv2.IMWRITE_PNG_COMPRESSION, 9]
        data = cv2.imencode(".png", pixels, smallest)[1].tobytes()
        self.parts.append(
            f'<image x="{x}" y="{y}" width="{width}" height="{height}" '
            f'preserveAspectRatio="none" style="image-rendering:pixelated" '
            f'opacity="{0.35 if faint else 1}" href="data:image/png;base64,'
            f'{base64.b64encode(data).decode()}"/>'
        )
        if mark:
            self.box(x, y, width, height, "mark")

    def box(self, x, y, width, height, kind="box"):
        self.parts.append(
            f'<rect x="{x}" y="{y}" width="{width}" '
            f'height="{height}" class="{kind}"/>'
        )

    def line(self, *points, kind="line", ends=""):
        path = " ".join(f"{x:g},{y:g}" for x, y in points)
        self.parts.append(f'<polyline points="{path}" class="{kind}" {ends}/>')

    def arrow(self, *points):
        self.line(*points, ends='marker-end="url(#tip)"')

    def save(self, name):
        size = f'width="{self.WIDTH}" height="{self.height}"'
        head = (
            '<svg xmlns="http://www.w3.org/2000/svg" '
            f'viewBox="0 0 {self.WIDTH} {self.height}" {size}>\n'
            f"<style>{STYLE}</style>\n"
            '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" '
            'markerWidth="8" markerHeight="8" orient="auto-start-reverse">'
            '<path d="M0 0 8 4 0 8z" class="tip"/></marker></defs>\n'
            f'<rect {size} class="page"/>\n'
        )
        parts = "\n".join(self.parts)
        (PICTURES / name).write_text(f"{head}{parts}\n</svg>\n")


def gray_to_rgb(gray):
    return np.repeat(gray[..., None], 3, axis=2)
