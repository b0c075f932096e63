"""Tests of the guesses: they are of what `Game` returns."""

import numpy as np
from playwright.sync_api import expect

import game
from asking import look_at
from record.recordings import FALLS, GUESS, RISES, find_ball, play


def test_what_is_guessed_is_what_game_returns():
    one = game.Game(0, on_life_loss="continue")
    assert (one.reset()[-1] == play()[0].picture).all()
    for step in play()[1:]:
        assert (one.step(step.action)[0][-1] == step.picture).all()


def test_the_ball_flies_as_the_guesses_have_it():
    """In all that is shown of a step, and as long as it is seen to fly on."""
    for way, steps in (-1, RISES), (1, FALLS):
        for at in steps:
            balls = [find_ball(step.gray) for step in play()[at - 3 : at + 5]]
            heights = [ball.y for ball in balls]
            assert (np.diff(heights) * way > 0).all()
    assert GUESS in RISES


def test_guesses_are_marked(visit):
    """Six from one picture, then six from four."""
    guess = look_at(visit(), "guess")
    for _ in range(2):
        for done in range(1, 7):
            guess.get_by_role("button", name="Up").click()
            expect(
                guess.locator(".marks [class]:not([class=''])")
            ).to_have_count(done)
        guess.locator(".again").click()
