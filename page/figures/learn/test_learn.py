"""Tests of two players that learn."""

import pytest
from playwright.sync_api import expect

from asking import look_at

LEARNED = """(seed) => {
    Learn.begin(seed);
    Learn.step(400_000);
    return Learn.means(); }"""


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_picture_before_is_worth_a_lot(visit, seed):
    two, one = visit().evaluate(LEARNED, seed)
    assert two > 3 * one


def test_the_same_seed_learns_the_same(visit):
    page = visit()
    assert page.evaluate(LEARNED, 4) == page.evaluate(LEARNED, 4)


def test_a_reader_watches_it_learn(visit):
    """At the speed that he wants, until it has played for eight hours."""
    page = visit()
    figure = look_at(page, "learn")
    expect(figure.locator(".fourth canvas")).to_be_hidden()
    assert page.evaluate("Learn.players[0].steps") == 0
    figure.locator(".play").click()
    speed = figure.get_by_label("Speed")
    for key in "End", "Home", "End":
        speed.press(key)
    expect(figure.locator(".tells")).to_contain_text("After 8 hours")
    expect(figure.locator(".fourth canvas")).to_be_visible()
    two, one = page.evaluate("Learn.players.map(({ steps }) => steps)")
    assert two >= 8 * 3600 * 12
    assert one > 7 * 3600 * 12
    figure.get_by_role("button", name="Start over").click()
    expect(figure.locator(".fourth canvas")).to_be_hidden()


def test_it_learns_by_itself_while_it_is_seen(visit):
    page = visit(reduced_motion="no-preference")
    look_at(page, "learn")
    page.wait_for_function("() => Learn.players[0].steps > 20")
