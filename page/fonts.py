"""Put the fonts of `fonts/` into the pages and into the pictures.

A page that was opened from a folder may load no font from another file, and a
picture none at all. So `docs/fonts.css` has them all in it, and each drawing
has those letters that it needs.
"""

import base64
import io
import re
from html import unescape
from pathlib import Path

from fontTools import subset
from fontTools.ttLib import TTFont

FONTS = Path(__file__).resolve().parent / "fonts"
KINDS = {  # what a file's name says after its family
    "": "400",
    "all": "200 900",
    "bold": "700",
    "italic": "400; font-style: italic",
}


def face(path, content=None):
    """Return the rule of a font, with the font in it."""
    family, _, kind = path.stem.partition("-")
    data = base64.b64encode(content or path.read_bytes()).decode()
    return (
        f"@font-face {{ font-family: {family.title()}; "
        f"font-weight: {KINDS[kind]};\n"
        f"src: url(data:font/woff2;base64,{data}) }}\n"
    )


def faces():
    """Return the rules of all fonts."""
    return "".join(face(path) for path in sorted(FONTS.glob("*.woff2")))


def letters(name, text):
    """Return the rule of a font that has the letters of a text alone."""
    path = FONTS / f"{name}.woff2"
    font = TTFont(path, recalcTimestamp=False)
    options = subset.Options(flavor="woff2", layout_features=["kern"])
    part = subset.Subsetter(options)
    part.populate(text=text)
    part.subset(font)
    content = io.BytesIO()
    subset.save_font(font, content, options)
    return face(path, content.getvalue())


def embed(svg):
    """Return a drawing with the letters that it needs.

    Its first style may have those of an earlier time.
    """
    svg = re.sub(r"(?s)@font-face.*?}\n", "", svg)
    texts = re.findall(r"(?s)<text([^>]*)>(.*?)</text>", svg)
    used = {"sans-all": "", "code-all": ""}
    for attributes, text in texts:
        coded = re.search(r'class="[^"]*\bcode\b', attributes)
        used["code-all" if coded else "sans-all"] += unescape(text)
    rules = "".join(letters(*one) for one in used.items() if one[1])
    return svg.replace("<style>", f"<style>{rules}", 1)
