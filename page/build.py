"""Make what is published: game.md, site/, and the values in README.md.

    pip install -r requirements.txt --group page
    python page/build.py                  # write what is stale
    python page/build.py --check          # exit with 1 if anything is stale
    python page/build.py --watch          # build again after each change
    python page/build.py --stills learn   # pictures of figures that move
    python page/build.py --record guess   # what figures show, played anew
    python page/build.py --record film    # README's, of the first screen
    python page/build.py --record weights # the agent's, for the pages

The rooms:

- `weave/` reads a module and makes the pages
- `fill/` computes numbers and tables, and fills them into texts
- `record/` plays the games that figures show, exports the agent's weights, and
  takes the stills
- `figures/` has a folder for each figure
- `style/` has the styles, the fonts, and the frame of a page
- `script/` has the scripts that all pages share
- `live/` is the Breakout, and the agent, that play in a page: scripts
- `runner/` runs the tutorial: what each of its lines makes
- `text/` has the story, and what stands around a source on its page
- `tests/`

A figure is a picture in a text, `![what it shows](figures/NAME.svg "its
caption")`, and a folder, `figures/NAME/`, with those that it needs of:

- `NAME.svg`, a drawing that is kept. Its colors and letters are put in
- `make.py`: `draw_NAME()` returns such a drawing, of numbers from
  `fill/values.py`. `record()` returns what is recorded, as `{name: data}`.
  Only `--record` calls that, which for some takes PyTorch
- `figure.html`, which takes the place of the picture where scripts run. It
  shows `{{ picture }}` to readers without them
- `figure.js` and `figure.css`
- `NAME.json`, data that a script asks for by `read("NAME")`

A made file begins with a line that says what it is made of.
"""

import argparse
import contextlib
import subprocess
import sys
import time

from paths import ROOT

SOURCES = ["*.py", "*.md", "docs/*.md", "examples/*.py", "page/**/*.*"]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--watch", action="store_true")
    parser.add_argument("--stills", nargs="+", metavar="FIGURE", default=[])
    parser.add_argument("--record", nargs="+", metavar="FIGURE", default=[])
    run = parser.parse_args()
    if run.watch:
        with contextlib.suppress(KeyboardInterrupt):
            watch()
        return

    # These take more packages than `--help` does.
    import products

    for figure in run.record:
        products.record(figure)
    stale = products.build(run.check)
    if run.stills:
        from record import stills  # which takes a browser

        stills.take(run.stills)
    sys.exit(stale and run.check)


def watch() -> None:
    """Build after each change, in a process that has the new modules."""
    before = None
    while True:
        now = {
            path: path.stat().st_mtime
            for pattern in SOURCES
            for path in ROOT.glob(pattern)
            if path.suffix != ".pyc" and path.exists()
        }
        if now != before:
            subprocess.run([sys.executable, __file__])
        before = now
        time.sleep(0.5)


if __name__ == "__main__":
    main()
