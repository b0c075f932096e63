"""Where everything is. The module and the examples can be imported by name."""

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
DOCS = ROOT / "docs"
FIGURES = HERE / "figures"
LOOKS = HERE / "looks"
RESULTS = ROOT / "measure/results"

sys.path += [str(ROOT), str(ROOT / "examples")]
