# SPDX-License-Identifier: MIT
"""
# Atari games for an agent

An *agent* is a program that chooses the buttons and learns from the points.
DQN ([Mnih et al. 2015](https://doi.org/10.1038/nature14236)) was the first
agent to learn dozens of Atari games from their pictures, and what it saw
became the custom. [One file](game.py) to copy:

- `Game` is one Atari game: four gray pictures at a time.
- `Worker` is a game in a process of its own, behind a pipe.
- `Games` is many games at once, a Gymnasium vector environment.

```python
from game import Game

game = Game(seed=0)
obs_4 = game.reset()  # uint8 (4, 84, 84)
for _ in range(1000):
    action = game.env.action_space.sample()  # your agent's
    obs_4, reward, done, episode_info = game.step(action)
```

![Eight rows of four gray pictures: what the agents of eight games saw when
they last scored.](site/game.png "What `python game.py` leaves: a row for each
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
import io
import math
import multiprocessing
import numbers
import operator
import os
import pickle
import selectors
import signal
import sys
import time
import traceback
import types
import warnings
from collections.abc import Callable
from multiprocessing import connection, forkserver, util
from multiprocessing.context import BaseContext
from typing import Any, Literal, NamedTuple, SupportsIndex

import ale_py
import cv2
import gymnasium as gym
import numpy as np
from gymnasium.vector.utils import CloudpickleWrapper, batch_space
from numpy.typing import ArrayLike, NDArray

# ## One game


class Game:
    """
    One Atari game, the way DQN saw it.

    1. It may begin with [no-op frames](#how-a-game-begins): `noop_max`.
    2. [FIRE](#how-a-game-begins) may start the play: `fire_on_reset`.
    3. An action is [held for four frames](#one-step): `action_repeat`.
    4. Of the last two frames [the brighter pixels](#one-step) are kept.
    5. They become a [gray picture](#small-and-gray): `size`, `grayscale`.
    6. Four pictures are [an observation](#the-stack): `stack`.
    7. A [reward](#one-step) may become its sign: `clip_reward`.
    8. A [lost life](#what-ends-an-episode) may end an episode: `on_life_loss`.
    9. The [next episode](#the-end-of-an-episode) begins within the same step.

    By default 1, 2 and 7 are off; [training](#how-to-train) turns them on. A
    returned array is the caller's, and never changes later.

    Attributes:
        env: The Gymnasium environment; `env.action_space` is `Discrete`.
        meanings: The names of its actions.
        final_obs: The last observation of the episode that ended last, or
            `None`.
        terminated: Whether that episode was ended by the game or by a lost
            life; a limit on the frames leaves it false.

    The options are attributes, too, and can't be assigned.
    """

    # #### The options of a game, and what it keeps of them
    def __init__(
        self,
        seed: SupportsIndex,
        env_id: str = "BreakoutNoFrameskip-v4",
        *,
        on_life_loss: Literal["restart", "continue", "ignore"] = "restart",
        noop_max: int = 0,
        fire_on_reset: bool = False,
        clip_reward: bool = False,
        action_repeat: int = 4,
        stack: int = 4,
        size: tuple[int, int] = (84, 84),
        grayscale: bool = True,
        **emulator: Any,
    ):
        """Create a game. Call `reset` to start it.

        The list of arguments links to the code where each acts. The defaults
        make the plainest game; agents are mostly trained with [other
        settings](#how-to-train).

        Args:
            seed: Any non-negative integer.
            env_id: The id of an Atari title. `BreakoutNoFrameskip-v4`,
                `Breakout-v4` and `ALE/Breakout-v5` are the same game; only
                the last one has [sticky actions](#how-to-train).
            on_life_loss: [What a lost life does](#what-ends-an-episode).
            noop_max: Most [frames without a
                button](#how-a-game-begins) at the start of a game.
            fire_on_reset: Whether [FIRE is pressed](#how-a-game-begins)
                before an episode.
            clip_reward: Whether [a reward becomes its sign](#one-step).
            action_repeat: [Frames in a step](#one-step).
            stack: [Pictures in an observation](#the-stack).
            size: Height and width of [a picture](#small-and-gray), in pixels.
            grayscale: Whether pictures are gray; otherwise they are RGB.
            emulator: Options of Gymnasium's `AtariEnv`: `full_action_space`
                (all 18 actions, or 9 in two titles), `mode`, `difficulty`,
                `repeat_action_probability`, `max_num_frames_per_episode`,
                `render_mode` ("human" opens a window).

        Raises:
            ValueError, TypeError: An option is wrong, or the id isn't that of
                an Atari title.
            gymnasium.error.Error: The id is unknown.
        """
        # Each becomes an attribute that can only be read, such as
        # `self.stack`. NumPy's numbers become Python's.
        set_options(
            self,
            on_life_loss=on_life_loss,
            noop_max=noop_max,
            fire_on_reset=fire_on_reset,
            clip_reward=clip_reward,
            action_repeat=action_repeat,
            stack=stack,
            size=size,
            grayscale=grayscale,
        )
        self._seed: int | None = check_number("seed", seed)

        # The emulator is ALE (Bellemare et al. 2013). Gymnasium is the
        # interface to it that learning programs share. Whatever the id says,
        # this environment plays one frame at a time.
        self.env = make_env(env_id, emulator)
        self._ale = self.env.unwrapped.ale
        self.meanings = self.env.unwrapped.get_action_meanings()
        self._actions = [
            getattr(ale_py.Action, name) for name in self.meanings
        ]

        # A deque drops its oldest picture when a new one comes. It is empty
        # until `reset`.
        self._pictures = collections.deque(maxlen=self.stack)
        self._lives = 0
        self._score = 0.0
        self._length = 0  # in steps
        self.terminated = False
        self.final_obs = None

    # ### One step
    #
    # The console draws 60 frames a second. Choosing an action for each of them
    # would be four times the work, so an action is held for four.
    #
    # The agent sees the last two of them. The console can draw only a few
    # objects at a time, and many titles draw some on even frames and the rest
    # on odd ones. The brighter of two frames, pixel by pixel, has them all. A
    # few titles would need more: Pac-Man draws one of its four ghosts in each
    # frame, so a picture shows two of them.

    # What a step returns: `obs_4, reward, done, episode_info`.
    Step = tuple[NDArray, float, bool, dict | None]

    def step(self, action: SupportsIndex) -> Step:
        """Hold an action for four frames.

        Args:
            action: An index into `meanings`.

        Returns:
            obs_4: `uint8 (4, 84, 84)`, oldest picture first. If `done` is
                true, it is the first observation of the next episode.
            reward: The points of these frames, or their sign.
            done: Whether the episode is over.
            episode_info: `None` unless a new game has started. Then a dict of
                the game before: its `"reward"`, its `"length"` in steps, and
                whether a limit has `"truncated"` it.

        Raises:
            ValueError: The action isn't one of the game's. Nothing has moved.
            ResetNeeded: Call `reset` first.
        """
        check_step(self, action)
        reward = 0.0
        before_last = None
        for frame in range(1, self.action_repeat + 1):
            # The emulator, `_ale`, plays a frame and returns its points.
            reward += self._ale.act(self._actions[action])

            # Lives are read after every frame. If they were read once a step,
            # one lost and one won would cancel out. What a lost life does is
            # an option.
            lives = self._ale.lives()
            life_lost = lives < self._lives
            self._lives = lives
            ended_by_life = life_lost and self._life_ends_episode()
            game_over = self._ale.game_over()
            done = ended_by_life or game_over
            if done:
                break
            if frame == self.action_repeat - 1:
                before_last = self.screen()  # (210, 160)

        # If the episode ends before the fourth frame, `before_last` is `None`,
        # and the picture shows the last screen alone.
        screen = self.screen()
        if before_last is not None:
            np.maximum(before_last, screen, out=screen)
        self._pictures.append(self.shrink(screen))  # (84, 84)

        # Titles differ widely in their points. With the signs of rewards, one
        # learning rate serves all titles (Mnih et al. 2015). The score stays
        # raw.
        self._score += reward
        self._length += 1
        if self.clip_reward:
            reward = float(np.sign(reward))  # from NumPy's float to Python's
        episode_info = None
        if done:
            episode_info = self._end_episode(ended_by_life, game_over)
        # After `_end_episode` this is the next episode's first observation.
        return self.observe(), reward, done, episode_info

    # ### Small and gray
    #
    # A screen has 33,600 pixels in 128 colors. DQN took the brightness alone,
    # and resized it to what a network of its day could process. Each new pixel
    # is the mean of the area that it covers: picking single pixels would lose
    # thin objects.
    def screen(self) -> NDArray:
        """Return the screen: `uint8 (210, 160)`, in some titles higher."""
        if self.grayscale:
            return self._ale.getScreenGrayscale()
        return self._ale.getScreenRGB()

    def shrink(self, screen: NDArray) -> NDArray:
        """Resize a screen to `size`."""
        height, width = self.size
        return cv2.resize(
            screen, (width, height), interpolation=cv2.INTER_AREA
        )

    # ### The stack
    #
    # One picture shows where the ball is, not where it is going. The last
    # four, a fifth of a second, show both.
    def observe(self) -> NDArray:
        """Return the stack as an observation, `(4, 84, 84)`."""
        return np.array(self._pictures)

    # ### Turn the options
    #
    # `action_repeat`, `stack` and `size` decide what an agent sees. Play
    # Breakout at 42×42, with single pixels picked and without the maximum: how
    # often is the ball gone from all four pictures? And what is left of
    # Asteroids without the maximum?
    #
    # ![The last eight frames of a game, and the four pictures that are made of
    # them.](site/figures/workbench.png "Real frames, and what an agent sees of
    # them. Below is the call that makes these pictures.")

    # ### What ends an episode
    #
    # Losing a life costs no points, so the reward doesn't show it. The usual
    # remedy is to end the episode with the life, which tells the agent that no
    # more rewards follow.
    #
    # |A lost life|`done`|`episode_info`|Score runs on|New game|
    # |---|---|---|---|---|
    # |`"restart"`|true|a dict|no|yes|
    # |`"continue"`|true|`None`|yes|no|
    # |`"ignore"`|false|`None`|yes|no|
    #
    # At the end of a game all three return true and a dict, and start a new
    # one. labml.ai's module restarts; Baselines, CleanRL, SB3 and EnvPool
    # continue; [Machado et al. (2018)](https://arxiv.org/abs/1709.06009)
    # advise to ignore.
    def _life_ends_episode(self):
        """Return whether the life that was just lost ends the episode."""
        if self.on_life_loss == "continue":
            # After the last life some titles, such as Atlantis, go on for
            # seconds in which the agent can do nothing. That would be a
            # useless episode, so here the end of the game ends the episode.
            return self._lives > 0
        return self.on_life_loss == "restart"

    # ### The end of an episode
    def _end_episode(self, ended_by_life, game_over):
        """Begin the next episode; return the `episode_info` of this one."""
        # By default a game is limited to 108,000 frames, half an hour. A game
        # that this limit ends is truncated, not terminated: learners estimate
        # its missing rewards from its last observation, `final_obs`.
        game_lost = self._ale.game_over(with_truncation=False)
        truncated = game_over and not game_lost
        self.terminated = ended_by_life or not truncated
        self.final_obs = self.observe()
        episode_info = None
        if game_over or self.on_life_loss == "restart":
            episode_info = {
                "reward": self._score,
                "length": self._length,
                "truncated": truncated,
            }
            self._start_game()
        self._begin_episode()
        return episode_info

    # ### How a game begins
    def reset(self, seed: SupportsIndex | None = None) -> NDArray:
        """Start a new game.

        Args:
            seed: After a reset with a seed, the same actions give the same
                results. With `None` the game continues with its random
                numbers; the first reset takes the constructor's seed.

        Returns:
            The first observation, `uint8 (4, 84, 84)`: one picture four times.

        Raises:
            ValueError, TypeError: The seed is wrong.
        """
        seed = self._seed if seed is None else check_number("seed", seed)
        self._start_game(seed)
        self._begin_episode()
        self._seed = None
        return self.observe()

    def _start_game(self, seed=None):
        """Reset the emulator, and play the no-op frames."""
        # Ctrl-C may interrupt what follows. Until the stack is filled again,
        # `step` raises `ResetNeeded`, so no stack mixes two games.
        self._pictures.clear()
        self.env.unwrapped.reset(seed=seed)
        self._score = 0.0
        self._length = 0

        # Without no-op frames every game would begin in the same way. As in
        # Gymnasium, their number is random. A few titles have no NOOP.
        if self.noop_max == 0 or self.meanings[0] != "NOOP":
            return
        rng = self.env.unwrapped.np_random
        for _ in range(rng.integers(1, self.noop_max + 1)):
            action = self.start_action(rng)
            self._score += self._ale.act(self._actions[action])
            # A small `max_num_frames_per_episode` may end the game already. As
            # in Gymnasium, it is reset with the same seed, and the rest of the
            # no-op frames follow.
            if self._ale.game_over():
                self.env.unwrapped.reset(seed=seed)
                self._score = 0.0

    def start_action(self, rng: np.random.Generator) -> SupportsIndex:
        """Return NOOP, action 0; a subclass may sample another one."""
        return 0

    def _begin_episode(self):
        """Press FIRE, count the lives, and fill the stack."""
        # Breakout waits for FIRE to serve the ball. The points of these frames
        # count in the score, as on the console. They belong to no step, so
        # they are in no reward.
        if self.fire_on_reset and "FIRE" in self.meanings:
            for _ in range(self.action_repeat):
                self._score += self._ale.act(ale_py.Action.FIRE)
        self._lives = self._ale.lives()

        # Pictures of two episodes in one stack would look like motion.
        picture = self.shrink(self.screen())
        self._pictures.extend([picture] * self.stack)

    # ### What else is known
    def render(self) -> NDArray[np.uint8]:
        """Return the screen in color, `(height, 160, 3)`."""
        return self._ale.getScreenRGB()

    def info(self) -> dict[str, Any]:
        """Return the number of lives; a subclass may add numbers and arrays.

        `Games` returns them in its infos.
        """
        return {"lives": self._lives}


# ## A game in another process
#
# In most Pythons only one thread runs at a time. Games that are to play at the
# same time need processes, called *workers*. A *pipe* joins each worker to its
# *parent*, the program that started it.
BREAKOUT = "BreakoutNoFrameskip-v4"  # what is played by default


def worker_process(
    remote: connection.Connection,
    seed: SupportsIndex,
    env_id: str = BREAKOUT,
    make: Callable | None = None,
    **options: Any,
) -> None:
    """Play a game in this process, for the program at the other end of a pipe.

    A message is answered with what the game returns, or with its error:

    - `("step", action)`: with `obs_4, reward, done, episode_info`.
    - `("reset", seed)`: with `obs_4`. The seed may be `None`.
    - `("render", None)`: with the screen in color.
    - `("close", None)`: not answered. The process ends, as it does when its
      parent ends.

    Args:
        remote: This process's end of the pipe.
        seed, env_id, options: As for `Game`.
        make: Called as `make(seed, env_id, **options)`; returns a game with
            `step`, `reset` and `render`. If it has a method `close`, too, that
            is called at the end. `None` means `FastGame`, which plays as
            `Game` does, faster.
    """
    make = make or FastGame
    game = None
    prepare_process()
    for message in messages(remote):  # bytes, until the parent ends
        try:
            command, data = pickle.loads(message)
            if command == "close":
                break
            # The game is made here, so that an error while it is made is sent
            # back, too.
            if game is None:
                game = make(seed, env_id, **options)
            answer = pickle.dumps(run_command(game, command, data))
        except Exception as error:
            # In the parent, unpickling this answer raises the error.
            answer = pickle.dumps(RemoteError(error))
        send(remote, answer)
    if game is not None:
        close_games([game])


class Worker:
    """
    A game in a process of its own.

    `child.send(("step", action))` sends a command. `child.recv()` returns what
    `Game.step` returns. If the game has raised an error, `recv` raises it when
    it unpickles the answer. If the process has died, both raise `EOFError` or
    an `OSError`. To end it, call `close`, or `process.kill`: it is deaf to
    Ctrl-C and to SIGTERM.

    Attributes:
        child: The parent's end of the pipe, a `Connection`.
        process: The `multiprocessing.Process`.
    """

    def __init__(
        self,
        seed: SupportsIndex,
        env_id: str = BREAKOUT,
        *,
        context: str | BaseContext | None = None,
        make: Callable | None = None,
        **options: Any,
    ):
        """Start a process that plays a game.

        Args:
            seed, env_id, options: As for `Game`, with its defaults.
            context: A start method's name or a context of `multiprocessing`;
                `None`: forkserver where there is one.
            make: Any callable that makes a game, as for `worker_process`; a
                lambda or a class of a notebook, too. Its options must be those
                that `pickle` can send.

        Raises:
            RuntimeError: The process couldn't be started. A wrong option is
                raised by the first `child.recv()`.
        """
        ctx = find_context(context)
        with start_errors():
            self.child, remote = make_pipe(ctx)
            # Python ends a *daemon* process when the program exits.
            self.process = ctx.Process(
                target=worker_process,
                args=(remote, seed, env_id, Sendable(make)),
                kwargs=options,
                daemon=True,
            )
            self.process.start()
        # Now only the worker has its end open: if it dies, the pipe breaks.
        remote.close()
        # A function that ends the process. Python also calls it when this
        # object is deleted, and at exit.
        self._end = finalizer_of(self)

    def close(self) -> None:
        """End the process, in whatever state it is; may be called twice.

        The worker closes its game, and writes what is buffered. If it still
        runs after a second, it is killed.
        """
        self._end()

    # `with Worker(0) as worker:` calls `__enter__`, and at its end `__exit__`.
    # An object that has both is called a *context manager*.
    def __enter__(self) -> "Worker":
        return self

    def __exit__(self, *_):
        self.close()


# ## How to train
#
# An agent learns from many games at once. `games = Games(8)` has the calls of
# a Gymnasium vector environment: `obs, infos = games.reset()`, and then, for
# each step, `obs, rewards, terminated, truncated, infos =
# games.step(actions)`.
#
# The learner here is [PPO](examples/ppo.py): it learns from what many games
# have just played, while DQN needs a memory of a million pictures, 7 GB, from
# which it learns again and again. Their networks differ in the last layer.
#
# ![A step of Game, and the layers of the network, each with the shape of what
# it returns.](site/figures/layers.svg "What becomes of a step. In
# place of the last two layers, DQN has one, with a value for each button.")
#
# Most agents are trained with the settings below. `Games` has them by default.
# `Game` and `Worker` have the defaults of labml.ai's module, so that its PPO
# runs on them. Play an agent that was trained on `Games` with `Game(seed,
# **TRAINING)`.
#
# If you publish new results, take `"ignore"` and an id with *sticky actions*,
# such as `"ALE/Breakout-v5"`: now and then the console repeats the previous
# action (Machado et al. 2018).
TRAINING: dict[str, Any] = dict(
    on_life_loss="continue",  # what a lost life does to the episode
    noop_max=30,  # a game begins with 1 to 30 no-op frames
    fire_on_reset=True,  # FIRE is held for a step before each episode
    clip_reward=True,  # a reward becomes -1, 0 or 1; the score stays raw
)


# The tutorial ends here. What follows makes games fast and workers safe, and
# plays many games at once.
#
# How a worker is replaced is told under [Many games](#many-games). The first
# question is another one: how can a single game be faster, if each of its
# pictures has to stay the same to the last bit?


# ## The same game, faster
class FastGame(Game):
    """
    A `Game` that plays the same, faster; what `Worker` and `Games` play.
    """

    # The screen that was resized last, and its picture.
    _last = (np.empty(0), np.empty(0))

    # ### Resizing what has changed
    #
    # Every 5 of the 210 rows of a screen become exactly 2 of the 84 rows of a
    # picture. So a screen consists of 42 bands of 5 rows. Only bands in which
    # something has changed are resized, all together as one strip, which makes
    # a step 1.07 times as fast.
    def shrink(self, screen: NDArray) -> NDArray:
        """Resize a screen to `size`, as `Game` does."""
        height, width = self.size
        rows = len(screen)
        last_screen, last_picture = self._last
        # When OpenCV enlarges, it looks across the borders of bands.
        enlarges = height > rows or width > screen.shape[1]
        if enlarges or screen.shape != last_screen.shape:
            picture = super().shrink(screen)
        else:
            # The strip has the rows of all changed bands. Resized, they are
            # the same bands of the picture.
            bands = math.gcd(rows, height)
            changed = (screen != last_screen).reshape(bands, -1).any(1)
            strip = screen[changed.repeat(rows // bands)]
            picture = last_picture.copy()
            if len(strip) > 0:
                parts = changed.repeat(height // bands)
                size = (width, len(strip) * height // rows)
                picture[parts] = cv2.resize(
                    strip, size, interpolation=cv2.INTER_AREA
                )
        # One assignment: Ctrl-C must not leave one without the other. Copies,
        # since a subclass may write into its arrays.
        self._last = (screen.copy(), picture)
        return picture.copy()


# ## How processes start, wait and end
#
# ### Starting
#
# A fork copies the program with the locks that its threads hold at that
# moment, PyTorch's among them, and then may wait for one forever. A
# *forkserver* is a process that is forked in its place. It has no threads, if
# it imports nothing that starts one.
def find_context(name) -> Any:
    """Return a context of `multiprocessing`: forkserver, if there is one."""
    if isinstance(name, BaseContext):
        return name
    methods = multiprocessing.get_all_start_methods()
    if name is None and "forkserver" in methods:
        name = "forkserver"
        # Newer Pythons let the server import the program. Here it doesn't,
        # unless the program has said itself what the server should import.
        if forkserver._forkserver._preload_modules == ["__main__"]:
            multiprocessing.set_forkserver_preload([])
    return multiprocessing.get_context(name)


WHY_NOT_STARTED = (
    "Likely reasons: the main guard is missing, the program comes from"
    " standard input, a class can't be imported, a file was edited, an import"
    ' starts a thread (then context="spawn" helps), or a limit on processes,'
    " files or memory is reached"
)


class StartError(RuntimeError):
    """A process couldn't be started."""


@contextlib.contextmanager
def start_errors():
    """Say what is likely when the system can't start a process."""
    try:
        yield
    except (OSError, EOFError, AssertionError) as error:
        raise_own(error)
        raise StartError(
            f"a worker could not be started: {error!r}. {WHY_NOT_STARTED}"
        ) from error


def raise_own(error):
    """Raise an error again if a signal handler of the program has raised it.

    Of all functions in its traceback, only a handler was called with the frame
    that it has interrupted.
    """
    for frame, _ in traceback.walk_tb(error.__traceback__):
        # A look at the locals of a frame that handles an error keeps both,
        # and what else is in it, until the garbage collection.
        if frame.f_globals is globals():
            continue
        for value in frame.f_locals.values():
            values = value if isinstance(value, tuple) else (value,)
            if any(isinstance(one, types.FrameType) for one in values):
                raise error


def make_pipe(ctx):
    """Return the parent's end of a pipe, and the worker's."""
    child, remote = ctx.Pipe()
    # A forked process has a copy of the parent's end, and closes it. Without
    # that, a worker would never notice that an interruption of the parent has
    # left it alone.
    util.register_after_fork(child, type(child).close)
    return child, remote


class Sendable(CloudpickleWrapper):
    """`make`, or `FastGame`, so that it can be sent to a process.

    `pickle` sends only the name of a class. Cloudpickle sends the class itself
    if it can't be imported.
    """

    def __init__(self, make):
        super().__init__(make or FastGame)

    def __call__(self, *args, **options):
        return self.fn(*args, **options)


def prepare_process():
    """Set what a process inherits as a worker needs it."""
    # A forked process inherits the program's signal handlers, which mustn't
    # run here: one of them may write a checkpoint.
    for number in signal.valid_signals():
        if callable(signal.getsignal(number)):
            signal.signal(number, signal.SIG_DFL)
    # Ctrl-C in a terminal, and SIGTERM of a batch system, reach all processes
    # of a program, but the parent decides what happens then.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)

    # After a fork all workers would have the same state of `np.random`.
    np.random.seed()

    # OpenCV's own threads would compete with the other workers for the cores.
    cv2.setNumThreads(0)

    # On Linux a process that wakes up may interrupt another one: here the
    # parent, which has just woken it, and would have to wait until the worker
    # has played. Under `SCHED_BATCH` it interrupts no other process.
    with contextlib.suppress(AttributeError, OSError):
        if os.sched_getscheduler(0) == os.SCHED_OTHER:
            os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))


def end_of_parent():
    """Return what a selector finds when the parent has ended."""
    # All processes that the program forks inherit its end of the pipe, and of
    # `sentinel`. So these break only when the last of them has ended. On Linux
    # a *pidfd* tells when the parent itself has ended.
    parent = multiprocessing.parent_process()
    with contextlib.suppress(AttributeError, OSError):
        return os.pidfd_open(parent.pid)
    return parent.sentinel


# ### Sending and waiting
#
# It takes longer to wake up a process that sleeps than to send it a message.
# So a process that waits first polls for a short time, which is called
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


def messages(remote):
    """Yield the messages that arrive, until the pipe or the parent ends.

    They are bytes: `remote.recv` and `remote.send` would make a special
    pickler for each, which is slower.
    """
    # `remote.poll()` makes a selector for each call, which is slower.
    inbox = selectors.DefaultSelector()
    inbox.register(remote, selectors.EVENT_READ)
    inbox.register(end_of_parent(), selectors.EVENT_READ)
    with contextlib.suppress(EOFError, OSError):
        while wait_for(inbox) == [remote]:
            yield remote.recv_bytes()


def send(remote, message):
    """Send bytes. If the pipe is broken, `messages` ends next."""
    with contextlib.suppress(OSError):
        remote.send_bytes(message)


def run_command(game, command, data):
    """Call a method of the game; return what it returns."""
    if command == "render":
        return game.render()
    if command in ("reset", "step"):
        return getattr(game, command)(data)
    raise NotImplementedError(f"unknown command {command!r}")


# ### An error on its way
#
# Python writes up to 16,384 bytes to a pipe at once. A longer error is cut, so
# that a worker that is stopped has sent all of it or nothing.
LONGEST = 5000  # bytes of an error, of its words, and of its traceback


class RemoteError:
    """An error that is raised where it is unpickled, by `raise_error`."""

    def __init__(self, error):
        text = "".join(traceback.format_exception(error))
        words = "".join(traceback.format_exception_only(error)).strip()
        # A letter may have several bytes.
        text = text.encode(errors="replace")[-LONGEST:]
        words = words.encode(errors="replace")[:LONGEST]
        self._text = text.decode(errors="ignore")
        self._words = words.decode(errors="ignore")
        self._pickled = b""
        with contextlib.suppress(Exception):
            self._pickled = pickle.dumps(error)

    def __reduce__(self):
        pickled = self._pickled if len(self._pickled) < LONGEST else b""
        return raise_error, (pickled, self._words, self._text)


def raise_error(pickled, words, text):
    """Raise an error; its cause is the traceback of the other process."""
    # Some errors can't be pickled, some can't be unpickled here, and some are
    # unpickled as something else.
    error = None
    with contextlib.suppress(Exception):
        error = pickle.loads(pickled)
    if not isinstance(error, Exception):
        error = RuntimeError(words)
    raise error from RuntimeError(f"in the worker:\n{text}")


# ### Ending
GRACE = 1.0  # seconds more, for workers that are late or closing
END_TIMEOUT = 5.0  # seconds, for the system to end a process
SERVER_LOST = 255  # exit code of all workers of a forkserver that has ended


def finalizer_of(worker):
    """Return a function that ends the worker's process.

    It is also called when the worker is deleted, and at exit, where Python
    would wait forever for a suspended process.
    """
    # It holds the parts of the worker: if it held the worker itself, this
    # would never be deleted.
    ends = types.SimpleNamespace(child=worker.child, process=worker.process)
    return util.Finalize(worker, end_workers, args=[[ends]], exitpriority=0)


def end_workers(workers):
    """End workers, in whatever state they are; they have a second together."""
    deadline = time.monotonic() + GRACE
    try:
        asked = [worker for worker in workers if ask_to_end(worker.child)]
        for worker in workers:
            worker.process.join(max(0, deadline - time.monotonic()))
    finally:  # also after Ctrl-C
        # This ends a process that is stopped or hangs, too.
        for worker in workers:
            worker.process.kill()
    for worker in workers:
        process = worker.process
        process.join(END_TIMEOUT)
        # SIGTERM of a batch system ends the forkserver. Nobody else can tell
        # whether this process has ended, and Python sends it no signal.
        if worker in asked and process.exitcode == SERVER_LOST:
            with contextlib.suppress(OSError, AttributeError):
                os.kill(process.pid, signal.SIGKILL)


def ask_to_end(child):
    """Ask a worker to end, and close its pipe; return whether it lives."""
    # After a fork other workers may hold a copy of this end of the pipe. Then
    # the worker wouldn't notice that it is closed.
    try:
        if os.name != "nt":  # a pipe that is full mustn't block
            os.set_blocking(child.fileno(), False)
        child.send(("close", None))
    except OSError as error:
        raise_own(error)
        return isinstance(error, BlockingIOError)
    finally:
        child.close()
    return True


def close_games(games):
    """Close those that can be closed, such as one that writes a file."""
    # One whose `close` raises an error doesn't keep others open.
    with contextlib.ExitStack() as stack:
        for game in games:
            if hasattr(game, "close"):
                stack.callback(game.close)


# ## Checking the input
#
# A wrong argument is an error at the call that got it, and changes nothing.
GAME_OPTIONS: Any = Game.__init__.__kwdefaults__  # with their defaults
EMULATOR_OPTIONS = (
    "full_action_space",
    "repeat_action_probability",
    "mode",
    "difficulty",
    "max_num_frames_per_episode",
    "render_mode",
)


# What other libraries call an option, in a call or as a wrapper, by its name
# here. The reference's table is made from this one.
OTHER_NAMES = {
    "action_repeat": "frame_skip frameskip MaxAndSkipEnv SkipFrames"
    " MaxBetweenFrames",
    "stack": "frame_stack num_stack stack_num FrameStack QueueFrames"
    " FrameStackObservation",
    "size": "screen_size img_height img_width WarpFrame ImagePreprocessing",
    "grayscale": "grayscale_obs gray_scale obs_type WarpFrame",
    "on_life_loss": "terminal_on_life_loss episodic_life episodic_life_loss"
    " episode_life EpisodicLifeEnv",
    "noop_max": "noop noop_reset_max NoopResetEnv",
    "fire_on_reset": "fire_reset use_fire_reset FireResetEnv",
    "clip_reward": "clip_rewards reward_clip reward_clipping ClipRewardEnv",
    "repeat_action_probability": "action_repeat_probability"
    " sticky_action_prob StickyActionEnv",
    "max_num_frames_per_episode": "max_episode_steps",
    "processes": "num_threads SubprocVecEnv AsyncVectorEnv ParallelEnvBatch"
    " DummyVecEnv SyncVectorEnv EnvBatch",
    "several `Games` in turn": "batch_size",
    "a subclass with an `observe` of its own": "scale scale_obs",
    "a subclass with a `start_action` of its own": "StartWithRandomActions",
    '`infos["episode"]`': "RecordEpisodeStatistics Monitor",
}
LARGEST = 2**31 - 1  # of ALE's numbers


def require(condition, expected, got):
    """Raise a `ValueError` that says what was expected, unless `condition`."""
    if not condition:
        raise ValueError(f"expected {expected}, got {got!r}")


def check_bool(name, value):
    """Refuse what isn't a bool; `"False"` would count as true."""
    is_bool = isinstance(value, (bool, np.bool_))
    require(is_bool, f"{name} to be True or False", value)


def check_number(name, value, least=0):
    """Return `value` as an `int`, which must be at least `least`."""
    message = f"expected {name} as an integer, got {value!r}"
    if isinstance(value, bool):
        raise TypeError(message)
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(message) from None
    require(number >= least, f"{name} of at least {least}", value)
    return number


def is_real(value):
    """Return whether a value is a real number, and not a bool."""
    return isinstance(value, numbers.Real) and not isinstance(value, bool)


def set_options(game, **options):
    """Check the options of a `Game`, and set them."""
    modes = ["restart", "continue", "ignore"]
    mode = options["on_life_loss"]
    require(mode in modes, f"on_life_loss in {modes}", mode)
    for name in ("fire_on_reset", "clip_reward", "grayscale"):
        check_bool(name, options[name])
    for name, least in dict(noop_max=0, action_repeat=1, stack=1).items():
        options[name] = check_number(name, options[name], least)
    size = options["size"]
    require(np.shape(size) == (2,), "size as (height, width)", size)
    options["size"] = tuple(check_number("size", n, 1) for n in size)
    for name, value in options.items():
        setattr(game, f"_{name}", value)


# What follows from an option is set up once, so no option can be assigned.
for option in GAME_OPTIONS:
    read = operator.attrgetter(f"_{option}")
    setattr(Game, option, property(read))


def make_env(env_id, emulator):
    """Make the Gymnasium environment of a title, of single frames."""
    for name in emulator.keys() - EMULATOR_OPTIONS:
        known = [*GAME_OPTIONS, *EMULATOR_OPTIONS]
        ours = [our for our, its in OTHER_NAMES.items() if name in its.split()]
        instead = ", ".join(ours or known)
        raise TypeError(f"unknown option {name!r}; here there is {instead}")
    check_bool("full_action_space", emulator.get("full_action_space", False))
    chance = emulator.get("repeat_action_probability", 0.0)
    is_chance = is_real(chance) and 0 <= chance <= 1
    require(is_chance, "repeat_action_probability from 0 to 1", chance)
    for name in ("mode", "difficulty", "max_num_frames_per_episode"):
        if emulator.get(name) is not None:
            small = check_number(name, emulator[name]) <= LARGEST
            require(small, f"{name} of at most {LARGEST}", emulator[name])

    # Screens are read from ALE directly, so Gymnasium is asked for its
    # cheapest observation, the console's memory. Environments that aren't
    # Atari's don't have these options.
    require(isinstance(env_id, str), "the id of an Atari title", env_id)
    make = functools.partial(gym.make, env_id, frameskip=1, obs_type="ram")
    try:
        env = make(**emulator)
    except (TypeError, ImportError) as error:
        message = f"expected the id of an Atari title, got {env_id!r}"
        raise TypeError(message) from error
    except RuntimeError:
        ale = make().unwrapped.ale
        modes = [None, *ale.getAvailableModes()]
        difficulties = [None, *ale.getAvailableDifficulties()]
        for name, known in dict(mode=modes, difficulty=difficulties).items():
            value = emulator.get(name)
            require(value in known, f"{name} in {known}", value)
        raise

    # A `Game` couldn't keep what else an id may have.
    require(
        hasattr(env.unwrapped, "ale")
        and not env.spec.max_episode_steps
        and not env.spec.additional_wrappers
        and isinstance(env.action_space, gym.spaces.Discrete),
        "the id of an Atari title, without max_episode_steps, wrappers or"
        " continuous actions",
        env_id,
    )
    return env


def check_mode(mode):
    """Return an autoreset mode of Gymnasium, which `Games` must have."""
    mode = gym.vector.AutoresetMode(mode)
    require(mode in (SAME_STEP, NEXT_STEP), "SAME_STEP or NEXT_STEP", mode)
    return mode


def check_timeout(timeout):
    """Return a number of seconds for which systems can wait."""
    can_wait = is_real(timeout) and 0 < timeout <= 1e6
    require(can_wait, "timeout of up to 1e6 seconds", timeout)
    return timeout


def check_step(game, action):
    """Check that the game was started, and that it has this action."""
    check_action(action, game.meanings)
    if not game._pictures:
        raise gym.error.ResetNeeded("call reset() before step()")


def check_action(action, meanings):
    """Return an action as a Python integer, or raise an error.

    Floats aren't accepted, not even whole ones, since they can't be used as an
    index; nor are bools.
    """
    number = action if type(action) is int else np.asarray(action).tolist()
    if type(number) is not int or not 0 <= number < len(meanings):
        names = ", ".join(meanings)
        expected = f"an integer from 0 to {len(meanings) - 1} ({names})"
        raise ValueError(f"expected {expected}, got {action!r}")
    return number


def check_batch(actions, meanings, n):
    """Return a list of `n` actions; that of a game that rests is `None`."""
    # NumPy would turn the bools of a list that has integers, too, into these.
    if not isinstance(actions, (list, tuple)):
        actions = np.asarray(actions).tolist()
    is_batch = isinstance(actions, (list, tuple)) and len(actions) == n
    require(is_batch, f"{n} actions out of {', '.join(meanings)}", actions)
    return [
        None if action is None else check_action(action, meanings)
        for action in actions
    ]


def box_of(obs):
    """Return the space of arrays like this observation."""
    plain = isinstance(obs, np.ndarray) and obs.dtype.kind in "uif"
    require(plain, "observations as an array of integers or floats", obs)
    if obs.dtype.kind == "f":
        return gym.spaces.Box(-np.inf, np.inf, obs.shape, obs.dtype)
    limits = np.iinfo(obs.dtype)
    return gym.spaces.Box(limits.min, limits.max, obs.shape, obs.dtype)


# ## Many games
#
# `Games` plays many games in a few workers. A worker that dies, for example
# because the system ran out of memory, or that doesn't answer in time, is
# *lost*. A new worker starts its games over from their seeds, and the other
# games go on.
#
# Eight workers would compete for two cores. So `Games` has a worker for each
# core, which plays a group of the games one after the other.
#
# Observations don't cross the pipes: all processes share the memory in which
# they lie.
#
# A *record* has what one game returns: `records["obs"]` are the observations
# of all games, and `records["reward"]` their rewards. Of eight games and two
# workers, the second one writes *rows* 4 to 7.
#
# ![The program sends actions through a pipe to each of two workers. These
# write what they have played into shared memory, of which the program takes a
# copy.](site/figures/pipe.svg "What crosses a pipe, and what doesn't.")


class GameGroup:
    """
    The games of one process; `worker_process` treats them as a single game.

    Its methods write all results into the records, and return nothing.

    Args:
        seeds: A seed for each game.
        env_ids: An id for each game.
        make_game: Makes a game of a seed and an id.
        rows: The slice of the records that belongs to these games.
        memory: A record for each game of all processes.
        record: The type of a record.
    """

    def __init__(self, seeds, env_ids, make_game, rows, memory, record):
        # A field of the records is an array with an item for each game.
        records = np.frombuffer(memory, record)[rows]
        self._fields = {name: records[name] for name in record.names}
        infos = self._fields["info"]
        self._infos = {name: infos[name] for name in infos.dtype.names}
        self._games = []
        # Games are also closed when the group is dropped, and at exit, but
        # never in a forked copy of the program.
        self.close = util.Finalize(
            self, close_games, args=[self._games], exitpriority=0
        )
        for seed, env_id in zip(seeds, env_ids, strict=True):
            self._games.append(make_game(seed, env_id))

    def step(self, actions):
        """Step all games but those that rest, whose action is `None`."""
        self._clear()
        fields = self._fields
        for i, action in enumerate(actions):
            if action is None:
                continue
            game = self._games[i]
            obs, reward, done, info = game.step(action)
            write("observation", fields["obs"], i, obs)
            fields["reward"][i] = reward
            if done:
                write("final_obs", fields["final_obs"], i, game.final_obs)
                fields["terminated"][i] = game.terminated
                fields["truncated"][i] = not game.terminated
            if info is not None:
                fields["game_over"][i] = True
                fields["truncated"][i] |= info["truncated"]
                fields["score"][i] = info["reward"]
                fields["length"][i] = info["length"]
            self._write_info(i)

    def reset(self, seeds):
        """Reset all games, each with its seed or `None`."""
        self._clear()
        for i, game in enumerate(self._games):
            obs = game.reset(seeds[i])
            write("observation", self._fields["obs"], i, obs)
            self._write_info(i)

    def render(self):
        """Draw the color screens of all games."""
        for i, game in enumerate(self._games):
            screen = game.render()
            self._fields["screen"][i, : len(screen)] = screen

    def _clear(self):
        """Clear the results of the previous step."""
        for name in ("reward", "terminated", "truncated", "game_over"):
            self._fields[name][:] = 0

    def _write_info(self, i):
        """Write what game i knows, if it has a method `info`."""
        if self._infos:
            info = self._games[i].info()
            if len(info) != len(self._infos):
                raise ValueError(f"expected info {[*self._infos]}, got {info}")
            for name, field in self._infos.items():
                write(f"info {name!r}", field, i, info.get(name))


def write(name, field, i, value):
    """Write a value of game i, which must be like the first game's."""
    # NumPy would repeat or cast another one in silence.
    array = np.asarray(value)
    if array.shape != field.shape[1:] or array.dtype != field.dtype:
        raise ValueError(
            f"expected {name} of {field.shape[1:]}, {field.dtype}, as the"
            f" first one, got {array.shape}, {array.dtype}"
        )
    field[i] = array


def record_type(obs, info, height):
    """Return the type of a record, which has all that a game returns."""
    infos = [(k, np.asarray(v).dtype, np.shape(v)) for k, v in info.items()]
    for name, dtype, _ in infos:
        known = dtype.kind in "biuf"
        require(known, f"info {name!r} as a number or an array", info[name])
    return np.dtype(
        [
            ("obs", obs.dtype, obs.shape),
            ("reward", np.float64),
            ("terminated", bool),
            ("truncated", bool),
            ("final_obs", obs.dtype, obs.shape),
            ("game_over", bool),
            ("score", np.float64),
            ("length", np.int64),
            ("info", infos),
            ("screen", np.uint8, (height, 160, 3)),
        ]
    )


# ### The vector environment
#
# The *autoreset mode* says when the next episode begins: under SAME_STEP in
# the step that ends the last one, under NEXT_STEP, Gymnasium's default, in the
# step after it.
if not hasattr(gym.vector, "AutoresetMode"):
    raise ImportError("game.py needs Gymnasium 1.1 or newer")
SAME_STEP = gym.vector.AutoresetMode.SAME_STEP
NEXT_STEP = gym.vector.AutoresetMode.NEXT_STEP

# What a step of many games returns.
Batch = tuple[NDArray, NDArray, NDArray, NDArray, dict]

START_TIMEOUT = 60.0  # seconds for a start or a reset, plus one per game
MOST_LOSSES = 3  # of a worker, with no end of a game since
RETRY = 0.25  # seconds until a start that has failed is tried again


class Loss(NamedTuple):
    """How a worker was lost."""

    how: str
    by_signal: bool  # whether SIGTERM to all processes may have ended it
    cause: Exception | None = None


class State(enum.Enum):
    """Which calls are allowed next; `reset` always is."""

    NEEDS_RESET = "reset"
    READY = "step, step_async, render"
    STEPPING = "step_wait"


class Games(gym.vector.VectorEnv):
    """
    Many Atari games at once: a Gymnasium vector environment.

    After an error of a game, or Ctrl-C, `step` raises `ResetNeeded` (or
    `AlreadyPendingCallError`, if a step was begun), and `reset` starts all
    workers anew. After `close` every call raises `ClosedEnvironmentError`. Use
    it in one thread at a time.

    Attributes:
        meanings: The names of the actions.
        pipes: The parent's ends of the workers' pipes.
    """

    render_mode = "rgb_array"
    single_action_space: gym.spaces.Discrete
    single_observation_space: gym.spaces.Box
    closed = True  # Gymnasium 1.1 closes what `__init__` didn't complete, too

    def __init__(
        self,
        num_envs: int,
        env_id: str | list[str] = BREAKOUT,
        *,
        seed: ArrayLike = 0,
        processes: int | None = None,
        timeout: float = 20.0,
        context: str | BaseContext | None = None,
        autoreset_mode: gym.vector.AutoresetMode | str = SAME_STEP,
        make: Callable | None = None,
        on_life_loss: Literal["restart", "continue", "ignore"] = "continue",
        noop_max: int = 30,
        fire_on_reset: bool = True,
        clip_reward: bool = True,
        **game_options: Any,
    ):
        """Make games; the first `reset` starts the processes that play them.

        Four options differ from those of `Game`: they are by default those of
        [`TRAINING`](#how-to-train).

        Args:
            num_envs: How many games.
            env_id: The id of an Atari title, or a list with one for each game.
            seed: Game i is seeded with `seed + i`, or `seed[i]` of a list.
            processes: How many play. `None`: one for each core; 0: all games
                play in this process, with the same results.
            timeout: Seconds for a step. A worker that hasn't answered one
                second later is replaced. Starts and resets get a minute or
                more.
            context: As for `Worker`.
            autoreset_mode: SAME_STEP or NEXT_STEP.
            make: Any callable, called as `make(seed, env_id, **options)`;
                `None` means `FastGame`. The first observation sets shape and
                dtype, and the first `info` its keys, too. Besides `step`,
                `reset` and `render` a game has `env`, `meanings`, `final_obs`
                and `terminated`; it may have `info` and `close`.
            on_life_loss, noop_max, fire_on_reset, clip_reward: As for `Game`.
            game_options: What else `Game` takes, such as `stack`.

        Raises:
            ValueError, TypeError: An argument is wrong, or the titles have
                different actions or observations.
            gymnasium.error.Error: An id is unknown.
        """
        self.num_envs = check_number("num_envs", num_envs, least=1)
        self.autoreset_mode = check_mode(autoreset_mode)
        self._timeout = check_timeout(timeout)
        self._start_timeout = max(timeout, START_TIMEOUT + self.num_envs)
        self._set_titles(env_id)
        self._set_seeds(seed)
        self._set_rows(processes)
        make_game = functools.partial(
            make or FastGame,
            on_life_loss=on_life_loss,
            noop_max=noop_max,
            fire_on_reset=fire_on_reset,
            clip_reward=clip_reward,
            **game_options,
        )
        self._set_spaces(make_game)
        with start_errors():
            memory = self._make_records()
            self._inbox = selectors.DefaultSelector()
        self._set_players(make_game, memory, find_context(context))
        self._owner = os.getpid()
        self._lost = {}  # a `Loss` each, by index
        self._losses = np.zeros(self.num_envs, int)  # since a game's last end
        self._state = State.NEEDS_RESET
        self.closed = False

    def _set_titles(self, env_id):
        """Take an id for each game, from one or a list of them."""
        n = self.num_envs
        self._env_ids = list(env_id) if np.ndim(env_id) == 1 else [env_id] * n
        require(len(self._env_ids) == n, f"{n} ids", env_id)

    def _set_seeds(self, seed):
        """Take a seed for each game, from one number or a list of them."""
        n = self.num_envs
        if np.ndim(seed) == 0:
            seed = [check_number("seed", seed) + i for i in range(n)]
        require(len(seed) == n, f"{n} seeds", seed)
        self._seeds = tuple(check_number("seed", one) for one in seed)
        # Gymnasium's `np_random_seed` returns these. If there were no
        # generator, its `np_random` would make one of another seed.
        self._np_random_seed = self._seeds
        self._np_random = np.random.default_rng(self._seeds)
        return self._seeds

    def _set_rows(self, processes):
        """Share the games among the processes: each has some rows.

        A *player* is a worker, or with `processes=0` a group of games in this
        process. It has an index, and its rows of the records.
        """
        processes = count_cores() if processes is None else processes
        self._processes = check_number("processes", processes)
        n = self.num_envs
        k = max(1, min(self._processes, n))
        self._rows = [slice(i * n // k, (i + 1) * n // k) for i in range(k)]

    def _set_spaces(self, make_game):
        """Make a game of each title in this process, and set the spaces.

        That also checks the ids and the options.
        """
        first = self._env_ids[0]
        self._heights = {}  # of screens, by title
        for env_id in dict.fromkeys(self._env_ids):
            game = make_game(0, env_id)
            try:
                space = box_of(game.reset())
                info = game.info() if hasattr(game, "info") else {}
                self._heights[env_id] = len(game.render())
            finally:
                close_games([game])
            if env_id == first:
                first_info = info
                repeat = getattr(
                    game, "action_repeat", GAME_OPTIONS["action_repeat"]
                )
                fps = 60 / repeat
                self.spec = game.env.spec
                self.meanings = game.meanings
                self.single_observation_space = space
                self.single_action_space = game.env.action_space
                self.metadata = {
                    "render_modes": ["rgb_array"],
                    # Gymnasium's player wants it whole.
                    "render_fps": int(fps) if fps.is_integer() else fps,
                    "autoreset_mode": self.autoreset_mode,
                }
            same_actions = game.meanings == self.meanings
            require(
                same_actions and space == self.single_observation_space,
                f"a title with the actions and observations of {first!r}"
                " (full_action_space=True makes the actions of all titles the"
                " same, but for Skiing and Lost Luggage)",
                env_id,
            )
        height = max(self._heights.values())
        self._record = record_type(space, first_info, height)
        n = self.num_envs
        self.observation_space = batch_space(self.single_observation_space, n)
        self.action_space = batch_space(self.single_action_space, n)

    def _make_records(self):
        """Make the records, in memory that processes can share.

        They can only inherit it, so it is made before them.
        """
        size = self.num_envs * self._record.itemsize
        memory = multiprocessing.RawArray("B", size)
        self._records = np.frombuffer(memory, self._record)
        info = self._records["info"]
        self._info = {name: info[name] for name in info.dtype.names or ()}
        self._all = np.ones(self.num_envs, bool)  # the mask of all games
        return memory

    def _set_players(self, make_game, memory, context):
        """Set how a player is made; the first `reset` makes them."""
        self._players = {}  # by index
        player: Callable = GameGroup
        if self._processes > 0:
            player = functools.partial(Worker, context=context, make=GameGroup)
            # If the workers are left to the end of the program, they have a
            # second together to end, not one each.
            workers = [self._players.values()]
            util.Finalize(self, end_workers, args=workers, exitpriority=1)
        self._make_player = functools.partial(
            player,
            make_game=Sendable(make_game),
            memory=memory,
            record=self._record,
        )

    def _check_open(self):
        """Raise an error if the games are closed, or the parent's."""
        if self.closed:
            raise gym.error.ClosedEnvironmentError("the games are closed")
        if os.getpid() != self._owner:  # in a forked copy of the program
            raise RuntimeError("these games belong to another process")

    def _check_ready(self):
        """Raise an error if another call has to come first."""
        self._check_open()
        if self._state is State.STEPPING:
            raise gym.error.AlreadyPendingCallError("call step_wait()", "step")
        if self._state is State.NEEDS_RESET:
            raise gym.error.ResetNeeded("call reset() first")

    @property
    def pipes(self) -> list:
        """The parent's ends of the workers' pipes, as they are now.

        For `multiprocessing.connection.wait`: a pipe is ready when its worker
        has answered, or died. With `processes=1` `step_wait` then doesn't
        wait; with 0 the list is empty.
        """
        if self._processes == 0:
            return []
        return [worker.child for _, worker in sorted(self._players.items())]

    # ### Asking all
    def reset(
        self, *, seed: ArrayLike | None = None, options: dict | None = None
    ) -> tuple[NDArray, dict]:
        """Start new games.

        Args:
            seed: A number or a list, as in the construction. With `None` the
                games continue with their random numbers. The first time, and
                after an error, Ctrl-C, or `step_async`, they start from the
                seeds that were given last, as do games whose worker has died.
            options: Must be empty.

        Returns:
            observations: `uint8 (num_envs, 4, 84, 84)`, a copy.
            infos: What each `Game.info` returns: `"lives"`, `int64
                (num_envs,)`, with the mask `"_lives"`.

        Raises:
            ValueError, TypeError: The seeds are wrong, or there are options.
            RuntimeError: A worker couldn't be started.
        """
        self._check_open()
        require(not options, "no options", options)
        seeds = [None] * self.num_envs
        if seed is not None:
            seeds = self._set_seeds(seed)
        self._losses[:] = 0
        if self._state is State.READY:
            self._ask(self._players, "reset", seeds)
            self._wait(self._start_timeout)
        else:
            self._start_all()
        self._replace_lost()
        self._last_obs = self._records["obs"].copy()
        self._state = State.READY
        return self._last_obs.copy(), self._infos()

    def _infos(self):
        """Return what the games know, as Gymnasium does.

        A key has an item for each game, and the key with a `_` in front is the
        mask of the games that have it.
        """
        infos = {}
        for name, values in self._info.items():
            infos[name] = values.copy()
            infos[f"_{name}"] = self._all.copy()
        return infos

    def step(self, actions: ArrayLike) -> Batch:
        """Step all games.

        Args:
            actions: `num_envs` integers. In a list `None` lets a game rest: it
                returns its last observation again, with reward 0. Under
                NEXT_STEP the step after an end ignores the action, and `None`,
                too.

        Returns:
            observations: `uint8 (num_envs, 4, 84, 84)`. All arrays are copies.
            rewards: `float64 (num_envs,)`, the signs of the points unless
                `clip_reward` is false.
            terminated: `bool (num_envs,)`, lost lives that end an episode
                included.
            truncated: `bool (num_envs,)`, true if a limit has ended the
                episode, or the worker was lost.
            infos: A dict of what `reset` has in it, which after an end is of
                the next episode, in both modes. In the step in which a whole
                game is over, there is `"episode"`, a dict of its raw points
                `"r"`, `float64 (num_envs,)`, and its steps `"l"`, `int64
                (num_envs,)`, with the mask `"_episode"`. Under SAME_STEP there
                is the `"final_obs"` of ended episodes, with the mask
                `"_final_obs"`. If a worker was lost, `"restarted"` is the mask
                of its games. Their final observation is the one that was
                returned last.

        Raises:
            ResetNeeded: Call `reset` first.
            AlreadyPendingCallError: Call `step_wait` first.
            ValueError, TypeError: The actions are wrong. No game has moved.
            RuntimeError: A worker was lost too often, or couldn't be started.
            Exception: What a game has raised.
        """
        self.step_async(actions)
        return self.step_wait()

    def step_async(self, actions: ArrayLike) -> None:
        """Begin a step, and return at once if other processes play.

        Until `step_wait`, only `reset` and `close` are allowed besides it.

        Args:
            actions: As for `step`, with the same errors.
        """
        self._check_ready()
        checked = check_batch(actions, self.meanings, self.num_envs)
        if self.autoreset_mode is NEXT_STEP:
            # A game rests in the step after an end.
            ended = self._records["terminated"] | self._records["truncated"]
            for i in np.flatnonzero(ended):
                checked[i] = None
        self._ask(self._players, "step", checked)
        self._state = State.STEPPING

    def step_wait(self) -> Batch:
        """Wait for the step that was begun; return what `step` returns.

        Raises:
            NoAsyncCallError: No step was begun.
        """
        self._check_open()
        if self._state is not State.STEPPING:
            raise gym.error.NoAsyncCallError("call step_async()", "step")
        self._state = State.NEEDS_RESET
        self._wait(self._timeout)
        records = self._records  # the players have written all into them
        infos = {}
        if self._lost:
            restarted = self._replace_lost()
            infos["restarted"] = restarted
            # These games were cut short.
            records["truncated"][restarted] = True
            records["final_obs"][restarted] = self._last_obs[restarted]
        infos |= self._infos()
        observations = records["obs"].copy()
        rewards = records["reward"].copy()
        terminated = records["terminated"].copy()
        truncated = records["truncated"].copy()

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
        ended = terminated | truncated
        if self.autoreset_mode is NEXT_STEP:
            observations[ended] = records["final_obs"][ended]
        elif ended.any():
            infos["_final_obs"] = ended
            infos["final_obs"] = np.full(self.num_envs, None)
            for i in np.flatnonzero(ended):
                infos["final_obs"][i] = records["final_obs"][i].copy()
        self._last_obs[:] = observations  # a copy: the caller may change it
        self._state = State.READY
        return observations, rewards, terminated, truncated, infos

    def render(self) -> tuple[NDArray[np.uint8], ...]:
        """Return a color screen of each game, `uint8 (height, 160, 3)`.

        They are copies. Those of a lost worker are black; the next step or
        reset replaces it.
        """
        self._check_ready()
        self._ask(self._players, "render", [None] * self.num_envs)
        self._wait(self._timeout)
        self._state = State.READY
        screens = self._records["screen"]
        for index in self._lost:
            screens[self._rows[index]] = 0
        # Some titles have higher screens than others.
        return tuple(
            screen[: self._heights[env_id]].copy()
            for screen, env_id in zip(screens, self._env_ids, strict=True)
        )

    def _ask(self, indices, command, data):
        """Send a command to players, with an item of `data` for each game.

        It sets the state to NEEDS_RESET. Only a call that completes sets it
        back.
        """
        self._state = State.NEEDS_RESET
        self._awaited = set()  # whose answer hasn't come yet
        for index in indices:
            player = self._players[index]
            message = (command, data[self._rows[index]])
            if self._processes == 0:
                run_command(player, *message)
                continue
            self._awaited.add(index)
            try:
                player.child.send_bytes(pickle.dumps(message))
            except ConnectionError as error:
                raise_own(error)  # `_receive` notices a dead worker

    # ### Waiting for all
    def _wait(self, timeout):
        """Read the answers of all workers; lose those who don't answer."""
        # The clock goes on while the whole program is stopped, for example by
        # Ctrl-Z, so late workers get another moment.
        for seconds in (timeout, GRACE):
            deadline = time.monotonic() + seconds
            while self._awaited and (left := deadline - time.monotonic()) > 0:
                for pipe in wait_for(self._inbox, left):
                    self._receive(pipe)
        for index in self._awaited:
            self._lose(index, f"didn't answer within {timeout:g} s")

    def _receive(self, pipe):
        """Read the answer of a worker, or lose it if it has died."""
        index = self._inbox.get_key(pipe).data
        self._awaited.discard(index)
        try:
            answer = pipe.recv_bytes()
        except (EOFError, OSError) as error:
            raise_own(error)
            # It may still be ending. Then its exit code isn't known yet.
            self._players[index].process.join(END_TIMEOUT)
            self._lose(index, "has died")
        else:
            pickle.loads(answer)  # this raises what a game has raised

    # ### Replacing the lost
    #
    # A new process imports the program's files as they are now. If a file was
    # edited meanwhile, it may behave differently from the others.
    def _lose(self, index, how):
        """Close a worker that is late or has died."""
        worker = self._players[index]
        self._inbox.unregister(worker.child)
        # A late worker would overwrite the memory of its replacement.
        worker.process.kill()
        worker.close()
        del self._players[index]
        # The `repr` of a process has its exit code, and a name of its own.
        by_signal = worker.process.exitcode in (-signal.SIGTERM, SERVER_LOST)
        self._lost[index] = Loss(f"{how}: {worker.process!r}", by_signal)

    def _start(self, index):
        """Start a player, or note why it can't be started."""
        rows = self._rows[index]
        try:
            player = self._make_player(
                self._seeds[rows], self._env_ids[rows], rows=rows
            )
        except StartError as error:
            # SIGTERM to all processes may be ending the forkserver. Then
            # Python starts another one.
            cause = error.__cause__
            by_signal = isinstance(cause, (EOFError, ConnectionError))
            self._lost[index] = Loss(
                f"could not be started: {cause!r}", by_signal, cause
            )
            return
        self._players[index] = player
        if self._processes > 0:
            # The selector stores the index: it is part of a reference cycle,
            # in which a worker would live until the garbage collection.
            event = selectors.EVENT_READ
            self._inbox.register(player.child, event, index)

    def _reset_to_seeds(self, indices):
        """Reset the games of players that have been started."""
        self._ask(indices, "reset", self._seeds)
        self._wait(self._start_timeout)

    def _start_all(self):
        """Start new players in place of all: old ones may owe an answer."""
        self.close_extras()
        with start_errors():
            self._inbox = selectors.DefaultSelector()
        for index in range(len(self._rows)):
            self._start(index)
            self._check_start()
        self._reset_to_seeds(self._players)
        self._check_start()

    def _check_start(self):
        """Raise an error if a start has failed for good."""
        for loss in self._lost.values():
            if not loss.by_signal:
                self.close_extras()
                raise StartError(
                    f"a new worker {loss.how}; its own error is on stderr."
                    f" {WHY_NOT_STARTED}, or timeout= is short for imports"
                ) from loss.cause

    # ### The life of a lost worker
    #
    # ![A worker is killed, closed and replaced by a new one, whose games start
    # over. The other worker waits.](site/figures/lost.svg "A worker is killed
    # during a step.")
    def _replace_lost(self):
        """Start lost games over; warn, and return the mask of them."""
        restarted = np.zeros(self.num_envs, bool)
        # A replacement may be lost, too.
        while self._lost:
            lost = self._lost
            self._lost = {}
            for index, loss in lost.items():
                rows = self._rows[index]
                restarted[rows] = True
                self._losses[rows] += 1
                # A game that ends shows that its worker makes progress, so the
                # smallest count is used.
                times = self._losses[rows].min()
                words = (
                    f"the worker of games {rows.start} to {rows.stop - 1}"
                    f" {loss.how}; times in a row: {times}"
                )
                if times > MOST_LOSSES:
                    raise RuntimeError(words) from loss.cause
                warnings.warn(words, RuntimeWarning, stacklevel=3)
                if loss.cause is not None:
                    time.sleep(RETRY)
                self._start(index)
            self._reset_to_seeds(lost.keys() & self._players.keys())
        return restarted

    # ### Closing
    #
    # `Games` is a *context manager*: a `with` statement ends all processes.
    def close_extras(self, **_):
        """End all players; called by `close`, as Gymnasium has it."""
        # In a forked copy of the program they belong to the parent.
        if os.getpid() != self._owner:
            return
        self._state = State.NEEDS_RESET
        end = end_workers if self._processes > 0 else close_games
        end(self._players.values())
        self._players.clear()
        self._lost.clear()
        self._inbox.close()

    def __enter__(self) -> "Games":
        return self

    def __exit__(self, *_):
        self.close()

    def __reduce__(self):
        raise TypeError("Games can't be copied or pickled: make another one")


def count_cores():
    """Return how many cores this process may use.

    Under `taskset`, or in a container bound to some cores, that is fewer than
    the machine has. A limit on CPU time, as by `docker --cpus`, isn't seen.
    """
    if hasattr(os, "process_cpu_count"):  # Python 3.13 and newer
        return os.process_cpu_count()
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count()


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
    except (gym.error.Error, TypeError, ValueError) as error:
        parser.exit(2, f"{parser.prog}: {error}\n")

    # labml's warning that its settings file is missing is of no use here.
    with contextlib.redirect_stdout(io.StringIO()):
        try:
            from labml import lab, monit, tracker
        except ImportError:
            parser.exit(2, f"{parser.prog} needs labml: pip install labml\n")
        lab.get_path()

    # A file or a pipe gets a line every ten seconds.
    terminal = sys.stdout.isatty()
    loop = monit.loop if terminal else range
    rng = np.random.default_rng(args.seed)
    seen = np.zeros(games.observation_space.shape, np.uint8)
    scores = []
    steps = 0
    next_line = 0.0
    start = time.perf_counter()
    # After Ctrl-C the summary is about what was played so far.
    with games, contextlib.suppress(KeyboardInterrupt):
        seen, _ = games.reset()
        start = time.perf_counter()
        for i in loop(args.steps):
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
            seconds = time.perf_counter() - start
            if terminal and i % 10 == 0:
                tracker.save(steps, {"steps per second": steps / seconds})
            elif not terminal and seconds >= next_line:
                print(f"{steps:,} steps, {len(scores)} episodes", flush=True)
                next_line = seconds + 10
    speed = steps / (time.perf_counter() - start)

    print(f"\n{steps:,} steps of {n} games, {len(scores)} episodes")
    if scores:
        print(f"score: mean {np.mean(scores):.2f}, best {max(scores):.0f}")
    else:
        print("score: no game has ended")
    print(f"{speed:,.0f} steps/s, {4 * speed:,.0f} frames/s")

    # A row for each game, `(4, 84, 84)`, twice as large.
    image = np.vstack([np.hstack(stack) for stack in seen])
    image = image.repeat(2, axis=0).repeat(2, axis=1)
    if not cv2.imwrite("game.png", image):
        print("game.png can't be written")


if __name__ == "__main__":
    main()
