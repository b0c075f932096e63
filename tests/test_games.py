"""
`Games`, from outside, as a user meets it, and `FastGame`.

1. Plain tests. Begin here.
2. Many games at once.
3. `FastGame` beside `Game`.
"""

import contextlib
import copy
import multiprocessing

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.vector import AsyncVectorEnv, AutoresetMode

from game import TRAINING, Game
from games import FastGame, Games
from test_game import (
    BREAKOUT,
    DEFAULTS,
    FIRE,
    NOOP,
    OLD,
    PONG,
    STILL,
    FakeALE,
    Script,
    any_game,
    any_settings,
    each,
    gymnasiums,
    play_beside_the_model,
    random_actions,
    replace_titles,
    same,
    shrunk,
)

# A worker that is lost unexpectedly fails a test.
pytestmark = pytest.mark.filterwarnings("error::RuntimeWarning")

# --- 1. Plain tests ----------------------------------------------------------


def test_many_games_are_a_vector_environment():
    """Each game is the one that would be played alone."""
    alone = [Game(seed, **TRAINING) for seed in (5, 6, 7)]
    with Games(3, seed=5, processes=2) as games:
        assert isinstance(games, gym.vector.VectorEnv)
        first, infos = games.reset()
        assert same(first, np.array([one.reset() for one in alone]))
        for action in random_actions(30):
            obs, rewards, terminated, truncated, infos = games.step(
                [action] * 3
            )
            for i, one in enumerate(alone):
                obs_4, reward, done, _ = one.step(action)
                assert same(obs[i], obs_4)
                assert (rewards[i], terminated[i]) == (reward, done)
            assert not truncated.any()


def test_a_killed_worker_is_replaced():
    """Its games start over, a warning says so, and the others go on."""
    with Games(4, processes=2) as games:
        first, _ = games.reset()
        before, *_ = games.step([FIRE] * 4)
        worker = multiprocessing.active_children()[0]
        worker.kill()
        worker.join()
        with pytest.warns(RuntimeWarning):
            obs, rewards, terminated, truncated, infos = games.step([NOOP] * 4)
        restarted = infos["restarted"]
        assert restarted.sum() == 2
        assert same(obs[restarted], first[restarted])
        assert same(truncated, restarted) and not terminated.any()
        for i in np.flatnonzero(restarted):
            assert same(infos["final_obs"][i], before[i])
        assert "restarted" not in games.step([NOOP] * 4)[4]


def test_the_end_leaves_nothing_running():
    """A `with` statement closes games. Closed games raise an error."""
    with Games(4, processes=2) as games:
        games.reset()
        assert len(multiprocessing.active_children()) == 2
    assert multiprocessing.active_children() == []
    games.close()  # once more does nothing
    with pytest.raises(gym.error.ClosedEnvironmentError):
        games.reset()


# --- 2. Many games at once ---------------------------------------------------

SAME_STEP, NEXT_STEP = AutoresetMode.SAME_STEP, AutoresetMode.NEXT_STEP
both_modes = each("mode", [SAME_STEP, NEXT_STEP])


def alone(titles, seeds, **options):
    """Return a `Games` of one for each title, played in this process."""
    return [
        Games(1, title, seed=seed, processes=0, **options)
        for title, seed in zip(titles, seeds, strict=True)
    ]


def check_step(result, games, actions):
    """Step games one by one, and compare with a step of them all."""
    *arrays, infos = result
    n = len(games)
    for i, one in enumerate(games):
        *expected, their_infos = one.step([actions[i]])
        for ours, theirs in zip(arrays, expected, strict=True):
            assert same(ours[i : i + 1], theirs)
        for key in ("_final_obs", "_episode"):
            theirs = their_infos.get(key, [False])
            assert infos.get(key, [False] * n)[i] == theirs[0]
        if "final_obs" in their_infos:
            assert same(infos["final_obs"][i], their_infos["final_obs"][0])
        for key, theirs in their_infos.get("episode", {}).items():
            assert infos["episode"][key][i] == theirs[0]
        assert same(infos["lives"][i : i + 1], their_infos["lives"])


@both_modes
@each("processes", [1, 2])
def test_the_same_games_whatever_plays_them(processes, mode):
    """In this process or in others, and with any options."""
    options = dict(autoreset_mode=mode, max_num_frames_per_episode=150)
    if processes == 1:
        options.update(stack=2, size=(42, 63), grayscale=False)
        options.update(full_action_space=True, repeat_action_probability=0.25)
    ones = alone([BREAKOUT] * 3, range(20, 23), **options)
    with Games(3, seed=20, processes=processes, **options) as games:
        first = np.concatenate([one.reset()[0] for one in ones])
        assert same(games.reset()[0], first)
        for action in random_actions(60):
            actions = [(action + i) % 4 for i in range(3)]
            check_step(games.step(actions), ones, actions)
        assert len(multiprocessing.active_children()) == processes


@each("processes", [0, 2])
def test_several_titles(processes):
    """Screens of other heights are no obstacle."""
    titles = ["ALE/AirRaid-v5", BREAKOUT, "ALE/Carnival-v5", BREAKOUT]
    options = dict(full_action_space=True, **STILL)
    ones = alone(titles, range(7, 11), **options)
    with Games(4, titles, seed=7, processes=processes, **options) as games:
        first = np.concatenate([one.reset()[0] for one in ones])
        assert same(games.reset()[0], first)
        for action in random_actions(60, 18):
            check_step(games.step([action] * 4), ones, [action] * 4)
        assert games.spec.id == titles[0]
        screens = games.render()
        assert [len(screen) for screen in screens] == [250, 210, 214, 210]
        assert same(screens, tuple(one.render()[0] for one in ones))


@each("mode, lives", [(SAME_STEP, "restart"), (NEXT_STEP, "ignore")])
def test_gymnasiums_own_vector_environment_returns_the_same(mode, lives):
    """But for the newest picture of a last observation, as above."""
    settings = dict(difficulty=1, max_num_frames_per_episode=300)

    def make():
        return gymnasiums(BREAKOUT, lives, 30, DEFAULTS, **settings)

    theirs = AsyncVectorEnv([make] * 2, autoreset_mode=mode)
    theirs = gym.wrappers.vector.RecordEpisodeStatistics(theirs)
    options = dict(on_life_loss=lives, fire_on_reset=False, clip_reward=False)
    ours = Games(2, processes=0, autoreset_mode=mode, **options, **settings)
    games_over = 0
    with contextlib.closing(theirs), ours:
        assert ours.observation_space == theirs.observation_space
        assert ours.action_space == theirs.action_space
        assert same(ours.reset(seed=11)[0], theirs.reset(seed=11)[0])
        for action in random_actions(150):
            actions = np.array([action, (action + 1) % 4])
            obs, *one, infos = ours.step(actions)
            their_obs, *other, their_infos = theirs.step(actions)
            assert same(one, other)
            ended = one[1] | one[2]
            assert same(obs[~ended], their_obs[~ended])
            assert same(obs[ended, :-1], their_obs[ended, :-1])
            assert ("final_obs" in infos) == ("final_obs" in their_infos)
            for i in np.flatnonzero(infos.get("_final_obs", ())):
                last = infos["final_obs"][i]
                assert same(last[:-1], their_infos["final_obs"][i][:-1])
                assert same(obs[i], their_obs[i])
            for key in ("_final_obs", "_episode"):
                assert same(infos.get(key), their_infos.get(key))
            if "episode" in infos:
                games_over += infos["_episode"].sum()
                for key in "r" if OLD else "rl":
                    value = infos["episode"][key]
                    assert np.array_equal(value, their_infos["episode"][key])
    assert games_over > 3


def test_titles_that_do_not_fit():
    """The error names both, and the option that helps."""
    titles = [BREAKOUT, BREAKOUT, PONG]
    words = f"(?s)(?=.*{BREAKOUT})(?=.*{PONG}).*full_action_space"
    with pytest.raises(ValueError, match=words):
        Games(3, titles)
    with pytest.raises(ValueError):
        Games(2, titles)
    titles = [BREAKOUT, "ALE/LostLuggage-v5"]
    with pytest.raises(ValueError, match="but for.*Lost Luggage"):
        Games(2, titles, full_action_space=True)


@both_modes
def test_it_is_a_vector_environment(mode):
    """As Gymnasium describes one."""
    for given in (mode, mode.value):
        games = Games(3, processes=0, autoreset_mode=given, action_repeat=2)
        assert games.spec.id == BREAKOUT
        assert games.render_mode == "rgb_array"
        assert games.autoreset_mode is mode
        assert games.metadata["autoreset_mode"] is mode
        assert same(games.metadata["render_fps"], 30)
        assert games.reset(seed=1)[0] in games.observation_space
        assert games.action_space.contains(np.array([0, 1, 2]))


@both_modes
def test_a_wrapper_that_counts_episodes(mode):
    """It counts lives and clipped rewards, under a key of its own."""
    options = dict(processes=0, autoreset_mode=mode)
    wrapper = gym.wrappers.vector.RecordEpisodeStatistics
    games, other = Games(2, **options), Games(2, **options)
    counted = wrapper(games, stats_key="stats")
    counted.reset()
    other.reset()
    games_over = lives_lost = 0
    for _ in range(500):
        actions = np.array([FIRE] * 2)
        *_, infos = counted.step(actions)
        *_, terminated, truncated, expected = other.step(actions)
        ended = terminated | truncated
        assert same(infos.pop("_stats", ended), ended)
        infos.pop("stats", None)
        assert same(infos, expected)
        lives_lost += ended.sum()
        games_over += expected.get("_episode", np.zeros(2)).sum()
    assert 1 < games_over < lives_lost


def test_what_was_returned_never_changes():
    kept = []
    breakout = FastGame(0, on_life_loss="continue")
    breakout.reset()
    with Games(2, processes=1) as games:
        games.reset()
        for action in random_actions(150):
            ours = breakout.step(action), breakout.final_obs, breakout.render()
            results = ours, games.step([action] * 2), games.render()
            kept.append((results, copy.deepcopy(results)))
    assert all(same(*pair) for pair in kept)


# --- 3. `FastGame` beside `Game` --------------------------------------------


@each(
    "height, size",
    [(height, (84, 84)) for height in (210, 214, 220, 230, 250)]
    + [(210, (64, 161))],
)
def test_what_has_not_changed_is_as_if_it_were_resized(
    monkeypatch, height, size
):
    """However little changes, the picture is that of the whole screen."""
    random = np.random.default_rng(height)
    screens = [random.integers(256, size=(height, 160)).astype(np.uint8)]
    for _ in range(200):
        y, x, h, w = random.integers((height, 160, 60, 60))
        screens.append(screens[-1].copy())
        screens[-1][y : y + h, x : x + w] = random.integers(256)

    def draw(ale):
        return screens[ale.frame].copy()

    monkeypatch.setattr(FakeALE, "getScreenGrayscale", draw)
    replace_titles(monkeypatch, Script())
    one = FastGame(0, size=size)
    one.reset()
    for frame in range(4, 200, 4):
        whole = shrunk(np.maximum(screens[frame - 1], screens[frame]), size)
        assert same(one.step(NOOP)[0][3], whole)


@any_settings
@any_game
def test_any_fast_game(script, options, seed):
    """It is what `test_any_game` tests of `Game`."""
    play_beside_the_model(FastGame, script, options, seed)
