"""How speeds are compared, wherever they are published.

All contenders play in each round, so that what slows one down slows down the
others, too. A comparison is the median of the rounds' ratios, with its range;
where the range touches 1, the two are called level.
"""

from statistics import median

# Which part of benchmark.json, and who is compared there with whom.
ENGINES = ["ale", "envpool"]
ASYNCHRONOUS = ["ale_2", "ale_3", "ale_many", "envpool_3", "envpool_many"]
SINGLE = ["sb3_single", "gymnasium_single"]
COMPARISONS = {
    "lockstep": ("lockstep", "games", ENGINES),
    "ale": ("lockstep", "games", ["ale"]),
    "envpool": ("lockstep", "games", ["envpool"]),
    "gymnasium": ("lockstep", "games", ["gymnasium"]),
    "sb3": ("lockstep", "games", ["sb3"]),
    "labml": ("lockstep", "games", ["labml"]),
    "paused": ("waits", "games", ASYNCHRONOUS),
    "waits": ("waits", "ready", ASYNCHRONOUS),
    "gain": ("waits", "ready", ["games"]),
    "computes": ("computes", "ready", ASYNCHRONOUS),
}
HOSTS = {"quiet": "", "shared": "shared-"}


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


def beside(part, ours="games", column="Breakout"):
    """How many times as fast we are in Breakout as each of the others."""
    rows = part["columns"][column]
    speed = rows[ours]["speed"]
    return {
        name: told(ratios(speed, [row["speed"]])) for name, row in rows.items()
    }


def updates(rounds):
    """How many times as fast an update is on `Games` as on each side."""
    return {
        side: told([sum(it[side]) / sum(it["games"]) for it in rounds])
        for side in rounds[0]
    }


def learning(found):
    """The share of learning in an update of SB3's PPO on `Games`."""
    return median(
        it["games"][1] / sum(it["games"])
        for who in ("first", "trained")
        for it in found[who]
    )


def by_games(part):
    """Likewise of a part whose columns are numbers of games."""
    return {
        int(games): beside(part, column=games) for games in part["columns"]
    }


def counted(verdicts):
    """On how many titles who is ahead, in words."""
    verdicts = list(verdicts)
    parts = [
        f"{kind} on {verdicts.count(kind)}"
        for kind in ("faster", "level", "slower")
        if kind in verdicts
    ]
    return f"{', '.join(parts)} of {len(verdicts)} titles"


def published(benchmark):
    """What README and the page say: `[comparison][host]`, as dicts.

    `ratio` is the comparison in Breakout, `titles` says on how many of the
    four titles who is ahead, `told` says both, and `speed` is our steps a
    second in Breakout.
    """
    result = {}
    for name, (part, ours, rivals) in COMPARISONS.items():
        result[name] = {}
        for host, prefix in HOSTS.items():
            columns = benchmark[prefix + part]["columns"]
            values = {
                title: ratios(
                    rows[ours]["speed"],
                    [rows[each]["speed"] for each in rivals],
                )
                for title, rows in columns.items()
            }
            ratio = told(values["Breakout"])
            titles = counted(map(verdict, values.values()))
            result[name][host] = {
                "ratio": ratio,
                "told": f"{ratio}; {titles}",
                "titles": titles,
                "speed": median(columns["Breakout"][ours]["speed"]),
            }
    return result


# What a user chooses.
TABLE = """\
| batches of 8 games of Breakout | quiet host | shared host |
| --- | --- | --- |
| **in lockstep**, steps/s | {lockstep[quiet][speed]:,.0f} | {lockstep[shared][speed]:,.0f} |
| compared with the faster engine in C++, ALE's or EnvPool | {lockstep[quiet][told]} | {lockstep[shared][told]} |
| **ready first**, compared with the best of their asynchronous modes, with a network that waits for a device | {waits[quiet][told]} | {waits[shared][told]} |
| one `Games` in lockstep, compared with the same modes beside the same network | {paused[quiet][told]} | {paused[shared][told]} |
| **ready first**, compared with them beside a network that computes on these cores | {computes[quiet][told]} | {computes[shared][told]} |
"""  # noqa: E501


def table(compared):
    """What a user chooses, on a quiet host and on a shared one."""
    return TABLE.format_map(compared).rstrip()
