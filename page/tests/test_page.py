"""
Tests of the pages: what a reader would notice.

    pip install -r requirements.txt --group page-tests  # and a Chromium
    python -m pytest page
"""

import ast
import difflib
import re
import subprocess
import sys
from collections import Counter
from html import unescape

import pytest
from playwright.sync_api import expect

import products
from asking import html, look_at
from fill.marks import MarkError, filled
from fill.values import values
from paths import DOCS, ROOT, SITE
from weave.host import game_md, slug
from weave.module import Module
from weave.pages import PAGES, SourcePage, links_to

SOURCE = (ROOT / "game.py").read_text()
FUNCTIONS = [
    node
    for node in ast.walk(ast.parse(SOURCE))
    if isinstance(node, ast.FunctionDef)
]
FENCE = re.compile(r"(?ms)^```(\w*)\n(.*?)^```$")
TAG = re.compile("<[^>]*>")
CODE = re.compile('(?s)<pre class="code"><code>(.*?)</code>')
END = "</div>\n</div>"  # of a card
CARD = re.compile(f'(?s)<div class="card">.*?{END}\n(?=</div>|<details)')
README = (ROOT / "README.md").read_text()


# Building


def test_check_tells_what_is_stale(monkeypatch, capsys):
    made = [(ROOT / "game.md", "game.py", "else")]
    monkeypatch.setattr(products, "made", lambda: made)
    before = (ROOT / "game.md").read_text()
    assert products.build(check=True)
    assert "game.md isn't what game.py makes\n" in capsys.readouterr().out
    assert (ROOT / "game.md").read_text() == before


def test_an_edited_number_is_mended(tmp_path):
    edited = re.sub(r"(<!--=\w+-->)[^<]+", r"\g<1>999", README)
    (tmp_path / "README.md").write_text(edited)
    assert filled(tmp_path / "README.md", values()) == README


@pytest.mark.parametrize(
    "text",
    [
        "A <!--=nonesuch-->1<!--/-->",
        "A 1<!--/-->",
        "A line\n<!--=mean-->1<!--/--> begins",
        "Code:\n\n    # <!--=mean-->1<!--/-->",
    ],
)
def test_a_mark_that_is_wrong_is_named_with_its_file(tmp_path, text):
    (tmp_path / "text.md").write_text(text)
    with pytest.raises(MarkError, match="text.md: .*(nonesuch|mean|/)"):
        filled(tmp_path / "text.md", {"mean": "396"})


def code_and_words(source):
    """The lines of code by their rows, and all words that are said about them.

    A docstring, and a comment that fills a line below the title, are words.
    """
    tree = ast.parse(source)
    said, rows = [], set()
    for node in ast.walk(tree):
        documented = ast.Module | ast.ClassDef | ast.FunctionDef
        if isinstance(node, documented) and ast.get_docstring(node):
            said.append(ast.get_docstring(node))
            rows |= {*range(node.body[0].lineno, node.body[0].end_lineno + 1)}
    lines = dict(enumerate(source.splitlines(), 1))
    for row in lines.keys() - rows - {*range(tree.body[0].lineno)}:
        if lines[row].lstrip().startswith("#"):
            said.append(lines[row])
            rows.add(row)
    code = {
        row: line for row, line in lines.items() if line and row not in rows
    }
    return code, count(" ".join(said))


def count(text):
    return Counter(re.findall(r"\w+", text))


@pytest.mark.parametrize("name, path", products.SOURCES.items())
def test_each_source_line_is_on_its_page_once_and_in_order(name, path):
    """Each word, too, if only of a link or of a picture; not of a formula."""
    source = (ROOT / path).read_text()
    main = re.sub("(?s)^.*?<main.*?>|<footer.*$", "", html(name))
    title, _, rest = main.partition("<details>")
    shown = CODE.findall("".join(CARD.findall(rest)))
    code, words = code_and_words(source)
    lines = unescape(TAG.sub("", "".join(shown))).splitlines()
    assert [line for line in lines if line] == [*code.values()]
    text = title + CARD.sub(
        lambda card: re.sub("(?s)<pre.*?</pre>", " ", card[0]), rest
    )
    found = count(unescape(TAG.sub(" ", text)))
    for said in re.findall('(?:alt|aria-label|href|src)="(.*?)"', text, re.S):
        found += count(unescape(said))
    # The paths of pictures, the numbers of lists, and formulas
    unseen = re.findall(
        r"\((?:site|docs)/\S+|\$+[^$]+\$+|(?m:^ *\d\. )", source
    )
    assert not words - found - count(" ".join(["python", *unseen]))


def test_each_source_line_is_in_game_md_once_and_in_order():
    title, _, rest = (ROOT / "game.md").read_text().partition("<details>")
    shown, notes = code_and_words("".join(it for _, it in FENCE.findall(rest)))
    code, words = code_and_words(SOURCE)
    assert [*shown.values()] == [*code.values()]
    assert not words - notes - count(title + FENCE.sub("", rest))


def test_a_function_has_a_card_of_its_own():
    pieces = [piece.code for piece in Module(ROOT / "game.py").pieces]
    for node in FUNCTIONS:
        [code] = [code for code in pieces if node.lineno in code]
        assert node.end_lineno in code, node.name


def test_a_comment_changes_the_made_lines_near_it_alone(tmp_path):
    path = tmp_path / "game.py"

    def made(source):
        path.write_text(source)
        module = Module(path)
        links = links_to({"game.html": module})
        page = SourcePage("game.html", {}, links, module)
        text = page.of_source("{{ title }}\n\n{{ code }}")
        return [*text.splitlines(), *game_md(module).splitlines()]

    line = "        reward = 0.0\n"
    before = made(SOURCE)
    after = made(SOURCE.replace(line, f"        # No points yet.\n{line}"))
    changed = [
        line for line in difflib.ndiff(before, after) if line[0] in "+-"
    ]
    assert 0 < len(changed) < 10


# Names


def defined_at(page, anchor):
    """The line of a page that a name in code leads to."""
    return re.search(f'<span id="{anchor}".*', html(page))[0]


def test_names_in_code_lead_to_what_they_name():
    for page, path in products.SOURCES.items():
        source = (ROOT / path).read_text()
        aliases = {
            new: old for old, new in re.findall(r"(\w+) as (\w+)", source)
        }
        code = " ".join(CODE.findall(html(page)))
        for link, name in re.findall('<a href="(.*?)"[^>]*>(.*?)</a>', code):
            target, _, anchor = link.partition("#")
            name = TAG.sub("", name)
            name = aliases.get(name, name)
            assert anchor.rpartition(".")[2] == name
            if not target.endswith(".py"):
                line = TAG.sub("", defined_at(target or page, anchor))
                assert re.search(rf"(class|def) {name}\b|^{name}\b", line)


def test_a_link_of_a_name_says_a_sentence_and_is_no_stop(visit):
    page = visit("games.html")
    link = page.locator(".code a").first
    assert link.get_attribute("title").endswith(".")
    stops = page.locator(":is(.code, code) a:not([tabindex='-1'])")
    expect(stops).to_have_count(0)
    link.click()
    anchor = page.evaluate("decodeURIComponent(location.hash.slice(1))")
    expect(page.locator(f"[id='{anchor}']")).to_be_in_viewport()


def test_the_settings_in_sight_are_those_of_the_program():
    table, _, _ = html("ppo.html").partition("</table>")
    rows = re.findall(r"<code>(\w+)</code></a></td>\n<td>(.*?)</td>", table)
    assert {"learning_rate", "gamma", "gae_lambda", "clip"} < {*dict(rows)}
    for name, default in rows:
        line = TAG.sub("", defined_at("ppo.html", f"Settings.{name}"))
        assert re.search(rf"\b{name}: \w+ = {re.escape(default)}$", line)


# Links


MARKDOWN = [*ROOT.glob("*.md"), *DOCS.glob("*.md")]


def anchors(path):
    """The places in a file that a link may name."""
    text = path.read_text()
    if path.suffix == ".md":
        return [slug(title) for title in re.findall("(?m)^#+ (.*)", text)]
    return re.findall(' id="(.*?)"', text)


@pytest.mark.parametrize(
    "path",
    [*MARKDOWN, *(SITE / name for name in PAGES)],
    ids=lambda path: path.name,
)
def test_links_lead_somewhere(path):
    text = path.read_text()
    if path in MARKDOWN:
        text = FENCE.sub("", text)
    for link in re.findall(r'(?:\]\(|\b(?:src|href)=")([^)"\s]+)', text):
        if re.match(r"\w+:", link):
            continue
        target, _, anchor = link.partition("#")
        target = target.partition("?")[0]
        there = (path.parent / target) if target else path
        assert there.exists(), link
        if anchor and there.suffix in (".md", ".html"):
            assert anchors(there).count(anchor) == 1, link


def test_an_address_carries_a_stamp_of_what_is_in_the_file(visit):
    """So no browser mixes the files of two versions."""
    page = visit("game.html")
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    page.reload()
    look_at(page, "workbench")
    pattern = r"^file:.*/(\w+)\.(?:js|css)(\?v=\w+)?$"
    files = dict(re.findall(pattern, "\n".join(asked), re.MULTILINE))
    assert {"page", "steps", "workbench"} == {*files}
    assert all(files.values())
    assert products.stamp("one version") != products.stamp("another version")


def test_no_link_of_a_page_opens_markdown():
    for name in PAGES:
        for link in re.findall('href="(.*?)"', html(name)):
            assert ":" in link or not link.partition("#")[0].endswith(".md")


def test_a_sent_link_shows_what_its_page_is():
    """A preview has a sentence of this page, and whole addresses."""
    said = set()
    for name in PAGES:
        found = dict(re.findall('="og:(.*?)" content="(.*?)">', html(name)))
        said.add(found["description"])
        address = found["url"].removesuffix(name)
        assert re.match("https://.+/$", address)
        assert found["image"].startswith(address)
        assert (SITE / found["image"].removeprefix(address)).exists()
    assert len(said) == len(PAGES)


# Programs


def printed(folder, *command):
    """What a program prints in a folder that has game.py."""
    (folder / "game.py").symlink_to(ROOT / "game.py")
    run = [sys.executable, *command]
    return subprocess.check_output(run, cwd=folder, text=True)


def test_the_program_at_the_top_plays(tmp_path):
    [(_, program)] = FENCE.findall(ast.get_docstring(ast.parse(SOURCE)))
    printed(tmp_path, "-c", program)


def test_the_main_job_prints_what_readme_shows(tmp_path):
    """But for its speed."""
    shown = FENCE.findall(README)
    assert shown[0][1] in printed(tmp_path, "game.py")


def test_readme_installs_what_is_required():
    """The packages that game.py imports, as one installs them on Linux."""
    [packages] = re.findall('pip install "(.*)"', README)
    required = (ROOT / "requirements.txt").read_text()
    for package in packages.split('" "'):
        assert re.search(f"(?m)^{package}($|;)", required)


# In a browser


@pytest.mark.parametrize("name", products.SOURCES)
def test_notes_stand_at_their_lines_and_tear_no_code(visit, name):
    """Or below the note before, if that is long; in folds, too."""
    page = visit(name)
    page.locator("details").evaluate_all(
        "all => all.forEach((fold) => (fold.open = true))"
    )
    notes = page.evaluate("""() =>
        [...document.querySelectorAll(".note")].map((note) => {
          const line = note.nextElementSibling.querySelector("span");
          const { top, bottom } = note.getBoundingClientRect();
          return [top, bottom, line.getBoundingClientRect()]; })""")
    above = -100
    for top, bottom, line in notes:
        assert above <= top
        assert line["top"] - 1 <= top <= max(line["bottom"], above + 1)
        above = bottom
    gaps = page.evaluate("""() =>
        [...document.querySelectorAll(".card")].flatMap((card) => {
          const lines = [...card.querySelectorAll("pre > code > span")]
            .map((line) => line.getBoundingClientRect());
          return lines.slice(1).map(({ top }, i) => top - lines[i].bottom);
        })""")
    assert max(map(abs, gaps)) < 1


@pytest.mark.parametrize("name", PAGES)
def test_a_page_can_be_read_without_scripts(visit, name):
    """Each figure is a picture."""
    page = visit(name, java_script_enabled=False)
    for figure in page.locator("figure").all():
        expect(figure.locator("img, svg").first).to_be_visible()
    expect(page.locator(".stage canvas:visible")).to_have_count(0)
    expect(page.locator(".stage :is(button, input):visible")).to_have_count(0)


def test_the_contents_lead_to_their_headings(visit):
    page = visit()
    page.locator("#here").click()
    page.locator("#contents a", has_text="Ten million steps").click()
    expect(page.locator("#ten-million-steps")).to_be_in_viewport()
    expect(page.locator("#contents")).to_be_hidden()
    expect(page.locator("#here")).to_have_text("Ten million steps")
