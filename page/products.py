"""All that is made, of what, and whether it is fresh."""

import base64
import hashlib
import importlib
import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import ModuleType

from fill.marks import bare, filled
from fill.options import options_table
from fill.values import values
from paths import DOCS, FIGURES, HERE, ROOT, SITE, STYLE
from record import weights
from runner.trace import recorded
from weave.host import game_md
from weave.module import Module
from weave.pages import (
    SourcePage,
    links_to,
    story_page,
    text_page,
)

GAME = "game.py"
# What has a page
SOURCES = {
    "game.html": GAME,
    "games.html": "games.py",
    "ppo.html": "examples/ppo.py",
}
RUN = "examples/run.py"  # has no page: its names lead to the file
STORY = HERE / "text/story.md"
TEXTS = [
    ROOT / "README.md",
    *sorted(DOCS.glob("*.md")),
    *sorted(HERE.glob("text/*.md")),
]
# What isn't made here: films by `examples/play.py --film`, what `python
# game.py` leaves, the stills of figures that move, and the agent's weights.
KEPT = [
    "tease.webp",
    "game.png",
    "figures/*.png",
    "data/network.js",
]
# All scripts use the names of these. Each room below stands in a block, so its
# names are its own.
SHARED = ["script/base.js", "script/pictures.js", "script/player.js"]
LIVE = ["game", "network", "unreal", "agent", "clock", "send", "live"]
ROOMS = [
    [f"live/{name}.js" for name in LIVE],
    ["runner/runner.js"],
    *(
        [path.relative_to(HERE).as_posix()]
        for path in sorted(FIGURES.glob("*/figure.js"))
    ),
]
STYLES = [
    "style/base.css",
    "style/module.css",
    "style/figures.css",
    "runner/runner.css",
    "figures/*/figure.css",
    "style/drawing.css",
]
VALUES = "page/fill/values.py"
COMMENTS = {".css": "/* {} */", ".js": "// {}"}


# What is made


def made() -> Iterator[tuple[Path, str, str]]:
    """Yield of each file its path, what it is made of, and its text.

    What comes later may read what came before.
    """
    found = values() | {"options_table": options_table()}
    for path in TEXTS:
        yield path, VALUES, filled(path, found)

    for path in sorted(FIGURES.glob("*/*.svg")):
        source = path.relative_to(ROOT).as_posix()
        svg = styled(path.read_text("utf-8"))
        yield SITE / f"figures/{path.name}", source, svg
    for path in sorted(FIGURES.glob("*/make.py")):
        source = path.relative_to(ROOT).as_posix()
        for name, draw in vars(maker(path.parent.name)).items():
            if name.startswith("draw_"):
                drawn = f"figures/{name.removeprefix('draw_')}.svg"
                yield SITE / drawn, source, styled(draw())

    sources = {name: Module(ROOT / path) for name, path in SOURCES.items()}
    links = links_to(sources | {f"../{RUN}": Module(ROOT / RUN)})
    css = palette() + joined(STYLES)
    css = re.sub(r"url\((fonts/.+?)\)", embedded, css)
    blocks = "".join(f"\n{{\n{joined(room)}}}\n" for room in ROOMS)
    script = joined(SHARED) + blocks
    recordings = {"data/steps.js": (GAME, recorded())}
    for path in sorted(FIGURES.glob("*/*.json")):
        if f'read("{path.stem}")' in script:
            data = path.read_text("utf-8").strip()
            source = path.relative_to(ROOT).as_posix()
            text = f"given.{path.stem} = {data};\n"
            recordings[f"data/{path.stem}.js"] = source, text
    for name, (source, text) in recordings.items():
        yield SITE / name, source, text
    stamps = {name: stamp(text) for name, (_, text) in recordings.items()}
    network = (SITE / "data/network.js").read_text("utf-8")
    stamps["data/network.js"] = stamp(network)
    known = json.dumps(stamps, indent=1, sort_keys=True)
    script = f'"use strict";\nconst stamps = {known};\n{script}'
    yield SITE / "page.css", "the style sheets in page/", css
    yield SITE / "page.js", "the scripts in page/", script
    stamps |= {"page.css": stamp(css), "page.js": stamp(script)}

    yield ROOT / "game.md", GAME, game_md(sources["game.html"])
    for name, module in sources.items():
        text = bare(filled(HERE / f"text/{module.name}.md", found))
        page = SourcePage(name, found, links, module).of_source(text)
        yield SITE / name, SOURCES[name], stamped(page, stamps)
    for path in sorted(DOCS.glob("*.md")):
        source = path.relative_to(ROOT).as_posix()
        page = text_page(source, bare(filled(path, found)), links)
        yield SITE / f"{path.stem}.html", source, stamped(page, stamps)
    text = bare(filled(STORY, found))
    page = story_page(text, found, links)
    yield SITE / "index.html", "page/text/story.md", stamped(page, stamps)


def maker(figure: str) -> ModuleType:
    """A figure's `make.py`."""
    return importlib.import_module(f"figures.{figure}.make")


def palette() -> str:
    """The colors as a rule, each in light and in dark."""
    named = json.loads((STYLE / "palette.json").read_text("utf-8"))
    rule = "".join(
        f"  --{name}: light-dark({light}, {dark});\n"
        for name, (light, dark) in named.items()
    )
    return f":root {{\n  color-scheme: light dark;\n{rule}}}\n"


def styled(svg: str) -> str:
    """Return a drawing with its colors and letters, for who opens it alone."""
    style = palette() + (STYLE / "drawing.css").read_text("utf-8")
    return svg.replace(">\n", f">\n<style>\n{style}</style>\n", 1)


def stamp(text: str) -> str:
    """What a file's address carries, so that no browser keeps an old file."""
    return hashlib.sha256(text.encode()).hexdigest()[:8]


def stamped(page: str, stamps: Mapping[str, str]) -> str:
    """Return a page whose styles and scripts are asked for by their stamps."""
    for name in "page.css", "page.js":
        page = page.replace(f'"{name}"', f'"{name}?v={stamps[name]}"')
    return page


def joined(patterns: list[str]) -> str:
    """The files of some patterns in one, in their order."""
    paths = [path for one in patterns for path in sorted(HERE.glob(one))]
    return "\n".join(path.read_text("utf-8") for path in paths)


def embedded(found: re.Match[str]) -> str:
    """Put a font in: a page in a folder may load none from other files."""
    font = (STYLE / found[1]).read_bytes()
    return f"url(data:font/woff2;base64,{base64.b64encode(font).decode()})"


def marked(path: Path, source: str, text: str) -> str:
    """The text, and above it what it is made of."""
    comment = COMMENTS.get(path.suffix, "<!-- {} -->")
    note = comment.format(f"Made by page/build.py of {source}: edit that.")
    head = "<!doctype html>\n" if path.suffix == ".html" else ""
    return f"{head}{note}\n{text.removeprefix(head)}"


# What is done with it


def build(check: bool) -> bool:
    """Write what is stale, or say what is; return whether anything was."""
    stale = False
    here = set()
    for path, source, text in made():
        here.add(path)
        if path not in TEXTS:
            text = marked(path, source, text)
        if path.exists() and path.read_text("utf-8") == text:
            continue
        stale = True
        name = path.relative_to(ROOT)
        print(f"{name} isn't what {source} makes" if check else name)
        if not check:
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, "utf-8")
    for pattern in KEPT:
        here |= set(SITE.glob(pattern))
    for path in set(SITE.rglob("*.*")) - here:
        stale = True
        print(path.relative_to(ROOT), "is made of nothing: remove it")
    return stale


def record(figure: str) -> None:
    """Record anew what a figure shows, README's film, or the weights."""
    if figure == "film":
        from record import film  # which takes a browser

        film.take()
        return
    if figure == "weights":
        (SITE / "data/network.js").write_text(weights.script(), "utf-8")
        return
    for name, data in maker(figure).record().items():
        path = FIGURES / figure / f"{name}.json"
        text = json.dumps(data, separators=(",", ":"))
        path.write_text(text + "\n", "utf-8")
        print(path.relative_to(ROOT))
