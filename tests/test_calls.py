"""Calls in any order, whatever goes wrong meanwhile."""

import functools
import gc
import itertools
import multiprocessing
from multiprocessing.process import BaseProcess

import gymnasium as gym
import hypothesis
import numpy as np
import pytest
from hypothesis import stateful
from hypothesis import strategies as some

import games
from game import Game
from games import Games
from stand_ins import ERRORS, FAULTS, NEEDED, PATIENCE, kill, workers_now
from test_game import (
    ALL,
    DEFAULTS,
    MODES,
    NOOP,
    SETTINGS,
    Model,
    each,
    same,
    write_into,
)
from test_games import NEXT_STEP, SAME_STEP


class Twin:
    """What `Games` should return, by a model of each game."""

    def __init__(self, seeds, mode, options):
        self.seeds = seeds
        self.models = [Model(seed, **options) for seed in seeds]
        self.next_step = mode is NEXT_STEP

    def reset(self, seeds=None, restarted=()):
        """Reset; games in `restarted` start over from their seeds."""
        if seeds is not None:
            self.seeds = seeds
            restarted = range(len(seeds))
        obs = [
            model.reset(self.seeds[i] if i in restarted else None)
            for i, model in enumerate(self.models)
        ]
        self.waiting = {}  # first observations that the next step returns
        return self._returned(np.array(obs))

    def _returned(self, obs):
        self.shown = obs.copy()  # its owner may write into it
        return obs

    def infos(self):
        """What the games know, also of episodes whose first step waits."""
        lives = np.array([model.lives for model in self.models])
        return dict(lives=lives, _lives=np.array([True] * len(lives)))

    def step(self, actions, restarted=()):
        """Step; games in `restarted` start over instead."""
        n = len(self.models)
        obs = self.shown.copy()
        rewards, scores, lengths = np.zeros(n), np.zeros(n), np.zeros(n, int)
        terminated, truncated, game_over, lost = np.zeros((4, n), bool)
        last = np.full(n, None)
        for i, model in enumerate(self.models):
            first = self.waiting.pop(i, None)
            if i in restarted:
                last[i] = self.shown[i].copy()
                obs[i] = model.reset(self.seeds[i])
                truncated[i] = lost[i] = True
            elif first is not None:
                obs[i] = first
            elif actions[i] is not None:
                obs[i], rewards[i], done, info = model.step(actions[i])
                if done:
                    last[i] = model.final_obs
                    terminated[i] = model.terminated
                if info is not None:
                    game_over[i] = True
                    truncated[i] = info["truncated"]
                    scores[i] = info["reward"]
                    lengths[i] = info["length"]
        infos = self.infos()
        if lost.any():
            infos["restarted"] = lost
        if game_over.any():
            infos.update(episode=dict(r=scores, l=lengths), _episode=game_over)
        ended = terminated | truncated
        if self.next_step:
            for i in np.flatnonzero(ended):
                self.waiting[i] = obs[i].copy()
                obs[i] = last[i]
        elif ended.any():
            infos.update(final_obs=last, _final_obs=ended)
        return self._returned(obs), rewards, terminated, truncated, infos


# What a fault raises here, unless it costs a worker. An error that can't be
# sent is itself if it was raised in this process.
RAISED = {fault: (type(ERRORS[fault]), RuntimeError) for fault in ERRORS}
RAISED["interrupt"] = KeyboardInterrupt

# Which calls are wrong in which state of the games.
PENDING = gym.error.AlreadyPendingCallError
NOT_BEGUN = gym.error.NoAsyncCallError
WRONG_CALLS = {
    "new": dict(step=NEEDED, step_async=NEEDED, step_wait=NOT_BEGUN),
    "ready": dict(step_wait=NOT_BEGUN),
    "stepping": dict.fromkeys(["step", "step_async", "render"], PENDING),
}

N = 3  # games
CALLS = ["step", "step_async", "step_wait", "render", "reset"]
BEGUN = ["step_async", "step_wait"]
some_action = some.sampled_from([0, 1, 2, 0, 1, 2, None])
some_actions = some.lists(some_action, min_size=N, max_size=N)
# A trap goes by the seed, so none has been another game's before.
some_seeds = some.integers(0, 30).map(lambda number: 10 + number * N)


class Calls(stateful.RuleBasedStateMachine):
    """Calls of `Games` in any order, whatever goes wrong, beside a twin.

    The games are `"new"`, which need a reset, or `"ready"`, or `"stepping"`.
    `lost` are those whose worker has died, which the next step tells, and
    `losses` is how often that was since the last reset.
    """

    def __init__(self, trap):
        super().__init__()
        self.trap = trap

    @stateful.initialize(
        processes=some.integers(0, 3),
        mode=some.sampled_from([SAME_STEP, NEXT_STEP]),
        on_life_loss=some.sampled_from(MODES),
    )
    def open(self, processes, mode, **options):
        # What the handler of a signal raises is only printed, and lost, during
        # a garbage collection, for Hypothesis has a callback there.
        gc.disable()
        seeds = [10, 11, 12]
        options = DEFAULTS | dict(options, noop_max=5)
        self.twin = Twin(seeds, mode, options)
        options.update(processes=processes, context="fork")
        self.games = Games(N, seed=seeds, autoreset_mode=mode, **options)
        self.processes = processes
        # What an interrupt does to a worker is in `test_programs.py`.
        self.faults = RAISED if processes == 0 else [*ERRORS, "leave", "die"]
        self.losses = 0
        self.set_state("new")

    def set_state(self, state):
        self.state = state
        self.lost = set()

    def share_of(self, i):
        """Return the games that are played in the same process as game i."""
        if self.processes == 0:
            return set()
        players = [self.trap.player(seed) for seed in self.twin.seeds]
        return {j for j in range(N) if players[j] == players[i]}

    # What calls return, and what they should.

    def make(self, name, actions):
        args = [actions] if name in ("step", "step_async") else []
        return getattr(self.games, name)(*args)

    def check(self, name, result, actions):
        if name == "step_async":
            self.actions = actions
            self.state = "stepping"
        elif name == "reset":
            self.check_reset(result)
        elif name == "render":
            self.check_screens(result)
        elif self.state == "stepping":
            self.check_step(result, self.actions)
        else:
            self.check_step(result, actions)

    def check_step(self, result, actions):
        assert same(result, self.twin.step(actions, self.lost))
        write_into(result)
        self.set_state("ready")

    def check_reset(self, result, seeds=None):
        """Lost games start over from their seeds; after an error all do."""
        over = self.lost if self.state == "ready" else range(N)
        obs = self.twin.reset(seeds, over)
        assert same(result, (obs, self.twin.infos()))
        write_into(result)
        self.losses = 0
        self.set_state("ready")

    def check_screens(self, screens):
        """Those of lost games are black."""
        assert len(screens) == N
        for i, one in enumerate(self.twin.models):
            assert same(screens[i], one.render() * (i not in self.lost))
        write_into(screens)

    # What happens. A rule that isn't for the state of the games does nothing.

    @stateful.rule(rollout=some.lists(some_actions, min_size=1, max_size=20))
    def play(self, rollout):
        for actions in rollout if self.state == "ready" else []:
            self.check_step(self.games.step(actions), actions)

    @stateful.rule(name=some.sampled_from(CALLS), actions=some_actions)
    def call(self, name, actions):
        """After an error all workers are new; a wrong call changes nothing."""
        state, lost = self.state, self.lost
        before = workers_now()
        if name in WRONG_CALLS[state]:
            with pytest.raises(WRONG_CALLS[state][name]):
                self.make(name, actions)
        elif (state, name) != ("new", "render"):
            self.check(name, self.make(name, actions), actions)
        if name == "reset" and state != "ready":
            assert not workers_now() & before
        else:
            assert lost or workers_now() == before

    @stateful.rule(seed=some_seeds)
    def reset(self, seed):
        """With seeds: whatever was before is forgotten."""
        seeds = list(range(seed, seed + N))
        self.check_reset(self.games.reset(seed=seeds), seeds)

    @stateful.rule(i=some.integers(0, N - 1))
    def kill(self, i):
        if self.state != "ready" or self.losses > 2:
            return
        share = self.share_of(i)
        if share and not share & self.lost:
            self.losses += 1
            kill(self.trap.player(self.twin.seeds[i]))
            self.lost |= share

    @stateful.rule(
        fault=some.sampled_from(FAULTS),
        calls=some.sampled_from([["step"], ["render"], ["reset"], BEGUN]),
        i=some.integers(0, N - 1),
        later=some.integers(0, 8),
        actions=some_actions,
    )
    def cause_a_fault(self, fault, calls, i, later, actions):
        """In one of the games, in the middle of the calls."""
        if self.state != "ready" or self.lost or self.losses > 2:
            return
        if fault not in self.faults:
            return
        before = workers_now()
        share = self.share_of(i)
        self.trap.set(fault, self.twin.seeds[i], later)
        try:
            results = [self.make(name, actions) for name in calls]
        except RAISED.get(fault, ()):
            assert self.trap.sprung()
            assert workers_now() == before
            self.set_state("new")
            return
        if self.trap.sprung():
            assert fault not in RAISED
            self.lost = share
            self.losses += 1
        for name, result in zip(calls, results, strict=True):
            self.check(name, result, actions)

    def teardown(self):
        """Close in whatever state."""
        self.games.close()
        # On a busy machine a process that was killed may take its time.
        for child in multiprocessing.active_children():
            child.join(PATIENCE)
        assert self.games.closed and not workers_now()
        gc.enable()


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_any_order_of_calls(trap):
    """Whatever goes wrong meanwhile."""
    settings = hypothesis.settings(
        max_examples=400 if ALL else 80, stateful_step_count=40, **SETTINGS
    )
    machine = functools.partial(Calls, trap)
    stateful.run_state_machine_as_test(machine, settings=settings)


def test_an_interrupted_reset_of_a_game(trap):
    """A step asks for a reset: no stack mixes two games."""
    one = Game(5, noop_max=3, fire_on_reset=True)
    one.reset()
    for later in itertools.count():
        trap.set("interrupt", 5, later)
        try:
            one.reset(5)
            break
        except KeyboardInterrupt:
            with pytest.raises(NEEDED):
                one.step(NOOP)
    assert later > 4


@each(
    "name, owner, where",
    [
        ("step_wait", games, "wait_for"),
        ("reset", BaseProcess, "start"),
        ("reset", BaseProcess, "join"),
        ("close", BaseProcess, "join"),
    ],
)
def test_games_that_are_interrupted(trap, monkeypatch, name, owner, where):
    """In the middle of a step: another one needs a reset, which helps."""

    def interrupt(*_):
        raise KeyboardInterrupt

    with Games(2, processes=1, context="fork") as many:
        first = many.reset(seed=5)
        many.step_async([NOOP] * 2)
        with monkeypatch.context() as patch:
            patch.setattr(owner, where, interrupt)
            with pytest.raises(KeyboardInterrupt):
                getattr(many, name)()
        with pytest.raises(NOT_BEGUN):
            many.step_wait()
        with pytest.raises(NEEDED):
            many.step([NOOP] * 2)
        assert same(many.reset(), first)
