"""Tests of catch.py, and that ppo.py learns it as it is."""

import csv
import pathlib

import numpy as np

import catch
import play
import ppo
from games import Games
from run import read_settings

FOLDER = pathlib.Path("run")


def test_a_ball_is_caught_or_missed():
    """By an agent that looks where the ball and the paddle are."""

    def act(obs, wants_it):
        newest = obs[:, -1, :: catch.CELL, :: catch.CELL].astype(int)
        ball = newest[:, :-1].max(1).argmax(1)
        paddle = newest[:, -1].argmax(1)
        toward = np.sign(ball - paddle) if wants_it else paddle * 0 + 1
        return (toward % 3 * 2 % 3).tolist()

    with Games(8, "Catch", make=catch.Catch, processes=0) as games:
        for wants_it in (True, False):
            played = play.whole_games(
                lambda obs, _, wants_it=wants_it: act(obs, wants_it), games, 0
            )
            assert all(game.score == 1 for game in played) == wants_it


def test_ppo_learns_it_and_plays_it(start):
    short = "--steps 16_384 --threads 1 --processes 0"
    start(
        lambda: ppo.train(read_settings(catch.Settings)),
        *(f"--folder {FOLDER} --device cpu {short}".split()),
    )
    with (FOLDER / "curve.csv").open(newline="") as file:
        *_, last = csv.DictReader(file)
    # At random it is -0.7.
    assert float(last["score"]) > 0
    *_, line = start(play.main, FOLDER, "--games", 20, "--processes", 0)
    assert float(line.split("mean ")[1].split()[0]) > 0
