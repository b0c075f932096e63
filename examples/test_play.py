"""Tests of play.py."""

import json
import pathlib
from unittest import mock

import cv2
import numpy as np
import pytest
import torch

import play
import ppo
import run

FOLDER = pathlib.Path("run")
FILM = FOLDER / "film.mp4"


@pytest.fixture
def play_it(start):
    """Play in an empty folder, in this program; return the lines."""
    here = ["--device", "cpu", "--processes", 0]
    return lambda command: start(play.main, *here, *command.split())


def train(**options):
    """Train for an update; return the settings."""
    short = dict(games=2, rollout=16, steps=32, keep_every=32, processes=0)
    settings = ppo.Settings(folder=FOLDER, device="cpu", **short | options)
    ppo.train(settings)
    return settings


def test_weights_alone_play_whole_games(play_it):
    torch.save(ppo.Agent(4).half().state_dict(), "weights.pt")
    first, one, other, mean = play_it("weights.pt --games 2 --json x/y.json")
    assert first == "weights: weights.pt"
    points = [int(line.split()[2]) for line in (one, other)]
    expected = f"served: mean {np.mean(points):.1f} "
    assert mean == expected + f"({min(points)} to {max(points)})"
    kept = json.loads(pathlib.Path("x/y.json").read_text())
    assert kept["scores"] == {"served": points}
    assert kept["cut_off"] == {"served": [False, False]}


def test_games_that_the_limit_has_cut_off_are_marked(play_it):
    """In the lines and in the file, in a title that has no FIRE."""
    train(env_id="MsPacmanNoFrameskip-v4", max_num_frames_per_episode=200)
    *_, one, other, mean = play_it(f"{FOLDER} --games 2 --json x.json")
    assert mean.startswith("played: ") and "cut off: 2 of 2" in mean
    assert "cut off" in one and "cut off" in other
    kept = json.loads(pathlib.Path("x.json").read_text())
    assert kept["cut_off"] == {"played": [True, True]}


def test_the_score_of_a_life_is_called_that(play_it):
    """By the training, its settings.json, and play.py."""
    train(on_life_loss="restart")
    about = json.loads((FOLDER / "settings.json").read_text())["about"]
    assert "life" in about["score"]
    *lives, mean = play_it(f"{FOLDER} --games 2 --json x.json")
    assert any("of a life" in line or "no life" in line for line in lives)
    assert mean.startswith("served, each a life: ")
    kept = json.loads(pathlib.Path("x.json").read_text())
    assert kept["scored"] == "life"


def test_without_a_run_the_published_agent_plays():
    learned = play.load(play.Options().what)
    assert learned.settings.env_id == "BreakoutNoFrameskip-v4"
    obs = np.zeros((5, 4, 84, 84), np.uint8)
    assert {*learned.act(obs, np.ones(5, bool))} <= {0, 1, 2, 3}


def test_settings_are_those_of_the_run(play_it, monkeypatch):
    """Of its kept checkpoints, too, wherever they are copied."""
    train(env_id="PongNoFrameskip-v4", stack=2, grayscale=False, seed=3)
    (FOLDER / "checkpoint-32.pt").rename("copied.pt")
    played = []

    def watch(act, games, seed, **_):
        played.append((games.single_observation_space.shape, seed))
        actions = act(games.reset()[0], np.ones(2, bool))
        assert len(actions) == games.num_envs == 2
        return [play.Played(0.0, 1, False)]

    monkeypatch.setattr(play, "whole_games", watch)
    for what in (FOLDER, "copied.pt"):
        play_it(f"{what} --games 2")
    play_it(f"{FOLDER} --games 2 --seed 5")
    shape = 2, 84, 84, 3
    assert played == [(shape, 3), (shape, 3), (shape, 5)]


def test_each_game_is_played_once_and_then_rests():
    """The second ends before the others do, cut off; the third is first."""
    scores = [{1: 20}, {0: 12}, {2: 33}]
    lives_lost = [[2], [0], [2]]
    obs = np.zeros((3, 4, 84, 84), np.uint8)
    rests = []
    begun = []

    def step(actions):
        ended = scores[len(rests)]
        terminated = np.isin(range(3), lives_lost[len(rests)])
        rests.append([i for i in range(3) if actions[i] is None])
        mask = np.isin(range(3), list(ended))
        points = np.array([ended.get(i, 0.0) for i in range(3)])
        infos = {"_episode": mask, "episode": {"r": points, "l": points}}
        return obs, None, terminated, mask & ~terminated, infos

    def act(obs, starts):
        begun.append(np.flatnonzero(starts).tolist())
        return [0] * 3

    games = mock.Mock(num_envs=3, step=step)
    games.reset.return_value = obs, {}
    played = play.whole_games(act, games, 0)
    assert [game.score for game in played] == [12, 20, 33]
    assert [game.cut_off for game in played] == [False, True, False]
    assert rests == [[], [1], [0, 1]]
    # A memory begins anew where an episode does.
    assert begun == [[0, 1, 2], [1, 2], [0]]


def test_the_film_is_one_whole_game(play_it):
    settings = train(action_repeat=6)
    play_it(f"{FOLDER} --film")
    screens = []
    act = play.load(FOLDER).act
    with settings.make_games(1, processes=0) as games:
        play.whole_games(act, games, 0, screens.append)
    film = cv2.VideoCapture(str(FILM))
    assert film.get(cv2.CAP_PROP_FPS) == 10
    for screen in screens:
        picture = film.read()[1][::2, ::2, ::-1]
        assert np.abs(picture - screen.astype(float)).mean() < 4
    assert film.read()[1] is None


@pytest.mark.parametrize(
    ("what", "words"),
    [
        ("nothing", "there is no nothing"),
        ("text.pt", "text.pt is no checkpoint, or is damaged"),
        ("weights.pt --device gpu", "gpu"),
        ("other.pt", "other.pt doesn't fit"),
        ("x/program.pt", "needs a2c.py"),
        ("no_loader.pt", "needs run.py, with `load`"),
    ],
)
def test_what_cannot_play_ends_in_a_line(play_it, what, words):
    pathlib.Path("text.pt").write_text("not weights")
    torch.save(ppo.Agent(4).state_dict(), "weights.pt")
    torch.save(ppo.Agent(4, shape=(2, 84, 84)).state_dict(), "other.pt")
    # in the current folder, which is no place for a checkpoint's program
    pathlib.Path("x").mkdir()
    pathlib.Path("a2c.py").write_text("raise SystemExit")
    torch.save({"weights": {}, "program": "a2c"}, "x/program.pt")
    torch.save({"weights": {}, "program": "run"}, "no_loader.pt")
    with pytest.raises(run.RunError, match=words):
        play_it(what)
