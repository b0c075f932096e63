"""Tests of the programs that Markdown shows, and of the diff for CleanRL."""

import os
import pathlib
import re
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[1]
NAMES = ["README.md", "CONTRIBUTING.md", "docs/*.md"]
DOCUMENTS = [path for name in NAMES for path in sorted(ROOT.glob(name))]
# a program, and what is shown of what it prints
PROGRAM = re.compile(
    r"^```python\n(.*?)^```\n(?:\n```text\n(.*?)^```)?",
    re.MULTILINE | re.DOTALL,
)
PROGRAMS = [
    program
    for path in DOCUMENTS
    for program in PROGRAM.findall(path.read_text())
]


@pytest.mark.parametrize(("text", "shown"), PROGRAMS)
def test_programs_print_what_is_shown(tmp_path, text, shown):
    (tmp_path / "program.py").write_text(text)
    result = subprocess.run(
        [sys.executable, "program.py"],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=300,  # seconds, on a machine with much to do
    )
    assert result.returncode == 0, result.stderr
    assert "Traceback" not in result.stderr
    assert result.stdout == shown


def test_git_reads_the_diff_for_cleanrl():
    path = ROOT / "examples/cleanrl/ppo_atari.diff"
    command = ["git", "apply", "--numstat", path]
    changed = subprocess.run(command, check=True, capture_output=True).stdout
    assert changed.decode().split()[-1] == "cleanrl/ppo_atari.py"
