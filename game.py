"""
# Breakout, annotated

An *agent* is a program that learns to play. But what does it see? Four small
gray pictures at a time, as DQN did, the first algorithm that learned dozens of
Atari titles from the screen ([Mnih et al.
2015](https://doi.org/10.1038/nature14236)). `game.py`, one file to copy, makes
these pictures for many games at once.
"""

# ## 1. What the agent sees
#
# ### The code of one game
#
# #### The imports

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
from collections.abc import Callable

# Undocumented, but used by Python's own pools of processes: `pool` carries a
# traceback to another process, and `util` ends processes at exit.
from multiprocessing import connection, pool, util
from typing import Any, Literal, SupportsIndex

# The emulator is the Arcade Learning Environment, ALE (Bellemare et al. 2013).
# Gymnasium is the interface of `reset` and `step` that learning programs
# share; importing `ale_py` adds ALE's titles to it. OpenCV resizes pictures.
import ale_py
import cv2
import gymnasium as gym
import numpy as np
from gymnasium.envs.registration import EnvSpec
from gymnasium.vector.utils import batch_space
from numpy.typing import ArrayLike, NDArray

# #### How a game is made
#
# DQN chose these numbers, and almost everybody has kept them.
BREAKOUT = "BreakoutNoFrameskip-v4"
ACTION_REPEAT = 4  # frames to a step, at least 2
STACK = 4  # pictures to an observation
SIZE = 84  # pixels of a picture, both ways

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
        """Make a game, which begins with the first `reset`.

        - `seed`: a non-negative integer;
        - `env_id`: the id of an Atari title, or Gymnasium's `EnvSpec` of one;
        - `on_life_loss`: what a lost life does to the episode;
        - `noop_max`: unless 0, a game begins with 1 to this many no-op frames;
        - `fire_on_reset`: FIRE is held for a step before each episode;
        - `clip_reward`: the reward of a step becomes -1, 0 or 1.

        The defaults are those of labml's tutorial. To train, add `**TRAINING`.

        `env` is the Gymnasium environment and `meanings` the list of its
        actions' names. `final_obs` is the last observation of the episode that
        ended last, and `terminated` is false if only a limit ended it. A
        subclass can show [something else](#a-game-of-your-own). Raises
        `ValueError` or `TypeError` for a bad option, and Gymnasium's own error
        for an unknown id.
        """
        # What needs no emulator is checked first.
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
        # Here all hold it for one, and `step` repeats the action. Screens come
        # from the emulator itself, so the environment's own observation is the
        # cheapest one, "ram".
        self.env = gym.make(env_id, frameskip=1, obs_type="ram")
        discrete = isinstance(self.env.action_space, gym.spaces.Discrete)
        require(discrete, "Discrete actions", self.env.action_space)
        self.meanings = self.env.unwrapped.get_action_meanings()
        self._fires = bool(fire_on_reset) and "FIRE" in self.meanings
        first = self.meanings[0]
        require(noop_max == 0 or first == "NOOP", "NOOP as action 0", first)

        # The emulator, the codes that it has for the actions, and what resets
        # it.
        self._ale = self.env.unwrapped.ale
        self._actions = [getattr(ale_py.Action, it) for it in self.meanings]
        self._console = Console(self.env)

        # The stack drops its oldest picture when a new one comes. It is empty
        # until the first reset.
        self._stack = collections.deque(maxlen=STACK)

        # Of the episode that ended last.
        self.terminated = False
        self.final_obs = None

    # ### Four frames, one picture
    def step(self, action: SupportsIndex) -> Step:
        """Hold `action`, an index into `meanings`, for four frames.

        Returns the values of a `Step`:

        - `obs_4`, `uint8 (4, 84, 84)`, a copy that is yours to change;
        - `reward`, the points of these four frames, or their sign;
        - `done`, whether an episode is over: then `obs_4` is the first of the
          next one;
        - `episode_info`, `None` or, if a new game was started, a dict of the
          one before: its `"reward"`, its `"length"` in steps, and whether a
          limit has `"truncated"` it.

        Raises `ResetNeeded` before the first `reset`, and `ValueError` for an
        action that isn't one of the title's; the game is left unchanged.
        """
        action = check_actions(action, self.meanings)
        if not self._stack:
            raise gym.error.ResetNeeded("call reset() before step()")

        # `act` plays one frame on the emulator. Deciding at every frame would
        # be four times the work.
        reward = 0.0
        for frame in range(1, ACTION_REPEAT + 1):
            reward += self._ale.act(self._actions[action])

            # Lives are read after every frame. In some titles a life can be
            # lost and another won within one step, and the loss would
            # otherwise go unnoticed.
            life_over = self._life_over()
            game_over = self._ale.game_over()
            if life_over or game_over:
                break
            if frame == ACTION_REPEAT - 1:
                third = self.screen()  # gray, a copy

        # Each pixel takes the brighter of its values in the **third** and the
        # **fourth** frame. If the episode ended before the fourth, its last
        # screen is used alone. `_see` resizes the result to a picture and
        # puts that on [the stack](#the-stack).
        screen = self.screen()
        if frame == ACTION_REPEAT:
            np.maximum(third, screen, out=screen)
        self._see(screen)

        # If the episode is over, `_end_step` stores its last observation ([for
        # programs that learn](#when-one-of-many-episodes-ends)), begins the
        # next episode, and returns the new one's first observation.
        return self._end_step(reward, life_over, game_over)

    # ### Small and gray
    #
    # A *screen*, a frame as an array, has 33,600 pixels in 128 colours. DQN
    # reduced it to what a neural network of its day could process: it took the
    # brightness alone and resized it to 84×84.
    #
    # But how, without losing small objects? Here, as in OpenAI's
    # [Baselines](#who-is-who), each new pixel is the mean of the area that it
    # covers (`INTER_AREA`). That darkens small objects, but copying single
    # pixels could lose thin ones altogether.
    @staticmethod
    def shrink(screen: NDArray) -> NDArray:
        """Shrink a screen, `(210, 160)`, to `(84, 84)`."""
        return cv2.resize(screen, (SIZE, SIZE), interpolation=cv2.INTER_AREA)

    # ### The stack
    #
    # One picture shows where the ball is, but not where it is going.
    # The *stack*, the last four pictures, shows both: from first to last it
    # spans a fifth of a second. Four frames in a row would span only a
    # twentieth, in which the ball moves by one to three pixels of a picture.
    # That is easily missed.
    def _see(self, screen):
        """Put the picture of a screen on the stack."""
        # `shrink_changes` returns what `self.shrink(screen)` does, but resizes
        # [only what has changed](#resizing-only-what-has-changed).
        picture = shrink_changes(self.shrink, screen, *self._last)
        self._last = (screen, picture)
        self._stack.append(picture)

    def observe(self) -> NDArray:
        """Return the stack as an observation, `(4, 84, 84)`, a copy."""
        return np.array(self._stack)

    # ### What ends an episode
    #
    # Most titles give the player a few lives. Losing one costs no points, so
    # no reward warns the agent. The usual remedy is to end the episode when a
    # life is lost. To the agent that looks like the end of all rewards, so it
    # learns to avoid it.
    #
    # The option `on_life_loss` says whether a lost life ends the episode. Two
    # of its values are for training:
    #
    # - `"continue"`: the episode ends, but the game continues, and the next
    #   life is the next episode. Most agents are [trained this
    #   way](#which-setting-to-take).
    # - `"ignore"`: the episode goes on to the end of the game, and the agent
    #   has to find out what a life is worth. [Machado et al.
    #   (2018)](https://arxiv.org/abs/1709.06009) advise this.
    #
    # The third, `"restart"`, begins a new game after each lost life. It is the
    # default only because [labml's tutorial](#other-settings) relies on it.
    #
    # #### How an episode ends, and the next one begins
    #
    # A lost life ends the episode if at least this many lives are left. (Under
    # "continue" that is one: with none left, the end of the game ends it.)
    MODES = {"restart": 0, "continue": 1, "ignore": math.inf}

    def _end_step(self, reward, life_over, game_over):
        """Count the reward, end an episode that is over; return a `Step`."""
        # The score is the sum of the points, even if rewards are
        # [clipped](#clipping) to their sign.
        self._score += reward
        self._length += 1
        if self._clip_reward:
            reward = float(np.sign(reward))
        done = life_over or game_over
        episode_info = None
        if done:
            episode_info = self._end_episode(life_over, game_over)
        return self.observe(), reward, done, episode_info

    def _life_over(self):
        """Read the lives; return whether a lost one ends the episode."""
        lives_before = self._lives
        self._lives = self._ale.lives()
        return self._lives_needed <= self._lives < lives_before

    def _end_episode(self, life_over, game_over):
        """Begin the next episode; return the `episode_info` of this one."""
        # Every id limits a game to 108,000 frames, half an hour (as in Hessel
        # et al. 2018). A game that reaches the limit is truncated.
        game_lost = self._ale.game_over(with_truncation=False)
        self.terminated = life_over or game_lost

        # From the last observation learners estimate what a truncated game
        # would still have brought. It is kept here, since `step` returns the
        # first one of the next episode.
        self.final_obs = self.observe()

        # Under "continue" the game goes on after a lost life. In 11 of 104
        # titles it isn't over when the last life is lost: in random games it
        # went on for 69 to 5,400 frames, and the episode with it.
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

    def _begin_episode(self):
        """Press FIRE, if asked to, and refill the stack."""
        # Breakout waits for FIRE to serve the ball. FIRE is held for one step,
        # which counts neither in the score nor in the length.
        if self._fires:
            for _ in range(ACTION_REPEAT):
                self._ale.act(ale_py.Action.FIRE)
        self._lives = self._ale.lives()

        # Pictures of two episodes in one stack would look like a motion.
        screen = self.screen()
        picture = self.shrink(screen)
        self._last = (screen, picture)
        self._stack.extend([picture] * STACK)

    def reset(self, seed: SupportsIndex | None = None) -> NDArray:
        """Start a new game; return its first observation.

        That is `uint8 (4, 84, 84)`, the same picture four times, a copy that
        is yours to change. After a reset with a `seed` the same actions give
        the same results. Without one, the first reset uses the constructor's
        seed, and later ones continue its random numbers.
        """
        if seed is not None:
            seed = check_number("seed", seed)
        elif not self._stack:
            seed = self._seed
        self._start_game(seed)
        self._begin_episode()
        return self.observe()

    def _start_game(self, seed=None):
        """Reset the emulator, and let no-op frames pass."""
        self._score = 0.0
        self._length = 0
        self._console.reset(seed)

        # The number of no-op frames is sampled as in Gymnasium, so that a seed
        # gives the same game as there. A game that ends meanwhile is reset.
        if self._noop_max > 0:
            rng = self.env.unwrapped.np_random
            for _ in range(rng.integers(1, self._noop_max + 1)):
                self._ale.act(self._actions[self.start_action(rng)])
                if self._ale.game_over():
                    self._console.reset(seed)

    def start_action(self, rng: np.random.Generator) -> SupportsIndex:
        """Return the action of a frame before the first observation: no-op.

        `rng` is the game's own random generator.
        """
        return 0

    def screen(self) -> NDArray:
        """Return the screen in gray: `uint8`, `(210, 160)` in most titles."""
        return self._console.gray_screen()

    def render(self) -> NDArray[np.uint8]:
        """Return the colour screen as it is now, `uint8 (height, 160, 3)`.

        It is a copy, yours to change.
        """
        return self._console.colour_screen()


# ### Which setting to take
#
# To train an agent, play a `Game(seed, **TRAINING)`. [Most other
# programs](#who-is-who) train this way, with [small
# differences](#coming-from-sb3-or-cleanrl). One of the options *clips* the
# rewards: they become -1, 0 or 1, so that titles with low and with high scores
# can be learned with the same settings.
#
# For research that claims something new, take [sticky actions and
# `"ignore"`](#other-settings).
TRAINING: dict[str, Any] = dict(
    on_life_loss="continue",  # ends an episode
    noop_max=30,  # 1 to 30 no-op frames first
    fire_on_reset=True,  # FIRE serves the ball
    clip_reward=True,  # to its sign
)

# ## 2. Many games
#
# ### Eight workers or two?
#
# To play eight games on all cores, `Games` needs several processes, called
# *workers*. A *pipe* joins each to its *parent*, the program that started it.
# Observations don't cross the pipes: workers write them to memory that all
# processes share, as Gymnasium's do.
#
# But how many workers? On two cores `Games` could start eight, with a game
# each, as most programs do, or two with four games each.
#
# ### A game in another process
#
# Workers are processes, since Python threads would take turns: only one can
# hold the global lock, the GIL, and a thread that plays a frame keeps it. In
# `Games` each worker runs this loop for its [share](#a-share-of-the-games) of
# the games.


def worker_process(
    remote: connection.Connection,
    seed: SupportsIndex,
    env_id: str | EnvSpec = BREAKOUT,
    make: Callable = Game,
    **options,
) -> None:
    """Play a game for the other end of the pipe `remote`.

    Answers `("step", action)`, `("reset", seed or None)` and
    `("render", None)` with what the game returns, or with the error that it
    raised, until `("close", None)` or the end of the pipe, as in labml's PPO
    tutorial. The game is `make(seed, env_id, **options)`: anything with the
    methods `step`, `reset` and `render`.
    """
    # From here on the worker [ignores
    # Ctrl-C](#spinning-and-yielding-the-core), which the parent handles.
    # `inbox` tells when a message is there.
    inbox = prepare_process(remote)
    game = None
    # If the parent is gone, `recv` raises an error, and so does the attempt to
    # report it: an `OSError`, which ends the loop.
    with contextlib.suppress(OSError):
        while True:
            # `wait_awake` polls for a moment [before `recv`
            # sleeps](#spinning-and-yielding-the-core).
            wait_awake(inbox)
            try:
                command, data = remote.recv()
                if command == "close":
                    return
                # The game is made here, so that an error while it is made is
                # sent back, too.
                if game is None:
                    game = make(seed, env_id, **options)
                remote.send(perform(game, command, data))
            except Exception as error:
                # The parent raises this error where it reads the answer.
                remote.send(Raised(error))


# #### Commands and errors


class Raised:
    """An error on its way to the process in which it is to be raised."""

    def __init__(self, error):
        # Some errors can't be *pickled*, turned into bytes, or can't be
        # unpickled. Their words can.
        try:
            pickle.loads(pickle.dumps(error))
        except Exception:
            words = "".join(traceback.format_exception_only(error)).strip()
            error = RuntimeError(words).with_traceback(error.__traceback__)
        # Pickling an error loses its traceback, so that goes along as text.
        self._error = pool.ExceptionWithTraceback(error, error.__traceback__)

    # To unpickle this object is to call `raise_error` with the error.
    def __reduce__(self):
        return raise_error, (self._error,)


def raise_error(error):
    """Raise `error`, at the other end of the pipe."""
    raise error


def perform(game, command, data):
    """Carry out a command; return what the game returns."""
    if command == "render":
        return game.render()
    if command in ("reset", "step"):
        return getattr(game, command)(data)
    raise NotImplementedError(f"unknown command {command!r}")


# #### The worker, as its parent sees it


class Worker(contextlib.AbstractContextManager):
    """
    A game in a process of its own.

    It takes the arguments of `Game`; a `context`, which is the name of a start
    method (`"fork"`, `"spawn"` or `"forkserver"`) or a context of
    `multiprocessing`; and `make`, which is called in place of `Game`.

    `child` is the parent's end of the pipe, a `Connection`.
    `child.send(("step", action))` sends a command, and `child.recv()` returns
    what `Game.step` returns or raises what it has raised; the first `recv`
    raises a wrong option's error. If the process has died, both raise
    `EOFError` or an `OSError`. `process` is the `multiprocessing.Process`,
    which `close()` or a `with` statement ends.
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
        if not isinstance(context, multiprocessing.context.BaseContext):
            context = multiprocessing.get_context(context)
        self.child, remote = context.Pipe()

        # Python ends a *daemon* process when the program exits.
        args = (remote, seed, env_id, make)
        self.process = context.Process(
            target=worker_process, args=args, kwargs=options, daemon=True
        )

        # The process also ends when this object is dropped. `exitpriority`
        # makes Python call `end_process` at exit, too, before it waits for its
        # children: it would wait for a suspended one forever.
        self._ends = (self.child, self.process, os.getpid())
        util.Finalize(self, end_process, args=self._ends, exitpriority=0)
        self.process.start()
        # Now only the worker holds this end: if it dies, the pipe breaks.
        remote.close()

    def close(self) -> None:
        """End the process, in whatever state it is; may be called twice."""
        end_process(*self._ends)

    def __exit__(self, *_):
        self.close()


# ### A share of the games
#
# All workers are sent their message before the first answer is waited for, so
# they play at the same time.


class Share:
    """
    The games of one process, played one after the other.

    Its methods are those of a game, so `worker_process` can play it like one.
    `step` and `reset` take a list with an item for each game. Every method
    returns a list of the episodes that have ended.

    A game is `make_game(seed, env_id, **options)`. `memory` holds a record for
    each game of all processes: its `reward`, `screen` and `final_obs`, and two
    buffers for its `obs`. `games` is the slice of the records that belongs
    here.
    """

    def __init__(
        self, seeds, env_id, make_game, options, games, memory, record, back
    ):
        self._games = [make_game(seed, env_id, **options) for seed in seeds]
        self._observations = [None] * len(seeds)

        # *Double buffering*: a record has two buffers for an observation.
        # Games write to one of them, whose number is `back.value`. The other
        # one holds what the caller was given last, which is needed if this
        # process dies while it writes. The parent swaps the two when every
        # share has answered.
        self._records = np.frombuffer(memory, record)[games]
        self._first = games.start
        self._back = back

    def step(self, actions):
        """Step all games; return a list of the episodes that have ended.

        It has `(number, terminated, episode_info)` for each, and is mostly
        empty.
        """
        ends = []
        rewards = self._records["reward"]
        rewards[:] = 0
        for i, action in enumerate(actions):
            # Under NEXT_STEP a game rests after an end: its action is `None`.
            if action is None:
                continue

            # Rewards go to the shared memory at once. The observation is kept,
            # since a game that rests in the next step shows it only then.
            game = self._games[i]
            self._observations[i], rewards[i], done, info = game.step(action)
            if done:
                self._records["final_obs"][i] = game.final_obs
                ends.append((self._first + i, game.terminated, info))
        self._show()
        return ends

    def _show(self):
        """Copy the observations to the shared memory."""
        written = self._records["obs"][:, self._back.value]
        for i, obs in enumerate(self._observations):
            written[i] = obs

    def reset(self, seeds):
        """Reset all games, each with its seed or `None`; no episode ends."""
        for i, game in enumerate(self._games):
            self._observations[i] = game.reset(seeds[i])
        self._show()
        return []

    def render(self):
        """Draw the colour screens of all games; no episode ends."""
        for i, game in enumerate(self._games):
            self._records["screen"][i] = game.render()
        return []


# ### The vector environment
#
# `Games` is what Gymnasium calls a *vector environment*: one `step` takes a
# batch of actions and returns a batch of observations. The *autoreset mode*
# says when the next episode begins: under SAME_STEP, the default here, in the
# step that ends the last one. Under NEXT_STEP, Gymnasium's default, a game
# *rests* in the step after that, and its action is ignored.
SAME_STEP = gym.vector.AutoresetMode.SAME_STEP
NEXT_STEP = gym.vector.AutoresetMode.NEXT_STEP

# `_waits_for` says which call is allowed next. Each command first sets it to
# RESET, where an error or Ctrl-C leaves it.
RESET = "reset"
STEP = "step"
ANSWERS = "answers"

# What a step of many games returns.
Batch = tuple[NDArray, NDArray, NDArray, NDArray, dict]


class Games(gym.vector.VectorEnv, contextlib.AbstractContextManager):
    """
    Many Atari games at once: a Gymnasium vector environment.

    An error of a game is raised here. After that, and after Ctrl-C, `step`
    raises `ResetNeeded` until `reset` is called. Calls after `close` raise
    `ClosedEnvironmentError`. Use it in one thread at a time.
    """

    metadata = {"render_modes": ["rgb_array"], "render_fps": 15}
    render_mode = "rgb_array"

    def __init__(
        self,
        num_envs: int,
        env_id: str | EnvSpec = BREAKOUT,
        *,
        seed: ArrayLike = 0,
        processes: int | None = None,
        timeout: float = 60.0,
        context: str | multiprocessing.context.BaseContext | None = None,
        autoreset_mode: gym.vector.AutoresetMode | str = SAME_STEP,
        make: Callable = Game,
        **game_options,
    ):
        """Make games, and start the processes that play them.

        - `num_envs`, `env_id`, `game_options`: how many games, and which;
        - `seed`: game i is seeded with `seed + i`, or `seed[i]` of a list;
        - `processes`: how many processes play them: `None` for one a core, 0
          to play them all in this process, with the same results;
        - `timeout`: a worker is replaced if the parent has waited this many
          seconds for its step, and one more of grace; starts and resets may
          take at least a minute;
        - `context`: a start method or a context, as for `Worker`;
        - `autoreset_mode`: Gymnasium's SAME_STEP or NEXT_STEP;
        - `make`: what makes a game from a seed, `env_id` and `game_options`:
          `Game`, a subclass, or anything with the methods and attributes that
          are used here. Its observations set the shape and the type.

        Raises `ValueError` or `TypeError` for bad arguments, and Gymnasium's
        own error for an unknown id.
        """
        # What needs no title is checked first.
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
        positive = isinstance(timeout, numbers.Real) and 0 < timeout < math.inf
        require(positive, "timeout as a number of seconds above 0", timeout)
        self._timeout = min(timeout, LONGEST_WAIT)
        self._start_timeout = max(self._timeout, START_TIMEOUT + num_envs)
        mode = gym.vector.AutoresetMode(autoreset_mode)
        require(mode.name != "DISABLED", "SAME_STEP or NEXT_STEP", mode)

        # A game made in this process checks the id and the options, and gives
        # the spaces.
        game = make(0, env_id, **game_options)
        obs = game.reset()

        # The attributes of a vector environment.
        n = self.num_envs
        self.spec = game.env.spec
        self.meanings = game.meanings
        self.autoreset_mode = mode
        self.metadata = {**self.metadata, "autoreset_mode": mode}
        limits = (0.0, 255.0) if obs.dtype == np.uint8 else (-np.inf, np.inf)
        space = gym.spaces.Box(*limits, obs.shape, obs.dtype)
        self.single_observation_space = space
        self.observation_space = batch_space(space, n)
        self.single_action_space = game.env.action_space
        self.action_space = batch_space(game.env.action_space, n)

        # Processes can only inherit this memory, so it is made before them.
        record = [
            ("reward", np.float64),
            ("screen", np.uint8, game.render().shape),
            ("obs", obs.dtype, (2, *obs.shape)),
            ("final_obs", obs.dtype, obs.shape),
        ]
        memory = multiprocessing.RawArray("B", n * np.dtype(record).itemsize)
        self._records = np.frombuffer(memory, record)
        self._back = multiprocessing.RawValue("B", 0)
        options = dict(memory=memory, record=record, back=self._back)
        options |= dict(env_id=env_id, make_game=make, options=game_options)
        self._worker_options = dict(options, make=Share, context=context)

        # Each process plays a slice of the games. Without processes there is
        # one share, of all games, which is played in this process.
        k = min(processes, n)
        self._slices = [slice(i * n // k, (i + 1) * n // k) for i in range(k)]
        self._share = None
        if k == 0:
            self._share = Share(self._seeds, games=slice(0, n), **options)

        # The ends of episodes in a step that was played here, and which games
        # rest in the next one.
        self._waits_for = RESET
        self._ends = []
        self._resting = []

        # A worker makes its games at the first command, so one is sent that
        # moves no game. If it raises an error, no worker is left behind.
        try:
            self._start_workers(range(k), "render")
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
        return [worker.child for worker in self._workers.values()]

    # #### A step
    #
    # A worker whose answer doesn't come, for whatever reason, is
    # [lost](#losing-a-worker).
    def step(self, actions: ArrayLike) -> Batch:
        """Step all games: `actions` are `num_envs` integers.

        Returns copies that are yours to change: `observations`, `uint8
        (num_envs, 4, 84, 84)`; `rewards`, `float64 (num_envs,)`; `terminated`
        and `truncated`, `bool (num_envs,)`; and `infos`, a dict that may have
        `"final_obs"` (SAME_STEP only), `"final_info"` and `"restarted"`. [A
        table](#what-step-returns) shows them all. Raises `ResetNeeded` before
        the first `reset`, and `ValueError` for bad actions: then no game has
        moved.
        """
        # The actions are checked, and each worker is sent those of its share.
        self._begin_step(actions)

        # The answers are waited for, and the batch is copied out of the shared
        # memory.
        return self._finish_step()

    def _begin_step(self, actions):
        """Check the actions, and ask for a step."""
        self._require_open()
        if self._waits_for == ANSWERS:
            raise gym.error.AlreadyPendingCallError("call step_wait()", "step")
        if self._waits_for == RESET:
            raise gym.error.ResetNeeded("call reset() before step()")
        # a list, in which a game that rests has `None`
        actions = check_actions(actions, self.meanings, (self.num_envs,))
        for number in self._resting:
            actions[number] = None
        self._ends = self._ask("step", actions)
        self._resting.clear()

    def _finish_step(self):
        """Gather the answers to a step; return what `step` returns."""
        ends, lost = self._gather(self._timeout)

        # An answer tells which episodes have ended: mostly none.
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

        # The games of a lost worker were cut short, so they are truncated.
        if lost:
            self._start_workers(lost, "reset")
            truncated |= self._report_restarts(lost, infos)

        # Rewards and observations are in the shared memory.
        rewards = self._records["reward"].copy()
        observations = self._take_observations()
        self._waits_for = STEP
        return observations, rewards, terminated, truncated, infos

    def _ask(self, command, data):
        """Send a command to all workers, with an item of `data` for each game.

        Unread answers to an earlier command are dropped first. Returns the
        ends of episodes if the games are played in this process.
        """
        self._waits_for = RESET
        self._read_answers(self._start_timeout)
        for i, worker in self._workers.items():
            worker.ask(command, data[self._slices[i]])
        return perform(self._share, command, data) if self._share else []

    def _gather(self, timeout):
        """Return the ends of episodes, and the numbers of lost workers.

        If a game has raised an error, `pickle.loads` [raises
        it](#commands-and-errors) here, after all workers have answered.
        """
        ends = []
        for answer in self._read_answers(timeout):
            ends += pickle.loads(answer)
        return ends, self._which(LOST)

    def _which(self, state):
        """Return the numbers of the workers that are in this state."""
        return [i for i, it in self._workers.items() if it.state == state]

    def _read_answers(self, timeout):
        """Return the answers that are owed, and lose workers that are late.

        `timeout` seconds are one deadline for all of them.
        """
        # The clock runs on while the whole program is stopped, for example by
        # Ctrl-Z, so a worker that is late is given some time to catch up.
        answers = []
        for seconds in (timeout, GRACE):
            deadline = time.monotonic() + seconds
            for i in self._which(ASKED):
                worker = self._workers[i]
                left = max(0.0, deadline - time.monotonic())
                if connection.wait([worker.child], left):
                    worker.read_into(answers)
        for i in self._which(ASKED):
            self._workers[i].state = LOST
        return answers

    # #### The reset, and the two halves of a step
    #
    # Between `step_async` and `step_wait` a program can do something else,
    # such as choosing the actions of other games.
    def reset(
        self, *, seed: ArrayLike | None = None, options: dict | None = None
    ) -> tuple[NDArray, dict]:
        """Start new games; return `observations, {}`.

        `observations` is `uint8 (num_envs, 4, 84, 84)`, a copy that is yours
        to change. `seed` is a number or a list, as in the construction. With
        `None` the games continue with the random numbers that they have; the
        first time, and after an error or Ctrl-C, they start from the seeds
        that were given last. `options` must be empty. `reset` is allowed at
        any time before `close`.
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

    def step_async(self, actions: ArrayLike) -> None:
        """Begin a step, and return at once if other processes play.

        It takes what `step` takes, and raises the same errors. Until
        `step_wait` is called, another step raises `AlreadyPendingCallError`.
        """
        self._begin_step(actions)
        self._waits_for = ANSWERS

    def step_wait(self) -> Batch:
        """Wait for the step that was begun; return what `step` returns.

        Raises `NoAsyncCallError` if none was.
        """
        self._require_open()
        if self._waits_for != ANSWERS:
            raise gym.error.NoAsyncCallError("call step_async()", "step")
        self._waits_for = RESET
        return self._finish_step()

    def _report_end(self, number, info, infos):
        """Report the end of an episode, as the mode requires.

        In Gymnasium the infos of all games are one dict, with an array for
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

        They are copies that are yours to change. Those of a lost worker are
        black; the next step or reset replaces it, and a step reports that.
        """
        self._require_open()
        if self._waits_for == ANSWERS:
            raise gym.error.AlreadyPendingCallError("call step_wait()", "step")
        waits_for = self._waits_for
        self._ask("render", [None] * self.num_envs)
        _, lost = self._gather(self._timeout)
        for i in lost:
            self._records["screen"][self._slices[i]] = 0
            # A late worker is killed, so that `pipes` shows it as ready.
            self._workers[i].process.kill()
        self._waits_for = waits_for
        return tuple(self._records["screen"].copy())

    # #### When a worker is replaced
    #
    # A new worker starts its games over from their seeds, and the step waits
    # for it. If its first answer doesn't come, the next worker's probably
    # wouldn't, either: `Games` gives up, and closes.
    def _start_workers(self, numbers_of_shares, command):
        """Start workers, and wait until they have carried out a command.

        If one of them doesn't answer, this closes the games and raises
        `RuntimeError`.
        """
        # The old worker is ended first. If it is merely late, it would write
        # to the same memory as the new one.
        for i in numbers_of_shares:
            if i in self._workers:
                self._workers[i].close()
            games = self._slices[i]
            seeds = self._seeds[games]
            worker = ShareWorker(seeds, games=games, **self._worker_options)
            self._workers[i] = worker
            worker.ask(command, seeds)

        # The `repr` of a process says how it ended, such as by which signal.
        _, lost = self._gather(self._start_timeout)
        if lost:
            process = self._workers[lost[0]].process
            process.join(GRACE)
            how = repr(process)
            self.close()
            raise RuntimeError(f"a new worker didn't answer: {how}")

    def _report_restarts(self, lost, infos):
        """Report games that start over; return the mask of them."""
        restarted = np.zeros(self.num_envs, bool)
        for i in lost:
            restarted[self._slices[i]] = True
        infos["restarted"] = restarted

        # Their last observation is the one that the caller was given last.
        seen = self._records["obs"][:, 1 - self._back.value]
        self._records["final_obs"][restarted] = seen[restarted]
        self._records["reward"][restarted] = 0
        for number in np.flatnonzero(restarted):
            self._report_end(number, {}, infos)
        return restarted

    # #### Closing
    #
    # `Games` is a *context manager*: a `with` statement ends all processes.
    def close_extras(self, **_):
        """End all workers; called by `close`, as Gymnasium has it."""
        for worker in self._workers.values():
            worker.close()

    def __exit__(self, *_):
        self.close()

    # `copy` and `pickle` call this. Two owners would close each other's pipes.
    def __reduce__(self):
        raise TypeError("Games can't be copied or pickled: make another one")

    def _require_open(self):
        """Raise an error after `close`, or in a forked copy of the program."""
        if self.closed:
            raise gym.error.ClosedEnvironmentError("the games are closed")
        if os.getpid() != self._owner:
            raise RuntimeError("these games belong to another process")


# ## 3. Behind it
#
# ### Checking the input


def require(condition, expected, got):
    """Raise a `ValueError` that says what was expected, unless `condition`."""
    if not condition:
        raise ValueError(f"expected {expected}, got {got!r}")


def check_number(name, value, least=0):
    """Return `value` as an `int`, which must be at least `least`."""
    expected = f"{name} as an integer of at least {least}"
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"expected {expected}, got {value!r}") from None
    require(number >= least, expected, value)
    return number


def require_atari(env_id):
    """Raise a `ValueError` if `env_id` is not that of an Atari title.

    For an unknown id Gymnasium has an error of its own.
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
    """Return `actions` as Python integers, or raise a `ValueError`.

    This checks a single action, of shape `()`, or a batch. Python, NumPy and
    PyTorch integers are accepted; floats aren't, not even whole ones, since
    they can't be used as an index.
    """
    cause = None
    try:
        array = np.asarray(actions)
    except (TypeError, ValueError, RuntimeError) as error:
        # PyTorch's error says what to do with a tensor on a GPU.
        cause = error
    else:
        if array.dtype.kind in "iu" and array.shape == shape:
            # For a few numbers, Python's `min` and `max` beat NumPy's.
            flat = array.ravel().tolist()
            if min(flat) >= 0 and max(flat) < len(meanings):
                return array.tolist()
    most = len(meanings) - 1
    names = ", ".join(meanings)
    expected = f"integers from 0 to {most} ({names}), of shape {shape}"
    raise ValueError(f"expected {expected}, got {actions!r}") from cause


# ### Resets by snapshot
#
# A true reset plays 60 frames until the console has booted. Under "restart",
# where every lost life causes one, that adds up. So the state after the first
# reset is kept as a *snapshot*, and each later reset restores it. All games
# then start from the same state, whereas a true reset carries over some memory
# of the previous game in 25 of the 104 titles.
#
# The snapshots of five titles leave something out: after a restore, screens or
# memory differ. These titles take true resets. With `GAME_TESTS=all`,
# `test_game.py` checks all titles for this.
NO_SNAPSHOT = {"amidar", "koolaid", "qbert", "tetris", "trondead"}


class Console:
    """Resets the emulator of `env`, and shows its screen."""

    def __init__(self, env):
        self._env = env
        self._ale = env.unwrapped.ale

        # With sticky actions the emulator sometimes repeats the previous
        # action instead of the new one (Machado et al. 2018). A snapshot
        # doesn't hold the previous action, so true resets are used then.
        sticky = self._ale.getFloat("repeat_action_probability") > 0
        title = env.spec.kwargs["game"]
        self._trusts_snapshots = not sticky and title not in NO_SNAPSHOT
        self._state = None
        self._frame_number = -1  # of no frame

    def reset(self, seed):
        """Start a game; a `seed` seeds its random numbers."""
        # The emulator itself needs a seed only for sticky actions. It accepts
        # one only when it reloads the title, which takes 100 ms.
        if not self._trusts_snapshots:
            self._env.reset(seed=seed)
        elif self._state is not None:
            self._env.unwrapped.restore_state(self._state)
        else:
            # Restoring a snapshot doesn't redraw the screen; the next frame
            # does. So the first screen is kept, too, and the number of its
            # frame, which isn't 0 in all titles.
            self._env.reset()
            self._frame_number = self._ale.getEpisodeFrameNumber()
            self._first_gray = self._ale.getScreenGrayscale()
            self._first_colour = self._ale.getScreenRGB()
            self._state = self._env.unwrapped.clone_state()

        # Gymnasium's random generator samples the no-op starts.
        if seed is not None:
            self._env.unwrapped.seed_game(seed)

    def _shows_snapshot(self):
        """Return whether no frame was drawn since a restore."""
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


# ### Resizing only what has changed
#
# Every 5 of the 210 rows of a screen become exactly 2 rows of the picture. So
# a screen consists of 42 bands of 5 rows, and only the bands in which
# something has changed are resized, all together as one strip. (Taller screens
# have fewer bands: 250 rows make two bands of 125.)


def shrink_changes(shrink, screen, last_screen, last_picture):
    """Return `shrink(screen)`, given the last screen and its picture."""
    # A subclass's `shrink` may give a different result band by band.
    if shrink is not Game.shrink:
        return shrink(screen)
    height = len(screen)
    bands = math.gcd(height, SIZE)
    changed = (screen != last_screen).reshape(bands, -1).any(axis=1)
    strip = screen[changed.repeat(height // bands)]
    picture = last_picture.copy()
    if len(strip) > 0:
        size = SIZE, len(strip) * SIZE // height
        rows = changed.repeat(SIZE // bands)
        picture[rows] = cv2.resize(strip, size, interpolation=cv2.INTER_AREA)
    return picture


# ### Losing a worker
#
# Whatever goes wrong between two processes is treated alike, as an answer that
# doesn't come: the pipe of a worker that has died is broken, a worker that
# doesn't answer in time counts as dead, and a pipe that was interrupted in the
# middle of a message can't be trusted any more. Such a worker is *lost*: it
# receives no more commands, and another takes its place.
IDLE = "idle"
ASKED = "asked"
LOST = "lost"


class ShareWorker(Worker):
    """A worker that plays a share; `state` is one of the three above."""

    state = IDLE

    # The state is LOST until the message is complete, whatever interrupts it.
    def ask(self, command, data):
        """Send a command, unless the worker is lost."""
        if self.state == LOST:
            return
        self.state = LOST
        try:
            # An interrupted `send` would leave a buffer that crashes Python
            # 3.12.1 when it is collected.
            self.child.send_bytes(pickle.dumps((command, data)))
            self.state = ASKED
        except OSError as error:
            if not raised_by_pipe(error):
                raise

    def read_into(self, answers):
        """Add the bytes of the answer to a list."""
        self.state = LOST
        try:
            answers.append(self.child.recv_bytes())
            self.state = IDLE
        except (EOFError, OSError) as error:
            if not raised_by_pipe(error):
                raise


def raised_by_pipe(error):
    """Return whether a pipe has raised `error`, and not a signal handler.

    Python calls the program's handlers between any two lines, and they may
    raise anything, even `TimeoutError`, which is an `OSError`.
    """
    *_, (frame, _) = traceback.walk_tb(error.__traceback__)
    return frame.f_globals["__name__"] == connection.__name__


# ### Spinning, and yielding the core
AWAKE = 0.0003  # seconds


def prepare_process(pipe):
    """Prepare this process; return a selector that watches `pipe`."""
    # Ctrl-C in a terminal reaches every process in it, but the parent decides
    # what happens then. A forked process also inherits the program's signal
    # handlers, which mustn't run here: one of them may write a checkpoint.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for number in signal.valid_signals():
        if callable(signal.getsignal(number)):
            signal.signal(number, signal.SIG_DFL)
    threading.Thread(target=leave_with_parent, daemon=True).start()
    # OpenCV's own threads would compete with the other workers for the cores.
    cv2.setNumThreads(0)

    # On Linux a process that wakes up may interrupt another one: here the
    # parent, which has just woken it with a message, and would have to wait
    # until a share of the games has played. Under `SCHED_BATCH` it interrupts
    # nobody. Not every system has this policy, or allows it.
    with contextlib.suppress(AttributeError, OSError):
        os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))

    # `pipe.poll()` makes a selector for each call, which takes five times as
    # long as using one that is kept.
    inbox = selectors.DefaultSelector()
    inbox.register(pipe, selectors.EVENT_READ)
    return inbox


def wait_awake(inbox):
    """Wait a moment for a message without going to sleep: *spinning*.

    It takes longer to wake up a process that sleeps than to send it a message.
    `sched_yield` offers the core to other processes meanwhile. Eight games
    gained up to a sixth where this was measured.
    """
    if hasattr(os, "sched_yield"):  # on Windows a selector can't watch pipes
        until = time.perf_counter() + AWAKE
        while not inbox.select(0) and time.perf_counter() < until:
            os.sched_yield()


# ### How a worker starts and ends
START_TIMEOUT = 60.0  # seconds for a start or a reset, and one more a game
LONGEST_WAIT = 1e6  # seconds, or twelve days: systems can't wait much longer
GRACE = 1.0  # seconds, for a worker that is late
END_TIMEOUT = 5.0  # seconds, for the system to end a process
LOOK_EVERY = 1.0  # seconds, for a worker to see that its parent is gone


def count_cores():
    """Return how many cores this process may use.

    Under `taskset`, or in a container bound to some cores, that is fewer than
    the machine has, which only Linux reports. A limit on CPU time, such as
    that of `docker --cpus`, isn't detected: pass `processes`.
    """
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count()


def leave_with_parent():
    """End this process within seconds of its parent's death.

    The parent's end of the pipe is closed then, but a worker whose game hangs
    doesn't notice, and neither does one whose pipe a fork has copied. (A game
    that hangs while it holds the GIL stops this thread, too.)
    """
    parent = multiprocessing.parent_process()
    parent_id = os.getppid()
    while parent.is_alive() and os.getppid() == parent_id:
        parent.join(LOOK_EVERY)
    os._exit(1)


def end_process(pipe, process, owner):
    """End `process`, in whatever state it is, and close `pipe`.

    It does nothing outside the process `owner`: a forked copy of the program
    has a copy of the worker, too.
    """
    if os.getpid() != owner:
        return

    # A worker has nothing to save, so it is killed, which also ends a process
    # that is stopped or hangs. The pipe is closed first: if Ctrl-C interrupts
    # the rest, a waiting worker ends by itself.
    pipe.close()
    if process.pid is not None:
        process.kill()
        process.join(END_TIMEOUT)


# ### The main program
ZOOM = 2  # of the image
MARGIN = 24  # pixels above it
REPORT_EVERY = 10  # steps


def main():
    """Play Atari games at random, and leave an image: game.png."""
    parser = argparse.ArgumentParser(
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

    # A wrong argument is one line on the screen, with Gymnasium's suggestion
    # if it has one.
    try:
        check_number("games", n, least=1)
        check_number("steps", args.steps, least=1)
        games = Games(n, args.env_id, seed=args.seed, on_life_loss="ignore")
    except (gym.error.Error, ImportError, TypeError, ValueError) as error:
        parser.exit(2, f"{parser.prog}: {error}\n")

    # labml's warning that its settings file is missing is of no use here.
    with open(os.devnull, "w") as null, contextlib.redirect_stdout(null):
        from labml import lab, monit, tracker

        lab.get_path()

    rng = np.random.default_rng(args.seed)
    scores = []
    steps = 0
    with games, open("game.png", "wb") as file:
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
    """Return an image of `observations`, `(games, 4, 84, 84)`, as a PNG."""
    image = np.vstack([np.hstack(stack) for stack in observations])
    image = image.repeat(ZOOM, axis=0).repeat(ZOOM, axis=1)
    image = np.pad(image, ((MARGIN, 0), (0, 0)))
    label = "What each agent saw: its last four steps, the newest on the right"
    cv2.putText(image, label, (8, 16), cv2.FONT_HERSHEY_PLAIN, 1, color=255)
    return cv2.imencode(".png", image)[1]


if __name__ == "__main__":
    main()
