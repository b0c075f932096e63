"""Tests of the games of the training, which wait for a guess."""

import pytest
from playwright.sync_api import expect

from asking import look_at


@pytest.mark.parametrize("scripts", [True, False])
def test_the_games_of_the_training_wait_for_a_guess(visit, scripts):
    """Or until the answer is opened; with scripts or without."""
    page = visit(java_script_enabled=scripts)
    figure = page.locator("#training")
    figure.scroll_into_view_if_needed()
    shown = figure.locator("canvas:visible, .screen > img")
    for part in shown.all():
        expect(part).to_have_css("filter", "brightness(0)")
    answer = figure.locator("details p")
    expect(answer).to_be_hidden()
    figure.locator(".choice button" if scripts else "summary").first.click()
    expect(answer).to_be_visible()
    for part in shown.all():
        expect(part).to_have_css("filter", "none")


def test_the_games_of_the_training_play_after_the_guess(visit):
    figure = look_at(visit(reduced_motion="no-preference"), "training")
    figure.get_by_role("button", name="2", exact=True).click()
    expect(figure.locator(".verdict")).to_have_text("No. ")
    slider = figure.locator(".slide input")
    expect(slider).not_to_have_value(slider.input_value())
    slider.press("End")
    behind = figure.locator(".picture")
    expect(behind).to_have_text(["4 million", "6 million", "8 million"])


@pytest.mark.parametrize("opens", ["summary", ".choice button"])
def test_the_focus_goes_on_to_the_answer(visit, opens):
    page = visit()
    figure = page.locator("#training")
    figure.locator(opens).first.press("Enter")
    expect(figure.locator(".says")).to_be_focused()
