"""Where everything is. The module and the examples can be imported by name."""

import shutil
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
DOCS = ROOT / "docs"  # written
SITE = ROOT / "site"  # made
FIGURES = HERE / "figures"
STYLE = HERE / "style"
RESULTS = ROOT / "measure/results"
# The system's, in which the pages are tested and photographed
BROWSERS = [
    "chromium-headless-shell",
    *("chromium", "chromium-browser", "google-chrome"),
]
CHROMIUM = next(filter(None, map(shutil.which, BROWSERS)), None)

sys.path += [str(ROOT / room) for room in (".", "examples", "measure")]
