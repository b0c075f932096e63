"""What is refused, in words, and what is taken."""

import copy
import inspect
import math
import os
import pickle
import runpy

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode

import game
from game import TRAINING, Game, Games
from stand_ins import (
    MODULE,
    NEEDED,
    REFUSED,
    begin,
    each,
    follow,
    here_and_there,
    pair,
    workers_now,
)
from test_game import FIRE, LOOKS, NOOP, PLAIN, RIGHT, Model, Script, same


class Tensor:
    """What matters here of a PyTorch tensor: its data, or what it says."""

    def __init__(self, data, error=None):
        self._data = np.array(data)
        self._error = error

    def __array__(self, dtype=None, copy=None):
        if self._error:
            raise self._error
        return self._data


ON_GPU = TypeError("Use Tensor.cpu() to copy the tensor")
INTEGERS = "bBhHiIlLqQ"  # NumPy's types

# What is no action of three, no seed, and the same for batches of three.
BAD_ACTIONS = [
    *(-1, 3, 2**70, np.int8(-1)),
    *(0.0, 1.5, math.nan, np.float32(1)),
    *(True, np.True_, None, "1", object(), {}, [1], np.array([1])),
    *(Tensor(1.0), Tensor(1, ON_GPU)),
]
GOOD_ACTIONS = [
    *(np.array(1, kind)[()] for kind in INTEGERS),
    *(1, np.array(1), Tensor(1)),
]
BAD_SEEDS = [-1, np.int64(-1), 0.0, 1.5, math.nan, "1", [1], [], object()]
BAD_BATCHES = [
    *([bad] * 3 for bad in BAD_ACTIONS if bad is not None),
    *([0, bad, 1] for bad in (-1, 3, 2**70, 0.5, [1])),
    *([None, bad, 1] for bad in (-1, 3, 2**70, 0.5, "1", [1])),
    *([None] * 2, [None] * 4, np.full(4, None), np.array([None, 1, 3])),
    *([0, 0], [0] * 4, [], 0, None, "012", {}, [[0, 1, 2]]),
    *(np.zeros(3), np.zeros((3, 1), int), np.zeros(3, bool)),
    *(Tensor([0, 1]), Tensor([0, 1, 3]), Tensor([0] * 3, ON_GPU)),
]
GOOD_BATCHES = [
    *(np.array([FIRE, NOOP, RIGHT], kind) for kind in INTEGERS),
    (FIRE, NOOP, RIGHT),
    [np.int64(FIRE), NOOP, RIGHT],
    Tensor([FIRE, NOOP, RIGHT]),
    np.array([FIRE, NOOP, RIGHT], object),
]
BAD_SEEDS_OF_THREE = [-1, 1.5, [1, 2], [1, 2, -3], [[1] * 3]]

DISABLED = AutoresetMode.DISABLED
WRONG_ARGUMENTS = {
    "env_id": [None, 3, "CartPole-v1", ["CartPole-v1"] * 2],
    "num_envs": [0, -1, 1.5, "3", None, [2]],
    "processes": [-1, 1.5, "3", [2]],
    "timeout": [0, -1, math.nan, "a second", None],
    "context": ["telepathy", 3],
    "autoreset_mode": ["sometimes", None, 0, DISABLED, DISABLED.value],
    "seed": [None, -1, 1.5, "12", [1], [1, -2]],
    "noop_max": [-1, 1.5, "3", None],
    "on_life_loss": ["Restart", None, 1, ["restart"]],
    "action_repeat": [0, 1.5, "4", None],
    "stack": [0, -1, 2.0, None],
    "size": [84, (84,), (84, 84, 3), (0, 84), (84.0, 84), "84", None],
    "clip_reward": ["False", None, 1],
    "fire_on_reset": ["True", 0],
    "grayscale": ["yes", None, 2],
    "full_action_space": ["False"],
    # There is no such option, or it isn't one.
    "frame_skip": [2],
    "frameskip": [4],
    "obs_type": ["ram"],
}


def test_actions_are_integers(fake):
    """Python's, NumPy's and PyTorch's. What is refused plays no frame."""
    one, ale = fake()
    with pytest.raises(NEEDED):
        one.step(NOOP)
    one.reset()
    for action in BAD_ACTIONS:
        meanings = "0.*2.*NOOP.*FIRE.*RIGHT"
        with pytest.raises(REFUSED, match=meanings) as error:
            one.step(action)
    assert "Use Tensor.cpu()" in str(error.value.__cause__)
    assert ale.played == ["reset"]
    for action in GOOD_ACTIONS:
        one.step(action)
    assert ale.played[1:] == ["FIRE"] * 4 * len(GOOD_ACTIONS)


def test_seeds_are_integers(fake):
    """NumPy's too. Others are refused, and the game is unchanged."""
    one, _ = fake(np.uint8(7), noop_max=30)
    model = Model(7, Script(), noop_max=30)
    assert same(one.reset(), model.reset())
    for seed in BAD_SEEDS:
        with pytest.raises(REFUSED):
            Game(seed)
        with pytest.raises(REFUSED):
            one.reset(seed)
    assert same(one.reset(), model.reset())
    assert same(one.reset(np.int64(7)), model.reset(7))


@here_and_there
def test_what_games_refuse(trap, processes):
    """No game has moved, no step has begun, and no worker was lost."""
    with pair(3, processes) as (many, twin):
        before = workers_now()
        for name in ("step", "step_async"):
            for actions in BAD_BATCHES:
                with pytest.raises(REFUSED, match="RIGHT"):
                    getattr(many, name)(actions)
        follow(many, twin)
        for seed in BAD_SEEDS_OF_THREE:
            with pytest.raises(REFUSED):
                many.reset(seed=seed)
        with pytest.raises(ValueError):
            many.reset(options={"reset_mask": np.array([True] * 3)})
        follow(many, twin, 3)
        assert workers_now() == before


@here_and_there
def test_what_games_take(trap, processes):
    """All kinds of batches, and a seed for all or one for each."""
    with pair(3, processes, noop_max=30, timeout=1e6) as (many, twin):
        begin(many, twin, np.int64(50))
        begin(many, twin, [5, 1, np.int32(9)])
        assert same(many.reset(options={})[0], twin.reset())
        for batch in GOOD_BATCHES:
            expected = twin.step([FIRE, NOOP, RIGHT])
            assert same(many.step(batch), expected)


@each("take", [copy.copy, copy.deepcopy, pickle.dumps])
def test_no_copies(trap, take):
    """Of a game the words say what there is in their place."""
    with pytest.raises(TypeError, match="clone_state"):
        take(Game(0))
    with pytest.raises(TypeError, match="copied"):
        take(Games(2, processes=0))


@each("name", WRONG_ARGUMENTS)
def test_wrong_arguments(trap, name):
    """Each is an error at once, and no process has been left."""
    words = name
    if name == "env_id":
        words = "Atari"
    elif name == "on_life_loss":
        words = "restart.*continue.*ignore"
    elif name in ("context", "autoreset_mode"):
        words = None  # Python's own words, and Gymnasium's
    elif name in ("frame_skip", "frameskip", "obs_type"):
        words = f"{name}.*action_repeat.*stack.*full_action_space"
    for wrong in WRONG_ARGUMENTS[name]:
        with pytest.raises(REFUSED, match=words):
            Games(**{"num_envs": 2, "processes": 2, name: wrong})
        assert not workers_now()


def test_defaults():
    """`Games` does what agents are trained with, `Game` as labml does."""
    for made, expected in ((Games, TRAINING), (Game, PLAIN | LOOKS)):
        shown = inspect.signature(made).parameters
        assert {key: shown[key].default for key in expected} == expected


@each("cores", [1, 3])
def test_a_process_for_each_core(trap, monkeypatch, cores):
    """Of those that Python says this process may use."""
    monkeypatch.setattr(os, "process_cpu_count", lambda: cores, raising=False)
    with Games(4, context="fork") as many:
        many.reset()
        assert len(workers_now()) == cores


def test_an_old_gymnasium(monkeypatch):
    monkeypatch.delattr(gym.vector, "AutoresetMode")
    with pytest.raises(ImportError, match="1.1"):
        runpy.run_path(str(MODULE))


def test_licence_and_version():
    source = MODULE.read_text(encoding="utf-8")
    assert source.startswith("# SPDX-License-Identifier: MIT\n")
    citation = MODULE.parent / "CITATION.cff"
    if citation.exists():
        assert f"\nversion: {game.__version__}\n" in citation.read_text()
