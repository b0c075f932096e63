"""How speeds are compared, wherever they are published.

All contenders play in each round, so that what slows one down slows down the
others, too. A comparison is the median of the rounds' ratios, with its range;
where the range touches 1, the two are called level.
"""

from statistics import median

NUMBERS = "none", "one", "two", "three", "all"


def ratios(ours, rivals):
    """Of each round the ratio of our speed to that of the fastest rival.

    That is the one with the highest median.
    """
    fastest = max(rivals, key=median)
    return [a / b for a, b in zip(ours, fastest, strict=True)]


def spread(values):
    """The median and the range."""
    return f"{median(values):.2f} ({min(values):.2f}–{max(values):.2f})"


def verdict(values):
    """Who is ahead, by the range as it is printed."""
    if round(min(values), 2) > 1:
        return "faster"
    if round(max(values), 2) < 1:
        return "slower"
    return "level"


def told(values):
    """A comparison as it is published."""
    level = "level, " if verdict(values) == "level" else ""
    return level + spread(values)


def counted(verdicts):
    """On how many of four titles who is ahead, in words."""
    verdicts = list(verdicts)
    parts = [
        f"{kind} on {NUMBERS[verdicts.count(kind)]}"
        for kind in ("faster", "level", "slower")
        if kind in verdicts
    ]
    return ", ".join(parts)
