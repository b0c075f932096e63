"""Write README, docs/ and the story's values from what was measured.

    pip install -r requirements.txt --group measure
    python measure/report.py
    python measure/report.py --check    # exits with 1 if something is stale

Measures nothing. Each `{{name}}` in `templates/` is a value of values.py. The
values that page/story.md asks for go to page/data/measured.json.
"""

import argparse
import csv
import io
import json
import re
import sys

import matplotlib
import matplotlib.pyplot as plt

import common
from values import read_results, values

TEMPLATES = {
    "README.md": "README.md",
    "speed.md": "docs/speed.md",
    "learning.md": "docs/learning.md",
    "reference.md": "docs/reference.md",
}
VALUE = re.compile(r"{{(\w+)}}")
FIELD = common.RESULTS / "field.json"


def fill(text, found):
    """Put the values in place of their names; another name is an error."""
    return VALUE.sub(lambda name: found[name[1]], text)


# The charts. An image can't know the page that it is on, so it brings a ground
# of its own, and both change with the reader's preference for light or dark.

LINES = ["#a5332a", "#7a4fa8", "#1b7340"]
INK, QUIET, GRID, GROUND = "#23211d", "#65605a", "#e2ded5", "#fdfcfa"
DARK = {
    INK: "#e4e1da",
    QUIET: "#a19c93",
    GRID: "#3b3d45",
    GROUND: "#1b1d22",
    LINES[0]: "#f29b8c",
    LINES[1]: "#b493e0",
    LINES[2]: "#6fd08c",
}


def draw(title, curves):
    """Return a chart of scores by steps, with a line for each curve."""
    matplotlib.use("svg")
    with plt.style.context(common.HERE / "charts.mplstyle"):
        figure, axis = plt.subplots()
        for (name, rows), ink in zip(curves.items(), LINES, strict=False):
            millions = [int(row["steps"]) / 1e6 for row in rows]
            scores = [float(row["score"]) for row in rows]
            axis.plot(millions, scores, color=ink, lw=1.3, label=name)
        axis.set_title(title, loc="left", fontsize=9, weight="bold")
        axis.set_xlabel("million steps", loc="right", color=QUIET)
        axis.grid(axis="y")
        if len(curves) > 1:
            axis.legend(frameon=False)
        text = io.StringIO()
        nothing = {"Date": None, "Creator": None}
        figure.savefig(text, format="svg", metadata=nothing)
        plt.close(figure)
    rules = "".join(
        f'[style*="{part}: {light}"]{{{part}:{dark}!important}}'
        for light, dark in DARK.items()
        for part in ("fill", "stroke")
    )
    style = "text{font-family:system-ui,sans-serif!important}"
    style += f"@media(prefers-color-scheme:dark){{{rules}}}"
    # Lines end in spaces, which no other file here has.
    lines = [line.rstrip() for line in text.getvalue().splitlines()]
    svg = "\n".join(lines) + "\n"
    return svg.replace("<defs>", f"<style>{style}</style><defs>", 1)


def read_curve(path):
    return list(csv.DictReader(path.read_text("utf-8").splitlines()))


def curves_of(title):
    """The curves of a title's agents, by their seeds."""
    paths = sorted(common.RESULTS.glob(f"*/{title}-?.csv"))
    return {
        f"seed {path.stem.removeprefix(f'{title}-')}": read_curve(path)
        for path in paths
    }


# All of it


def outputs():
    """All that is written: of each path the text."""
    (equal_steps,) = common.RESULTS.glob("*/equal-steps.csv")
    found = values(
        read_results(common.RESULTS),
        json.loads(FIELD.read_text("utf-8")),
        read_curve(equal_steps),
    )
    written = {}
    for name, path in TEMPLATES.items():
        template = (common.HERE / "templates" / name).read_text("utf-8")
        written[path] = fill(template, found)
    story = (common.ROOT / "page/story.md").read_text("utf-8")
    asked = {name: found[name] for name in VALUE.findall(story)}
    text = json.dumps(asked, indent=1, ensure_ascii=False)
    written["page/data/measured.json"] = text + "\n"
    for title in ("Breakout", "Pong"):
        chart = draw(f"{title}, points", curves_of(title))
        written[f"docs/charts/{title.lower()}.svg"] = chart
    return written


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true")
    run = parser.parse_args()
    stale = []
    for name, text in outputs().items():
        path = common.ROOT / name
        # Another matplotlib draws other bytes.
        if run.check and path.suffix == ".svg":
            continue
        if not path.exists() or path.read_text("utf-8") != text:
            stale.append(name)
            if not run.check:
                path.write_text(text, "utf-8")
    print(*stale, sep="\n")
    sys.exit(run.check and bool(stale))


if __name__ == "__main__":
    main()
