"""The pen that the still figures are drawn with: SVG, light and dark."""

import base64
from html import escape
from pathlib import Path

import cv2

PICTURES = Path(__file__).resolve().parent.parent / "docs/figures"
WIDTH = 480  # which a phone can show

HEAD = """<style>
text { font: 15px system-ui, "Segoe UI", Roboto, sans-serif; fill: #201e1a }
.quiet { fill: #5e594e }
.strong { font-weight: 600 }
.code { font: 14px ui-monospace, Menlo, Consolas, monospace }
.mid { text-anchor: middle } .end { text-anchor: end }
.line { stroke: #5e594e; stroke-width: 1.5; fill: none }
.arrow { marker-end: url(#tip) }
.box { fill: #f4f1e9; stroke: #5e594e }
rect.mark { fill: none; stroke: #b36b00; stroke-width: 3 }
.bar { fill: #b36b00 } .other { fill: #5c7fb8 } .ink { fill: #201e1a }
.trace { stroke: #b36b00; stroke-width: 1.5; fill: none }
.page { fill: #fdfcf9 } image.dark { opacity: .35 }
image { image-rendering: pixelated }
@media (prefers-color-scheme: dark) {
text { fill: #e7e3da } .quiet { fill: #a8a296 } .line { stroke: #a8a296 }
.box { fill: #1d1f24; stroke: #a8a296 } rect.mark { stroke: #e5b566 }
.page { fill: #15161a } .bar { fill: #e5b566 } .other { fill: #7f9fd6 }
.trace { stroke: #e5b566 }
}
</style>
<marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8"
 markerHeight="8" orient="auto">
<path d="M0 0 8 4 0 8z" class="quiet"/></marker>
"""


def percent(share):
    return f"{100 * share:.0f}\N{NO-BREAK SPACE}%"


class Drawing:
    """An SVG of 480 units across."""

    def __init__(self, height):
        self.height, self.parts = height, []
        self.box(0, 0, WIDTH, height, "page")

    def put(self, tag, kind, inside="", **attributes):
        attributes["class"] = kind
        told = " ".join(f'{name}="{attributes[name]}"' for name in attributes)
        self.parts.append(f"<{tag} {told}>{escape(inside)}</{tag}>\n")

    def text(self, x, y, text, kind=""):
        self.put("text", kind, text, x=x, y=y)

    def box(self, x, y, width, height, kind="box"):
        self.put("rect", kind, x=x, y=y, width=width, height=height)

    def line(self, *points, kind="line"):
        path = " ".join(f"{x:g},{y:g}" for x, y in points)
        self.put("polyline", kind, points=path)

    def image(self, x, y, width, height, pixels, kind=""):
        """A picture; "dark" is behind it, a "mark" around it."""
        place = {"x": x, "y": y, "width": width, "height": height}
        if kind == "dark":
            self.box(**place, kind=kind)
        if pixels.ndim == 3:
            pixels = pixels[..., ::-1]  # as OpenCV has them
        smallest = [cv2.IMWRITE_PNG_COMPRESSION, 9]
        data = base64.b64encode(cv2.imencode(".png", pixels, smallest)[1])
        href = f"data:image/png;base64,{data.decode()}"
        self.put("image", kind, preserveAspectRatio="none", **place, href=href)
        if kind == "mark":
            self.box(**place, kind=kind)

    def pictures(self, x, y, size, pictures):
        """One, or the four of a stack, two by two."""
        each = (size - 4) / 2 if len(pictures) == 4 else size
        for i, picture in enumerate(pictures):
            left, top = x + i % 2 * (each + 4), y + i // 2 * (each + 4)
            self.image(left, top, each, each, picture)

    def save(self, name):
        (PICTURES / name).write_text(
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" '
            f'height="{self.height}" viewBox="0 0 {WIDTH} {self.height}">\n'
            f"{HEAD}{''.join(self.parts)}</svg>\n"
        )
