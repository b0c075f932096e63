"""
# Breakout, annotated

How does an agent play an Atari game? It is not shown what a person sees. It
is shown what the DQN paper showed it (Mnih et al. 2015): four small gray
pictures, one for each of its last four decisions. This module makes them: for
one game, for a game in another process, and for many games at once. It is
written to be read from top to bottom, and to be copied as it is.

| what | type and shape | meaning |
| --- | --- | --- |
| screen | `uint8 (210, 160, 3)` | one frame in colour (some are higher) |
| observation | `uint8 (4, 84, 84)` | four pictures, the oldest first |
| action | a whole number | an index into the game's list of actions |
| reward | `float` | the points won in one step |

Seven words mean the same thing all the way down:

- **frame**: what the console draws in 1/60 of a second.
- **step**: one decision of the agent, held for four frames.
- **picture**: what is seen of a step, gray and 84×84.
- **observation**: what the agent sees, the pictures of its last four steps.
- **life**: most games give a few; losing one is not yet the end.
- **game**: what is played from one reset of the emulator to the next.
- **episode**: what counts as one play for the agent, a game or one life.
"""

import argparse
import contextlib
import multiprocessing
import operator
import os
import pickle
import select
import signal
import threading
import time
from multiprocessing import pool, resource_tracker, util

import ale_py
import cv2
import gymnasium as gym
import numpy as np

# The emulator is the Arcade Learning Environment, ALE (Bellemare et al. 2013).
# Its package brings 104 games along; importing it tells Gymnasium of them.

BREAKOUT = "BreakoutNoFrameskip-v4"
ACTION_REPEAT = 4  # frames to a step
STACK = 4  # pictures to an observation
SIZE = 84  # pixels of a picture, both ways

# ## One game


class Game:
    """
    One Atari game, the way DQN saw it.

    `seed` is any whole number from 0 on, `env_id` the id of an Atari game or
    its `EnvSpec`. The options:

    - `on_life_loss`: `"restart"`, `"continue"` or `"ignore"`, see below;
    - `noop_max`: a game starts with 1 to so many frames without an action;
    - `fire_on_reset`: FIRE is pressed before an episode's first observation;
    - `clip_reward`: rewards become -1, 0 or 1.

    `env` is the Gymnasium environment, `meanings` the names of its actions;
    `final_obs` is the last observation of the episode that ended last. Bad
    options raise `ValueError` or `TypeError`, an unknown id raises
    Gymnasium's own error.
    """

    # Ids differ in how many frames a step takes: `…NoFrameskip-v4` one, `…-v4`
    # two to four at random, `ALE/…-v5` four. With `frameskip=1` what happens
    # in each frame is up to us, and what is left between them is whether
    # actions are sticky, which comes further down. The console's memory serves
    # as the environment's own observation because it costs next to nothing:
    # nobody looks at it.
    def __init__(self, seed, env_id=BREAKOUT, *, on_life_loss="restart",
                 noop_max=0, fire_on_reset=False, clip_reward=False):
        require(on_life_loss in self.MODES, [*self.MODES], on_life_loss)
        self._mode, self._clip_reward = on_life_loss, clip_reward
        self._seed = check_number("seed", seed)
        self._noop_max = check_number("noop_max", noop_max)
        self.env = gym.make(env_id, frameskip=1, obs_type="ram")
        self._ale = self.env.unwrapped.ale
        self.meanings = meanings = self.env.unwrapped.get_action_meanings()
        require(not noop_max or meanings[0] == "NOOP", "NOOP first", meanings)
        self._fires = fire_on_reset and "FIRE" in meanings
        self._actions = [getattr(ale_py.Action, m) for m in meanings]
        self._bands = int(np.gcd(len(self._ale.getScreenGrayscale()), SIZE))
        self._screen, self.pictures = 0, [np.zeros((SIZE, SIZE), np.uint8)]
        self._first, self.final_obs = {}, None
        self._score, self._length = 0.0, 0

    def step(self, action):
        """Hold `action` for four frames.

        Returns `obs_4, reward, done, episode_info`:

        - `obs_4`: `uint8 (4, 84, 84)`, oldest picture first, the caller's own;
        - `reward`: the points of these four frames, or their sign;
        - `done`: an episode is over, and `obs_4` is the first of the next;
        - `episode_info`: `None`, or, if the emulator was reset, `{"reward",
          "length", "truncated"}` of the game until then, its length in steps.

        Raises `ResetNeeded` before the first `reset`, and `ValueError` for an
        action that isn't one of the game's; the game is then as it was.
        """
        if len(self.pictures) < STACK:
            raise gym.error.ResetNeeded("call reset() before step()")
        result = self.play(check_actions(action, (), self.meanings))
        return np.array(self.pictures), *result

    # ## What the agent sees
    #
    # ### Four frames, of which two are seen
    #
    # Sixty decisions a second are more than a game needs. DQN decides fifteen
    # times a second and holds each action for four frames, so that the same
    # computing pays for four times as much play.
    #
    # The console can draw only a few objects at a time, so many games draw
    # some of them on the even frames and the others on the odd ones, and the
    # glow of a television blended the two. Whoever looks at every fourth
    # frame misses half of the world. DQN takes the brighter of the last two
    # frames, pixel by pixel. It does so at full size: shrunk first, small
    # things would be dimmed before they are compared.
    #
    # Lives are read after every frame, since a life won and a life lost
    # within one step would cancel out. An episode that is over in the middle
    # of a step stops there. What it ended with is then the last screen alone,
    # since the maximum is of the third frame and the fourth: `older` is 0, a
    # black screen, which changes no maximum.
    def play(self, action):
        """Hold a checked action; return `reward, done, episode_info`.

        `terminated` says from then on whether the game was lost, or a life
        that counts.
        """
        reward, older = 0.0, 0
        for frame in range(1, ACTION_REPEAT + 1):
            reward += self._ale.act(self._actions[action])
            before, self._lives = self._lives, self._ale.lives()
            lost = self.MODES[self._mode] <= self._lives < before
            over = self._ale.game_over()
            if over or lost:
                break
            if frame == ACTION_REPEAT - 1:
                older = self._ale.getScreenGrayscale()
        self._see(np.maximum(older, self._ale.getScreenGrayscale()))
        self.terminated = lost or self._ale.game_over(with_truncation=False)
        self._score, self._length = self._score + reward, self._length + 1
        reward = float(np.sign(reward)) if self._clip_reward else reward
        if not (over or lost):
            return reward, False, None
        self.final_obs = np.array(self.pictures)  # (4, 84, 84)
        return reward, True, self._begin(over or self._mode == "restart")

    # ### Small and gray
    #
    # A screen has 33,600 pixels in 128 colours. DQN took the brightness alone
    # and shrank it to 84×84, which a network of its day could take in. With
    # `INTER_AREA` each new pixel is the mean of the area it covers: a ball two
    # pixels wide fades, but it can't fall between two samples.
    #
    # From one step to the next most of the screen stays as it is. And of its
    # 210 rows each five become two of the picture, in which no other row has a
    # part. So the screen falls into 42 bands, and only those in which
    # something has changed are cut out and shrunk, as one low strip. The
    # picture is the same to the last bit, and in Breakout it takes a third of
    # the time. (Higher screens have fewer bands: 250 rows make two of 125.)
    # Before the first screen there is a black one, 0, with a black picture.
    #
    # ### The stack
    #
    # One picture doesn't show which way the ball flies; four of them do. They
    # are those of the last four steps, sixteen frames, and not of four frames
    # in a row. When an episode is over, its last observation is kept aside,
    # and the stack is filled with the first picture of the next one.
    def _see(self, screen):
        """Add the picture of a gray screen to the stack."""
        changed = (screen != self._screen).reshape(self._bands, -1).any(1)
        strip = screen[changed.repeat(len(screen) // self._bands)]
        picture = self.pictures[-1].copy()
        if len(strip):
            size = SIZE, len(strip) * SIZE // len(screen)
            strip = cv2.resize(strip, size, interpolation=cv2.INTER_AREA)
            picture[changed.repeat(SIZE // self._bands)] = strip
        self.pictures, self._screen = self.pictures[1:] + [picture], screen

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
    # A lost life counts if at least so many are left: 0 for `"restart"`, 1 for
    # `"continue"`, more than there ever are for `"ignore"`. When the last life
    # is lost, `"continue"` waits for the end of the game, as Baselines do: in
    # 11 of 104 games that comes 69 to 5,400 frames later, and nobody wants
    # those as an episode.
    MODES = {"restart": 0, "continue": 1, "ignore": float("inf")}

    # ### FIRE first
    #
    # Breakout waits for FIRE to serve the ball, and an agent may take long to
    # find that out. With `fire_on_reset` it is pressed for one step before
    # each episode's first observation, and nothing of that step counts
    # (Baselines' `FireReset`; SB3 and EnvPool press it in ways of their own).
    # If even that ends the game, there are two resets in one step, and the
    # info is that of the first.
    def _begin(self, restart, seed=None):
        """Begin an episode; return the info of the game that was ended."""
        infos = [self._restart(seed)] if restart else []
        for _ in range(ACTION_REPEAT if self._fires else 0):
            self._ale.act(ale_py.Action.FIRE)
        if self._ale.game_over():
            infos.append(self._restart())
        self._lives = self._ale.lives()
        self._see(self._screens()[0])
        self.pictures = self.pictures[-1:] * STACK
        return infos[0] if infos else None

    # ### Where a game starts
    #
    # A true reset takes 5 ms, since the emulator plays 60 frames to let the
    # console boot. When lives are lost every 30 to 60 steps that adds up. So
    # the state after the first reset is kept as a snapshot and put back at
    # each later one, in 0.03 ms. Every game then starts from the same state,
    # and depends on the seed and the actions alone; a true reset keeps some
    # memory of the game before, in 25 of 104.
    #
    # Not everything is in a snapshot. Five games keep something elsewhere. And
    # with sticky actions, ALE's remedy for agents that learn moves by heart,
    # the action before is played once more with a probability of 0.25; which
    # one it was is kept elsewhere too. Both take true resets. The screen isn't
    # in the snapshot either, since it is drawn with the next frame: so the
    # first one is kept too, in gray and in colour, under its frame's number.
    NO_SNAPSHOT = {"amidar", "koolaid", "qbert", "tetris", "trondead"}

    # The ids stop a game after 108,000 frames, half an hour (as in Hessel et
    # al. 2018). Such a game is truncated, not lost, and a learner may want to
    # know; one that is over on that very frame isn't.
    #
    # For a new seed Gymnasium loads the game anew, in 90 ms, since ALE takes a
    # seed only then. Without sticky actions ALE has no use for it, and it is
    # enough to seed Gymnasium's own random numbers, by `seed_game`.
    #
    # DQN let up to 30 frames pass before the agent's first decision, so that
    # games don't all start alike. Their number is drawn as Gymnasium draws it,
    # so that the same seed gives the same game.
    def _restart(self, seed=None):
        """Reset the emulator; return the info of the game that was played."""
        over = self._ale.game_over(with_truncation=False)
        info = {"reward": self._score, "length": self._length}
        info["truncated"] = self._ale.game_truncated() and not over
        self._score, self._length = 0.0, 0
        sticky = self._ale.getFloat("repeat_action_probability") > 0
        if self._first:
            self.env.unwrapped.restore_state(self._snapshot)
        elif sticky or self.env.spec.kwargs["game"] in self.NO_SNAPSHOT:
            self.env.reset(seed=seed)
        else:
            self.env.reset()
            self._snapshot = self.env.unwrapped.clone_state()
            self._first = {self._ale.getEpisodeFrameNumber(): self._screens()}
        if seed is not None:
            self.env.unwrapped.seed_game(seed)
        random, most = self.env.unwrapped.np_random, self._noop_max
        for _ in range(random.integers(1, most + 1) if most else 0):
            self._ale.act(ale_py.Action.NOOP)
            if self._ale.game_over():
                self.env.reset(seed=seed)
        return info

    def render(self, _=None):
        """Return the colour screen as it is now, `uint8 (height, 160, 3)`."""
        return self._screens()[1].copy()

    def _screens(self):
        """Return the screen, gray and colour; after a restore, the first."""
        drawn = self._ale.getScreenGrayscale(), self._ale.getScreenRGB()
        return self._first.get(self._ale.getEpisodeFrameNumber(), drawn)

    def reset(self, seed=None):
        """Start a new game; return its first observation.

        That is `uint8 (4, 84, 84)`, the same picture four times, the caller's
        own. The first reset takes the seed of the construction. With a `seed`
        all starts over: the same actions then give the same everything.
        """
        seed = self._seed if seed is None else check_number("seed", seed)
        self._seed = None
        self._begin(restart=True, seed=seed)
        return np.array(self.pictures)


# ### What may come in
#
# A wrong shape, a NaN or an action of another game is a bug in the caller, and
# is reported before any game has moved. One test serves a single action, of
# shape `()`, and a batch of them. Whole floats are refused too: an action that
# is a float is one that somebody forgot to turn into an index.


def require(condition, expected, got):
    """Raise a `ValueError` that says what was expected, if it isn't so."""
    if not condition:
        raise ValueError(f"expected {expected}, got {got!r}")


def check_number(name, value, least=0):
    """Return `value` as an `int`, which must be at least `least`."""
    number = operator.index(value)
    require(number >= least, f"{name} of at least {least}", value)
    return number


def check_actions(actions, shape, meanings):
    """Return `actions` as plain numbers, or raise a `ValueError`.

    `meanings` names the game's actions in their order. Integers of Python,
    NumPy and PyTorch are fine.
    """
    array, most, names = np.array(None), len(meanings) - 1, ", ".join(meanings)
    with contextlib.suppress(TypeError, ValueError, RuntimeError):
        array = np.asarray(actions)
    expected = f"whole numbers from 0 to {most} ({names}), of shape {shape}"
    fits = array.dtype.kind in "iu" and array.shape == shape
    require(fits and ((array >= 0) & (array <= most)).all(), expected, actions)
    return array.tolist()


# ## A game in another process
#
# The emulator holds Python's lock while it plays, so threads gain nothing: to
# use a second core a game needs a process of its own. Commands go to it
# through a pipe as `(command, data)`, and each is answered. The loop knows
# nothing of Atari: it plays anything with the methods `step`, `reset` and
# `render`.
#
# An error in the game doesn't end the worker: it is the answer, and is raised
# in the parent. Its traceback would be lost on the way, so it goes along as
# text, as in Python's own pool of processes.
#
# Ctrl-C in a terminal goes to every process in it, but what is to happen then
# is for the parent to say. OpenCV's own threads would only fight with the
# other workers for the cores.
#
# A process that sleeps takes longer to wake than a message takes to arrive. So
# for a moment after each answer the worker only lets others go first, and
# looks again; then it sleeps. That makes everything a twentieth faster. And
# since a pipe's `send` sets up a pickler of its own for each message, messages
# are pickled here, for another hundredth.
AWAKE = 0.0003  # seconds


def worker_process(remote, seed, env_id=BREAKOUT, play=Game, **options):
    """Play a game for whoever is at the other end of the pipe `remote`.

    Answers `("step", action)`, `("reset", seed or None)` and
    `("render", None)` with what the game returns, or with the exception that
    it raised. Ends at `("close", None)` or when the pipe is closed. `play`
    makes the game from `seed`, `env_id` and `options`. The protocol is
    labml's.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=leave_with_parent, daemon=True).start()
    cv2.setNumThreads(0)
    game, asked = None, select.poll()
    asked.register(remote, select.POLLIN)
    with contextlib.suppress(OSError):
        while True:
            sleeps = time.perf_counter() + AWAKE
            while not asked.poll(0) and time.perf_counter() < sleeps:
                os.sched_yield()
            try:
                command, data = remote.recv()
                if command == "close":
                    return
                game = game or play(seed, env_id, **options)
                if command not in ("step", "reset", "render"):
                    raise NotImplementedError(f"unknown command {command!r}")
                remote.send_bytes(pickle.dumps(getattr(game, command)(data)))
            except Exception as e:
                remote.send(pool.ExceptionWithTraceback(e, e.__traceback__))


# ### When the parent dies
#
# A parent that is killed can't say goodbye. Mostly a worker learns of it by
# its pipe, which is closed; but not while it is busy, nor if some other
# process got a copy of the parent's end. So a thread looks once a second
# whether the parent is still there.


def leave_with_parent():
    """End this process within a second after its parent, however that died."""
    parent, parent_id = multiprocessing.parent_process(), os.getppid()
    while parent.is_alive() and os.getppid() == parent_id:
        parent.join(1)
    os._exit(1)


class Worker(contextlib.AbstractContextManager):
    """
    A game in a process of its own.

    Takes what `Game` takes, and as `context` the name of a start method
    (`"fork"`, `"spawn"` or `"forkserver"`) or a context of `multiprocessing`.
    `worker.child.send(("step", action))` asks, and `worker.child.recv()`
    brings what `Game.step` returns, as in labml's PPO tutorial. `process` is
    the `multiprocessing.Process`; `close()` or a `with` statement ends it.
    """

    # In labml's tutorial `child` is the parent's end of the pipe. A bare pipe
    # can't say how its other end has died, so here the worker stands in for
    # it.
    child = property(lambda self: self)

    # `ready` tells whether an answer is in the pipe, `room` whether a command
    # still fits in. After a `fork` a child holds a copy of everything, pipes
    # of earlier workers too, and those workers would then not notice that the
    # parent let go of them. So each pipe is closed in later children.
    #
    # A worker ignores Ctrl-C once it runs; until then the signal is held back,
    # which a process inherits. But before its first process that isn't forked,
    # Python starts one to track resources, and then lets Ctrl-C through: so
    # that one is started earlier.
    #
    # There is nothing in a worker that has to be saved, so `close` doesn't
    # ask: `SIGKILL` ends a stopped or hanging process too, and at once. It
    # is called once at most, at the latest when the object is dropped or the
    # interpreter ends.
    def __init__(self, seed, env_id=BREAKOUT, *, context=None, **options):
        if not hasattr(context, "Process"):
            context = multiprocessing.get_context(context)
        self.pipe, remote = context.Pipe()
        self.poll, self.fileno = self.pipe.poll, self.pipe.fileno
        self.ready, self.room = select.poll(), select.poll()
        self.ready.register(self.pipe, select.POLLIN)
        self.room.register(self.pipe, select.POLLOUT)
        util.register_after_fork(self.pipe, type(self.pipe).close)
        work = dict(target=worker_process, kwargs=options, daemon=True)
        self.process = context.Process(args=(remote, seed, env_id), **work)
        if context.get_start_method() != "fork":
            resource_tracker.ensure_running()
        held_back = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            self.process.start()
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, held_back)
            remote.close()
        args = self.pipe, self.process
        self.close = util.Finalize(self, end_process, args, exitpriority=0)

    def send(self, message):
        """Send a command; if the worker is dead, `recv` will say so."""
        with contextlib.suppress(OSError):
            self.pipe.send_bytes(pickle.dumps(message))

    def recv(self):
        """Return the next answer, or raise the error that was raised there.

        `EOFError` says that the worker is gone, and how it ended.
        """
        try:
            answer = self.pipe.recv()
        except (EOFError, OSError):
            self.process.join(1)
            code = self.process.exitcode  # below 0: the signal
            raise EOFError(f"worker ended with exit code {code}") from None
        if isinstance(answer, Exception):
            raise answer
        return answer

    def __exit__(self, *_):
        self.close()


def end_process(pipe, process):
    """Close `pipe` and end `process`, in whatever state it is."""
    pipe.close()
    process.kill()
    process.join(5)


# ## Many games
#
# ### Why eight pipes are slow
#
# Eight workers on two cores spend a good part of their time in waking up and
# in copying: a message there and back takes 20 µs, an observation is packed,
# sent and unpacked, and each step waits for the slowest of eight. So there is
# one process to a core, each with a row of games, and a step takes one short
# message to each of them and one back. Observations don't cross the pipe at
# all: they lie in memory that all the processes share, with a record for each
# game.
#
# A record has three observations: `obs` is the new one, `final_obs` the last
# of an episode that is over, and `seen` is what the caller was given last.
# Only the parent writes that one, so it is whole even if a worker dies while
# it writes the next; whoever takes its place reports it as `final_obs`.
STARTS = 3  # tries to start a worker
GUARD = 'a worker died at its start; is `if __name__ == "__main__":` missing?'
START_TIMEOUT = 60  # seconds that a start or a reset is given at least
LONGEST = 2**31 // 1000  # seconds that `select.poll` can count


class Row:
    """
    The games of one process, played one after the other.

    `memory` has a record of type `dtype` for each of all the games, and `row`
    is the slice of those that are played here, with their `seeds`.
    """

    def __init__(self, seeds, env_id, memory, dtype, row, **options):
        self._games = [Game(seed, env_id, **options) for seed in seeds]
        self._shared = np.frombuffer(memory, dtype)[row]
        self._numbers = range(row.start, row.stop)

    def reset(self, seeds):
        """Reset all games, each with its seed or `None`.

        Returns what `step` would, for the parent that replaces a dead worker.
        """
        self._shared["final_obs"] = self._shared["seen"]
        self._shared["obs"] = [*map(Game.reset, self._games, seeds)]
        self._shared["reward"] = 0
        return [(i, False, True, {"restarted": True}) for i in self._numbers]

    # In Gymnasium's NEXT_STEP mode a game rests in the step after the end of
    # its episode: it gets `None` for an action and doesn't play.
    def step(self, actions):
        """Step all games; return the ends of episodes.

        That is a list of `(game, terminated, truncated, info)`.
        """
        self._shared["reward"], ends = 0, []
        for i, (game, action) in enumerate(zip(self._games, actions)):
            if action is None:
                continue
            self._shared["reward"][i], done, episode_info = game.play(action)
            if done:
                self._shared["final_obs"][i] = game.final_obs
                info = {"final_info": episode_info} if episode_info else {}
                cut = bool(episode_info) and episode_info["truncated"]
                ends.append((self._numbers[i], game.terminated, cut, info))
        self._shared["obs"] = [game.pictures for game in self._games]
        return ends

    def render(self, _=None):
        """Draw the colour screens of all games; no episode ends by that."""
        self._shared["screen"] = [game.render() for game in self._games]
        return []


class Games(gym.vector.VectorEnv, contextlib.AbstractContextManager):
    """
    Many Atari games at once: a Gymnasium vector environment.

    - `num_envs`, `env_id` and `game_options`: so many such `Game`s.
    - `seed`: game i gets `seed + i`, or `seed[i]` of a list.
    - `processes`: how many workers; `None` is one for each core, and with 0
      all games are played in this process, with the same results.
    - `timeout`: after so many seconds without an answer a worker is replaced.
    - `context`: a start method or a context, as for `Worker`.
    - `autoreset_mode`: Gymnasium's SAME_STEP or NEXT_STEP.

    Everything returned is the caller's own. Bad arguments raise `ValueError`
    or `TypeError` at once; calls after `close` raise Gymnasium's
    `ClosedEnvironmentError`.
    """

    metadata = {"render_modes": ["rgb_array"], "render_fps": 15}
    render_mode = "rgb_array"

    def __init__(self, num_envs, env_id=BREAKOUT, *, seed=0, processes=None,
                 timeout=60.0, context=None,
                 autoreset_mode=gym.vector.AutoresetMode.SAME_STEP,
                 **game_options):
        # `_resting` lists the games that sit out the next step, in NEXT_STEP
        # mode; it is `None` before the first reset.
        self._workers, self._stepping, self._resting = {}, False, None
        self.num_envs = n = check_number("num_envs", num_envs, least=1)
        self._seeds = self._spread(seed)
        if processes is None:
            affinity = getattr(os, "sched_getaffinity", None)
            processes = len(affinity(0)) if affinity else os.cpu_count()
        p = min(check_number("processes", processes), n)
        require(timeout > 0, "a timeout above 0 seconds", timeout)
        self._timeout = min(timeout, LONGEST)
        mode = gym.vector.AutoresetMode(autoreset_mode)
        require(mode.name != "DISABLED", "SAME_STEP or NEXT_STEP", mode)

        # A game of the parent's own tells the spaces, and at once whether the
        # id and the options are any good.
        game = Game(0, env_id, **game_options)
        self.meanings, self.spec = game.meanings, game.env.spec
        self.metadata = dict(self.metadata, autoreset_mode=mode)
        stack, screen = (STACK, SIZE, SIZE), game.render().shape
        spaces = gym.spaces.Box(0, 255, stack, np.uint8), game.env.action_space
        self.single_observation_space, self.single_action_space = spaces
        spaces = [gym.vector.utils.batch_space(space, n) for space in spaces]
        self.observation_space, self.action_space = spaces

        # The memory is made first, and the processes inherit it. It has no
        # name in the file system that could be left behind.
        obs = [(name, "u1", stack) for name in ("obs", "seen", "final_obs")]
        dtype = np.dtype([("reward", "f8"), ("screen", "u1", screen), *obs])
        memory = multiprocessing.RawArray("B", n * dtype.itemsize)
        self._shared = np.frombuffer(memory, dtype)
        self._rows = [slice(i * n // p, (i + 1) * n // p) for i in range(p)]
        options = dict(game_options, env_id=env_id, memory=memory, dtype=dtype)
        self._options = dict(options, play=Row, context=context)
        self._own = [] if p else [Row(self._seeds, row=slice(0, n), **options)]

        # All workers are started by a first command, of which only the answer
        # matters. If it doesn't come from all, none of them is left behind.
        self._due, self._ready = set(range(p)), []
        with contextlib.ExitStack() as if_it_fails:
            if_it_fails.callback(self.close)
            self._answers(START_TIMEOUT, "render")
            if_it_fails.pop_all()

    def _spread(self, seed):
        """Return the seeds of all games, from one number or from a list."""
        if np.ndim(seed) == 0:
            seed = [operator.index(seed) + i for i in range(self.num_envs)]
        require(len(seed) == self.num_envs, f"{self.num_envs} seeds", seed)
        return [check_number("seed", one) for one in seed]

    def _check(self, stepping=False):
        """Raise Gymnasium's error if this isn't the time for the call."""
        if self.closed:
            raise gym.error.ClosedEnvironmentError("the games are closed")
        if self._stepping and not stepping:
            raise gym.error.AlreadyPendingCallError("call step_wait()", "step")
        if stepping and not self._stepping:
            raise gym.error.NoAsyncCallError("call step_async()", "step")

    def reset(self, *, seed=None, options=None):
        """Start new games; return `observations, {}`.

        `observations` is `uint8 (num_envs, 4, 84, 84)`. `seed` is a number or
        a list as at the construction, or `None`: the games then go on with
        the random numbers that they have.
        """
        self._check()
        require(not options, "no options", options)
        seeds = None if seed is None else self._spread(seed)
        self._seeds = seeds or self._seeds
        self._ask("reset", seeds or [None] * self.num_envs)
        self._answers(START_TIMEOUT)
        self._resting, self._shared["seen"] = [], self._shared["obs"]
        return self._shared["obs"].copy(), {}

    def step(self, actions):
        """Step all games; return what `step_wait` returns."""
        self.step_async(actions)
        return self.step_wait()

    def step_async(self, actions):
        """Begin a step and return at once, unless the games are played here.

        `actions` are `num_envs` whole numbers. Raises `ValueError` if they
        aren't, and no game has moved.
        """
        self._check()
        if self._resting is None:
            raise gym.error.ResetNeeded("call reset() before step()")
        actions = check_actions(actions, (self.num_envs,), self.meanings)
        for game in self._resting:
            actions[game] = None
        self._ask("step", actions)
        self._stepping = True

    # Rewards lie in the shared memory too, and only games whose episode has
    # ended take work of their own: a worker answers with a list of these. With
    # 32 games a loop over all of them and their infos would cost 15 % of the
    # speed.
    #
    # Gymnasium puts the infos of single games into one dict: an array for each
    # key, and under `"_" + key` a mask of the games that have it. When an
    # episode ends, SAME_STEP returns the first observation of the next one and
    # keeps the last in the infos. NEXT_STEP returns the last, and in the next
    # step, in which the game rests, the first.
    def step_wait(self):
        """Wait for the step that was begun.

        Returns `observations, rewards, terminated, truncated, infos`: `uint8
        (num_envs, 4, 84, 84)`; `float64`, `bool` and `bool (num_envs,)`; and a
        dict. That holds, each with a mask, `"final_obs"` of the episodes that
        ended (in SAME_STEP mode) and `"final_info"` of the games that were
        reset; and `"restarted"`, a mask of the games that had to be replaced,
        in a step in which there are any.
        """
        self._check(stepping=True)
        self._stepping, self._resting, infos = False, [], {}
        ends, obs = sum(self._answers(), []), self._shared["obs"].copy()
        terminated, truncated = np.zeros((2, self.num_envs), bool)
        for game, lost, cut, info in ends:
            terminated[game], truncated[game] = lost, cut
            if self.metadata["autoreset_mode"].name == "NEXT_STEP":
                obs[game] = self._shared["final_obs"][game]
                self._resting.append(game)
            else:
                info["final_obs"] = self._shared["final_obs"][game].copy()
            self._add_info(infos, info, game)
        infos.pop("_restarted", None)  # a mask of a mask
        self._shared["seen"], rewards = obs, self._shared["reward"].copy()
        return obs, rewards, terminated, truncated, infos

    def render(self):
        """Return a tuple of colour screens, `uint8 (height, 160, 3)` each.

        Those of a worker that has died are black, and the next step tells.
        """
        self._check()
        self._shared["screen"] = 0
        self._ask("render", [None] * self.num_envs)
        self._ready = [ends for ends in self._answers(anew=None) if ends]
        return tuple(self._shared["screen"].copy())

    # ## When things die
    #
    # ### Asking and waiting
    #
    # All workers are asked before the first answer is waited for. One that has
    # died closes its pipe, which ends the waiting; one that hasn't answered
    # when the time is up counts as dead. So does one that still owes an answer
    # when it is asked again, because Ctrl-C ended the waiting for it: its pipe
    # is closed, or the late answer would be taken for the new one. So does one
    # whose pipe is full, and one that has not been started yet. There is only
    # one kind of fault to think of. What others had answered before Ctrl-C is
    # kept in `_ready`, and the next step tells it.
    #
    # `select.poll` is the bare system call. The `poll` of `multiprocessing`
    # sets up a selector each time and takes ten times as long.
    def _ask(self, command, data):
        self._ready += [getattr(row, command)(data) for row in self._own]
        for i, worker in self._workers.items():
            if i in self._due or not worker.room.poll(0):
                worker.close()
            self._due.add(i)
            worker.send((command, data[self._rows[i]]))

    # ### When a worker dies
    #
    # A new one takes its place and starts all games of its row over from their
    # seeds; those of the other processes go on as if nothing had happened. One
    # that dies before its first answer is tried twice more and then no more:
    # what killed it, such as a lack of memory, would only kill the next. The
    # most common cause is a program without `if __name__ == "__main__":`. A
    # worker that is started by `spawn` or `forkserver` imports the program,
    # and would then start workers itself, which Python refuses. So the error
    # asks about that.
    def _answers(self, at_least=0, anew="reset", starts=0):
        """Return all answers, in no order.

        For workers that have died new ones answer, to the command `anew`.
        `at_least` are seconds; `starts` counts how often that was tried.
        """
        deadline = time.monotonic() + max(self._timeout, at_least)
        for i in sorted(self._due):
            worker = self._workers.get(i)
            left = 1000 * max(0, deadline - time.monotonic())  # milliseconds
            if worker and not worker.pipe.closed and worker.ready.poll(left):
                with contextlib.suppress(EOFError, OSError):
                    self._ready.append(worker.pipe.recv())
                    self._due.remove(i)
        if self._due and anew:
            if starts == STARTS:
                process = self._workers[min(self._due)].process
                self.close()
                raise RuntimeError(f"exit code {process.exitcode}; {GUARD}")
            for i in self._due:
                row = self._rows[i]
                worker = Worker(self._seeds[row], row=row, **self._options)
                self._workers[i] = worker
                worker.send((anew, self._seeds[row]))
            return self._answers(START_TIMEOUT, anew, starts + 1)
        answers, self._ready = self._ready, []
        for answer in answers:
            if isinstance(answer, Exception):
                raise answer
        return answers

    def close_extras(self, **_):
        """End all workers; called once by `close`."""
        for worker in self._workers.values():
            worker.close()

    __exit__ = Worker.__exit__


# ## Playing
#
# As a program the module plays at random, whole games, and shows with labml
# how it goes. It leaves a picture of what each agent saw when it last scored.
ZOOM, MARGIN = 2, 24  # of the picture, in pixels


def draw(observations, path):
    """Write a picture of `observations`, `(games, 4, 84, 84)`, to `path`."""
    picture = np.vstack([np.hstack(pictures) for pictures in observations])
    picture = picture.repeat(ZOOM, axis=0).repeat(ZOOM, axis=1)
    picture = np.pad(picture, ((MARGIN, 0), (0, 0)))
    label = "What each agent saw: its last four steps, the newest on the right"
    cv2.putText(picture, label, (8, 16), cv2.FONT_HERSHEY_PLAIN, 1, 255)
    cv2.imwrite(path, picture)


def main():
    """Play Atari games at random, so many steps each; leave `game.png`."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("env_id", nargs="?", default=BREAKOUT)
    for name, default in ("games", 8), ("steps", 2000), ("seed", 0):
        parser.add_argument(f"--{name}", type=int, default=default)
    env_id, n, length, seed = vars(parser.parse_args()).values()
    try:
        games = Games(n, env_id, seed=seed, on_life_loss="ignore")
    except (gym.error.Error, TypeError, ValueError) as error:
        parser.exit(2, f"game.py: {error}\n")
    # labml warns if there is no file with its settings; none is needed here.
    with open(os.devnull, "w") as null, contextlib.redirect_stdout(null):
        from labml import lab, monit, tracker

        lab.get_path()

    random, won, steps, speed = np.random.default_rng(seed), [], 0, 0.0
    seen, start = games.reset()[0], time.perf_counter()
    with games, contextlib.suppress(KeyboardInterrupt):
        for _ in monit.loop(length):
            actions = random.integers(games.single_action_space.n, size=n)
            observations, rewards, *_, infos = games.step(actions)
            seen[rewards > 0] = observations[rewards > 0]
            steps += n
            speed = steps / (time.perf_counter() - start)
            if "final_info" in infos:
                final, ended = infos["final_info"], infos["_final_info"]
                won += final["reward"][ended].tolist()
                tracker.add("reward", final["reward"][ended].mean())
                tracker.add("length", final["length"][ended].mean())
                tracker.save(steps, {"steps per second": speed})
    draw(seen, "game.png")
    print(f"\n{steps:,} steps of {n} games, {len(won)} episodes")
    print(f"score: mean {np.mean(won or 0):.2f}, best {max(won or [0]):.0f}")
    print(f"{speed:,.0f} steps/s, {speed * ACTION_REPEAT:,.0f} frames/s")


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        main()
