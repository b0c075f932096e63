"""How charts are drawn: matplotlib's settings, and a file for light and dark.

An image has no way to know the page that it is on. So it brings a ground of
its own, and both change with the reader's preference for light or dark. The
colours of the bars and lines stand out from either, by 3 to 1 or more.
"""

import io

# A chart that is on the page has a second form beside it, for phones: inches.
NARROW = 3.6

INK, GROUND, GRID = "#1f2328", "#ffffff", "#d1d9e0"
DARK = {INK: "#f0f6fc", GROUND: "#0d1117", GRID: "#3d444d"}
COLOURS = {
    "games": "#e8590c",
    "worker": "#b7791f",
    "ale": "#2b7fd4",
    "envpool": "#2f9e6e",
    "gymnasium": "#a15bd6",
    "sb3": "#d6468c",
    "labml": "#7d8590",
}


def narrow_name(name):
    """The name of a chart's narrow form: chart.svg, chart-narrow.svg."""
    return name.replace(".svg", "-narrow.svg")


def canvas():
    """Return matplotlib, set to draw in the light colours."""
    import matplotlib

    matplotlib.use("svg")
    import matplotlib.pyplot as plt

    plt.rcParams |= {
        "axes.edgecolor": GRID,
        "axes.facecolor": GROUND,
        "axes.grid": True,
        "axes.axisbelow": True,
        "axes.spines.right": False,
        "axes.spines.top": False,
        "axes.titlecolor": INK,
        "axes.titlelocation": "left",
        "figure.facecolor": GROUND,
        "grid.color": GRID,
        "hatch.linewidth": 1.2,
        "svg.fonttype": "none",
        "svg.hashsalt": "breakout",  # the same file each time
    }
    for key in ("text.color", "xtick.labelcolor", "ytick.labelcolor"):
        plt.rcParams[key] = INK
    return plt


def save(plt, path):
    """Write the figure that was drawn, with the dark colours beside."""
    text = io.StringIO()
    plt.savefig(text, format="svg", metadata={"Date": None, "Creator": None})
    plt.close("all")
    rules = "".join(
        f'[style*="{part}: {light}"]{{{part}:{dark}!important}}'
        for light, dark in DARK.items()
        for part in ("fill", "stroke")
    )
    style = f"<style>@media(prefers-color-scheme:dark){{{rules}}}</style>"
    svg = text.getvalue().replace("<defs>", style + "<defs>", 1)
    path.write_text(svg, "utf-8")
