"""
Tests of the page: `game.md` and `docs/index.html`.

    pip install -r page/requirements.txt    # and a Chromium of the system
    pytest page/test_page.py
"""

import base64
import gzip
import html.parser
import inspect
import json
import re
import shutil
import sys
from importlib import resources
from pathlib import Path

import cv2
import gymnasium as gym
import numpy as np
import pytest
from playwright.sync_api import expect, sync_playwright

import game
import weave

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
DOCS = ROOT / "docs"
SOURCE = (ROOT / "game.py").read_text()
MARKDOWN = (ROOT / "game.md").read_text()
HTML = (DOCS / "index.html").read_text()
CSS = (HERE / "page.css").read_text()
STYLES = HTML.partition("<style>")[2].partition("</style>")[0]
NOTES = (HERE / "notes.md").read_text()
RECORDING = json.loads((HERE / "recording.json").read_text())
FACTS = json.loads((weave.RESULTS / "facts.json").read_text())
DIFFERENCES = json.loads(
    (ROOT / "measure/results/differences.json").read_text()
)

# People link to these.
ANCHORS = {
    "breakout-annotated",
    "one-step-taken-apart",
    "what-the-agent-sees",
    "one-game",
    "which-frames-are-seen",
    "how-to-count",
    "what-ends-an-episode",
    "what-done-means",
    "a-lost-life-elsewhere",
    "the-stack",
    "what-it-takes-to-remember",
    "chance-or-the-lack-of-it",
    "which-id-is-which",
    "a-game-in-another-process",
    "many-games",
    "how-fast-it-is",
    "when-a-worker-dies",
    "what-the-caller-sees",
    "playing",
    "what-others-do-differently",
    "how-to-evaluate",
    "for-reference",
    "a-row-of-games",
    "the-vector-environment",
    "taking-a-step",
    "asking-and-waiting",
    "two-rows-in-turn",
    "words-and-sizes",
    "fork-spawn-or-forkserver",
    "what-is-left-out",
    "where-the-numbers-come-from",
    "where-to-read-on",
}


class Page(html.parser.HTMLParser):
    """The text of each element that has an id or holds lines of prose."""

    VOID = {"meta", "link", "img", "input", "br", "hr"}

    def __init__(self, page):
        super().__init__()
        self.open, self.texts, self.order, self.tags = [], {}, [], []
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.tags.append((tag, attributes))
        key = attributes.get("data-lines") or attributes.get("id")
        if key:
            assert key not in self.texts, f"{key} is there twice"
            self.texts[key] = ""
            self.order.append(key)
        if tag not in self.VOID:
            self.open.append(key)

    def handle_endtag(self, tag):
        self.open.pop()

    def handle_data(self, data):
        for key in filter(None, self.open):
            self.texts[key] += data


PAGE = Page(HTML)


# The text


def test_both_pages_are_fresh():
    assert weave.markdown_page(SOURCE) == MARKDOWN
    assert weave.html_page(SOURCE) == HTML


def test_every_number_was_put_in():
    assert "{{" not in MARKDOWN
    assert "{{" not in HTML


def test_a_stale_page_is_noticed(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(sys, "argv", ["weave.py", "--check"])
    assert weave.main() == 0
    (tmp_path / "game.py").write_text(SOURCE + "# One more thing.\n")
    monkeypatch.setattr(weave, "ROOT", tmp_path)
    monkeypatch.setattr(weave, "DOCS", tmp_path / "docs")
    shutil.copytree(DOCS, tmp_path / "docs")
    assert weave.main() == 1
    assert "game.md is stale" in capsys.readouterr().out


def letters(text):
    """What Markdown and HTML have in common."""
    text = re.sub(r"\]\([^)]*\)|^ *\d+\. |^```\w+", "", text, flags=re.M)
    return "".join(re.findall(r"\w", text))


def test_every_source_line_is_on_the_page_once_and_in_order():
    lines = SOURCE.splitlines()
    shown = []
    for key in PAGE.order:
        if re.fullmatch(r"L\d+", key):
            row = int(key[1:])
            assert PAGE.texts[key] == lines[row - 1]
            shown.append(row)
        elif re.fullmatch(r"\d+-\d+", key):
            first, last = map(int, key.split("-"))
            source = "\n".join(lines[first - 1 : last])
            assert letters(PAGE.texts[key]) == letters(source)
            shown += range(first, last + 1)
    assert shown == sorted(set(shown))
    missing = set(range(1, len(lines) + 1)) - set(shown)
    assert not [row for row in missing if lines[row - 1].strip()]


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
    assert len(examples) == 2 and set(examples) < set(shown)
    shown = "".join(one for one in shown if one not in examples)
    code = [line for block in blocks if block.is_code for line in block.lines]
    assert [line for line in shown.splitlines() if line.strip()] == [
        line for line in code if line.strip()
    ]


def test_the_weaver_on_a_small_module():
    source = (
        '"""\n# T\n"""\nx = """\n# no prose\n"""\n\n# ## S\n# Why.\n'
        'def f():\n    """Do."""\n    # So.\n    return x  # shape\n'
    )
    found = [(b.kind, b.row, b.end) for b in weave.blocks(source)]
    assert found == [
        ("prose", 1, 4),
        ("code", 4, 7),
        ("prose", 8, 10),
        ("head", 10, 11),
        ("prose", 11, 12),
        ("prose", 12, 13),
        ("code", 13, 14),
    ]


def test_a_picture_that_is_too_large_is_linked(monkeypatch):
    monkeypatch.setattr(weave, "LARGEST", 0)
    html = weave.markdown_to_html()('![A film.](game.png "Of *it*.")')
    assert '<a href="game.png">A film.</a>' in html and "<em>it</em>" in html
    assert "base64" not in html


def test_a_figure_moves_if_there_is_a_file_for_it(monkeypatch, tmp_path):
    monkeypatch.setattr(weave, "HERE", tmp_path)
    image = '![A ball.](figures/slots.svg "Which *way*?")'
    assert "<figcaption>Which" in weave.markdown_to_html()(image)
    (tmp_path / "moving").mkdir()
    for name in ("slots.js", "more.js", "shared.js"):
        (tmp_path / "moving" / name).write_text("")
    (tmp_path / "moving/slots.html").write_text(
        '<figure data-needs="facts">{{picture}}<p>{{caption}}</p></figure>'
    )
    html = weave.markdown_to_html()(image)
    assert '<img src="data:' in html and "<p>Which <em>way</em>?</p>" in html
    names = [file.name for file in weave.added("js")]
    assert names == ["shared.js", "more.js", "slots.js"]
    (tmp_path / "facts.json").write_text('{"a": "<b>"}\n')
    assert weave.data(html) == (
        '<script type="application/json" id="facts">'
        '{"a": "\\u003cb>"}</script>'
    )
    line = re.sub(r'(!\[.*\]\()(\S+) "(.*)"\)', weave.still, image)
    assert line.endswith(f"*Which *way*?* {weave.IT_MOVES}")


def test_a_note_waits_for_its_picture(monkeypatch, tmp_path):
    shutil.copytree(DOCS, tmp_path / "docs")
    monkeypatch.setattr(weave, "DOCS", tmp_path / "docs")
    monkeypatch.setattr(weave, "HERE", tmp_path)
    (tmp_path / "notes.md").write_text(
        "<!-- after: playing if film.webp -->\n![F](film.webp)\n"
        "<!-- after: playing -->\nMore, {{games}} and {{facts[games]}}.\n"
    )
    more = f"More, {FACTS['games']} and {FACTS['games']}."
    assert weave.notes() == {("after", "playing"): [more]}
    (tmp_path / "docs/film.webp").write_bytes(b"")
    assert weave.notes() == {("after", "playing"): ["![F](film.webp)", more]}


def test_all_links_lead_somewhere():
    ids = [a["id"] for _, a in PAGE.tags if "id" in a]
    assert len(ids) == len(set(ids))
    for tag, attributes in PAGE.tags:
        address = attributes.get("href", "")
        if address.startswith("#"):
            assert address[1:] in ids
        elif address and tag == "a" and "://" not in address:
            assert (DOCS / address).exists(), address
    headings = re.findall(
        r"^#+ (.+)",
        re.sub(r"^```.*?^```", "", MARKDOWN, flags=re.M | re.S),
        re.M,
    )
    slugs = [weave.slug(title) for title in headings]
    assert len(slugs) == len(set(slugs))
    links = re.findall(r"\]\(([^)\s]+)", MARKDOWN)
    assert any(link.endswith(".svg") for link in links)
    for link in links:
        if link.startswith("#"):
            assert link[1:] in slugs
        elif "://" not in link:
            assert (ROOT / link).exists(), link


def test_files_that_are_named_are_linked():
    text = re.sub(r"<(pre|a)[ >].*?</\1>", "", HTML, flags=re.S)
    named = re.findall(r"<code>([\w/]+\.\w+)</code>", text)
    assert not [name for name in named if (ROOT / name).is_file()]
    links = re.findall(r'<a href="../([\w/]+\.\w+)"><code>', HTML)
    assert {"examples/ppo.py", "page/figures.py"} <= set(links)
    assert "[`examples/ppo.py`](examples/ppo.py)" in MARKDOWN


def test_anchors_stay():
    assert not ANCHORS - set(PAGE.texts)


def test_nothing_is_loaded_from_elsewhere():
    loading = {"src", "srcset", "data", "action", "poster", "background"}
    for tag, attributes in PAGE.tags:
        for name, value in attributes.items():
            if name in loading or name == "href" and tag != "a":
                assert value.startswith("data:") or name == "data-n", value
    assert not re.search(r"@import|url\((?!#)", STYLES)
    assert "default-src 'none'" in HTML
    assert len(HTML.encode()) < 1_200_000
    assert len(gzip.compress(HTML.encode())) < 300_000


def test_structure():
    count = [tag for tag, _ in PAGE.tags].count
    assert count("h1") == count("main") == count("nav") == 1
    assert ("html", {"lang": "en"}) in PAGE.tags
    assert all(a["alt"] for tag, a in PAGE.tags if tag == "img")
    assert not any("loading" in a for tag, a in PAGE.tags)


def test_what_is_shown_where_somebody_links_to_the_page():
    said = {
        attributes.get("name") or attributes.get("property"): attributes
        for tag, attributes in PAGE.tags
        if tag == "meta"
    }
    description = said["description"]["content"]
    assert 120 <= len(description) <= 160
    assert said["og:description"]["content"] == description
    for word in ("Atari", "preprocessing", "DQN", "PPO", "line by line"):
        assert word in description
        assert word in HTML.partition("</title>")[0].partition("<title>")[2]
    card = cv2.imread(str(DOCS / said["og:image"]["content"]))
    assert card.shape == (630, 1200, 3)


# The colours


def palette(block):
    return dict(re.findall(r"--([\w-]+): (#\w{6});", block))


def luminance(colour):
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    parts = [
        p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4
        for p in parts
    ]
    return np.dot(parts, [0.2126, 0.7152, 0.0722])


@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
def test_contrast_of_every_colour_of_text(scheme):
    colours = [
        palette(block) for block in re.findall(r":root {(.*?)}", CSS, re.S)
    ][scheme]
    text = set(colours) - {"page", "panel", "hit", "line", "brick", "mark"}
    pairs = [(name, under) for name in text for under in ("page", "panel")]
    pairs.append(("ink", "hit"))
    assert len(text) >= 10
    for name, under in pairs:
        lighter, darker = sorted(
            [luminance(colours[name]), luminance(colours[under])], reverse=True
        )
        assert (lighter + 0.05) / (darker + 0.05) >= 4.5, (name, under)


def test_every_token_has_a_colour_of_the_palette():
    """Tokens that no rule names are plain."""
    rules = re.findall(r"^(\.[\w, .]+) { color: var\(--(\w+)\); }", CSS, re.M)
    assert {name for _, name in rules} <= set(palette(CSS))
    named = {css.strip(". ") for rule, _ in rules for css in rule.split(",")}
    code = "".join(re.findall(r"<pre>.*?</pre>", HTML, re.S))
    used = " ".join(re.findall(r'<span class="([^"]*)"', code)).split()
    assert set(used) - named <= {"n", "own", "def"}


# The facts


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


@pytest.mark.parametrize(
    "mode, done, same",
    [("restart", True, 4), ("continue", True, 4), ("ignore", False, 1)],
)
def test_done_means_what_the_table_says(mode, done, same):
    assert re.search(rf'^\| `"{mode}"` \| `{done}`', NOTES, re.M)
    one = game.Game(0, on_life_loss=mode)
    one.reset()
    lives, over = one.env.unwrapped.ale.lives, False
    while lives() == 5 and not over:
        obs_4, _, over, info = one.step(1)
    assert over == done
    assert lives() == (5 if mode == "restart" else 4)
    assert (info is not None) == (mode == "restart")
    assert sum((picture == obs_4[3]).all() for picture in obs_4) == same


def test_who_calls_whom():
    """Each name in the tree is called in the method that it stands under."""
    tree = re.search(r"```text\n(.*?)```", NOTES, re.S)[1].splitlines()
    above, calls = [], 0
    for line in tree:
        name, depth = line.split()[0], line.index(line.strip()[0]) // 2
        above[depth:] = [name]
        if depth:
            method = inspect.getsource(getattr(game.Game, above[depth - 1]))
            assert f"self.{name}(" in method
            calls += 1
    assert calls == 5


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


class Counter:
    """Another environment, for `worker_process`."""

    def __init__(self, seed, env_id):
        self.count = seed

    def reset(self, seed):
        return self.count

    def step(self, action):
        self.count += action
        return self.count, 0.0, False, None


def test_the_worker_plays_anything():
    assert "`Worker(0, make=MyGame)`, with `MyGame(seed, env_id)`" in NOTES
    with game.Worker(0, make=Counter, context="fork") as worker:
        worker.child.send(("reset", None))
        assert worker.child.recv() == 0
        worker.child.send(("step", 5))
        assert worker.child.recv()[0] == 5


def example(word):
    """Run the example of the notes that has `word` in it; what it made."""
    examples = re.findall(r"```python\n(.*?)```", NOTES, re.S)
    [text] = [one for one in examples if word in one]
    made = {"__name__": "__main__"}
    exec(text.replace("range(1000)", "range(20)"), made)
    return made


def test_how_to_evaluate(capsys):
    made = example("evaluation")
    assert made["evaluation"].closed
    assert (made["scores"] >= 0).all() and made["scores"].shape == (8,)
    mean = made["scores"].mean()
    assert capsys.readouterr().out == f"{mean:.1f} points on average\n"


def test_two_rows_in_turn():
    made = example("pair")
    assert made["observations"].shape == (8, 4, 84, 84)
    for games in made["pair"]:
        games.step_wait()
        games.close()


# The recording


def recorded_screens():
    data = base64.b64decode(RECORDING["frames"])
    screen, at = np.zeros((210, 160), np.uint8), 0
    while at < len(data):
        count, at = data[at], at + 1
        for x, y, w, h, colour in (
            np.frombuffer(data[at : at + 5 * count], np.uint8)
            .reshape(-1, 5)
            .tolist()
        ):
            screen[y : y + h, x : x + w] = colour
        at += 5 * count
        yield screen.copy()


def replayed():
    """What `Game` gives for the recorded actions."""
    one = game.Game(0)
    one.reset()
    for action, *_ in RECORDING["steps"]:
        obs_4, reward, done, _ = one.step(action)
        yield obs_4, reward, done, one.final_obs


def test_the_recording_is_a_real_game():
    screens = recorded_screens()
    gray = np.array(RECORDING["gray"], np.uint8)
    rgb = np.array(RECORDING["rgb"], np.uint8)
    next(screens)
    ends = 0
    steps = zip(RECORDING["steps"], replayed(), strict=True)
    for (_, shown, reward, lives, done), (obs_4, won, over, final) in steps:
        frames = [next(screens) for _ in range(shown)]
        kept = gray[np.array(frames[2:] or frames[-1:])].max(axis=0)
        picture = cv2.resize(kept, (84, 84), interpolation=cv2.INTER_AREA)
        assert (reward, bool(done)) == (won, over)
        assert (picture == (final if done else obs_4)[3]).all()
        ends += done
        if done:
            first = cv2.cvtColor(rgb[next(screens)], cv2.COLOR_RGB2GRAY)
            first = cv2.resize(first, (84, 84), interpolation=cv2.INTER_AREA)
            assert (first == obs_4).all() and lives < 5
    assert len(RECORDING["steps"]) >= 100 and ends >= 1
    assert next(screens, None) is None
    assert [s[4] for s in RECORDING["steps"]].index(1) + 1 == 156


# In a browser


@pytest.fixture(scope="module")
def chromium():
    names = "chromium", "chromium-browser", "google-chrome"
    path = next(filter(None, map(shutil.which, names)))
    quiet = (
        "no-sandbox disable-gpu disable-quic no-first-run "
        "disable-background-networking disable-component-update disable-sync"
    )
    with sync_playwright() as playwright:
        yield playwright.chromium.launch(
            executable_path=path, args=[f"--{flag}" for flag in quiet.split()]
        )


@pytest.fixture
def visit(chromium):
    """Open the page; in the end nobody has complained or asked elsewhere."""
    complaints, pages = [], []

    def visit(width=1280, scheme="light", path=DOCS, height=900, **options):
        page = chromium.new_page(
            viewport={"width": width, "height": height},
            color_scheme=scheme,
            **options,
        )
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on(
            "request",
            lambda request: (
                request.url.startswith(("file:", "data:"))
                or complaints.append(request.url)
            ),
        )
        page.goto((path / "index.html").as_uri())
        pages.append(page)
        return page

    yield visit
    for page in pages:
        page.close()
    assert not complaints


SCHEMES = pytest.mark.parametrize("scheme", ["light", "dark"])


@SCHEMES
@pytest.mark.parametrize("width", [360, 768, 1239, 1240, 1920])
def test_widths(visit, width, scheme):
    page = visit(width, scheme)
    assert page.evaluate("document.documentElement.scrollWidth") == width
    assert page.evaluate("document.body.scrollWidth") <= width
    row = page.locator(".row.head").first
    prose, code = [
        row.locator(f".{side}").first.bounding_box()
        for side in ("prose", "code")
    ]
    beside = code["x"] >= prose["x"] + prose["width"]
    assert beside == (width >= 1240)
    sizes = page.evaluate("""() => ["p", "li", "pre"].map((tag) =>
        [...document.querySelectorAll(`.row ${tag}, .note ${tag}`)]
        .filter((e) => !e.closest("nav, figure"))
        .map((e) => parseFloat(getComputedStyle(e).fontSize)))""")
    assert {16 <= size <= 18 for size in sizes[0] + sizes[1]} == {True}
    assert {13 <= size <= 14 for size in sizes[2]} == {True}
    background = page.evaluate(
        "getComputedStyle(document.body).backgroundColor"
    )
    assert (
        background
        == {"light": "rgb(253, 252, 249)", "dark": "rgb(21, 22, 26)"}[scheme]
    )


@pytest.mark.parametrize("width", [360, 768, 900, 1280, 1920])
def test_lines_of_prose_are_short(visit, width):
    """Count the characters of each line as it is laid out."""
    longest = visit(width).evaluate("""() => {
      let longest = 0;
      for (const p of document.querySelectorAll(
          "main p, main li, main dd, figcaption")) {
        if (p.closest("nav, .wide") || !p.offsetParent) continue;
        const walker = document.createTreeWalker(p, NodeFilter.SHOW_TEXT);
        const range = document.createRange();
        let count = 0, before = null; // a line ends where the next is lower,
        for (let node; (node = walker.nextNode());) {
          for (let i = 0; i < node.length; i++) {
            range.setStart(node, i); range.setEnd(node, i + 1);
            const box = range.getBoundingClientRect();
            if (!box.width) continue;
            const next = before && (box.left < before.left ||
              Math.abs(box.bottom - before.bottom) > 12); // or further left
            count = next ? 1 : count + 1;
            longest = Math.max(longest, count);
            before = box;
          }
        }
      }
      return longest;
    }""")
    assert 30 < longest <= 75


def test_rows_are_short():
    """At most 14 lines of code stand beside each other, blank ones apart."""
    told = weave.story(SOURCE)
    rows = [part for row in weave.rows(told) for part in weave.laid_out(row)]
    for _, row in rows:
        lines = [line for one in row if one.is_code for line in one.lines]
        assert len(list(filter(None, lines))) <= 14, row[0].row
    assert len(rows) > 100


HOLES = """() => {
  const inner = (e) => {
    const range = document.createRange();
    range.selectNodeContents(e);
    return [...range.getClientRects()];
  };
  const text = "p, li, h1, h2, h3, figcaption, dt, dd";
  const things = "td, th, pre, img, canvas, button, input";
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


def test_no_holes(visit):
    """Neither column is empty for more than 320 pixels."""
    left, right = visit().evaluate(HOLES)
    assert 0 < left <= 320 and 0 < right <= 320


def test_code_is_in_sight_where_it_is_discussed(visit):
    """Wherever much of a row's prose is seen, so is some of its code."""
    unseen, seen = visit().evaluate("""() => {
      const visible = (e) => {
        const box = e.getBoundingClientRect();
        const bottom = Math.min(box.bottom, innerHeight);
        return Math.max(0, bottom - Math.max(box.top, 52));
      };
      const rows = [...document.querySelectorAll(".row:has(.prose)")];
      const unseen = [], height = document.documentElement.scrollHeight;
      let seen = 0;
      for (let y = 0; y < height; y += 100) {
        scrollTo(0, y);
        for (const row of rows) {
          const sum = (kind) => [...row.querySelectorAll(kind)]
            .reduce((all, one) => all + visible(one), 0);
          if (sum(".prose") < 120) continue;
          seen += 1;
          if (sum("pre") < 20) unseen.push(row.innerText.slice(0, 60));
        }
      }
      return [unseen, seen];
    }""")
    assert unseen == [] and seen > 100


@SCHEMES
@pytest.mark.parametrize("width", [360, 1280, 1920])
def test_axe_finds_nothing(visit, width, scheme):
    page = visit(width, scheme)
    axe = resources.files("axe_playwright_python") / "axe.min.js"
    page.evaluate(axe.read_text())
    found = page.evaluate("axe.run()")
    assert not [
        (broken["id"], broken["nodes"][0]["html"])
        for broken in found["violations"]
    ]
    assert len(found["passes"]) > 20


def test_the_first_screen_plays_and_stops(visit):
    page = visit()
    canvas, button = [
        page.locator(f"#first {tag}") for tag in ("canvas", "button")
    ]
    expect(button).to_have_text("Pause")
    shown = "(canvas) => canvas.toDataURL()"
    before = canvas.evaluate(shown)
    page.wait_for_function(
        "(before) => before !=="
        " document.querySelector('#first canvas').toDataURL()",
        arg=before,
    )
    button.click()
    expect(button).to_have_text("Play")
    before = canvas.evaluate(shown)
    page.wait_for_timeout(300)
    assert canvas.evaluate(shown) == before
    assert page.locator("#first .now").count() == 1


def test_the_first_screen_stands_still_for_who_wants_less_motion(visit):
    page = visit(390, reduced_motion="reduce")
    canvas, button = [
        page.locator(f"#first {tag}") for tag in ("canvas", "button")
    ]
    expect(button).to_have_text("Play")
    shown = canvas.evaluate("(canvas) => canvas.toDataURL()")
    page.wait_for_timeout(300)
    assert canvas.evaluate("(canvas) => canvas.toDataURL()") == shown
    colours = canvas.evaluate("""(canvas) => new Set(new Uint32Array(
        canvas.getContext("2d").getImageData(0, 0, 669, 420).data.buffer)
      ).size""")
    assert colours > 10  # it is drawn all the same


@pytest.mark.parametrize("width", [390, 1280, 1920])
def test_the_first_screen_is_all_in_sight(visit, width):
    page = visit(width, height=844)
    for part in ("h1", "#first canvas", ".top pre", ".top a[href$='game.py']"):
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
    for y in range(0, page.evaluate("document.body.scrollHeight"), 800):
        page.evaluate(f"scrollTo(0, {y})")
        page.wait_for_timeout(30)
    assert page.evaluate("shifted") < 0.01


def test_tables_on_a_phone_are_lists_of_rows(visit):
    page = visit(360)
    cell = page.locator("#what-done-means + .wide td").nth(1)
    assert cell.get_attribute("data-label") == "done after a lost life"
    assert page.evaluate("""[...document.querySelectorAll(".wide")]
        .every((box) => box.scrollWidth <= box.clientWidth)""")


@pytest.mark.parametrize("chart", ["benchmark", "learning"])
def test_charts_on_a_phone_are_narrow(visit, chart):
    """Their panels are below each other, and their letters can be read."""
    shapes = {}
    for width in 360, 1280:
        image = visit(width).locator(f"figure.{chart} img")
        image.scroll_into_view_if_needed()
        box = image.bounding_box()
        shapes[width] = box["height"] / box["width"]
        assert image.evaluate("(it) => it.complete && it.naturalWidth > 0")
        # letters of 8 points, in pixels, at the size at which they are shown
        scale = box["width"] / image.evaluate("(it) => it.naturalWidth")
        assert 8 * 4 / 3 * scale > 9
    assert shapes[360] > 2 > 1.2 > shapes[1280]


def test_code_goes_on_below_on_a_phone(visit):
    """No line of code is cut off, and what goes on stands further in."""
    page = visit(390)
    assert page.evaluate("""[...document.querySelectorAll("pre")]
        .every((box) => box.scrollWidth <= box.clientWidth)""")
    lines = page.evaluate("""[...document.querySelectorAll("pre [id^=L]")]
      .filter((line) => line.offsetHeight > 30).map((line) => {
        const range = document.createRange();
        range.selectNodeContents(line);
        const boxes = [...range.getClientRects()].filter((one) => one.width);
        const tops = Math.min(...boxes.map((one) => one.top));
        const left = (all) => Math.min(...all.map((one) => one.left));
        const below = boxes.filter((one) => one.top > tops + 10);
        const indent = getComputedStyle(line).getPropertyValue("--i") || 0;
        const start = line.getBoundingClientRect().left +
          13 * 2.7 + indent * 7.8;
        return left(below) - start;
      })""")
    assert len(lines) > 100 and min(lines) > 10


def test_copying_the_module(visit):
    page = visit()
    page.evaluate("""Object.defineProperty(navigator, "clipboard", { value: {
        writeText: async (text) => { window.copied = text; } } })""")
    page.locator("#copy").click()
    assert page.evaluate("copied") == SOURCE
    page.locator(".row.head pre").nth(1).click(click_count=3)
    text = page.evaluate("String(getSelection())")
    assert not re.match(r"\s*\d", text)  # line numbers aren't copied


def test_a_name_leads_to_its_definition_and_then_to_its_uses(visit):
    page = visit()
    used = page.locator(".code .own:not(.def)", has_text=re.compile("^Game$"))
    used.first.click()
    hits, found = page.locator(".hit"), page.locator("#found")
    line = SOURCE.splitlines().index("class Game:") + 1
    here = page.locator(".here")
    assert here.evaluate("(e) => e.closest('[id]').id") == f"L{line}"
    expect(here).to_be_in_viewport()
    uses = hits.count() - page.locator(".hit.def").count()
    assert f"Game {uses} uses" in " ".join(found.inner_text().split())
    found.locator("[aria-label^=next]").click()
    assert here.evaluate("(e) => e.closest('[id]')?.id") != f"L{line}"
    found.get_by_text("Back").click()
    assert not found.is_visible() and hits.count() == 0
    expect(used.first).to_be_in_viewport()
    page.locator(":not(pre) > code", has_text="obs_4[").first.click()
    assert hits.count() >= 5


def test_names_by_keyboard(visit):
    page = visit()
    name = page.locator(".prose code.own[tabindex]").first
    name.focus()
    page.keyboard.press("Enter")
    found = page.locator("#found")
    assert found.is_visible()
    expect(page.locator(".here")).to_be_in_viewport()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.keyboard.press("Escape")
    assert not found.is_visible()
    expect(name).to_be_focused()


def test_line_numbers_are_links(visit):
    page = visit()
    number = page.locator(".row.head .code [data-n]").first
    number.click()
    line = f"#L{number.get_attribute('data-n')}"
    assert page.evaluate("location.hash") == line
    background = page.locator(line).evaluate(
        "(e) => getComputedStyle(e).backgroundColor"
    )
    assert background == "rgb(255, 223, 133)"


def test_the_section_that_is_read(visit):
    page = visit(1920)
    assert page.locator("#here").is_hidden()
    page.locator("#the-stack").evaluate("(e) => e.scrollIntoView()")
    expect(page.locator("#here")).to_have_text("The stack")
    now = page.locator("nav [aria-current]")
    expect(now).to_have_text("The stack")
    expect(now).to_be_in_viewport()


def test_without_javascript(visit):
    page = visit(java_script_enabled=False)
    stills = page.locator(".still img").all()
    assert len(stills) >= 2 and all(one.is_visible() for one in stills)
    assert not page.locator("#step").is_visible()
    assert not page.locator("#copy").is_visible()
    assert page.locator(".code pre").last.is_visible()
    assert page.locator("nav a").count() > 10


def test_print(visit):
    page = visit(794, "dark")
    page.emulate_media(media="print", color_scheme="dark")
    for part in page.locator(".bar, nav, button").all():
        assert not part.is_visible()
    stills = page.locator(".still img").all()
    assert len(stills) >= 2 and all(one.is_visible() for one in stills)
    assert page.evaluate("document.documentElement.scrollWidth") <= 794
    ink = page.evaluate("getComputedStyle(document.body).color")
    assert ink == "rgb(32, 30, 26)"


def test_skip_link_and_focus(visit):
    page = visit()
    page.keyboard.press("Tab")
    skip = page.locator(".skip")
    assert skip.bounding_box()["x"] >= 0
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"
