"""README's programs run as they stand there, and print what it shows."""

import os
import pathlib
import re
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROGRAMS = re.findall(
    r"^```python\n(.*?)^```\n(?:\n```text\n(.*?)^```)?",
    (ROOT / "README.md").read_text(),
    re.MULTILINE | re.DOTALL,
)


@pytest.mark.parametrize("number", range(len(PROGRAMS)))
def test_program(tmp_path, number):
    text, printed = PROGRAMS[number]
    (tmp_path / "program.py").write_text(text)
    output = subprocess.check_output(
        [sys.executable, "program.py"],
        cwd=tmp_path,
        env=dict(os.environ, PYTHONPATH=str(ROOT)),
        text=True,
        timeout=300,
    )
    assert output.strip()
    if printed:
        assert output == printed


def test_one_shows_what_it_prints():
    assert any(printed for _, printed in PROGRAMS)
