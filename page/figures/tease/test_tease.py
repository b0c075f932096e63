"""Tests of the first screen: who takes over, what counts, and who is told."""

import re

import pytest
from playwright.sync_api import expect

from record.film import STEPPED


@pytest.fixture
def open_page(visit):
    def open_page(anchor="", **options):
        options = {"reduced_motion": "no-preference"} | options
        page = visit(anchor=anchor, script=STEPPED, **options)
        ready = "() => window.Tease && Agent.network"
        page.wait_for_function(ready, polling=100)
        return page

    return open_page


def run(page, frames):
    page.evaluate("(frames) => pass(frames)", frames)


def tease(page, name):
    return page.evaluate(f"Tease.{name}")


def press(page, name):
    """Press a button; a click would wait for a frame."""
    button = page.locator("#tease").get_by_role("button", name=name)
    button.evaluate("(button) => button.click()")


def point(page, x):
    """Point at a place, in the console's pixels."""
    box = page.locator("#board").bounding_box()
    across = box["x"] + x * box["width"] / 160
    page.mouse.move(across, box["y"] + box["height"] / 2)


def take(page):
    """Lead the agent away from each ball, until a card says how it went."""
    card = page.locator("#tease .told")
    for _ in range(400):
        ball = tease(page, "ball")
        point(page, 22 if ball and ball["x"] > 80 else 138)
        run(page, 8)
        if card.is_visible():
            return card
    raise AssertionError("no five balls were taken")


def missed(page):
    """The pixels of a miss that is shown, or None."""
    shown = page.locator("#tease .gap b")
    return int(shown.text_content()) if shown.count() else None


def test_it_misses_widely_before_the_fifth_second(open_page):
    page = open_page()
    run(page, 50)
    assert tease(page, "hand") is None
    run(page, 100)
    assert tease(page, "hand") > 100
    assert tease(page, "paddle") > 80
    for _ in range(150, 300, 5):
        run(page, 5)
        if missed(page) is not None:
            break
    assert missed(page) >= 80
    run(page, 25)
    assert missed(page) >= 80  # half a second
    assert tease(page, "taken") == 0


def test_a_pointer_takes_over_the_running_game_at_once(open_page):
    page = open_page()
    run(page, 20)
    before = tease(page, "ball")
    point(page, 120)
    run(page, 1)
    assert tease(page, "hand") == pytest.approx(120, abs=1)
    ball = tease(page, "ball")
    assert abs(ball["x"] - before["x"]) < 10
    assert tease(page, "paddle") < 80
    run(page, 60)
    assert tease(page, "paddle") > 95


def test_what_only_crosses_the_board_begins_nothing(open_page):
    page = open_page()
    run(page, 20)
    point(page, 60)
    run(page, 10)
    page.mouse.move(0, 0)
    run(page, 10)
    assert tease(page, "seconds") == 0
    assert tease(page, "hand") is None
    expect(page.locator("#tease .score")).to_be_hidden()
    run(page, 60)
    assert tease(page, "hand") is not None  # the page's, as without it


def test_seconds_run_while_somebody_points(open_page):
    page = open_page()
    point(page, 60)
    run(page, 60)
    assert tease(page, "seconds") == pytest.approx(1, abs=0.05)
    page.mouse.move(0, 0)
    run(page, 60)
    assert tease(page, "seconds") == pytest.approx(1, abs=0.05)
    expect(page.locator("#tease .score")).to_be_visible()


@pytest.mark.parametrize("sent, words", [("99.5", "you win"), ("1.5", "not")])
def test_a_dare_is_met_and_who_won_is_told(open_page, sent, words):
    """By a card that a phone shows whole."""
    page = open_page(width=390, height=664)
    page.evaluate(f"location.hash = '#took={sent}'")  # in the same tab
    expect(page.locator("#tease .theirs")).to_contain_text(sent)
    card = take(page)
    expect(card).to_contain_text(words)
    box = card.bounding_box()
    assert box["y"] >= page.locator("header").bounding_box()["height"]
    assert box["y"] + box["height"] <= 664
    seconds = tease(page, "seconds.toFixed(1)")
    expect(card.locator(".took")).to_contain_text(seconds)
    sent = "(text) => { window.sent = text; return Promise.resolve(); }"
    page.evaluate(f"navigator.clipboard.writeText = {sent}")
    press(page, "Dare")
    page.wait_for_function("() => window.sent", polling=100)
    text = page.evaluate("window.sent")
    published = page.locator("[property='og:url']").get_attribute("content")
    assert text.endswith(f"{published}#took={seconds}")


@pytest.mark.parametrize("sent", ["0.2", "14.1e1", "601", "-3", "NaN", ""])
def test_seconds_that_no_run_takes_are_no_dare(open_page, sent):
    page = open_page(anchor=f"#took={sent}")
    expect(page.locator("#tease .theirs")).to_be_hidden()


def test_a_closed_share_sheet_is_no_fault(open_page):
    page = open_page()
    card = take(page)
    page.evaluate("""() => { navigator.share = () =>
        Promise.reject(new DOMException("", "AbortError")); }""")
    press(page, "Dare")
    expect(card.locator("[role=status]")).to_be_empty()


def test_the_reader_keeps_a_ball_under_the_same_dashed_ones(open_page):
    page = open_page(anchor="#took=99.5")
    dare = page.locator("#tease .theirs")
    expect(dare).to_be_visible()
    card = take(page)
    press(page, "Would you fall for it?")
    expect(dare).to_be_hidden()
    run(page, 90)
    assert tease(page, "ball") is None  # it gives him time
    while not card.is_visible():
        ball = tease(page, "ball")
        point(page, ball["x"] if ball else 80)
        run(page, 4)
    expect(card.locator(".took")).to_contain_text("kept")
    # What he has done stands beside what the agent did.
    expect(card).to_contain_text(re.compile(r"under \d+ dashed balls"))
    expect(card).to_contain_text(f"lost five in {tease(page, 'best')} s")
    expect(card.get_by_role("button", name="Dare")).to_be_hidden()
    press(page, "Close")
    expect(card).to_be_hidden()
    expect(dare).to_be_visible()


def test_pause_is_pause_whatever_moves(open_page):
    page = open_page()
    run(page, 20)
    press(page, "Pause")
    before = tease(page, "ball")
    point(page, 120)
    page.keyboard.press("ArrowLeft")
    run(page, 20)
    assert tease(page, "ball") == before
    assert tease(page, "hand") is None
    press(page, "Play")
    run(page, 20)
    assert tease(page, "ball") != before


def test_a_mouse_pauses_it(open_page):
    page = open_page(width=1280, height=800)
    button = page.locator("#tease .pause")
    box = button.bounding_box()
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + 10)
    expect(button).to_have_text("Play")


@pytest.mark.parametrize("moment", ["the hand", "falling", "a miss", "idle"])
def test_five_balls_are_counted_whenever_a_reader_comes(open_page, moment):
    """What falls already when he comes isn't his."""
    page = open_page()
    at = {
        "the hand": "Tease.hand !== null",
        "falling": "Tease.ball.y > 150",
        "a miss": "document.querySelector('#tease .gap')",
        "idle": "document.querySelector('#tease .invites')",
    }[moment]
    page.evaluate(f"() => {{ while (!({at})) pass(1); }}")
    point(page, 80)
    if moment in ("falling", "a miss"):
        lost = "() => { while (Tease.ball) pass(1); }"
        page.evaluate(lost)
        assert tease(page, "taken") == 0
    card = take(page)
    expect(card).to_contain_text("seconds")
    assert tease(page, "taken") == 5
    assert missed(page) is None


def test_arrow_keys_drop_balls_unless_they_are_meant_for_the_page(open_page):
    page = open_page()
    page.keyboard.press("Shift+ArrowLeft")
    run(page, 5)
    assert tease(page, "hand") is None
    page.get_by_role("button", name="Contents").press("ArrowLeft")
    run(page, 5)
    assert tease(page, "hand") is None
    page.locator("#board").focus()
    page.keyboard.down("ArrowLeft")
    run(page, 20)
    page.keyboard.up("ArrowLeft")
    hand = tease(page, "hand")
    assert hand < 40
    before = tease(page, "seconds")
    run(page, 120)  # it stays, and the seconds run
    assert tease(page, "hand") == hand
    assert tease(page, "seconds") >= before + 1
    page.keyboard.press("Escape")
    assert tease(page, "hand") is None


def test_less_motion_chosen_later_stops_it(open_page):
    page = open_page()
    run(page, 5)
    page.emulate_media(reduced_motion="reduce")
    button = page.locator("#tease").get_by_role("button", name="Play")
    expect(button).to_be_visible()
    before = tease(page, "ball")
    run(page, 20)
    assert tease(page, "ball") == before


@pytest.mark.parametrize("width, height", [(844, 390), (2560, 1440)])
def test_the_board_leaves_the_title_its_place(open_page, width, height):
    """No word is wider than the place, nor covered by the board."""
    title = open_page(width=width, height=height).locator("h1")
    assert title.evaluate("(h1) => h1.scrollWidth <= h1.clientWidth")
    box = title.bounding_box()
    assert box["width"] > box["height"]


@pytest.mark.parametrize(
    "width, height", [(390, 664), (844, 390), (375, 553), (1024, 520)]
)
def test_a_finger_drops_a_column_in_a_board_that_is_in_sight(
    open_page, width, height
):
    page = open_page(width=width, height=height, has_touch=True)
    # It points, and scrolls nothing, as long as the game goes on.
    expect(page.locator("#board")).to_have_css("touch-action", "pinch-zoom")
    box = page.locator("#board").bounding_box()
    assert box["y"] >= page.locator("header").bounding_box()["height"]
    assert box["y"] + box["height"] <= height
    page.touchscreen.tap(box["x"] + 50, box["y"] + 100)
    run(page, 26)
    assert page.locator("#tease .dot").count() >= 4
    run(page, 10)
    assert tease(page, "hand") is None
