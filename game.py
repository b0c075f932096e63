"""
# Breakout, annotated

What does an agent see of an Atari game? What DQN saw, the first program that
learned many of these games from their screens (Mnih et al. 2015): four small
gray pictures, one for each of its last four decisions. This module makes them.
It has three parts, for three sittings: one game; many games; and what makes
them fast and safe, for whoever wonders how.

| what | type and shape | meaning |
| --- | --- | --- |
| screen | `uint8 (210, 160, 3)` | one frame in colour (some are higher) |
| observation | `uint8 (4, 84, 84)` | four pictures, the oldest first |
| action | a whole number | an index into the list of actions |
| reward | `float` | the points won in one step |
"""

import argparse
import collections
import contextlib
import math
import multiprocessing
import numbers
import operator
import os
import pickle
import selectors
import signal
import threading
import time
import traceback
from collections.abc import Callable, Sequence

# Python's own pool of processes is made with these: `pool` takes a traceback
# to another process, `util` ends processes in time.
from multiprocessing import connection, pool, util
from typing import Literal, SupportsIndex

# The emulator is the Arcade Learning Environment, ALE (Bellemare et al. 2013);
# importing `ale_py` makes its titles known to Gymnasium, the interface of
# `reset` and `step` that learning programs share. OpenCV shrinks the pictures.
import ale_py
import cv2
import gymnasium as gym
import numpy as np
from gymnasium.envs.registration import EnvSpec
from gymnasium.vector.utils import batch_space
from numpy.typing import ArrayLike, NDArray

# ## 1. What the agent sees
#
# ### Words
#
# - **title**: a cartridge, such as Breakout; Gymnasium knows 104 of ALE's.
# - **frame**: what the console draws in 1/60 of a second.
# - **step**: one decision of the agent, held for four frames.
# - **picture**: what the agent sees of one step, gray and 84×84.
# - **observation**: the pictures of the agent's last four steps.
# - **life**: most titles give a few; losing one is not yet the end.
# - **game**: what is played from one reset of the emulator to the next.
# - **episode**: what counts as one play for the agent: a game, or one life.
# - **no-op**: the action that presses nothing.
#
# Baselines, SB3, CleanRL, EnvPool and labml, from which conventions come, are
# programs of others: see [who is who](#who-is-who).
BREAKOUT = "BreakoutNoFrameskip-v4"
ACTION_REPEAT = 4  # frames to a step, 2 at least
STACK = 4  # pictures to an observation
SIZE = 84  # pixels of a picture, both ways

# What a step returns: of one game `obs_4, reward, done, episode_info`, and of
# many `observations, rewards, terminated, truncated, infos`.
Seeds = SupportsIndex | Sequence[SupportsIndex]
Step = tuple[NDArray, float, bool, dict | None]
Batch = tuple[NDArray, NDArray, NDArray, NDArray, dict]

# ### One game


class Game:
    """
    One Atari game, the way DQN saw it.

    1. Each action is held for four frames.
    2. Of the last two, in gray, the brighter pixels are kept.
    3. That is shrunk to 84×84.
    4. The agent sees the last four of these pictures.
    5. When an episode is over the next one begins, in the same step.

    `seed` is a whole number from 0 on, `env_id` the id of an Atari title or
    Gymnasium's `EnvSpec` of one. The options:

    - `on_life_loss`: `"restart"`, `"continue"` or `"ignore"`, see below;
    - `noop_max`: a game starts with 1 to `noop_max` no-op frames; 0 is none;
    - `fire_on_reset`: FIRE is pressed before an episode's first observation;
    - `clip_reward`: a step's reward becomes -1, 0 or 1.

    `env` is the Gymnasium environment, `meanings` are its actions' names.
    `step` returns the four values of labml's tutorial. Two attributes tell of
    the episode that ended last: `final_obs` is its last observation,
    `terminated` whether it was lost. Bad options raise `ValueError` or
    `TypeError`, an unknown id Gymnasium's own error.

    A subclass that overrides `screen`, `shrink`, `observe` or `start_action`
    shows something else, and `Worker` and `Games` play it by `make=`.
    """

    # #### How a game is made
    #
    # `_ale` is the emulator, whose `act` plays a frame; `_actions` are its
    # codes; `_console` resets it. For whoever asks how ids differ.
    def __init__(
        self,
        seed: SupportsIndex,
        env_id: str | EnvSpec = BREAKOUT,
        *,
        on_life_loss: Literal["restart", "continue", "ignore"] = "restart",
        noop_max: int = 0,
        fire_on_reset: bool = False,
        clip_reward: bool = False,
    ):
        # What can be checked is checked before the emulator is loaded.
        modes = list(self.MODES)
        require(on_life_loss in modes, f"one of {modes}", on_life_loss)
        self._lives_needed = self.MODES[on_life_loss]
        self._restarts = on_life_loss == "restart"
        self._seed = check_number("seed", seed)
        self._noop_max = check_number("noop_max", noop_max)
        self._clip_reward = clip_reward
        require_atari(env_id)

        # The ids of a title differ in how many frames they hold an action:
        # `…NoFrameskip-v4` one, `…-v4` two to four at random, `ALE/…-v5` four.
        # Here it is one, and `step` repeats it. Screens come from the emulator
        # itself, so the environment's own observation is the cheapest, "ram".
        self.env = gym.make(env_id, frameskip=1, obs_type="ram")
        actions = self.env.action_space
        discrete = isinstance(actions, gym.spaces.Discrete)
        require(discrete, "Discrete actions", actions)
        self.meanings = self.env.unwrapped.get_action_meanings()
        self._fires = bool(fire_on_reset) and "FIRE" in self.meanings
        first = self.meanings[0]
        require(noop_max == 0 or first == "NOOP", "NOOP as action 0", first)

        self._ale = self.env.unwrapped.ale
        self._actions = [
            getattr(ale_py.Action, name) for name in self.meanings
        ]
        self._console = Console(self.env)

        # The stack drops its oldest picture when a new one comes.
        self._stack = collections.deque(maxlen=STACK)

        # Of the game that is played, and of the episode that ended last.
        self._is_reset = False
        self._lives = 0
        self._score = 0.0
        self._length = 0
        self.terminated = False
        self.final_obs = None

    # ### Four frames, of which two are seen
    #
    # Sixty decisions a second are more than a game needs. DQN holds each
    # action for four frames, and plays four times as much for the same
    # computing.
    def step(self, action: SupportsIndex) -> Step:
        """Hold `action`, an index into `meanings`, for four frames.

        Returns `obs_4, reward, done, episode_info`:

        - `obs_4`: `uint8 (4, 84, 84)`, a copy, yours to change;
        - `reward`: the points of these four frames, or their sign;
        - `done`: an episode is over, and `obs_4` is the first of the next;
        - `episode_info`: `None`, or, if the emulator was reset, a dict of the
          game until then: its `"reward"`, never clipped, its `"length"` in
          steps, and whether it was `"truncated"`, cut short by a limit.

        Raises `ResetNeeded` before the first `reset`, and `ValueError` for an
        action that isn't one of the title's; the game is then as it was.
        """
        action = check_actions(action, self.meanings)
        if not self._is_reset:
            raise gym.error.ResetNeeded("call reset() before step()")
        held = self._actions[action]
        reward = 0.0
        for frame in range(1, ACTION_REPEAT + 1):
            reward += self._ale.act(held)

            # Lives are read after every frame: a life won and a life lost
            # within one step would cancel out.
            lives_before = self._lives
            self._lives = self._ale.lives()
            life_over = self._lives_needed <= self._lives < lives_before
            game_over = self._ale.game_over()
            if life_over or game_over:
                break
            if frame == ACTION_REPEAT - 1:
                third = self.screen()

        # The console can draw only a few objects at a time, so many titles
        # draw some of them on even frames and the others on odd ones, and the
        # glow of a television blended the two. An agent that looks at every
        # fourth frame may miss half of the world. DQN takes the brighter of
        # the last two. If the episode ends before frame 4, its last screen is
        # taken alone.
        screen = self.screen()  # (210, 160)
        if frame == ACTION_REPEAT:
            np.maximum(third, screen, out=screen)
        self._see(screen)

        # The score of the game stays raw, whatever the learner is given.
        self._score += reward
        self._length += 1
        if self._clip_reward:
            reward = float(np.sign(reward))
        done = life_over or game_over
        episode_info = None
        if done:
            episode_info = self._end_episode(life_over, game_over)
        return self.observe(), reward, done, episode_info

    # ### Small and gray
    #
    # A screen has 33,600 pixels in 128 colours. DQN took the brightness alone
    # and shrank it to 84×84, which a network of its day could take in. With
    # `INTER_AREA` each new pixel is the mean of the area it covers: a ball two
    # pixels wide fades, but it can't fall between two samples. The maximum
    # comes first, or small things would be dimmed before they are compared.
    def screen(self) -> NDArray:
        """Return the screen as it is now, in gray: `uint8 (210, 160)`."""
        return self._console.gray_screen()

    @staticmethod
    def shrink(screen: NDArray, height: int = SIZE) -> NDArray:
        """Return a screen, `(210, 160)`, as a picture, `(84, 84)`.

        A strip of a screen becomes a strip of a picture, of that `height`.
        """
        return cv2.resize(screen, (SIZE, height), interpolation=cv2.INTER_AREA)

    # ### The stack
    #
    # One picture doesn't show which way the ball flies; four of them do. They
    # are those of the last four steps, sixteen frames, and not of four frames
    # in a row.
    def _see(self, screen):
        """Put the picture of a screen on the stack."""
        # This is `self.shrink(screen)`, but faster: only [what has
        # changed](#only-what-has-changed) since the last screen is shrunk.
        picture = shrink_changes(self.shrink, screen, *self._last)
        self._last = (screen, picture)
        self._stack.append(picture)

    def observe(self) -> NDArray:
        """Return the stack as an observation, `(4, 84, 84)`, a copy."""
        return np.array(self._stack)

    # ### What ends an episode
    #
    # An agent learns sooner what to avoid if each lost life ends an episode,
    # but never that a life can be spent; Machado et al. (2018) advise against
    # it. So there are three modes:
    #
    # - `"restart"` ends the episode and starts the game over, as labml and
    #   Gymnasium do: the agent plays first lives only. It is the default, for
    #   each episode is then a game of its own: take it to learn how all this
    #   works.
    # - `"continue"` ends the episode and goes on with the same game, as
    #   Baselines and [most after them](#what-others-do) do. Take it to
    #   train.
    # - `"ignore"` ends an episode with the game alone. Take it to
    #   [evaluate](#how-to-evaluate) an agent that serves by itself.
    #
    # `MODES` says how many lives must be left for a lost life to end the
    # episode. `"continue"` needs one: without any, the episode lasts until the
    # game is over, as in Baselines. In 11 of 104 titles the game goes on
    # without a life, for 69 to 5,400 frames, and nobody wants those as an
    # episode.
    MODES = {"restart": 0, "continue": 1, "ignore": math.inf}

    def _end_episode(self, life_over, game_over):
        """Begin the next episode; return the `episode_info` of this one."""
        # The ids stop a game after 108,000 frames, half an hour (as in Hessel
        # et al. 2018). Such a game is truncated, not lost.
        game_lost = self._ale.game_over(with_truncation=False)
        self.terminated = life_over or game_lost
        self.final_obs = self.observe()

        # After a life that is one of several the game goes on.
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

    # ### FIRE first
    #
    # Breakout waits for FIRE to serve the ball, and an agent may take long to
    # find that out. With `fire_on_reset` it is held for one step before each
    # episode's first observation, and nothing of that step counts (Baselines'
    # `FireReset`; SB3 and EnvPool press it in ways of their own).
    def _begin_episode(self):
        """Begin an episode with the screen as it is, four times."""
        if self._fires:
            for _ in range(ACTION_REPEAT):
                self._ale.act(ale_py.Action.FIRE)
        self._lives = self._ale.lives()

        # All four pictures are new, or the jump from the episode before would
        # look like motion.
        screen = self.screen()
        picture = self.shrink(screen)
        self._last = (screen, picture)
        self._stack.extend([picture] * STACK)

    # ### Where a game starts
    #
    # Games of a title start alike. DQN let up to 30 no-op frames pass before
    # the agent's first decision, so that they don't.
    def reset(self, seed: SupportsIndex | None = None) -> NDArray:
        """Start a new game; return its first observation.

        That is `uint8 (4, 84, 84)`, the same picture four times, a copy that
        is yours to change. With a `seed` everything starts over: the same
        actions then give the same results. The first reset has the seed of the
        construction.
        """
        if seed is not None:
            seed = check_number("seed", seed)
        elif not self._is_reset:
            seed = self._seed
        self._start_game(seed)
        self._begin_episode()
        self._is_reset = True
        return self.observe()

    def _start_game(self, seed=None):
        """Reset the emulator, and let no-op frames pass."""
        self._score = 0.0
        self._length = 0
        self._console.reset(seed)

        # They are drawn, and a game that ends meanwhile is reset, as Gymnasium
        # does it, so that the same seed gives the same game.
        if self._noop_max > 0:
            rng = self.env.unwrapped.np_random
            for _ in range(rng.integers(1, self._noop_max + 1)):
                self._ale.act(self._actions[self.start_action(rng)])
                if self._ale.game_over():
                    self._console.reset(seed)

    def start_action(self, rng: np.random.Generator) -> SupportsIndex:
        """Return the action of a frame before the first observation: no-op.

        `rng` are the game's own random numbers.
        """
        return 0

    def render(self) -> NDArray[np.uint8]:
        """Return the colour screen as it is now, `uint8 (height, 160, 3)`.

        It is a copy, yours to change.
        """
        return self._console.colour_screen()


# ## 2. Many games
#
# ### A game in another process
#
# The emulator holds Python's global lock (the GIL) while it plays, so threads
# gain nothing: to use a second core a game needs a process of its own.
# Commands go there through a pipe, and each but `close` is answered.


def worker_process(
    remote: connection.Connection,
    seed: SupportsIndex,
    env_id: str | EnvSpec = BREAKOUT,
    make: Callable = Game,
    **options,
) -> None:
    """Play a game for whoever is at the other end of the pipe `remote`.

    Answers `("step", action)`, `("reset", seed or None)` and
    `("render", None)` with what the game returns, or with the error that it
    raised. Ends at `("close", None)` or when the pipe is closed, as in labml's
    PPO tutorial. `make(seed, env_id, **options)` is anything with the methods
    `step`, `reset` and `render`.
    """
    inbox = prepare_process(remote)
    game = None
    # When the parent is gone the pipe is broken, and the last `send` fails.
    with contextlib.suppress(OSError):
        while True:
            wait_awake(inbox)
            try:
                command, data = remote.recv()
                if command == "close":
                    return
                # Made here, so that an error in it becomes the answer, too.
                if game is None:
                    game = make(seed, env_id, **options)
                remote.send(perform(game, command, data))
            except Exception as error:
                # `recv` in the parent unpickles this, which raises the error.
                remote.send(Raised(error))


def perform(game, command, data):
    """Carry out a command; return what the game returns."""
    if command == "step":
        return game.step(data)
    if command == "reset":
        return game.reset(data)
    if command == "render":
        return game.render()
    raise NotImplementedError(f"unknown command {command!r}")


# #### An error on its way
#
# How an error in the game is raised in the parent: for whoever got one.


class Raised:
    """An error on its way to the process that it is to be raised in."""

    def __init__(self, error):
        # Some errors can't be pickled, or not be put together again. Their
        # words can.
        try:
            pickle.loads(pickle.dumps(error))
        except Exception:
            words = "".join(traceback.format_exception_only(error)).strip()
            error = RuntimeError(words).with_traceback(error.__traceback__)
        # A traceback is lost on the way, so it goes along as text.
        self._error = pool.ExceptionWithTraceback(error, error.__traceback__)

    # Pickle asks for a function, and for what to call it with.
    def __reduce__(self):
        return raise_error, (self._error,)


def raise_error(error):
    """Raise `error`: what is left to do at the other end of the pipe."""
    raise error


# ### The worker, seen from the parent


class Worker(contextlib.AbstractContextManager):
    """
    A game in a process of its own.

    Takes what `Game` takes; as `context` the name of a start method
    (`"fork"`, `"spawn"` or `"forkserver"`) or a context of `multiprocessing`;
    and with `make=MyGame` it plays `MyGame(seed, env_id, **options)`.

    `child` is the parent's end of the pipe, a `Connection`:
    `child.send(("step", action))` asks, and `child.recv()` returns what
    `Game.step` returns, or raises what it raised. An option that is wrong is
    raised by the first `recv()`, and `EOFError` or `OSError` by any if the
    process has died. `process` is the `multiprocessing.Process`; `close()` or
    a `with` statement ends it.
    """

    def __init__(
        self,
        seed: SupportsIndex,
        env_id: str | EnvSpec = BREAKOUT,
        *,
        context: str | multiprocessing.context.BaseContext | None = None,
        make: Callable = Game,
        **options,
    ):
        if not hasattr(context, "Process"):
            context = multiprocessing.get_context(context)
        self.child, remote = context.Pipe()

        # A daemon is ended with the program, and can't have processes of its
        # own.
        self.process = context.Process(
            target=worker_process,
            args=(remote, seed, env_id, make),
            kwargs=options,
            daemon=True,
        )

        # The process ends at the latest when the object is dropped or, which
        # the priority is for, when the interpreter ends.
        self._ends = (self.child, self.process, os.getpid())
        util.Finalize(self, end_process, args=self._ends, exitpriority=0)
        try:
            self.process.start()
        finally:
            # Only the worker has this end now: the pipe breaks if it dies.
            remote.close()

    def close(self) -> None:
        """End the process, in whatever state it is; again is no error."""
        end_process(*self._ends)

    def __exit__(self, *_):
        self.close()


# ### Why eight pipes are slow
#
# A `Worker` for each of eight games is slow: a message there and back takes
# 20 µs, an observation is packed, sent and unpacked, and each step waits for
# the slowest of eight. So there is one process to a core, each with its share
# of the games, and a step takes one short message to each and one back.
# Observations don't cross the pipe at all: they lie in memory that all
# processes share, with a record for each game.

# ### A share of the games
#
# What such a worker plays has the methods of a `Game`, but takes and returns
# lists.


class Share:
    """
    The games of one process, played one after the other.

    `memory` has a record of type `record` for each of all the games, and
    `games` is the slice of those that are played here, with their `seeds`.
    Each is `make_game(seed, env_id, **options)`.
    """

    def __init__(
        self, seeds, env_id, make_game, options, games, memory, record, back
    ):
        self._games = [make_game(seed, env_id, **options) for seed in seeds]
        self._observations = [None] * len(seeds)
        self._records = np.frombuffer(memory, record)[games]
        self._first = games.start

        # Double buffering: a record has two buffers for an observation. What
        # the caller saw last is in the front one, and the games write to the
        # back one, number `back.value`. If this process dies meanwhile, what
        # the caller saw is whole. The parent swaps them when every share has
        # answered.
        self._back = back

    def reset(self, seeds):
        """Reset all games, each with its seed or `None`; no episode ends."""
        for i, game in enumerate(self._games):
            self._observations[i] = game.reset(seeds[i])
        self._show()
        return []

    def step(self, actions):
        """Step all games; return the ends of episodes.

        That is a list of `(number, terminated, episode_info)`.
        """
        ends = []
        rewards = self._records["reward"]
        rewards[:] = 0
        for i, action in enumerate(actions):
            # A game that rests in this step has `None` for an action.
            if action is None:
                continue
            game = self._games[i]
            obs, rewards[i], done, episode_info = game.step(action)
            self._observations[i] = obs
            if done:
                self._records["final_obs"][i] = game.final_obs
                number = self._first + i
                ends.append((number, game.terminated, episode_info))
        self._show()
        return ends

    def render(self):
        """Draw the colour screens of all games; no episode ends."""
        for i, game in enumerate(self._games):
            self._records["screen"][i] = game.render()
        return []

    def _show(self):
        """Copy what the agents see to the shared memory."""
        written = self._records["obs"][:, self._back.value]
        for i, obs in enumerate(self._observations):
            written[i] = obs


# ### A worker that answers, or is lost
#
# Whatever goes wrong between two processes is one thing here: an answer that
# doesn't come. The pipe of a worker that died is closed, one that hasn't
# answered in time counts as dead, and a pipe that was interrupted in the
# middle of a message can't be trusted any more. A worker is then *lost*: it is
# closed, and another takes its place.


class ShareWorker(Worker):
    """
    A worker that plays a share.

    `owes` is whether an answer of it has yet to be read, `lost` says why there
    will be none.
    """

    owes = False
    lost = ""

    def ask(self, command, data):
        """Send a command, unless the worker is lost."""
        with self._one_message():
            self.child.send((command, data))
            self.owes = True

    def read_into(self, answers):
        """Add the bytes of the answer to a list, unless the worker is lost."""
        with self._one_message():
            answers.append(self.child.recv_bytes())
            self.owes = False

    @contextlib.contextmanager
    def _one_message(self):
        """Lose the worker if what is done with its pipe isn't completed."""
        try:
            yield
        except BaseException as error:
            if not raised_by_pipe(error):
                self.lose("was interrupted")
                raise
            # How a process ended is in the words that Python has for it.
            self.process.join(GRACE)
            self.lose(f"died: {self.process!r}")

    def lose(self, why):
        """Give this worker up."""
        self.lost = why
        self.owes = False
        self.close()


def raised_by_pipe(error):
    """Whether a pipe raised `error`, and not a handler of a signal.

    The program may have handlers, which Python calls between any two lines and
    which may raise anything: `TimeoutError`, say, which is an `OSError`, too.
    """
    *_, (frame, _) = traceback.walk_tb(error.__traceback__)
    in_pipe = frame.f_globals["__name__"] == connection.__name__
    return in_pipe and isinstance(error, (EOFError, OSError))


# ### The vector environment
#
# Gymnasium calls many games that are stepped together a *vector environment*:
# one `step` takes a batch of actions and returns a batch of observations. Its
# autoreset mode says which one, in the step that ends an episode. SAME_STEP
# returns the first observation of the next episode, and the last one is in the
# infos. NEXT_STEP, Gymnasium's default, returns the last one; in the following
# step the game rests, whatever the action, and the first one is returned.
SAME_STEP = gym.vector.AutoresetMode.SAME_STEP
NEXT_STEP = gym.vector.AutoresetMode.NEXT_STEP

# What the games wait for. While a call is carried out that is a reset: so if
# an error of a game, or Ctrl-C, ends the call, half of it is never carried on.
RESET = "reset"
STEP = "step"
ANSWERS = "answers"


class Games(gym.vector.VectorEnv, contextlib.AbstractContextManager):
    """
    Many Atari games at once: a Gymnasium vector environment.

    - `num_envs`, `env_id` and `game_options`: as many such `Game`s.
    - `seed`: game i gets `seed + i`, or `seed[i]` of a list.
    - `processes`: how many workers; `None` is one for each core, and with 0
      all games are played in this process, with the same results.
    - `timeout`: if a step takes a worker more seconds, by the clock on the
      wall, and one more in which it may catch up, it is replaced; starts and
      resets may take a minute and more.
    - `context`: a start method or a context, as for `Worker`.
    - `autoreset_mode`: Gymnasium's SAME_STEP or NEXT_STEP.
    - `make`: what is called with a seed, `env_id` and `game_options` to make a
      game: `Game`, a subclass, or anything with its methods `reset`, `step`
      and `render` and its attributes `env`, `meanings`, `terminated` and
      `final_obs`. Observations have the shape and type of its own.

    Bad arguments raise `ValueError` or `TypeError` at once, an unknown id
    Gymnasium's error; calls after `close` raise its `ClosedEnvironmentError`.
    After an error of a game, which is raised here, or Ctrl-C, `step` raises
    `ResetNeeded` until there was a `reset`. One thread at a time.
    """

    metadata = {"render_modes": ["rgb_array"], "render_fps": 15}
    render_mode = "rgb_array"

    # #### How the games are made
    #
    # `_slices` are the games of each worker, `_resting` those that skip a
    # step. For whoever asks what lies in shared memory.
    def __init__(
        self,
        num_envs: int,
        env_id: str | EnvSpec = BREAKOUT,
        *,
        seed: Seeds = 0,
        processes: int | None = None,
        timeout: float = 60.0,
        context: str | multiprocessing.context.BaseContext | None = None,
        autoreset_mode: gym.vector.AutoresetMode | str = SAME_STEP,
        make: Callable = Game,
        **game_options,
    ):
        # Checked before a title is loaded.
        self._workers = {}
        self._owner = os.getpid()
        self.num_envs = check_number("num_envs", num_envs, least=1)
        self._seeds = self._seeds_from(seed)
        if processes is None:
            processes = count_cores()
        processes = check_number("processes", processes)
        may_start = not multiprocessing.current_process().daemon
        here = "processes=0 in a daemonic process, such as one of a pool"
        require(may_start or processes == 0, here, processes)
        in_time = isinstance(timeout, numbers.Real) and 0 < timeout < math.inf
        require(in_time, "timeout as a number of seconds above 0", timeout)
        self._timeout = min(timeout, LONGEST_WAIT)
        self._start_timeout = max(self._timeout, START_TIMEOUT + num_envs)
        mode = gym.vector.AutoresetMode(autoreset_mode)
        require(mode.name != "DISABLED", "SAME_STEP or NEXT_STEP", mode)

        # A game of the parent's own checks the id and the options, and gives
        # the spaces.
        game = make(0, env_id, **game_options)
        obs = game.reset()

        # What a vector environment has to say of itself.
        n = self.num_envs
        self.spec = game.env.spec
        self.meanings = game.meanings
        self.autoreset_mode = mode
        self.metadata = {**self.metadata, "autoreset_mode": mode}
        limits = (0, 255) if obs.dtype == np.uint8 else (-math.inf, math.inf)
        space = gym.spaces.Box(*limits, obs.shape, obs.dtype)
        self.single_observation_space = space
        self.observation_space = batch_space(space, n)
        self.single_action_space = game.env.action_space
        self.action_space = batch_space(game.env.action_space, n)

        # The memory is made first, and the processes inherit it.
        record = np.dtype(
            [
                ("reward", np.float64),
                ("screen", np.uint8, game.render().shape),
                ("obs", obs.dtype, (2, *obs.shape)),
                ("final_obs", obs.dtype, obs.shape),
            ]
        )
        memory = multiprocessing.RawArray("B", n * record.itemsize)
        self._records = np.frombuffer(memory, record)
        self._back = multiprocessing.RawValue("B", 0)
        played = dict(env_id=env_id, make_game=make, options=game_options)
        shared = dict(memory=memory, record=record, back=self._back)
        self._share_options = {**played, **shared}
        self._context = context

        # Each process plays a slice of the games. Without processes there is
        # one share, of all games, which is played right here.
        shares = min(processes, n)
        self._slices = [
            slice(i * n // shares, (i + 1) * n // shares)
            for i in range(shares)
        ]
        self._share = None
        if shares == 0:
            self._share = Share(
                self._seeds, games=slice(0, n), **self._share_options
            )

        # The ends of episodes in a step that was played here, and which games
        # rest in the next one.
        self._waits_for = RESET
        self._ends = []
        self._resting = []

        # A first command, so that whatever is wrong is raised here. If it is,
        # no worker is left behind.
        try:
            self._start_workers(range(shares), "render")
        except BaseException:
            self.close()
            raise

    def _seeds_from(self, seed):
        """Return the seeds of all games, from one number or from a list."""
        if np.ndim(seed) == 0:
            first = check_number("seed", seed)
            return [first + i for i in range(self.num_envs)]
        require(len(seed) == self.num_envs, f"{self.num_envs} seeds", seed)
        return [check_number("seed", one) for one in seed]

    @property
    def pipes(self) -> list:
        """The parent's ends of the workers' pipes, as they are now.

        For `multiprocessing.connection.wait`: one is ready when its worker has
        answered, or died. With `processes=1` `step_wait` then doesn't wait.
        """
        # The pipe of a lost worker is closed, but that its process has ended
        # can be waited for in the same way.
        return [
            worker.process.sentinel if worker.lost else worker.child
            for worker in self._workers.values()
        ]

    # ### A reset, and a step
    #
    # Between `step_async` and `step_wait` a program can do something else, say
    # choose the actions for other games. The workers write rewards and
    # observations to the shared memory, and answer with the ends of episodes
    # alone, mostly an empty list.
    def reset(
        self, *, seed: Seeds | None = None, options: dict | None = None
    ) -> tuple[NDArray, dict]:
        """Start new games; return `observations, {}`.

        `observations` is `uint8 (num_envs, 4, 84, 84)`, a copy that is yours
        to change. `seed` is a number or a list as at the construction, or
        `None`: at first, and after an error or Ctrl-C, the games then start
        from the seeds given last, else they go on with the random numbers that
        they have. There are no `options`. Call it at any time before `close`.
        """
        self._require_open()
        require(not options, "no options", options)
        if seed is not None:
            self._seeds = self._seeds_from(seed)
        seeds = self._seeds
        if seed is None and self._waits_for != RESET:
            seeds = [None] * self.num_envs
        self._ask("reset", seeds)
        _, lost = self._gather(self._start_timeout)
        self._start_workers(lost, "reset")
        self._resting.clear()
        observations = self._take_observations()
        self._waits_for = STEP
        return observations, {}

    def step(self, actions: ArrayLike) -> Batch:
        """Step all games; return what `step_wait` returns."""
        self._begin_step(actions)
        return self._finish_step()

    def step_async(self, actions: ArrayLike) -> None:
        """Begin a step and return at once, unless the games are played here.

        `actions` are `num_envs` whole numbers. Raises `ValueError` if they
        aren't, and no game has moved.
        """
        self._begin_step(actions)
        self._waits_for = ANSWERS

    def step_wait(self) -> Batch:
        """Wait for the step that was begun.

        Returns `observations, rewards, terminated, truncated, infos`: `uint8
        (num_envs, 4, 84, 84)`; `float64`, `bool` and `bool (num_envs,)`; and a
        dict. All are copies, yours to change. The dict holds, each with a
        mask, `"final_obs"` of the episodes that ended (in SAME_STEP mode) and
        `"final_info"` of the games whose emulator was reset; and the mask
        `"restarted"`, if there are games whose worker was replaced.
        """
        self._require_open()
        if self._waits_for != ANSWERS:
            raise gym.error.NoAsyncCallError("call step_async()", "step")
        self._waits_for = RESET
        return self._finish_step()

    def _begin_step(self, actions):
        """Check the actions, and ask for a step."""
        self._require_open()
        if self._waits_for == ANSWERS:
            raise gym.error.AlreadyPendingCallError("call step_wait()", "step")
        if self._waits_for == RESET:
            raise gym.error.ResetNeeded("call reset() before step()")
        actions = check_actions(actions, self.meanings, (self.num_envs,))
        for number in self._resting:
            actions[number] = None
        self._ends = self._ask("step", actions)
        self._resting.clear()

    def _finish_step(self):
        """Gather the answers to a step; return what `step_wait` returns."""
        ends, lost = self._gather(self._timeout)

        # Only games whose episode has ended take work of their own: a loop
        # over all of them would take longer with each game.
        terminated = np.zeros(self.num_envs, bool)
        truncated = np.zeros(self.num_envs, bool)
        infos = {}
        for number, was_terminated, episode_info in self._ends + ends:
            terminated[number] = was_terminated
            info = {}
            if episode_info is not None:
                truncated[number] = episode_info["truncated"]
                info["final_info"] = episode_info
            self._report_end(number, info, infos)

        # The games of a lost worker were cut short.
        if lost:
            self._start_workers(lost, "reset")
            truncated |= self._report_restarts(lost, infos)
        rewards = self._records["reward"].copy()
        observations = self._take_observations()
        self._waits_for = STEP
        return observations, rewards, terminated, truncated, infos

    def _report_end(self, number, info, infos):
        """Hand out a game's last observation; add its `info` to `infos`.

        Gymnasium puts the infos of single games into one dict: an array for
        each key, and under `"_" + key` a mask of the games that have it.
        """
        last = self._records["final_obs"][number]
        if self.autoreset_mode is NEXT_STEP:
            self._records["obs"][number, self._back.value] = last
            self._resting.append(number)
        else:
            info["final_obs"] = last.copy()
        self._add_info(infos, info, number)

    def _take_observations(self):
        """Swap the buffers; return a copy of what the games have written."""
        written = self._back.value
        self._back.value = 1 - written
        return self._records["obs"][:, written].copy()

    def render(self) -> tuple[NDArray[np.uint8], ...]:
        """Return a tuple of colour screens, `uint8 (height, 160, 3)` each.

        They are copies, yours to change. Those of a worker that has died are
        black; the next step replaces it and reports that.
        """
        self._require_open()
        if self._waits_for == ANSWERS:
            raise gym.error.AlreadyPendingCallError("call step_wait()", "step")
        waits_for = self._waits_for
        self._ask("render", [None] * self.num_envs)
        _, lost = self._gather(self._timeout)
        for i in lost:
            self._records["screen"][self._slices[i]] = 0
        self._waits_for = waits_for
        return tuple(self._records["screen"].copy())

    # ### Asking and waiting
    #
    # All workers are asked before the first answer is waited for: they play at
    # the same time.
    def _ask(self, command, data):
        """Give all workers a command, with one item of `data` for each game.

        Returns the ends of episodes in what is played right here.
        """
        # Until every answer is there and was handed out, whatever interrupts
        # that leaves games that need a reset. What was still to be answered,
        # to a step that nobody waited for, is dropped.
        self._waits_for = RESET
        self._read_answers(self._start_timeout)
        for i, worker in self._workers.items():
            worker.ask(command, data[self._slices[i]])
        if self._share is None:
            return []
        return perform(self._share, command, data)

    def _gather(self, timeout):
        """Read all answers; return the ends of episodes, and who is lost.

        An error of a game is raised when all have answered.
        """
        ends = []
        for answer in self._read_answers(timeout):
            ends += pickle.loads(answer)
        lost = [i for i, worker in self._workers.items() if worker.lost]
        return ends, lost

    def _read_answers(self, timeout):
        """Return the answers that are owed, and lose workers that are late.

        `timeout` seconds are one deadline for all of them.
        """
        # The clock goes on while the whole program is stopped, by Ctrl-Z say,
        # so whoever is late gets another moment.
        answers = []
        for seconds in (timeout, GRACE):
            deadline = time.monotonic() + seconds
            for worker in self._workers.values():
                left = max(0.0, deadline - time.monotonic())
                if worker.owes and connection.wait([worker.child], left):
                    worker.read_into(answers)
        for worker in self._workers.values():
            if worker.owes:
                worker.lose(f"gave no answer within {timeout + GRACE:g} s")
        return answers

    # ### When a worker dies
    #
    # A new one takes its place and starts its games over from their seeds; the
    # others go on as if nothing had happened. The step reports it: reward 0,
    # `truncated`, and `infos["restarted"]`. If the new one dies before its
    # first answer, what killed it would only kill the next: `Games` closes,
    # and raises an error.
    def _start_workers(self, numbers_of_shares, command):
        """Start workers, and wait until they have carried out a command.

        Raises `RuntimeError` if one of them doesn't; the games are closed
        then.
        """
        for i in numbers_of_shares:
            games = self._slices[i]
            seeds = self._seeds[games]
            self._workers[i] = ShareWorker(
                seeds,
                make=Share,
                context=self._context,
                games=games,
                **self._share_options,
            )
            self._workers[i].ask(command, seeds)
        _, lost = self._gather(self._start_timeout)
        if lost:
            self.close()
            raise RuntimeError(f"a new worker {self._workers[lost[0]].lost}")

    def _report_restarts(self, lost, infos):
        """Report games that start over; return the mask of them."""
        restarted = np.zeros(self.num_envs, bool)
        for i in lost:
            restarted[self._slices[i]] = True
        infos["restarted"] = restarted

        # Their last observation is what the caller saw last.
        seen = self._records["obs"][:, 1 - self._back.value]
        self._records["final_obs"][restarted] = seen[restarted]
        self._records["reward"][restarted] = 0
        for number in np.flatnonzero(restarted):
            self._report_end(number, {}, infos)
        return restarted

    # #### Closing
    #
    # A `with` statement ends all processes, for `Games` is a *context
    # manager*: for whoever forgot one, or wants a copy.
    def close_extras(self, **_):
        """End all workers; called by `close`, as Gymnasium has it."""
        for worker in self._workers.values():
            worker.close()

    def __exit__(self, *_):
        self.close()

    # `copy` and `pickle` ask for this. Two owners would close each other's
    # pipes.
    def __reduce__(self):
        raise TypeError("Games can't be copied or pickled: make another one")

    def _require_open(self):
        """Raise an error after `close`, or in a forked copy of the program."""
        if self.closed:
            raise gym.error.ClosedEnvironmentError("the games are closed")
        if os.getpid() != self._owner:
            words = "these games are another process's: make others here"
            raise RuntimeError(words)


# ## 3. Behind it
#
# ### What may come in
#
# How bad input is found before any game has moved: for whoever got an error.


def require(condition, expected, got):
    """Raise a `ValueError` that says what was expected, unless `condition`."""
    if not condition:
        raise ValueError(f"expected {expected}, got {got!r}")


def check_number(name, value, least=0):
    """Return `value` as an `int`, which must be at least `least`."""
    expected = f"{name} as a whole number from {least} on"
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"expected {expected}, got {value!r}") from None
    require(number >= least, expected, value)
    return number


def require_atari(env_id):
    """Raise a `ValueError` if `env_id` is not that of an Atari title.

    For an id that isn't known Gymnasium has an error of its own.
    """
    spec = env_id
    if isinstance(env_id, str):
        spec = gym.registry.get(env_id)
        if spec is None:
            return
    entry_point = getattr(spec, "entry_point", None)
    atari = entry_point == gym.spec(BREAKOUT).entry_point
    require(atari and "game" in spec.kwargs, "an Atari title", env_id)

    # The emulator is played directly, so a wrapper around its environment, or
    # Gymnasium's own limit of steps, would have no effect.
    bare = not spec.additional_wrappers and spec.max_episode_steps is None
    require(bare, "a title without wrappers and max_episode_steps", env_id)


def check_actions(actions, meanings, shape=()):
    """Return `actions` as plain numbers, or raise a `ValueError`.

    One check serves a single action, of shape `()`, and a batch of them.
    Integers of Python, NumPy and PyTorch are fine, and whole floats are not:
    somebody forgot to turn them into an index.
    """
    cause = None
    try:
        array = np.asarray(actions)
    except (TypeError, ValueError, RuntimeError) as error:
        # PyTorch says here what to do with a tensor on a GPU.
        cause = error
    else:
        if array.dtype.kind in "iu" and array.shape == shape:
            # A few numbers are compared faster by Python than by NumPy.
            flat = array.ravel().tolist()
            if min(flat) >= 0 and max(flat) < len(meanings):
                return array.tolist()
    most = len(meanings) - 1
    names = ", ".join(meanings)
    expected = f"whole numbers from 0 to {most} ({names}), of shape {shape}"
    raise ValueError(f"expected {expected}, got {actions!r}") from cause


# ### Resets by snapshot
#
# How a reset takes 0.03 ms in place of 5, and when it can't: for whoever
# wonders why every game starts alike.
#
# In a true reset the emulator plays 60 frames to let the console boot. When
# lives are lost every 30 to 60 steps that adds up. So the state after the
# first reset is kept as a snapshot and put back at each later one. Every game
# then starts from the same state, where a true reset carries some memory of
# the game before over, in 25 of the 104 titles.
#
# Of these five titles a snapshot leaves something out, so that screens or
# memory differ after it was put back: they take true resets. `test_game.py`
# finds the five by itself.
NO_SNAPSHOT = {"amidar", "koolaid", "qbert", "tetris", "trondead"}


class Console:
    """The emulator of `env`: resets it, and shows the screen as it is."""

    def __init__(self, env):
        self._env = env
        self._ale = env.unwrapped.ale

        # Sticky actions are ALE's remedy for agents that learn moves by heart:
        # with a probability of 0.25 the action before is played once more
        # (Machado et al. 2018). A snapshot leaves out which one that was, so
        # it isn't trusted with them.
        sticky = self._ale.getFloat("repeat_action_probability") > 0
        title = env.spec.kwargs["game"]
        self._trusts_snapshots = not sticky and title not in NO_SNAPSHOT
        self._state = None

    def reset(self, seed):
        """Start a game; a `seed` that isn't `None` seeds its chance."""
        # The emulator itself gets a seed only where no snapshot is used: it
        # takes one only when it loads the title anew, in 90 ms, and has no use
        # for it without sticky actions.
        if not self._trusts_snapshots:
            self._env.reset(seed=seed)
        elif self._state is not None:
            self._env.unwrapped.restore_state(self._state)
        else:
            # A snapshot doesn't hold the screen, which is drawn with the next
            # frame. So the first screen is kept beside it, and the number of
            # its frame, which isn't 0 in all titles.
            self._env.reset()
            self._frame_number = self._ale.getEpisodeFrameNumber()
            self._first_gray = self._ale.getScreenGrayscale()
            self._first_colour = self._ale.getScreenRGB()
            self._state = self._env.unwrapped.clone_state()

        # Gymnasium's random numbers, for the no-ops, are seeded in any case.
        if seed is not None:
            self._env.unwrapped.seed_game(seed)

    def _shows_snapshot(self):
        """Whether no frame was drawn since the snapshot was put back."""
        if self._state is None:
            return False
        return self._ale.getEpisodeFrameNumber() == self._frame_number

    def gray_screen(self):
        """Return the screen in gray, `uint8 (height, 160)`, a copy."""
        if self._shows_snapshot():
            return self._first_gray.copy()
        return self._ale.getScreenGrayscale()

    def colour_screen(self):
        """Return the screen in colour, `uint8 (height, 160, 3)`, a copy."""
        if self._shows_snapshot():
            return self._first_colour.copy()
        return self._ale.getScreenRGB()


# ### Only what has changed
#
# How a picture is made in a third of the time: for whoever met
# `shrink_changes`.
#
# Of the 210 rows of a screen every 5 become exactly 2 of the picture. So it is
# looked at in 42 bands of 5 rows, and only those in which something has
# changed are cut out and shrunk, as one low strip. (Higher screens have fewer
# bands: 250 rows are two of 125.)


def shrink_changes(shrink, screen, last_screen, last_picture):
    """Return `shrink(screen)`, by the screen before and its picture."""
    # A subclass may shrink in a way that can't be done band by band.
    if shrink is not Game.shrink:
        return shrink(screen)
    height = len(screen)
    bands = math.gcd(height, SIZE)
    changed = (screen != last_screen).reshape(bands, -1).any(axis=1)
    strip = screen[changed.repeat(height // bands)]
    picture = last_picture.copy()
    if len(strip) > 0:
        rows = changed.repeat(SIZE // bands)
        picture[rows] = shrink(strip, len(strip) * SIZE // height)
    return picture


# ### Waiting awake, and making way
#
# What a worker does before and between its messages so that nobody waits for
# it: for whoever looks for the last bit of speed.
AWAKE = 0.0003  # seconds


def prepare_process(pipe):
    """Make this process a good worker; return what to look at `pipe` with."""
    # Ctrl-C in a terminal goes to every process that runs in it, but what is
    # to happen then is for the parent to decide. Nor are the handlers of other
    # signals, which a forked process has of the program, to run here: one may
    # write a checkpoint.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for number in signal.valid_signals():
        if callable(signal.getsignal(number)):
            signal.signal(number, signal.SIG_DFL)
    threading.Thread(target=leave_with_parent, daemon=True).start()
    # OpenCV's own threads would fight with the other workers for the cores.
    cv2.setNumThreads(0)

    # Linux may let a process that wakes up interrupt another: here the program
    # that has just sent the message, and then waits while a share of the games
    # plays. A batch job that wakes up interrupts nobody. Where there is no
    # such thing, or it isn't allowed, all goes on without.
    if hasattr(os, "SCHED_BATCH"):
        with contextlib.suppress(OSError):
            os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))

    # `pipe.poll()` makes a selector for each look, which takes five times as
    # long as the look.
    inbox = selectors.DefaultSelector()
    inbox.register(pipe, selectors.EVENT_READ)
    return inbox


def wait_awake(inbox):
    """Wait a moment for a message without going to sleep: *spinning*.

    A process that sleeps takes longer to wake than a message takes to arrive.
    Between two looks other processes get the core, if they want it. With eight
    games that gains between nothing and a sixth.
    """
    if hasattr(os, "sched_yield"):  # Windows can't look at pipes so, either
        asleep = time.perf_counter() + AWAKE
        while not inbox.select(0) and time.perf_counter() < asleep:
            os.sched_yield()


# ### Starting in time, and leaving
#
# How a worker ends even if its parent was killed or its game hangs: for
# whoever has found processes left behind.
START_TIMEOUT = 60.0  # seconds for a start or a reset, and one more a game
LONGEST_WAIT = 1e6  # seconds, twelve days: systems can't wait much longer
GRACE = 1.0  # second, for whoever is late
END_TIMEOUT = 5.0  # seconds, for the system to end a process
LOOK_EVERY = 1.0  # second, whether the parent is there


def count_cores():
    """Return how many cores this process may use.

    Under `taskset`, or in a container bound to some cores, these are fewer
    than there are; only Linux can tell. A limit on their time (`docker
    --cpus`) isn't seen: pass `processes`.
    """
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count()


def leave_with_parent():
    """End this process within seconds after its parent, however that died.

    Its end of the pipe is closed then, but a worker whose game hangs doesn't
    see that, nor one whose pipe was copied by a fork. (A game that hangs while
    it holds the GIL, as the emulator does, stops this thread, too.)
    """
    parent = multiprocessing.parent_process()
    parent_id = os.getppid()
    while parent.is_alive() and os.getppid() == parent_id:
        parent.join(LOOK_EVERY)
    os._exit(1)


def end_process(pipe, process, owner):
    """End `process`, in whatever state it is, and close `pipe`.

    Only the process `owner` does: a forked copy of the program has a copy of
    this object, too.
    """
    if os.getpid() != owner:
        return

    # There is nothing in a worker that has to be saved, so it is killed: that
    # ends a stopped or hanging process, too. The pipe comes first: if Ctrl-C
    # interrupts the rest, a worker that waits ends by itself.
    pipe.close()
    if process.pid is not None:
        process.kill()
        process.join(END_TIMEOUT)


# ### Playing
#
# What `python game.py` does: for whoever wants an example of `Games`.
ZOOM = 2  # of the image
MARGIN = 24  # pixels above it
REPORT_EVERY = 10  # steps


def main():
    """Play Atari games at random, and leave an image: game.png."""
    parser = argparse.ArgumentParser(
        prog="game.py",
        description=main.__doc__,
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    add = parser.add_argument
    add("env_id", nargs="?", default=BREAKOUT, help="id of an Atari title")
    add("--games", type=int, default=8, help="how many are played at once")
    add("--steps", type=int, default=2000, help="steps of each game")
    add("--seed", type=int, default=0, help="seed of the first game")
    args = parser.parse_args()
    n = args.games

    # What is wrong is said in one line, with Gymnasium's suggestion where it
    # has one.
    try:
        check_number("games", n, least=1)
        check_number("steps", args.steps, least=1)
        games = Games(n, args.env_id, seed=args.seed, on_life_loss="ignore")
    except (gym.error.Error, ImportError, TypeError, ValueError) as error:
        parser.exit(2, f"game.py: {error}\n")

    # labml warns if there is no file with its settings; none is needed here.
    with open(os.devnull, "w") as null, contextlib.redirect_stdout(null):
        from labml import lab, monit, tracker

        lab.get_path()

    rng = np.random.default_rng(args.seed)
    scores = []
    steps = 0
    with games, open("game.png", "wb") as file:
        seen, _ = games.reset()
        start = time.perf_counter()

        # After Ctrl-C the summary is of what was played so far.
        with contextlib.suppress(KeyboardInterrupt):
            for i in monit.loop(args.steps):
                actions = rng.integers(games.single_action_space.n, size=n)
                observations, rewards, *_, infos = games.step(actions)
                steps += n

                # The image will show what an agent saw when it last scored.
                scored = rewards > 0
                seen[scored] = observations[scored]
                if "final_info" in infos:
                    ended = infos["_final_info"]
                    ended_scores = infos["final_info"]["reward"][ended]
                    lengths = infos["final_info"]["length"][ended]
                    scores += ended_scores.tolist()
                    tracker.add("reward", ended_scores.mean())
                    tracker.add("length", lengths.mean())
                if i % REPORT_EVERY == 0:
                    speed = steps / (time.perf_counter() - start)
                    tracker.save(steps, {"steps per second": speed})
        speed = steps / (time.perf_counter() - start)
        file.write(draw(seen))

    # The summary in three lines.
    print(f"\n{steps:,} steps of {n} games, {len(scores)} episodes")
    if scores:
        print(f"score: mean {np.mean(scores):.2f}, best {max(scores):.0f}")
    else:
        print("score: no game has ended")
    print(f"{speed:,.0f} steps/s, {speed * ACTION_REPEAT:,.0f} frames/s")


def draw(observations):
    """Return an image of `observations`, `(games, 4, 84, 84)`, as a file."""
    image = np.vstack([np.hstack(stack) for stack in observations])
    image = image.repeat(ZOOM, axis=0).repeat(ZOOM, axis=1)
    image = np.pad(image, ((MARGIN, 0), (0, 0)))
    label = "What each agent saw: its last four steps, the newest on the right"
    cv2.putText(image, label, (8, 16), cv2.FONT_HERSHEY_PLAIN, 1, color=255)
    return cv2.imencode(".png", image)[1]


if __name__ == "__main__":
    main()
