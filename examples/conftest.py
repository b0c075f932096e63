"""What the tests here share: one thread, signals, and how a program starts."""

import os
import signal
import sys

import pytest

# Before PyTorch is imported, and for the programs that tests start: many
# threads on a busy machine wait for each other.
os.environ["OMP_NUM_THREADS"] = "1"

SIGNALS = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]


@pytest.fixture(autouse=True)
def no_signal_is_ignored():
    """Whatever the shell ignores."""
    before = {number: signal.getsignal(number) for number in SIGNALS}
    for number in SIGNALS:
        signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.fixture
def here(monkeypatch, tmp_path):
    """Be in an empty folder."""
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def start(here, monkeypatch, capsys):
    """Run a `main` in an empty folder; return the lines that it prints."""

    def start(main, *words):
        monkeypatch.setattr(sys, "argv", ["program.py", *map(str, words)])
        main()
        return "".join(capsys.readouterr()).splitlines()

    return start
