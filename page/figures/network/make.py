"""What the network answers to the first position that its figure shows."""

from typing import Any


def record() -> dict[str, Any]:
    """The answer of the page's own network, with the filters that it shows."""
    from draw.stills import open_page

    with open_page() as page:
        answer = page.evaluate("""async () => {
            await Agent.load();
            const game = firstGame();
            game.look();
            const { odds, value, filters } = game.answer;
            const rounded = (all) =>
              Array.from(all, (one) => Number(one.toFixed(3)));
            const shown = [...document.querySelectorAll(".filters button")]
              .map(({ value: number }) => rounded(
                filters.subarray(400 * (number - 1), 400 * number)));
            return { odds: rounded(odds), value, shown };
        }""")
    return {"filters": answer}
