"""Others' learners and Gymnasium's wrappers around `Games`, as they are."""

import collections
import multiprocessing
import pathlib
import subprocess

import numpy as np
import pytest
import torch
from gymnasium.wrappers import vector
from skrl.envs.wrappers.torch import wrap_env
from torchrl.envs import GymWrapper

from game import Games

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
        len(ACTIONS), lambda _: next(rows), break_when_any_done=False
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


def test_a_replay_memory_as_cleanrl_fills_it():
    """Its loop, with games that are cut off and a worker that is killed."""
    ends = collections.Counter()
    scores = []
    limit = {"max_num_frames_per_episode": 200}
    with Games(N, processes=N, **OPTIONS, **limit) as games:
        obs, _ = games.reset()
        for step, actions in enumerate(ACTIONS):
            if step == 20:
                multiprocessing.active_children()[0].kill()
                with pytest.warns(RuntimeWarning, match="SIGKILL"):
                    result = games.step(actions)
            else:
                result = games.step(actions)
            next_obs, rewards, terminations, truncations, infos = result
            for i in np.flatnonzero(infos.get("_episode", [])):
                scores.append(infos["episode"]["r"][i])
            real_next_obs = next_obs.copy()
            for i, truncated in enumerate(truncations):
                if truncated:
                    real_next_obs[i] = infos["final_obs"][i]
            # What is kept of each step is what a game does in one.
            for i in np.flatnonzero(~terminations):
                before, after = obs[i], real_next_obs[i]
                if infos.get("restarted", np.zeros(N, bool))[i]:
                    assert (after == before).all()
                    ends["killed"] += 1
                else:
                    assert (after[:-1] == before[1:]).all()
                    ends["cut off"] += bool(truncations[i])
            obs = next_obs
    assert ends["killed"] == 1
    assert ends["cut off"] == len(scores) >= N


@pytest.mark.parametrize("name", ["ppo_atari", "dqn_atari", "c51_atari"])
def test_git_reads_the_diffs_for_cleanrl(name):
    path = pathlib.Path(__file__).parent / "cleanrl" / f"{name}.diff"
    command = ["git", "apply", "--numstat", path]
    changed = subprocess.run(command, check=True, capture_output=True).stdout
    assert changed.decode().split()[-1] == f"cleanrl/{name}.py"


# Gymnasium's wrappers for vector environments and their arguments, as
# docs/reference.md sorts them: those that work in both modes, those that work
# under NEXT_STEP alone, since they change observations, and those that are for
# something else or need more.
IN_BOTH = {
    "DictInfoToList": {},
    "TransformAction": {"func": np.copy},
    "TransformReward": {"func": np.sign},
    "ClipReward": {"min_reward": -1, "max_reward": 1},
    "NormalizeReward": {},
    "RecordVideo": {"video_folder": "videos"},
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
OTHERS = {
    "RecordEpisodeStatistics",
    "VectorizeTransformAction",
    "ClipAction",
    "RescaleAction",
    "FilterObservation",
    "GrayscaleObservation",
    "ResizeObservation",
    "HumanRendering",
    "VectorizeTransformObservation",
    "VectorizeTransformReward",
    "JaxToNumpy",
    "JaxToTorch",
}


def test_every_wrapper_is_sorted():
    names = [*IN_BOTH, *IN_NEXT_STEP, *OTHERS]
    assert sorted(names) == sorted(vector.__all__)


@pytest.fixture(params=["SameStep", "NextStep"])
def short_games(request, tmp_path, monkeypatch):
    """Two games that a limit ends after 30 steps, in an empty folder."""
    monkeypatch.chdir(tmp_path)
    limit = {"max_num_frames_per_episode": 120}
    mode = request.param
    with Games(2, processes=0, autoreset_mode=mode, **limit) as games:
        yield games


def play(env, actions):
    """Play beyond the end of both games."""
    env.reset()
    for _ in range(40):
        env.step(actions)
    env.close()


@pytest.mark.parametrize("name", [*IN_BOTH, *IN_NEXT_STEP])
def test_wrappers(short_games, name):
    wrapper = getattr(vector, name)
    options = IN_BOTH.get(name) or IN_NEXT_STEP.get(name, {})
    takes_tensors = name in ("ArrayConversion", "NumpyToTorch")
    actions = torch.zeros(2, dtype=int) if takes_tensors else np.zeros(2, int)
    if short_games.autoreset_mode.value == "NextStep" or name in IN_BOTH:
        play(wrapper(short_games, **options), actions)
    else:
        # Gymnasium refuses them, or can't convert `final_obs`.
        with pytest.raises((ValueError, BufferError)):
            play(wrapper(short_games, **options), actions)


def test_wrong_scores_are_not_recorded_in_silence(short_games):
    """`RecordEpisodeStatistics` would count lives and clipped rewards."""
    with pytest.raises(ValueError, match="episode"):
        play(vector.RecordEpisodeStatistics(short_games), [0, 0])
