"""
Make the still picture of the page's first screen, from the recording, and the
card that is shown where somebody links to the page.

    python page/card.py    # docs/figures/first.png and docs/og.png
"""

import base64
import json
import shutil
from pathlib import Path

import cv2
import numpy as np
from playwright.sync_api import sync_playwright

from recordings import unpack

HERE = Path(__file__).resolve().parent
DOCS = HERE.parent / "docs"
STILL = DOCS / "figures/first.png"
CARD = DOCS / "og.png"

STEP = 62  # of the recording, with the ball on its way up
TOP, LEFT = 55, 0  # of the part of the screen that is shown, in the screen
HEIGHT, WIDTH = 140, 105
TOP_84, LEFT_84 = 22, 0  # and the same in a picture of 84 by 84
HEIGHT_84, WIDTH_84 = 56, 55
ZOOM = 3
GAP = 8  # between two pictures
BETWEEN = 16  # between colour and gray

PAGE = """
<style>
* { box-sizing: border-box; margin: 0; }
body { width: 1200px; height: 630px; padding: 52px 56px; display: flex;
  flex-direction: column; background: #15161a; color: #e7e3da;
  font: 27px/1.35 system-ui, "Liberation Sans", sans-serif; }
body::before { content: ""; position: absolute; left: 0; right: 0; top: 0;
  height: 14px; background: linear-gradient(90deg, #c84848 17%,
  #c66c3a 17% 33%, #b47a30 33% 50%, #a2a22a 50% 67%, #48a048 67% 83%,
  #4248c8 83%); }
h1 { font-size: 58px; line-height: 1.1; letter-spacing: -.02em; }
main { display: flex; gap: 48px; align-items: center; flex: 1; }
p { margin-top: 22px; }
code { font: 24px "DejaVu Sans Mono", monospace; color: #f2998a; }
img { image-rendering: pixelated; display: block; }
.labels { display: grid; grid-template-columns: 331fr 338fr; color: #a8a296;
  font-size: 22px; margin-bottom: 6px; }
</style>
<main><div>
<h1>Breakout, annotated</h1>
<p>What an Atari agent sees, in one Python file explained line by line.</p>
<p><code>game.py</code></p>
</div>
<div><div class="labels"><span>you see</span><span>the agent sees</span></div>
<img src="data:image/png;base64,%s" width="669" height="420" alt=""></div>
</main>
"""


def seen(recording, until):
    """The colours of a step's last frame, and the agent's four pictures."""
    rgb = np.array(recording["rgb"], np.uint8)
    gray = np.array(recording["gray"], np.uint8)
    frames, pictures = unpack(recording["frames"]), []
    next(frames)
    for _, shown, _, _, done in recording["steps"][:until]:
        assert not done
        played = [next(frames) for _ in range(shown)]
        brighter = gray[np.array(played[2:])].max(axis=0)
        picture = cv2.resize(brighter, (84, 84), interpolation=cv2.INTER_AREA)
        pictures.append(picture)
    return rgb[played[-1]], pictures[-4:]


def draw_still(screen, pictures):
    """Colour on the left, gray on the right, both close to the ball."""
    height = ZOOM * HEIGHT
    width = ZOOM * (WIDTH + 2 * WIDTH_84) + BETWEEN + GAP
    canvas = np.zeros((height, width, 4), np.uint8)

    def put(part, x, y):
        part = part.repeat(ZOOM, axis=0).repeat(ZOOM, axis=1)
        h, w = part.shape[:2]
        part = part.reshape(h, w, -1)
        canvas[y : y + h, x : x + w, :3] = part[..., ::-1]  # OpenCV's BGR
        canvas[y : y + h, x : x + w, 3] = 255

    put(screen[TOP : TOP + HEIGHT, LEFT : LEFT + WIDTH], 0, 0)
    for i, picture in enumerate(pictures):
        x = ZOOM * WIDTH + BETWEEN + (ZOOM * WIDTH_84 + GAP) * (i % 2)
        y = (ZOOM * HEIGHT_84 + GAP) * (i // 2)
        part = picture[TOP_84 : TOP_84 + HEIGHT_84]
        put(part[:, LEFT_84 : LEFT_84 + WIDTH_84], x, y)
    cv2.imwrite(str(STILL), canvas, [cv2.IMWRITE_PNG_COMPRESSION, 9])


def draw_card():
    names = "chromium", "chromium-browser", "google-chrome"
    path = next(filter(None, map(shutil.which, names)))
    picture = base64.b64encode(STILL.read_bytes()).decode()
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(
            executable_path=path, args=["--no-sandbox", "--disable-gpu"]
        )
        page = chromium.new_page(viewport={"width": 1200, "height": 630})
        page.set_content(PAGE.replace("%s", picture))
        page.screenshot(path=CARD)


def main():
    recording = json.loads((HERE / "data/recording.json").read_text())
    draw_still(*seen(recording, STEP))
    draw_card()


if __name__ == "__main__":
    main()
