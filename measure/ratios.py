"""How speeds are compared: within a round, by one rule for all that is said.

A ratio is that of two contenders in one round. Published are the median of the
rounds' ratios and the interval in which the true median lies with 95 %. Two
contenders are *level* where that interval holds 1.
"""

import math
from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any


def beside(rows: Mapping[str, Any], ours: str, other: str) -> list[float]:
    """How many times as fast ours is, round by round."""
    speeds = zip(rows[ours]["speed"], rows[other]["speed"], strict=True)
    return [our_speed / speed for our_speed, speed in speeds]


def interval(ratios: Sequence[float]) -> tuple[float, float]:
    """Between which of the ratios the true median lies, with 95 %.

    That follows from their order alone. Of 15 they are the 4th and the 12th.
    """
    ratios = sorted(ratios)
    n = len(ratios)
    aside = math.ceil(1.96 * math.sqrt(n) / 2)
    low, high = n // 2 - aside, (n - 1) // 2 + aside
    return ratios[max(0, low)], ratios[min(n - 1, high)]


def is_level(ratios: Sequence[float]) -> bool:
    low, high = interval(ratios)
    return low <= 1 <= high


def spread(ratios: Sequence[float]) -> str:
    """The median and its interval."""
    low, high = interval(ratios)
    return f"{median(ratios):.2f} ({low:.2f}–{high:.2f})"
