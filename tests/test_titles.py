"""Real titles: some by default, all 104 with `GAME_TESTS=all`."""

import pathlib
import re

import gymnasium as gym
import numpy as np

from game import Game
from games import FastGame
from test_game import (
    ALL,
    NO_NOOP,
    SOME_TITLES,
    each,
    play_beside_gymnasium,
    random_actions,
    same,
)

ALL_TITLES = sorted(
    re.fullmatch(r"ALE/(.*)-v5", env_id)[1]
    for env_id in gym.registry
    if env_id.startswith("ALE/")
)


@each("title", ALL_TITLES if ALL else SOME_TITLES + NO_NOOP)
@each("mode, noop_max", [("restart", 0), ("ignore", 30)])
@each("make", [Game, FastGame] if ALL else [FastGame])
def test_a_title_equals_gymnasiums(title, mode, noop_max, make):
    play_beside_gymnasium(title, mode, noop_max, steps=300, make=make)


def test_a_subclass_with_buffers_of_its_own():
    """It may write the next screen into the array of the one before."""

    def masked(base):
        class Masked(base):
            buffers = [np.empty((210, 160), np.uint8) for _ in range(2)]

            def screen(self):
                self.buffers.reverse()
                np.copyto(self.buffers[0], super().screen())
                self.buffers[0][:17] = 0  # the score
                return self.buffers[0]

        return Masked(0)

    plain, fast = masked(Game), masked(FastGame)
    assert same(plain.reset(), fast.reset())
    for action in random_actions(60):
        assert same(plain.step(action), fast.step(action))


@each("options", [dict(noop_max=30), dict(fire_on_reset=True)])
def test_the_recipe_for_cheaper_resets(options):
    """In Breakout it plays the same."""
    text = (
        pathlib.Path(__file__).parents[1] / "docs/reference.md"
    ).read_text()
    program = re.search(r"```python\n([^`]*QuickRestarts[^`]*)```", text)[1]
    names = {}
    exec(program, names)
    plain, quick = (
        make(3, **options) for make in (Game, names["QuickRestarts"])
    )
    for seed in (None, None, 4):
        assert same(plain.reset(seed), quick.reset(seed))
        for action in random_actions(400):
            assert same(plain.step(action), quick.step(action))
            assert same(plain.final_obs, quick.final_obs)
            assert same(plain.render(), quick.render())
