"""What the tests here share: one thread, and the signals of a terminal."""

import os
import signal

import pytest

# Before PyTorch is imported, and for the programs that tests start: many
# threads on a busy machine wait for each other.
os.environ["OMP_NUM_THREADS"] = "1"

# Windows has no SIGHUP.
SIGNALS = [
    getattr(signal, name)
    for name in ("SIGINT", "SIGTERM", "SIGHUP")
    if hasattr(signal, name)
]


@pytest.fixture(params=SIGNALS, ids=lambda number: number.name)
def number(request):
    """A signal by which a program is asked to end."""
    return request.param


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
