"""Tests of play.py."""

import json
import pathlib
import resource
import subprocess
import uuid
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


def test_weights_alone_play_whole_games_in_both_ways(play_it):
    torch.save(ppo.Agent(4).half().state_dict(), "weights.pt")
    first, *lines = play_it("weights.pt --games 2 --json scores.json")
    assert first == "weights: weights.pt"
    for way, one, other, mean in (
        ("served", *lines[:3]),
        ("alone", *lines[3:]),
    ):
        points = [int(line.split()[2]) for line in (one, other)]
        expected = f"{way}: mean {np.mean(points):.1f} "
        expected += f"({min(points)} to {max(points)})"
        assert mean == expected
        kept = json.loads(pathlib.Path("scores.json").read_text())
        assert kept["scores"][way] == points
    hashed = subprocess.check_output(["git", "hash-object", "weights.pt"])
    assert kept["hash"] == hashed.decode().strip()


def test_a_protocol_is_that_of_the_command_line(play_it):
    """The rest is the run's; what is the same both ways is played once."""
    train(action_repeat=5)
    expected = dict(
        on_life_loss="ignore",
        noop_max=0,
        fire_on_reset=False,
        repeat_action_probability=0.25,
        max_num_frames_per_episode=200,
    )
    flags = [f"--{name} {value}" for name, value in expected.items()]
    flags += ["--games 2 --most-likely --json x/y.json"]
    with mock.patch.object(ppo, "Games", wraps=ppo.Games) as games:
        lines = play_it(f"{FOLDER} {' '.join(flags)}")
    assert "alone: the same as served" in lines
    kept = json.loads(pathlib.Path("x/y.json").read_text())
    assert kept["most_likely"] and list(kept["scores"]) == ["served"]
    expected |= dict(action_repeat=5, clip_reward=False)
    assert games.call_args.kwargs.items() >= expected.items()
    assert kept["protocols"]["served"].items() >= expected.items()


def test_the_most_likely_action_is_taken_if_asked_for(start):
    agent = ppo.Agent(4)
    torch.nn.init.constant_(agent.policy.bias, 0)
    with torch.no_grad():
        agent.policy.bias[2] = 0.5
    torch.save(agent.state_dict(), "weights.pt")
    act = play.load(pathlib.Path("weights.pt")).act
    obs = np.zeros((50, 4, 84, 84), np.uint8)
    assert set(act(obs)) > {2}
    assert set(act(obs, most_likely=True)) == {2}


def test_without_a_run_the_published_agent_plays():
    learned = play.load(play.Options().what)
    assert learned.settings.env_id == "BreakoutNoFrameskip-v4"
    obs = np.zeros((5, 4, 84, 84), np.uint8)
    assert {*learned.act(obs)} <= {0, 1, 2, 3}


def test_settings_are_those_of_the_run(play_it, monkeypatch):
    """Of its kept checkpoints, too, wherever they are copied."""
    train(env_id="PongNoFrameskip-v4", stack=2, grayscale=False, seed=3)
    (FOLDER / "checkpoint-32.pt").rename("copied.pt")
    played = []

    def watch(act, games, seed, **_):
        played.append((games.single_observation_space.shape, seed))
        assert len(act(games.reset()[0])) == games.num_envs == 2
        return [0.0]

    monkeypatch.setattr(play, "whole_games", watch)
    for what in (FOLDER, "copied.pt"):
        play_it(f"{what} --games 2")
    play_it(f"{FOLDER} --games 2 --seed 5")
    shape = 2, 84, 84, 3
    assert played == 4 * [(shape, 3)] + 2 * [(shape, 5)]


def test_each_game_is_played_once_and_then_rests():
    """The second ends before the others do."""
    scores = [{1: 20}, {0: 12}, {2: 33}]
    obs = np.zeros((3, 4, 84, 84), np.uint8)
    rests = []

    def step(actions):
        ended = scores[len(rests)]
        rests.append([i for i in range(3) if actions[i] is None])
        mask = np.isin(range(3), list(ended))
        points = np.array([ended.get(i, 0.0) for i in range(3)])
        infos = {"_episode": mask, "episode": {"r": points, "l": points}}
        return obs, None, None, None, infos

    games = mock.Mock(num_envs=3, step=step)
    games.reset.return_value = obs, {}
    assert play.whole_games(lambda obs: [0] * 3, games, 0) == [12, 20, 33]
    assert rests == [[], [1], [0, 1]]


def test_the_film_is_one_whole_game(play_it):
    settings = train(action_repeat=6)
    left = FOLDER / f"film-{uuid.uuid4()}.mp4"
    left.touch()  # as by a program that was killed
    play_it(f"{FOLDER} --film")
    assert list(FOLDER.glob("*.mp4")) == [FILM]
    screens = []
    act = play.load(FOLDER).act
    with settings.make_games(1, clip_reward=False) as games:
        play.whole_games(act, games, 0, screens.append)
    film = cv2.VideoCapture(str(FILM))
    assert film.get(cv2.CAP_PROP_FPS) == 10
    for screen in screens:
        picture = film.read()[1][::2, ::2, ::-1]
        assert np.abs(picture - screen.astype(float)).mean() < 4
    assert film.read()[1] is None


def test_a_film_that_is_cut_off_replaces_none(play_it):
    """As by a disk that is full: OpenCV doesn't say so."""
    train()
    FILM.write_bytes(b"an older film")
    most, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (5000, hard))
    try:
        with pytest.raises(run.RunError, match="film.mp4 can't be written"):
            play_it(f"{FOLDER} --film")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, hard))
    assert FILM.read_bytes() == b"an older film"
    assert len(list(FOLDER.glob("*.mp4"))) == 1


@pytest.mark.parametrize(
    ("what", "words"),
    [
        ("nothing", "there is no nothing"),
        ("empty", "there is no empty/checkpoint.pt"),
        ("text.pt", "text.pt is no checkpoint, or is damaged"),
        ("nothing --device gpu", "--device gpu can't be used"),
        ("other.pt", "other.pt doesn't fit"),
        ("program.pt", "of a2c.py, which is neither beside"),
        ("no_loader.pt", "of run.py, which has no `load`"),
    ],
)
def test_what_cannot_play_ends_in_a_line(play_it, what, words):
    pathlib.Path("text.pt").write_text("not weights")
    pathlib.Path("empty").mkdir()
    torch.save(ppo.Agent(4, shape=(2, 84, 84)).state_dict(), "other.pt")
    torch.save({"weights": {}, "program": "a2c"}, "program.pt")
    torch.save({"weights": {}, "program": "run"}, "no_loader.pt")
    with pytest.raises(run.RunError, match=words):
        play_it(what)
