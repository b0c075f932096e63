"""What the network answers to the first position that its figure shows."""

from typing import Any


def record() -> dict[str, Any]:
    """The answer of the page's own network, with the filters that it shows."""
    from playwright.sync_api import sync_playwright

    from paths import CHROMIUM, DOCS

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM)
        page = browser.new_page()
        page.goto((DOCS / "index.html").as_uri())
        answer = page.evaluate("""async () => {
            await Agent.load();
            const game = firstGame();
            game.look();
            const { odds, value, filters } = game.answer;
            const shown = [...document.querySelectorAll(".filters button")]
              .map(({ value: number }) => [number, filters.subarray(
                400 * (number - 1), 400 * number)]);
            const rounded = (all) =>
              Array.from(all, (one) => Number(one.toFixed(3)));
            return { odds: rounded(odds), value,
              filters: Object.fromEntries(shown.map(
                ([number, made]) => [number, rounded(made)])) };
        }""")
        browser.close()
    return {"filters": answer}
