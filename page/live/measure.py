"""Measure what the agent scores in the Breakout of the page.

    python page/live/measure.py  # scores.json: 20 games, half an hour

It plays them in a browser, by `Agent.play` of docs/index.html. Sums of floats
may be rounded otherwise on another machine, which then samples other actions.
"""

import json
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from playwright.sync_api import sync_playwright

HERE = Path(__file__).resolve().parent
sys.path.append(str(HERE.parent))

from paths import CHROMIUM, DOCS  # noqa: E402

SCORES = HERE / "scores.json"
GAMES = 20
BROWSERS = 4  # that play at once


def play(seed: int) -> int:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM)
        page = browser.new_page()
        page.set_default_timeout(0)
        page.goto((DOCS / "index.html").as_uri())
        score = page.evaluate("(seed) => Agent.play(seed)", seed)
        browser.close()
    print(f"seed {seed}: {score} points", flush=True)
    return score


def main() -> None:
    with ProcessPoolExecutor(BROWSERS) as browsers:
        scores = list(browsers.map(play, range(GAMES)))
    SCORES.write_text(json.dumps(scores) + "\n", "utf-8")


if __name__ == "__main__":
    main()
