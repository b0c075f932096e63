"""Others' learners and Gymnasium's wrappers around `Games`, as they are."""

import contextlib
import os
import pathlib
import subprocess

import numpy as np
import pytest
import torch
from gymnasium.wrappers import vector
from skrl.envs.wrappers.torch import wrap_env
from torchrl.envs import GymWrapper

from games import Games

os.environ["SDL_VIDEODRIVER"] = "dummy"  # there may be no screen

N = 3
ACTIONS = np.random.default_rng(0).integers(4, size=(120, N))
# TorchRL plays before it begins, so a game must begin as the one before. It
# resets all games if the episodes of all end in the same step: so no FIRE.
OPTIONS = dict(noop_max=0, fire_on_reset=False)


@pytest.fixture
def expected():
    """What each step returns."""
    with Games(N, processes=0, **OPTIONS) as games:
        games.reset()
        return [games.step(actions) for actions in ACTIONS]


def test_skrl(expected):
    """`wrap_env` hands out flat observations, and columns of the rest."""
    env = wrap_env(Games(N, processes=2, **OPTIONS))
    env.reset()
    for actions, (theirs, *columns, _) in zip(ACTIONS, expected, strict=True):
        obs, *others, _ = env.step(torch.tensor(actions)[:, None])
        assert torch.equal(obs, torch.tensor(theirs).flatten(1).float())
        for one, other in zip(others, columns, strict=True):
            assert one[:, 0].tolist() == other.tolist()
    env.close()


def test_torchrl(expected):
    """`GymWrapper` takes an episode's last observation from the infos."""
    rows = iter(torch.tensor(ACTIONS))
    games = Games(N, processes=2, **OPTIONS)
    env = GymWrapper(games, categorical_action_encoding=True)
    rollout = env.rollout(
        len(ACTIONS), lambda *_: next(rows), break_when_any_done=False
    )
    env.close()
    afters = rollout["next"].unbind(1)
    for after, step in zip(afters, expected, strict=True):
        obs, rewards, terminated, _, infos = step
        for n in np.flatnonzero(infos.get("_final_obs", [])):
            obs[n] = infos["final_obs"][n]
        np.testing.assert_array_equal(after["observation"], obs)
        assert after["reward"][:, 0].tolist() == rewards.tolist()
        assert after["terminated"][:, 0].tolist() == terminated.tolist()


def test_git_reads_the_diff_for_cleanrl():
    path = pathlib.Path(__file__).parent / "cleanrl/ppo_atari.diff"
    command = ["git", "apply", "--numstat", path]
    changed = subprocess.run(command, check=True, capture_output=True).stdout
    assert changed.decode().split()[-1] == "cleanrl/ppo_atari.py"


# Gymnasium's wrappers for vector environments and their arguments, as
# docs/reference.md sorts them: those that work in both modes, and those that
# work under NEXT_STEP alone, since they change observations.
IN_BOTH = {
    "DictInfoToList": {},
    "TransformAction": {"func": np.copy},
    "TransformReward": {"func": np.sign},
    "ClipReward": {"min_reward": -1, "max_reward": 1},
    "NormalizeReward": {},
    "RecordVideo": {"video_folder": "videos"},
    "HumanRendering": {},
}
IN_NEXT_STEP = {
    "TransformObservation": {"func": np.copy},
    "FlattenObservation": {},
    "ReshapeObservation": {"shape": (4 * 84, 84)},
    "DtypeObservation": {"dtype": np.float32},
    "RescaleObservation": {"min_obs": 0, "max_obs": 1},
    "NormalizeObservation": {},
    "ArrayConversion": {"env_xp": np, "target_xp": torch},
    "NumpyToTorch": {},
}


def play(wrapper, mode, actions=(0, 0), **options):
    """Play two wrapped games beyond a limit that ends them."""
    limit = {"max_num_frames_per_episode": 120}
    games = Games(2, processes=0, autoreset_mode=mode, **limit)
    with contextlib.closing(wrapper(games, **options)) as env:
        env.reset()
        for _ in range(40):
            env.step(actions)


@pytest.mark.parametrize("mode", ["SameStep", "NextStep"])
@pytest.mark.parametrize("name", [*IN_BOTH, *IN_NEXT_STEP])
def test_wrappers(name, mode, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    wrapper = getattr(vector, name)
    options = (IN_BOTH | IN_NEXT_STEP)[name]
    takes_tensors = name in ("ArrayConversion", "NumpyToTorch")
    actions = torch.zeros(2, dtype=int) if takes_tensors else np.zeros(2, int)
    works = mode == "NextStep" or name in IN_BOTH
    # Gymnasium refuses them, or can't convert `final_obs`.
    refused = pytest.raises((ValueError, BufferError))
    with contextlib.nullcontext() if works else refused:
        play(wrapper, mode, actions, **options)
