"""What others have written plays `Games` as it is, and so do its recipes."""

import dataclasses
import itertools

import ale_py
import gymnasium as gym
import numpy as np
import pytest
import torch
from gymnasium.wrappers.vector import RecordVideo
from skrl.envs.wrappers.torch import wrap_env
from torchrl.envs import GymWrapper

from game import BREAKOUT, Game, Games

N = 3
ACTIONS = np.random.default_rng(0).integers(4, size=(120, N))
OPTIONS = dict(on_life_loss="continue")


@pytest.fixture(params=[0, 2])
def games(request):
    context = "forkserver" if request.param else None
    with Games(N, processes=request.param, context=context, **OPTIONS) as many:
        yield many


def steps(**kwargs):
    """Yield the first observations, and then what each step returns."""
    with Games(N, processes=0, **OPTIONS, **kwargs) as games:
        yield games.reset()[0]
        yield from map(games.step, ACTIONS)


def test_skrl(games):
    """`wrap_env` hands out flat observations, and columns of the rest."""
    expected = steps()
    env = wrap_env(games)
    obs, _ = env.reset()
    assert torch.equal(obs, torch.tensor(next(expected)).flatten(1).float())
    for actions, (theirs, *columns, _) in zip(ACTIONS, expected, strict=True):
        obs, *others, _ = env.step(torch.tensor(actions)[:, None])
        assert torch.equal(obs, torch.tensor(theirs).flatten(1).float())
        for one, other in zip(others, columns, strict=True):
            assert one[:, 0].tolist() == other.tolist()


def test_torchrl(games):
    """`GymWrapper` takes an episode's last observation from the infos."""
    expected = list(steps())
    rows = iter(torch.tensor(ACTIONS))
    rollout = GymWrapper(games, categorical_action_encoding=True).rollout(
        len(ACTIONS),
        lambda _: next(rows),
        break_when_any_done=False,
    )
    ends = 0
    for i, (obs, rewards, terminated, _, infos) in enumerate(expected[1:]):
        after = rollout[:, i]["next"]
        assert after["reward"][:, 0].tolist() == rewards.tolist()
        assert after["terminated"][:, 0].tolist() == terminated.tolist()
        for n in range(N):
            last = obs[n]
            if infos.get("_final_obs", [False] * N)[n]:
                last = infos["final_obs"][n]
                ends += 1
            np.testing.assert_array_equal(after["observation"][n], last)
    assert ends > N


@pytest.mark.parametrize("mode", ["SameStep", "NextStep"])
def test_a_video(mode, tmp_path):
    """Gymnasium's records the screens as they are after each step.

    So after the step that ends an episode it shows the next one, in either
    mode.
    """
    with Games(
        1, processes=1, context="forkserver", autoreset_mode=mode
    ) as it:
        video = RecordVideo(it, str(tmp_path), video_length=80)
        video.reset()
        one = Game(0)
        one.reset()
        rests = False
        screens = [one.render()]
        for action in itertools.islice(itertools.cycle([1, 0, 0]), 79):
            _, _, terminated, _, _ = video.step([action])
            if not rests:
                one.step(action)
            rests = mode == "NextStep" and terminated[0]
            screens.append(one.render())
        frames = list(video.recorded_frames)
        np.testing.assert_array_equal(frames, screens[: len(frames)])
        assert len(frames) > 70
        video.step([0])
        video.close()
    (file,) = tmp_path.glob("*.mp4")
    assert file.stat().st_size > 1000


def test_all_actions_another_mode_and_difficulty():
    """By a spec; each title has modes and difficulties of its own."""
    spec = gym.spec(BREAKOUT)
    settings = dict(full_action_space=True, mode=12, difficulty=1)
    other = dataclasses.replace(spec, kwargs={**spec.kwargs, **settings})
    with Games(2, other, processes=1, context="forkserver") as games:
        assert games.single_action_space.n == 18
        assert games.meanings == [it.name for it in ale_py.Action][:18]
        games.reset()
        for action in range(18):
            games.step([action] * 2)
    assert gym.spec(BREAKOUT).kwargs == spec.kwargs
    rams = []
    for one in (Game(0, other), Game(0)):
        one.reset()
        one.step(1)
        rams.append(one.env.unwrapped.ale.getRAM())
    assert not np.array_equal(*rams)


class Memory(Game):
    """The console's 128 bytes of memory, and the lives."""

    def observe(self):
        ale = self.env.unwrapped.ale
        return np.append(ale.getRAM(), np.uint8(ale.lives()))


def test_lives_and_memory():
    with Games(2, processes=1, make=Memory, context="forkserver") as games:
        obs, _ = games.reset()
        assert obs.shape == (2, 129)
        assert obs.dtype == np.uint8
        assert obs[:, -1].tolist() == [5, 5]
        assert obs in games.observation_space
        one = Memory(0)
        one.reset()
        for action in ACTIONS[:, 0]:
            obs, *_ = games.step([action] * 2)
            np.testing.assert_array_equal(obs[0], one.step(action)[0])
