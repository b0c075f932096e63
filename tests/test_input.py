"""What is refused, in words, and what is taken."""

import copy
import math
import os
import pickle
import typing

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode

from game import Game, Worker
from games import FastGame, Games
from stand_ins import NEEDED, workers_now
from test_game import BREAKOUT, DEFAULTS, FIRE, NOOP, RIGHT, each, same

REFUSED = ValueError, TypeError  # how bad input is answered


class OnGpu:
    """What a PyTorch tensor there says when NumPy asks for its data."""

    def __array__(self, dtype=None, copy=None):
        raise TypeError("Use Tensor.cpu() to copy the tensor")


# What is no action of three, and no batch of actions for three games.
BAD_ACTIONS = [
    *(-1, 3, 2**70, 0.0, 1.5, math.nan, np.float32(1), True, np.True_),
    *(None, "1", object(), {}, [1], np.array([1])),
]
BAD_BATCHES = [
    *([bad] * 3 for bad in BAD_ACTIONS if bad is not None),
    *([None, bad, 1] for bad in (-1, 3, 2**70, 0.5, "1", [1], True)),
    *([True, 0, 1], (0, np.True_, np.int8(1))),
    *([None] * 2, [None] * 4, np.full(4, None), np.array([None, 1, 3])),
    *([0, 0], [0] * 4, [], 0, None, "012", {}, [[0, 1, 2]]),
    *(np.zeros(3), np.zeros((3, 1), int), np.zeros(3, bool)),
]
GOOD_BATCHES = [
    (FIRE, NOOP, RIGHT),
    [np.int64(FIRE), NOOP, RIGHT],
    np.array([FIRE, NOOP, RIGHT], np.uint8),
    np.array([FIRE, NOOP, RIGHT], object),
]
BAD_SEEDS = [-1, 1.5, math.nan, "12", [1], [1, -2], [1, 2, 3, 4], [[1] * 2]]
BAD_SEEDS += [True, np.True_, [1, False]]

# Some wrong values of each argument.
DISABLED = AutoresetMode.DISABLED
COUNTS = ["num_envs", "action_repeat", "stack"]
SWITCHES = ["full_action_space"]
SWITCHES += [name for name in DEFAULTS if isinstance(DEFAULTS[name], bool)]
WRONG_ARGUMENTS = {
    "env_id": [None, 3, "CartPole-v1", ["CartPole-v1"] * 2, "no_module:Pong"],
    "seed": [*BAD_SEEDS, None],
    **dict.fromkeys(COUNTS, [0, -1, 1.5, "3", None, [2], True]),
    **dict.fromkeys(["processes", "noop_max"], [-1, 1.5, "3", [2], False]),
    **dict.fromkeys(SWITCHES, ["False", 1]),
    "timeout": [0, -1, math.nan, "a second", None, True],
    "context": ["telepathy", 3],
    "autoreset_mode": ["sometimes", None, 0, DISABLED, DISABLED.value],
    "on_life_loss": ["Restart", None, 1, ["restart"]],
    "size": [
        84,
        (84,),
        (84, 84, 3),
        (0, 84),
        (84.0, 84),
        (True, 84),
        "84",
        None,
    ],
    "repeat_action_probability": [1.5, -0.1, 25, math.nan, "0.25", None, True],
    "max_num_frames_per_episode": [-5, 1.5, "18000", 2**31, 10**10, True],
    **dict.fromkeys(["mode", "difficulty"], ["0", 0.5, -1, 2**40, False]),
    # These two are no options of `Games`, but of `AtariEnv`.
    "frameskip": [4],
    "obs_type": ["ram"],
    "unheard_of": [1],
}
# What the errors say, if not the argument's name.
WORDS = {
    "env_id": "Atari",
    "on_life_loss": "restart.*continue.*ignore",
    "frameskip": "frameskip.*action_repeat",
    "obs_type": "obs_type.*grayscale",
    "unheard_of": "unheard_of.*action_repeat.*stack.*full_action_space",
    "context": None,  # Python's own words
    "autoreset_mode": None,  # Gymnasium's
}


def test_actions_and_seeds_are_integers(fake):
    """What is refused plays no frame."""
    one, ale = fake(np.uint8(7))
    with pytest.raises(NEEDED):
        one.step(NOOP)
    one.reset()
    for action in BAD_ACTIONS:
        meanings = "0.*2.*NOOP.*FIRE.*RIGHT"
        with pytest.raises(REFUSED, match=meanings):
            one.step(action)
    with pytest.raises(TypeError, match="cpu"):  # PyTorch's own
        one.step(OnGpu())
    for seed in BAD_SEEDS:
        for call in (Game, one.reset):
            with pytest.raises(REFUSED):
                call(seed)
    assert ale.played == ["reset"]
    for action in (FIRE, np.uint8(FIRE), np.array(FIRE)):
        one.step(action)
    assert ale.played == ["reset"] + ["FIRE"] * 12


@each("processes", [0, 2])
def test_batches(trap, processes):
    """What is refused moves no game, and loses no worker."""
    options = dict(seed=20, noop_max=3, context="fork")
    many = Games(3, processes=processes, timeout=1e6, **options)
    other = Games(3, processes=0, **options)
    with many, other:
        assert same(many.reset(), other.reset())
        before = workers_now()
        for actions in BAD_BATCHES:
            for call in (many.step, many.step_async):
                with pytest.raises(REFUSED, match="RIGHT"):
                    call(actions)
        with pytest.raises(TypeError, match="cpu"):
            many.step(OnGpu())
        for seed in BAD_SEEDS:
            with pytest.raises(REFUSED):
                many.reset(seed=seed)
        with pytest.raises(ValueError):
            many.reset(options={"reset_mask": np.array([True] * 3)})
        for batch in GOOD_BATCHES:
            expected = other.step([FIRE, NOOP, RIGHT])
            assert same(many.step(batch), expected)
        for seed in (np.int64(50), [50, np.int32(51), 52]):
            assert same(many.reset(seed=seed), other.reset(seed=50))
        assert workers_now() == before


@each("take", [copy.copy, copy.deepcopy, pickle.dumps])
def test_no_copies(trap, take):
    with pytest.raises(TypeError, match="copied"):
        take(Games(2, processes=0))


@each("name", WRONG_ARGUMENTS)
def test_wrong_arguments(trap, monkeypatch, name):
    """Each is an error at once, and no process has been left."""
    if name in ("env_id", "frameskip", "obs_type"):
        monkeypatch.undo()  # Gymnasium itself refuses these
    for wrong in WRONG_ARGUMENTS[name]:
        with pytest.raises(REFUSED, match=WORDS.get(name, name)):
            Games(**{"num_envs": 2, "processes": 2, name: wrong})
    assert not workers_now()


@each(
    "theirs, ours",
    [
        ("frame_skip frameskip", "action_repeat"),
        ("stack_num num_stack frame_stack", "stack"),
        ("screen_size img_height", "size"),
        ("grayscale_obs gray_scale", "grayscale"),
        (
            "terminal_on_life_loss episodic_life episodic_life_loss",
            "on_life_loss",
        ),
        ("noop noop_reset_max", "noop_max"),
        ("reward_clip reward_clipping", "clip_reward"),
        ("use_fire_reset fire_reset", "fire_on_reset"),
        ("sticky_action_prob", "repeat_action_probability"),
        ("scale_obs", "subclass"),
        ("num_threads", "processes"),
    ],
)
def test_names_of_other_libraries(theirs, ours):
    """They are answered with the name here."""
    for name in theirs.split():
        for make in (Game, Games):
            with pytest.raises(TypeError, match=rf"{name}.*\b{ours}\b"):
                make(1, **{name: 1})


@each("name, words", [("mode", "[^\\d]4, 8"), ("difficulty", "0, 1")])
def test_modes_that_a_title_does_not_have(name, words):
    """Those that it has are named."""
    with pytest.raises(ValueError, match=f"{name}.*{words}.*97"):
        Game(0, **{name: 97})


def registered(env_id, **settings):
    """Register an id of one's own for Breakout."""
    spec = gym.spec("BreakoutNoFrameskip-v4")
    settings["kwargs"] = spec.kwargs | settings.get("kwargs", {})
    gym.register(env_id, spec.entry_point, **settings)


WRAPPER = gym.envs.registration.WrapperSpec(
    "Clip", "gymnasium.wrappers:ClipReward", dict(max_reward=1)
)


@each(
    "settings",
    [
        dict(max_episode_steps=100),
        dict(additional_wrappers=(WRAPPER,)),
        dict(kwargs=dict(continuous=True)),
    ],
)
def test_an_id_with_more_than_a_game_keeps(monkeypatch, settings):
    monkeypatch.setattr(gym.envs.registration, "registry", gym.registry.copy())
    registered("Mine-v0", **settings)
    with pytest.raises(ValueError, match="Mine-v0"):
        Game(0, "Mine-v0")


def test_an_id_of_ones_own(monkeypatch):
    monkeypatch.setattr(gym.envs.registration, "registry", gym.registry.copy())
    registered("Mine-v0", kwargs=dict(full_action_space=True))
    assert len(Game(0, "Mine-v0").meanings) == 18


def test_options_are_attributes():
    """NumPy's numbers become Python's."""
    one = FastGame(0, stack=np.int64(2), clip_reward=np.False_)
    for name, value in dict(DEFAULTS, stack=2).items():
        assert same(getattr(one, name), value)


def test_titles_with_other_actions():
    """Even with the option that the error names."""
    titles = [BREAKOUT, "ALE/LostLuggage-v5"]
    with pytest.raises(ValueError, match="but for.*Lost Luggage"):
        Games(2, titles, full_action_space=True)


def test_seeds_remain_after_a_look_at_the_generator():
    """Both are names of Gymnasium's."""
    games = Games(2, processes=0, seed=5)
    assert isinstance(games.np_random, np.random.Generator)
    assert games.np_random_seed == (5, 6)
    games.reset(seed=8)
    assert isinstance(games.np_random, np.random.Generator)
    assert games.np_random_seed == (8, 9)


def test_types():
    """What an editor knows of a program that uses `with`."""
    for made in (Games, Worker):
        assert typing.get_type_hints(made.__enter__)["return"] is made
    assert Games.__annotations__["single_action_space"] is gym.spaces.Discrete


def test_defaults():
    """`Game` does as labml does."""
    assert Game.__init__.__kwdefaults__ == DEFAULTS


def test_a_process_for_each_core(trap, monkeypatch):
    """Of those that Python says this process may use."""
    monkeypatch.setattr(os, "process_cpu_count", lambda: 3, raising=False)
    with Games(4, context="fork") as many:
        many.reset()
        assert len(workers_now()) == 3
