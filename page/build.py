"""Make what is published: game.md, site/, and the values in README.md.

    pip install -r requirements.txt --group page
    python page/build.py                 # write what is stale: ten seconds
    python page/build.py --check         # exit with 1 if anything is stale
    python page/build.py --record step   # what figures show, played anew
    python page/build.py --stills        # pictures of the figures that move

The rooms:

- `weave/` reads a module and makes the pages
- `fill/` computes numbers and tables, and fills them into texts
- `draw/` has the pen that figures are drawn with, and takes the stills
- `record/` plays the games that figures show, and exports the agent's weights
- `figures/` has a folder for each figure
- `style/` has the styles, the fonts, and the frame of a page
- `script/` has the scripts that all pages share
- `live/` is the Breakout, and the agent, that play in a page: scripts
- `runner/` runs the tutorial: what each of its lines makes
- `text/` has the story, and what stands around a source on its page
- `tests/`

A figure is a picture in a text, `![what it shows](figures/NAME.svg "its
caption")`, and a folder, `figures/NAME/`, with those that it needs of:

- `make.py`: `draw_NAME()` returns `site/figures/NAME.svg`, such as that of a
  `Drawing`; its numbers come from `fill/values.py`. `record()` returns what is
  recorded, as `{name: data}`. Only `--record` calls that, which for some takes
  PyTorch
- `figure.html`, which takes the place of the picture where scripts run. It
  shows `{{ picture }}` to readers without them
- `figure.js` and `figure.css`
- `NAME.json`, data that a script asks for by `read("NAME")`

A made file begins with a line that says what it is made of.
"""

import argparse
import sys


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--record", nargs="+", metavar="FIGURE", default=[])
    parser.add_argument("--stills", action="store_true")
    run = parser.parse_args()

    # These take more packages than `--help` does.
    import products

    for figure in run.record:
        products.record(figure)
    if run.stills:
        from draw import stills  # which takes a browser

        stills.take()
    sys.exit(products.build(run.check) and run.check)


if __name__ == "__main__":
    main()
