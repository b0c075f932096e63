"""What is refused, in words, and what is taken."""

import copy
import math
import os
import pickle
import re

import gymnasium as gym
import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.vector import AutoresetMode

import game
import games
from game import TRAINING, Game, Worker
from games import FastGame, Games
from stand_ins import NEEDED, workers_now
from test_game import DEFAULTS, FIRE, NOOP, RIGHT, ask, each, same

REFUSED = ValueError, TypeError  # how bad input is answered


class OnGpu:
    """What a PyTorch tensor there says when NumPy asks for its data."""

    def __array__(self, dtype=None, copy=None):
        raise TypeError("Use Tensor.cpu() to copy the tensor")


# What is no action of three, and no batch of actions for three games.
TIMES = [np.timedelta64(1, "ns"), np.datetime64(1, "ns")]
BAD_ACTIONS = [
    *(-1, 3, 2**70, 0.0, 1.5, math.nan, np.float32(1), True, np.True_),
    *(None, "1", object(), {}, [1], np.array([1]), np.ma.masked, *TIMES),
]
BAD_BATCHES = [
    *([bad] * 3 for bad in BAD_ACTIONS if bad is not None),
    *([None, bad, 1] for bad in (-1, 3, 2**70, 0.5, "1", [1], True)),
    *([True, 0, 1], (0, np.True_, np.int8(1)), np.array([0, True], object)),
    *([time] * 3 for time in TIMES),
    *(np.array([time] * 3) for time in TIMES),
    *(np.ma.array([0, 1, 2], mask=[1, 0, 0]), np.ma.array([0, 1, 2])),
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
    "env_id": [
        *(None, 3, {}, gym.spec("ALE/Pong-v5"), [["a"], ["b"]]),
        *("CartPole-v1", ["CartPole-v1"] * 2, "no_module:Pong", "Ant-v5"),
    ],
    "seed": [*BAD_SEEDS, None],
    **dict.fromkeys(COUNTS, [0, -1, 1.5, "3", None, [2], True, 2**64]),
    **dict.fromkeys(
        ["processes", "noop_max"], [-1, 1.5, "3", [2], False, 2**64]
    ),
    **dict.fromkeys(SWITCHES, ["False", 1]),
    "timeout": [0, -1, math.nan, 10**400, "a second", None, True],
    "context": ["telepathy", 3],
    "autoreset_mode": ["sometimes", None, 0, DISABLED, DISABLED.value],
    "on_life_loss": ["Restart", None, 1, ["restart"]],
    "size": [
        *(84, (84,), (84, 84, 3), (0, 84), (84.0, 84), (True, 84)),
        *("84", None, (2**40, 1)),
    ],
    "render_mode": [5, "ansi"],
    "make": [3, ""],
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
    "unheard_of": "unheard_of.*processes.*stack.*full_action_space",
    "context": None,  # Python's own words
    "autoreset_mode": None,  # Gymnasium's
}


def test_actions_and_seeds_are_integers(trap):
    """What is refused plays no frame."""
    one = Game(np.uint8(7), on_life_loss="ignore")
    ale = one.env.ale
    with pytest.raises(NEEDED):
        one.step(NOOP)
    one.reset()
    for action in BAD_ACTIONS:
        meanings = "0.*2.*NOOP.*FIRE.*RIGHT"
        with pytest.raises(REFUSED, match=meanings):
            one.step(action)
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
        mask = np.array([True] * 3)
        for options in ({"reset_mask": mask}, False, []):
            with pytest.raises(ValueError, match="options"):
                many.reset(options=options)
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


@each("ours", games.OTHER_NAMES)
def test_names_of_other_libraries(ours):
    """They are answered with the name here."""
    theirs = games.OTHER_NAMES[ours].split()
    for name in theirs:
        of_game = ours in game.OTHER_NAMES
        for make in [Game, Games] if of_game else [Games]:
            with pytest.raises(TypeError, match=f"{name}.*{re.escape(ours)}"):
                make(1, **{name: 1})


def test_the_first_unknown_name_counts():
    """Whether it is one of `Game`'s or of `Games`'s."""
    for names in (["frame_stack", "num_threads"], ["num_threads", "noop"]):
        with pytest.raises(TypeError, match=names[0]):
            Games(1, **dict.fromkeys(names, 1))


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


def make_env(*_, **__):
    return gym.Env()


@each("make", [gym.Env, gym.make("CartPole-v1"), make_env])
def test_an_environment_is_no_game(make):
    """The error says in a line where it is written what a game is."""
    says = pytest.raises(ValueError, match="a-game-of-your-own")
    with Worker(0, make=make) as worker, says as raised:
        ask(worker, "reset")
    assert "\n" not in str(raised.value)
    with says:
        Games(2, make=make)


@each("space", [spaces.Discrete(4, start=1), spaces.MultiDiscrete([4])])
def test_actions_are_numbers_from_0_on(space):
    class Shifted(FastGame):
        def __init__(self, *args, **options):
            super().__init__(*args, **options)
            self.env.action_space = space

    with pytest.raises(ValueError, match=re.escape(str(space))):
        Games(2, make=Shifted)


def test_defaults():
    """`Game` does as labml does, and `Games` as everybody trains."""
    assert Game.__init__.__kwdefaults__ == DEFAULTS
    defaults = Games.__init__.__kwdefaults__
    assert {name: defaults[name] for name in TRAINING} == TRAINING


@each("processes", [0, 2])
def test_what_a_game_is_made_with(processes):
    """All settings of a training, and whatever else is passed."""

    class Told(FastGame):
        def __init__(self, seed, env_id, num_threads, **options):
            super().__init__(seed, env_id, **options)
            self.told = dict(options, seed=seed, num_threads=num_threads)

        def info(self):
            return dict(self.told)

    given = dict(num_threads=5, noop_max=7, stack=2)
    with Games(2, make=Told, seed=[4, 9], processes=processes, **given) as one:
        infos = one.reset()[1]
    assert infos["seed"].tolist() == [4, 9]
    for name, value in {**TRAINING, **given}.items():
        assert infos[name].tolist() == [value] * 2


def test_a_process_for_each_core(trap, monkeypatch):
    """Of those that Python says this process may use."""
    monkeypatch.setattr(os, "process_cpu_count", lambda: 3, raising=False)
    with Games(4, context="fork") as many:
        many.reset()
        assert len(workers_now()) == 3
