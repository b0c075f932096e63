"""How speeds are compared, wherever they are published.

All contenders play in each round, so that what slows one down slows down the
others, too. A comparison is the median of the rounds' ratios, with its range;
where the range touches 1, the two are called level.
"""

from statistics import median

# Which part of benchmark.json, and who is compared there with whom.
ENGINES = ["ale", "envpool"]
ASYNCHRONOUS = ["ale_2", "ale_3", "ale_many", "envpool_3", "envpool_many"]
COMPARISONS = {
    "lockstep": ("lockstep", "games", ENGINES),
    "gymnasium": ("lockstep", "games", ["gymnasium"]),
    "labml": ("lockstep", "games", ["labml"]),
    "waits": ("waits", "ready", ASYNCHRONOUS),
    "gain": ("waits", "ready", ["games"]),
    "none": ("turns", "ready", ASYNCHRONOUS),
    "computes": ("computes", "ready", ASYNCHRONOUS),
}
HOSTS = {"quiet": "", "shared": "shared-"}
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


def published(benchmark):
    """What README and the page say: `[comparison][host]`, as dicts.

    `Breakout` is the comparison in Breakout, `ratio` the same without a word,
    and `titles` says on how many of the four titles `Games` is ahead. Beside
    them stands `speed`, our median of steps a second in Breakout.
    """
    result = {}
    for name, (part, ours, rivals) in COMPARISONS.items():
        result[name] = {}
        for host, prefix in HOSTS.items():
            columns = benchmark[prefix + part]["columns"]
            values = {}
            for title, rows in columns.items():
                speed = {each: row["speed"] for each, row in rows.items()}
                others = [speed[rival] for rival in rivals]
                values[title] = ratios(speed[ours], others)
            result[name][host] = {
                "Breakout": told(values["Breakout"]),
                "ratio": spread(values["Breakout"]),
                "titles": counted(map(verdict, values.values())),
                "speed": median(columns["Breakout"][ours]["speed"]),
            }
    return result


def counted(verdicts):
    """On how many titles who is ahead, in words."""
    verdicts = list(verdicts)
    parts = [
        f"{kind} on {NUMBERS[verdicts.count(kind)]}"
        for kind in ("faster", "level", "slower")
        if kind in verdicts
    ]
    return ", ".join(parts)


# What a user chooses, for README and the page.
TABLE = """\
| batches of 8 games | quiet host | shared host |
| --- | --- | --- |
| **`Games` in lockstep**, the default: Breakout, steps/s | {lockstep[quiet][speed]:,.0f} | {lockstep[shared][speed]:,.0f} |
| beside the faster engine in C++, ALE's or EnvPool | {lockstep[quiet][Breakout]} | {lockstep[shared][Breakout]} |
| on four titles | {lockstep[quiet][titles]} | {lockstep[shared][titles]} |
| **ready first**, the network waits for its device: Breakout, steps/s | {waits[quiet][speed]:,.0f} | {waits[shared][speed]:,.0f} |
| beside `Games` in lockstep | {gain[quiet][Breakout]} | {gain[shared][Breakout]} |
| beside the best asynchronous engine | {waits[quiet][Breakout]} | {waits[shared][Breakout]} |
| on four titles | {waits[quiet][titles]} | {waits[shared][titles]} |
| on four titles, while the network computes on the cores | {computes[quiet][titles]} | {computes[shared][titles]} |
"""  # noqa: E501


def table(benchmark):
    """What a user chooses, on a quiet host and on a shared one."""
    return TABLE.format_map(published(benchmark)).rstrip()
