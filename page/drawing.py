"""The pen that the still figures are drawn with: SVG, light and dark."""

import base64
from html import escape
from pathlib import Path

import cv2

import fonts

PICTURES = Path(__file__).resolve().parent.parent / "docs/figures"
WIDTH = 480  # which a phone can show

SHAPES = """
text { font: 16.5px Sans, system-ui, sans-serif }
.strong { font-weight: 600 } .big { font-size: 26px }
.code { font: 14px Code, ui-monospace, monospace }
.mid { text-anchor: middle } .end { text-anchor: end }
.line { stroke-width: 1.5; fill: none } .past { stroke-dasharray: 3 3 }
.arrow { marker-end: url(#tip) }
rect:is(.third, .fourth, .picture) { fill: none; stroke-width: 2 }
.trace { stroke-width: 1.5; fill: none } image.dark { opacity: .35 }
image { image-rendering: pixelated }"""
COLOURS = """
text, .ink {{ fill: {ink} }} .quiet {{ fill: {quiet} }}
.line {{ stroke: {quiet} }} .trace {{ stroke: {ink} }}
.box {{ fill: {box}; stroke: {quiet} }} .page, text.on {{ fill: {page} }}
text.dark {{ fill: #000 }}
.game {{ fill: {game} }} .ours {{ fill: {ours} }}
text.third {{ fill: {third} }} rect.third {{ stroke: {third} }}
text.fourth {{ fill: {fourth} }} rect.fourth {{ stroke: {fourth} }}
text.picture {{ fill: {picture} }} rect.picture {{ stroke: {picture} }}"""
LIGHT = {"ink": "#23211d", "quiet": "#65605a", "box": "#fdfcfa"}
LIGHT |= {"page": "#fdfcfa"}
LIGHT |= {"third": "#1a5fb4", "fourth": "#a84a00", "picture": "#1b7340"}
LIGHT |= {"game": "#7a4fa8", "ours": "#a5332a"}  # as in measure/charts.py
DARK = {"ink": "#e4e1da", "quiet": "#a19c93", "box": "#1b1d22"}
DARK |= {"page": "#1b1d22"}
DARK |= {"third": "#7fb2ff", "fourth": "#ffa65c", "picture": "#6fd08c"}
DARK |= {"game": "#b493e0", "ours": "#f29b8c"}
SCREEN = DARK | {"page": "#0c0d10"}
LARGE = """
@media (min-width: 600px) { text { font-size: 11.5px } }
@media (max-width: 400px) { text { font-size: 18px } }"""
LATER = """
@media (min-width: 340px) { text { font-size: 13px } }
@media (prefers-reduced-motion: no-preference) {
.later { animation: come .4s 30s backwards }
text.later { animation-delay: 31.5s }
@keyframes come { from { opacity: 0 } } }"""
TIP = """
<marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8"
 markerHeight="8" orient="auto">
<path d="M0 0 8 4 0 8z" class="quiet"/></marker>
"""


def percent(share):
    return f"{100 * share:.0f}\N{NO-BREAK SPACE}%"


class Drawing:
    """An SVG, 480 units across or less.

    What shows pictures is a dark screen, whatever the scheme of the page. A
    `large` one takes its whole column; its words keep their size in it. In one
    that `asks` the answer, of the kind "later", comes after some seconds.
    """

    def __init__(
        self, height, width=WIDTH, screen=True, large=False, asks=False
    ):
        self.width, self.height, self.screen = width, height, screen
        self.large, self.asks = large, asks
        self.parts = []
        self.box(0, 0, width, height, "page")

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

    def image(self, x, y, width, height, pixels, kind=""):
        """A picture; a kind is around it, but "dark" behind it."""
        place = {"x": x, "y": y, "width": width, "height": height}
        if kind == "dark":
            self.box(**place, kind=kind)
        if pixels.ndim == 3:
            pixels = pixels[..., ::-1]  # as OpenCV has them
        smallest = [cv2.IMWRITE_PNG_COMPRESSION, 9]
        data = base64.b64encode(cv2.imencode(".png", pixels, smallest)[1])
        href = f"data:image/png;base64,{data.decode()}"
        self.put("image", kind, preserveAspectRatio="none", **place, href=href)
        if kind not in ("", "dark", "later"):
            self.box(**place, kind=kind)

    def pictures(self, x, y, size, pictures):
        """One, or the four of a stack, two by two."""
        each = (size - 4) / 2 if len(pictures) == 4 else size
        for i, picture in enumerate(pictures):
            left, top = x + i % 2 * (each + 4), y + i // 2 * (each + 4)
            self.image(left, top, each, each, picture)

    def save(self, name):
        colours = COLOURS.format_map(SCREEN)
        if not self.screen:
            dark = COLOURS.format_map(DARK)
            colours = COLOURS.format_map(LIGHT)
            colours += f"\n@media (prefers-color-scheme: dark) {{{dark}\n}}"
        if self.large:
            colours += LARGE
        if self.asks:
            colours += LATER
        kind = 'class="large" ' if self.large else ""
        svg = (
            f'<svg {kind}xmlns="http://www.w3.org/2000/svg" '
            f'width="{self.width}" height="{self.height}" '
            f'viewBox="0 0 {self.width} {self.height}">\n'
            f"<style>{SHAPES}{colours}\n</style>{TIP}"
            f"{''.join(self.parts)}</svg>\n"
        )
        (PICTURES / name).write_text(fonts.embed(svg))
