"""Find the titles whose snapshots can't be trusted.

    pip install -r requirements.txt
    python measure/snapshots.py --publish              # all, 40 minutes
    python measure/snapshots.py --titles Tetris Pong

Every title, mode and difficulty is played to the end of a game, or for some
minutes of it, with all actions. Then the snapshot of its first reset is
restored, and the same actions go to it and to a new emulator: screens and
memory have to be the same. Each that differs once in `PLAYS` is published.
"""

import functools
import itertools
import multiprocessing

import ale_py  # it adds its titles to Gymnasium
import gymnasium as gym
import numpy as np

import common

gym.register_envs(ale_py)

PLAYS = 3
FRAMES = 6000  # of play before a restore, a hundred seconds
COMPARED = 400  # frames after it


def make(env_id, mode, difficulty):
    """A new emulator, after its first reset."""
    how = {"mode": mode, "difficulty": difficulty, "full_action_space": True}
    env = gym.make(
        env_id,
        frameskip=1,
        obs_type="ram",
        repeat_action_probability=0.0,
        **how,
    ).unwrapped
    env.reset(seed=0)
    return env


def play(env, actions):
    """Play until the game is over; yield screens with the console's memory."""
    for action in actions:
        env.step(action)
        yield (
            env.ale.getScreenGrayscale().tobytes() + env.ale.getRAM().tobytes()
        )
        if env.ale.game_over():
            return


def differs(setting):
    """Whether a game after a restore ever isn't that of a new emulator."""
    played = make(*setting)
    snapshot = played.clone_state()
    random = np.random.default_rng(0)
    for _ in range(PLAYS):
        # Each action is held for a few frames, as by a player.
        actions = random.integers(18, size=FRAMES // 4).repeat(4)
        for _ in play(played, actions):
            pass
        played.restore_state(snapshot)
        actions = random.integers(18, size=COMPARED // 4).repeat(4)
        new = play(make(*setting), actions)
        pairs = itertools.zip_longest(play(played, actions), new)
        if any(ours != theirs for ours, theirs in pairs):
            return True
    return False


def sweep(env_id):
    """Try all modes and difficulties of a title."""
    ale = gym.make(env_id).unwrapped.ale
    modes, difficulties = (
        ale.getAvailableModes(),
        ale.getAvailableDifficulties(),
    )
    tried = list(itertools.product([env_id], modes, difficulties))
    with multiprocessing.Pool() as pool:
        bad = pool.map(differs, tried, chunksize=1)
    found = [s[1:] for s, is_bad in zip(tried, bad, strict=True) if is_bad]
    return {"tried": len(tried), "differ": found}


def main():
    parser = common.options(__doc__)
    parser.add_argument("--titles", nargs="*", help="such as Pong; none: all")
    run = parser.parse_args()
    ids = sorted(i for i in gym.registry if i.startswith("ALE/"))
    names = {i.removeprefix("ALE/").removesuffix("-v5"): i for i in ids}
    parts = {
        name: functools.partial(sweep, names[name])
        for name in run.titles or names
    }
    common.measure(run, "snapshots", parts, timed=False)


if __name__ == "__main__":
    main()
