"""
# Breakout, annotated

What does an agent see of an Atari game? What DQN saw, the first program that
learned many of these games from their screens (Mnih et al. 2015): four small
gray pictures, one for each of its last four decisions. This module makes them:
for one game, for a game in a process of its own, and for many games at once.
It is written to be read from top to bottom and to be copied as it is.

| what | type and shape | meaning |
| --- | --- | --- |
| screen | `uint8 (210, 160, 3)` | one frame in colour (some are higher) |
| observation | `uint8 (4, 84, 84)` | four pictures, the oldest first |
| action | a whole number | an index into the list of actions |
| reward | `float` | the points won in one step |
"""

import argparse
import contextlib
import copy
import multiprocessing
import numbers
import operator
import os
import pickle
import re
import selectors
import signal
import sys
import threading
import time

# Python's own pool of processes is made with these, too: an error keeps its
# traceback on the way, and something is done after each fork and at the end.
from multiprocessing import pool, util
from typing import NamedTuple

# The emulator is the Arcade Learning Environment, ALE (Bellemare et al. 2013);
# importing `ale_py` makes its titles known to Gymnasium. Gymnasium is the
# interface of `reset` and `step` that learning programs in Python share.
# OpenCV, `cv2`, shrinks the pictures.
import ale_py
import cv2
import gymnasium as gym
import numpy as np
from gymnasium import vector

# ## Words and sizes
#
# What these words mean here, all the way down:
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
# - **row**: the games that one process plays.
#
# Baselines, Stable-Baselines3 (SB3), CleanRL, EnvPool and labml, from which
# conventions come, are programs of others: see [who is who](#who-is-who). PPO
# is the way of learning that most of them have.
BREAKOUT = "BreakoutNoFrameskip-v4"
ACTION_REPEAT = 4  # frames to a step
STACK = 4  # pictures to an observation
SIZE = 84  # pixels of a picture, both ways

# ## One game


class Snapshot(NamedTuple):
    """The state that later games start from, and the screen that it shows.

    Why there is one is said below, under "Where a game starts".
    """

    state: object
    frame_number: int
    gray: np.ndarray  # (height, 160)
    colour: np.ndarray  # (height, 160, 3)


class Game:
    """
    One Atari game, the way DQN saw it.

    `seed` is a whole number from 0 on, `env_id` the id of an Atari title or an
    `EnvSpec` of Gymnasium's, whose wrappers and `max_episode_steps` are left
    out. The options:

    - `on_life_loss`: `"restart"`, `"continue"` or `"ignore"`, see below;
    - `noop_max`: a game starts with 1 to `noop_max` no-op frames; 0 is none;
    - `fire_on_reset`: FIRE is pressed before an episode's first observation;
    - `clip_reward`: a step's reward becomes -1, 0 or 1.

    `env` is the Gymnasium environment, `meanings` are its actions' names, and
    `final_obs` is the last observation of the episode that ended last. Bad
    options raise `ValueError` or `TypeError`, an unknown id Gymnasium's error.
    """

    def __init__(
        self,
        seed,
        env_id=BREAKOUT,
        *,
        on_life_loss="restart",
        noop_max=0,
        fire_on_reset=False,
        clip_reward=False,
    ):
        # What can be checked is checked before the emulator is loaded.
        modes = list(self.MODES)
        require(
            on_life_loss in modes, f"on_life_loss of {modes}", on_life_loss
        )
        # How many lives must be left for a lost life to end the episode.
        self._lives_needed = self.MODES[on_life_loss]
        self._restarts = on_life_loss == "restart"
        self._seed = check_number("seed", seed)
        self._noop_max = check_number("noop_max", noop_max)
        self._clip_reward = clip_reward
        require_atari(env_id)
        if not isinstance(env_id, str):
            # What a spec wraps around a game would be around this one.
            env_id = copy.copy(env_id)
            env_id.additional_wrappers = ()

        # The ids of a title differ in how many frames they hold an action:
        # `…NoFrameskip-v4` one, `…-v4` two to four at random, `ALE/…-v5` four.
        # With `frameskip=1` that is up to us, and the ids then differ only in
        # whether actions are sticky, which is explained further down. The
        # console's memory ("ram") is the environment's own observation since
        # it costs next to nothing: nobody looks at it.
        self.env = gym.make(env_id, frameskip=1, obs_type="ram")
        self.meanings = self.env.unwrapped.get_action_meanings()
        self._ale = self.env.unwrapped.ale
        self._actions = [
            getattr(ale_py.Action, name) for name in self.meanings
        ]
        require(
            noop_max == 0 or self.meanings[0] == "NOOP",
            "noop_max of 0 for a title whose action 0 isn't NOOP",
            noop_max,
        )
        self._fires = bool(fire_on_reset) and "FIRE" in self.meanings

        # What the agent sees: the stack of pictures, the last gray screen with
        # its picture, and in how many bands a screen is looked at.
        self.observation = np.zeros((STACK, SIZE, SIZE), np.uint8)
        self.final_obs = None
        black_screen = np.zeros_like(self._ale.getScreenGrayscale())
        self._last = (black_screen, self.observation[-1])
        self._bands = int(np.gcd(len(black_screen), SIZE))

        # How the game stands. `terminated` is whether the episode that ended
        # last was lost, and not cut short.
        self.terminated = False
        self._started = False
        self._lives = 0
        self._score = 0.0
        self._length = 0
        self._snapshot = None

    def step(self, action):
        """Hold `action` for four frames.

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
        action = check_actions(action, (), self.meanings)
        reward, done, episode_info = self.play(action)
        return self.observation.copy(), reward, done, episode_info

    # ## What the agent sees
    #
    # ### Four frames, of which two are seen
    #
    # Sixty decisions a second are more than a game needs. DQN decides fifteen
    # times a second and holds each action for four frames, so that the same
    # computing pays for four times as much play.
    def play(self, action):
        """Hold a checked action; return `reward, done, episode_info`.

        `step` without the check and without a copy, for a row of games: what
        is seen lies in `observation`, which the next step changes.
        """
        if not self._started:
            raise gym.error.ResetNeeded("call reset() before step()")
        held = self._actions[action]
        reward = 0.0
        for frame in range(1, ACTION_REPEAT + 1):
            reward += self._ale.act(held)

            # Lives are read after every frame: a life won and a life lost
            # within one step would cancel out. A lost life ends the episode
            # only if enough of them are left.
            lives_before = self._lives
            self._lives = self._ale.lives()
            lost = self._lives_needed <= self._lives < lives_before
            over = self._ale.game_over()
            if lost or over:
                break
            if frame == ACTION_REPEAT - 1:
                third = self._ale.getScreenGrayscale()

        # The console can draw only a few objects at a time, so many titles
        # draw some of them on even frames and the others on odd ones, and the
        # glow of a television blended the two. An agent that looks at every
        # fourth frame may miss half of the world. DQN takes the brighter of
        # the last two frames, pixel by pixel. It does so at full size: if they
        # were shrunk first, small things would be dimmed before they are
        # compared. If the episode ends before frame 4, its last screen is
        # taken alone.
        screen = self._ale.getScreenGrayscale()  # (210, 160)
        if frame == ACTION_REPEAT:
            np.maximum(third, screen, out=screen)
        self._add_picture(screen)

        # The score of the game stays raw, whatever the learner is given.
        self._score += reward
        self._length += 1
        if self._clip_reward:
            reward = float(np.sign(reward))
        if not (lost or over):
            return reward, False, None

        # A game that was cut short isn't lost.
        game_lost = self._ale.game_over(with_truncation=False)
        self.terminated = lost or game_lost
        self.final_obs = self.observation.copy()
        return reward, True, self._begin_episode(over or self._restarts)

    # ### Small and gray
    #
    # A screen has 33,600 pixels in 128 colours. DQN took the brightness alone
    # and shrank it to 84×84, which a network of its day could take in. With
    # `INTER_AREA` each new pixel is the mean of the area it covers: a ball two
    # pixels wide fades, but it can't fall between two samples.
    #
    # ### The stack
    #
    # One picture doesn't show which way the ball flies; four of them do. They
    # are those of the last four steps, sixteen frames, and not of four frames
    # in a row.
    def _add_picture(self, screen):
        """Add the picture of a gray screen to the stack."""
        # From one step to the next most of the screen stays as it is. And of
        # its 210 rows, every 5 become exactly 2 of the picture. So the screen
        # is looked at in 42 bands of 5 rows, and only the bands in which
        # something has changed are cut out and shrunk, as one low strip. The
        # picture is the same to the last bit, and in Breakout it takes a third
        # of the time. (Higher screens have fewer bands: 250 rows are two of
        # 125.)
        last_screen, last_picture = self._last
        changed = (screen != last_screen).reshape(self._bands, -1).any(axis=1)
        strip = screen[changed.repeat(len(screen) // self._bands)]
        picture = last_picture.copy()
        if len(strip) > 0:
            size = (SIZE, len(strip) * SIZE // len(screen))  # width, height
            strip = cv2.resize(strip, size, interpolation=cv2.INTER_AREA)
            picture[changed.repeat(SIZE // self._bands)] = strip

        # A screen and its picture are replaced in one statement: Ctrl-C may
        # come at any line, and later pictures are made from these two.
        self._last = (screen, picture)
        self.observation[:-1] = self.observation[1:]
        self.observation[-1] = picture

    # ## What ends an episode
    #
    # In a game of five lives an agent learns sooner what to avoid if each lost
    # life ends an episode. But then it never learns that a life can be spent,
    # and the score of a life is not the score of a game; Machado et al. (2018)
    # advise against it. So there are three modes. `"restart"` ends the episode
    # and starts the game over, as labml's tutorial and Gymnasium do.
    # `"continue"` ends it and goes on with the same game, as OpenAI's
    # Baselines and [most after them](#a-lost-life-elsewhere) do. With
    # `"ignore"` only the end of the game ends an episode.
    #
    # `MODES` says how many lives must be left for a lost life to end the
    # episode. `"continue"` wants one, so the last life waits for the end of
    # the game, as in Baselines: 11 of 104 titles go on for 69 to 5,400 frames
    # without a life, and nobody wants those as an episode.
    MODES = {"restart": 0, "continue": 1, "ignore": float("inf")}

    def _begin_episode(self, restarts, seed=None):
        """Begin an episode, in a new game if `restarts`.

        Returns the `episode_info` of the game that was ended, or `None`.
        """
        episode_info = None
        if restarts:
            episode_info = self._reset_emulator(seed)

        # ### FIRE first
        #
        # Breakout waits for FIRE to serve the ball, and an agent may take long
        # to find that out. With `fire_on_reset` it is pressed for one step
        # before each episode's first observation, and nothing of that step
        # counts (Baselines' `FireReset`; SB3 and EnvPool press it in ways of
        # their own).
        if self._fires:
            for _ in range(ACTION_REPEAT):
                self._ale.act(ale_py.Action.FIRE)

        # If even that ends the game it is reset, maybe for the second time in
        # this step; the info is that of the first. FIRE isn't pressed again.
        if self._ale.game_over():
            second_info = self._reset_emulator()
            if episode_info is None:
                episode_info = second_info

        # An episode's first observation is the screen as it is, four times.
        self._lives = self._ale.lives()
        self._add_picture(self._gray_screen())
        self.observation[:] = self.observation[-1]
        return episode_info

    # ### Where a game starts
    #
    # A true reset takes 5 ms, since the emulator plays 60 frames to let the
    # console boot. When lives are lost every 30 to 60 steps that adds up. So
    # the state after the first reset is kept as a snapshot and put back at
    # each later one, in 0.03 ms. Every game then starts from the same state,
    # and depends on the actions and, if there is any chance in it, on the seed
    # alone; a true reset carries some memory of the game before over, in 25 of
    # the 104 titles.
    #
    # Five titles keep something that no snapshot holds: they take true resets,
    # and so do games with sticky actions.
    NO_SNAPSHOT = {"amidar", "koolaid", "qbert", "tetris", "trondead"}

    def _reset_emulator(self, seed=None):
        """Reset the emulator; return the info of the game that was played."""
        # The ids stop a game after 108,000 frames, half an hour (as in Hessel
        # et al. 2018). Such a game is truncated, not lost, and a learner may
        # want to know. One that is over on that very frame isn't truncated.
        lost = self._ale.game_over(with_truncation=False)
        truncated = self._ale.game_truncated() and not lost
        episode_info = {
            "reward": self._score,
            "length": self._length,
            "truncated": truncated,
        }
        self._score = 0.0
        self._length = 0

        # Sticky actions are ALE's remedy for agents that learn moves by heart:
        # with a probability of 0.25 the action before is played once more
        # (Machado et al. 2018). A snapshot leaves out which one that was.
        #
        # The emulator gets a seed only where no snapshot is used. For a seed
        # Gymnasium loads the title anew, in 90 ms, since ALE takes a seed only
        # then; and without sticky actions ALE has no use for one.
        sticky = self._ale.getFloat("repeat_action_probability") > 0
        title = self.env.spec.kwargs["game"]
        if self._snapshot is not None:
            self.env.unwrapped.restore_state(self._snapshot.state)
        elif sticky or title in self.NO_SNAPSHOT:
            self.env.reset(seed=seed)
        else:
            self.env.reset()
            self._snapshot = Snapshot(
                self.env.unwrapped.clone_state(),
                self._ale.getEpisodeFrameNumber(),
                self._ale.getScreenGrayscale(),
                self._ale.getScreenRGB(),
            )

        # Gymnasium's own random numbers are seeded in any case. DQN let up to
        # 30 frames pass before the agent's first decision, so that games don't
        # all start alike. How many is drawn as Gymnasium draws it, and a game
        # that ends among them is reset as there, so that the same seed gives
        # the same game.
        if seed is not None:
            self.env.unwrapped.seed_game(seed)
        if self._noop_max > 0:
            rng = self.env.unwrapped.np_random
            for _ in range(rng.integers(1, self._noop_max + 1)):
                self._ale.act(ale_py.Action.NOOP)
                if self._ale.game_over():
                    self.env.reset(seed=seed)
        return episode_info

    def _shows_snapshot(self):
        """Whether the screen is that of the snapshot.

        A snapshot doesn't hold the screen, which is drawn with the next frame
        only. So the first screen is kept beside it, and the number of its
        frame, which isn't 0 in all titles.
        """
        if self._snapshot is None:
            return False
        frame_number = self._ale.getEpisodeFrameNumber()
        return frame_number == self._snapshot.frame_number

    def _gray_screen(self):
        """Return the screen as it is now, `uint8 (height, 160)`."""
        if self._shows_snapshot():
            return self._snapshot.gray
        return self._ale.getScreenGrayscale()

    # A worker passes something to each method that it calls, here `None`.
    def render(self, _=None):
        """Return the colour screen as it is now, `uint8 (height, 160, 3)`.

        The array is a copy, yours to change.
        """
        if self._shows_snapshot():
            return self._snapshot.colour.copy()
        return self._ale.getScreenRGB()

    def reset(self, seed=None):
        """Start a new game; return its first observation.

        That is `uint8 (4, 84, 84)`, the same picture four times, a copy that
        is yours to change. The first reset takes the seed of the construction.
        With a `seed` everything starts over: the same actions then give the
        same results.
        """
        if seed is not None:
            seed = check_number("seed", seed)
        elif not self._started:
            seed = self._seed
        self._begin_episode(restarts=True, seed=seed)
        self._started = True
        return self.observation.copy()


# ### What may come in
#
# A wrong shape, a NaN or an action of another title is a bug in the caller,
# and is reported before any game has moved.


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
    atari = "game" in getattr(spec, "kwargs", {})
    require(atari, "the id of an Atari title", env_id)


def check_actions(actions, shape, meanings):
    """Return `actions` as plain numbers, or raise a `ValueError`.

    One check serves a single action, of shape `()`, and a batch of them.
    Integers of Python, NumPy and PyTorch are fine. Whole floats are refused:
    an action that is a float is one that somebody forgot to turn into an
    index. `meanings` are the names of the actions.
    """
    with contextlib.suppress(TypeError, ValueError, RuntimeError):
        array = np.asarray(actions)
        if array.dtype.kind in "iu" and array.shape == shape:
            # A few numbers are compared faster by Python than by NumPy.
            flat = array.ravel().tolist()
            if min(flat) >= 0 and max(flat) < len(meanings):
                return array.tolist()
    most = len(meanings) - 1
    names = ", ".join(meanings)
    expected = f"whole numbers from 0 to {most} ({names}), of shape {shape}"
    raise ValueError(f"expected {expected}, got {actions!r}")


# ## A game in another process
#
# The emulator holds Python's global lock (the GIL) while it plays, so threads
# gain nothing: to use a second core a game needs a process of its own.
# Commands go to that process through a pipe as `(command, data)`, and each but
# `close` is answered. The loop knows nothing of Atari: it plays anything with
# the methods `step`, `reset` and `render`.


def worker_process(remote, seed, env_id=BREAKOUT, make=Game, **options):
    """Play a game for whoever is at the other end of the pipe `remote`.

    Answers `("step", action)`, `("reset", seed or None)` and
    `("render", None)` with what the game returns, or with the exception that
    it raised. Ends at `("close", None)` or when the pipe is closed. `make`
    makes the game of `seed`, `env_id` and `options`. The protocol is that of
    labml's PPO tutorial.
    """
    # Ctrl-C in a terminal goes to every process that runs in it, but what is
    # to happen then is for the parent to decide.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=leave_with_parent, daemon=True).start()
    # OpenCV's own threads would fight with the other workers for the cores.
    cv2.setNumThreads(0)
    become_batch_job()
    # Made once, where `remote.poll` would make one at each call.
    selector = selectors.DefaultSelector()
    selector.register(remote, selectors.EVENT_READ)

    game = None
    # When the pipe breaks the parent is gone.
    with contextlib.suppress(EOFError, OSError):
        while True:
            wait_awake(selector)
            message = remote.recv()

            # An error in the game doesn't end the worker: it is the answer,
            # and is raised in the parent. Its traceback would be lost on the
            # way, so it goes along as text, as in Python's own pool.
            try:
                command, data = message
                if command == "close":
                    return
                # Made here, so that an error in it becomes the answer, too.
                if game is None:
                    game = make(seed, env_id, **options)
                if command not in ("step", "reset", "render"):
                    raise NotImplementedError(f"unknown command {command!r}")
                answer = getattr(game, command)(data)
            except Exception as error:
                answer = pool.ExceptionWithTraceback(
                    error, error.__traceback__
                )

            # What can't be pickled can't be sent, an odd error perhaps.
            try:
                remote.send(answer)
            except (AttributeError, TypeError, pickle.PicklingError) as error:
                remote.send(RuntimeError(f"{answer!r} can't be sent: {error}"))


# ### Waiting awake, and making way
#
# From here to the end of this part it is plumbing: how a worker waits, how it
# leaves, and how it is started, asked and ended. On a first reading the note
# at the head of `Worker` is enough.
AWAKE = 0.0003  # seconds


def give_way():
    """Let another process have this core for a moment, if one wants it."""
    if hasattr(os, "sched_yield"):
        os.sched_yield()
    else:
        time.sleep(0)  # Windows


def wait_awake(selector):
    """Wait a moment for a message without going to sleep.

    A process that sleeps takes longer to wake than a message takes to arrive.
    Looking again and again for 0.3 ms makes everything faster with few games,
    and the other processes go first. Windows can't look at a pipe so.
    """
    asleep = time.perf_counter() + AWAKE
    with contextlib.suppress(OSError):
        while not selector.select(0) and time.perf_counter() < asleep:
            give_way()


def become_batch_job():
    """Let the program go on when its message wakes this process up.

    Linux may let a process that wakes up interrupt another: here the program
    that has just sent the message, and that then waits while a row of games
    plays. A batch job that wakes up interrupts nobody. Where there is no
    such thing, or it isn't allowed, all goes on without.
    """
    if hasattr(os, "SCHED_BATCH"):
        with contextlib.suppress(OSError):
            os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))


def leave_with_parent():
    """End this process within a second after its parent, however that died.

    A parent that is killed can't say goodbye. Mostly a worker learns of it by
    its pipe, which is closed then; but not while a game hangs, nor if some
    other process holds a copy of the parent's end.
    """
    parent = multiprocessing.parent_process()
    parent_id = os.getppid()
    while parent.is_alive() and os.getppid() == parent_id:
        parent.join(1)
    os._exit(1)


# ### The worker, seen from the parent
#
# A process is a thing to look after: it has to end when nobody needs it any
# more, and when it dies, whoever waits for it has to learn how.


class OwnsProcesses:
    """What has processes: a `with` statement ends them; no copies."""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    # `copy` and `pickle` ask for this. Two owners would close each other's
    # pipes.
    def __reduce__(self):
        name = type(self).__name__
        raise TypeError(f"{name} can't be copied or pickled: make another one")


class Worker(OwnsProcesses):
    """
    A game in a process of its own.

    Takes what `Game` takes, and as `context` the name of a start method
    (`"fork"`, `"spawn"` or `"forkserver"`) or a context of `multiprocessing`;
    and with `make=MyGame` it plays that in place of a `Game`.
    `worker.child.send(("step", action))` asks, and `worker.child.recv()`
    brings what `Game.step` returns, as in labml's PPO tutorial. `process` is
    the `multiprocessing.Process`; `close()` or a `with` statement ends it.
    What is wrong with the arguments is raised by the first `recv()`.
    """

    def __init__(self, seed, env_id=BREAKOUT, *, context=None, **options):
        if not hasattr(context, "Process"):
            context = multiprocessing.get_context(context)
        self._start_method = context.get_start_method()
        check_importable(self._start_method)
        self._start_error = None
        self._has_answered = False
        self._pipe, remote = context.Pipe()
        self.process = context.Process(
            target=worker_process,
            args=(remote, seed, env_id),
            kwargs=options,
            daemon=True,
        )

        # After a `fork` a child holds a copy of everything, pipes of earlier
        # workers too, and those workers would then not notice that the parent
        # let go of them. So each pipe is closed in the children, its own too.
        util.register_after_fork(self._pipe, type(self._pipe).close)

        # There is nothing in a worker that has to be saved, so it is killed:
        # that ends a stopped or hanging process too, and at once. It happens
        # at `close`, when the object is dropped, or when the interpreter ends.
        self._end = util.Finalize(
            self, end_process, args=(self._pipe, self.process), exitpriority=0
        )

        # In newer Pythons it is the fork server that imports the program.
        # If that fails the server dies, and the pipe to it breaks right here.
        # As ever, `recv` reports it.
        try:
            self.process.start()
        except (EOFError, OSError) as error:
            self._start_error = error
        finally:
            remote.close()

    @property
    def child(self):
        """What to talk to: has `send`, `recv`, `poll`, `fileno`, `close`.

        In labml's tutorial this is the parent's end of the pipe. A bare pipe
        can't say how its other end has died, so here it is the worker itself.
        """
        return self

    def send(self, message):
        """Send a command; if the worker is dead, `recv` will say so."""
        with contextlib.suppress(OSError):
            self._pipe.send(message)

    def recv(self):
        """Return the next answer, or raise the error that was raised there.

        `EOFError` says that the worker is gone, and how it ended.
        """
        answer = self.receive()
        if isinstance(answer, Exception):
            raise answer
        return answer

    def receive(self, timeout=None):
        """Return the next answer; an error of the game is returned, too.

        Raises `EOFError` if the worker is gone, and `TimeoutError` if it
        doesn't answer within `timeout` seconds; `None` waits without an end.
        """
        try:
            if timeout is None or self._pipe.poll(timeout):
                answer = self._pipe.recv()
                self._has_answered = True
                return answer
        except (EOFError, OSError):
            raise EOFError(self._how_it_ended()) from None
        except Exception as error:
            # The game's error can't be put together again on this side.
            return error
        raise TimeoutError("the worker didn't answer")

    def poll(self, timeout=0.0):
        """Whether an answer is there, after at most `timeout` seconds."""
        return self._pipe.poll(timeout)

    def fileno(self):
        """The pipe's number, for `multiprocessing.connection.wait`."""
        return self._pipe.fileno()

    def close(self):
        """End the process, in whatever state it is; again is no error."""
        self._end()

    def _how_it_ended(self):
        """Say how the process ended, and what may have been the cause."""
        if self._start_error is None:
            self.process.join(1)
            code = self.process.exitcode
            signals = {-one.value: one.name for one in signal.Signals}
            cause = signals.get(code, f"exit code {code}")
            ending = f"the worker ended with {cause}"
            failed = code == 1
        else:
            ending = f"the worker didn't start: {self._start_error!r}"
            failed = isinstance(self._start_error, (EOFError, ConnectionError))

        # A worker that `spawn` or `forkserver` starts imports the program.
        # Without the guard the program would start workers there as well,
        # which Python refuses.
        may_lack_guard = failed and not self._has_answered
        if may_lack_guard and self._start_method != "fork":
            ending += GUARD
        return ending


GUARD = '; is `if __name__ == "__main__":` missing in the program?'


def end_process(pipe, process):
    """End `process`, in whatever state it is, and close `pipe`."""
    if process.pid is not None:
        process.kill()
        process.join(5)
    pipe.close()


def check_importable(start_method):
    """Raise a `RuntimeError` if new processes can't import the program.

    Those of `spawn` and `forkserver` do so. It can't be imported if it comes
    from the standard input, or if this module was pasted into a notebook.
    """
    file = getattr(sys.modules["__main__"], "__file__", None)
    pasted = file is None and __name__ == "__main__"
    if start_method != "fork" and (pasted or file == "<stdin>"):
        raise RuntimeError(
            "workers import the program, which has to be a file: write this"
            " to game.py and import it, or take Games(..., processes=0)"
        )


# ## Many games
#
# ### Why eight pipes are slow
#
# Eight workers on two cores spend a good part of their time in waking up and
# in copying: a message there and back takes 20 µs, an observation is packed,
# sent and unpacked, and each step waits for the slowest of eight. So there is
# one process to a core, each with a row of games, and a step takes one short
# message to each process and one back. Observations don't cross the pipe at
# all: they lie in memory that all processes share, with a record for each
# game.


# ### A row of games
#
# What a worker plays is a row of games, in place of one `Game`: it has the
# same methods, and takes and returns lists.


class Row:
    """
    The games of one process, played one after the other.

    `memory` has a record of type `record` for each of all the games, and `row`
    is the slice of those that are played here, with their `seeds`.
    """

    def __init__(self, seeds, env_id, memory, record, row, place, **options):
        self._games = [Game(seed, env_id, **options) for seed in seeds]
        self._records = np.frombuffer(memory, record)[row]
        self._first_game = row.start
        self._ends = []

        # A record has two places for an observation. What the caller saw last
        # is in the one, and the games write to the other, number `place`.
        # After each reset and step they change their roles. So if this process
        # dies while it writes, what the caller saw last is whole.
        self._place = place

    def reset(self, seeds):
        """Reset all games, each with its seed or `None`; no episode ends."""
        # For a row that replaces one that has died: what the caller saw last
        # is the last observation of those episodes.
        seen = 1 - self._place.value
        self._records["final_obs"] = self._records["obs"][:, seen]
        self._records["reward"] = 0
        self._ends = []
        for game, seed in zip(self._games, seeds, strict=True):
            game.reset(seed)
        self._show_observations()
        return []

    def step(self, actions):
        """Step all games; return the ends of episodes.

        That is a list of `(number, terminated, episode_info)`.
        """
        rewards = self._records["reward"]
        rewards[:] = 0
        for i, action in enumerate(actions):
            # A game that rests in this step has `None` for an action.
            if action is None:
                continue
            game = self._games[i]
            rewards[i], done, episode_info = game.play(action)
            if done:
                self._records["final_obs"][i] = game.final_obs
                number = self._first_game + i
                self._ends.append((number, game.terminated, episode_info))
        self._show_observations()

        # If a game raises an error, the next step returns the ends before it.
        ends = self._ends
        self._ends = []
        return ends

    def render(self, _=None):
        """Draw the colour screens of all games; no episode ends."""
        for i, game in enumerate(self._games):
            self._records["screen"][i] = game.render()
        return []

    def _show_observations(self):
        """Copy what the agents see to the shared memory."""
        place = self._records["obs"][:, self._place.value]
        for i, game in enumerate(self._games):
            place[i] = game.observation


# ### The vector environment
#
# Many games that are stepped together are what Gymnasium calls a *vector
# environment*: one `step` takes a batch of actions and returns a batch of
# observations. Its autoreset mode says which one, in the step that ends a
# game's episode. SAME_STEP returns the first observation of the next episode,
# and the last one is in the infos. NEXT_STEP, Gymnasium's default, returns the
# last one; in the following step the game rests, whatever the action, and the
# first one of the next episode is returned.
SAME_STEP = vector.AutoresetMode.SAME_STEP
NEXT_STEP = vector.AutoresetMode.NEXT_STEP

STARTS = 3  # tries to start a worker
START_TIMEOUT = 60.0  # seconds that a start or a reset is given at least
LONGEST_TIMEOUT = 1e6  # seconds, 11 days; a pipe can't wait for much longer


class Games(OwnsProcesses, vector.VectorEnv):
    """
    Many Atari games at once: a Gymnasium vector environment.

    - `num_envs`, `env_id` and `game_options`: as many such `Game`s.
    - `seed`: game i gets `seed + i`, or `seed[i]` of a list.
    - `processes`: how many workers; `None` is one for each core, and with 0
      all games are played in this process, with the same results.
    - `timeout`: after as many seconds without an answer a worker is replaced.
    - `context`: a start method or a context, as for `Worker`.
    - `autoreset_mode`: Gymnasium's SAME_STEP or NEXT_STEP, or the name.

    Bad arguments raise `ValueError` or `TypeError` at once; calls after
    `close` raise Gymnasium's `ClosedEnvironmentError`. One thread at a time.
    """

    metadata = {"render_modes": ["rgb_array"], "render_fps": 15}
    render_mode = "rgb_array"

    def __init__(
        self,
        num_envs,
        env_id=BREAKOUT,
        *,
        seed=0,
        processes=None,
        timeout=60.0,
        context=None,
        autoreset_mode=SAME_STEP,
        **game_options,
    ):
        # The workers, by the number of their row, and the rows that owe an
        # answer. What was answered and not yet reported: ends of episodes,
        # errors, and which games had to start over.
        self._workers = {}
        self._owing = set()
        self._ends = []
        self._errors = []
        self._restarted = set()

        # Whether there has been a reset, whether a step has begun, and which
        # games rest in the next one.
        self._was_reset = False
        self._stepping = False
        self._resting = []

        # What can be checked here is checked here. A game of the parent's own
        # checks the id and the options, and gives the spaces.
        self.num_envs = check_number("num_envs", num_envs, least=1)
        self._seeds = self._spread(seed)
        self._timeout = check_timeout(timeout)
        mode = check_autoreset_mode(autoreset_mode)
        if processes is None:
            processes = count_cores()
        processes = check_number("processes", processes)
        game = Game(0, env_id, **game_options)
        self.meanings = game.meanings
        self.spec = game.env.spec

        # What a vector environment has to say of itself.
        self.metadata = {**self.metadata, "autoreset_mode": mode}
        shape = (STACK, SIZE, SIZE)
        n = self.num_envs
        observations = gym.spaces.Box(0, 255, shape, np.uint8)
        self.single_observation_space = observations
        self.observation_space = vector.utils.batch_space(observations, n)
        self.single_action_space = game.env.action_space
        self.action_space = vector.utils.batch_space(game.env.action_space, n)

        # The memory is made first, and the processes inherit it. It has no
        # name in the file system that could be left behind.
        record = np.dtype(
            [
                ("reward", np.float64),
                ("screen", np.uint8, game.render().shape),
                ("obs", np.uint8, (2, *shape)),
                ("final_obs", np.uint8, shape),
            ]
        )
        memory = multiprocessing.RawArray("B", n * record.itemsize)
        self._records = np.frombuffer(memory, record)
        self._place = multiprocessing.RawValue("B", 0)
        shared = dict(memory=memory, record=record, place=self._place)
        self._row_options = dict(game_options, env_id=env_id, **shared)
        self._context = context

        # Each process plays a row, a part of the games. Without processes all
        # games are one row, which is played right here.
        rows = min(processes, n)
        self._rows = [
            slice(i * n // rows, (i + 1) * n // rows) for i in range(rows)
        ]
        self._row_here = None
        if rows == 0:
            row = slice(0, n)
            self._row_here = Row(self._seeds, row=row, **self._row_options)

        # The first command is one of which only the answer matters. If it
        # doesn't come from all workers, none of them is left behind.
        try:
            self._start_workers(range(rows), "render")
            self._raise_errors()
        except BaseException:
            self.close()
            raise

    def _spread(self, seed):
        """Return the seeds of all games, from one number or from a list."""
        if np.ndim(seed) == 0:
            first = check_number("seed", seed)
            return [first + i for i in range(self.num_envs)]
        require(len(seed) == self.num_envs, f"{self.num_envs} seeds", seed)
        return [check_number("seed", one) for one in seed]

    def _check_call(self, stepping=False):
        """Raise Gymnasium's error if this isn't the time for the call.

        `step_wait` alone is called while a step is under way.
        """
        if self.closed:
            raise gym.error.ClosedEnvironmentError("the games are closed")
        if self._stepping and not stepping:
            raise gym.error.AlreadyPendingCallError("call step_wait()", "step")
        if stepping and not self._stepping:
            raise gym.error.NoAsyncCallError("call step_async()", "step")

    def reset(self, *, seed=None, options=None):
        """Start new games; return `observations, {}`.

        `observations` is `uint8 (num_envs, 4, 84, 84)`, a copy that is yours
        to change. `seed` is a number or a list as at the construction, or
        `None`: the games then go on with the random numbers that they have.
        There are no `options`.
        """
        self._check_call()
        require(not options, "no options", options)
        seeds = [None] * self.num_envs
        if seed is not None:
            seeds = self._seeds = self._spread(seed)

        # A reset that Ctrl-C interrupts has to be made once more.
        self._was_reset = False
        self._ask("reset", seeds)
        self._gather_or_replace(START_TIMEOUT)

        # Whatever was played before is forgotten.
        self._ends.clear()
        self._restarted.clear()
        self._resting.clear()
        self._was_reset = True
        return self._take_observations(), {}

    # ### Taking a step
    #
    # A step is begun by `step_async` and ended by `step_wait`; between the two
    # the program can do something else, such as choose the actions for other
    # games. The workers write rewards and observations to the shared memory,
    # and answer with the ends of episodes alone, mostly an empty list.
    def step(self, actions):
        """Step all games; return what `step_wait` returns."""
        self._check_call()
        self._begin_step(actions)
        return self._finish_step()

    def step_async(self, actions):
        """Begin a step and return at once, unless the games are played here.

        `actions` are `num_envs` whole numbers. Raises `ValueError` if they
        aren't, and no game has moved.
        """
        self._check_call()
        self._begin_step(actions)
        self._stepping = True

    def step_wait(self):
        """Wait for the step that was begun.

        Returns `observations, rewards, terminated, truncated, infos`: `uint8
        (num_envs, 4, 84, 84)`; `float64`, `bool` and `bool (num_envs,)`; and a
        dict. All of them are copies, yours to change. The dict holds, each
        with a mask, `"final_obs"` of the episodes that ended (in SAME_STEP
        mode) and `"final_info"` of the games whose emulator was reset; and
        `"restarted"`, a mask of the games that had to start over because their
        worker was replaced, in a step in which there are any.
        """
        self._check_call(stepping=True)
        self._stepping = False
        return self._finish_step()

    def _begin_step(self, actions):
        """Check the actions and send them."""
        if not self._was_reset:
            raise gym.error.ResetNeeded("call reset() before step()")
        actions = check_actions(actions, (self.num_envs,), self.meanings)
        for number in self._resting:
            actions[number] = None
        self._ask("step", actions)
        self._resting.clear()

    def _finish_step(self):
        """Wait for the answers, and put together what `step` returns."""
        self._gather_or_replace(0.0)
        terminated = np.zeros(self.num_envs, bool)
        truncated = np.zeros(self.num_envs, bool)
        infos = {}

        # Only games whose episode has ended take work of their own: a loop
        # over all of them would take longer with each game.
        for number, was_terminated, episode_info in self._ends:
            terminated[number] = was_terminated
            info = {}
            if episode_info is not None:
                truncated[number] = episode_info["truncated"]
                info["final_info"] = episode_info
            self._end_episode(number, info, infos)

        # A game that had to start over was cut short.
        for number in self._restarted:
            terminated[number] = False
            truncated[number] = True
            self._end_episode(number, {}, infos)
        if self._restarted:
            infos["restarted"] = np.zeros(self.num_envs, bool)
            infos["restarted"][list(self._restarted)] = True
        self._ends.clear()
        self._restarted.clear()
        rewards = self._records["reward"].copy()
        return self._take_observations(), rewards, terminated, truncated, infos

    def _end_episode(self, number, info, infos):
        """Hand out a game's last observation; add its `info` to `infos`.

        Gymnasium puts the infos of single games into one dict: an array for
        each key, and under `"_" + key` a mask of the games that have it.
        """
        last = self._records["final_obs"][number]
        if self.metadata["autoreset_mode"] is NEXT_STEP:
            self._records["obs"][number, self._place.value] = last
            self._resting.append(number)
        else:
            info["final_obs"] = last.copy()
        self._add_info(infos, info, number)

    def _take_observations(self):
        """Return a copy of what the games show; the places change roles."""
        shown = self._place.value
        self._place.value = 1 - shown
        return self._records["obs"][:, shown].copy()

    def render(self):
        """Return a tuple of colour screens, `uint8 (height, 160, 3)` each.

        They are copies, yours to change. Those of a worker that has died are
        black; the next step replaces it and reports that.
        """
        self._check_call()
        self._records["screen"] = 0
        self._ask("render", [None] * self.num_envs)
        self._gather(self._timeout)
        self._raise_errors()
        return tuple(self._records["screen"].copy())

    def close_extras(self, **_):
        """End all workers; called once by `close`."""
        for worker in self._workers.values():
            worker.close()

    # ### Asking and waiting
    #
    # All workers are asked before the first answer is waited for, so that they
    # play at the same time. All that can go wrong between the processes is one
    # thing here, an answer that doesn't come: the pipe of a worker that died
    # is closed, which ends the waiting, and a worker that hasn't answered when
    # the time is up counts as dead.
    def _ask(self, command, data):
        """Ask all workers, each for its part of `data`, one item a game."""
        if self._row_here is not None:
            self._ends += getattr(self._row_here, command)(data)
        for i, worker in self._workers.items():
            # A worker that still owes an answer, since Ctrl-C ended the
            # waiting for it, is closed: its late answer would be taken for the
            # new one. The command goes nowhere, and `_gather` finds it dead.
            if i in self._owing:
                worker.close()
            self._owing.add(i)
            worker.send((command, data[self._rows[i]]))

    def _gather(self, timeout):
        """Read the answers; return `{row: cause}` of those that don't come.

        `timeout` seconds are one deadline for all of them.
        """
        deadline = time.monotonic() + timeout
        causes = {}
        for i in sorted(self._owing):
            worker = self._workers[i]
            seconds_left = max(0.0, deadline - time.monotonic())
            try:
                answer = worker.receive(seconds_left)
            except EOFError as error:
                causes[i] = str(error)
            except TimeoutError as error:
                causes[i] = f"{error}, within {timeout:g} s"
            else:
                # An error is raised later, when all have answered.
                if isinstance(answer, Exception):
                    self._errors.append(answer)
                else:
                    self._ends += answer
                self._owing.remove(i)

        # A late worker is ended at once, whoever else still holds it: it must
        # not write to the memory of the one that takes its place.
        for i in causes:
            self._workers[i].close()
        return causes

    # ### When a worker dies
    #
    # A new one takes its place and starts all games of its row over from their
    # seeds; those of the other processes go on as if nothing had happened. The
    # step reports it: reward 0, `truncated`, and `infos["restarted"]`. (A
    # `Worker` of your own isn't replaced: its `recv` raises `EOFError`.) One
    # that dies before its first answer is tried twice more and then no more:
    # what killed it, such as a lack of memory, would only kill the next.
    def _gather_or_replace(self, at_least):
        """Wait for all answers; replace the workers that don't answer.

        Waits for the timeout, or for `at_least` seconds if that is longer.
        """
        causes = self._gather(max(self._timeout, at_least))
        for i in causes:
            row = self._rows[i]
            self._restarted.update(range(row.start, row.stop))
        if causes:
            self._start_workers(list(causes), "reset")
        self._raise_errors()

    def _start_workers(self, rows, command):
        """Start workers for the rows with these numbers, and ask them.

        Raises `RuntimeError` if they die at their start again and again; the
        games are closed then.
        """
        for _ in range(STARTS):
            for i in rows:
                self._start(i, command)
            causes = self._gather(max(self._timeout, START_TIMEOUT))
            if not causes:
                return
            rows = list(causes)
        self.close()
        cause = next(iter(causes.values()))
        raise RuntimeError(f"{STARTS} starts of a worker failed: {cause}")

    def _start(self, i, command):
        """Start a worker for row number `i`, and give it its first command."""
        row = self._rows[i]
        self._owing.add(i)
        options = dict(self._row_options, make=Row, context=self._context)
        self._workers[i] = Worker(self._seeds[row], row=row, **options)
        self._workers[i].send((command, self._seeds[row]))

    def _raise_errors(self):
        """Raise what was raised in a worker, now that all have answered.

        No answer is left in a pipe, so the next call works.
        """
        if self._errors:
            error = self._errors[0]
            self._errors.clear()
            raise error


def count_cores():
    """Return how many cores this process may use.

    Under `taskset`, or in a container that is bound to some cores, these are
    fewer than the machine has; only Linux can tell. A limit on the time of the
    cores (`docker --cpus`) isn't seen: pass `processes`.
    """
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count()


def check_timeout(timeout):
    """Return a timeout as a number of seconds that a pipe can wait.

    `float("inf")` is fine: it becomes the longest that there is.
    """
    expected = "timeout as a number of seconds above 0"
    number = isinstance(timeout, numbers.Real)
    require(number and timeout > 0, expected, timeout)
    return min(float(timeout), LONGEST_TIMEOUT)


def check_autoreset_mode(mode):
    """Return Gymnasium's enum for itself, its value or its name."""
    for known in (SAME_STEP, NEXT_STEP):
        if mode in (known, known.value, known.name):
            return known
    raise ValueError(f"expected SAME_STEP or NEXT_STEP, got {mode!r}")


# ## Playing
#
# As a program, `python game.py`, the module plays whole games at random, shows
# with labml how it goes, and leaves an image of what each agent saw when it
# last scored.
IMAGE = "game.png"
ZOOM = 2  # of the image
MARGIN = 24  # pixels above it
REPORT_EVERY = 0.5  # seconds


def main(arguments=()):
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
    args = parser.parse_args(arguments)
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
    speed = 0.0
    with games, plain_output(), contextlib.suppress(KeyboardInterrupt):
        seen, _ = games.reset()
        start = time.perf_counter()
        next_report = start

        # What an agent saw when it last scored is what the image will show.
        for _ in monit.loop(args.steps):
            actions = rng.integers(games.single_action_space.n, size=n)
            observations, rewards, *_, infos = games.step(actions)
            scored = rewards > 0
            seen[scored] = observations[scored]
            steps += n
            now = time.perf_counter()
            speed = steps / (now - start)

            # A game ends now and then; the speed is shown all the time.
            if "final_info" in infos:
                ended = infos["_final_info"]
                rewards = infos["final_info"]["reward"][ended]
                lengths = infos["final_info"]["length"][ended]
                scores += rewards.tolist()
                tracker.add("reward", rewards.mean())
                tracker.add("length", lengths.mean())
            if now > next_report:
                next_report = now + REPORT_EVERY
                tracker.save(steps, {"steps per second": speed})

    # After Ctrl-C this is the summary of what was played so far.
    if steps == 0:
        raise KeyboardInterrupt
    print(f"\n{steps:,} steps of {n} games, {len(scores)} episodes")
    if scores:
        print(f"score: mean {np.mean(scores):.2f}, best {max(scores):.0f}")
    else:
        print("score: no game has ended")
    print(f"{speed:,.0f} steps/s, {speed * ACTION_REPEAT:,.0f} frames/s")
    sys.stdout.flush()
    draw(seen)


def plain_output():
    """Return a context: what goes to a file or a pipe has no escape codes."""
    if sys.stdout.isatty():
        return contextlib.nullcontext()
    return contextlib.redirect_stdout(PlainText(sys.stdout))


class PlainText:
    """Writes without colours, and with new lines for carriage returns."""

    COLOUR = re.compile(r"\x1b\[\d*m")
    NEW_LINE = re.compile(r"\r *\r?")

    def __init__(self, stream):
        self._stream = stream

    def write(self, text):
        text = self.COLOUR.sub("", text)
        return self._stream.write(self.NEW_LINE.sub("\n", text))

    def flush(self):
        self._stream.flush()


def draw(observations):
    """Write an image of `observations`, `(games, 4, 84, 84)`."""
    image = np.vstack([np.hstack(stack) for stack in observations])
    image = image.repeat(ZOOM, axis=0).repeat(ZOOM, axis=1)
    image = np.pad(image, ((MARGIN, 0), (0, 0)))
    label = "What each agent saw: its last four steps, the newest on the right"
    font = cv2.FONT_HERSHEY_PLAIN
    cv2.putText(image, label, (8, 16), font, fontScale=1, color=255)
    with open(IMAGE, "wb") as file:
        file.write(cv2.imencode(".png", image)[1])


def run():
    """Run `main` as a program, which ends with a line and an exit code."""
    try:
        main(sys.argv[1:])
    except KeyboardInterrupt:
        sys.stderr.write("game.py: interrupted\n")
        sys.exit(130)
    except OSError as error:
        # It may be the output that can't be written to. Python would try that
        # once more at its end.
        sys.stderr.write(f"game.py: {error}\n")
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)


if __name__ == "__main__":
    # A notebook into which this module was pasted has arguments of its own.
    if "__file__" in globals():
        run()
    else:
        print("pasted: Games(8, processes=0) plays; for workers, write a file")
