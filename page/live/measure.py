"""Measure what the agent scores in the Breakout of the page.

    python page/live/measure.py  # scores.json: 2 × 20 games, ten minutes

It plays them in a browser, by `Agent.play` of docs/index.html, 20 of them
with the newest picture four times. Sums of floats may be rounded otherwise on
another machine, which samples other actions in the end.
"""

import json
import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

HERE = Path(__file__).resolve().parent
sys.path.append(str(HERE.parent))

from paths import CHROMIUM, DOCS  # noqa: E402

SCORES = HERE / "scores.json"
GAMES = 20
PLAY = "([seed, still]) => Agent.play(seed, { still })"


def main() -> None:
    scores: dict[str, list[int]] = {"moving": [], "still": []}
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM)
        page = browser.new_page()
        page.set_default_timeout(0)
        page.goto((DOCS / "index.html").as_uri())
        for seed in range(GAMES):
            for name, played in scores.items():
                played.append(page.evaluate(PLAY, [seed, name == "still"]))
            print(seed, scores["moving"][-1], scores["still"][-1], flush=True)
        browser.close()
    SCORES.write_text(json.dumps(scores) + "\n", "utf-8")


if __name__ == "__main__":
    main()
