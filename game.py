# SPDX-License-Identifier: MIT
"""
# Breakout, annotated

Atari games for an agent, the way DQN saw them ([Mnih et al.
2015](https://doi.org/10.1038/nature14236)). One file to copy:

- `Game` is one Atari game: four gray pictures at a time;
- `Worker` is a game in a process of its own, behind a pipe;
- `Games` are many games at once, a Gymnasium vector environment.

```python
from game import Game

game = Game(seed=0)
obs_4 = game.reset()  # uint8 (4, 84, 84)
for _ in range(1000):
    action = game.env.action_space.sample()  # your agent's
    obs_4, reward, done, episode_info = game.step(action)
```

![Eight rows of four gray pictures: what the agents of eight games saw when
they last scored.](docs/game.png "What `python game.py` leaves: a row for each
of eight games, the four pictures that its agent saw when it last scored.")

This file is from "Breakout, annotated", which began with labml.ai's [`Game`
and `Worker`](https://nn.labml.ai/rl/game.html).
"""

__version__ = "1.0.0"

# ### Imports
import argparse
import collections
import contextlib
import enum
import functools
import math
import multiprocessing
import operator
import os
import pickle
import selectors
import signal
import time
import traceback
import warnings
from collections.abc import Callable
from multiprocessing import connection, util
from multiprocessing.context import BaseContext
from multiprocessing.process import BaseProcess
from typing import Any, Literal, NamedTuple, SupportsIndex

import ale_py
import cv2
import gymnasium as gym
import numpy as np
from gymnasium.envs.registration import EnvSpec
from gymnasium.vector.utils import CloudpickleWrapper, batch_space
from numpy.typing import ArrayLike, NDArray

BREAKOUT = "BreakoutNoFrameskip-v4"

if not hasattr(gym.vector, "AutoresetMode"):
    raise ImportError("game.py needs Gymnasium 1.1 or newer")
# ale-py hides what interrupts its import, such as Ctrl-C in a new worker.
if BREAKOUT not in gym.registry:
    raise ImportError("ale-py hasn't registered its titles with Gymnasium")

# ## One game

# A step returns `obs_4, reward, done, episode_info`.
Step = tuple[NDArray, float, bool, dict | None]


class Game:
    """
    One Atari game, the way DQN saw it.

    1. Each action is held for four frames.
    2. Of the last two frames, in gray, the brighter pixels are kept.
    3. The result is resized to 84×84: a picture.
    4. An observation is the pictures of the last four steps.
    5. When an episode is over, the next one begins within the same step.
    """

    # How many lives must be left for a lost one to end the episode, by
    # `on_life_loss` ([the reasons](#what-ends-an-episode)).
    LIVES_NEEDED = {"restart": 0, "continue": 1, "ignore": math.inf}

    def __init__(
        self,
        seed: SupportsIndex,
        env_id: str | EnvSpec = BREAKOUT,
        *,
        on_life_loss: Literal["restart", "continue", "ignore"] = "restart",
        noop_max: int = 0,
        fire_on_reset: bool = False,
        clip_reward: bool = False,
        action_repeat: int = 4,
        stack: int = 4,
        size: tuple[int, int] = (84, 84),
        colour: bool = False,
        **emulator: Any,
    ):
        """Make a game, which begins with the first `reset`.

        `seed` is a non-negative integer, and `env_id` the id of an Atari title
        or Gymnasium's `EnvSpec` of one. [The first four
        options](#how-to-train) are by default those of labml's tutorial; to
        train, add `**TRAINING`. DQN chose the numbers of the next four, and
        almost everybody has kept them: `action_repeat` frames to a step,
        `stack` pictures to an observation, `size` as height and width, gray
        or `colour`. The rest are `EMULATOR_OPTIONS`.

        `env` is the Gymnasium environment, `meanings` the names of its
        actions. `final_obs` is the last observation of the episode that ended
        last, and `terminated` is false if only a limit ended it. Raises
        `ValueError` or `TypeError` for a bad option, and Gymnasium's own error
        for an unknown id.
        """
        modes = list(self.LIVES_NEEDED)
        require(on_life_loss in modes, f"one of {modes}", on_life_loss)
        self._lives_needed = self.LIVES_NEEDED[on_life_loss]
        self._restarts = on_life_loss == "restart"
        self._seed = check_number("seed", seed)
        self._noop_max = check_number("noop_max", noop_max)
        self._clip_reward = clip_reward
        self.action_repeat = check_number("action_repeat", action_repeat, 1)
        self.stack = check_number("stack", stack, 1)
        require(np.shape(size) == (2,), "size as (height, width)", size)
        self.size = tuple(check_number("size", n, 1) for n in size)
        require(colour in (True, False), "colour to be True or False", colour)
        self.colour = bool(colour)

        # ALE is the emulator (Bellemare et al. 2013), Gymnasium the interface
        # that learning programs share.
        self.env = make_env(env_id, emulator)
        self._ale = self.env.unwrapped.ale
        self._console = Console(self.env)
        self.meanings = self.env.unwrapped.get_action_meanings()
        self._codes = [getattr(ale_py.Action, name) for name in self.meanings]
        self._fires = fire_on_reset and "FIRE" in self.meanings

        # A deque drops its oldest picture when a new one comes. An empty one
        # means that a reset has to come first.
        self._stack = collections.deque(maxlen=self.stack)
        self._last = None  # the last screen, and its picture
        self._lives = 0
        self._score = 0.0
        self._length = 0  # in steps
        self.terminated = False
        self.final_obs = None

    # ### One step
    #
    # The console draws 60 frames a second. Deciding at each of them would be
    # four times the work, so an action is held for four.
    #
    # The agent sees the last two of them. The console can draw only a few
    # objects at a time, and many titles draw some on even frames and the rest
    # on odd ones. The brighter of two frames, pixel by pixel, has them all.
    # Only a few titles need more: Pacman draws each of its four enemies in one
    # frame of four, and here, as in other wrappers, two are never seen.
    def step(self, action: SupportsIndex) -> Step:
        """Hold `action`, an index into `meanings`, for four frames.

        Returns `obs_4`, `uint8 (4, 84, 84)`, oldest picture first, a copy that
        is yours; `reward`, the points of these frames; `done`, true when an
        episode is over: `obs_4` is then the first of the next one; and
        `episode_info`, `None` or, if a new game was started, a dict of the one
        before: its `"reward"`, its `"length"` in steps, and whether a limit
        has `"truncated"` it. Raises `ResetNeeded` before the first `reset`,
        and `ValueError` for a bad action; then nothing has moved.
        """
        action = check_actions(action, self.meanings)
        if not self._stack:
            raise gym.error.ResetNeeded("call reset() before step()")
        reward = 0.0
        before_last = None
        for frame in range(1, self.action_repeat + 1):
            reward += self._ale.act(self._codes[action])

            # Lives are read after every frame: one lost and one won within a
            # step would cancel out.
            lives_before = self._lives
            self._lives = self._ale.lives()
            life_lost = self._lives < lives_before
            life_over = life_lost and self._lives >= self._lives_needed
            game_over = self._ale.game_over()
            if life_over or game_over:
                break
            if frame == self.action_repeat - 1:
                before_last = self.screen()  # (210, 160)

        # If the episode has ended early, its last screen is used alone.
        screen = self.screen()
        if before_last is not None:
            np.maximum(before_last, screen, out=screen)
        self._see(screen)

        # The score stays raw, whatever becomes of the reward.
        self._score += reward
        self._length += 1
        done = life_over or game_over
        episode_info = None
        if done:
            episode_info = self._end_episode(life_over, game_over)
        if self._clip_reward:
            reward = float(np.sign(reward))
        # After `_end_episode` this is the next episode's first observation.
        return self.observe(), reward, done, episode_info

    # ### Small and gray
    #
    # A screen has 33,600 pixels in 128 colours. DQN took the brightness alone,
    # and resized it to what a network of its day could process. Each new pixel
    # is the mean of the area that it covers: picking single pixels would lose
    # thin objects.
    def screen(self) -> NDArray:
        """Return a copy of the screen: `(210, 160)`, in colour with a 3."""
        return self._console.screen(self.colour)

    def shrink(self, screen: NDArray) -> NDArray:
        """Resize a screen to `size`."""
        size = self.size[::-1]  # OpenCV takes the width first
        return cv2.resize(screen, size, interpolation=cv2.INTER_AREA)

    # ### The stack
    #
    # One picture shows where the ball is, not where it is going. The last
    # four, a fifth of a second, show both.
    def _see(self, screen):
        """Put the picture of a screen on the stack."""
        # The plain way is `self.shrink(screen)`. This does the same [for what
        # has changed](#resizing-what-has-changed).
        picture = shrink_changes(self, screen, *self._last)
        self._last = (screen, picture)
        self._stack.append(picture)

    def observe(self) -> NDArray:
        """Return the stack as an observation, `(4, 84, 84)`, a copy."""
        return np.array(self._stack)

    # ### What ends an episode
    #
    # Losing a life costs no points, so no reward warns the agent. The usual
    # remedy is to end the episode with the life: to the agent that looks like
    # the end of all rewards.
    #
    # - `"continue"`: the episode ends, and the game goes on from where it is,
    #   as in Baselines, CleanRL, SB3 and EnvPool.
    # - `"ignore"`: only the end of the game ends the episode, as [Machado et
    #   al. (2018)](https://arxiv.org/abs/1709.06009) advise.
    # - `"restart"`: a new game begins, as in labml's tutorial.
    #
    # Under "continue" one life must be left: in 11 of 104 titles the game goes
    # on after the last life, for up to 90 seconds, far too long to be useful
    # as an episode.
    def _end_episode(self, life_over, game_over):
        """Begin the next episode; return the `episode_info` of this one."""
        # Every id limits a game to 108,000 frames, half an hour. A game that
        # only the limit has ended is not lost but truncated. From the last
        # observation learners estimate what it would still have brought.
        game_lost = self._ale.game_over(with_truncation=False)
        self.terminated = life_over or game_lost
        self.final_obs = self.observe()
        self._stack.clear()  # as in `reset`
        episode_info = None
        if game_over or self._restarts:
            episode_info = {
                "reward": self._score,
                "length": self._length,
                "truncated": game_over and not game_lost,
            }
            self._start_game()
        self._begin_episode()
        return episode_info

    # ### How a game begins
    def reset(self, seed: SupportsIndex | None = None) -> NDArray:
        """Start a new game; return its first observation, `(4, 84, 84)`.

        It is one picture four times, a copy that is yours. After a reset with
        a `seed` the same actions give the same results. Without one, the first
        reset takes the constructor's, and later ones go on with its random
        numbers.
        """
        seed = self._seed if seed is None else check_number("seed", seed)
        # If Ctrl-C interrupts this, `step` asks for another reset.
        self._stack.clear()
        self._start_game(seed)
        self._begin_episode()
        self._seed = None  # it is used once
        return self.observe()

    def _start_game(self, seed=None):
        """Reset the emulator, and let no-op frames pass."""
        self._console.reset(seed)
        self._score = 0.0
        self._length = 0

        # Without no-op frames or sticky actions a seed would change nothing.
        # The number of no-op frames is sampled as Gymnasium does it, which
        # also seeds again if the game ends among them. A title without NOOP
        # has none.
        if self._noop_max == 0 or self.meanings[0] != "NOOP":
            return
        rng = self.env.unwrapped.np_random
        for _ in range(rng.integers(1, self._noop_max + 1)):
            code = self._codes[self.start_action(rng)]
            self._score += self._ale.act(code)
            if self._ale.game_over():
                self._console.reset(seed)
                self._score = 0.0

    def start_action(self, rng: np.random.Generator) -> SupportsIndex:
        """Return NOOP; a subclass may sample an action for random starts."""
        return 0

    def _begin_episode(self):
        """Press FIRE, if asked to, and refill the stack."""
        # Breakout waits for FIRE to serve the ball. Points of frames before
        # the first observation are no step's reward, but count in the score,
        # as on the console.
        if self._fires:
            for _ in range(self.action_repeat):
                self._score += self._ale.act(ale_py.Action.FIRE)
        self._lives = self._ale.lives()

        # Pictures of two episodes in one stack would look like a motion.
        screen = self.screen()
        picture = self.shrink(screen)
        self._last = (screen, picture)
        self._stack.extend([picture] * self.stack)

    # ### Rendering and copying
    def render(self) -> NDArray[np.uint8]:
        """Return the colour screen as it is now, `(height, 160, 3)`, yours."""
        return self._console.screen(colour=True)

    def __reduce__(self):
        raise TypeError(
            "a Game can't be copied: game.env.unwrapped.clone_state() has the"
            " emulator's state, but not the stack of pictures"
        )


# ### How to train
#
# These are the settings that most agents are trained with, and the defaults of
# `Games`. To claim something new, take an id with sticky actions, such as
# `"ALE/Breakout-v5"`, and `"ignore"` (Machado et al. 2018).
TRAINING: dict[str, Any] = dict(
    on_life_loss="continue",  # what a lost life does to the episode
    noop_max=30,  # a game begins with 1 to 30 no-op frames
    fire_on_reset=True,  # FIRE is held for a step before each episode
    clip_reward=True,  # a reward becomes -1, 0 or 1; the score stays raw
)

# These options go to Gymnasium's `AtariEnv`.
EMULATOR_OPTIONS = (
    "full_action_space",  # all 18 actions of the console
    "repeat_action_probability",  # of sticky actions
    "mode",
    "difficulty",
    "max_num_frames_per_episode",
    "render_mode",  # "human" opens a window
)

# ## A game in another process
#
# Python threads take turns, since only one can hold the GIL. Games that are to
# play at the same time need processes, called *workers*. A *pipe* joins each
# to its *parent*, the program that started it, as in labml's PPO.


def worker_process(
    remote: connection.Connection,
    seed: SupportsIndex,
    env_id: str | EnvSpec = BREAKOUT,
    make: Callable = Game,
    **options: Any,
) -> None:
    """Play a game in this process, whose end of the pipe is `remote`.

    Answers `("step", action)`, `("reset", seed or None)` and
    `("render", None)` with what the game returns, or with the error that it
    raised, until `("close", None)` or the end of the pipe. The game is
    `make(seed, env_id, **options)`, anything with these three methods. If it
    has a method `close`, too, that is called at the end.
    """
    inbox = prepare_process(remote)
    make_game: Any = make
    if isinstance(make, CloudpickleWrapper):  # as `Worker` sends it
        make_game = make.fn
    game = None
    # At the end the game is closed. If the pipe is broken, so is the attempt
    # to report that: an `OSError`, which ends the loop.
    with contextlib.ExitStack() as ending, contextlib.suppress(OSError):
        while True:
            # `inbox` also watches the parent. A fork has its own copies of all
            # ends of a pipe, so the pipe doesn't break when the parent dies.
            if wait_for(inbox) != [remote]:
                return
            try:
                command, data = remote.recv()
                if command == "close":
                    return
                # The game is made here, so that an error while it is made is
                # sent back, too.
                if game is None:
                    game = make_game(seed, env_id, **options)
                    ending.callback(close_games, [game])
                remote.send(perform(game, command, data))
            except Exception as error:
                remote.send(Raised(error))


def perform(game, command, data):
    """Carry out a command; return what the game returns."""
    if command == "render":
        return game.render()
    if command in ("reset", "step"):
        return getattr(game, command)(data)
    raise NotImplementedError(f"unknown command {command!r}")


def close_games(games):
    """Close those that can be closed, such as one that writes a file."""
    for game in games:
        if hasattr(game, "close"):
            game.close()


# ### An error on its way


class Raised:
    """An error that is raised where it is unpickled, by `raise_error`."""

    def __init__(self, error):
        self._text = "".join(traceback.format_exception(error))
        # Some errors can't be pickled, or can't be unpickled. Their words can.
        try:
            pickle.loads(pickle.dumps(error))
        except Exception:
            words = traceback.format_exception_only(error)
            error = RuntimeError("".join(words).strip())
        self._error = error

    def __reduce__(self):
        return raise_error, (self._error, self._text)


def raise_error(error, text):
    """Raise `error`; its cause is the traceback of the other process."""
    raise error from RuntimeError(f"in the worker:\n{text}")


def is_of_multiprocessing(error):
    """Return whether a pipe or a start has failed by itself.

    A game, or a signal handler that runs meanwhile, can raise errors of the
    same types.
    """
    *_, (frame, _) = traceback.walk_tb(error.__traceback__)
    return frame.f_globals["__name__"].startswith("multiprocessing.")


# ### The worker, as its parent sees it
GRACE = 1.0  # seconds more, for a worker that is late or is to end
END_TIMEOUT = 5.0  # seconds, for the system to end a process


class Worker(contextlib.AbstractContextManager):
    """
    A game in a process of its own.

    It takes the arguments of `Game`; `context`, a start method's name or a
    context of `multiprocessing`; and `make`, called in place of `Game`: any
    callable, a lambda or a class of a notebook, too.

    `child` is the parent's end of the pipe, a `Connection`.
    `child.send(("step", action))` sends a command; `child.recv()` returns what
    `Game.step` returns, or raises what it has raised. The first answer may
    also be the error of a wrong option. If the process has died, they raise
    `EOFError` or an `OSError`. `process` is the `multiprocessing.Process`.
    """

    def __init__(
        self,
        seed: SupportsIndex,
        env_id: str | EnvSpec = BREAKOUT,
        *,
        context: str | BaseContext | None = None,
        make: Callable = Game,
        **options: Any,
    ):
        ctx = find_context(context)
        self.child, remote = ctx.Pipe()

        # `pickle` knows a class by the file that it is in. Cloudpickle sends
        # the class itself where that can't be imported.
        args = (remote, seed, env_id, CloudpickleWrapper(make))

        # Python ends a *daemon* process when the program exits.
        self.process = ctx.Process(
            target=worker_process, args=args, kwargs=options, daemon=True
        )

        # The process also ends when this object is dropped, and at exit before
        # Python waits for it: it would wait for a suspended one forever.
        self._ends = (os.getpid(), [Ends(self.child, self.process)])
        util.Finalize(self, end_workers, args=self._ends, exitpriority=0)
        try:
            self.process.start()
        except (EOFError, ConnectionError) as error:
            if not is_of_multiprocessing(error):
                raise
            # Ctrl-C has ended the forkserver as it began. Once it is gone,
            # this begins another.
            time.sleep(GRACE)
            self.process.start()
        # Now only the worker holds this end: if it dies, the pipe breaks.
        remote.close()

    def ask(self, command, data):
        """Send a command; if the process has died, its answer tells."""
        # Python 3.12.1 crashes when it collects the buffer of a `send` that
        # was interrupted, so the bytes are made here.
        message = pickle.dumps((command, data))
        try:
            self.child.send_bytes(message)
        except ConnectionError as error:
            if not is_of_multiprocessing(error):
                raise

    def close(self) -> None:
        """End the process, in whatever state it is; may be called twice.

        It closes its game and writes what is buffered. After a second it is
        killed.
        """
        end_workers(*self._ends)

    def __exit__(self, *_):
        self.close()


# A fork copies the program with the locks that its threads hold at that
# moment, PyTorch's among them, and then may wait for one forever. A
# *forkserver* is a process without threads, which is forked in its place.
def find_context(name) -> Any:
    """Return a context of `multiprocessing`: forkserver, if there is one."""
    if isinstance(name, BaseContext):
        return name
    methods = multiprocessing.get_all_start_methods()
    if name is None and "forkserver" in methods:
        name = "forkserver"
    return multiprocessing.get_context(name)


# ## Many games
#
# With a worker for each game, eight would take turns on two cores. `Games` has
# a worker for each core, which plays its share of the games one after the
# other.
#
# ![When each worker plays during a step: above eight workers of one game each,
# below two of four games each, which are done
# sooner.](docs/figures/race.svg "A step of eight games on two cores.")
#
# Observations don't cross the pipes: all processes share the memory in which
# they lie.
#
# ![The program sends actions through a pipe to each of two workers. These
# write what they have played into shared memory, of which the program takes a
# copy.](docs/figures/pipe.svg "What crosses a pipe, and what doesn't.")


class Share:
    """
    The games of one process; `worker_process` plays them like one.

    `step` and `reset` take an item for each game. `memory` holds a record for
    each game of all processes, and `rows` is the slice that belongs here.
    """

    def __init__(self, seeds, env_id, make_game, rows, memory, dtype):
        # A column is an array with an item for each game.
        records = np.frombuffer(memory, dtype)[rows]
        self._columns = {name: records[name] for name in records.dtype.names}
        self._columns["begun"][:] = True
        # `Games` has wrapped what makes a game, with its options.
        self._games = [make_game.fn(seed, env_id) for seed in seeds]
        # This also happens when the object is dropped, and at exit, but never
        # in a forked copy of the program.
        self.close = util.Finalize(
            self, close_games, args=[self._games], exitpriority=1
        )

    def step(self, actions):
        """Step all games but those that rest, whose action is `None`."""
        self._clear()
        columns = self._columns
        for i, action in enumerate(actions):
            if action is None:
                continue
            game = self._games[i]
            obs, reward, done, info = game.step(action)
            columns["obs"][i] = obs
            columns["reward"][i] = reward
            if done:
                columns["final_obs"][i] = game.final_obs
                columns["terminated"][i] = game.terminated
                columns["truncated"][i] = not game.terminated
            if info is not None:
                columns["game_over"][i] = True
                columns["truncated"][i] |= info["truncated"]
                columns["score"][i] = info["reward"]
                columns["length"][i] = info["length"]

    def reset(self, seeds):
        """Reset all games, each with its seed or `None`."""
        self._clear()
        for i, game in enumerate(self._games):
            self._columns["obs"][i] = game.reset(seeds[i])

    def _clear(self):
        """Forget the step before."""
        for name in ("reward", "terminated", "truncated", "game_over"):
            self._columns[name][:] = 0

    def render(self):
        """Draw the colour screens of all games."""
        for i, game in enumerate(self._games):
            self._columns["screen"][i] = game.render()

    def ask(self, command, data):
        """Carry out a command at once, in this process."""
        perform(self, command, data)


# ### The vector environment
#
# The *autoreset mode* says when the next episode begins: under SAME_STEP in
# the step that ends the last one, under NEXT_STEP, Gymnasium's default, in the
# step after it.
SAME_STEP = gym.vector.AutoresetMode.SAME_STEP
NEXT_STEP = gym.vector.AutoresetMode.NEXT_STEP

# What a step of many games returns.
Batch = tuple[NDArray, NDArray, NDArray, NDArray, dict]

START_TIMEOUT = 60.0  # seconds for a start or a reset, and one more a game
READ = selectors.EVENT_READ
MOST_LOSSES = 3  # of a worker, with no end of a game since


class State(enum.Enum):
    """Which calls are allowed next."""

    NEEDS_RESET = "reset"
    READY = "all but step_wait"
    STEPPING = "step_wait"


class Games(gym.vector.VectorEnv, contextlib.AbstractContextManager):
    """
    Many Atari games at once: a Gymnasium vector environment.

    Its *players* are workers, each with a share of the games, or with
    `processes=0` a share in this process. A call asks all of them (`_ask`),
    waits for all (`_wait`), and replaces those that are lost
    (`_replace_lost`). `_ask` says that a reset is needed, and only a call that
    comes to its end takes that back. So after an error of a game, or Ctrl-C,
    `step` raises `ResetNeeded`, and `reset` starts all players anew. Calls
    after `close` raise `ClosedEnvironmentError`. Use it in one thread at a
    time.
    """

    metadata = {"render_modes": ["rgb_array"], "render_fps": 15}
    render_mode = "rgb_array"
    closed = True  # until they are made: Gymnasium 1.1 closes what is dropped

    def __init__(
        self,
        num_envs: int,
        env_id: str | EnvSpec = BREAKOUT,
        *,
        seed: ArrayLike = 0,
        processes: int | None = None,
        timeout: float = 60.0,
        context: str | BaseContext | None = None,
        autoreset_mode: gym.vector.AutoresetMode | str = SAME_STEP,
        make: Callable = Game,
        on_life_loss: Literal["restart", "continue", "ignore"] = "continue",
        noop_max: int = 30,
        fire_on_reset: bool = True,
        clip_reward: bool = True,
        **game_options: Any,
    ):
        """Make games; the first `reset` starts the processes that play them.

        - `num_envs`, `env_id`: how many games, and of which title;
        - `seed`: game i is seeded with `seed + i`, or `seed[i]` of a list;
        - `processes`: how many play, `None` for one a core, 0 to play in this
          process, with the same results;
        - `timeout`: seconds for a step. A worker that hasn't answered after
          one more is replaced. Starts and resets get at least a minute;
        - `context`: as for `Worker`;
        - `autoreset_mode`: SAME_STEP or NEXT_STEP;
        - `make`: any callable, called in place of `Game` with a seed, `env_id`
          and all options. Its observations set shape and type. Besides the
          methods it has `env`, `meanings`, `final_obs` and `terminated`;
        - `game_options`: what else `Game` takes, such as `stack`.

        Raises `ValueError` or `TypeError` for bad arguments, and Gymnasium's
        own error for an unknown id.
        """
        n = check_number("num_envs", num_envs, least=1)
        self.num_envs = n
        self._owner = os.getpid()
        self._set_seeds(seed)
        processes = count_cores() if processes is None else processes
        self._processes = check_number("processes", processes)
        # Systems can't wait much longer than a million seconds.
        require(0 < timeout <= 1e6, "a timeout of up to 1e6 seconds", timeout)
        self._timeout = timeout
        self._start_timeout = max(timeout, START_TIMEOUT + n)
        self._context = find_context(context)
        mode = gym.vector.AutoresetMode(autoreset_mode)
        require(mode in (SAME_STEP, NEXT_STEP), "SAME_STEP or NEXT_STEP", mode)
        self.autoreset_mode = mode
        self.metadata = self.metadata | {"autoreset_mode": mode}

        # A game made in this process checks the id and the options, and gives
        # the spaces.
        game_options["on_life_loss"] = on_life_loss
        game_options["noop_max"] = noop_max
        game_options["fire_on_reset"] = fire_on_reset
        game_options["clip_reward"] = clip_reward
        game = make(0, env_id, **game_options)
        obs = game.reset()
        screen = game.render()
        close_games([game])
        self.spec = game.env.spec
        self.meanings = game.meanings
        self.single_observation_space = box_of(obs)
        self.single_action_space = game.env.action_space
        self.observation_space = batch_space(self.single_observation_space, n)
        self.action_space = batch_space(self.single_action_space, n)

        # A record for each game. Processes can only inherit memory that they
        # share, so it is made before them.
        dtype = [
            ("begun", bool),  # whether its player has
            ("obs", obs.dtype, obs.shape),
            ("reward", np.float64),
            ("terminated", bool),
            ("truncated", bool),
            ("final_obs", obs.dtype, obs.shape),
            ("game_over", bool),
            ("score", np.float64),
            ("length", np.int64),
            ("screen", np.uint8, screen.shape),
        ]
        memory = multiprocessing.RawArray("B", n * np.dtype(dtype).itemsize)
        self._records = np.frombuffer(memory, dtype)
        make_game = functools.partial(make, **game_options)
        share = dict(env_id=env_id, make_game=CloudpickleWrapper(make_game))
        self._share_options = share | dict(memory=memory, dtype=dtype)

        # Each player has its rows of the records, and a number: a selector
        # that held the players would form a cycle with them, and they would
        # end only when Python collects it.
        k = max(1, min(self._processes, n))
        self._rows = [slice(i * n // k, (i + 1) * n // k) for i in range(k)]
        self._players = {}  # by number
        self._inbox = selectors.DefaultSelector()
        self._lost = {}  # in words, by number
        self._losses = np.zeros(n, int)  # of each game, since its last end
        self._all_losses = 0
        self._state = State.NEEDS_RESET
        self.closed = False

        # At exit all workers get the same second to end.
        if self._processes > 0:
            ends = (self._owner, self._players.values())
            util.Finalize(self, end_workers, args=ends, exitpriority=1)

    def _set_seeds(self, seed):
        """Take a seed for each game, from one number or a list of them."""
        n = self.num_envs
        if np.ndim(seed) == 0:
            seed = [check_number("seed", seed) + i for i in range(n)]
        require(len(seed) == n, f"{n} seeds", seed)
        self._seeds = tuple(check_number("seed", one) for one in seed)
        # Gymnasium's own name: `np_random_seed` returns it.
        self._np_random_seed = self._seeds
        return self._seeds

    def _check(self, call):
        """Raise an error if this call isn't allowed now."""
        if self.closed:
            raise gym.error.ClosedEnvironmentError("the games are closed")
        if os.getpid() != self._owner:  # in a forked copy of the program
            raise RuntimeError("these games belong to another process")
        stepping = self._state is State.STEPPING
        if stepping and call != "step_wait":
            raise gym.error.AlreadyPendingCallError("call step_wait()", "step")
        if call == "step_wait" and not stepping:
            raise gym.error.NoAsyncCallError("call step_async()", "step")
        if self._state is State.NEEDS_RESET and call != "reset":
            raise gym.error.ResetNeeded(f"call reset() before {call}()")

    @property
    def pipes(self) -> list:
        """The parent's ends of the workers' pipes, as they are now.

        For `multiprocessing.connection.wait`: one is ready when its worker has
        answered, or died. With `processes=1` `step_wait` then doesn't wait.
        """
        if self._processes == 0:
            return []
        return [worker.child for _, worker in sorted(self._players.items())]

    # ### Asking all
    def reset(
        self, *, seed: ArrayLike | None = None, options: dict | None = None
    ) -> tuple[NDArray, dict]:
        """Start new games; return `observations, {}`.

        `observations` is `uint8 (num_envs, 4, 84, 84)`, a copy that is yours.
        `seed` is a number or a list, as in the construction. With `None` the
        games go on with their random numbers; the first time, and after an
        error or Ctrl-C, they start from the seeds that were given last, as do
        games whose worker is found dead. `options` must be empty.
        """
        self._check("reset")
        require(not options, "no options", options)
        seeds = [None] * self.num_envs
        if seed is not None:
            seeds = self._set_seeds(seed)
        if self._state is State.NEEDS_RESET:
            # Those that played before may still owe an answer.
            self.close_extras()
            self._lost.clear()
            self._inbox = selectors.DefaultSelector()
            self._start(range(len(self._rows)))
        else:
            self._ask(self._players, "reset", seeds)
            self._wait(self._start_timeout)
            self._losses[:] = 0
            self._replace_lost(stacklevel=3)
        self._losses[:] = 0
        self._last_obs = self._records["obs"].copy()
        self._state = State.READY
        return self._last_obs, {}

    def step(self, actions: ArrayLike) -> Batch:
        """Step all games: `actions` are `num_envs` integers.

        Returns copies that are yours: `observations`, `uint8 (num_envs, 4, 84,
        84)`; `rewards`, `float64 (num_envs,)`; `terminated` and `truncated`,
        `bool (num_envs,)`; and `infos`, a dict. In the step in which a whole
        game is over, that has `"episode"`: its raw points `"r"` and its steps
        `"l"`, with the mask `"_episode"`. Under SAME_STEP it has the
        `"final_obs"` of ended episodes, with the mask `"_final_obs"`.
        `"restarted"` is the mask of games whose worker was lost: their final
        observation is the array that was returned last, as it is now.

        Raises `ResetNeeded` before the first `reset`, and `ValueError` for bad
        actions: then no game has moved.
        """
        self._begin_step(actions)
        return self._finish_step()

    def step_async(self, actions: ArrayLike) -> None:
        """Begin a step, and return at once if other processes play.

        It takes what `step` takes, and raises the same errors. Until
        `step_wait`, every other call raises `AlreadyPendingCallError`.
        """
        self._begin_step(actions)
        self._state = State.STEPPING

    def step_wait(self) -> Batch:
        """Wait for the step that was begun; return what `step` returns.

        Raises `NoAsyncCallError` if none was.
        """
        self._check("step_wait")
        return self._finish_step()

    def render(self) -> tuple[NDArray[np.uint8], ...]:
        """Return a tuple of colour screens, `uint8 (height, 160, 3)` each.

        They are copies that are yours. Those of a lost worker are black; the
        next step or reset replaces it.
        """
        self._check("render")
        self._ask(self._players, "render", [None] * self.num_envs)
        self._wait(self._timeout)
        for number in self._lost:
            self._records["screen"][self._rows[number]] = 0
        self._state = State.READY
        return tuple(self._records["screen"].copy())

    def _ask(self, numbers, command, data):
        """Send a command to players, with an item of `data` for each game."""
        self._state = State.NEEDS_RESET
        self._asked = set(numbers)
        for number in numbers:
            self._players[number].ask(command, data[self._rows[number]])

    def _ended(self):
        """Return the mask of the games that have ended in the last step."""
        return self._records["terminated"] | self._records["truncated"]

    def _begin_step(self, actions):
        """Check the actions, and ask for a step."""
        self._check("step")
        checked = check_actions(actions, self.meanings, (self.num_envs,))
        if self.autoreset_mode is NEXT_STEP:
            # A game *rests* in the step after an end.
            for i in np.flatnonzero(self._ended()):
                checked[i] = None
        self._ask(self._players, "step", checked)

    # ### Waiting for all
    def _wait(self, timeout):
        """Read the answers of all workers; lose those who don't answer."""
        if self._processes == 0:
            return
        # The clock goes on while the whole program is stopped, for example by
        # Ctrl-Z, so late workers get another moment.
        for seconds in (timeout, GRACE):
            deadline = time.monotonic() + seconds
            while self._asked and (left := deadline - time.monotonic()) > 0:
                for pipe in wait_for(self._inbox, left):
                    self._receive(pipe)
        for number in self._asked:
            self._lose(number, f"didn't answer within {timeout:g} s")

    def _receive(self, pipe):
        """Read the answer of a worker, or lose it if it has died."""
        number = self._inbox.get_key(pipe).data
        self._asked.discard(number)
        try:
            pipe.recv()  # it also raises what a game has raised
        except (EOFError, ConnectionError) as error:
            if not is_of_multiprocessing(error):
                raise
            # The `repr` of a process says how it has ended.
            process = self._players[number].process
            process.join(END_TIMEOUT)
            self._lose(number, f"has died, {process!r}")

    def _finish_step(self):
        """Wait for the answers to a step; return what `step` returns."""
        self._state = State.NEEDS_RESET
        self._wait(self._timeout)
        infos = {}
        if self._lost:
            restarted = self._replace_lost(stacklevel=4)
            infos["restarted"] = restarted
            # These games were cut short.
            self._records["truncated"][restarted] = True
            self._records["final_obs"][restarted] = self._last_obs[restarted]

        # The players have written all of it into the records.
        records = self._records
        observations = records["obs"].copy()
        rewards = records["reward"].copy()
        terminated = records["terminated"].copy()
        truncated = records["truncated"].copy()

        # In Gymnasium a key of the infos has an item for each game, and the
        # key with a `_` in front is the mask of the games that have it.
        game_over = records["game_over"].copy()
        if game_over.any():
            self._losses[game_over] = 0
            infos["_episode"] = game_over
            infos["episode"] = {
                "r": np.where(game_over, records["score"], 0),
                "l": np.where(game_over, records["length"], 0),
            }
        # The records have the next episode's first observation already. Under
        # NEXT_STEP that waits for the next step.
        ended = self._ended()
        if self.autoreset_mode is NEXT_STEP:
            observations[ended] = records["final_obs"][ended]
        elif ended.any():
            infos["_final_obs"] = ended
            infos["final_obs"] = np.full(self.num_envs, None)
            for i in np.flatnonzero(ended):
                infos["final_obs"][i] = records["final_obs"][i].copy()
        self._last_obs = observations
        self._state = State.READY
        return observations, rewards, terminated, truncated, infos

    # ### Replacing the lost
    #
    # A worker that dies, or doesn't answer in time, is *lost*. Another one
    # starts its games over from their seeds, and the others go on. A new
    # process imports the program's files as they are now: if one of them was
    # edited meanwhile, it plays something else than the others.
    #
    # ![Eight games of two workers. One worker was killed: its four games begin
    # again, and those of the other go
    # on.](docs/figures/kill.png "Kill a worker.")
    def _lose(self, number, words):
        """Ask a worker no more, and kill it, in case it is merely late."""
        # It would write to the memory of the one that takes its place.
        worker = self._players[number]
        self._inbox.unregister(worker.child)
        if worker.process.is_alive():
            worker.process.kill()
        worker.close()
        del self._players[number]
        self._lost[number] = words

    def _start(self, numbers, tries=2):
        """Start players, and reset their games from their seeds."""
        for number in numbers:
            rows = self._rows[number]
            self._records["begun"][rows] = False
            options = dict(self._share_options, rows=rows)
            if self._processes == 0:
                player = Share(self._seeds[rows], **options)
            else:
                options.update(context=self._context, make=Share)
                player = Worker(self._seeds[rows], **options)
                self._inbox.register(player.child, READ, number)
            self._players[number] = player
        self._ask(numbers, "reset", self._seeds)
        self._wait(self._start_timeout)

        # Older workers may have died meanwhile; the next step replaces them.
        failed = [number for number in numbers if number in self._lost]
        if not failed:
            return
        words = [self._lost.pop(number) for number in failed]
        # Ctrl-C also ends a process that is still importing. Whether the
        # program goes on is the choice of its own handler, so one that hasn't
        # begun to play is started once more.
        begun = [self._records["begun"][self._rows[i]].any() for i in failed]
        if tries > 1 and not any(begun):
            self._start(failed, tries - 1)
            return
        self.close()
        raise RuntimeError(
            f"a new worker {words[0]}; its own error is on stderr. Likely"
            " reasons: the main guard is missing, a class can't be imported,"
            " or a file was edited"
        )

    def _replace_lost(self, stacklevel):
        """Start lost games over; warn, and return the mask of them."""
        restarted = np.zeros(self.num_envs, bool)
        for number, how in self._lost.items():
            rows = self._rows[number]
            restarted[rows] = True
            self._losses[rows] += 1
            self._all_losses += 1
            which = f"{rows.start} to {rows.stop - 1}"
            words = f"the worker of games {which} {how}"
            # The end of any of its games shows that a worker gets somewhere,
            # so the least counts.
            if self._losses[rows].min() > MOST_LOSSES:
                self.close()
                raise RuntimeError(f"{words}, again and again")
            words = f"{words}; replaced so far: {self._all_losses}"
            warnings.warn(words, RuntimeWarning, stacklevel)
        numbers = list(self._lost)
        self._lost.clear()
        self._start(numbers)
        return restarted

    # ### Closing
    #
    # `Games` is a *context manager*: a `with` statement ends all processes.
    def close_extras(self, **_):
        """End all players; called by `close`, as Gymnasium has it."""
        if self._processes > 0:
            end_workers(self._owner, self._players.values())
        else:
            for share in self._players.values():
                share.close()
        self._players.clear()
        self._inbox.close()

    def __exit__(self, *_):
        self.close()

    def __reduce__(self):
        raise TypeError("Games can't be copied or pickled: make another one")


# ## What makes it fast
#
# ### Resets by snapshot
#
# A true reset plays 60 frames until the console has booted, 3 ms and more. A
# *snapshot* of the state after the first reset is restored in 28 µs, and every
# game starts from the same state, where a true reset would carry over some
# memory of the game before.
#
# The snapshots of some titles are lossy: after a restore, another game is
# played. These titles take true resets, and so does every mode or difficulty
# that is asked for. With `GAME_TESTS=all` the tests look for such titles.
LOSSY = {"amidar", "koolaid", "qbert", "tetris", "tic_tac_toe_3d", "trondead"}


class Console:
    """Resets the emulator of `env`, and shows its screen."""

    def __init__(self, env):
        self._env = env.unwrapped
        self._ale = self._env.ale

        # With *sticky actions* the emulator sometimes repeats the action
        # before (Machado et al. 2018), which a snapshot leaves out.
        options = self._env.spec.kwargs
        sticky = self._ale.getFloat("repeat_action_probability") > 0
        other = "mode" in options or "difficulty" in options
        known = options.get("game") in LOSSY
        self._trusts_snapshots = not (sticky or other or known)
        self._state = None
        self._first_frame = -1  # a number that no frame has

    def reset(self, seed):
        """Start a game; a `seed` seeds its random numbers."""
        # The emulator itself needs a seed only for sticky actions, and reloads
        # the title for it, which takes 100 ms.
        if not self._trusts_snapshots:
            self._env.reset(seed=seed)
        elif self._state is not None:
            self._env.restore_state(self._state)
        else:
            # The first screens are kept, too, since a restore doesn't redraw
            # the screen; and the number of their frame.
            self._env.reset()
            self._first_screens = [self.screen(False), self.screen(True)]
            self._first_frame = self._ale.getEpisodeFrameNumber()
            self._state = self._env.clone_state()

        # Gymnasium's random generator samples the no-op starts.
        if seed is not None:
            self._env.seed_game(seed)

    def screen(self, colour):
        """Return a copy of the screen, in colour or gray."""
        if self._ale.getEpisodeFrameNumber() == self._first_frame:
            return self._first_screens[colour].copy()
        if colour:
            return self._ale.getScreenRGB()
        return self._ale.getScreenGrayscale()


# ### Resizing what has changed
#
# Every 5 of the 210 rows of a screen become exactly 2 rows of the picture. So
# a screen consists of 42 bands of 5 rows, and only bands in which something
# has changed are resized, all together as one strip: that saves 4 to 5 % of a
# step's time.


def shrink_changes(game, screen, last_screen, last_picture):
    """Return `game.shrink(screen)`, by what has changed."""
    # Another `shrink`, of a subclass or an object, may give another result
    # band by band, and so does OpenCV when it enlarges.
    height, width = game.size
    smaller = height <= screen.shape[0] and width <= screen.shape[1]
    own = getattr(game.shrink, "__func__", None) is Game.shrink
    if not (own and smaller):
        return game.shrink(screen)

    # A row of the strip is one of a band that has changed, and each band of it
    # becomes one of the picture.
    bands = math.gcd(len(screen), height)
    changed = (screen != last_screen).reshape(bands, -1).any(axis=1)
    strip = screen[changed.repeat(len(screen) // bands)]
    picture = last_picture.copy()
    if len(strip) > 0:
        size = (width, len(strip) * height // len(screen))
        rows = changed.repeat(height // bands)
        picture[rows] = cv2.resize(strip, size, interpolation=cv2.INTER_AREA)
    return picture


# ### Spinning, and yielding the core
#
# It takes longer to wake up a process that sleeps than to send it a message.
# So a process that waits asks for a moment again and again, which is called
# *spinning*, and offers the core to others meanwhile.
SPIN = 0.0003  # seconds


def wait_for(inbox, timeout=None):
    """Return the pipes of a selector that have a message, or are broken."""
    if os.name == "nt":  # there a selector can't watch pipes
        pipes = [key.fileobj for key in inbox.get_map().values()]
        return connection.wait(pipes, timeout)
    until = time.perf_counter() + SPIN
    while not (found := inbox.select(0)) and time.perf_counter() < until:
        os.sched_yield()
    return [key.fileobj for key, _ in found or inbox.select(timeout)]


def prepare_process(pipe):
    """Prepare this process for a worker; return a selector for it."""
    # Ctrl-C in a terminal reaches every process in it, but the parent decides
    # what happens then. A forked process also inherits the program's signal
    # handlers, which mustn't run here: one of them may write a checkpoint.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for number in signal.valid_signals():
        if callable(signal.getsignal(number)):
            signal.signal(number, signal.SIG_DFL)
    # OpenCV's own threads would compete with the other workers for the cores.
    cv2.setNumThreads(0)

    # After a fork all workers would have the same state of `np.random`.
    np.random.seed()

    # On Linux a process that wakes up may interrupt another one: here the
    # parent, which has just woken it, and would have to wait until a share of
    # the games has played. Under `SCHED_BATCH` it interrupts nobody.
    with contextlib.suppress(AttributeError, OSError):
        os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))

    # `pipe.poll()` makes a selector for each call, which takes five times as
    # long as using one that is kept.
    inbox = selectors.DefaultSelector()
    inbox.register(pipe, READ)
    parent = multiprocessing.parent_process()
    inbox.register(parent.sentinel, READ)
    return inbox


# ## What makes it safe
#
# ### Starting and ending a worker


def count_cores():
    """Return how many cores this process may use.

    Under `taskset`, or in a container bound to some cores, that is fewer than
    the machine has. A limit on CPU time, as by `docker --cpus`, isn't seen.
    """
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count()


class Ends(NamedTuple):
    """What of a worker is needed to end it."""

    child: connection.Connection
    process: BaseProcess


def end_workers(owner, workers):
    """End workers, in whatever state they are, and close their pipes."""
    # A forked copy of the program has copies of the workers, too.
    if os.getpid() != owner:
        return

    # Each is asked to end. After a fork other workers may hold a copy of this
    # end of its pipe, so that to close it isn't enough. The pipe of a stopped
    # worker may be full, and mustn't block.
    for worker in workers:
        with contextlib.suppress(OSError):
            if os.name != "nt":
                os.set_blocking(worker.child.fileno(), False)
                worker.child.send(("close", None))
        worker.child.close()

    # All have the same time. To be killed ends a process that is stopped or
    # hangs, too.
    deadline = time.monotonic() + GRACE
    for worker in workers:
        if worker.process.pid is None:
            continue  # it was never started
        worker.process.join(max(0, deadline - time.monotonic()))
        if worker.process.is_alive():
            worker.process.kill()
            worker.process.join(END_TIMEOUT)


# ### Checking the input


def require(condition, expected, got):
    """Raise a `ValueError` that says what was expected, unless `condition`."""
    if not condition:
        raise ValueError(f"expected {expected}, got {got!r}")


def check_number(name, value, least=0):
    """Return `value` as an `int`, which must be at least `least`."""
    number = operator.index(value)
    require(number >= least, f"{name} of at least {least}", value)
    return number


def check_actions(actions, meanings, shape=()):
    """Return `actions` as Python integers, or raise a `ValueError`.

    This checks a single action, of shape `()`, or a batch. Floats aren't
    accepted, not even whole ones, since they can't be used as an index.
    """
    cause = None
    try:
        array = np.asarray(actions)
        if array.dtype.kind in "iu" and array.shape == shape:
            # For a few numbers, Python's `min` and `max` beat NumPy's.
            flat = array.ravel().tolist()
            if min(flat) >= 0 and max(flat) < len(meanings):
                return array.tolist()
    except (TypeError, ValueError, RuntimeError) as error:
        # PyTorch's error says what to do with a tensor on a GPU.
        cause = error
    most = len(meanings) - 1
    names = ", ".join(meanings)
    expected = f"integers from 0 to {most} ({names}), of shape {shape}"
    raise ValueError(f"expected {expected}, got {actions!r}") from cause


def make_env(env_id, emulator):
    """Make the Gymnasium environment of an Atari title.

    The ids of a title differ in how many frames they hold an action:
    `…NoFrameskip-v4` one, `…-v4` two to four at random, `ALE/…-v5` four. Here
    all hold it for one, and `Game.step` repeats it: what counts is
    `action_repeat`, and the `frameskip` of an id or an `EnvSpec` doesn't.
    Screens come from the emulator itself, so the environment's own observation
    is the cheapest one.
    """
    unknown = sorted(emulator.keys() - EMULATOR_OPTIONS)
    if unknown:
        known = ", ".join([*Game.__init__.__kwdefaults__, *EMULATOR_OPTIONS])
        raise TypeError(
            f"unknown option {unknown[0]!r}; there are {known}. A step has"
            " action_repeat frames"
        )
    spec = env_id
    if isinstance(env_id, str):
        # This is how `gym.make` finds it, by any of its names.
        spec = gym.envs.registration._find_spec(env_id)
    atari = gym.spec(BREAKOUT).entry_point
    is_atari = getattr(spec, "entry_point", None) == atari
    require(is_atari, "an Atari title", env_id)

    # The emulator is played directly, so a wrapper around its environment, or
    # Gymnasium's own limit of steps, would have no effect.
    bare = not spec.additional_wrappers and spec.max_episode_steps is None
    require(bare, "a title without wrappers and max_episode_steps", env_id)
    env = gym.make(env_id, frameskip=1, obs_type="ram", **emulator)
    discrete = isinstance(env.action_space, gym.spaces.Discrete)
    require(discrete, "Discrete actions", env.action_space)
    return env


def box_of(obs):
    """Return the space of arrays like this observation."""
    plain = isinstance(obs, np.ndarray) and obs.dtype.kind in "uif"
    require(plain, "observations as an array of integers or floats", obs)
    if obs.dtype.kind == "f":
        return gym.spaces.Box(-np.inf, np.inf, obs.shape, obs.dtype)
    limits = np.iinfo(obs.dtype)
    return gym.spaces.Box(limits.min, limits.max, obs.shape, obs.dtype)


# ## The main program


def main():
    """Play Atari games at random, and leave an image: game.png."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.formatter_class = argparse.ArgumentDefaultsHelpFormatter
    add = parser.add_argument
    add("env_id", nargs="?", default=BREAKOUT, help="id of an Atari title")
    add("--games", type=int, default=8, help="how many are played at once")
    add("--steps", type=int, default=2000, help="steps of each game")
    add("--seed", type=int, default=0, help="seed of the first game")
    args = parser.parse_args()

    # A wrong argument is one line on the screen, with Gymnasium's suggestion
    # if it has one.
    n = args.games
    try:
        check_number("games", n, least=1)
        check_number("steps", args.steps, least=1)
        games = Games(n, args.env_id, seed=args.seed, on_life_loss="ignore")
    except (gym.error.Error, ImportError, ValueError) as error:
        parser.exit(2, f"{parser.prog}: {error}\n")

    # labml's warning that its settings file is missing is of no use here.
    with open(os.devnull, "w") as null, contextlib.redirect_stdout(null):
        try:
            from labml import lab, monit, tracker
        except ImportError:
            parser.exit(2, f"{parser.prog} needs labml: pip install labml\n")
        lab.get_path()

    rng = np.random.default_rng(args.seed)
    scores = []
    steps = 0
    with games:
        seen, _ = games.reset()
        start = time.perf_counter()

        # After Ctrl-C the summary is about what was played so far.
        with contextlib.suppress(KeyboardInterrupt):
            for i in monit.loop(args.steps):
                actions = rng.integers(games.single_action_space.n, size=n)
                observations, rewards, *_, infos = games.step(actions)
                steps += n

                # The image shows what each agent saw when it last scored.
                scored = rewards > 0
                seen[scored] = observations[scored]
                if "episode" in infos:
                    ended = infos["_episode"]
                    points = infos["episode"]["r"][ended]
                    scores += points.tolist()
                    tracker.add("reward", points.mean())
                    tracker.add("length", infos["episode"]["l"][ended].mean())
                if i % 10 == 0:
                    speed = steps / (time.perf_counter() - start)
                    tracker.save(steps, {"steps per second": speed})
        speed = steps / (time.perf_counter() - start)

    # An older picture stays until the new one is whole.
    with open("game.png.part", "wb") as file:
        file.write(draw(seen))
    os.replace("game.png.part", "game.png")

    print(f"\n{steps:,} steps of {n} games, {len(scores)} episodes")
    if scores:
        print(f"score: mean {np.mean(scores):.2f}, best {max(scores):.0f}")
    else:
        print("score: no game has ended")
    print(f"{speed:,.0f} steps/s, {4 * speed:,.0f} frames/s")


def draw(observations):
    """Return an image of `observations`, `(games, 4, 84, 84)`, as a PNG."""
    image = np.vstack([np.hstack(stack) for stack in observations])
    image = image.repeat(2, axis=0).repeat(2, axis=1)  # twice as large
    return cv2.imencode(".png", image)[1]


if __name__ == "__main__":
    main()
