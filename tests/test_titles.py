"""Real titles: some by default, all 104 with `GAME_TESTS=all`."""

import re

import gymnasium as gym
import numpy as np

from game import FastGame
from test_game import (
    ALL,
    STILL,
    each,
    play_beside_fast_game,
    play_beside_gymnasium,
    same,
)

ALL_TITLES = sorted(
    re.fullmatch(r"ALE/(.*)-v5", env_id)[1]
    for env_id in gym.registry
    if env_id.startswith("ALE/")
)
each_title = each("title", ALL_TITLES if ALL else ["MsPacman"])


@each_title
@each("mode, noop_max", [("restart", 0), ("ignore", 30)])
def test_a_title_equals_gymnasiums(title, mode, noop_max):
    play_beside_gymnasium(title, mode, noop_max, steps=300)


@each_title
def test_the_first_game_of_a_fast_game_is_that_of_a_game(title):
    """Of every title: a true reset before it can't carry memory over."""
    play_beside_fast_game(title, first_game_only=True, steps=300)


@each(
    "title, settings",
    [(title, {}) for title in (ALL_TITLES if ALL else ["Breakout", "Qbert"])]
    + [("TicTacToe3D", {}), ("VideoCheckers", dict(mode=5))],
)
def test_a_reset_is_as_good_as_a_new_emulator(title, settings):
    """However long a title was played before, in memory and on screen.

    A title that fails belongs to those that take true resets.
    """
    options = dict(settings, **STILL)
    one, new = (FastGame(0, f"ALE/{title}-v5", **options) for _ in "12")
    random = np.random.default_rng(1)
    ale = one.env.unwrapped.ale
    codes = ale.getMinimalActionSet()
    actions = random.choice(codes, 240 if ALL else 60)

    def play(ale):
        for action in actions:
            ale.act(action)
            yield ale.getRAM().tobytes()
            yield hash(ale.getScreenRGB().tobytes())

    first = new.reset()
    expected = list(play(new.env.unwrapped.ale))
    frames = 24000 if ALL else 2000
    while frames > 0:
        assert same(one.reset(), first)
        assert list(play(ale)) == expected
        one.reset()
        for action in random.choice(codes, random.choice([15, 150, 1500])):
            for _ in range(4):
                ale.act(action)
            frames -= 4
            if ale.game_over():
                break
