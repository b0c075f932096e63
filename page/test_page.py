"""
Tests of the page: `game.md` and `docs/index.html`.

    pip install -r requirements.txt --group page    # and a system's Chromium
    python -m pytest page/test_page.py
"""

import ast
import base64
import difflib
import itertools
import json
import math
import re
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path
from unittest import mock

import cv2
import gymnasium as gym
import numpy as np
import pytest
import torch
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

import game
import measured
import publish
import weave
from figures import TARGETS, to_learn_from

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
DOCS = ROOT / "docs"
ADDRESS = (DOCS / "index.html").as_uri()
SOURCE = (ROOT / "game.py").read_text()
MARKDOWN = (ROOT / "game.md").read_text()
HTML = (DOCS / "index.html").read_text()
NOTES = (HERE / "notes.md").read_text() + (HERE / "reference.md").read_text()
FACTS = json.loads(measured.FACTS.read_text())
AWAKE = json.loads((measured.RESULTS / "awake.json").read_text())
DIFFERENCES = json.loads((measured.RESULTS / "differences.json").read_text())


@pytest.fixture
def visit(open_page):
    def visit(width=1280, scheme="light", **options):
        return open_page(ADDRESS, width, color_scheme=scheme, **options)

    return visit


@pytest.fixture
def page(visit):
    """The page as it was woven: no script has changed it."""
    return visit(java_script_enabled=False)


TEXT = "it.textContent"


def all_of(page, selector, what):
    """Something of each element of a page, in order."""
    return page.eval_on_selector_all(
        selector, f"all => all.map((it) => {what})"
    )


# The text


def test_what_is_stale_is_noticed(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["weave.py", "--check"])
    assert weave.main() == 0, capsys.readouterr().out
    stale = {ROOT / "game.md": MARKDOWN + "One more thing.\n"}
    monkeypatch.setattr(weave, "woven", lambda source: stale)
    assert weave.main() == 1
    assert "game.md is stale" in capsys.readouterr().out
    assert (ROOT / "game.md").read_text() == MARKDOWN


def letters(text):
    """What Markdown and HTML have in common."""
    text = re.sub(r"\]\([^)]*\)|\b\d+\.\s|^```\w+", "", text, flags=re.M)
    return "".join(re.findall(r"\w", text))


def test_every_source_line_is_on_the_page_once_and_in_order(page):
    told = weave.blocks(SOURCE)
    titles = iter([b.text for b in told if b.level])
    for which, same, selector in (
        (lambda b: b.is_code, str.rstrip, ".code"),
        (lambda b: b.kind == "comment" and not b.level, letters, ".comment"),
        (lambda b: b.kind == "docstring", letters, ".docstring"),
    ):
        ours = [same(block.text) for block in told if which(block)]
        theirs = all_of(page, f"{selector}:not(:has(> :is(h2, h3, h4)))", TEXT)
        assert "".join(ours) == "".join(map(same, theirs))
    shown = map(letters, all_of(page, "main :is(h1, h2, h3, h4)", TEXT))
    for title in titles:
        assert letters(title) in shown


def test_every_source_line_is_in_the_markdown_once_and_in_order():
    shown = iter(MARKDOWN.splitlines())
    blocks = weave.blocks(SOURCE)
    for block in blocks:
        for text in filter(str.strip, block.text.split("\n")):
            assert text.strip() in map(str.strip, shown), block.row
    shown, examples = (
        re.findall(r"^```python\n(.*?)^```", text, re.M | re.S)
        for text in (MARKDOWN, NOTES)
    )
    shown = "".join(one for one in shown if one not in examples)
    code = "\n".join(block.text for block in blocks if block.is_code)
    assert list(filter(None, shown.split("\n"))) == list(
        filter(None, code.split("\n"))
    )


def test_what_is_folded():
    """Each section that the notes name, with lower ones, and nothing else."""
    folds = re.findall("(?s)<details>\n<summary>.*?</details>", MARKDOWN)
    assert any("import multiprocessing" in fold for fold in folds)
    named = set(re.findall("<!-- fold: (.*) -->", NOTES))
    titles = set()
    for fold in folds:
        prose = re.sub("(?s)```.*?```", "", fold)
        headings = re.findall("^(#+) (.*)", prose, re.M)
        first, *others = headings or [("", "")]
        titles.add(weave.slug(first[1]))
        assert all(len(level) > len(first[0]) > 0 for level, _ in others)
    assert titles - {""} == {name for name in named if name.lower() == name}


def test_a_long_docstring_is_folded_but_for_its_first_paragraph():
    kinds = ast.FunctionDef, ast.ClassDef
    things = [it for it in ast.walk(ast.parse(SOURCE)) if type(it) in kinds]
    docstrings = [ast.get_docstring(thing) or "" for thing in things]
    first = "\n\n{}\n\n<details>\n\n{}"
    parts = [text.partition("\n\n")[::2] for text in docstrings]
    long = [rest.count("\n") >= 4 for _, rest in parts]
    folded = [first.format(*part) in MARKDOWN for part in parts]
    assert folded == long and 5 < sum(long) < len(long)


def test_a_definition_is_folded_by_its_name():
    """With its docstring, as far as the next heading or fold."""
    first, second = "What is drawn?", "Who presses FIRE?"
    told = weave.told(
        SOURCE,
        f"<!-- fold: Game.render -->\n{first}\n"
        f"<!-- fold: Game._begin_episode -->\n{second}\n",
    )
    page = weave.markdown(told)
    for line, name in (first, "render"), (second, "_begin_episode"):
        fold = page.partition(f"\n\n{line}\n\n")[2].partition("</details>")[0]
        assert f"def {name}(" in fold
    for name in "step", "worker_process", "main":
        assert f"def {name}(" not in "".join(
            re.findall("(?s)<details>.*?</details>", page)
        )


def woven_with(comment):
    """Both pages as they would be with one more comment in the module."""
    before, rest = SOURCE.split("    # ### Small and gray\n", 1)
    pages = weave.woven(f"{before}{comment}    # ### Small and gray\n{rest}")
    return pages[ROOT / "game.md"], pages[DOCS / "index.html"]


def minutes(markdown):
    """What the contents say of the parts."""
    times = re.findall(r"(\d+) min$", markdown, re.M)
    return [int(time) for time in times]


def test_the_time_it_takes():
    """2,200 words in part 1 are ten minutes, at 220 a minute."""
    longer = woven_with("# One word and another.\n" * 550)[0]
    first, *others = minutes(MARKDOWN)
    assert minutes(longer) == [first + 10, *others]
    assert len(others) == 4


def test_a_comment_changes_a_few_lines():
    """The page can be read as a diff."""
    after = woven_with("# One more line of a comment.\n")
    for old, new in zip(woven_with(""), after, strict=True):
        changed = difflib.unified_diff(old.splitlines(), new.splitlines(), n=0)
        assert len([line for line in changed if line[0] in "+-"]) <= 20


# What others may cite: these addresses stay, whatever is written.
CITED = [
    *("maximum", "frame-stack", "refilled-stack", "fire", "no-ops", "lives"),
    *("truncation", "sticky-actions", "clipping"),
]


def test_each_detail_can_be_cited(visit):
    """One place has this name, in the Markdown, too, and its own link."""
    page = unfold(visit())
    for name in CITED:
        assert MARKDOWN.count(f'<a id="{name}"></a>\n') == 1
        link = page.locator(f"a[id={name}][href='#{name}']")
        expect(link).to_have_count(1)
        expect(link).to_have_css("opacity", "0")
        link.focus()
        page.keyboard.press("Enter")
        expect(link).to_be_in_viewport()
        expect(link).to_have_css("opacity", "1")


def test_each_heading_links_to_itself(visit):
    """By keyboard as by mouse; that of a fold once it is open."""
    page = unfold(visit())
    for heading in page.locator("main :is(h2, h3, h4):not(summary *)").all():
        address = heading.evaluate("(it) => it.closest('.row').id")
        assert heading.locator(f"a[href='#{address}']").count() == 1
    for fold in page.locator("details:has(summary :is(h3, h4))").all():
        address = fold.locator("> span[id]").get_attribute("id")
        expect(fold.locator(f"> span[id] a[href='#{address}']")).to_have_count(
            1
        )
    heading = page.locator("main h3:not(summary *)").first
    heading.hover()
    expect(heading.locator("a")).to_have_css("opacity", "1")


@pytest.mark.parametrize("width", [390, 1280])
def test_a_section_is_found_from_below(visit, width):
    """As from above, although words are kept beside what they are about."""
    page = visit(width)
    for name in "one-step", "small-and-gray", "train-one-yourself":
        page.evaluate("scrollTo(0, document.body.scrollHeight)")
        page.evaluate(f"location.hash = '{name}'")
        top = (
            f"document.querySelector('#{name} h3').getBoundingClientRect().top"
        )
        assert 48 < page.evaluate(top) < 160


def test_an_anchor_without_its_text_is_noticed():
    with pytest.raises(AssertionError, match="0 places for nowhere"):
        weave.told(SOURCE, "<!-- anchor: nowhere -->\nno such words\n")
    with pytest.raises(AssertionError, match="no place for .*no-such-section"):
        weave.told(SOURCE, "<!-- after: no-such-section -->\nHello.\n")


def test_all_links_lead_somewhere(page):
    ids = all_of(page, "[id]", "it.id")
    assert len(ids) == len(set(ids))
    pages = *DOCS.glob("*.html"), *DOCS.glob("*.md"), ROOT / "game.md"
    for file in pages:
        found = re.findall(
            r' (?:href|src|srcset)="?([^"\s>]+)'
            if file.suffix == ".html"
            else r"\]\(([^)\s]+)",
            file.read_text(),
        )
        assert found or file.stem == "faults"
        for link in found:
            path, _, name = link.partition("#")
            there = file.parent / path if path else file
            if ":" in path:
                continue
            assert there.exists(), link
            if name and there.suffix == ".html":
                text = there.read_text()
                assert re.search(f' id="?{re.escape(name)}[" >]', text), link
            elif name and there.name != "game.md":
                titles = re.findall("^#+ (.*)", there.read_text(), re.M)
                assert name in map(weave.slug, titles), link
            elif name:
                assert name in ids, link


def test_links_of_the_published_page_lead_to_the_repository():
    """To the same files, one of them to download."""
    host = "https://host.example/me/it"
    pages = HTML + (DOCS / "learning.html").read_text()
    links = [
        re.findall(r' href="(?!#|data:)(.*?)"', html)
        for html in (pages, publish.hosted(pages, host, "abc"))
    ]
    assert "document.css" in links[0]
    for before, after in zip(*links, strict=True):
        if re.match(r"https:|\w+\.(html|css)", before):
            assert after == before
        else:
            path, _, place = before.partition("#")
            there = after.replace("/raw/", "/blob/")
            there, _, same = there.removeprefix(f"{host}/blob/abc/").partition(
                "#"
            )
            assert (ROOT / there).samefile(DOCS / path) and same == place
    assert f"{host}/raw/abc/game.py" in links[1]


def test_what_is_woven_is_marked_as_generated():
    """So that a code host leaves it out of its diffs and statistics."""
    woven = list(weave.woven(SOURCE))
    command = ["git", "check-attr", "linguist-generated", *woven]
    said = subprocess.check_output(command, cwd=ROOT, text=True)
    assert said.count(": set\n") == len(woven)


def test_structure(page):
    for tag in "html[lang=en]", "h1", "main", "nav":
        expect(page.locator(tag)).to_have_count(1)
    # Nothing shifts, and what is far off isn't loaded.
    assert page.locator("img").count() > 10
    unlike = "img:not([width][height][alt][loading=lazy])"
    expect(page.locator(unlike)).to_have_count(0)
    assert len(HTML.encode()) < 250_000
    # No Markdown is left: every picture of the notes is one.
    assert not re.search(r"!\[|\]\(", HTML.partition("<script>")[0])
    assert NOTES.count("](figures/") + NOTES.count("](charts/") == len(
        set(re.findall(r'<img src="(\S+)"', HTML))
    )
    said = dict(re.findall(r'<meta \S+="(\S+)" content="([^"]*)"', HTML))
    assert "default-src 'none'" in said["Content-Security-Policy"]
    assert (DOCS / said["og:image"]).exists()
    assert 120 <= len(said["description"]) <= 160


# What it says


def about(fact, digits=1):
    """A measured number as prose rounds it."""
    number = float(f"{float(fact.replace(',', '')):.{digits}g}")
    return f"{number:,.0f}" if number >= 1 else f"{number:g}"


def test_numbers_in_the_prose_of_the_module_were_measured():
    prose = [block.text for block in weave.blocks(SOURCE) if not block.is_code]
    prose += re.findall("<!-- fold: .* -->((?s:.*?))(?=<!--)", NOTES)
    prose = " ".join(" ".join(prose).split())
    times = [
        about(FACTS[f"{what}_ms"]) for what in ("reset", "restore", "load")
    ]
    times.append(f"{game.AWAKE * 1000:g}")  # which is no measurement
    titles = str(FACTS["games"])
    late, carried = str(FACTS["late_games"]), str(FACTS["carried_games"])
    frames = FACTS["late_least"], about(FACTS["late_most"], 2)
    for pattern, numbers in [
        (r"([\d.]+) ms", times),
        (
            r"(\d+) of (?:the )?(\d+) titles",
            [(late, titles), (carried, titles)],
        ),
        (r"(\d+) to ([\d,]+) frames", [frames]),
    ]:
        said = set(re.findall(pattern, prose))
        assert said and said <= set(numbers), pattern
    assert "in less than half of the time" in NOTES
    assert float(FACTS["shrink_saves"].rstrip("\xa0%")) > 50
    assert "gained up to a sixth where this was" in " ".join(SOURCE.split())
    gains = [
        np.median(np.divide(speeds["new"], speeds["old"]))
        for speeds in AWAKE["columns"].values()
    ]
    assert round(min(gains), 1) == 1 and round(6 * (max(gains) - 1)) == 1


def test_ids_are_as_the_table_says():
    row = r"^\| `(\S*Breakout\S*)` \| (.*?) \| (.*?) \|$"
    rows = re.findall(row, NOTES, re.M)
    assert len(rows) == 5
    for env_id, skip, sticky in rows:
        options = gym.spec(env_id).kwargs
        frames = (2, 5) if skip == "2, 3 or 4 by chance" else int(skip)
        assert options["frameskip"] == frames
        chance = 0 if sticky == "no" else float(sticky)
        assert options["repeat_action_probability"] == chance
        assert options["max_num_frames_per_episode"] == 108_000


ENGINES = "ale", "envpool"


def gpu_ratios(found, side):
    """How many times as long an update with a GPU takes on a side."""
    share = found["gpu"]["8"]
    ours, theirs = (measured.seconds(share, each) for each in ("games", side))
    return np.divide(theirs, ours)


def test_how_fast_it_is_in_words():
    """On two cores and on sixteen ahead of everybody, or level."""
    found = measured.measured()
    assert found["single"]["long"]["seconds"] == 30
    assert found["single_xeon"]["long"]["seconds"] == 30
    assert found["single_xeon"]["machine"]["cores"] == 2
    many = {
        (games, name): float(told.split()[0])
        for games, row in found["many"].items()
        for name, told in row.items()
        if name not in ("games", "limit")
    }
    # SB3 and Gymnasium are slower everywhere, and nobody is faster.
    slow = measured.ratios.beside(found["single_slow"]["long"])
    for name in "sb3", "gymnasium", *ENGINES:
        machines = found["ahead"], found["xeon"], slow, found["played"]
        for told in [machine[name] for machine in machines]:
            if not (name in ENGINES and told.startswith("level")):
                assert float(told.split()[0]) > 1
        for games in 8, 64:
            assert many[games, name] > 1
        for host in "quiet", "shared":
            titles = found["beside"][name][host]["titles"]
            assert "slower" not in titles
            assert name in ENGINES or titles == "faster on 4 of 4 titles"
    shared = [found["beside"][name]["shared"]["titles"] for name in ENGINES]
    assert shared == [
        "faster on 1, level on 3 of 4 titles",
        "level on 4 of 4 titles",
    ]
    # The engines are level on one machine, and slower in the table.
    assert found["single"]["machine"]["processor"].startswith("AMD EPYC")
    assert all(found["ahead"][it].startswith("level") for it in ENGINES)
    assert "to say whether `Games` or an engine in C++ plays faster." in NOTES
    columns = found["played"], found["xeon"]
    assert "**about twice as fast as the `SubprocVecEnv` of SB3**" in NOTES
    for column in columns:
        assert 1.9 < float(column["sb3"].split()[0]) < 2.4
        for name, lead in ("envpool", 1.3), ("ale", 1.2):
            assert abs(float(column[name].split()[0]) - lead) < 0.05
    # Beside an engine: level, or at most so much faster.
    told = "In lockstep `Games` is 1.2 to 1.3 times as fast as these; on ["
    assert f"{told}other titles and machines](#other-m" in NOTES
    here = [float(found["medians"]["played"][it][:-1]) for it in ENGINES]
    assert sorted(round(it, 1) for it in here) == [1.2, 1.3]
    assert "), between equally fast and 1.4 times as fast." in NOTES
    titles = found["titles"].values()
    rows = *columns, found["sticky"], found["many"][64], *titles
    leads = [float(row[name].split()[0]) for row in rows for name in ENGINES]
    assert min(leads) > 1 and round(max(leads), 1) == 1.4
    # What is gained by each change on the way from SB3.
    speeds = {
        name: row["speed"]
        for name, row in found["benchmark"]["agent"]["columns"][
            "Breakout"
        ].items()
    }
    ladder = [name for name in speeds if name not in (*ENGINES, "gymnasium")]
    gains = {
        name: np.median(measured.ratios.ratios(speeds[name], [speeds[above]]))
        for above, name in itertools.pairwise(ladder)
    }
    most = sorted(gains, key=gains.get)
    assert most[-2:] == ["worker_plain", "games"]
    drawn = (DOCS / "charts/ladder.svg").read_text()
    for name in speeds:
        assert f">{np.median(speeds[name]):,.0f}</text>" in drawn
    for title in found["titles"].values():
        assert all(float(title[name].split()[0]) > 1 for name in ENGINES)
    # With sticky actions the gain stays.
    for name in "sb3", "gymnasium", *ENGINES:
        assert float(found["sticky"][name].split()[0]) > 1
    # An update is faster, and less so by a trained agent.
    gains = found["first_update"], found["trained_update"]
    for name in "stock", "wrappers", "sb3", "envpool":
        first, trained = [float(one[name].split()[-2]) for one in gains]
        low, high = (
            (1.3, 1.55) if name in ("stock", "wrappers") else (1.05, 1.15)
        )
        assert low < trained < first < high
    assert "A whole training gains less, since learning takes as long" in NOTES
    for name, most in ("sb3_updates", 1), ("sb3_gpu", 0):  # plays, learns
        sides = [
            np.median([it[side] for it in found[name]["trained"]], axis=0)
            for side in ("sb3", "games")
        ]
        assert all(np.argmax(side) == most for side in sides)
        assert 0.9 < sides[0][1] / sides[1][1] < 1.1
    with_gpu = found["gpu_trained"], found["gpu_update"]
    gains = [float(one["sb3"].split()[-2]) for one in (*gains, *with_gpu)]
    assert found["trained_update"]["sb3"].startswith("level, 1.09")
    assert found["medians"]["gpu_trained"]["sb3"] == "1.25×"
    assert "two cores: learning takes most of the time, so faster" in NOTES
    told = "[Training gains less](#is-it-for-you); with SB3 on two cores we"
    assert f"{told} measured no clear gain." in NOTES
    assert found["medians"]["trained_update"]["sb3"] == "no clear gain"
    assert 1 < gains[1] < gains[0] < gains[2] < gains[3]
    told = "twice as fast as the vector environments of Stable-Baselines3"
    assert f"plays about {told} (SB3) and Gymnasium" in NOTES
    assert 1.7 < float(found["played"]["gymnasium"].split()[0]) < 2.3
    assert min(float(row["sb3"].split()[0]) for row in rows) > 1.9
    assert found["stock_xeon"]["share"]["bfloat16"]
    # An update with a GPU.
    for name in "stock", "wrappers", "envpool":
        assert measured.ratios.verdict(gpu_ratios(found, name)) == "faster"
    assert measured.ratios.verdict(gpu_ratios(found, "turns")) == "level"
    waits = found["beside"]["waits"]["quiet"]["titles"]
    assert waits == "level on 1, slower on 3 of 4 titles"
    assert found["beside"]["waits"]["quiet"]["ratio"].startswith("level")
    paused = found["beside"]["paused"]["quiet"]["ratio"]
    assert 0.45 < float(paused.split()[0]) < 0.6  # makes twice as many
    five = {}  # of them, beside the fastest engine
    for title, rows in found["benchmark"]["waits"]["columns"].items():
        speeds = {name: row["speed"] for name, row in rows.items()}
        engines = measured.ratios.ASYNCHRONOUS
        best = max(engines, key=lambda name: np.median(speeds[name]))
        assert best.startswith("ale")
        ratios = measured.ratios.ratios(speeds["ready"], [speeds[best]])
        five[title] = np.median(ratios)
    del five["Breakout"]  # where they are level
    slower = [100 - round(100 * one) for one in sorted(five.values())]
    told = f"{slower[-1]} to {slower[0]}\u00a0% slower in three other titles"
    assert len(slower) == 3
    assert f"come within {slower[0]}\u00a0%) |" in NOTES
    told = f"level with that mode in Breakout, and {told}"
    assert told in NOTES
    # What is learned from equally many steps: the seeds' scores overlap.
    assert len(found["learned"]) == 3
    assert "scores showed [no clear difference](#other-machines-" in NOTES
    for sides in found["learned"].values():
        games, wrappers = sides["games"], sides["wrappers"]
        assert len(games) == len(wrappers) == 3
        assert max(min(games), min(wrappers)) < min(max(games), max(wrappers))
    # An update: two in turn are level with one, four ready first are slower.
    games, turns, ready = (
        np.array(measured.seconds(found["training"]["share"], side))
        for side in ("games", "turns", "ready")
    )
    assert measured.ratios.verdict(games / turns) == "level"
    assert measured.ratios.verdict(turns / ready) == "slower"
    for name in "training", "stock":  # the hours that are expected
        assert found[name]["share"]["bfloat16"]
    assert not found["float32"]["share"]["bfloat16"]


def test_sums():
    day = 24 * 60 * 60
    assert 108_000 / 60 / 60 == 30
    assert measured.WALL == 18 * 2 * (1 + 4 + 7) == 432
    assert f"{18 * 2 * 3} bricks and 432 points" in NOTES
    assert round(18 * 2 * 3 / 5) == 22
    # From the first to the last of four: three steps, or three frames.
    seconds = [3 * frames / 60 for frames in (game.ACTION_REPEAT, 1)]
    assert seconds == [1 / 5, 1 / 20]
    weights = [f"{(0.99 * 0.95) ** i:.2f}" for i in (1, 2, 3)]
    assert f"times {', '.join(weights)} and so on" in NOTES
    assert 0.19 < 0.99 ** (10 * 60 / game.ACTION_REPEAT) < 0.24  # a fifth
    assert f"{40e6 / 60 / day:.1f}" == "7.7"
    assert "and played 7.7 days' worth of games." in NOTES
    assert f"{4 * 84 * 84 * 1e6 / 1e9:.1f} GB" == "28.2 GB" in NOTES
    assert f"{84 * 84 * 1e6 / 1e9:.1f} GB" == "7.1 GB" in NOTES


def test_what_is_said_of_all_three_agents():
    found = measured.measured()
    assert "Our three agents score about 400. Each trained" in NOTES
    assert "depending on the processor (ours took four or five)," in NOTES
    told = "hours on two cores (one agent partly with a GPU), and played"
    assert f"Each trained for four or five {told}" in NOTES
    assert "and 4.5, the third partly with a GPU |" in MARKDOWN
    assert {round(it) for it in found["agent_hours"]} == {4, 5}
    assert "become about 400 points?" in NOTES
    assert len(found["agents"]) == len(found["trained"]) == 3
    # Its mean is above a wall, so some games go on to the second one.
    assert "because a few of its last games went on to a second wall." in NOTES
    assert max(found["trained"]) == found["trained"][2] > measured.WALL
    for agent in found["agents"]:
        assert 390 < agent["mean"] < 415


def test_what_is_said_of_all_or_none():
    found = measured.measured()
    assert "both agents won all of their {{pong[0][games]}} games" in NOTES
    assert all(agent["least"] > 0 for agent in found["pong"])
    told = "**Pong takes half an hour**: with 64 games at once, {{pong[0]"
    assert told in NOTES
    assert 25 < found["pong"][0]["minutes"] < 35
    soak = found["chaos"]["soak"]
    assert "All {{chaos[soak][compared]:,}} observations" in NOTES
    assert soak["differences"] == 0 < soak["compared"]


def test_how_many_weights_the_network_has():
    weights = torch.load(ROOT / "examples/breakout.pt", map_location="cpu")
    count = sum(part.numel() for part in weights.values())
    assert f"the {count / 1e6:.1f} million *weights*" in NOTES


def test_the_tables_of_others_say_what_was_seen():
    for name, row, seen in [
        ("Gymnasium", "starts over.*first screen, four times", [False, 4, 0]),
        ("ALE", "starts over.*three black", [False, 1, 3]),
        ("CleanRL", "goes on.*four times", [True, 4, 0]),
        ("SB3", "goes on.*three black", [True, 1, 3]),
        ("EnvPool", "goes on.*three old", [True, 1, 0]),
    ]:
        row = rf"^\|[^|]*{name}[^|]*, `\w+` \| .*{row}"
        assert re.search(row, NOTES, re.M)
        assert list(DIFFERENCES[name].values())[:3] == seen
    assert DIFFERENCES["EnvPool"]["of the episode before"] == 3


def program(word):
    """The whole program of the notes with that word, and what follows it."""
    programs = re.findall(
        r"```python\n(.*?)```(.*?)(?=^#{1,3} |^<!|^```python|\Z)",
        NOTES,
        re.M | re.S,
    )
    [found] = [one for one in programs if word in one[0]]
    return found


def run(text, tmp_path):
    """What a program prints, run as a file."""
    path = tmp_path / "program.py"
    path.write_text(text)
    environment = {"PYTHONPATH": str(ROOT)}
    return subprocess.check_output(
        [sys.executable, path],
        cwd=tmp_path,
        env=environment,
        text=True,
        timeout=180,
    )


@pytest.mark.parametrize("word", ["Game(seed=0, on", "isnan", ".kill()"])
def test_a_program_prints_what_it_says(tmp_path, word):
    text, after = program(word)
    assert f"```text\n{run(text, tmp_path)}```" in after


def test_what_is_left_if_nothing_moves(tmp_path):
    """The seed repeats both games to the point."""
    text, after = program("if still:")
    for name in "ppo.py", "training_run.py", "breakout.pt":
        shutil.copy(ROOT / "examples" / name, tmp_path)
    assert f"```text\n{run(text, tmp_path)}```" in after


def test_what_the_first_program_saves(tmp_path):
    """The four pictures that the page shows, in which the ball flies up."""
    run(program("Game(seed=0, on")[0], tmp_path)
    seen = cv2.imread(str(tmp_path / "seen.png"), cv2.IMREAD_GRAYSCALE)
    assert seen.shape == (4 * 84, 4 * 4 * 84)
    pictures = np.hsplit(seen[::4, ::4], 4)
    drawn = (DOCS / "figures/seen.svg").read_text()
    data = re.findall('image/png;base64,(.*?)"', drawn)
    shown = [np.frombuffer(base64.b64decode(one), np.uint8) for one in data]
    shown = [cv2.imdecode(one, cv2.IMREAD_GRAYSCALE) for one in shown]
    assert np.array_equal(pictures, shown)
    heights = [np.nonzero(one[40:73, 6:78])[0].mean() for one in pictures]
    assert (np.diff(heights) < 0).all()


def for_cleanrl():
    """What is changed there, from comment to comment."""
    return re.split(r"(?m)^# .*\n", program("args.num_envs")[0])


def test_lines_for_sb3(tmp_path):
    """They train, here for two steps of each game."""
    text, _ = program("GamesVecEnv")
    short = "**ATARI | dict(n_steps=2, batch_size=16, verbose=1)"
    text = text.replace("**ATARI", short)
    text = text.replace("10_000_000", "16")
    shutil.copy(ROOT / "examples/sb3.py", tmp_path)
    assert re.search(r"total_timesteps +\| 16 ", run(text, tmp_path))


def test_lines_for_cleanrl(tmp_path):
    """They log the score of each game that ends, as in the first program."""
    _, imports, begin, reset, _, log = for_cleanrl()
    played = f"""
import argparse
from unittest import mock
{imports}
if __name__ == "__main__":
    env_id = "BreakoutNoFrameskip-v4"
    args = argparse.Namespace(num_envs=8, env_id=env_id, seed=0)
{textwrap.indent(begin, " " * 4)}
    writer = mock.Mock()
    envs.action_space.seed(7)
{textwrap.indent(reset, " " * 4)}
    for global_step in range(1, 201):
        *_, infos = envs.step(envs.action_space.sample())
{textwrap.indent(log, " " * 8)}
    for call in writer.add_scalar.call_args_list:
        print(*call.args)
    envs.close()
"""
    _, printed = program("Games(8, context")
    [printed] = re.findall("```text\n(.*?)```", printed, re.S)
    games = [
        (step, float(score))
        for step, scores in re.findall(r"(\d+) \[(.*)\]", printed)
        for score in scores.split()
    ]
    told = [f"global_step={at}, episodic_return={it}\n" for at, it in games]
    told += [f"charts/episodic_return {it} {at}\n" for at, it in games]
    assert run(played, tmp_path) == "".join(told)


def test_lines_for_cleanrl_of_a_truncated_episode():
    """They add what CleanRL's PPO leaves out: the value of its last.

    A life that is lost on the frame of the limit ends the episode, too.
    """
    *_, lines, _ = for_cleanrl()
    final_obs = np.empty(3, object)
    for i in 1, 2:
        final_obs[i] = np.full((4, 84, 84), 6, np.uint8)
    names = {
        "torch": torch,
        "np": np,
        "device": "cpu",
        "args": mock.Mock(gamma=0.5),
        "agent": mock.Mock(get_value=lambda obs: obs[:, 0, 0, :1].float()),
        "truncations": np.array([False, True, True]),
        "terminations": np.array([False, False, True]),
        "infos": {"final_obs": final_obs},
        "reward": np.array([1.0, 2.0, 3.0]),
    }
    exec(lines, names)
    assert names["reward"].tolist() == [1, 2 + 0.5 * 6, 3]


def test_games_of_your_own(tmp_path):
    """Each has the shape that stands there, and is the same in `Games`.

    Those of the module's own tests are the same, line by line.
    """
    text, _ = program("class Colour")
    tested = (ROOT / "test_game.py").read_text()
    *same, memory = re.split(r"\n\n\n(?=class )", text)
    assert len(same) == 5 and "class Memory" in memory
    for one in same:
        assert re.sub("  #.*", "", one).strip() in tested
    played = """
if __name__ == "__main__":
    for make in Game.__subclasses__():
        one = make(7, noop_max=30)
        with Games(2, make=make, noop_max=30, seed=6) as games:
            obs = games.reset()[0][1]
            assert np.array_equal(obs, one.reset())
            for step in range(100):
                obs = games.step([step % 4] * 2)[0][1]
                assert np.array_equal(obs, one.step(step % 4)[0])
        print(make.__name__, obs.shape, obs.dtype)
"""
    imports = "import cv2\nimport numpy as np\nfrom game import Game, Games\n"
    lines = run(imports + text + played, tmp_path).splitlines()
    for one, line in zip([*same, memory], lines, strict=True):
        name, shape, kind = re.fullmatch(
            r"(\w+) (\(.*\)) (\w+)", line
        ).groups()
        first = one.strip().splitlines()[0]
        assert f"class {name}(" in first
        assert shape in first or shape == "(4, 84, 84)"
        assert kind in ("uint8", *re.findall("float32", first))


def test_another_title_by_a_spec(tmp_path):
    text, _ = program("dataclasses.replace")
    imports = "import dataclasses\nimport gymnasium as gym\n"
    imports += "from game import TRAINING, Games\n"
    # Named in a program, the games are played in its own process.
    text = text.replace("(8, spec, ", "(8, spec, processes=0, ")
    out = run(imports + text + "print(len(games.meanings))", tmp_path)
    assert out == "18\n"


def test_many_games_print_their_scores(tmp_path):
    text, after = program("over = infos")
    assert f"```text\n{run(text, tmp_path)}```" in after


def whole_game(seed, choose):
    """The score of a game, and what was seen of it."""
    one = game.Game(seed, **game.TRAINING)
    obs_4, info, seen = one.reset(), None, []
    while info is None:
        seen.append(obs_4.sum())
        obs_4, _, _, info = one.step(choose(obs_4))
    return info["reward"], tuple(seen)


def test_fire_does_nothing_while_the_ball_flies():
    """In a life FIRE, after the serve, is as good as NOOP."""
    random = np.random.default_rng(0)
    for _ in range(10):
        actions = random.choice([0, 2, 3], 60)
        one, other = (game.Game(0, on_life_loss="continue") for _ in "ab")
        assert (one.reset() == other.reset()).all()
        for action in 1, *actions:
            obs_4, *told = one.step(action)
            same, *as_told = other.step(action or 1)
            assert (obs_4 == same).all() and told == as_told
            if told[1]:
                break


def test_a_step_to_learn_from():
    """The program works out what is drawn of it."""
    film, missed = measured.recorded("agent"), measured.recorded("missed")
    at = to_learn_from(film)
    value, after = (step[4] for step in film["decisions"][at : at + 2])
    text, _ = program("advantage = target")
    targets, advantages = text.splitlines()[:2]
    for next_value in after, missed["decisions"][0][4]:
        names = dict(reward=0, next_value=next_value, value=value)
        exec(targets, names)
        exec(advantages, names)
        told = "0.99 × {next_value} = {target:.2f}".format_map(names)
        assert f"| {told} |" in NOTES.replace("\xa0", " ")
        told = "{target:.2f} - {value} = {advantage:.2f}".format_map(names)
        told = told.replace("-", "\N{MINUS SIGN}")
        assert f"| {told} |" in NOTES.replace("\xa0", " ")
        assert (names["advantage"] > 0) == (next_value == after)


def test_a_reward_makes_its_way_backwards():
    """By the page's program, over three steps of which the last scores."""
    text, _ = program("advantage = target")
    line = text.splitlines()[0]
    values, drawn = [0.0] * 3, []
    for _ in range(4):
        drawn += [f"{value:.2g}" for value in values]
        for i, next_value in enumerate([*values[1:], 0]):
            names = {"reward": int(i == 2), "next_value": next_value}
            exec(line, names)
            values[i] = names["target"]
    figure = (DOCS / "figures/backwards.svg").read_text()
    assert re.findall(r">([\d.]+)</text>", figure) == drawn


def test_the_loss_of_a_step():
    """Each line's number is that of the step that is drawn."""
    text, _ = program("advantage = target")
    names = dict(reward=0, next_value=7.07, value=6.62, prob=0.86)
    names |= {"log": math.log}
    for line in text.splitlines():
        exec(line, names)
        line, told = line.removesuffix(", a constant").rsplit(" ", 1)
        name = line.split()[0]
        names[name] = round(names[name], len(told) - 2)
        assert names[name] == float(told)
    assert f"at 90\xa0% it would be {-0.38 * math.log(0.9):.2f}" in NOTES
    assert f"1.1 times what it was, here {110 * 0.86:.0f}\u00a0%" in NOTES
    assert f" is 1 + 0.99 × 5 = {1 + 0.99 * 5}; here" in NOTES
    told = f"the target is 0.99 × 5 = {0.99 * 5}, almost the"
    assert told in NOTES.replace("\xa0", " ")


def test_what_makes_the_loss_fall():
    """What the page says about it, by trying it out."""
    text, _ = program("advantage = target")
    lines = "\n".join(text.splitlines()[2:])

    def loss(advantage, prob, value):
        names = dict(advantage=advantage, prob=prob, value=value)
        exec(lines, names | {"target": 7.0, "log": math.log}, names)
        return names["loss"]

    before = loss(0.4, 0.86, 6.6)
    assert loss(0.4, 0.86, 6.7) < before
    assert loss(0.4, 0.87, 6.6) < before
    assert loss(-4.1, 0.03, 6.6) < loss(-4.1, 0.04, 6.6)


def test_the_targets_of_a_learner():
    """An advantage is the sum of what comes until the episode ends."""
    text, _ = program("def advantages")
    rng = np.random.default_rng(0)
    values = rng.random((9, 2))
    ends = rng.integers(3, size=(8, 2))  # 1 is terminated, 2 is truncated
    rewards, last = rng.random((8, 2)), rng.random((8, 2))

    def value(obs):
        """A number is a step of the list, an array has the values itself."""
        return values[obs].copy() if isinstance(obs, int) else obs[:, 0]

    names = {"np": np, "value": value}
    exec(text, names)
    steps = []
    for t in range(8):
        final_obs = np.empty(2, object)
        final_obs[:] = [last[t, i : i + 1] for i in range(2)]
        infos = {"final_obs": final_obs}
        done = ends[t] == 1, ends[t] == 2
        steps.append((t, t + 1, rewards[t], *done, infos))
    found = names["advantages"](steps)
    for t, i in np.ndindex(8, 2):
        advantage, weight = 0, 1
        for k in range(t, 8):
            after = {0: values[k + 1, i], 1: 0, 2: last[k, i]}[ends[k, i]]
            delta = rewards[k, i] + 0.99 * after - values[k, i]
            advantage += weight * delta
            weight *= 0.99 * 0.95
            if ends[k, i] > 0:
                break
        assert found[t][i] == pytest.approx(advantage)


def test_the_targets_in_numbers():
    """As the program has them: an observation is its own value here."""
    names = {"np": np, "value": lambda obs: np.array(obs, float).ravel()}
    exec(program("def advantages")[0], names)
    infos = {"final_obs": np.empty(1, object)}
    infos["final_obs"][0] = [5]
    drawn = (DOCS / "figures/targets.svg").read_text()
    for end, reward, target in TARGETS:
        done = [
            np.array([end == kind]) for kind in ("terminated", "truncated")
        ]
        next_obs = [5] if end == "goes on" else [7]  # 7 is of another episode
        step = [0], next_obs, np.array([float(reward)]), *done, infos
        [[found]] = names["advantages"]([step])
        assert eval(target.replace("×", "*")) == pytest.approx(found)
        assert f">{end}<" in drawn and f">{target}<" in drawn


def test_how_to_evaluate(tmp_path):
    """The first game of each environment counts. Ten are different if actions
    are sampled, and fewer if not."""
    text, _ = program("isnan")
    sampled = "rng.integers(4, size=len(obs))"
    assert sampled in text
    by_heart = text.replace(sampled, "obs[:, 3].sum((1, 2)) % 4")
    seeds = range(1000, 1032)
    played = [whole_game(seed, lambda it: it[3].sum() % 4) for seed in seeds]
    scores = [score for score, _ in played]
    told = f"{np.mean(scores):.1f}, {min(scores):.0f} to {max(scores):.0f}\n"
    assert run(by_heart, tmp_path) == told
    assert len({seen for _, seen in played[:10]}) < 10
    rng = np.random.default_rng(0)
    played = [whole_game(it, lambda _: rng.integers(4)) for it in seeds[:10]]
    assert len({seen for _, seen in played}) == 10


# In a browser


def unfold(page):
    page.evaluate("""document.querySelectorAll("details")
        .forEach((fold) => { fold.open = true; })""")
    return page


@pytest.mark.parametrize("width", [390, 1280])
def test_a_list_leaves_out_empty_cells(visit, width):
    """On a phone, where a long row is a list with a label for each cell."""
    page = unfold(visit(width))
    empty = "it.checkVisibility() && /^–?$/.test(it.innerText.trim())"
    found = all_of(page, ".long:has(th:nth-child(3)) td", empty)
    assert any(found) == (width > 600)


@pytest.mark.parametrize("width", [390, 768, 999, 1000, 1280, 1920])
def test_widths(visit, width):
    """Nothing is cut off, and lines of prose are short enough to be read."""
    page = unfold(visit(width))
    assert page.evaluate("document.documentElement.scrollWidth") == width
    assert all(all_of(page, "pre, .wide", "it.scrollWidth <= it.clientWidth"))
    sizes = "[parseFloat(getComputedStyle(it).fontSize), it.clientWidth]"
    for size, wide in all_of(
        page, "main :is(.words, .after) :is(p, ul, ol)", sizes
    ):
        assert 15 <= size <= 18 and wide < 35 * size
    assert {12 if width < 600 else 13 if width < 1240 else 14} == {
        size for size, _ in all_of(page, "pre code", sizes)
    }


BOX = "(({ x, y, right, bottom }) => [x, y, right, bottom])"
BOX += "(it.getBoundingClientRect())"


@pytest.mark.parametrize("width", [1000, 1280, 1920])
def test_one_grid(visit, width):
    """The two columns have the same edges from the first line to the last."""
    page = unfold(visit(width))
    columns = ".row > :is(.words, .after), .row > .things > *"
    boxes = [box for box in all_of(page, columns, BOX) if box[0] < box[2]]
    assert len({round(left) for left, *_ in boxes}) == 2
    assert len({round(right) for _, _, right, _ in boxes}) == 2


@pytest.mark.parametrize("width", [390, 1280])
def test_what_stays_in_sight_slides_over_nothing(visit, width):
    """At the end of each row, its parts still have a place of their own."""
    page = visit(width)
    overlaps = page.evaluate(
        """() => [...document.querySelectorAll(".row")].flatMap((row) => {
        const end = scrollY + row.getBoundingClientRect().bottom;
        scrollTo({ top: end - 200, behavior: "instant" });
        const boxes = [...row.children].map((it) =>
          it.getBoundingClientRect());
        return boxes.flatMap((a, i) => boxes.slice(i + 1).filter((b) =>
          Math.min(a.right, b.right) > Math.max(a.left, b.left) &&
          Math.min(a.bottom, b.bottom) > Math.max(a.top, b.top) + 1
        ).map(() => row.innerText.slice(0, 40)));
        })"""
    )
    assert overlaps == []


def test_words_stand_beside_their_code(visit):
    """A comment with the code that follows, a docstring with its `def`."""
    page = unfold(visit())
    rows = all_of(
        page,
        ".row",
        """["words", "things"].map((name) =>
            [...it.querySelectorAll(`:scope > .${name} > *`)].map(
                (block) => block.textContent))""",
    )
    rows = [["".join(map(letters, side)) for side in row] for row in rows]
    told = weave.blocks(SOURCE)
    noted = re.findall("<!-- inside: (.*) -->", NOTES)  # comes in between
    named = re.findall("<!-- fold: (.*) -->", NOTES)
    folded = {
        row
        for row, name in weave.definitions(ast.parse(SOURCE))
        if name in named
    }
    pairs = 0
    following = told[1:], told[2:], [*told[3:], told[0]]
    for before, block, code, after in zip(told, *following, strict=False):
        if block.is_code or block.level or not code.is_code:
            continue
        if block.kind == "docstring" and not before.is_code:
            continue  # the module's own
        if weave.slug(before.text) in noted or code.row in folded:
            continue
        beside = code.text
        if block.kind == "docstring":
            # What has a docstring of its own stands beside that.
            alone = after.kind == "docstring"
            beside = before.text if alone else before.text + beside
        words = [it for it in weave.pieces(block) if not it.is_thing][-1]
        found = [row[1] for row in rows if letters(words.text) in row[0]]
        assert any(letters(beside) in things for things in found), block
        pairs += 1
    assert pairs > 100


@pytest.mark.parametrize("width", [390, 1280])
def test_rows(visit, width):
    """Beside each other from one height, or on a phone below each other."""
    page = unfold(visit(width))
    sides = all_of(
        page,
        # A film that has all of the width stands below its words.
        ".row:has(> .words):has(> .things):not(:has(#agent-figure))",
        "[...it.children].slice(0, 2).map((it) => " + BOX + ")",
    )
    assert len(sides) > 100
    for words, things in sides:
        if width == 390:
            assert things[1] >= words[3]
        else:
            assert words[2] < things[0] and abs(words[1] - things[1]) < 3


def test_code_breaks_at_no_word(visit):
    """A line that is too long for a phone goes on below, further in."""
    page = unfold(visit(390))
    broken = page.evaluate("""() => {
      const broken = [], range = document.createRange();
      for (const line of document.querySelectorAll("pre code > span")) {
        const texts = document.createTreeWalker(line, NodeFilter.SHOW_TEXT);
        let last = null, before = "";
        while (texts.nextNode()) {
          const node = texts.currentNode;
          for (let i = 0; i < node.length; i++) {
            range.setStart(node, i);
            range.setEnd(node, i + 1);
            const [box] = range.getClientRects();
            if (!box || node.data[i] === "\\n") continue;
            const both = before.slice(-1) + node.data[i];
            const below = box.top > last?.top + 8;
            if (below && /^\\w\\w$/.test(both)) broken.push(before);
            last = box;
            before += node.data[i];
          }
        }
      }
      return broken;
    }""")
    assert not broken


def scroll_through(page):
    """Come near to each figure, so that it begins."""
    for y in range(0, page.evaluate("document.body.scrollHeight"), 800):
        page.evaluate(f"scrollTo(0, {y})")
        page.wait_for_timeout(30)


def test_no_holes(visit):
    """No quarter of the screen is empty for half of the page."""
    page = visit(device_scale_factor=0.25)
    scroll_through(page)
    page.evaluate("scrollTo(0, 0)")
    screenshot = np.frombuffer(page.screenshot(full_page=True), np.uint8)
    picture = cv2.imdecode(screenshot, cv2.IMREAD_GRAYSCALE)
    for quarter in np.array_split(picture, 4, axis=1):
        # The two grounds differ by less than ink.
        inked = np.flatnonzero(np.ptp(quarter, axis=1) > 12)
        holes = 4 * np.diff(inked)
        assert holes[holes > 320].sum() < 4 * len(picture) / 2


@pytest.mark.parametrize("width, scheme", [(390, "dark"), (1280, "light")])
def test_axe_finds_nothing(visit, width, scheme):
    """With all folds open and all figures begun."""
    page = unfold(visit(width, scheme, reduced_motion="reduce"))
    for figure in page.locator(".moves").all():
        figure.scroll_into_view_if_needed()
        expect(figure.locator(".says")).not_to_be_empty()
    # It would load the style once more, which the page forbids.
    found = Axe().run(page, options={"preload": False}).response
    assert not found["violations"] and len(found["passes"]) > 20


@pytest.mark.parametrize("width, scheme", [(390, "dark"), (1280, "light")])
@pytest.mark.parametrize("name", ["faults", "learning", "reference", "speed"])
def test_the_other_pages(open_page, name, width, scheme):
    """Each says what its Markdown says, and nothing is cut off."""
    text = (DOCS / f"{name}.md").read_text()
    address = (DOCS / f"{name}.html").as_uri()
    page = open_page(address, width, color_scheme=scheme)
    headings = len(re.findall("(?m)^#+ ", text))
    expect(page.locator("main :is(h1, h2, h3, h4)")).to_have_count(headings)
    rows = len(re.findall(r"(?m)^\|(?! ---)", text))
    expect(page.locator("tr")).to_have_count(rows)
    assert page.evaluate("document.documentElement.scrollWidth") == width
    found = Axe().run(page, options={"preload": False}).response
    assert not found["violations"] and len(found["passes"]) > 10


@pytest.mark.parametrize("width", [390, 1280, 1920])
def test_the_first_screen_is_all_in_sight(visit, width):
    page = visit(width, height=844)
    for part in (
        "h1",
        "#guess .screen",
        "#guess .controls",
        "header a[href$='game.py']",
    ):
        expect(page.locator(part)).to_be_in_viewport(ratio=1)


def test_a_docstring_names_what_it_is_of(page):
    """It stands left of that, and looks like prose."""
    rows = page.locator(".row:has(.docstring)").evaluate_all(
        """(all) => all.map((row) => [
          row.querySelector(".docstring").dataset.of ?? "",
          row.querySelector(".code")?.textContent ?? ""])"""
    )
    named = [(name, code) for name, code in rows if name]
    assert len(rows) - len(named) == 1  # the module's
    names = {name for name, _ in named}
    assert {"class Game", "def step", "def shrink", "class Games"} <= names
    for name, code in named:
        assert re.search(rf"{name}\b", code)


@pytest.mark.parametrize("width", [390, 1280])
def test_nothing_shifts(visit, width):
    page = visit(width)
    page.evaluate("""() => {
      window.shifted = 0;
      new PerformanceObserver((list) => {
        for (const one of list.getEntries()) shifted += one.value;
      }).observe({ type: "layout-shift", buffered: true });
    }""")
    scroll_through(page)
    assert page.evaluate("shifted") < 0.01


def luminance(colour):
    """Of a colour such as #a5332a, as WCAG has it."""
    parts = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    low, high = parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4
    return np.where(parts <= 0.04045, low, high) @ [0.2126, 0.7152, 0.0722]


@pytest.mark.parametrize("scheme", [0, 1])
def test_colours_can_be_read(scheme):
    """Those that mean something too, on both grounds, light and dark."""
    style = (HERE / "page.css").read_text()
    pairs = re.findall(r"--(\w+): light-dark\((.*), (.*)\);", style)
    colours = {name: luminance(both[scheme]) for name, *both in pairs}
    for ground in "page", "panel":
        for name in "ink", "quiet", "link", "third", "fourth", "picture":
            lights = sorted([colours[ground] + 0.05, colours[name] + 0.05])
            assert lights[1] / lights[0] >= 4.5, (ground, name)


# Folds and names


@pytest.mark.parametrize("width", [390, 1280])
def test_the_contents_mark_where_one_is(visit, width):
    page = visit(width)
    bar, contents = page.locator("header [popovertarget]"), page.locator("nav")
    expect(bar).to_have_text("Contents")
    expect(contents).to_be_hidden()
    entry = contents.locator("a").nth(2)
    bar.focus()
    page.keyboard.press("Enter")
    entry.click()
    expect(contents).to_be_hidden()
    expect(bar).to_have_text(entry.text_content())
    expect(contents.locator("[aria-current]")).to_have_count(1)
    expect(entry).to_have_attribute("aria-current", "true")
    bar.click()
    expect(contents).to_be_visible()
    fits = "(it) => it.scrollHeight <= it.clientHeight"
    assert contents.evaluate(fits)
    page.keyboard.press("Escape")
    expect(contents).to_be_hidden()


def test_the_bar_names_no_closed_fold(visit):
    page = visit(1280)
    bar = page.locator("header [popovertarget]")
    page.keyboard.press("End")
    expect(bar).to_have_text("To look up")
    page.locator("summary", has_text="Who is who").click()
    page.keyboard.press("End")
    expect(bar).to_have_text("Who is who")


def test_the_foot_says_with_what_was_measured(page):
    results = sorted((ROOT / "measure/results").glob("*.json"))
    text = "".join(file.read_text() for file in results)
    for package in "Gymnasium", "ale-py":
        [version] = set(re.findall(f'"{package.lower()}": "(.*?)"', text))
        told = f"{package} {version}"
        expect(page.locator("footer")).to_contain_text(told)


def test_the_contents_need_no_script(page):
    page.locator("header [popovertarget]").click()
    page.locator("nav a").nth(2).click()
    there = page.locator("nav a").nth(2).get_attribute("href")
    expect(page.locator(there)).to_be_in_viewport()


@pytest.mark.parametrize("width", [390, 1280])
def test_who_follows_a_link_finds_the_way_back(visit, width):
    page = visit(width)
    back, link = page.locator("#back"), page.locator("a[href='#who-is-who']")
    expect(back).to_be_hidden()
    link.nth(2).click()
    ale = page.get_by_text("ALE, the Arcade Learning Environment")
    expect(ale).to_be_in_viewport()
    back.click()
    expect(link.nth(2)).to_be_in_viewport()
    expect(back).to_be_hidden()


@pytest.mark.parametrize(
    "words", ["only one of its threads", "a copy that is"]
)
def test_searching_finds_what_is_folded(open_page, words):
    """A link to a text is a search by the browser; in a docstring, too."""
    page = open_page(f"{ADDRESS}#:~:text={words.replace(' ', '%20')}")
    expect(page.get_by_text(words).first).to_be_in_viewport()


@pytest.mark.parametrize("script", [True, False])
def test_a_name_leads_to_its_definition(visit, script):
    """From code and from prose, by finger and by keyboard, into a fold too."""
    page = visit(java_script_enabled=script)
    page.locator(".code a[href='#check_actions']").first.click()
    there = page.locator("[id=check_actions]")
    expect(there).to_be_in_viewport()
    head = "def check_actions(actions, meanings, shape=()):"
    expect(there).to_have_text(head)
    page.go_back()
    page.locator(".note a[href='#Games']:visible").first.focus()
    page.keyboard.press("Enter")
    expect(page.locator("#Games")).to_be_in_viewport()
    link = page.locator(".row a[href='#who-is-who']").first
    fold = page.locator("details:has(#who-is-who)")
    for _ in range(2):
        link.click()
        expect(page.get_by_text("OpenAI's learners of 2017")).to_be_visible()
        fold.locator("summary").click()  # and close it


def test_without_javascript(page):
    """There are stills, and folds open by hand."""
    assert page.locator(".still img").count() == 6
    for still in page.locator(".still img").all():
        expect(still).to_be_visible()
    expect(page.locator(".stage:visible")).to_have_count(0)
    assert page.locator("details").count() > 10
    expect(page.locator("details[open]")).to_have_count(0)
    page.locator("summary").last.click()
    expect(page.locator("details[open] .note").last).to_be_visible()


def test_in_print_all_is_open(visit):
    page = visit(794)
    page.emulate_media(media="print", color_scheme="dark")
    expect(page.locator(":is(header, nav, button):visible")).to_have_count(0)
    heights = "it.getBoundingClientRect().height"
    assert min(all_of(page, "details :is(.code, .note)", heights)) > 10
    assert min(all_of(page, ".still img", heights)) > 10
    assert page.evaluate("document.documentElement.scrollWidth") <= 794
    inks = all_of(
        page, "body, h1, h2, h3, footer", "getComputedStyle(it).color"
    )
    assert {*inks} == {"rgb(35, 33, 29)"}


def test_the_way_to_the_top_marks_nothing(visit):
    page = visit()
    page.locator("header a").first.click()
    main = page.locator("main:target")
    expect(main).to_have_css("background-color", "rgba(0, 0, 0, 0)")


def test_skip_link_and_focus(visit):
    page = visit()
    page.keyboard.press("Tab")
    expect(page.locator(".skip")).to_be_in_viewport()
    page.keyboard.press("Enter")
    expect(page.locator("main")).to_be_focused()
