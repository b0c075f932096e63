"""Tests of report.py: the pages of docs/ are what the data say."""

import re

import pandas as pd
import pytest

import common
import ratios
import report

DOCS = common.ROOT / "docs"


def test_what_is_published_is_what_the_data_say(tmp_path):
    """Every page and README's tables byte for byte, and every chart."""
    readme = (common.ROOT / "README.md").read_text("utf-8")
    blocks = re.findall(r"(<!-- (\w+) -->.*?<!-- /\2 -->)", readme, re.S)
    assert report.write(tmp_path) == "\n\n".join(b for b, _ in blocks) + "\n"
    for path in tmp_path.glob("*.md"):
        assert path.read_text("utf-8") == (DOCS / path.name).read_text("utf-8")
    # Another matplotlib may draw other bytes.
    charts = {path.name for path in (DOCS / "charts").iterdir()}
    assert {path.name for path in (tmp_path / "charts").iterdir()} == charts
    for name in charts:
        for folder in tmp_path, DOCS:
            text = (folder / "charts" / name).read_text("utf-8")
            assert "prefers-color-scheme:dark" in text
            assert 'width="259.2pt"' in text  # of a phone


def test_what_the_pages_say_in_words_is_so():
    """Nobody's observations change, and as much is learned on both sides."""
    data = common.read(common.RESULTS / "benchmark.json")
    parts = [data[name]["columns"] for name in data if name != "machine"]
    for column in (each for part in parts for each in part.values()):
        assert {row["arrays"] for row in column.values()} <= {"own", None}
    curves = pd.read_csv(common.RESULTS / "training.csv")
    last = curves.groupby(["title", "side", "seed"]).last()
    assert len(last) == 3 * 2 * 3
    for _, rows in last.groupby("title"):
        scores = rows.groupby("side").score
        assert scores.min().max() <= scores.max().min()


RATIO = r"(?:level, )?\d\.\d\d \(\d\.\d\d–\d\.\d\d\)"


@pytest.mark.parametrize("page", ["README.md", "game.md", "docs/index.html"])
def test_speeds_are_the_same_wherever_they_are_published(page):
    """Each comparison is one that docs/ has, to the last digit."""
    names = "speed.md", "learning.md"  # the games alone, and with a learner
    docs = "".join((DOCS / name).read_text("utf-8") for name in names)
    text = (common.ROOT / page).read_text("utf-8")
    told = re.findall(RATIO, re.sub("</?small>", "", text))
    assert len(told) >= 8
    assert set(told) <= set(re.findall(RATIO, docs))


@pytest.mark.parametrize(
    ("ours", "told"),
    [
        ([3, 2.2, 2], "1.10 (1.00–1.50)"),
        ([3, 2.2, 2.02], "1.10 (1.01–1.50)"),
        ([2.009, 2.2, 3], "1.10 (1.00–1.50)"),
        ([1, 2.1, 2], "1.00 (0.50–1.05)"),
        ([1, 1.5, 1.98], "0.75 (0.50–0.99)"),
    ],
)
def test_a_comparison_is_level_where_its_range_touches_1(ours, told):
    # The one that is faster in the middle is compared with.
    rivals = [[2, 2, 2], [9, 1, 1]]
    level = "level, " if "1.00" in told else ""
    assert ratios.told(ratios.ratios(ours, rivals)) == level + told


def test_titles_are_counted_in_words():
    verdicts = ["level", "faster", "level", "faster"]
    assert ratios.counted(verdicts) == "faster on 2, level on 2 of 4 titles"
    assert ratios.counted(["slower"] * 4) == "slower on 4 of 4 titles"


def test_of_several_seeds_there_are_mean_and_range():
    assert report.over_seeds([399.14]) == "399.1"
    assert report.over_seeds([400.0, 301.0, 352.5]) == "351.2 (301.0 to 400.0)"


def test_readmes_parts_are_replaced_and_nothing_else():
    old = "a\n<!-- x -->\nold\n<!-- /x -->\nb\n"
    text = "a\n<!-- x -->\n\nnew\n\n<!-- /x -->\nb\n"
    assert report.put(old, "<!-- x -->\n\nnew\n\n<!-- /x -->\n") == text


def test_a_steps_parts_sum_up():
    data = common.read(common.RESULTS / "step_time.json")
    for title in "Pong", "Breakout":
        parts = data[title]["parts"].values()
        assert sum(parts) == pytest.approx(data[title]["total"], abs=0.5)
        assert min(parts) > 0
