"""
Draw where a step's time goes, as `measure/step_time.py` has measured it. For
`weave.py`, which writes it to `docs/figures/step-time.svg`.
"""

from html import escape

STYLE = """
text { font: 13px system-ui, "Segoe UI", Roboto, sans-serif; fill: #201e1a }
.quiet { fill: #5e594e } .strong { font-weight: 600 }
.end { text-anchor: end } .page { fill: #fdfcf9 }
@media (prefers-color-scheme: dark) {
text { fill: #e7e3da } .quiet { fill: #a8a296 } .page { fill: #15161a }
}
"""
COLOURS = [
    "#8d867a",
    "#c84848",
    "#c66c3a",
    "#b47a30",
    "#a2a22a",
    "#48a048",
    "#6a70e0",
]
WIDTH = 480  # which a phone can show
BAR = 30  # pixels high
LINE = 22


class Picture:
    """Parts of an SVG, one below the other."""

    def __init__(self):
        self.parts = []

    def text(self, x, y, text, kind=""):
        self.parts.append(
            f'<text x="{x}" y="{y}" class="{kind}">{escape(text)}</text>'
        )

    def box(self, x, y, width, height, colour):
        self.parts.append(
            f'<rect x="{x:.1f}" y="{y}" width="{width:.1f}" '
            f'height="{height}" fill="{colour}"/>'
        )


def draw(measured):
    """Return the SVG: a bar for each title, and what its parts mean."""
    titles = ["Pong", "Breakout"]
    most = max(measured[title]["total"] for title in titles)
    picture, y = Picture(), 0
    for title in titles:
        y += LINE
        total = measured[title]["total"]
        picture.text(0, y - 6, title, "strong")
        picture.text(WIDTH, y - 6, f"{total:.0f} µs", "end")
        x = 0.0
        for (_, time), colour in zip(
            measured[title]["parts"], COLOURS, strict=True
        ):
            width = WIDTH * time / most
            picture.box(x, y, width, BAR, colour)
            x += width
        y += BAR + 12

    # The same in words: what each colour is, in microseconds.
    columns = [WIDTH - 76 * i for i in reversed(range(len(titles)))]
    y += LINE
    for title, x in zip(titles, columns, strict=True):
        picture.text(x, y, title, "quiet end")
    parts = [measured[title]["parts"] for title in titles]
    for colour, *same in zip(COLOURS, *parts, strict=True):
        y += LINE
        picture.box(0, y - 11, 12, 12, colour)
        picture.text(20, y, same[0][0])
        for (_, time), title, x in zip(same, titles, columns, strict=True):
            share = time / measured[title]["total"]
            picture.text(x, y, f"{time:.0f} ({share:.0%})", "end")
    height = y + 8
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} '
        f'{height}" width="{WIDTH}" height="{height}">\n'
        f"<style>{STYLE}</style>\n"
        f'<rect class="page" width="{WIDTH}" height="{height}"/>\n'
        + "\n".join(picture.parts)
        + "\n</svg>\n"
    )
