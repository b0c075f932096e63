"""Others' learners and Gymnasium's wrappers around `Games`, as they are."""

import dataclasses

import gymnasium as gym
import numpy as np
import pytest
import torch
from gymnasium import wrappers
from gymnasium.wrappers import vector
from skrl.envs.wrappers.torch import wrap_env
from torchrl.envs import GymWrapper

from game import BREAKOUT, Games

N = 3
ACTIONS = np.random.default_rng(0).integers(4, size=(120, N))
# TorchRL plays before it begins, so a game must begin as the one before. It
# resets all games if the episodes of all end in the same step: so no FIRE.
OPTIONS = dict(noop_max=0, fire_on_reset=False)


@pytest.fixture
def games():
    with Games(N, processes=2, **OPTIONS) as games:
        yield games


@pytest.fixture
def expected():
    """What each step returns."""
    with Games(N, processes=0, **OPTIONS) as games:
        games.reset()
        return [games.step(actions) for actions in ACTIONS]


def test_skrl(games, expected):
    """`wrap_env` hands out flat observations, and columns of the rest."""
    env = wrap_env(games)
    env.reset()
    for actions, (theirs, *columns, _) in zip(ACTIONS, expected, strict=True):
        obs, *others, _ = env.step(torch.tensor(actions)[:, None])
        assert torch.equal(obs, torch.tensor(theirs).flatten(1).float())
        for one, other in zip(others, columns, strict=True):
            assert one[:, 0].tolist() == other.tolist()


def test_torchrl(games, expected):
    """`GymWrapper` takes an episode's last observation from the infos."""
    rows = iter(torch.tensor(ACTIONS))
    rollout = GymWrapper(games, categorical_action_encoding=True).rollout(
        len(ACTIONS), lambda _: next(rows), break_when_any_done=False
    )
    afters = rollout["next"].unbind(1)
    for after, step in zip(afters, expected, strict=True):
        obs, rewards, terminated, _, infos = step
        for n in np.flatnonzero(infos.get("_final_obs", [])):
            obs[n] = infos["final_obs"][n]
        np.testing.assert_array_equal(after["observation"], obs)
        assert after["reward"][:, 0].tolist() == rewards.tolist()
        assert after["terminated"][:, 0].tolist() == terminated.tolist()


# Gymnasium's wrappers for vector environments and their arguments, as
# docs/reference.md sorts them: those that work in both modes, those that work
# under NEXT_STEP alone, since they change observations, and those that are for
# something else or need more.
IN_BOTH = {
    "DictInfoToList": {},
    "TransformAction": {"func": np.copy},
    "TransformReward": {"func": np.sign},
    "VectorizeTransformReward": {
        "wrapper": wrappers.ClipReward,
        "min_reward": -1,
        "max_reward": 1,
    },
    "ClipReward": {"min_reward": -1, "max_reward": 1},
    "NormalizeReward": {},
    "RecordVideo": {"video_folder": "videos"},
}
IN_NEXT_STEP = {
    "TransformObservation": {"func": np.copy},
    "VectorizeTransformObservation": {"wrapper": wrappers.FlattenObservation},
    "FlattenObservation": {},
    "ReshapeObservation": {"shape": (4 * 84, 84)},
    "DtypeObservation": {"dtype": np.float32},
    "NormalizeObservation": {},
    "ArrayConversion": {"env_xp": np, "target_xp": torch},
    "NumpyToTorch": {},
}
OTHERS = {
    *("RecordEpisodeStatistics", "VectorizeTransformAction", "ClipAction"),
    *("RescaleAction", "FilterObservation", "GrayscaleObservation"),
    *("ResizeObservation", "RescaleObservation", "HumanRendering"),
    *("JaxToNumpy", "JaxToTorch"),
}


def test_every_wrapper_is_sorted():
    names = [*IN_BOTH, *IN_NEXT_STEP, *OTHERS]
    assert sorted(names) == sorted(vector.__all__)


@pytest.fixture(params=["SameStep", "NextStep"])
def play(request, tmp_path, monkeypatch):
    """Play to the end of two games, with a wrapper around them."""
    monkeypatch.chdir(tmp_path)
    spec = gym.spec(BREAKOUT)
    limit = {"max_num_frames_per_episode": 120}
    spec = dataclasses.replace(spec, kwargs=spec.kwargs | limit)
    mode = request.param

    def play(name, **options):
        wrapper = getattr(vector, name)
        with Games(2, spec, processes=0, autoreset_mode=mode) as games:
            env = wrapper(games, **options)
            obs, _ = env.reset()
            actions = np.zeros(2, int)
            if isinstance(obs, torch.Tensor):
                actions = torch.as_tensor(actions)
            for _ in range(40):
                env.step(actions)
            env.close()

    play.mode = mode
    return play


@pytest.mark.parametrize("name", IN_BOTH)
def test_wrappers_that_work_in_both_modes(play, name):
    play(name, **IN_BOTH[name])


@pytest.mark.parametrize("name", IN_NEXT_STEP)
def test_wrappers_that_work_under_next_step_alone(play, name):
    if play.mode == "NextStep":
        play(name, **IN_NEXT_STEP[name])
    else:
        # Gymnasium refuses them, or can't convert `final_obs`.
        with pytest.raises((ValueError, BufferError)):
            play(name, **IN_NEXT_STEP[name])


def test_wrong_scores_are_not_recorded_in_silence(play):
    """`RecordEpisodeStatistics` would count lives and clipped rewards."""
    with pytest.raises(ValueError, match="episode"):
        play("RecordEpisodeStatistics")
