"""
Tests of the page: `game.md` and `docs/index.html`.

    pip install -r requirements.txt --group page    # and a system's Chromium
    python -m pytest page/test_page.py
"""

import difflib
import html.parser
import json
import re
import subprocess
import sys
from itertools import groupby
from pathlib import Path

import gymnasium as gym
import numpy as np
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

import game
import measured
import weave

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
DOCS = ROOT / "docs"
ADDRESS = (DOCS / "index.html").as_uri()
SOURCE = (ROOT / "game.py").read_text()
MARKDOWN = (ROOT / "game.md").read_text()
HTML = (DOCS / "index.html").read_text()
CSS = (HERE / "page.css").read_text()
NOTES = (HERE / "notes.md").read_text() + (HERE / "reference.md").read_text()
FACTS = json.loads(measured.FACTS.read_text())
AWAKE = json.loads((measured.RESULTS / "awake.json").read_text())
DIFFERENCES = json.loads((measured.RESULTS / "differences.json").read_text())


class Page(html.parser.HTMLParser):
    """The tags of a page, and the text of each part of it, in order."""

    VOID = {"meta", "link", "img", "source", "input", "br", "hr"}
    PARTS = {"prose", "code", "note"}

    def __init__(self, page):
        super().__init__()
        self.open, self.parts, self.tags = [], [], []
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.tags.append((tag, attributes))
        if tag in self.VOID:
            return
        part = attributes.get("class") in self.PARTS
        self.open.append(part)
        if part:
            self.parts.append([attributes["class"], ""])

    def handle_endtag(self, tag):
        self.open.pop()

    def handle_data(self, data):
        if any(self.open):
            self.parts[-1][1] += data


PAGE = Page(HTML)
IDS = [attributes["id"] for _, attributes in PAGE.tags if "id" in attributes]


# The text


def test_all_is_fresh():
    for path, text in weave.woven(SOURCE).items():
        assert path.read_text() == text, path


def test_a_stale_page_is_noticed(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["weave.py", "--check"])
    assert weave.main() == 0
    stale = {ROOT / "game.md": MARKDOWN + "One more thing.\n"}
    monkeypatch.setattr(weave, "woven", lambda source: stale)
    assert weave.main() == 1
    assert "game.md is stale" in capsys.readouterr().out
    assert (ROOT / "game.md").read_text() == MARKDOWN


def letters(text):
    """What Markdown and HTML have in common."""
    text = re.sub(r"\]\([^)]*\)|\b\d+\.\s|^```\w+", "", text, flags=re.M)
    return "".join(re.findall(r"\w", text))


def test_every_source_line_is_on_the_page_once_and_in_order():
    shown = [part for part in PAGE.parts if part[0] != "note"]
    told = weave.blocks(SOURCE)
    for is_code, kind in (True, "code"), (False, "prose"):
        ours = [block.text for block in told if block.is_code == is_code]
        theirs = [text for part, text in shown if part == kind]
        if is_code:
            assert ours == [text.rstrip("\n") for text in theirs]
        else:
            assert "".join(map(letters, ours)) == "".join(map(letters, theirs))
    # Code and prose follow one another as they do in the source.
    kinds = [kind for kind, _ in groupby(shown, key=lambda part: part[0])]
    order = [is_code for is_code, _ in groupby(told, key=lambda b: b.is_code)]
    assert kinds == ["code" if is_code else "prose" for is_code in order]


def test_every_source_line_is_in_the_markdown_once_and_in_order():
    shown = iter(MARKDOWN.splitlines())
    blocks = weave.blocks(SOURCE)
    for block in blocks:
        for row, text in enumerate(block.lines, block.row):
            if text.strip():
                assert text.strip() in map(str.strip, shown), row
    shown, examples = (
        re.findall(r"^```python\n(.*?)^```", text, re.M | re.S)
        for text in (MARKDOWN, NOTES)
    )
    shown = "".join(one for one in shown if one not in examples)
    code = [line for block in blocks if block.is_code for line in block.lines]
    assert list(filter(None, shown.splitlines())) == list(filter(None, code))


def test_what_is_folded():
    """The imports, the sections of the last part, and each aside."""
    seen = re.sub("<details>.*?</details>", "", MARKDOWN, flags=re.S)
    assert "import multiprocessing" in MARKDOWN
    assert "import multiprocessing" not in seen and "\n#### " not in seen
    last = seen.partition("\n## 3. ")[2]
    assert last and "#" not in last and "```" not in last


def test_the_time_it_takes():
    """As in a page of three parts: 220 words a minute, 4 s a line of code."""
    page = (
        f"# T\n{'word ' * 440}\n## 1. One\n| `a` | **b** |\n```python\n"
        f"{'x = 1' + chr(10) * 2}```\n## 2. Two\n{'word ' * 220}\n<details>\n"
        f"### Three\n```python\n{('x = 1' + chr(10)) * 45}```\n</details>\n"
    )
    assert weave.reading_time(page) == {1: 2, 2: 1, 3: 0, "folded": 3}
    minutes = weave.reading_time(MARKDOWN)
    assert f"Part 1 takes {minutes[1]} minutes" in MARKDOWN
    assert f"takes\n{minutes[2]} minutes" in MARKDOWN


def test_the_contents_are_short():
    contents = MARKDOWN.partition("<nav")[2].partition("</nav>")[0]
    assert 6 < contents.count("\n- ") + contents.count("\n  - ") <= 12
    assert contents.count(" min") == 3


def test_a_comment_changes_a_few_lines():
    """The page can be read as a diff."""
    lines = SOURCE.splitlines(keepends=True)
    at = next(
        i for i, line in enumerate(lines) if line.startswith("class Gam")
    )
    lines.insert(at, "# One more line of a comment.\n")
    before, after = (
        list(weave.woven(source).values())
        for source in (SOURCE, "".join(lines))
    )
    for old, new in zip(before, after, strict=True):
        changed = difflib.unified_diff(
            old.splitlines(), new.splitlines(), n=0, lineterm=""
        )
        assert len([line for line in changed if line[0] in "+-"]) - 2 <= 20


def test_all_links_lead_somewhere():
    assert len(IDS) == len(set(IDS))
    for _, attributes in PAGE.tags:
        for name in "href", "src", "srcset":
            address = attributes.get(name, "")
            if address.startswith("#"):
                assert address[1:] in IDS
            elif address and ":" not in address:
                assert (DOCS / address).exists(), address
    headings = re.findall(
        r"^#+ (.+)",
        re.sub(r"^```.*?^```", "", MARKDOWN, flags=re.M | re.S),
        re.M,
    )
    slugs = [weave.slug(title) for title in headings]
    assert len(slugs) == len(set(slugs)) and set(slugs) < set(IDS)
    links = re.findall(r"\]\(([^)\s]+)", MARKDOWN)
    assert any(link.endswith(".svg") for link in links)
    for link in links:
        if link.startswith("#"):
            assert link[1:] in slugs
        elif "://" not in link:
            assert (ROOT / link).exists(), link


def test_what_is_woven_is_marked_as_generated():
    """So that a code host leaves it out of its diffs and statistics."""
    woven = list(weave.woven(SOURCE))
    said = subprocess.run(
        ["git", "check-attr", "linguist-generated", *woven],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert said.stdout.count(": set\n") == len(woven)


def test_structure():
    count = [tag for tag, _ in PAGE.tags].count
    assert count("h1") == count("main") == count("nav") == 1
    assert ("html", {"lang": "en"}) in PAGE.tags
    images = [attributes for tag, attributes in PAGE.tags if tag == "img"]
    assert len(images) > 10
    for image in images:  # nothing shifts, and what is far off isn't loaded
        assert int(image["width"]) and int(image["height"])
        assert image["loading"] == "lazy" and "alt" in image
    assert "default-src 'none'" in HTML
    assert len(HTML.encode()) < 250_000
    said = {
        attributes.get("name") or attributes.get("property"): attributes
        for tag, attributes in PAGE.tags
        if tag == "meta"
    }
    assert (DOCS / said["og:image"]["content"]).exists()
    description = said["description"]["content"]
    assert 120 <= len(description) <= 160
    assert said["og:description"]["content"] == description


# What it says


def about(fact, digits=1):
    """A measured number as prose rounds it."""
    number = float(f"{float(fact.replace(',', '')):.{digits}g}")
    return f"{number:,.0f}" if number >= 1 else f"{number:g}"


def test_numbers_in_the_prose_of_the_module_were_measured():
    prose = [block.text for block in weave.blocks(SOURCE) if not block.is_code]
    prose = " ".join(" ".join(prose).split())
    titles = str(FACTS["games"])
    times = [
        about(FACTS[f"{what}_ms"]) for what in ("reset", "restore", "load")
    ]
    times.append(f"{game.AWAKE * 1000:g}")  # which is no measurement
    rest = 1 - float(FACTS["shrink_saves"].rstrip("\xa0%")) / 100
    allowed = {
        r"([\d.]+) ms": set(times),
        r"([\d.]+) µs": {about(FACTS["message_us"])},
        r"(\d+) of (?:the )?(\d+) titles": {
            (str(FACTS["late_games"]), titles),
            (str(FACTS["carried_games"]), titles),
        },
        r"(\d+) to ([\d,]+) frames": {
            (FACTS["late_least"], about(FACTS["late_most"], 2))
        },
        r"in (a \w+) of the time": {"a third"} if 0.3 < rest < 0.4 else set(),
    }
    columns = AWAKE["columns"]
    gains = [
        np.median(np.divide(speeds["new"], speeds["old"]))
        for speeds in columns.values()
    ]
    assert "between nothing and a sixth" in " ".join(SOURCE.split())
    assert round(min(gains), 1) == 1 and round(6 * (max(gains) - 1)) == 1
    for pattern, numbers in allowed.items():
        said = set(re.findall(pattern, prose))
        assert said <= numbers, pattern


def test_ids_are_as_the_table_says():
    for row in re.findall(
        r"^\| `(\S*Breakout\S*)` \|(.*)\|(.*)\|(.*)\|$", NOTES, re.M
    ):
        env_id, skip, sticky, _ = row
        options = gym.spec(env_id).kwargs
        frames = options["frameskip"]
        assert skip.strip() == (
            str(frames) if isinstance(frames, int) else "2, 3 or 4 by chance"
        )
        assert isinstance(frames, int) or tuple(frames) == (2, 5)
        sticky = 0 if sticky.strip() == "no" else float(sticky)
        assert options["repeat_action_probability"] == sticky
        assert options["max_num_frames_per_episode"] == 108_000


def test_sums():
    day = 24 * 60 * 60
    assert 108_000 / 60 / 60 == 30 and 108_000 / 4 == 27_000
    assert f"{200e6 / 60 / day:.1f}" == "38.6" in NOTES
    assert f"{40e6 / 60 / day:.1f}" == "7.7" in NOTES
    assert f"{4 * 84 * 84 * 1e6 / 1e9:.1f} GB" == "28.2 GB" in NOTES
    assert f"{84 * 84 * 1e6 / 1e9:.1f} GB" == "7.1 GB" in NOTES
    assert f"{8 * 4 * 84 * 84 / 1e3:.0f} kB" == "226 kB" in NOTES


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


def test_what_is_left_out_takes_one_line(monkeypatch):
    one = game.Game(0)
    obs_4 = one.reset()
    assert (obs_4.astype(np.float32) / 255).max() <= 1
    assert obs_4.transpose(1, 2, 0).shape == (84, 84, 4)
    assert one.render().shape == (210, 160, 3)
    line = "for _ in range(n): game.step(game.env.action_space.sample())"
    assert line in NOTES
    exec(line, {"n": 3, "game": one})
    assert "`SIZE = 64`" in NOTES
    monkeypatch.setattr(game, "SIZE", 64)
    with game.Games(2, processes=0) as games:
        assert games.reset()[0].shape == (2, 4, 64, 64)


def programs():
    """The whole programs of the notes, each with what follows it."""
    return re.findall(
        r"```python\n(.*?)```(.*?)(?=^#|```python|\Z)", NOTES, re.M | re.S
    )


def run(program, tmp_path, *changes):
    """What a program prints, run as a file; `changes` make it shorter."""
    for old, new in changes:
        assert old in program
        program = program.replace(old, new)
    path = tmp_path / "program.py"
    path.write_text(program)
    done = subprocess.run(
        [sys.executable, path],
        env={"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    return done.stdout


def program(word):
    [found] = [one for one in programs() if word in one[0]]
    return found


def test_the_program_to_type_prints_what_it_says(tmp_path):
    text, after = program("Game(seed=0)")
    said = re.search(r"```text\n(.*?)```", after, re.S)[1]
    assert run(text, tmp_path) == said


def test_a_game_of_your_own_is_played(tmp_path):
    text, _ = program("class Coin")
    played = """
from game import Worker

if __name__ == "__main__":
    with Worker(7, make=Coin) as worker:
        worker.child.send(("step", 5))
        print(worker.child.recv())
"""
    assert run(text + played, tmp_path) == "(12, 1.0, False, None)\n"


def test_many_games_print_their_scores(tmp_path):
    text, _ = program("with Games(8, on_life_loss")
    assert re.match(r"\d+ \[.*\]\n", run(text, tmp_path))


def test_how_to_evaluate(tmp_path):
    """A policy without chance plays ten different games."""
    text, _ = program("scores.append")
    played = run(
        text,
        tmp_path,
        ("scores = []", "scores, seen = [], []"),
        (
            "return np.random.randint(4)",
            "seen.append(int(obs_4[3].sum())); return seen[-1] % 4",
        ),
        ("    scores.app", "    print(seen); seen.clear()\n    scores.app"),
    ).splitlines()
    assert len(played) == len(set(played)) == 11
    assert re.fullmatch(r"mean \d+\.\d, \d+ to \d+", played[-1])


# In a browser


@pytest.fixture
def visit(open_page):
    def visit(width=1280, scheme="light", **options):
        return open_page(ADDRESS, width, color_scheme=scheme, **options)

    return visit


WIDTHS = [390, 768, 1179, 1180, 1920]


def unfold(page):
    page.evaluate("""document.querySelectorAll("details")
        .forEach((fold) => { fold.open = true; })""")
    return page


@pytest.mark.parametrize("width", WIDTHS)
def test_widths(visit, width):
    """Nothing is cut off, and lines of prose are short enough to be read."""
    page = unfold(visit(width))
    assert page.evaluate("document.documentElement.scrollWidth") == width
    assert page.evaluate("""[...document.querySelectorAll("pre, .wide")]
        .every((box) => box.scrollWidth <= box.clientWidth)""")
    prose, code = (
        page.evaluate("""() => ["main p, main li", "pre"].map((tag) =>
        [...document.querySelectorAll(tag)]
        .filter((e) => e.offsetParent && !e.closest("nav, figure, .top"))
        .map((e) => [parseFloat(getComputedStyle(e).fontSize),
          e.clientWidth / parseFloat(getComputedStyle(e).fontSize)]))""")
    )
    assert {16 <= size <= 18 and ems < 35 for size, ems in prose} == {True}
    assert {13 <= size <= 14 for size, _ in code} == {True}


HOLES = """() => {
  const inner = (e) => {
    const range = document.createRange();
    range.selectNodeContents(e);
    return [...range.getClientRects()];
  };
  const text = "p, li, h1, h2, h3, summary span, figcaption, dt, dd";
  const things = "td, th, pre, img, canvas, button, input, section, .track";
  const boxes = [...document.querySelectorAll("main *")].filter((e) =>
    e.checkVisibility() && e.matches(`${text}, ${things}`)).flatMap((e) =>
    e.matches(text) ? inner(e) : [e.getBoundingClientRect()]);
  const edge = innerWidth * 4 / 9, last = innerWidth - 20;
  return [[20, edge - 20], [edge + 20, last]].map(([left, right]) => {
    const spans = boxes.filter((box) => box.height &&
      Math.min(box.right, right) - Math.max(box.left, left) > 30)
      .sort((a, b) => a.top - b.top);
    let end = 0, most = 0;
    for (const { top, bottom } of spans) {
      most = Math.max(most, top - end);
      end = Math.max(end, bottom);
    }
    return most;
  });
}"""


def scroll_through(page):
    """Come near to each figure, so that it begins."""
    for y in range(0, page.evaluate("document.body.scrollHeight"), 800):
        page.evaluate(f"scrollTo(0, {y})")
        page.wait_for_timeout(30)


def test_no_holes(visit):
    """Neither half of the page is empty for more than 320 pixels."""
    page = visit()
    scroll_through(page)
    page.evaluate("scrollTo(0, 0)")
    left, right = page.evaluate(HOLES)
    assert 0 < left <= 320 and 0 < right <= 320


@pytest.mark.parametrize("width, scheme", [(390, "dark"), (1280, "light")])
def test_axe_finds_nothing(visit, width, scheme):
    """With all folds open and all figures begun."""
    page = unfold(visit(width, scheme, reduced_motion="reduce"))
    for figure in page.locator("figure.moves").all():
        figure.scroll_into_view_if_needed()
        expect(figure.locator(".number")).not_to_be_empty()
    found = Axe().run(page).response
    assert not found["violations"] and len(found["passes"]) > 20


@pytest.mark.parametrize("motion", ["no-preference", "reduce"])
def test_the_first_screen_plays_and_stops(visit, motion):
    """For who wants less motion it stands still, and plays when asked to."""
    page = visit(390, reduced_motion=motion, java_script_enabled=False)
    box = page.locator("#first input")
    film = page.locator("#first .film")
    expect(film).to_be_visible(visible=motion != "reduce")
    box.check()
    expect(film).to_be_visible(visible=motion == "reduce")
    screens = page.locator("#first .screens")
    first, later = screens.screenshot(), screens.screenshot()
    if motion == "reduce":
        while later == first:
            later = screens.screenshot()
    assert (later == first) == (motion != "reduce")


@pytest.mark.parametrize("width", [390, 1280, 1920])
def test_the_first_screen_is_all_in_sight(visit, width):
    page = visit(width, height=844)
    for part in (
        "h1",
        "#first .screens",
        ".top pre",
        ".top a[href$='game.py']",
    ):
        expect(page.locator(part)).to_be_in_viewport(ratio=1)


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


@pytest.mark.parametrize("chart", ["benchmark", "learning"])
def test_charts_on_a_phone_are_narrow(visit, chart):
    """Their panels are below each other, and their letters can be read."""
    for width in 360, 1280:
        image = visit(width).locator(f"figure.{chart} img")
        image.scroll_into_view_if_needed()
        expect(image).to_have_js_property("complete", True)
        shown, drawn, source = image.evaluate(
            "(it) => [it.width, it.naturalWidth, it.currentSrc]"
        )
        assert ("narrow" in source) == (width == 360)
        assert 8 * 4 / 3 * shown / drawn > 9  # of 8 points, in pixels


# Folds


def hidden(page):
    """A fold, and what is in it: the last that is defined there."""
    fold = page.locator("details:has(.code [id])").last
    return fold, fold.locator(".code [id]").last


def test_searching_finds_what_is_folded(open_page, visit):
    """A link to a text is a search by the browser."""
    fold, inside = hidden(visit())
    page = open_page(f"{ADDRESS}#:~:text=only%20one%20of%20its%20threads")
    expect(page.get_by_text("only one of its threads")).to_be_in_viewport()


def test_a_link_into_a_fold_opens_it(open_page, visit):
    name = hidden(visit())[1].get_attribute("id")
    page = open_page(f"{ADDRESS}#{name}")
    expect(page.locator(f"[id='{name}']")).to_be_in_viewport()
    page = visit()
    link = page.locator(".prose a[href='#who-is-who']").first
    fold = page.locator("details:has(#who-is-who)")
    for _ in range(2):
        link.click()
        expect(page.get_by_text("OpenAI's learners of 2017")).to_be_visible()
        fold.evaluate("(one) => { one.open = false; }")


def test_folds_open_by_hand_without_javascript(visit):
    page = visit(java_script_enabled=False)
    assert page.locator("details").count() > 10
    assert page.locator("details[open]").count() == 0
    page.locator("summary").last.click()
    expect(page.locator("details[open] .note").last).to_be_visible()


def test_in_print_all_is_open(visit):
    page = visit(794, "dark")
    page.emulate_media(media="print", color_scheme="dark")
    for part in page.locator(".bar, nav, button").all():
        assert not part.is_visible()
    for inside in page.locator("details .code, details .note").all():
        assert inside.bounding_box()["height"] > 10
    stills = page.locator(".still img").all()
    assert len(stills) >= 2 and all(one.is_visible() for one in stills)
    assert page.evaluate("document.documentElement.scrollWidth") <= 794
    ink = page.evaluate("getComputedStyle(document.body).color")
    assert ink == "rgb(32, 30, 26)"


# Names


@pytest.mark.parametrize("script", [True, False])
def test_a_name_leads_to_its_definition(visit, script):
    """From code and from prose, by finger and by keyboard, into a fold too."""
    page = visit(java_script_enabled=script)
    assert {"Game", "Game.step", "Games.step_wait", "Worker"} < set(IDS)
    page.locator(".code a[href='#shrink_changes']").click()
    there = page.locator("[id=shrink_changes]")
    expect(there).to_be_in_viewport()
    expect(there).to_have_text(
        "def shrink_changes(screen, last_screen, last_picture):"
    )
    page.go_back()
    page.locator(".note a[href='#Games']").first.focus()
    page.keyboard.press("Enter")
    expect(page.locator("#Games")).to_be_in_viewport()


def test_the_section_that_is_read(visit):
    page = visit(1280)
    assert page.locator("#here").is_hidden()
    page.locator("#the-stack").evaluate("(e) => e.scrollIntoView()")
    expect(page.locator("#here")).to_have_text("The stack")


def test_without_javascript(visit):
    page = visit(java_script_enabled=False)
    stills = page.locator(".still img").all()
    assert len(stills) >= 2 and all(one.is_visible() for one in stills)
    assert not page.locator("#moving .stage").first.is_visible()
    assert page.locator("nav a").count() > 6


def test_skip_link_and_focus(visit):
    page = visit()
    page.keyboard.press("Tab")
    skip = page.locator(".skip")
    assert skip.bounding_box()["x"] >= 0
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "top"
