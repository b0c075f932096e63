"""Write the pages of docs/ and README's tables from what is published.

    pip install -r requirements.txt --group measure
    python measure/report.py

Measures nothing: what is in measure/results is put into the tables of
`templates`, and drawn.
"""

import argparse
import itertools
import re
from collections import ChainMap

import numpy as np
import pandas as pd

import charts
import common
import measured
import ratios
from benchmark import LADDER, LOCKSTEP, NETWORKS, TITLES, best_threads
from charts import TESTER, rounds
from in_turn import NETWORK
from waiting import PARTS

TEMPLATES = common.HERE / "templates"
DISTURBED = 0.15  # cores; others that take less do no harm
# A part of README, between its marks.
BLOCK = re.compile(r"<!-- (\w+) -->.*?<!-- /\1 -->", re.S)
# Who learned Breakout: `agent` with seed 0, `agent_1` with seed 1, and so on.
AGENTS = re.compile(r"agent(?:_(\d+))?")


def cells(table, words):
    """Of each row the cells for Markdown, in these words."""
    return table.map(words).agg(" | ".join, axis=1)


def middle(values):
    return f"{np.median(values):,.0f}"


def machine(data):
    """What something was measured on."""
    versions = ", ".join(f"{k} {v}" for k, v in data["versions"].items())
    cores = f"{data['cores']} cores ({data['processor']})"
    return f"{cores}, Python {data['python']}, {versions}"


# How fast

NAMES = {
    "limit": "the emulator alone, the limit",
    "games": "`Games`",
    "games_true": "`Games` without snapshots",
    "worker": "`Worker`",
    "ale": "ALE `AtariVectorEnv`",
    "envpool": "EnvPool",
    "gymnasium": "Gymnasium `AsyncVectorEnv`",
    "gymnasium_single": "Gymnasium `SyncVectorEnv`",
    "sb3": "SB3 `SubprocVecEnv`",
    "sb3_single": "SB3 `DummyVecEnv`",
    "sb3_games": "`Games` under SB3",
    "labml": "labml's worker",
    "games_2": "two `Games` in turn",
    "games_3": "three `Games` in turn",
    "ready": "`Games` of one process, ready first",
}
NAMES |= {
    f"{engine}_{batches}": f"{NAMES[engine]}, asynchronous"
    for engine in ratios.ENGINES
    for batches in ("2", "3", "many")
}
CHANGES = {  # by which each differs from the one before
    "worker_plain": "+ one `Game` in place of its wrappers, in a `Worker`",
    "games_plain_each": "+ pictures in shared memory, not through the pipes",
    "games_each": "+ resets by snapshot, and resizing only what has changed",
    "games": "+ two workers in place of eight: `Games`",
}
AHEAD = {  # what is compared, and with whom
    "`Games` compared with the best of the others in lockstep": (
        "games",
        LOCKSTEP,
    ),
    "`Games` compared with `Games` without snapshots": (
        "games",
        ["games_true"],
    ),
    "two in turn compared with the best asynchronous engine": (
        "games_2",
        ratios.ASYNCHRONOUS,
    ),
    "ready first compared with the best asynchronous engine": (
        "ready",
        ratios.ASYNCHRONOUS,
    ),
    "ready first compared with those with as many games in flight": (
        "ready",
        ["ale_many", "envpool_many"],
    ),
    "ready first compared with one `Games` in lockstep": ("ready", ["games"]),
    **{
        f"`Games` compared with {NAMES[name]}": ("games", [name])
        for name in ratios.SINGLE
    },
}


def speed_values(
    data, neighbours, waiting, single, xeon, slow, cores, sticky, titles
):
    """What stands in speed.md, and README's part of it.

    `neighbours` was measured where other machines used the host, `waiting` is
    how long one process waits for another, and in `single` others play all
    games in one process, and for longer; in `xeon` on the other machine. In
    `cores` there are more cores, and more games; in `sticky` actions stick. In
    `slow` that machine was slow. `titles` are others than Breakout.
    """
    measured = {name: part for name, part in data.items() if name != "machine"}
    measured["true-neighbours"] = neighbours["whole"]
    measured["single"] = single["lockstep"]
    parts = dict(measured)
    measured["long"] = single["long"]
    measured["xeon"] = xeon["long"]
    measured["slow"] = slow["long"]
    measured["cores"] = cores["cores"]
    measured["sticky"] = sticky["sticky"]
    measured["titles"] = titles["titles"]
    measured["one"] = single["one"]
    measured["each"] = single["each"]
    games = parts.pop("count")["columns"]
    del parts["agent"]
    tuned = {name: parts.pop(name) for name in ("tune", "shared-tune")}
    compared = ratios.published(data)
    ready = data["waits"]["columns"]["Breakout"]["ready"]
    batches = ready["options"]["count"]
    return {
        **compared,
        "machine": machine(data["machine"]),
        "neighbours_machine": machine(neighbours["machine"]),
        "single_machine": machine(single["machine"]),
        "benchmark": data,
        "how": {name: how(part) for name, part in measured.items()},
        "threads": {name: threads(part) for name, part in tuned.items()},
        "table": {name: speed_table(name, parts[name]) for name in parts},
        "long_table": long_table(measured["long"]),
        "xeon": ratios.beside(measured["xeon"]),
        "xeon_table": long_table(measured["xeon"]),
        "slow": ratios.beside(measured["slow"]),
        "slow_speed": middle(
            slow["long"]["columns"]["Breakout"]["games"]["speed"]
        ),
        "cores_machine": machine(cores["machine"]),
        "cores_tables": {
            int(games): long_table(measured["cores"], games)
            for games in measured["cores"]["columns"]
        },
        "cores_threads": [
            rows["envpool"]["options"]["threads"]
            for rows in measured["cores"]["columns"].values()
        ],
        "many": ratios.by_games(measured["cores"]),
        "sticky_machine": machine(sticky["machine"]),
        "sticky_table": long_table(measured["sticky"]),
        "titles_table": titles_table(measured["titles"]),
        "titles_machine": machine(titles["machine"]),
        "agent_table": ladder_table(measured["agent"]),
        "played": ratios.beside(measured["agent"]),
        "one": ratios.beside(measured["one"], "games_single"),
        "each": ratios.beside(measured["each"]),
        "limits": {
            host: limits(parts, prefix)
            for host, prefix in ratios.HOSTS.items()
        },
        "count": cells(rounds(games), middle),
        "memory": cells(rounds(games, "memory"), middle),
        "batches": batches,
        "choice": ratios.table(compared),
        "ways": "\n".join(ways(host, waiting[host]) for host in ratios.HOSTS),
        "turns": turns(waiting, f"{batches}"),
        "most": most(waiting["quiet"]["in turn"][f"{batches}"]["waits"]),
        "flights": flights(waiting),
        "network": 1e6 * NETWORK,
        "waiting": waiting,
    }


def ways(host, part):
    """Rows: of each way to share the games out what it would gain."""
    table = cells(pd.DataFrame(part["columns"]), ratios.spread)
    return "\n".join(
        f"| {way}, {host} host | {table[way]} |" for way in table.index
    )


def turns(waiting, ready):
    """Rows: how long the parts of a batch in turn take on each host.

    For as many batches as there were, without and with giving way.
    """
    columns = [
        np.median(waiting[host]["in turn"][fleet]["waits"], axis=0)
        for host in ratios.HOSTS
        for fleet in ("don't", ready)
    ]
    table = pd.DataFrame(np.transpose(columns), PARTS)
    table.loc["all of it"] = table.sum()
    rows = cells(table, "{:,.0f}".format)
    return "\n".join(f"| {part} | {rows[part]} |" for part in rows.index)


def most(rounds):
    """How fast it would be were a batch always ready, in steps a second."""
    first, *others = np.median(rounds, axis=0)
    return 8e6 / sum(others)


def flights(waiting):
    """Rows: how fast so many batches in flight are, on each host."""
    columns = {
        (host, network): {
            fleet: middle(8e6 / np.sum(parts[network], axis=1))
            for fleet, parts in waiting[host]["in turn"].items()
            if fleet != "don't"
        }
        for host in ratios.HOSTS
        for network in ("waits", "none")
    }
    rows = cells(pd.DataFrame(columns), str)
    return "\n".join(f"| {fleet} | {rows[fleet]} |" for fleet in rows.index)


def how(part):
    """How a part was measured, to stand beside its tables."""
    columns = part["columns"].values()
    others = [row["others"] for column in columns for row in column.values()]
    others = np.concatenate(others)
    engines = sorted(
        {
            f"{row['options']['threads']} for {in_flight(row)} games"
            for column in columns
            for name, row in column.items()
            if name.startswith("envpool")
        }
    )
    engine = f"EnvPool's threads: {', '.join(engines)}; " if engines else ""
    return (
        f"*{part['rounds']} rounds of {part['seconds']} s, "
        f"{part['date']}, `game.py` of commit {part['commit']}; {engine}other "
        f"programs took less than {DISTURBED} of a core in "
        f"{np.mean(others < DISTURBED):.0%} of the measurements, "
        f"{others.max():.2f} at most*"
    )


def threads(tuned):
    """The best number of threads of EnvPool."""
    best = best_threads(tuned)
    rows = {name: next(iter(tuned["columns"][name].values())) for name in best}
    return "; ".join(
        f"{NAMES[name]}, {in_flight(rows[name])} games: {best[name]}"
        for name in best
        if name.startswith("envpool")
    )


def in_flight(row):
    """How many games a contender has in flight."""
    options = row["options"]
    return options.get("num_envs", options["games"] * options.get("count", 1))


def markdown(lines):
    """A Markdown table of lists of cells, of which the first is its head."""
    head, *rest = lines
    rows = [head, ["---"] * len(head), *rest]
    return "\n".join(f"| {' | '.join(map(str, row))} |" for row in rows)


def long_table(part, column="Breakout"):
    """A Markdown table of everybody's speed in Breakout beside ours."""
    speeds = rounds(part["columns"])[column]
    told = ratios.beside(part, column=column) | {"games": ""}
    lines = [["who plays", "steps/s", "`Games` compared with it"]]
    for name, speed in speeds.items():
        lines.append([NAMES[name], middle(speed), told[name]])
    return markdown(lines)


def ladder_table(part):
    """A Markdown table from SB3 to `Games`, and of who else plays."""
    speeds = rounds(part["columns"])["Breakout"]
    told = ratios.beside(part) | {"games": ""}
    last = "`Games` compared with it"
    lines = [["who plays", "steps/s", "compared with the row above", last]]
    gains = {
        name: ratios.told(speeds[name] / speeds[above])
        for above, name in itertools.pairwise(LADDER)
    }
    for name, speed in speeds.items():
        who = CHANGES.get(name) or NAMES[name]
        lines.append([who, middle(speed), gains.get(name, ""), told[name]])
    return markdown(lines)


def titles_table(part):
    """A Markdown table of our lead, with a column for each title."""
    columns = part["columns"]
    told = [ratios.beside(part, column=title) for title in columns]
    lines = [["`Games` compared with", *columns]]
    for name in told[0]:
        if name != "games":
            lines.append([NAMES[name], *(each[name] for each in told)])
    return markdown(lines)


def speed_table(name, part):
    """A Markdown table of a part: everybody's speed, and who is ahead.

    With a network that is in steps a second, else as a share of the limit.
    """
    columns = part["columns"]
    speeds = rounds(columns)
    network = name.endswith(("waits", "computes"))
    words = speeds.map(middle)
    if not network:
        words = (speeds / speeds.loc["limit"]).map(ratios.spread)
    words.loc["limit"] = speeds.loc["limit"].map(middle) + " steps/s"
    rows = next(iter(columns.values()))
    what = "steps/s" if network else "share of the limit"
    lines = [[what, "in flight", *speeds]]
    for one, row in rows.items():
        flying = "" if one == "limit" else in_flight(row)
        lines.append([NAMES[one], flying, *words.loc[one]])
    for title, (ours, rivals) in AHEAD.items():
        there = [rival for rival in rivals if rival in rows]
        if ours in rows and there:
            told = [
                ratios.told(ratios.ratios(speed[ours], list(speed[there])))
                for _, speed in speeds.items()
            ]
            lines.append([f"**{title}**", "", *told])
    return markdown(lines)


def limits(parts, prefix):
    """Cells: the limit on a host, over its parts."""
    speeds = [
        rounds(parts[prefix + part]["columns"]).loc["limit"]
        for part in ("lockstep", *NETWORKS)
    ]
    cells = []
    for title in TITLES:
        all_of_it = np.concatenate([speed[title] for speed in speeds])
        low, high = min(all_of_it), max(all_of_it)
        cells.append(f"{middle(all_of_it)} ({low:,.0f}–{high:,.0f})")
    return " | ".join(cells)


# What happens when something dies


def faults_values(data, mutants):
    """What stands in faults.md."""
    soak = data["soak"]
    faults = sorted(soak["faults"].items())
    memory = soak["memory in MB, round by round"]
    replaced = pd.DataFrame(data["replace"]["seconds"]).T
    peers = pd.DataFrame(data["peers"]["peers"])
    seen = peers.map(in_words)
    threads = peers.loc["killed"].map(lambda each: each["workers"] == 0)
    seen.loc[["killed", "stopped"], threads] = "no process to lose: threads"
    return {
        **data,
        "machine": machine(data["machine"]),
        "number": sum(number for _, number in faults),
        "kinds": ", ".join(f"{kind} {number}" for kind, number in faults),
        "memory": [memory[0], memory[-1]],
        "memories": len(memory),
        "replaced": cells(
            replaced, lambda v: f"{np.median(v):.2f} ({max(v):.2f})"
        ),
        "seen": cells(seen, str),
        "seen_in_short": cells(
            seen, lambda words: ", ".join(words.split(", ")[:2])
        ),
        "mutants": mutants,
        "survivors": "\n".join(f"- {one}" for one in mutants["survivors"]),
    }


def in_words(seen):
    """What was seen of a fault, in a few words."""
    if "step" not in seen:
        return seen["silence"]
    told = {"told": "replaced and reported", "silent": "says nothing"}
    first = seen["step"]
    said = [told.get(first, f"`{first}`")]
    if seen.get("next") in told:
        said.append("plays on")
    for call, name in ("next", "next step"), ("close", "`close`"):
        outcome = seen.get(call, seen["silence"])
        if outcome not in told:
            too = "too" if outcome == first else f"`{outcome}`"
            said.append(f"{name} {too}")
    if seen.get("stay"):
        said.append(f"{seen['stay']} of {seen['workers']} workers stay")
    return ", ".join(said)


# What is learned

SIDES = {  # of an update on a GPU
    "games": "`Games`",
    "turns": "two `Games` in turn",
    "envpool": "EnvPool",
    "wrappers": "CleanRL's wrappers, a process for each game",
    "stock": "CleanRL's wrappers, all games in the program itself",
}


def learning_values(curves, data):
    """What stands in learning.md."""
    share = data["training"]["share"]
    spent = pd.DataFrame(share["rounds"])  # of each: games, network, learning
    total = spent.map(sum)
    games = spent.map(lambda parts: parts[0])
    learning = spent.map(lambda parts: parts[2])
    stock = data["stock"]["share"]
    apart = pd.DataFrame(stock["rounds"])
    apart_total = apart.map(sum)
    apart_games = apart.map(lambda parts: parts[0])
    agents = breakout(curves, data)
    labml = curves["labml"].iloc[-1]
    alone = np.median(total.turns)  # seconds
    slower = np.median(apart_total.games)
    float32 = data["float32"]["share"]
    slowest = np.median([sum(it["turns"]) for it in float32["rounds"]])
    return {
        "tester": TESTER,
        "field": "\n".join(f"| {row} |" for row in field(data["field"])),
        "field_date": data["field"]["date"],
        "core_hours": core_hours(curves["agent_cores"]),
        "alone": alone,
        "alone_hours": 10e6 / share["steps"] * alone / 3600,
        "agent": agents[0],
        "still": summary(data["still"]["still"]),
        "agents": "\n".join(f"| {seed_row(*it)} |" for it in agents.items()),
        "agents_score": over_seeds([it["score"] for it in agents.values()]),
        "agents_seeds": len(agents),
        "agents_hours": ", ".join(
            f"{it['hours']:.1f}" for it in agents.values()
        ),
        "pong": agent_values(curves["pong"], data["pong"]),
        "pong_cores": curves["pong_cores"].mean(),
        "pong_three": earlier(data["pong_three"]),
        "pong_64": agent_values(curves["pong_64"], data["pong_64"]),
        "pong_gpu": agent_values(curves["pong_gpu"], data["pong_gpu"]),
        "share": share | {"rounds": len(spent)},
        "share_machine": machine(share),
        "parts": {side: parts(np.stack(each)) for side, each in spent.items()},
        "in_turn": ratios.told(total.games / total.turns),
        "ready": ratios.told(total.turns / total.ready),
        "whole": ratios.told(total.wrappers / total.games),
        "games": ratios.told(games.wrappers / games.games),
        "stock": stock,
        "stock_machine": machine(stock),
        "slower": slower,
        "slower_hours": 10e6 / stock["steps"] * slower / 3600,
        "slowest": slowest,
        "slowest_hours": 10e6 / float32["steps"] * slowest / 3600,
        "float32": float32,
        "float32_machine": machine(float32),
        "stock_whole": ratios.told(apart_total.stock / apart_total.games),
        "stock_games": ratios.told(apart_games.stock / apart_games.games),
        "stock_async": ratios.told(apart_total.wrappers / apart_total.games),
        "xeon_machine": machine(data["trained"]["share"]),
        "xeon_date": data["trained"]["share"]["date"],
        "on_xeon": {
            "first": ratios.updates(data["stock_xeon"]["share"]["rounds"]),
            "trained": ratios.updates(data["trained"]["share"]["rounds"]),
        },
        "sb3_updates": sb3(data["sb3_updates"]),
        "sb3_gpu": sb3(data["sb3_gpu"]),
        "gpu": data["gpu"]["gpu"],
        "gpu_machine": machine(data["gpu"]["8"]),
        "on_gpu": {
            games: on_gpu(data["gpu"][str(games)]) for games in (8, 64)
        },
        "learning": summary([*learning.games, *learning.wrappers]),
        "seeds": curves["training"].seed.nunique(),
        "learned": learned(measured.learned()),
        "labml": data["labml"] | labml.to_dict(),
        "labml_machine": machine(data["labml"]),
        "labml_hours": labml.seconds / 3600,
    }


def sb3(found):
    """What an update of SB3's own PPO gains, and how long it learns."""
    return {
        "first": ratios.updates(found["first"])["sb3"],
        "trained": ratios.updates(found["trained"])["sb3"],
        "learning": ratios.learning(found),
        "machine": machine(found),
        "date": found["date"],
    }


def on_gpu(share):
    """What an update takes where the network has a GPU, and whole trainings.

    `rows` are a Markdown table's, `hours` those of 10 million steps.
    """
    spent = pd.DataFrame(share["rounds"])
    total = spent.map(sum)
    told = total.apply(lambda side: ratios.told(side / total.games))
    told["games"] = ""
    rows = [
        f"| {SIDES[side]} | {parts(np.stack(spent[side]))} | {told[side]} |"
        for side in SIDES
        if side in spent
    ]
    hours = 10e6 / share["steps"] * total.median() / 3600
    return {
        **share,
        "rounds": len(spent),
        "rows": "\n".join(rows),
        "told": told,
        "hours": hours,
    }


def field(data):
    """Of each published agent the cells of a row."""
    columns = ["name", "breakout", "pong", "seeds", "hours", "source"]
    return cells(pd.DataFrame(data["agents"])[columns], str)


def core_hours(cores):
    """The hours that a program and its workers would take on one core."""
    lasted = cores.seconds.diff().fillna(cores.seconds) / 3600
    return ((cores.program + cores.workers) * lasted).sum()


def agent_values(curve, about):
    """What learning.md says of an agent of ppo.py."""
    hours = curve[["games", "network", "learning"]].sum(axis=1) / 3600
    ahead = (curve.score > 0).idxmax()
    ways = {way: summary(each) for way, each in about["scores"].items()}
    over = about["steps"] >= about["until"]
    so_far = "" if over else f" so far, of {about['until']:,}"
    return {
        **about,
        **ways,
        "machine": machine(about),
        "so_far": f"{about['steps']:,} steps{so_far}",
        "hours": hours.iloc[-1],
        "minutes": 60 * hours.iloc[-1],
        "speed": about["steps"] / hours.iloc[-1] / 3600,
        "score": curve.score.iloc[-1],
        "ahead": curve.steps[ahead],
        "ahead_hours": hours[ahead],
    }


def earlier(about):
    """What learning.md says of a run whose curve isn't shown."""
    ways = {way: summary(each) for way, each in about["scores"].items()}
    hours = sum(about["seconds"].values()) / 3600
    return {**about, **ways, "machine": machine(about), "hours": hours}


def breakout(curves, data):
    """Of each seed of Breakout what learning.md says of its agent."""
    agents = {}
    for name in sorted(data):
        found = AGENTS.fullmatch(name)
        if found:
            seed = int(found[1] or 0)
            agents[seed] = agent_values(curves[name], data[name])
    return agents


def seed_row(seed, agent):
    """Cells: a seed, the end of its training, and whole games in both ways."""
    games = [
        f"{way['mean']:.1f} ({way['min']:.0f} to {way['max']:.0f})"
        for way in (agent["served"], agent["alone"])
    ]
    return " | ".join([str(seed), f"{agent['score']:.1f}", *games])


def over_seeds(scores):
    """The mean of several seeds and, if there are more than one, the range."""
    told = f"{np.mean(scores):.1f}"
    if len(scores) > 1:
        told += f" ({min(scores):.1f} to {max(scores):.1f})"
    return told


def summary(values):
    """Among others the least, the median (`50%`), the mean and the most."""
    return pd.Series(values).describe()


def parts(seconds):
    """Cells: what an update's time is made of, and all of it."""
    middle = np.median(seconds, axis=0)
    cells = [f"{part:.2f} s ({part / middle.sum():.0%})" for part in middle]
    return " | ".join([*cells, f"{np.median(seconds.sum(axis=1)):.2f} s"])


def learned(titles):
    """Lines: of each title, what was learned on each side."""
    lines = []
    for title, sides in titles.items():
        what = f"{charts.spaced(title)}, {sides['steps']:,}"
        both = f"{sides['games_told']} | {sides['wrappers_told']}"
        lines.append(f"| {what} | {both} |")
    return "\n".join(lines)


# All of it


def main():
    argparse.ArgumentParser(description=__doc__).parse_args()
    readme = common.ROOT / "README.md"
    blocks = write(common.ROOT / "docs")
    readme.write_text(put(readme.read_text("utf-8"), blocks), "utf-8")


def write(docs):
    """Write pages and charts; return README's parts."""
    files = common.RESULTS.glob("*.json")
    data = {file.stem: common.read(file) for file in files}
    tables = common.RESULTS.glob("*.csv")
    curves = {table.stem: pd.read_csv(table) for table in tables}
    folder = docs / "charts"
    folder.mkdir(exist_ok=True)
    charts.draw_speeds(data["benchmark"], folder)
    agents = [curves[name] for name in sorted(filter(AGENTS.fullmatch, data))]
    drawn = "training", "labml", "pong", "pong_cores"
    field = data["field"]["agents"]
    others = [curves[name] for name in drawn]
    charts.draw_learning(agents, *others, field, folder)
    of_speed = "benchmark", "shared_host", "waiting", "single", "single_xeon"
    of_speed += "single_slow", "cores", "sticky", "titles"
    values = {
        "speed": speed_values(*map(data.get, of_speed)),
        "faults": faults_values(data["chaos"], data["mutants"]),
        "learning": learning_values(curves, data),
    }
    for name, each in values.items():
        (docs / f"{name}.md").write_text(fill(name, each), "utf-8")
    return fill("README", ChainMap(*values.values()))


def fill(name, values):
    template = (TEMPLATES / f"{name}.md").read_text("utf-8")
    return template.format_map(values)


def put(readme, text):
    """Put README's parts in place of those between the same marks."""
    blocks = {found[1]: found[0] for found in BLOCK.finditer(text)}
    return BLOCK.sub(lambda old: blocks[old[1]], readme)


if __name__ == "__main__":
    main()
