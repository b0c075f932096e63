"""A test of the guess what the agent takes for a ball."""

import re

from playwright.sync_api import expect

from asking import look_at

# An agent that never moves loses its balls soon.
IDLE = """() => { Live.AgentGame.prototype.decide = function decide() {
  this.action = 0; }; }"""


def test_each_answer_stands_beside_the_readers_guess(visit):
    page = visit()
    page.evaluate(IDLE)
    figure = look_at(page, "ball")
    kinds = figure.locator(".kinds button")
    assert kinds.count() == page.evaluate("Agent.changes.length")
    kinds.nth(2).click()
    expect(kinds.nth(2)).to_have_attribute("aria-pressed", "true")
    figure.get_by_role("button", name="Ten serves").click()
    again = figure.get_by_role("button", name="Guess again")
    expect(again).to_be_visible()
    for kind in kinds.all():
        expect(kind.locator("output")).to_have_text(re.compile(r"\d of 10"))
    expect(kinds.nth(2)).to_have_class("right")
    right = figure.locator(".kinds .right").count()
    expect(figure.locator(".says")).to_contain_text(f"{right} of")
    again.click()
    expect(kinds.nth(2)).to_have_attribute("aria-pressed", "false")
