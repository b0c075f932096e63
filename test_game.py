"""
The proof that `game.py` does what it says, from outside, as a user meets it.

    pip install -r requirements.txt && python -m pytest test_game.py

1. Ten plain tests, in the order of the tutorial. Begin here.
2. Real titles beside Gymnasium's own wrappers.
3. A scripted emulator: its frames are known, so a model says what is right.

`tests/` has what contributors run besides: `Games`, faults, signals, start
methods, all titles.
"""

import copy
import dataclasses
import functools
import gc
import math
import multiprocessing
import os
import signal
import sys
import typing

import ale_py
import cv2
import gymnasium as gym
import hypothesis
import numpy as np
import pytest
from gymnasium.wrappers import AtariPreprocessing, FrameStackObservation
from hypothesis import strategies as some

import game
from game import TRAINING, Game, Worker

ALL = os.environ.get("GAME_TESTS") == "all"
BREAKOUT = "BreakoutNoFrameskip-v4"
PONG = "PongNoFrameskip-v4"
ASTEROIDS = "AsteroidsNoFrameskip-v4"
NOOP, FIRE, RIGHT = range(3)  # of Breakout

each = pytest.mark.parametrize


@pytest.fixture(autouse=True)
def nothing_is_left_running():
    """No test may leave a process that it started."""
    yield
    if multiprocessing.active_children():
        gc.collect()
    left = multiprocessing.active_children()
    for process in left:
        process.kill()
        process.join()
    assert not left


def same(one, other):
    """Return whether two results are the same: types and every bit."""
    if type(one) is not type(other):
        return False
    if isinstance(one, dict):
        both = one.keys() == other.keys()
        return both and all(same(one[key], other[key]) for key in one)
    if isinstance(one, np.ndarray) and one.dtype != object:
        return one.dtype == other.dtype and np.array_equal(one, other)
    if isinstance(one, (list, tuple, np.ndarray)):
        return len(one) == len(other) and all(map(same, one, other))
    return one == other


def random_actions(steps, n=4):
    """Return random actions out of `n`, the same ones each time."""
    return np.random.default_rng(0).integers(n, size=steps).tolist()


def emulator(env_id):
    """Return a title without `Game`, after a reset. Its step is a frame."""
    env = gym.make(env_id, frameskip=1).unwrapped
    env.reset(seed=0)
    return env


# --- 1. Ten plain tests ------------------------------------------------------


def test_an_action_is_held_for_four_frames():
    """The reward of a step is that of its four frames."""
    pong = Game(seed=0, env_id=PONG)
    pong.reset()
    frames = emulator(PONG)
    rewards = []
    for action in random_actions(200, 6):
        _, reward, done, info = pong.step(action)
        assert reward == sum(frames.step(action)[1] for _ in range(4))
        assert same(pong.render(), frames.ale.getScreenRGB())
        assert (done, info) == (False, None)
        rewards.append(reward)
    assert any(rewards)


def test_the_brighter_of_the_last_two_frames_is_kept():
    """Pixel by pixel: some things are drawn in every second frame only."""
    asteroids = Game(seed=0, env_id=ASTEROIDS, size=(210, 160))
    asteroids.reset()
    frames = emulator(ASTEROIDS)
    flickered = False
    for action in random_actions(100, 14):
        screens = []
        for _ in range(4):
            frames.step(action)
            screens.append(frames.ale.getScreenGrayscale())
        obs_4, *_ = asteroids.step(action)
        assert same(obs_4[3], np.maximum(screens[2], screens[3]))
        flickered |= not same(obs_4[3], screens[3])
    assert flickered


def test_a_picture_has_84_by_84_pixels():
    """Each is the mean of the area of the screen that it covers."""
    small, large = Game(seed=0), Game(seed=0, size=(210, 160))
    small.reset()
    large.reset()
    for action in random_actions(15):
        picture = small.step(action)[0][3]
        screen = large.step(action)[0][3]
        assert picture.shape == (84, 84) and picture.dtype == np.uint8
        # A pixel of the picture covers 210/84 = 5/2 rows and 160/84 = 40/21
        # columns. Where rows are repeated 2 and columns 21 times, that is 5 by
        # 40 pixels.
        parts = screen.repeat(2, axis=0).repeat(21, axis=1)
        means = parts.reshape(84, 5, 84, 40).mean(axis=(1, 3))
        assert np.abs(picture - means).max() < 1


def test_the_pictures_of_four_steps_are_stacked():
    """The oldest comes first. At the start all four are the same."""
    breakout = Game(seed=0)
    obs_4 = breakout.reset()
    assert obs_4.shape == (4, 84, 84)
    assert all(same(picture, obs_4[0]) for picture in obs_4)
    for action in [FIRE, *random_actions(15)]:
        before = obs_4
        obs_4, *_ = breakout.step(action)
        assert same(obs_4[:3], before[1:])
        assert not same(obs_4[3], before[3])


def test_a_lost_life_ends_an_episode():
    """Or it doesn't: there are three ways."""
    frames = emulator(BREAKOUT)
    frames_played = 0
    while frames.ale.lives() == 5:  # FIRE serves; the paddle doesn't move
        frames.step(FIRE)
        frames_played += 1
    steps = math.ceil(frames_played / 4)

    def lose_a_life(on_life_loss):
        breakout = Game(seed=0, on_life_loss=on_life_loss)
        breakout.reset()
        for _ in range(steps):
            result = breakout.step(FIRE)
        return *result, breakout.env.unwrapped.ale.lives()

    # The game starts over.
    obs_4, _, done, info, lives = lose_a_life("restart")
    assert done and lives == 5
    assert same(obs_4, Game(seed=0).reset())
    assert info == {"reward": 0.0, "length": steps, "truncated": False}

    # The game goes on, as a new episode.
    obs_4, _, done, info, lives = lose_a_life("continue")
    assert done and lives == 4 and info is None
    assert all(same(picture, obs_4[0]) for picture in obs_4)

    # The game and its episode go on.
    obs_4, _, done, info, lives = lose_a_life("ignore")
    assert not done and lives == 4 and info is None
    assert not same(obs_4[2], obs_4[3])


def test_a_reset_starts_a_game():
    """It comes first. The same seed and actions give the same game."""
    breakout = Game(seed=3, **TRAINING)
    with pytest.raises(gym.error.ResetNeeded):
        breakout.step(NOOP)

    def play(seed=None):
        first = breakout.reset(seed)
        return [first] + [breakout.step(a) for a in random_actions(100)]

    first, second = play(), play()
    # Without a seed the random numbers go on; with it they begin again.
    assert not same(first, second)
    assert same(play(3), first) and same(play(), second)


def test_a_worker_plays_in_another_process():
    """It is asked through a pipe, as in labml's tutorial."""
    breakout = Game(seed=3)
    with Worker(3) as worker:
        child = worker.child
        child.send(("reset", None))
        assert same(child.recv(), breakout.reset())
        for action in random_actions(100):
            child.send(("step", action))
            assert same(child.recv(), breakout.step(action))


def test_an_error_of_a_game_is_raised_by_its_worker():
    """With its own type, where the answer is read; and the game goes on."""

    class NoBall(Exception):
        pass

    class Impatient(Game):
        def step(self, action):
            if action == NOOP:
                raise NoBall("press FIRE")
            return super().step(action)

    breakout = Game(0)
    with Worker(0, make=Impatient) as worker:
        assert same(ask(worker, "reset"), breakout.reset())
        with pytest.raises(NoBall, match="press FIRE"):
            ask(worker, "step", NOOP)
        with pytest.raises(NotImplementedError, match="save"):
            ask(worker, "save")
        assert same(ask(worker, "step", FIRE), breakout.step(FIRE))


def ask(worker, command, data=None):
    """Send a command to a worker; return its answer, or raise its error."""
    worker.child.send((command, data))
    return worker.child.recv()


def test_the_end_leaves_nothing_running():
    """A `with` statement closes a worker."""
    with Worker(0) as worker:
        assert multiprocessing.active_children() == [worker.process]
    assert multiprocessing.active_children() == []
    worker.close()  # once more does nothing


def test_what_is_wrong_is_refused():
    """The error names the option, or the actions, and nothing has moved."""
    wrong = dict(
        stack=2**64,
        noop_max=-1,
        action_repeat=4.0,
        size=84,
        clip_reward="False",
        on_life_loss="end",
        mode=5,  # Breakout has 0, 4, 8 and so on
        render_mode="ansi",
        repeat_action_probability=25,
    )
    for name, value in wrong.items():
        with pytest.raises((TypeError, ValueError), match=name):
            Game(0, **{name: value})
    # Names of other libraries are answered with ours, the first one first.
    with pytest.raises(TypeError, match="num_stack.* stack$"):
        Game(0, num_stack=4, frame_skip=4)

    breakout = Game(0)
    first = breakout.reset()
    for action in (4, -1, 1.0, "1", None, True):
        with pytest.raises((TypeError, ValueError), match="0 to 3.*LEFT"):
            breakout.step(action)
    other = Game(0)
    assert same(other.reset(), first)
    assert same(breakout.step(np.array(FIRE)), other.step(FIRE))


# --- 2. Real titles, beside Gymnasium's own wrappers -------------------------
#
# Gymnasium's wrappers are used as they come: nothing in them is patched. One
# picture differs, and isn't compared: the newest one of an episode's last
# observation. Gymnasium leaves out the frame that ended the episode, and
# returns an older picture. Part 3 tests what is in ours.

# Titles with lives and without, and two whose screens have 250 and 214 rows;
# and two without NOOP, which Gymnasium plays only without its no-op starts.
SOME_TITLES = ["Breakout", "Pong", "Qbert", "Seaquest", "AirRaid", "Carnival"]
NO_NOOP = ["Backgammon", "VideoCheckers"]
# No sticky actions, to which `ALE/…-v5` ids default.
STILL = dict(repeat_action_probability=0.0)
# The options of `Game`: the default of each, and others to try
OPTIONS: dict[str, list] = dict(
    on_life_loss=["restart", "continue", "ignore"],
    noop_max=[0, 1, 50],
    fire_on_reset=[False, True],
    clip_reward=[False, True],
    action_repeat=[4, 1, 2, 3, 8],
    stack=[4, 1, 2, 5],
    size=[(84, 84), (37, 41), (240, 84), (84, 240), (1, 1)],
    grayscale=[True, False],
)
DEFAULTS = {name: values[0] for name, values in OPTIONS.items()}
MODES = OPTIONS["on_life_loss"]
# Gymnasium before 1.4 has no `noop_max=0`, and counts the steps of an episode
# one short under SAME_STEP.
OLD = tuple(map(int, gym.__version__.split(".")[:2])) < (1, 4)


def gymnasiums(env_id, on_life_loss, noop_max, looks, **emulator):
    """Return Gymnasium's wrappers around a title, set as `Game` is."""
    env = gym.make(env_id, frameskip=1, **emulator)
    env = AtariPreprocessing(
        env,
        noop_max,
        looks["action_repeat"],
        looks["size"][::-1],
        terminal_on_life_loss=on_life_loss == "restart",
        grayscale_obs=looks["grayscale"],
    )
    return FrameStackObservation(env, looks["stack"])


def play_beside_gymnasium(
    title, mode, noop_max, steps=150, make=Game, **looks
):
    """Play a title and compare all that both return."""
    env_id = f"ALE/{title}-v5"
    options = dict(on_life_loss=mode, noop_max=noop_max, **looks)
    ours = make(5, env_id, **options, **STILL)
    if title in NO_NOOP:
        noop_max = 0
        if OLD:
            pytest.skip("this Gymnasium doesn't play it")
    theirs = gymnasiums(env_id, mode, noop_max, DEFAULTS | looks, **STILL)
    assert same(ours.reset(), theirs.reset(seed=5)[0])
    for action in random_actions(steps, ours.env.action_space.n):
        obs, reward, done, info = ours.step(action)
        their_obs, their_reward, terminated, truncated, _ = theirs.step(action)
        assert (reward, done) == (their_reward, terminated or truncated)
        if done:
            assert info["truncated"] is truncated
            assert same(ours.final_obs[:-1], their_obs[:-1])
            their_obs, _ = theirs.reset()
        assert same(obs, their_obs)
        assert same(ours.render(), theirs.unwrapped.ale.getScreenRGB())


OTHER = dict(action_repeat=3, stack=5, size=(125, 80), grayscale=False)


@each("title", SOME_TITLES + NO_NOOP)
@each("mode, noop_max, looks", [("restart", 0, {}), ("ignore", 30, OTHER)])
def test_a_title_equals_gymnasiums(title, mode, noop_max, looks):
    play_beside_gymnasium(title, mode, noop_max, **looks)


def test_ids_of_one_title_make_the_same_game():
    """Only sticky actions differ: they repeat with the seed alone."""

    def play(one, seed=None):
        first = one.reset(seed)
        return [first] + [one.step(action) for action in random_actions(100)]

    still = play(Game(3, BREAKOUT))
    assert same(play(Game(3, "Breakout-v4")), still)
    assert same(play(Game(3, "ALE/Breakout-v5", **STILL)), still)
    sticky = Game(3, "ALE/Breakout-v5")
    first, second = play(sticky), play(sticky)
    assert not same(first, still) and not same(second, first)
    assert same(play(sticky, 3), first) and same(play(sticky), second)


def test_a_dead_worker_breaks_its_pipe():
    with Worker(0) as worker:
        ask(worker, "reset")
        worker.process.kill()
        with pytest.raises((EOFError, OSError)):
            ask(worker, "step", NOOP)


@pytest.mark.skipif(os.name == "nt", reason="Windows stops no process so")
def test_a_stopped_worker_is_closed():
    with Worker(0) as worker:
        os.kill(worker.process.pid, signal.SIGSTOP)


def test_what_was_returned_never_changes():
    kept = []
    breakout = Game(0, on_life_loss="continue")
    breakout.reset()
    for action in random_actions(150):
        result = breakout.step(action), breakout.final_obs, breakout.render()
        kept.append((result, copy.deepcopy(result)))
    assert all(same(*pair) for pair in kept)


# --- 3. A scripted emulator --------------------------------------------------
#
# - A `Script` says what happens in a game, frame by frame.
# - A `FakeALE` is an emulator that plays a script, and a `FakeEnv` Gymnasium's
#   environment around it. Frame n lights one band of the dark screen, ten rows
#   high, with a brightness of its own.
# - A `Model` is what `Game` should return of a script, in numbers of frames.
MEANINGS = ["NOOP", "FIRE", "RIGHT"]


def lit(*frames):
    """Return a dark screen with a band for each of these frames."""
    screen = np.zeros((210, 160), np.uint8)
    for frame in frames:
        first = frame % 21 * 10
        screen[first : first + 10] = 200 - frame
    return screen


def shrunk(screen, size=(84, 84)):
    """Return a screen as a picture of so many rows and columns."""
    return cv2.resize(screen, size[::-1], interpolation=cv2.INTER_AREA)


@functools.cache
def picture_of(frames, size=(84, 84), grayscale=True):
    screen = lit(*frames)
    return shrunk(screen if grayscale else np.dstack([screen] * 3), size)


@dataclasses.dataclass
class Script:
    lives: dict = dataclasses.field(default_factory=lambda: {0: 5})  # by frame
    rewards: dict = dataclasses.field(default_factory=dict)  # and by action
    over: float = math.inf  # the frame in which the game is lost
    limit: float = math.inf  # the frame in which it is cut short
    meanings: list = dataclasses.field(default_factory=lambda: MEANINGS)
    # Called with the game's last seed whenever the emulator is used.
    ghost: typing.Callable = lambda seed: None

    def lives_at(self, frame):
        return self.lives[max(n for n in self.lives if n <= frame)]

    def points(self, frame, action):
        return self.rewards.get(frame, 0) + self.rewards.get(action, 0)


class FakeALE:
    def __init__(self, script):
        self.script = script
        self.seed = None
        self.frame = 0
        self.played = []  # what was played and done, in its order

    def reset_game(self):
        self.script.ghost(self.seed)
        self.played.append("reset")
        self.frame = 0

    def act(self, action):
        if self.game_over():  # as ALE: nothing moves any more
            return 0
        self.script.ghost(self.seed)
        name = ale_py.Action(action).name
        self.played.append(name)
        self.frame += 1
        return self.script.points(self.frame, name)

    def lives(self):
        return self.script.lives_at(self.frame)

    def game_over(self, with_truncation=True):
        cut = with_truncation and self.frame >= self.script.limit
        return cut or self.frame >= self.script.over

    def getScreenGrayscale(self):
        return lit(self.frame)

    def getScreenRGB(self):
        self.script.ghost(self.seed)
        return np.dstack([self.getScreenGrayscale()] * 3)


class FakeEnv(gym.Env):
    def __init__(self, script):
        self.ale = FakeALE(script)
        self.action_space = gym.spaces.Discrete(len(script.meanings))
        self.spec = gym.envs.registration.EnvSpec(
            "FakeNoFrameskip-v4", "fake:Env"
        )

    def get_action_meanings(self):
        return self.ale.script.meanings

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        if seed is not None:
            self.ale.seed = seed
        self.ale.reset_game()
        return None, {}


def replace_titles(patch, script):
    """Put such an emulator in the place of all titles."""
    patch.setattr(gym, "make", lambda *_, **__: FakeEnv(script))


@each("meanings, fired", [("NOOP UP FIRE", 4), ("NOOP UP UPFIRE", 0)])
def test_fire_is_found_by_its_name(monkeypatch, meanings, fired):
    """UPFIRE isn't FIRE, and a game without it is left alone."""
    replace_titles(monkeypatch, Script(meanings=meanings.split()))
    one = Game(0, fire_on_reset=True)
    one.reset()
    assert one.env.ale.played == ["reset"] + ["FIRE"] * fired


# A title with all that can happen: lives lost, points for frames and actions.
LIFELIKE = Script(
    lives={0: 3, 9: 2, 14: 3, 21: 2, 30: 1, 38: 0},
    rewards={5: 1, 13: -20, 22: 300, "FIRE": 0.25, "RIGHT": 2},
    over=41,
)


class Model:
    """What `Game` should return of a script."""

    def __init__(self, seed, script=LIFELIKE, **options):
        self.first_seed = seed
        self.script = script
        self.options = DEFAULTS | options
        mode = MODES.index(self.options["on_life_loss"])
        self.least = [0, 1, math.inf][mode]  # lives, for a lost one to count
        self.end = min(script.over, script.limit)

    def reset(self, seed=None):
        if seed is None:
            seed = self.first_seed
        self.first_seed = None
        self.start_game(seed)
        return self.observation()

    def start_game(self, seed=None):
        self.frame = self.score = self.length = 0
        self.seed(seed)
        most = self.options["noop_max"]
        number = self.random.integers(1, most + 1) if most > 0 else 0
        for _ in range(number):
            self.play_unseen("NOOP")
            if self.frame == self.end:
                self.frame = self.score = 0
                self.seed(seed)
        self.begin_episode()

    def seed(self, seed):
        if seed is not None:
            self.random = gym.utils.seeding.np_random(seed)[0]

    def begin_episode(self):
        if self.options["fire_on_reset"]:
            for _ in range(self.options["action_repeat"]):
                self.play_unseen("FIRE")
        self.lives = self.script.lives_at(self.frame)
        self.pictures = [(self.frame,)] * self.options["stack"]

    def play_unseen(self, name):
        """Play a frame that is no step's; the console counts its points."""
        if self.frame < self.end:
            self.frame += 1
            self.score += self.script.points(self.frame, name)

    def step(self, action):
        reward = 0.0
        repeat = self.options["action_repeat"]
        for number in range(1, repeat + 1):
            if self.frame < self.end:
                self.frame += 1
                reward += self.script.points(self.frame, MEANINGS[action])
            before, self.lives = self.lives, self.script.lives_at(self.frame)
            lost = self.lives < before and self.lives >= self.least
            over = self.frame == self.end
            last_two = (self.frame - 1, self.frame)
            shown = last_two if number == repeat > 1 else last_two[1:]
            if lost or over:
                break
        self.pictures = [*self.pictures[1:], shown]
        self.score += reward
        self.length += 1
        if self.options["clip_reward"]:
            reward = float(np.sign(reward))
        info = self.end_episode(lost, over) if lost or over else None
        return self.observation(), reward, lost or over, info

    def end_episode(self, lost, over):
        self.final_obs = self.observation()
        self.terminated = lost or self.frame == self.script.over
        if over or self.least == 0:
            info = dict(reward=float(self.score), length=self.length)
            info["truncated"] = over and self.frame < self.script.over
            self.start_game()
            return info
        self.begin_episode()
        return None

    def observation(self):
        look = self.options["size"], self.options["grayscale"]
        return np.array([picture_of(it, *look) for it in self.pictures])

    def render(self):
        return np.dstack([lit(self.frame)] * 3)


def write_into(*results):
    """Do with arrays what their owner may do: later ones aren't touched."""
    for result in results:
        if isinstance(result, np.ndarray) and result.dtype != object:
            result[...] = 0
        elif isinstance(result, (tuple, list, np.ndarray)):
            write_into(*result)
        elif isinstance(result, dict):
            write_into(*result.values())


# By default Hypothesis tries the same each time.
SETTINGS = dict(
    derandomize=not ALL,
    database=None,
    deadline=None,
    report_multiple_bugs=False,
    suppress_health_check=list(hypothesis.HealthCheck),
)
some_frame = some.integers(1, 24)
some_end = some.sampled_from([math.inf, 3, 5, 6, 7, 8, 21])
some_lives = some.dictionaries(some_frame, some.integers(0, 4))
some_script = some.builds(
    Script,
    lives=some_lives.map(lambda lives: {0: 3, **lives}),
    rewards=some.dictionaries(some_frame, some.integers(-9, 99)),
    over=some_end,
    limit=some_end,
)
some_options = some.fixed_dictionaries(
    {name: some.sampled_from(values) for name, values in OPTIONS.items()}
)


any_game = hypothesis.given(some_script, some_options, some.integers(0, 5))
any_settings = hypothesis.settings(
    max_examples=5000 if ALL else 120, **SETTINGS
)


@any_settings
@any_game
@hypothesis.example(LIFELIKE, DEFAULTS | TRAINING | {"noop_max": 1}, 0)
def test_any_game(script, options, seed):
    """All that it returns and shows, and what it tells of an end."""
    play_beside_the_model(Game, script, options, seed)


def play_beside_the_model(make, script, options, seed):
    with pytest.MonkeyPatch.context() as patch:
        replace_titles(patch, script)
        one = make(seed, **options)
    model = Model(seed, script, **options)
    for given in (None, None, 3):
        first = one.reset(given)
        assert same(first, model.reset(given))
        for action in random_actions(12, 3):
            screen, result = one.render(), one.step(action)
            assert same(screen, model.render())
            assert same(result, model.step(action))
            if result[2]:
                assert same(one.final_obs, model.final_obs)
                assert one.terminated is model.terminated
            write_into(first, screen, result, one.final_obs)


def test_the_program(monkeypatch, tmp_path, capsys):
    """Its summary is about whole games, with raw points."""
    monkeypatch.setattr(sys, "argv", ["game", "--games=2", "--steps=300"])
    monkeypatch.chdir(tmp_path)
    game.main()
    assert os.listdir() == ["game.png"]
    scores = []
    actions = np.random.default_rng(0).integers(4, size=(300, 2))
    for k in range(2):
        one = Game(k, **dict(TRAINING, on_life_loss="ignore"))
        one.reset()
        infos = [one.step(action)[3] for action in actions[:, k]]
        scores += [info["reward"] for info in infos if info]
    words = f"mean {np.mean(scores):.2f}, best {max(scores):.0f}"
    assert f"\nscore: {words}\n" in capsys.readouterr().out
