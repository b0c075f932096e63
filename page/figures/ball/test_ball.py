"""Tests of the guess what the agent takes for a ball."""

import pytest
from playwright.sync_api import expect

from asking import look_at


@pytest.fixture
def page(visit):
    return visit()


def test_each_answer_stands_beside_the_readers_guess(page):
    figure = look_at(page, "ball")
    kinds = figure.locator(".kinds button")
    names = page.evaluate("Agent.changes")
    assert kinds.count() == len(names)
    guessed = kinds.nth(names.index("large"))
    guessed.click()
    expect(guessed).to_have_attribute("aria-pressed", "true")
    figure.get_by_role("button", name="Ten serves").click()
    for kind in kinds.all():
        expect(kind.locator("output")).to_contain_text("of 10")
    expect(guessed).to_have_class("right")
    right = figure.locator(".kinds .right").count()
    expect(figure.locator(".says")).to_contain_text(f"{right} of")
    figure.get_by_role("button", name="Guess again").click()
    expect(guessed).to_have_attribute("aria-pressed", "false")
