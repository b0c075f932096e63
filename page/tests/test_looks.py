"""Tests of what is shown of the agent's network: its answers.

What was recorded is computed again. Sums of floats round otherwise on other
machines, so a recorded number may be off by one in its last place.
"""

import numpy as np
from playwright.sync_api import expect

from asking import decoded, look_at, until
from figures.looks.make import ASKED, GRID, changes, covered
from paths import FIGURES
from record.published import ask
from record.recordings import read, read_film, unpack

FILM = read_film("agent/agent")
FRAMES = unpack(FILM.frames, 84, 84)
CHANGES = np.array(read("looks/looks")["changes"])


def test_the_published_network_has_answered_so():
    """What each decision's pictures tell the network; none begins a life."""
    stacks = [FRAMES[at : at + 4] for at in range(len(FILM.decisions))]
    answer = ask(np.array(stacks))
    values = [decision["value"] for decision in FILM.decisions]
    chances = [decision["chances"] for decision in FILM.decisions]
    assert np.allclose(answer.values, values, rtol=0, atol=0.02)
    assert np.allclose(answer.chances, chances, rtol=0, atol=0.02)


def test_a_patch_changes_the_answers_so():
    again = changes(FRAMES[ASKED : ASKED + 4])
    assert np.abs(CHANGES - again).max() <= 0.02
    assert again.any()


def test_the_answer_tells_what_was_recorded():
    """The value, and what is left of it under two patches."""
    answer = (FIGURES / "looks/figure.html").read_text()
    value = FILM.decisions[ASKED]["value"]
    ball = value + CHANGES[:, 0].min()
    wall = np.abs(CHANGES.reshape(GRID, GRID, 5)[6:10, :, 0]).max()
    assert f"from {value:.1f} to {ball:.1f}" in answer
    assert f"more than {wall:.1f}" in answer


# In a browser


def heat(figure):
    """How much of each pixel the map covers."""
    url = figure.locator(".map").evaluate("(map) => map.toDataURL()")
    return decoded(url)[..., 3].astype(float)


def test_a_reader_moves_the_patch(visit):
    """After the guess, over the map: value and bars answer at once."""
    figure = look_at(visit(), "looks")
    assert not heat(figure).any()
    figure.get_by_role("button", name="The wall").click()
    point(figure)
    size = np.abs(CHANGES[:, 0]).reshape(GRID, GRID)
    assert np.abs(heat(figure) - 255 * size / size.max()).max() <= 1
    value, *chances = CHANGES[PLACE]
    usual = FILM.decisions[ASKED]
    expect(figure.locator("output")).to_have_text(
        f"{usual['value']:.1f} → {usual['value'] + value:.1f}"
    )
    after = 100 * np.add(usual["chances"], chances)
    assert np.abs(shares(figure)[1] - after.clip(0, 100)).max() <= 1


PLACE = GRID * 14 + 12  # of the patch


def point(figure):
    """Put the patch there, by the arrow keys, from the middle."""
    for key in ["ArrowRight"] * 2 + ["ArrowDown"] * 4:
        figure.locator(".pane").press(key)


def shares(figure):
    """The chances that are shown, before and under the patch, in percent."""
    texts = figure.locator(".choices span").all_text_contents()
    both = [text.replace("\xa0%", "").split("→") for text in texts]
    return np.array(both, int).T


def test_the_patch_lies_over_a_game_that_is_played(visit):
    """And the network answers to what it covers."""
    page = visit()
    figure = look_at(page, "looks")
    figure.locator("summary").click()
    figure.get_by_role("radio", name="a game").check()
    play = figure.locator(".play")
    play.click()
    until(page, "looks", "count > 260")
    point(figure)
    expect(figure.locator("output")).to_contain_text("→")
    play.click()
    game = "(figure) => [...stackOf(figure.playing().pictures)]"
    pictures = np.array(figure.evaluate(game), np.uint8).reshape(4, 84, 84)
    patched = covered(pictures)
    usual, under = ask(np.array([pictures, patched[PLACE]])).chances
    now = shares(figure)
    assert np.abs(now - 100 * np.array([usual, under])).max() <= 3
